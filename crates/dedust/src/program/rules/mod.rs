/*!
How do the compiled rules of a site lie in memory, and which of them may concern a URL?

Naively, every rule asks its questions of every URL. But most rules are triggered by something that few URLs have: a
parameter, a value anywhere in the path, a capital letter. So every rule has a bit, and every trigger a mask of rules:
a [`EditedUrl`] looks up each name and some values of the path once, and the masks of what it finds tell which rules are
left to ask. Often that is none.

As with rules, a site has texts and fingerprints of its own, and shares all else with sites whose rules are built alike:

```text
site    fingerprints  one byte for each name of a query parameter, of a path parameter, and for each value that rules wait for
        buckets       where there are more than sixteen values: two bytes for the first value of each, and for the end
        ends          of the texts: 0, then one number for each, of 1, 2 or 4 bytes
        texts         the names, then all others, without gaps

shape   header        172 bytes, see `Head`, and 96 where rules change spellings
        names         12 bytes each: rules that wait for it, what is done early
        values        16 bytes each: rules that wait for it, its text, whose value it is
        offsets       of the rules, 4 bytes each
        rules         flags, numbers of tests and changes, index in the site's list, masks, tests, parts that a closed
                      rule counts, changes
```
Offsets count bytes from the start of the site's part or of the shape, and nothing that is read is trusted. Rules are
written by `encode.rs`; `triggers.rs` says what they wait for.
*/

mod change;
mod change_path;
mod early;
mod edited_url;
mod encode;
mod growth;
mod head;
mod independence;
mod mentions;
mod names;
mod one_by_one;
mod params;
mod put_rule;
mod read;
mod replace;
mod roundtrip;
mod run;
mod triggers;
mod values;
mod write;

pub(crate) use self::edited_url::EditedUrl;
pub(crate) use self::encode::encode;
pub use self::one_by_one::{RuleList, UrlParts};
pub(crate) use self::roundtrip::Edited;

use self::names::{Name, Names};
use crate::encoding::{Cursor, array_at, is_same, u16_at, u32_at, u64_at};
use crate::program::{CompiledSite, END_WIDTH, Program, Texts};
use crate::url::{PADDING, RawValue};

const HEAD_BYTES: usize = 172;
const NAME_BYTES: usize = 4 + MASK_BYTES;
const VALUE_BYTES: usize = 8 + MASK_BYTES;
/// For every area and character a mask of rules.
const FOLD_BYTES: usize = 2 * MASK_BYTES * spelling_bits::COUNT;
/// Flags, number of tests, number of changes, index in the site's list, two masks of rules.
const RULE_BYTES: usize = 8 + 2 * MASK_BYTES;
/// Code, spot, whether the value may be absent, the number of a text or of values.
const TEST_BYTES: usize = 12;
/// A bit for every rule; where there are more, neighbours share one.
type RuleMask = u64;
const BITS: usize = RuleMask::BITS as usize;
const MASK_BYTES: usize = size_of::<RuleMask>();
/// Numbers of segments that are told apart; the last stands for all above.
const DEPTHS: usize = 6;
/// Stands for a name that no rule speaks of.
const NO_ID: u16 = u16::MAX;

/// Site: some rules change spellings of all segments or all parameters.
const HAS_FOLDS: u8 = 1;
/// Site: `;` separates query parameters as `&` does, before any other rule is made.
const SPLITS_PARAMS: u8 = 2;
/// Site: some rules wait for values of the path.
const HAS_PATH_VALUES: u8 = 4;

/// Rule: its result can be fetched.
const FETCHABLE: u8 = 1;
/// Rule: it may turn out impossible when some of its changes were made.
const MAY_FAIL: u8 = 2;
/// Rule: it may be made before all others, and need not be asked again: see `independence.rs`.
const IS_ALONE: u8 = 4;
/// Rule: the URL has no other parts than it asks for; with the second flag, query parameters do not count.
const IS_CLOSED: u8 = 8;
const EXCEPT_PARAMS: u8 = 16;
/// Rule: no later one is made where its tests hold.
const IS_LAST: u8 = 32;
/// Rule: it speaks of labels of the host, or counts them.
const NEEDS_LABELS: u8 = 64;

/// Where a URL has what rules wait for; the number of its mask in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Feature {
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

