/*!
How much of a crawl is enough: rules learned from growing shares of it, each scored on all of it.

Takes observations, and gives one [`SiteCurve`] per site. Shares are drawn, learned from and scored as [`compare`](super::compare()) does; a
larger share holds every smaller one.
*/

use dedust::ParsedUrl;
use dedust::errors::ParseUrlError;
use dedust::rules::Promise;
use dedust_learn::support::{LearnSettings, Learner, StoredRow};
use dedust_learn::{Clues, EvidenceKinds};
use rayon::prelude::*;

use super::RefusedRules;
use super::measure;
use super::sample::{DividedSite, Sample};
use super::split::{Draw, Split};
use crate::metrics::Tally;

/// The shares that a curve has points at.
const SHARES: [f64; 4] = [0.1, 0.3, 0.6, 1.0];

/// Observations to learn from in growing shares.
#[derive(Debug)]
pub struct CurveSample {
    kinds: EvidenceKinds,
    observations: Vec<StoredRow>,
    url: ParsedUrl,
}

/// The curve of one site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteCurve {
    /// The registrable domain.
    pub site: Box<str>,
    /// From the smallest share to all.
    pub points: Vec<CurvePoint>,
}

/// What was learned from one share of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The share of the URLs, up to 1.
    pub share: f64,
    /// URLs that were learned from, after safe normalization.
    pub urls: u64,
    /// Rules that were learned.
    pub rules: u64,
    /// What these make of all URLs of the site whose pages are known, by key.
    pub whole: Tally,
    /// What they are expected to lose at most, if the learner says so.
    pub promise: Option<Promise>,
}

impl CurveSample {
    /// A sample whose labels, those to learn from and those to score by, come from these kinds of evidence.
    pub fn new(kinds: EvidenceKinds) -> Self {
        Self { kinds, observations: Vec::new(), url: ParsedUrl::default() }
    }

    /// Adds one URL with what is known of it.
    pub fn observe(
        &mut self,
        url: &[u8],
        clues: &Clues<'_>,
        time: Option<&[u8]>,
    ) -> Result<(), ParseUrlError> {
        self.url.parse_from(url)?;
        self.observations.push(StoredRow::new(url, clues, time));
        Ok(())
    }

    /// The number of observations, which are in memory.
    pub fn len(&self) -> usize {
        self.observations.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.observations.is_empty()
    }

    /// Learns from every share of every site that has labelled URLs. Sites come in the order of their names.
    ///
    /// ```
    /// use dedust_eval::compare::CurveSample;
    /// use dedust_learn::{Clues, EvidenceKinds};
    /// use dedust_learn::support::{CanonFd, LearnSettings};
    ///
    /// let mut sample = CurveSample::new(EvidenceKinds::AUTO);
    /// for at in 0..600 {
    ///     let digest = format!("{}", at / 3);
    ///     let clues = Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
    ///     sample.observe(format!("http://a.example/p?id={digest}&sid={at}").as_bytes(), &clues, None)?;
    /// }
    /// let curves = sample.learn(&CanonFd, &LearnSettings::default())?;
    /// let [first, .., last] = &*curves[0].points else { return Err("no points".into()) };
    /// assert!(first.urls < last.urls && last.urls == 600);
    /// // Each page is left with one key.
    /// assert_eq!((last.whole.canonical, last.whole.covered), (200, 200));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn learn(
        &self,
        learner: &dyn Learner,
        settings: &LearnSettings,
    ) -> Result<Vec<SiteCurve>, RefusedRules> {
        let mut curves: Vec<SiteCurve> = Vec::new();
        for share in SHARES {
            let points = self
                .divided(share)
                .par_iter()
                .filter(|site| !site.scored().is_empty())
                .map(|site| Ok((site.site().into(), point(site, share, learner, settings)?)))
                .collect::<Result<Vec<(Box<str>, CurvePoint)>, RefusedRules>>()?;
            // What is scored does not depend on the share, so that all shares have the same sites.
            curves.resize_with(points.len(), || SiteCurve { site: "".into(), points: Vec::new() });
            for (curve, (site, point)) in curves.iter_mut().zip(points) {
                curve.site = site;
                curve.points.push(point);
            }
        }
        Ok(curves)
    }

    /// All sites, with this share of each to learn from.
    fn divided(&self, share: f64) -> Vec<DividedSite> {
        let split = Split::new(Draw::Random { seed: 0 }, share, usize::MAX).expect("shares are above 0");
        let mut sample = Sample::new(split, self.kinds);
        for observation in &self.observations {
            sample
                .observe(observation.url(), &observation.clues(), observation.time())
                .expect("it was parsed before it was saved");
        }
        sample.into_sites()
    }
}

fn point(
    site: &DividedSite,
    share: f64,
    learner: &dyn Learner,
    settings: &LearnSettings,
) -> Result<CurvePoint, RefusedRules> {
    let learned = measure::learn(site, learner, settings)?;
    let (rules, promise) = (learned.counts.deployed, learned.promise);
    let normalizer = measure::normalizer(site, learner, learned.rules)?;
    let [_, whole] = measure::score(site, learner, &normalizer);
    let urls = site.corpus().map_or(0, |corpus| corpus.len() as u64);
    Ok(CurvePoint { share, urls, rules, whole: whole.key, promise })
}
