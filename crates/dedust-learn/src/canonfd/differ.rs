/*!
How two URLs of one page differ, as edits that would make them the same.

Nothing here is believed: a difference between two URLs suggests edits, the more clusters suggest an edit the sooner it
is tried, and votes decide.
*/

use std::collections::BTreeMap;

use dedust::{
    Area, Atom, Change, Count, Mapped, PathPart, Source, Spelling, Spot, Test, TokenKey, Value, ValueClass,
    extension,
};

use super::draft::Draft;
use super::table::Table;

/// Parameters in which two URLs may differ for their difference to suggest anything.
const MAX_PARAMS: usize = 8;
/// Segments in which they may.
const MAX_SEGMENTS: usize = 6;

/// A URL as the edits so far left it.
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
                TokenKey::Scheme => view.scheme = Some(pair),
                TokenKey::Subdomain(_) => view.labels.push(pair),
                TokenKey::Port => view.port = Some(pair),
                TokenKey::PathSegment(_) => {
                    view.segments.push((pair, table.value_of(pair).as_text().unwrap_or_default()));
                }
                TokenKey::TrailingSlash => view.has_slash = true,
                TokenKey::PathParam(_) => view.path_params.push(pair),
                TokenKey::QueryParam(_) => view.params.push(pair),
                TokenKey::QuerySeparator | TokenKey::Hashbang => view.others.push(pair),
            }
        }
        view.params.sort_unstable_by_key(|&pair| table.key_of(pair));
        view
    }

    fn texts(&self) -> Vec<&'t str> {
        self.segments.iter().map(|segment| segment.1).collect()
    }
}

/// A table of values that stand for values of another key, still to be filled.
pub(super) type Translation = (TokenKey, TokenKey);

/// What the differences of two URLs suggest.
#[derive(Debug, Default)]
pub(super) struct Suggestions {
    pub(super) drafts: Vec<Draft>,
    /// Edits that need a way of counting, with what is to be counted as what.
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
        let params = self.param_difference(a, b);
        if params.ours.len() + params.theirs.len() + params.changed.len() > MAX_PARAMS {
            return found;
        }
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

