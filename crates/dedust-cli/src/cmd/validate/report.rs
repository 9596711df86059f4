/*!
What validation came to: a table of rules, and pairs that show why some do not hold.
*/

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use dedust::RuleSet;
use dedust::rules::{Outcome, Promise};
use dedust_validate::{Finding, Obstacle, Pair, Settled, Target, Trial, Validation};
use serde::Serialize;

use crate::number::{count, counted};
use crate::printer::Printer;
use crate::table::Table;
use crate::words;

const SHOWN_RULES: usize = 50;

/// All that was found.
pub(super) struct Report<'a> {
    pub(super) rules: &'a RuleSet,
    pub(super) validation: &'a Validation,
    pub(super) requests: u64,
}

/// One line of `--format json`: `{"type":"edit",..}` for every edit and `{"type":"unproven",..}` for every unproven edit that
/// was tried, in the order of the file, then `{"type":"total",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// One edit.
    Edit {
        /// Which one.
        #[serde(flatten)]
        edit: EditFields<'a>,
        /// What was compared.
        #[serde(flatten)]
        trial: TrialFields<'a>,
    },
    /// One unproven edit.
    Unproven {
        /// Which one. Confirmed if it is applied from now on.
        #[serde(flatten)]
        edit: EditFields<'a>,
        /// Why it is not; `null` if it is.
        obstacle: Option<String>,
        /// Pairs of the same page that are missing, if only they are.
        missing: Option<u64>,
        /// Pages more that the site may lose with it.
        lost: u64,
        /// What was compared in this run.
        #[serde(flatten)]
        trial: TrialFields<'a>,
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
        /// Unproven edits that were tried.
        unproven: usize,
        /// Those of them that are applied from now on.
        promoted: usize,
        /// Requests that were made.
        requests: u64,
    },
}

/// An edit, and what came of it.
#[derive(Debug, Serialize)]
struct EditFields<'a> {
    /// Its site.
    site: &'a str,
    /// Its place from 0, before this run: in the list of its site, or among the refused edits of the site.
    index: usize,
    /// What it does, in words.
    edit: String,
    /// What follows from the pairs.
    outcome: Outcome,
}

/// The pairs of an edit.
#[derive(Debug, Serialize)]
struct TrialFields<'a> {
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
}

