/*!
A store that ends before all is observed, and others that go on with it: one that observes the rest, or one crawl of the stores of
several processes.

The observations are in the files of [`CrawlStore::spill_to`], what was seen of mirrors in the file `sightings` beside them. All else comes
out as a [`SuspendedStore`], for the caller to keep. The result is the same as if one store had observed all.
*/

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::mirrors::NamedMirror;
use super::sightings::Sightings;
use super::stored::{PartFile, StoredCrawl, StoredSite, find_mirrors};
use super::{CrawlStore, PARTS, SampleSize, damaged, part_path};
use crate::evidence::EvidenceKinds;

/// What a store knows besides what is in its folder, so that another process can go on with it.
///
/// A [`Census`](super::Census) holds no observation, for a cluster that reads rows as often as it likes: counts come before draws, so it
/// reads them up to four times. A store needs to read them once, as the archives of `learn --part`, which are slow to read, and keeps
/// them all. Behind both, one `draw` decides what is learned from.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendedStore {
    sites: Vec<StoredSite>,
    /// The bytes of each file of observations.
    part_bytes: Vec<u64>,
    too_long: u64,
}

const SIGHTINGS: &str = "sightings";

impl CrawlStore {
    /// Puts all observations into the folder of [`CrawlStore::spill_to`], for [`CrawlStore::resume`] and
    /// [`StoredCrawl::of_suspended`].
    pub fn suspend(mut self) -> io::Result<SuspendedStore> {
        self.spill_all()?;
        if let Some(error) = self.failure {
            return Err(error);
        }
        let spill = self.spill.ok_or_else(no_folder)?;
        if let Some(mirrors) = self.mirrors {
            fs::write(spill.folder.join(SIGHTINGS), mirrors.sightings.finish().to_bytes())?;
        }
        let part_bytes = spill.files.iter().map(|file| Ok(file.metadata()?.len()));
        let part_bytes = part_bytes.collect::<io::Result<_>>()?;
        Ok(SuspendedStore { sites: self.crawl.sites, part_bytes, too_long: self.observed.too_long })
    }

    /// Goes on with what a store of the same settings had observed, in the folder of this one. What was added to the files after that
    /// store was suspended is cut off.
    pub fn resume(mut self, suspended: SuspendedStore) -> io::Result<Self> {
        let SuspendedStore { sites, part_bytes, too_long } = suspended;
        let spill = self.spill.as_mut().ok_or_else(no_folder)?;
        if part_bytes.len() != PARTS {
            return Err(damaged());
        }
        let open = |(part, bytes): (usize, u64)| {
            let file = File::options().append(true).open(part_path(&spill.folder, part))?;
            if file.metadata()?.len() < bytes {
                return Err(damaged());
            }
            file.set_len(bytes)?;
            Ok(file)
        };
        spill.files = part_bytes.into_iter().enumerate().map(open).collect::<io::Result<_>>()?;
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.sightings = read_sightings(&spill.folder)?.into();
        }
        self.crawl = StoredCrawl::open(self.crawl.kinds, self.crawl.sample, &spill.folder, sites)?;
        let names = self.crawl.sites.iter().map(|site| site.name.as_bytes().into());
        self.numbers_by_site = names.zip(0..).collect();
        self.observed.too_long = too_long;
        Ok(self)
    }
}

impl StoredCrawl {
    /// The crawl of several stores, each with its folder. Mirrors are looked for if `named` are given, which may be none: see
    /// [`CrawlStore::with_named_mirror`].
    pub fn of_suspended(
        kinds: EvidenceKinds,
        sample: SampleSize,
        stores: &[(PathBuf, SuspendedStore)],
        named: Option<&[NamedMirror]>,
    ) -> io::Result<Self> {
        let mut sites: BTreeMap<Box<str>, StoredSite> = BTreeMap::new();
        for StoredSite { name, size, .. } in stores.iter().flat_map(|(_, store)| &store.sites) {
            let site = sites.entry(name.clone()).or_insert_with(|| StoredSite::new(name.clone()));
            site.size += *size;
        }
        let mut crawl = Self::without_rows(kinds, sample, sites.into_values().collect());
        let mut sightings = Sightings::default();
        for (folder, store) in stores {
            let number =
                |site: &StoredSite| crawl.sites.binary_search_by(|other| other.name.cmp(&site.name)).ok();
            // Every site of a store is among those of all stores.
            let numbers: Arc<[u32]> =
                store.sites.iter().filter_map(number).map(|number| number as u32).collect();
            for (index, part) in crawl.parts.iter_mut().enumerate() {
                let path = part_path(folder, index);
                if Some(&fs::metadata(&path)?.len()) != store.part_bytes.get(index) {
                    return Err(damaged());
                }
                part.files.push(PartFile { path, numbers: Some(numbers.clone()) });
            }
            if named.is_some() {
                sightings.merge(read_sightings(folder)?);
            }
            crawl.too_long += store.too_long;
        }
        if let Some(named) = named {
            find_mirrors(sightings, named, &mut crawl.sites);
        }
        Ok(crawl)
    }
}

impl SuspendedStore {
    /// The observations.
    pub fn rows(&self) -> u64 {
        self.sites.iter().map(|site| site.size.rows).sum()
    }
}

fn read_sightings(folder: &Path) -> io::Result<Sightings> {
    Sightings::from_bytes(&fs::read(folder.join(SIGHTINGS))?).ok_or_else(damaged)
}

fn no_folder() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the store has no folder, see `CrawlStore::spill_to`")
}
