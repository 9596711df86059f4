/*!
What are the parts of a URL, and which rules do they trigger? A [`ParsedUrl`] to a [`EditedUrl`].
*/

use wide::{CmpEq as _, CmpGt as _, CmpLt as _, i8x16};

use super::edited_url::{EditedUrl, Param, Parts, Piece, Touched};
use super::values::{OF_PATH, ValueHash};
use super::{
    FIRST_LABEL_AT, Feature, FoldedArea, HAS_FOLDS, HAS_PATH_VALUES, NO_ID, Name, Names, PARAM_CHARACTERS_AT,
    PATH_CHARACTERS_AT, RuleMask, RuleProgram, spelling_bits,
};
use crate::delimiters::{LANES, SHORT, lanes_of, low_bits, low_lanes};
use crate::encoding::first_word;
use crate::url::{MAX_POSITIONS, Outline, ParsedUrl, Separators, Span, TEXT_NAME, is_query_text};

/// The [first words](first_word) of schemes.
const HTTP: u64 = u64::from_le_bytes(*b"http\0\0\0\0");
const HTTPS: u64 = u64::from_le_bytes(*b"https\0\0\0");

impl EditedUrl {
    /// Takes `url` apart, which is hierarchical and whose host is of the site. False when rules cannot speak of it.
    #[inline]
    pub(crate) fn read(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
        let parts = url.parts();
        self.written.truncate(1);
        self.set_room(url.as_bytes().len());
        self.is_out_of_room = false;
        (self.has_semicolon, self.is_in_order, self.early, self.repeats) = (false, true, 0, false);
        (self.names, self.has_repeated, self.triggered, self.has_text) = (0, false, 0, false);
        self.has_user = parts.host_start != parts.scheme_end + 3;
        self.parts.touched = Touched::default();
        self.parts.path_is_forgotten = false;
        (self.parts.separator, self.parts.is_split) = (b'&', false);
        self.parts.scheme = Piece::new(0, parts.scheme_end as usize);
        let has_port = parts.path_start > parts.host_end;
        self.parts.port =
            has_port.then(|| Piece::new(parts.host_end as usize + 1, parts.path_start as usize));
        (self.parts.hashbang, self.parts.early_label) = (None, None);
        self.parts.params.clear();
        if !self.read_host(url, program) || !self.read_path(url, program) {
            return false;
        }
        self.read_query(url, program);
        let end = url.as_bytes().len();
        if parts.query_end as usize + 2 <= end {
            self.parts.hashbang = Some(Piece::new(parts.query_end as usize + 2, end));
        }
        if program.has(HAS_FOLDS) {
            let characters = |wanted: usize, start: u32, end: u32| {
                characters(program.head[wanted], url.padded(), start as usize, end as usize)
            };
            self.characters = [
                characters(PATH_CHARACTERS_AT, parts.path_start, parts.path_end),
                characters(PARAM_CHARACTERS_AT, parts.path_end, parts.query_end),
            ];
        }
        self.triggered = self.all_triggered(url, program);
        true
    }

    /// The labels left of the domain, if rules wait for them.
    #[inline]
    fn read_host(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
        self.parts.labels.clear();
        self.parts.has_labels = false;
        !may_have_label(url, program.domain_len, program.head[FIRST_LABEL_AT])
            || self.read_labels(url, program)
    }

    /// The labels left of the domain, from right to left.
    pub(crate) fn read_labels(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
        self.parts.labels.clear();
        self.parts.labels.extend(labels(url, program.domain_len).take(MAX_POSITIONS + 1));
        self.parts.has_labels = true;
        self.parts.labels.len() <= MAX_POSITIONS
    }

    /// Reads the labels if that was not needed before. Hosts with too many are known by now.
    #[inline(never)]
    pub(super) fn ensure_labels(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) {
        if !self.parts.has_labels {
            self.read_labels(url, program);
            self.apply_early_label(program);
        }
    }

    #[inline]
    fn read_path(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
        let padded = url.padded();
        let Parts { segments, path_params: params, has_slash, touched, .. } = &mut self.parts;
        segments.clear();
        params.clear();
        *has_slash = false;
        let Some(mut spans) = Outline::of(url).segments() else { return true };
        for segment in &mut spans {
            segments.push(Piece { start: segment.start, end: segment.end });
        }
        *has_slash = spans.has_slash;
        if let Some(spans) = spans.params() {
            let names = program.path_names();
            for Span { start, name_end, end } in spans {
                let (at, length) = (start as usize, (name_end - start) as usize);
                let word = first_word(padded, at, length);
                let Name { id, rules, early } = names.find(word, padded, at, length);
                self.early |= early;
                self.has_repeated |= !params.is_empty();
                let (name, value) = (Piece { start, end: name_end }, Piece { start: name_end + 1, end });
                let word = word.swap_bytes();
                self.triggered |= rules;
                params.push(Param {
                    word,
                    name,
                    value,
                    id,
                    early,
                    is_after_semicolon: false,
                    is_text: false,
                });
            }
            // What stands before a parameter may be dots, which are a step without it.
            touched.path_text = true;
        }
        segments.len() <= MAX_POSITIONS
    }

