/*!
Lines of an input that are no URLs: how many there are, and the first of them for people to look at.
*/

use dedust_io::Location;

use crate::line_source::MAX_LINE_BYTES;
use crate::number::{count, counted};
use crate::observe::SHOWN;
use crate::printer::Printer;

/// Lines that are neither URLs nor blank.
#[derive(Debug, Default)]
pub(crate) struct BadLines {
    count: u64,
    first: Vec<BadLine>,
}

/// A line that is no URL.
#[derive(Debug)]
struct BadLine {
    /// Counted from 1.
    line: u64,
    /// Where it is, if that is not this line: rows are counted one by one, whatever lines they take.
    location: Option<Location>,
    /// What is wrong.
    problem: String,
    /// The line, shortened.
    value: String,
}

/// What is wrong with a line that is handed out in parts.
pub(crate) fn too_long() -> String {
    format!("longer than {} MiB", MAX_LINE_BYTES >> 20)
}

impl BadLines {
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Counts a line; `problem_and_value` tell of it.
    pub(crate) fn push(&mut self, line: u64, problem_and_value: impl FnOnce() -> (String, String)) {
        self.count += 1;
        if self.first.len() < SHOWN {
            let (problem, value) = problem_and_value();
            self.first.push(BadLine { line, location: None, problem, value });
        }
    }

    /// Counts a line that was handed out in parts, of which `start` is the beginning.
    pub(crate) fn push_long(&mut self, line: u64, start: String) {
        self.push(line, || (too_long(), start));
    }

    /// Says where rows are that were counted as lines: those after the first `before`, by their indexes from there.
    pub(crate) fn locate(&mut self, before: u64, location_of: impl Fn(usize) -> Option<Location>) {
        for bad in &mut self.first {
            let index = bad.line.checked_sub(before + 1).and_then(|index| usize::try_from(index).ok());
            bad.location = bad.location.or_else(|| location_of(index?));
        }
    }

    /// Adds those of the lines that come after the first `before`.
    pub(crate) fn add(&mut self, before: u64, next: Self) {
        let room = SHOWN.saturating_sub(self.first.len());
        let next_first = next.first.into_iter().take(room);
        self.first.extend(next_first.map(|bad| BadLine { line: before + bad.line, ..bad }));
        self.count += next.count;
    }

    /// Says which lines they are, of how many, and what became of them if that is worth saying.
    pub(crate) fn report(&self, name: &str, lines: u64, fate: Option<&str>, printer: &mut Printer) {
        let comma_fate = fate.map_or_else(String::new, |fate| format!(", {fate}"));
        for BadLine { line, location, problem, value } in &self.first {
            let location = location.unwrap_or(Location::Line(*line));
            printer.warning(format_args!("{name}{location}: {problem}{comma_fate}: {value}"));
        }
        let are_no_urls = match (self.count, fate) {
            (0, _) => return,
            (1, None) => "is no URL".to_owned(),
            (1, Some(fate)) => format!("is no URL and was {fate}"),
            (_, None) => "are no URLs".to_owned(),
            (_, Some(fate)) => format!("are no URLs and were {fate}"),
        };
        let lines = counted(lines, "line", "lines");
        printer.warning(format_args!("{} of {lines} {are_no_urls}", count(self.count)));
    }
}
