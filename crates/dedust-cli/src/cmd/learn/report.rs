/*!
What learning came to: a table of sites, and the first rules in words.
*/

use std::cmp::Reverse;
use std::io;

use dedust::rules::{CanonicalCounts, Evidence, Promise, SiteEntry, SiteRules};
use dedust_learn::support::{Form, UnmetPreference, UnmetReason, failure_bound};
use dedust_learn::{EvidenceKinds, LearnOptions, Preference, SiteReport, Training};
use serde::Serialize;

use super::LearnArgs;
use crate::line_source::name_of_output;
use crate::number::{count, counted, figure, percent, percent_of};
use crate::printer::Printer;
use crate::table::Table;
use crate::words;

const SHOWN_SITES: usize = 20;
const SHOWN_RULES: usize = 10;
/// Sites with risky rules that are named, and rules of each.
const SHOWN_RISKS: usize = 3;
/// Pages that a rule may lose on any site, as `--max-loss` has it.
const LEAST_LOSS: f64 = 2.0;
/// Preferences that could not be met.
const SHOWN_UNMET: usize = 5;

/// One line of the report: `{"type":"site",..}` for every site, in the order of their names, then
/// `{"type":"total",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// One site.
    Site {
        /// Its registrable domain.
        site: &'a str,
        /// The site whose pages it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        mirror_of: Option<&'a str>,
        #[serde(flatten)]
        figures: Figures,
        /// What the rules are expected to lose at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        promise: Option<Promise>,
        /// What the crawl knows of canonical URLs.
        #[serde(skip_serializing_if = "Option::is_none")]
        canonical: Option<CanonicalCounts>,
    },
    /// All sites.
    Total {
        /// How many.
        sites: usize,
        #[serde(flatten)]
        figures: Figures,
        #[serde(skip_serializing_if = "Option::is_none")]
        canonical: Option<CanonicalCounts>,
    },
}

/// What the rules do to the URLs they were learned from.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Figures {
    /// Distinct URLs after safe normalization.
    urls: u64,
    /// Those whose page is known.
    labelled: u64,
    /// Distinct pages among the labelled URLs.
    pages: u64,
    /// Rules deployed.
    rules: u64,
    /// URLs that need not be fetched: all URLs less the distinct keys.
    saved: u64,
    /// Those of them that need no rules, but safe normalization alone.
    saved_without_rules: u64,
    /// The share of different pages among the pairs of labelled URLs with one key.
    fpr: f64,
    #[serde(skip)]
    support_pairs: u128,
    #[serde(skip)]
    false_pairs: u128,
}

impl Figures {
    fn of(report: &SiteReport) -> Self {
        Self {
            urls: report.urls as u64,
            labelled: report.labelled as u64,
            pages: report.pages as u64,
            rules: report.rules as u64,
            saved: report.saved as u64,
            saved_without_rules: report.saved_without_rules as u64,
            fpr: report.score.fpr,
            support_pairs: report.score.support_pairs,
            false_pairs: report.score.false_pairs,
        }
    }

    fn total(sites: &[SiteReport]) -> Self {
        let mut total = sites.iter().map(Self::of).fold(Self::default(), |sum, site| Self {
            urls: sum.urls + site.urls,
            labelled: sum.labelled + site.labelled,
            pages: sum.pages + site.pages,
            rules: sum.rules + site.rules,
            saved: sum.saved + site.saved,
            saved_without_rules: sum.saved_without_rules + site.saved_without_rules,
            fpr: 0.0,
            support_pairs: sum.support_pairs + site.support_pairs,
            false_pairs: sum.false_pairs + site.false_pairs,
        });
        if total.support_pairs > 0 {
            total.fpr = total.false_pairs as f64 / total.support_pairs as f64;
        }
        total
    }

    fn cells(self, name: &str) -> [String; 7] {
        [
            name.to_owned(),
            count(self.urls),
            count(self.labelled - self.pages),
            count(self.rules),
            count(self.saved),
            percent_of(self.saved, self.urls),
            figure(self.fpr),
        ]
    }
}

