/*!
The compiled edits of one site: which of them may concern a URL is told by a few masks, and only those are run.

Naively, every edit asks its questions of every URL. But most edits wait for something that few URLs have: a
parameter, a value in some place of the path, a capital letter. So every edit has a bit, and whatever it waits for has
a mask of the edits that do: a [`Draft`] looks up each name and some values of the path once, and the masks of what it
finds tell which edits are left to ask. Often that is none.

```text
header    96 bytes, see `Head`, and 48 where edits change spellings
names     of query parameters, then of path parameters: two flat tables of 20 bytes a name
values    of the path: a flat table of 8 bytes a value
places    of the edits, 4 bytes each
edits     flags, numbers of tests and changes, place in the site's list, tests, changes
```
Places count bytes from the start of the site's program, and nothing that is read is trusted. Edits are written by
`encode.rs`; `waits.rs` says what they wait for. Where there are more edits than bits, neighbours share one.
*/

mod change;
mod draft;
mod early;
mod encode;
mod names;
mod one_by_one;
mod read;
mod reads_back;
mod run;
mod split;
mod waits;
mod write;

pub(crate) use self::draft::Draft;
pub(crate) use self::encode::encode;
pub use self::one_by_one::{EditList, UrlParts};
pub(crate) use self::reads_back::Edited;

use self::names::{Name, Names};
use crate::compiled::encoding::{Cursor, first_word, u16_at, u32_at};
use crate::program::Program;

const HEAD_BYTES: usize = 96;
const NAME_BYTES: usize = 20;
const VALUE_BYTES: usize = 8;
/// For every area and character a mask of edits.
const FOLD_BYTES: usize = 2 * 4 * spelling_bits::COUNT;
/// Flags, number of tests, number of changes, place in the site's list.
const EDIT_BYTES: usize = 8;
/// Bits of a mask of edits.
const BITS: usize = 32;
/// Numbers of segments that are told apart; the last stands for all above.
const DEPTHS: usize = 6;
/// The length of a name that is none; no name is looked for that is as long.
const NO_NAME: u16 = u16::MAX;
/// Stands for a name that no edit speaks of.
const NO_ID: u16 = u16::MAX;

/// Site: some edits change spellings of all segments or all parameters.
const HAS_FOLDS: u8 = 1;
/// Site: some edits speak of host labels.
const SPEAKS_OF_LABELS: u8 = 2;

/// Edit: its result can be fetched.
const FETCHABLE: u8 = 1;
/// Edit: it may turn out impossible when some of its changes were made.
const MAY_FAIL: u8 = 2;
/// Edit: what it looks at and changes is of no concern to any other edit of the site.
const IS_ALONE: u8 = 4;
/// Edit: the URL has no other parts than it asks for; with the second flag, query parameters do not count.
const IS_CLOSED: u8 = 8;
const EXCEPT_PARAMS: u8 = 16;
/// Edit: no later one is made where its tests hold.
const IS_LAST: u8 = 32;

/// Where a URL has what edits wait for; the number of its mask in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    /// Every URL has it.
    Always,
    Http,
    Https,
    /// A port, something after `#!`, or parameters separated by semicolons.
    Rare,
    TrailingSlash,
    Labels,
    /// Two segments of the path that look the same.
    Repeats,
}

/// Byte offsets in the header, after the masks of all [`Mark`]s.
const FETCHABLE_AT: usize = 28;
const MATTERS_AT: usize = 32;
const DEPTHS_AT: usize = 36;
const COUNT_AT: usize = 60;
const QUERY_NAMES_AT: usize = 62;
const PATH_NAMES_AT: usize = 64;
const VALUES_AT: usize = 66;
const QUERY_SEED_AT: usize = 68;
const PATH_SEED_AT: usize = 69;
const FLAGS_AT: usize = 72;
const QUERY_STEPS_AT: usize = 73;
const PATH_STEPS_AT: usize = 74;
const EARLY_AT: usize = 75;
const LABEL_INDEX_AT: usize = 76;
const LABEL_LENGTH_AT: usize = 77;
const LABEL_AT: usize = 78;
const TOTAL_AT: usize = 86;
/// Which characters edits wait for in the path, and in the parameters.
const PATH_CHARACTERS_AT: usize = 70;
const PARAM_CHARACTERS_AT: usize = 71;
/// A bit for every value that edits wait for, shared by many values.
const FILTER_AT: usize = 88;

