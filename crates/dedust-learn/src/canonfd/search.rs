/*!
Finds edits that do not change which page is meant, each judged in the light of those before it.

1. Edits that are offered on every site: schemes and hosts, spellings, keys that do not matter, values that count as
   none.
2. Edits that duplicates suggest by how they differ.
3. Of edits that fail, those that hold where one more thing is true of a URL.
*/

use dedust::{Area, Change, Mapped, Spelling, Spot, Test, TokenKey, Value};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::accept::{Mode, Refusal, judge};
use super::differ::{Differ, Suggestions, Translation, UNCOUNTED, View};
use super::families::{Family, is_volatile};
use super::table::{Draft, Table};
use super::vote::{Votes, count, joined};
use crate::corpus::Corpus;

/// Rows that must have a value, or clusters that must suggest an edit, before it is looked at.
const MIN_SUPPORT: usize = 3;
/// Values that must be seen of a key before it is forgotten whatever its value is.
const MIN_VALUES: usize = 3;
/// Values of one key that are tried as defaults, most frequent first.
const MAX_VALUES: usize = 12;
/// Times that edits are looked for.
const MAX_ROUNDS: usize = 8;
/// Suggestions that are tried in one round.
const MAX_SUGGESTIONS: usize = 300;
/// Conditions under which a failing edit is tried again.
const MAX_CONTEXTS: usize = 8;
/// An edit that fails more often is not easily believed anywhere.
const MAX_SUSPECT: f64 = 0.25;
/// Exceptions that an edit may have.
const MAX_EXCEPTIONS: usize = 6;
/// URLs of a cluster that are compared.
const MEMBERS_PER_CLUSTER: usize = 8;
/// Suggestions that are asked how many labels are wrong.
const MAX_TELLING: usize = 100;
/// Groups that must agree for an edit to tell how many labels are wrong.
const MIN_AGREEING: u64 = 30;
/// The share of numbers that a way of counting must explain: labels may be wrong, and the votes decide.
const MIN_COUNTED: f64 = 0.6;

/// How many clusters say that a value stands for another.
type Entries = FxHashMap<(Box<str>, Box<str>), usize>;

/// An edit that may be made.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) draft: Draft,
    pub(super) family: Family,
    pub(super) support: usize,
    /// Whether it fails where less is asked for.
    pub(super) is_suspect: bool,
}

/// A candidate that was judged.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) candidate: Candidate,
    pub(super) votes: Votes,
    pub(super) refusal: Option<Refusal>,
}

pub(super) struct Search<'c> {
    pub(super) table: Table<'c>,
    mode: Mode,
    max_false_rate: f64,
    /// The share of labels that are wrong.
    noise: f64,
    /// Edits that were believed, in the order in which they were made.
    pub(super) accepted: Vec<Judged>,
    /// Edits that were not, as they were last judged.
    pub(super) refused: FxHashMap<Draft, Judged>,
    pub(super) tried: usize,
}

impl<'c> Search<'c> {
    pub(super) fn new(corpus: &'c Corpus, mode: Mode, max_false_rate: f64) -> Self {
        Self {
            table: Table::new(corpus),
            mode,
            max_false_rate,
            noise: 0.0,
            accepted: Vec::new(),
            refused: FxHashMap::default(),
            tried: 0,
        }
    }

    pub(super) fn run(&mut self) {
        self.noise = self.estimate_noise();
        for _ in 0..MAX_ROUNDS {
            let before = self.accepted.len();
            let offered = self.offered();
            self.take(offered);
            // What holds everywhere is not to be learned where something is true only.
            for conditional in [false, true] {
                let mut suggested = self.suggested();
                suggested.retain(|candidate| candidate.draft.when.is_empty() != conditional);
                suggested.truncate(MAX_SUGGESTIONS);
                self.take(suggested);
            }
            if self.accepted.len() == before {
                break;
            }
        }
    }

