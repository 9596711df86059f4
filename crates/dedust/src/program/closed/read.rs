/*!
Reads a URL into its [`Slots`]: host labels, path segments, parameters.

Nearly all paths and queries have less than [`SHORT`] bytes. All delimiters of these are found at once, and stepping from one to
the next is then a matter of bits. Longer ones are read delimiter by delimiter.
*/

use memchr::memchr;

use super::shape::{NameSlots, Names, NamesOf, Shape};
use super::slots::{
    AS_IS_SLOT, DOMAIN_SLOT, FIXED_SLOTS, HASHBANG_SLOT, HTTP_SLOT, HTTPS_SLOT, INLINE_SLOTS, NO_SLOT,
    ORIGIN_SLOT, PORT_SLOT, Param, SCHEME_SLOT, SEPARATOR_SLOT, Slots, Span, TRAILING_SLASH_SLOT,
};
use crate::delimiters::{Delimiters, ParamAt, SHORT, ShortQuery, low_bits, short_delimiters};
use crate::encoding::array_at;
use crate::program::{KEEPS_ORDER, KEEPS_OTHERS};
use crate::url::{ParsedUrl, all_named, path_params, query_params, query_separator};

impl Slots {
    /// Reads the pairs of `url` except for its query; `None` when it has a key that no rule knows.
    #[inline(always)]
    pub(super) fn read(&mut self, url: &ParsedUrl, domain_len: usize, shape: &Shape<'_>) -> Option<()> {
        self.clear(shape.words());
        let parts = url.parts();
        let domain = parts.host_end - domain_len as u32;
        self.set_fixed(DOMAIN_SLOT, Span::new(domain, parts.host_end));
        self.set_fixed(ORIGIN_SLOT, Span::new(0, parts.path_start));
        self.set_fixed(AS_IS_SLOT, Span::new(0, parts.path_end));
        self.set(SCHEME_SLOT, Span::new(0, parts.scheme_end));
        let scheme = array_at(url.padded(), 0).map_or(0, |word| u64::from_le_bytes(*word));
        if scheme & 0xFF_FFFF_FFFF == u64::from_le_bytes(*b"http:\0\0\0") {
            self.present |= 1 << HTTP_SLOT;
        } else if scheme & 0xFFFF_FFFF_FFFF == u64::from_le_bytes(*b"https:\0\0") {
            self.present |= 1 << HTTPS_SLOT;
        }
        if parts.path_start > parts.host_end {
            self.set(PORT_SLOT, Span::new(parts.host_end + 1, parts.path_start));
        }
        if domain > parts.host_start {
            self.read_host(url.padded(), parts.host_start as usize, domain as usize, shape.subdomains())?;
        }
        if url.as_bytes().len() > parts.query_end as usize
            && let Some(hashbang) = url.hashbang()
        {
            self.set(HASHBANG_SLOT, Span::of(hashbang, url));
        }
        if (parts.path_end - parts.path_start) < SHORT as u32 && shape.words() <= 1 {
            self.read_short_path(url, shape)
        } else {
            self.read_path(url, shape)
        }
    }

    /// Reads the parameters of the query; `None` when there is one that no rule knows.
    #[inline(always)]
    pub(super) fn read_params(&mut self, url: &ParsedUrl, shape: &Shape<'_>) -> Option<()> {
        let (start, end) = (url.parts().path_end as usize + 1, url.parts().query_end as usize);
        if end < start {
            return Some(());
        }
        let names = shape.names(NamesOf::Query)?;
        let Some(params) = ShortQuery::new(url.padded(), start, end) else {
            return self.read_query(url, shape.flags(), &names);
        };
        for ParamAt { start, name_end, end } in params {
            let value = if name_end < end { Span::new(name_end + 1, end) } else { Span::BARE };
            self.read_param(url.padded(), shape.flags(), &names, Span::new(start, name_end), value)?;
        }
        Some(())
    }

    /// The labels left of the domain, which starts at `end`, from right to left.
    #[inline(always)]
    fn read_host(&mut self, padded: &[u8], start: usize, mut end: usize, labels: u16) -> Option<()> {
        let mut index = 0;
        while end > start {
            if index == labels {
                return None;
            }
            // The dot after the label.
            end -= 1;
            let label = padded[start..end].iter().rposition(|&byte| byte == b'.');
            let label = label.map_or(start, |dot| start + dot + 1);
            self.set(FIXED_SLOTS.saturating_add(index), Span::at(label, end));
            index += 1;
            end = label;
        }
        Some(())
    }

    /// A short path from its delimiters, for a site all of whose slots are inline.
    #[inline(always)]
    fn read_short_path(&mut self, url: &ParsedUrl, shape: &Shape<'_>) -> Option<()> {
        let (path_start, path_len) = (url.parts().path_start, url.parts().path_end - url.parts().path_start);
        let [slashes, semicolons] =
            short_delimiters(url.padded(), path_start as usize, path_len as usize, [b'/', b';'])?;
        let span = |start: u32, end: u32| Span::new(path_start + start, path_start + end);
        let has_slash = (slashes >> (path_len - 1)) as u32 & 1;
        self.set_fixed(TRAILING_SLASH_SLOT, span(path_len - 1, path_len));
        self.present |= has_slash << TRAILING_SLASH_SLOT;
        if path_len == 1 {
            return Some(());
        }
        let last_end = path_len - has_slash;
        // All but the first slash end a segment, and so does the end.
        let mut ends = slashes & low_bits(last_end) & !1 | 1 << last_end;
        let mut slot = u32::from(FIXED_SLOTS) + u32::from(shape.subdomains());
        let last_slot = slot + u32::from(shape.segments());
        let (mut start, mut next, mut present) = (1, 1, self.present);
        while ends != 0 {
            if slot == last_slot {
                return None;
            }
            start = next;
            let end = ends.trailing_zeros();
            present |= 1 << (slot % 32);
            self.values[slot as usize % INLINE_SLOTS] = span(start, end);
            (slot, next) = (slot + 1, end + 1);
            ends &= ends - 1;
        }
        self.present = present;
        let semicolons = semicolons & low_bits(last_end) & !low_bits(start);
        if semicolons != 0 {
            let (at, end) = (path_start + semicolons.trailing_zeros(), path_start + last_end);
            if self.read_path_params(url, shape, at, end)? {
                self.values[(slot as usize - 1) % INLINE_SLOTS] = Span::new(path_start + start, at);
            }
        }
        Some(())
    }