/// Byte offsets in the header. The length of the shape and flags of all sites come first, in five bytes.
const FLAGS_AT: usize = 5;
const EARLY_AT: usize = 6;
const LABEL_INDEX_AT: usize = 7;
/// Of all [`Feature`]s.
const FEATURES_AT: usize = 8;
const FETCHABLE_AT: usize = 64;
const MATTERS_AT: usize = 72;
const DEPTHS_AT: usize = 80;
const COUNT_AT: usize = 128;
const TOTAL_AT: usize = 130;
const QUERY_NAMES_AT: usize = 132;
const PATH_NAMES_AT: usize = 134;
const VALUES_AT: usize = 136;
/// Which characters rules wait for in the path, and in the parameters.
const PATH_CHARACTERS_AT: usize = 138;
const PARAM_CHARACTERS_AT: usize = 139;
/// The number of a text, of 32 bits.
const LABEL_AT: usize = 140;
/// Where the values and rules lie in the shape, and ends and texts in the part of the site.
const VALUE_TABLE_AT: usize = 144;
const RULES_AT: usize = 148;
const ENDS_AT: usize = 152;
const TEXTS_AT: usize = 156;
/// The lowest position of a label that rules speak of which wait for labels, or [`NO_LABELS`].
const FIRST_LABEL_AT: usize = 160;
/// The logarithm of the length up to which URLs do not run out of room unseen: see `growth.rs`.
const UNLIMITED_AT: usize = 161;
const KEYS_ONLY_AT: usize = 164;

/// No rule speaks of labels.
const NO_LABELS: u8 = u8::MAX;

/// The number of a text that is none.
const NO_TEXT: u32 = u32::MAX;

/// Changes that are made as soon as a URL is read, to keys and to URLs: see `early.rs`.
mod early_bits {
    /// Of a name: the first parameter is left out of keys, its value is, it is left out of URLs.
    pub(super) const DROP_IN_KEYS: u8 = 1;
    pub(super) const FORGET_IN_KEYS: u8 = 2;
    pub(super) const DROP_IN_URLS: u8 = 4;
    /// Of a name: some rules wait for certain values.
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
    pub(super) const ESCAPED_PUNCTUATION: u8 = 4;
    /// An escape of anything else.
    pub(super) const ESCAPED_LETTER: u8 = 8;
    pub(super) const PLUS: u8 = 16;
    /// A zero with which a number starts, but does not end.
    pub(super) const PADDING: u8 = 32;
    pub(super) const COUNT: usize = 6;
    pub(super) const ALL: u8 = (1 << COUNT) - 1;
}

/// A [spot](crate::rule::Spot) as it is stored: a code, a position or the number of a name, an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredSpot {
    code: u8,
    index: u16,
    occurrence: u16,
}

impl StoredSpot {
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

    #[inline(always)]
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
    /// Another value, or none.
    pub(super) const IS_NOT: u8 = 6;

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

/// The rules of a site, to be run where they lie. Numbers of the header are read where they are needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleProgram<'a> {
    /// What is of the site alone, what it shares with others, and what may be read after both.
    site: &'a [u8],
    shape: &'a [u8],
    head: &'a [u8; HEAD_BYTES],
    pub(crate) domain_len: usize,
    /// Whether another host may have other rules.
    has_longer: bool,
    /// Whether `;` separates query parameters when a URL is read. Not where rules are made one by one.
    splits_params: bool,
}

impl<'a> RuleProgram<'a> {
    /// The rules of `program`, which has some.
    #[inline]
    pub(crate) fn new(program: &Program<'a>) -> Option<Self> {
        Self::of(program.bytes, program.shape, program.domain_len, program.has_longer)
    }

    #[inline]
    fn of(site: &'a [u8], shape: &'a [u8], domain_len: usize, has_longer: bool) -> Option<Self> {
        let head: &[u8; HEAD_BYTES] = shape.first_chunk()?;
        let splits_params = head[FLAGS_AT] & SPLITS_PARAMS != 0;
        Some(Self { site, shape, head, domain_len, has_longer, splits_params })
    }

    /// The same rules, none of which is made when a URL is read.
    pub(crate) fn one_by_one(self) -> Self {
        Self { splits_params: false, ..self }
    }

    /// The number of rules, those that are made early last.
    pub(crate) fn len(&self) -> usize {
        usize::from(u16_at(self.head, TOTAL_AT))
    }

    #[inline(always)]
    fn has(&self, flag: u8) -> bool {
        self.head[FLAGS_AT] & flag != 0
    }

    /// The rules that wait for a feature.
    #[inline(always)]
    fn triggered_by(&self, feature: Feature) -> RuleMask {
        u64_at(self.head, FEATURES_AT + MASK_BYTES * feature as usize)
    }

    /// The rules that give URLs that can be fetched.
    #[inline(always)]
    fn fetchable(&self) -> RuleMask {
        u64_at(self.head, FETCHABLE_AT)
    }

    /// Those, and others that must not be overlooked when a canonical URL is to have the same key.
    #[inline(always)]
    fn matters(&self) -> RuleMask {
        u64_at(self.head, MATTERS_AT)
    }

    /// The rules that must be asked for the key of a canonical URL: the others have nothing to change there.
    #[inline(always)]
    fn of_keys_only(&self) -> RuleMask {
        u64_at(self.head, KEYS_ONLY_AT)
    }

    /// The length up to which URLs do not run out of room unseen: see `growth.rs`.
    fn unlimited_bytes(&self) -> usize {
        1 << self.head[UNLIMITED_AT].min(31)
    }

    /// The rules that may concern a URL with so many segments.
    #[inline(always)]
    fn with_depth(&self, segments: usize) -> RuleMask {
        u64_at(self.head, DEPTHS_AT + MASK_BYTES * segments.min(DEPTHS - 1))
    }

