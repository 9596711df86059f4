/*!
Observations of any number of sites, complete: in memory and in files, of one process or of several.

Gives a [`Corpus`] of each site, of at most as many observations as [`SampleSize`] allows. A site that shows the pages of
another becomes none: rows of one domain say nothing of another.
*/

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use dedust::ParsedUrl;
use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::draw::{Draw, Pilot};
use super::mirrors::{Candidate, MirrorSite, Mirrors, NamedMirror};
use super::record::{self, Record, Records};
use super::sightings::Sightings;
use super::{PARTS, SampleSize, SiteSize, damaged, observe, part_of, part_path};
use crate::corpus::Corpus;
use crate::crawl::Crawl;
use crate::evidence::EvidenceKinds;
use crate::recount::Unchecked;
use crate::text_hash::TextHash;

/// Observations of any number of sites, complete.
#[derive(Debug)]
pub struct StoredCrawl {
    pub(super) kinds: EvidenceKinds,
    pub(super) sample: SampleSize,
    pub(super) sites: Vec<StoredSite>,
    pub(super) parts: Vec<Part>,
    pub(super) too_long: u64,
}

/// What is known of a site without reading its observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSite {
    /// The registrable domain.
    pub name: Box<str>,
    /// Its observations.
    pub size: SiteSize,
    /// The site whose pages it shows, if it is a mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorSite>,
}

#[derive(Debug, Default)]
pub(super) struct Part {
    /// The numbers of its sites.
    pub(super) sites: Vec<u32>,
    /// What is on disk: what came first, or all of it.
    pub(super) files: Vec<PartFile>,
    pub(super) held: Vec<u8>,
}

/// Observations of a part, on disk.
#[derive(Debug)]
pub(super) struct PartFile {
    pub(super) path: PathBuf,
    /// For each number of a site in the file, that of the same site in the crawl, unless they are the same.
    pub(super) numbers: Option<Arc<[u32]>>,
}

impl StoredSite {
    /// A site without observations.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), size: SiteSize::default(), mirror: None }
    }

    fn candidate(&self) -> Candidate<'_> {
        Candidate { name: &self.name, rows: self.size.rows }
    }
}

/// Finds the sites that show the pages of another, and says so of each: those that say it themselves, and those that the user
/// names, each with its original.
pub fn find_mirrors(sightings: Sightings, named: &[NamedMirror], sites: &mut [StoredSite]) {
    let mut mirrors = Mirrors { sightings: sightings.into(), ..Mirrors::default() };
    named.iter().for_each(|NamedMirror { mirror, original }| mirrors.name(mirror, original));
    mirrors.note_in(sites);
}

impl Mirrors {
    /// Says of each site whether it is a mirror.
    pub(super) fn note_in(self, sites: &mut [StoredSite]) {
        let candidates: Vec<Candidate<'_>> = sites.iter().map(StoredSite::candidate).collect();
        for (site, mirror) in self.find(&candidates) {
            sites[site as usize].mirror = Some(mirror);
        }
    }
}

impl StoredCrawl {
    /// A crawl that another process put into `folder`, of which it knew the sites.
    pub fn open(
        kinds: EvidenceKinds,
        sample: SampleSize,
        folder: &Path,
        sites: Vec<StoredSite>,
    ) -> io::Result<Self> {
        let mut crawl = Self::without_rows(kinds, sample, sites);
        for (index, part) in crawl.parts.iter_mut().enumerate() {
            let path = part_path(folder, index);
            fs::metadata(&path)?;
            part.files.push(PartFile { path, numbers: None });
        }
        Ok(crawl)
    }

    /// A crawl of these sites, of which no observations are there yet.
    pub(super) fn without_rows(kinds: EvidenceKinds, sample: SampleSize, sites: Vec<StoredSite>) -> Self {
        let mut parts: Vec<Part> = std::iter::repeat_with(Part::default).take(PARTS).collect();
        for (site, number) in sites.iter().zip(0..) {
            parts[part_of(site.name.as_bytes())].sites.push(number);
        }
        Self { kinds, sample, sites, parts, too_long: 0 }
    }

    /// All sites, in the order in which they came first.
    pub fn sites(&self) -> &[StoredSite] {
        &self.sites
    }

    /// Observations that were left out: their URLs have more than 8,192 bytes, or 256 path segments and parameters.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// Whether some observations are on disk, and then all.
    pub fn is_on_disk(&self) -> bool {
        self.parts.iter().any(|part| !part.files.is_empty())
    }

    /// The observations of all sites.
    pub fn rows(&self) -> u64 {
        self.sites.iter().map(|site| site.size.rows).sum()
    }

    /// The observations of all sites that are no mirrors.
    pub fn rows_of_originals(&self) -> u64 {
        self.sites.iter().filter(|site| site.mirror.is_none()).map(|site| site.size.rows).sum()
    }

    /// The observations that are learned from.
    pub fn sampled_rows(&self) -> u64 {
        self.sites.iter().filter(|site| site.mirror.is_none()).map(|site| self.sample.of(site.size)).sum()
    }

    /// The mirrors among the sites of one part.
    pub(crate) fn mirrors(
        &self,
        part: usize,
    ) -> impl Iterator<Item = (&StoredSite, &MirrorSite, &StoredSite)> {
        let sites = self.parts[part].sites.iter().map(|&number| &self.sites[number as usize]);
        sites.filter_map(|site| {
            let mirror = site.mirror.as_ref()?;
            Some((site, mirror, &self.sites[mirror.of as usize]))
        })
    }

