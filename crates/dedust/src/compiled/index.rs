/*!
Finds the program of a host: a flat table of domains, asked for ever longer ends of the host.

The first question is for the last two labels. Where a longer domain has rules, the ends of it that are no sites are in
the table too, as places to go on from; so most hosts need one question, whether they have rules or not.
*/

use std::collections::BTreeMap;
use std::hint::black_box;

use memchr::memrchr;
use rustc_hash::FxHashMap;
use wide::{CmpEq as _, i8x16};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::encoding::{Cursor, Encode as _, first_word, u16_at, u32_at};
use super::{Body, Facts, Image};
use crate::url::PADDING;

/// Sub-domains belong to the site.
const WITH_SUBDOMAINS: u8 = 1;
/// Some longer domain has rules of its own.
const HAS_LONGER: u8 = 2;

const ENTRY_BYTES: usize = 8;
const RECORD_BYTES: usize = 8;
/// Bytes that a place counts.
const PLACE_BYTES: usize = 8;

/// A site with rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// Length of the domain, with which the host ends.
    pub(crate) domain_len: usize,
    /// The program, and what may be read after it.
    pub(crate) program: &'a [u8],
    /// Whether some longer domain has rules of its own, so that another host may have other rules.
    pub(crate) has_longer: bool,
}

/// The hash of the last two labels of a host, and where they start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostHash {
    start: usize,
    hash: u64,
}

/// A host whose site will be asked for soon.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Preparation {
    pub(crate) hash: HostHash,
    /// Of what is to be read next.
    place: u32,
    /// Of the program.
    size: u32,
}

/// What memory is read in, and how much of a program is read ahead at most.
const LINE_BYTES: usize = 64;
const MAX_PREPARED: usize = 256;

impl HostHash {
    #[inline]
    pub(crate) fn of(host: &[u8]) -> Self {
        let start = last_labels(host);
        Self { start, hash: hash_of(&host[start..]) }
    }
}

struct Record {
    program: u32,
    flags: u8,
}