    /// How many labels are wrong. An edit that is right fails as often as labels are wrong, and one that is wrong more
    /// often: so the edit that fails least tells, of those with many votes.
    fn estimate_noise(&self) -> f64 {
        let mut candidates = self.offered();
        candidates.extend(self.suggested().into_iter().take(MAX_TELLING));
        let shares: Vec<f64> = candidates
            .par_iter()
            .map(|candidate| count(&self.table, &joined(&self.table, &candidate.draft)))
            .filter(|votes| votes.agreeing >= MIN_AGREEING)
            .map(|votes| votes.contested_share())
            .collect();
        // The least of several is less than their mean.
        1.5 * shares.into_iter().reduce(f64::min).unwrap_or(0.0)
    }

    /// Tries candidates and makes those that are believed, those that join most first.
    fn take(&mut self, candidates: Vec<Candidate>) {
        self.tried += candidates.len();
        let mut candidates = candidates;
        candidates.retain(|candidate| !self.is_made(&candidate.draft) && !self.is_hopeless(&candidate.draft));
        let judged: Vec<Vec<Judged>> =
            candidates.into_par_iter().map(|candidate| self.judged(candidate)).collect();
        let mut believed = Vec::new();
        for judged in judged.into_iter().flatten() {
            match judged.refusal {
                None => believed.push(judged),
                Some(_) => drop(self.refused.insert(judged.candidate.draft.clone(), judged)),
            }
        }
        believed.sort_by_key(|judged| {
            (std::cmp::Reverse(judged.votes.merged), judged.candidate.draft.when.len())
        });
        let mut seen = FxHashSet::default();
        for judged in believed {
            if !seen.insert(judged.candidate.draft.clone()) {
                continue;
            }
            // Those before it may have done its work.
            let again = self.vote(judged.candidate);
            if again.refusal.is_none() {
                self.table.apply(&again.candidate.draft);
                self.refused.remove(&again.candidate.draft);
                self.accepted.push(again);
            }
        }
    }

    /// Whether a value counts as none of a key of which another value does so already. A key has one default: if it has
    /// two, it does not matter at all, which is more to prove.
    fn has_default(&self, draft: &Draft) -> bool {
        let defaults = |draft: &Draft| -> Vec<(TokenKey, Option<Value>)> {
            let mut found = Vec::new();
            for change in &draft.change {
                match change {
                    Change::Map { of, values } => {
                        let none = values.iter().filter(|mapped| mapped.becomes.is_none());
                        found.extend(none.map(|mapped| (of.clone(), Some(mapped.is.clone()))));
                    }
                    Change::Drop(Spot::Key(key)) => match draft.when.get(&Spot::Key(key.clone())) {
                        Some(Test::Is(value)) => found.push((key.clone(), Some(value.clone()))),
                        _ => found.push((key.clone(), None)),
                    },
                    _ => {}
                }
            }
            found
        };
        let made: Vec<(TokenKey, Option<Value>)> =
            self.accepted.iter().flat_map(|judged| defaults(&judged.candidate.draft)).collect();
        defaults(draft)
            .iter()
            .any(|(key, value)| made.iter().any(|(other, made)| key == other && value != made))
    }

    /// Whether its change is made already, wherever it holds.
    fn is_made(&self, draft: &Draft) -> bool {
        let mut made = self.accepted.iter().map(|judged| &judged.candidate.draft);
        let is_wide = |made: &Draft| made.when.values().all(|test| matches!(test, Test::Not(_)));
        made.any(|made| is_wide(made) && made.change == draft.change)
    }

    /// Whether most of what it would join was different before: other edits do not change that.
    fn is_hopeless(&self, draft: &Draft) -> bool {
        self.refused.get(draft).is_some_and(|judged| {
            let Votes { all, against, .. } = judged.votes;
            judged.refusal == Some(Refusal::Fails) && all >= 10 && 2 * against > all
        })
    }

    fn vote(&self, candidate: Candidate) -> Judged {
        let votes = count(&self.table, &joined(&self.table, &candidate.draft));
        let urls = self.table.corpus().len();
        let harmless =
            !candidate.is_suspect && is_harmless(&candidate.draft) && !self.has_default(&candidate.draft);
        let mut refusal =
            judge(self.mode, candidate.family, &votes, harmless, urls, self.noise, self.max_false_rate).err();
        // Of several changes at once, each must hold by itself: the votes may all be about one of them.
        if refusal.is_none()
            && candidate.draft.change.len() > 1
            && self.parts_of(&candidate).any(|part| self.vote(part).refusal == Some(Refusal::Fails))
        {
            refusal = Some(Refusal::Fails);
        }
        Judged { candidate, votes, refusal }
    }

