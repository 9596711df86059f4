/*!
Is CanonFD right as often as it says? Learns from many simulated sites, whose pages are known, and counts.

`cargo run --release -p dedust-simulate --example simulated_sites [-- SITES [FIRST]]`. Of the 1,000 sites, or `SITES`,
half have one phenomenon and half a mix of one to five; a quarter each has labels that are right, or of which 5 % are
fake and 2 % fragmented, 15 % and 5 %, 30 % and 10 %. `FIRST` is the number of the first site, for looking at one again.
Exits with 1 when pages were merged wrongly (a share of false pairs above 1 %) on any site, or when more than 5 % of the
rules fail more often than they say.

A rule's failure bound speaks of groups of URLs that the rule brings together. Its real failure rate is the share of
those groups that hold more than one page, on a site of the same kind and four times the size.
*/

#![expect(clippy::print_stdout, reason = "a check reports on standard output")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use dedust::rules::Rule;
use dedust::support::{RuleList, UrlParts};
use dedust::{Normalizer, ParsedUrl};
use dedust_baselines::Method;
use dedust_eval::metrics::{Score, score};
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, LearnOptions, Trainer};
use dedust_simulate::{Noise, Phenomena, Phenomenon, Row, Site, SiteSpec};
use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Shares of fake and of fragmented labels.
const LEVELS: [(f64, f64); 4] = [(0.0, 0.0), (0.05, 0.02), (0.15, 0.05), (0.3, 0.1)];
/// URLs for each phenomenon of a site.
const URLS: u64 = 2_000;
/// How much larger the site is on which the real failure rate of a rule is measured.
const TIMES_LARGER: u64 = 4;
/// The share of false pairs above which a site counts as merged wrongly.
const MAX_FPR: f64 = 0.01;
/// The share of rules that may fail more often than they say.
const MAX_EXCEEDING: f64 = 0.05;
/// The share of the achievable compression from which on a phenomenon counts as learned.
const LEARNED: f64 = 0.9;
/// Cases that are shown, worst first.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let sites = numbers.next().unwrap_or(1_000);
    let first = numbers.next().unwrap_or(0);
    let results: Vec<Result> = (first..first + sites).into_par_iter().map(examine).collect();
    report_phenomena(&results);
    let wrong = report_sites(&results);
    let exceeding = report_bounds(&results);
    report_separation(&results);
    if wrong > 0 || exceeding > MAX_EXCEEDING { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What was asked for, and what came of it.
struct Result {
    number: u64,
    level: usize,
    phenomena: Phenomena,
    is_single: bool,
    /// All URLs that were learned from, and those of a larger site of the same kind.
    seen: Score,
    larger: Score,
    by_phenomenon: BTreeMap<Phenomenon, Score>,
    rules: Vec<Deployed>,
}

/// A rule that was learned, with what it does on the larger site.
struct Deployed {
    text: String,
    bound: f64,
    held_out: u64,
    failed: u64,
    groups: u64,
}

impl Deployed {
    fn failure_rate(&self) -> f64 {
        self.failed as f64 / self.groups.max(1) as f64
    }

    fn exceeds_its_bound(&self) -> bool {
        self.failure_rate() > self.bound
    }
}

/// Site `number`, without noise in its labels and for each phenomenon so many URLs.
fn spec(number: u64, urls: u64) -> (SiteSpec, Phenomena, bool) {
    let number = number / LEVELS.len() as u64;
    let is_single = number.is_multiple_of(2);
    let number = number / 2;
    if is_single {
        let phenomenon = Phenomenon::ALL[(number % Phenomenon::ALL.len() as u64) as usize];
        return (SiteSpec::single(phenomenon, urls, number), Phenomena::from_iter([phenomenon]), true);
    }
    let mut chance = number;
    let mut random = |below: u64| {
        chance = xxh3_64(&chance.to_le_bytes());
        chance % below
    };
    let count = 1 + random(5);
    let chosen = (0..count).map(|_| Phenomenon::ALL[random(Phenomenon::ALL.len() as u64) as usize]);
    let phenomena = Phenomena::from_iter(chosen);
    let spec = SiteSpec::new(format!("mix-{number}.example"), urls * count);
    (spec.phenomena(phenomena).singletons(0.3).seed(number), phenomena, false)
}

fn examine(number: u64) -> Result {
    let level = (number % LEVELS.len() as u64) as usize;
    let (fake, fragmented) = LEVELS[level];
    let (spec_seen, phenomena, is_single) = spec(number, URLS);
    let seen = Site::new(spec_seen.noise(Noise { fake, fragmented })).expect("a valid site");
    let larger = Site::new(spec(number, URLS * TIMES_LARGER).0).expect("a valid site");
    let all = SampleSize::new(1.0, u64::MAX).expect("a share");
    // Labels say nothing of who owns a host or a domain, so it is said here.
    let domain = spec(number, URLS).0.domain().to_owned();
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, all)
        .with_named_mirror(&domain.replace(".example", ".test"), &domain);
    visit(&seen, |row| {
        let label = row.label.to_string();
        let clues = Clues { cluster: Some(label.as_bytes()), ..Clues::default() };
        crawl.observe(row.url, &clues, None).expect("simulated URLs are valid");
    });
    let options = LearnOptions { trust_hosts: true, ..LearnOptions::default() };
    let trainer = Trainer::builder().learner(Method::CanonFd).options(options).build();
    let trainer = trainer.expect("defaults are valid");
    let crawl = crawl.finish().expect("a crawl in memory");
    let rules = trainer.train_stored(&crawl, &()).expect("rules can be learned").rules;
    let normalizer = Normalizer::compile(&rules);
    let (seen_score, by_phenomenon) = score_site(&seen, &normalizer);
    let (larger_score, _) = score_site(&larger, &normalizer);
    let sites = rules.sites().filter(|(_, site)| site.mirror().is_none());
    let rules = sites.flat_map(|(domain, site)| deployed(&larger, domain, site.rules())).collect();
    Result {
        number,
        level,
        phenomena,
        is_single,
        seen: seen_score,
        larger: larger_score,
        by_phenomenon,
        rules,
    }
}

