/*!
A URL taken apart, so that edits can change it, and put together again as a key or as a URL.

All text lies in one buffer: first the URL, then whatever edits write. Parts are ranges of it, so that moving a value
from a parameter into the path copies nothing, and after some URLs no buffer grows any more.
*/

mod change;
mod write;

use std::ops::ControlFlow;

use crate::rule::{Composer, Edit, Spot};
use crate::url::{NameCounts, ParamName, ParsedUrl, RawKey, RawValue, TokenKey, visit_tokens};

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
        let (mut path_names, mut query_names) = (NameCounts::default(), NameCounts::default());
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
                    let occurrence = path_names.count(name);
                    self.parts.path_params.push(Param { name: piece(Some(name)), occurrence, value });
                }
                RawKey::QuerySeparator => self.parts.separator = b';',
                RawKey::QueryParam(name) => {
                    let occurrence = query_names.count(name);
                    self.parts.params.push(Param { name: piece(Some(name)), occurrence, value });
                }
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
                TokenKey::PathParam(ParamName { name, occurrence }) => {
                    let name = self.add_text(name.as_bytes());
                    self.parts.path_params.push(Param { name, occurrence: *occurrence, value });
                }
                TokenKey::QuerySeparator => self.parts.separator = b';',
                TokenKey::QueryParam(ParamName { name, occurrence }) => {
                    let name = self.add_text(name.as_bytes());
                    self.parts.params.push(Param { name, occurrence: *occurrence, value });
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