    fn param_difference(&self, a: &View<'_>, b: &View<'_>) -> ParamDifference {
        let mut difference = ParamDifference { ours: Vec::new(), theirs: Vec::new(), changed: Vec::new() };
        let find = |view: &View<'_>, pair: u32| {
            view.params.iter().copied().find(|&other| self.table.key_of(other) == self.table.key_of(pair))
        };
        for &pair in &a.params {
            match find(b, pair) {
                None => difference.ours.push(pair),
                Some(other) if other != pair => difference.changed.push((pair, other)),
                Some(_) => {}
            }
        }
        difference.theirs = b.params.iter().copied().filter(|&pair| find(a, pair).is_none()).collect();
        difference
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
            changes.push(Change::Drop(TokenKey::Port.into()));
        }
        changes
    }

    /// The rarer of two values is taken for the other.
    fn one_for_other(&self, a: u32, b: u32) -> Change {
        let rank = |pair: u32| (self.table.count(pair), std::cmp::Reverse(self.table.value_of(pair).clone()));
        let (rare, frequent) = if rank(a) < rank(b) { (a, b) } else { (b, a) };
        let becomes = self.table.value_of(frequent).as_text().map(Into::into);
        let is = self.table.value_of(rare).clone();
        Change::Map { of: self.table.key_of(rare).clone(), values: vec![Mapped { is, becomes }] }
    }

    fn nothing_for(&self, pair: u32) -> Change {
        let is = self.table.value_of(pair).clone();
        Change::Map { of: self.table.key_of(pair).clone(), values: vec![Mapped { is, becomes: None }] }
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
            fixed.push(Change::Drop(TokenKey::TrailingSlash.into()));
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
            found.drafts.push(Draft { when: present.collect(), change });
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
        };
        if let (Some(x), Some(y)) = (number(x), number(y)) {
            let uncounted = Source { count: Some(UNCOUNTED), ..Source::of(from.clone().into()) };
            found.counted.push((source(uncounted), x, y));
        }
        found.translated.push(((from.clone(), to.clone()), x.into(), y.into()));
    }

    /// What would turn `a` into `b`, whose path is another.
    fn other_path(&self, a: &View<'t>, b: &View<'t>, params: &ParamDifference, found: &mut Suggestions) {
        let (ours, theirs) = (a.texts(), b.texts());
        let start = ours.iter().zip(&theirs).take_while(|(x, y)| x == y).count();
        let longest = ours.len().min(theirs.len()) - start;
        let end = (0..longest)
            .take_while(|&index| ours[ours.len() - 1 - index] == theirs[theirs.len() - 1 - index])
            .count();
        let (x, y) = (&ours[start..ours.len() - end], &theirs[start..theirs.len() - end]);
        let same_params = params.is_empty();
        if same_params && x.len() <= MAX_SEGMENTS && y.len() <= MAX_SEGMENTS {
            self.spliced(a, b, start, end, found);
        }
        if params.changed.is_empty() && a.path_params.is_empty() && b.path_params.is_empty() {
            self.moved(a, b, params, found);
            self.derived(a, b, params, found);
        }
    }

    /// Segments that stand for others, or for nothing.
    fn spliced(&self, a: &View<'t>, b: &View<'t>, start: usize, end: usize, found: &mut Suggestions) {
        let (ours, theirs) = (a.texts(), b.texts());
        let (x, y) = (&ours[start..ours.len() - end], &theirs[start..theirs.len() - end]);
        let is_shorter = (y.len(), y) < (x.len(), x);
        let known = a.segments[start..ours.len() - end].iter().all(|segment| self.is_frequent(segment.0));
        if known && (is_shorter || x.len() == y.len()) && !x.is_empty() {
            let texts = || y.iter().map(|text| PathPart::Text((*text).into()));
            if y.iter().all(|text| is_plain(text)) {
                // Counted from the left, ...
                let mut path = first(start);
                path.extend(texts());
                path.push(PathPart::Segments { from: (start + x.len()) as u16, but_last: 0 });
                let when = x.iter().enumerate().map(|(index, text)| is_at(start + index, text));
                found.drafts.push(Draft { when: when.collect(), change: vec![Change::Path(path)] });
                // ... and from the right.
                let mut path = vec![PathPart::Segments { from: 0, but_last: (end + x.len()) as u16 }];
                path.extend(texts());
                if end > 0 {
                    path.push(PathPart::Last(end as u16));
                }
                let when = x.iter().rev().enumerate().map(|(index, text)| is_last(end + index, text));
                found.drafts.push(Draft { when: when.collect(), change: vec![Change::Path(path)] });
            }
        }
        // A segment between fixed texts, whatever it says: `(S(9f3e))`.
        if let ([segment], []) = (x, y)
            && let Some(class) = framed(segment)
        {
            let spot = Spot::Key(TokenKey::PathSegment(start as u16));
            found.drafts.push(Draft {
                when: BTreeMap::from([(spot.clone(), Test::Any(class))]),
                change: vec![Change::Drop(spot)],
            });
        }
        // The same name with another extension.
        if let ([x], [y], 0) = (x, y, end) {
            self.other_extension(x, y, found);
        }
        let template = self.template(a);
        if ours.len() == theirs.len() {
            // Segments that do not matter, given the rest.
            let differing: Vec<usize> =
                (0..ours.len()).filter(|&index| ours[index] != theirs[index]).collect();
            let spots = differing.iter().map(|&index| Spot::Key(TokenKey::PathSegment(index as u16)));
            let mut when = template.clone();
            spots.clone().for_each(|spot| drop(when.remove(&spot)));
            found.drafts.push(Draft { when: when.clone(), change: spots.map(Change::Forget).collect() });
            // Only the number in a segment matters.
            if let [index] = differing.as_slice() {
                for part in [Atom::DigitsFromRight(0), Atom::Digits(0)] {
                    let number = |text: &'t str| part.of(text.as_bytes());
                    if number(ours[*index]).is_some() && number(ours[*index]) == number(theirs[*index]) {
                        let spot = Spot::Key(TokenKey::PathSegment(*index as u16));
                        let from = Source { part: Some(part), ..Source::of(spot) };
                        let mut path = first(*index);
                        path.push(PathPart::Value { from, split: None });
                        path.push(PathPart::Segments { from: *index as u16 + 1, but_last: 0 });
                        found.drafts.push(Draft { when: when.clone(), change: vec![Change::Path(path)] });
                    }
                }
            }
        }
        // Only how the path starts and ends matters.
        if end > 0 && end <= 3 && !x.is_empty() {
            let is_constant = |index: usize| self.is_constant(a.segments[index].0);
            let fixed = (0..start).rev().find(|&index| !is_constant(index)).map_or(0, |index| index + 1);
            if fixed == 0 || start - fixed == 0 {
                let mut when: BTreeMap<Spot, Test> =
                    (0..start).map(|index| is_at(index, ours[index])).collect();
                let tail = ours.len() - end;
                if end > 1 && is_constant(tail) {
                    when.extend([is_last(end - 1, ours[tail])]);
                }
                if start == 0 || is_constant(start - 1) {
                    let mut path = first(start);
                    path.push(PathPart::Last(end as u16));
                    when.insert(Spot::FromRight((start + end) as u16 - 1), Test::Any(ValueClass::Text));
                    found.drafts.push(Draft { when, change: vec![Change::Path(path)] });
                }
            }
        }
    }

    fn other_extension(&self, x: &str, y: &str, found: &mut Suggestions) {
        let Some(ours) = extension(x) else { return };
        let stem = &x[..x.len() - ours.len() - 1];
        let theirs = if y == stem { "" } else { extension(y).unwrap_or_default() };
        let is_same = y == stem || (!theirs.is_empty() && y[..y.len() - theirs.len() - 1] == *stem);
        if !is_same || (theirs.len(), theirs) >= (ours.len(), ours) && !theirs.is_empty() && theirs != "html"
        {
            return;
        }
        if ours == "html" && !theirs.is_empty() {
            return;
        }
        let suffix = if theirs.is_empty() { String::new() } else { format!(".{theirs}") };
        let from = Source { part: Some(Atom::Stem), suffix: suffix.into(), ..Source::of(Spot::FromRight(0)) };
        found.drafts.push(Draft {
            when: BTreeMap::from([(Spot::FromRight(0), Test::Any(ValueClass::File(ours.into())))]),
            change: vec![Change::Path(vec![
                PathPart::Segments { from: 0, but_last: 1 },
                PathPart::Value { from, split: None },
            ])],
        });
    }

    /// A parameter whose value is a piece of the other's path: `/index.php?title=X` and `/wiki/X`.
    fn moved(&self, a: &View<'t>, b: &View<'t>, params: &ParamDifference, found: &mut Suggestions) {
        let theirs = b.texts();
        for &param in &params.ours {
            let Some(value) = self.table.value_of(param).as_text() else { continue };
            if value.len() < 2 || !a.segments.iter().all(|segment| self.is_frequent(segment.0)) {
                continue;
            }
            // The other parameters have their defaults, or are in the way.
            let rest = params.ours.iter().filter(|&&other| other != param);
            for (split, folds) in spellings() {
                let folded = fold(value, &folds);
                let pieces: Vec<&str> = folded.split(|c| c == '/' || Some(c) == split).collect();
                let Some(at) = theirs.windows(pieces.len()).rposition(|window| window == pieces.as_slice())
                else {
                    continue;
                };
                let (before, after) = (&theirs[..at], &theirs[at + pieces.len()..]);
                if !before.iter().chain(after).all(|text| is_plain(text)) || before.len() + after.len() > 3 {
                    continue;
                }
                // Letters between two parts of the value say where it is split; without any, both readings do.
                if split.is_some_and(|split| !folded.contains(split)) && pieces.len() > 1 {
                    continue;
                }
                let key = self.table.key_of(param).clone();
                let mut when = self.whole_path(a);
                when.extend([any(key.clone().into())]);
                let mut change: Vec<Change> =
                    folds.iter().map(|&to| Change::Fold { of: Area::Key(key.clone()), to }).collect();
                let mut path: Vec<PathPart> =
                    before.iter().map(|text| PathPart::Text((*text).into())).collect();
                path.push(PathPart::Value { from: Source::of(key.clone().into()), split });
                path.extend(after.iter().map(|text| PathPart::Text((*text).into())));
                change.push(Change::Path(path));
                change.push(Change::Drop(key.into()));
                for &other in rest.clone() {
                    when.insert(
                        self.table.key_of(other).clone().into(),
                        Test::Is(self.table.value_of(other).clone()),
                    );
                    change.push(self.drop_key(other));
                }
                for &other in &params.theirs {
                    let Some(text) = self.table.value_of(other).as_text() else { return };
                    change.push(Change::Set {
                        key: self.table.key_of(other).clone(),
                        to: vec![Source::text(text)],
                    });
                }
                found.drafts.push(Draft { when, change });
            }
        }
        if params.is_empty() {
            self.taken_apart(a, b, found);
        }
    }

    /// A segment whose parts are segments of the other: `/doku.php/a:b` and `/a/b`.
    fn taken_apart(&self, a: &View<'t>, b: &View<'t>, found: &mut Suggestions) {
        let Some((last, before)) = a.segments.split_last() else { return };
        if !last.1.contains(':') || !before.iter().all(|segment| self.is_frequent(segment.0)) {
            return;
        }
        let pieces: Vec<&str> = last.1.split(':').collect();
        let theirs = b.texts();
        let Some(head) = theirs.strip_suffix(pieces.as_slice()) else { return };
        if head.len() > 3 || !head.iter().all(|text| is_plain(text)) {
            return;
        }
        let spot = Spot::Key(TokenKey::PathSegment(before.len() as u16));
        let mut when: BTreeMap<Spot, Test> =
            before.iter().enumerate().map(|(index, segment)| is_at(index, segment.1)).collect();
        when.insert(Spot::Key(TokenKey::PathSegment(a.segments.len() as u16)), Test::Absent);
        let mut path: Vec<PathPart> = head.iter().map(|text| PathPart::Text((*text).into())).collect();
        path.push(PathPart::Value { from: Source::of(spot), split: Some(':') });
        found.drafts.push(Draft { when, change: vec![Change::Path(path)] });
    }

    /// Every part of `b` from parts of `a`: numbers inside names, parameters for segments.
    fn derived(&self, a: &View<'t>, b: &View<'t>, params: &ParamDifference, found: &mut Suggestions) {
        if b.segments.len() > MAX_SEGMENTS || a.segments.len() > MAX_SEGMENTS || params.ours.len() > 2 {
            return;
        }
        // What may be read: segments that vary, and parameters that the other lacks.
        let mut sources: Vec<(Spot, &str)> = Vec::new();
        for (index, segment) in a.segments.iter().enumerate() {
            if !self.is_constant(segment.0) {
                sources.push((Spot::Key(TokenKey::PathSegment(index as u16)), segment.1));
            }
        }
        for &param in &params.ours {
            let Some(text) = self.table.value_of(param).as_text() else { return };
            sources.push((self.table.key_of(param).clone().into(), text));
        }
        let mut counted: Option<(i64, i64)> = None;
        let mut read = 0usize;
        let mut derive = |text: &str, is_constant: bool| -> Option<Source> {
            let source = from_value(&sources, text);
            if source.is_none() && is_constant {
                return Some(Source::text(text));
            }
            let source = source.or_else(|| from_digits(&sources, text)).or_else(|| {
                let (y, spot, x) = uncounted(&sources, text)?;
                if counted.replace((x, y)).is_some() {
                    return None;
                }
                Some(Source { count: Some(UNCOUNTED), ..spot })
            })?;
            read += 1;
            Some(source)
        };
        let mut path = Vec::new();
        for segment in &b.segments {
            let Some(from) = derive(segment.1, self.is_constant(segment.0)) else { return };
            path.push(match from {
                Source { of: None, prefix, .. } if is_plain(&prefix) => PathPart::Text(prefix),
                Source { of: None, .. } => return,
                from => PathPart::Value { from, split: None },
            });
        }
        let mut change = vec![Change::Path(path)];
        let mut sets = Vec::new();
        for &param in &params.theirs {
            let Some(text) = self.table.value_of(param).as_text() else { return };
            let to = match derive(text, false) {
                Some(source) => vec![source],
                None => match joined(&sources, text) {
                    Some(sources) => sources,
                    None => return,
                },
            };
            sets.push(Change::Set { key: self.table.key_of(param).clone(), to });
        }
        let is_read = read > 0 || !sets.is_empty();
        // Parameters are read before the path they may come from is changed.
        change.splice(0..0, sets);
        if !is_read {
            return;
        }
        let mut when = self.template(a);
        for &param in &params.ours {
            let key = self.table.key_of(param);
            let spot = Spot::Key(key.clone());
            // What is not read is dropped only where it says just this.
            if change.iter().any(|change| change.reads(key)) {
                when.extend([any(spot)]);
            } else {
                when.insert(spot, Test::Is(self.table.value_of(param).clone()));
            }
            change.push(self.drop_key(param));
        }
        // Nothing between two slashes is nothing to forget.
        when.extend(
            a.segments
                .iter()
                .enumerate()
                .filter(|(_, segment)| segment.1.is_empty())
                .map(|(index, _)| is_at(index, "")),
        );
        if a.has_slash && !b.has_slash {
            change.push(Change::Drop(TokenKey::TrailingSlash.into()));
        }
        let draft = Draft { when, change };
        match counted {
            Some((x, y)) => found.counted.push((draft, x, y)),
            None => found.drafts.push(draft),
        }
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
        let shared = a.params.iter().filter(|pair| b.params.contains(pair) && self.is_context(**pair));
        for &pair in shared.clone() {
            let spot = Spot::Key(self.table.key_of(pair).clone());
            found.drafts.push(Draft {
                when: BTreeMap::from([(spot, Test::Is(self.table.value_of(pair).clone()))]),
                change: change.clone(),
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
                });
            }
        }
        // A parameter that is there, whatever it says.
        if forgets_path && change.len() == 1 {
            for &pair in a.params.iter().filter(|pair| b.params.contains(pair)) {
                let spot = Spot::Key(self.table.key_of(pair).clone());
                found.drafts.push(Draft { when: BTreeMap::from([any(spot)]), change: change.clone() });
            }
        }
        if !forgets_path {
            for index in [0, 1] {
                let (Some(x), Some(y)) = (a.segments.get(index), b.segments.get(index)) else { continue };
                if x == y && self.is_context(x.0) {
                    found
                        .drafts
                        .push(Draft { when: BTreeMap::from([is_at(index, x.1)]), change: change.clone() });
                }
            }
        }
    }

    /// Whether a pair may be what an edit depends on.
    pub(super) fn is_context(&self, pair: u32) -> bool {
        let can_be = matches!(
            self.table.key_of(pair),
            TokenKey::QueryParam(_) | TokenKey::PathSegment(_) | TokenKey::Subdomain(_)
        );
        can_be && self.table.count(pair) >= 10
    }

    fn is_frequent(&self, pair: u32) -> bool {
        self.table.count(pair) >= 3
    }

    /// Whether a segment is part of how the site is built, rather than the name of a page.
    fn is_constant(&self, pair: u32) -> bool {
        let text = self.table.value_of(pair).as_text().unwrap_or_default();
        let (count, all) = (self.table.count(pair), self.table.corpus().len());
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        !is_number && count >= 5 && (20 * count >= all || (200 * count >= all && !has_digit))
    }

    /// What is the same in all URLs built like this one.
    fn template(&self, view: &View<'_>) -> BTreeMap<Spot, Test> {
        let constant = view.segments.iter().enumerate().filter(|(_, segment)| self.is_constant(segment.0));
        let mut when: BTreeMap<Spot, Test> =
            constant.map(|(index, segment)| is_at(index, segment.1)).collect();
        let depth = view.segments.len();
        when.insert(Spot::Key(TokenKey::PathSegment(depth as u16)), Test::Absent);
        if depth > 0 && !self.is_constant(view.segments[depth - 1].0) {
            when.extend([any(Spot::Key(TokenKey::PathSegment(depth as u16 - 1)))]);
        }
        when
    }

    /// This path and no other.
    fn whole_path(&self, view: &View<'_>) -> BTreeMap<Spot, Test> {
        let segments = view.segments.iter().enumerate();
        let mut when: BTreeMap<Spot, Test> =
            segments.map(|(index, segment)| is_at(index, segment.1)).collect();
        when.insert(Spot::Key(TokenKey::PathSegment(view.segments.len() as u16)), Test::Absent);
        when
    }
}

