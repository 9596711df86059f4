/*!
Finds sites that show the pages of another site under the same paths, and say so: `old.example/x` is `new.example/x`.

Copying somebody's pages does not make them yours, nor yours theirs. So a site is taken for a mirror only if it declares
it itself, by redirects or canonical links from its pages to those of the other under the same paths, and no other
canonical links of its own; or if the user names the pair. What it declares must be seen to be true: under the paths that
both have, they show the same pages, and most of its paths were seen at the other.

Paths are looked at by a hash, the same for all sites, and fewer of them the larger the crawl: what is remembered is bounded,
and does not depend on the order of the input. A section (the first segment of the path) in which most paths in common show
different pages is an exception: `/contact` of each site.
*/

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use dedust::support::{first_segment, has_subdomains};
use dedust::{ParsedUrl, site_of};
use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::page_of;
use crate::confidence::failure_bound;
use crate::hash::spread_seed;
use crate::label::Clues;
use crate::link_targets::LinkTargets;
use crate::thresholds::THRESHOLDS;

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
    /// Whether it shows most of them with `www` where the other does, so that they can be fetched there.
    pub is_covered: bool,
    /// The first segments of paths under which it has pages of its own, sorted. Their paths are not counted.
    pub except: Vec<Box<str>>,
}

/// What was seen under the paths of sites.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Mirrors {
    sightings: HashSet<Sighting>,
    /// Paths are looked at whose hash has this many zeros at its end.
    level: u32,
    /// The first segments of paths, by their hashes.
    sections: HashMap<u32, Box<[u8]>>,
    /// Mirrors that the user names, each with its original.
    named: BTreeMap<Box<str>, Box<str>>,
}

