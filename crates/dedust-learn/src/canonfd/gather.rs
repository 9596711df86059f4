/*!
What the clusters of a site suggest, put together: suggestions in, the rules that most clusters suggest out.

Most of what a cluster suggests no other does. So rules are counted by their hashes, and one is kept only once enough clusters
have suggested it; those that are kept have no more parts in all than the URLs of the site have.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::BuildHasher as _;

use dedust::rules::{Change, Count, Source, Test, Value};
use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};

use super::differ::{Suggestions, Translation, UNCOUNTED};
use super::draft::Draft;
use crate::thresholds::{search, suggest};

/// How many clusters say that a value stands for another.
type Entries = HashMap<(Box<str>, Box<str>), usize>;

/// What clusters suggest.
pub(super) struct Gathered {
    /// Seeded: who writes a site must not choose which rules have one hash.
    state: RandomState,
    /// How often each rule was suggested, by its hash.
    support: HashMap<u64, usize>,
    /// The numbers that each rule needs a way of counting for, by its hash.
    numbers: HashMap<u64, Vec<(i64, i64)>>,
    /// Rules that were suggested often enough, by their hashes.
    drafts: HashMap<u64, Draft>,
    translated: HashMap<Translation, Entries>,
    /// Parts of rules that there is room for.
    room: usize,
}

impl Gathered {
    /// Nothing yet; of a site whose URLs have so many parts.
    pub(super) fn new(parts: usize) -> Self {
        Self {
            state: RandomState::default(),
            support: HashMap::default(),
            numbers: HashMap::default(),
            drafts: HashMap::default(),
            translated: HashMap::default(),
            room: parts.max(suggest::PARTS_AT_ONCE),
        }
    }

    /// Adds what two URLs suggest.
    pub(super) fn add(&mut self, suggestions: Suggestions) {
        let mut met = Vec::new();
        for draft in suggestions.drafts.into_iter().map(Draft::without_loss) {
            let hash = self.state.hash_one(&draft);
            if met.contains(&hash) || draft.size() > suggest::MAX_DRAFT_SIZE {
                continue;
            }
            met.push(hash);
            let support = self.support.entry(hash).or_default();
            *support += 1;
            if *support == suggest::MIN_SUPPORT {
                self.keep(hash, draft);
            }
        }
        for (draft, x, y) in suggestions.counted {
            let draft = draft.without_loss();
            if draft.size() > suggest::MAX_DRAFT_SIZE {
                continue;
            }
            let hash = self.state.hash_one(&draft);
            let numbers = self.numbers.entry(hash).or_default();
            numbers.push((x, y));
            if numbers.len() == suggest::MIN_SUPPORT {
                self.keep(hash, draft);
            }
        }
        for (keys, x, y) in suggestions.translated {
            *self.translated.entry(keys).or_default().entry((x, y)).or_default() += 1;
        }
    }

    fn keep(&mut self, hash: u64, draft: Draft) {
        if let Some(left) = self.room.checked_sub(draft.size()) {
            self.room = left;
            self.drafts.insert(hash, draft);
        }
    }

    /// The rules that enough clusters suggest, each with how many do, in any order.
    pub(super) fn finish(self) -> impl Iterator<Item = (Draft, usize)> {
        let Self { support, numbers, drafts, translated, .. } = self;
        let suggested = drafts.into_iter().filter_map(move |(hash, draft)| match numbers.get(&hash) {
            Some(numbers) => Some((counting(draft, numbers)?, numbers.len())),
            None => Some((draft, *support.get(&hash)?)),
        });
        let translated = translated.into_iter().filter_map(|(keys, pairs)| translation(keys, &pairs));
        let is_enough = |(_, support): &(Draft, usize)| *support >= suggest::MIN_SUPPORT;
        suggested.chain(translated.filter(is_enough))
    }
}

/// Those that most clusters suggest, in that order; of those that as many suggest, the lesser comes first.
pub(super) fn most_suggested(drafts: impl Iterator<Item = (Draft, usize)>) -> Vec<Draft> {
    let mut drafts: Vec<(Reverse<usize>, Draft)> =
        drafts.map(|(draft, support)| (Reverse(support), draft)).collect();
    drafts.sort_unstable();
    drafts.into_iter().take(search::MAX_SUGGESTIONS).map(|(_, draft)| draft).collect()
}

/// The rule with the way of counting that most numbers agree on.
fn counting(draft: Draft, numbers: &[(i64, i64)]) -> Option<Draft> {
    let mut unique = numbers.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let mut votes: HashMap<(i64, i64), usize> = HashMap::default();
    for two in unique.windows(2) {
        let ((x1, y1), (x2, y2)) = (two[0], two[1]);
        if x1 != x2 && (y2 - y1) % (x2 - x1) == 0 {
            let times = (y2 - y1) / (x2 - x1);
            if times == 0 || times.abs() > suggest::MAX_TIMES {
                continue;
            }
            *votes.entry((times, y1 - times * x1)).or_default() += 1;
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(count, votes)| (Reverse(votes), count));
    let ((times, plus), _) = *votes.first()?;
    let explained = numbers.iter().filter(|(x, y)| x * times + plus == *y).count();
    let distinct = unique.iter().filter(|(x, y)| x * times + plus == *y).count();
    if distinct < suggest::MIN_COUNTED_NUMBERS
        || (explained as f64) < suggest::MIN_COUNTED * numbers.len() as f64
    {
        return None;
    }
    let count = Count { times, plus };
    let mut draft = draft;
    let set = |source: &mut Source| {
        if source.count == Some(UNCOUNTED) {
            source.count = Some(count);
        }
    };
    draft.change.iter_mut().flat_map(Change::sources_mut).for_each(set);
    Some(draft)
}

/// A table of values that stand for those of another key, with the clusters that support it. Entries that rest on one
/// cluster, or that others contradict, are left out.
fn translation((from, to): Translation, pairs: &Entries) -> Option<(Draft, usize)> {
    let mut by_value: BTreeMap<&str, Vec<(usize, &str)>> = Default::default();
    for ((x, y), &count) in pairs {
        by_value.entry(x).or_default().push((count, y));
    }
    let mut table: Vec<(Box<str>, Box<str>)> = Vec::new();
    let mut support = 0;
    for (x, mut choices) in by_value {
        choices.sort_unstable_by(|a, b| b.cmp(a));
        let total: usize = choices.iter().map(|(count, _)| count).sum();
        let (count, y) = choices[0];
        if count >= suggest::MIN_TRANSLATING_CLUSTERS
            && count as f64 >= suggest::MIN_TRANSLATED * total as f64
        {
            table.push((x.into(), y.into()));
            support += count;
        }
    }
    // Values that mean the same have names of their own; many that become one were forgotten, not translated.
    let names: HashSet<&str> = table.iter().map(|(_, y)| &**y).collect();
    let entries = suggest::MIN_TRANSLATION_ENTRIES..=suggest::MAX_TRANSLATION_ENTRIES;
    let are_names = names.len() as f64 >= suggest::MIN_TRANSLATED_NAMES * table.len() as f64;
    if !entries.contains(&table.len()) || !are_names {
        return None;
    }
    let values = table.iter().map(|(x, _)| Value::from(&**x)).collect();
    let source = Source { table, ..Source::of(from.clone().into()) };
    let draft = Draft {
        when: [(from.clone().into(), Test::OneOf(values))].into(),
        change: vec![Change::Set { key: to, to: vec![source] }, Change::Drop(from.into())],
        ..Draft::default()
    };
    Some((draft.without_loss(), support))
}
