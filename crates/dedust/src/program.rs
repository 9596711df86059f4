/*!
The compiled rules of one site: which key of a URL is kept in which slot, and which rule covers the URL.

A URL is read once into its [`Slots`]; a rule is then two bit masks (which keys must be there, which may be), a
few comparisons, and a template. No regular expressions, no allocation per URL. A program is read where it lies, in
memory or in a file; see `compile/` for how it is written.

```text
header    24 bytes, see `Header`, and four for each of what only some sites have
names     of path parameters, then of query parameters: two flat tables of 16 bytes a name
tags      for every rule: of one value that it asks for
heads     for every rule: where the rest lies, and masks of what must and may be there
rules     flags, numbers of checks, place in the site's list, checks by kind, template of the key, template of the URL
          where that is another
```
Places count bytes from the start of the program.
*/

use crate::compiled::Site;
use crate::compiled::encoding::{Cursor, first_word, is_same, u16_at, u32_at};
use crate::marks::Marks;
use crate::pattern::{class_contains, is_in_class};
use crate::url::{ParsedUrl, RawValue, all_named, path_params, query_params, query_separator};

pub(crate) const SCHEME_SLOT: u16 = 0;
pub(crate) const PORT_SLOT: u16 = 1;
pub(crate) const TRAILING_SLASH_SLOT: u16 = 2;
pub(crate) const SEPARATOR_SLOT: u16 = 3;
pub(crate) const HASHBANG_SLOT: u16 = 4;
/// Present when the scheme is this one: what most rules ask for is then told by the masks alone.
pub(crate) const HTTP_SLOT: u16 = 5;
pub(crate) const HTTPS_SLOT: u16 = 6;
/// Never present, but with a value: what templates copy as if it were that of a key. The domain of the site; all before
/// the query; nothing.
pub(crate) const DOMAIN_SLOT: u16 = 7;
pub(crate) const AS_IS_SLOT: u16 = 8;
pub(crate) const NOTHING_SLOT: u16 = 9;
pub(crate) const FIXED_SLOTS: u16 = 10;
/// Stands for a position, name or occurrence that no rule speaks of.
pub(crate) const NO_SLOT: u16 = u16::MAX;

pub(crate) const HEADER_BYTES: usize = 24;
const FLAGS_AT: usize = 18;
pub(crate) const NAME_BYTES: usize = 16;
/// The length of a name that is none; no name is looked for that is as long.
pub(crate) const NO_NAME: u16 = u16::MAX;
/// The tag of a rule that asks for no value of the site's tag slot.
pub(crate) const ANY_TAG: u32 = 0;

/// Site: query parameters are remembered in the order of the URL.
pub(crate) const KEEPS_ORDER: u8 = 1;
/// Site: some rule passes query parameters through that it does not name.
pub(crate) const KEEPS_OTHERS: u8 = 2;
/// Site: the place of a list follows the header, in this order.
pub(crate) const HAS_SUBSTITUTIONS: u8 = 4;
pub(crate) const HAS_EDITS: u8 = 8;
pub(crate) const HAS_LISTS: u8 = 16;
const LISTS: u8 = HAS_SUBSTITUTIONS | HAS_EDITS | HAS_LISTS;
/// Flags, numbers of checks of three kinds, place in the site's list.
const RULE_BYTES: usize = 6;
/// Rule: query parameters that it does not name are passed through.
pub(crate) const RULE_KEEPS_OTHERS: u8 = 1;
/// Rule: there is a URL to write, not only a key.
pub(crate) const RULE_WRITES: u8 = 2;
/// Rule: what it writes was proven to be canonical, for the URLs that [`Slots::is_plain`] tells.
pub(crate) const RULE_IS_PROVEN: u8 = 4;
/// Rule: the URL is written otherwise than the key.
pub(crate) const RULE_HAS_URL: u8 = 8;
/// Rule: there are slots whose values must be plain for it to be proven.
pub(crate) const RULE_HAS_GUARDS: u8 = 16;

/// The length of a value that is none.
pub(crate) const BARE: u16 = u16::MAX;

/// The rules of one site, ready to run. Small, so that it is handed around in no time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    /// The program, and what may be read after it.
    pub(crate) bytes: &'a [u8],
    pub(crate) domain_len: usize,
    pub(crate) has_longer: bool,
    flags: u8,
}