impl ParamDifference {
    fn is_empty(&self) -> bool {
        self.ours.is_empty() && self.theirs.is_empty() && self.changed.is_empty()
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
    (spot, Test::Any(ValueClass::Text))
}

fn is_at(index: usize, text: &str) -> (Spot, Test) {
    (Spot::Key(TokenKey::PathSegment(index as u16)), Test::Is(Value::from(text)))
}

fn is_last(index: usize, text: &str) -> (Spot, Test) {
    (Spot::FromRight(index as u16), Test::Is(Value::from(text)))
}

/// The segments before this one, if there are any.
fn first(count: usize) -> Vec<PathPart> {
    if count > 0 { vec![PathPart::First(count as u16)] } else { Vec::new() }
}

/// Whether a rule may write a segment.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$'()*+,=:@%".contains(&byte);
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_plain)
}

fn number(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number && (text == "0" || !text.starts_with('0')))
}

/// `(S(9f3e))` is anything between `(S(` and `))`.
fn framed(text: &str) -> Option<ValueClass> {
    let is_frame = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_' && c != '.' && c != '%';
    let suffix = text.len() - text.trim_end_matches(is_frame).len();
    let first = text.find(is_frame)?;
    let prefix = first + text[first..].len()
        - text[first..].trim_start_matches(|c: char| is_frame(c) || c.is_ascii_uppercase()).len();
    if suffix == 0 || prefix == 0 || prefix + suffix >= text.len() || prefix > 8 {
        return None;
    }
    Some(ValueClass::Framed {
        prefix: text[..prefix].into(),
        class: Box::new(ValueClass::Word),
        suffix: text[text.len() - suffix..].into(),
    })
}

