/*!
Writes what a rule makes of a URL: its key, or the URL of the target form.

A template is a list of steps, read where it lies in the compiled rules; texts of the site are named by their numbers. Values that are always there, and all text
around them, are plain copies; where values may be absent, one step writes a whole part of the URL (host, path or
query), since it then depends on one value what may follow another.
*/

use super::slots::{NO_SLOT, Param, Slots};
use super::{CoveringRule, NO_TEXT};
use crate::encoding::{Cursor, u16_at};
use crate::program::{Texts, max_result};
use crate::rule::Atom;
use crate::text_buffer::TextBuffer;
use crate::url::{ParsedUrl, RawValue};

/// A step of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(pub(crate) u8);

impl Step {
    /// Nothing more.
    pub(crate) const END: Self = Self(0);
    /// A number of texts, each with a slot whose value follows. What can be written in this way is, since it is the same
    /// step again and again.
    pub(crate) const PIECES: Self = Self(1);
    /// A number of query parameters, each of three numbers: a text that starts with `&`, the slot whose value follows, and
    /// the slot that must be there for both to be written. Of a value that is none the last byte of the text is left out.
    pub(crate) const PARAMS: Self = Self(2);
    /// A [`Source`] that is never absent.
    pub(crate) const PUT: Self = Self(5);
    /// A text and a [`Source`], both or none.
    pub(crate) const OPTIONAL: Self = Self(6);
    /// Host labels, from left to right: a number of sources.
    pub(crate) const LABELS: Self = Self(7);
    /// The path: a number of sources, a number of named sources, and that of the trailing slash.
    pub(crate) const PATH: Self = Self(8);
    /// The query: flags, the separator if any, a number of named sources; see [`QUERY_IS_SORTED`].
    pub(crate) const QUERY: Self = Self(9);
}

/// Parameters come in the order of their names, as in keys.
pub(crate) const QUERY_IS_SORTED: u8 = 1;
/// Parameters keep the order that they have in the URL; the slot of each named source is given before it.
pub(crate) const QUERY_IN_PLACE: u8 = 2;
/// Parameters may be separated by something else than `&`.
pub(crate) const QUERY_HAS_SEPARATOR: u8 = 4;

