/*!
A store that ends before all is observed, and another that goes on with it.

The observations are in the files of [`CrawlStore::spill_to`], what was seen of mirrors in the file `sightings` beside them. All else comes
out as a [`SuspendedStore`], for the caller to keep. The result is the same as if one store had observed all.
*/

use std::fs::{self, File};
use std::io;

use serde::{Deserialize, Serialize};

use super::sightings::Sightings;
use super::stored::{StoredCrawl, StoredSite};
use super::{CrawlStore, PARTS, damaged, part_path};

/// What a store knows besides what is in its folder, so that another process can go on with it.
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
    /// Puts all observations into the folder of [`CrawlStore::spill_to`], for [`CrawlStore::resume`].
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
            let bytes = fs::read(spill.folder.join(SIGHTINGS))?;
            mirrors.sightings = Sightings::from_bytes(&bytes).ok_or_else(damaged)?.into();
        }
        self.crawl = StoredCrawl::open(self.crawl.kinds, self.crawl.sample, &spill.folder, sites)?;
        let names = self.crawl.sites.iter().map(|site| site.name.as_bytes().into());
        self.numbers_by_site = names.zip(0..).collect();
        self.observed.too_long = too_long;
        Ok(self)
    }
}

fn no_folder() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the store has no folder, see `CrawlStore::spill_to`")
}
