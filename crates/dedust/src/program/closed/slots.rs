/*!
The values of one URL, by slot: every key that rules of the site speak of has a slot of its own.
*/

use super::CoveringRule;
use crate::url::{ParsedUrl, RawValue};

pub(crate) const SCHEME_SLOT: u16 = 0;
pub(crate) const PORT_SLOT: u16 = 1;
pub(crate) const TRAILING_SLASH_SLOT: u16 = 2;
pub(crate) const SEPARATOR_SLOT: u16 = 3;
pub(crate) const HASHBANG_SLOT: u16 = 4;
/// Present when the scheme is this one: what most rules ask for is then told by the masks alone.
pub(crate) const HTTP_SLOT: u16 = 5;
pub(crate) const HTTPS_SLOT: u16 = 6;
/// Never present, but with a value: what templates copy as if it were that of a key. The domain of the site; all before
/// the path; all before the query; nothing.
pub(crate) const DOMAIN_SLOT: u16 = 7;
pub(crate) const ORIGIN_SLOT: u16 = 8;
pub(crate) const AS_IS_SLOT: u16 = 9;
pub(crate) const NOTHING_SLOT: u16 = 10;
pub(crate) const FIXED_SLOTS: u16 = 11;
/// Stands for a position, name or occurrence that no rule speaks of.
pub(crate) const NO_SLOT: u16 = u16::MAX;

/// Slots whose presence fits into one word.
pub(super) const INLINE_SLOTS: usize = 32;

/// The values of one URL, by slot, as ranges of its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// Which of the first slots are present, and the values of those that are: most sites need no more.
    pub(super) present: u32,
    pub(super) values: [Span; INLINE_SLOTS],
    /// Presence and values of all other slots.
    pub(super) overflow_present: Vec<u32>,
    overflow_values: Vec<Span>,
    /// Whether there are query parameters that no rule of the site knows.
    pub(super) has_unknown: bool,
    /// Whether some name that the rules know stands more than once.
    pub(super) has_repeated: bool,
    /// Whether there is a `;` in the query.
    pub(super) has_semicolon: bool,
    /// All query parameters with their slots, in the order of the URL; kept only if some rule needs them.
    pub(super) params: Vec<(Param, u16)>,
    /// Those that the rule at hand passes through.
    pub(crate) others: Vec<Param>,
}

/// Where a value lies: its start in the low half, its end in the high one. A value that is none ends before it starts.
///
/// One number, since what was just written in two halves cannot be read as a whole without waiting for memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span(u64);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: Span,
    pub(crate) value: Span,
}

impl Span {
    pub(super) const BARE: Self = Self(1);

    #[inline(always)]
    pub(super) fn new(start: u32, end: u32) -> Self {
        Self(u64::from(start) | u64::from(end) << 32)
    }

    /// The range between two positions in a URL, which have 32 bits.
    #[inline(always)]
    pub(super) fn at(start: usize, end: usize) -> Self {
        Self::new(start as u32, end as u32)
    }

    #[inline(always)]
    fn start(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    fn end(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(super) fn of(text: &[u8], url: &ParsedUrl) -> Self {
        let start = text.as_ptr() as usize - url.padded().as_ptr() as usize;
        Self::at(start, start + text.len())
    }

    pub(super) fn of_value(value: RawValue<'_>, url: &ParsedUrl) -> Self {
        value.map_or(Self::BARE, |text| Self::of(text, url))
    }

    #[inline(always)]
    pub(crate) fn is_bare(self) -> bool {
        self.end() < self.start()
    }

    /// Where it starts, and how long it is.
    #[inline(always)]
    pub(crate) fn extent(self) -> (usize, usize) {
        (self.start() as usize, self.end().saturating_sub(self.start()) as usize)
    }

    #[inline(always)]
    pub(crate) fn get<'a>(&self, url: &'a ParsedUrl) -> RawValue<'a> {
        (!self.is_bare()).then(|| &url.padded()[self.start() as usize..self.end() as usize])
    }
}

impl Slots {
    /// Forgets all values, and makes room for those of a site with so many words of slots.
    #[inline(always)]
    pub(super) fn clear(&mut self, words: u32) {
        self.present = 0;
        (self.has_unknown, self.has_repeated, self.has_semicolon) = (false, false, false);
        if words > 1 || !self.overflow_present.is_empty() {
            self.clear_overflow(words);
        }
        self.params.clear();
    }

