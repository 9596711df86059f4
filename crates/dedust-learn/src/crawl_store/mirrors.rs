/*!
Finds sites that show the pages of another site under the same paths: `old.example/x` is `new.example/x`.

Two sites are compared where both have a path, by what was seen there: the label of the page, or a link to it. Paths are
looked at by a hash, the same for all sites, and fewer of them the larger the crawl: what is remembered is bounded,
and does not depend on the order of the input.

Only keys of URLs that both sites have can be brought together wrongly, so it is only the paths they share that are asked.
A section (the first segment of the path) in which most of these show different pages is an exception: `/contact` of each site.
*/

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use dedust::{ParsedUrl, first_segment, has_subdomains, site_of};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::page_of;
use crate::confidence::failure_bound;
use crate::crawl::resolve;
use crate::label::Clues;

/// Sightings that are remembered, of all sites together.
const MAX_SIGHTINGS: usize = 1 << 20;
/// Pages that two sites must have in common.
const MIN_PAGES: u64 = 20;
/// The most, with 95 % confidence, of the paths in common under which two sites may show different pages: about what wrong
/// labels come to.
const MAX_FAILURE: f64 = 0.15;
/// The share of the paths in common that may differ, those with labels that may belong elsewhere among them.
const MAX_DOUBT: f64 = 0.3;
/// A page that more sites show is what servers say when they have nothing to say.
const MAX_SITES: usize = 64;
/// A page that one site shows under more paths is an error, or its path does not tell what it is.
const MAX_PATHS: usize = 20;
/// Failures that an exception needs, and how many exceptions a mirror may have.
const MIN_EXCEPTION_FAILURES: u64 = 5;
const MAX_EXCEPTIONS: usize = 16;
/// The share of a mirror's paths that must be seen at the original before others are fetched there.
const MIN_COVERAGE: f64 = 0.5;

/// A site that shows the pages of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirrorSite {
    /// The number of the other site.
    pub of: u32,
    /// Paths under which both were seen, one for each page.
    pub paths: u64,
    /// Those of them with different pages.
    pub failures: u64,
    /// About how many of its URLs were seen at the other site too.
    pub covered: u64,
    /// Whether these are most of them, with `www` where it has that too.
    pub is_covered: bool,
    /// The first segments of paths under which it has pages of its own, sorted. Their paths are not counted.
    pub except: Vec<Box<str>>,
}

/// What was seen under the paths of sites.
#[derive(Debug, Default)]
pub(super) struct Mirrors {
    sightings: FxHashSet<Sighting>,
    /// Paths are looked at whose hash has this many zeros at its end.
    level: u32,
    /// The first segments of paths, by their hashes.
    sections: FxHashMap<u32, Box<[u8]>>,
    target: ParsedUrl,
}

/// What a site has under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Sighting {
    site: u32,
    path: u64,
    /// The hash of the first segment of the path.
    section: u32,
    seen: Seen,
    /// Whether the host starts with `www`, which is no part of the path; of a link, whether both hosts do or both do not.
    has_www: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Seen {
    /// A page, by the hash of its label.
    Page(u64),
    /// A link to the same path of another site, by the hash of its name.
    LinkTo(u64),
    /// A link to another path of another site.
    LinkAway,
}

/// What is known of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'s> {
    pub(super) name: &'s str,
    pub(super) rows: u64,
}

