/*!
What the URLs of a site have become so far, and what they say about a rule.

A URL stands at a place: a number for its form. A rule is tried on all URLs that it concerns. Where it brings URLs of
different places together, they must show the same page; every place that is moved is a trial, and fails if it does
not show what most places show that it would stand with. Pages with different labels that look alike are no trial.
*/

use std::collections::BTreeSet;

use dedust::rules::{Evidence, Rule, Spot, UrlPart, Value};
use dedust::support::{RawValue, RuleList, UrlParts};
use dedust_learn::EvidenceKinds;
use dedust_learn::support::{PairCounts, failure_bound, is_fetchable, pair_number, rule_evidence};
use foldhash::{HashMap, HashSet};

use super::site::{Parts, Site};

/// Places of one group that are compared with each other; more are compared by label.
const MAX_COMPARED: usize = 50;

/// Places of a template that can say something about it.
const MIN_OF_TEMPLATE: u64 = 3;

/// The URLs of a site, in the form that rules left them.
pub(super) struct Trial<'s, 'c> {
    site: &'s Site<'c>,
    parts: Vec<Parts>,
    places: Vec<u64>,
    rows_at: HashMap<u64, Vec<u32>>,
    url: UrlParts,
}

/// A URL that a rule changes.
struct Moved {
    row: u32,
    from: u64,
    to: u64,
    parts: Parts,
}

/// What URLs say about a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    /// Places that it changes.
    pub(super) changed: u64,
    /// Those that come together with others, and those of them that show something else.
    pub(super) joined: u64,
    pub(super) failures: u64,
    /// The same of those that are heard as witnesses.
    pub(super) trials: u64,
    pub(super) trial_failures: u64,
    /// Failures of templates that mostly fail.
    pub(super) contradictions: u64,
    /// Pages that agree.
    pub(super) pages: usize,
    /// Those that come together with others and those that fail, by template.
    pub(super) by_template: HashMap<u32, (u64, u64)>,
    /// Parameters that all URLs have which it changes.
    pub(super) always: BTreeSet<UrlPart>,
    /// Groups, and those whose common form was seen for their page.
    groups: u64,
    seen: u64,
}

impl Votes {
    /// The share of URLs that fail is at most this, with 95 % confidence.
    pub(super) fn bound(&self) -> f64 {
        failure_bound(self.trial_failures, self.trials)
    }

    /// Whether the form that the rule writes is known to exist.
    pub(super) fn is_fetchable(&self) -> bool {
        is_fetchable(self.seen, self.groups)
    }
}

impl<'s, 'c> Trial<'s, 'c> {
    pub(super) fn new(site: &'s Site<'c>) -> Self {
        let mut trial = Self {
            site,
            parts: Vec::with_capacity(site.parts.len()),
            places: Vec::with_capacity(site.parts.len()),
            rows_at: HashMap::default(),
            url: UrlParts::default(),
        };
        let no_rules = RuleList::new([]).unwrap_or_default();
        for (row, parts) in (0..).zip(&site.parts) {
            trial.url.read_pairs(parts.iter().map(|(key, value)| (key, raw(value))), &no_rules);
            let parts = parts_of_url(&trial.url);
            let place = place_of(&parts);
            trial.parts.push(parts);
            trial.places.push(place);
            trial.rows_at.entry(place).or_default().push(row);
        }
        trial
    }

    /// What `rule` would do.
    fn moves(&mut self, rule: &Rule) -> Vec<Moved> {
        let mut moves = Vec::new();
        let rules = RuleList::new([rule]).unwrap_or_default();
        for row in 0..self.parts.len() as u32 {
            let parts = &self.parts[row as usize];
            let holds = |(spot, test): (&Spot, &dedust::rules::Test)| match spot {
                Spot::Key(key) => test.holds(value_of(parts, key)),
                Spot::FromRight(_) => true,
            };
            if !concerns(rule, parts) || !rule.when.iter().all(holds) {
                continue;
            }
            self.url.read_pairs(parts.iter().map(|(key, value)| (key, raw(value))), &rules);
            if self.url.apply(&rules, 0) {
                let parts = parts_of_url(&self.url);
                let (from, to) = (self.places[row as usize], place_of(&parts));
                if from != to {
                    moves.push(Moved { row, from, to, parts });
                }
            }
        }
        moves
    }

    /// Makes a rule.
    pub(super) fn apply(&mut self, rule: &Rule) {
        for Moved { row, from, to, parts } in self.moves(rule) {
            if let Some(rows) = self.rows_at.get_mut(&from) {
                rows.retain(|&other| other != row);
            }
            self.rows_at.entry(to).or_default().push(row);
            self.places[row as usize] = to;
            self.parts[row as usize] = parts;
        }
    }

