/*!
Closed rules: which of them covers a URL, and what it writes.

All of the URLs that a closed rule covers is known when it is compiled. So every key of a site gets a slot, a URL is read once into its
[`Slots`] (`read.rs`), and a rule is two bit masks (which keys must be there, which may be), a few comparisons, and a template
(`template.rs`). No regular expressions, no allocation per URL. `shape.rs` says how rules lie in memory; `encode.rs`, `layout.rs` and
`put_template.rs` write them, and `proof.rs` says which of them write canonical URLs for sure.
*/

mod encode;
mod layout;
mod proof;
mod put_template;
mod read;
mod shape;
mod slots;
pub(crate) mod template;

pub(crate) use self::encode::{can_cover, encode};
pub(crate) use self::slots::Slots;

use self::shape::{ANY_FINGERPRINT, BARE_FINGERPRINT, LANES, Shape};
use self::slots::NO_SLOT;
use super::class_code::{class_contains, is_in_class};
use super::text_builder::NO_TEXT;
use super::{HAS_EDITS, IS_MIRROR, Program, Texts, fingerprint_of};
use crate::encoding::{Cursor, Text, first_word, u16_at, u32_at};
use crate::url::ParsedUrl;

/// Flags, numbers of checks of three kinds, index in the site's list.
const RULE_BYTES: usize = 6;
/// Query parameters that the rule does not name are passed through.
const RULE_KEEPS_OTHERS: u8 = 1;
/// There is a URL to write, not only a key.
const RULE_WRITES: u8 = 2;
/// What the rule writes was proven to be canonical, for the URLs that [`Slots::is_plain`] tells.
const RULE_IS_PROVEN: u8 = 4;
/// The URL is written otherwise than the key.
const RULE_HAS_URL: u8 = 8;
/// There are slots whose values must be plain for the rule to be proven.
const RULE_HAS_GUARDS: u8 = 16;

/// A rule that covers a URL.
#[derive(Debug)]
pub(crate) struct CoveringRule<'a> {
    pub(crate) shape: &'a [u8],
    pub(crate) texts: Texts<'a>,
    /// Where it lies: [`RULE_BYTES`], then what the flags tell.
    at: u32,
    /// Where the template of the key lies.
    pub(crate) key: u32,
    flags: u8,
}

impl<'a> Program<'a> {
    /// The first rule that covers `url`. Leaves the values of the URL in `slots`.
    #[inline(never)]
    pub(crate) fn covering_rule(&self, url: &ParsedUrl, slots: &mut Slots) -> Option<CoveringRule<'a>> {
        // What edits and mirrors have in place of a shape is none.
        if !url.is_hierarchical() || self.flags() & (HAS_EDITS | IS_MIRROR) != 0 {
            return None;
        }
        let shape = Shape::read(self.shape, self.bytes)?;
        slots.read(url, self.domain_len, &shape)?;
        // Mostly it is known from the path which rules there may be, and that there are none.
        let (mut fingerprint, mut likely) = (ANY_FINGERPRINT, None);
        if shape.is_tagged_by_path() {
            fingerprint = fingerprint_of_tag(&shape, url, slots);
            likely = Some(shape.likely_rules(0, fingerprint)?);
            if likely == Some(0) && shape.rules() <= LANES as u32 {
                return None;
            }
        }
        slots.read_params(url, &shape)?;
        let mut likely = match likely {
            Some(likely) => likely,
            None => {
                fingerprint = fingerprint_of_tag(&shape, url, slots);
                shape.likely_rules(0, fingerprint)?
            }
        };
        let mut from = 0;
        loop {
            while likely != 0 {
                let index = from + likely.trailing_zeros();
                if let Some((at, key)) = covers(&shape, index, url, slots) {
                    let mut flags = *shape.bytes.get(at as usize)?;
                    if self.has_longer {
                        // Nothing was shown of other domains.
                        flags &= !RULE_IS_PROVEN;
                    }
                    return Some(CoveringRule { shape: shape.bytes, texts: shape.texts(), at, key, flags });
                }
                likely &= likely - 1;
            }
            from += LANES as u32;
            if from >= shape.rules() {
                return None;
            }
            likely = shape.likely_rules(from, fingerprint)?;
        }
    }
}

/// The fingerprint of the value that the URL has in the tag slot.
#[inline(always)]
fn fingerprint_of_tag(shape: &Shape<'_>, url: &ParsedUrl, slots: &Slots) -> u8 {
    let Some(span) = slots.span(shape.tag_slot()) else { return ANY_FINGERPRINT };
    let (start, length) = span.extent();
    if span.is_bare() {
        BARE_FINGERPRINT
    } else {
        fingerprint_of(first_word(url.padded(), start, length), length)
    }
}

