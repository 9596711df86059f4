/*!
Takes observations of any number of sites and divides each site into a training share and what is scored.

The training shares of all sites are one crawl, which is read as `dedust learn` reads any: by a [`CrawlStore`], which samples
large shares by groups of URLs and finds the sites that show the pages of another.
*/

use std::collections::BTreeMap;

use dedust::errors::ParseUrlError;
use dedust::{ParsedUrl, site_of};
use dedust_learn::support::{LinkTargets, PARTS, SampleSize, StoredRow};
use dedust_learn::{Clues, Corpus, CrawlStore, EvidenceKind, EvidenceKinds, StoredCrawl};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::scored::{Scope, ScoredUrls, ScoredUrlsBuilder};
use super::split::{Ranking, Split};
use crate::metrics::Tally;

/// Observations of any number of sites, to be divided.
///
/// ```
/// use dedust_eval::compare::{Draw, Sample, Scope, Split};
/// use dedust_learn::{Clues, EvidenceKinds};
///
/// let split = Split::new(Draw::Order, 0.25, 1000)?;
/// let mut sample = Sample::new(split, EvidenceKinds::AUTO);
/// for page in 0..8 {
///     let digest = format!("{page}");
///     let clues = Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
///     sample.observe(format!("http://a.example/{page}").as_bytes(), &clues, None)?;
/// }
/// let sites = sample.into_sites();
/// assert_eq!(sites[0].corpus().map_or(0, |corpus| corpus.len()), 2);
/// assert_eq!(sites[0].scored().urls(Scope::Unseen).count(), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sample {
    split: Split,
    kinds: EvidenceKinds,
    has_truth: bool,
    finds_mirrors: bool,
    sites: BTreeMap<Box<[u8]>, SiteBuilder>,
    url: ParsedUrl,
    links: LinkTargets,
}

#[derive(Debug)]
struct SiteBuilder {
    ranking: Ranking,
    saved: Vec<(u128, StoredRow)>,
    scored: ScoredUrlsBuilder,
}

/// One site, divided.
#[derive(Debug)]
pub struct DividedSite {
    site: Box<str>,
    urls: usize,
    training: Vec<StoredRow>,
    corpus: Option<Corpus>,
    mirror_of: Option<Box<str>>,
    is_sampled: bool,
    scored: ScoredUrls,
}

impl Sample {
    /// A sample whose labels, those to learn from and those to score by, come from these kinds of evidence.
    pub fn new(split: Split, kinds: EvidenceKinds) -> Self {
        Self {
            split,
            kinds,
            has_truth: false,
            finds_mirrors: true,
            sites: BTreeMap::new(),
            url: ParsedUrl::default(),
            links: LinkTargets::default(),
        }
    }

    /// A sample to learn from as observed, and to score by what [`Sample::observe_truth`] is told.
    pub fn with_truth(split: Split, kinds: EvidenceKinds) -> Self {
        Self { has_truth: true, ..Self::new(split, kinds) }
    }

    /// The same where no site is taken for one that shows the pages of another.
    #[must_use]
    pub fn without_mirrors(self) -> Self {
        Self { finds_mirrors: false, ..self }
    }

    /// Adds one URL with what is known of it, as [`CrawlStore::observe`] does.
    pub fn observe(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        let Self { split, kinds, has_truth, sites, url: parsed, links, .. } = self;
        parsed.parse_from(url)?;
        let name = site_of(parsed.host());
        if !sites.contains_key(name) {
            let scored_kinds = if *has_truth { EvidenceKind::Cluster.into() } else { *kinds };
            sites.insert(name.into(), SiteBuilder::new(*split, scored_kinds));
        }
        let Some(site) = sites.get_mut(name) else { return Ok(()) };
        let safe = parsed.as_bytes();
        let hash = xxh3_128(safe);
        if site.ranking.add(safe, hash) {
            site.saved.push((hash, StoredRow::new(url, clues, time)));
        }
        if !*has_truth {
            links.resolve(parsed, clues);
            site.scored.observe(url, safe, &links.within(clues));
        }
        Ok(())
    }

    /// Adds one URL whose page is known for sure; where several are, they are scored in this order. `false` says
    /// that nothing was observed of its site, so that it is left out.
    pub fn observe_truth(&mut self, url: &[u8], page: Option<&[u8]>) -> Result<bool, ParseUrlError> {
        self.url.parse_from(url)?;
        let Some(site) = self.sites.get_mut(site_of(self.url.host())) else { return Ok(false) };
        site.scored.observe(url, self.url.as_bytes(), &Clues { cluster: page, ..Clues::default() });
        Ok(true)
    }

