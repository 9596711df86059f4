/*!
How is a change made? To the parts of a [`EditedUrl`], one change of a rule after the other.
*/

use std::io::Write as _;

use super::edited_url::{EditedUrl, Param, Piece, find, raw};
use super::names::Name;
use super::run::{Read, look_up};
use super::{Feature, FoldedArea, RuleMask, RuleProgram, StoredSpot, code};
use crate::encoding::Cursor;
use crate::rule::{Atom, Count, Spelling};
use crate::url::ParsedUrl;

/// Numbers of names that are left out together are smaller.
pub(super) const MAX_DROPPED_NAMES: u16 = u64::BITS as u16;

/// Which kind of change comes next in compiled rules.
pub(super) mod kind {
    pub(in crate::program::rules) const DROP: u8 = 0;
    pub(in crate::program::rules) const FORGET: u8 = 1;
    pub(in crate::program::rules) const FORGET_PATH: u8 = 2;
    pub(in crate::program::rules) const MAP: u8 = 3;
    pub(in crate::program::rules) const FOLD: u8 = 4;
    pub(in crate::program::rules) const SET: u8 = 5;
    pub(in crate::program::rules) const PATH: u8 = 6;
    pub(in crate::program::rules) const UNREPEAT: u8 = 7;
    pub(in crate::program::rules) const UNREPEAT_PARAMS: u8 = 8;
    /// All parameters of some names, a bit for the number of each.
    pub(in crate::program::rules) const DROP_NAMES: u8 = 9;
    pub(in crate::program::rules) const SPLIT_PARAMS: u8 = 10;
    pub(in crate::program::rules) const ORDER: u8 = 11;
    pub(in crate::program::rules) const REPLACE: u8 = 12;
}

/// A rule cannot be made to this URL.
pub(super) struct CannotChange;

/// The changes of one rule.
pub(super) struct Changing<'a, 'p> {
    pub(super) edited: &'a mut EditedUrl,
    pub(super) url: &'a ParsedUrl,
    pub(super) program: &'a RuleProgram<'p>,
    pub(super) is_changed: bool,
}

