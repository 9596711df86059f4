/*!
What a synthetic site shall be like.
*/

use super::phenomenon::{Phenomena, Phenomenon};

/// Share of the URLs of a [`SiteSpec::single`] that are the only one of their page.
const SINGLE_SITE_SINGLETONS: f64 = 0.3;

/// How labels differ from pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Share of the URLs with the label of another page, or of one of a few giant clusters that are no page at all,
    /// such as "not found" or "please log in". Half and half.
    pub fake: f64,
    /// Share of the URLs with a label of their own.
    pub fragmented: f64,
}

/// A site to be made by [`Site::new`](super::Site::new).
///
/// ```
/// use dedust_simulate::{Noise, Phenomena, Site, SiteSpec};
///
/// let spec = SiteSpec::new("a.example", 5_000)
///     .phenomena("mirrors,two-random-keys".parse()?)
///     .noise(Noise { fake: 0.05, fragmented: 0.02 })
///     .seed(7);
/// assert_eq!(Site::new(spec)?.urls(), 5_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSpec {
    pub(super) domain: String,
    pub(super) urls: u64,
    pub(super) duplicated_pages: Option<u64>,
    pub(super) largest_cluster: u64,
    pub(super) singletons: f64,
    pub(super) phenomena: Phenomena,
    pub(super) noise: Noise,
    pub(super) seed: u64,
    pub(super) first_label: u64,
}

impl SiteSpec {
    /// A site of `urls` URLs under `domain`, with all phenomena and no noise.
    pub fn new(domain: impl Into<String>, urls: u64) -> Self {
        Self {
            domain: domain.into(),
            urls,
            duplicated_pages: None,
            largest_cluster: 0,
            singletons: 0.0,
            phenomena: Phenomena::ALL,
            noise: Noise::default(),
            seed: 0,
            first_label: 0,
        }
    }

    /// A site with one phenomenon and a background of pages of one URL each, 30 % of all.
    ///
    /// The domain is named after the phenomenon, such as `mirrors.example`.
    pub fn single(phenomenon: Phenomenon, urls: u64, seed: u64) -> Self {
        let largest_cluster = if phenomenon == Phenomenon::SoftErrors { urls / 10 } else { 0 };
        Self::new(format!("{phenomenon}.example"), urls)
            .phenomena(Phenomena::from_iter([phenomenon]))
            .singletons(SINGLE_SITE_SINGLETONS)
            .largest_cluster(largest_cluster)
            .seed(seed)
    }

    /// How many pages have two or more URLs. By default as many as the phenomena give by themselves, at about four
    /// URLs a page; if given, a catalog whose pages have any number of URLs makes up for what the phenomena cannot do.
    #[must_use]
    pub fn duplicated_pages(mut self, pages: u64) -> Self {
        self.duplicated_pages = Some(pages);
        self
    }

    /// URLs of the page that has most of them. By default 0: no page is singled out.
    #[must_use]
    pub fn largest_cluster(mut self, urls: u64) -> Self {
        self.largest_cluster = urls;
        self
    }

    /// Share of the URLs that are the only one of their page, from 0 to 1. By default 0.
    #[must_use]
    pub fn singletons(mut self, share: f64) -> Self {
        self.singletons = share;
        self
    }

    /// Puts pages with one URL instead of a share of the URLs, from 0 to 1, and of as many of the pages with more.
    #[must_use]
    pub fn dilute(mut self, share: f64) -> Self {
        let rest = |number: u64| (number as f64 * (1.0 - share)) as u64;
        self.duplicated_pages = self.duplicated_pages.map(rest);
        self.largest_cluster = rest(self.largest_cluster);
        self.singletons(share)
    }

    /// In which ways URLs are duplicates. By default in all.
    #[must_use]
    pub fn phenomena(mut self, phenomena: Phenomena) -> Self {
        self.phenomena = phenomena;
        self
    }

    /// How labels differ from pages. By default not at all.
    #[must_use]
    pub fn noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// What chance depends on. By default 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The smallest label; sites that are to be read together need labels of their own. By default 0.
    #[must_use]
    pub fn first_label(mut self, label: u64) -> Self {
        self.first_label = label;
        self
    }

    /// The registrable domain of the site.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// How many URLs it has.
    pub fn urls(&self) -> u64 {
        self.urls
    }

    /// In which ways its URLs are duplicates.
    pub fn chosen_phenomena(&self) -> Phenomena {
        self.phenomena
    }

    pub(super) fn check(&self) -> Result<(), InvalidSiteSpec> {
        let is_label = |label: &str| {
            let is_inner = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
            let (first, last) = (label.as_bytes().first(), label.as_bytes().last());
            label.bytes().all(|byte| is_inner(&byte))
                && first.is_some_and(|&byte| byte != b'-')
                && last != Some(&b'-')
        };
        if !self.domain.contains('.') || !self.domain.split('.').all(is_label) || self.domain.len() > 200 {
            return Err(InvalidSiteSpec::Domain { domain: self.domain.clone() });
        }
        let Noise { fake, fragmented } = self.noise;
        for (name, share) in [
            ("singletons", self.singletons),
            ("fake", fake),
            ("fragmented", fragmented),
            ("fake and fragmented together", fake + fragmented),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return Err(InvalidSiteSpec::Share { name, share });
            }
        }
        if self.urls > MAX_URLS {
            return Err(InvalidSiteSpec::TooManyUrls { urls: self.urls });
        }
        if self.first_label > MAX_LABEL {
            return Err(InvalidSiteSpec::LabelTooLarge { label: self.first_label });
        }
        Ok(())
    }
}

/// So that every number of a site, and sums of them, fit.
const MAX_URLS: u64 = 1 << 40;
const MAX_LABEL: u64 = 1 << 60;

/// Why no site can be made by a [`SiteSpec`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSiteSpec {
    /// Not a plain name of two or more labels.
    #[error("invalid domain `{domain}`, expected one such as `a.example`, in lower case")]
    Domain {
        /// What was given.
        domain: String,
    },
    /// A share below 0 or above 1.
    #[error("share of {name} is {share}, expected a number from 0 to 1")]
    Share {
        /// Of what.
        name: &'static str,
        /// What was given.
        share: f64,
    },
    /// More than numbers are made for.
    #[error("site of {urls} URLs, expected at most {MAX_URLS}")]
    TooManyUrls {
        /// What was given.
        urls: u64,
    },
    /// Labels would not fit.
    #[error("first label is {label}, expected at most {MAX_LABEL}")]
    LabelTooLarge {
        /// What was given.
        label: u64,
    },
}
