/*!
Puts the programs of sites together: shapes and programs that are equal are kept once, sites that are often met lie close
together.
*/

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::index::{
    GROUP, GROUP_BYTES, HAS_LONGER, HAS_RULES, IS_ALIAS, MAX_ASKED_GROUPS, MAX_SITE_BYTES, OFFSET_UNIT,
    WITH_SUBDOMAINS, group_of, hash_of, last_labels, longer, tag_of,
};
use super::left_out::{LeftOut, LeftOutReason};
use super::{Facts, Image};
use crate::encoding::Encode as _;
use crate::interner::Interner;
use crate::program::{CompiledSite, compile_mirror};
use crate::rule::{DOMAIN_MEMORY, MAX_EXCEPTION_BYTES, MIRROR_MEMORY, Mirror};
use crate::url::PADDING;

/// The length of a domain has one byte; names of hosts are shorter.
const MAX_DOMAIN_BYTES: usize = u8::MAX as usize;

/// Labels of the hosts of a site, all together: each may be an entry of the table.
const MAX_HOST_LABELS: usize = 1 << 17;

/// What stands before each program.
const SHAPE_NUMBER_BYTES: usize = size_of::<u32>();

/// Mirrors of mirrors are followed so far.
const MAX_MIRROR_STEPS: usize = 8;

/// What else is known of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteFacts {
    pub(crate) with_subdomains: bool,
    /// URLs that were seen of it.
    pub(crate) weight: u64,
    pub(crate) rules: u64,
}

/// Puts the programs of sites together.
#[derive(Debug, Default)]
pub(crate) struct ImageBuilder {
    method: Box<str>,
    rules: u64,
    sites: u64,
    /// Those of the sites that are mirrors.
    mirror_sites: u64,
    /// All shapes, and all programs, each after the number of its shape.
    shapes: Interner,
    programs: Interner,
    mirrors: BTreeMap<Box<[u8]>, (SiteFacts, Mirror)>,
    domains: BTreeMap<Box<[u8]>, Domain>,
    /// The length of the names of all domains.
    name_bytes: u64,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Default)]
struct Domain {
    flags: u32,
    weight: u64,
    /// The length of the name of its site, with which it ends.
    site_len: u8,
    /// The numbers of its shape and of its program.
    program: Option<(u32, u32)>,
}

impl CompiledSite {
    fn is_too_large(&self) -> bool {
        self.site.len().max(self.shape.len()) >= MAX_SITE_BYTES
    }
}

impl ImageBuilder {
    /// Names the learner.
    pub(crate) fn set_method(&mut self, method: &str) {
        self.method = method.into();
    }

    /// Adds a site. One that is too large is left out: leaving URLs alone is always safe.
    pub(crate) fn insert(&mut self, domain: &[u8], facts: SiteFacts, compiled: &CompiledSite) {
        if domain.len() > MAX_DOMAIN_BYTES || compiled.is_too_large() {
            self.leave_out(domain, LeftOutReason::TooLarge);
            return;
        }
        self.rules += facts.rules;
        self.sites += 1;
        self.insert_domain(domain, domain.len(), facts, compiled);
    }

    /// Adds a site whose rules hold on these hosts alone, with and without `www`.
    pub(crate) fn insert_hosts(
        &mut self,
        domain: &[u8],
        hosts: &[Box<str>],
        facts: SiteFacts,
        compiled: &CompiledSite,
    ) {
        let labels: usize = hosts.iter().map(|host| host.split('.').count()).sum();
        if labels > MAX_HOST_LABELS || compiled.is_too_large() {
            self.leave_out(domain, LeftOutReason::TooLarge);
            return;
        }
        self.rules += facts.rules;
        self.sites += 1;
        let facts = SiteFacts { with_subdomains: false, ..facts };
        for host in hosts {
            for host in [host.to_string(), format!("www.{host}")] {
                if host.len() <= MAX_DOMAIN_BYTES {
                    self.insert_domain(host.as_bytes(), domain.len(), facts, compiled);
                }
            }
        }
    }