/// What a site has under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
struct Sighting {
    site: u32,
    path: u64,
    /// The hash of the first segment of the path.
    section: u32,
    seen: Seen,
    /// Whether the host starts with `www`, which is no part of the path; of a link, whether both hosts do or both do not.
    has_www: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Seen {
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
    fn is_page(self) -> bool {
        matches!(self, Self::Page(_))
    }

    /// Whether it declares that the page is one of the site whose name has this hash.
    fn declares(self, name: u64) -> bool {
        self == Self::RedirectTo(name) || self == Self::CanonicalTo(name)
    }
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

    fn name_hash(&self) -> u64 {
        xxh3_64(self.name.as_bytes())
    }
}

/// What the paths of a site say of another whose pages it may show.
#[derive(Debug, Default)]
struct Votes {
    /// Agreeing ones, one for each page.
    pages: HashSet<u64>,
    /// Agreeing and failing paths of each section.
    sections: BTreeMap<u32, [u64; 2]>,
    /// Paths under which they differ, with labels that may belong elsewhere.
    doubtful: u64,
    /// Paths that lead to the other site, and paths that say something else.
    declared: u64,
    denied: u64,
    /// Paths that were seen at the other site too, and those of them where both have `www` or both have not.
    shared: u64,
    alike: u64,
}

impl Mirrors {
    /// Takes note of an observation of `site`, whose name is `name`.
    pub(super) fn observe(
        &mut self,
        site: u32,
        name: &[u8],
        url: &ParsedUrl,
        clues: &Clues<'_>,
        links: &LinkTargets,
    ) {
        let path = path_hash(url, name);
        if path.trailing_zeros() < self.level || clues.status.is_some_and(|status| status >= 400) {
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
        for (seen, has_www) in links.into_iter().chain([page]).flatten() {
            self.sections.entry(section).or_insert_with(|| segment.into());
            self.sightings.insert(Sighting { site, section, path, seen, has_www });
        }
        while self.sightings.len() > THRESHOLDS.mirrors.max_sightings {
            self.halve();
        }
    }

    /// Takes it that one site shows the pages of another.
    pub(super) fn name(&mut self, mirror: &str, original: &str) {
        self.named.insert(mirror.into(), original.into());
    }

    /// Forgets half of the paths.
    fn halve(&mut self) {
        self.level += 1;
        let level = self.level;
        self.sightings.retain(|sighting| sighting.path.trailing_zeros() >= level);
        let left: HashSet<u32> = self.sightings.iter().map(|sighting| sighting.section).collect();
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
        let by_site: HashMap<u32, &[Sighting]> =
            sightings.chunk_by(|a, b| a.site == b.site).map(|of_site| (of_site[0].site, of_site)).collect();
        let of_site = |site: u32| by_site.get(&site).copied().unwrap_or_default();
        let mut relations: Vec<(u32, MirrorSite)> = Vec::new();
        for (mirror, of) in declared_pairs(&sightings, sites) {
            let votes = Votes::count(of_site(mirror), of_site(of), sites[of as usize].name_hash());
            if votes.is_declared()
                && let Some(relation) = votes.judge(of, of_site(mirror), &sections)
            {
                relations.push((mirror, relation));
            }
        }
        relations.retain(|(mirror, _)| !self.named.contains_key(sites[*mirror as usize].name));
        for (mirror, original) in &self.named {
            let number = |name: &str| sites.iter().zip(0..).find(|(site, _)| site.name == name);
            let (Some((_, mirror)), Some((_, of))) = (number(mirror), number(original)) else { continue };
            let votes = Votes::count(of_site(mirror), of_site(of), sites[of as usize].name_hash());
            match votes.judge(of, of_site(mirror), &sections) {
                Some(relation) => relations.push((mirror, relation)),
                // Whoever names a pair knows more than was seen, unless what was seen says otherwise.
                None if votes.differing() == 0 => relations.push((mirror, MirrorSite::named(of))),
                None => {}
            }
        }
        let scaled = |(mirror, relation): (u32, MirrorSite)| {
            let covered = (relation.covered << self.level).min(sites[mirror as usize].rows);
            (mirror, MirrorSite { covered, ..relation })
        };
        choose(relations.into_iter().map(scaled).collect(), sites)
    }
}

impl MirrorSite {
    /// One that the user names, of which nothing was seen.
    fn named(of: u32) -> Self {
        Self { of, paths: 0, failures: 0, covered: 0, is_covered: true, except: Vec::new() }
    }
}

impl Votes {
    /// What the sightings of a site say of another, whose name has this hash.
    fn count(of_mirror: &[Sighting], of_other: &[Sighting], other_name: u64) -> Self {
        let mut votes = Self::default();
        let mut others = of_other.chunk_by(|a, b| a.path == b.path).peekable();
        let mut differing: Vec<[&[Sighting]; 2]> = Vec::new();
        for one in of_mirror.chunk_by(|a, b| a.path == b.path) {
            let declares = |sighting: &&Sighting| sighting.seen.declares(other_name);
            match one.iter().find(declares) {
                Some(_) => votes.declared += 1,
                None => votes.denied += u64::from(one.iter().any(|one| one.seen == Seen::LinkElsewhere)),
            }
            while others.next_if(|other| other[0].path < one[0].path).is_some() {}
            let Some(other) = others.next_if(|other| other[0].path == one[0].path) else { continue };
            if !votes.agree(one, other, other_name) {
                differing.push([one, other]);
            }
        }
        let elsewhere = seen_twice([of_mirror, of_other]);
        for [one, other] in differing {
            if one.iter().chain(other).any(|sighting| elsewhere.contains(&sighting.seen)) {
                votes.doubtful += 1;
            } else {
                votes.sections.entry(one[0].section).or_default()[1] += 1;
            }
        }
        votes
    }

    /// Whether two sites do not differ under a path; counts the vote if they agree. What one of them only says counts where
    /// there is something to be shown at the other.
    fn agree(&mut self, one: &[Sighting], other: &[Sighting], other_name: u64) -> bool {
        let pages = |sightings: &[Sighting]| sightings.iter().filter(|one| one.seen.is_page()).count();
        if pages(other) == 0 {
            return true;
        }
        let is_same =
            |one: &&Sighting| one.seen.is_page() && other.iter().any(|other| one.seen == other.seen);
        let is_redirect = |one: &&Sighting| one.seen == Seen::RedirectTo(other_name);
        let found = one.iter().find(is_same).or_else(|| one.iter().find(is_redirect));
        let Some(same) = found else { return pages(one) == 0 };
        // One vote for each page.
        let page = other.iter().find_map(|other| match other.seen {
            Seen::Page(page) => Some(page),
            _ => None,
        });
        let is_new = page.is_some_and(|page| self.pages.insert(page));
        self.sections.entry(same.section).or_default()[0] += u64::from(is_new);
        let is_alike = |a: &Sighting, b: &Sighting| match a.seen {
            Seen::Page(_) => (a.seen, a.has_www) == (b.seen, b.has_www),
            // Of a link it says whether the hosts are alike.
            _ => a.has_www,
        };
        self.shared += 1;
        self.alike += u64::from(one.iter().any(|a| other.iter().any(|b| is_alike(a, b))));
        true
    }

