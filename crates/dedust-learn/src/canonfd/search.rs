/*!
Finds edits that do not change which page is meant, best first, each judged in the light of those before it.

1. Edits of the whole site: forget a key, take a value for the absence of its key, take schemes and hosts for each other.
2. Edits that duplicates suggest: several values that come and go together.
3. Edits in a context: where one parameter has one value, other keys do not matter.
*/

use dedust::TokenKey;
use rustc_hash::{FxHashMap, FxHashSet};

use super::accept::is_believed;
use super::families::{Family, speaks_of_login};
use super::state::{Edit, State, Votes, mix};
use crate::corpus::Corpus;

/// Rows that must have a value before it is looked at.
const MIN_ROWS: usize = 3;
/// Values that must be seen of a key before it is forgotten whatever its value is.
const MIN_VALUES: usize = 3;
/// Values of one key that are tried as defaults, most frequent first.
const MAX_VALUES: usize = 12;
/// Times that the list of edits is gone through.
const MAX_ROUNDS: usize = 4;
/// Suggestions that are tried in one round.
const MAX_SUGGESTIONS: usize = 100;
/// Exceptions that an edit may have.
const MAX_EXCEPTIONS: usize = 12;
/// Members of a cluster that are compared.
const MEMBERS_PER_CLUSTER: usize = 8;

#[derive(Clone, Debug)]
struct Candidate {
    edit: Edit,
    family: Family,
}

pub(super) struct Search<'c> {
    pub(super) state: State<'c>,
    /// Edits that were believed, in the order in which they were applied.
    pub(super) accepted: Vec<Edit>,
    pub(super) tried: usize,
    pairs_by_key: Vec<Vec<u32>>,
}

