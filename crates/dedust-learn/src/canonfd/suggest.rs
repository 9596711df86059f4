/*!
Where rules come from: those that make sense on any site, and those that duplicates suggest by how they differ.
*/

use std::collections::BTreeSet;

use dedust::rules::{Area, Change, Mapped, PathPart, Spelling, Spot, Test, UrlPart};
use dedust::support::{Put, Taken};
use rayon::prelude::*;

use super::differ::{Differ, Suggestions, View};
use super::draft::{Draft, nothing_for};
use super::families::{Family, is_index, speaks_of_login};
use super::gather::{Gathered, most_suggested};
use super::search::{Candidate, Search};
use super::table::KeyValues;
use crate::thresholds;

impl Search<'_> {
    /// Rules that make sense on any site.
    pub(super) fn offered(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let mut offer = |change: Vec<Change>, family: Family| {
            candidates.push(Candidate {
                draft: Draft::everywhere(change),
                family,
                is_suspect: false,
                is_narrowed: false,
                limited: BTreeSet::new(),
            });
        };
        for key in self.table.keys() {
            let KeyValues { values, frequent, .. } = self.table.values_of(key);
            let value = |pair: u32| self.table.value_of(pair).clone();
            match key {
                UrlPart::Scheme => {
                    if let Some((first, others)) = frequent.split_first() {
                        let becomes = value(*first).as_text().map(Into::into);
                        for &pair in others {
                            let mapped = Mapped { is: value(pair), becomes: becomes.clone() };
                            offer(vec![Change::Map { of: key.clone(), values: vec![mapped] }], Family::Host);
                        }
                    }
                }
                UrlPart::Subdomain(_)
                | UrlPart::Port
                | UrlPart::TrailingSlash
                | UrlPart::PathParam(_)
                | UrlPart::QueryParam(_) => {
                    if *values == 0 {
                        continue;
                    }
                    // Values that were never seen are forgotten only if the key is known for it, or enough were seen.
                    let family = self.family_of_drop(key);
                    let is_enough = !matches!(family, Family::Other | Family::Relevant | Family::Host)
                        || *values >= thresholds::suggest::MIN_VALUES;
                    if is_enough || *key == UrlPart::TrailingSlash {
                        let whole = match key {
                            UrlPart::Subdomain(_) => Change::Forget(key.clone().into()),
                            _ => Change::Drop(key.clone().into()),
                        };
                        let family =
                            if matches!(key, UrlPart::Subdomain(_)) { Family::Other } else { family };
                        offer(vec![whole], family);
                    }
                    let frequent = frequent
                        .iter()
                        .filter(|&&pair| self.table.count(pair) >= thresholds::suggest::MIN_SUPPORT);
                    for &pair in frequent.take(thresholds::suggest::MAX_DEFAULTS) {
                        let family = self.family_of_default(key, value(pair).as_text());
                        offer(vec![nothing_for(key.clone(), value(pair))], family);
                    }
                }
                UrlPart::PathSegment(_) | UrlPart::QuerySeparator | UrlPart::Hashbang => {}
            }
        }
        // What is rare is proven together.
        let is_tracking =
            |key: &&UrlPart| self.table.values_of(key).rows > 0 && Family::of_drop(key) == Family::Tracking;
        let tracking: Vec<Change> = self
            .table
            .keys()
            .iter()
            .filter(is_tracking)
            .map(|key| Change::Drop(key.clone().into()))
            .collect();
        if tracking.len() > 1 {
            offer(tracking, Family::Tracking);
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
                    offer(vec![fold], family);
                }
            }
        }
        offer(vec![Change::Unrepeat], Family::Other);
        offer(vec![Change::UnrepeatParams], Family::Spelling);
        candidates
    }

    /// Rules that would join duplicates which are still apart, those that most clusters suggest first.
    pub(super) fn suggested(&self) -> Vec<Candidate> {
        let corpus = self.table.corpus();
        // Labels are numbered in no order that means anything, so the first are as good as any.
        let clusters: Vec<&[u32]> = (0..corpus.page_count() as u32)
            .map(|label| self.table.rows_with_label(label))
            .filter(|rows| rows.iter().any(|&row| self.table.form_id(row) != self.table.form_id(rows[0])))
            .take(thresholds::suggest::MAX_CLUSTERS)
            .collect();
        let members: Vec<Vec<u32>> = clusters.par_iter().map(|cluster| self.members_apart(cluster)).collect();
        let differ = Differ { table: &self.table };
        let mut gathered = Gathered::new(self.table.pair_count());
        let mut left = members.as_slice();
        while !left.is_empty() {
            let (together, after) = left.split_at(self.compared_at_once(left));
            left = after;
            let suggested: Vec<Suggestions> = together
                .par_iter()
                .flat_map_iter(|members| {
                    let views: Vec<View<'_>> =
                        members.iter().map(|&row| View::of(&self.table, row)).collect();
                    compared(views.len())
                        .map(|(a, b)| differ.compare(&views[a], &views[b]))
                        .collect::<Vec<_>>()
                })
                .collect();
            suggested.into_iter().for_each(|suggestions| gathered.add(suggestions));
        }
        let sound = gathered.finish().filter(|(draft, _)| self.is_sound(draft));
        let candidate = |draft| {
            let family = self.family_of(&draft);
            Candidate { draft, family, is_suspect: false, is_narrowed: false, limited: BTreeSet::new() }
        };
        most_suggested(sound).into_iter().map(candidate).collect()
    }

    /// How many of the first of these clusters are compared at a time: what their URLs suggest takes memory for each of their parts.
    fn compared_at_once(&self, clusters: &[Vec<u32>]) -> usize {
        let parts = |cluster: &[u32]| cluster.iter().map(|&row| self.table.row(row).len()).sum::<usize>();
        let mut sum = 0;
        let fitting = clusters.iter().take_while(|cluster| {
            sum += parts(cluster);
            sum <= thresholds::suggest::PARTS_AT_ONCE
        });
        fitting.count().max(1)
    }

    /// URLs of a cluster that have different forms, the shortest first.
    fn members_apart(&self, cluster: &[u32]) -> Vec<u32> {
        let corpus = self.table.corpus();
        let mut seen = Vec::with_capacity(thresholds::suggest::MEMBERS_PER_CLUSTER);
        let mut members = Vec::with_capacity(thresholds::suggest::MEMBERS_PER_CLUSTER);
        for &row in cluster {
            let form_id = self.table.form_id(row);
            if !seen.contains(&form_id) {
                seen.push(form_id);
                members.push(row);
                if members.len() == thresholds::suggest::MEMBERS_PER_CLUSTER {
                    break;
                }
            }
        }
        members.sort_by_key(|&row| (self.table.row(row).len(), corpus.url(row).len(), row));
        members
    }

    /// Whether a draft forgets only keys of which enough is known, and puts no text instead of a parameter, which rules cannot do.
    fn is_sound(&self, draft: &Draft) -> bool {
        let may_be_put = |change: &Change| {
            !change.facts().is_of_whole()
                && !matches!(change.facts().puts, Put::Value(key, _) if key.is_query_text())
        };
        draft.change.iter().all(|change| match change.facts().takes {
            Taken::Part(Spot::Key(key @ (UrlPart::QueryParam(_) | UrlPart::PathParam(_)))) => {
                // What is read elsewhere is not lost.
                let is_read = draft.change.iter().any(|change| change.reads(key));
                let is_fixed = matches!(draft.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)));
                is_read
                    || is_fixed
                    || self.family_of_drop(key) != Family::Other
                    || self.table.values_of(key).values >= thresholds::suggest::MIN_VALUES
            }
            Taken::Part(_) | Taken::Value(_) | Taken::Path | Taken::Values(..) => true,
            Taken::Nothing => may_be_put(change),
        })
    }

    /// The family of forgetting a key. The values of a session do not repeat themselves and are no words.
    fn family_of_drop(&self, key: &UrlPart) -> Family {
        match Family::of_drop(key) {
            Family::Session if !self.table.values_of(key).are_random => Family::Other,
            family => family,
        }
    }

    fn family_of_default(&self, key: &UrlPart, value: Option<&str>) -> Family {
        match Family::of_default(key, value) {
            Family::Session if !self.table.values_of(key).are_random => Family::Other,
            family => family,
        }
    }

    /// The least trusted family of the parts of a rule.
    fn family_of(&self, draft: &Draft) -> Family {
        let contexts = draft.when.values().filter_map(|test| match test {
            Test::Is(value) => value.as_text(),
            _ => None,
        });
        if !draft.when.is_empty() && contexts.clone().any(speaks_of_login) {
            return Family::Login;
        }
        let removes_index = |change: &Change| matches!(change.facts().puts, Put::Path(parts) if is_without_index(parts, draft));
        let family = |change: &Change| match change.facts().takes {
            Taken::Part(spot @ Spot::Key(key)) => match draft.when.get(spot) {
                Some(Test::Is(value)) => self.family_of_default(key, value.as_text()),
                _ => self.family_of_drop(key),
            },
            Taken::Values(of, values) => values
                .iter()
                .map(|mapped| match mapped.becomes {
                    None => self.family_of_default(of, mapped.is.as_text()),
                    Some(_) if *of == UrlPart::Scheme => Family::Host,
                    Some(_) => Family::Other,
                })
                .max()
                .unwrap_or(Family::Other),
            Taken::Nothing if removes_index(change) => Family::Spelling,
            Taken::Nothing | Taken::Part(_) | Taken::Value(_) | Taken::Path => Family::Other,
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
