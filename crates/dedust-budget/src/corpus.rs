/*!
Rows of a crawl made ready for learning: the tests that each URL passes as indexes, and how often each line of text occurs.
*/

use std::ops::Range;

use dedust::ParsedUrl;
use foldhash::{HashMap, HashMapExt as _};
use rayon::prelude::*;

use crate::Test;
use crate::crawl::{Crawl, Row};
use crate::parts::{each_part, test_of};

/// All rows of a crawl.
pub(crate) struct Corpus {
    pub(crate) rows: Vec<Row>,
    /// For each row, sorted indexes of the tests that it passes, among those of its host.
    pub(crate) tests: Vec<Box<[u32]>>,
    pub(crate) hosts: Vec<Host>,
    /// Whether rows have lines of text; else each has its answer instead.
    pub(crate) has_lines: bool,
}

/// A host: rows that lie together.
pub(crate) struct Host {
    pub(crate) rows: Range<u32>,
    /// Hashes of tests, by index.
    hashes: Vec<u64>,
    /// The part of each test.
    pub(crate) part_of: Vec<u32>,
}

impl Corpus {
    pub(crate) fn new(crawl: Crawl) -> Self {
        let has_lines = crawl.has_lines();
        let prepared: Vec<_> = crawl.into_hosts().into_par_iter().map(|(_, rows)| prepare(rows)).collect();
        let mut corpus = Self { rows: Vec::new(), tests: Vec::new(), hosts: Vec::new(), has_lines };
        for (rows, tests, hashes, part_of) in prepared {
            let start = corpus.rows.len() as u32;
            corpus.rows.extend(rows);
            corpus.tests.extend(tests);
            corpus.hosts.push(Host { rows: start..corpus.rows.len() as u32, hashes, part_of });
        }
        corpus
    }

    /// The tests of a path of a host's tree, in words.
    pub(crate) fn tests_of(&self, host: &Host, path: &[(u32, bool)]) -> Vec<Test> {
        let tests = path.iter().filter_map(|&(test, is_passed)| {
            let mut passing =
                host.rows.clone().filter(|row| self.tests[*row as usize].binary_search(&test).is_ok());
            let url = ParsedUrl::parse(&*self.rows[passing.next()? as usize].url).ok()?;
            let found = test_of(&url, host.hashes[test as usize])?;
            Some(Test { is_negated: !is_passed, ..found })
        });
        let tests: Vec<Test> = tests.collect();
        // A part that has one value has no other, so that this need not be said.
        let has_other = |test: &Test| {
            let is_one = |other: &Test| !other.is_negated && other.part == test.part && &*test.part != "name";
            test.is_negated && tests.iter().any(is_one)
        };
        tests.iter().filter(|test| !has_other(test)).cloned().collect()
    }

    /// On how many pages each line is, among some rows, and how many URLs show each page.
    pub(crate) fn count_lines(&self, is_in: impl Fn(&Row) -> bool) -> LineCounts {
        let mut counts = LineCounts { pages: HashMap::new(), urls: HashMap::new() };
        for row in self.rows.iter().filter(|row| is_in(row)) {
            let urls = counts.urls.entry(row.page()).or_default();
            *urls += 1;
            if *urls == 1 {
                for &line in &row.lines {
                    *counts.pages.entry(line).or_default() += 1;
                }
            }
        }
        counts
    }
}

/// How often lines occur. URLs with the same lines show one page: so a page is not worthless because it is there twice.
pub(crate) struct LineCounts {
    /// By line.
    pages: HashMap<u32, u32>,
    /// By page.
    urls: HashMap<u64, u32>,
}

impl LineCounts {
    /// On how many pages a line is.
    pub(crate) fn of(&self, line: u32) -> u32 {
        self.pages.get(&line).copied().unwrap_or_default()
    }

    /// Lines of a row that no other page has, divided among the URLs that show the page.
    pub(crate) fn own(&self, row: &Row) -> f64 {
        let own = row.lines.iter().filter(|line| self.of(**line) == 1).count();
        let urls = self.urls.get(&row.page()).copied().unwrap_or_default();
        own as f64 / f64::from(urls.max(1))
    }
}

type Prepared = (Vec<Row>, Vec<Box<[u32]>>, Vec<u64>, Vec<u32>);

fn prepare(rows: Vec<Row>) -> Prepared {
    let mut url = ParsedUrl::default();
    let mut of_rows: Vec<Vec<u64>> = Vec::with_capacity(rows.len());
    let mut parts: HashMap<u64, (u64, u32)> = HashMap::new();
    for row in &rows {
        let mut passed = Vec::new();
        if url.parse_from(&row.url).is_ok() {
            each_part(&url, |part, test| {
                parts.entry(test).or_insert((part, 0)).1 += 1;
                passed.push(test);
            });
        }
        of_rows.push(passed);
    }
    // A test of one URL splits nothing.
    let mut hashes: Vec<u64> =
        parts.iter().filter(|(_, (_, urls))| *urls > 1).map(|(test, _)| *test).collect();
    hashes.sort_unstable();
    let mut names: Vec<u64> = hashes.iter().map(|test| parts[test].0).collect();
    names.sort_unstable();
    names.dedup();
    let part_of = hashes.iter().map(|test| names.binary_search(&parts[test].0).unwrap_or_default() as u32);
    let part_of = part_of.collect();
    let tests = of_rows.into_iter().map(|passed| {
        let mut indexes: Vec<u32> = passed
            .iter()
            .filter_map(|test| hashes.binary_search(test).ok())
            .map(|index| index as u32)
            .collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes.into()
    });
    let tests = tests.collect();
    (rows, tests, hashes, part_of)
}
