/*!
Where do the parts of a URL lie while rules are made to it? In the URL, or in what rules have written.

No text is copied to read it, names are numbers, and what was not touched is known, so that it can be copied as a whole.
*/

use super::names::Name;
use super::{BARE, NO_ID, RuleMask, RuleProgram, StoredSpot};
use crate::encoding::first_word;
use crate::rule::Composer;
use crate::text_buffer::TextBuffer;
use crate::url::{ParsedUrl, RawValue, TEXT_NAME};

/// Where texts start that rules have written; no URL is that long.
const WRITTEN: u32 = 1 << 31;

/// Buffers for the parts of one URL.
#[derive(Clone, Debug)]
pub(crate) struct EditedUrl {
    pub(super) parts: Parts,
    /// The parts before a rule that could still turn out impossible.
    pub(super) before: Parts,
    /// What rules have written, after a `*`.
    pub(super) written: Vec<u8>,
    pub(super) spare: Vec<Piece>,
    pub(super) spare_params: Vec<Param>,
    pub(super) composer: Composer,
    /// Of text that is replaced: the URL as it is written, and the one that it becomes.
    pub(super) out: TextBuffer,
    pub(super) text: Vec<u8>,
    pub(super) replaced: ParsedUrl,
    /// How long the URL may become, how many bytes are left to that, and whether a rule was not made since they were too few: see
    /// `growth.rs`.
    pub(super) limit: usize,
    pub(super) room: usize,
    pub(super) is_out_of_room: bool,
    /// Rules that some part of the URL may concern.
    pub(super) triggered: RuleMask,
    /// Characters of the path and of the parameters that make one of several spellings.
    pub(super) characters: [u8; 2],
    /// Whether the URL has a user, whom keys leave out.
    pub(super) has_user: bool,
    /// Whether there is a `;` in the query that may separate parameters.
    pub(super) has_semicolon: bool,
    /// Whether query parameters stand in the order of their names.
    pub(super) is_in_order: bool,
    /// Whether a text may stand in place of a query parameter.
    pub(super) has_text: bool,
    /// What is done early to some parameters.
    pub(super) early: u8,
    /// Whether there is more of what was left out early.
    pub(super) repeats: bool,
    /// A bit for every name that rules speak of and that was met, shared by some names, and whether one was met twice.
    pub(super) names: u64,
    pub(super) has_repeated: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) scheme: Piece,
    /// Left of the domain, from the right, if they were read: see [`EditedUrl::ensure_labels`].
    pub(super) labels: Vec<Piece>,
    pub(super) has_labels: bool,
    /// A label that was left out or forgotten early.
    pub(super) early_label: Option<Piece>,
    pub(super) port: Option<Piece>,
    pub(super) segments: Vec<Piece>,
    pub(super) path_is_forgotten: bool,
    pub(super) has_slash: bool,
    pub(super) path_params: Vec<Param>,
    pub(super) separator: u8,
    /// Whether there is a `;` in the query that separates parameters as `&` does.
    pub(super) is_split: bool,
    pub(super) params: Vec<Param>,
    pub(super) hashbang: Option<Piece>,
    pub(super) touched: Touched,
}

/// Which parts are no longer as they are in the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) scheme: bool,
    pub(super) host: bool,
    pub(super) port: bool,
    pub(super) path: bool,
    pub(super) query: bool,
    pub(super) hashbang: bool,
    /// The path has texts that were no whole segments of the URL's, and parameters have other names or values.
    pub(super) path_text: bool,
    pub(super) query_text: bool,
    /// Some value was forgotten, the slash at the end among them.
    pub(super) is_forgotten: bool,
    pub(super) slash_is_forgotten: bool,
}

impl Touched {
    pub(super) fn any(self) -> bool {
        self.is_before_path() || self.path || self.query || self.hashbang
    }

