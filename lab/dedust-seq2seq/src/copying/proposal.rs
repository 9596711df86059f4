/*!
A translation as small changes, each of which may hold far beyond the template it was made of.

That `?utm_source=` goes from one kind of page says little about that kind and much about `utm_source`. So a [`Program`]
is taken apart: every parameter that goes, the scheme, the host and the trailing slash are changes of their own; whatever
else happens to the path, with the values that move into it and out of it, is one. Equal changes of all templates are
one [`Proposal`].
*/

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use dedust::rules::{Change, Mapped, PathPart, Source, Spot, Test, UrlPart, Value, ValueClass};
use foldhash::HashMap;

use super::language::{Word, is_argument};
use super::program::{Piece, Program};
use super::site::{Site, Template};

/// What must be true of a URL for a change to be made to it.
pub(super) type Conditions = BTreeMap<Spot, Test>;

/// A change that translations have in common.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub(super) change: Vec<Change>,
    /// Whether the change depends on the whole path.
    pub(super) is_move: bool,
    /// Whether what it writes need not exist.
    pub(super) is_key_only: bool,
    /// The templates it was made of.
    pub(super) origins: Vec<Origin>,
    /// Which translators made it.
    pub(super) by: u8,
    /// URLs of these templates.
    pub(super) urls: usize,
}

impl Proposal {
    /// Whether it writes a path in which nothing of the URL is left.
    pub(super) fn is_constant(&self) -> bool {
        let is_text = |part: &PathPart| matches!(part, PathPart::Text(_));
        self.change.iter().any(|change| matches!(change, Change::Path(parts) if parts.iter().all(is_text)))
    }

    /// Whether it changes nothing but the scheme, the host or the trailing slash.
    pub(super) fn takes_nothing_away(&self) -> bool {
        self.change.iter().all(|change| match change {
            Change::Map { of, .. } => *of == UrlPart::Scheme,
            Change::Set { key: UrlPart::Subdomain(_), .. } => true,
            Change::Drop(Spot::Key(key)) => matches!(key, UrlPart::TrailingSlash | UrlPart::Subdomain(_)),
            _ => false,
        })
    }
}

/// A template that a change was made of.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) template: u32,
    /// What was true of the values that change.
    pub(super) own: Conditions,
}

/// A change of one template.
struct Part {
    change: Vec<Change>,
    own: Conditions,
    is_move: bool,
    is_key_only: bool,
}

/// The changes that `programs` have in common, those that concern most URLs first. A program comes with the number of the
/// template and of the translator it is from.
pub(super) fn proposals(site: &Site<'_>, programs: &[(u32, u8, Program)]) -> Vec<Proposal> {
    let mut by_change: HashMap<Vec<Change>, Proposal> = HashMap::default();
    for (number, translator, program) in programs {
        let template = &site.templates[*number as usize];
        for Part { change, own, is_move, is_key_only } in parts(site, template, program) {
            let proposal = by_change.entry(change.clone()).or_insert_with(|| Proposal {
                change,
                is_move,
                is_key_only,
                origins: Vec::new(),
                by: 0,
                urls: 0,
            });
            proposal.by |= 1 << translator;
            proposal.is_key_only |= is_key_only;
            if !proposal.origins.iter().any(|origin| origin.template == *number) {
                proposal.origins.push(Origin { template: *number, own });
                proposal.urls += template.rows.len();
            }
        }
    }
    let mut proposals: Vec<Proposal> = by_change.into_values().collect();
    proposals.iter_mut().for_each(|proposal| proposal.origins.sort_by_key(|origin| origin.template));
    proposals.sort_by_cached_key(|proposal| {
        (proposal.is_move, Reverse(proposal.urls), format!("{:?}", proposal.change))
    });
    proposals
}

/// What is true of a value of a template.
pub(super) fn test_of(site: &Site<'_>, template: &Template, key: &UrlPart) -> Option<Test> {
    let at = template.keys.iter().rposition(|other| other == key)?;
    let word = template.words[at];
    if is_argument(word) {
        let values: Vec<&Value> = template.rows.iter().filter_map(|&row| site.value(row, key)).collect();
        return Some(Test::Any(ValueClass::of(values.into_iter()).into()));
    }
    site.value(*template.rows.first()?, key).cloned().map(Test::Is)
}

