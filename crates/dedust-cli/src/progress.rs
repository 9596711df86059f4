/*!
Bars on standard error for those who wait, and only when they can see them.

indicatif draws nothing unless standard error is a terminal. Bars are wiped when dropped, so that what remains on the
screen is the report.
*/

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dedust_learn::{Progress, SiteReport};
use dedust_validate::{Target, Trial};
use indicatif::{
    MultiProgress, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle,
};

use crate::interrupt;
use crate::number::count;
use crate::printer::Printer;

const REDRAW: Duration = Duration::from_millis(100);
/// Rows counted before the bar is told.
const ROWS_AT_ONCE: u64 = 1 << 14;

/// Rows read so far, of unknown many, and the time that is left, told by the size of the inputs that are done.
pub(crate) struct Reading {
    bar: ProgressBar,
    rows: u64,
    started: Instant,
    /// The size of each input that is still to be opened, the next one last; 0 where it is not known.
    sizes: Vec<u64>,
    /// The size of the one that is being read.
    size: u64,
}

/// Sites learned so far.
pub(crate) struct Learning {
    bar: ProgressBar,
    sites: AtomicU64,
    all_sites: AtomicU64,
}

/// A bar of so many steps, if that is known, hidden where no one can see it.
pub(crate) fn bar(printer: &Printer, template: &str, steps: Option<u64>) -> ProgressBar {
    if !printer.shows_bars() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr())
        .with_style(style.progress_chars("=> ").with_key("rate", write_rate))
        .with_finish(ProgressFinish::AndClear);
    if !bar.is_hidden() {
        bar.enable_steady_tick(REDRAW);
    }
    bar
}

fn write_rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    // A bar that cannot be drawn has no one to tell.
    let _ = out.write_str(&count(state.per_sec() as u64));
}

impl Reading {
    /// Starts to count the rows of these inputs.
    pub(crate) fn new(printer: &Printer, inputs: &[PathBuf]) -> Self {
        let sizes: Vec<u64> = inputs.iter().rev().map(|path| size_of_file(path)).collect();
        let time_left = if sizes.len() > 1 && !sizes.contains(&0) { ", {eta} left" } else { "" };
        let template = format!("{{spinner}} reading {{wide_msg}} {{prefix}}{time_left}");
        let bar = bar(printer, &template, Some(sizes.iter().sum()));
        Self { bar, rows: 0, started: Instant::now(), sizes, size: 0 }
    }

    /// Names the input being read. The one before it is done.
    pub(crate) fn next_input(&mut self, name: &str) {
        self.bar.inc(self.size);
        self.size = self.sizes.pop().unwrap_or_default();
        self.bar.set_message(name.to_owned());
    }

    /// Counts a row.
    pub(crate) fn count_row(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_AT_ONCE) && !self.bar.is_hidden() {
            let rate = self.rows as f64 / self.started.elapsed().as_secs_f64().max(0.001);
            self.bar.set_prefix(format!("{} rows, {} rows/s", count(self.rows), count(rate as u64)));
        }
    }
}

/// The size of an input, 0 where it has none.
fn size_of_file(path: &Path) -> u64 {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map_or(0, |file| file.len())
}

impl Learning {
    /// Starts to count sites.
    pub(crate) fn new(printer: &Printer) -> Self {
        let template = "learning {msg} [{wide_bar}] {human_pos}/{human_len} URLs, {rate} URLs/s, {eta} left";
        Self { bar: bar(printer, template, None), sites: AtomicU64::new(0), all_sites: AtomicU64::new(0) }
    }
}

/// Rules being validated, a bar for each.
pub(crate) struct Validating {
    bars: MultiProgress,
}

impl Validating {
    /// No rules yet.
    pub(crate) fn new(printer: &Printer) -> Self {
        let target =
            if printer.shows_bars() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { bars: MultiProgress::with_draw_target(target) }
    }
}

impl dedust_validate::Progress for Validating {
    fn start<'p>(&'p self, site: &str, target: Target, needed: u64) -> Box<dyn FnMut(&Trial) + 'p> {
        let style = ProgressStyle::with_template("{prefix} [{wide_bar}] {pos}/{len} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(needed).with_style(style.progress_chars("=> "));
        let bar = bar.with_prefix(format!("{site} {target}")).with_finish(ProgressFinish::AndClear);
        let bar = self.bars.add(bar);
        Box::new(move |trial| {
            bar.set_position(trial.same);
            let (different, failed) = (count(trial.different), count(trial.failed));
            bar.set_message(format!("same, {different} different, {failed} failed"));
        })
    }
}

impl Progress for Learning {
    fn start(&self, sites: usize, urls: u64) {
        self.all_sites.store(sites as u64, Ordering::Relaxed);
        self.bar.set_length(urls);
    }

    fn epoch_done(&self, site: &str, epoch: usize, held_out_loss: f64, exact_match: f64) {
        let figures = format!("loss {held_out_loss:.3}, {:.1} % exact", 100.0 * exact_match);
        self.bar.set_message(format!("{site}: epoch {epoch}, {figures}"));
    }

    fn is_cancelled(&self) -> bool {
        interrupt::is_asked()
    }

    fn site_done(&self, report: &SiteReport) {
        let done = 1 + self.sites.fetch_add(1, Ordering::Relaxed);
        let all = self.all_sites.load(Ordering::Relaxed);
        self.bar.set_message(format!("{}/{} sites", count(done), count(all)));
        self.bar.inc(report.observations);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Learning {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
