/*!
One observation, read: its URL parsed, its links resolved, its site known.

Takes the URL and clues as they came, gives a [`Record`]. Every way in to learning from stored observations starts here, so that
what one process leaves out, all leave out.
*/

use dedust::errors::ParseUrlError;
use dedust::{ParsedUrl, site_of};
use xxhash_rust::xxh3::xxh3_64;

use super::SiteSize;
use super::page_of;
use super::record::Record;
use crate::crawl::{is_of_the_web, is_too_long};
use crate::label::Clues;
use crate::link_targets::LinkTargets;

/// The observation that was read last, and room for the next.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) url: ParsedUrl,
    pub(super) links: LinkTargets,
    /// Observations that were left out because their URLs have too many bytes or parts.
    pub(super) too_long: u64,
    purpose: Purpose,
}

/// What observations are read for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To learn from them: those whose URLs are not of the web, or have too many bytes or parts, are left out.
    #[default]
    Learn,
    /// To see how good rules are, which are applied to all URLs.
    Evaluate,
}

impl Observed {
    pub(super) fn new(purpose: Purpose) -> Self {
        Self { purpose, ..Self::default() }
    }

    /// Whether the observation is of use.
    pub(super) fn read(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<bool, ParseUrlError> {
        self.url.parse_from(url)?;
        if self.purpose == Purpose::Learn {
            if !is_of_the_web(&self.url) {
                return Ok(false);
            }
            if is_too_long(&self.url) {
                self.too_long += 1;
                return Ok(false);
            }
        }
        self.links.resolve(&self.url, clues);
        Ok(true)
    }

    /// The name of its site.
    pub(super) fn site(&self) -> &[u8] {
        site_of(self.url.host())
    }

    /// What the observation adds to the size of its site.
    pub(super) fn size(&self, url: &[u8], clues: &Clues<'_>) -> SiteSize {
        SiteSize::of_row(url, &self.url, self.page(&self.links.within(clues)))
    }

    fn page(&self, clues: &Clues<'_>) -> u64 {
        page_hash(self.url.as_bytes(), clues)
    }

    /// The observation as it is stored, of a site with this number.
    pub(super) fn record<'a>(
        &'a self,
        site: u32,
        url: &'a [u8],
        clues: &Clues<'a>,
        time: Option<&'a [u8]>,
    ) -> Record<'a> {
        let clues = self.links.within(clues);
        Record { site, page: self.page(&clues), url, clues, time }
    }
}

/// The same for URLs that the evidence, taken at its word, says are one page.
fn page_hash(url: &[u8], clues: &Clues<'_>) -> u64 {
    xxh3_64(page_of(clues).or(clues.redirect).or(clues.canonical).unwrap_or(url))
}
