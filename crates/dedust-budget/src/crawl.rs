/*!
What is remembered of a crawl: URLs and hashes of the lines that their pages show in, rows in an order that depends on nothing else out.

Memory is bounded: of a host with too many URLs those with the lowest hashes are kept, and of too many lines those whose hashes are
divisible by a power of two. Which ones does not depend on the order of the rows, nor on how they are spread over processes.
*/

use std::collections::BTreeMap;

use dedust::ParsedUrl;
use foldhash::{HashMap, HashMapExt as _};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// URLs that are kept of a host.
const MAX_HOST_URLS: usize = 200_000;

/// Lines that are kept, of all pages together.
const MAX_LINES: usize = 64 << 20;

/// Lines that are kept of one page.
const MAX_PAGE_LINES: usize = 1 << 16;

/// What a row tells of the text of its page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageText<'a> {
    /// Hashes of its lines; none if only an answer is known.
    pub lines: &'a [u64],
    /// A hash of all text that the page answers, such as a digest of it; `None` if that is not known.
    pub answer: Option<u64>,
    /// A hash of its body, which may be no text; used where no page has lines.
    pub body: Option<u64>,
}

/// A URL with what its page shows.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// After rules were applied.
    pub(crate) url: Box<[u8]>,
    /// The hash by which it is sampled.
    pub(crate) hash: u64,
    /// The answer; of a body that may be no text, if that is all that is known.
    pub(crate) answer: u64,
    is_body: bool,
    /// When it was met first: the number of rows before it.
    pub(crate) order: u64,
    /// Sorted hashes of lines.
    pub(crate) lines: Box<[u32]>,
}

impl Row {
    /// By what URLs are ranked that show the same.
    pub(crate) fn rank(&self) -> (usize, u64) {
        (self.url.len(), self.hash)
    }

    /// What tells its page from others.
    pub(crate) fn page(&self) -> u64 {
        if self.lines.is_empty() {
            return self.answer;
        }
        let hash = |hash, line: &u32| xxh3_64_with_seed(&line.to_le_bytes(), hash);
        self.lines.iter().fold(0, hash)
    }
}

/// URLs of a crawl, by host.
#[derive(Debug, Default)]
pub struct Crawl {
    hosts: BTreeMap<Box<[u8]>, Host>,
    /// Only lines whose hashes have so many zeros at their end are kept.
    level: u32,
    lines: usize,
    url: ParsedUrl,
    hashes: Vec<u32>,
    rows: u64,
    without_text: u64,
    duplicates: u64,
    has_lines: bool,
}

#[derive(Debug)]
struct Host {
    rows: HashMap<u64, Row>,
    /// URLs with hashes above it are not kept.
    highest: u64,
}

/// The hash by which a URL is sampled: a share of `s` has hashes below `s`.
pub(crate) fn url_hash(key: &[u8]) -> u64 {
    xxh3_64(key)
}

impl Crawl {
    /// Of no URL.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a URL to which rules were applied, and what its page shows. What is no URL is left out.
    pub fn observe(&mut self, key: &[u8], text: PageText<'_>, order: u64) {
        self.rows += 1;
        if text.lines.is_empty() && text.answer.is_none() && text.body.is_none() {
            self.without_text += 1;
            return;
        }
        if self.url.parse_from(key).is_err() || !self.url.is_hierarchical() {
            return;
        }
        let name = self.url.host();
        if !self.hosts.contains_key(name) {
            self.hosts.insert(name.into(), Host { rows: HashMap::new(), highest: u64::MAX });
        }
        let Some(host) = self.hosts.get_mut(name) else { return };
        let hash = url_hash(key);
        if hash > host.highest {
            return;
        }
        self.has_lines |= !text.lines.is_empty();
        let level = self.level;
        self.hashes.clear();
        let hashes = text.lines.iter().take(MAX_PAGE_LINES).map(|line| xxh3_64(&line.to_le_bytes()) as u32);
        self.hashes.extend(hashes.filter(|hash| is_kept(*hash, level)));
        self.hashes.sort_unstable();
        self.hashes.dedup();
        let is_body = text.lines.is_empty() && text.answer.is_none();
        let answer = text.answer.or(text.body).unwrap_or_default();
        match host.rows.get_mut(&hash) {
            // Met again: of two answers one is taken, whichever came first.
            Some(row) => {
                self.duplicates += 1;
                let before = row.lines.len();
                row.order = row.order.min(order);
                if (&*self.hashes, answer) > (&row.lines, row.answer) {
                    row.lines = self.hashes.as_slice().into();
                    (row.answer, row.is_body) = (answer, is_body);
                }
                self.lines = self.lines + row.lines.len() - before;
            }
            None => {
                self.lines += self.hashes.len();
                let lines = self.hashes.as_slice().into();
                host.rows.insert(hash, Row { url: key.into(), hash, answer, is_body, order, lines });
                if host.rows.len() > MAX_HOST_URLS + MAX_HOST_URLS / 2 {
                    self.lines -= host.shrink();
                }
            }
        }
        while self.lines > MAX_LINES {
            self.thin_out();
        }
    }

    /// Keeps half of the lines.
    fn thin_out(&mut self) {
        self.level += 1;
        let level = self.level;
        self.lines = 0;
        for row in self.hosts.values_mut().flat_map(|host| host.rows.values_mut()) {
            row.lines = row.lines.iter().copied().filter(|hash| is_kept(*hash, level)).collect();
            self.lines += row.lines.len();
        }
    }

    /// Rows that were taken.
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Rows whose URLs were met before, after rules were applied.
    pub fn duplicate_count(&self) -> u64 {
        self.duplicates
    }

    /// Rows of whose pages nothing is known.
    pub fn without_text(&self) -> u64 {
        self.without_text
    }

    /// Whether there are lines of text. Without them pages that answer the same can be told, and nothing else.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// The names of all hosts, in the order of [`Crawl::into_hosts`].
    pub(crate) fn host_names(&self) -> Vec<Box<[u8]>> {
        self.hosts.keys().cloned().collect()
    }

    /// The rows of all hosts, each host in the order of its hashes.
    pub(crate) fn into_hosts(mut self) -> Vec<(Box<[u8]>, Vec<Row>)> {
        let has_lines = self.has_lines;
        let rows_of = |mut host: Host| {
            host.shrink();
            let mut rows: Vec<Row> = host.rows.into_values().collect();
            rows.sort_unstable_by_key(|row| row.hash);
            if has_lines {
                // An image has no lines, and that says nothing of it.
                rows.retain(|row| !row.is_body);
            } else {
                // The answer takes the place of the text: all of it is new, or nothing.
                rows.iter_mut()
                    .for_each(|row| row.lines = [xxh3_64(&row.answer.to_le_bytes()) as u32].into());
            }
            rows
        };
        std::mem::take(&mut self.hosts).into_iter().map(|(name, host)| (name, rows_of(host))).collect()
    }
}

impl Host {
    /// Keeps the URLs with the lowest hashes, and returns the number of lines that are gone.
    fn shrink(&mut self) -> usize {
        if self.rows.len() <= MAX_HOST_URLS {
            return 0;
        }
        let mut hashes: Vec<u64> = self.rows.keys().copied().collect();
        let (_, highest, _) = hashes.select_nth_unstable(MAX_HOST_URLS - 1);
        self.highest = *highest;
        let mut gone = 0;
        self.rows.retain(|hash, row| {
            let is_kept = *hash <= self.highest;
            gone += if is_kept { 0 } else { row.lines.len() };
            is_kept
        });
        gone
    }
}

fn is_kept(hash: u32, level: u32) -> bool {
    hash.trailing_zeros() >= level
}
