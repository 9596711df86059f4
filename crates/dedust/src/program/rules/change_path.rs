/*!
Changes of the path as a whole: a new path, and parts that repeat themselves.
*/

use wide::{CmpEq as _, CmpGt as _, CmpLt as _, i8x16};

use super::change::{CannotChange, Changing};
use super::edited_url::Piece;
use super::run::Read;
use super::{Feature, FoldedArea, code, spelling_bits};
use crate::delimiters::{LANES, lanes_of, low_lanes};
use crate::encoding::{Cursor, array_at};

/// Segments that a path may get. More are not made: the rule is left out.
const MAX_SEGMENTS: usize = 1000;

impl<'p> Changing<'_, 'p> {
    pub(super) fn set_path(&mut self, cursor: &mut Cursor<'p>) -> Read<Result<(), CannotChange>> {
        let mut path = std::mem::take(&mut self.edited.spare);
        path.clear();
        let mut has_new = false;
        let mut made = if self.edited.parts.path_is_forgotten {
            Some(Err(CannotChange))
        } else {
            self.make_path(cursor, &mut path, &mut has_new)
        };
        if let Some(Ok(())) = made {
            let length = |path: &[Piece]| path.iter().map(|piece| piece.len() + 1).sum::<usize>();
            let old_len = length(&self.edited.parts.segments);
            made = Some(self.edited.exchange_room(old_len, length(&path)));
        }
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
                edited.parts.has_slash &= !edited.parts.segments.is_empty();
                edited.parts.touched.path = true;
                self.is_changed = true;
                if has_new {
                    self.trigger_by_path();
                } else {
                    // Segments that were there trigger nothing new, unless one stands there twice now.
                    edited.triggered |= self.program.triggered_by(Feature::Repeats);
                }
            }
        }
        self.edited.spare = path;
        made
    }

    /// Adds the rules that segments trigger, some of which are new.
    fn trigger_by_path(&mut self) {
        let edited = &mut *self.edited;
        // What is taken apart may be numbers that started elsewhere.
        edited.characters[FoldedArea::Path as usize] |= spelling_bits::PADDING;
        let (start, end) = (self.url.parts().path_start, self.url.parts().path_end);
        for at in 0..edited.parts.segments.len() {
            let piece = edited.parts.segments[at];
            if piece.start <= start || piece.end > end {
                edited.add_characters(self.url, self.program, FoldedArea::Path, piece);
            }
        }
        edited.triggered |= edited.triggered_by_path(self.url, self.program)
            | edited.triggered_by_spelling(self.program)
            | self.program.triggered_by(Feature::Repeats);
    }

    /// The segments of a path; says whether some of them may not have been segments before.
    fn make_path(
        &mut self,
        cursor: &mut Cursor<'p>,
        path: &mut Vec<Piece>,
        has_new: &mut bool,
    ) -> Read<Result<(), CannotChange>> {
        let written = self.edited.written.len();
        for _ in 0..cursor.u16()? {
            if self.edited.is_too_much(self.edited.written.len() - written) {
                return Some(Err(self.edited.no_room()));
            }
            let code = cursor.u8()?;
            let copied = match code {
                code::PART_TEXT => {
                    self.edited.parts.touched.path_text = true;
                    *has_new = true;
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
                    *has_new = true;
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
        if !piece.is_written()
            && piece.len() <= LANES
            && let Some(bytes) = array_at(self.url.padded(), piece.start as usize)
        {
            return split_short(piece, lanes_of(bytes), separator, path);
        }
        let text = self.edited.text(self.url, piece);
        let mut start = 0;
        // A dot segment would be read as a step in the path.
        let mut add = |start: usize, end: usize| {
            path.push(Piece { start: piece.start + start as u32, end: piece.start + end as u32 });
            !matches!(text[start..end], [] | [b'.'] | [b'.', b'.'])
        };
        for (at, &byte) in text.iter().enumerate() {
            if byte == b'/' || byte == separator {
                if !add(start, at) {
                    return false;
                }
                start = at + 1;
            }
            if !STANDS_IN_PATH[usize::from(byte)] {
                return false;
            }
        }
        add(start, text.len())
    }

    /// Leaves out blocks of segments that repeat the block before them.
    pub(super) fn unrepeat(&mut self) {
        let edited = &mut *self.edited;
        let (mut at, mut is_changed) = (0, false);
        while at < edited.parts.segments.len() {
            let segments = &edited.parts.segments;
            let longest = (segments.len() - at) / 2;
            let text = |index: usize| edited.text(self.url, segments[index]);
            let repeats = |len: &usize| (at..at + len).all(|index| text(index) == text(index + len));
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
        }
    }
}

/// Adds a value of no more than sixteen bytes to a path.
#[inline]
fn split_short(piece: Piece, bytes: i8x16, separator: u8, path: &mut Vec<Piece>) -> bool {
    let all = low_lanes(piece.len());
    let bits = |lanes: i8x16| lanes.move_mask().cast_unsigned() & all;
    let is = |byte: u8| bytes.cmp_eq(i8x16::splat(byte.cast_signed()));
    let is_between = |low: u8, high: u8| {
        bytes.cmp_gt(i8x16::splat((low - 1).cast_signed()))
            & bytes.cmp_lt(i8x16::splat((high + 1).cast_signed()))
    };
    // Those of `STANDS_IN_PATH`.
    let letters = is_between(b'@', b'Z') | is_between(b'a', b'z') | is_between(b'$', b':');
    let stands = letters | is(b'_') | is(b'=') | is(b'!') | is(b'~');
    let dots = bits(is(b'.'));
    let mut ends = bits(is(b'/') | is(separator)) | 1 << piece.len();
    let mut start = 0;
    while ends != 0 {
        let end = ends.trailing_zeros();
        let of_segment = low_lanes(end as usize) & !low_lanes(start as usize);
        // A dot segment would be read as a step in the path.
        if end == start || end - start <= 2 && dots & of_segment == of_segment {
            return false;
        }
        path.push(Piece { start: piece.start + start, end: piece.start + end });
        start = end + 1;
        ends &= ends - 1;
    }
    bits(stands) == all
}

/// Whether a byte of a parameter's value reads the same in a path.
static STANDS_IN_PATH: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0);
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric()
            || matches!(
                byte as u8,
                b'-' | b'.'
                    | b'_'
                    | b'~'
                    | b'!'
                    | b'$'
                    | b'&'
                    | b'\''
                    | b'('
                    | b')'
                    | b'*'
                    | b'+'
                    | b','
                    | b'='
                    | b':'
                    | b'@'
                    | b'/'
                    | b'%'
            );
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// What is split sixteen bytes at a time is split as byte by byte.
    #[test]
    fn short_values_are_split_at_separators() {
        let split = |text: &str| {
            let mut padded = text.as_bytes().to_vec();
            padded.resize(LANES, b'/');
            let mut path = Vec::new();
            let is_path = split_short(
                Piece::new(0, text.len()),
                lanes_of(padded.first_chunk().unwrap()),
                b':',
                &mut path,
            );
            is_path.then(|| {
                path.iter().map(|at| text[at.start as usize..at.end as usize].to_owned()).collect::<Vec<_>>()
            })
        };
        assert_eq!(split("a:b/c").unwrap(), ["a", "b", "c"]);
        assert_eq!(split("0123456789abcdef").unwrap(), ["0123456789abcdef"]);
        assert_eq!(split("a..:...").unwrap(), ["a..", "..."]);
        for text in ["", ":", "a:", "/a", "a::b", ".", "a:..", "a:.:b", "a?b", "a;b", "a[b", "a|", "a{"] {
            assert_eq!(split(text), None, "{text}");
        }
        for byte in 0..=127 {
            let text = format!("x{}", char::from(byte));
            let is_separator = matches!(byte, b':' | b'/');
            assert_eq!(split(&text).is_some(), STANDS_IN_PATH[usize::from(byte)] && !is_separator, "{text}");
        }
    }
}
