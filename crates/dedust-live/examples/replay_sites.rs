/*!
What a crawler saves on sites whose pages are known: `cargo run --release -p dedust-live --example replay_sites -- SITE_DIR...`

Each folder has `pages.jsonl.gz` and `truth.jsonl.gz`. Prints the share of the avoidable fetches that were avoided, and the share of pages of
which something was fetched that shows the same.
*/

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;

use dedust::{Normalizer, RuleSet};
use dedust_crawl::{CrawlRow, RowError, open, read_all};
use dedust_live::{LiveOptions, Status, replay};
use serde_json::Value;

/// What is known of the rows of a site.
struct Site {
    rows: Vec<CrawlRow>,
    words: HashMap<Vec<u8>, i64>,
    page_of: HashMap<Vec<u8>, String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let sites: Vec<String> = std::env::args().skip(1).collect();
    let (mut sum, mut worst) = (0.0, 1.0_f64);
    for folder in &sites {
        let site = read(Path::new(folder))?;
        let state = tempfile::tempdir()?;
        let started = std::time::Instant::now();
        let replayed = replay(&state.path().join("state"), LiveOptions::default(), &site.rows)?;
        let (saved, recall, lost) = score(&site, &replayed.fetched, &replayed.keys);
        (sum, worst) = (sum + saved, worst.min(recall));
        let Status { audits, refuted, rules, withdrawn, lost: bound, skipped, .. } = replayed.status;
        let fetched = replayed.fetched.iter().filter(|is_fetched| **is_fetched).count();
        let last = by_last_rules(&site, &replayed.rules)?;
        writeln!(
            out,
            "{:12} saved {saved:.3} (by the last rules {last:.3}) Rc {recall:.4} lost {lost} (at most {}) fetched {fetched} skipped {skipped} audits {audits} refuted {refuted} returned {} rules {rules} withdrawn {withdrawn} {:.1} s",
            Path::new(folder).file_name().unwrap_or_default().to_string_lossy(),
            bound.most,
            replayed.returned,
            started.elapsed().as_secs_f64(),
        )?;
    }
    writeln!(out, "mean saved {:.3}, worst recall {worst:.4}", sum / sites.len() as f64)?;
    Ok(())
}

/// The share that the last rules would have avoided, had they been known from the start.
fn by_last_rules(site: &Site, rules: &RuleSet) -> Result<f64, Box<dyn Error>> {
    let normalizer = Normalizer::compile(rules);
    let (mut keys, mut urls) = (HashSet::new(), 0);
    for row in site.rows.iter().filter(|row| site.page_of.contains_key(row.url())) {
        urls += 1;
        keys.insert(normalizer.key(row.url())?.to_string());
    }
    let pages: HashSet<&String> = site.page_of.values().collect();
    Ok((urls - keys.len()) as f64 / (urls - pages.len()).max(1) as f64)
}

fn read(folder: &Path) -> Result<Site, Box<dyn Error>> {
    let pages = folder.join("pages.jsonl.gz");
    let mut site = Site { rows: Vec::new(), words: HashMap::new(), page_of: HashMap::new() };
    let (_, read) = read_all([open(&pages, None, &[])], &mut (), |row| {
        site.rows.push(CrawlRow::new((**row).clone()));
        Ok::<(), RowError>(())
    });
    read?;
    each(&pages, |row| {
        if let (Some(url), Some(words)) = (row["url"].as_str(), row["words"].as_i64()) {
            site.words.insert(url.into(), words);
        }
    })?;
    each(&folder.join("truth.jsonl.gz"), |row| {
        let page = if row["same"].is_null() { &row["page"] } else { &row["same"] };
        if let Some(url) = row["url"].as_str() {
            site.page_of.insert(url.into(), page.to_string());
        }
    })?;
    Ok(site)
}

fn each(path: &Path, mut take: impl FnMut(Value)) -> Result<(), Box<dyn Error>> {
    for line in BufReader::new(dedust_io::open_text(path)?).lines() {
        take(serde_json::from_str(&line?)?);
    }
    Ok(())
}

/// The share of the avoidable fetches that were avoided, of the pages that were seen, and how many were not.
fn score(site: &Site, fetched: &[bool], keys: &[Box<[u8]>]) -> (f64, f64, usize) {
    let known: Vec<usize> =
        (0..site.rows.len()).filter(|&at| site.page_of.contains_key(site.rows[at].url())).collect();
    let page = |at: usize| &site.page_of[site.rows[at].url()];
    let mut pages: HashMap<&String, Vec<usize>> = HashMap::new();
    known.iter().for_each(|&at| pages.entry(page(at)).or_default().push(at));
    let mut by_key: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for at in (0..fetched.len()).filter(|&at| fetched[at]) {
        by_key.entry(&keys[at]).or_default().push(at);
    }
    let found: HashSet<&String> = known.iter().filter(|&&at| fetched[at]).map(|&at| page(at)).collect();
    let is_seen = |at: usize| {
        let others = by_key.get(&*keys[at]).map_or(&[][..], Vec::as_slice);
        others.iter().take(50).any(|&other| alike(site, at, other))
    };
    let is_page = |at: usize| matches!(site.rows[at].status(), None | Some(200));
    let is_lost = |members: &&Vec<usize>| {
        members.iter().any(|&at| is_page(at)) && !members.iter().any(|&at| is_seen(at))
    };
    let lost = pages.iter().filter(|(page, _)| !found.contains(**page)).map(|(_, members)| members);
    let lost = lost.filter(is_lost).count();
    let fetches = known.iter().filter(|&&at| fetched[at]).count();
    let saved = (known.len() - fetches) as f64 / (known.len() - pages.len()).max(1) as f64;
    (saved, 1.0 - lost as f64 / pages.len().max(1) as f64, lost)
}

fn alike(site: &Site, one: usize, two: usize) -> bool {
    let (a, b) = (&site.rows[one], &site.rows[two]);
    if a.status() != b.status() {
        return false;
    }
    if a.text_digest().is_some() && a.text_digest() == b.text_digest() {
        return true;
    }
    let (Some(x), Some(y)) = (a.simhash(), b.simhash()) else { return false };
    let words = |row: &CrawlRow| site.words.get(row.url()).copied().unwrap_or(0);
    a.title() == b.title() && (x ^ y).count_ones() <= 7 && (words(a) - words(b)).abs() <= 3
}
