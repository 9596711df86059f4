/*!
The compiled form of a site's rules: slots for the values of a URL, checks on them, and templates to write.

A URL is read once into its [`Slots`]; a rule is then two bit masks (which keys must be there, which may be), a
few comparisons, and a template. No regular expressions, no allocation per URL.
*/

use std::ops::ControlFlow;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::pattern::ValueClass;
use crate::rule::{Edit, Prepared};
use crate::template::Template;
use crate::url::{ParsedUrl, RawKey, RawValue, visit_tokens};

/// The rules of one site, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct SiteProgram {
    pub(crate) domain: Box<[u8]>,
    /// Whether hosts that end with the domain are meant too.
    pub(crate) with_subdomains: bool,
    pub(crate) layout: Layout,
    pub(crate) substitutions: Box<[Prepared]>,
    /// Where each of them stands in the site's list, which may hold refuted ones too.
    pub(crate) substitution_places: Box<[usize]>,
    /// The first words of `must` and of what a rule lets pass, side by side: most rules are ruled out here.
    pub(crate) masks: Box<[(u64, u64)]>,
    pub(crate) rules: Box<[CompiledRule]>,
    /// Likewise for the rules.
    pub(crate) rule_places: Box<[usize]>,
    pub(crate) edits: Box<[Edit]>,
    /// Likewise for the edits.
    pub(crate) edit_places: Box<[usize]>,
}

/// Which key is kept in which slot. A key without a slot is unknown to all rules of the site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) slot_count: usize,
    pub(crate) subdomains: Box<[u32]>,
    pub(crate) segments: Box<[u32]>,
    pub(crate) path_params: NameSlots,
    pub(crate) query_params: NameSlots,
    /// Which slots are those of query parameters.
    pub(crate) query_mask: Box<[u64]>,
    /// Whether some rule passes query parameters through that it does not name.
    pub(crate) keeps_others: bool,
    /// Whether query parameters are remembered in the order of the URL.
    pub(crate) keeps_order: bool,
}

/// Slots by name, one for each occurrence that the rules know.
pub(crate) type NameSlots = HashMap<Box<[u8]>, Box<[u32]>, FxBuildHasher>;

pub(crate) const SCHEME_SLOT: u32 = 0;
pub(crate) const PORT_SLOT: u32 = 1;
pub(crate) const TRAILING_SLASH_SLOT: u32 = 2;
pub(crate) const SEPARATOR_SLOT: u32 = 3;
pub(crate) const HASHBANG_SLOT: u32 = 4;
pub(crate) const FIXED_SLOTS: usize = 5;
/// Stands for a position or occurrence that no rule speaks of.
pub(crate) const NO_SLOT: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct CompiledRule {
    pub(crate) must: Box<[u64]>,
    pub(crate) may: Box<[u64]>,
    pub(crate) checks: Box<[Check]>,
    /// Whether query parameters that it does not name are passed through.
    pub(crate) keeps_others: bool,
    pub(crate) key: Template,
    /// `None` when the canonical URL is the URL itself.
    pub(crate) url: Option<Template>,
}

#[derive(Clone, Debug)]
pub(crate) enum Check {
    Is { slot: u32, value: Option<Box<[u8]>> },
    Class { slot: u32, class: ValueClass, except: Box<[Option<Box<[u8]>>]> },
}

/// The values of one URL, by slot, as ranges of its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    present: Vec<u64>,
    values: Vec<Span>,
    /// Whether there are query parameters that no rule of the site knows.
    has_unknown: bool,
    /// All query parameters with their slots, in the order of the URL; kept only if some rule needs them.
    params: Vec<(Param, u32)>,
    /// Those that the rule at hand passes through.
    pub(crate) others: Vec<Param>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    end: u32,
    bare: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: Span,
    pub(crate) value: Span,
}

impl Span {
    fn of(text: &[u8], url: &ParsedUrl) -> Self {
        let start = (text.as_ptr() as usize - url.as_bytes().as_ptr() as usize) as u32;
        Self { start, end: start + text.len() as u32, bare: false }
    }

    fn of_value(value: RawValue<'_>, url: &ParsedUrl) -> Self {
        value.map_or(Self { start: 0, end: 0, bare: true }, |text| Self::of(text, url))
    }

    pub(crate) fn get<'a>(&self, url: &'a ParsedUrl) -> RawValue<'a> {
        (!self.bare).then(|| &url.as_bytes()[self.start as usize..self.end as usize])
    }
}