/// A value that is another as it is.
fn from_value(sources: &[(Spot, &str)], text: &str) -> Option<Source> {
    let (spot, _) = sources.iter().find(|(_, value)| *value == text)?;
    Some(Source::of(spot.clone()))
}

/// A value that is a number in another, perhaps between fixed texts.
fn from_digits(sources: &[(Spot, &str)], text: &str) -> Option<Source> {
    let runs: Vec<&[u8]> = text
        .as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .filter(|run| run[0].is_ascii_digit())
        .collect();
    let [digits] = runs.as_slice() else { return None };
    let at = digits.as_ptr() as usize - text.as_ptr() as usize;
    let (prefix, suffix) = (&text[..at], &text[at + digits.len()..]);
    if prefix.len() + suffix.len() > 24 {
        return None;
    }
    for (spot, value) in sources {
        for part in [Atom::DigitsFromRight(0), Atom::Digits(0)] {
            if part.of(value.as_bytes()) == Some(*digits) {
                let is_whole = value.len() == digits.len();
                return Some(Source {
                    prefix: prefix.into(),
                    part: (!is_whole).then_some(part),
                    suffix: suffix.into(),
                    ..Source::of(spot.clone())
                });
            }
        }
    }
    None
}

/// A number that may be another one, counted in another way.
fn uncounted(sources: &[(Spot, &str)], text: &str) -> Option<(i64, Source, i64)> {
    let y = number(text)?;
    let mut numbers = sources.iter().filter_map(|(spot, value)| Some((spot, number(value)?)));
    let (spot, x) = numbers.next()?;
    numbers.next().is_none().then(|| (y, Source::of(spot.clone()), x))
}

