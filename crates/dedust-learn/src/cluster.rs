/*!
Observations of any number of sites to clusters of duplicates: what `dedust cluster` does.

A URL is known by its safe normal form. Sites, by registrable domain, are independent of each other: pages of two sites
are never one cluster. Which URLs of a site show the same page is for [`crate::label`] to say; here they are only
gathered and numbered, by the first URL met, so that the same input gives the same numbers on any number of threads.
*/

use dedust::errors::ParseUrlError;
use dedust::support::Interner;
use dedust::{ParsedUrl, site_of};
use foldhash::HashMap;
use rayon::prelude::*;

use crate::evidence::EvidenceKinds;
use crate::label::{Clues, LabelBuilder, Labels};
use crate::link_targets::LinkTargets;
use crate::observed::is_of_the_web;

const NO_CLUSTER: u32 = u32::MAX;

/// Gathers observations, then clusters them.
///
/// ```
/// use dedust_learn::{Clues, EvidenceKinds};
/// use dedust_learn::support::Clusterer;
///
/// let mut clusterer = Clusterer::new(EvidenceKinds::AUTO);
/// let page = |digest: &'static str| Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
/// let first = clusterer.observe(b"http://a.example/p?id=1", &page("77"))?;
/// let other = clusterer.observe(b"http://a.example/q", &page("78"))?;
/// let again = clusterer.observe(b"http://www.a.example/p?id=1&sid=9", &page("77"))?;
/// let clusters = clusterer.finish();
/// assert_eq!([first, other, again].map(|url| clusters.cluster_of(url)), [Some(0), Some(1), Some(0)]);
/// assert_eq!(clusters.kinds_of(again).to_string(), "digest");
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Debug)]
pub struct Clusterer {
    kinds: EvidenceKinds,
    site_ids: HashMap<Box<[u8]>, u32>,
    sites: Vec<Site>,
    /// The site of each URL, and its row there.
    urls: Vec<(u32, u32)>,
    url: ParsedUrl,
    links: LinkTargets,
}

#[derive(Debug)]
struct Site {
    labels: LabelBuilder,
    urls: Interner,
    /// The number of each of these URLs.
    numbers: Vec<u32>,
}

impl Clusterer {
    /// A clusterer that believes these kinds of evidence.
    pub fn new(kinds: EvidenceKinds) -> Self {
        Self {
            kinds,
            site_ids: HashMap::default(),
            sites: Vec::new(),
            urls: Vec::new(),
            url: ParsedUrl::default(),
            links: LinkTargets::default(),
        }
    }

    /// Adds one URL with what is known of it, and returns its number: the same whenever it is met again. Evidence on a URL
    /// that is not of the web, such as `mailto:`, is passed over.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<u32, ParseUrlError> {
        self.url.parse_from(url)?;
        let clues = if is_of_the_web(&self.url) {
            self.links.resolve(&self.url, clues);
            self.links.within(clues)
        } else {
            Clues::default()
        };
        let name = site_of(self.url.host());
        let site = match self.site_ids.get(name) {
            Some(&site) => site,
            None => {
                let site = self.sites.len() as u32;
                self.site_ids.insert(name.into(), site);
                self.sites.push(Site {
                    labels: LabelBuilder::new(self.kinds),
                    urls: Interner::default(),
                    numbers: Vec::new(),
                });
                site
            }
        };
        let Site { labels, urls, numbers } = &mut self.sites[site as usize];
        let row = urls.intern(self.url.as_bytes());
        if row as usize == numbers.len() {
            numbers.push(self.urls.len() as u32);
            self.urls.push((site, row));
        }
        labels.observe(row, self.url.as_bytes(), &clues);
        Ok(numbers[row as usize])
    }

    /// The clusters of all URLs observed.
    pub fn finish(self) -> Clusters {
        let Self { sites, urls, .. } = self;
        let labels: Vec<Labels> =
            sites.into_par_iter().map(|Site { labels, numbers, .. }| labels.finish(numbers.len())).collect();
        let mut numbers: Vec<Vec<u32>> =
            labels.iter().map(|labels| vec![NO_CLUSTER; labels.cluster_count()]).collect();
        let mut clusters = Clusters::default();
        for (site, row) in urls {
            let labels = &labels[site as usize];
            clusters.kinds_by_url.push(labels.kinds_of(row));
            clusters.cluster_by_url.push(labels.label_of(row).map_or(NO_CLUSTER, |label| {
                let number = &mut numbers[site as usize][label as usize];
                if *number == NO_CLUSTER {
                    *number = clusters.sizes.len() as u32;
                    clusters.sizes.push(0);
                }
                clusters.sizes[*number as usize] += 1;
                *number
            }));
        }
        clusters
    }
}