    #[inline]
    fn read_query(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) {
        let splits = program.splits_params;
        let separators = if splits { Separators::Both } else { Separators::Safe };
        let Some(query) = Outline::of(url).query(separators) else { return };
        (self.has_semicolon, self.parts.separator) = (query.has_semicolon, query.separator());
        let names = program.query_names();
        for param in query.params() {
            self.read_param(url.padded(), program, &names, param, splits);
        }
    }

    /// Adds a parameter, which a `;` may separate from the one before if it splits.
    #[inline(always)]
    pub(super) fn read_param(
        &mut self,
        padded: &[u8],
        program: &RuleProgram<'_>,
        names: &Names<'_>,
        param: Span,
        splits: bool,
    ) {
        let (start, name_end, end) = (param.start as usize, param.name_end as usize, param.end as usize);
        let is_after_semicolon = splits && param.is_after_semicolon(padded);
        self.parts.is_split |= is_after_semicolon;
        let word = first_word(padded, start, name_end - start);
        let mut param = Param {
            word: word.swap_bytes(),
            name: Piece::new(start, name_end),
            value: Piece::new(name_end + 1, end),
            id: NO_ID,
            early: 0,
            is_after_semicolon,
            is_text: false,
        };
        let name = if name_end < end {
            names.find(word, padded, start, name_end - start)
        } else {
            self.read_bare_param(padded, names, &mut param)
        };
        (param.id, param.early) = (name.id, name.early);
        self.triggered |= name.rules | program.triggered_by_param((name.id, name.early), padded, param.value);
        self.early |= name.early;
        self.meet(name.id);
        let precedes = |last: &Param| {
            // Rules may have written the last; then the order is not asked for.
            let text = |name: Piece| padded.get(name.start as usize..name.end as usize).unwrap_or_default();
            last.word < param.word
                || (last.word == param.word && text(last.sorted_by()) <= &padded[start..name_end])
        };
        self.is_in_order &= self.parts.params.last().is_none_or(precedes);
        self.parts.params.push(param);
    }

    /// A parameter without `=`, or a text in place of one.
    #[inline(never)]
    fn read_bare_param(&mut self, padded: &[u8], names: &Names<'_>, param: &mut Param) -> Name {
        let (start, end) = (param.name.start as usize, param.name.end as usize);
        if is_query_text(&padded[start..end]) {
            (param.name, param.value) = (Piece::new(start, start), param.name);
            param.is_text = true;
            self.has_text = true;
            names.find(first_word(TEXT_NAME, 0, TEXT_NAME.len()), TEXT_NAME, 0, TEXT_NAME.len())
        } else {
            param.value = Piece::BARE;
            names.find(first_word(padded, start, end - start), padded, start, end - start)
        }
    }

    /// The rules that wait for something that this URL has as it was read. What query parameters trigger is known by now.
    #[inline]
    fn all_triggered(&self, url: &ParsedUrl, program: &RuleProgram<'_>) -> RuleMask {
        let parts = &self.parts;
        let mut live = program.triggered_by(Feature::Always);
        live |= match (parts.scheme.is_written(), first_word(url.padded(), 0, parts.scheme.end as usize)) {
            (false, HTTP) => program.triggered_by(Feature::Http),
            (false, HTTPS) => program.triggered_by(Feature::Https),
            _ => RuleMask::MAX,
        };
        if !parts.labels.is_empty() {
            live |= program.triggered_by(Feature::Labels);
        }
        if parts.port.is_some() || parts.hashbang.is_some() || parts.separator != b'&' {
            live |= program.triggered_by(Feature::Rare);
        }
        if parts.has_slash {
            live |= program.triggered_by(Feature::TrailingSlash);
        }
        live | self.triggered | self.triggered_by_path(url, program) | self.triggered_by_spelling(program)
    }

    /// Adds the rules that a segment triggers which came to the path.
    pub(super) fn add_segment(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>, piece: Piece) {
        self.add_characters(url, program, FoldedArea::Path, piece);
        let (text, start, end) = self.locate(url, piece);
        self.triggered |= program.triggered_by_value(OF_PATH, (text, start, end - start))
            | program.triggered_by(Feature::Repeats)
            | self.triggered_by_spelling(program);
    }