    fn insert_domain(
        &mut self,
        domain: &[u8],
        site_len: usize,
        SiteFacts { with_subdomains, weight, .. }: SiteFacts,
        CompiledSite { shape, site }: &CompiledSite,
    ) {
        let shape_number = self.shapes.intern(shape);
        let program = self.programs.intern(&[&shape_number.to_le_bytes(), &site[..]].concat());
        let flags = HAS_RULES | if with_subdomains { WITH_SUBDOMAINS } else { 0 };
        let entry = self.domain(domain);
        *entry = Domain {
            flags: entry.flags & HAS_LONGER | flags,
            weight: entry.weight.max(weight),
            site_len: site_len as u8,
            program: Some((shape_number, program)),
        };
        for end in ends(domain).filter(|end| end.len() < domain.len()) {
            let end = self.domain(end);
            end.flags |= HAS_LONGER;
            // What many sites are found by must not come after all of them.
            end.weight = end.weight.max(weight);
        }
    }

    /// What is known of a domain.
    fn domain(&mut self, domain: &[u8]) -> &mut Domain {
        self.domains.entry(domain.into()).or_insert_with(|| {
            self.name_bytes += domain.len() as u64;
            Domain::default()
        })
    }

    /// Adds a site that shows the pages of another.
    pub(crate) fn insert_mirror(&mut self, domain: &[u8], facts: SiteFacts, mirror: &Mirror) {
        self.mirrors.insert(domain.into(), (facts, mirror.clone()));
    }

    /// An estimate of the memory for all that was added, and for the image that is made of it.
    pub(crate) fn memory(&self) -> u64 {
        let domains = (self.domains.len() + self.mirrors.len()) as u64 * DOMAIN_MEMORY + 2 * self.name_bytes;
        let mirrors = self.mirrors.len() as u64 * MIRROR_MEMORY;
        // With the copies in the image.
        domains + mirrors + 2 * (self.shapes.memory() + self.programs.memory()) as u64
    }

    /// A mirror of a mirror is one of the original. Those that lead to no original are left out.
    fn add_mirrors(&mut self) {
        let mirrors = std::mem::take(&mut self.mirrors);
        for (domain, (facts, mirror)) in &mirrors {
            let (mut original, mut is_fetchable, mut steps) = (&mirror.of, mirror.fetchable, 0);
            let mut except: Vec<&str> = mirror.except.iter().map(|segment| &**segment).collect();
            while let Some((_, next)) = mirrors.get(original.as_bytes()).filter(|_| steps < MAX_MIRROR_STEPS)
            {
                (original, is_fetchable, steps) = (&next.of, is_fetchable && next.fetchable, steps + 1);
                except.extend(next.except.iter().map(|segment| &**segment));
            }
            let except_bytes: usize = except.iter().map(|segment| segment.len() + 1).sum();
            if steps == MAX_MIRROR_STEPS {
                self.leave_out(domain, LeftOutReason::NoOriginal);
            } else if original.len() > MAX_DOMAIN_BYTES || except_bytes > MAX_EXCEPTION_BYTES {
                self.leave_out(domain, LeftOutReason::TooLarge);
            } else {
                self.mirror_sites += 1;
                self.insert(domain, *facts, &compile_mirror(original, is_fetchable, &except));
            }
        }
    }

    /// Notes that the rules of a site are not in the image.
    pub(crate) fn leave_out(&mut self, domain: &[u8], reason: LeftOutReason) {
        self.left_out.push(LeftOut::new(domain, reason));
    }

    /// The domains with rules, and the length of the names of their sites, that are not found where these are not in the table.
    fn not_found(&self, crowded: &BTreeSet<&[u8]>) -> impl Iterator<Item = (&[u8], u8)> {
        let is_found = |domain: &[u8]| crowded.is_empty() || !ends(domain).any(|end| crowded.contains(end));
        let sites = self.domains.iter().filter(|(_, facts)| facts.program.is_some());
        sites.filter(move |(domain, _)| !is_found(domain)).map(|(domain, facts)| (&**domain, facts.site_len))
    }