/// Which URLs show the same page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clusters {
    cluster_by_url: Vec<u32>,
    kinds_by_url: Vec<EvidenceKinds>,
    sizes: Vec<u32>,
}

impl Clusters {
    /// The cluster of a URL, by the number that [`Clusterer::observe`] gave it; `None` if nothing is known of its page.
    pub fn cluster_of(&self, url: u32) -> Option<u32> {
        self.cluster_by_url.get(url as usize).copied().filter(|cluster| *cluster != NO_CLUSTER)
    }

    /// The evidence that ties a URL to others: none if it is alone.
    pub fn kinds_of(&self, url: u32) -> EvidenceKinds {
        self.kinds_by_url.get(url as usize).copied().unwrap_or_default()
    }

    /// The same clusters, numbered by the first of their URLs in `order`, which must have every URL.
    #[must_use]
    pub fn renumbered(mut self, order: impl IntoIterator<Item = u32>) -> Self {
        let mut numbers = vec![NO_CLUSTER; self.sizes.len()];
        let mut sizes = Vec::with_capacity(self.sizes.len());
        for cluster in order.into_iter().filter_map(|url| self.cluster_of(url)) {
            let number = &mut numbers[cluster as usize];
            if *number == NO_CLUSTER {
                *number = sizes.len() as u32;
                sizes.push(self.sizes[cluster as usize]);
            }
        }
        for cluster in self.cluster_by_url.iter_mut().filter(|cluster| **cluster != NO_CLUSTER) {
            *cluster = numbers[*cluster as usize];
        }
        self.sizes = sizes;
        self
    }

    /// The number of URLs of each cluster.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The number of URLs, in a cluster or not.
    pub fn url_count(&self) -> usize {
        self.cluster_by_url.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Clues<'_> {
        Clues { digest: Some(text.as_bytes()), ..Clues::default() }
    }

    #[test]
    fn sites_are_apart_and_spellings_are_not() {
        let mut clusterer = Clusterer::new(EvidenceKinds::AUTO);
        let urls = [
            ("http://b.example/", "1"),
            ("http://a.example/", "1"),
            ("HTTP://B.example:80", "1"),
            ("http://b.example/x", "1"),
            ("http://b.example/y", "2"),
        ];
        let numbers = urls.map(|(url, page)| clusterer.observe(url.as_bytes(), &digest(page)).unwrap());
        assert_eq!(numbers, [0, 1, 0, 2, 3]);
        let clusters = clusterer.finish();
        assert_eq!([0, 1, 2, 3].map(|url| clusters.cluster_of(url)), [Some(0), Some(1), Some(0), Some(2)]);
        assert_eq!((clusters.sizes(), clusters.url_count()), (&[2, 1, 1][..], 4));
        let clusters = clusters.renumbered([3, 1, 0, 2]);
        assert_eq!([0, 1, 2, 3].map(|url| clusters.cluster_of(url)), [Some(2), Some(1), Some(2), Some(0)]);
        assert_eq!(clusters.sizes(), [1, 1, 2]);
    }

    #[test]
    fn what_is_not_of_the_web_is_in_no_cluster() {
        let mut clusterer = Clusterer::new(EvidenceKinds::AUTO);
        let numbers = ["mailto:a@a.example", "mailto:b@a.example"]
            .map(|url| clusterer.observe(url.as_bytes(), &digest("1")));
        let clusters = clusterer.finish();
        assert!(numbers.into_iter().flatten().all(|url| clusters.cluster_of(url).is_none()));
    }
}
