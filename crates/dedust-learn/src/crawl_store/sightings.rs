/*!
What was seen under the paths of sites: observations in ([`SightingCollector`]), a bounded set of [`PathSighting`]s out
([`Sightings`]), from which [`super::mirrors`] finds mirrors.

Sites and the first segments of paths are known by their texts, never by a hash: whoever chooses the name of a domain must not
be taken for another. Paths are looked at by a hash, the same for all sites, and fewer of them the larger the crawl. How many
are looked at depends on all observations alone: those of several processes united ([`Sightings::merge`]) are the same, whatever
each of them saw. As bytes they go from one process to another, sites and sections as the numbers of texts:

```text
level:u32 texts:u64 (length:u32 text)*
sightings:u64 (site:u32 path:u64 section:u32 kind:u8 value:u64 www:u8)*        all little-endian
```
*/

use dedust::support::{Interner, first_segment};
use dedust::{ParsedUrl, site_of};
use foldhash::HashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::page_of;
use crate::hash::spread_seed;
use crate::label::Clues;
use crate::link_targets::LinkTargets;
use crate::thresholds;

/// What was seen under the paths of sites.
///
/// Sets of several processes can be united, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sightings {
    /// The names of sites and the first segments of paths that are spoken of, in order, and none twice.
    pub(super) texts: Vec<Box<[u8]>>,
    /// In order, and none twice.
    pub(super) seen: Vec<PathSighting>,
    /// Paths are looked at whose hash has this many zeros at its end.
    pub(super) level: u32,
}

/// Sightings of the observations of one process, being gathered.
///
/// New ones are put aside and sorted in when there are many: a table of hashes would have to be looked up for each, which takes
/// several times as long once it is larger than the caches.
#[derive(Debug, Default)]
pub(super) struct SightingCollector {
    /// Texts have the numbers that they were given when they came first.
    texts: Interner,
    seen: Vec<PathSighting>,
    level: u32,
    /// In any order; some may be there twice.
    fresh: Vec<PathSighting>,
}

/// What a site has under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PathSighting {
    /// The number of the name of the site.
    pub(super) site: u32,
    pub(super) path: u64,
    /// The number of the first segment of the path.
    pub(super) section: u32,
    pub(super) seen: Seen,
    /// Whether the host starts with `www`, which is no part of the path; of a link, whether both hosts do or both do not.
    pub(super) has_www: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Seen {
    /// A page, by the hash of its label.
    Page(u64),
    /// A redirect to the same path of another site, by the number of its name.
    RedirectTo(u32),
    /// A canonical link to the same path of another site.
    CanonicalTo(u32),
    /// A canonical link to the site itself.
    CanonicalToItself,
    /// A redirect within the site, or a link to another path of another site.
    LinkElsewhere,
}

impl Seen {
    pub(super) fn is_page(self) -> bool {
        matches!(self, Self::Page(_))
    }

    /// Whether it declares that the page is one of the site whose name has this number.
    pub(super) fn declares(self, name: u32) -> bool {
        self == Self::RedirectTo(name) || self == Self::CanonicalTo(name)
    }

    /// The site that it leads to.
    fn site(&mut self) -> Option<&mut u32> {
        match self {
            Self::RedirectTo(name) | Self::CanonicalTo(name) => Some(name),
            Self::Page(_) | Self::CanonicalToItself | Self::LinkElsewhere => None,
        }
    }

    fn to_numbers(self) -> (u8, u64) {
        match self {
            Self::Page(page) => (0, page),
            Self::RedirectTo(name) => (1, name.into()),
            Self::CanonicalTo(name) => (2, name.into()),
            Self::LinkElsewhere => (3, 0),
            Self::CanonicalToItself => (4, 0),
        }
    }

    fn of_numbers(kind: u8, value: u64) -> Option<Self> {
        match kind {
            0 => Some(Self::Page(value)),
            1 => Some(Self::RedirectTo(value.try_into().ok()?)),
            2 => Some(Self::CanonicalTo(value.try_into().ok()?)),
            3 => Some(Self::LinkElsewhere),
            4 => Some(Self::CanonicalToItself),
            _ => None,
        }
    }
}

