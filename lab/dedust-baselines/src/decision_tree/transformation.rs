/*!
What leads from one URL to another: a set of rules, which can be tried on any other URL.
*/

use dedust::rules::Atom;
use xxhash_rust::xxh3::xxh3_64;

use super::site::{Entry, Site, SpotNumber};

/// Rules of a URL. Places that it does not name keep their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Transformation {
    /// Whether path segments are counted from the end.
    pub(super) from_end: bool,
    /// In the order of spots.
    pub(super) rules: Vec<(SpotNumber, Rule)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rule {
    /// The spot is there and goes.
    Delete,
    /// The spot is there and gets another value.
    Replace(Source),
    /// The spot is not there and comes.
    Add(Source),
}

/// Where a new value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    Literal(u32),
    Copy(SpotNumber),
    Join(Vec<SourcePart>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SourcePart {
    Text(Box<str>),
    Copy(SpotNumber),
    Atom(SpotNumber, Atom),
}

impl Rule {
    pub(super) fn source(&self) -> Option<&Source> {
        match self {
            Self::Delete => None,
            Self::Replace(source) | Self::Add(source) => Some(source),
        }
    }
}

impl Source {
    /// The spots it reads.
    pub(super) fn reads(&self) -> Vec<SpotNumber> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Copy(spot) => vec![*spot],
            Self::Join(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    SourcePart::Text(_) => None,
                    SourcePart::Copy(spot) | SourcePart::Atom(spot, _) => Some(*spot),
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
            (Self { from_end, rules: rules(site, &source, &target) }, same_depth)
        };
        let (from_start, same_depth) = aligned(false);
        if same_depth {
            return from_start;
        }
        let (from_end, _) = aligned(true);
        if from_end.rules.len() < from_start.rules.len() { from_end } else { from_start }
    }

    /// The spots that a URL must have.
    pub(super) fn required(&self) -> Vec<SpotNumber> {
        let mut spots: Vec<SpotNumber> = Vec::new();
        for (spot, rule) in &self.rules {
            if !matches!(rule, Rule::Add(_)) {
                spots.push(*spot);
            }
            spots.extend(rule.source().into_iter().flat_map(Source::reads));
        }
        spots.sort_unstable();
        spots.dedup();
        spots
    }

    /// The form of what becomes of a URL, seen with this transformation's way of counting; `None` when it does not
    /// apply.
    pub(super) fn apply(&self, site: &Site<'_>, view: &[Entry]) -> Option<u64> {
        let find = |spot: SpotNumber| {
            let at = view.binary_search_by_key(&spot, |entry| entry.spot).ok()?;
            Some(view[at].value)
        };
        let depth = site.depth(view);
        let segments = |wanted: fn(&Rule) -> bool| {
            let chosen = self.rules.iter().filter(move |(_, rule)| wanted(rule));
            chosen.filter_map(|(spot, _)| site.segment_at(*spot))
        };
        let (gone, come) = (|rule: &Rule| *rule == Rule::Delete, |rule: &Rule| matches!(rule, Rule::Add(_)));
        let new_depth = (depth + segments(come).count()).checked_sub(segments(gone).count())?;
        let fits = segments(gone).all(|index| usize::from(index) >= new_depth)
            && segments(come).all(|index| (depth..new_depth).contains(&usize::from(index)));
        if !fits {
            return None;
        }
        let mut form = 0u64;
        let mut add =
            |spot, value_hash| form = form.wrapping_add(site.token_hash(spot, new_depth, value_hash));
        for (spot, rule) in &self.rules {
            if find(*spot).is_some() == matches!(rule, Rule::Add(_)) {
                return None;
            }
            match rule.source() {
                None => {}
                Some(Source::Literal(value)) => add(*spot, site.value_hash(*value)),
                Some(Source::Copy(from)) => add(*spot, site.value_hash(find(*from)?)),
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
                    add(*spot, xxh3_64(&text));
                }
            }
        }
        for entry in view {
            if self.rules.binary_search_by_key(&entry.spot, |(spot, _)| *spot).is_err() {
                add(entry.spot, site.value_hash(entry.value));
            }
        }
        Some(form)
    }
}

fn rules(site: &Site<'_>, source: &[Entry], target: &[Entry]) -> Vec<(SpotNumber, Rule)> {
    let mut rules: Vec<(SpotNumber, Rule)> = Vec::new();
    for entry in target {
        match source.binary_search_by_key(&entry.spot, |entry| entry.spot) {
            Ok(at) if source[at].value == entry.value => {}
            Ok(_) => rules.push((entry.spot, Rule::Replace(source_of(site, entry, source)))),
            Err(_) => rules.push((entry.spot, Rule::Add(source_of(site, entry, source)))),
        }
    }
    let is_gone = |entry: &&Entry| target.binary_search_by_key(&entry.spot, |entry| entry.spot).is_err();
    rules.extend(source.iter().filter(is_gone).map(|entry| (entry.spot, Rule::Delete)));
    rules.sort_unstable_by_key(|(spot, _)| *spot);
    rules
}

/// Where the value of `entry` can be read in the source: a whole value, a part of one, or parts between texts.
fn source_of(site: &Site<'_>, entry: &Entry, source: &[Entry]) -> Source {
    let literal = Source::Literal(entry.value);
    let Some(text) = site.text(entry.value).filter(|text| site.is_text(entry.key) && !text.is_empty()) else {
        return literal;
    };
    let readable = || source.iter().filter(|other| site.is_text(other.key));
    if let Some(other) = readable().find(|other| other.value == entry.value) {
        return Source::Copy(other.spot);
    }
    let mut parts: Vec<(SourcePart, &str)> = Vec::new();
    // Parts of the value that stood here before are the first choice.
    let (same, others): (Vec<&Entry>, Vec<&Entry>) = readable().partition(|other| other.spot == entry.spot);
    for other in same.into_iter().chain(others) {
        let Some(whole) = site.text(other.value) else { continue };
        parts.push((SourcePart::Copy(other.spot), whole));
        for split in site.tokens.splits(other.key) {
            parts.extend(split.atoms(whole).map(|(atom, part)| (SourcePart::Atom(other.spot, atom), part)));
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
