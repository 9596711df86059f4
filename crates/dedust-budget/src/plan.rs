/*!
Which patterns to leave out, and in which order: most URLs for each lost line first.

What leaving out a pattern costs is estimated from the lines that occur on one page only: how many of these a pattern has per URL is how
many new lines its next URL is expected to bring (Good and Turing). Costs do not add up: where two patterns show the same text, one of
them can be left out, so a cost counts lines that no pattern shows that is still fetched. A pattern of which little was seen may be worse
than it looks: one more URL, of the average kind, is added to what was seen of it.
*/

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::{HashMap, HashMapExt as _};
use rayon::prelude::*;

use crate::bound::share_bound;
use crate::corpus::{Corpus, LineCounts};
use crate::crawl::Row;
use crate::tree::{self, Leaf, Tree};

/// URLs of a pattern below which nothing is said about it: with none of them new, 13 % of the next may be (95 %).
pub(crate) const MIN_URLS: usize = 20;

/// The share of new text from which a pattern is worth fetching.
pub(crate) const WORTH: f64 = 0.2;

/// The share that is fetched at least of a pattern that may bring that much.
pub(crate) const WORTH_FETCHED: f64 = 1.0 / 3.0;

/// The share of a pattern that is fetched at least, to see whether it changes.
pub(crate) const WATCHED: f64 = 0.01;

/// The share of all text up to which patterns are chosen, whatever is asked for.
const MAX_LOSS: f64 = 0.2;

/// Patterns of a crawl, and the order in which to leave them out.
pub(crate) struct Plan {
    /// By host.
    pub(crate) trees: Vec<Tree>,
    /// The index of the first pattern of each host, among all.
    pub(crate) first: Vec<u32>,
    pub(crate) figures: Vec<Figures>,
    /// In the order in which they are left out.
    pub(crate) steps: Vec<LeaveOut>,
}

/// A pattern that may be left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaveOut {
    pub(crate) pattern: u32,
    /// The share that is fetched.
    pub(crate) fetch: f64,
    /// The share of all text that is expected to be lost with it and all before it.
    pub(crate) lost: f64,
}

/// What was seen of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) urls: u32,
    /// See [`Leaf::is_alike`].
    pub(crate) is_alike: bool,
    /// Lines of its pages, each counted on every page.
    pub(crate) lines: u64,
    /// Lines that its URLs bring.
    pub(crate) own: f64,
    /// The mean share of new lines of a page, at most, with 95 % confidence.
    pub(crate) new_at_most: f64,
}

/// Learns from the rows for which `is_in` holds.
pub(crate) fn plan(corpus: &Corpus, is_in: impl Fn(&Row) -> bool + Sync) -> Plan {
    let counts = corpus.count_lines(&is_in);
    let own: Vec<u32> = corpus.rows.par_iter().map(|row| counts.brought(row)).collect();
    let amounts: Vec<f64> = own.iter().map(|own| f64::from(*own).sqrt()).collect();
    let trees: Vec<Tree> = corpus
        .hosts
        .par_iter()
        .map(|host| {
            let chosen = host.rows.clone().filter(|row| is_in(&corpus.rows[*row as usize])).collect();
            tree::grow(chosen, &corpus.tests, &amounts, &host.part_of, &host.is_place, MIN_URLS)
        })
        .collect();
    let mut first = Vec::new();
    let mut figures = Vec::new();
    for tree in &trees {
        first.push(figures.len() as u32);
        figures.extend(tree.leaves.iter().map(|leaf| Figures::of(leaf, corpus, &own)));
    }
    let mut plan = Plan { trees, first, figures, steps: Vec::new() };
    plan.steps = Choice::new(corpus, &counts, &plan).steps();
    plan
}

impl Figures {
    fn of(leaf: &Leaf, corpus: &Corpus, own: &[u32]) -> Self {
        let rows = &leaf.rows;
        let mut figures = Self { urls: rows.len() as u32, is_alike: leaf.is_alike(), ..Self::default() };
        let mut shares = 0.0;
        for &row in rows {
            let lines = corpus.rows[row as usize].lines.len();
            figures.lines += lines as u64;
            figures.own += f64::from(own[row as usize]);
            shares += f64::from(own[row as usize]) / lines.max(1) as f64;
        }
        figures.new_at_most = share_bound(shares, rows.len());
        figures
    }

    /// The share of its text that is new.
    pub(crate) fn new_share(&self) -> f64 {
        self.own / self.lines.max(1) as f64
    }
}

impl Plan {
    /// The steps that together are expected to lose a share of all text, the last of them in part.
    pub(crate) fn up_to(&self, expected: f64) -> Vec<LeaveOut> {
        let mut before = 0.0;
        let mut steps = Vec::new();
        for step in &self.steps {
            if step.lost > expected {
                let part = (expected - before) / (step.lost - before);
                steps.push(LeaveOut { fetch: 1.0 - part * (1.0 - step.fetch), lost: expected, ..*step });
                break;
            }
            before = step.lost;
            steps.push(*step);
        }
        steps.retain(|step| step.fetch < 1.0);
        steps
    }

    /// The pattern of a row, by its index among all, if it is of one.
    pub(crate) fn pattern_of(&self, host: usize, tests: &[u32]) -> Option<u32> {
        let leaf = self.trees[host].leaf_of(tests);
        self.trees[host].leaves[leaf].contains(tests).then_some(self.first[host] + leaf as u32)
    }
}

