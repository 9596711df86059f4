/*!
What leads from one URL to another: a set of edits, which can be tried on any other URL.
*/

use dedust::rules::Atom;
use xxhash_rust::xxh3::xxh3_64;

use super::site::{Entry, Place, Site};

/// Edits of a URL. Places that it does not name keep their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Transformation {
    /// Whether path segments are counted from the end.
    pub(super) from_end: bool,
    /// In the order of places.
    pub(super) edits: Vec<(Place, Edit)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Edit {
    /// The place is there and goes.
    Delete,
    /// The place is there and gets another value.
    Replace(Source),
    /// The place is not there and comes.
    Add(Source),
}

/// Where a new value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    Literal(u32),
    Copy(Place),
    Join(Vec<SourcePart>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SourcePart {
    Text(Box<str>),
    Copy(Place),
    Atom(Place, Atom),
}

impl Edit {
    pub(super) fn source(&self) -> Option<&Source> {
        match self {
            Self::Delete => None,
            Self::Replace(source) | Self::Add(source) => Some(source),
        }
    }
}

impl Source {
    /// The places it reads.
    pub(super) fn reads(&self) -> Vec<Place> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Copy(place) => vec![*place],
            Self::Join(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    SourcePart::Text(_) => None,
                    SourcePart::Copy(place) | SourcePart::Atom(place, _) => Some(*place),
                })
                .collect(),
        }
    }
}

impl Transformation {
    /// What leads from one row to another, with path segments aligned so that there is least to do.
    pub(super) fn between(site: &Site<'_>, from: u32, to: u32) -> Self {
        let (mut source, mut target) = (Vec::new(), Vec::new());
        let mut aligned = |from_end| {
            site.view(from, from_end, &mut source);
            site.view(to, from_end, &mut target);
            let same_depth = site.depth(&source) == site.depth(&target);
            (Self { from_end, edits: edits(site, &source, &target) }, same_depth)
        };
        let (from_start, same_depth) = aligned(false);
        if same_depth {
            return from_start;
        }
        let (from_end, _) = aligned(true);
        if from_end.edits.len() < from_start.edits.len() { from_end } else { from_start }
    }

    /// The places that a URL must have.
    pub(super) fn required(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for (place, edit) in &self.edits {
            if !matches!(edit, Edit::Add(_)) {
                places.push(*place);
            }
            places.extend(edit.source().into_iter().flat_map(Source::reads));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The form of what becomes of a URL, seen with this transformation's way of counting; `None` when it does not
    /// apply.
    pub(super) fn apply(&self, site: &Site<'_>, view: &[Entry]) -> Option<u64> {
        let find = |place: Place| {
            let at = view.binary_search_by_key(&place, |entry| entry.place).ok()?;
            Some(view[at].value)
        };
        let depth = site.depth(view);
        let segments = |wanted: fn(&Edit) -> bool| {
            let edited = self.edits.iter().filter(move |(_, edit)| wanted(edit));
            edited.filter_map(|(place, _)| site.segment_at(*place))
        };
        let (gone, come) = (|edit: &Edit| *edit == Edit::Delete, |edit: &Edit| matches!(edit, Edit::Add(_)));
        let new_depth = (depth + segments(come).count()).checked_sub(segments(gone).count())?;
        let fits = segments(gone).all(|index| usize::from(index) >= new_depth)
            && segments(come).all(|index| (depth..new_depth).contains(&usize::from(index)));
        if !fits {
            return None;
        }
        let mut form = 0u64;
        let mut add =
            |place, value_hash| form = form.wrapping_add(site.token_hash(place, new_depth, value_hash));
        for (place, edit) in &self.edits {
            if find(*place).is_some() == matches!(edit, Edit::Add(_)) {
                return None;
            }
            match edit.source() {
                None => {}
                Some(Source::Literal(value)) => add(*place, site.value_hash(*value)),
                Some(Source::Copy(from)) => add(*place, site.value_hash(find(*from)?)),
                Some(Source::Join(parts)) => {
                    let mut text = Vec::new();
                    for part in parts {
                        match part {
                            SourcePart::Text(part) => text.extend_from_slice(part.as_bytes()),
                            SourcePart::Copy(from) => text.extend(site.text(find(*from)?)?.as_bytes()),
                            SourcePart::Atom(from, atom) => {
                                text.extend(atom.of(site.text(find(*from)?)?.as_bytes())?);
                            }
                        }
                    }
                    add(*place, xxh3_64(&text));
                }
            }
        }
        for entry in view {
            if self.edits.binary_search_by_key(&entry.place, |(place, _)| *place).is_err() {
                add(entry.place, site.value_hash(entry.value));
            }
        }
        Some(form)
    }
}

fn edits(site: &Site<'_>, source: &[Entry], target: &[Entry]) -> Vec<(Place, Edit)> {
    let mut edits: Vec<(Place, Edit)> = Vec::new();
    for entry in target {
        match source.binary_search_by_key(&entry.place, |entry| entry.place) {
            Ok(at) if source[at].value == entry.value => {}
            Ok(_) => edits.push((entry.place, Edit::Replace(source_of(site, entry, source)))),
            Err(_) => edits.push((entry.place, Edit::Add(source_of(site, entry, source)))),
        }
    }
    let is_gone = |entry: &&Entry| target.binary_search_by_key(&entry.place, |entry| entry.place).is_err();
    edits.extend(source.iter().filter(is_gone).map(|entry| (entry.place, Edit::Delete)));
    edits.sort_unstable_by_key(|(place, _)| *place);
    edits
}

/// Where the value of `entry` can be read in the source: a whole value, a part of one, or parts between texts.
fn source_of(site: &Site<'_>, entry: &Entry, source: &[Entry]) -> Source {
    let literal = Source::Literal(entry.value);
    let Some(text) = site.text(entry.value).filter(|text| site.is_text(entry.key) && !text.is_empty()) else {
        return literal;
    };
    let readable = || source.iter().filter(|other| site.is_text(other.key));
    if let Some(other) = readable().find(|other| other.value == entry.value) {
        return Source::Copy(other.place);
    }
    let mut parts: Vec<(SourcePart, &str)> = Vec::new();
    // Parts of the value that stood here before are the first choice.
    let (same, others): (Vec<&Entry>, Vec<&Entry>) = readable().partition(|other| other.place == entry.place);
    for other in same.into_iter().chain(others) {
        let Some(whole) = site.text(other.value) else { continue };
        parts.push((SourcePart::Copy(other.place), whole));
        for split in site.tokens.splits(other.key) {
            parts.extend(split.atoms(whole).map(|(atom, part)| (SourcePart::Atom(other.place, atom), part)));
        }
    }
    let find = |wanted: &str| parts.iter().find(|(_, part)| *part == wanted).map(|(part, _)| part.clone());
    if let Some(part) = find(text) {
        return Source::Join(vec![part]);
    }
    let mut best: (usize, Source) = (0, literal);
    for split in site.tokens.splits(entry.key) {
        let mut found = 0;
        let mut join: Vec<SourcePart> = Vec::new();
        for piece in split.pieces(text) {
            match find(piece).filter(|_| piece.bytes().any(|byte| byte.is_ascii_alphanumeric())) {
                Some(part) => {
                    found += piece.len();
                    join.push(part);
                }
                None => match join.last_mut() {
                    Some(SourcePart::Text(before)) => *before = format!("{before}{piece}").into(),
                    _ => join.push(SourcePart::Text(piece.into())),
                },
            }
        }
        if found > best.0 {
            best = (found, Source::Join(join));
        }
    }
    best.1
}