    /// The parameters from a semicolon in the last segment on; false if it has none after all.
    #[inline(never)]
    fn read_path_params(&mut self, url: &ParsedUrl, shape: &Shape<'_>, at: u32, end: u32) -> Option<bool> {
        let params = &url.padded()[at as usize..end as usize];
        if !all_named(&params[1..], b';') {
            return Some(false);
        }
        let names = shape.names(NamesOf::Path)?;
        for (name, value) in path_params(params) {
            let slot = self.next_free(names.slots_of(url.padded(), Span::of(name, url)))?;
            self.set(slot, Span::of_value(value, url));
        }
        Some(true)
    }

    /// A path of any length, delimiter by delimiter.
    #[inline(never)]
    fn read_path(&mut self, url: &ParsedUrl, shape: &Shape<'_>) -> Option<()> {
        let (padded, parts) = (url.padded(), url.parts());
        let (first, path_end) = (parts.path_start as usize + 1, parts.path_end as usize);
        if padded[path_end - 1] == b'/' {
            self.set(TRAILING_SLASH_SLOT, Span::at(path_end - 1, path_end));
            if first == path_end {
                return Some(());
            }
        }
        let end = path_end - usize::from(padded[path_end - 1] == b'/');
        let mut start = first;
        let mut slot = FIXED_SLOTS.saturating_add(shape.subdomains());
        let last_slot = slot.saturating_add(shape.segments());
        let mut semicolon = None;
        for at in Delimiters::<b'/', b';', b'/'>::new(padded, first, end) {
            if padded[at] == b';' {
                semicolon = semicolon.or(Some(at));
                continue;
            }
            if slot == last_slot {
                return None;
            }
            self.set(slot, Span::at(start, at));
            slot += 1;
            start = at + 1;
            semicolon = None;
        }
        if slot == last_slot {
            return None;
        }
        let at = match semicolon {
            Some(at) if self.read_path_params(url, shape, at as u32, end as u32)? => at,
            _ => end,
        };
        self.set(slot, Span::at(start, at));
        Some(())
    }

    /// A query of any kind.
    #[inline(never)]
    fn read_query(&mut self, url: &ParsedUrl, flags: u8, names: &Names<'_>) -> Option<()> {
        let start = url.parts().path_end as usize + 1;
        let query = &url.padded()[start..url.parts().query_end as usize];
        let semicolon = memchr(b';', query);
        self.has_semicolon = semicolon.is_some();
        let separator = query_separator(query);
        if let (Some(at), b';') = (semicolon, separator) {
            self.set(SEPARATOR_SLOT, Span::at(start + at, start + at + 1));
        }
        for (name, value) in query_params(query, separator) {
            self.read_param(url.padded(), flags, names, Span::of(name, url), Span::of_value(value, url))?;
        }
        Some(())
    }

    #[inline(always)]
    fn read_param(
        &mut self,
        padded: &[u8],
        flags: u8,
        names: &Names<'_>,
        name: Span,
        value: Span,
    ) -> Option<()> {
        let slots = names.slots_of(padded, name);
        let slot = slots.first();
        if usize::from(slot) < INLINE_SLOTS && self.present & 1 << slot == 0 {
            self.present |= 1 << slot;
            self.values[usize::from(slot)] = value;
            if flags & KEEPS_ORDER != 0 {
                self.remember_param(Param { name, value }, slot);
            }
            return Some(());
        }
        self.place_param(flags, slots, Param { name, value })
    }

    #[inline(never)]
    fn remember_param(&mut self, param: Param, slot: u16) {
        self.params.push((param, slot));
    }

    /// Takes in a parameter whose name is unknown or known to have these slots, with any slot.
    #[inline(never)]
    fn place_param(&mut self, flags: u8, slots: NameSlots, param: Param) -> Option<()> {
        let slot = self.next_free(slots);
        if flags & KEEPS_ORDER != 0 {
            self.remember_param(param, slot.unwrap_or(NO_SLOT));
            if slot.is_none() && flags & KEEPS_OTHERS != 0 {
                self.has_unknown = true;
                return Some(());
            }
        }
        self.set(slot?, param.value);
        Some(())
    }

    /// The first of the slots of a name that is free.
    #[inline(always)]
    fn next_free(&mut self, slots: NameSlots) -> Option<u16> {
        let first = slots.first();
        if first == NO_SLOT {
            return None;
        }
        if !self.has(first) {
            return Some(first);
        }
        self.has_repeated = true;
        (first.saturating_add(1)..first.saturating_add(slots.count())).find(|&slot| !self.has(slot))
    }
}
