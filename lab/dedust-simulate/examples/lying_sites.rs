/*!
Does the learner lose pages where the evidence lies? Learns from many simulated sites whose pages are known, and counts.

`cargo run --release -p dedust-simulate --example lying_sites [-- SITES [FIRST]]`. Of the 1,000 sites, or `SITES`, half
have one lie and half a mix of two to five, all beside honest duplicates, and 1,500 to 4,000 URLs. `FIRST` is the number
of the first site, for looking at one again. Each is learned from 1, 10, 30, 60 and 100 % of its URLs, chosen by a hash,
and all of its URLs are normalized. Exits with 1 when any site loses more than 1 % of its pages.

A crawler fetches the first URL of each key. A page is lost when none of its URLs is fetched, and no URL that is fetched
in place of one of them shows the same content. Pages that were never seen with status 200 do not count.
*/

#![expect(clippy::print_stdout, reason = "a check reports on standard output")]

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use dedust::{Normalizer, Scratch};
use dedust_eval::metrics::score;
use dedust_learn::support::SampleSize;
use dedust_learn::{CrawlStore, EvidenceKinds, Trainer};
use dedust_simulate::{Lie, Lies, LyingRow, LyingSite, LyingSpec};
use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Per cent of the URLs that are learned from.
const SHARES: [u64; 5] = [1, 10, 30, 60, 100];
/// The share of lost pages above which a site counts as failed.
const MAX_LOST: f64 = 0.01;
/// URLs of a site.
const MIN_URLS: u64 = 1_500;
const MAX_URLS: u64 = 4_000;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let sites = numbers.next().unwrap_or(1_000);
    let first = numbers.next().unwrap_or(0);
    let results: Vec<Result> = (first..first + sites).into_par_iter().flat_map_iter(examine).collect();
    report_shares(&results);
    report_lies(&results);
    let is_failed = results.iter().any(|result| result.lost > MAX_LOST);
    if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What came of learning from a share of a site.
struct Result {
    number: u64,
    lies: Lies,
    noise: f64,
    percent: u64,
    /// Share of the pages.
    lost: f64,
    /// Share of the achievable compression, at most 1.
    compression: f64,
}

/// Site `number`.
fn spec(number: u64) -> LyingSpec {
    let mut chance = number;
    let mut random = |below: u64| {
        chance = xxh3_64(&chance.to_le_bytes());
        chance % below
    };
    let urls = MIN_URLS + random(MAX_URLS - MIN_URLS + 1);
    let lies = if number.is_multiple_of(2) {
        Lies::from_iter([Lie::ALL[(number / 2) as usize % Lie::ALL.len()]])
    } else {
        let count = 2 + random(4) as usize;
        let mut mix = Vec::new();
        while mix.len() < count {
            let lie = Lie::ALL[random(Lie::ALL.len() as u64) as usize];
            if !mix.contains(&lie) {
                mix.push(lie);
            }
        }
        Lies::from_iter(mix)
    };
    LyingSpec::new(format!("lies-{number}.example"), urls).lies(lies).seed(number)
}

fn examine(number: u64) -> Vec<Result> {
    let spec = spec(number);
    let (lies, noise) = (spec.chosen_lies(), spec.chosen_noise());
    let mut rows = Vec::new();
    LyingSite::new(spec).expect("a valid site").each_row(|row| rows.push(row.clone()));
    let examine_share = |percent: u64| {
        let keys = keys(&rows, &learn(&rows, percent));
        let score = score(keys.iter().zip(&rows).map(|(&key, row)| (key, row.page as u32)));
        let compression =
            if score.achievable > 0.0 { (score.compression / score.achievable).min(1.0) } else { 1.0 };
        Result { number, lies, noise, percent, lost: share_lost(&rows, &keys), compression }
    };
    SHARES.into_iter().map(examine_share).collect()
}

/// Learns from some per cent of the rows.
fn learn(rows: &[LyingRow], percent: u64) -> Normalizer {
    let all = SampleSize::new(1.0, u64::MAX).expect("a share");
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, all).with_mirrors();
    for row in rows.iter().filter(|row| xxh3_64(row.url.as_bytes()) % 100 < percent) {
        crawl.observe(row.url.as_bytes(), &row.clues(), None).expect("simulated URLs are valid");
    }
    let crawl = crawl.finish().expect("a crawl in memory");
    let trainer = Trainer::builder().build().expect("defaults are valid");
    Normalizer::compile(&trainer.train_stored(&crawl, &()).expect("rules can be learned").rules)
}