impl<'s> Candidate<'s> {
    /// How much there is to see; of two sites with as much, the one with the shorter name is larger.
    fn size(&self) -> (u64, Reverse<(usize, &'s str)>) {
        (self.rows, Reverse((self.name.len(), self.name)))
    }
}

/// What the paths of two sites say.
#[derive(Debug, Default)]
struct Votes {
    /// Agreeing ones, one for each page.
    pages: FxHashSet<u64>,
    /// Agreeing and failing paths of each section.
    sections: BTreeMap<u32, [u64; 2]>,
    /// Paths under which they differ, with labels that may belong elsewhere.
    doubtful: u64,
    /// Links from the first to the second, and back.
    links: [u64; 2],
    /// Paths under which both have the same page, and those of them where both have `www` or both have not.
    shared: u64,
    alike: u64,
}

impl Mirrors {
    /// Takes note of an observation of `site`, whose name is `name`.
    pub(super) fn observe(&mut self, site: u32, name: &[u8], url: &ParsedUrl, clues: &Clues<'_>) {
        let path = path_hash(url, name);
        if path.trailing_zeros() < self.level || clues.status.is_some_and(|status| status >= 400) {
            return;
        }
        let has_www = labels_of(url, name).starts_with(WWW);
        let mut link = |target| {
            resolve(url, target, &mut self.target)?;
            let other = site_of(self.target.host());
            let is_same_path = path_hash(&self.target, other) == path;
            let seen = if is_same_path { Seen::LinkTo(xxh3_64(other)) } else { Seen::LinkAway };
            let is_same_host = labels_of(&self.target, other).starts_with(WWW) == has_www;
            (other != name).then_some((seen, is_same_host))
        };
        let link = link(clues.redirect).or_else(|| link(clues.canonical));
        let page = || page_of(clues).map(|page| (Seen::Page(xxh3_64(page)), has_www));
        let Some((seen, has_www)) = link.or_else(page) else { return };
        let segment = first_segment(url);
        let section = xxh3_64(segment) as u32;
        self.sections.entry(section).or_insert_with(|| segment.into());
        self.sightings.insert(Sighting { site, section, path, seen, has_www });
        while self.sightings.len() > MAX_SIGHTINGS {
            self.halve();
        }
    }

    /// Forgets half of the paths.
    fn halve(&mut self) {
        self.level += 1;
        let level = self.level;
        self.sightings.retain(|sighting| sighting.path.trailing_zeros() >= level);
        let left: FxHashSet<u32> = self.sightings.iter().map(|sighting| sighting.section).collect();
        self.sections.retain(|section, _| left.contains(section));
    }

    /// The sites that are mirrors, by number.
    pub(super) fn find(self, sites: &[Candidate<'_>]) -> BTreeMap<u32, MirrorSite> {
        // It takes two.
        if sites.len() < 2 {
            return BTreeMap::new();
        }
        let sections = self.sections;
        let mut sightings: Vec<Sighting> = self.sightings.into_iter().collect();
        leave_out_errors(&mut sightings);
        sightings.sort_unstable();
        let by_site: FxHashMap<u32, &[Sighting]> =
            sightings.chunk_by(|a, b| a.site == b.site).map(|of_site| (of_site[0].site, of_site)).collect();
        let relations = likely_pairs(&sightings, sites).into_iter().filter_map(|pair| {
            let sightings = pair.map(|site| by_site.get(&site).copied().unwrap_or_default());
            let votes =
                Votes::count(sightings, pair.map(|site| xxh3_64(sites[site as usize].name.as_bytes())));
            let (mirror, of) = votes.direction(pair, sites);
            let of_mirror = if mirror == pair[0] { sightings[0] } else { sightings[1] };
            let relation = votes.judge(of, of_mirror, &sections)?;
            let covered = (relation.covered << self.level).min(sites[mirror as usize].rows);
            Some((mirror, MirrorSite { covered, ..relation }))
        });
        choose(relations.collect(), sites)
    }
}

impl Votes {
    /// What the sightings of two sites, whose names have these hashes, say of them.
    fn count(sightings: [&[Sighting]; 2], names: [u64; 2]) -> Self {
        let mut votes = Self::default();
        for (from, to) in [(0, 1), (1, 0)] {
            let is_link = |sighting: &&Sighting| sighting.seen == Seen::LinkTo(names[to]);
            let links = sightings[from].iter().filter(is_link);
            votes.alike += links.clone().filter(|sighting| sighting.has_www).count() as u64;
            votes.links[from] = links.count() as u64;
            votes.shared += votes.links[from];
        }
        let mut others = sightings[1].chunk_by(|a, b| a.path == b.path).peekable();
        let mut differing: Vec<[&[Sighting]; 2]> = Vec::new();
        for one in sightings[0].chunk_by(|a, b| a.path == b.path) {
            while others.next_if(|other| other[0].path < one[0].path).is_some() {}
            if let Some(other) = others.next_if(|other| other[0].path == one[0].path)
                && !votes.agree(one, other, names)
            {
                differing.push([one, other]);
            }
        }
        let elsewhere = seen_twice(sightings);
        for [one, other] in differing {
            if one.iter().chain(other).any(|sighting| elsewhere.contains(&sighting.seen)) {
                votes.doubtful += 1;
            } else {
                votes.sections.entry(one[0].section).or_default()[1] += 1;
            }
        }
        votes
    }