    /// The sites of one part that are no mirrors.
    fn originals(&self, part: usize) -> impl Iterator<Item = (u32, &StoredSite)> {
        let sites = self.parts[part].sites.iter().map(|&number| (number, &self.sites[number as usize]));
        sites.filter(|(_, site)| site.mirror.is_none())
    }

    /// Takes mirrors for sites like any other.
    pub fn forget_mirrors(&mut self) {
        for site in &mut self.sites {
            site.mirror = None;
        }
    }

    /// For each observation of a site that is learned from, so many of the site; `None` where all are.
    pub(crate) fn scale(&self, size: SiteSize) -> Option<f64> {
        let drawn = self.sample.of(size);
        (drawn < size.rows).then(|| size.rows as f64 / drawn.max(1) as f64)
    }

    /// The corpora of the sites of one of the [`PARTS`] that are no mirrors, in the order of their names, each with the
    /// size of its site.
    pub fn corpora(&self, part: usize) -> io::Result<Vec<(Corpus, SiteSize)>> {
        let sizes: HashMap<&str, SiteSize> =
            self.originals(part).map(|(_, site)| (&*site.name, site.size)).collect();
        let mut draws = self.draws(part)?;
        let hashes = sizes.iter().map(|(name, size)| (*name, size.text_hash()));
        let mut crawl = Crawl::new(self.kinds).hashing(hashes);
        let mut url = ParsedUrl::default();
        self.read(part, |record| {
            match draws.get_mut(&record.site) {
                Some(draw) => draw.offer(&record, &mut url),
                None => observe(&mut crawl, &record),
            }
            Ok(())
        })?;
        for draw in draws.into_values() {
            for drawn in draw.finish() {
                observe(&mut crawl, &Records::new(&drawn).read().ok_or_else(damaged)?);
            }
        }
        let with_size = |corpus: Corpus| {
            let size = sizes.get(corpus.site()).copied().unwrap_or_default();
            (corpus, size)
        };
        Ok(crawl.into_corpora_in_turn().map(with_size).collect())
    }

    /// Draws keys of sites of a part, by rules: each with what was drawn, and the share of all keys that this is.
    pub(crate) fn drawn_by_keys(
        &self,
        part: usize,
        unchecked: Vec<Unchecked>,
    ) -> io::Result<Vec<(Unchecked, Corpus, f64)>> {
        let mut draws: HashMap<u32, (Unchecked, TextHash, Draw)> = HashMap::default();
        for (number, site) in self.originals(part) {
            if let Some(unchecked) = unchecked.iter().find(|unchecked| unchecked.site() == &*site.name) {
                let wanted = self.sample.of(site.size) as usize;
                let draw = Draw::of_keys(unchecked.normalizer(), site.size, wanted, u64::MAX);
                draws.insert(number, (unchecked.clone(), site.size.text_hash(), draw));
            }
        }
        if draws.is_empty() {
            return Ok(Vec::new());
        }
        let mut url = ParsedUrl::default();
        self.read(part, |record| {
            if let Some((.., draw)) = draws.get_mut(&record.site) {
                draw.offer(&record, &mut url);
            }
            Ok(())
        })?;
        let mut drawn = Vec::new();
        for (unchecked, hash, mut draw) in draws.into_values() {
            let mut crawl = Crawl::new(self.kinds).hashing([(unchecked.site(), hash)]);
            let share = draw.share();
            for record in draw.finish() {
                observe(&mut crawl, &Records::new(&record).read().ok_or_else(damaged)?);
            }
            drawn.extend(crawl.into_corpora_in_turn().next().map(|corpus| (unchecked, corpus, share)));
        }
        drawn.sort_by(|a, b| a.1.site().cmp(b.1.site()));
        Ok(drawn)
    }

    /// For each site of a part that is too large to be learned from whole, how its URLs are drawn.
    fn draws(&self, part: usize) -> io::Result<HashMap<u32, Draw>> {
        let mut pilots: HashMap<u32, Pilot> = HashMap::default();
        for (number, site) in self.originals(part) {
            if self.sample.leaves_out(site.size) {
                pilots.insert(number, Pilot::new(site.size));
            }
        }
        if pilots.is_empty() {
            return Ok(HashMap::default());
        }
        self.read(part, |record| {
            if let Some(pilot) = pilots.get_mut(&record.site) {
                pilot.offer(&record);
            }
            Ok(())
        })?;
        let draws = pilots.into_iter().map(|(number, pilot)| {
            let site = &self.sites[number as usize];
            let wanted = self.sample.of(site.size) as usize;
            let groups = pilot.find_groups(self.kinds, &site.name)?;
            Ok((number, Draw::new(groups, site.name.len(), site.size, wanted)))
        });
        draws.collect()
    }

    /// Reads the observations of the sites of a part that are no mirrors.
    fn read(&self, part: usize, mut take: impl FnMut(Record<'_>) -> io::Result<()>) -> io::Result<()> {
        self.read_part(part, |record| match self.sites[record.site as usize].mirror {
            None => take(record),
            Some(_) => Ok(()),
        })
    }

    /// Reads the observations of a part as they are.
    fn read_part(&self, part: usize, mut take: impl FnMut(Record<'_>) -> io::Result<()>) -> io::Result<()> {
        let Part { files, held, .. } = &self.parts[part];
        for PartFile { path, numbers } in files {
            record::read_file(path, &mut |record| {
                let site = match numbers {
                    Some(numbers) => numbers.get(record.site as usize).copied().ok_or_else(damaged)?,
                    None => record.site,
                };
                if site as usize >= self.sites.len() {
                    return Err(damaged());
                }
                take(Record { site, ..record })
            })?;
        }
        let mut records = Records::new(held);
        while let Some(record) = records.read() {
            take(record)?;
        }
        Ok(())
    }
}