impl PathSighting {
    /// The texts that it speaks of.
    fn texts(&mut self) -> impl Iterator<Item = &mut u32> {
        [&mut self.site, &mut self.section].into_iter().chain(self.seen.site())
    }
}

impl SightingCollector {
    /// Takes note of an observation of the site `name`.
    pub(super) fn observe(&mut self, name: &[u8], url: &ParsedUrl, clues: &Clues<'_>, links: &LinkTargets) {
        let path = path_hash(url, name);
        if path.trailing_zeros() < self.level || clues.status.is_some_and(|status| status >= 400) {
            return;
        }
        let has_www = labels_of(url, name).starts_with(WWW);
        let mut link = |target: &ParsedUrl, is_redirect: bool| {
            let other = site_of(target.host());
            let is_same_host = labels_of(target, other).starts_with(WWW) == has_www;
            let is_within = other == name;
            let seen = if is_within && !is_redirect {
                Seen::CanonicalToItself
            } else if is_within || path_hash(target, other) != path {
                Seen::LinkElsewhere
            } else if is_redirect {
                Seen::RedirectTo(self.texts.intern(other))
            } else {
                Seen::CanonicalTo(self.texts.intern(other))
            };
            (seen, is_same_host)
        };
        let links = [
            links.redirect().map(|target| link(target, true)),
            links.canonical().map(|target| link(target, false)),
        ];
        let page = page_of(clues).map(|page| (Seen::Page(xxh3_64(page)), has_www));
        if page.is_none() && links == [None, None] {
            return;
        }
        let (site, section) = (self.texts.intern(name), self.texts.intern(first_segment(url)));
        for (seen, has_www) in links.into_iter().chain([page]).flatten() {
            self.push(PathSighting { site, section, path, seen, has_www });
        }
    }

    pub(super) fn push(&mut self, sighting: PathSighting) {
        self.fresh.push(sighting);
        if self.fresh.len() >= thresholds::mirrors::MAX_UNSORTED {
            self.settle();
        }
    }

    /// Sorts in what was put aside, and forgets some if there are too many now.
    fn settle(&mut self) {
        let before = self.level;
        self.fresh.sort_unstable();
        unite(&mut self.seen, &mut self.fresh, &mut self.level);
        if self.level > before {
            // Of the texts most are not spoken of any more.
            *self = std::mem::take(self).settled().into();
        }
    }

    /// All that was seen.
    pub(super) fn finish(mut self) -> Sightings {
        self.settle();
        self.settled()
    }

    /// All that was sorted in, by the numbers of texts in order.
    fn settled(mut self) -> Sightings {
        let mut is_used = vec![false; self.texts.len()];
        let mut seen = self.seen;
        seen.iter_mut().flat_map(PathSighting::texts).for_each(|text| is_used[*text as usize] = true);
        let mut used: Vec<u32> =
            (0..).zip(&is_used).filter(|(_, is_used)| **is_used).map(|used| used.0).collect();
        used.sort_unstable_by(|&a, &b| self.texts.get(a).cmp(self.texts.get(b)));
        let mut numbers = vec![0; self.texts.len()];
        for (number, &text) in used.iter().enumerate() {
            numbers[text as usize] = number as u32;
        }
        renumber(&mut seen, &numbers);
        let texts = used.into_iter().map(|text| self.texts.get(text).into()).collect();
        self.texts = Interner::default();
        Sightings { texts, seen, level: self.level }
    }
}

impl From<Sightings> for SightingCollector {
    fn from(Sightings { texts, seen, level }: Sightings) -> Self {
        let mut interner = Interner::default();
        for text in &texts {
            interner.intern(text);
        }
        Self { texts: interner, seen, level, fresh: Vec::new() }
    }
}

/// Gives texts other numbers, and puts what speaks of them in order.
fn renumber(seen: &mut [PathSighting], numbers: &[u32]) {
    seen.iter_mut().flat_map(PathSighting::texts).for_each(|text| *text = numbers[*text as usize]);
    seen.sort_unstable();
}