impl Image {
    /// The site of the longest domain that `host` is or ends with.
    #[inline]
    pub(crate) fn site(&self, host: &[u8]) -> Option<Site<'_>> {
        self.hashed_site(host, HostHash::of(host))
    }

    /// Likewise, for a host whose hash is known.
    #[inline]
    pub(crate) fn hashed_site(&self, host: &[u8], hash: HostHash) -> Option<Site<'_>> {
        if self.facts.sites == 0 {
            return None;
        }
        let HostHash { start, hash } = hash;
        let record = self.record(host.get(start..)?, hash)?;
        let mut found = None;
        if record.program != 0 && (record.flags & WITH_SUBDOMAINS != 0 || start == 0) {
            found = Some((host.len() - start, &record));
        }
        let longer_record;
        if record.flags & HAS_LONGER != 0 && start != 0 {
            longer_record = self.longer_site(host, longer(host, start));
            found = longer_record.as_ref().map(|(length, record)| (*length, record)).or(found);
        }
        let (domain_len, &Record { program: place, flags }) = found?;
        let at = place as usize * PLACE_BYTES;
        let program = self.bytes().get(at..)?;
        if !self.is_sound(at, 4) {
            return None;
        }
        let size = Cursor::new(program, 0).u32()? as usize;
        let program = program.get(..size.checked_add(PADDING)?)?;
        let has_longer = flags & HAS_LONGER != 0;
        self.is_sound(at, size).then_some(Site { domain_len, program, has_longer })
    }

    /// The longest domain of more than two labels that has a program: its length and record.
    fn longer_site(&self, host: &[u8], mut start: usize) -> Option<(usize, Record)> {
        let mut found = None;
        while let Some(record) = self.record(&host[start..], hash_of(&host[start..])) {
            let has_longer = record.flags & HAS_LONGER != 0;
            if record.program != 0 && (record.flags & WITH_SUBDOMAINS != 0 || start == 0) {
                found = Some((host.len() - start, record));
            }
            if !has_longer || start == 0 {
                break;
            }
            start = longer(host, start);
        }
        found
    }

    /// Reads what will be needed to find the sites of these hosts. Whoever asks for one site waits for memory several
    /// times, for one place after the other; here the machine waits for the places of all hosts at the same time.
    #[inline]
    pub(crate) fn prepare(&self, hosts: &mut [Preparation]) {
        let number = |at: usize| Cursor::new(self.bytes(), at).u32().unwrap_or_default();
        for host in &mut *hosts {
            let at = (host.hash.hash >> (64 - self.facts.table_bits)) as usize;
            host.place = number(at * ENTRY_BYTES + 4);
        }
        for host in &mut *hosts {
            host.place = number(host.place as usize * PLACE_BYTES);
        }
        for host in &mut *hosts {
            host.size = number(host.place as usize * PLACE_BYTES);
        }
        let mut read = 0;
        for host in hosts {
            let program = host.place as usize * PLACE_BYTES;
            for line in (LINE_BYTES..MAX_PREPARED.min(host.size as usize)).step_by(LINE_BYTES) {
                read |= number(program + line);
            }
        }
        // The numbers themselves are of no use here.
        black_box(read);
    }

    #[inline]
    fn record(&self, domain: &[u8], hash: u64) -> Option<Record> {
        let bytes = self.bytes();
        let places = 1usize << self.facts.table_bits;
        let mut at = (hash >> (64 - self.facts.table_bits)) as usize;
        for _ in 0..places {
            if !self.is_sound(at * ENTRY_BYTES, ENTRY_BYTES) {
                return None;
            }
            let entry = Cursor::new(bytes, at * ENTRY_BYTES).array::<ENTRY_BYTES>()?;
            let (tag, place) = (u32_at(entry, 0), u32_at(entry, 4));
            if place == 0 {
                return None;
            }
            if tag == hash as u32
                && let Some(record) = self.record_at(place as usize * PLACE_BYTES, domain)
            {
                return Some(record);
            }
            at = (at + 1) % places;
        }
        None
    }

    #[inline]
    fn record_at(&self, at: usize, domain: &[u8]) -> Option<Record> {
        if !self.is_sound(at, RECORD_BYTES + domain.len()) {
            return None;
        }
        let mut cursor = Cursor::new(self.bytes(), at);
        let record = cursor.array::<RECORD_BYTES>()?;
        let (program, flags, length) = (u32_at(record, 0), record[4], u16_at(record, 6));
        let (bytes, at) = cursor.place();
        (usize::from(length) == domain.len() && is_short_same(bytes, at, domain))
            .then_some(Record { program, flags })
    }
}

/// The hash that the table goes by; a part of the file format. Domains are short, and are compared anyway.
#[inline(always)]
fn hash_of(domain: &[u8]) -> u64 {
    let fold = |a: u64, b: u64| {
        let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
        (product as u64) ^ (product >> 64) as u64
    };
    match (domain.first_chunk::<8>(), domain.last_chunk::<8>()) {
        (Some(first), Some(last)) if domain.len() <= 16 => {
            fold(u64::from_le_bytes(*first), u64::from_le_bytes(*last).wrapping_add(domain.len() as u64))
        }
        (Some(_), _) => xxh3_64(domain),
        _ => fold(first_word(domain, 0, domain.len()), domain.len() as u64),
    }
}

/// Whether `bytes` have this domain at `at`.
#[inline(always)]
fn is_short_same(bytes: &[u8], at: usize, domain: &[u8]) -> bool {
    let found = bytes.get(at..).and_then(|rest| rest.get(..domain.len())).unwrap_or_default();
    match (
        found.first_chunk::<8>(),
        found.last_chunk::<8>(),
        domain.first_chunk::<8>(),
        domain.last_chunk::<8>(),
    ) {
        (Some(first), Some(last), Some(wanted_first), Some(wanted_last)) if domain.len() <= 16 => {
            first == wanted_first && last == wanted_last
        }
        _ => found == domain,
    }
}

