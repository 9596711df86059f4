/*!
Holds the observations of a crawl until its sites are learned from: in memory, and on disk once that is not enough.

Takes observations in any order, of any number of sites, larger than memory. Sites are dealt out to [`PARTS`] parts, so that
one part at a time can be read back; each site of it becomes a [`Corpus`] of at most as many observations as
[`SampleSize`] allows, drawn by [`draw`]. A site that shows the pages of another ([`mirrors`]) becomes none: rows of one domain
say nothing of another.
Learns nothing itself (see [`crate::Trainer::train_part`]).

The same observations in any order give the same corpora.
*/

mod draw;
mod mirrors;
mod record;

pub use self::mirrors::MirrorSite;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dedust::errors::ParseUrlError;
use dedust::{ParsedUrl, site_of};
use foldhash::HashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use self::draw::{Draw, Groups};
use self::mirrors::{Candidate, Mirrors};
use self::record::{Record, Records};
use crate::corpus::Corpus;
use crate::crawl::{Crawl, is_of_the_web, is_too_long};
use crate::evidence::EvidenceKinds;
use crate::label::Clues;
use crate::link_targets::LinkTargets;

/// Parts that a crawl is dealt out to.
pub const PARTS: usize = 256;

/// Observations of a large site from which [`Groups`] are found.
const PILOT_ROWS: u64 = 20_000;

/// How many observations of a site are learned from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSize {
    share: f64,
    most: u64,
}

/// Bytes of the URLs of a site that are learned from: memory is bounded for long URLs, too.
const MAX_SITE_BYTES: u64 = 64 << 20;

/// A site of up to so many observations is learned from whole.
const SMALL_SITE_ROWS: u64 = 50_000;

impl Default for SampleSize {
    fn default() -> Self {
        Self { share: 0.2, most: 100_000 }
    }
}

impl SampleSize {
    /// A share of each site's observations, from 0 to 1, and at most so many; but sites of up to 50,000 whole. Default:
    /// 0.2 and 100,000.
    pub fn new(share: f64, most: u64) -> Option<Self> {
        ((0.0..=1.0).contains(&share) && most > 0).then_some(Self { share, most })
    }

    /// The observations to learn from, of this many with URLs of so many bytes together.
    pub fn of(self, rows: u64, bytes: u64) -> u64 {
        let least = SMALL_SITE_ROWS.min(self.most);
        ((rows as f64 * self.share) as u64).clamp(least, self.most).min(rows).min(rows_within(rows, bytes))
    }
}

/// The observations of a site, of this many with URLs of so many bytes, that are small enough to be learned from.
fn rows_within(rows: u64, bytes: u64) -> u64 {
    (rows as f64 * (MAX_SITE_BYTES as f64 / bytes.max(1) as f64).min(1.0)) as u64
}

/// Observations of any number of sites, being gathered.
///
/// ```
/// use dedust_learn::{Clues, CrawlStore, EvidenceKinds, SampleSize, Trainer};
///
/// let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
/// for page in 0..40 {
///     for session in [1, 2] {
///         let url = format!("http://example.org/view?id={page}&sid={}", 7919 * page + session);
///         let digest = format!("{page}");
///         store.observe(url.as_bytes(), &Clues { digest: Some(digest.as_bytes()), ..Clues::default() }, None)?;
///     }
/// }
/// let training = Trainer::builder().build()?.train_stored(&store.finish()?, &())?;
/// assert_eq!(training.sites[0].saved, 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CrawlStore {
    crawl: StoredCrawl,
    numbers_by_site: HashMap<Box<[u8]>, u32>,
    /// Unless mirrors are of no interest.
    mirrors: Option<Mirrors>,
    spill: Option<Spill>,
    held_bytes: usize,
    failure: Option<io::Error>,
    url: ParsedUrl,
    links: LinkTargets,
}

/// Where observations go that memory has no room for.
#[derive(Debug)]
struct Spill {
    folder: PathBuf,
    most_held_bytes: usize,
    /// One per part; none before the first time.
    files: Vec<File>,
}

/// What a store whose observations are in files knows besides them, so that another process can go on with it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendedStore {
    sites: Vec<StoredSite>,
    /// The bytes of each file.
    part_bytes: Vec<u64>,
    too_long: u64,
    mirrors: Option<Mirrors>,
}

