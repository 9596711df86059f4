/*!
Rows of a crawl made ready for learning: the tests that each URL passes as indexes, and how often each line of text occurs.
*/

use std::ops::Range;

use dedust::ParsedUrl;
use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use rayon::prelude::*;

use crate::Test;
use crate::crawl::{Crawl, Row};
use crate::parts::{each_part, is_place, test_of};
use crate::tree::Leaf;

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
    /// Whether that is a directory or the presence of a parameter.
    pub(crate) is_place: Vec<bool>,
}

impl Corpus {
    pub(crate) fn new(crawl: Crawl) -> Self {
        let has_lines = crawl.has_lines();
        let prepared: Vec<_> = crawl.into_hosts().into_par_iter().map(|(_, rows)| prepare(rows)).collect();
        let mut corpus = Self { rows: Vec::new(), tests: Vec::new(), hosts: Vec::new(), has_lines };
        for (rows, tests, hashes, part_of, is_place) in prepared {
            let start = corpus.rows.len() as u32;
            corpus.rows.extend(rows);
            corpus.tests.extend(tests);
            corpus.hosts.push(Host { rows: start..corpus.rows.len() as u32, hashes, part_of, is_place });
        }
        corpus
    }

    /// The tests of a leaf of a host's tree, in words.
    pub(crate) fn tests_of(&self, host: &Host, leaf: &Leaf) -> Vec<Test> {
        let common = leaf.common.iter().map(|test| (*test, true));
        let tests = leaf.path.iter().copied().chain(common).filter_map(|(test, is_passed)| {
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

    /// On how many pages each line is, among some rows, and which URL brings it.
    pub(crate) fn count_lines(&self, is_in: impl Fn(&Row) -> bool) -> LineCounts {
        let mut counts: HashMap<u32, LineCount> = HashMap::new();
        let mut pages = HashSet::new();
        for row in self.rows.iter().filter(|row| is_in(row)) {
            let is_new = u32::from(pages.insert(row.page()));
            for &line in &row.lines {
                let count = counts.entry(line).or_insert(LineCount { pages: 0, bringing: (usize::MAX, 0) });
                count.pages += is_new;
                count.bringing = row.rank().min(count.bringing);
            }
        }
        LineCounts(counts)
    }
}

/// How often lines occur. URLs with the same lines show one page. Of all URLs that show a line the shortest brings it: so a page is not
/// worthless because it is there twice, or as old versions too, and copies under longer URLs are.
pub(crate) struct LineCounts(HashMap<u32, LineCount>);

struct LineCount {
    pages: u32,
    /// Length and hash of the URL.
    bringing: (usize, u64),
}

impl LineCounts {
    /// On how many pages a line is.
    pub(crate) fn of(&self, line: u32) -> u32 {
        self.0.get(&line).map_or(0, |count| count.pages)
    }

    /// Lines that a row brings.
    pub(crate) fn brought(&self, row: &Row) -> u32 {
        let is_brought = |line: &&u32| self.0.get(*line).is_some_and(|count| count.bringing == row.rank());
        row.lines.iter().filter(is_brought).count() as u32
    }
}

type Prepared = (Vec<Row>, Vec<Box<[u32]>>, Vec<u64>, Vec<u32>, Vec<bool>);

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
    let is_place = hashes.iter().map(|test| is_place(parts[test].0));
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
    let is_place = is_place.collect();
    (rows, tests, hashes, part_of, is_place)
}