/// The report for programs.
pub(super) fn json(training: &Training, printer: &mut Printer) -> io::Result<()> {
    for report in &training.sites {
        let figures = Figures::of(report);
        let mirror_of = report.mirror_of.as_deref();
        let rules = training.rules.site(&report.site);
        let promise = rules.and_then(SiteRules::promise);
        let canonical = rules.and_then(SiteRules::canonical_counts);
        printer.json(&Record::Site { site: &report.site, mirror_of, figures, promise, canonical })?;
    }
    let figures = Figures::total(&training.sites);
    printer.json(&Record::Total { sites: training.sites.len(), figures, canonical: canonical(training) })
}

/// What the crawl knows of the canonical URLs of all sites; `None` if no site has rules that say so.
fn canonical(training: &Training) -> Option<CanonicalCounts> {
    let with_rules = training.rules.sites().filter(|(_, site)| !site.is_empty());
    let counts = with_rules.filter_map(|(_, site)| site.canonical_counts());
    counts.fold(None, |sum, counts| {
        let mut sum = sum.unwrap_or_default();
        sum += counts;
        Some(sum)
    })
}

/// Warns of canonical URLs that are wrong, or that nobody has fetched.
fn canonical_risks(training: &Training, printer: &mut Printer) {
    let Some(counts) = canonical(training) else { return };
    if counts.wrong > 0 {
        let (urls, verbs) = match counts.wrong {
            1 => ("canonical URL", "redirects, fails or shows"),
            _ => ("canonical URLs", "redirect, fail or show"),
        };
        printer.warning(format_args!("{} {urls} {verbs} another page in this crawl", count(counts.wrong)));
        printer.hint("see them with `dedust evaluate RULES CRAWL --errors`");
    }
    if let Some(warning) = words::mostly_unmet(counts) {
        printer.warning(warning);
    }
}