    /// What either says.
    pub(super) fn or(self, other: Self) -> Self {
        let Self {
            scheme,
            host,
            port,
            path,
            query,
            hashbang,
            path_text,
            query_text,
            is_forgotten,
            slash_is_forgotten,
        } = other;
        Self {
            scheme: self.scheme | scheme,
            host: self.host | host,
            port: self.port | port,
            path: self.path | path,
            query: self.query | query,
            hashbang: self.hashbang | hashbang,
            path_text: self.path_text | path_text,
            query_text: self.query_text | query_text,
            is_forgotten: self.is_forgotten | is_forgotten,
            slash_is_forgotten: self.slash_is_forgotten | slash_is_forgotten,
        }
    }

    pub(super) fn is_before_path(self) -> bool {
        self.scheme || self.host || self.port
    }
}

/// Where a text lies; a parameter without `=` ends before it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Piece {
    pub(super) const BARE: Self = Self { start: 1, end: 0 };
    /// A value that does not matter.
    pub(super) const STAR: Self = Self { start: WRITTEN, end: WRITTEN + 1 };

    #[inline(always)]
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    #[inline(always)]
    pub(super) fn is_bare(self) -> bool {
        self.end < self.start
    }

    #[inline(always)]
    pub(super) fn is_written(self) -> bool {
        self.start >= WRITTEN
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }
}

/// A parameter of the query or of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    /// The first bytes of its name as a number: smaller numbers, smaller names.
    pub(super) word: u64,
    pub(super) name: Piece,
    pub(super) value: Piece,
    /// The number of its name.
    pub(super) id: u16,
    /// What is done to it early.
    pub(super) early: u8,
    /// It stands behind a `;` that separates it from the one before. Keys have `&` there.
    pub(super) is_after_semicolon: bool,
    /// It is a text in place of a parameter: its value is all that is written, and its name is empty.
    pub(super) is_text: bool,
}

impl Param {
    /// What parameters are sorted by.
    #[inline(always)]
    pub(super) fn sorted_by(&self) -> Piece {
        if self.is_text { self.value } else { self.name }
    }
}

impl Default for EditedUrl {
    fn default() -> Self {
        Self {
            parts: Parts::default(),
            before: Parts::default(),
            written: vec![b'*'],
            spare: Vec::new(),
            spare_params: Vec::new(),
            composer: Composer::default(),
            out: TextBuffer::default(),
            text: Vec::new(),
            replaced: ParsedUrl::default(),
            limit: 0,
            room: 0,
            is_out_of_room: false,
            triggered: 0,
            characters: [0; 2],
            has_user: false,
            has_semicolon: false,
            is_in_order: true,
            has_text: false,
            early: 0,
            repeats: false,
            names: 0,
            has_repeated: false,
        }
    }
}

impl Parts {
    /// Becomes a copy, in the buffers that are there.
    pub(super) fn copy_from(&mut self, other: &Self) {
        let Self { scheme, labels, port, segments, path_is_forgotten, has_slash, .. } = other;
        let Self { path_params, separator, is_split, params, hashbang, touched, .. } = other;
        self.labels.clone_from(labels);
        self.segments.clone_from(segments);
        self.path_params.clone_from(path_params);
        self.params.clone_from(params);
        (self.scheme, self.port, self.hashbang, self.touched) = (*scheme, *port, *hashbang, *touched);
        (self.has_labels, self.early_label) = (other.has_labels, other.early_label);
        (self.path_is_forgotten, self.has_slash, self.separator, self.is_split) =
            (*path_is_forgotten, *has_slash, *separator, *is_split);
    }

    /// The index of a segment that is counted from the right.
    pub(super) fn index_from_right(&self, index: u16) -> Option<usize> {
        self.segments.len().checked_sub(usize::from(index) + 1)
    }