/// What is chosen so far.
struct Choice<'a> {
    plan: &'a Plan,
    /// Whether there are lines of text, not answers alone.
    has_lines: bool,
    /// For each pattern, its lines by index, and how many of its URLs show it.
    lines: Vec<Vec<(u32, u32)>>,
    /// For each line, how many URLs show it.
    all: Vec<u32>,
    /// For each line, how many URLs that are still fetched show it.
    remaining: Vec<u32>,
    /// Lines that are on one page, and how many these are.
    is_single: Vec<bool>,
    single: f64,
    /// Lines that URLs bring: all.
    brought: f64,
    /// URLs of all patterns.
    urls: f64,
}

/// Lines that are lost with a pattern.
#[derive(Clone, Copy)]
struct Lost {
    /// Those of one page, or of pages of which the others are left out as well.
    single: u32,
    /// All.
    all: u32,
}

impl<'a> Choice<'a> {
    fn new(corpus: &Corpus, counts: &LineCounts, plan: &'a Plan) -> Self {
        let mut index_of: HashMap<u32, u32> = HashMap::new();
        let mut is_single = Vec::new();
        let mut lines: Vec<Vec<(u32, u32)>> = Vec::new();
        for leaf in plan.trees.iter().flat_map(|tree| &tree.leaves) {
            let mut of_leaf: HashMap<u32, u32> = HashMap::new();
            for line in leaf.rows.iter().flat_map(|row| &*corpus.rows[*row as usize].lines) {
                *of_leaf.entry(*line).or_default() += 1;
            }
            let indexed = of_leaf.into_iter().map(|(line, urls)| {
                let index = *index_of.entry(line).or_insert_with(|| {
                    is_single.push(counts.of(line) == 1);
                    is_single.len() as u32 - 1
                });
                (index, urls)
            });
            lines.push(indexed.collect());
        }
        let mut all = vec![0; is_single.len()];
        for &(line, urls) in lines.iter().flatten() {
            all[line as usize] += urls;
        }
        let single = is_single.iter().filter(|is_single| **is_single).count();
        let urls: u64 = plan.figures.iter().map(|figures| u64::from(figures.urls)).sum();
        Self {
            plan,
            has_lines: corpus.has_lines,
            lines,
            remaining: all.clone(),
            all,
            is_single,
            single: single as f64,
            brought: plan.figures.iter().map(|figures| figures.own).sum(),
            urls: urls.max(1) as f64,
        }
    }

    fn lost(&self, pattern: u32) -> Lost {
        let mut lost = Lost { single: 0, all: 0 };
        for &(line, urls) in &self.lines[pattern as usize] {
            let line = line as usize;
            if self.remaining[line] == urls {
                lost.all += 1;
                lost.single += u32::from(self.is_single[line] || self.all[line] > urls);
            }
        }
        lost
    }

    /// The share of all text that is lost with a pattern, one more URL of the average kind included.
    fn cost(&self, pattern: u32) -> f64 {
        let lost = self.lost(pattern);
        let (lost, of) = match self.has_lines {
            true => (lost.single, self.single),
            false => (lost.all, self.all.len() as f64),
        };
        f64::from(lost) / of.max(1.0) + 1.0 / self.urls
    }

    /// The share of a pattern to fetch, if it may be left out.
    fn fetch(&self, pattern: u32) -> Option<f64> {
        let figures = &self.plan.figures[pattern as usize];
        let urls = f64::from(figures.urls);
        if (figures.urls as usize) < MIN_URLS || !figures.is_alike {
            return None;
        }
        if !self.has_lines {
            return self.is_sink(pattern).then_some(WATCHED);
        }
        if figures.new_at_most <= WORTH {
            return Some(WATCHED);
        }
        // What its next URL brings, beside what any URL of the crawl does.
        let mean = self.brought / self.urls;
        let beside = (figures.own / mean + 1.0) / (urls + 1.0);
        (mean > 0.0 && beside <= WORTH).then_some(WORTH_FETCHED)
    }

    /// Whether most URLs give one answer, and the others none that is new.
    fn is_sink(&self, pattern: u32) -> bool {
        let urls = self.plan.figures[pattern as usize].urls;
        let most = self.lines[pattern as usize].iter().map(|(_, urls)| *urls).max();
        most.is_some_and(|most| most > urls / 2) && self.lost(pattern).all <= 1
    }

    fn steps(mut self) -> Vec<LeaveOut> {
        let mut steps = Vec::new();
        let mut lost = 0.0;
        let urls = |pattern: u32| f64::from(self.plan.figures[pattern as usize].urls);
        let mut open = BinaryHeap::new();
        for pattern in 0..self.plan.figures.len() as u32 {
            if self.fetch(pattern).is_some() {
                open.push(Reverse(((self.cost(pattern) / urls(pattern)).to_bits(), pattern)));
            }
        }
        while let Some(Reverse((before, pattern))) = open.pop() {
            // What shows its text as well may have been left out meanwhile.
            let Some(fetch) = self.fetch(pattern) else { continue };
            let cost = self.cost(pattern);
            let now = (cost / urls(pattern)).to_bits();
            if now > before {
                open.push(Reverse((now, pattern)));
                continue;
            }
            lost += cost * (1.0 - fetch);
            if lost > MAX_LOSS {
                break;
            }
            steps.push(LeaveOut { pattern, fetch, lost });
            for &(line, urls) in &self.lines[pattern as usize] {
                self.remaining[line as usize] -= urls;
            }
        }
        steps
    }
}
