/*!
Finds the program of a host: a flat table of domains, asked for ever longer ends of the host.

The first question is for the last two labels. Where a longer domain has rules, the ends of it that are no sites are in
the table too, as entries to go on from; so most hosts need one question, whether they have rules or not. The table knows
domains by a hash only, and whoever names a host can choose its hash. So every entry, also one that is only to go on from, has a
record with its domain, and nothing an entry says is believed before that is compared. Whoever has many hosts can [find all of
them](Index::find_all), then [read ahead](Index::read_ahead).
*/

use std::hint::black_box;

use bytemuck::must_cast;
use memchr::memrchr;
use wide::{CmpEq as _, i8x16, i32x4};
use xxhash_rust::xxh3::xxh3_64;

use crate::delimiters::{LANES, lanes_of};
use crate::encoding::{Text, array_at, first_word, u32_at};
use crate::program::Program;
use crate::url::{PADDING, ParsedUrl};

/// Flags of an entry of the table, in the lowest bits of its tag. Sub-domains belong to the site.
pub(super) const WITH_SUBDOMAINS: u32 = 1;
/// Some longer domain has rules of its own.
pub(super) const HAS_LONGER: u32 = 2;
/// It has rules itself.
pub(super) const HAS_RULES: u32 = 4;
const FLAGS: u32 = 7;

/// Entries of the table that are compared at once: their tags, then their offsets. Taken from first to last, and when all
/// are taken the next group is asked too.
pub(super) const GROUP: usize = 8;
/// Groups that are asked for a domain. Even in a table of a billion domains no more are needed, unless their names were chosen
/// so that their hashes are close together, or the table was forged.
pub(super) const MAX_ASKED_GROUPS: usize = 256;
/// What memory is read in.
pub(super) const GROUP_BYTES: usize = 8 * GROUP;
const OFFSETS_AT: usize = 4 * GROUP;
/// Offset of the shape, or of the record of a site with the same program; length of the program and a flag; length of the
/// domain, and of the name of its site, with which it ends.
pub(super) const RECORD_BYTES: usize = 10;
const DOMAIN_LEN_AT: usize = 8;
const SITE_LEN_AT: usize = 9;
/// The flag of a record that has no program of its own.
pub(super) const IS_ALIAS: u32 = 1 << 31;
/// The length of what is of one site, and of a shape, is less.
pub(super) const MAX_SITE_BYTES: usize = 1 << 24;
/// Bytes that an offset counts.
pub(super) const OFFSET_UNIT: usize = 4;

/// Where sites are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Index<'a> {
    /// Of the whole image.
    pub(super) bytes: &'a [u8],
    /// Of the table; 0 when there are no sites.
    pub(super) groups: u32,
}

/// Where the site of a host lies. Two numbers, so that it is handed around without memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Its offset, 0 if there is none, and in the high half the flags.
    offset_and_flags: u64,
    /// The length of its domain, with which the host ends.
    domain_len: u64,
}

impl Found {
    #[inline(always)]
    fn offset(self) -> u32 {
        self.offset_and_flags as u32
    }
}

/// Where the rules of a site lie.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SiteLocation {
    /// The offset of its record, or of that of a site with the same program; how long the program is, and how far from
    /// there it starts.
    record: u32,
    length: u32,
    start: u16,
    has_longer: bool,
    /// The length of the site's name.
    domain_len: u8,
    /// The offset of its shape, and how long that is.
    shape: u32,
    shape_len: u32,
}

/// Hosts that are looked for at the same time, one bit of a word for each.
pub(crate) const MAX_HOSTS: usize = u64::BITS as usize;

/// A domain that the table is asked for: where it starts in the text, and its hash.
#[derive(Clone, Copy, Debug, Default)]
struct Question {
    domain: usize,
    hash: u64,
}

/// The numbers of the bits that are set.
#[inline(always)]
fn bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

