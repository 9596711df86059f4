/*!
Where edits come from: those that make sense on any site, and those that duplicates suggest by how they differ.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust::rules::{Area, Change, Count, Mapped, PathPart, Source, Spelling, Spot, Test, TokenKey, Value};
use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::differ::{Differ, Suggestions, Translation, UNCOUNTED, View};
use super::draft::{Draft, nothing_for};
use super::families::{Family, is_index, speaks_of_login};
use super::search::{Candidate, Search};
use super::table::{KeyValues, is_second};
use crate::thresholds::THRESHOLDS;

/// How many clusters say that a value stands for another.
type Entries = HashMap<(Box<str>, Box<str>), usize>;

impl Search<'_> {
    /// Edits that make sense on any site.
    pub(super) fn offered(&self) -> Vec<Candidate> {
        let corpus = self.table.corpus();
        let mut candidates = Vec::new();
        let mut offer = |change: Vec<Change>, family: Family, support: usize| {
            candidates.push(Candidate {
                draft: Draft::everywhere(change),
                family,
                support,
                is_suspect: false,
                is_narrowed: false,
            });
        };
        for key in self.table.keys() {
            let KeyValues { rows, values, frequent, .. } = self.table.values_of(key);
            let value = |pair: u32| self.table.value_of(pair).clone();
            match key {
                TokenKey::Scheme => {
                    if let Some((first, others)) = frequent.split_first() {
                        let becomes = value(*first).as_text().map(Into::into);
                        for &pair in others {
                            let mapped = Mapped { is: value(pair), becomes: becomes.clone() };
                            offer(
                                vec![Change::Map { of: key.clone(), values: vec![mapped] }],
                                Family::Host,
                                self.table.count(pair),
                            );
                        }
                    }
                }
                TokenKey::Subdomain(_)
                | TokenKey::Port
                | TokenKey::TrailingSlash
                | TokenKey::PathParam(_)
                | TokenKey::QueryParam(_) => {
                    if *values == 0 {
                        continue;
                    }
                    // Values that were never seen are forgotten only if the key is known for it, or enough were seen.
                    let family = self.family_of_drop(key);
                    let is_enough = !matches!(family, Family::Other | Family::Relevant | Family::Host)
                        || *values >= THRESHOLDS.suggest.min_values;
                    if is_enough || *key == TokenKey::TrailingSlash {
                        let whole = match key {
                            TokenKey::Subdomain(_) => Change::Forget(key.clone().into()),
                            _ => Change::Drop(key.clone().into()),
                        };
                        let family =
                            if matches!(key, TokenKey::Subdomain(_)) { Family::Other } else { family };
                        offer(vec![whole], family, *rows);
                    }
                    let frequent = frequent
                        .iter()
                        .filter(|&&pair| self.table.count(pair) >= THRESHOLDS.suggest.min_support);
                    for &pair in frequent.take(THRESHOLDS.suggest.max_defaults) {
                        let family = self.family_of_default(key, value(pair).as_text());
                        let count = self.table.count(pair);
                        offer(vec![nothing_for(key.clone(), value(pair))], family, count);
                    }
                }
                TokenKey::PathSegment(_) | TokenKey::QuerySeparator | TokenKey::Hashbang => {}
            }
        }
        // What is rare is proven together.
        let mut tracking: Vec<(usize, Change)> = Vec::new();
        for key in self.table.keys() {
            let count = self.table.values_of(key).rows;
            if count > 0 && Family::of_drop(key) == Family::Tracking {
                tracking.push((count, Change::Drop(key.clone().into())));
            }
        }
        if tracking.len() > 1 {
            let support = tracking.iter().map(|(count, _)| count).sum();
            offer(tracking.into_iter().map(|(_, change)| change).collect(), Family::Tracking, support);
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
        let seconds = self.table.keys().iter().filter(|key| is_second(key));
        let repeated = seconds.map(|key| self.table.values_of(key).rows);
        offer(vec![Change::UnrepeatParams], Family::Spelling, repeated.sum());
        candidates
    }

    /// Edits that would join duplicates which are still apart, those that most clusters suggest first.
    pub(super) fn suggested(&self) -> Vec<Candidate> {
        let corpus = self.table.corpus();
        // Labels are numbered in no order that means anything, so the first are as good as any.
        let clusters: Vec<&[u32]> = (0..corpus.page_count() as u32)
            .map(|label| self.table.rows_with_label(label))
            .filter(|rows| rows.iter().any(|&row| self.table.form_id(row) != self.table.form_id(rows[0])))
            .take(THRESHOLDS.suggest.max_clusters)
            .collect();
        let differ = Differ { table: &self.table };
        let suggested: Vec<Suggestions> = clusters
            .par_iter()
            .flat_map_iter(|cluster| {
                let members = self.members_apart(cluster);
                let views: Vec<View<'_>> = members.iter().map(|&row| View::of(&self.table, row)).collect();
                compared(views.len()).map(|(a, b)| differ.compare(&views[a], &views[b])).collect::<Vec<_>>()
            })
            .collect();
        let mut drafts: HashMap<Draft, usize> = HashMap::default();
        let mut counted: HashMap<Draft, Vec<(i64, i64)>> = HashMap::default();
        let mut translated: HashMap<Translation, Entries> = HashMap::default();
        for suggestions in suggested {
            let unique: HashSet<Draft> = suggestions.drafts.into_iter().map(Draft::without_loss).collect();
            for draft in unique {
                *drafts.entry(draft).or_default() += 1;
            }
            for (draft, x, y) in suggestions.counted {
                counted.entry(draft.without_loss()).or_default().push((x, y));
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
            .filter(|(draft, support)| *support >= THRESHOLDS.suggest.min_support && self.is_sound(draft))
            .map(|(draft, support)| {
                let family = self.family_of(&draft);
                (
                    format!("{draft:?}"),
                    Candidate { draft, family, support, is_suspect: false, is_narrowed: false },
                )
            })
            .collect();
        candidates.sort_by(|a, b| b.1.support.cmp(&a.1.support).then_with(|| a.0.cmp(&b.0)));
        candidates.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// URLs of a cluster that have different forms, the shortest first.
    fn members_apart(&self, cluster: &[u32]) -> Vec<u32> {
        let corpus = self.table.corpus();
        let mut seen = Vec::with_capacity(THRESHOLDS.suggest.members_per_cluster);
        let mut members = Vec::with_capacity(THRESHOLDS.suggest.members_per_cluster);
        for &row in cluster {
            let form_id = self.table.form_id(row);
            if !seen.contains(&form_id) {
                seen.push(form_id);
                members.push(row);
                if members.len() == THRESHOLDS.suggest.members_per_cluster {
                    break;
                }
            }
        }
        members.sort_by_key(|&row| (self.table.row(row).len(), corpus.url(row).len(), row));
        members
    }

    /// Whether a draft forgets only keys of which enough is known, and puts no text instead of a parameter, which rules cannot do.
    fn is_sound(&self, draft: &Draft) -> bool {
        draft.change.iter().all(|change| match change {
            Change::Drop(Spot::Key(key @ (TokenKey::QueryParam(_) | TokenKey::PathParam(_)))) => {
                // What is read elsewhere is not lost.
                let is_read = draft.change.iter().any(|change| change.reads(key));
                let is_fixed = matches!(draft.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)));
                is_read
                    || is_fixed
                    || self.family_of_drop(key) != Family::Other
                    || self.table.values_of(key).values >= THRESHOLDS.suggest.min_values
            }
            Change::Set { key, .. } => !key.is_query_text(),
            _ => true,
        })
    }

    /// The family of forgetting a key. The values of a session do not repeat themselves and are no words.
    fn family_of_drop(&self, key: &TokenKey) -> Family {
        match Family::of_drop(key) {
            Family::Session if !self.table.values_of(key).are_random => Family::Other,
            family => family,
        }
    }

    fn family_of_default(&self, key: &TokenKey, value: Option<&str>) -> Family {
        match Family::of_default(key, value) {
            Family::Session if !self.table.values_of(key).are_random => Family::Other,
            family => family,
        }
    }

    /// The least trusted family of the parts of an edit.
    fn family_of(&self, draft: &Draft) -> Family {
        let contexts = draft.when.values().filter_map(|test| match test {
            Test::Is(value) => value.as_text(),
            _ => None,
        });
        if !draft.when.is_empty() && contexts.clone().any(speaks_of_login) {
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
            Change::Path(parts) if is_without_index(parts, draft) => Family::Spelling,
            _ => Family::Other,
        };
        draft.change.iter().map(family).max().unwrap_or(Family::Other)
    }
}

/// Which of so many URLs are compared: each with the first, which most are like, and with the one before it.
fn compared(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..count).map(|at| (at, 0)).chain((2..count).map(|at| (at, at - 1)))
}

/// Whether a path is one to an index file, without that.
fn is_without_index(parts: &[PathPart], draft: &Draft) -> bool {
    let last = draft.when.get(&Spot::FromRight(0)).filter(|_| draft.when.len() == 1);
    parts == [PathPart::Segments { from: 0, but_last: 1 }]
        && matches!(last, Some(Test::Is(name)) if name.as_text().is_some_and(is_index))
}

/// The edit with the way of counting that most numbers agree on.
fn counting(draft: Draft, numbers: &[(i64, i64)]) -> Option<Draft> {
    let mut unique = numbers.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let mut votes: HashMap<(i64, i64), usize> = HashMap::default();
    for two in unique.windows(2) {
        let ((x1, y1), (x2, y2)) = (two[0], two[1]);
        if x1 != x2 && (y2 - y1) % (x2 - x1) == 0 {
            let times = (y2 - y1) / (x2 - x1);
            if times == 0 || times.abs() > THRESHOLDS.suggest.max_times {
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
    if distinct < 4 || (explained as f64) < THRESHOLDS.suggest.min_counted * numbers.len() as f64 {
        return None;
    }
    let count = Count { times, plus };
    let mut draft = draft;
    let set = |source: &mut Source| {
        if source.count == Some(UNCOUNTED) {
            source.count = Some(count);
        }
    };
    for change in &mut draft.change {
        match change {
            Change::Set { to, .. } => to.iter_mut().for_each(set),
            Change::Path(parts) => {
                for part in parts {
                    if let PathPart::Value { from, .. } = part {
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
        if count >= 2 && 10 * count >= 7 * total {
            table.push((x.into(), y.into()));
            support += count;
        }
    }
    // Values that mean the same have names of their own; many that become one were forgotten, not translated.
    let names: HashSet<&str> = table.iter().map(|(_, y)| &**y).collect();
    if table.len() < 3 || table.len() > 1000 || 10 * names.len() < 8 * table.len() {
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
