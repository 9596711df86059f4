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
use crate::tree::{self, Tree};

/// URLs of a pattern below which nothing is said about it: with none of them new, 13 % of the next may be (95 %).
pub(crate) const MIN_URLS: usize = 20;

/// The share of new text from which a pattern is worth fetching.
pub(crate) const WORTH: f64 = 0.2;

/// The share that is fetched at least of a pattern that may bring that much.
pub(crate) const WORTH_FETCHED: f64 = 1.0 / 3.0;

/// The share of a pattern that is fetched at least, to see whether it changes.
pub(crate) const WATCHED: f64 = 0.01;

/// URLs that each side of a split has.
const MIN_SPLIT: usize = 10;

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
    /// Lines of its pages, each counted on every page.
    pub(crate) lines: u64,
    /// Lines that no other page shows.
    pub(crate) own: u64,
    /// The mean share of new lines of a page, at most, with 95 % confidence.
    pub(crate) new_at_most: f64,
}

/// Learns from the rows for which `is_in` holds.
pub(crate) fn plan(corpus: &Corpus, is_in: impl Fn(&Row) -> bool + Sync) -> Plan {
    let counts = corpus.count_lines(&is_in);
    let own: Vec<u32> = corpus.rows.par_iter().map(|row| counts.own(row)).collect();
    let amounts: Vec<f64> = own.iter().map(|own| f64::from(*own).sqrt()).collect();
    let trees: Vec<Tree> = corpus
        .hosts
        .par_iter()
        .map(|host| {
            let chosen = host.rows.clone().filter(|row| is_in(&corpus.rows[*row as usize])).collect();
            tree::grow(chosen, &corpus.tests, &amounts, &host.part_of, MIN_SPLIT)
        })
        .collect();
    let mut first = Vec::new();
    let mut figures = Vec::new();
    for tree in &trees {
        first.push(figures.len() as u32);
        figures.extend(tree.leaves.iter().map(|leaf| Figures::of(&leaf.rows, corpus, &own)));
    }
    let mut plan = Plan { trees, first, figures, steps: Vec::new() };
    plan.steps = Choice::new(corpus, &counts, &plan).steps();
    plan
}

impl Figures {
    fn of(rows: &[u32], corpus: &Corpus, own: &[u32]) -> Self {
        let mut figures = Self { urls: rows.len() as u32, ..Self::default() };
        let mut shares = 0.0;
        for &row in rows {
            let lines = corpus.rows[row as usize].lines.len();
            figures.lines += lines as u64;
            figures.own += u64::from(own[row as usize]);
            shares += f64::from(own[row as usize]) / lines.max(1) as f64;
        }
        figures.new_at_most = share_bound(shares, rows.len());
        figures
    }

    /// The share of its text that is new.
    pub(crate) fn new_share(&self) -> f64 {
        self.own as f64 / self.lines.max(1) as f64
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

    /// The pattern of a row, by its index among all.
    pub(crate) fn pattern_of(&self, host: usize, tests: &[u32]) -> u32 {
        self.first[host] + self.trees[host].leaf_of(tests) as u32
    }
}

/// What is chosen so far.
struct Choice<'a> {
    plan: &'a Plan,
    /// For each pattern, its lines by index, and on how many of its pages each is.
    lines: Vec<Vec<(u32, u32)>>,
    /// For each line that can be lost, on how many pages it is.
    all: Vec<u32>,
    /// For each line, on how many pages that are still fetched it is.
    remaining: Vec<u32>,
    /// New lines of all patterns, and for each URL.
    total: f64,
    mean: f64,
}

impl<'a> Choice<'a> {
    fn new(corpus: &Corpus, counts: &LineCounts, plan: &'a Plan) -> Self {
        let mut index_of: HashMap<u32, u32> = HashMap::new();
        let mut all = Vec::new();
        let mut lines = Vec::new();
        for leaf in plan.trees.iter().flat_map(|tree| &tree.leaves) {
            let mut of_leaf: HashMap<u32, u32> = HashMap::new();
            for line in leaf.rows.iter().flat_map(|row| &*corpus.rows[*row as usize].lines) {
                *of_leaf.entry(*line).or_default() += 1;
            }
            let mut listed = Vec::new();
            for (line, pages) in of_leaf {
                let count = counts.of(line);
                // Lines that only this pattern shows, on several pages, are met again where some of it is fetched.
                if pages < count || count == 1 {
                    let index = *index_of.entry(line).or_insert_with(|| {
                        all.push(count);
                        all.len() as u32 - 1
                    });
                    listed.push((index, pages));
                }
            }
            listed.sort_unstable();
            lines.push(listed);
        }
        let total: u64 = plan.figures.iter().map(|figures| figures.own).sum();
        let urls: u64 = plan.figures.iter().map(|figures| u64::from(figures.urls)).sum();
        let mean = total as f64 / urls.max(1) as f64;
        Self { plan, lines, remaining: all.clone(), all, total: total as f64, mean }
    }

    /// Lines that are lost with a pattern, one more URL of the average kind included.
    fn cost(&self, pattern: u32) -> f64 {
        let is_lost = |&&(line, pages): &&(u32, u32)| {
            let line = line as usize;
            self.remaining[line] == pages && (pages == 1 || self.all[line] > pages)
        };
        self.lines[pattern as usize].iter().filter(is_lost).count() as f64 + self.mean
    }

    /// The share of a pattern to fetch, if it may be left out.
    fn fetch(&self, figures: &Figures) -> Option<f64> {
        let urls = f64::from(figures.urls);
        // What its next URL brings, beside what any URL of the crawl does.
        let beside = (figures.own as f64 / self.mean + 1.0) / (urls + 1.0);
        let is_low = figures.new_at_most <= WORTH || (self.mean > 0.0 && beside <= WORTH);
        let fetch = if figures.new_at_most <= WORTH { WATCHED } else { WORTH_FETCHED };
        (figures.urls as usize >= MIN_URLS && is_low).then_some(fetch)
    }

    fn steps(mut self) -> Vec<LeaveOut> {
        let mut steps = Vec::new();
        let mut lost = 0.0;
        let rank = |cost: f64, urls: u32| (cost / f64::from(urls)).to_bits();
        let mut open = BinaryHeap::new();
        for (pattern, figures) in self.plan.figures.iter().enumerate() {
            if self.fetch(figures).is_some() {
                let pattern = pattern as u32;
                open.push(Reverse((rank(self.cost(pattern), figures.urls), pattern)));
            }
        }
        while let Some(Reverse((before, pattern))) = open.pop() {
            let figures = &self.plan.figures[pattern as usize];
            let Some(fetch) = self.fetch(figures) else { continue };
            let cost = self.cost(pattern);
            let now = rank(cost, figures.urls);
            // What showed its text as well may have been left out meanwhile.
            if now > before {
                open.push(Reverse((now, pattern)));
                continue;
            }
            lost += cost * (1.0 - fetch);
            if lost > MAX_LOSS * self.total.max(1.0) {
                break;
            }
            steps.push(LeaveOut { pattern, fetch, lost: lost / self.total.max(1.0) });
            for &(line, pages) in &self.lines[pattern as usize] {
                self.remaining[line as usize] -= pages;
            }
        }
        steps
    }
}
