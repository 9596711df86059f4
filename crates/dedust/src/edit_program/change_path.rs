/*!
Changes of the path as a whole: a new path, and parts that repeat themselves.
*/

use super::change::{CannotChange, Changing, News};
use super::edited_url::Piece;
use super::run::Read;
use super::{FoldedArea, code, spelling_bits};
use crate::encoding::Cursor;

/// Segments that a path may get. More are not made: the edit is left out.
const MAX_SEGMENTS: usize = 1000;

impl<'p> Changing<'_, 'p> {
    pub(super) fn set_path(&mut self, cursor: &mut Cursor<'p>) -> Read<Result<(), CannotChange>> {
        let mut path = std::mem::take(&mut self.edited.spare);
        path.clear();
        let made = if self.edited.parts.path_is_forgotten {
            Some(Err(CannotChange))
        } else {
            self.make_path(cursor, &mut path)
        };
        if let Some(Ok(())) = made {
            let edited = &mut *self.edited;
            let text = |piece: &Piece| edited.text(self.url, *piece);
            let is_same =
                edited.parts.segments.len() == path.len()
                    && edited.parts.segments.iter().zip(&path).all(|(one, other)| {
                        one == other || one.len() == other.len() && text(one) == text(other)
                    });
            std::mem::swap(&mut edited.parts.segments, &mut path);
            if !is_same {
                // What is taken apart may be numbers that started elsewhere.
                edited.characters[FoldedArea::Path as usize] |= spelling_bits::PADDING;
                let (start, end) = (self.url.parts().path_start, self.url.parts().path_end);
                for at in 0..edited.parts.segments.len() {
                    let piece = edited.parts.segments[at];
                    if piece.start <= start || piece.end > end {
                        edited.add_characters(self.url, self.program, FoldedArea::Path, piece);
                    }
                }
                edited.parts.has_slash &= !edited.parts.segments.is_empty();
                edited.parts.touched.path = true;
                self.is_changed = true;
                self.has_news(News::Path);
            }
        }
        self.edited.spare = path;
        made
    }

    fn make_path(
        &mut self,
        cursor: &mut Cursor<'p>,
        path: &mut Vec<Piece>,
    ) -> Read<Result<(), CannotChange>> {
        for _ in 0..cursor.u16()? {
            let code = cursor.u8()?;
            let copied = match code {
                code::PART_TEXT => {
                    self.edited.parts.touched.path_text = true;
                    path.push(self.edited.write_text(self.program.text(cursor)??));
                    Some(&[][..])
                }
                code::PART_SEGMENTS => {
                    let (from, but_last) = (usize::from(cursor.u16()?), usize::from(cursor.u16()?));
                    let segments = &self.edited.parts.segments;
                    segments.len().checked_sub(but_last).and_then(|end| segments.get(from..end))
                }
                code::PART_FIRST => self.edited.parts.segments.get(..usize::from(cursor.u16()?)),
                code::PART_LAST => {
                    let segments = &self.edited.parts.segments;
                    let start = segments.len().checked_sub(usize::from(cursor.u16()?));
                    start.and_then(|start| segments.get(start..))
                }
                code::PART_VALUE => {
                    self.edited.parts.touched.path_text = true;
                    let separator = cursor.u8()?;
                    let piece = match self.read_source(cursor)? {
                        Ok(piece) => piece,
                        Err(error) => return Some(Err(error)),
                    };
                    if !self.split(piece, separator, path) {
                        return Some(Err(CannotChange));
                    }
                    Some(&[][..])
                }
                _ => return None,
            };
            let Some(copied) = copied else { return Some(Err(CannotChange)) };
            path.extend_from_slice(copied);
            if path.len() > MAX_SEGMENTS {
                return Some(Err(CannotChange));
            }
        }
        Some(Ok(()))
    }

    /// Adds a value to a path, as one segment or several; false when it cannot stand there.
    fn split(&self, piece: Piece, separator: u8, path: &mut Vec<Piece>) -> bool {
        let text = self.edited.text(self.url, piece);
        if text.is_empty() || !text.iter().all(|&byte| may_stand_in_path(byte)) {
            return false;
        }
        let mut start = piece.start;
        for segment in text.split(|&byte| byte == b'/' || byte == separator) {
            // A dot segment would be read as a step in the path.
            if segment.is_empty() || segment == b"." || segment == b".." {
                return false;
            }
            let end = start + segment.len() as u32;
            path.push(Piece { start, end });
            start = end + 1;
        }
        true
    }

    /// Leaves out blocks of segments that repeat the block before them.
    pub(super) fn unrepeat(&mut self) {
        let edited = &mut *self.edited;
        let (mut at, mut is_changed) = (0, false);
        while at < edited.parts.segments.len() {
            let segments = &edited.parts.segments;
            let longest = (segments.len() - at) / 2;
            let text = |place: usize| edited.text(self.url, segments[place]);
            let repeats = |len: &usize| (at..at + len).all(|place| text(place) == text(place + len));
            match (1..=longest.min(8)).find(repeats) {
                Some(len) => {
                    edited.parts.segments.drain(at..at + len);
                    is_changed = true;
                }
                None => at += 1,
            }
        }
        if is_changed {
            edited.parts.touched.path = true;
            self.is_changed = true;
            self.has_news(News::Path);
        }
    }
}

/// Whether a byte of a parameter's value reads the same in a path.
fn may_stand_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=:@/%".contains(&byte)
}