fn visit(site: &Site, mut visit: impl FnMut(Row<'_>)) {
    let mut url = Vec::new();
    (0..site.urls()).for_each(|position| visit(site.row(position, &mut url)));
}

/// The scores of all URLs, and of those of each phenomenon.
fn score_site(site: &Site, normalizer: &Normalizer) -> (Score, BTreeMap<Phenomenon, Score>) {
    let mut all: Vec<(u128, u32)> = Vec::new();
    let mut by_phenomenon: BTreeMap<Phenomenon, Vec<(u128, u32)>> = BTreeMap::new();
    visit(site, |row| {
        let key = normalizer.key(row.url).expect("simulated URLs are valid");
        let scored = (xxh3_128(key.to_string().as_bytes()), row.page as u32);
        all.push(scored);
        if let Some(phenomenon) = row.phenomenon {
            by_phenomenon.entry(phenomenon).or_default().push(scored);
        }
    });
    (score(all), by_phenomenon.into_iter().map(|(phenomenon, rows)| (phenomenon, score(rows))).collect())
}

/// What each rule does on a site, after those before it.
fn deployed(site: &Site, domain: &str, rules: &[Rule]) -> Vec<Deployed> {
    let list = RuleList::new(rules).expect("learned rules can be compiled");
    let mut urls: Vec<(UrlParts, u64)> = Vec::new();
    visit(site, |row| {
        let url = ParsedUrl::parse(row.url).expect("simulated URLs are valid");
        let is_of_site =
            url.host() == domain.as_bytes() || url.host().ends_with(format!(".{domain}").as_bytes());
        let mut parts = UrlParts::default();
        if is_of_site && parts.read(&url, domain.len(), &list) {
            urls.push((parts, row.page));
        }
    });
    let place = |parts: &mut UrlParts, key: &mut Vec<u8>| {
        key.clear();
        parts.write_key(&list, key);
        xxh3_64(key)
    };
    let mut key = Vec::new();
    let mut before: Vec<u64> = urls.iter_mut().map(|(parts, _)| place(parts, &mut key)).collect();
    let mut found = Vec::new();
    for (number, rule) in rules.iter().enumerate() {
        // New place, old place, page.
        let mut rows: Vec<(u64, u64, u64)> = Vec::with_capacity(urls.len());
        for ((parts, page), before) in urls.iter_mut().zip(&mut before) {
            parts.apply(&list, number);
            let after = place(parts, &mut key);
            rows.push((after, *before, *page));
            *before = after;
        }
        rows.sort_unstable();
        let (mut groups, mut failed) = (0, 0);
        for group in rows.chunk_by(|a, b| a.0 == b.0) {
            let parts = group.chunk_by(|a, b| a.1 == b.1);
            if parts.clone().count() > 1 {
                // Pages that rules before this one merged are not its fault.
                let mut pages: Vec<u64> = parts.filter_map(majority).collect();
                pages.sort_unstable();
                pages.dedup();
                groups += 1;
                failed += u64::from(pages.len() > 1);
            }
        }
        found.push(Deployed {
            text: dedust_learn::support::rule_text(rule),
            bound: rule.evidence.failure_bound,
            held_out: rule.evidence.groups,
            failed,
            groups,
        });
    }
    found
}

/// The page of more than half of the rows.
fn majority(rows: &[(u64, u64, u64)]) -> Option<u64> {
    let page = rows[rows.len() / 2].2;
    let count = rows.iter().filter(|row| row.2 == page).count();
    (2 * count > rows.len()).then_some(page)
}

/// A table of phenomena: where they were learned, of the sites that have them, level by level.
fn report_phenomena(results: &[Result]) {
    println!(
        "Learned (at least {:.0} % of the achievable compression), of the sites with it:",
        100.0 * LEARNED
    );
    print!("{:24}", "fake/fragmented %");
    for (fake, fragmented) in LEVELS {
        print!("{:>26}", format!("{:.0}/{:.0} alone, mixed", 100.0 * fake, 100.0 * fragmented));
    }
    println!();
    let is_learned = |score: &Score| score.compression >= LEARNED * score.achievable;
    let mut learned_alone = [0; LEVELS.len()];
    for phenomenon in Phenomenon::ALL {
        print!("{:24}", phenomenon.name());
        for (level, learned_alone) in learned_alone.iter_mut().enumerate() {
            let mut cells = Vec::new();
            for is_single in [true, false] {
                let scores: Vec<&Score> = results
                    .iter()
                    .filter(|result| result.level == level && result.is_single == is_single)
                    .filter_map(|result| result.by_phenomenon.get(&phenomenon))
                    .collect();
                let learned = scores.iter().filter(|score| is_learned(score)).count();
                if is_single && 2 * learned > scores.len() {
                    *learned_alone += 1;
                }
                cells.push(format!("{learned}/{}", scores.len()));
            }
            print!("{:>26}", cells.join(", "));
        }
        println!();
    }
    println!("{:24}{}", "alone, on most sites", learned_alone.map(|count| format!("{count:>26}")).concat());
    println!();
}

/// Sites on which pages were merged wrongly; how many there are.
fn report_sites(results: &[Result]) -> usize {
    let fpr = |result: &Result| result.seen.fpr.max(result.larger.fpr);
    let mut wrong: Vec<&Result> = results.iter().filter(|result| fpr(result) > MAX_FPR).collect();
    wrong.sort_by(|a, b| fpr(b).total_cmp(&fpr(a)));
    println!(
        "Sites with more than {:.0} % false pairs: {} of {}",
        100.0 * MAX_FPR,
        wrong.len(),
        results.len()
    );
    for (level, (fake, fragmented)) in LEVELS.into_iter().enumerate() {
        let of_level =
            |results: &mut dyn Iterator<Item = &Result>| results.filter(|r| r.level == level).count();
        let (bad, all) = (of_level(&mut wrong.iter().copied()), of_level(&mut results.iter()));
        println!("  {:>2.0}/{:<2.0} {bad} of {all}", 100.0 * fake, 100.0 * fragmented);
    }
    for result in wrong.iter().take(SHOWN) {
        let Result { seen, larger, .. } = result;
        println!(
            "  {}: fpr {:.4}, on the larger site {:.4}; recall {:.4}, {:.4}",
            name(result),
            seen.fpr,
            larger.fpr,
            seen.recall,
            larger.recall
        );
        for rule in result.rules.iter().filter(|rule| rule.failure_rate() > MAX_FPR) {
            println!("      {}", line(rule));
        }
    }
    println!();
    wrong.len()
}

/// Rules that fail more often than they say; their share.
fn report_bounds(results: &[Result]) -> f64 {
    let rules = || results.iter().flat_map(|result| result.rules.iter().map(move |rule| (result, rule)));
    let measured = rules().filter(|(_, rule)| rule.groups > 0).count();
    let mut exceeding: Vec<(&Result, &Deployed)> =
        rules().filter(|(_, rule)| rule.exceeds_its_bound()).collect();
    let excess = |rule: &Deployed| rule.failure_rate() - rule.bound;
    exceeding.sort_by(|a, b| excess(b.1).total_cmp(&excess(a.1)));
    let share = exceeding.len() as f64 / measured.max(1) as f64;
    let without_groups = rules().filter(|(_, rule)| rule.held_out == 0).count();
    println!(
        "Rules that fail more often than they say: {} of {measured}, {:.2} %; {without_groups} have no group held out",
        exceeding.len(),
        100.0 * share
    );
    for (level, (fake, fragmented)) in LEVELS.into_iter().enumerate() {
        let all = rules().filter(|(result, rule)| result.level == level && rule.groups > 0).count();
        let bad = exceeding.iter().filter(|(result, _)| result.level == level).count();
        println!("  {:>2.0}/{:<2.0} {bad} of {all}", 100.0 * fake, 100.0 * fragmented);
    }
    for (result, rule) in exceeding.iter().take(SHOWN) {
        println!("  {}\n      {}", name(result), line(rule));
    }
    share
}

/// What rules say that hold, and those that do not: how well the bound tells them apart.
fn report_separation(results: &[Result]) {
    println!("\nBounds that are stated: middle and largest of rules that hold, all of those that do not");
    for (level, (fake, fragmented)) in LEVELS.into_iter().enumerate() {
        let rules = results.iter().filter(|result| result.level == level).flat_map(|result| &result.rules);
        let (mut failing, mut holding): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for rule in rules.filter(|rule| rule.groups > 0) {
            let side = if rule.failure_rate() > MAX_FPR { &mut failing } else { &mut holding };
            side.push(rule.bound);
        }
        failing.sort_by(f64::total_cmp);
        holding.sort_by(f64::total_cmp);
        let middle = holding.get(holding.len() / 2).copied().unwrap_or(1.0);
        let largest = holding.last().copied().unwrap_or(1.0);
        println!(
            "  {:>2.0}/{:<2.0} {middle:.3} {largest:.3}; {failing:.3?}",
            100.0 * fake,
            100.0 * fragmented
        );
    }
}

fn name(result: &Result) -> String {
    let (fake, fragmented) = LEVELS[result.level];
    let Result { number, phenomena, .. } = result;
    format!("site {number} ({:.0}/{:.0}, {phenomena})", 100.0 * fake, 100.0 * fragmented)
}

fn line(rule: &Deployed) -> String {
    let Deployed { text, bound, held_out, failed, groups } = rule;
    format!(
        "{failed} of {groups} groups fail, {:.4}; says at most {bound:.4} by {held_out}: {text}",
        rule.failure_rate()
    )
}
