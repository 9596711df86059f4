/*!
Which translations are believed.

A program is tried on all URLs of its template. Where it leads a URL to a result that another URL has, or is led to, the
two must show the same page. Programs are first weeded by all URLs that are known, the worst first, because one bad
program makes those look bad that lead to the same results. What remains is judged by held-out URLs alone: a URL that the
model did not learn from fails if it does not show what most URLs with its result show, and with 95 % confidence no more
than a small share of them may fail. A translation is a set of changes to keys (a parameter goes, the scheme becomes
another), and changes that templates have in common are judged on all of them together: a template of which little is
known is translated if every change is proven elsewhere, and held-out URLs of its own speak for it and not against it.
*/

use std::collections::BTreeMap;

use dedust_learn::failure_bound;
use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{Program, number_of};
use super::site::Site;
use crate::pair::HeldOut;

/// The share of URLs that may fail.
const LIMIT: f64 = 0.05;
/// Held-out URLs with the same result that are heard about a change. One page that is shown for many values proves little:
/// it may be all there is to show.
const MAX_OF_RESULT: u32 = 3;
/// Shares of failing URLs above which programs are weeded out, one round after the other.
const WEEDED: [f64; 5] = [0.8, 0.5, 0.25, 0.1, 0.05];
/// Rounds of each of them, at most.
const MAX_ROUNDS: usize = 4;
/// Share of the URLs with a change that must meet another. A form that is hardly ever seen may not exist.
const MIN_JOINED: f64 = 0.1;
/// Rows of one result that are compared with each other; more are compared by label.
const MAX_COMPARED: usize = 50;

/// A program that changes the URLs of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The place of the template in [`Site::templates`].
    pub template: u32,
    /// What becomes of its URLs.
    pub program: Program,
}

/// What URLs say about a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// Held-out URLs that meet another.
    pub trials: u64,
    /// Those of them that show something else.
    pub failures: u64,
    /// All URLs.
    urls: u64,
    /// Those that meet another, and those of them that show something else.
    all_trials: u64,
    all_failures: u64,
}

/// A candidate that is believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The candidate.
    pub candidate: Candidate,
    /// What held-out URLs of its template said.
    pub votes: Votes,
    /// The bound on its failures, of its own or of all templates with the same change.
    pub failure_bound: f64,
}

impl Votes {
    /// The share of URLs that fail is at most this, with 95 % confidence.
    fn bound(&self) -> f64 {
        failure_bound(self.failures, self.trials)
    }

    fn is_proven(&self) -> bool {
        let is_seen = self.all_trials as f64 >= MIN_JOINED * self.urls as f64;
        is_seen && self.bound() <= LIMIT
    }

    fn failure_rate(&self) -> f64 {
        self.all_failures as f64 / self.all_trials.max(1) as f64
    }
}

/// The candidates that are believed, in the order of their templates.
pub fn accept(site: &Site<'_>, candidates: Vec<Candidate>, seed: u64) -> Vec<Accepted> {
    let mut trial = Trial::new(site, seed);
    let mut candidates = candidates;
    candidates.retain(|candidate| trial.run(candidate));
    let templates: Vec<u64> = (0..site.templates.len() as u64).collect();
    let own = |template: u32| std::slice::from_ref(&templates[template as usize]);
    for limit in WEEDED {
        for _ in 0..MAX_ROUNDS {
            let votes = trial.vote(own, u32::MAX);
            let is_kept = |candidate: &Candidate| {
                votes.get(&u64::from(candidate.template)).is_none_or(|votes| votes.failure_rate() <= limit)
            };
            let (kept, weeded): (Vec<Candidate>, Vec<Candidate>) = candidates.into_iter().partition(is_kept);
            candidates = kept;
            if weeded.is_empty() {
                break;
            }
            weeded.iter().for_each(|candidate| trial.undo(candidate.template));
        }
    }
    let mut edits: Vec<Vec<u64>> = vec![Vec::new(); site.templates.len()];
    let mut urls_by_edit: FxHashMap<u64, u64> = FxHashMap::default();
    for Candidate { template, program } in &candidates {
        let template = *template as usize;
        let identity = Program::identity(&site.language, &site.templates[template]).unwrap_or_default();
        edits[template] = program.edits(&identity);
        for &edit in &edits[template] {
            *urls_by_edit.entry(edit).or_default() += site.templates[template].rows.len() as u64;
        }
    }
    let own_votes = trial.vote(own, u32::MAX);
    let edit_votes = trial.vote(|template| &edits[template as usize], MAX_OF_RESULT);
    let judged = |candidate: Candidate| {
        let urls = site.templates[candidate.template as usize].rows.len() as u64;
        let own =
            Votes { urls, ..own_votes.get(&u64::from(candidate.template)).copied().unwrap_or_default() };
        let of_edits = edits[candidate.template as usize].iter().map(|edit| Votes {
            urls: urls_by_edit.get(edit).copied().unwrap_or_default(),
            ..edit_votes.get(edit).copied().unwrap_or_default()
        });
        let is_proven = own.is_proven() || of_edits.clone().all(|votes| votes.is_proven());
        let failure_bound = own.bound().min(of_edits.map(|votes| votes.bound()).fold(0.0, f64::max));
        (is_proven && own.trials > 0).then_some(Accepted { candidate, votes: own, failure_bound })
    };
    candidates.into_iter().filter_map(judged).collect()
}

