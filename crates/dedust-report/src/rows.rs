/*!
The URLs of one site of a crawl with what rules make of them, and the figures that follow from their keys.
*/

use dedust_learn::Corpus;
use dedust_learn::support::Tally;
use foldhash::HashMap;

use crate::data::CrawlFigures;
use crate::url_store::UrlStore;

/// A URL of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its number in the store.
    pub(crate) number: u32,
    /// A hash of its key.
    pub(crate) key: u128,
    /// A hash of the key that it has without rules.
    pub(crate) safe: u64,
    pub(crate) size: Option<u64>,
    /// The page that it shows, if that is known.
    pub(crate) page: Option<u32>,
    /// The index of its corpus, and its row there, if its page is known.
    pub(crate) seen: Option<(u32, u32)>,
    /// Where its rules start in the list of all, and how many there are.
    pub(crate) rules: (u32, u32),
}

/// The URLs of one site, in the order in which they were met.
pub(crate) struct SiteUrls<'s> {
    pub(crate) store: &'s UrlStore<'s>,
    pub(crate) corpora: &'s [Corpus],
    pub(crate) rows: Vec<Row>,
    /// The places of the rules that change each URL.
    pub(crate) rules: Vec<u32>,
}

impl SiteUrls<'_> {
    pub(crate) fn url(&self, row: &Row) -> &[u8] {
        self.store.url(row.number)
    }

    /// The places of the rules that change a URL.
    pub(crate) fn rules_of(&self, row: &Row) -> &[u32] {
        let (start, count) = row.rules;
        &self.rules[start as usize..][..count as usize]
    }

    /// The figures with the keys of the rules.
    pub(crate) fn figures(&self) -> CrawlFigures {
        self.figures_with(|_, row| row.key)
    }

    /// The figures with other keys; `key` is given the index of a row, and the row.
    pub(crate) fn figures_with(&self, key: impl Fn(usize, &Row) -> u128) -> CrawlFigures {
        let mut figures = CrawlFigures { urls: self.rows.len() as u64, ..CrawlFigures::default() };
        let mut urls_by_key: HashMap<u128, u64> = HashMap::default();
        let mut safe_forms: HashMap<u64, ()> = HashMap::default();
        for (at, row) in self.rows.iter().enumerate() {
            let urls = urls_by_key.entry(key(at, row)).or_default();
            *urls += 1;
            figures.groups += u64::from(*urls == 2);
            figures.safe_duplicates += u64::from(safe_forms.insert(row.safe, ()).is_some());
            if let Some(size) = row.size {
                figures.sized += 1;
                figures.bytes = figures.bytes.saturating_add(size);
                if *urls > 1 {
                    figures.saved_bytes = figures.saved_bytes.saturating_add(size);
                }
            }
        }
        figures.keys = urls_by_key.len() as u64;
        let labelled: Vec<(usize, &Row)> =
            self.rows.iter().enumerate().filter(|(_, row)| row.page.is_some()).collect();
        let pages = labelled.iter().filter_map(|&(at, row)| Some((key(at, row), row.page?)));
        let tally = Tally::count_with(pages, |one, other| {
            let (Some((corpus, one)), Some((other_corpus, other))) =
                (labelled[one].1.seen, labelled[other].1.seen)
            else {
                return false;
            };
            // Nothing is known of pages of two sites.
            corpus == other_corpus && self.corpora[corpus as usize].are_different(one, other)
        });
        figures.labelled = tally.urls;
        figures.pages = tally.pages;
        figures.labelled_keys = tally.canonical;
        figures.covered = tally.covered;
        figures.lost = tally.lost;
        figures
    }
}

impl CrawlFigures {
    /// URLs that need not be fetched.
    pub fn saved(&self) -> u64 {
        self.urls - self.keys
    }

    /// Duplicates, among URLs whose page is known, that are fetched all the same.
    pub fn left(&self) -> u64 {
        self.labelled_keys - self.covered
    }

    /// Adds another site.
    pub(crate) fn add(&mut self, other: &Self) {
        self.urls += other.urls;
        self.keys += other.keys;
        self.groups += other.groups;
        self.safe_duplicates += other.safe_duplicates;
        self.sized += other.sized;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.saved_bytes = self.saved_bytes.saturating_add(other.saved_bytes);
        self.labelled += other.labelled;
        self.pages += other.pages;
        self.labelled_keys += other.labelled_keys;
        self.covered += other.covered;
        self.lost += other.lost;
    }
}