    #[cold]
    fn clear_overflow(&mut self, words: u32) {
        self.overflow_present.clear();
        self.overflow_present.resize(words.saturating_sub(1) as usize, 0);
        let slots = self.overflow_present.len() * 32;
        self.overflow_values.resize(self.overflow_values.len().max(slots), Span::default());
    }

    #[inline(always)]
    pub(super) fn set(&mut self, slot: u16, value: Span) {
        let index = usize::from(slot);
        if index < INLINE_SLOTS {
            self.present |= 1 << index;
            self.values[index] = value;
        } else {
            self.set_overflow(index - INLINE_SLOTS, value);
        }
    }

    #[inline(never)]
    fn set_overflow(&mut self, slot: usize, value: Span) {
        if let (Some(present), Some(stored)) =
            (self.overflow_present.get_mut(slot / 32), self.overflow_values.get_mut(slot))
        {
            *present |= 1 << (slot % 32);
            *stored = value;
        }
    }

    /// Sets the value of one of the fixed slots that are never present.
    #[inline(always)]
    pub(super) fn set_fixed(&mut self, slot: u16, value: Span) {
        self.values[usize::from(slot) % INLINE_SLOTS] = value;
    }

    /// Where the value of a slot that is present starts, and how long it is; of others anything.
    #[inline(always)]
    pub(crate) fn extent(&self, slot: u16) -> (usize, usize) {
        let index = usize::from(slot);
        if index < INLINE_SLOTS {
            self.values[index].extent()
        } else {
            self.overflow_values.get(index - INLINE_SLOTS).map_or((0, 0), |span| span.extent())
        }
    }

    /// Whether the value of a slot that is present is none; of others anything.
    #[inline(always)]
    pub(crate) fn is_bare(&self, slot: u16) -> bool {
        let index = usize::from(slot);
        if index < INLINE_SLOTS {
            self.values[index].is_bare()
        } else {
            self.overflow_values.get(index - INLINE_SLOTS).is_some_and(|span| span.is_bare())
        }
    }

    /// Collects the query parameters that `rule`, which covers the URL, passes through: by name, or as they stand in
    /// the URL.
    pub(crate) fn gather_others(&mut self, rule: &CoveringRule<'_>, url: &ParsedUrl, by_name: bool) {
        self.others.clear();
        if !rule.keeps_others() {
            return;
        }
        let others = self.params.iter().filter(|(_, slot)| rule.passes(*slot)).map(|(param, _)| param);
        self.others.extend(others);
        if by_name {
            let name = |param: &Param| param.name.get(url);
            self.others
                .sort_unstable_by(|a, b| name(a).cmp(&name(b)).then(a.name.start().cmp(&b.name.start())));
        }
    }

    /// All query parameters with their slots, in the order of the URL.
    pub(crate) fn params(&self) -> &[(Param, u16)] {
        &self.params
    }

    /// Whether a parameter is one that the rule at hand passes through.
    pub(crate) fn is_other(&self, param: &Param) -> bool {
        self.others.iter().any(|other| other.name.start() == param.name.start())
    }

    /// Whether nothing stands in the URL that could be read otherwise once something else is gone.
    pub(crate) fn is_plain(&self) -> bool {
        !self.has_repeated && !self.has_semicolon
    }

    #[inline(always)]
    pub(crate) fn has(&self, slot: u16) -> bool {
        let index = usize::from(slot);
        if index < INLINE_SLOTS {
            self.present & (1 << index) != 0
        } else {
            self.has_overflow(index - INLINE_SLOTS)
        }
    }

    #[inline(never)]
    fn has_overflow(&self, slot: usize) -> bool {
        self.overflow_present.get(slot / 32).is_some_and(|present| present & (1 << (slot % 32)) != 0)
    }

    /// Where the value of a slot lies, if the URL has that key.
    #[inline(always)]
    pub(crate) fn span(&self, slot: u16) -> Option<Span> {
        let index = usize::from(slot);
        if index < INLINE_SLOTS {
            (self.present & (1 << index) != 0).then(|| self.values[index])
        } else if self.has_overflow(index - INLINE_SLOTS) {
            self.overflow_values.get(index - INLINE_SLOTS).copied()
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
