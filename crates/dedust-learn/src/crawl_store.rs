/*!
Holds the observations of a crawl until its sites are learned from: in memory, and on disk once that is not enough.

Takes observations in any order, of any number of sites, larger than memory. Sites are dealt out to [`PARTS`] parts, so that
one part at a time can be read back; each site of it becomes a [`Corpus`] of at most as many observations as
[`SampleSize`] allows, drawn by [`draw`]. A site that shows the pages of another ([`mirrors`]) becomes none: rows of one domain
say nothing of another.
Learns nothing itself (see [`crate::Trainer::train_part`]).

Several processes can share the work, in one of two ways. Where they share a disk, each puts what it reads there
([`CrawlStore::suspend`]), and one goes on with all of it ([`StoredCrawl::of_suspended`]). Where rows are read as often as one
likes and as few as possible are to be moved, as on Spark, each reads its rows three times: to count them ([`Census`]), to find
out how large sites are drawn, and to draw ([`ShardSampler`], in two [`Stage`]s). What they draw of a site is put together by
[`SamplePlan::site`]. One process alone does the same in memory.

The same observations in any order give the same corpora, however they were dealt out.
*/

mod census;
mod draw;
mod mirrors;
mod plan;
mod record;
mod sample_size;
mod sampler;
mod sightings;
mod stored;
mod suspended;

pub use self::census::Census;
pub use self::draw::Groups;
pub use self::mirrors::{MirrorSite, NamedMirror, ParseMirrorError};
pub use self::plan::{SampleError, SamplePlan, SiteSample};
pub use self::record::StoredRow;
pub use self::sample_size::{SampleSize, SiteSize};
pub use self::sampler::{ShardSampler, Stage};
pub use self::sightings::Sightings;
pub use self::stored::{StoredCrawl, StoredSite, find_mirrors};
pub use self::suspended::SuspendedStore;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dedust::errors::ParseUrlError;
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use self::mirrors::Mirrors;
use self::record::Record;
use self::stored::{Part, PartFile};
use crate::crawl::Crawl;
use crate::evidence::EvidenceKinds;
use crate::label::Clues;
use crate::observed::Observed;
use crate::thresholds;

/// Parts that a crawl is dealt out to.
pub const PARTS: usize = thresholds::crawl::PARTS;

/// Observations of any number of sites, being gathered.
///
/// ```
/// use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};
/// use dedust_learn::support::SampleSize;
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
    observed: Observed,
}

/// Where observations go that memory has no room for.
#[derive(Debug)]
struct Spill {
    folder: PathBuf,
    most_held_bytes: usize,
    /// One per part; none before the first time.
    files: Vec<File>,
}

impl CrawlStore {
    /// A store whose duplicate labels come from these kinds of evidence.
    pub fn new(kinds: EvidenceKinds, sample: SampleSize) -> Self {
        Self {
            crawl: StoredCrawl::without_rows(kinds, sample, Vec::new()),
            numbers_by_site: HashMap::default(),
            mirrors: None,
            spill: None,
            held_bytes: 0,
            failure: None,
            observed: Observed::default(),
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

    /// Adds one URL with what is known of it, as [`Crawl::observe_at`] does. A failure of the disk is reported in the end.
    pub fn observe(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        if !self.observed.read(url, clues)? || self.failure.is_some() {
            return Ok(());
        }
        let name = self.observed.site();
        let StoredCrawl { sites, parts, .. } = &mut self.crawl;
        let part = &mut parts[part_of(name)];
        let site = match self.numbers_by_site.get(name) {
            Some(&number) => number,
            None => {
                let number = sites.len() as u32;
                self.numbers_by_site.insert(name.into(), number);
                sites.push(StoredSite::new(String::from_utf8_lossy(name)));
                part.sites.push(number);
                number
            }
        };
        sites[site as usize].size += self.observed.size(url, clues);
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.sightings.observe(name, &self.observed.url, clues, &self.observed.links);
        }
        let held = &mut part.held;
        let before = held.capacity();
        self.observed.record(site, url, clues, time).write(held);
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

    /// All observations, unless the disk failed. Where some are on disk, all are.
    pub fn finish(mut self) -> io::Result<StoredCrawl> {
        if self.has_spilled() {
            self.spill_all()?;
        }
        if let Some(error) = self.failure {
            return Err(error);
        }
        if let Some(mirrors) = self.mirrors {
            mirrors.note_in(&mut self.crawl.sites);
        }
        self.crawl.too_long = self.observed.too_long;
        Ok(self.crawl)
    }

    fn spill_all(&mut self) -> io::Result<()> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        spill.write(&mut self.crawl.parts)?;
        spill.files.iter().try_for_each(File::sync_all)
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
            part.files = vec![PartFile { path: part_path(&self.folder, index), numbers: None }];
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

fn observe(crawl: &mut Crawl, record: &Record<'_>) {
    // It was parsed before it was stored.
    let _ = crawl.observe_at(record.url, &record.clues, record.time);
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "observations on disk are not as they were written")
}

#[cfg(test)]
mod tests;