/// What is true of the path of a template.
pub(super) fn path_of(site: &Site<'_>, template: &Template) -> Conditions {
    let mut tests = Conditions::new();
    let mut depth = 0;
    while let Some(test) = test_of(site, template, &UrlPart::PathSegment(depth)) {
        tests.insert(Spot::Key(UrlPart::PathSegment(depth)), test);
        depth += 1;
    }
    tests.insert(Spot::Key(UrlPart::PathSegment(depth)), Test::Absent);
    tests
}

/// What is true of the parameters of a template.
pub(super) fn query_of(site: &Site<'_>, template: &Template) -> Conditions {
    let params = template.keys.iter().filter(|key| matches!(key, UrlPart::QueryParam(_)));
    params.filter_map(|key| Some((Spot::Key(key.clone()), test_of(site, template, key)?))).collect()
}

fn parts(site: &Site<'_>, template: &Template, program: &Program) -> Vec<Part> {
    let source: BTreeSet<&UrlPart> = template.keys.iter().collect();
    let identity = Program::identity(&site.language, template).unwrap_or_default();
    let is_same = |key: &UrlPart| program.target.get(key) == identity.target.get(key);
    let mut parts = Vec::new();
    let mut add = |change: Change, own: Conditions, is_key_only: bool| {
        parts.push(Part { change: vec![change], own, is_move: false, is_key_only });
    };
    if let (false, Some(Piece::Literal(becomes)), Some(Piece::Literal(is))) = (
        is_same(&UrlPart::Scheme),
        program.target.get(&UrlPart::Scheme),
        identity.target.get(&UrlPart::Scheme),
    ) {
        add(map(UrlPart::Scheme, is, becomes), Conditions::new(), false);
    }
    let has_segments =
        |program: &Program| program.target.keys().any(|key| matches!(key, UrlPart::PathSegment(_)));
    if !is_same(&UrlPart::TrailingSlash) && has_segments(program) && has_segments(&identity) {
        let is_added = program.target.contains_key(&UrlPart::TrailingSlash);
        add(Change::Drop(UrlPart::TrailingSlash.into()), Conditions::new(), is_added);
    }
    let is_read = |key: &UrlPart| {
        program.target.iter().any(|(to, piece)| to != key && *piece == Piece::Copy(key.clone()))
    };
    for key in source.iter().copied().filter(|key| is_name(key) && !is_same(key)) {
        let own = own_test(site, template, key);
        match program.target.get(key) {
            None if is_read(key) => {}
            None => add(Change::Drop(key.clone().into()), own, false),
            Some(Piece::Literal(becomes)) => {
                if let Some(Test::Is(is)) = test_of(site, template, key) {
                    add(map(key.clone(), &is, becomes), Conditions::new(), false);
                }
            }
            Some(Piece::Copy(_)) => {}
        }
    }
    parts.extend(together(&parts));
    parts.extend(host(site, template, program, &identity));
    parts.extend(path(site, template, program, &identity, &is_read));
    parts
}

fn map(of: UrlPart, is: &Value, becomes: &Value) -> Change {
    let becomes = becomes.as_text().map(Into::into);
    Change::Map { of, values: vec![Mapped { is: is.clone(), becomes }] }
}

/// Whether a key stands before its value.
fn is_name(key: &UrlPart) -> bool {
    matches!(key, UrlPart::QueryParam(_) | UrlPart::PathParam(_) | UrlPart::Port | UrlPart::Hashbang)
}

/// What tells the values of a key that change from others: a word is itself, an argument is no word.
fn own_test(site: &Site<'_>, template: &Template, key: &UrlPart) -> Conditions {
    let test = match test_of(site, template, key) {
        Some(Test::Is(value)) => Test::Is(value),
        _ => {
            let words = site.language.source_words().iter();
            let mut values: Vec<Value> = words
                .filter_map(|word| match word {
                    Word::Value(of, value) if of == key => Some(value.clone()),
                    _ => None,
                })
                .collect();
            values.sort();
            Test::Not(values)
        }
    };
    BTreeMap::from([(Spot::Key(key.clone()), test)])
}