    /// The candidate if it is believed; if not, it and what is believed of it under a condition.
    fn judged(&self, candidate: Candidate) -> Vec<Judged> {
        let judged = self.vote(candidate);
        let is_settled = match judged.refusal {
            None => judged.votes.against < 1,
            Some(Refusal::Fails) => {
                judged.votes.agreeing < 3 || 10 * judged.votes.agreeing < judged.votes.against
            }
            Some(_) => true,
        };
        if is_settled {
            return vec![judged];
        }
        let candidate = &judged.candidate;
        let differ = Differ { table: &self.table };
        // How often each pair is seen among those for and against.
        let mut tally: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for group in joined(&self.table, &candidate.draft) {
            let (with, against) = group.sides(self.table.corpus());
            if with.len() + against.len() < 2 {
                continue;
            }
            let mut company = FxHashSet::default();
            if against.is_empty() {
                company.extend(with.iter().flat_map(|&row| self.table.row(row)).copied());
                company.iter().for_each(|&pair| tally.entry(pair).or_default().0 += 1);
            } else if with.len() == 1 && against.len() == 1 {
                // Nobody knows who is wrong.
                company.extend(with.iter().chain(&against).flat_map(|&row| self.table.row(row)).copied());
                company.iter().for_each(|&pair| tally.entry(pair).or_default().1 += 1);
            } else {
                for &row in &against {
                    let others = self.table.row(with[0]);
                    company.extend(self.table.row(row).iter().filter(|pair| !others.contains(pair)).copied());
                }
                company.iter().for_each(|&pair| tally.entry(pair).or_default().1 += 1);
            }
        }
        tally.retain(|&pair, _| differ.is_context(pair));
        let test =
            |pair: u32| (Spot::Key(self.table.key_of(pair).clone()), self.table.value_of(pair).clone());
        let mut results = Vec::new();
        let share = judged.votes.against as f64 / judged.votes.all as f64;
        let mut exceptions: Vec<u32> = tally
            .iter()
            .filter(|&(&pair, &(with, against))| {
                let is_near = !matches!(self.table.key_of(pair), TokenKey::PathSegment(2..));
                let value = self.table.value_of(pair).as_text().unwrap_or_default();
                let is_frequent =
                    against >= 2 && (against >= with || is_surprising(against, with + against, share));
                let is_expected = against >= 1 && 2 * against >= with && is_volatile(value);
                is_near && (is_frequent || is_expected)
            })
            .map(|(pair, _)| *pair)
            .collect();
        exceptions.sort_unstable();
        if !exceptions.is_empty() && exceptions.len() <= MAX_EXCEPTIONS {
            let mut draft = Some(candidate.draft.clone());
            for &pair in &exceptions {
                let (spot, value) = test(pair);
                draft = draft.and_then(|draft| except(draft, spot, value));
            }
            if let Some(draft) = draft.filter(|draft| !draft.change.is_empty()) {
                let family = if forgets_path(&draft) { Family::Relevant } else { candidate.family };
                results.push(self.vote(Candidate { draft, family, ..candidate.clone() }));
            }
        }
        if judged.refusal.is_some() && results.iter().all(|result| result.refusal.is_some()) {
            let mut contexts: Vec<(u64, u32)> = tally
                .iter()
                .filter(|(_, (with, against))| *with >= 3 && 10 * against <= *with)
                .map(|(pair, (with, _))| (*with, *pair))
                .collect();
            let is_suspect = judged.votes.contested_share() > MAX_SUSPECT + self.noise;
            contexts.sort_unstable_by_key(|&(with, pair)| (std::cmp::Reverse(with), pair));
            for &(_, pair) in contexts.iter().take(MAX_CONTEXTS) {
                let (spot, value) = test(pair);
                if let Some(draft) = candidate.draft.and(spot, Test::Is(value)) {
                    // Where it was found to hold, it must be proven to.
                    let chosen = candidate.family.chosen();
                    let family = if forgets_path(&draft) { Family::Relevant } else { chosen };
                    results.push(self.vote(Candidate { draft, family, is_suspect, ..candidate.clone() }));
                }
            }
        }
        if results.iter().all(|result| result.refusal.is_some()) {
            results.push(judged);
        }
        results
    }