impl<'a> Index<'a> {
    /// The site of the longest domain that `text[start..end]`, a host, is or ends with.
    #[inline]
    pub(crate) fn site(&self, text: &[u8], start: usize, end: usize) -> Option<Program<'a>> {
        self.program(&self.site_location(text, start, end)?)
    }

    /// Where its rules lie.
    #[inline]
    pub(super) fn site_location(&self, text: &[u8], start: usize, end: usize) -> Option<SiteLocation> {
        self.location_of_found(self.find(text, start, end))
    }

    /// Where that site lies. The text before and after the host is of no meaning.
    #[inline(always)]
    fn find(&self, text: &[u8], start: usize, end: usize) -> Found {
        let mut found = Found::default();
        let mut question = self.question(text, start, end);
        while let Some(asked) = question {
            question = self.ask(text, start, end, asked, &mut found);
        }
        found
    }

    /// Where the sites of hosts lie, except of those that are to be left out, a bit for each. Whoever asks for one waits for
    /// memory twice, for the table and for a record; here the machine waits for those of all hosts at the same time.
    pub(crate) fn find_all(&self, urls: &[ParsedUrl], mut left_out: u64, all_found: &mut [Found]) {
        let mut questions = [Question::default(); MAX_HOSTS];
        let host = |url: &ParsedUrl| (url.parts().host_start as usize, url.parts().host_end as usize);
        for (index, url) in urls.iter().enumerate().take(questions.len()) {
            let (start, end) = host(url);
            match self.question(url.padded(), start, end) {
                Some(question) => questions[index] = question,
                None => left_out |= 1 << index,
            }
            all_found[index] = Found::default();
        }
        let mut open = u64::MAX >> (MAX_HOSTS - urls.len().clamp(1, MAX_HOSTS)) & !left_out;
        while open != 0 {
            let mut read = 0;
            for index in bits(open) {
                read |= self.number(group_of(questions[index].hash, self.groups) * GROUP_BYTES);
            }
            // The numbers themselves are of no use yet.
            black_box(read);
            for index in bits(open) {
                read |= self.number(self.likely_record(questions[index].hash));
            }
            black_box(read);
            for index in bits(open) {
                let (text, (start, end)) = (urls[index].padded(), host(&urls[index]));
                match self.ask(text, start, end, questions[index], &mut all_found[index]) {
                    Some(question) => questions[index] = question,
                    None => open &= !(1 << index),
                }
            }
        }
    }

    /// What to ask first for a host.
    #[inline(always)]
    fn question(&self, text: &[u8], start: usize, end: usize) -> Option<Question> {
        if self.groups == 0 || start > end || end > text.len() {
            return None;
        }
        let domain = last_labels(text, start, end);
        Some(Question { domain, hash: hash_of(text, domain, end) })
    }

    /// Asks for a domain; what to ask next.
    #[inline(always)]
    fn ask(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        Question { domain, hash }: Question,
        found: &mut Found,
    ) -> Option<Question> {
        let (offset, flags) = self.entry(hash, |offset| self.is_record(offset, text, domain, end))?;
        if flags & HAS_RULES != 0 && (flags & WITH_SUBDOMAINS != 0 || domain == start) {
            let offset_and_flags = u64::from(offset) | u64::from(flags) << 32;
            *found = Found { offset_and_flags, domain_len: (end - domain) as u64 };
        }
        if flags & HAS_LONGER == 0 || domain == start {
            return None;
        }
        let domain = start + longer(&text[start..end], domain - start);
        Some(Question { domain, hash: hash_of(text, domain, end) })
    }

    /// The first entry for a hash whose record passes the test: its offset and flags.
    #[inline(always)]
    fn entry(&self, hash: u64, passes: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let mut number = group_of(hash, self.groups);
        for _ in 0..MAX_ASKED_GROUPS.min(self.groups as usize) {
            let at = number * GROUP_BYTES;
            let group = array_at::<GROUP_BYTES>(self.bytes, at)?;
            let mut likely = lanes_with_tag(group, hash as u32);
            while likely != 0 {
                let lane = 4 * (likely.trailing_zeros() as usize % GROUP);
                let (tag, offset) = (u32_at(group, lane), u32_at(group, OFFSETS_AT + lane));
                if offset != 0 && passes(offset) {
                    return Some((offset, tag & FLAGS));
                }
                likely &= likely - 1;
            }
            if u32_at(group, GROUP_BYTES - 4) == 0 {
                return None;
            }
            number = if number + 1 == self.groups as usize { 0 } else { number + 1 };
        }
        None
    }

    /// Where the record lies, in bytes, of the first entry that may be that of a hash; 0 if there is none in its group.
    #[inline(always)]
    fn likely_record(&self, hash: u64) -> usize {
        let at = group_of(hash, self.groups) * GROUP_BYTES;
        let Some(group) = array_at::<GROUP_BYTES>(self.bytes, at) else { return 0 };
        match lanes_with_tag(group, hash as u32) {
            0 => 0,
            likely => u32_at(group, OFFSETS_AT + 4 * likely.trailing_zeros() as usize) as usize * OFFSET_UNIT,
        }
    }

    /// The number at an offset in bytes, 0 beyond the end.
    #[inline(always)]
    fn number(&self, at: usize) -> u32 {
        array_at(self.bytes, at).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Reads what will be needed of sites that were found. Whoever opens one site waits for memory several times, for
    /// one line of memory after the other; here the machine waits for those of all sites at the same time.
    #[inline]
    pub(crate) fn read_ahead(&self, found: &[Found]) {
        const LINE_BYTES: usize = 64;
        /// Of a program; more are not needed by most URLs.
        const AHEAD_LINES: usize = 8;
        let mut read = 0;
        for found in found {
            let record = found.offset() as usize * OFFSET_UNIT;
            let (offset, length) = (self.number(record), self.number(record + 4));
            let (site, length) = match length & IS_ALIAS {
                0 => (record, length as usize),
                _ => (offset as usize * OFFSET_UNIT, 0),
            };
            read |= self.number(site);
            for line in 1..=(length / LINE_BYTES).clamp(1, AHEAD_LINES) {
                read |= self.number(site + line * LINE_BYTES);
            }
        }
        // The numbers themselves are of no use here.
        black_box(read);
    }

    /// The site that was found.
    #[inline(always)]
    pub(crate) fn open_site(&self, found: Found) -> Option<Program<'a>> {
        self.program(&self.location_of_found(found)?)
    }

    /// Whether the record at an offset is that of the domain `text[start..end]`.
    #[inline(always)]
    fn is_record(&self, offset: u32, text: &[u8], start: usize, end: usize) -> bool {
        let (at, length) = (offset as usize * OFFSET_UNIT, end - start);
        self.bytes.get(at + DOMAIN_LEN_AT).is_some_and(|&domain_len| usize::from(domain_len) == length)
            && Text::new(text, start, length).is_some_and(|text| text.is_at(self.bytes, at + RECORD_BYTES))
    }

    #[inline(always)]
    fn location_of_found(&self, found: Found) -> Option<SiteLocation> {
        if found.offset() == 0 {
            return None;
        }
        let record = array_at::<RECORD_BYTES>(self.bytes, found.offset() as usize * OFFSET_UNIT)?;
        let (domain_len, site_len) = (found.domain_len as usize, record[SITE_LEN_AT]);
        let (mut shape, mut length) = (u32_at(record, 0), u32_at(record, 4));
        let (mut offset, mut start) = (found.offset(), RECORD_BYTES + domain_len);
        if length & IS_ALIAS != 0 {
            offset = shape;
            (shape, length, start) = self.original(offset)?;
        }
        let at = shape as usize * OFFSET_UNIT;
        let shape_len = u32::from_le_bytes(*array_at(self.bytes, at)?);
        Some(SiteLocation {
            record: offset,
            length,
            start: start as u16,
            shape,
            shape_len,
            domain_len: site_len.min(domain_len as u8),
            // Of rules that hold on some hosts alone, too, nothing is known where another host is written.
            has_longer: (found.offset_and_flags >> 32) as u32 & HAS_LONGER != 0
                || usize::from(site_len) < domain_len,
        })
    }

    /// The rules at a location.
    #[inline(always)]
    pub(super) fn program(&self, location: &SiteLocation) -> Option<Program<'a>> {
        let part = |offset: u32, start: u16, length: u32| -> Option<&'a [u8]> {
            // No URL is to wait for a program that was forged to be as long as the file.
            if length as usize >= MAX_SITE_BYTES {
                return None;
            }
            let start = offset as usize * OFFSET_UNIT + usize::from(start);
            self.bytes.get(start..)?.get(..length as usize + PADDING)
        };
        Some(Program {
            domain_len: location.domain_len.into(),
            bytes: part(location.record, location.start, location.length)?,
            shape: part(location.shape, 0, location.shape_len)?,
            has_longer: location.has_longer,
        })
    }

    /// Of the site at an offset: the offset of its shape, how long its program is, and how far from there that starts.
    #[inline(never)]
    fn original(&self, offset: u32) -> Option<(u32, u32, usize)> {
        let at = offset as usize * OFFSET_UNIT;
        let record = array_at::<RECORD_BYTES>(self.bytes, at)?;
        let start = RECORD_BYTES + usize::from(record[DOMAIN_LEN_AT]);
        Some((u32_at(record, 0), u32_at(record, 4) & !IS_ALIAS, start))
    }
}

