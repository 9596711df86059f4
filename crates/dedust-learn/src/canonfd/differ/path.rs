/*!
How two URLs of one page differ in their paths.
*/

use std::collections::BTreeMap;

use dedust::rules::{Area, Atom, Change, PathPart, Source, Spelling, Spot, Test, UrlPart, ValueClass};
use dedust::support::extension;

use super::read::{from_digits, from_value, joined, uncounted};
use super::{Differ, ParamDifference, Suggestions, UNCOUNTED, View, any, is_at, is_last};
use crate::canonfd::draft::Draft;
use crate::thresholds::suggest;

impl<'t> Differ<'t, '_> {
    /// What would turn `a` into `b`, whose path is another.
    pub(super) fn other_path(
        &self,
        a: &View<'t>,
        b: &View<'t>,
        params: &ParamDifference,
        found: &mut Suggestions,
    ) {
        let (ours, theirs) = (a.texts(), b.texts());
        let start = ours.iter().zip(&theirs).take_while(|(x, y)| x == y).count();
        let longest = ours.len().min(theirs.len()) - start;
        let end = (0..longest)
            .take_while(|&index| ours[ours.len() - 1 - index] == theirs[theirs.len() - 1 - index])
            .count();
        let (x, y) = (&ours[start..ours.len() - end], &theirs[start..theirs.len() - end]);
        let same_params = params.is_empty();
        if same_params && x.len() <= suggest::MAX_SEGMENTS && y.len() <= suggest::MAX_SEGMENTS {
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
                found.drafts.push(Draft {
                    when: when.collect(),
                    change: vec![Change::Path(path)],
                    ..Draft::default()
                });
                // ... and from the right.
                let mut path = vec![PathPart::Segments { from: 0, but_last: (end + x.len()) as u16 }];
                path.extend(texts());
                if end > 0 {
                    path.push(PathPart::Last(end as u16));
                }
                let when = x.iter().rev().enumerate().map(|(index, text)| is_last(end + index, text));
                found.drafts.push(Draft {
                    when: when.collect(),
                    change: vec![Change::Path(path)],
                    ..Draft::default()
                });
            }
        }
        // A segment between fixed texts, whatever it says: `(S(9f3e))`.
        if let ([segment], []) = (x, y)
            && let Some(class) = framed(segment)
        {
            let spot = Spot::Key(UrlPart::PathSegment(start as u16));
            found.drafts.push(Draft {
                when: BTreeMap::from([(spot.clone(), Test::Any(class.into()))]),
                change: vec![Change::Drop(spot)],
                ..Draft::default()
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
            let spots = differing.iter().map(|&index| Spot::Key(UrlPart::PathSegment(index as u16)));
            let mut when = template.clone();
            spots.clone().for_each(|spot| drop(when.remove(&spot)));
            found.drafts.push(Draft {
                when: when.clone(),
                change: spots.map(Change::Forget).collect(),
                ..Draft::default()
            });
            // Only the number in a segment matters.
            if let [index] = differing.as_slice() {
                for part in [Atom::DigitsFromRight(0), Atom::Digits(0)] {
                    let number = |text: &'t str| part.of(text.as_bytes());
                    if number(ours[*index]).is_some() && number(ours[*index]) == number(theirs[*index]) {
                        let spot = Spot::Key(UrlPart::PathSegment(*index as u16));
                        let from = Source { part: Some(part), ..Source::of(spot) };
                        let mut path = first(*index);
                        path.push(PathPart::Value { from, split: None });
                        path.push(PathPart::Segments { from: *index as u16 + 1, but_last: 0 });
                        found.drafts.push(Draft {
                            when: when.clone(),
                            change: vec![Change::Path(path)],
                            ..Draft::default()
                        });
                    }
                }
            }
        }
        // Only how the path starts and ends matters.
        if end > 0 && end <= suggest::MAX_END_SEGMENTS && !x.is_empty() {
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
                    when.insert(
                        Spot::FromRight((start + end) as u16 - 1),
                        Test::Any(ValueClass::Text.into()),
                    );
                    found.drafts.push(Draft { when, change: vec![Change::Path(path)], ..Draft::default() });
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
            when: BTreeMap::from([(Spot::FromRight(0), Test::Any(ValueClass::File(ours.into()).into()))]),
            change: vec![Change::Path(vec![
                PathPart::Segments { from: 0, but_last: 1 },
                PathPart::Value { from, split: None },
            ])],
            ..Draft::default()
        });
    }

    /// A parameter whose value is a piece of the other's path: `/index.php?title=X` and `/wiki/X`.
    fn moved(&self, a: &View<'t>, b: &View<'t>, params: &ParamDifference, found: &mut Suggestions) {
        let theirs = b.texts();
        for &param in &params.ours {
            let Some(value) = self.table.value_of(param).as_text() else { continue };
            if value.len() < suggest::MIN_MOVED_BYTES
                || !a.segments.iter().all(|segment| self.is_frequent(segment.0))
            {
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
                if !before.iter().chain(after).all(|text| is_plain(text))
                    || before.len() + after.len() > suggest::MAX_FIXED_SEGMENTS
                {
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
                found.drafts.push(Draft { when, change, ..Draft::default() });
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
        if head.len() > suggest::MAX_FIXED_SEGMENTS || !head.iter().all(|text| is_plain(text)) {
            return;
        }
        let spot = Spot::Key(UrlPart::PathSegment(before.len() as u16));
        let mut when: BTreeMap<Spot, Test> =
            before.iter().enumerate().map(|(index, segment)| is_at(index, segment.1)).collect();
        when.insert(Spot::Key(UrlPart::PathSegment(a.segments.len() as u16)), Test::Absent);
        let mut path: Vec<PathPart> = head.iter().map(|text| PathPart::Text((*text).into())).collect();
        path.push(PathPart::Value { from: Source::of(spot), split: Some(':') });
        found.drafts.push(Draft { when, change: vec![Change::Path(path)], ..Draft::default() });
    }

    /// Every part of `b` from parts of `a`: numbers inside names, parameters for segments.
    fn derived(&self, a: &View<'t>, b: &View<'t>, params: &ParamDifference, found: &mut Suggestions) {
        if b.segments.len() > suggest::MAX_SEGMENTS
            || a.segments.len() > suggest::MAX_SEGMENTS
            || params.ours.len() > suggest::MAX_DERIVED_PARAMS
        {
            return;
        }
        // What may be read: segments that vary, and parameters that the other lacks.
        let mut sources: Vec<(Spot, &str)> = Vec::new();
        for (index, segment) in a.segments.iter().enumerate() {
            if !self.is_constant(segment.0) {
                sources.push((Spot::Key(UrlPart::PathSegment(index as u16)), segment.1));
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
            change.push(Change::Drop(UrlPart::TrailingSlash.into()));
        }
        let draft = Draft { when, change, ..Draft::default() };
        match counted {
            Some((x, y)) => found.counted.push((draft, x, y)),
            None => found.drafts.push(draft),
        }
    }
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

/// `(S(9f3e))` is anything between `(S(` and `))`.
fn framed(text: &str) -> Option<ValueClass> {
    let is_frame = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_' && c != '.' && c != '%';
    let suffix = text.len() - text.trim_end_matches(is_frame).len();
    let first = text.find(is_frame)?;
    let prefix = first + text[first..].len()
        - text[first..].trim_start_matches(|c: char| is_frame(c) || c.is_ascii_uppercase()).len();
    if suffix == 0 || prefix == 0 || prefix + suffix >= text.len() || prefix > suggest::MAX_FRAME_BYTES {
        return None;
    }
    Some(ValueClass::Framed {
        prefix: text[..prefix].into(),
        class: Box::new(ValueClass::Word),
        suffix: text[text.len() - suffix..].into(),
    })
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
    let folded = folds.iter().fold(value.as_bytes().to_vec(), |value, spelling| spelling.of(&value, true));
    String::from_utf8_lossy(&folded).into_owned()
}