    /// The changes of an edit one by one, where each could be made without the others.
    fn parts_of(&self, candidate: &Candidate) -> impl Iterator<Item = Candidate> {
        let Draft { when, change } = &candidate.draft;
        let is_apart = |change: &Change| {
            matches!(change, Change::Map { .. } | Change::Drop(_) | Change::Forget(_) | Change::ForgetPath)
        };
        let parts = if change.iter().all(is_apart) { change.as_slice() } else { &[] };
        parts.iter().map(|part| Candidate {
            draft: Draft { when: when.clone(), change: vec![part.clone()] },
            ..candidate.clone()
        })
    }

    /// Edits that make sense on any site.
    fn offered(&self) -> Vec<Candidate> {
        let corpus = self.table.corpus();
        let mut candidates = Vec::new();
        let mut offer = |change: Vec<Change>, family: Family, support: usize| {
            candidates.push(Candidate {
                draft: Draft::everywhere(change),
                family,
                support,
                is_suspect: false,
            });
        };
        for (number, key) in self.table.keys().iter().enumerate() {
            let values = self.table.values_of_key(number as u32);
            let total: usize = values.iter().map(|(count, _)| *count).sum();
            let value = |pair: u32| self.table.value_of(pair).clone();
            match key {
                TokenKey::Scheme => {
                    if let Some(((_, first), others)) = values.split_first() {
                        let becomes = value(*first).as_text().map(Into::into);
                        for &(count, pair) in others {
                            let mapped = Mapped { is: value(pair), becomes: becomes.clone() };
                            offer(
                                vec![Change::Map { of: key.clone(), values: vec![mapped] }],
                                Family::Host,
                                count,
                            );
                        }
                    }
                }
                TokenKey::Subdomain(_)
                | TokenKey::Port
                | TokenKey::TrailingSlash
                | TokenKey::PathParam(_)
                | TokenKey::QueryParam(_) => {
                    if values.is_empty() {
                        continue;
                    }
                    // Values that were never seen are forgotten only if the key is known for it, or enough were seen.
                    let family = self.family_of_drop(key);
                    let is_enough = !matches!(family, Family::Other | Family::Relevant | Family::Host)
                        || values.len() >= MIN_VALUES;
                    if is_enough || *key == TokenKey::TrailingSlash {
                        let whole = match key {
                            TokenKey::Subdomain(_) => Change::Forget(key.clone().into()),
                            _ => Change::Drop(key.clone().into()),
                        };
                        let family =
                            if matches!(key, TokenKey::Subdomain(_)) { Family::Other } else { family };
                        offer(vec![whole], family, total);
                    }
                    let frequent =
                        values.iter().filter(|(count, _)| *count >= MIN_SUPPORT && 20 * count >= total);
                    for &(count, pair) in frequent.take(MAX_VALUES) {
                        let family = self.family_of_default(key, value(pair).as_text());
                        let mapped = Mapped { is: value(pair), becomes: None };
                        offer(vec![Change::Map { of: key.clone(), values: vec![mapped] }], family, count);
                    }
                }
                TokenKey::PathSegment(_) | TokenKey::QuerySeparator | TokenKey::Hashbang => {}
            }
        }
        use Spelling::{Composed, Lowercase, PlusAsSpace, Underscored, Unescaped, Unpadded};
        for of in [Area::Path, Area::Params] {
            for to in [Unescaped, PlusAsSpace, Composed, Underscored, Unpadded, Lowercase] {
                let fold = Change::Fold { of: of.clone(), to };
                if !self.accepted.iter().any(|judged| judged.candidate.draft.change == [fold.clone()]) {
                    let family = match to {
                        Unescaped | PlusAsSpace | Composed => Family::Spelling,
                        _ => Family::Other,
                    };
                    offer(vec![fold], family, corpus.len());
                }
            }
        }
        offer(vec![Change::Unrepeat], Family::Other, corpus.len());
        candidates
    }