/// Changes that are made as soon as a URL is read, to keys and to URLs: see `early.rs`.
mod early_bits {
    /// Of a name: the first parameter is left out of keys, its value is, it is left out of URLs.
    pub(super) const DROP_IN_KEYS: u8 = 1;
    pub(super) const FORGET_IN_KEYS: u8 = 2;
    pub(super) const DROP_IN_URLS: u8 = 4;
    /// Of a name: some edits wait for certain values.
    pub(super) const HAS_VALUES: u8 = 8;

    /// Of the site, in keys and in URLs: no slash at the end, `http` for `https`, a label left out.
    pub(super) const NO_SLASH: [u8; 2] = [1, 2];
    pub(super) const HTTP: [u8; 2] = [4, 8];
    pub(super) const NO_LABEL: [u8; 2] = [16, 32];
}

/// A part of a URL that is spelled in one way as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FoldedArea {
    Path,
    Params,
}

/// Characters that make a value one of several spellings. A set of these is a number.
mod spelling_bits {
    pub(super) const CAPITAL: u8 = 1;
    /// `%20`.
    pub(super) const ESCAPED_SPACE: u8 = 2;
    /// Any other escape of a character below 128.
    pub(super) const ESCAPED_MARK: u8 = 4;
    /// An escape of anything else.
    pub(super) const ESCAPED_LETTER: u8 = 8;
    pub(super) const PLUS: u8 = 16;
    /// A zero with which a number starts, but does not end.
    pub(super) const PADDING: u8 = 32;
    pub(super) const COUNT: usize = 6;
    pub(super) const ALL: u8 = (1 << COUNT) - 1;
}

/// A place in a URL that an edit speaks of, as it is stored: a code, a position or the number of a name, an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    code: u8,
    index: u16,
    occurrence: u16,
}

impl Place {
    const SCHEME: u8 = 0;
    const PORT: u8 = 1;
    const HASHBANG: u8 = 2;
    const TRAILING_SLASH: u8 = 3;
    const SEPARATOR: u8 = 4;
    const LABEL: u8 = 5;
    const SEGMENT: u8 = 6;
    const FROM_RIGHT: u8 = 7;
    const PATH_PARAM: u8 = 8;
    const QUERY_PARAM: u8 = 9;

    /// The occurrence that stands for all parameters of a name.
    const ALL: u16 = 0;

    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let bytes = cursor.array::<5>()?;
        Some(Self {
            code: bytes[0],
            index: u16::from_le_bytes([bytes[1], bytes[2]]),
            occurrence: u16::from_le_bytes([bytes[3], bytes[4]]),
        })
    }
}

/// Codes of tests and changes. Sources and parts of paths have flags and codes of their own, in `encode.rs` and `run.rs`.
mod code {
    pub(super) const IS: u8 = 0;
    pub(super) const ONE_OF: u8 = 1;
    pub(super) const NOT: u8 = 2;
    pub(super) const ANY: u8 = 3;
    pub(super) const ABSENT: u8 = 4;
    /// A class, with exceptions, of a value that may be absent.
    pub(super) const ANY_BUT: u8 = 5;

    pub(super) const DROP: u8 = 0;
    pub(super) const FORGET: u8 = 1;
    pub(super) const FORGET_PATH: u8 = 2;
    pub(super) const MAP: u8 = 3;
    pub(super) const FOLD: u8 = 4;
    pub(super) const SET: u8 = 5;
    pub(super) const PATH: u8 = 6;
    pub(super) const UNREPEAT: u8 = 7;
    pub(super) const UNREPEAT_PARAMS: u8 = 8;
    pub(super) const SPLIT_PARAMS: u8 = 9;
    pub(super) const ORDER: u8 = 10;

    pub(super) const FOLD_PATH: u8 = 0;
    pub(super) const FOLD_PARAMS: u8 = 1;
    pub(super) const FOLD_ONE: u8 = 2;