/// Observations of any number of sites, complete.
#[derive(Debug)]
pub struct StoredCrawl {
    kinds: EvidenceKinds,
    sample: SampleSize,
    sites: Vec<StoredSite>,
    parts: Vec<Part>,
    too_long: u64,
}

/// What is known of a site without reading its observations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSite {
    /// The registrable domain.
    pub name: Box<str>,
    /// Its observations.
    pub rows: u64,
    /// The bytes of their URLs.
    #[serde(default)]
    pub bytes: u64,
    /// The site whose pages it shows, if it is a mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorSite>,
}

#[derive(Debug, Default)]
struct Part {
    /// The numbers of its sites.
    sites: Vec<u32>,
    /// What came first, unless all is in `held`.
    file: Option<PathBuf>,
    held: Vec<u8>,
}

impl CrawlStore {
    /// A store whose duplicate labels come from these kinds of evidence.
    pub fn new(kinds: EvidenceKinds, sample: SampleSize) -> Self {
        let parts = std::iter::repeat_with(Part::default).take(PARTS).collect();
        Self {
            crawl: StoredCrawl { kinds, sample, sites: Vec::new(), parts, too_long: 0 },
            numbers_by_site: HashMap::default(),
            mirrors: None,
            spill: None,
            held_bytes: 0,
            failure: None,
            url: ParsedUrl::default(),
            links: LinkTargets::default(),
        }
    }

    /// Puts observations into files in `folder` whenever those in memory take more than so many bytes. The folder is
    /// made then, and is left to the caller.
    #[must_use]
    pub fn spill_to(mut self, folder: impl Into<PathBuf>, most_held_bytes: usize) -> Self {
        self.spill = Some(Spill { folder: folder.into(), most_held_bytes, files: Vec::new() });
        self
    }

    /// Looks for sites that show the pages of another and say so themselves.
    #[must_use]
    pub fn with_mirrors(self) -> Self {
        Self { mirrors: Some(Mirrors::default()), ..self }
    }

    /// Takes it that the first of two sites shows the pages of the second, whatever it says itself.
    #[must_use]
    pub fn with_named_mirror(mut self, mirror: &str, original: &str) -> Self {
        self.mirrors.get_or_insert_default().name(mirror, original);
        self
    }