    /// Edits that would join duplicates which are still apart, those that most clusters suggest first.
    fn suggested(&self) -> Vec<Candidate> {
        let corpus = self.table.corpus();
        let mut labelled: Vec<(u32, u32)> =
            (0..corpus.len() as u32).filter_map(|row| Some((corpus.label(row)?, row))).collect();
        labelled.sort_unstable();
        let clusters: Vec<&[(u32, u32)]> = labelled.chunk_by(|a, b| a.0 == b.0).collect();
        let differ = Differ { table: &self.table };
        let suggested: Vec<Suggestions> = clusters
            .par_iter()
            .flat_map_iter(|cluster| {
                self.members_apart(cluster)
                    .map(|(a, b)| differ.compare(&View::of(&self.table, a), &View::of(&self.table, b)))
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut drafts: FxHashMap<Draft, usize> = FxHashMap::default();
        let mut counted: FxHashMap<Draft, Vec<(i64, i64)>> = FxHashMap::default();
        let mut translated: FxHashMap<Translation, Entries> = FxHashMap::default();
        for suggestions in suggested {
            let unique: FxHashSet<Draft> = suggestions.drafts.into_iter().collect();
            for draft in unique {
                *drafts.entry(draft).or_default() += 1;
            }
            for (draft, x, y) in suggestions.counted {
                counted.entry(draft).or_default().push((x, y));
            }
            for (keys, x, y) in suggestions.translated {
                *translated.entry(keys).or_default().entry((x, y)).or_default() += 1;
            }
        }
        for (draft, numbers) in counted {
            let support = numbers.len();
            if let Some(draft) = counting(draft, &numbers) {
                drafts.insert(draft, support);
            }
        }
        for (keys, pairs) in translated {
            if let Some((draft, support)) = translation(keys, &pairs) {
                drafts.insert(draft, support);
            }
        }
        let mut candidates: Vec<(String, Candidate)> = drafts
            .into_iter()
            .filter(|(draft, support)| *support >= MIN_SUPPORT && self.is_sound(draft))
            .map(|(draft, support)| {
                let family = self.family_of(&draft);
                (format!("{draft:?}"), Candidate { draft, family, support, is_suspect: false })
            })
            .collect();
        candidates.sort_by(|a, b| b.1.support.cmp(&a.1.support).then_with(|| a.0.cmp(&b.0)));
        candidates.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// Pairs of URLs of a cluster that stand at different places: each with the shortest, which most are like.
    fn members_apart(&self, cluster: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32)> {
        let corpus = self.table.corpus();
        let mut seen = FxHashSet::default();
        let mut members: Vec<u32> = cluster
            .iter()
            .map(|&(_, row)| row)
            .filter(|&row| seen.insert(self.table.place(row)))
            .take(MEMBERS_PER_CLUSTER)
            .collect();
        members.sort_by_key(|&row| (self.table.row(row).len(), corpus.url(row).len(), row));
        let pairs: Vec<(u32, u32)> = match members.as_slice() {
            [] => Vec::new(),
            [first, rest @ ..] => {
                let with_first = rest.iter().map(|&row| (row, *first));
                with_first.chain(rest.windows(2).map(|two| (two[1], two[0]))).collect()
            }
        };
        pairs.into_iter()
    }

    /// Whether a draft forgets only keys of which enough is known.
    fn is_sound(&self, draft: &Draft) -> bool {
        draft.change.iter().all(|change| match change {
            Change::Drop(Spot::Key(key @ (TokenKey::QueryParam(_) | TokenKey::PathParam(_)))) => {
                // What is read elsewhere is not lost.
                let is_read = draft.change.iter().any(|change| change.reads(key));
                let is_fixed = matches!(draft.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)));
                is_read || is_fixed || self.family_of_drop(key) != Family::Other || self.has_values(key)
            }
            _ => true,
        })
    }

    /// The family of forgetting a key. The values of a session do not repeat themselves and are no words.
    fn family_of_drop(&self, key: &TokenKey) -> Family {
        match Family::of_drop(key) {
            Family::Session if !self.looks_random(key) => Family::Other,
            family => family,
        }
    }

    fn family_of_default(&self, key: &TokenKey, value: Option<&str>) -> Family {
        match Family::of_default(key, value) {
            Family::Session if !self.looks_random(key) => Family::Other,
            family => family,
        }
    }

    fn looks_random(&self, key: &TokenKey) -> bool {
        let Some(number) = self.table.keys().iter().position(|other| other == key) else { return false };
        let values = self.table.values_of_key(number as u32);
        let is_random = |text: &str| {
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            digits > 0 && (text.len() >= 8 || digits == text.len())
        };
        let texts = values.iter().filter_map(|&(_, pair)| self.table.value_of(pair).as_text());
        10 * texts.filter(|text| is_random(text)).count() >= 8 * values.len()
    }

    fn has_values(&self, key: &TokenKey) -> bool {
        let number = self.table.keys().iter().position(|other| other == key);
        number.is_some_and(|number| self.table.values_of_key(number as u32).len() >= MIN_VALUES)
    }

    /// The least trusted family of the parts of an edit.
    fn family_of(&self, draft: &Draft) -> Family {
        let contexts = draft.when.values().filter_map(|test| match test {
            Test::Is(value) => value.as_text(),
            _ => None,
        });
        if !draft.when.is_empty() && contexts.clone().any(super::families::speaks_of_login) {
            return Family::Login;
        }
        let family = |change: &Change| match change {
            Change::Drop(Spot::Key(key)) => match draft.when.get(&Spot::Key(key.clone())) {
                Some(Test::Is(value)) => self.family_of_default(key, value.as_text()),
                _ => self.family_of_drop(key),
            },
            Change::Map { of, values } => values
                .iter()
                .map(|mapped| match mapped.becomes {
                    None => self.family_of_default(of, mapped.is.as_text()),
                    Some(_) if *of == TokenKey::Scheme => Family::Host,
                    Some(_) => Family::Other,
                })
                .max()
                .unwrap_or(Family::Other),
            _ => Family::Other,
        };
        draft.change.iter().map(family).max().unwrap_or(Family::Other)
    }
}

/// Whether an edit only says the same in another way: what it takes away is a fixed text, or is written elsewhere.
fn is_harmless(draft: &Draft) -> bool {
    draft.change.iter().all(|change| match change {
        Change::Map { values, .. } => values.iter().all(|mapped| mapped.becomes.is_none()),
        Change::Fold { to, .. } => *to != Spelling::Lowercase,
        Change::Drop(Spot::Key(key)) => {
            matches!(draft.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)))
                || draft.change.iter().any(|change| change.reads(key))
        }
        Change::Path(parts) => is_shorter(parts) && keeps_segments(draft),
        Change::Set { .. } | Change::Unrepeat => true,
        Change::Drop(_) | Change::Forget(_) | Change::ForgetPath => false,
    })
}