    /// Adds the rules that the value of a query parameter triggers which came to it. The number of its name is given, and what is
    /// done early to it.
    pub(super) fn add_param_value(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        name: (u16, u8),
        piece: Piece,
    ) {
        self.add_characters(url, program, FoldedArea::Params, piece);
        let (text, start, _) = self.locate(url, piece);
        let value = if piece.is_bare() { piece } else { Piece::new(start, start + piece.len()) };
        self.triggered |= program.triggered_by_param(name, text, value) | self.triggered_by_spelling(program);
    }

    /// Those of them that wait for values of the path.
    #[inline(always)]
    pub(super) fn triggered_by_path(&self, url: &ParsedUrl, program: &RuleProgram<'_>) -> RuleMask {
        if !program.has(HAS_PATH_VALUES) && program.triggered_by(Feature::Repeats) == 0 {
            return 0;
        }
        self.triggered_by_segments(url, program)
    }

    /// A function of its own, which needs all registers.
    #[inline(never)]
    fn triggered_by_segments(&self, url: &ParsedUrl, program: &RuleProgram<'_>) -> RuleMask {
        let (values, if_repeated) = (program.values(), program.triggered_by(Feature::Repeats));
        let (mut live, mut seen) = (0, 0u64);
        for &segment in &self.parts.segments {
            let (text, start, end) = self.locate(url, segment);
            let hash = ValueHash::new(OF_PATH, text, start, end - start);
            let bit = 1 << (hash.fingerprint() % 64);
            live |= if seen & bit == 0 { 0 } else { if_repeated };
            live |= values.triggered(hash, OF_PATH, (text, start, end - start));
            seen |= bit;
        }
        live
    }

    /// Looks at the characters of a value that came to an area.
    pub(super) fn add_characters(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        area: FoldedArea,
        piece: Piece,
    ) {
        let at = if area == FoldedArea::Path { PATH_CHARACTERS_AT } else { PARAM_CHARACTERS_AT };
        self.characters[area as usize] |= match program.head[at] {
            0 => 0,
            // Of a part of a value it is not known whether a number goes on before it.
            wanted if !piece.is_written() && !piece.is_bare() => {
                characters(wanted, url.padded(), piece.start as usize, piece.end as usize)
                    | wanted & spelling_bits::PADDING
            }
            // Every character that makes a spelling has one of these: capitals, escapes, plus signs, leading zeros.
            wanted => {
                let may_have = |byte: &u8| byte.is_ascii_uppercase() || b"%+0".contains(byte);
                if self.text(url, piece).iter().any(may_have) { wanted } else { 0 }
            }
        };
    }

    /// Those that wait for some characters.
    #[inline(always)]
    pub(super) fn triggered_by_spelling(&self, program: &RuleProgram<'_>) -> RuleMask {
        if !program.has(HAS_FOLDS) {
            return 0;
        }
        let [path, params] = self.characters;
        program.folding(FoldedArea::Path, path) | program.folding(FoldedArea::Params, params)
    }
}

/// Whether a host has a label at a position left of the domain, or perhaps has.
#[inline(always)]
pub(super) fn may_have_label(url: &ParsedUrl, domain_len: usize, position: u8) -> bool {
    Outline::of(url).may_have_label(domain_len, position)
}

/// The labels of a host left of the domain, from right to left.
#[inline]
pub(super) fn labels(url: &ParsedUrl, domain_len: usize) -> impl Iterator<Item = Piece> {
    Outline::of(url).labels(domain_len).map(|Span { start, end, .. }| Piece { start, end })
}

/// Which of some characters that make one of several spellings stand in a part of a URL, or perhaps do.
#[inline]
fn characters(wanted: u8, padded: &[u8], start: usize, end: usize) -> u8 {
    use spelling_bits::{CAPITAL, ESCAPED_LETTER, ESCAPED_PUNCTUATION, ESCAPED_SPACE, PADDING, PLUS};
    const ESCAPES: u8 = ESCAPED_LETTER | ESCAPED_PUNCTUATION | ESCAPED_SPACE;
    let mut found = 0;
    let Some(text) = ShortText::new(padded, start, end) else {
        return long_characters(wanted, padded, start, end);
    };
    if wanted & CAPITAL != 0 && text.bits(|bytes| is_between(bytes, b'A', b'Z')) != 0 {
        found |= CAPITAL;
    }
    if wanted & ESCAPES != 0 && text.bits(|bytes| is(bytes, b'%')) != 0 {
        found |= wanted & ESCAPES & escapes(padded, start, end);
    }
    if wanted & PLUS != 0 && text.bits(|bytes| is(bytes, b'+')) != 0 {
        found |= PLUS;
    }
    if wanted & PADDING != 0 {
        // A digit, a zero before it, and before that no part of a number. What comes first is no digit.
        let digits = text.bits(|bytes| is_between(bytes, b'0', b'9'));
        let (zeros, dots) = (text.bits(|bytes| is(bytes, b'0')), text.bits(|bytes| is(bytes, b'.')));
        found |= if digits & zeros << 1 & !((digits | dots) << 2) == 0 { 0 } else { PADDING };
    }
    found
}