/// Parameters that go together: each of them alone may never be missing.
fn together(parts: &[Part]) -> Option<Part> {
    let dropped: Vec<&Part> = parts
        .iter()
        .filter(|part| matches!(part.change.as_slice(), [Change::Drop(Spot::Key(UrlPart::QueryParam(_)))]))
        .collect();
    let change: Vec<Change> = dropped.iter().flat_map(|part| part.change.clone()).collect();
    let keys = dropped.iter().flat_map(|part| part.own.keys());
    let own = keys.map(|key| (key.clone(), Test::Any(ValueClass::Text.into()))).collect();
    (dropped.len() >= 2).then_some(Part { change, own, is_move: false, is_key_only: false })
}

/// The host as one change: a label goes, or is another.
fn host(site: &Site<'_>, template: &Template, program: &Program, identity: &Program) -> Option<Part> {
    let labels = |program: &Program| -> Vec<Piece> {
        let pieces = program.target.iter().filter(|(key, _)| matches!(key, UrlPart::Subdomain(_)));
        pieces.map(|(_, piece)| piece.clone()).collect()
    };
    let (from, to) = (labels(identity), labels(program));
    if from == to {
        return None;
    }
    let key = |at: usize| UrlPart::Subdomain(at as u16);
    let mut own: Conditions = (0..from.len())
        .filter_map(|at| Some((Spot::Key(key(at)), test_of(site, template, &key(at))?)))
        .collect();
    own.insert(Spot::Key(key(from.len())), Test::Absent);
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let change = if to.len() + 1 == from.len() && from[shared + 1..] == to[shared..] {
        vec![Change::Drop(key(shared).into())]
    } else if to.len() >= from.len() {
        let set = |(at, piece): (usize, &Piece)| match piece {
            Piece::Literal(value) => {
                Some(Change::Set { key: key(at), to: vec![Source::text(value.as_text()?)] })
            }
            Piece::Copy(_) => None,
        };
        to.iter()
            .enumerate()
            .filter(|(at, piece)| from.get(*at) != Some(piece))
            .map(set)
            .collect::<Option<_>>()?
    } else {
        return None;
    };
    Some(Part { change, own, is_move: false, is_key_only: false })
}

/// The path, with the values that move into it or out of it.
fn path(
    site: &Site<'_>,
    template: &Template,
    program: &Program,
    identity: &Program,
    is_read: &dyn Fn(&UrlPart) -> bool,
) -> Option<Part> {
    let segments = |program: &Program| -> Vec<Piece> {
        let pieces = program.target.iter().filter(|(key, _)| matches!(key, UrlPart::PathSegment(_)));
        pieces.map(|(_, piece)| piece.clone()).collect()
    };
    let mut change = Vec::new();
    for (key, piece) in program.target.iter().filter(|(key, _)| matches!(key, UrlPart::QueryParam(_))) {
        let source = match piece {
            _ if identity.target.get(key) == Some(piece) => continue,
            Piece::Copy(from) => Source::of(from.clone().into()),
            Piece::Literal(value) if !identity.target.contains_key(key) => Source::text(value.as_text()?),
            Piece::Literal(_) => continue,
        };
        if key.is_query_text() {
            // Rules cannot add one.
            return None;
        }
        change.push(Change::Set { key: key.clone(), to: vec![source] });
    }
    let to = segments(program);
    if to != segments(identity) {
        let part = |piece: &Piece| match piece {
            Piece::Literal(value) => Some(PathPart::Text(value.as_text()?.into())),
            Piece::Copy(from) => Some(PathPart::Value { from: Source::of(from.clone().into()), split: None }),
        };
        change.push(Change::Path(to.iter().map(part).collect::<Option<_>>()?));
    }
    if change.is_empty() {
        return None;
    }
    let mut own = path_of(site, template);
    for key in template.keys.iter().filter(|key| is_name(key) && is_read(key)) {
        own.insert(Spot::Key(key.clone()), test_of(site, template, key)?);
        if !program.target.contains_key(key) {
            change.push(Change::Drop(key.clone().into()));
        }
    }
    change.dedup();
    Some(Part { change, own, is_move: true, is_key_only: false })
}