/// The report for people.
pub(super) fn text(training: &Training, args: &LearnArgs, options: &LearnOptions, printer: &mut Printer) {
    let output = &args.output;
    let mut sites: Vec<&SiteReport> = training.sites.iter().collect();
    sites.sort_by_key(|report| (Reverse(report.saved), Reverse(report.urls)));
    let mut table = Table::new(&["site", "URLs", "duplicates known", "rules", "URLs saved", "share", "fpr"]);
    for report in sites.iter().take(SHOWN_SITES) {
        let name = match &report.mirror_of {
            Some(original) => format!("{}, a mirror of {original}", report.site),
            None => report.site.to_string(),
        };
        table.push(Figures::of(report).cells(&name));
    }
    if sites.len() > 1 {
        table.push(Figures::total(&training.sites).cells("total"));
    }
    printer.note(table);
    if sites.len() > SHOWN_SITES {
        let more = (sites.len() - SHOWN_SITES) as u64;
        printer.note(format_args!("and {}", counted(more, "more site", "more sites")));
    }
    let total = Figures::total(&training.sites);
    if total.saved_without_rules > 0 {
        printer.note(format_args!(
            "{} of these {} saved by safe normalization alone, without any rule",
            count(total.saved_without_rules),
            counted(total.saved, "URL is", "URLs are"),
        ));
    }
    if let Some(counts) = canonical(training) {
        printer.note(format_args!("canonical URLs: {}", words::canonical(counts)));
    }
    let mut shown = 0;
    for report in &sites {
        let Some(site) = training.rules.site(&report.site).filter(|site| !site.is_empty()) else { continue };
        if shown == SHOWN_RULES {
            break;
        }
        if let Some(Promise { lost, pages }) = site.promise() {
            printer.note(format_args!(
                "\n{}: at most {} of {} are expected to be merged wrongly, 95 % confidence",
                report.site,
                count(lost),
                counted(pages, "page", "pages"),
            ));
        }
        let is_held_out = site.rules().iter().any(|rule| rule.evidence.trust.is_some());
        if site.mirror().is_some() {
            printer.note(format_args!("\n{}:", report.site));
        } else if is_held_out {
            printer.note(format_args!(
                "\nrules of {}, made one after the other; bounds are at 95 %:",
                report.site
            ));
        } else {
            printer.note(format_args!(
                "\nrules of {}, which is ~ in them; bounds are for URLs like those learned from, at 95 %:",
                report.site
            ));
        }
        let shown_rule = |(index, rule): (usize, SiteEntry<'_>)| {
            let only = if rule.fetchable() { "" } else { " (in keys only)" };
            let risky = if risk(rule, site, options.max_loss).is_some() { ", risky" } else { "" };
            let trust =
                rule.evidence().trust.map_or(String::new(), |trust| format!("[{}{risky}] ", trust.name()));
            let state = match (rule.off(), rule.pinned()) {
                (Some(_), _) => "[off] ",
                (None, Some(_)) => "[pinned] ",
                (None, None) if !rule.is_applied() => "[refuted] ",
                (None, None) => "",
            };
            format!("  rule {index}: {trust}{state}{rule}{only}")
        };
        let mut rules: Vec<(usize, SiteEntry<'_>)> = site.entries().enumerate().collect();
        rules.sort_by_key(|&(_, rule)| Reverse((risk(rule, site, options.max_loss), rule.evidence().urls)));
        for (index, rule) in rules.into_iter().take(SHOWN_RULES - shown) {
            let (rule, evidence) = (shown_rule((index, rule)), rule.evidence());
            let record = if site.mirror().is_some() { words::shared_paths } else { words::record };
            printer.note(in_words(&rule, record(evidence), evidence));
            shown += 1;
        }
    }
    for report in sites.iter().take(SHOWN_SITES) {
        if let Some(site) = training.rules.site(&report.site) {
            refused(&report.site, site, printer);
        }
    }
    let all = training.rules.rule_count();
    let target = name_of_output(output);
    let written = counted(all as u64, "rule", "rules");
    if all > shown {
        printer.note(format_args!("\n{written} written to {target}; see there for all of them"));
    } else {
        printer.note(format_args!("\n{written} written to {target}"));
    }
    risks(training, options.max_loss, printer);
    canonical_risks(training, printer);
    if training.rules.sites().any(|(_, site)| site.mirror().is_some()) {
        printer.hint("mirrors are applied with --trust-mirrors only");
    }
}

/// The pages that a rule may lose, with 95 % confidence by all votes on it, if some are against it and the pages are more than
/// `max_loss` allows for one rule. None for the rules of methods that say nothing of it.
fn risk(rule: SiteEntry<'_>, site: &SiteRules, max_loss: f64) -> Option<u64> {
    let &Evidence { trust, support_pairs: votes, false_pairs: against, .. } = rule.evidence();
    let pages = site.summary().promise.filter(|_| trust.is_some())?.pages;
    let lost = failure_bound(against, votes) * votes as f64;
    (against > 0 && lost > (max_loss * pages as f64).max(LEAST_LOSS)).then_some(lost.ceil() as u64)
}

/// A site with risky rules.
struct RiskySite<'a> {
    name: &'a str,
    pages: u64,
    /// The pages that each may lose, and its place; those that may lose most first.
    rules: Vec<(u64, usize)>,
}

impl<'a> RiskySite<'a> {
    fn new(name: &'a str, site: &SiteRules, max_loss: f64) -> Option<Self> {
        let rules = site.entries().enumerate();
        let rules = rules.filter_map(|(index, rule)| Some((risk(rule, site, max_loss)?, index)));
        let mut rules: Vec<(u64, usize)> = rules.collect();
        rules.sort_by_key(|&(lost, index)| (Reverse(lost), index));
        let pages = site.summary().promise?.pages;
        Some(Self { name, pages, rules }).filter(|site| !site.rules.is_empty())
    }

    fn in_words(&self, max_loss: f64) -> String {
        let named = self.rules.iter().take(SHOWN_RISKS);
        let named: Vec<String> =
            named.map(|(lost, index)| format!("rule {index} up to {}", count(*lost))).collect();
        let more = match self.rules.len().saturating_sub(SHOWN_RISKS) {
            0 => String::new(),
            more => format!(" (and {} less)", counted(more as u64, "other", "others")),
        };
        format!(
            "{}: risky rules may lose many of {}: {}{more}; one rule should lose no more than {} (--max-loss)",
            self.name,
            counted(self.pages, "page", "pages"),
            words::list(&named),
            percent(max_loss),
        )
    }
}

