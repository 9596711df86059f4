/*!
The one entry point: corpora in, a checked rule set and a report out.
*/

use std::io;
use std::sync::Arc;

use dedust::errors::InvalidSite;
use dedust::rules::{Evidence, Mirror, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet, Scratch};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use crate::canonfd::CanonFd;
use crate::confidence::failure_bound;
use crate::corpus::Corpus;
use crate::crawl_store::{CrawlStore, MirrorSite, PARTS, SampleError, SiteSample, StoredCrawl, StoredSite};
use crate::learner::{LearnSettings, Learner};
use crate::options::{InvalidOption, LearnOptions};
use crate::preference::Preferences;
use crate::progress::Progress;
use crate::recount::Unchecked;
use crate::score::Tally;
use crate::site_report::SiteReport;

/// Learns rules for the sites of a crawl.
///
/// ```
/// use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};
///
/// let mut crawl = Crawl::new(EvidenceKinds::AUTO);
/// for page in 0..40 {
///     for session in [1, 2] {
///         let url = format!("http://example.org/view?id={page}&sid={}", 7919 * page + session);
///         let digest = format!("{page}");
///         crawl.observe(url.as_bytes(), &Clues { digest: Some(digest.as_bytes()), ..Clues::default() })?;
///     }
/// }
/// let training = Trainer::builder().build()?.train(&crawl.into_corpora(), &())?;
/// let normalizer = dedust::Normalizer::compile(&training.rules);
/// assert_eq!(normalizer.key("http://example.org/view?id=7&sid=1234")?, "http://example.org/view?id=7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trainer {
    learner: Arc<dyn Learner>,
    options: LearnOptions,
    preferences: Preferences,
}

/// A learner and options of a [`Trainer`], unchecked.
#[derive(Clone, Debug)]
pub struct TrainerBuilder {
    learner: Arc<dyn Learner>,
    options: LearnOptions,
}

/// What was learned.
#[derive(Clone, Debug, Default)]
pub struct Training {
    /// The rules of all sites.
    pub rules: RuleSet,
    /// One report per site, in the order of their names.
    pub sites: Vec<SiteReport>,
    /// Rules of large sites, of which [`Trainer::train_sample`] has seen a sample alone: [`Trainer::check_sample`] holds them against all
    /// observations. They are not among the rules.
    pub unchecked: Vec<Unchecked>,
}

/// A training that came to nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A learner made rules that do not fit together.
    #[error("the rules learned for `{site}` are refused")]
    Refused {
        /// The registrable domain.
        site: Box<str>,
        /// Why they do not.
        source: InvalidSite,
    },
    /// It was [cancelled](Progress::is_cancelled).
    #[error("the training was cancelled")]
    Cancelled,
}