/// Codes of [`Source`].
pub(crate) const SOURCE_LITERAL: u8 = 0;
pub(crate) const SOURCE_SLOT: u8 = 1;
pub(crate) const SOURCE_STAR: u8 = 2;
pub(crate) const SOURCE_JOIN: u8 = 3;
pub(crate) const SOURCE_MAP: u8 = 4;
/// Codes of the parts of [`Source::Join`].
pub(crate) const PART_LITERAL: u8 = 0;
pub(crate) const PART_SLOT: u8 = 1;
pub(crate) const PART_ATOM: u8 = 2;

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Literal(RawValue<'a>),
    Slot(u16),
    Star,
    /// Parts, each with its code, up to the end of the bytes.
    Join(&'a [u8]),
    /// A slot, and what becomes of some of its values: pairs of texts, up to the end of the bytes.
    Map(u16, &'a [u8]),
}

impl<'a> Source<'a> {
    #[inline(always)]
    fn read(cursor: &mut Cursor<'a>, texts: &Texts<'a>) -> Option<Self> {
        Some(match cursor.u8()? {
            SOURCE_LITERAL => match cursor.u16()? {
                NO_TEXT => Self::Literal(None),
                number => Self::Literal(Some(texts.get(number.into())?)),
            },
            SOURCE_SLOT => Self::Slot(cursor.u16()?),
            SOURCE_STAR => Self::Star,
            SOURCE_JOIN => Self::Join(cursor.block()?),
            SOURCE_MAP => Self::Map(cursor.u16()?, cursor.block()?),
            _ => return None,
        })
    }
}

/// The rule cannot be applied to this URL: a segment or label would be missing before others, or a part of a value, or what it
/// writes would be longer than [`max_result`].
#[derive(Debug)]
pub(crate) struct Refused;

/// Appends what the rule makes of the URL whose slots these are, by the template at `at`. When refused, `out` is in an
/// unspecified state.
#[inline]
pub(crate) fn write(
    rule: &CoveringRule<'_>,
    at: u32,
    url: &ParsedUrl,
    slots: &mut Slots,
    out: &mut TextBuffer,
) -> Result<(), Refused> {
    let mut cursor = Cursor::at(rule.shape, at);
    let max_len = max_result(url.as_bytes().len());
    // Mostly there is nothing but pieces, and parameters after them.
    let mut next = cursor;
    if next.u8() == Some(Step::PIECES.0)
        && write_pieces(&mut next, &rule.texts, url, slots, max_len, out).is_some()
    {
        cursor = next;
        let step = next.u8();
        if step == Some(Step::END.0) {
            return check_length(max_len, out).ok_or(Refused);
        }
        if step == Some(Step::PARAMS.0)
            && write_params(&mut next, &rule.texts, url, slots, max_len, out).is_some()
        {
            cursor = next;
            if next.u8() == Some(Step::END.0) {
                return check_length(max_len, out).ok_or(Refused);
            }
        }
    }
    write_steps(cursor, rule, url, slots, max_len, out).ok_or(Refused)
}

#[inline(always)]
fn check_length(max_len: usize, out: &TextBuffer) -> Option<()> {
    (out.as_bytes().len() <= max_len).then_some(())
}

/// Pieces after which it is seen that they are too long.
const CHECKED_PIECES: usize = 16;

/// A number of texts, each with a slot whose value follows.
#[inline(always)]
fn write_pieces(
    cursor: &mut Cursor<'_>,
    texts: &Texts<'_>,
    url: &ParsedUrl,
    slots: &Slots,
    max_len: usize,
    out: &mut TextBuffer,
) -> Option<()> {
    let count = usize::from(cursor.u8()?);
    let pieces = cursor.take(4 * count)?.as_chunks::<4>().0;
    let mut room = out.room(2 * count);
    for pieces in pieces.chunks(CHECKED_PIECES) {
        for piece in pieces {
            let (text, slot) = (u16_at(piece, 0), u16_at(piece, 2));
            let (start, length) = texts.extent(text.into());
            room.push_part(texts.site, start, length);
            let (start, length) = slots.extent(slot);
            room.push_part(url.padded(), start, length);
        }
        if room.end() > max_len {
            return None;
        }
    }
    Some(())
}

/// A number of query parameters, some of which may be absent.
#[inline(always)]
fn write_params(
    cursor: &mut Cursor<'_>,
    texts: &Texts<'_>,
    url: &ParsedUrl,
    slots: &Slots,
    max_len: usize,
    out: &mut TextBuffer,
) -> Option<()> {
    let count = usize::from(cursor.u8()?);
    let params = cursor.take(6 * count)?.as_chunks::<6>().0;
    let mut room = out.room(2 * count);
    let query = room.end();
    for params in params.chunks(CHECKED_PIECES) {
        for param in params {
            let (text, slot, asked) = (u16_at(param, 0), u16_at(param, 2), u16_at(param, 4));
            // What is absent is written too, and then overwritten by what follows: that costs less than to ask.
            let is_there = usize::from(slots.has(asked));
            let (start, length) = texts.extent(text.into());
            let equals = usize::from(slots.is_bare(slot));
            room.push_part(texts.site, start, length.saturating_sub(equals) * is_there);
            let (start, length) = slots.extent(slot);
            room.push_part(url.padded(), start, length * is_there);
        }
        if room.end() > max_len {
            return None;
        }
    }
    let is_any = room.end() > query;
    drop(room);
    if is_any {
        out.set(query, b'?');
    }
    Some(())
}

#[inline(never)]
fn write_steps(
    cursor: Cursor<'_>,
    rule: &CoveringRule<'_>,
    url: &ParsedUrl,
    slots: &mut Slots,
    max_len: usize,
    out: &mut TextBuffer,
) -> Option<()> {
    Writer { rule, url, slots, max_len, out }.run(cursor)
}

struct Writer<'a, 'r> {
    rule: &'a CoveringRule<'r>,
    url: &'a ParsedUrl,
    slots: &'a mut Slots,
    max_len: usize,
    out: &'a mut TextBuffer,
}

impl<'a, 'r> Writer<'a, 'r> {
    fn run(&mut self, mut cursor: Cursor<'r>) -> Option<()> {
        let (texts, url, max_len) = (&self.rule.texts, self.url, self.max_len);
        loop {
            check_length(max_len, self.out)?;
            match Step(cursor.u8()?) {
                Step::END => return Some(()),
                Step::PIECES => write_pieces(&mut cursor, texts, url, self.slots, max_len, self.out)?,
                Step::PARAMS => write_params(&mut cursor, texts, url, self.slots, max_len, self.out)?,
                Step::PUT => {
                    let source = self.source(&mut cursor)?;
                    self.put(source)?;
                }
                Step::OPTIONAL => {
                    let (before, source) = (self.text(&mut cursor)?, self.source(&mut cursor)?);
                    if !self.is_absent(source) {
                        self.out.push_slice(before);
                        self.put(source)?;
                    }
                }
                Step::LABELS => self.labels(&mut cursor)?,
                Step::PATH => self.path(&mut cursor)?,
                Step::QUERY => self.query(&mut cursor)?,
                _ => return None,
            }
        }
    }

    #[inline(always)]
    fn source(&self, cursor: &mut Cursor<'r>) -> Option<Source<'r>> {
        Source::read(cursor, &self.rule.texts)
    }

    /// The text whose number comes next.
    #[inline(always)]
    fn text(&self, cursor: &mut Cursor<'r>) -> Option<&'r [u8]> {
        self.rule.texts.get(cursor.u16()?.into())
    }

    fn labels(&mut self, cursor: &mut Cursor<'r>) -> Option<()> {
        let mut has_any = false;
        for _ in 0..cursor.u16()? {
            let label = self.source(cursor)?;
            if self.is_absent(label) {
                if has_any {
                    return None;
                }
                continue;
            }
            has_any = true;
            self.put(label)?;
            self.out.push(b'.');
        }
        Some(())
    }

    fn path(&mut self, cursor: &mut Cursor<'r>) -> Option<()> {
        let (mut has_any, mut has_gap) = (false, false);
        for _ in 0..cursor.u16()? {
            let segment = self.source(cursor)?;
            if self.is_absent(segment) {
                has_gap = true;
                continue;
            }
            // What does not matter does not matter where there is none.
            if has_gap && !matches!(segment, Source::Star) {
                return None;
            }
            has_any = true;
            self.out.push(b'/');
            self.put(segment)?;
        }
        if !has_any {
            self.out.push(b'/');
        }
        for _ in 0..cursor.u16()? {
            let (name, source) = (self.text(cursor)?, self.source(cursor)?);
            if self.is_absent(source) {
                continue;
            }
            if !has_any {
                return None;
            }
            self.out.push(b';');
            self.out.push_slice(name);
            self.out.push(b'=');
            self.put(source)?;
        }
        if cursor.u8()? != 0 {
            let slash = self.source(cursor)?;
            if has_any && !self.is_absent(slash) {
                self.out.push(if matches!(slash, Source::Star) { b'*' } else { b'/' });
            }
        }
        Some(())
    }

    fn query(&mut self, cursor: &mut Cursor<'r>) -> Option<()> {
        let flags = cursor.u8()?;
        let mut separator = b'&';
        if flags & QUERY_HAS_SEPARATOR != 0 {
            match self.source(cursor)? {
                source if self.is_absent(source) => {}
                Source::Star => separator = b'*',
                _ => separator = b';',
            }
        }
        let is_sorted = flags & QUERY_IS_SORTED != 0;
        self.slots.gather_others(self.rule, self.url, is_sorted);
        let mut next = Lead { lead: b'?', separator };
        if flags & QUERY_IN_PLACE != 0 {
            return self.query_in_place(cursor, next);
        }
        let mut others = 0;
        for _ in 0..cursor.u16()? {
            let (name, source) = (self.text(cursor)?, self.source(cursor)?);
            if self.is_absent(source) {
                continue;
            }
            while is_sorted
                && let Some(&other) = self.slots.others.get(others)
                && other.name.get(self.url).unwrap_or_default() < name
            {
                next.push(self.out);
                self.put_other(&other);
                others += 1;
            }
            next.push(self.out);
            self.put_param(name, source)?;
        }
        while let Some(&other) = self.slots.others.get(others) {
            next.push(self.out);
            self.put_other(&other);
            others += 1;
        }
        Some(())
    }

    /// Writes the parameters as they stand in the URL, less those that are dropped.
    fn query_in_place(&mut self, cursor: &mut Cursor<'r>, mut next: Lead) -> Option<()> {
        let sources = *cursor;
        let texts = &self.rule.texts;
        let find = |wanted: u16, sources: &mut Cursor<'r>| -> Option<Option<(&'r [u8], Source<'r>)>> {
            for _ in 0..sources.u16()? {
                let (slot, name, source) =
                    (sources.u16()?, texts.get(sources.u16()?.into())?, Source::read(sources, texts)?);
                if slot == wanted {
                    return Some(Some((name, source)));
                }
            }
            Some(None)
        };
        for index in 0..self.slots.params().len() {
            let (param, slot) = self.slots.params()[index];
            match find(slot, &mut sources.clone())? {
                Some((name, source)) if !self.is_absent(source) => {
                    next.push(self.out);
                    self.put_param(name, source)?;
                }
                Some(_) => {}
                None if self.slots.is_other(&param) => {
                    next.push(self.out);
                    self.put_other(&param);
                }
                None => {}
            }
        }
        // Past the sources, to what follows.
        find(NO_SLOT, cursor)?;
        Some(())
    }

    /// Only a copied value can be absent, or one that becomes nothing.
    #[inline(always)]
    fn is_absent(&self, source: Source<'_>) -> bool {
        match source {
            Source::Slot(slot) => !self.slots.has(slot),
            Source::Map(slot, values) => {
                !self.slots.has(slot) || self.mapped(slot, values).is_some_and(|becomes| becomes.is_none())
            }
            Source::Literal(_) | Source::Star | Source::Join(_) => false,
        }
    }

    /// What becomes of the value of a slot, if it is one of those that become another.
    fn mapped<'m>(&self, slot: u16, values: &'m [u8]) -> Option<RawValue<'m>> {
        let value = self.slots.get(self.url, slot);
        let mut cursor = Cursor::new(values, 0);
        loop {
            let (is, becomes) = (cursor.text()?, cursor.text()?);
            if is == value {
                return Some(becomes);
            }
        }
    }

    fn is_bare(&self, source: Source<'_>) -> bool {
        match source {
            Source::Literal(value) => value.is_none(),
            Source::Slot(slot) => self.slots.get(self.url, slot).is_none(),
            Source::Map(slot, values) => {
                self.mapped(slot, values).is_none() && self.slots.get(self.url, slot).is_none()
            }
            Source::Star | Source::Join(_) => false,
        }
    }

    /// Appends the value of a slot that is present.
    #[inline(always)]
    fn copy(&mut self, slot: u16) -> Option<()> {
        let (start, length) = self.slots.span(slot)?.extent();
        self.out.push_part(self.url.padded(), start, length);
        Some(())
    }

    fn put(&mut self, source: Source<'_>) -> Option<()> {
        match source {
            Source::Literal(text) => self.out.push_slice(text.unwrap_or_default()),
            Source::Star => self.out.push(b'*'),
            Source::Slot(slot) => self.copy(slot)?,
            Source::Map(slot, values) => match self.mapped(slot, values) {
                Some(becomes) => self.out.push_slice(becomes.unwrap_or_default()),
                None => self.copy(slot)?,
            },
            Source::Join(parts) => {
                let mut cursor = Cursor::new(parts, 0);
                while let Some(code) = cursor.u8() {
                    let text = match code {
                        PART_LITERAL => cursor.text()??,
                        PART_SLOT => self.value(cursor.u16()?)?,
                        PART_ATOM => {
                            let value = self.value(cursor.u16()?)?;
                            Atom::read(&mut cursor)?.of(value)?
                        }
                        _ => return None,
                    };
                    self.out.push_slice(text);
                    check_length(self.max_len, self.out)?;
                }
            }
        }
        check_length(self.max_len, self.out)
    }

    /// The text of a slot, if it is present and has any.
    fn value(&self, slot: u16) -> Option<&'a [u8]> {
        if self.slots.has(slot) { self.slots.get(self.url, slot) } else { None }
    }

    fn put_param(&mut self, name: &[u8], source: Source<'_>) -> Option<()> {
        self.out.push_slice(name);
        if !self.is_bare(source) {
            self.out.push(b'=');
            self.put(source)?;
        }
        Some(())
    }

    fn put_other(&mut self, other: &Param) {
        let (start, length) = other.name.extent();
        self.out.push_part(self.url.padded(), start, length);
        if !other.value.is_bare() {
            self.out.push(b'=');
            let (start, length) = other.value.extent();
            self.out.push_part(self.url.padded(), start, length);
        }
    }
}

/// What stands before the next parameter.
struct Lead {
    lead: u8,
    separator: u8,
}

impl Lead {
    fn push(&mut self, out: &mut TextBuffer) {
        out.push(std::mem::replace(&mut self.lead, self.separator));
    }
}