    /// All sites, in the order of their names, those without labelled URLs too.
    pub fn into_sites(self) -> Vec<DividedSite> {
        let Self { kinds, finds_mirrors, sites, .. } = self;
        let sites: Vec<_> = sites.into_iter().collect();
        let mut sites: Vec<DividedSite> =
            sites.into_par_iter().map(|(name, site)| site.finish(&name)).collect();
        let sample = SampleSize::default();
        let mut crawl = stored(&sites, CrawlStore::new(kinds, sample), finds_mirrors);
        let number = |name: &str| sites.binary_search_by(|site| (*site.site).cmp(name)).ok();
        let stored: Vec<_> = crawl
            .sites()
            .iter()
            .filter_map(|site| {
                let mirror_of =
                    site.mirror.as_ref().map(|mirror| crawl.sites()[mirror.of as usize].name.clone());
                Some((number(&site.name)?, mirror_of, sample.leaves_out(site.size)))
            })
            .collect();
        // Only some learners leave mirrors out, so there is a corpus of every site.
        crawl.forget_mirrors();
        let corpora: Vec<Corpus> = (0..PARTS)
            .into_par_iter()
            .flat_map_iter(|part| crawl.corpora(part).expect("nothing is put on disk"))
            .map(|(corpus, _)| corpus)
            .collect();
        let corpora: Vec<_> =
            corpora.into_iter().filter_map(|corpus| Some((number(corpus.site())?, corpus))).collect();
        for (number, mirror_of, is_sampled) in stored {
            sites[number].mirror_of = mirror_of;
            sites[number].is_sampled = is_sampled;
        }
        for (number, corpus) in corpora {
            sites[number].corpus = Some(corpus);
        }
        sites
    }
}

/// The training shares of all sites, as one crawl.
fn stored(sites: &[DividedSite], store: CrawlStore, finds_mirrors: bool) -> StoredCrawl {
    let mut store = if finds_mirrors { store.with_mirrors() } else { store };
    for observation in sites.iter().flat_map(|site| &site.training) {
        store
            .observe(observation.url(), &observation.clues(), observation.time())
            .expect("it was parsed before it was saved");
    }
    store.finish().expect("nothing is put on disk")
}

impl SiteBuilder {
    fn new(split: Split, scored_kinds: EvidenceKinds) -> Self {
        Self { ranking: Ranking::new(split), saved: Vec::new(), scored: ScoredUrlsBuilder::new(scored_kinds) }
    }

    /// All but what the learners are given.
    fn finish(self, name: &[u8]) -> DividedSite {
        let urls = self.ranking.len();
        let drawn = self.ranking.drawn();
        let training: Vec<StoredRow> = self
            .saved
            .into_iter()
            .filter(|(hash, _)| drawn.contains(hash))
            .map(|(_, observation)| observation)
            .collect();
        DividedSite {
            site: String::from_utf8_lossy(name).into(),
            urls,
            training,
            corpus: None,
            mirror_of: None,
            is_sampled: false,
            scored: self.scored.finish(&drawn),
        }
    }
}

impl DividedSite {
    /// The registrable domain.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Distinct URLs observed, after safe normalization.
    pub fn urls(&self) -> usize {
        self.urls
    }

    /// The training share, in the order in which it came.
    pub fn training(&self) -> &[StoredRow] {
        &self.training
    }

    /// What is learned from, as learners take it: of a large training share a sample. `None` if chance drew nothing.
    pub fn corpus(&self) -> Option<&Corpus> {
        self.corpus.as_ref()
    }

    /// Whether only a sample of the training share is learned from.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// The site whose pages this one shows and says so, if there is one. Some learners leave such a site out
    /// ([`Learner::leaves_out_mirrors`](dedust_learn::support::Learner::leaves_out_mirrors)).
    pub fn mirror_of(&self) -> Option<&str> {
        self.mirror_of.as_deref()
    }

    /// What is scored.
    pub fn scored(&self) -> &ScoredUrls {
        &self.scored
    }

    /// The counts of doing nothing at all.
    pub fn keep_all(&self, scope: Scope) -> Tally {
        self.scored.tally(scope, |row| self.scored.hash(row))
    }
}
