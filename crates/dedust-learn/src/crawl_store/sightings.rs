/*!
What was seen under the paths of sites: observations in ([`SightingCollector`]), a bounded set of [`Sighting`]s out
([`Sightings`]), from which [`super::mirrors`] finds mirrors.

Paths are looked at by a hash, the same for all sites, and fewer of them the larger the crawl. How many are looked at depends
on all observations alone: those of several processes united ([`Sightings::merge`]) are the same, whatever each of them saw. As
bytes they go from one process to another:

```text
level:u32 sightings:u64 (site:u64 path:u64 section:u32 kind:u8 value:u64 www:u8)*
sections:u64 (hash:u32 length:u32 segment)*                                              all little-endian
```
*/

use dedust::support::first_segment;
use dedust::{ParsedUrl, site_of};
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::page_of;
use crate::hash::spread_seed;
use crate::label::Clues;
use crate::link_targets::LinkTargets;
use crate::thresholds::THRESHOLDS;

/// What was seen under the paths of sites.
///
/// Sets of several processes can be united, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sightings {
    /// In order, and none twice.
    pub(super) seen: Vec<Sighting>,
    /// Paths are looked at whose hash has this many zeros at its end.
    pub(super) level: u32,
    /// The first segments of paths, by their hashes.
    pub(super) sections: HashMap<u32, Box<[u8]>>,
}

/// Sightings of the observations of one process, being gathered.
///
/// New ones are put aside and sorted in when there are many: a table of hashes would have to be looked up for each, which takes
/// several times as long once it is larger than the caches.
#[derive(Debug, Default)]
pub(super) struct SightingCollector {
    sightings: Sightings,
    /// In any order; some may be there twice.
    fresh: Vec<Sighting>,
}

/// Sightings that are put aside.
const MOST_FRESH: usize = 1 << 19;

/// What a site has under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sighting {
    /// The hash of the name of the site.
    pub(super) site: u64,
    pub(super) path: u64,
    /// The hash of the first segment of the path.
    pub(super) section: u32,
    pub(super) seen: Seen,
    /// Whether the host starts with `www`, which is no part of the path; of a link, whether both hosts do or both do not.
    pub(super) has_www: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Seen {
    /// A page, by the hash of its label.
    Page(u64),
    /// A redirect to the same path of another site, by the hash of its name.
    RedirectTo(u64),
    /// A canonical link to the same path of another site.
    CanonicalTo(u64),
    /// A canonical link to the site itself, or a link to another path of another site.
    LinkElsewhere,
}

impl Seen {
    pub(super) fn is_page(self) -> bool {
        matches!(self, Self::Page(_))
    }

    /// Whether it declares that the page is one of the site whose name has this hash.
    pub(super) fn declares(self, name: u64) -> bool {
        self == Self::RedirectTo(name) || self == Self::CanonicalTo(name)
    }

    fn to_numbers(self) -> (u8, u64) {
        match self {
            Self::Page(page) => (0, page),
            Self::RedirectTo(name) => (1, name),
            Self::CanonicalTo(name) => (2, name),
            Self::LinkElsewhere => (3, 0),
        }
    }

    fn of_numbers(kind: u8, value: u64) -> Option<Self> {
        match kind {
            0 => Some(Self::Page(value)),
            1 => Some(Self::RedirectTo(value)),
            2 => Some(Self::CanonicalTo(value)),
            3 => Some(Self::LinkElsewhere),
            _ => None,
        }
    }
}

/// The number by which a site is known in [`Sightings`], whatever process has seen it.
pub fn site_hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

impl From<Sightings> for SightingCollector {
    fn from(sightings: Sightings) -> Self {
        Self { sightings, fresh: Vec::new() }
    }
}

impl SightingCollector {
    /// Takes note of an observation of the site `name`.
    pub(super) fn observe(&mut self, name: &[u8], url: &ParsedUrl, clues: &Clues<'_>, links: &LinkTargets) {
        let path = path_hash(url, name);
        if path.trailing_zeros() < self.sightings.level || clues.status.is_some_and(|status| status >= 400) {
            return;
        }
        let has_www = labels_of(url, name).starts_with(WWW);
        let link = |target: &ParsedUrl, is_redirect: bool| {
            let other = site_of(target.host());
            let is_same_host = labels_of(target, other).starts_with(WWW) == has_www;
            let seen = if other == name || path_hash(target, other) != path {
                Seen::LinkElsewhere
            } else if is_redirect {
                Seen::RedirectTo(xxh3_64(other))
            } else {
                Seen::CanonicalTo(xxh3_64(other))
            };
            (seen, is_same_host)
        };
        let links = [
            links.redirect().map(|target| link(target, true)),
            links.canonical().map(|target| link(target, false)),
        ];
        let page = page_of(clues).map(|page| (Seen::Page(xxh3_64(page)), has_www));
        let segment = first_segment(url);
        let section = xxh3_64(segment) as u32;
        let site = xxh3_64(name);
        for (seen, has_www) in links.into_iter().chain([page]).flatten() {
            self.push(Sighting { site, section, path, seen, has_www }, segment);
        }
    }

    /// Adds a sighting under a path with this first segment.
    pub(super) fn push(&mut self, sighting: Sighting, segment: &[u8]) {
        self.sightings.note_section(sighting.section, segment);
        self.fresh.push(sighting);
        if self.fresh.len() >= MOST_FRESH {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.fresh.sort_unstable();
        self.sightings.unite(&mut self.fresh);
    }

    /// All that was seen.
    pub(super) fn finish(mut self) -> Sightings {
        self.settle();
        self.sightings
    }
}

impl Sightings {
    /// Of segments with the same hash the smaller is kept, so that the order of the input leaves no trace.
    fn note_section(&mut self, section: u32, segment: &[u8]) {
        match self.sections.get_mut(&section) {
            Some(known) if segment < &**known => *known = segment.into(),
            Some(_) => {}
            None => {
                self.sections.insert(section, segment.into());
            }
        }
    }

