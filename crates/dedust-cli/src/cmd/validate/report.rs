/*!
What validation came to: a table of rules, and pairs that show why some do not hold.
*/

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use dedust::RuleSet;
use dedust::rules::{CanonicalVerdict, Outcome, Promise};
use dedust_learn::support::failure_bound;
use dedust_validate::{CanonicalTrial, Finding, Obstacle, Pair, Settled, Target, Trial, Validation};
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

/// One line of `--format json`: `{"type":"rule",..}` for every rule and `{"type":"unproven",..}` for every unproven rule that
/// was tried, in the order of the file, then `{"type":"total",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// One rule.
    Rule {
        /// Which one.
        #[serde(flatten)]
        rule: RuleFields<'a>,
        /// What was compared.
        #[serde(flatten)]
        trial: TrialFields<'a>,
        /// What came of the canonical URLs that it makes; `null` if none was fetched.
        canonical: Option<CanonicalFields<'a>>,
    },
    /// One unproven rule.
    Unproven {
        /// Which one. Confirmed if it is applied from now on.
        #[serde(flatten)]
        rule: RuleFields<'a>,
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
        /// Unproven rules that were tried.
        unproven: usize,
        /// Those of them that are applied from now on.
        promoted: usize,
        /// Requests that were made.
        requests: u64,
    },
}

/// A rule, and what came of it.
#[derive(Debug, Serialize)]
struct RuleFields<'a> {
    /// Its site.
    site: &'a str,
    /// Its place from 0, before this run: in the list of its site, or among the refused rules of the site.
    index: usize,
    /// What it does, in words.
    rule: String,
    /// What follows from the pairs.
    outcome: Outcome,
}

/// The pairs of a rule.
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

/// The canonical URLs of a rule.
#[derive(Debug, Serialize)]
struct CanonicalFields<'a> {
    /// How many there are of each kind, and what follows.
    #[serde(flatten)]
    verdict: CanonicalVerdict,
    /// At most this share is not alive, with 95 % confidence.
    failure_bound: f64,
    /// Why nothing was learned, and how often.
    failures: &'a BTreeMap<String, u64>,
    /// Some URLs, each with a canonical URL that is not alive.
    dead: Vec<[&'a str; 2]>,
}

impl<'a> CanonicalFields<'a> {
    fn of(canonical: &'a CanonicalTrial) -> Self {
        let CanonicalTrial { trial, verdict } = canonical;
        let dead = trial.differing.iter().map(|pair| [&*pair.url, &*pair.other]).collect();
        Self { verdict: *verdict, failure_bound: bound(canonical), failures: &trial.failures, dead }
    }
}

/// At most this share of the canonical URLs of a rule is not alive, with 95 % confidence.
fn bound(CanonicalTrial { trial, verdict }: &CanonicalTrial) -> f64 {
    // As in rule files.
    (failure_bound(verdict.dead(), trial.compared()) * 1e4).round() / 1e4
}

impl Report<'_> {
    /// Rules, or unproven rules, and how many of them are confirmed, refuted and unknown.
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

    /// What a rule does, in words.
    fn sentence(&self, finding: &Finding) -> String {
        let Some(site) = self.rules.site(&finding.site) else { return String::new() };
        let sentence = match finding.target {
            Target::Rule(index) => site.entry(index).map(|rule| rule.to_string()),
            Target::Unproven(index) => site.refused().get(index).map(ToString::to_string),
        };
        sentence.unwrap_or_default()
    }

    /// The report for programs.
    pub(super) fn json(&self, printer: &mut Printer) -> io::Result<()> {
        for finding in &self.validation.findings {
            let (Target::Rule(index) | Target::Unproven(index)) = finding.target;
            let (site, outcome) = (&*finding.site, finding.outcome);
            let rule = RuleFields { site, index, rule: self.sentence(finding), outcome };
            let Trial { same, different, failed, ref failures, ref differing } = finding.trial;
            let differing = differing.iter().map(|pair| [&*pair.url, &*pair.other]).collect();
            let trial = TrialFields { same, different, failed, failures, differing };
            printer.json(&match &finding.settled {
                None => {
                    let canonical = finding.canonical.as_ref().map(CanonicalFields::of);
                    Record::Rule { rule, trial, canonical }
                }
                Some(settled) => Record::Unproven {
                    rule,
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
        self.canonical(printer);
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
                counted(unproven, "unproven rule", "unproven rules"),
                count(promoted),
                count(refuted),
                count(unknown),
            ));
        }
    }

    /// What came of canonical URLs, and which rules make none any more.
    fn canonical(&self, printer: &mut Printer) {
        let findings = self.validation.findings.iter();
        let found = findings.filter_map(|finding| Some((finding, finding.canonical.as_ref()?)));
        let mut table = Table::new(&[
            "canonical URLs of",
            "alive",
            "redirect",
            "missing",
            "other page",
            "failed",
            "not alive at most",
        ]);
        for (finding, canonical) in found.clone().take(SHOWN_RULES) {
            let CanonicalVerdict { alive, redirected, missing, different, failed, .. } = canonical.verdict;
            table.push([
                format!("{} {}", finding.site, finding.target),
                count(alive),
                count(redirected),
                count(missing),
                count(different),
                count(failed),
                format!("{:.1} %", 100.0 * bound(canonical)),
            ]);
        }
        if found.clone().next().is_some() {
            printer.note(format_args!("\n{table}"));
        }
        for (finding, canonical) in found.filter(|(_, canonical)| canonical.is_refuted()).take(SHOWN_RULES) {
            printer.note(format_args!("\n{} {}: {}", finding.site, finding.target, self.sentence(finding)));
            printer.note(format_args!("  {}", words::dead_canonical(&canonical.verdict)));
            for Pair { url, other } in &canonical.trial.differing {
                printer.note(format_args!("    {url}\n    {other}"));
            }
        }
    }

    /// What became of each unproven rule, and of the promises of their sites.
    fn unproven(&self, printer: &mut Printer) {
        let tried =
            self.validation.findings.iter().filter_map(|finding| Some((finding, finding.settled.as_ref()?)));
        for (finding, settled) in tried.clone().take(SHOWN_RULES) {
            let rule = self.sentence(finding);
            printer.note(format_args!("\n{} {}: {rule}", finding.site, finding.target));
            printer.note(format_args!("  {}", fate(settled)));
        }
        let promoted =
            tried.filter(|(_, settled)| !settled.rules.is_empty()).map(|(finding, _)| &*finding.site);
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

/// What became of an unproven rule, in a sentence.
fn fate(settled: &Settled) -> String {
    match (&settled.obstacle, settled.rules.first()) {
        (None, Some(rule)) => format!("applied from now on: {}", words::held_out(&rule.evidence)),
        (Some(obstacle), _) => format!("not applied: {}", obstacle_in_words(obstacle)),
        (None, None) => String::new(),
    }
}

/// Why a rule stays unproven, in words.
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
