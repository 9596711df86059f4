/*!
How a live crawl stands.
*/

use serde::{Deserialize, Serialize};

use crate::audit::{Audit, Finding, Interval, Weighted};
use crate::site::{Site, State};

/// How a live crawl stands, of all sites that were asked for since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// Whether a site is being learned from, or is to be.
    pub learning: bool,
    /// Sites.
    pub sites: u64,
    /// URLs that were met.
    pub urls: u64,
    /// Those of them that were fetched, or are being fetched.
    pub fetched: u64,
    /// Those of them that were not.
    pub skipped: u64,
    /// Those that were not, and are to be now.
    pub returning: u64,
    /// URLs that were fetched to find out whether rules hold.
    pub audits: u64,
    /// Those of them that showed another page than was believed.
    pub refuted: u64,
    /// Rules that are applied.
    pub rules: u64,
    /// Rules that failed their audits.
    pub withdrawn: u64,
    /// URLs that were skipped and show a page that nobody fetched: so many, with 95 % confidence.
    pub lost: Interval,
}

/// The sums of sites that a status is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) status: Status,
    lost: Weighted,
}

impl Sums {
    pub(crate) fn add(&mut self, site: &Site, share: f64) {
        let status = &mut self.status;
        status.sites += 1;
        status.urls += u64::from(site.len());
        status.skipped += site.count(State::Skipped);
        status.returning += site.count(State::Returning);
        status.audits += site.audits.len() as u64;
        let is_refuted = |audit: &&Audit| audit.finding == Finding::Different;
        status.refuted += site.audits.iter().filter(is_refuted).count() as u64;
        let applied = site.knowledge.rules.sites().flat_map(|(_, rules)| rules.applied());
        status.rules += applied.count() as u64;
        status.withdrawn += site.knowledge.withdrawn.len() as u64;
        if site.count(State::Skipped) > 0 && site.knowledge.normalizer.is_some() {
            // What no audit was drawn from yet could all be lost.
            self.lost.add(share / 2.0, false);
        }
        for audit in site.audits.iter().filter(|audit| audit.is_joined) {
            self.lost.add(audit.chance.into(), audit.finding == Finding::Different);
        }
    }

    pub(crate) fn finish(mut self) -> Status {
        let (_, most) = self.lost.bounds();
        let status = &mut self.status;
        status.fetched = status.urls - status.skipped - status.returning;
        // URLs are counted, and a page can have many: all that is known of pages is how many are lost at most.
        status.lost = Interval { least: 0, most: (most.ceil() as u64).min(status.skipped) };
        self.status
    }
}