/// Adds sightings that are in order, and forgets some if there are too many now.
fn unite(seen: &mut Vec<PathSighting>, others: &mut Vec<PathSighting>, level: &mut u32) {
    seen.append(others);
    // This sort finds the two that are in order, and merges them.
    seen.sort();
    seen.dedup();
    while seen.len() > thresholds::mirrors::MAX_SIGHTINGS {
        *level += 1;
        seen.retain(|sighting| sighting.path.trailing_zeros() >= *level);
    }
}

impl Sightings {
    /// Adds what another process has seen.
    pub fn merge(&mut self, other: Self) {
        let mut both: SightingCollector = std::mem::take(self).into();
        let numbers: Vec<u32> = other.texts.iter().map(|text| both.texts.intern(text)).collect();
        let mut seen = other.seen;
        renumber(&mut seen, &numbers);
        both.level = both.level.max(other.level);
        let level = both.level;
        for seen in [&mut seen, &mut both.seen] {
            seen.retain(|sighting| sighting.path.trailing_zeros() >= level);
        }
        both.fresh = seen;
        *self = both.finish();
    }

    /// The number of a text, if it is spoken of.
    pub(super) fn number(&self, text: &[u8]) -> Option<u32> {
        self.texts.binary_search_by(|other| (**other).cmp(text)).ok().map(|number| number as u32)
    }

    /// The names of sites that lead to others often enough, and of those others, in order: no other site can be a mirror or an
    /// original, unless the user says so.
    pub fn declared_sites(&self) -> Vec<String> {
        let links = declared_links(&self.seen);
        let mut sites: Vec<u32> = links.into_keys().flat_map(|(from, to)| [from, to]).collect();
        sites.sort_unstable();
        sites.dedup();
        sites.into_iter().map(|site| String::from_utf8_lossy(&self.texts[site as usize]).into()).collect()
    }

    /// All that was seen, as bytes; the same whenever the same was seen.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(20 + SIGHTING_BYTES * self.seen.len());
        bytes.extend_from_slice(&self.level.to_le_bytes());
        bytes.extend_from_slice(&(self.texts.len() as u64).to_le_bytes());
        for text in &self.texts {
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text);
        }
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
        bytes
    }

    /// What [`Sightings::to_bytes`] made; `None` if it was something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        let mut sightings = Self { level: bytes.u32()?, ..Self::default() };
        for _ in 0..bytes.u64()? {
            let length = bytes.u32()? as usize;
            sightings.texts.push(bytes.take(length)?.into());
        }
        for _ in 0..bytes.u64()? {
            let (site, path, section) = (bytes.u32()?, bytes.u64()?, bytes.u32()?);
            let (kind, value, has_www) = (bytes.u8()?, bytes.u64()?, bytes.u8()? != 0);
            let seen = Seen::of_numbers(kind, value)?;
            let mut sighting = PathSighting { site, path, section, seen, has_www };
            let are_known = sighting.texts().all(|text| (*text as usize) < sightings.texts.len());
            are_known.then(|| sightings.seen.push(sighting))?;
        }
        // Whoever wrote it may not have been us.
        sightings.seen.sort();
        sightings.seen.dedup();
        let are_in_order = sightings.texts.is_sorted_by(|a, b| a < b);
        (bytes.0.is_empty() && are_in_order).then_some(sightings)
    }
}

/// Bytes of a sighting that is written.
const SIGHTING_BYTES: usize = 4 + 8 + 4 + 1 + 8 + 1;

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
pub(super) fn declared_links(seen: &[PathSighting]) -> HashMap<(u32, u32), u64> {
    let mut links: HashMap<(u32, u32), u64> = HashMap::default();
    for &PathSighting { site, seen, .. } in seen {
        if let Seen::RedirectTo(name) | Seen::CanonicalTo(name) = seen {
            *links.entry((site, name)).or_default() += 1;
        }
    }
    links.retain(|_, count| *count >= thresholds::mirrors::MIN_DECLARED);
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