    /// Adds sightings that are in order, and forgets some if there are too many now.
    fn unite(&mut self, others: &mut Vec<Sighting>) {
        self.seen.append(others);
        // This sort finds the two that are in order, and merges them.
        self.seen.sort();
        self.seen.dedup();
        while self.seen.len() > THRESHOLDS.mirrors.max_sightings {
            self.rise_to(self.level + 1);
        }
    }

    /// Adds what another process has seen.
    pub fn merge(&mut self, mut other: Self) {
        self.rise_to(other.level);
        other.rise_to(self.level);
        for (section, segment) in &other.sections {
            self.note_section(*section, segment);
        }
        self.unite(&mut other.seen);
    }

    /// Forgets all paths whose hashes have fewer zeros at their ends.
    fn rise_to(&mut self, level: u32) {
        if level <= self.level {
            return;
        }
        self.level = level;
        self.seen.retain(|sighting| sighting.path.trailing_zeros() >= level);
        self.forget_sections();
    }

    /// Forgets the segments of paths that are not looked at any more.
    fn forget_sections(&mut self) {
        let left: HashSet<u32> = self.seen.iter().map(|sighting| sighting.section).collect();
        self.sections.retain(|section, _| left.contains(section));
    }

    /// The hashes of the names of sites that lead to others often enough, and of those others: no other site can be a mirror or
    /// an original, unless the user says so.
    pub fn declared_sites(&self) -> Vec<u64> {
        let mut sites: Vec<u64> =
            declared_links(self.seen.iter()).into_keys().flat_map(|(from, to)| [from, to]).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    /// All that was seen, as bytes; the same whenever the same was seen.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + SIGHTING_BYTES * self.seen.len());
        bytes.extend_from_slice(&self.level.to_le_bytes());
        bytes.extend_from_slice(&(self.seen.len() as u64).to_le_bytes());
        for sighting in &self.seen {
            let (kind, value) = sighting.seen.to_numbers();
            bytes.extend_from_slice(&sighting.site.to_le_bytes());
            bytes.extend_from_slice(&sighting.path.to_le_bytes());
            bytes.extend_from_slice(&sighting.section.to_le_bytes());
            bytes.push(kind);
            bytes.extend_from_slice(&value.to_le_bytes());
            bytes.push(u8::from(sighting.has_www));
        }
        let mut sections: Vec<(&u32, &Box<[u8]>)> = self.sections.iter().collect();
        sections.sort_unstable();
        bytes.extend_from_slice(&(sections.len() as u64).to_le_bytes());
        for (section, segment) in sections {
            bytes.extend_from_slice(&section.to_le_bytes());
            bytes.extend_from_slice(&(segment.len() as u32).to_le_bytes());
            bytes.extend_from_slice(segment);
        }
        bytes
    }

    /// What [`Sightings::to_bytes`] made; `None` if it was something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        let mut sightings = Self { level: bytes.u32()?, ..Self::default() };
        for _ in 0..bytes.u64()? {
            let (site, path, section) = (bytes.u64()?, bytes.u64()?, bytes.u32()?);
            let (kind, value, has_www) = (bytes.u8()?, bytes.u64()?, bytes.u8()? != 0);
            let seen = Seen::of_numbers(kind, value)?;
            sightings.seen.push(Sighting { site, path, section, seen, has_www });
        }
        // Whoever wrote it may not have been us.
        sightings.seen.sort();
        sightings.seen.dedup();
        for _ in 0..bytes.u64()? {
            let section = bytes.u32()?;
            let length = bytes.u32()? as usize;
            sightings.sections.insert(section, bytes.take(length)?.into());
        }
        bytes.0.is_empty().then_some(sightings)
    }
}

/// Bytes of a sighting that is written.
const SIGHTING_BYTES: usize = 8 + 8 + 4 + 1 + 8 + 1;

/// Bytes that are read from the front.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// How often the first of two sites leads to the second, where it does so often enough to be believed.
pub(super) fn declared_links<'s>(seen: impl Iterator<Item = &'s Sighting>) -> HashMap<(u64, u64), u64> {
    let mut links: HashMap<(u64, u64), u64> = HashMap::default();
    for &Sighting { site, seen, .. } in seen {
        if let Seen::RedirectTo(name) | Seen::CanonicalTo(name) = seen {
            *links.entry((site, name)).or_default() += 1;
        }
    }
    links.retain(|_, count| *count >= THRESHOLDS.mirrors.min_declared);
    links
}

const WWW: &[u8] = b"www.";

/// What stands before the name of its site in the host of a URL.
fn labels_of<'u>(url: &'u ParsedUrl, name: &[u8]) -> &'u [u8] {
    url.host().strip_suffix(name).unwrap_or_default()
}

/// The hash of all that follows the name of the site in a URL, and of what stands before it, apart from `www`: `b.a.example/x`
/// may be `b.c.example/x`.
fn path_hash(url: &ParsedUrl, name: &[u8]) -> u64 {
    let labels = labels_of(url, name);
    let labels = labels.strip_prefix(WWW).unwrap_or(labels);
    let seed = if labels.is_empty() { 0 } else { xxh3_64(labels) };
    let mut hash = xxh3_64_with_seed(url.path(), seed);
    for (part, salt) in [(url.query(), 1), (url.port(), 2), (url.hashbang(), 3)] {
        if let Some(part) = part {
            hash = xxh3_64_with_seed(part, hash.wrapping_add(spread_seed(salt, 0)));
        }
    }
    hash
}
