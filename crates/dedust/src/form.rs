/*!
A URL taken apart, so that edits can change it, and put together again as a key or as a URL.

All text lies in one buffer: first the URL, then whatever edits write. Parts are ranges of it, so that moving a value
from a parameter into the path copies nothing, and after some URLs no buffer grows any more.
*/

mod write;

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::rule::{Area, Change, Composer, Edit, PathPart, Source, Spelling, Spot};
use crate::url::{ParsedUrl, RawKey, RawValue, TokenKey, visit_tokens};

/// Segments that a path may get. More are not made: the edit is left out.
const MAX_SEGMENTS: usize = 1000;

/// The parts of a URL of a site.
#[derive(Clone, Debug, Default)]
pub struct Form {
    text: Vec<u8>,
    parts: Parts,
    /// The parts before an edit that could still turn out impossible.
    before: Parts,
    order: Vec<u32>,
    spare: Vec<Piece>,
    composer: Composer,
}

#[derive(Clone, Debug, Default)]
struct Parts {
    scheme: Piece,
    /// Left of the domain, from the right.
    labels: Vec<Piece>,
    domain: Piece,
    port: Option<Piece>,
    segments: Vec<Piece>,
    path_is_forgotten: bool,
    has_slash: bool,
    path_params: Vec<Param>,
    separator: u8,
    params: Vec<Param>,
    hashbang: Option<Piece>,
}

impl Parts {
    /// Becomes a copy, in the buffers that are there.
    fn copy_from(&mut self, other: &Self) {
        let Self { scheme, labels, domain, port, segments, path_is_forgotten, has_slash, .. } = other;
        let Self { path_params, separator, params, hashbang, .. } = other;
        self.labels.clone_from(labels);
        self.segments.clone_from(segments);
        self.path_params.clone_from(path_params);
        self.params.clone_from(params);
        (self.scheme, self.domain, self.port, self.hashbang) = (*scheme, *domain, *port, *hashbang);
        (self.path_is_forgotten, self.has_slash, self.separator) =
            (*path_is_forgotten, *has_slash, *separator);
    }
}