    /// Adds one URL with what is known of it, as [`Crawl::observe_at`] does. A failure of the disk is told in the end.
    pub fn observe(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        self.url.parse_from(url)?;
        if !is_of_the_web(&self.url) || self.failure.is_some() {
            return Ok(());
        }
        if is_too_long(&self.url) {
            self.crawl.too_long += 1;
            return Ok(());
        }
        self.links.resolve(&self.url, clues);
        let name = site_of(self.url.host());
        let StoredCrawl { sites, parts, .. } = &mut self.crawl;
        let part = &mut parts[part_of(name)];
        let site = match self.numbers_by_site.get(name) {
            Some(&number) => number,
            None => {
                let number = sites.len() as u32;
                self.numbers_by_site.insert(name.into(), number);
                sites.push(StoredSite {
                    name: String::from_utf8_lossy(name).into(),
                    rows: 0,
                    bytes: 0,
                    mirror: None,
                });
                part.sites.push(number);
                number
            }
        };
        sites[site as usize].rows += 1;
        sites[site as usize].bytes += url.len() as u64;
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.observe(site, name, &self.url, clues, &self.links);
        }
        let clues = self.links.within(clues);
        let held = &mut part.held;
        let before = held.capacity();
        let page = page_hash(self.url.as_bytes(), &clues);
        Record { site, page, url, clues, time }.write(held);
        // A buffer that grows takes up to twice the bytes that are in it.
        self.held_bytes += held.capacity() - before;
        self.spill_if_full();
        Ok(())
    }

    fn spill_if_full(&mut self) {
        let Some(spill) = self.spill.as_mut().filter(|spill| self.held_bytes > spill.most_held_bytes) else {
            return;
        };
        if let Err(error) = spill.write(&mut self.crawl.parts) {
            self.failure = Some(error);
        }
        self.held_bytes = 0;
    }

    /// Whether observations were put on disk.
    pub fn has_spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(|spill| !spill.files.is_empty())
    }

    /// Puts all observations into the files of [`CrawlStore::spill_to`], for [`CrawlStore::resume`].
    pub fn suspend(mut self) -> io::Result<SuspendedStore> {
        let spill = self.spill.as_mut().ok_or_else(|| io::Error::other("the store has no folder"))?;
        if let Some(error) = self.failure {
            return Err(error);
        }
        spill.write(&mut self.crawl.parts)?;
        let bytes_on_disk = |file: &File| -> io::Result<u64> {
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        let part_bytes = spill.files.iter().map(bytes_on_disk).collect::<io::Result<_>>()?;
        let StoredCrawl { sites, too_long, .. } = self.crawl;
        Ok(SuspendedStore { sites, part_bytes, too_long, mirrors: self.mirrors })
    }

    /// Goes on with what another store had gathered, whose files are in the folder of this one. What was added to the files after it
    /// was suspended is cut off.
    pub fn resume(mut self, suspended: SuspendedStore) -> io::Result<Self> {
        let spill = self.spill.as_mut().ok_or_else(|| io::Error::other("the store has no folder"))?;
        let SuspendedStore { sites, part_bytes, too_long, mirrors } = suspended;
        let paths = (0..PARTS).map(|part| part_path(&spill.folder, part));
        spill.files = paths
            .zip(&part_bytes)
            .map(|(path, &bytes)| {
                let file = File::options().append(true).open(path)?;
                if file.metadata()?.len() < bytes {
                    return Err(damaged());
                }
                file.set_len(bytes)?;
                Ok(file)
            })
            .collect::<io::Result<_>>()?;
        if spill.files.len() != PARTS {
            return Err(damaged());
        }
        self.crawl = StoredCrawl::open(self.crawl.kinds, self.crawl.sample, &spill.folder, sites)?;
        self.crawl.too_long = too_long;
        let names = self.crawl.sites.iter().map(|site| site.name.as_bytes().into());
        self.numbers_by_site = names.zip(0..).collect();
        self.mirrors = mirrors;
        Ok(self)
    }

    /// All observations, unless the disk failed. Where some are on disk, all are.
    pub fn finish(mut self) -> io::Result<StoredCrawl> {
        if self.has_spilled()
            && let Some(spill) = &mut self.spill
        {
            spill.write(&mut self.crawl.parts)?;
            spill.files.iter().try_for_each(File::sync_all)?;
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        let sites = &mut self.crawl.sites;
        if let Some(mirrors) = self.mirrors {
            let candidates: Vec<Candidate<'_>> = sites.iter().map(StoredSite::candidate).collect();
            for (site, mirror) in mirrors.find(&candidates) {
                sites[site as usize].mirror = Some(mirror);
            }
        }
        Ok(self.crawl)
    }
}

impl Spill {
    /// Appends what is held of each part to its file.
    fn write(&mut self, parts: &mut [Part]) -> io::Result<()> {
        if self.files.is_empty() {
            fs::create_dir_all(&self.folder)?;
            self.files = (0..parts.len())
                .map(|part| File::create(part_path(&self.folder, part)))
                .collect::<io::Result<_>>()?;
        }
        for (index, (part, file)) in parts.iter_mut().zip(&mut self.files).enumerate() {
            file.write_all(&part.held)?;
            part.held = Vec::new();
            part.file = Some(part_path(&self.folder, index));
        }
        Ok(())
    }
}

fn part_path(folder: &Path, part: usize) -> PathBuf {
    folder.join(format!("part-{part:03}"))
}

fn part_of(site: &[u8]) -> usize {
    xxh3_64(site) as usize % PARTS
}

/// What tells the page of a URL apart from others, if anything does.
fn page_of<'c>(clues: &Clues<'c>) -> Option<&'c [u8]> {
    clues.cluster.or(clues.text_digest).or(clues.digest)
}

/// The same for URLs that the evidence, taken at its word, says are one page.
fn page_hash(url: &[u8], clues: &Clues<'_>) -> u64 {
    xxh3_64(page_of(clues).or(clues.redirect).or(clues.canonical).unwrap_or(url))
}

