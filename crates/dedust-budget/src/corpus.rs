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
        let prepared: Vec<_> = crawl.into_hosts().into_par_iter().map(|(_, rows)| prepare(rows)).collect();
        let mut corpus = Self { rows: Vec::new(), tests: Vec::new(), hosts: Vec::new() };
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
        tests.collect()
    }

    /// How often each line occurs among some rows.
    pub(crate) fn count_lines(&self, is_in: impl Fn(&Row) -> bool) -> LineCounts {
        let mut counts = HashMap::new();
        for row in self.rows.iter().filter(|row| is_in(row)) {
            for &line in &row.lines {
                let count: &mut u32 = counts.entry(line).or_default();
                *count = count.saturating_add(1);
            }
        }
        LineCounts(counts)
    }
}

/// How often lines occur, each once a page.
pub(crate) struct LineCounts(pub(crate) HashMap<u32, u32>);

impl LineCounts {
    pub(crate) fn of(&self, line: u32) -> u32 {
        self.0.get(&line).copied().unwrap_or_default()
    }

    /// Lines of a row that no other has.
    pub(crate) fn own(&self, row: &Row) -> u32 {
        row.lines.iter().filter(|line| self.of(**line) == 1).count() as u32
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