/// What its header says.
#[derive(Debug)]
struct Header<'a> {
    bytes: &'a [u8],
    domain_len: usize,
    slot_count: u16,
    subdomains: u16,
    segments: u16,
    path_names: Names,
    query_names: Names,
    tags: usize,
    rules: u16,
    tag_slot: u16,
    flags: u8,
}

/// A flat table of names.
#[derive(Clone, Copy, Debug)]
struct Names {
    at: usize,
    /// A power of two, or 0.
    places: usize,
    seed: u8,
}

/// A rule that covers a URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoveringRule<'a> {
    /// The bytes of the program.
    pub(crate) program: &'a [u8],
    /// Where it lies: [`RULE_BYTES`], then what the flags tell.
    at: u32,
    /// Where the template of the key lies.
    pub(crate) key: u32,
    flags: u8,
}

/// The values of one URL, by slot, as ranges of its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// Which of the first slots are present, and the values of those that are: most sites need no more.
    present: u32,
    values: [Span; NEAR_SLOTS],
    /// Likewise for all others.
    far_present: Vec<u32>,
    far_values: Vec<Span>,
    /// Whether there are query parameters that no rule of the site knows.
    has_unknown: bool,
    /// Whether some name that the rules know stands more than once.
    has_repeated: bool,
    /// Whether there is a `;` in the query.
    has_semicolon: bool,
    /// All query parameters with their slots, in the order of the URL; kept only if some rule needs them.
    params: Vec<(Param, u16)>,
    /// Those that the rule at hand passes through.
    pub(crate) others: Vec<Param>,
}

/// Slots whose presence fits into one word.
const NEAR_SLOTS: usize = 32;

/// Where a value lies; a value that is none ends before it starts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: Span,
    pub(crate) value: Span,
}

impl Span {
    const BARE: Self = Self { start: 1, end: 0 };

    #[inline(always)]
    fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    fn of(text: &[u8], url: &ParsedUrl) -> Self {
        let start = text.as_ptr() as usize - url.padded().as_ptr() as usize;
        Self::new(start, start + text.len())
    }

    fn of_value(value: RawValue<'_>, url: &ParsedUrl) -> Self {
        value.map_or(Self::BARE, |text| Self::of(text, url))
    }

    #[inline(always)]
    pub(crate) fn is_bare(self) -> bool {
        self.end < self.start
    }

    /// Where it starts, and how long it is.
    #[inline(always)]
    pub(crate) fn extent(self) -> (usize, usize) {
        (self.start as usize, self.end.saturating_sub(self.start) as usize)
    }

    #[inline(always)]
    pub(crate) fn get<'a>(&self, url: &'a ParsedUrl) -> RawValue<'a> {
        (!self.is_bare()).then(|| &url.padded()[self.start as usize..self.end as usize])
    }
}

impl<'a> Program<'a> {
    #[inline(always)]
    pub(crate) fn new(site: Site<'a>) -> Option<Self> {
        let Site { domain_len, program, has_longer } = site;
        let flags = *program.get(FLAGS_AT)?;
        Some(Self { bytes: program, domain_len, has_longer, flags })
    }

    /// Where the substitutions lie; 0 when there are none.
    #[inline(always)]
    pub(crate) fn substitutions(&self) -> u32 {
        self.list(HAS_SUBSTITUTIONS)
    }

    /// Where the edits lie; 0 when there are none.
    #[inline(always)]
    pub(crate) fn edits(&self) -> u32 {
        self.list(HAS_EDITS)
    }

    /// Where a list lies that only some sites have; 0 when there is none.
    #[inline(always)]
    fn list(&self, flag: u8) -> u32 {
        if self.flags & flag == 0 {
            return 0;
        }
        let before = (self.flags & LISTS & (flag - 1)).count_ones() as usize;
        Cursor::new(self.bytes, HEADER_BYTES + 4 * before).u32().unwrap_or_default()
    }

