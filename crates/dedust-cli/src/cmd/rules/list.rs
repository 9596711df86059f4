/*!
`rules list`: every rule with what it saves, what it risks, and what was decided about it.
*/

use std::cmp::Reverse;

use dedust::rules::{Decision, SiteEntry};
use serde::Serialize;

use super::args::{ListArgs, Sort};
use crate::ExitStatus;
use crate::args::ReportFormat;
use crate::number::{count, counted, percent};
use crate::printer::Printer;
use crate::rule_file;
use crate::table::{Align, Table};
use dedust_report::rule_state::{is_by_hand, state, trust};

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// A rule.
    Rule {
        /// Its site.
        site: &'a str,
        /// By what it says.
        id: String,
        /// Its place in the list of its site, from 0.
        index: usize,
        /// What it does, in words.
        rule: String,
        /// Whether URLs are changed by it.
        applied: bool,
        /// `applied`, `pinned`, `off`, `refuted`, or several of these.
        state: String,
        /// `proven`, `likely`, `fetched`, `learned` or `by hand`.
        trust: &'static str,
        /// Whether canonical URLs are changed too, and not keys alone.
        fetchable: bool,
        /// URLs that it changed in training.
        urls: u64,
        /// Groups of URLs that it was tried on.
        groups: u64,
        /// Those of them that hold more than one page.
        failed_groups: u64,
        /// The share that fails is at most this, with 95 % confidence; `null` without evidence.
        failure_bound: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        off: Option<&'a Decision>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pinned: Option<&'a Decision>,
    },
    /// All that were listed.
    Total {
        /// How many.
        rules: usize,
        /// Those by which URLs are changed.
        applied: usize,
        /// Those that somebody turned off.
        off: usize,
        /// Those that somebody vouches for.
        pinned: usize,
    },
}

/// A rule, or a mirror, with where it is.
struct Row<'a> {
    site: &'a str,
    index: usize,
    rule: SiteEntry<'a>,
}

/// Lists rules.
pub(super) fn run(args: &ListArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let rules = rule_file::load(&args.rules, false)?;
    if let Some(name) = &args.site {
        rule_file::site(&rules, name)?;
    }
    let is_wanted = |site: &str| args.site.as_ref().is_none_or(|name| name == site);
    let mut rows: Vec<Row<'_>> = rules
        .sites()
        .filter(|(site, _)| is_wanted(site))
        .flat_map(|(site, rules)| {
            rules.entries().enumerate().map(move |(index, rule)| Row { site, index, rule })
        })
        .collect();
    // Both are stable: rules that are equal in this stay in the order of the file.
    match args.sort {
        Sort::Saved => rows.sort_by_key(|row| Reverse(row.rule.evidence().urls)),
        Sort::Risk => rows.sort_by(|a, b| b.risk().total_cmp(&a.risk())),
        Sort::Site => {}
    }
    let total = |is_so: fn(SiteEntry<'_>) -> bool| rows.iter().filter(|row| is_so(row.rule)).count();
    let applied = total(|rule| rule.is_applied());
    let (off, pinned) = (total(|rule| rule.off().is_some()), total(|rule| rule.pinned().is_some()));
    if args.format == ReportFormat::Json {
        for row in &rows {
            printer.json(&row.record())?;
        }
        printer.json(&Record::Total { rules: rows.len(), applied, off, pinned })?;
        return Ok(ExitStatus::Success);
    }
    let mut table = Table::with_columns(&[
        ("site", Align::Left),
        ("id", Align::Left),
        ("URLs", Align::Right),
        ("groups", Align::Right),
        ("failed", Align::Right),
        ("wrong at most", Align::Right),
        ("trust", Align::Left),
        ("state", Align::Left),
        ("rule", Align::Left),
    ]);
    rows.iter().for_each(|row| table.push(row.cells()));
    if !rows.is_empty() {
        printer.line(table)?;
    }
    printer.finish()?;
    printer.note(format_args!(
        "{}: {} applied, {} off, {} pinned",
        counted(rows.len() as u64, "rule", "rules"),
        count(applied as u64),
        count(off as u64),
        count(pinned as u64),
    ));
    Ok(ExitStatus::Success)
}

impl Row<'_> {
    /// A rule of which nothing is known may fail always.
    fn risk(&self) -> f64 {
        if is_by_hand(self.rule) { 1.0 } else { self.rule.evidence().failure_bound }
    }

    fn cells(&self) -> [String; 9] {
        let Self { site, rule, .. } = *self;
        let evidence = rule.evidence();
        let known = |text: String| if is_by_hand(rule) { "-".into() } else { text };
        [
            site.to_owned(),
            rule.id().to_string(),
            known(count(evidence.urls)),
            known(count(evidence.groups)),
            known(count(evidence.failed_groups)),
            known(percent(evidence.failure_bound)),
            trust(rule).to_owned(),
            state(rule),
            rule.to_string(),
        ]
    }

    fn record(&self) -> Record<'_> {
        let Self { site, index, rule } = *self;
        let evidence = rule.evidence();
        Record::Rule {
            site,
            id: rule.id().to_string(),
            index,
            rule: rule.to_string(),
            applied: rule.is_applied(),
            state: state(rule),
            trust: trust(rule),
            fetchable: rule.fetchable(),
            urls: evidence.urls,
            groups: evidence.groups,
            failed_groups: evidence.failed_groups,
            failure_bound: (!is_by_hand(rule)).then_some(evidence.failure_bound),
            off: rule.off(),
            pinned: rule.pinned(),
        }
    }
}