/// Programs at work on the URLs of a site.
pub(super) struct Trial<'s, 'c> {
    site: &'s Site<'c>,
    /// What each row is without programs.
    identity: Vec<u64>,
    /// What it is with them.
    results: Vec<u64>,
    held_out: Vec<bool>,
}

impl<'s, 'c> Trial<'s, 'c> {
    pub(super) fn new(site: &'s Site<'c>, seed: u64) -> Self {
        let identity: Vec<u64> = site
            .parts
            .iter()
            .map(|parts| parts.iter().fold(0u64, |sum, (key, value)| sum.wrapping_add(number_of(key, value))))
            .collect();
        let held_out = HeldOut { seed, one_in: super::pairs::HELD_OUT };
        let mut is_held_out = vec![false; site.corpus.len()];
        for (page, rows) in (0..).zip(site.rows_by_page()) {
            for &row in &rows {
                is_held_out[row as usize] = held_out.is_held_out(page, rows.len(), site.corpus.url(row));
            }
        }
        Self { site, results: identity.clone(), identity, held_out: is_held_out }
    }

    /// Applies a candidate to the rows of its template; false if it changes none, or cannot.
    pub(super) fn run(&mut self, candidate: &Candidate) -> bool {
        let rows = &self.site.templates[candidate.template as usize].rows;
        let mut changes = false;
        for &row in rows {
            let Some(result) = candidate.program.result(|key| self.site.value(row, key)) else {
                return false;
            };
            changes |= result != self.identity[row as usize];
            self.results[row as usize] = result;
        }
        changes
    }

    fn undo(&mut self, template: u32) {
        for &row in &self.site.templates[template as usize].rows {
            self.results[row as usize] = self.identity[row as usize];
        }
    }

    /// The labelled rows by result, rows in order.
    pub(super) fn groups(&self) -> BTreeMap<u64, Vec<u32>> {
        let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for row in 0..self.site.corpus.len() as u32 {
            if self.site.corpus.label(row).is_some() {
                groups.entry(self.results[row as usize]).or_default().push(row);
            }
        }
        groups.retain(|_, rows| rows.len() >= 2);
        groups
    }

    /// Whether a row is changed.
    pub(super) fn is_changed(&self, row: u32) -> bool {
        self.results[row as usize] != self.identity[row as usize]
    }

    /// What URLs say about subjects, such as templates: `subjects` names those that the URLs of a template speak of. No
    /// more than `max_of_result` held-out URLs with the same result are heard.
    fn vote<'v>(&self, subjects: impl Fn(u32) -> &'v [u64], max_of_result: u32) -> FxHashMap<u64, Votes> {
        let mut votes: FxHashMap<u64, Votes> = FxHashMap::default();
        for rows in self.groups().values() {
            let failing = failing(self.site, rows);
            let mut heard: FxHashMap<u64, u32> = FxHashMap::default();
            for &row in rows.iter().filter(|&&row| self.is_changed(row)) {
                let Some(template) = self.site.template_of[row as usize] else { continue };
                let fails = u64::from(failing.contains(&row));
                for &subject in subjects(template) {
                    let votes = votes.entry(subject).or_default();
                    votes.all_trials += 1;
                    votes.all_failures += fails;
                    let heard = heard.entry(subject).or_default();
                    if self.held_out[row as usize] && *heard < max_of_result {
                        *heard += 1;
                        votes.trials += 1;
                        votes.failures += fails;
                    }
                }
            }
        }
        votes
    }
}

/// The rows of one result that do not show what most of the others show.
fn failing(site: &Site<'_>, rows: &[u32]) -> FxHashSet<u32> {
    let corpus = site.corpus;
    let label = |row: u32| corpus.label(row);
    if rows.iter().all(|&row| label(row) == label(rows[0])) {
        return FxHashSet::default();
    }
    if rows.len() > MAX_COMPARED {
        let mut counts: FxHashMap<Option<u32>, usize> = FxHashMap::default();
        rows.iter().for_each(|&row| *counts.entry(label(row)).or_default() += 1);
        return rows.iter().copied().filter(|&row| 2 * counts[&label(row)] <= rows.len()).collect();
    }
    let fails = |&&row: &&u32| {
        let others = rows.iter().filter(|&&other| other != row);
        let against =
            others.filter(|&&other| label(other) != label(row) && corpus.are_different(row, other)).count();
        2 * against >= rows.len() - 1
    };
    rows.iter().filter(fails).copied().collect()
}
