/*!
Counts the observations of each site, and notes what tells of mirrors: the first of three readings of a crawl that is spread over
many processes.

Keeps no observation; [`SuspendedStore`](super::SuspendedStore) says where processes keep them all, and why. What several processes counted is put together by adding it up, and by [`Sightings::merge`].
*/

use dedust::errors::ParseUrlError;
use foldhash::HashMap;

use super::sightings::SightingCollector;
use super::{Sightings, SiteSize, StoredSite};
use crate::label::Clues;
use crate::observed::{Observed, Purpose};

/// How many observations there are of each site.
#[derive(Debug, Default)]
pub struct Census {
    counts: HashMap<Box<[u8]>, SiteSize>,
    /// Unless mirrors are of no interest.
    sightings: Option<SightingCollector>,
    observed: Observed,
}

impl Census {
    /// Nothing was counted yet. Whatever tells of mirrors is noted too if they are of interest.
    pub fn new(purpose: Purpose, finds_mirrors: bool) -> Self {
        let observed = Observed::new(purpose);
        Self { sightings: finds_mirrors.then(SightingCollector::default), observed, ..Self::default() }
    }

    /// Counts one URL with what is known of it.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<(), ParseUrlError> {
        if !self.observed.read(url, clues)? {
            return Ok(());
        }
        let name = self.observed.site();
        let size = match self.counts.get_mut(name) {
            Some(size) => size,
            None => self.counts.entry(name.into()).or_default(),
        };
        *size += self.observed.size(url, clues);
        if let Some(sightings) = &mut self.sightings {
            sightings.observe(name, &self.observed.url, clues, &self.observed.links);
        }
        Ok(())
    }

    /// Observations that were left out: their URLs have more than 8,192 bytes, or 256 path segments and parameters.
    pub fn too_long(&self) -> u64 {
        self.observed.too_long
    }

    /// The sites, in the order of their names, and what tells of mirrors.
    pub fn finish(self) -> (Vec<StoredSite>, Sightings) {
        let sites = self.counts.into_iter().map(|(name, size)| {
            let site = StoredSite::new(String::from_utf8_lossy(&name));
            StoredSite { size, ..site }
        });
        let mut sites: Vec<StoredSite> = sites.collect();
        sites.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        (sites, self.sightings.map(SightingCollector::finish).unwrap_or_default())
    }
}