    /// Where a value lies that can be read and written.
    pub(super) fn piece(&self, spot: StoredSpot) -> Option<Piece> {
        let segment = |index: Option<usize>| {
            let segment = index.and_then(|index| self.segments.get(index)).copied();
            segment.filter(|_| !self.path_is_forgotten)
        };
        match spot.code {
            StoredSpot::SCHEME => Some(self.scheme),
            StoredSpot::PORT => self.port,
            StoredSpot::HASHBANG => self.hashbang,
            StoredSpot::LABEL => self.labels.get(usize::from(spot.index)).copied(),
            StoredSpot::SEGMENT => segment(Some(usize::from(spot.index))),
            StoredSpot::FROM_RIGHT => segment(self.index_from_right(spot.index)),
            StoredSpot::PATH_PARAM => find(&self.path_params, spot).map(|at| self.path_params[at].value),
            StoredSpot::QUERY_PARAM => find(&self.params, spot).map(|at| self.params[at].value),
            _ => None,
        }
    }

    /// Where a value lies that is to be changed. Notes which part of the URL changes by that.
    pub(super) fn piece_mut(&mut self, spot: StoredSpot) -> Option<&mut Piece> {
        let (piece, touched) = match spot.code {
            StoredSpot::SCHEME => (Some(&mut self.scheme), &mut self.touched.scheme),
            StoredSpot::PORT => (self.port.as_mut(), &mut self.touched.port),
            StoredSpot::HASHBANG => (self.hashbang.as_mut(), &mut self.touched.hashbang),
            StoredSpot::LABEL => (self.labels.get_mut(usize::from(spot.index)), &mut self.touched.host),
            StoredSpot::SEGMENT => {
                self.touched.path_text = true;
                (self.segments.get_mut(usize::from(spot.index)), &mut self.touched.path)
            }
            StoredSpot::FROM_RIGHT => {
                let index = self.index_from_right(spot.index);
                self.touched.path_text = true;
                (index.and_then(|index| self.segments.get_mut(index)), &mut self.touched.path)
            }
            StoredSpot::PATH_PARAM => {
                let at = find(&self.path_params, spot);
                self.touched.path_text = true;
                (at.map(|at| &mut self.path_params[at].value), &mut self.touched.path)
            }
            StoredSpot::QUERY_PARAM => {
                let at = find(&self.params, spot);
                self.touched.query_text = true;
                (at.map(|at| &mut self.params[at].value), &mut self.touched.query)
            }
            _ => return None,
        };
        *touched |= piece.is_some();
        piece
    }
}

/// A value in some bytes that may go on after it: where it starts, and its length, [`BARE`] if it is none.
pub(super) type Located<'a> = (&'a [u8], usize, usize);