    pub(super) const PART_TEXT: u8 = 0;
    pub(super) const PART_SEGMENTS: u8 = 1;
    pub(super) const PART_FIRST: u8 = 2;
    pub(super) const PART_LAST: u8 = 3;
    pub(super) const PART_VALUE: u8 = 4;

    /// A value is read, not only a text written.
    pub(super) const SOURCE_READS: u8 = 1;
    pub(super) const SOURCE_HAS_ATOM: u8 = 2;
    pub(super) const SOURCE_COUNTS: u8 = 4;
    pub(super) const SOURCE_HAS_TABLE: u8 = 8;
}

/// The edits of a site, to be run where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EditProgram<'a> {
    /// The program of the site, and what may be read after it.
    bytes: &'a [u8],
    head: &'a [u8; HEAD_BYTES],
    query_names: usize,
    path_names: usize,
    values: usize,
    edits: usize,
    pub(crate) domain_len: usize,
    /// Whether another host may have other rules.
    has_longer: bool,
}

impl<'a> EditProgram<'a> {
    /// The edits of `program`, which has some.
    #[inline]
    pub(crate) fn new(program: &Program<'a>) -> Option<Self> {
        Self::at(program.bytes, program.edits() as usize, program.domain_len, program.has_longer)
    }

    /// Those that start at some place of a program.
    #[inline]
    fn at(bytes: &'a [u8], at: usize, domain_len: usize, has_longer: bool) -> Option<Self> {
        let head = bytes.get(at..)?.first_chunk::<HEAD_BYTES>()?;
        let folds = if head[FLAGS_AT] & HAS_FOLDS == 0 { 0 } else { FOLD_BYTES };
        let query_names = at + HEAD_BYTES + folds;
        let path_names = query_names + usize::from(u16_at(head, QUERY_NAMES_AT)) * NAME_BYTES;
        let values = path_names + usize::from(u16_at(head, PATH_NAMES_AT)) * NAME_BYTES;
        let edits = values + usize::from(u16_at(head, VALUES_AT)) * VALUE_BYTES;
        Some(Self { bytes, head, query_names, path_names, values, edits, domain_len, has_longer })
    }

    /// The number of edits, those that are made early last.
    pub(crate) fn len(&self) -> usize {
        usize::from(u16_at(self.head, TOTAL_AT))
    }

    #[inline(always)]
    fn has(&self, flag: u8) -> bool {
        self.head[FLAGS_AT] & flag != 0
    }

    /// The edits that wait for a mark.
    #[inline(always)]
    fn waiting(&self, mark: Mark) -> u32 {
        u32_at(self.head, 4 * mark as usize)
    }

    /// The edits that give URLs that can be fetched.
    #[inline(always)]
    fn fetchable(&self) -> u32 {
        u32_at(self.head, FETCHABLE_AT)
    }

    /// Those, and others that must not be overlooked when a canonical URL is to have the same key.
    #[inline(always)]
    fn matters(&self) -> u32 {
        u32_at(self.head, MATTERS_AT)
    }

    /// The edits that may concern a URL with so many segments.
    #[inline(always)]
    fn with_depth(&self, segments: usize) -> u32 {
        u32_at(self.head, DEPTHS_AT + 4 * segments.min(DEPTHS - 1))
    }

    /// The edits that change the spelling of an area where any of some characters stands in it.
    #[inline(always)]
    fn folding(&self, area: FoldedArea, characters: u8) -> u32 {
        if !self.has(HAS_FOLDS) {
            return 0;
        }
        const AREA_BYTES: usize = FOLD_BYTES / 2;
        let at = self.query_names - FOLD_BYTES + AREA_BYTES * area as usize;
        let Some(masks) = Cursor::new(self.bytes, at).array::<AREA_BYTES>() else { return 0 };
        let (mut edits, mut left) = (0, characters & spelling_bits::ALL);
        while left != 0 {
            edits |= u32_at(masks, 4 * left.trailing_zeros() as usize);
            left &= left - 1;
        }
        edits
    }

