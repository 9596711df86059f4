/*!
A URL taken apart, so that edits can change it, and put together again as a key or as a URL.

All text lies in one buffer: first the URL, then whatever edits write. Parts are ranges of it, so that moving a value
from a parameter into the path copies nothing, and after some URLs no buffer grows any more.
*/

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::rule::{Area, Change, Edit, PathPart, Source, Spelling, Spot};
use crate::url::{ParsedUrl, RawKey, RawValue, TokenKey, visit_tokens};

/// Segments that a path may get. More are not made: the edit is left out.
const MAX_SEGMENTS: usize = 1000;

/// The parts of a URL of a site.
#[derive(Clone, Debug, Default)]
pub struct Form {
    text: Vec<u8>,
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
    order: Vec<u32>,
    spare: Vec<Piece>,
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
        self.domain = piece(Some(&host[host.len().saturating_sub(domain_len)..]));
        let flow = visit_tokens(url, domain_len, |key, value| {
            let value = piece(value);
            match key {
                RawKey::Subdomain(u16::MAX) | RawKey::PathSegment(u16::MAX) => return ControlFlow::Break(()),
                RawKey::Scheme => self.scheme = value,
                RawKey::Subdomain(_) => self.labels.push(value),
                RawKey::Port => self.port = Some(value),
                RawKey::PathSegment(_) => self.segments.push(value),
                RawKey::TrailingSlash => self.has_slash = true,
                RawKey::PathParam(name) => add(&self.text, &mut self.path_params, piece(Some(name)), value),
                RawKey::QuerySeparator => self.separator = b';',
                RawKey::QueryParam(name) => add(&self.text, &mut self.params, piece(Some(name)), value),
                RawKey::Hashbang => self.hashbang = Some(value),
            }
            ControlFlow::Continue(())
        });
        // The slash of `/` ends no segment.
        self.has_slash &= !self.segments.is_empty();
        flow.is_continue()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.labels.clear();
        self.port = None;
        self.segments.clear();
        self.path_is_forgotten = false;
        self.has_slash = false;
        self.path_params.clear();
        self.separator = b'&';
        self.params.clear();
        self.hashbang = None;
    }

    /// Takes pairs for a URL, as [`tokenize`](crate::tokenize) gives them and [`Form::pairs`] shows them.
    pub fn read_pairs<'a>(&mut self, pairs: impl Iterator<Item = (&'a TokenKey, RawValue<'a>)>) {
        self.clear();
        self.domain = Piece::default();
        for (key, value) in pairs {
            let value = match value {
                None => Piece::Bare,
                Some(text) => self.add_text(text),
            };
            match key {
                TokenKey::Scheme => self.scheme = value,
                TokenKey::Subdomain(_) => self.labels.push(value),
                TokenKey::Port => self.port = Some(value),
                TokenKey::PathSegment(_) => self.segments.push(value),
                TokenKey::TrailingSlash => self.has_slash = true,
                TokenKey::PathParam(name) => {
                    let name = self.add_text(name.name.as_bytes());
                    add(&self.text, &mut self.path_params, name, value);
                }
                TokenKey::QuerySeparator => self.separator = b';',
                TokenKey::QueryParam(name) => {
                    let name = self.add_text(name.name.as_bytes());
                    add(&self.text, &mut self.params, name, value);
                }
                TokenKey::Hashbang => self.hashbang = Some(value),
            }
        }
        self.has_slash &= !self.segments.is_empty();
    }

    /// Shows its pairs; the value of a key that was forgotten is `*`. Repeated names come in order, as in a URL.
    pub fn pairs(&self, mut visit: impl FnMut(RawKey<'_>, RawValue<'_>)) {
        visit(RawKey::Scheme, self.bytes(self.scheme));
        for (index, &label) in self.labels.iter().enumerate() {
            visit(RawKey::Subdomain(index as u16), self.bytes(label));
        }
        if let Some(port) = self.port {
            visit(RawKey::Port, self.bytes(port));
        }
        if self.path_is_forgotten {
            visit(RawKey::PathSegment(0), Some(b"*"));
        } else {
            for (index, &segment) in self.segments.iter().enumerate() {
                visit(RawKey::PathSegment(index as u16), self.bytes(segment));
            }
            if self.has_slash {
                visit(RawKey::TrailingSlash, Some(b"/"));
            }
            for param in &self.path_params {
                visit(RawKey::PathParam(self.bytes(param.name).unwrap_or_default()), self.bytes(param.value));
            }
        }
        if self.separator != b'&' && !self.params.is_empty() {
            visit(RawKey::QuerySeparator, Some(b";"));
        }
        for param in &self.params {
            visit(RawKey::QueryParam(self.bytes(param.name).unwrap_or_default()), self.bytes(param.value));
        }
        if let Some(hashbang) = self.hashbang {
            visit(RawKey::Hashbang, self.bytes(hashbang));
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
        let before = self.clone_parts();
        for change in &edit.change {
            if self.change(change).is_err() {
                self.restore(before);
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
            Change::ForgetPath => self.path_is_forgotten = true,
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
        }
        Ok(())
    }

    fn get(&self, spot: &Spot) -> Option<RawValue<'_>> {
        const SLASH: RawValue<'static> = Some(b"/");
        match spot {
            Spot::Key(TokenKey::TrailingSlash) => return self.has_slash.then_some(SLASH),
            Spot::Key(TokenKey::QuerySeparator) => return (self.separator != b'&').then_some(Some(b";")),
            _ => {}
        }
        self.piece(spot).map(|piece| self.bytes(piece))
    }

    fn piece(&self, spot: &Spot) -> Option<Piece> {
        let segment = |index: Option<usize>| {
            index.and_then(|index| self.segments.get(index)).copied().filter(|_| !self.path_is_forgotten)
        };
        match spot {
            Spot::FromRight(index) => segment(self.segments.len().checked_sub(usize::from(*index) + 1)),
            Spot::Key(key) => match key {
                TokenKey::Scheme => Some(self.scheme),
                TokenKey::Subdomain(index) => self.labels.get(usize::from(*index)).copied(),
                TokenKey::Port => self.port,
                TokenKey::PathSegment(index) => segment(Some(usize::from(*index))),
                TokenKey::PathParam(name) => self
                    .find(&self.path_params, &name.name, name.occurrence)
                    .map(|at| self.path_params[at].value),
                TokenKey::QueryParam(name) => {
                    self.find(&self.params, &name.name, name.occurrence).map(|at| self.params[at].value)
                }
                TokenKey::Hashbang => self.hashbang,
                TokenKey::TrailingSlash | TokenKey::QuerySeparator => None,
            },
        }
    }

    fn get_mut(&mut self, spot: &Spot) -> Option<&mut Piece> {
        match spot {
            Spot::FromRight(index) => {
                let index = self.segments.len().checked_sub(usize::from(*index) + 1)?;
                self.segments.get_mut(index)
            }
            Spot::Key(key) => match key {
                TokenKey::Scheme => Some(&mut self.scheme),
                TokenKey::Subdomain(index) => self.labels.get_mut(usize::from(*index)),
                TokenKey::Port => self.port.as_mut(),
                TokenKey::PathSegment(index) => self.segments.get_mut(usize::from(*index)),
                TokenKey::PathParam(name) => {
                    let at = self.find(&self.path_params, &name.name, name.occurrence)?;
                    Some(&mut self.path_params[at].value)
                }
                TokenKey::QueryParam(name) => {
                    let at = self.find(&self.params, &name.name, name.occurrence)?;
                    Some(&mut self.params[at].value)
                }
                TokenKey::Hashbang => self.hashbang.as_mut(),
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
                if let Some(index) = self.segments.len().checked_sub(usize::from(*index) + 1) {
                    self.segments.remove(index);
                }
            }
            Spot::Key(key) => match key {
                TokenKey::Scheme => {}
                TokenKey::Subdomain(index) => remove(&mut self.labels, usize::from(*index)),
                TokenKey::Port => self.port = None,
                TokenKey::PathSegment(index) => remove(&mut self.segments, usize::from(*index)),
                TokenKey::TrailingSlash => self.has_slash = false,
                TokenKey::QuerySeparator => self.separator = b'&',
                TokenKey::PathParam(name) => {
                    if let Some(at) = self.find(&self.path_params, &name.name, name.occurrence) {
                        remove_param(&self.text, &mut self.path_params, at);
                    }
                }
                TokenKey::QueryParam(name) => {
                    if let Some(at) = self.find(&self.params, &name.name, name.occurrence) {
                        remove_param(&self.text, &mut self.params, at);
                    }
                }
                TokenKey::Hashbang => self.hashbang = None,
            },
        }
        self.has_slash &= !self.segments.is_empty();
    }

    fn set(&mut self, key: &TokenKey, value: Piece) -> Result<(), CannotChange> {
        if let Some(place) = self.get_mut(&Spot::Key(key.clone())) {
            *place = value;
            return Ok(());
        }
        match key {
            TokenKey::QueryParam(name) if name.occurrence == 1 => {
                let name = self.add_text(name.name.as_bytes());
                self.params.push(Param { name, occurrence: 1, value });
                Ok(())
            }
            TokenKey::Subdomain(index) if usize::from(*index) == self.labels.len() => {
                self.labels.push(value);
                Ok(())
            }
            TokenKey::Port => {
                self.port = Some(value);
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
        if self.path_is_forgotten {
            return Err(CannotChange);
        }
        let mut path = std::mem::take(&mut self.spare);
        path.clear();
        let made = self.make_path(parts, &mut path);
        if made.is_ok() {
            std::mem::swap(&mut self.segments, &mut path);
            self.has_slash &= !self.segments.is_empty();
        }
        self.spare = path;
        made
    }

    fn make_path(&mut self, parts: &[PathPart], path: &mut Vec<Piece>) -> Result<(), CannotChange> {
        for part in parts {
            match part {
                PathPart::Text(text) => path.push(self.add_text(text.as_bytes())),
                PathPart::Segments { from, but_last } => {
                    let end = self.segments.len().checked_sub(usize::from(*but_last)).ok_or(CannotChange)?;
                    path.extend_from_slice(self.segments.get(usize::from(*from)..end).ok_or(CannotChange)?);
                }
                PathPart::First(count) => {
                    path.extend_from_slice(self.segments.get(..usize::from(*count)).ok_or(CannotChange)?);
                }
                PathPart::Last(count) => {
                    let start = self.segments.len().checked_sub(usize::from(*count)).ok_or(CannotChange)?;
                    path.extend_from_slice(&self.segments[start..]);
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
        while at < self.segments.len() {
            let longest = (self.segments.len() - at) / 2;
            let repeated = (1..=longest.min(8)).find(|&len| {
                (at..at + len)
                    .all(|place| self.bytes(self.segments[place]) == self.bytes(self.segments[place + len]))
            });
            match repeated {
                Some(len) => drop(self.segments.drain(at..at + len)),
                None => at += 1,
            }
        }
    }

    fn fold(&mut self, of: &Area, to: Spelling) {
        match of {
            Area::Path => {
                for index in 0..self.segments.len() {
                    self.segments[index] = self.folded(self.segments[index], to, false);
                }
            }
            Area::Params => {
                for index in 0..self.params.len() {
                    self.params[index].value = self.folded(self.params[index].value, to, true);
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
        let mut at = start;
        while at < end {
            at += to.write_next(start, at, end, in_query, &mut self.text);
        }
        // Composing is done on the whole value at once.
        if to == Spelling::Composed
            && let Some(composed) = compose(&self.text[start..end])
        {
            self.text.truncate(from);
            self.text.extend_from_slice(&composed);
        }
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

    fn clone_parts(&self) -> Self {
        Self { text: Vec::new(), order: Vec::new(), spare: Vec::new(), ..self.clone() }
    }

    fn restore(&mut self, mut before: Self) {
        std::mem::swap(&mut self.text, &mut before.text);
        std::mem::swap(&mut self.order, &mut before.order);
        std::mem::swap(&mut self.spare, &mut before.spare);
        *self = before;
    }

    /// Whether all its values are known, so that it can be written as a URL.
    pub fn is_writable(&self) -> bool {
        let known = |piece: &Piece| *piece != Piece::Star;
        !self.path_is_forgotten
            && known(&self.scheme)
            && self.labels.iter().chain(&self.port).chain(&self.segments).all(known)
            && self.params.iter().chain(&self.path_params).all(|param| known(&param.value))
    }

    /// Writes the key: parameters sorted by name, `*` for what does not matter.
    pub fn write_key(&mut self, out: &mut Vec<u8>) {
        let mut order = std::mem::take(&mut self.order);
        self.write(true, &mut order, out);
        self.order = order;
    }

    /// Writes the URL, in the order in which it came.
    pub fn write_url(&self, out: &mut Vec<u8>) {
        self.write(false, &mut Vec::new(), out);
    }

    fn write(&self, sorted: bool, order: &mut Vec<u32>, out: &mut Vec<u8>) {
        let put =
            |piece: Piece, out: &mut Vec<u8>| out.extend_from_slice(self.bytes(piece).unwrap_or_default());
        put(self.scheme, out);
        out.extend_from_slice(b"://");
        for &label in self.labels.iter().rev() {
            put(label, out);
            out.push(b'.');
        }
        put(self.domain, out);
        if let Some(port) = self.port {
            out.push(b':');
            put(port, out);
        }
        if self.path_is_forgotten {
            out.extend_from_slice(b"/*");
        } else {
            if self.segments.is_empty() {
                out.push(b'/');
            }
            for &segment in &self.segments {
                out.push(b'/');
                put(segment, out);
            }
            if !self.path_params.is_empty() && !self.segments.is_empty() {
                out.push(b';');
                self.write_params(&self.path_params, b';', sorted, order, out);
            }
            if self.has_slash {
                out.push(b'/');
            }
        }
        if !self.params.is_empty() {
            out.push(b'?');
            self.write_params(&self.params, self.separator, sorted, order, out);
        }
        if let Some(hashbang) = self.hashbang {
            out.extend_from_slice(b"#!");
            put(hashbang, out);
        }
    }

    fn write_params(
        &self,
        params: &[Param],
        separator: u8,
        sorted: bool,
        order: &mut Vec<u32>,
        out: &mut Vec<u8>,
    ) {
        order.clear();
        order.extend(0..params.len() as u32);
        if sorted {
            let name = |index: &u32| (self.bytes(params[*index as usize].name), *index);
            if !order.is_sorted_by_key(name) {
                order.sort_unstable_by(|a, b| name(a).cmp(&name(b)));
            }
        }
        for (place, &index) in order.iter().enumerate() {
            if place > 0 {
                out.push(separator);
            }
            let Param { name, value, .. } = params[index as usize];
            out.extend_from_slice(self.bytes(name).unwrap_or_default());
            if let Some(value) = self.bytes(value) {
                out.push(b'=');
                out.extend_from_slice(value);
            }
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

impl Spelling {
    /// Whether a value may be spelled in another way; quick, and true rather than false.
    fn may_change(self, value: &[u8], in_query: bool) -> bool {
        match self {
            Self::Lowercase => value.iter().any(u8::is_ascii_uppercase),
            Self::Unescaped | Self::Composed => memchr::memchr(b'%', value).is_some(),
            Self::PlusAsSpace => in_query && memchr::memchr(b'+', value).is_some(),
            Self::Underscored => memchr::memchr2(b'%', b'+', value).is_some(),
            Self::Unpadded => memchr::memchr(b'0', value).is_some(),
        }
    }

    /// Writes what stands at `at` of a value, and says how much of it was read.
    fn write_next(self, start: usize, at: usize, end: usize, in_query: bool, text: &mut Vec<u8>) -> usize {
        let byte = text[at];
        if byte == b'%' && at + 3 <= end {
            let escape = [text[at], text[at + 1], text[at + 2]];
            match (self, &escape) {
                (Self::Underscored, b"%20") => text.push(b'_'),
                (Self::Unescaped, _) => match unescape(escape, in_query) {
                    Some(byte) => text.push(byte),
                    None => text.extend_from_slice(&escape),
                },
                _ => text.extend_from_slice(&escape),
            }
            return 3;
        }
        match self {
            Self::Lowercase => text.push(byte.to_ascii_lowercase()),
            Self::PlusAsSpace if byte == b'+' && in_query => text.extend_from_slice(b"%20"),
            Self::Underscored if byte == b'+' && in_query => text.push(b'_'),
            Self::Unpadded if byte == b'0' => {
                let starts_number = at == start || !matches!(text[at - 1], b'0'..=b'9' | b'.');
                let goes_on = at + 1 < end && text[at + 1].is_ascii_digit();
                // Zeros at the start of a number, one after the other.
                let is_padding = goes_on && (starts_number || self.is_in_padding(start, at, text));
                if !is_padding {
                    text.push(byte);
                }
            }
            _ => text.push(byte),
        }
        1
    }

    fn is_in_padding(self, start: usize, at: usize, text: &[u8]) -> bool {
        let zeros = text[start..at].iter().rev().take_while(|&&byte| byte == b'0').count();
        let before = at - zeros;
        zeros > 0 && (before == start || !matches!(text[before - 1], b'0'..=b'9' | b'.'))
    }
}

/// The character of an escape, where it means the same unescaped.
fn unescape(escape: [u8; 3], in_query: bool) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = (digit(escape[1])? * 16 + digit(escape[2])?) as u8;
    let means_nothing: &[u8] = if in_query { b":/@!$'()*," } else { b":@!$'()*," };
    means_nothing.contains(&byte).then_some(byte)
}

/// The value with its escaped accents composed, if that is another value.
fn compose(value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut at = 0;
    while at < value.len() {
        let digit = |offset: usize| value.get(at + offset).and_then(|&byte| char::from(byte).to_digit(16));
        match (value[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) if high >= 8 => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    let text = std::str::from_utf8(&bytes).ok()?;
    let composed = icu_normalizer::ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let mut out = Vec::with_capacity(value.len());
    for &byte in composed.as_bytes() {
        if byte.is_ascii() {
            out.push(byte);
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
    (out != value).then_some(out)
}