/// Whether an edit forgets what pages are named by.
fn forgets_path(draft: &Draft) -> bool {
    draft.change.iter().any(|change| {
        matches!(
            change,
            Change::ForgetPath | Change::Forget(Spot::FromRight(_) | Spot::Key(TokenKey::PathSegment(_)))
        )
    })
}

/// Whether every segment of a path of fixed length is fixed or read.
fn keeps_segments(draft: &Draft) -> bool {
    let depth = draft.when.iter().find_map(|(spot, test)| match (spot, test) {
        (Spot::Key(TokenKey::PathSegment(depth)), Test::Absent) => Some(*depth),
        _ => None,
    });
    let reads_segments = draft.change.iter().any(|change| match change {
        Change::Path(parts) => parts
            .iter()
            .all(|part| matches!(part, dedust::PathPart::Text(_) | dedust::PathPart::Value { .. })),
        _ => false,
    });
    let is_kept = |index: u16| {
        let key = TokenKey::PathSegment(index);
        matches!(draft.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)))
            || draft.change.iter().any(|change| change.reads(&key))
    };
    !reads_segments || depth.is_none_or(|depth| (0..depth).all(is_kept))
}

/// Whether a path keeps all that varies, and has fewer fixed segments than it had.
fn is_shorter(parts: &[dedust::PathPart]) -> bool {
    use dedust::PathPart::{First, Last, Segments, Text, Value};
    let (mut texts, mut kept, mut left_out, mut has_value, mut has_rest) = (0, 0, 0, false, false);
    for part in parts {
        match part {
            Text(_) => texts += 1,
            First(count) | Last(count) => kept += count,
            Segments { from, but_last } => {
                left_out += from + but_last;
                has_rest = true;
            }
            Value { .. } => has_value = true,
        }
    }
    has_value || (has_rest && texts < left_out - kept.min(left_out))
}