    /// Whether two sites do not differ under a path; counts the vote if they agree.
    fn agree(&mut self, one: &[Sighting], other: &[Sighting], names: [u64; 2]) -> bool {
        let is_link = |sighting: &Sighting| names.map(Seen::LinkTo).contains(&sighting.seen);
        if one.iter().chain(other).any(is_link) {
            return true;
        }
        let same = one.iter().find(|one| other.iter().any(|other| one.seen == other.seen));
        if let Some(Sighting { seen: Seen::Page(page), section, .. }) = same {
            // One vote for each page.
            self.sections.entry(*section).or_default()[0] += u64::from(self.pages.insert(*page));
            let is_same = |a: &Sighting, b: &Sighting| (a.seen, a.has_www) == (b.seen, b.has_www);
            self.shared += 1;
            self.alike += u64::from(one.iter().any(|a| other.iter().any(|b| is_same(a, b))));
        }
        // Else both lead to the same place elsewhere.
        same.is_some()
    }

    /// Which of two sites would be a mirror of which: one that links to the other, or the one with less to show.
    fn direction(&self, [one, other]: [u32; 2], sites: &[Candidate<'_>]) -> (u32, u32) {
        let size = |site: u32| sites[site as usize].size();
        let is_first = match self.links[0].cmp(&self.links[1]) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => size(one) < size(other),
        };
        if is_first { (one, other) } else { (other, one) }
    }