/// A range of the text, or something that stands for a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Piece {
    /// A parameter without `=`.
    #[default]
    Bare,
    /// A value that does not matter.
    Star,
    Text {
        start: u32,
        end: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Param {
    name: Piece,
    occurrence: u32,
    value: Piece,
}

/// A change could not be made to this URL.
struct CannotChange;

impl Form {
    /// Takes `url` apart, whose host ends with the site's domain of `domain_len` bytes. False when edits cannot speak
    /// of it.
    pub fn read(&mut self, url: &ParsedUrl, domain_len: usize) -> bool {
        self.clear();
        self.text.extend_from_slice(url.as_bytes());
        let base = url.as_bytes().as_ptr() as usize;
        let piece = |value: RawValue<'_>| match value {
            None => Piece::Bare,
            Some(text) => {
                let start = (text.as_ptr() as usize).wrapping_sub(base);
                // The constant texts of separator and slash lie elsewhere; nobody reads them.
                let start = start.min(url.as_bytes().len()) as u32;
                Piece::Text { start, end: start + text.len() as u32 }
            }
        };
        let host = url.host();
        self.parts.domain = piece(Some(&host[host.len().saturating_sub(domain_len)..]));
        let flow = visit_tokens(url, domain_len, |key, value| {
            let value = piece(value);
            match key {
                RawKey::Subdomain(u16::MAX) | RawKey::PathSegment(u16::MAX) => return ControlFlow::Break(()),
                RawKey::Scheme => self.parts.scheme = value,
                RawKey::Subdomain(_) => self.parts.labels.push(value),
                RawKey::Port => self.parts.port = Some(value),
                RawKey::PathSegment(_) => self.parts.segments.push(value),
                RawKey::TrailingSlash => self.parts.has_slash = true,
                RawKey::PathParam(name) => {
                    add(&self.text, &mut self.parts.path_params, piece(Some(name)), value)
                }
                RawKey::QuerySeparator => self.parts.separator = b';',
                RawKey::QueryParam(name) => add(&self.text, &mut self.parts.params, piece(Some(name)), value),
                RawKey::Hashbang => self.parts.hashbang = Some(value),
            }
            ControlFlow::Continue(())
        });
        // The slash of `/` ends no segment.
        self.parts.has_slash &= !self.parts.segments.is_empty();
        flow.is_continue()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.parts.labels.clear();
        self.parts.port = None;
        self.parts.segments.clear();
        self.parts.path_is_forgotten = false;
        self.parts.has_slash = false;
        self.parts.path_params.clear();
        self.parts.separator = b'&';
        self.parts.params.clear();
        self.parts.hashbang = None;
    }

    /// Takes pairs for a URL, as [`tokenize`](crate::tokenize) gives them and [`Form::pairs`] shows them.
    pub fn read_pairs<'a>(&mut self, pairs: impl Iterator<Item = (&'a TokenKey, RawValue<'a>)>) {
        self.clear();
        self.parts.domain = Piece::default();
        for (key, value) in pairs {
            let value = match value {
                None => Piece::Bare,
                Some(text) => self.add_text(text),
            };
            match key {
                TokenKey::Scheme => self.parts.scheme = value,
                TokenKey::Subdomain(_) => self.parts.labels.push(value),
                TokenKey::Port => self.parts.port = Some(value),
                TokenKey::PathSegment(_) => self.parts.segments.push(value),
                TokenKey::TrailingSlash => self.parts.has_slash = true,
                TokenKey::PathParam(name) => {
                    let name = self.add_text(name.name.as_bytes());
                    add(&self.text, &mut self.parts.path_params, name, value);
                }
                TokenKey::QuerySeparator => self.parts.separator = b';',
                TokenKey::QueryParam(name) => {
                    let name = self.add_text(name.name.as_bytes());
                    add(&self.text, &mut self.parts.params, name, value);
                }
                TokenKey::Hashbang => self.parts.hashbang = Some(value),
            }
        }
        self.parts.has_slash &= !self.parts.segments.is_empty();
    }

    /// Shows its pairs: key, occurrence of its name (1 for keys without one) and value, which is `*` if it was
    /// forgotten.
    pub fn pairs(&self, mut visit: impl FnMut(RawKey<'_>, u32, RawValue<'_>)) {
        visit(RawKey::Scheme, 1, self.bytes(self.parts.scheme));
        for (index, &label) in self.parts.labels.iter().enumerate() {
            visit(RawKey::Subdomain(index as u16), 1, self.bytes(label));
        }
        if let Some(port) = self.parts.port {
            visit(RawKey::Port, 1, self.bytes(port));
        }
        if self.parts.path_is_forgotten {
            visit(RawKey::PathSegment(0), 1, Some(b"*"));
        } else {
            for (index, &segment) in self.parts.segments.iter().enumerate() {
                visit(RawKey::PathSegment(index as u16), 1, self.bytes(segment));
            }
            if self.parts.has_slash {
                visit(RawKey::TrailingSlash, 1, Some(b"/"));
            }
            for param in &self.parts.path_params {
                visit(
                    RawKey::PathParam(self.bytes(param.name).unwrap_or_default()),
                    param.occurrence,
                    self.bytes(param.value),
                );
            }
        }
        if self.parts.separator != b'&' && !self.parts.params.is_empty() {
            visit(RawKey::QuerySeparator, 1, Some(b";"));
        }
        for param in &self.parts.params {
            visit(
                RawKey::QueryParam(self.bytes(param.name).unwrap_or_default()),
                param.occurrence,
                self.bytes(param.value),
            );
        }
        if let Some(hashbang) = self.parts.hashbang {
            visit(RawKey::Hashbang, 1, self.bytes(hashbang));
        }
    }

    /// Makes one edit; false when it does not concern this URL, or cannot be made.
    pub fn apply(&mut self, edit: &Edit) -> bool {
        if !edit.when.iter().all(|(spot, test)| test.holds(self.get(spot))) {
            return false;
        }
        if let [change] = edit.change.as_slice() {
            return self.change(change).is_ok();
        }
        // The first change that reads something can fail; those after it must see the URL as it was.
        self.before.copy_from(&self.parts);
        for change in &edit.change {
            if self.change(change).is_err() {
                std::mem::swap(&mut self.parts, &mut self.before);
                return false;
            }
        }
        true
    }

    fn change(&mut self, change: &Change) -> Result<(), CannotChange> {
        match change {
            Change::Drop(spot) => self.drop_spot(spot),
            Change::Forget(spot) => {
                if let Some(value) = self.get_mut(spot) {
                    *value = Piece::Star;
                }
            }
            Change::ForgetPath => self.parts.path_is_forgotten = true,
            Change::Map { of, values } => {
                let Some(value) = self.get(&Spot::Key(of.clone())) else { return Ok(()) };
                let Ok(at) = values.binary_search_by(|mapped| mapped.is.as_raw().cmp(&value)) else {
                    return Ok(());
                };
                match &values[at].becomes {
                    None => self.drop_spot(&Spot::Key(of.clone())),
                    Some(text) => {
                        let piece = self.add_text(text.as_bytes());
                        if let Some(value) = self.get_mut(&Spot::Key(of.clone())) {
                            *value = piece;
                        }
                    }
                }
            }
            Change::Fold { of, to } => self.fold(of, *to),
            Change::Set { key, to } => {
                let value = match to.as_slice() {
                    [source] => self.read_source(source)?,
                    sources => {
                        let mut whole = Vec::new();
                        for source in sources {
                            let piece = self.read_source(source)?;
                            whole.extend_from_slice(self.bytes(piece).unwrap_or_default());
                        }
                        self.add_text(&whole)
                    }
                };
                self.set(key, value)?;
            }
            Change::Path(parts) => self.set_path(parts)?,
            Change::Unrepeat => self.unrepeat(),
            Change::UnrepeatParams => self.unrepeat_params(),
        }
        Ok(())
    }

    fn get(&self, spot: &Spot) -> Option<RawValue<'_>> {
        const SLASH: RawValue<'static> = Some(b"/");
        match spot {
            Spot::Key(TokenKey::TrailingSlash) => return self.parts.has_slash.then_some(SLASH),
            Spot::Key(TokenKey::QuerySeparator) => {
                return (self.parts.separator != b'&').then_some(Some(b";"));
            }
            _ => {}
        }
        self.piece(spot).map(|piece| self.bytes(piece))
    }

    fn piece(&self, spot: &Spot) -> Option<Piece> {
        let segment = |index: Option<usize>| {
            index
                .and_then(|index| self.parts.segments.get(index))
                .copied()
                .filter(|_| !self.parts.path_is_forgotten)
        };
        match spot {
            Spot::FromRight(index) => segment(self.parts.segments.len().checked_sub(usize::from(*index) + 1)),
            Spot::Key(key) => match key {
                TokenKey::Scheme => Some(self.parts.scheme),
                TokenKey::Subdomain(index) => self.parts.labels.get(usize::from(*index)).copied(),
                TokenKey::Port => self.parts.port,
                TokenKey::PathSegment(index) => segment(Some(usize::from(*index))),
                TokenKey::PathParam(name) => self
                    .find(&self.parts.path_params, &name.name, name.occurrence)
                    .map(|at| self.parts.path_params[at].value),
                TokenKey::QueryParam(name) => self
                    .find(&self.parts.params, &name.name, name.occurrence)
                    .map(|at| self.parts.params[at].value),
                TokenKey::Hashbang => self.parts.hashbang,
                TokenKey::TrailingSlash | TokenKey::QuerySeparator => None,
            },
        }
    }

    fn get_mut(&mut self, spot: &Spot) -> Option<&mut Piece> {
        match spot {
            Spot::FromRight(index) => {
                let index = self.parts.segments.len().checked_sub(usize::from(*index) + 1)?;
                self.parts.segments.get_mut(index)
            }
            Spot::Key(key) => match key {
                TokenKey::Scheme => Some(&mut self.parts.scheme),
                TokenKey::Subdomain(index) => self.parts.labels.get_mut(usize::from(*index)),
                TokenKey::Port => self.parts.port.as_mut(),
                TokenKey::PathSegment(index) => self.parts.segments.get_mut(usize::from(*index)),
                TokenKey::PathParam(name) => {
                    let at = self.find(&self.parts.path_params, &name.name, name.occurrence)?;
                    Some(&mut self.parts.path_params[at].value)
                }
                TokenKey::QueryParam(name) => {
                    let at = self.find(&self.parts.params, &name.name, name.occurrence)?;
                    Some(&mut self.parts.params[at].value)
                }
                TokenKey::Hashbang => self.parts.hashbang.as_mut(),
                TokenKey::TrailingSlash | TokenKey::QuerySeparator => None,
            },
        }
    }

    fn find(&self, params: &[Param], name: &str, occurrence: u32) -> Option<usize> {
        let is_it =
            |param: &Param| param.occurrence == occurrence && self.bytes(param.name) == Some(name.as_bytes());
        params.iter().position(is_it)
    }

    fn drop_spot(&mut self, spot: &Spot) {
        let remove = |pieces: &mut Vec<Piece>, index: usize| {
            if index < pieces.len() {
                pieces.remove(index);
            }
        };
        match spot {
            Spot::FromRight(index) => {
                if let Some(index) = self.parts.segments.len().checked_sub(usize::from(*index) + 1) {
                    self.parts.segments.remove(index);
                }
            }
            Spot::Key(key) => match key {
                TokenKey::Scheme => {}
                TokenKey::Subdomain(index) => remove(&mut self.parts.labels, usize::from(*index)),
                TokenKey::Port => self.parts.port = None,
                TokenKey::PathSegment(index) => remove(&mut self.parts.segments, usize::from(*index)),
                TokenKey::TrailingSlash => self.parts.has_slash = false,
                TokenKey::QuerySeparator => self.parts.separator = b'&',
                TokenKey::PathParam(name) => {
                    if let Some(at) = self.find(&self.parts.path_params, &name.name, name.occurrence) {
                        remove_param(&self.text, &mut self.parts.path_params, at);
                    }
                }
                TokenKey::QueryParam(name) => {
                    if let Some(at) = self.find(&self.parts.params, &name.name, name.occurrence) {
                        remove_param(&self.text, &mut self.parts.params, at);
                    }
                }
                TokenKey::Hashbang => self.parts.hashbang = None,
            },
        }
        self.parts.has_slash &= !self.parts.segments.is_empty();
    }

    fn set(&mut self, key: &TokenKey, value: Piece) -> Result<(), CannotChange> {
        if let Some(place) = self.get_mut(&Spot::Key(key.clone())) {
            *place = value;
            return Ok(());
        }
        match key {
            TokenKey::QueryParam(name) if name.occurrence == 1 => {
                let name = self.add_text(name.name.as_bytes());
                self.parts.params.push(Param { name, occurrence: 1, value });
                Ok(())
            }
            TokenKey::Subdomain(index) if usize::from(*index) == self.parts.labels.len() => {
                self.parts.labels.push(value);
                Ok(())
            }
            TokenKey::Port => {
                self.parts.port = Some(value);
                Ok(())
            }
            _ => Err(CannotChange),
        }
    }

    fn read_source(&mut self, source: &Source) -> Result<Piece, CannotChange> {
        let Some(spot) = &source.of else { return Ok(self.add_text(source.prefix.as_bytes())) };
        let piece = self.piece(spot).ok_or(CannotChange)?;
        let Piece::Text { start, .. } = piece else { return Err(CannotChange) };
        let value = self.bytes(piece).ok_or(CannotChange)?;
        let part = match &source.part {
            Some(atom) => atom.of(value).ok_or(CannotChange)?,
            None => value,
        };
        let is_plain = source.prefix.is_empty() && source.suffix.is_empty();
        let read: Cow<'_, [u8]> = if let Some(count) = source.count {
            Cow::Owned(count.of(part).ok_or(CannotChange)?.to_string().into_bytes())
        } else if !source.table.is_empty() {
            let found = source.table.binary_search_by(|(from, _)| from.as_bytes().cmp(part));
            Cow::Borrowed(source.table[found.map_err(|_| CannotChange)?].1.as_bytes())
        } else if is_plain {
            let start = start + (part.as_ptr() as usize - value.as_ptr() as usize) as u32;
            return Ok(Piece::Text { start, end: start + part.len() as u32 });
        } else {
            Cow::Borrowed(part)
        };
        let whole = [source.prefix.as_bytes(), &read, source.suffix.as_bytes()].concat();
        Ok(self.add_text(&whole))
    }

    fn set_path(&mut self, parts: &[PathPart]) -> Result<(), CannotChange> {
        if self.parts.path_is_forgotten {
            return Err(CannotChange);
        }
        let mut path = std::mem::take(&mut self.spare);
        path.clear();
        let made = self.make_path(parts, &mut path);
        if made.is_ok() {
            std::mem::swap(&mut self.parts.segments, &mut path);
            self.parts.has_slash &= !self.parts.segments.is_empty();
        }
        self.spare = path;
        made
    }

    fn make_path(&mut self, parts: &[PathPart], path: &mut Vec<Piece>) -> Result<(), CannotChange> {
        for part in parts {
            match part {
                PathPart::Text(text) => path.push(self.add_text(text.as_bytes())),
                PathPart::Segments { from, but_last } => {
                    let end =
                        self.parts.segments.len().checked_sub(usize::from(*but_last)).ok_or(CannotChange)?;
                    path.extend_from_slice(
                        self.parts.segments.get(usize::from(*from)..end).ok_or(CannotChange)?,
                    );
                }
                PathPart::First(count) => {
                    path.extend_from_slice(
                        self.parts.segments.get(..usize::from(*count)).ok_or(CannotChange)?,
                    );
                }
                PathPart::Last(count) => {
                    let start =
                        self.parts.segments.len().checked_sub(usize::from(*count)).ok_or(CannotChange)?;
                    path.extend_from_slice(&self.parts.segments[start..]);
                }
                PathPart::Value { from, split } => {
                    let piece = self.read_source(from)?;
                    let Piece::Text { start, end } = piece else { return Err(CannotChange) };
                    let text = &self.text[start as usize..end as usize];
                    if text.is_empty() || !text.iter().all(|&byte| may_stand_in_path(byte)) {
                        return Err(CannotChange);
                    }
                    let separator = split.and_then(|split| u8::try_from(split).ok()).filter(u8::is_ascii);
                    let mut at = start;
                    for segment in text.split(|&byte| byte == b'/' || Some(byte) == separator) {
                        // A dot segment would be read as a step in the path.
                        if segment.is_empty() || segment == b"." || segment == b".." {
                            return Err(CannotChange);
                        }
                        path.push(Piece::Text { start: at, end: at + segment.len() as u32 });
                        at += segment.len() as u32 + 1;
                    }
                }
            }
            if path.len() > MAX_SEGMENTS {
                return Err(CannotChange);
            }
        }
        Ok(())
    }

    /// Leaves out blocks of segments that repeat the block before them.
    fn unrepeat(&mut self) {
        let mut at = 0;
        while at < self.parts.segments.len() {
            let longest = (self.parts.segments.len() - at) / 2;
            let repeated = (1..=longest.min(8)).find(|&len| {
                (at..at + len).all(|place| {
                    self.bytes(self.parts.segments[place]) == self.bytes(self.parts.segments[place + len])
                })
            });
            match repeated {
                Some(len) => drop(self.parts.segments.drain(at..at + len)),
                None => at += 1,
            }
        }
    }

    fn unrepeat_params(&mut self) {
        let mut at = 1;
        while let Some(param) = self.parts.params.get(at) {
            let says_the_same = |other: &Param| {
                self.bytes(other.name) == self.bytes(param.name)
                    && (other.value == Piece::Star) == (param.value == Piece::Star)
                    && self.bytes(other.value) == self.bytes(param.value)
            };
            if self.parts.params[..at].iter().any(says_the_same) {
                remove_param(&self.text, &mut self.parts.params, at);
            } else {
                at += 1;
            }
        }
    }

    fn fold(&mut self, of: &Area, to: Spelling) {
        match of {
            Area::Path => {
                for index in 0..self.parts.segments.len() {
                    self.parts.segments[index] = self.folded(self.parts.segments[index], to, false);
                }
            }
            Area::Params => {
                for index in 0..self.parts.params.len() {
                    self.parts.params[index].value = self.folded(self.parts.params[index].value, to, true);
                }
            }
            Area::Key(key) => {
                let spot = Spot::Key(key.clone());
                if let Some(piece) = self.piece(&spot) {
                    let folded = self.folded(piece, to, matches!(key, TokenKey::QueryParam(_)));
                    if let Some(value) = self.get_mut(&spot) {
                        *value = folded;
                    }
                }
            }
        }
    }

    fn folded(&mut self, piece: Piece, to: Spelling, in_query: bool) -> Piece {
        let Piece::Text { start, end } = piece else { return piece };
        let (start, end) = (start as usize, end as usize);
        if !to.may_change(&self.text[start..end], in_query) {
            return piece;
        }
        let from = self.text.len();
        to.write(start, end, in_query, &mut self.composer, &mut self.text);
        if self.text[start..end] == self.text[from..] {
            self.text.truncate(from);
            return piece;
        }
        Piece::Text { start: from as u32, end: self.text.len() as u32 }
    }

    fn add_text(&mut self, text: &[u8]) -> Piece {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text);
        Piece::Text { start, end: self.text.len() as u32 }
    }

    fn bytes(&self, piece: Piece) -> RawValue<'_> {
        match piece {
            Piece::Bare => None,
            Piece::Star => Some(b"*"),
            Piece::Text { start, end } => Some(&self.text[start as usize..end as usize]),
        }
    }
}

/// Adds a parameter behind those of the same name.
fn add(text: &[u8], params: &mut Vec<Param>, name: Piece, value: Piece) {
    let range = |piece: Piece| match piece {
        Piece::Text { start, end } => &text[start as usize..end as usize],
        _ => &[],
    };
    let before = params.iter().rev().find(|param| range(param.name) == range(name));
    let occurrence = before.map_or(1, |param| param.occurrence + 1);
    params.push(Param { name, occurrence, value });
}

/// Removes a parameter; those of the same name behind it move up.
fn remove_param(text: &[u8], params: &mut Vec<Param>, at: usize) {
    let range = |piece: Piece| match piece {
        Piece::Text { start, end } => &text[start as usize..end as usize],
        _ => &[],
    };
    let removed = params.remove(at);
    for param in &mut params[at..] {
        if range(param.name) == range(removed.name) {
            param.occurrence -= 1;
        }
    }
}

/// Whether a byte of a parameter's value reads the same in a path.
fn may_stand_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=:@/%".contains(&byte)
}