/// A hash of the key of each row.
fn keys(rows: &[LyingRow], normalizer: &Normalizer) -> Vec<u128> {
    let mut scratch = Scratch::default();
    let key = |row: &LyingRow| {
        xxh3_128(normalizer.key_with(row.url.as_bytes(), &mut scratch).expect("simulated URLs are valid"))
    };
    rows.iter().map(key).collect()
}

/// The share of pages that are lost to a crawler that fetches the first URL of each key.
fn share_lost(rows: &[LyingRow], keys: &[u128]) -> f64 {
    let mut fetched_by_key: HashMap<u128, &LyingRow> = HashMap::new();
    // An error that was shown in place of a page is its content only where nothing else was seen: it has the largest
    // number.
    let mut content_by_page: HashMap<u64, u64> = HashMap::new();
    for (row, &key) in rows.iter().zip(keys) {
        fetched_by_key.entry(key).or_insert(row);
        if row.status == 200 {
            let content = content_by_page.entry(row.page).or_insert(row.content);
            *content = row.content.min(*content);
        }
    }
    let mut is_kept_by_page: HashMap<u64, bool> = HashMap::new();
    for (row, key) in rows.iter().zip(keys) {
        let Some(&content) = content_by_page.get(&row.page) else { continue };
        let fetched = fetched_by_key[key];
        let shows_content = fetched.status == 200 && fetched.content == content;
        *is_kept_by_page.entry(row.page).or_default() |= fetched.url == row.url || shows_content;
    }
    let lost = is_kept_by_page.values().filter(|is_kept| !**is_kept).count();
    lost as f64 / is_kept_by_page.len().max(1) as f64
}

/// A table: how it went with each share of the URLs.
fn report_shares(results: &[Result]) {
    println!(
        "{:>8} {:>6} {:>22} {:>12}  worst site",
        "URLs %",
        "sites",
        format!("more than {:.0} % lost", 100.0 * MAX_LOST),
        "compression"
    );
    for percent in SHARES {
        let of_share: Vec<&Result> = results.iter().filter(|result| result.percent == percent).collect();
        let failed = of_share.iter().filter(|result| result.lost > MAX_LOST).count();
        let compression =
            of_share.iter().map(|result| result.compression).sum::<f64>() / of_share.len().max(1) as f64;
        println!(
            "{percent:>8} {:>6} {failed:>22} {compression:>12.3}  {}",
            of_share.len(),
            worst(of_share.iter().copied())
        );
    }
    println!();
}

/// A table: the worst site of each lie, first where it is alone, then in a mix.
fn report_lies(results: &[Result]) {
    let mut failed_by_lie: BTreeMap<Lie, usize> = BTreeMap::new();
    for result in results.iter().filter(|result| result.lost > MAX_LOST) {
        result.lies.iter().for_each(|lie| *failed_by_lie.entry(lie).or_default() += 1);
    }
    println!("{:24} {:>7}  worst site", "lie", "failed");
    for lie in Lie::ALL {
        let failed = failed_by_lie.get(&lie).copied().unwrap_or_default();
        let with = |is_alone: bool| {
            let has =
                move |result: &&Result| result.lies.contains(lie) && (result.lies.len() == 1) == is_alone;
            results.iter().filter(has)
        };
        println!("{:24} {failed:>7}  alone: {}", lie.name(), worst(with(true)));
        println!("{:24} {:>7}  mixed: {}", "", "", worst(with(false)));
    }
}

/// The site that lost the largest share, in words.
fn worst<'r>(results: impl Iterator<Item = &'r Result>) -> String {
    // The first of equals, so that the output does not depend on more than the sites.
    let worst = results.reduce(|worst, result| if result.lost > worst.lost { result } else { worst });
    match worst {
        Some(Result { number, lies, noise, percent, lost, .. }) => {
            format!("site {number} ({lies}; noise {noise}) from {percent} %: {:.2} % lost", 100.0 * lost)
        }
        None => "none".to_owned(),
    }
}
