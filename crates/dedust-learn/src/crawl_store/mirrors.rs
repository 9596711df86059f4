/*!
Finds sites that show the pages of another site under the same paths, and say so: `old.example/x` is `new.example/x`.

Copying somebody's pages does not make them yours, nor yours theirs. So a site is taken for a mirror only if it declares
it itself, by redirects or canonical links from its pages to those of the other under the same paths, and no other
canonical links of its own; or if the user names the pair. What it declares must be seen to be true: under the paths that
both have, they show the same pages, and most of its paths were seen at the other.

Takes the [`Sightings`] of all sites, which are bounded and do not depend on the order of the input. A section (the first segment of the path) in which most paths in common show
different pages is an exception: `/contact` of each site.
*/

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use dedust::site_of;
use dedust::support::has_subdomains;
use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::sightings::{PathSighting, Seen, SightingCollector, Sightings, declared_links};
use crate::confidence::failure_bound;
use crate::thresholds;

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

/// A site that is taken for another, whatever it says itself: two registrable domains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct NamedMirror {
    /// The site that shows the pages.
    pub mirror: Box<str>,
    /// The site whose pages they are.
    pub original: Box<str>,
}

/// A text that does not name two sites.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected two registrable domains, such as old.example=new.example")]
pub struct ParseMirrorError;

impl FromStr for NamedMirror {
    type Err = ParseMirrorError;

    fn from_str(text: &str) -> Result<Self, ParseMirrorError> {
        let is_name = |name: &str| name.contains('.') && site_of(name.as_bytes()) == name.as_bytes();
        match text.split_once('=') {
            Some((mirror, original)) if is_name(mirror) && is_name(original) && mirror != original => {
                Ok(Self { mirror: mirror.to_lowercase().into(), original: original.to_lowercase().into() })
            }
            _ => Err(ParseMirrorError),
        }
    }
}

impl fmt::Display for NamedMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.mirror, self.original)
    }
}

impl TryFrom<String> for NamedMirror {
    type Error = ParseMirrorError;

    fn try_from(text: String) -> Result<Self, ParseMirrorError> {
        text.parse()
    }
}

impl From<NamedMirror> for String {
    fn from(named: NamedMirror) -> Self {
        named.to_string()
    }
}

/// What was seen of sites, and what the user says of them.
#[derive(Debug, Default)]
pub(super) struct Mirrors {
    pub(super) sightings: SightingCollector,
    /// Mirrors that the user names, each with its original.
    pub(super) named: BTreeMap<Box<str>, Box<str>>,
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
    /// Takes it that one site shows the pages of another.
    pub(super) fn name(&mut self, mirror: &str, original: &str) {
        self.named.insert(mirror.into(), original.into());
    }

