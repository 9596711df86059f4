/*!
The changes of an edit, made to a [`Form`] one after the other.
*/

use std::borrow::Cow;

use super::{Form, Param, Piece, remove_param};
use crate::rule::{Area, Change, PathPart, Source, Spelling, Spot};
use crate::url::TokenKey;

/// Segments that a path may get. More are not made: the edit is left out.
const MAX_SEGMENTS: usize = 1000;

/// A change could not be made to this URL.
pub(super) struct CannotChange;

impl Form {
    pub(super) fn change(&mut self, change: &Change) -> Result<(), CannotChange> {
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
}

/// Whether a byte of a parameter's value reads the same in a path.
fn may_stand_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=:@/%".contains(&byte)
}