    /// The rules that change the spelling of an area where any of some characters stands in it.
    #[inline(always)]
    fn folding(&self, area: FoldedArea, characters: u8) -> RuleMask {
        const AREA_BYTES: usize = FOLD_BYTES / 2;
        let mut left = characters & spelling_bits::ALL;
        if left == 0 || !self.has(HAS_FOLDS) {
            return 0;
        }
        let Some(masks) = array_at::<AREA_BYTES>(self.shape, HEAD_BYTES + AREA_BYTES * area as usize) else {
            return 0;
        };
        let mut rules = 0;
        while left != 0 {
            rules |= u64_at(masks, MASK_BYTES * left.trailing_zeros() as usize);
            left &= left - 1;
        }
        rules
    }

    /// The names of query parameters.
    #[inline(always)]
    fn query_names(&self) -> Names<'_> {
        Names::new(self, 0, u16_at(self.head, QUERY_NAMES_AT).into())
    }

    /// The names of path parameters.
    fn path_names(&self) -> Names<'_> {
        let (first, count) = (u16_at(self.head, QUERY_NAMES_AT), u16_at(self.head, PATH_NAMES_AT));
        Names::new(self, first.into(), count.into())
    }

    #[inline(always)]
    fn names_at(&self) -> usize {
        HEAD_BYTES + if self.has(HAS_FOLDS) { FOLD_BYTES } else { 0 }
    }

    #[inline(always)]
    fn texts(&self) -> Texts<'a> {
        let (ends, start) = (u32_at(self.head, ENDS_AT), u32_at(self.head, TEXTS_AT));
        Texts::new(self.site, ends, start, self.head[4] >> END_WIDTH & 3)
    }

    /// The text whose number comes next.
    #[inline(always)]
    fn text(&self, cursor: &mut Cursor<'_>) -> Option<RawValue<'a>> {
        match cursor.u32()? {
            NO_TEXT => Some(None),
            number => self.texts().get(number).map(Some),
        }
    }

    /// Whether a value, of a length that is [`BARE`] if it is none, is the text with a number.
    #[inline(always)]
    fn is_text(&self, number: u32, value: (&[u8], usize, usize)) -> bool {
        let (padded, start, length) = value;
        if number == NO_TEXT || length == BARE {
            return number == NO_TEXT && length == BARE;
        }
        let (at, text_length) = self.texts().any_extent(number);
        length == text_length && is_same(self.site, at, padded, start, length)
    }

    /// The rules that share a bit, by their numbers.
    #[inline(always)]
    fn sharing(&self, bit: u32) -> std::ops::Range<usize> {
        let count = usize::from(u16_at(self.head, COUNT_AT));
        let each = if count <= BITS { 1 } else { count.div_ceil(BITS) };
        let start = bit as usize * each;
        start..(start + each).min(count)
    }

    /// The rule with a number: its flags, numbers of tests and changes, index in the site's list, and where it goes on.
    #[inline(always)]
    fn rule(&self, number: usize) -> Option<(StoredRule, Cursor<'a>)> {
        let at = Cursor::new(self.shape, u32_at(self.head, RULES_AT) as usize + 4 * number).u32()?;
        let mut cursor = Cursor::at(self.shape, at);
        let head = cursor.array::<RULE_BYTES>()?;
        let (tests, changes, list_index) = (u16_at(head, 2), u16_at(head, 4), u16_at(head, 6));
        let (again, conflicts) = (u64_at(head, 8), u64_at(head, 16));
        Some((StoredRule { flags: head[0], tests, changes, list_index, again, conflicts }, cursor))
    }

    /// The index of a rule in the site's list.
    pub(crate) fn list_index(&self, number: usize) -> Option<usize> {
        self.rule(number).map(|(rule, _)| usize::from(rule.list_index))
    }
}

/// A test, as it is stored. Classes and tables of values come after it.
#[derive(Clone, Copy, Debug)]
struct StoredTest {
    code: u8,
    spot: StoredSpot,
    /// Whether the value may be absent.
    is_optional: bool,
    /// The number of a text, or how many values there are.
    number: u32,
}

impl StoredTest {
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let bytes = cursor.array::<TEST_BYTES>()?;
        let spot = StoredSpot { code: bytes[1], index: u16_at(bytes, 2), occurrence: u16_at(bytes, 4) };
        Some(Self { code: bytes[0], spot, is_optional: bytes[6] != 0, number: u32_at(bytes, 8) })
    }
}

/// What stands before the tests and changes of a rule.
#[derive(Clone, Copy, Debug)]
struct StoredRule {
    flags: u8,
    tests: u16,
    changes: u16,
    list_index: u16,
    /// Rules to be asked once more if it changed something, and rules whose changes it must not see: see `independence.rs`.
    again: RuleMask,
    conflicts: RuleMask,
}

/// The length of a value that is none.
const BARE: usize = usize::MAX;