impl Slots {
    /// Reads the pairs of `url`; false when it has a key that no rule knows.
    pub(crate) fn read(&mut self, url: &ParsedUrl, domain_len: usize, layout: &Layout) -> bool {
        self.present.clear();
        self.present.resize(layout.slot_count.div_ceil(64), 0);
        self.values.clear();
        self.values.resize(layout.slot_count, Span::default());
        self.has_unknown = false;
        self.params.clear();
        visit_tokens(url, domain_len, |key, value| {
            let position =
                |slots: &[u32], index: u16| slots.get(usize::from(index)).copied().unwrap_or(NO_SLOT);
            let slot = match key {
                RawKey::Scheme => SCHEME_SLOT,
                RawKey::Port => PORT_SLOT,
                RawKey::TrailingSlash => TRAILING_SLASH_SLOT,
                RawKey::QuerySeparator => SEPARATOR_SLOT,
                RawKey::Hashbang => HASHBANG_SLOT,
                RawKey::Subdomain(index) => position(&layout.subdomains, index),
                RawKey::PathSegment(index) => position(&layout.segments, index),
                RawKey::PathParam(name) => self.next_free(&layout.path_params, name),
                RawKey::QueryParam(name) => self.next_free(&layout.query_params, name),
            };
            if let RawKey::QueryParam(name) = key
                && layout.keeps_order
            {
                let (name, value) = (Span::of(name, url), Span::of_value(value, url));
                self.params.push((Param { name, value }, slot));
                if slot == NO_SLOT && layout.keeps_others {
                    self.has_unknown = true;
                    return ControlFlow::Continue(());
                }
            }
            if slot == NO_SLOT {
                return ControlFlow::Break(());
            }
            self.present[slot as usize / 64] |= 1 << (slot % 64);
            self.values[slot as usize] = match key {
                // `/` and `;` of these two keys are literals, not parts of the buffer; their text is never read.
                RawKey::TrailingSlash | RawKey::QuerySeparator => Span::default(),
                _ => Span::of_value(value, url),
            };
            ControlFlow::Continue(())
        })
        .is_continue()
    }

    /// Collects the query parameters that `rule`, which covers the URL, passes through.
    pub(crate) fn gather_others(&mut self, rule: &CompiledRule) {
        self.others.clear();
        if rule.keeps_others {
            let is_other =
                |slot: u32| slot == NO_SLOT || rule.may[slot as usize / 64] & (1 << (slot % 64)) == 0;
            self.others
                .extend(self.params.iter().filter(|(_, slot)| is_other(*slot)).map(|(param, _)| param));
        }
    }

    /// All query parameters with their slots, in the order of the URL.
    pub(crate) fn params(&self) -> &[(Param, u32)] {
        &self.params
    }

    /// Whether a parameter is one that the rule at hand passes through.
    pub(crate) fn is_other(&self, param: &Param) -> bool {
        self.others.iter().any(|other| other.name.start == param.name.start)
    }

    /// By name, or as they stand in the URL.
    pub(crate) fn arrange_others(&mut self, url: &ParsedUrl, by_name: bool) {
        let name = |param: &Param| if by_name { param.name.get(url) } else { None };
        self.others.sort_unstable_by(|a, b| name(a).cmp(&name(b)).then(a.name.start.cmp(&b.name.start)));
    }

    fn next_free(&self, names: &NameSlots, name: &[u8]) -> u32 {
        let slots = names.get(name).map_or(&[][..], |slots| slots);
        slots.iter().copied().find(|&slot| slot == NO_SLOT || !self.has(slot)).unwrap_or(NO_SLOT)
    }

    pub(crate) fn has(&self, slot: u32) -> bool {
        self.present[slot as usize / 64] & (1 << (slot % 64)) != 0
    }

    pub(crate) fn get<'a>(&self, url: &'a ParsedUrl, slot: u32) -> RawValue<'a> {
        match slot {
            TRAILING_SLASH_SLOT => Some(b"/"),
            SEPARATOR_SLOT => Some(b";"),
            _ => self.values[slot as usize].get(url),
        }
    }
}

impl SiteProgram {
    /// The first rule that covers `url`, with its place. Leaves the values of the URL in `slots`.
    pub(crate) fn covering_rule(&self, url: &ParsedUrl, slots: &mut Slots) -> Option<(usize, &CompiledRule)> {
        if !url.is_hierarchical() || !slots.read(url, self.domain.len(), &self.layout) {
            return None;
        }
        let present = slots.present[0];
        let fits = |&(must, may): &(u64, u64)| must & !present == 0 && present & !may == 0;
        let mut likely = self.masks.iter().zip(&self.rules).enumerate().filter(|(_, (masks, _))| fits(masks));
        let (index, (_, rule)) = likely.find(|(_, (_, rule))| rule.covers(url, slots, &self.layout))?;
        slots.gather_others(rule);
        Some((index, rule))
    }
}

impl CompiledRule {
    /// Whether the rule covers the URL whose slots these are.
    pub(crate) fn covers(&self, url: &ParsedUrl, slots: &Slots, layout: &Layout) -> bool {
        let passed = |word: usize| {
            if self.keeps_others { layout.query_mask[word] } else { 0 }
        };
        let mut masks = self.must.iter().zip(&self.may).zip(&slots.present).enumerate();
        (self.keeps_others || !slots.has_unknown)
            && masks.all(|(word, ((must, may), present))| {
                must & !present == 0 && present & !(may | passed(word)) == 0
            })
            && self.checks.iter().all(|check| match check {
                Check::Is { slot, value } => slots.get(url, *slot) == value.as_deref(),
                Check::Class { slot, class, except } => {
                    !slots.has(*slot) || {
                        let value = slots.get(url, *slot);
                        class.contains_raw(value) && !except.iter().any(|except| except.as_deref() == value)
                    }
                }
            })
    }
}
