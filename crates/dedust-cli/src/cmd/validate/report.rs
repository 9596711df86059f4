/*!
What validation came to: a table of rules, and pairs that show why some do not hold.
*/

use std::collections::BTreeMap;
use std::io;

use dedust::{Outcome, RuleSet};
use serde::Serialize;

use super::sample::{Pair, Target};
use super::survey::Finding;
use super::trial::Limits;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::table::Table;

const SHOWN_RULES: usize = 50;

/// All that was found.
pub(super) struct Report<'a> {
    pub(super) rules: &'a RuleSet,
    pub(super) findings: &'a [Finding],
    pub(super) limits: Limits,
    pub(super) requests: u64,
}

/// One line of `--format json`: `{"type":"rule",..}` for every rule, in the order of the file, then
/// `{"type":"total",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// One rule.
    Rule {
        /// Its site.
        site: &'a str,
        /// `rule` or `substitution`.
        kind: &'static str,
        /// Its place among those of its kind, from 0.
        index: usize,
        /// Which URLs it covers.
        pattern: String,
        /// What it makes of them.
        rewrite: String,
        /// What follows from the counts.
        outcome: Outcome,
        /// Pairs of the same page.
        same: u64,
        /// Pairs of different pages.
        different: u64,
        /// Pairs of which nothing was learned.
        failed: u64,
        /// Why, and how often.
        failures: &'a BTreeMap<String, u64>,
        /// Some pairs of different pages.
        differing: Vec<[&'a str; 2]>,
    },
    /// All rules.
    Total {
        /// How many.
        rules: usize,
        /// Those that hold.
        confirmed: usize,
        /// Those that do not.
        refuted: usize,
        /// Those of which too little was learned.
        unknown: usize,
        /// Requests that were made.
        requests: u64,
    },
}

impl Report<'_> {
    fn outcome(&self, finding: &Finding) -> Outcome {
        finding.trial.outcome(self.limits)
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.findings.iter().filter(|finding| self.outcome(finding) == outcome).count()
    }

    /// Pattern and rewrite as people read them.
    fn shapes(&self, finding: &Finding) -> (String, String) {
        let site = self.rules.site(&finding.site);
        let shapes = match finding.target {
            Target::Rule(index) => site
                .and_then(|site| site.rules().get(index))
                .map(|rule| (rule.pattern.to_string(), rule.rewrite.to_string())),
            Target::Substitution(index) => site
                .and_then(|site| site.substitutions().get(index))
                .map(|text| (text.from.to_string(), text.to.to_string())),
            Target::Mirror => {
                site.and_then(|site| site.mirror()).map(|mirror| (mirror.to_string(), String::new()))
            }
            Target::Edit(index) => {
                site.and_then(|site| site.edits().get(index)).map(|edit| (edit.to_string(), String::new()))
            }
        };
        shapes.unwrap_or_default()
    }

    /// The report for programs.
    pub(super) fn json(&self, printer: &mut Printer) -> io::Result<()> {
        for finding in self.findings {
            let (pattern, rewrite) = self.shapes(finding);
            let (kind, index) = match finding.target {
                Target::Rule(index) => ("rule", index),
                Target::Substitution(index) => ("substitution", index),
                Target::Edit(index) => ("edit", index),
                Target::Mirror => ("mirror", 0),
            };
            let trial = &finding.trial;
            printer.json(&Record::Rule {
                site: &finding.site,
                kind,
                index,
                pattern,
                rewrite,
                outcome: self.outcome(finding),
                same: trial.same,
                different: trial.different,
                failed: trial.failed,
                failures: &trial.failures,
                differing: trial.differing.iter().map(|pair| [&*pair.url, &*pair.other]).collect(),
            })?;
        }
        printer.json(&Record::Total {
            rules: self.findings.len(),
            confirmed: self.count(Outcome::Confirmed),
            refuted: self.count(Outcome::Refuted),
            unknown: self.count(Outcome::Unknown),
            requests: self.requests,
        })
    }

    /// The report for people.
    pub(super) fn text(&self, printer: &mut Printer) {
        let mut table = Table::new(&["rule", "outcome", "same", "different", "failed"]);
        for finding in self.findings.iter().take(SHOWN_RULES) {
            let trial = &finding.trial;
            table.push([
                format!("{} {}", finding.site, finding.target),
                self.outcome(finding).name().to_owned(),
                count(trial.same),
                count(trial.different),
                count(trial.failed),
            ]);
        }
        printer.note(table);
        if let Some(more) = self.findings.len().checked_sub(SHOWN_RULES).filter(|more| *more > 0) {
            printer.note(format_args!("and {}", counted(more as u64, "more rule", "more rules")));
        }
        let differing = self.findings.iter().filter(|finding| !finding.trial.differing.is_empty());
        for finding in differing.take(SHOWN_RULES) {
            let (pattern, rewrite) = self.shapes(finding);
            printer.note(format_args!("\n{} {}: {pattern}", finding.site, finding.target));
            printer.note(format_args!("  -> {rewrite}\n  brings together different pages:"));
            for Pair { url, other } in &finding.trial.differing {
                printer.note(format_args!("    {url}\n    {other}"));
            }
        }
        for (reason, times) in self.failures() {
            printer.detail(format_args!("failed: {reason}, {}", counted(times, "pair", "pairs")));
        }
        printer.note(format_args!(
            "\n{}: {} confirmed, {} refuted, {} unknown; {} made",
            counted(self.findings.len() as u64, "rule", "rules"),
            count(self.count(Outcome::Confirmed) as u64),
            count(self.count(Outcome::Refuted) as u64),
            count(self.count(Outcome::Unknown) as u64),
            counted(self.requests, "request", "requests"),
        ));
    }

    fn failures(&self) -> BTreeMap<&str, u64> {
        let mut failures = BTreeMap::new();
        for (reason, times) in self.findings.iter().flat_map(|finding| &finding.trial.failures) {
            *failures.entry(reason.as_str()).or_default() += times;
        }
        failures
    }
}
