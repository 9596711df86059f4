/*!
What a lying site shall be like.
*/

use super::lie::{Lie, Lies};
use crate::InvalidSiteSpec;
use crate::SiteSpec;
use crate::chance::mix_two;

/// Shares of fetches in which a counter differs, one of which a site with [`Lie::ChangingPages`] has.
const NOISE_LEVELS: [f64; 4] = [0.0, 0.01, 0.05, 0.2];

/// A site to be made by [`LyingSite::new`](super::LyingSite::new).
///
/// ```
/// use dedust_simulate::{LyingSite, LyingSpec};
///
/// let spec = LyingSpec::new("a.example", 2_000).lies("idle-filter,changing-pages".parse()?).seed(7);
/// assert_eq!(LyingSite::new(spec)?.urls(), 2_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LyingSpec {
    pub(super) domain: String,
    pub(super) urls: u64,
    pub(super) lies: Lies,
    pub(super) noise: Option<f64>,
    pub(super) seed: u64,
    pub(super) first_page: u64,
}

impl LyingSpec {
    /// A site of `urls` URLs under `domain`, with all lies.
    pub fn new(domain: impl Into<String>, urls: u64) -> Self {
        Self { domain: domain.into(), urls, lies: Lies::ALL, noise: None, seed: 0, first_page: 0 }
    }

    /// In which ways the evidence lies. By default in all.
    #[must_use]
    pub fn lies(mut self, lies: Lies) -> Self {
        self.lies = lies;
        self
    }

    /// Share of the fetches, from 0 to 1, in which a counter in the text differs. By default the seed chooses 0, 0.01,
    /// 0.05 or 0.2 where [`Lie::ChangingPages`] is one of the lies, and it is 0 elsewhere.
    #[must_use]
    pub fn noise(mut self, share: f64) -> Self {
        self.noise = Some(share);
        self
    }

    /// What chance depends on. By default 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The smallest number of a page; sites that are to be read together need numbers of their own. By default 0.
    #[must_use]
    pub fn first_page(mut self, page: u64) -> Self {
        self.first_page = page;
        self
    }

    /// The registrable domain of the site.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// In which ways its evidence lies.
    pub fn chosen_lies(&self) -> Lies {
        self.lies
    }

    /// Share of the fetches in which a counter in the text differs.
    pub fn chosen_noise(&self) -> f64 {
        match self.noise {
            Some(share) => share,
            None if self.lies.contains(Lie::ChangingPages) => {
                NOISE_LEVELS[(mix_two(self.seed, 0x6e6f) % NOISE_LEVELS.len() as u64) as usize]
            }
            None => 0.0,
        }
    }

    pub(super) fn check(&self) -> Result<(), InvalidSiteSpec> {
        SiteSpec::new(self.domain.as_str(), self.urls).first_label(self.first_page).check()?;
        let share = self.chosen_noise();
        if !(0.0..=1.0).contains(&share) {
            return Err(InvalidSiteSpec::Share { name: "noise", share });
        }
        Ok(())
    }
}