/// Where the last two labels of a host start.
#[inline(always)]
fn last_labels(host: &[u8]) -> usize {
    const LANES: usize = 16;
    // Mostly the end of the host is enough: all dots of it at once, then the last but one.
    if let Some(end) = host.last_chunk::<LANES>() {
        let dots = i8x16::new(end.map(u8::cast_signed)).cmp_eq(i8x16::splat(b'.'.cast_signed()));
        let dots = dots.move_mask().cast_unsigned();
        if dots & dots.wrapping_sub(1) != 0 {
            let before_last = dots & !(1 << dots.ilog2());
            return host.len() - LANES + before_last.ilog2() as usize + 1;
        }
    }
    let mut dots = 0;
    for (at, &byte) in host.iter().enumerate().rev() {
        dots += u32::from(byte == b'.');
        if dots == 2 {
            return at + 1;
        }
    }
    0
}

/// Where the end of `host` starts that is one label longer than that from `start` on, which is not 0.
fn longer(host: &[u8], start: usize) -> usize {
    memrchr(b'.', &host[..start - 1]).map_or(0, |dot| dot + 1)
}

/// Puts the programs of sites together.
#[derive(Debug, Default)]
pub(crate) struct ImageBuilder {
    method: Box<str>,
    rules: u64,
    /// All programs, one after the other.
    programs: Vec<u8>,
    program_by_hash: FxHashMap<u128, (usize, usize)>,
    domains: BTreeMap<Box<[u8]>, Domain>,
}

#[derive(Debug, Default)]
struct Domain {
    flags: u8,
    /// URLs that were seen of it: rules that are often needed lie close together.
    weight: u64,
    /// Where its program lies, and its length.
    program: Option<(usize, usize)>,
}

impl ImageBuilder {
    /// Names the learner.
    pub(crate) fn set_method(&mut self, method: &str) {
        self.method = method.into();
    }

    /// Adds a site of which `weight` URLs were seen.
    pub(crate) fn insert(
        &mut self,
        domain: &[u8],
        with_subdomains: bool,
        weight: u64,
        rules: u64,
        program: &[u8],
    ) {
        if domain.len() > usize::from(u16::MAX) {
            return;
        }
        let programs = &mut self.programs;
        let place = *self.program_by_hash.entry(xxh3_128(program)).or_insert_with(|| {
            programs.extend_from_slice(program);
            (programs.len() - program.len(), program.len())
        });
        let flags = if with_subdomains { WITH_SUBDOMAINS } else { 0 };
        let entry = self.domains.entry(domain.into()).or_default();
        *entry = Domain { flags: entry.flags & HAS_LONGER | flags, weight, program: Some(place) };
        self.rules += rules;
        let mut start = last_labels(domain);
        while start > 0 {
            self.domains.entry(domain[start..].into()).or_default().flags |= HAS_LONGER;
            start = longer(domain, start);
        }
    }

    pub(crate) fn finish(self) -> Image {
        let sites = self.domains.values().filter(|domain| domain.program.is_some()).count() as u64;
        let table_bits = (self.domains.len() * 3 / 2).max(2).next_power_of_two().trailing_zeros();
        let places = 1usize << table_bits;
        let mut body = vec![0; places * ENTRY_BYTES];
        let mut table = vec![(0u32, 0u32); places];
        let mut place_of_program: FxHashMap<usize, u32> = FxHashMap::default();
        let mut domains: Vec<(&[u8], &Domain)> =
            self.domains.iter().map(|(domain, facts)| (&**domain, facts)).collect();
        // Stable, so that sites of the same weight stay in the order of their names.
        domains.sort_by_key(|(_, facts)| std::cmp::Reverse(facts.weight));
        for (domain, Domain { flags, program, .. }) in domains {
            let at = body.len();
            body.put_u32(0);
            body.put_u8(*flags);
            body.put_u8(0);
            body.put_u16(domain.len() as u16);
            body.extend_from_slice(domain);
            align(&mut body);
            if let Some((start, length)) = *program {
                let place = *place_of_program.entry(start).or_insert_with(|| {
                    let place = place_of(body.len());
                    body.extend_from_slice(&self.programs[start..start + length]);
                    align(&mut body);
                    place
                });
                body[at..at + 4].copy_from_slice(&place.to_le_bytes());
            }
            let hash = hash_of(domain);
            let mut slot = (hash >> (64 - table_bits)) as usize;
            while table[slot].1 != 0 {
                slot = (slot + 1) % places;
            }
            table[slot] = (hash as u32, place_of(at));
        }
        for (entry, (tag, place)) in body.chunks_exact_mut(ENTRY_BYTES).zip(table) {
            entry[..4].copy_from_slice(&tag.to_le_bytes());
            entry[4..].copy_from_slice(&place.to_le_bytes());
        }
        body.resize(body.len() + PADDING, 0);
        let facts = Facts { table_bits, sites, rules: self.rules, method: self.method };
        Image::new(Body::Memory(body.into()), facts)
    }
}