/// Less than [`SHORT`] bytes, and what follows them.
struct ShortText<'a> {
    window: &'a [u8; SHORT],
    length: usize,
}

impl<'a> ShortText<'a> {
    #[inline(always)]
    fn new(padded: &'a [u8], start: usize, end: usize) -> Option<Self> {
        let length = end.checked_sub(start).filter(|&length| length < SHORT)?;
        Some(Self { window: padded.get(start..)?.first_chunk()?, length })
    }

    /// A bit for each byte of which something is true.
    #[inline(always)]
    fn bits(&self, is_it: impl Fn(i8x16) -> i8x16) -> u64 {
        let [first, second, third, fourth] = self.window.as_chunks::<LANES>().0 else { return 0 };
        let found = |lanes: &[u8; LANES]| u64::from(is_it(lanes_of(lanes)).move_mask().cast_unsigned());
        let mut bits = found(first) | found(second) << LANES;
        // Most are shorter than this.
        if self.length > 2 * LANES {
            bits |= found(third) << (2 * LANES) | found(fourth) << (3 * LANES);
        }
        bits & low_bits(self.length as u32)
    }
}

/// Which of some characters stand in a text of any length, or perhaps do.
#[inline(never)]
fn long_characters(wanted: u8, padded: &[u8], start: usize, end: usize) -> u8 {
    use spelling_bits::{CAPITAL, ESCAPED_LETTER, ESCAPED_PUNCTUATION, ESCAPED_SPACE, PADDING, PLUS};
    const ESCAPES: u8 = ESCAPED_LETTER | ESCAPED_PUNCTUATION | ESCAPED_SPACE;
    let mut found = 0;
    if wanted & CAPITAL != 0 && any(padded, start, end, |bytes, _| is_between(bytes, b'A', b'Z')) {
        found |= CAPITAL;
    }
    if wanted & ESCAPES != 0 && any(padded, start, end, |bytes, _| is(bytes, b'%')) {
        found |= wanted & ESCAPES & escapes(padded, start, end);
    }
    if wanted & PLUS != 0 && any(padded, start, end, |bytes, _| is(bytes, b'+')) {
        found |= PLUS;
    }
    // A digit, a zero before it, and before that no part of a number.
    let is_padded = |bytes: i8x16, before: [i8x16; 2]| {
        let starts = !(is_between(before[1], b'0', b'9') | is(before[1], b'.'));
        is_between(bytes, b'0', b'9') & is(before[0], b'0') & starts
    };
    if wanted & PADDING != 0 && any(padded, start, end, is_padded) {
        found |= PADDING;
    }
    found
}

/// Which kinds of escapes there are.
#[cold]
fn escapes(padded: &[u8], start: usize, end: usize) -> u8 {
    let text = padded.get(start..end).unwrap_or_default();
    memchr::memchr_iter(b'%', text).fold(0, |found, at| {
        found
            | match text.get(at + 1..at + 3) {
                Some(b"20") => spelling_bits::ESCAPED_SPACE,
                Some([b'8'..=b'9' | b'A'..=b'F', _]) => spelling_bits::ESCAPED_LETTER,
                Some(_) => spelling_bits::ESCAPED_PUNCTUATION,
                None => 0,
            }
    })
}

#[inline(always)]
fn is(bytes: i8x16, byte: u8) -> i8x16 {
    bytes.cmp_eq(i8x16::splat(byte.cast_signed()))
}

#[inline(always)]
fn is_between(bytes: i8x16, low: u8, high: u8) -> i8x16 {
    bytes.cmp_gt(i8x16::splat((low - 1).cast_signed())) & bytes.cmp_lt(i8x16::splat((high + 1).cast_signed()))
}

/// Whether something is true of any byte and the two before it, sixteen at a time. There are bytes before the first.
#[inline(always)]
fn any(padded: &[u8], start: usize, end: usize, is_it: impl Fn(i8x16, [i8x16; 2]) -> i8x16) -> bool {
    let lanes = |at: usize| {
        let bytes =
            padded.get(at..).and_then(|rest| rest.first_chunk::<LANES>()).copied().unwrap_or_default();
        lanes_of(&bytes)
    };
    let mut at = start;
    while at < end {
        let found = is_it(lanes(at), [lanes(at.saturating_sub(1)), lanes(at.saturating_sub(2))])
            .move_mask()
            .cast_unsigned();
        let wanted = low_lanes(end - at);
        if found & wanted != 0 {
            return true;
        }
        at += LANES;
    }
    false
}
