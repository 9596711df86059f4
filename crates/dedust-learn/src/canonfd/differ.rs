/*!
How two URLs of one page differ, as rules that would make them the same.

Nothing here is believed: a difference between two URLs suggests rules, the more clusters suggest a rule the sooner it
is tried, and votes decide.
*/

mod path;
mod read;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust::rules::{Change, Count, Mapped, Source, Spot, Test, UrlPart, Value, ValueClass};

use self::read::number;
use super::draft::{Draft, nothing_for};
use super::table::Table;
use crate::thresholds::suggest;

/// A URL as the rules so far left it.
#[derive(Debug)]
pub(super) struct View<'t> {
    scheme: Option<u32>,
    labels: Vec<u32>,
    port: Option<u32>,
    pub(super) segments: Vec<(u32, &'t str)>,
    has_slash: bool,
    path_params: Vec<u32>,
    pub(super) params: Vec<u32>,
    others: Vec<u32>,
}

impl<'t> View<'t> {
    pub(super) fn of(table: &'t Table<'_>, row: u32) -> Self {
        let mut view = Self {
            scheme: None,
            labels: Vec::new(),
            port: None,
            segments: Vec::new(),
            has_slash: false,
            path_params: Vec::new(),
            params: Vec::new(),
            others: Vec::new(),
        };
        for &pair in table.row(row) {
            match table.key_of(pair) {
                UrlPart::Scheme => view.scheme = Some(pair),
                UrlPart::Subdomain(_) => view.labels.push(pair),
                UrlPart::Port => view.port = Some(pair),
                UrlPart::PathSegment(_) => {
                    view.segments.push((pair, table.value_of(pair).as_text().unwrap_or_default()));
                }
                UrlPart::TrailingSlash => view.has_slash = true,
                UrlPart::PathParam(_) => view.path_params.push(pair),
                UrlPart::QueryParam(_) => view.params.push(pair),
                UrlPart::QuerySeparator | UrlPart::Hashbang => view.others.push(pair),
            }
        }
        view.params.sort_unstable_by_key(|&pair| table.key_number(pair));
        view
    }

    /// Whether it has a parameter with that value.
    fn has_param(&self, table: &Table<'_>, pair: u32) -> bool {
        let at = self.params.binary_search_by_key(&table.key_number(pair), |&other| table.key_number(other));
        at.is_ok_and(|at| self.params[at] == pair)
    }

    fn texts(&self) -> Vec<&'t str> {
        self.segments.iter().map(|segment| segment.1).collect()
    }
}

/// A table of values that stand for values of another key, still to be filled.
pub(super) type Translation = (UrlPart, UrlPart);

/// What the differences of two URLs suggest.
#[derive(Debug, Default)]
pub(super) struct Suggestions {
    pub(super) drafts: Vec<Draft>,
    /// Rules that need a way of counting, with what is to be counted as what.
    pub(super) counted: Vec<(Draft, i64, i64)>,
    /// Values that may stand for those of another key.
    pub(super) translated: Vec<(Translation, Box<str>, Box<str>)>,
}

pub(super) struct Differ<'t, 'c> {
    pub(super) table: &'t Table<'c>,
}

/// Parameters of one URL that the other has not, or not with that value.
struct ParamDifference {
    ours: Vec<u32>,
    theirs: Vec<u32>,
    /// The same parameter with two values.
    changed: Vec<(u32, u32)>,
}