/// Which entries of a group have the tag of a hash, a bit for each. One that is not taken may.
#[inline(always)]
fn lanes_with_tag(group: &[u8; GROUP_BYTES], hash: u32) -> u32 {
    let lanes: [i32x4; 4] = must_cast(*group);
    let (wanted, tags) =
        (i32x4::splat(tag_of(hash.into()).cast_signed()), i32x4::splat(!FLAGS.cast_signed()));
    let has_it = |lanes: i32x4| (lanes & tags).cmp_eq(wanted).move_mask().cast_unsigned();
    has_it(lanes[0]) | has_it(lanes[1]) << 4
}

/// The group of the table, which has so many, that is asked first.
#[inline(always)]
pub(super) fn group_of(hash: u64, groups: u32) -> usize {
    // The high half of the hash as a share of the table.
    (((hash >> 32) * u64::from(groups)) >> 32) as usize
}

/// The tag of an entry, without flags.
pub(super) fn tag_of(hash: u64) -> u32 {
    hash as u32 & !FLAGS
}

/// The hash of `text[start..end]`, a domain, that the table goes by; a part of the file format. Domains are short, and are
/// compared anyway.
#[inline(always)]
pub(super) fn hash_of(text: &[u8], start: usize, end: usize) -> u64 {
    let length = end - start;
    if length > 16 {
        return hash_of_long(text.get(start..end).unwrap_or_default());
    }
    let first = first_word(text, start, length);
    let last = if length > 8 { first_word(text, end - 8, 8) } else { 0 };
    let (first, last) =
        (first ^ 0x9E37_79B9_7F4A_7C15, last.wrapping_add(length as u64) ^ 0xD1B5_4A32_D192_ED03);
    let product = u128::from(first) * u128::from(last);
    (product as u64) ^ (product >> 64) as u64
}