    /// What is known of a name of query parameters; `word` is its [first word](first_word).
    #[inline(always)]
    fn query_name(&self, word: u64, padded: &[u8], start: usize, length: usize) -> Name {
        let names = Names {
            at: self.query_names,
            places: usize::from(u16_at(self.head, QUERY_NAMES_AT)),
            seed: self.head[QUERY_SEED_AT],
            steps: self.head[QUERY_STEPS_AT],
        };
        names.find(self.bytes, word, padded, start, length)
    }

    /// What is known of a name of path parameters.
    fn path_name(&self, word: u64, padded: &[u8], start: usize, length: usize) -> Name {
        let names = Names {
            at: self.path_names,
            places: usize::from(u16_at(self.head, PATH_NAMES_AT)),
            seed: self.head[PATH_SEED_AT],
            steps: self.head[PATH_STEPS_AT],
        };
        names.find(self.bytes, word, padded, start, length)
    }

    /// The bits of values that edits wait for.
    #[inline(always)]
    fn filter(&self) -> u64 {
        u64::from(u32_at(self.head, FILTER_AT)) | u64::from(u32_at(self.head, FILTER_AT + 4)) << 32
    }

    /// The edits that wait for a value of the path, or of a query parameter.
    #[inline(always)]
    fn waiting_for_value(&self, tag: u32) -> u32 {
        if self.filter() & filter_bit(tag) == 0 { 0 } else { self.waiting_for_tag(tag) }
    }

    #[inline(never)]
    fn waiting_for_tag(&self, tag: u32) -> u32 {
        let places = usize::from(u16_at(self.head, VALUES_AT));
        for step in 0..places {
            let at = self.values + (((tag >> 8) as usize + step) & (places - 1)) * VALUE_BYTES;
            let Some(entry) = Cursor::new(self.bytes, at).array::<VALUE_BYTES>() else { return 0 };
            match u32_at(entry, 0) {
                0 => return 0,
                found if found == tag => return u32_at(entry, 4),
                _ => {}
            }
        }
        0
    }

    /// The edits that share a bit, by their numbers.
    #[inline(always)]
    fn sharing(&self, bit: u32) -> std::ops::Range<usize> {
        let count = usize::from(u16_at(self.head, COUNT_AT));
        let each = if count <= BITS { 1 } else { count.div_ceil(BITS) };
        let start = bit as usize * each;
        start..(start + each).min(count)
    }

    /// The edit with a number: its flags, numbers of tests and changes, place in the site's list, and where it goes on.
    #[inline(always)]
    fn edit(&self, number: usize) -> Option<(StoredEdit, Cursor<'a>)> {
        let at = Cursor::new(self.bytes, self.edits + 4 * number).u32()?;
        let mut cursor = Cursor::new(self.bytes, at as usize);
        let head = cursor.array::<EDIT_BYTES>()?;
        let (tests, changes, place) = (u16_at(head, 2), u16_at(head, 4), u16_at(head, 6));
        Some((StoredEdit { flags: head[0], tests, changes, place }, cursor))
    }

    /// The place of an edit in the site's list.
    pub(crate) fn place(&self, number: usize) -> Option<usize> {
        self.edit(number).map(|(edit, _)| usize::from(edit.place))
    }
}

/// What stands before the tests and changes of an edit.
#[derive(Clone, Copy, Debug)]
struct StoredEdit {
    flags: u8,
    tests: u16,
    changes: u16,
    place: u16,
}

/// Whose values are looked up: those of the path, or those of a query parameter, whose number is added.
const OF_PATH: u32 = 0;
const OF_QUERY: u32 = 1;
/// The length of a value that is none.
const BARE: usize = usize::MAX;

/// A number for a value, never 0; different values mostly have different ones.
#[inline(always)]
fn value_tag(of: u32, padded: &[u8], start: usize, length: usize) -> u32 {
    let word = if length == BARE { 0 } else { first_word(padded, start, length) };
    let mixed = word ^ (length as u64).rotate_right(8) ^ u64::from(of).rotate_right(24);
    let mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)) >> 24) as u32 | 1
}

/// The bit of a value.
#[inline(always)]
fn filter_bit(tag: u32) -> u64 {
    1 << (tag >> 2 & 63)
}