impl Report<'_> {
    /// Rules, or unproven edits, and how many of them are confirmed, refuted and unknown.
    fn counts(&self, are_unproven: bool) -> [usize; 4] {
        let of_kind =
            self.validation.findings.iter().filter(|finding| finding.settled.is_some() == are_unproven);
        let count = |outcome| of_kind.clone().filter(|finding| finding.outcome == outcome).count();
        let [confirmed, refuted, unknown] =
            [Outcome::Confirmed, Outcome::Refuted, Outcome::Unknown].map(count);
        [of_kind.count(), confirmed, refuted, unknown]
    }

    /// Whether any rule that is applied was found not to hold.
    pub(super) fn refutes(&self) -> bool {
        let [_, _, refuted, _] = self.counts(false);
        refuted > 0
    }

    /// What an edit does, in words.
    fn sentence(&self, finding: &Finding) -> String {
        let Some(site) = self.rules.site(&finding.site) else { return String::new() };
        let sentence = match finding.target {
            Target::Edit(index) => site.edits().get(index).map(ToString::to_string),
            Target::Unproven(index) => site.refused().get(index).map(ToString::to_string),
        };
        sentence.unwrap_or_default()
    }

    /// The report for programs.
    pub(super) fn json(&self, printer: &mut Printer) -> io::Result<()> {
        for finding in &self.validation.findings {
            let (Target::Edit(index) | Target::Unproven(index)) = finding.target;
            let (site, outcome) = (&*finding.site, finding.outcome);
            let edit = EditFields { site, index, edit: self.sentence(finding), outcome };
            let Trial { same, different, failed, ref failures, ref differing } = finding.trial;
            let differing = differing.iter().map(|pair| [&*pair.url, &*pair.other]).collect();
            let trial = TrialFields { same, different, failed, failures, differing };
            printer.json(&match &finding.settled {
                None => Record::Edit { edit, trial },
                Some(settled) => Record::Unproven {
                    edit,
                    obstacle: settled.obstacle.as_ref().map(obstacle_in_words),
                    missing: settled.missing(),
                    lost: settled.lost,
                    trial,
                },
            })?;
        }
        let [rules, confirmed, refuted, unknown] = self.counts(false);
        let [unproven, promoted, ..] = self.counts(true);
        let requests = self.requests;
        printer.json(&Record::Total { rules, confirmed, refuted, unknown, unproven, promoted, requests })
    }

    /// The report for people.
    pub(super) fn text(&self, printer: &mut Printer) {
        let mut table = Table::new(&["rule", "outcome", "same", "different", "failed"]);
        for finding in self.validation.findings.iter().take(SHOWN_RULES) {
            let trial = &finding.trial;
            table.push([
                format!("{} {}", finding.site, finding.target),
                outcome(finding).to_owned(),
                count(trial.same),
                count(trial.different),
                count(trial.failed),
            ]);
        }
        printer.note(table);
        if let Some(more) = self.validation.findings.len().checked_sub(SHOWN_RULES).filter(|more| *more > 0) {
            printer.note(format_args!("and {}", counted(more as u64, "more rule", "more rules")));
        }
        let differing = self.validation.findings.iter().filter(|finding| !finding.trial.differing.is_empty());
        for finding in differing.take(SHOWN_RULES) {
            printer.note(format_args!("\n{} {}: {}", finding.site, finding.target, self.sentence(finding)));
            printer.note("  brings together different pages:");
            for Pair { url, other } in &finding.trial.differing {
                printer.note(format_args!("    {url}\n    {other}"));
            }
        }
        for (reason, times) in self.failures() {
            printer.note(format_args!("failed: {reason}, {}", counted(times, "pair", "pairs")));
        }
        self.unproven(printer);
        let [rules, confirmed, refuted, unknown] = self.counts(false).map(|count| count as u64);
        printer.note(format_args!(
            "\n{}: {} confirmed, {} refuted, {} unknown; {} made",
            counted(rules, "rule", "rules"),
            count(confirmed),
            count(refuted),
            count(unknown),
            counted(self.requests, "request", "requests"),
        ));
        let [unproven, promoted, refuted, unknown] = self.counts(true).map(|count| count as u64);
        if unproven > 0 {
            printer.note(format_args!(
                "{}: {} promoted, {} refuted, {} still unproven",
                counted(unproven, "unproven edit", "unproven edits"),
                count(promoted),
                count(refuted),
                count(unknown),
            ));
        }
    }

    /// What became of each unproven edit, and of the promises of their sites.
    fn unproven(&self, printer: &mut Printer) {
        let tried =
            self.validation.findings.iter().filter_map(|finding| Some((finding, finding.settled.as_ref()?)));
        for (finding, settled) in tried.clone().take(SHOWN_RULES) {
            let edit = self.sentence(finding);
            printer.note(format_args!("\n{} {}: {edit}", finding.site, finding.target));
            printer.note(format_args!("  {}", fate(settled)));
        }
        let promoted =
            tried.filter(|(_, settled)| !settled.edits.is_empty()).map(|(finding, _)| &*finding.site);
        let sites: BTreeSet<&str> = promoted.collect();
        for name in sites {
            let Some(site) = self.validation.rules.site(name) else { continue };
            if let Some(Promise { lost, pages }) = site.promise() {
                printer.note(format_args!(
                    "\n{name} may lose {} of its {} now, at most, with 95 % confidence",
                    count(lost),
                    counted(pages, "page", "pages"),
                ));
            }
        }
    }

    fn failures(&self) -> BTreeMap<&str, u64> {
        let mut failures = BTreeMap::new();
        for (reason, times) in self.validation.findings.iter().flat_map(|finding| &finding.trial.failures) {
            *failures.entry(reason.as_str()).or_default() += times;
        }
        failures
    }
}

/// What came of a rule, in a word.
fn outcome(finding: &Finding) -> &'static str {
    match &finding.settled {
        Some(settled) if settled.obstacle.is_none() => "promoted",
        _ => finding.outcome.name(),
    }
}

/// What became of an unproven edit, in a sentence.
fn fate(settled: &Settled) -> String {
    match (&settled.obstacle, settled.edits.first()) {
        (None, Some(edit)) => format!("applied from now on: {}", words::held_out(&edit.evidence)),
        (Some(obstacle), _) => format!("not applied: {}", obstacle_in_words(obstacle)),
        (None, None) => String::new(),
    }
}

/// Why an edit stays unproven, in words.
fn obstacle_in_words(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Refuted => "pages that it would join are different".into(),
        Obstacle::Pairs(Some(1)) => "1 more pair of the same page is missing".into(),
        Obstacle::Pairs(Some(missing)) => {
            format!("{} more pairs of the same page are missing", count(*missing))
        }
        Obstacle::Pairs(None) => "too many pairs of the same page are missing".into(),
        Obstacle::Pages => "the pairs that were compared show too few different pages".into(),
        Obstacle::Hosts => "it would also be made on hosts where no pages were compared".into(),
        Obstacle::Invalid(invalid) => {
            let chain = anyhow::Error::new(invalid.clone());
            format!("the rules of the site would be refused with it: {chain:#}")
        }
        Obstacle::TooLarge => "the rules of the site would be too large to be compiled with it".into(),
    }
}
