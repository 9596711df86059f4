/*!
Changes to the list of query parameters: where `;` separates them too, which say the same, and in which order they stand.
*/

use memchr::memchr;

use super::StoredSpot;
use super::change::Changing;
use super::edited_url::{Param, Piece, find};
use super::run::Read;
use crate::encoding::Cursor;
use crate::url::Spans;

impl Changing<'_, '_> {
    /// Leaves out parameters that have the name and value of one before them.
    pub(super) fn unrepeat_params(&mut self) {
        let edited = &mut *self.edited;
        let mut at = 1;
        while let Some(param) = edited.parts.params.get(at) {
            let value = |param: &Param| (param.value == Piece::STAR, edited.value(self.url, param.value));
            let says_the_same = |other: &Param| {
                (param.is_text || other.word == param.word)
                    && other.is_text == param.is_text
                    && edited.text(self.url, other.name) == edited.text(self.url, param.name)
                    && value(other) == value(param)
            };
            if edited.parts.params[..at].iter().any(says_the_same) {
                edited.parts.params.remove(at);
                edited.parts.touched.query = true;
                self.is_changed = true;
            } else {
                at += 1;
            }
        }
    }

    /// Reads `;` as `&`. The URL stays as it is, so this is no change of it.
    pub(super) fn split_params(&mut self) {
        let parts = &mut self.edited.parts;
        if parts.separator == b';' {
            parts.params.iter_mut().skip(1).for_each(|param| param.is_after_semicolon = true);
            parts.separator = b'&';
            parts.touched.query = true;
            parts.is_split = true;
            return;
        }
        if !self.edited.has_semicolon {
            return;
        }
        let edited = &mut *self.edited;
        let mut params =
            std::mem::replace(&mut edited.parts.params, std::mem::take(&mut edited.spare_params));
        for &param in &params {
            self.split_param(param);
        }
        params.clear();
        self.edited.spare_params = params;
        self.edited.parts.touched.query = true;
        (self.edited.parts.is_split, self.edited.is_in_order) = (true, false);
    }

    /// Adds a parameter, or those of which it consists.
    fn split_param(&mut self, param: Param) {
        let Param { name, value, is_text, .. } = param;
        let padded = self.url.padded();
        let is_as_read =
            !name.is_written() && (value.is_bare() || value.start == name.end + u32::from(!is_text));
        let (start, end) = (name.start as usize, if value.is_bare() { name.end } else { value.end } as usize);
        if !is_as_read || memchr(b';', &padded[start..end]).is_none() {
            self.edited.parts.params.push(param);
            return;
        }
        let names = self.program.query_names();
        for param in Spans::new(padded, start, end, [b';'; 2], b'=') {
            self.edited.read_param(padded, self.program, &names, param, true);
        }
    }

    /// Puts some parameters first.
    pub(super) fn order(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let mut next = 0;
        for _ in 0..cursor.u16()? {
            let spot = StoredSpot::read(cursor)?;
            let params = &mut self.edited.parts.params;
            let Some(at) = find(params, spot).filter(|&at| at >= next) else { continue };
            if at > next {
                params[next..=at].rotate_right(1);
                self.edited.parts.touched.query = true;
                self.edited.is_in_order = false;
                self.is_changed = true;
            }
            next += 1;
        }
        Some(())
    }
}