    /// The first rule that covers `url`. Leaves the values of the URL in `slots`.
    #[inline]
    pub(crate) fn covering_rule(&self, url: &ParsedUrl, slots: &mut Slots) -> Option<CoveringRule<'a>> {
        let header = Header::read(self)?;
        if !url.is_hierarchical() || !slots.read(url, &header) {
            return None;
        }
        let tag = match slots.span(header.tag_slot) {
            Some(span) => tag_of(url.padded(), span),
            None => ANY_TAG,
        };
        let found = match self.list(HAS_LISTS) {
            0 => {
                let tags = self.bytes.get(header.tags..header.tags + 4 * usize::from(header.rules))?;
                let (tags, _) = tags.as_chunks::<4>();
                // All are looked at, since nobody can tell at which one to stop.
                tags.chunks(32).enumerate().find_map(|(chunk, tags)| {
                    let mut likely = 0u32;
                    for (index, wanted) in tags.iter().enumerate() {
                        let wanted = u32::from_le_bytes(*wanted);
                        likely |= u32::from((wanted == tag) | (wanted == ANY_TAG)) << index;
                    }
                    while likely != 0 {
                        let index = likely.trailing_zeros() as usize;
                        if let Some(found) = header.covers(32 * chunk + index, url, slots) {
                            return Some(found);
                        }
                        likely &= likely - 1;
                    }
                    None
                })
            }
            lists => {
                let (mut at, end) = header.listed(lists, tag)?;
                loop {
                    if at >= end {
                        break None;
                    }
                    let index = Cursor::new(self.bytes, at).u16()?;
                    if let Some(found) = header.covers(usize::from(index), url, slots) {
                        break Some(found);
                    }
                    at += 2;
                }
            }
        };
        let (at, key) = found?;
        let mut flags = *self.bytes.get(at as usize)?;
        if self.has_longer {
            // Nothing was shown of other domains.
            flags &= !RULE_IS_PROVEN;
        }
        Some(CoveringRule { program: self.bytes, at, key, flags })
    }
}

impl<'a> Header<'a> {
    #[inline(always)]
    fn read(program: &Program<'a>) -> Option<Self> {
        let Program { bytes, domain_len, flags, .. } = *program;
        let header = bytes.first_chunk::<HEADER_BYTES>()?;
        let (slot_count, subdomains, segments) = (u16_at(header, 4), u16_at(header, 6), u16_at(header, 8));
        let (path_names, query_names) = (usize::from(u16_at(header, 10)), usize::from(u16_at(header, 12)));
        let (rules, tag_slot) = (u16_at(header, 14), u16_at(header, 16));
        let (path_seed, query_seed) = (header[FLAGS_AT + 1], header[FLAGS_AT + 2]);
        let lists = if flags & LISTS == 0 { 0 } else { (flags & LISTS).count_ones() as usize };
        let path_at = HEADER_BYTES + 4 * lists;
        let query_at = path_at + path_names * NAME_BYTES;
        let tags = query_at + query_names * NAME_BYTES;
        let positions = u32::from(FIXED_SLOTS) + u32::from(subdomains) + u32::from(segments);
        let header = Self {
            bytes,
            domain_len,
            slot_count,
            subdomains,
            segments,
            path_names: Names { at: path_at, places: path_names, seed: path_seed },
            query_names: Names { at: query_at, places: query_names, seed: query_seed },
            tags,
            rules,
            tag_slot,
            flags,
        };
        let heads_end = tags + usize::from(rules) * (4 + header.head_bytes());
        (heads_end <= bytes.len() && positions <= u32::from(slot_count)).then_some(header)
    }

    /// Of 32 bits each, in a mask.
    #[inline(always)]
    fn words(&self) -> usize {
        usize::from(self.slot_count).div_ceil(32)
    }

    #[inline(always)]
    fn head_bytes(&self) -> usize {
        4 + 8 * self.words()
    }

