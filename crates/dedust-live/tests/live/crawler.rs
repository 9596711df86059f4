/*!
A crawler that fetches what a live crawl asks for, from a site that is a function.
*/

use std::collections::BTreeMap;
use std::path::Path;

use dedust_crawl::CrawlRow;
use dedust_io::{Column, Observation};
use dedust_live::{LiveCrawl, LiveOptions, Verdict};

/// URLs that are asked about at a time.
const BATCH: usize = 50;

/// A crawler in the middle of a crawl.
pub(crate) struct Crawler<'s> {
    pub(crate) crawl: LiveCrawl,
    pub(crate) site: &'s dyn Fn(&str, usize) -> String,
    /// The text that each URL showed.
    pub(crate) fetched: BTreeMap<String, String>,
    /// URLs that were asked about, in order.
    pub(crate) asked: Vec<String>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) returned: usize,
}

/// The marker of a state, with a secret.
const MARKER: &str =
    "dedust live crawl, format 1\nsecret 5eed5eed5eed5eed5eed5eed5eed5eed\ncheck 368ff4bc00d832d7\n";

impl<'s> Crawler<'s> {
    /// Opens a state. The site is given a URL and how many fetches there were before, and gives a text.
    pub(crate) fn open(state: &Path, site: &'s dyn Fn(&str, usize) -> String) -> Self {
        // With a secret that is known, the same URLs are audited each time.
        std::fs::create_dir_all(state).unwrap();
        if !state.join("LIVE").exists() {
            std::fs::write(state.join("LIVE"), MARKER).unwrap();
        }
        let mut options = LiveOptions::default();
        options.clock = || 1_000_000;
        let crawl = LiveCrawl::open(state, options).unwrap();
        Self { crawl, site, fetched: BTreeMap::new(), asked: Vec::new(), verdicts: Vec::new(), returned: 0 }
    }

    /// Asks about URLs and fetches those that are to be.
    pub(crate) fn run(&mut self, urls: &[String]) {
        for batch in urls.chunks(BATCH) {
            self.batch(batch);
        }
    }

    pub(crate) fn batch(&mut self, urls: &[String]) {
        let mut wanted = Vec::new();
        for url in urls {
            let verdict = self.crawl.admit(url.as_bytes()).unwrap().verdict;
            self.asked.push(url.clone());
            self.verdicts.push(verdict);
            if verdict.is_fetched() {
                wanted.push(url.clone());
            }
        }
        self.crawl.save().unwrap();
        self.fetch(&wanted);
        loop {
            let back = self.crawl.returned(1000).unwrap();
            if back.is_empty() {
                break;
            }
            self.returned += back.len();
            self.fetch(&back);
        }
    }

    fn fetch(&mut self, urls: &[String]) {
        for url in urls {
            let text = (self.site)(url, self.fetched.len());
            self.crawl.observe(&row(url, &text)).unwrap();
            self.fetched.insert(url.clone(), text);
        }
        self.crawl.learn().unwrap();
    }

    /// How many of the pages that the URLs show were not seen, of how many. `page` says which page a URL shows.
    pub(crate) fn lost(&self, page: impl Fn(&str) -> String) -> (usize, usize) {
        let mut pages = BTreeMap::new();
        for url in &self.asked {
            *pages.entry(page(url)).or_insert(false) |= self.fetched.contains_key(url);
        }
        (pages.values().filter(|is_seen| !**is_seen).count(), pages.len())
    }

    /// Rules of now, without what they were learned from.
    pub(crate) fn rules(&self) -> Vec<String> {
        let rules = self.crawl.rules();
        let applied = rules.sites().flat_map(|(_, site)| site.applied().map(|(_, rule)| rule.to_string()));
        applied.collect()
    }
}

fn row(url: &str, text: &str) -> CrawlRow {
    let mut observation = Observation::new();
    for (column, value) in
        [(Column::Url, url), (Column::TextDigest, text), (Column::Title, text), (Column::Status, "200")]
    {
        observation.set_text(column, value).unwrap();
    }
    CrawlRow::new(observation)
}

/// The value of a parameter.
pub(crate) fn value<'u>(url: &'u str, name: &str) -> &'u str {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let values = query.split('&').filter_map(|part| part.split_once('='));
    values.filter(|(key, _)| *key == name).map(|(_, value)| value).next().unwrap_or("")
}

/// A number from 0 to below `most`, the same each time.
pub(crate) fn chance(seed: usize, most: usize) -> usize {
    let mut state = (seed as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 31;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (state >> 33) as usize % most
}