    /// Also returns the sites that are not in the image.
    pub(crate) fn finish(mut self) -> (Image, Vec<LeftOut>) {
        self.add_mirrors();
        // Three of four entries are taken, and one is always free.
        let groups =
            if self.domains.is_empty() { 0 } else { (self.domains.len() * 4 / 3 / GROUP + 1) as u32 };
        let mut table = vec![(0u32, 0u32); groups as usize * GROUP];
        let mut body = vec![0; groups as usize * GROUP_BYTES];
        let mut shape_offsets: HashMap<u32, u32> = HashMap::default();
        let mut record_offsets: HashMap<u32, u32> = HashMap::default();
        let mut domains: Vec<(&[u8], &Domain)> =
            self.domains.iter().map(|(domain, facts)| (&**domain, facts)).collect();
        // Ends that are no sites before these; stable, so that sites of the same weight stay in the order of their names.
        domains.sort_by_key(|(_, facts)| (std::cmp::Reverse(facts.weight), facts.program.is_some()));
        let mut crowded: BTreeSet<&[u8]> = BTreeSet::new();
        for (domain, Domain { flags, program, site_len, .. }) in domains {
            let hash = hash_of(domain, 0, domain.len());
            let first_entry = group_of(hash, groups) * GROUP;
            let mut entries = (first_entry..table.len()).chain(0..first_entry).take(MAX_ASKED_GROUPS * GROUP);
            let Some(entry) = entries.find(|&entry| table[entry].1 == 0) else {
                crowded.insert(domain);
                continue;
            };
            let (mut first, mut second, mut site): (u32, u32, &[u8]) = (0, 0, &[]);
            if let Some((shape, program)) = *program {
                let shape = *shape_offsets.entry(shape).or_insert_with(|| {
                    align(&mut body);
                    let offset = offset_of(body.len());
                    body.extend_from_slice(self.shapes.get(shape));
                    offset
                });
                if let Some(&offset) = record_offsets.get(&program) {
                    (first, second) = (offset, IS_ALIAS);
                } else {
                    site = &self.programs.get(program)[SHAPE_NUMBER_BYTES..];
                    (first, second) = (shape, site.len() as u32);
                }
            }
            align(&mut body);
            let offset = offset_of(body.len());
            if let (Some((_, program)), 0) = (*program, second & IS_ALIAS) {
                record_offsets.insert(program, offset);
            }
            body.put_u32(first);
            body.put_u32(second);
            body.put_u8(domain.len() as u8);
            body.put_u8(*site_len);
            body.extend_from_slice(domain);
            body.extend_from_slice(site);
            table[entry] = (tag_of(hash) | flags, offset);
        }
        for (bytes, group) in body.chunks_exact_mut(GROUP_BYTES).zip(table.chunks_exact(GROUP)) {
            let (tags, offsets) = bytes.split_at_mut(GROUP_BYTES / 2);
            for (lane, (tag, offset)) in group.iter().enumerate() {
                tags[4 * lane..4 * lane + 4].copy_from_slice(&tag.to_le_bytes());
                offsets[4 * lane..4 * lane + 4].copy_from_slice(&offset.to_le_bytes());
            }
        }
        body.resize(body.len() + PADDING, 0);
        let crowded: Vec<(&[u8], u8)> = self.not_found(&crowded).collect();
        // A site may have other hosts, where its rules hold.
        let whole_sites = crowded.iter().filter(|(domain, site_len)| domain.len() == usize::from(*site_len));
        let sites = self.sites.saturating_sub(whole_sites.count() as u64);
        let crowded = crowded.into_iter().map(|(domain, _)| LeftOut::new(domain, LeftOutReason::Crowded));
        let crowded: Vec<LeftOut> = crowded.collect();
        self.left_out.extend(crowded);
        let facts = Facts {
            groups,
            sites,
            rules: self.rules,
            mirrors: self.mirror_sites,
            left_out: self.left_out.len() as u64,
            method: self.method,
        };
        (Image::new(body, facts), self.left_out)
    }
}

/// A domain and its ends, by which it is found.
fn ends(domain: &[u8]) -> impl Iterator<Item = &[u8]> {
    let next = |&start: &usize| (start > 0).then(|| longer(domain, start));
    std::iter::successors(Some(last_labels(domain, 0, domain.len())), next).map(|start| &domain[start..])
}

fn align(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(OFFSET_UNIT), 0);
}

/// Offsets reach 16 GiB, which is beyond what fits into memory together with the rules it was compiled from.
fn offset_of(at: usize) -> u32 {
    (at / OFFSET_UNIT) as u32
}
