/*!
Takes observations in any order, of any number of sites, and makes a [`Corpus`] of each.

The rows of a site are sorted by a hash of their URL before anything is numbered, so that the same URLs in any order
give the same corpus, number by number.
*/

use dedust::ParsedUrl;
use dedust::errors::ParseUrlError;
use dedust::support::{Interner, Separators};
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::corpus::{Corpus, NO_LABEL, UrlList};
use crate::evidence::EvidenceKinds;
use crate::host_links::HostLinks;
use crate::label::{Clues, LabelBuilder};
use crate::observed::Observed;
use crate::rows::RowBuilder;
use crate::text_hash::TextHash;

/// Observations of any number of sites.
///
/// ```
/// use dedust_learn::{Clues, Crawl, EvidenceKinds};
///
/// let mut crawl = Crawl::new(EvidenceKinds::AUTO);
/// let page = Clues { digest: Some(b"77"), ..Clues::default() };
/// crawl.observe(b"http://a.example.org/x?s=1", &page)?;
/// crawl.observe(b"http://a.example.org/x?s=2", &page)?;
/// let corpora = crawl.into_corpora();
/// assert_eq!(corpora[0].site(), "example.org");
/// assert_eq!((corpora[0].len(), corpora[0].page_count()), (2, 1));
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Debug)]
pub struct Crawl {
    kinds: EvidenceKinds,
    hashes: HashMap<Box<[u8]>, TextHash>,
    sites: HashMap<Box<[u8]>, SiteCrawl>,
    observed: Observed,
}

#[derive(Debug)]
struct SiteCrawl {
    labels: LabelBuilder,
    /// Known by what they are, and not by a hash: others may have URLs on this site.
    urls: Interner,
    /// Smallest and largest response, by row.
    sizes: Vec<Option<(u64, u64)>>,
    host_links: HostLinks,
    latest: Option<Box<[u8]>>,
}

impl Crawl {
    /// A crawl whose duplicate labels come from these kinds of evidence.
    pub fn new(kinds: EvidenceKinds) -> Self {
        Self { kinds, hashes: HashMap::default(), sites: HashMap::default(), observed: Observed::default() }
    }

    /// The same, where texts of a site are hashed in a way of its own.
    pub(crate) fn hashing<'n>(self, sites: impl IntoIterator<Item = (&'n str, TextHash)>) -> Self {
        let hashes = sites.into_iter().map(|(name, hash)| (name.as_bytes().into(), hash)).collect();
        Self { hashes, ..self }
    }

    /// Adds one URL with what is known of it; one whose scheme is not of the web, or that has more than 8,192
    /// bytes or 256 parts, is passed over. Targets of canonical links and redirects may be relative
    /// ([`LinkTargets`](crate::support::LinkTargets)); any that are not URLs are taken as unknown.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<(), ParseUrlError> {
        self.observe_at(url, clues, None)
    }

    /// Like [`Crawl::observe`], with the time of the observation, of which the latest is remembered.
    pub fn observe_at(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        let Self { kinds, hashes, sites, observed } = self;
        if !observed.read(url, clues)? {
            return Ok(());
        }
        let name = observed.site();
        if !sites.contains_key(name) {
            let hash = hashes.get(name).copied().unwrap_or_default();
            sites.insert(name.into(), SiteCrawl::new(*kinds, hash));
        }
        if let Some(site) = sites.get_mut(name) {
            let Observed { url, links, .. } = observed;
            site.observe(url.as_bytes(), &links.within(clues), time);
            for target in [links.canonical(), links.redirect()].into_iter().flatten() {
                site.host_links.observe(url, target);
            }
        }
        Ok(())
    }

    /// The number of distinct URLs so far.
    pub fn url_count(&self) -> usize {
        self.sites.values().map(|site| site.urls.len()).sum()
    }

    /// The corpora of all sites, in the order of their names.
    pub fn into_corpora(self) -> Vec<Corpus> {
        use rayon::prelude::*;
        self.into_sites().into_par_iter().map(|(name, site)| site.into_corpus(&name)).collect()
    }

    /// Like [`Crawl::into_corpora`], one after the other.
    pub(crate) fn into_corpora_in_turn(self) -> impl Iterator<Item = Corpus> {
        self.into_sites().into_iter().map(|(name, site)| site.into_corpus(&name))
    }

    fn into_sites(self) -> Vec<(Box<[u8]>, SiteCrawl)> {
        let mut sites: Vec<_> = self.sites.into_iter().collect();
        sites.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        sites
    }
}