    /// The sites that are mirrors, by number.
    pub(super) fn find(self, sites: &[Candidate<'_>]) -> BTreeMap<u32, MirrorSite> {
        // It takes two.
        if sites.len() < 2 {
            return BTreeMap::new();
        }
        let mut sightings = self.sightings.finish();
        let declared = declared_pairs(&sightings, sites);
        if declared.is_empty() && self.named.is_empty() {
            return BTreeMap::new();
        }
        leave_out_errors(&mut sightings.seen);
        let by_site: HashMap<u32, &[PathSighting]> = sightings
            .seen
            .chunk_by(|a, b| a.site == b.site)
            .map(|of_site| (of_site[0].site, of_site))
            .collect();
        let number = |site: u32| sightings.number(sites[site as usize].name.as_bytes());
        let of_site =
            |site: u32| number(site).and_then(|number| by_site.get(&number).copied()).unwrap_or_default();
        let mut relations: Vec<(u32, MirrorSite)> = Vec::new();
        for (mirror, of) in declared {
            let votes = Votes::count(of_site(mirror), of_site(of), number(of));
            if votes.is_declared()
                && let Some(relation) = votes.judge(of, of_site(mirror), &sightings.texts)
            {
                relations.push((mirror, relation));
            }
        }
        relations.retain(|(mirror, _)| !self.named.contains_key(sites[*mirror as usize].name));
        for (mirror, original) in &self.named {
            let site = |name: &str| sites.iter().zip(0..).find(|(site, _)| site.name == name);
            let (Some((_, mirror)), Some((_, of))) = (site(mirror), site(original)) else { continue };
            let votes = Votes::count(of_site(mirror), of_site(of), number(of));
            match votes.judge(of, of_site(mirror), &sightings.texts) {
                Some(relation) => relations.push((mirror, relation)),
                // Whoever names a pair knows more than was seen, unless what was seen says otherwise.
                None if votes.differing() == 0 => relations.push((mirror, MirrorSite::named(of))),
                None => {}
            }
        }
        let scaled = |(mirror, relation): (u32, MirrorSite)| {
            let covered = (relation.covered << sightings.level).min(sites[mirror as usize].rows);
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
    /// What the sightings of a site say of another, whose name has this number if it is spoken of.
    fn count(of_mirror: &[PathSighting], of_other: &[PathSighting], other: Option<u32>) -> Self {
        let mut votes = Self::default();
        let mut others = of_other.chunk_by(|a, b| a.path == b.path).peekable();
        let mut differing: Vec<[&[PathSighting]; 2]> = Vec::new();
        for one in of_mirror.chunk_by(|a, b| a.path == b.path) {
            let has = |is_it: &dyn Fn(Seen) -> bool| one.iter().any(|one| is_it(one.seen));
            // What names itself is denied, whatever else leads away from it: others may have placed that.
            if has(&|seen| seen == Seen::CanonicalToItself) {
                votes.denied += 1;
            } else if has(&|seen| other.is_some_and(|other| seen.declares(other))) {
                votes.declared += 1;
            } else {
                votes.denied += u64::from(has(&|seen| seen == Seen::LinkElsewhere));
            }
            while others.next_if(|other| other[0].path < one[0].path).is_some() {}
            let Some(there) = others.next_if(|other| other[0].path == one[0].path) else { continue };
            if !votes.agree(one, there, other) {
                differing.push([one, there]);
            }
        }
        let elsewhere = seen_twice([of_mirror, of_other]);
        for [one, there] in differing {
            if one.iter().chain(there).any(|sighting| elsewhere.contains(&sighting.seen)) {
                votes.doubtful += 1;
            } else {
                votes.sections.entry(one[0].section).or_default()[1] += 1;
            }
        }
        votes
    }

    /// Whether two sites do not differ under a path; counts the vote if they agree. What one of them only says counts where
    /// there is something to be shown at the other.
    fn agree(&mut self, one: &[PathSighting], other: &[PathSighting], name: Option<u32>) -> bool {
        let pages = |sightings: &[PathSighting]| sightings.iter().filter(|one| one.seen.is_page()).count();
        if pages(other) == 0 {
            return true;
        }
        let is_same =
            |one: &&PathSighting| one.seen.is_page() && other.iter().any(|other| one.seen == other.seen);
        let is_redirect = |one: &&PathSighting| name.is_some_and(|name| one.seen == Seen::RedirectTo(name));
        let found = one.iter().find(is_same).or_else(|| one.iter().find(is_redirect));
        let Some(same) = found else { return pages(one) == 0 };
        // One vote for each page.
        let page = other.iter().find_map(|other| match other.seen {
            Seen::Page(page) => Some(page),
            _ => None,
        });
        let is_new = page.is_some_and(|page| self.pages.insert(page));
        self.sections.entry(same.section).or_default()[0] += u64::from(is_new);
        let is_alike = |a: &PathSighting, b: &PathSighting| match a.seen {
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
        self.declared >= thresholds::mirrors::MIN_DECLARED
            && self.denied as f64 <= thresholds::mirrors::MAX_DENIED * self.declared as f64
    }

    /// What the votes say, if it is enough to believe it.
    fn judge(&self, of: u32, mirror: &[PathSighting], texts: &[Box<[u8]>]) -> Option<MirrorSite> {
        // The home page has a section to itself.
        let is_home = |section: u32| texts[section as usize].is_empty();
        let is_exception = |section: u32, [agreeing, failures]: [u64; 2]| {
            failures > agreeing
                && (failures >= thresholds::mirrors::MIN_EXCEPTION_FAILURES || is_home(section))
        };
        let (exceptions, others): (Vec<_>, Vec<_>) =
            self.sections.iter().partition(|(section, votes)| is_exception(**section, **votes));
        let mut except: Vec<Box<str>> = exceptions
            .iter()
            .map(|(section, _)| std::str::from_utf8(&texts[**section as usize]).ok().map(Into::into))
            .collect::<Option<_>>()?;
        except.sort_unstable();
        let is_general =
            |path: &&[PathSighting]| !exceptions.iter().any(|(section, _)| **section == path[0].section);
        let mirror_paths = mirror.chunk_by(|a, b| a.path == b.path).filter(is_general).count();
        let agreeing = others.iter().map(|(_, votes)| votes[0]).sum::<u64>();
        let failures: u64 = others.iter().map(|(_, votes)| votes[1]).sum();
        let is_believed = agreeing >= thresholds::mirrors::MIN_PAGES
            && failure_bound(failures, agreeing + failures) <= thresholds::mirrors::MAX_FAILURE
            && (failures + self.doubtful) as f64
                <= thresholds::mirrors::MAX_DOUBT * (agreeing + failures + self.doubtful) as f64
            && except.len() <= thresholds::mirrors::MAX_EXCEPTIONS
            && self.shared as f64 >= thresholds::mirrors::MIN_COVERAGE * mirror_paths as f64;
        is_believed.then(|| MirrorSite {
            of,
            paths: agreeing + failures,
            failures,
            covered: self.shared,
            is_covered: self.alike as f64 >= thresholds::mirrors::MIN_COVERAGE * mirror_paths as f64,
            except,
        })
    }
}

/// Pages that two sites have under more than one path. Where the sites differ, and one has such a page, its label may be wrong.
fn seen_twice(sightings: [&[PathSighting]; 2]) -> HashSet<Seen> {
    let mut paths: HashMap<Seen, u64> = HashMap::default();
    let mut twice = HashSet::default();
    for PathSighting { seen, path, .. } in sightings.into_iter().flatten() {
        if matches!(seen, Seen::Page(_)) && *paths.entry(*seen).or_insert(*path) != *path {
            twice.insert(*seen);
        }
    }
    twice
}

/// Leaves out what a site shows under many paths.
fn leave_out_errors(sightings: &mut Vec<PathSighting>) {
    let mut pages: Vec<(u32, Seen, u64)> = sightings
        .iter()
        .filter(|sighting| matches!(sighting.seen, Seen::Page(_)))
        .map(|&PathSighting { site, seen, path, .. }| (site, seen, path))
        .collect();
    pages.sort_unstable();
    // With and without `www` it is one path.
    pages.dedup();
    let by_page = pages.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let errors: HashSet<(u32, Seen)> = by_page
        .filter(|paths| paths.len() > thresholds::mirrors::MAX_PATHS)
        .map(|paths| (paths[0].0, paths[0].1))
        .collect();
    sightings.retain(|PathSighting { site, seen, .. }| !errors.contains(&(*site, *seen)));
}

/// Pairs of sites of which the first declares often enough that its pages are those of the second.
fn declared_pairs(sightings: &Sightings, sites: &[Candidate<'_>]) -> BTreeSet<(u32, u32)> {
    let links = declared_links(&sightings.seen);
    if links.is_empty() {
        return BTreeSet::new();
    }
    let numbered =
        |(site, candidate): (u32, &Candidate<'_>)| Some((sightings.number(candidate.name.as_bytes())?, site));
    let numbers: HashMap<u32, u32> = (0..).zip(sites).filter_map(numbered).collect();
    // An address cannot take the place of a name.
    let is_name = |site: u32| has_subdomains(sites[site as usize].name.as_bytes());
    let pairs =
        links.into_keys().filter_map(|(from, name)| Some((*numbers.get(&from)?, *numbers.get(&name)?)));
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