/// A number that is several one after the other, such as a date.
fn joined(sources: &[(Spot, &str)], text: &str) -> Option<Vec<Source>> {
    let mut parts = Vec::new();
    let mut rest = text;
    for (spot, value) in sources {
        if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        rest = rest.strip_prefix(value)?;
        parts.push(Source::of(spot.clone()));
    }
    (rest.is_empty() && parts.len() > 1).then_some(parts)
}

/// Ways in which a value may be spelled as a path.
fn spellings() -> Vec<(Option<char>, Vec<Spelling>)> {
    use Spelling::{Underscored, Unescaped};
    vec![
        (None, vec![]),
        (None, vec![Unescaped]),
        (None, vec![Unescaped, Underscored]),
        (Some(':'), vec![]),
        (Some(':'), vec![Unescaped]),
        (Some(':'), vec![Unescaped, Underscored]),
    ]
}

/// The value in another spelling, as a parameter.
fn fold(value: &str, folds: &[Spelling]) -> String {
    let key = TokenKey::query("v");
    let mut form = dedust::Form::default();
    form.read_pairs([(&key, Some(value.as_bytes()))].into_iter());
    let edit = dedust::Edit {
        when: BTreeMap::new(),
        change: folds.iter().map(|&to| Change::Fold { of: Area::Params, to }).collect(),
        fetchable: false,
        evidence: dedust::Evidence::default(),
    };
    form.apply(&edit);
    let mut folded = String::new();
    form.pairs(|key, value| {
        if matches!(key, dedust::RawKey::QueryParam(_)) {
            folded = value.map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
        }
    });
    folded
}