impl<'t> Differ<'t, '_> {
    /// What would make two URLs the same.
    pub(super) fn compare(&self, a: &View<'t>, b: &View<'t>) -> Suggestions {
        let mut found = Suggestions::default();
        if a.others != b.others {
            return found;
        }
        let Some(params) = self.param_difference(a, b) else { return found };
        let around = self.host_difference(a, b);
        if a.texts() == b.texts() {
            if a.has_slash != b.has_slash || a.path_params != b.path_params || around.len() < 2 {
                self.same_path(a, b, &params, &around, &mut found);
            }
        } else if around.is_empty() {
            self.other_path(a, b, &params, &mut found);
            self.other_path(b, a, &params.swapped(), &mut found);
        }
        self.in_context(a, b, &params, &around, &mut found);
        found
    }

    /// In which parameters two URLs differ; `None` if these are too many.
    fn param_difference(&self, a: &View<'_>, b: &View<'_>) -> Option<ParamDifference> {
        let mut difference = ParamDifference { ours: Vec::new(), theirs: Vec::new(), changed: Vec::new() };
        let (mut ours, mut theirs) = (a.params.iter().peekable(), b.params.iter().peekable());
        let key = |pair: Option<&&u32>| pair.map_or(u32::MAX, |pair| self.table.key_number(**pair));
        while ours.peek().is_some() || theirs.peek().is_some() {
            let ordering = key(ours.peek()).cmp(&key(theirs.peek()));
            let ours = if ordering.is_le() { ours.next() } else { None };
            let theirs = if ordering.is_ge() { theirs.next() } else { None };
            match (ours, theirs) {
                (Some(ours), Some(theirs)) if ours != theirs => difference.changed.push((*ours, *theirs)),
                (Some(ours), None) => difference.ours.push(*ours),
                (None, Some(theirs)) => difference.theirs.push(*theirs),
                _ => continue,
            }
            if difference.len() > suggest::MAX_PARAMS {
                return None;
            }
        }
        difference.ours.sort_unstable_by_key(|&pair| self.table.key_of(pair));
        difference.theirs.sort_unstable_by_key(|&pair| self.table.key_of(pair));
        difference.changed.sort_unstable_by_key(|&(pair, _)| self.table.key_of(pair));
        Some(difference)
    }

    /// Changes that would make scheme and host the same.
    fn host_difference(&self, a: &View<'_>, b: &View<'_>) -> Vec<Change> {
        let mut changes = Vec::new();
        if a.scheme != b.scheme
            && let (Some(ours), Some(theirs)) = (a.scheme, b.scheme)
        {
            changes.push(self.one_for_other(ours, theirs));
        }
        let depth = a.labels.len().max(b.labels.len());
        for index in 0..depth {
            match (a.labels.get(index), b.labels.get(index)) {
                (Some(ours), Some(theirs)) if ours != theirs => {
                    changes.push(self.one_for_other(*ours, *theirs))
                }
                (Some(&label), None) | (None, Some(&label)) => changes.push(self.nothing_for(label)),
                _ => {}
            }
        }
        if a.port != b.port {
            changes.push(Change::Drop(UrlPart::Port.into()));
        }
        changes
    }

    /// The rarer of two values is taken for the other.
    fn one_for_other(&self, a: u32, b: u32) -> Change {
        let rank = |pair: u32| (self.table.count(pair), Reverse(self.table.value_of(pair).clone()));
        let (rare, frequent) = if rank(a) < rank(b) { (a, b) } else { (b, a) };
        let becomes = self.table.value_of(frequent).as_text().map(Into::into);
        let is = self.table.value_of(rare).clone();
        Change::Map { of: self.table.key_of(rare).clone(), values: vec![Mapped { is, becomes }] }
    }

    fn nothing_for(&self, pair: u32) -> Change {
        nothing_for(self.table.key_of(pair).clone(), self.table.value_of(pair).clone())
    }

    fn drop_key(&self, pair: u32) -> Change {
        Change::Drop(self.table.key_of(pair).clone().into())
    }

    fn same_path(
        &self,
        a: &View<'_>,
        b: &View<'_>,
        params: &ParamDifference,
        around: &[Change],
        found: &mut Suggestions,
    ) {
        let mut fixed = around.to_vec();
        if a.has_slash != b.has_slash {
            fixed.push(Change::Drop(UrlPart::TrailingSlash.into()));
        }
        for &pair in a.path_params.iter().filter(|pair| !b.path_params.contains(pair)) {
            fixed.push(self.drop_key(pair));
        }
        for &pair in b.path_params.iter().filter(|pair| !a.path_params.contains(pair)) {
            fixed.push(self.drop_key(pair));
        }
        fixed.dedup();
        let extra: Vec<u32> = params.ours.iter().chain(&params.theirs).copied().collect();
        // Each value counts as none, or stands for the other; or else the whole keys do not matter.
        let is_one_sided = params.ours.is_empty() || params.theirs.is_empty();
        let values = fixed.iter().cloned().chain(extra.iter().map(|&pair| self.nothing_for(pair)));
        let values =
            values.chain(params.changed.iter().map(|&(ours, theirs)| self.one_for_other(ours, theirs)));
        if is_one_sided {
            found.drafts.push(Draft::everywhere(values.collect()));
        }
        if !extra.is_empty() || !params.changed.is_empty() {
            let mut keys: Vec<u32> = extra;
            keys.extend(params.changed.iter().map(|(ours, _)| *ours));
            let drops = fixed.iter().cloned().chain(keys.iter().map(|&pair| self.drop_key(pair)));
            found.drafts.push(Draft::everywhere(drops.collect()));
        }
        if fixed.is_empty() && params.changed.is_empty() {
            self.renamed(params, found);
            self.renamed(&params.swapped(), found);
        }
    }

    /// Parameters that say the same under other names.
    fn renamed(&self, params: &ParamDifference, found: &mut Suggestions) {
        if params.ours.is_empty() || params.ours.len() != params.theirs.len() {
            return;
        }
        let mut change = Vec::new();
        let mut left = params.theirs.clone();
        for &ours in &params.ours {
            let Some(at) =
                left.iter().position(|&theirs| self.table.value_of(theirs) == self.table.value_of(ours))
            else {
                break;
            };
            let theirs = left.remove(at);
            let from = self.table.key_of(ours).clone();
            change.push(Change::Set {
                key: self.table.key_of(theirs).clone(),
                to: vec![Source::of(from.clone().into())],
            });
            change.push(Change::Drop(from.into()));
        }
        if left.is_empty() {
            let present = params.ours.iter().map(|&pair| any(self.table.key_of(pair).clone().into()));
            found.drafts.push(Draft { when: present.collect(), change, ..Draft::default() });
            return;
        }
        let ([ours], [theirs]) = (params.ours.as_slice(), params.theirs.as_slice()) else { return };
        let (from, to) = (self.table.key_of(*ours).clone(), self.table.key_of(*theirs).clone());
        let (Some(x), Some(y)) =
            (self.table.value_of(*ours).as_text(), self.table.value_of(*theirs).as_text())
        else {
            return;
        };
        let source = |source: Source| Draft {
            when: BTreeMap::from([any(from.clone().into())]),
            change: vec![
                Change::Set { key: to.clone(), to: vec![source] },
                Change::Drop(from.clone().into()),
            ],
            ..Draft::default()
        };
        if let (Some(x), Some(y)) = (number(x), number(y)) {
            let uncounted = Source { count: Some(UNCOUNTED), ..Source::of(from.clone().into()) };
            found.counted.push((source(uncounted), x, y));
        }
        found.translated.push(((from.clone(), to.clone()), x.into(), y.into()));
    }

    /// Where one thing is true of a URL, other parts of it do not matter.
    fn in_context(
        &self,
        a: &View<'t>,
        b: &View<'t>,
        params: &ParamDifference,
        around: &[Change],
        found: &mut Suggestions,
    ) {
        if around.iter().any(|change| !matches!(change, Change::Map { .. })) {
            return;
        }
        let keys =
            params.ours.iter().chain(&params.theirs).chain(params.changed.iter().map(|(ours, _)| ours));
        let mut change: Vec<Change> = keys.map(|&pair| self.drop_key(pair)).collect();
        if a.texts() != b.texts() || a.has_slash != b.has_slash {
            change.insert(0, Change::ForgetPath);
        }
        change.extend(around.iter().cloned());
        if change.is_empty() {
            return;
        }
        let forgets_path = change[0] == Change::ForgetPath;
        let mut are_shared: Vec<u32> =
            a.params.iter().copied().filter(|&pair| b.has_param(self.table, pair)).collect();
        are_shared.sort_unstable_by_key(|&pair| (Reverse(self.table.count(pair)), pair));
        are_shared.truncate(suggest::MAX_PARAMS);
        let shared = are_shared.iter().filter(|pair| self.is_context(**pair));
        for &pair in shared.clone() {
            let spot = Spot::Key(self.table.key_of(pair).clone());
            found.drafts.push(Draft {
                when: BTreeMap::from([(spot, Test::Is(self.table.value_of(pair).clone()))]),
                change: change.clone(),
                ..Draft::default()
            });
        }
        // The name of the page alone, not the folders it is in.
        let (ours, theirs) = (a.texts(), b.texts());
        if forgets_path
            && let (Some((_, ours)), Some((_, theirs))) = (ours.split_last(), theirs.split_last())
            && ours == theirs
        {
            let mut name_only = change.clone();
            name_only[0] = Change::Forget(Spot::FromRight(0));
            for &pair in shared {
                let spot = Spot::Key(self.table.key_of(pair).clone());
                found.drafts.push(Draft {
                    when: BTreeMap::from([(spot, Test::Is(self.table.value_of(pair).clone()))]),
                    change: name_only.clone(),
                    ..Draft::default()
                });
            }
        }
        // A parameter that is there, whatever it says.
        if forgets_path && change.len() == 1 {
            for &pair in &are_shared {
                let spot = Spot::Key(self.table.key_of(pair).clone());
                found.drafts.push(Draft {
                    when: BTreeMap::from([any(spot)]),
                    change: change.clone(),
                    ..Draft::default()
                });
            }
        }
        if !forgets_path {
            for index in [0, 1] {
                let (Some(x), Some(y)) = (a.segments.get(index), b.segments.get(index)) else { continue };
                if x == y && self.is_context(x.0) {
                    found.drafts.push(Draft {
                        when: BTreeMap::from([is_at(index, x.1)]),
                        change: change.clone(),
                        ..Draft::default()
                    });
                }
            }
        }
    }

    /// Whether a pair may be what a rule depends on.
    pub(super) fn is_context(&self, pair: u32) -> bool {
        let can_be = matches!(
            self.table.key_of(pair),
            UrlPart::QueryParam(_) | UrlPart::PathSegment(_) | UrlPart::Subdomain(_)
        );
        can_be && self.table.count(pair) >= suggest::MIN_CONTEXT_ROWS
    }

    fn is_frequent(&self, pair: u32) -> bool {
        self.table.count(pair) >= suggest::MIN_SEGMENT_ROWS
    }

    /// Whether a segment is part of how the site is built, rather than the name of a page.
    pub(super) fn is_constant(&self, pair: u32) -> bool {
        let text = self.table.value_of(pair).as_text().unwrap_or_default();
        let (count, all) = (self.table.count(pair), self.table.corpus().len());
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let one_in = if has_digit { suggest::CONSTANT_ONE_IN } else { suggest::CONSTANT_WORD_ONE_IN };
        !is_number && count >= suggest::MIN_CONSTANT_ROWS && one_in * count >= all
    }

    /// What is the same in all URLs built like this one.
    fn template(&self, view: &View<'_>) -> BTreeMap<Spot, Test> {
        let constant = view.segments.iter().enumerate().filter(|(_, segment)| self.is_constant(segment.0));
        let mut when: BTreeMap<Spot, Test> =
            constant.map(|(index, segment)| is_at(index, segment.1)).collect();
        let depth = view.segments.len();
        when.insert(Spot::Key(UrlPart::PathSegment(depth as u16)), Test::Absent);
        if depth > 0 && !self.is_constant(view.segments[depth - 1].0) {
            when.extend([any(Spot::Key(UrlPart::PathSegment(depth as u16 - 1)))]);
        }
        when
    }

    /// This path and no other.
    fn whole_path(&self, view: &View<'_>) -> BTreeMap<Spot, Test> {
        let segments = view.segments.iter().enumerate();
        let mut when: BTreeMap<Spot, Test> =
            segments.map(|(index, segment)| is_at(index, segment.1)).collect();
        when.insert(Spot::Key(UrlPart::PathSegment(view.segments.len() as u16)), Test::Absent);
        when
    }
}

impl ParamDifference {
    fn len(&self) -> usize {
        self.ours.len() + self.theirs.len() + self.changed.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn swapped(&self) -> Self {
        Self {
            ours: self.theirs.clone(),
            theirs: self.ours.clone(),
            changed: self.changed.iter().map(|&(ours, theirs)| (theirs, ours)).collect(),
        }
    }
}

/// Stands for a way of counting that is still to be found.
pub(super) const UNCOUNTED: Count = Count { times: 0, plus: 0 };

fn any(spot: Spot) -> (Spot, Test) {
    (spot, Test::Any(ValueClass::Text.into()))
}

fn is_at(index: usize, text: &str) -> (Spot, Test) {
    (Spot::Key(UrlPart::PathSegment(index as u16)), Test::Is(Value::from(text)))
}

fn is_last(index: usize, text: &str) -> (Spot, Test) {
    (Spot::FromRight(index as u16), Test::Is(Value::from(text)))
}