impl StoredSite {
    fn candidate(&self) -> Candidate<'_> {
        Candidate { name: &self.name, rows: self.rows }
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
        let parts = (0..PARTS).map(|part| {
            let path = part_path(folder, part);
            fs::metadata(&path)?;
            Ok(Part { file: Some(path), ..Part::default() })
        });
        let mut parts: Vec<Part> = parts.collect::<io::Result<_>>()?;
        for (site, number) in sites.iter().zip(0..) {
            parts[part_of(site.name.as_bytes())].sites.push(number);
        }
        Ok(Self { kinds, sample, sites, parts, too_long: 0 })
    }

    /// All sites, in the order in which they came first.
    pub fn sites(&self) -> &[StoredSite] {
        &self.sites
    }

    /// Observations that were left out: their URLs have more than 8,192 bytes, or 256 path segments and parameters.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// The observations of all sites.
    pub fn rows(&self) -> u64 {
        self.sites.iter().map(|site| site.rows).sum()
    }

    /// The observations of all sites that are no mirrors.
    pub fn rows_of_originals(&self) -> u64 {
        self.sites.iter().filter(|site| site.mirror.is_none()).map(|site| site.rows).sum()
    }

    /// The observations that are learned from.
    pub fn sampled_rows(&self) -> u64 {
        self.sites
            .iter()
            .filter(|site| site.mirror.is_none())
            .map(|site| self.sample.of(site.rows, site.bytes))
            .sum()
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

    /// The corpora of the sites of one of the [`PARTS`] that are no mirrors, in the order of their names, each with the
    /// observations of its site.
    pub fn corpora(&self, part: usize) -> io::Result<Vec<(Corpus, u64)>> {
        let rows_by_site: HashMap<&str, u64> =
            self.originals(part).map(|(_, site)| (&*site.name, site.rows)).collect();
        let mut draws = self.pilot(part)?;
        let mut crawl = Crawl::new(self.kinds);
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
        let with_rows = |corpus: Corpus| {
            let rows = rows_by_site.get(corpus.site()).copied().unwrap_or_default();
            (corpus, rows)
        };
        Ok(crawl.into_corpora_in_turn().map(with_rows).collect())
    }

    /// For each site of a part that is too large to be learned from whole, how its URLs are grouped: found from
    /// whole pages.
    fn pilot(&self, part: usize) -> io::Result<HashMap<u32, Draw>> {
        let mut pilots: HashMap<u32, (u64, Crawl)> = HashMap::default();
        for (number, &StoredSite { rows, bytes, .. }) in self.originals(part) {
            if self.sample.of(rows, bytes) < rows {
                let wanted = PILOT_ROWS.min(rows_within(rows, bytes));
                let limit = (wanted as f64 / rows as f64 * u64::MAX as f64) as u64;
                pilots.insert(number, (limit, Crawl::new(self.kinds)));
            }
        }
        if pilots.is_empty() {
            return Ok(HashMap::default());
        }
        self.read(part, |record| {
            if let Some((limit, crawl)) = pilots.get_mut(&record.site)
                && record.page <= *limit
            {
                observe(crawl, &record);
            }
            Ok(())
        })?;
        let draws = pilots.into_iter().map(|(number, (_, crawl))| {
            let site = &self.sites[number as usize];
            let groups = crawl.into_corpora_in_turn().next().map(|corpus| Groups::find(&corpus));
            let wanted = self.sample.of(site.rows, site.bytes) as usize;
            (number, Draw::new(groups.unwrap_or_default(), site.name.len(), wanted))
        });
        Ok(draws.collect())
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
        let Part { file, held, .. } = &self.parts[part];
        if let Some(path) = file {
            record::read_file(path, &mut take)?;
        }
        let mut records = Records::new(held);
        while let Some(record) = records.read() {
            take(record)?;
        }
        Ok(())
    }
}

fn observe(crawl: &mut Crawl, record: &Record<'_>) {
    // It was parsed before it was stored.
    let _ = crawl.observe_at(record.url, &record.clues, record.time);
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "observations on disk are not as they were written")
}

#[cfg(test)]
mod tests;