    /// What the votes say, if it is enough to believe it.
    fn judge(
        &self,
        of: u32,
        mirror: &[Sighting],
        segments: &FxHashMap<u32, Box<[u8]>>,
    ) -> Option<MirrorSite> {
        // The home page has a section to itself.
        let home = xxh3_64(b"") as u32;
        let is_exception = |section: u32, [agreeing, failures]: [u64; 2]| {
            failures > agreeing && (failures >= MIN_EXCEPTION_FAILURES || section == home)
        };
        let (exceptions, others): (Vec<_>, Vec<_>) =
            self.sections.iter().partition(|(section, votes)| is_exception(**section, **votes));
        let mut except: Vec<Box<str>> = exceptions
            .iter()
            .map(|(section, _)| std::str::from_utf8(segments.get(section)?).ok().map(Into::into))
            .collect::<Option<_>>()?;
        except.sort_unstable();
        let is_general =
            |path: &&[Sighting]| !exceptions.iter().any(|(section, _)| **section == path[0].section);
        let mirror_paths = mirror.chunk_by(|a, b| a.path == b.path).filter(is_general).count();
        let links = self.links[0] + self.links[1];
        let agreeing = links + others.iter().map(|(_, votes)| votes[0]).sum::<u64>();
        let failures: u64 = others.iter().map(|(_, votes)| votes[1]).sum();
        let is_believed = agreeing >= MIN_PAGES
            && failure_bound(failures, agreeing + failures) <= MAX_FAILURE
            && (failures + self.doubtful) as f64 <= MAX_DOUBT * (agreeing + failures + self.doubtful) as f64
            && except.len() <= MAX_EXCEPTIONS;
        is_believed.then(|| MirrorSite {
            of,
            paths: agreeing + failures,
            failures,
            covered: self.shared,
            is_covered: self.alike as f64 >= MIN_COVERAGE * mirror_paths as f64,
            except,
        })
    }
}

/// Pages that two sites have under more than one path. Where the sites differ, and one has such a page, its label may be wrong.
fn seen_twice(sightings: [&[Sighting]; 2]) -> FxHashSet<Seen> {
    let mut paths: FxHashMap<Seen, u64> = FxHashMap::default();
    let mut twice = FxHashSet::default();
    for Sighting { seen, path, .. } in sightings.into_iter().flatten() {
        if matches!(seen, Seen::Page(_)) && *paths.entry(*seen).or_insert(*path) != *path {
            twice.insert(*seen);
        }
    }
    twice
}

/// Leaves out what a site shows under many paths.
fn leave_out_errors(sightings: &mut Vec<Sighting>) {
    let mut pages: Vec<(u32, Seen, u64)> = sightings
        .iter()
        .filter(|sighting| matches!(sighting.seen, Seen::Page(_)))
        .map(|&Sighting { site, seen, path, .. }| (site, seen, path))
        .collect();
    pages.sort_unstable();
    // With and without `www` it is one path.
    pages.dedup();
    let by_page = pages.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let errors: FxHashSet<(u32, Seen)> =
        by_page.filter(|paths| paths.len() > MAX_PATHS).map(|paths| (paths[0].0, paths[0].1)).collect();
    sightings.retain(|Sighting { site, seen, .. }| !errors.contains(&(*site, *seen)));
}

/// Pairs of sites that have enough pages in common, or links.
fn likely_pairs(sightings: &[Sighting], sites: &[Candidate<'_>]) -> BTreeSet<[u32; 2]> {
    let mut common: FxHashMap<[u32; 2], u64> = FxHashMap::default();
    let mut by_page: Vec<(u64, u64, u32)> = Vec::with_capacity(sightings.len());
    let mut links: FxHashMap<(u32, u64), u64> = FxHashMap::default();
    for &Sighting { site, path, seen, .. } in sightings {
        match seen {
            Seen::Page(page) => by_page.push((page, path, site)),
            Seen::LinkTo(name) => *links.entry((site, name)).or_default() += 1,
            Seen::LinkAway => {}
        }
    }
    by_page.sort_unstable();
    // With and without `www` it is one site.
    by_page.dedup();
    for of_page in by_page.chunk_by(|a, b| a.0 == b.0) {
        let mut pairs: BTreeSet<[u32; 2]> = BTreeSet::new();
        for of_path in of_page.chunk_by(|a, b| a.1 == b.1).filter(|of_path| of_path.len() <= MAX_SITES) {
            for (at, &(_, _, one)) in of_path.iter().enumerate() {
                pairs.extend(of_path[at + 1..].iter().map(|&(_, _, other)| [one, other]));
            }
        }
        pairs.into_iter().for_each(|pair| *common.entry(pair).or_default() += 1);
    }
    links.retain(|_, count| *count >= MIN_PAGES);
    if !links.is_empty() {
        let numbers: FxHashMap<u64, u32> =
            sites.iter().zip(0..).map(|(site, number)| (xxh3_64(site.name.as_bytes()), number)).collect();
        for ((from, name), count) in links {
            if let Some(&to) = numbers.get(&name) {
                *common.entry([from.min(to), from.max(to)]).or_default() += count;
            }
        }
    }
    // An address cannot take the place of a name.
    let is_name = |site: u32| has_subdomains(sites[site as usize].name.as_bytes());
    let likely = common
        .into_iter()
        .filter(|(pair, count)| *count >= MIN_PAGES && pair.iter().all(|&site| is_name(site)));
    likely.map(|(pair, _)| pair).collect()
}

/// The original of each mirror: the one it has most in common with. One that is a mirror itself cannot be an original.
fn choose(relations: Vec<(u32, MirrorSite)>, sites: &[Candidate<'_>]) -> BTreeMap<u32, MirrorSite> {
    let mirrors: FxHashSet<u32> = relations.iter().map(|(mirror, _)| *mirror).collect();
    let merit =
        |relation: &MirrorSite| (relation.paths - relation.failures, sites[relation.of as usize].size());
    let mut chosen: BTreeMap<u32, MirrorSite> = BTreeMap::new();
    for (mirror, relation) in relations {
        let is_better = |chosen: &MirrorSite| merit(&relation) > merit(chosen);
        if !mirrors.contains(&relation.of) && chosen.get(&mirror).is_none_or(is_better) {
            chosen.insert(mirror, relation);
        }
    }
    chosen
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
            hash = xxh3_64_with_seed(part, hash.wrapping_add(salt));
        }
    }
    hash
}