/// The value as such.
pub(super) fn raw((text, start, length): Located<'_>) -> RawValue<'_> {
    if length == BARE { None } else { text.get(start..start + length) }
}

/// The parameter with a name and occurrence.
#[inline]
pub(super) fn find(params: &[Param], spot: StoredSpot) -> Option<usize> {
    if spot.index == NO_ID {
        return None;
    }
    let mut named = params.iter().enumerate().filter(|(_, param)| param.id == spot.index);
    named.nth(usize::from(spot.occurrence).checked_sub(1)?).map(|(at, _)| at)
}

impl EditedUrl {
    /// The text of a piece of this URL, and where it starts and ends in that.
    #[inline(always)]
    pub(super) fn locate<'a>(&'a self, url: &'a ParsedUrl, piece: Piece) -> (&'a [u8], usize, usize) {
        if piece.is_written() {
            let start = (piece.start - WRITTEN) as usize;
            (&self.written, start, start + piece.len())
        } else {
            (url.padded(), piece.start as usize, piece.start as usize + piece.len())
        }
    }

    #[inline(always)]
    pub(super) fn text<'a>(&'a self, url: &'a ParsedUrl, piece: Piece) -> &'a [u8] {
        let (text, start, end) = self.locate(url, piece);
        text.get(start..end).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn value<'a>(&'a self, url: &'a ParsedUrl, piece: Piece) -> RawValue<'a> {
        (!piece.is_bare()).then(|| self.text(url, piece))
    }

    /// What a test is asked of.
    #[inline(always)]
    pub(super) fn get<'a>(&'a self, url: &'a ParsedUrl, spot: StoredSpot) -> Option<Located<'a>> {
        let StoredSpot { code, index, occurrence } = spot;
        let piece = match code {
            StoredSpot::QUERY_PARAM if occurrence == 1 && index != NO_ID => {
                self.parts.params.iter().find(|param| param.id == index)?.value
            }
            StoredSpot::SEGMENT if !self.parts.path_is_forgotten => {
                *self.parts.segments.get(usize::from(index))?
            }
            StoredSpot::TRAILING_SLASH => {
                let slash: &[u8] = if self.parts.touched.slash_is_forgotten { b"*" } else { b"/" };
                return self.parts.has_slash.then_some((slash, 0, 1));
            }
            StoredSpot::SEPARATOR => return (self.parts.separator != b'&').then_some((b";", 0, 1)),
            _ => self.parts.piece(spot)?,
        };
        let (text, start, end) = self.locate(url, piece);
        Some((text, start, if piece.is_bare() { BARE } else { end - start }))
    }

    /// Where the next text will be written.
    pub(super) fn write_position(&self) -> u32 {
        WRITTEN + self.written.len() as u32
    }

    /// What was written since a position.
    pub(super) fn written_since(&self, start: u32) -> Piece {
        Piece { start, end: self.write_position() }
    }

    pub(super) fn write_text(&mut self, text: &[u8]) -> Piece {
        let start = self.write_position();
        self.written.extend_from_slice(text);
        self.written_since(start)
    }

    /// A query parameter that was not in the URL, or a text in place of one. Rules that wait for its name are triggered.
    pub(super) fn new_param(&mut self, program: &RuleProgram<'_>, name: &[u8], value: Piece) -> Param {
        let word = first_word(name, 0, name.len());
        let known = program.query_names().find(word, name, 0, name.len());
        if name == TEXT_NAME {
            self.has_text = true;
            return Param { is_text: true, ..self.named(known, word, b"", value) };
        }
        self.named(known, word, name, value)
    }

    /// A path parameter that was not in the URL.
    pub(super) fn new_path_param(&mut self, program: &RuleProgram<'_>, name: &[u8], value: Piece) -> Param {
        let word = first_word(name, 0, name.len());
        let known = program.path_names().find(word, name, 0, name.len());
        self.named(known, word, name, value)
    }

    fn named(&mut self, Name { id, rules, early }: Name, word: u64, name: &[u8], value: Piece) -> Param {
        self.triggered |= rules;
        let name = self.write_text(name);
        Param { word: word.swap_bytes(), name, value, id, early, is_after_semicolon: false, is_text: false }
    }

    /// Notes that a name was met.
    #[inline(always)]
    pub(super) fn meet(&mut self, id: u16) {
        let bit = u64::from(id != NO_ID) << (id % 64);
        self.has_repeated |= self.names & bit != 0;
        self.names |= bit;
    }

    /// Forgets the URL that it held.
    pub(super) fn clear(&mut self) {
        self.written.truncate(1);
        self.is_out_of_room = false;
        (self.has_semicolon, self.is_in_order, self.early, self.repeats) = (false, true, 0, false);
        (self.has_user, self.has_text, self.names, self.has_repeated) = (false, false, 0, false);
        let parts = &mut self.parts;
        parts.touched = Touched::default();
        (parts.path_is_forgotten, parts.has_slash) = (false, false);
        (parts.separator, parts.is_split) = (b'&', false);
        (parts.scheme, parts.port, parts.hashbang, parts.early_label) = (Piece::default(), None, None, None);
        parts.labels.clear();
        parts.has_labels = false;
        parts.segments.clear();
        parts.path_params.clear();
        parts.params.clear();
    }
}