/// Where the rule lies and its template of the key, if it covers the URL.
#[inline(always)]
fn covers(shape: &Shape<'_>, index: u32, url: &ParsedUrl, slots: &Slots) -> Option<(u32, u32)> {
    let mut head = shape.head(index);
    let index = head.array::<12>()?;
    let at = u32_at(index, 0);
    let fits = |must: u32, may: u32, present: u32| must & !present == 0 && present & !may == 0;
    if !fits(u32_at(index, 4), u32_at(index, 8), slots.present) {
        return None;
    }
    for &present in &slots.overflow_present {
        let masks = head.array::<8>()?;
        if !fits(u32_at(masks, 0), u32_at(masks, 4), present) {
            return None;
        }
    }
    let mut cursor = Cursor::at(shape.bytes, at);
    let &[flags, values, classes, others, _, _] = cursor.array()?;
    if flags & RULE_HAS_URL != 0 {
        cursor.u32()?;
    }
    if flags & RULE_HAS_GUARDS != 0 {
        let count = cursor.u8()?;
        cursor.take(2 * usize::from(count))?;
    }
    if flags & RULE_KEEPS_OTHERS != 0 {
        cursor.take(4 * shape.words() as usize)?;
    } else if slots.has_unknown {
        return None;
    }
    for _ in 0..values {
        let check = cursor.array::<4>()?;
        if !has_value(shape, slots, url, u16_at(check, 0), u16_at(check, 2)) {
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
        cursor = after_other(cursor, slots, url)?;
    }
    let (_, key) = cursor.position();
    Some((at, key as u32))
}

/// Whether a slot has the value that is a text of the site, or none.
#[inline(always)]
fn has_value(shape: &Shape<'_>, slots: &Slots, url: &ParsedUrl, slot: u16, text: u16) -> bool {
    let Some(span) = slots.span(slot) else { return false };
    if text == NO_TEXT || span.is_bare() {
        return text == NO_TEXT && span.is_bare();
    }
    let (start, length) = span.extent();
    let Some(value) = Text::new(url.padded(), start, length) else { return false };
    shape.texts().is_text(text.into(), &value)
}

/// What comes after a check, if it is passed: the slot that `cursor` gives is of the class that follows, and has none of the
/// values after that.
#[inline(never)]
fn after_other<'a>(mut cursor: Cursor<'a>, slots: &Slots, url: &ParsedUrl) -> Option<Cursor<'a>> {
    let slot = cursor.u16()?;
    let value = if slots.has(slot) { slots.get(url, slot) } else { None };
    let mut passes = is_in_class(&mut cursor, value)?;
    for _ in 0..cursor.u16()? {
        passes &= cursor.text()? != value;
    }
    (passes || !slots.has(slot)).then_some(cursor)
}

impl CoveringRule<'_> {
    /// Whether there is a URL to write.
    #[inline(always)]
    pub(crate) fn writes(&self) -> bool {
        self.flags & RULE_WRITES != 0
    }

    /// Whether query parameters that it does not name are passed through.
    pub(crate) fn keeps_others(&self) -> bool {
        self.flags & RULE_KEEPS_OTHERS != 0
    }

    /// Whether what it writes is canonical for sure, if all [guards](Self::guards) are plain.
    #[inline(always)]
    pub(crate) fn is_proven(&self) -> bool {
        self.flags & RULE_IS_PROVEN != 0
    }

    /// Its index in the site's list.
    pub(crate) fn list_index(&self) -> usize {
        Cursor::new(self.shape, self.at as usize + 4).u16().unwrap_or_default().into()
    }

    /// Where the template of the URL lies.
    #[inline(always)]
    pub(crate) fn url(&self) -> u32 {
        if self.flags & RULE_HAS_URL == 0 {
            return self.key;
        }
        Cursor::new(self.shape, self.at as usize + RULE_BYTES).u32().unwrap_or_default()
    }

    fn guards_at(&self) -> usize {
        self.at as usize + RULE_BYTES + if self.flags & RULE_HAS_URL == 0 { 0 } else { 4 }
    }

    fn guard_count(&self) -> usize {
        match self.flags & RULE_HAS_GUARDS {
            0 => 0,
            _ => Cursor::new(self.shape, self.guards_at()).u8().unwrap_or_default().into(),
        }
    }

    /// The slots whose values must be plain.
    #[inline(always)]
    pub(crate) fn guards(&self) -> impl Iterator<Item = u16> {
        let mut cursor = Cursor::new(self.shape, self.guards_at() + 1);
        (0..self.guard_count()).map(move |_| cursor.u16().unwrap_or(NO_SLOT))
    }

    /// Whether a query parameter is one that is passed through.
    pub(crate) fn passes(&self, slot: u16) -> bool {
        let guards = if self.flags & RULE_HAS_GUARDS == 0 { 0 } else { 1 + 2 * self.guard_count() };
        let named = self.guards_at() + guards;
        self.flags & RULE_KEEPS_OTHERS != 0
            && (slot == NO_SLOT || {
                let word = Cursor::new(self.shape, named + usize::from(slot / 32) * 4).u32();
                word.is_some_and(|word| word & (1 << (slot % 32)) == 0)
            })
    }
}