    /// Paths under which the two show different pages.
    fn differing(&self) -> u64 {
        self.doubtful + self.sections.values().map(|[_, failures]| failures).sum::<u64>()
    }

    /// Whether the site itself says that its pages are those of the other.
    fn is_declared(&self) -> bool {
        self.declared >= THRESHOLDS.mirrors.min_declared
            && self.denied as f64 <= THRESHOLDS.mirrors.max_denied * self.declared as f64
    }

    /// What the votes say, if it is enough to believe it.
    fn judge(&self, of: u32, mirror: &[Sighting], segments: &HashMap<u32, Box<[u8]>>) -> Option<MirrorSite> {
        // The home page has a section to itself.
        let home = xxh3_64(b"") as u32;
        let is_exception = |section: u32, [agreeing, failures]: [u64; 2]| {
            failures > agreeing && (failures >= THRESHOLDS.mirrors.min_exception_failures || section == home)
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
        let agreeing = others.iter().map(|(_, votes)| votes[0]).sum::<u64>();
        let failures: u64 = others.iter().map(|(_, votes)| votes[1]).sum();
        let is_believed = agreeing >= THRESHOLDS.mirrors.min_pages
            && failure_bound(failures, agreeing + failures) <= THRESHOLDS.mirrors.max_failure
            && (failures + self.doubtful) as f64
                <= THRESHOLDS.mirrors.max_doubt * (agreeing + failures + self.doubtful) as f64
            && except.len() <= THRESHOLDS.mirrors.max_exceptions
            && self.shared as f64 >= THRESHOLDS.mirrors.min_coverage * mirror_paths as f64;
        is_believed.then(|| MirrorSite {
            of,
            paths: agreeing + failures,
            failures,
            covered: self.shared,
            is_covered: self.alike as f64 >= THRESHOLDS.mirrors.min_coverage * mirror_paths as f64,
            except,
        })
    }
}

/// Pages that two sites have under more than one path. Where the sites differ, and one has such a page, its label may be wrong.
fn seen_twice(sightings: [&[Sighting]; 2]) -> HashSet<Seen> {
    let mut paths: HashMap<Seen, u64> = HashMap::default();
    let mut twice = HashSet::default();
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
    let errors: HashSet<(u32, Seen)> = by_page
        .filter(|paths| paths.len() > THRESHOLDS.mirrors.max_paths)
        .map(|paths| (paths[0].0, paths[0].1))
        .collect();
    sightings.retain(|Sighting { site, seen, .. }| !errors.contains(&(*site, *seen)));
}

/// Pairs of sites of which the first declares often enough that its pages are those of the second.
fn declared_pairs(sightings: &[Sighting], sites: &[Candidate<'_>]) -> BTreeSet<(u32, u32)> {
    let mut links: HashMap<(u32, u64), u64> = HashMap::default();
    for &Sighting { site, seen, .. } in sightings {
        if let Seen::RedirectTo(name) | Seen::CanonicalTo(name) = seen {
            *links.entry((site, name)).or_default() += 1;
        }
    }
    links.retain(|_, count| *count >= THRESHOLDS.mirrors.min_declared);
    if links.is_empty() {
        return BTreeSet::new();
    }
    let numbers: HashMap<u64, u32> =
        sites.iter().zip(0..).map(|(site, number)| (site.name_hash(), number)).collect();
    // An address cannot take the place of a name.
    let is_name = |site: u32| has_subdomains(sites[site as usize].name.as_bytes());
    let pairs = links.into_keys().filter_map(|(from, name)| Some((from, *numbers.get(&name)?)));
    pairs.filter(|&(from, to)| is_name(from) && is_name(to)).collect()
}

/// The original of each mirror: the one it has most in common with. One that is a mirror itself cannot be an original.
fn choose(relations: Vec<(u32, MirrorSite)>, sites: &[Candidate<'_>]) -> BTreeMap<u32, MirrorSite> {
    let mirrors: HashSet<u32> = relations.iter().map(|(mirror, _)| *mirror).collect();
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
            hash = xxh3_64_with_seed(part, hash.wrapping_add(spread_seed(salt, 0)));
        }
    }
    hash
}