#[inline(never)]
fn hash_of_long(domain: &[u8]) -> u64 {
    xxh3_64(domain)
}

/// Where the last two labels of `text[start..end]`, a host, start.
#[inline(always)]
pub(super) fn last_labels(text: &[u8], start: usize, end: usize) -> usize {
    // Mostly the last bytes are enough: all dots among them at once, then the last but one. What stands before the host
    // does not count.
    if let Some(lanes) = text.get(..end).and_then(|text| text.last_chunk::<LANES>()) {
        let dots = lanes_of(lanes).cmp_eq(i8x16::splat(b'.'.cast_signed()));
        let first = end - LANES;
        let before = start.saturating_sub(first).min(LANES);
        let dots = dots.move_mask().cast_unsigned() & (u32::MAX << before);
        if dots & dots.wrapping_sub(1) != 0 {
            let before_last = dots & !(1 << dots.ilog2());
            return first + before_last.ilog2() as usize + 1;
        }
        if first <= start {
            return start;
        }
    }
    last_labels_of_long(text, start, end)
}

#[inline(never)]
fn last_labels_of_long(text: &[u8], start: usize, end: usize) -> usize {
    let mut dots = 0;
    for at in (start..end).rev() {
        dots += u32::from(text[at] == b'.');
        if dots == 2 {
            return at + 1;
        }
    }
    start
}

/// Where the end of `host` starts that is one label longer than that from `start` on, which is not 0.
pub(super) fn longer(host: &[u8], start: usize) -> usize {
    memrchr(b'.', &host[..start - 1]).map_or(0, |dot| dot + 1)
}

#[cfg(test)]
mod tests;