    /// Asks the URLs that `is_witness` names, no more than `max_of_group` places of a group.
    pub(super) fn vote(
        &mut self,
        rule: &Rule,
        is_witness: &dyn Fn(u32) -> bool,
        max_of_group: u64,
    ) -> (Votes, Evidence) {
        let mut votes = Votes::default();
        let moves = self.moves(rule);
        let params = |moved: &Moved| -> BTreeSet<UrlPart> {
            let keys = self.parts[moved.row as usize].iter().map(|(key, _)| key);
            keys.filter(|key| matches!(key, UrlPart::QueryParam(_))).cloned().collect()
        };
        let mut rest = moves.iter();
        votes.always = rest.next().map(params).unwrap_or_default();
        for moved in rest {
            if votes.always.is_empty() {
                break;
            }
            let parts = &self.parts[moved.row as usize];
            votes.always.retain(|key| value_of(parts, key).is_some());
        }
        let mut moves: Vec<(u64, u64, u32)> =
            moves.into_iter().map(|moved| (moved.to, moved.from, moved.row)).collect();
        moves.sort_unstable();
        let mut pages: BTreeSet<u32> = BTreeSet::new();
        let mut examples: Vec<(u32, u32)> = Vec::new();
        let mut kinds = EvidenceKinds::NONE;
        for group in moves.chunk_by(|a, b| a.0 == b.0) {
            let places: Vec<&[(u64, u64, u32)]> = group.chunk_by(|a, b| a.1 == b.1).collect();
            votes.changed += places.len() as u64;
            votes.groups += 1;
            let stands = self.rows_at.get(&group[0].0).and_then(|rows| self.speaker(rows.iter().copied()));
            let moved: Vec<(u32, bool)> = places
                .iter()
                .filter_map(|place| {
                    let rows = place.iter().map(|&(_, _, row)| row);
                    Some((self.speaker(rows.clone())?, rows.clone().any(is_witness)))
                })
                .collect();
            let all: Vec<u32> = stands.into_iter().chain(moved.iter().map(|&(row, _)| row)).collect();
            let label = |row: u32| self.site.corpus.label(row);
            votes.seen += u64::from(
                stands.is_some_and(|stands| moved.iter().any(|&(row, _)| label(row) == label(stands))),
            );
            if all.len() < 2 {
                continue;
            }
            let failing = failing(self.site, &all);
            let mut counts: HashMap<Option<u32>, usize> = HashMap::default();
            all.iter().for_each(|&row| *counts.entry(label(row)).or_default() += 1);
            let mut heard = 0;
            for &(row, is_witness) in &moved {
                let fails = u64::from(failing.contains(&row));
                // Pages that only look alike say neither yes nor no.
                if fails == 0 && counts[&label(row)] < 2 {
                    continue;
                }
                votes.joined += 1;
                votes.failures += fails;
                if let Some(template) = self.site.template_of[row as usize] {
                    let of_template = votes.by_template.entry(template).or_default();
                    *of_template = (of_template.0 + 1, of_template.1 + fails);
                }
                if is_witness && heard < max_of_group {
                    heard += 1;
                    votes.trials += 1;
                    votes.trial_failures += fails;
                }
                if fails == 0 {
                    pages.extend(label(row));
                    let duplicate = all.iter().find(|&&other| other != row && label(other) == label(row));
                    examples.extend(duplicate.map(|&duplicate| (row, duplicate)));
                    kinds |= self.site.corpus.kinds(row);
                }
            }
        }
        votes.pages = pages.len();
        votes.contradictions = votes
            .by_template
            .values()
            .filter(|(trials, failures)| *trials >= MIN_OF_TEMPLATE && 2 * failures > *trials)
            .map(|(_, failures)| failures)
            .sum();
        let counts = PairCounts {
            support: votes.joined.into(),
            same: (votes.joined - votes.failures).into(),
            groups: votes.trials,
            mixed_groups: votes.trial_failures,
        };
        let evidence = rule_evidence(self.site.corpus, moves.len(), &counts, kinds, examples);
        (votes, evidence)
    }

    /// The URL that speaks for those of a place: one with the label that most of them have.
    fn speaker(&self, rows: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        let label = |row: u32| self.site.corpus.label(row);
        let mut counts: HashMap<u32, (usize, u32)> = HashMap::default();
        for row in rows {
            if let Some(label) = label(row) {
                let count = counts.entry(label).or_insert((0, row));
                *count = (count.0 + 1, count.1.min(row));
            }
        }
        counts.into_values().max_by_key(|&(count, row)| (count, std::cmp::Reverse(row))).map(|(_, row)| row)
    }
}

/// Whether a rule could change a URL, as far as can be told at a glance.
fn concerns(rule: &Rule, parts: &Parts) -> bool {
    match rule.change.as_slice() {
        [dedust::rules::Change::Drop(Spot::Key(key))] => value_of(parts, key).is_some(),
        _ => true,
    }
}

fn value_of<'p>(parts: &'p Parts, key: &UrlPart) -> Option<RawValue<'p>> {
    parts.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|at| raw(&parts[at].1))
}

fn place_of(parts: &Parts) -> u64 {
    parts.iter().fold(0, |sum, (key, value)| sum.wrapping_add(pair_number(key, value.as_text())))
}

/// The parts of a URL in the order of their keys.
fn parts_of_url(url: &UrlParts) -> Parts {
    let mut parts = Parts::new();
    url.pairs(|key, occurrence, value| {
        let value = match value {
            None => Value::Bare,
            Some(text) => String::from_utf8_lossy(text).as_ref().into(),
        };
        parts.push((key.to_key(occurrence), value));
    });
    parts.sort();
    parts
}

/// The rows, one for each place of a group, that do not show what most of the others show.
fn failing(site: &Site<'_>, rows: &[u32]) -> HashSet<u32> {
    let corpus = site.corpus;
    let label = |row: u32| corpus.label(row);
    if rows.iter().all(|&row| label(row) == label(rows[0])) {
        return HashSet::default();
    }
    if rows.len() > MAX_COMPARED {
        let mut counts: HashMap<Option<u32>, usize> = HashMap::default();
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

fn raw(value: &Value) -> RawValue<'_> {
    value.as_text().map(str::as_bytes)
}
