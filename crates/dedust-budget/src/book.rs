/*!
Budgets made ready for lookup: a key of a URL in, whether to fetch it out.

Which URLs of a pattern are fetched is decided by their hashes, so that every process decides alike, and a URL is not fetched later that
was left out before unless its pattern's share rises.
*/

use dedust::ParsedUrl;
use foldhash::{HashMap, HashMapExt as _};

use crate::Budgets;
use crate::crawl::url_hash;
use crate::parts::test_hashes;
use crate::trial::is_sampled;

/// Budgets by host.
#[derive(Debug)]
pub struct BudgetBook {
    hosts: HashMap<Box<[u8]>, Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    pattern: u32,
    fetch: f64,
    passed: Vec<u64>,
    failed: Vec<u64>,
}

/// Buffers of a lookup, reused from URL to URL.
#[derive(Debug, Default)]
pub struct LookupScratch {
    url: ParsedUrl,
    hashes: Vec<u64>,
}

/// Whether to fetch a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is in no pattern that has a budget, or is among those that are fetched.
    Fetch,
    /// It is not fetched for now.
    Defer {
        /// The index of its pattern in the [`Budgets`].
        pattern: u32,
    },
}

impl BudgetBook {
    /// Makes budgets ready.
    pub fn new(budgets: &Budgets) -> Self {
        let mut hosts: HashMap<Box<[u8]>, Vec<Entry>> = HashMap::new();
        for (index, pattern) in budgets.patterns.iter().enumerate() {
            let hashes = |is_negated: bool| {
                let tests = pattern.when.iter().filter(|test| test.is_negated == is_negated);
                tests.map(crate::Test::hash).collect()
            };
            let entry = Entry {
                pattern: index as u32,
                fetch: pattern.fetch,
                passed: hashes(false),
                failed: hashes(true),
            };
            hosts.entry(pattern.host.as_bytes().into()).or_default().push(entry);
        }
        // Where nothing is left out, nothing needs to be looked up.
        hosts.retain(|_, entries| entries.iter().any(|entry| entry.fetch < 1.0));
        Self { hosts }
    }

    /// Whether to fetch the URL of this key.
    pub fn decide(&self, key: &[u8], scratch: &mut LookupScratch) -> Decision {
        let LookupScratch { url, hashes } = scratch;
        if self.hosts.is_empty() || url.parse_from(key).is_err() {
            return Decision::Fetch;
        }
        let Some(entries) = self.hosts.get(url.host()) else { return Decision::Fetch };
        test_hashes(url, hashes);
        let has = |hash: &u64| hashes.binary_search(hash).is_ok();
        let is_of = |entry: &&Entry| entry.passed.iter().all(has) && !entry.failed.iter().any(has);
        match entries.iter().find(is_of) {
            Some(entry) if !is_sampled(url_hash(key), entry.fetch) => {
                Decision::Defer { pattern: entry.pattern }
            }
            _ => Decision::Fetch,
        }
    }
}