impl<'c> Search<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let mut pairs_by_key = vec![Vec::new(); corpus.keys().len()];
        for pair in 0..corpus.pair_count() as u32 {
            pairs_by_key[corpus.pair_key(pair) as usize].push(pair);
        }
        let state = State::new(corpus);
        for pairs in &mut pairs_by_key {
            pairs.sort_by_key(|&pair| (std::cmp::Reverse(state.rows_of(pair).len()), pair));
        }
        Self { state, accepted: Vec::new(), tried: 0, pairs_by_key }
    }

    pub(super) fn run(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let before = self.accepted.len();
            let candidates = self.of_the_whole_site();
            self.take(candidates);
            // What holds everywhere is not to be learned context by context.
            for in_context in [false, true] {
                let mut candidates = self.suggested();
                candidates.retain(|candidate| candidate.edit.context.is_some() == in_context);
                candidates.truncate(MAX_SUGGESTIONS);
                self.take(candidates);
            }
            if self.accepted.len() == before {
                break;
            }
        }
    }

    /// Tries candidates and applies those that are believed, those that merge most first.
    fn take(&mut self, candidates: Vec<Candidate>) {
        self.tried += candidates.len();
        let mut believed: Vec<(u64, Candidate)> = candidates
            .into_iter()
            .filter_map(|candidate| {
                self.judged(candidate).map(|(votes, candidate)| (votes.merged, candidate))
            })
            .collect();
        believed.sort_by_key(|(merged, _)| std::cmp::Reverse(*merged));
        for (_, candidate) in believed {
            if let Some((votes, candidate)) = self.judged(candidate)
                && votes.merged > 0
            {
                self.state.apply(&candidate.edit);
                self.accepted.push(candidate.edit);
            }
        }
    }

    /// The candidate with its votes if it is believed, perhaps with exceptions.
    fn judged(&self, mut candidate: Candidate) -> Option<(Votes, Candidate)> {
        let mut votes = self.state.votes(&candidate.edit);
        if votes.failed > 0
            && candidate.edit.context.is_none()
            && candidate.edit.except.is_empty()
            && 3 * votes.failed < 2 * votes.groups
        {
            candidate.edit.except = self.state.exceptions(&candidate.edit, |pair| self.is_context(pair));
            if candidate.edit.except.len() > MAX_EXCEPTIONS {
                candidate.edit.except.clear();
            }
            if !candidate.edit.except.is_empty() {
                // A value that was never seen may be an exception too.
                let corpus = self.state.corpus();
                let Edit { pairs, forgotten, except, .. } = &mut candidate.edit;
                forgotten.retain(|key| !except.iter().any(|&pair| corpus.pair_key(pair) == *key));
                // A value that is an exception to its own edit is not part of it.
                let is_own =
                    |pair: u32, pairs: &[(u32, Option<u32>)]| pairs.iter().any(|(own, _)| *own == pair);
                let foreign: Vec<u32> = except.iter().copied().filter(|&pair| !is_own(pair, pairs)).collect();
                pairs.retain(|(pair, _)| !except.contains(pair));
                *except = foreign;
                votes = self.state.votes(&candidate.edit);
            }
        }
        is_believed(candidate.family, &votes).then_some((votes, candidate))
    }

    /// Whether a pair may be the context of an edit, or an exception to one.
    fn is_context(&self, pair: u32) -> bool {
        let corpus = self.state.corpus();
        let can_be = matches!(
            corpus.keys()[corpus.pair_key(pair) as usize],
            TokenKey::QueryParam(_) | TokenKey::PathSegment(0 | 1) | TokenKey::Subdomain(_)
        );
        can_be && self.state.rows_of(pair).len() >= 10
    }

    fn of_the_whole_site(&self) -> Vec<Candidate> {
        let corpus = self.state.corpus();
        let mut candidates = Vec::new();
        for (number, pairs) in self.pairs_by_key.iter().enumerate() {
            let key = &corpus.keys()[number];
            let live: Vec<u32> =
                pairs.iter().copied().filter(|&pair| self.state.counts_as(pair) == Some(pair)).collect();
            let whole = |pairs: Vec<(u32, Option<u32>)>, family| Candidate {
                edit: Edit { context: None, pairs, forgotten: Vec::new(), mark: 0, except: Vec::new() },
                family,
            };
            match key {
                TokenKey::Scheme => {
                    if let Some((&first, others)) = live.split_first() {
                        candidates.extend(
                            others.iter().map(|&pair| whole(vec![(pair, Some(first))], Family::Host)),
                        );
                    }
                }
                TokenKey::Subdomain(_)
                | TokenKey::Port
                | TokenKey::TrailingSlash
                | TokenKey::PathParam(_)
                | TokenKey::QueryParam(_) => {
                    if live.is_empty() {
                        continue;
                    }
                    // Values that were never seen are forgotten only if the key is known for it, or enough were seen.
                    let family = Family::of_drop(key);
                    if !matches!(family, Family::Other | Family::Host) || pairs.len() >= MIN_VALUES {
                        let mut candidate = whole(live.iter().map(|&pair| (pair, None)).collect(), family);
                        candidate.edit.forgotten.push(number as u32);
                        candidates.push(candidate);
                    }
                    let total: usize = live.iter().map(|&pair| self.state.rows_of(pair).len()).sum();
                    let frequent = live.iter().filter(|&&pair| {
                        let rows = self.state.rows_of(pair).len();
                        rows >= MIN_ROWS && 20 * rows >= total
                    });
                    candidates.extend(frequent.take(MAX_VALUES).map(|&pair| {
                        let value = corpus.value(corpus.pair_value(pair)).as_text();
                        whole(vec![(pair, None)], Family::of_default(key, value))
                    }));
                }
                TokenKey::PathSegment(_) | TokenKey::QuerySeparator | TokenKey::Hashbang => {}
            }
        }
        candidates
    }

    /// Edits that would join duplicates which are still apart.
    fn suggested(&self) -> Vec<Candidate> {
        let corpus = self.state.corpus();
        let mut labelled: Vec<(u32, u32)> =
            (0..corpus.len() as u32).filter_map(|row| Some((corpus.label(row)?, row))).collect();
        labelled.sort_unstable();
        let mut defaults: FxHashMap<Vec<(u32, Option<u32>)>, usize> = FxHashMap::default();
        let mut drops: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        let mut contexts: FxHashMap<(u32, Vec<u32>), usize> = FxHashMap::default();
        for cluster in labelled.chunk_by(|a, b| a.0 == b.0) {
            let mut seen = FxHashSet::default();
            let mut members: Vec<u32> = cluster
                .iter()
                .map(|&(_, row)| row)
                .filter(|&row| seen.insert(self.state.place(row)))
                .take(MEMBERS_PER_CLUSTER)
                .collect();
            members.sort_by_key(|&row| (corpus.pairs(row).len(), corpus.url(row).len(), row));
            let Some((&base, others)) = members.split_first() else { continue };
            for &other in others {
                self.compare(base, other, &mut defaults, &mut drops, &mut contexts);
            }
        }
        let mut candidates: Vec<(usize, Candidate)> = Vec::new();
        for (pairs, count) in defaults.into_iter().filter(|(_, count)| *count >= MIN_ROWS) {
            let family = self.family_of(&pairs);
            candidates.push((
                count,
                Candidate {
                    edit: Edit { context: None, pairs, forgotten: Vec::new(), mark: 0, except: Vec::new() },
                    family,
                },
            ));
        }
        for (mut keys, count) in drops.into_iter().filter(|(_, count)| *count >= MIN_ROWS) {
            keys.sort_unstable();
            keys.dedup();
            let is_droppable = |&key: &u32| {
                let family = Family::of_drop(&corpus.keys()[key as usize]);
                let is_param =
                    matches!(corpus.keys()[key as usize], TokenKey::QueryParam(_) | TokenKey::PathParam(_));
                is_param && (family != Family::Other || self.pairs_by_key[key as usize].len() >= MIN_VALUES)
            };
            if keys.iter().all(is_droppable) {
                let pairs = keys.iter().flat_map(|&key| &self.pairs_by_key[key as usize]);
                let pairs = pairs
                    .filter(|&&pair| self.state.counts_as(pair).is_some())
                    .map(|&pair| (pair, None))
                    .collect();
                let family = keys.iter().map(|&key| Family::of_drop(&corpus.keys()[key as usize])).max();
                let edit =
                    Edit { context: None, pairs, forgotten: keys.clone(), mark: 0, except: Vec::new() };
                candidates.push((count, Candidate { edit, family: family.unwrap_or(Family::Other) }));
            }
        }
        for ((context, keys), count) in contexts.into_iter().filter(|(_, count)| *count >= MIN_ROWS) {
            candidates.push((count, self.in_context(context, &keys)));
        }
        candidates.sort_by(|a, b| {
            b.0.cmp(&a.0)
                .then_with(|| (a.1.edit.context, &a.1.edit.pairs).cmp(&(b.1.edit.context, &b.1.edit.pairs)))
        });
        candidates.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// Notes what two duplicates differ in.
    fn compare(
        &self,
        base: u32,
        other: u32,
        defaults: &mut FxHashMap<Vec<(u32, Option<u32>)>, usize>,
        drops: &mut FxHashMap<Vec<u32>, usize>,
        contexts: &mut FxHashMap<(u32, Vec<u32>), usize>,
    ) {
        let corpus = self.state.corpus();
        let live = |row: u32| corpus.pairs(row).iter().filter_map(|&pair| self.state.counts_as(pair));
        let key = |pair: u32| corpus.pair_key(pair);
        let ours: FxHashSet<u32> = live(base).collect();
        let theirs: FxHashSet<u32> = live(other).collect();
        let mut extra: Vec<u32> = theirs.difference(&ours).copied().collect();
        let mut missing: Vec<u32> = ours.difference(&theirs).copied().collect();
        extra.sort_unstable();
        missing.sort_unstable();
        let is_param = |&pair: &u32| {
            matches!(
                corpus.keys()[key(pair) as usize],
                TokenKey::QueryParam(_)
                    | TokenKey::PathParam(_)
                    | TokenKey::TrailingSlash
                    | TokenKey::Subdomain(_)
            )
        };
        if missing.is_empty() && extra.len() <= 8 && extra.iter().all(is_param) {
            *defaults.entry(extra.iter().map(|&pair| (pair, None)).collect()).or_default() += 1;
            if extra.len() > 1 {
                *drops.entry(extra.iter().map(|&pair| key(pair)).collect()).or_default() += 1;
            }
        }
        let mut keys: Vec<u32> = extra.iter().chain(&missing).map(|&pair| key(pair)).collect();
        keys.sort_unstable();
        keys.dedup();
        // What a parameter means is not settled by the company of another, unless its name says so.
        let is_settled = |&key: &u32| {
            let key = &corpus.keys()[key as usize];
            !matches!(key, TokenKey::QueryParam(_)) || Family::of_drop(key) != Family::Other
        };
        if !keys.iter().all(is_settled) {
            return;
        }
        for &context in ours.intersection(&theirs).filter(|pair| self.is_context(**pair)) {
            *contexts.entry((context, keys.clone())).or_default() += 1;
        }
    }

    fn in_context(&self, context: u32, keys: &[u32]) -> Candidate {
        let corpus = self.state.corpus();
        let mut pairs: Vec<u32> = self
            .state
            .rows_of(context)
            .iter()
            .flat_map(|&row| corpus.pairs(row))
            .copied()
            .filter(|&pair| keys.contains(&corpus.pair_key(pair)) && self.state.counts_as(pair).is_some())
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let pairs: Vec<(u32, Option<u32>)> = pairs.into_iter().map(|pair| (pair, None)).collect();
        let value = corpus.value(corpus.pair_value(context)).as_text().unwrap_or_default();
        let family = if speaks_of_login(value) { Family::Login } else { self.family_of(&pairs) };
        Candidate {
            edit: Edit {
                context: Some(context),
                pairs,
                forgotten: Vec::new(),
                mark: mix(context).rotate_left(17),
                except: Vec::new(),
            },
            family,
        }
    }

    /// The least trusted family of the parts of an edit.
    fn family_of(&self, pairs: &[(u32, Option<u32>)]) -> Family {
        let corpus = self.state.corpus();
        let family = |pair: u32| {
            let value = corpus.value(corpus.pair_value(pair)).as_text();
            Family::of_default(&corpus.keys()[corpus.pair_key(pair) as usize], value)
        };
        pairs.iter().map(|&(pair, _)| family(pair)).max().unwrap_or(Family::Other)
    }
}