/// Whether so many failures would hardly be seen if they were no more frequent than elsewhere.
fn is_surprising(failures: u64, trials: u64, share: f64) -> bool {
    use statrs::distribution::{Binomial, DiscreteCDF};
    let expected = Binomial::new(share.clamp(0.02, 1.0), trials);
    failures >= 3 && expected.is_ok_and(|expected| expected.sf(failures - 1) < 0.001)
}

/// The edit, but not where the key has this value.
fn except(mut draft: Draft, spot: Spot, value: Value) -> Option<Draft> {
    let Spot::Key(key) = &spot else { return None };
    // A value that is an exception to its own edit is not part of it.
    for change in &mut draft.change {
        if let Change::Map { of, values } = change
            && of == key
        {
            values.retain(|mapped| mapped.is != value);
            if values.is_empty() {
                return None;
            }
            return Some(draft);
        }
    }
    draft.and(spot, Test::Not(vec![value]))
}

/// The edit with the way of counting that most numbers agree on.
fn counting(draft: Draft, numbers: &[(i64, i64)]) -> Option<Draft> {
    let mut unique = numbers.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let mut votes: FxHashMap<(i64, i64), usize> = FxHashMap::default();
    for two in unique.windows(2) {
        let ((x1, y1), (x2, y2)) = (two[0], two[1]);
        if x1 != x2 && (y2 - y1) % (x2 - x1) == 0 {
            let times = (y2 - y1) / (x2 - x1);
            *votes.entry((times, y1 - times * x1)).or_default() += 1;
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(count, votes)| (std::cmp::Reverse(votes), count));
    let ((times, plus), _) = *votes.first()?;
    let explained = numbers.iter().filter(|(x, y)| x * times + plus == *y).count();
    let distinct = unique.iter().filter(|(x, y)| x * times + plus == *y).count();
    if times == 0
        || times.abs() > 1000
        || distinct < 4
        || (explained as f64) < MIN_COUNTED * numbers.len() as f64
    {
        return None;
    }
    let count = dedust::Count { times, plus };
    let mut draft = draft;
    let set = |source: &mut dedust::Source| {
        if source.count == Some(UNCOUNTED) {
            source.count = Some(count);
        }
    };
    for change in &mut draft.change {
        match change {
            Change::Set { to, .. } => to.iter_mut().for_each(set),
            Change::Path(parts) => {
                for part in parts {
                    if let dedust::PathPart::Value { from, .. } = part {
                        set(from);
                    }
                }
            }
            _ => {}
        }
    }
    Some(draft)
}

/// A table of values that stand for those of another key, with the clusters that support it. Entries that rest on one
/// cluster, or that others contradict, are left out.
fn translation((from, to): Translation, pairs: &Entries) -> Option<(Draft, usize)> {
    let mut by_value: std::collections::BTreeMap<&str, Vec<(usize, &str)>> = Default::default();
    for ((x, y), &count) in pairs {
        by_value.entry(x).or_default().push((count, y));
    }
    let mut table: Vec<(Box<str>, Box<str>)> = Vec::new();
    let mut support = 0;
    for (x, mut choices) in by_value {
        choices.sort_unstable_by(|a, b| b.cmp(a));
        let total: usize = choices.iter().map(|(count, _)| count).sum();
        let (count, y) = choices[0];
        if count >= 2 && 10 * count >= 7 * total {
            table.push((x.into(), y.into()));
            support += count;
        }
    }
    if table.len() < 3 || table.len() > 1000 {
        return None;
    }
    let values = table.iter().map(|(x, _)| Value::from(&**x)).collect();
    let source = dedust::Source { table, ..dedust::Source::of(from.clone().into()) };
    Some((
        Draft {
            when: [(from.clone().into(), Test::OneOf(values))].into(),
            change: vec![Change::Set { key: to, to: vec![source] }, Change::Drop(from.into())],
        },
        support,
    ))
}
