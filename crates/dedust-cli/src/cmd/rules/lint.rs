/*!
`rules lint`: all that is wrong with a rule file, with lines.
*/

use std::io::Read as _;

use anyhow::Context as _;
use dedust::rules::{DEFAULT_RULES_MEMORY, Problem, lint};
use serde::Serialize;

use super::args::LintArgs;
use crate::ExitStatus;
use crate::args::ReportFormat;
use crate::failure::{Refusal, refuse};
use crate::line_source::name_of;
use crate::number::counted;
use crate::printer::Printer;
use crate::rule_file;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// The file cannot be used.
    Error(Found<'a>),
    /// A rule that may not do what is meant.
    Warning(Found<'a>),
}

#[derive(Debug, Serialize)]
struct Found<'a> {
    /// Counted from 1.
    line: usize,
    site: Option<&'a str>,
    /// Counted from 0.
    rule: Option<usize>,
    /// What is wrong.
    text: &'a str,
}

/// Prints all problems. Errors are an answer of no, warnings are not.
pub(super) fn run(args: &LintArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let name = name_of(&args.rules);
    if rule_file::holds_compiled(&args.rules) {
        let problem = format!("{name} holds compiled rules, which people do not write");
        return refuse(problem, "name the rule file that they were compiled from");
    }
    let mut bytes = Vec::new();
    dedust_io::open_text(&args.rules)?
        .take(DEFAULT_RULES_MEMORY)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..error.utf8_error().valid_up_to()]).count();
        Refusal::new(format!("{name}:{line}: not UTF-8"), "write the file in UTF-8")
    })?;
    let problems = lint(&text);
    for problem in &problems {
        match args.format {
            ReportFormat::Text => printer.line(format_args!("{name}:{}: {problem}", problem.line))?,
            ReportFormat::Json => printer.json(&record(problem))?,
        }
    }
    printer.finish()?;
    let errors = problems.iter().filter(|problem| problem.is_error).count();
    let warnings = (problems.len() - errors) as u64;
    printer.note(format_args!(
        "{}, {}",
        counted(errors as u64, "error", "errors"),
        counted(warnings, "warning", "warnings")
    ));
    Ok(if errors > 0 { ExitStatus::No } else { ExitStatus::Success })
}

fn record(problem: &Problem) -> Record<'_> {
    let (line, rule) = (problem.line, problem.rule);
    let found = Found { line, site: problem.site.as_deref(), rule, text: &problem.text };
    if problem.is_error { Record::Error(found) } else { Record::Warning(found) }
}
