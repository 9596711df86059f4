/*!
Word of how far a training has come, for those who want to show it or to end it. Silent by default.
*/

use crate::site_report::SiteReport;

/// Told about a training as it runs, from any of its threads.
pub trait Progress: Sync {
    /// A training of this many sites with this many URLs in all begins.
    fn start(&self, sites: usize, urls: u64) {
        let _ = (sites, urls);
    }

    /// A pass over the training pairs of a site is done: its number from 1, the loss on pairs that were held out, and the
    /// share of them that are translated word by word as they are.
    fn epoch_done(&self, site: &str, epoch: usize, held_out_loss: f64, exact_match: f64) {
        let _ = (site, epoch, held_out_loss, exact_match);
    }

    /// Whether the training is to end with an error before it is done. Asked before each site.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// A site is done. Sites come in no fixed order.
    fn site_done(&self, report: &SiteReport) {
        let _ = report;
    }
}

/// Says nothing.
impl Progress for () {}
