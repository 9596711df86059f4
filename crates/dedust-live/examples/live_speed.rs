/*!
How fast a live crawl answers: `cargo run --release -p dedust-live --example live_speed -- [URLS] [SITES]`

Beside a key and a look-up in a set of seen keys, on a site with rules; then URLs of many sites, with the memory that the process takes.
*/

use std::error::Error;
use std::io::{self, Write as _};
use std::time::Instant;

use dedust::{Normalizer, RuleSet, Scratch};
use dedust_crawl::CrawlRow;
use dedust_io::{Column, Observation};
use dedust_live::{LiveCrawl, LiveOptions};
use dedust_seen::SeenSet;

/// URLs that are answered at once.
const BATCH: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (urls, sites) = (arguments.next().unwrap_or(1_000_000), arguments.next().unwrap_or(1000));
    let mut out = io::stdout().lock();
    let folder = tempfile::tempdir()?;
    let json = br#"{"version": 1, "sites": {"s0.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#;
    let normalizer = Normalizer::compile(&RuleSet::load(&json[..])?);

    let one: Vec<String> = (0..urls).map(|at| url(at, 1)).collect();
    let started = Instant::now();
    let mut seen = SeenSet::open(folder.path().join("seen"))?;
    let (hasher, mut scratch) = (seen.hasher(), Scratch::default());
    let (mut keys, mut is_new) = (Vec::new(), Vec::new());
    for batch in one.chunks(BATCH) {
        keys.clear();
        for url in batch {
            keys.push(hasher.hash(normalizer.key_with(url.as_bytes(), &mut scratch)?));
        }
        seen.insert_batch(&keys, &mut is_new)?;
    }
    let looked_up = started.elapsed().as_secs_f64();
    seen.close()?;

    let mut options = LiveOptions::default();
    options.rules = Some(normalizer);
    let mut crawl = LiveCrawl::open(&folder.path().join("one"), options)?;
    let started = Instant::now();
    for batch in one.chunks(BATCH) {
        for url in batch {
            crawl.admit(url.as_bytes())?;
        }
        crawl.save()?;
    }
    let admitted = started.elapsed().as_secs_f64();
    let rows: Vec<CrawlRow> = one.iter().step_by(4).map(|url| row(url)).collect::<Result<_, _>>()?;
    let started = Instant::now();
    for batch in rows.chunks(BATCH) {
        for row in batch {
            crawl.observe(row)?;
        }
        crawl.save()?;
    }
    let observed = started.elapsed().as_secs_f64();
    writeln!(
        out,
        "key and look-up {:.0} ns, admit {:.0} ns: {:.2} times",
        looked_up / urls as f64 * 1e9,
        admitted / urls as f64 * 1e9,
        admitted / looked_up
    )?;
    writeln!(out, "observe {:.0} rows a second", rows.len() as f64 / observed)?;
    drop((crawl, rows, one));

    let mut crawl = LiveCrawl::open(&folder.path().join("many"), LiveOptions::default())?;
    let started = Instant::now();
    for first in (0..urls).step_by(BATCH) {
        for at in first..(first + BATCH).min(urls) {
            crawl.admit(url(at, sites).as_bytes())?;
        }
        crawl.save()?;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned();
    writeln!(
        out,
        "{urls} URLs of {sites} sites: {:.0} ns each, {memory}",
        started.elapsed().as_secs_f64() / urls as f64 * 1e9
    )?;
    Ok(())
}

/// Four URLs of each page, of sites that take turns.
fn url(at: usize, sites: usize) -> String {
    let (site, number) = (at % sites, at / sites);
    format!("http://s{site}.example/shop/view/item?id={}&lang=en&sid={}", number / 4, 7919 * at)
}

fn row(url: &str) -> Result<CrawlRow, Box<dyn Error>> {
    let mut observation = Observation::new();
    let digest = format!("{:016x}", url.len() * 31);
    for (column, value) in [
        (Column::Url, url),
        (Column::Status, "200"),
        (Column::Title, "An item of the shop"),
        (Column::TextDigest, &digest),
        (Column::Simhash, "e98d2e642e690eda"),
    ] {
        observation.set_text(column, value)?;
    }
    Ok(CrawlRow::new(observation))
}