impl<'p> Changing<'_, 'p> {
    /// Makes the next change.
    #[inline]
    pub(super) fn make(&mut self, cursor: &mut Cursor<'p>) -> Read<Result<(), CannotChange>> {
        match cursor.u8()? {
            kind::DROP => self.drop_spot(StoredSpot::read(cursor)?),
            kind::FORGET => self.forget(StoredSpot::read(cursor)?),
            kind::FORGET_PATH => {
                self.is_changed |= !self.edited.parts.path_is_forgotten;
                self.edited.parts.path_is_forgotten = true;
                self.edited.parts.touched.path = true;
                self.edited.parts.touched.is_forgotten = true;
            }
            kind::MAP => return self.map(StoredSpot::read(cursor)?, cursor),
            kind::FOLD => self.fold(cursor)?,
            kind::SET => return self.set(cursor),
            kind::PATH => return self.set_path(cursor),
            kind::DROP_NAMES => self.drop_names(cursor.u64()?),
            kind::UNREPEAT => self.unrepeat(),
            kind::UNREPEAT_PARAMS => self.unrepeat_params(),
            kind::SPLIT_PARAMS => self.split_params(),
            kind::ORDER => self.order(cursor)?,
            kind::REPLACE => return self.replace(cursor),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Adds the rules that a value triggers which was put into a spot.
    pub(super) fn trigger_by_value(&mut self, spot: StoredSpot, value: Piece) {
        match spot.code {
            StoredSpot::SCHEME => {
                let rules =
                    self.program.triggered_by(Feature::Http) | self.program.triggered_by(Feature::Https);
                self.edited.triggered |= rules;
            }
            StoredSpot::SEGMENT | StoredSpot::FROM_RIGHT => {
                self.edited.add_segment(self.url, self.program, value)
            }
            StoredSpot::QUERY_PARAM => {
                let Name { early, .. } = self.program.query_names().name(spot.index.into());
                self.edited.add_param_value(self.url, self.program, (spot.index, early), value);
            }
            _ => {}
        }
    }

    fn drop_spot(&mut self, spot: StoredSpot) {
        let parts = &mut self.edited.parts;
        let index = usize::from(spot.index);
        let is_dropped = match spot.code {
            StoredSpot::LABEL => remove(&mut parts.labels, Some(index), &mut parts.touched.host),
            StoredSpot::SEGMENT => remove(&mut parts.segments, Some(index), &mut parts.touched.path),
            StoredSpot::FROM_RIGHT => {
                let index = parts.index_from_right(spot.index);
                remove(&mut parts.segments, index, &mut parts.touched.path)
            }
            StoredSpot::PATH_PARAM => remove_param(&mut parts.path_params, spot, &mut parts.touched.path),
            StoredSpot::QUERY_PARAM => remove_param(&mut parts.params, spot, &mut parts.touched.query),
            StoredSpot::PORT => {
                let is_dropped = parts.port.take().is_some();
                parts.touched.port |= is_dropped;
                is_dropped
            }
            StoredSpot::HASHBANG => {
                let is_dropped = parts.hashbang.take().is_some();
                parts.touched.hashbang |= is_dropped;
                is_dropped
            }
            StoredSpot::TRAILING_SLASH => {
                let is_dropped = std::mem::replace(&mut parts.has_slash, false);
                parts.touched.path |= is_dropped;
                parts.touched.slash_is_forgotten = false;
                is_dropped
            }
            StoredSpot::SEPARATOR => {
                let is_dropped = std::mem::replace(&mut parts.separator, b'&') != b'&';
                parts.touched.query |= is_dropped;
                is_dropped
            }
            _ => false,
        };
        parts.has_slash &= !parts.segments.is_empty();
        self.is_changed |= is_dropped;
    }

    /// Leaves out all query parameters of some names.
    fn drop_names(&mut self, names: u64) {
        let parts = &mut self.edited.parts;
        let before = parts.params.len();
        parts.params.retain(|param| param.id >= MAX_DROPPED_NAMES || names >> param.id & 1 == 0);
        let is_dropped = parts.params.len() < before;
        parts.touched.query |= is_dropped;
        self.is_changed |= is_dropped;
    }

    fn forget(&mut self, spot: StoredSpot) {
        let parts = &mut self.edited.parts;
        if spot.code == StoredSpot::TRAILING_SLASH && parts.has_slash {
            let touched = &mut parts.touched;
            self.is_changed |= !touched.slash_is_forgotten;
            (touched.slash_is_forgotten, touched.path, touched.is_forgotten) = (true, true, true);
            self.edited.triggered |= self.program.triggered_by(Feature::TrailingSlash);
            return;
        }
        if let Some(value) = self.edited.parts.piece_mut(spot) {
            self.is_changed |= *value != Piece::STAR;
            *value = Piece::STAR;
            self.edited.parts.touched.is_forgotten = true;
            match spot.code {
                StoredSpot::SCHEME => self.edited.triggered = RuleMask::MAX,
                _ => self.trigger_by_value(spot, Piece::STAR),
            }
        }
    }

    fn map(&mut self, spot: StoredSpot, cursor: &mut Cursor<'p>) -> Read<Result<(), CannotChange>> {
        let value = self.edited.get(self.url, spot);
        let Some(mut entry) = look_up::<2>(self.program, cursor, value)? else { return Some(Ok(())) };
        match self.program.text(&mut entry)? {
            None => self.drop_spot(spot),
            Some(text) => {
                let is_same = value.and_then(raw) == Some(text);
                let old_len = value.and_then(raw).map_or(0, <[u8]>::len);
                if !is_same && self.edited.exchange_room(old_len, text.len()).is_err() {
                    return Some(Err(CannotChange));
                }
                let piece = self.edited.write_text(text);
                if let Some(value) = self.edited.parts.piece_mut(spot) {
                    *value = piece;
                    self.is_changed |= !is_same;
                    self.trigger_by_value(spot, piece);
                }
            }
        }
        Some(Ok(()))
    }

    fn fold(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let to = Spelling::from_code(cursor.u8()?)?;
        match cursor.u8()? {
            code::FOLD_PATH => {
                for index in 0..self.edited.parts.segments.len() {
                    let piece = self.edited.parts.segments[index];
                    if let Some(folded) = self.folded(piece, to, false) {
                        self.edited.parts.segments[index] = folded;
                        self.edited.parts.touched.path = true;
                        self.edited.parts.touched.path_text = true;
                        self.has_new_spelling(FoldedArea::Path, to);
                        self.edited.add_segment(self.url, self.program, folded);
                    }
                }
            }
            code::FOLD_PARAMS => {
                for index in 0..self.edited.parts.params.len() {
                    let Param { value, id, early, .. } = self.edited.parts.params[index];
                    if let Some(folded) = self.folded(value, to, true) {
                        self.edited.parts.params[index].value = folded;
                        self.edited.parts.touched.query = true;
                        self.edited.parts.touched.query_text = true;
                        self.has_new_spelling(FoldedArea::Params, to);
                        self.edited.add_param_value(self.url, self.program, (id, early), folded);
                    }
                }
            }
            code::FOLD_ONE => {
                let spot = StoredSpot::read(cursor)?;
                if let Some(piece) = self.edited.parts.piece(spot)
                    && let Some(folded) = self.folded(piece, to, spot.code == StoredSpot::QUERY_PARAM)
                    && let Some(value) = self.edited.parts.piece_mut(spot)
                {
                    *value = folded;
                    self.trigger_by_value(spot, folded);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Notes characters that a spelling may have brought in.
    pub(super) fn has_new_spelling(&mut self, area: FoldedArea, to: Spelling) {
        if to != Spelling::Lowercase {
            self.edited.characters[area as usize] = u8::MAX;
        }
    }

    /// A value in another spelling, if that is another value.
    fn folded(&mut self, piece: Piece, to: Spelling, in_query: bool) -> Option<Piece> {
        if piece.is_bare() || piece == Piece::STAR {
            return None;
        }
        if !to.may_change(self.edited.text(self.url, piece), in_query) {
            return None;
        }
        let start = self.edited.written.len();
        self.copy(piece);
        let start_of_text = self.edited.write_position();
        let EditedUrl { written, composer, .. } = &mut *self.edited;
        let end = written.len();
        to.write(start, end, in_query, composer, written);
        if written[start..end] == written[end..] {
            written.truncate(start);
            return None;
        }
        self.is_changed = true;
        Some(self.edited.written_since(start_of_text))
    }

    fn set(&mut self, cursor: &mut Cursor<'p>) -> Read<Result<(), CannotChange>> {
        let spot = StoredSpot::read(cursor)?;
        let name = self.program.text(cursor)??;
        let sources = cursor.u16()?;
        let value = if sources == 0 && spot.code == StoredSpot::QUERY_PARAM {
            Piece::BARE
        } else if sources == 1 {
            match self.read_source(cursor)? {
                Ok(piece) => piece,
                Err(error) => return Some(Err(error)),
            }
        } else {
            let whole = self.edited.write_position();
            for _ in 0..sources {
                // What a source has written is a part of the whole; what it has not is copied there.
                let start_of_text = self.edited.write_position();
                match self.read_source(cursor)? {
                    Ok(piece) if piece.start >= start_of_text => {}
                    Ok(piece) => self.copy(piece),
                    Err(error) => return Some(Err(error)),
                }
                if self.edited.is_too_much(self.edited.written_since(whole).len()) {
                    return Some(Err(self.edited.no_room()));
                }
            }
            self.edited.written_since(whole)
        };
        Some(self.put(spot, name, value))
    }

    /// Writes a text once more, at the end.
    pub(super) fn copy(&mut self, piece: Piece) {
        let EditedUrl { written, .. } = &mut *self.edited;
        if piece.is_written() {
            let start = (piece.start - Piece::STAR.start) as usize;
            written.extend_from_within(start..start + piece.len());
        } else {
            written.extend_from_slice(&self.url.padded()[piece.start as usize..piece.end as usize]);
        }
    }

    fn put(&mut self, spot: StoredSpot, name: &[u8], value: Piece) -> Result<(), CannotChange> {
        if !may_stand_at(spot, self.edited.text(self.url, value)) {
            return Err(CannotChange);
        }
        let old = self.edited.parts.piece(spot);
        let is_same =
            old.is_some_and(|old| self.edited.value(self.url, old) == self.edited.value(self.url, value));
        if !is_same {
            // With what stands around it.
            let around = if old.is_none() { name.len() + 2 } else { 0 };
            self.edited.exchange_room(old.map_or(0, Piece::len), value.len() + around)?;
        }
        if old.is_some()
            && let Some(old_value) = self.edited.parts.piece_mut(spot)
        {
            *old_value = value;
            self.is_changed |= !is_same;
            self.trigger_by_value(spot, value);
            return Ok(());
        }
        match spot.code {
            // Segments of a path that is forgotten are not there to be read, but are to be written.
            StoredSpot::SEGMENT => {
                let segment = self.edited.parts.piece_mut(spot).ok_or(CannotChange)?;
                *segment = value;
            }
            StoredSpot::QUERY_PARAM if self.is_next(spot) => {
                let param = self.edited.new_param(self.program, name, value);
                self.edited.parts.params.push(param);
                self.edited.is_in_order = false;
                self.edited.parts.touched.query = true;
                self.edited.parts.touched.query_text = true;
            }
            StoredSpot::LABEL if usize::from(spot.index) == self.edited.parts.labels.len() => {
                self.edited.parts.labels.push(value);
                self.edited.parts.touched.host = true;
            }
            StoredSpot::PORT => {
                self.edited.parts.port = Some(value);
                self.edited.parts.touched.port = true;
            }
            StoredSpot::HASHBANG => {
                self.edited.parts.hashbang = Some(value);
                self.edited.parts.touched.hashbang = true;
            }
            StoredSpot::PATH_PARAM if spot.occurrence == 1 && !self.edited.parts.segments.is_empty() => {
                let param = self.edited.new_path_param(self.program, name, value);
                self.edited.parts.path_params.push(param);
                self.edited.parts.touched.path = true;
                self.edited.parts.touched.path_text = true;
                self.edited.has_repeated = true;
            }
            StoredSpot::TRAILING_SLASH => return self.set_slash(),
            StoredSpot::SEPARATOR => return self.set_separator(),
            _ => return Err(CannotChange),
        }
        self.is_changed = true;
        if spot.code == StoredSpot::QUERY_PARAM {
            self.trigger_by_value(spot, value);
        } else {
            self.edited.characters = [u8::MAX; 2];
            self.edited.triggered = RuleMask::MAX;
        }
        Ok(())
    }

    /// Whether a query parameter that is not there is the first of its name, or comes after all others of it.
    fn is_next(&self, StoredSpot { index, occurrence, .. }: StoredSpot) -> bool {
        let params = self.edited.parts.params.iter();
        params.filter(|param| param.id == index).count() + 1 == usize::from(occurrence)
    }

    /// Ends the path with a slash. One without segments is a slash.
    fn set_slash(&mut self) -> Result<(), CannotChange> {
        let parts = &mut self.edited.parts;
        if (!parts.has_slash || parts.touched.slash_is_forgotten) && !parts.segments.is_empty() {
            parts.has_slash = true;
            (parts.touched.path, parts.touched.slash_is_forgotten) = (true, false);
            self.edited.triggered |= self.program.triggered_by(Feature::TrailingSlash);
            self.is_changed = true;
        }
        Ok(())
    }

    /// Writes `;` between query parameters.
    fn set_separator(&mut self) -> Result<(), CannotChange> {
        let parts = &mut self.edited.parts;
        if parts.separator != b';' {
            parts.separator = b';';
            parts.touched.query = true;
            // Of what is written with it, it is not known how it is read.
            self.edited.has_semicolon = true;
            self.edited.triggered |= self.program.triggered_by(Feature::Rare);
            self.is_changed = true;
        }
        Ok(())
    }

    /// The next source as a text.
    pub(super) fn read_source(&mut self, cursor: &mut Cursor<'p>) -> Read<Result<Piece, CannotChange>> {
        let flags = cursor.u8()?;
        let prefix = self.program.text(cursor)??;
        if flags & code::SOURCE_READS == 0 {
            return Some(Ok(self.edited.write_text(prefix)));
        }
        let suffix = self.program.text(cursor)??;
        let spot = StoredSpot::read(cursor)?;
        let atom = if flags & code::SOURCE_HAS_ATOM == 0 { None } else { Some(Atom::read(cursor)?) };
        let count = if flags & code::SOURCE_COUNTS == 0 {
            None
        } else {
            Some(Count { times: cursor.u64()?.cast_signed(), plus: cursor.u64()?.cast_signed() })
        };
        let piece = self.edited.parts.piece(spot).filter(|piece| !piece.is_bare() && *piece != Piece::STAR);
        let Some(mut piece) = piece else { return Some(Err(CannotChange)) };
        let value = self.edited.text(self.url, piece);
        let mut part = value;
        if let Some(atom) = atom {
            let Some(found) = atom.of(value) else { return Some(Err(CannotChange)) };
            part = found;
            piece.start += (part.as_ptr() as usize - value.as_ptr() as usize) as u32;
            piece.end = piece.start + part.len() as u32;
        }
        let start_of_text = self.edited.write_position();
        if let Some(count) = count {
            let Some(number) = count.of(part) else { return Some(Err(CannotChange)) };
            self.edited.write_text(prefix);
            // Writing to a vector does not fail.
            let _ = write!(self.edited.written, "{number}");
        } else if flags & code::SOURCE_HAS_TABLE != 0 {
            let entry = look_up::<2>(self.program, cursor, Some((part, 0, part.len())))?;
            let Some(mut entry) = entry else { return Some(Err(CannotChange)) };
            let translated = self.program.text(&mut entry)??;
            self.edited.write_text(prefix);
            self.edited.write_text(translated);
        } else if prefix.is_empty() && suffix.is_empty() {
            return Some(Ok(piece));
        } else {
            self.edited.write_text(prefix);
            self.copy(piece);
        }
        self.edited.write_text(suffix);
        Some(Ok(self.edited.written_since(start_of_text)))
    }
}

/// Takes a parameter away, or all of a name, if there is one.
fn remove_param(params: &mut Vec<Param>, spot: StoredSpot, is_touched: &mut bool) -> bool {
    if spot.occurrence != StoredSpot::ALL {
        return remove(params, find(params, spot), is_touched);
    }
    let before = params.len();
    params.retain(|param| param.id != spot.index);
    let is_dropped = params.len() < before;
    *is_touched |= is_dropped;
    is_dropped
}

/// Takes something out of a list, if it is there.
fn remove<T>(list: &mut Vec<T>, at: Option<usize>, is_touched: &mut bool) -> bool {
    let Some(at) = at.filter(|&at| at < list.len()) else { return false };
    list.remove(at);
    *is_touched = true;
    true
}

/// Whether a text can be written at a spot and stays there. What stands before the path has characters of its own: with any other, a
/// value of a URL could make it one of another site.
fn may_stand_at(spot: StoredSpot, text: &[u8]) -> bool {
    match spot.code {
        StoredSpot::SCHEME => !text.is_empty() && text.iter().all(u8::is_ascii_lowercase),
        StoredSpot::LABEL => {
            let is_of_label =
                |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(byte);
            text == b"*" || !text.is_empty() && text.iter().all(is_of_label)
        }
        StoredSpot::PORT => {
            text == b"*" || (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
        }
        StoredSpot::TRAILING_SLASH => text == b"/",
        StoredSpot::SEPARATOR => text == b";",
        _ => true,
    }
}