impl SiteCrawl {
    fn new(kinds: EvidenceKinds, hash: TextHash) -> Self {
        Self {
            labels: LabelBuilder::hashing(kinds, hash),
            urls: Interner::default(),
            sizes: Vec::new(),
            host_links: HostLinks::default(),
            latest: None,
        }
    }

    fn observe(&mut self, url: &[u8], clues: &Clues<'_>, time: Option<&[u8]>) {
        let row = self.urls.intern(url);
        if row as usize == self.sizes.len() {
            self.sizes.push(None);
        }
        self.labels.observe(row, url, clues);
        // The size of an error page says nothing about the page.
        let is_success = clues.status.is_none_or(|status| (200..300).contains(&status));
        if let Some(size) = clues.size.filter(|_| is_success) {
            let interval = self.sizes[row as usize].get_or_insert((size, size));
            *interval = (interval.0.min(size), interval.1.max(size));
        }
        if time > self.latest.as_deref() {
            self.latest = time.map(Into::into);
        }
    }

    fn into_corpus(self, name: &[u8]) -> Corpus {
        let Self { labels, urls, sizes, host_links, latest } = self;
        let mut labels = labels.finish(urls.len());
        let contents = labels.take_contents();
        let mut order: Vec<(u64, u32)> =
            (0..urls.len() as u32).map(|row| (xxh3_64(urls.get(row)), row)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| urls.get(a.1).cmp(urls.get(b.1))));

        let site = String::from_utf8_lossy(name);
        let mut builder = RowBuilder::new(name.len(), Separators::Safe);
        let mut renumbered: HashMap<u32, u32> = HashMap::default();
        let (mut sorted_urls, mut row_labels) = (UrlList::default(), Vec::new());
        let (mut kinds, mut row_sizes, mut row_contents) = (Vec::new(), Vec::new(), Vec::new());
        let mut url = ParsedUrl::default();
        for &(_, row) in &order {
            let text = urls.get(row);
            if url.parse_from(text).is_err() || !url.is_hierarchical() || !builder.push(&url) {
                continue;
            }
            sorted_urls.push(text);
            row_labels.push(labels.label_of(row).map_or(NO_LABEL, |label| {
                let next = renumbered.len() as u32;
                *renumbered.entry(label).or_insert(next)
            }));
            kinds.push(labels.kinds_of(row));
            row_sizes.push(sizes[row as usize]);
            row_contents.push(contents[row as usize]);
        }
        let labelled_count = row_labels.iter().filter(|&&label| label != NO_LABEL).count();
        let values = builder.values();
        let RowBuilder { row_pairs, row_ends, keys, pair_keys, pair_values, .. } = builder.sort_keys();
        Corpus {
            site: site.into(),
            urls: sorted_urls,
            row_pairs,
            row_ends,
            keys,
            pair_keys,
            pair_values,
            values,
            labels: row_labels,
            sizes: row_sizes,
            contents: row_contents,
            likeness: labels.likeness(),
            has_clusters: labels.has_clusters(),
            declared_hosts: host_links.declared(name),
            kinds,
            page_count: renumbered.len(),
            labelled_count,
            latest: latest.map(|time| String::from_utf8_lossy(&time).into()),
        }
    }
}