fn align(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(PLACE_BYTES), 0);
}

/// Places reach 32 GiB, which is beyond what fits into memory together with the rules it was compiled from.
fn place_of(at: usize) -> u32 {
    (at / PLACE_BYTES) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(domains: &[(&str, bool)]) -> Image {
        let mut builder = ImageBuilder::default();
        for (number, (domain, with_subdomains)) in domains.iter().enumerate() {
            let mut program = Vec::new();
            program.put_u32(8);
            program.put_u32(number as u32);
            builder.insert(domain.as_bytes(), *with_subdomains, 0, 1, &program);
        }
        builder.finish()
    }

    fn found(image: &Image, host: &str) -> Option<(u32, usize)> {
        let site = image.site(host.as_bytes())?;
        Some((Cursor::new(site.program, 4).u32().unwrap(), site.domain_len))
    }

    #[test]
    fn the_longest_domain_counts() {
        let image = image(&[
            ("example.org", true),
            ("shop.example.org", true),
            ("a.b.c.example.co.uk", true),
            ("github.io", false),
            ("me.github.io", true),
            ("localhost", false),
            ("127.0.0.1", false),
        ]);
        assert_eq!(found(&image, "example.org"), Some((0, 11)));
        assert_eq!(found(&image, "www.example.org"), Some((0, 11)));
        assert_eq!(found(&image, "www.shop.example.org"), Some((1, 16)));
        assert_eq!(found(&image, "workshop.example.org"), Some((0, 11)));
        assert_eq!(found(&image, "example.co.uk"), None);
        assert_eq!(found(&image, "x.a.b.c.example.co.uk"), Some((2, 19)));
        assert_eq!(found(&image, "github.io"), Some((3, 9)));
        assert_eq!(found(&image, "you.github.io"), None);
        assert_eq!(found(&image, "www.me.github.io"), Some((4, 12)));
        assert_eq!(found(&image, "localhost"), Some((5, 9)));
        assert_eq!(found(&image, "a.localhost"), None);
        assert_eq!(found(&image, "127.0.0.1"), Some((6, 9)));
        assert_eq!(found(&image, "7.127.0.0.1"), None);
        for unknown in ["", ".", "..", "org", "example.net", ".example.com", "0.1"] {
            assert_eq!(found(&image, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn sites_with_the_same_rules_share_a_program() {
        let mut builder = ImageBuilder::default();
        let mut program = Vec::new();
        program.put_u32(100);
        program.resize(100, 7);
        for site in 0..50 {
            builder.insert(format!("site-{site}.example").as_bytes(), true, 0, 1, &program);
        }
        let image = builder.finish();
        assert_eq!(image.facts().sites, 50);
        assert!(image.bytes().len() < 50 * 60, "{} bytes", image.bytes().len());
        let program = |host: &[u8]| image.site(host).unwrap().program.as_ptr();
        assert_eq!(program(b"site-0.example"), program(b"site-49.example"));
    }

    #[test]
    fn no_site_is_lost_among_many() {
        let domains: Vec<String> = (0..3000).map(|number| format!("site-{number}.example")).collect();
        let image = image(&domains.iter().map(|domain| (&**domain, true)).collect::<Vec<_>>());
        for (number, domain) in domains.iter().enumerate() {
            assert_eq!(found(&image, &format!("www.{domain}")), Some((number as u32, domain.len())));
        }
    }
}
