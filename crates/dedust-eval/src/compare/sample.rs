/*!
Takes observations of any number of sites and divides each site into what is learned from and what is scored.
*/

use std::collections::BTreeMap;

use dedust::errors::ParseUrlError;
use dedust::{ParsedUrl, site_of};
use dedust_learn::{Clues, Corpus, Crawl, EvidenceKind, EvidenceKinds};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::observation::SavedObservation;
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
    sites: BTreeMap<Box<[u8]>, SiteBuilder>,
    url: ParsedUrl,
}

#[derive(Debug)]
struct SiteBuilder {
    ranking: Ranking,
    saved: Vec<(u128, SavedObservation)>,
    scored: ScoredUrlsBuilder,
}

/// One site, divided.
#[derive(Debug)]
pub struct SiteSample {
    site: Box<str>,
    urls: usize,
    training: Vec<SavedObservation>,
    corpus: Option<Corpus>,
    scored: ScoredUrls,
}

impl Sample {
    /// A sample whose labels, those to learn from and those to score by, come from these kinds of evidence.
    pub fn new(split: Split, kinds: EvidenceKinds) -> Self {
        Self { split, kinds, has_truth: false, sites: BTreeMap::new(), url: ParsedUrl::default() }
    }

    /// A sample to learn from as observed, and to score by what [`Sample::observe_truth`] is told.
    pub fn with_truth(split: Split, kinds: EvidenceKinds) -> Self {
        Self { has_truth: true, ..Self::new(split, kinds) }
    }

    /// Adds one URL with what is known of it, as [`Crawl::observe_at`] does. Labels to score by take link targets
    /// as written, as [`crate::Evaluator`] does.
    pub fn observe(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        let Self { split, kinds, has_truth, sites, url: parsed } = self;
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
            site.saved.push((hash, SavedObservation::new(url, clues, time)));
        }
        if !*has_truth {
            site.scored.observe(url, safe, clues);
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
    pub fn into_sites(self) -> Vec<SiteSample> {
        let kinds = self.kinds;
        let sites: Vec<_> = self.sites.into_iter().collect();
        sites.into_par_iter().map(|(name, site)| site.finish(&name, kinds)).collect()
    }
}

impl SiteBuilder {
    fn new(split: Split, scored_kinds: EvidenceKinds) -> Self {
        Self { ranking: Ranking::new(split), saved: Vec::new(), scored: ScoredUrlsBuilder::new(scored_kinds) }
    }

    fn finish(self, name: &[u8], kinds: EvidenceKinds) -> SiteSample {
        let urls = self.ranking.len();
        let drawn = self.ranking.drawn();
        let training: Vec<SavedObservation> = self
            .saved
            .into_iter()
            .filter(|(hash, _)| drawn.contains(hash))
            .map(|(_, observation)| observation)
            .collect();
        let mut crawl = Crawl::new(kinds);
        for observation in &training {
            crawl
                .observe_at(observation.url(), &observation.clues(), observation.time())
                .expect("it was parsed before it was saved");
        }
        SiteSample {
            site: String::from_utf8_lossy(name).into(),
            urls,
            training,
            corpus: crawl.into_corpora().pop(),
            scored: self.scored.finish(&drawn),
        }
    }
}

impl SiteSample {
    /// The registrable domain.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Distinct URLs observed, after safe normalization.
    pub fn urls(&self) -> usize {
        self.urls
    }

    /// What is learned from, in the order in which it came.
    pub fn training(&self) -> &[SavedObservation] {
        &self.training
    }

    /// What is learned from, as methods take it; `None` if chance drew nothing.
    pub fn corpus(&self) -> Option<&Corpus> {
        self.corpus.as_ref()
    }

    /// What is scored.
    pub fn scored(&self) -> &ScoredUrls {
        &self.scored
    }

    /// The counts of doing nothing at all.
    pub fn keep_all(&self, scope: Scope) -> Tally {
        let scored = &self.scored;
        Tally::count(scored.rows(scope).map(|row| (scored.hash(row), scored.label(row))))
    }
}