/// Names the rules that may lose most, worst sites first.
fn risks(training: &Training, max_loss: f64, printer: &mut Printer) {
    let sites = training.rules.sites();
    let mut sites: Vec<RiskySite<'_>> =
        sites.filter_map(|(name, site)| RiskySite::new(name, site, max_loss)).collect();
    sites.sort_by_key(|site| Reverse(site.rules[0].0));
    for site in sites.iter().take(SHOWN_RISKS) {
        printer.warning(site.in_words(max_loss));
    }
    if sites.len() > SHOWN_RISKS {
        let more = counted((sites.len() - SHOWN_RISKS) as u64, "more site", "more sites");
        printer.warning(format_args!("likewise on {more}"));
    }
    if !sites.is_empty() {
        printer.hint(
            "see what they merge wrongly with `dedust evaluate RULES CRAWL --errors`; --mode strict asks for more proof",
        );
    }
}

/// What was considered and not believed, for those who ask.
fn refused(name: &str, site: &SiteRules, printer: &mut Printer) {
    if !site.refused().is_empty() {
        printer.detail(format_args!("\nconsidered on {name} and refused:"));
    }
    for rule in site.refused().iter().take(SHOWN_RULES) {
        printer.detail(format_args!("  {rule}\n    {}", words::refused(rule).join("; ")));
    }
}

fn in_words(rule: &str, record: String, evidence: &Evidence) -> String {
    let mut text = format!("{rule}\n    {record}");
    if let Some(example) = evidence.examples.first() {
        text += &format!("\n    e.g. {}\n       = {}", example.url, example.duplicate);
    }
    text
}

/// Says where a form that was asked for is not written.
pub(super) fn unmet_preferences(training: &Training, wishes: &[Preference], printer: &mut Printer) {
    let is_asked_for = |site: &str, form: Form| {
        let concerns = |wish: &Preference| wish.site.as_deref().is_none_or(|of| of == site);
        wishes.iter().any(|wish| wish.form == form && concerns(wish))
    };
    let unmet = training.sites.iter().flat_map(|report| {
        let unmet = report.unmet.iter().filter(|unmet| is_asked_for(&report.site, unmet.form));
        unmet.map(|unmet| (&*report.site, *unmet))
    });
    let unmet: Vec<(&str, UnmetPreference)> = unmet.collect();
    for (site, UnmetPreference { form, reason }) in unmet.iter().take(SHOWN_UNMET) {
        let (wanted, kept) = (form.name(), form.opposite().name());
        let reason = match reason {
            UnmetReason::SeenTooRarely => "too few pages were seen in it for others to be fetched so",
            _ => "with the other rules of the site, other URLs would be merged",
        };
        printer.note(format_args!("{site}: `{kept}` is kept where `{wanted}` is preferred: {reason}"));
    }
    if unmet.len() > SHOWN_UNMET {
        let more = counted((unmet.len() - SHOWN_UNMET) as u64, "more site", "more sites");
        printer.note(format_args!("likewise on {more}"));
    }
}

/// Says what is missing where nothing could be learned for lack of evidence.
pub(super) fn missing_evidence(training: &Training, kinds: EvidenceKinds, printer: &mut Printer) {
    // Sizes are enough for one method.
    if training.rules.rule_count() > 0 || training.sites.iter().any(|report| report.labelled > 0) {
        return;
    }
    if kinds == EvidenceKinds::AUTO {
        printer.warning("no evidence of duplicates: nothing can be learned from URLs alone");
        printer.hint(
            "add one of the columns cluster (or page), canonical, redirect, digest, text_digest, or simhash with title; \
             where only sizes are known, as in an access log, --method dustbuster can learn from them",
        );
    } else {
        printer.warning(format_args!("no evidence of duplicates of the kinds asked for, {kinds}"));
        printer.hint("leave out --evidence to use all there is");
    }
}