/// A stored crawl could not be learned from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainStoredError {
    /// Its observations cannot be read back.
    #[error("cannot read the observations put on disk")]
    Read(#[source] io::Error),
    /// Rules do not fit together, or the training was cancelled.
    #[error(transparent)]
    Train(#[from] TrainError),
}

/// A sample of a site could not be learned from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainSampleError {
    /// It is damaged or too small.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Rules do not fit together, or the training was cancelled.
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl Trainer {
    /// Default settings.
    pub fn builder() -> TrainerBuilder {
        TrainerBuilder { learner: Arc::new(CanonFd), options: LearnOptions::default() }
    }

    /// What it was asked for, with the name of its learner.
    pub fn options(&self) -> &LearnOptions {
        &self.options
    }

    /// Whether sites that show the pages of another are looked for.
    pub fn finds_mirrors(&self) -> bool {
        self.learner.leaves_out_mirrors() && !self.options.no_mirrors
    }

    /// A store for the crawl to learn from, without a folder.
    pub fn store(&self) -> CrawlStore {
        let store = CrawlStore::new(self.options.evidence, self.options.sample_size());
        if !self.finds_mirrors() {
            return store;
        }
        let named = self.options.mirror.iter();
        named.fold(store.with_mirrors(), |store, named| {
            store.with_named_mirror(&named.mirror, &named.original)
        })
    }

    /// Nothing learned yet.
    fn training(&self) -> Training {
        let rules = RuleSet::new(self.learner.name()).with_options(self.options.to_json());
        Training { rules, ..Training::default() }
    }

    /// All that was learned of several parts.
    pub fn unite(&self, parts: Vec<Training>) -> Training {
        let mut training = self.training();
        for part in parts {
            training.rules.append(part.rules);
            training.sites.extend(part.sites);
            training.unchecked.extend(part.unchecked);
        }
        training.sites.sort_by(|a, b| a.site.cmp(&b.site));
        training
    }

    /// Learns rules for every corpus, several at a time.
    pub fn train(&self, corpora: &[Corpus], progress: &dyn Progress) -> Result<Training, TrainError> {
        progress.start(corpora.len(), corpora.iter().map(|corpus| corpus.len() as u64).sum());
        let learned: Vec<(SiteReport, SiteRules)> = corpora
            .par_iter()
            .map(|corpus| {
                let (report, rules) = self.train_site(corpus, corpus.len() as u64, progress)?;
                progress.site_done(&report);
                Ok((report, rules))
            })
            .collect::<Result<_, TrainError>>()?;
        let mut training = self.training();
        for (report, rules) in learned {
            training.insert(report, rules)?;
        }
        Ok(training)
    }

    /// Learns rules for every site of a stored crawl, several parts at a time.
    pub fn train_stored(
        &self,
        crawl: &StoredCrawl,
        progress: &dyn Progress,
    ) -> Result<Training, TrainStoredError> {
        self.train_parts(crawl, progress, |part| self.train_part(crawl, part, progress))
    }

    /// Like [`Trainer::train_stored`], where the caller says what is learned of each of the [`PARTS`]: by [`Trainer::train_part`], or
    /// before.
    pub fn train_parts<E: Send>(
        &self,
        crawl: &StoredCrawl,
        progress: &dyn Progress,
        train_part: impl Fn(usize) -> Result<Training, E> + Send + Sync,
    ) -> Result<Training, E> {
        progress.start(crawl.sites().len(), crawl.rows());
        let learned = (0..PARTS).into_par_iter().map(train_part);
        Ok(self.unite(learned.collect::<Result<_, _>>()?))
    }

    /// Learns rules for the sites of one of the [`PARTS`] of a stored crawl, one after the other.
    pub fn train_part(
        &self,
        crawl: &StoredCrawl,
        part: usize,
        progress: &dyn Progress,
    ) -> Result<Training, TrainStoredError> {
        let mut training = self.training();
        for (site, mirror, original) in crawl.mirrors(part) {
            let (report, rules) = mirror_report(site, mirror, original)?;
            progress.site_done(&report);
            training.insert(report, rules)?;
        }
        for (corpus, size) in crawl.corpora(part).map_err(TrainStoredError::Read)? {
            self.train_sampled(&corpus, size.rows, crawl.scale(size), progress, &mut training)?;
        }
        let unchecked = std::mem::take(&mut training.unchecked);
        for (unchecked, corpus, share) in
            crawl.drawn_by_keys(part, unchecked).map_err(TrainStoredError::Read)?
        {
            check(unchecked, &corpus, share, progress, &mut training)?;
        }
        Ok(training)
    }

    /// Learns the rules of one site, of which a sample is known if there is a scale.
    fn train_sampled(
        &self,
        corpus: &Corpus,
        observations: u64,
        scale: Option<f64>,
        progress: &dyn Progress,
        training: &mut Training,
    ) -> Result<(), TrainError> {
        let (report, rules) = self.train_site(corpus, observations, progress)?;
        match scale.filter(|_| !rules.is_empty()) {
            Some(scale) => training.unchecked.push(Unchecked::new(corpus, report, rules, scale)),
            None => {
                progress.site_done(&report);
                training.insert(report, rules)?;
            }
        }
        Ok(())
    }

    /// Learns the rules of one site from a sample that several processes have drawn. Those of a large site are
    /// [`Training::unchecked`] until [`Trainer::check_sample`] makes them those of [`Trainer::train_stored`].
    pub fn train_sample(
        &self,
        sample: SiteSample,
        progress: &dyn Progress,
    ) -> Result<Training, TrainSampleError> {
        let mut training = self.training();
        let (observations, scale) = (sample.observations(), sample.scale());
        if let Some(corpus) = sample.into_corpus()? {
            self.train_sampled(&corpus, observations, scale, progress, &mut training)?;
        }
        Ok(training)
    }

    /// Holds the rules of a large site against all of its observations, of which several processes have drawn those that tell
    /// ([`Stage::Check`](crate::support::Stage::Check)).
    pub fn check_sample(
        &self,
        sample: SiteSample,
        progress: &dyn Progress,
    ) -> Result<Training, TrainSampleError> {
        let mut training = self.training();
        if let Some((unchecked, corpus, share)) = sample.into_check()? {
            check(unchecked, &corpus, share, progress, &mut training)?;
        }
        Ok(training)
    }

    /// The rules of those of the sites that show the pages of another of them.
    pub fn train_mirrors(&self, sites: &[StoredSite]) -> Result<Training, TrainError> {
        let mut training = self.training();
        for site in sites {
            if let Some(mirror) = &site.mirror
                && let Some(original) = sites.get(mirror.of as usize)
            {
                let (report, rules) = mirror_report(site, mirror, original)?;
                training.insert(report, rules)?;
            }
        }
        Ok(training)
    }

    fn train_site(
        &self,
        corpus: &Corpus,
        observations: u64,
        progress: &dyn Progress,
    ) -> Result<(SiteReport, SiteRules), TrainError> {
        if progress.is_cancelled() {
            return Err(TrainError::Cancelled);
        }
        let refused = |source| TrainError::Refused { site: corpus.site().into(), source };
        let preferred = self.preferences.of(corpus.site());
        let settings = LearnSettings { preferred, ..self.options.settings() };
        let learned = self.learner.learn(corpus, &settings, progress);
        let unmet = learned.unmet.clone();
        let summary = SiteSummary {
            urls: corpus.len() as u64,
            labelled: corpus.labelled_count() as u64,
            pages: corpus.page_count() as u64,
            raw_rules: learned.raw_rules as u64,
            qualified_rules: learned.qualified_rules as u64,
            promise: learned.promise,
            canonical: learned.canonical,
        };
        let rules = learned.into_rules(summary).map_err(refused)?;
        let mut alone = RuleSet::new(self.learner.name());
        alone.insert(corpus.site(), rules.clone()).map_err(refused)?;
        let report = report(corpus, &rules, &Normalizer::compile(&alone));
        Ok((SiteReport { observations, unmet, ..report }, rules))
    }
}

impl Training {
    fn insert(&mut self, report: SiteReport, rules: SiteRules) -> Result<(), TrainError> {
        let refused = |source| TrainError::Refused { site: report.site.clone(), source };
        self.rules.insert(&report.site, rules).map_err(refused)?;
        self.sites.push(report);
        Ok(())
    }
}

/// Adds the rules of a large site that hold in a share of its keys.
fn check(
    unchecked: Unchecked,
    drawn: &Corpus,
    share: f64,
    progress: &dyn Progress,
    training: &mut Training,
) -> Result<(), TrainError> {
    let of_sample = unchecked.report.clone();
    let refused = |source| TrainError::Refused { site: of_sample.site.clone(), source };
    let (rules, are_all) = unchecked.held_against(drawn, share).map_err(refused)?;
    let report = if are_all {
        of_sample
    } else {
        // What the sample says of rules that are not made any more is of no use.
        let mut alone = RuleSet::new("");
        alone.insert(drawn.site(), rules.clone()).map_err(refused)?;
        let SiteReport { observations, unmet, .. } = of_sample;
        SiteReport { observations, unmet, ..report(drawn, &rules, &Normalizer::compile(&alone)) }
    };
    progress.site_done(&report);
    training.insert(report, rules)
}

/// What is said of a mirror.
fn mirror_report(
    site: &StoredSite,
    mirror: &MirrorSite,
    original: &StoredSite,
) -> Result<(SiteReport, SiteRules), TrainError> {
    let evidence = Evidence {
        urls: site.size.rows,
        support_pairs: mirror.paths,
        false_pairs: mirror.failures,
        groups: mirror.paths,
        failed_groups: mirror.failures,
        failure_bound: failure_bound(mirror.failures, mirror.paths),
        ..Evidence::default()
    };
    let rules = SiteRules::from(Mirror {
        of: original.name.clone(),
        except: mirror.except.clone(),
        fetchable: mirror.is_covered,
        evidence,
        ..Mirror::default()
    });
    let report = SiteReport {
        site: site.name.clone(),
        mirror_of: Some(original.name.clone()),
        observations: site.size.rows,
        urls: site.size.rows as usize,
        labelled: 0,
        pages: 0,
        rules: rules.len(),
        saved: mirror.covered as usize,
        saved_without_rules: 0,
        score: Tally::default().score(),
        unmet: Vec::new(),
    };
    Ok((report, rules))
}

/// What the rules of a site do to its URLs.
fn report(corpus: &Corpus, rules: &SiteRules, normalizer: &Normalizer) -> SiteReport {
    let mut scratch = Scratch::default();
    let mut keys_by = |normalizer: &Normalizer| -> Vec<u128> {
        let urls = (0..corpus.len() as u32).map(|row| corpus.url(row));
        urls.map(|url| xxh3_128(normalizer.key_with(url, &mut scratch).unwrap_or(url))).collect()
    };
    let keys = keys_by(normalizer);
    let safe_keys = if rules.is_empty() { keys.clone() } else { keys_by(&Normalizer::default()) };
    let labels = (0..corpus.len() as u32).map(|row| corpus.label(row));
    let labelled: Vec<(u128, u32)> =
        keys.iter().zip(labels).filter_map(|(&key, label)| Some((key, label?))).collect();
    let count_distinct = |mut values: Vec<u128>| {
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    SiteReport {
        site: corpus.site().into(),
        mirror_of: None,
        observations: corpus.len() as u64,
        urls: corpus.len(),
        labelled: labelled.len(),
        pages: count_distinct(labelled.iter().map(|&(_, label)| label.into()).collect()),
        rules: rules.len(),
        saved: corpus.len() - count_distinct(keys),
        saved_without_rules: corpus.len() - count_distinct(safe_keys),
        score: Tally::count(labelled).score(),
        unmet: Vec::new(),
    }
}

impl TrainerBuilder {
    /// The learner. Default: [`CanonFd`].
    #[must_use]
    pub fn learner(self, learner: impl Learner + 'static) -> Self {
        Self { learner: Arc::new(learner), ..self }
    }

    /// What is asked for. Its method is that of the learner.
    #[must_use]
    pub fn options(self, options: LearnOptions) -> Self {
        Self { options, ..self }
    }

    /// Checks the options.
    pub fn build(self) -> Result<Trainer, InvalidOption> {
        let Self { learner, options } = self;
        let mut options = LearnOptions { method: learner.name().into(), ..options };
        // In any order they say the same, so that rules are the same, too.
        options.prefer.sort();
        options.prefer.dedup();
        options.mirror.sort();
        options.mirror.dedup();
        options.check()?;
        Ok(Trainer { learner, preferences: options.preferences()?, options })
    }
}