    /// Where the numbers of the rules lie that ask for this tag or for none.
    fn listed(&self, lists: u32, tag: u32) -> Option<(usize, usize)> {
        let mut cursor = Cursor::new(self.bytes, lists as usize);
        let tags = cursor.u32()? as usize;
        let (_, tags_at) = cursor.place();
        let (mut low, mut high) = (0, tags);
        while low < high {
            let middle = (low + high) / 2;
            if Cursor::new(self.bytes, tags_at + 4 * middle).u32()? < tag {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let is_listed = low < tags && Cursor::new(self.bytes, tags_at + 4 * low).u32()? == tag;
        // The last list is that of the rules that ask for no tag.
        let list = if is_listed { low } else { tags };
        let mut ends = Cursor::new(self.bytes, tags_at + 4 * tags + 4 * list);
        Some((ends.u32()? as usize, ends.u32()? as usize))
    }

    /// Where the rule lies and its template of the key, if it covers the URL.
    #[inline(always)]
    fn covers(&self, index: usize, url: &ParsedUrl, slots: &Slots) -> Option<(u32, u32)> {
        let heads = self.tags + 4 * usize::from(self.rules);
        let mut head = Cursor::new(self.bytes, heads + index * self.head_bytes());
        let near = head.array::<12>()?;
        let at = u32_at(near, 0);
        let fits = |must: u32, may: u32, present: u32| must & !present == 0 && present & !may == 0;
        if !fits(u32_at(near, 4), u32_at(near, 8), slots.present) {
            return None;
        }
        for &present in &slots.far_present {
            let far = head.array::<8>()?;
            if !fits(u32_at(far, 0), u32_at(far, 4), present) {
                return None;
            }
        }
        let mut cursor = Cursor::new(self.bytes, at as usize);
        let &[flags, values, classes, others, _, _] = cursor.array()?;
        if flags & RULE_HAS_URL != 0 {
            cursor.u32()?;
        }
        if flags & RULE_HAS_GUARDS != 0 {
            let count = cursor.u8()?;
            cursor.take(2 * usize::from(count))?;
        }
        if flags & RULE_KEEPS_OTHERS != 0 {
            cursor.take(4 * self.words())?;
        } else if slots.has_unknown {
            return None;
        }
        for _ in 0..values {
            if !slots.has_value(&mut cursor, url)? {
                return None;
            }
        }
        let mut passes = true;
        for _ in 0..classes {
            let check = cursor.array::<3>()?;
            let (slot, class) = (u16_at(check, 0), check[2]);
            let (start, length) = slots.extent(slot);
            passes &= class_contains(class, url.padded(), start, length) | !slots.has(slot);
        }
        if !passes {
            return None;
        }
        for _ in 0..others {
            if !slots.passes(&mut cursor, url)? {
                return None;
            }
        }
        let (_, key) = cursor.place();
        Some((at, key as u32))
    }

    /// The first slot of a name, and how many occurrences of it the rules know.
    #[inline(always)]
    fn slots_of(&self, names: Names, padded: &[u8], start: usize, length: usize) -> Option<(u16, u16)> {
        if names.places == 0 {
            return None;
        }
        let word = first_word(padded, start, length);
        let at = name_hash(word, length, names.seed) & (names.places - 1);
        let entry = Cursor::new(self.bytes, names.at + at * NAME_BYTES).array::<NAME_BYTES>()?;
        let first = u64::from(u32_at(entry, 0)) | u64::from(u32_at(entry, 4)) << 32;
        let (named_length, slot, extra) = (u16_at(entry, 8), u16_at(entry, 10), u32_at(entry, 12));
        if first != word || usize::from(named_length) != length {
            return None;
        }
        if length > 8 && !is_same(self.bytes, (extra >> 8) as usize, padded, start + 8, length - 8) {
            return None;
        }
        Some((slot, (extra & 0xFF) as u16))
    }
}

/// Where a name is looked for; the seed is chosen so that no two names of a table are looked for in the same place.
#[inline(always)]
pub(crate) fn name_hash(word: u64, length: usize, seed: u8) -> usize {
    let mixed = (word ^ length as u64).wrapping_add(u64::from(seed)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 32)).wrapping_mul(0xD1B5_4A32_D192_ED03) >> 40) as usize
}

/// A number for a value, never [`ANY_TAG`]; different values mostly have different ones.
#[inline(always)]
pub(crate) fn tag(word: u64, length: usize) -> u32 {
    ((word ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 1
}

#[inline(always)]
fn tag_of(padded: &[u8], span: Span) -> u32 {
    let (start, length) = span.extent();
    if span.is_bare() { tag(0, usize::MAX) } else { tag(first_word(padded, start, length), length) }
}

impl CoveringRule<'_> {
    /// Whether there is a URL to write.
    #[inline(always)]
    pub(crate) fn writes(&self) -> bool {
        self.flags & RULE_WRITES != 0
    }

    /// Whether what it writes is canonical for sure, if all [guards](Self::guards) are plain.
    #[inline(always)]
    pub(crate) fn is_proven(&self) -> bool {
        self.flags & RULE_IS_PROVEN != 0
    }

    /// Its place in the site's list.
    pub(crate) fn place(&self) -> usize {
        Cursor::new(self.program, self.at as usize + 4).u16().unwrap_or_default().into()
    }

    /// Where the template of the URL lies.
    #[inline(always)]
    pub(crate) fn url(&self) -> u32 {
        if self.flags & RULE_HAS_URL == 0 {
            return self.key;
        }
        Cursor::new(self.program, self.at as usize + RULE_BYTES).u32().unwrap_or_default()
    }

    fn guards_at(&self) -> usize {
        self.at as usize + RULE_BYTES + if self.flags & RULE_HAS_URL == 0 { 0 } else { 4 }
    }

    fn guard_count(&self) -> usize {
        match self.flags & RULE_HAS_GUARDS {
            0 => 0,
            _ => Cursor::new(self.program, self.guards_at()).u8().unwrap_or_default().into(),
        }
    }

    /// The slots whose values must be plain.
    #[inline(always)]
    pub(crate) fn guards(&self) -> impl Iterator<Item = u16> {
        let mut cursor = Cursor::new(self.program, self.guards_at() + 1);
        (0..self.guard_count()).map(move |_| cursor.u16().unwrap_or(NO_SLOT))
    }

    /// Whether a query parameter is one that is passed through.
    fn passes(&self, slot: u16) -> bool {
        let guards = if self.flags & RULE_HAS_GUARDS == 0 { 0 } else { 1 + 2 * self.guard_count() };
        let named = self.guards_at() + guards;
        self.flags & RULE_KEEPS_OTHERS != 0
            && (slot == NO_SLOT || {
                let word = Cursor::new(self.program, named + usize::from(slot / 32) * 4).u32();
                word.is_some_and(|word| word & (1 << (slot % 32)) == 0)
            })
    }
}

impl Slots {
    /// Reads the pairs of `url`; false when it has a key that no rule knows.
    #[inline]
    fn read(&mut self, url: &ParsedUrl, program: &Header<'_>) -> bool {
        self.present = 0;
        self.far_present.clear();
        if program.words() > 1 {
            let slots = usize::from(program.slot_count);
            self.far_present.resize(program.words() - 1, 0);
            self.far_values
                .resize(self.far_values.len().max(slots.saturating_sub(NEAR_SLOTS)), Span::default());
        }
        (self.has_unknown, self.has_repeated, self.has_semicolon) = (false, false, false);
        self.params.clear();
        let parts = url.parts();
        let host_end = parts.host_end as usize;
        self.values[usize::from(DOMAIN_SLOT)] = Span::new(host_end - program.domain_len, host_end);
        self.values[usize::from(AS_IS_SLOT)] = Span::new(0, parts.path_end as usize);
        self.values[usize::from(NOTHING_SLOT)] = Span::default();
        self.set(SCHEME_SLOT, Span::new(0, parts.scheme_end as usize));
        match url.scheme() {
            b"http" => self.present |= 1 << HTTP_SLOT,
            b"https" => self.present |= 1 << HTTPS_SLOT,
            _ => {}
        }
        if parts.path_start > parts.host_end {
            self.set(PORT_SLOT, Span::new(parts.host_end as usize + 1, parts.path_start as usize));
        }
        if self.read_host(url, program).is_none()
            || self.read_path(url, program).is_none()
            || (parts.query_end > parts.path_end && self.read_query(url, program).is_none())
        {
            return false;
        }
        if let Some(hashbang) = url.hashbang() {
            self.set(HASHBANG_SLOT, Span::of(hashbang, url));
        }
        true
    }

    /// The labels left of the domain, from right to left.
    #[inline]
    fn read_host(&mut self, url: &ParsedUrl, program: &Header<'_>) -> Option<()> {
        let parts = url.parts();
        let start = parts.host_start as usize;
        let mut end = parts.host_end as usize - program.domain_len;
        let mut index = 0;
        while end > start {
            // The dot after the label.
            end -= 1;
            let label = url.padded()[start..end].iter().rposition(|&byte| byte == b'.');
            let label = label.map_or(start, |dot| start + dot + 1);
            if index == program.subdomains {
                return None;
            }
            self.set(FIXED_SLOTS + index, Span::new(label, end));
            index += 1;
            end = label;
        }
        Some(())
    }

    #[inline]
    fn read_path(&mut self, url: &ParsedUrl, program: &Header<'_>) -> Option<()> {
        let (padded, parts) = (url.padded(), url.parts());
        let (first, path_end) = (parts.path_start as usize + 1, parts.path_end as usize);
        if padded[path_end - 1] == b'/' {
            self.set(TRAILING_SLASH_SLOT, Span::new(path_end - 1, path_end));
            if first == path_end {
                return Some(());
            }
        }
        let end = path_end - usize::from(padded[path_end - 1] == b'/');
        let mut start = first;
        let mut slot = FIXED_SLOTS + program.subdomains;
        let last_slot = slot + program.segments;
        let mut semicolon = None;
        for at in Marks::<b'/', b';', b'/'>::new(padded, first, end) {
            if padded[at] == b';' {
                semicolon = semicolon.or(Some(at));
                continue;
            }
            if slot == last_slot {
                return None;
            }
            self.set(slot, Span::new(start, at));
            slot += 1;
            start = at + 1;
            semicolon = None;
        }
        if slot == last_slot {
            return None;
        }
        let params = semicolon.filter(|at| all_named(&padded[at + 1..end], b';'));
        self.set(slot, Span::new(start, params.unwrap_or(end)));
        for (name, value) in path_params(&padded[params.unwrap_or(end)..end]) {
            let name = Span::of(name, url);
            let slot = self.next_free(program, program.path_names, padded, name)?;
            self.set(slot, Span::of_value(value, url));
        }
        Some(())
    }

    #[inline]
    fn read_query(&mut self, url: &ParsedUrl, program: &Header<'_>) -> Option<()> {
        let (padded, parts) = (url.padded(), url.parts());
        let (mut start, end) = (parts.path_end as usize + 1, parts.query_end as usize);
        let mut equals = None;
        for at in Marks::<b'&', b'=', b';'>::new(padded, start, end) {
            match padded[at] {
                b'&' => {
                    self.read_param(padded, program, start, equals, at)?;
                    (start, equals) = (at + 1, None);
                }
                b'=' => equals = equals.or(Some(at)),
                _ if self.has_semicolon => {}
                _ => {
                    self.has_semicolon = true;
                    let query = &padded[parts.path_end as usize + 1..end];
                    // There is no `&` then, so no parameter was read yet.
                    if query_separator(query) == b';' {
                        self.set(SEPARATOR_SLOT, Span::new(at, at + 1));
                        return self.read_separated(query, url, program);
                    }
                }
            }
        }
        self.read_param(padded, program, start, equals, end)
    }

    /// Reads a query whose parameters are separated by semicolons.
    #[cold]
    fn read_separated(&mut self, query: &[u8], url: &ParsedUrl, program: &Header<'_>) -> Option<()> {
        for (name, value) in query_params(query, b';') {
            let start = Span::of(name, url).start as usize;
            let equals = value.map(|_| start + name.len());
            let end = value.map_or(start + name.len(), |value| start + name.len() + 1 + value.len());
            self.read_param(url.padded(), program, start, equals, end)?;
        }
        Some(())
    }

    #[inline(always)]
    fn read_param(
        &mut self,
        padded: &[u8],
        program: &Header<'_>,
        start: usize,
        equals: Option<usize>,
        end: usize,
    ) -> Option<()> {
        let name = Span::new(start, equals.unwrap_or(end));
        let value = equals.map_or(Span::BARE, |at| Span::new(at + 1, end));
        let slot = self.next_free(program, program.query_names, padded, name);
        if program.flags & KEEPS_ORDER != 0 {
            self.params.push((Param { name, value }, slot.unwrap_or(NO_SLOT)));
            if slot.is_none() && program.flags & KEEPS_OTHERS != 0 {
                self.has_unknown = true;
                return Some(());
            }
        }
        self.set(slot?, value);
        Some(())
    }

    /// The slot of the next occurrence of a name, if the rules know of it.
    #[inline(always)]
    fn next_free(&mut self, program: &Header<'_>, names: Names, padded: &[u8], name: Span) -> Option<u16> {
        let (start, length) = name.extent();
        let (first, count) = program.slots_of(names, padded, start, length)?;
        if !self.has(first) {
            return Some(first);
        }
        self.has_repeated = true;
        (first.saturating_add(1)..first.saturating_add(count)).find(|&slot| !self.has(slot))
    }

    #[inline(always)]
    fn set(&mut self, slot: u16, value: Span) {
        let near = usize::from(slot);
        if near < NEAR_SLOTS {
            self.present |= 1 << near;
            self.values[near] = value;
        } else {
            self.set_far(near - NEAR_SLOTS, value);
        }
    }

    #[inline(never)]
    fn set_far(&mut self, slot: usize, value: Span) {
        if let (Some(present), Some(place)) =
            (self.far_present.get_mut(slot / 32), self.far_values.get_mut(slot))
        {
            *present |= 1 << (slot % 32);
            *place = value;
        }
    }

    /// Whether the slot that `cursor` gives has the value that follows.
    #[inline(always)]
    fn has_value(&self, cursor: &mut Cursor<'_>, url: &ParsedUrl) -> Option<bool> {
        let check = cursor.array::<4>()?;
        let (slot, length) = (u16_at(check, 0), u16_at(check, 2));
        let span = self.span(slot)?;
        if length == BARE || span.is_bare() {
            return Some(length == BARE && span.is_bare());
        }
        let (start, found) = span.extent();
        let (bytes, at) = cursor.place();
        cursor.take(usize::from(length))?;
        Some(found == usize::from(length) && is_same(url.padded(), start, bytes, at, found))
    }

    /// Whether the slot that `cursor` gives is of the class that follows, and has none of the values after that.
    fn passes(&self, cursor: &mut Cursor<'_>, url: &ParsedUrl) -> Option<bool> {
        let slot = cursor.u16()?;
        let value = if self.has(slot) { self.get(url, slot) } else { None };
        let mut passes = is_in_class(cursor, value)?;
        for _ in 0..cursor.u16()? {
            passes &= cursor.text()? != value;
        }
        Some(passes || !self.has(slot))
    }

    /// Where the value of a slot that is present starts, and how long it is; of others anything.
    #[inline(always)]
    pub(crate) fn extent(&self, slot: u16) -> (usize, usize) {
        let near = usize::from(slot);
        if near < NEAR_SLOTS {
            self.values[near].extent()
        } else {
            self.far_values.get(near - NEAR_SLOTS).map_or((0, 0), |span| span.extent())
        }
    }

    /// Collects the query parameters that `rule`, which covers the URL, passes through: by name, or as they stand in
    /// the URL.
    pub(crate) fn gather_others(&mut self, rule: &CoveringRule<'_>, url: &ParsedUrl, by_name: bool) {
        self.others.clear();
        if rule.flags & RULE_KEEPS_OTHERS == 0 {
            return;
        }
        let others = self.params.iter().filter(|(_, slot)| rule.passes(*slot)).map(|(param, _)| param);
        self.others.extend(others);
        if by_name {
            let name = |param: &Param| param.name.get(url);
            self.others.sort_unstable_by(|a, b| name(a).cmp(&name(b)).then(a.name.start.cmp(&b.name.start)));
        }
    }

    /// All query parameters with their slots, in the order of the URL.
    pub(crate) fn params(&self) -> &[(Param, u16)] {
        &self.params
    }

    /// Whether a parameter is one that the rule at hand passes through.
    pub(crate) fn is_other(&self, param: &Param) -> bool {
        self.others.iter().any(|other| other.name.start == param.name.start)
    }

    /// Whether nothing stands in the URL that could be read otherwise once something else is gone.
    pub(crate) fn is_plain(&self) -> bool {
        !self.has_repeated && !self.has_semicolon
    }

    #[inline(always)]
    pub(crate) fn has(&self, slot: u16) -> bool {
        let near = usize::from(slot);
        if near < NEAR_SLOTS { self.present & (1 << near) != 0 } else { self.has_far(near - NEAR_SLOTS) }
    }

    #[inline(never)]
    fn has_far(&self, slot: usize) -> bool {
        self.far_present.get(slot / 32).is_some_and(|present| present & (1 << (slot % 32)) != 0)
    }

    /// Where the value of a slot lies, if the URL has that key.
    #[inline(always)]
    pub(crate) fn span(&self, slot: u16) -> Option<Span> {
        let near = usize::from(slot);
        if near < NEAR_SLOTS {
            (self.present & (1 << near) != 0).then(|| self.values[near])
        } else if self.has_far(near - NEAR_SLOTS) {
            self.far_values.get(near - NEAR_SLOTS).copied()
        } else {
            None
        }
    }

    /// The value of a slot that is present.
    #[inline(always)]
    pub(crate) fn get<'u>(&self, url: &'u ParsedUrl, slot: u16) -> RawValue<'u> {
        self.span(slot)?.get(url)
    }
}
