/*!
All methods on all sites, and the averages over sites.
*/

use std::sync::Arc;
use std::time::Duration;

use dedust_learn::support::{LearnSettings, Learner};
use rayon::prelude::*;
use serde::Serialize;

use super::RefusedRules;
use super::measure::{self, Row};
use super::sample::DividedSite;
use super::scored::Scope;
use crate::metrics::{MacroAverage, Score, Tally};

/// How long keys are made, all sites together, to tell how long one takes.
const TIMED: Duration = Duration::from_millis(50);

/// All methods on all sites.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Sites in the order of their names, methods in the order asked for.
    pub rows: Vec<Row>,
}

/// How many rules a method made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleCounts {
    /// Candidates before any check.
    #[serde(rename = "raw_rules")]
    pub raw: u64,
    /// Candidates that merged few enough different pages.
    #[serde(rename = "qualified_rules")]
    pub qualified: u64,
    /// Rules that are used.
    #[serde(rename = "rules")]
    pub deployed: u64,
}

/// What a method took for all sites.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// How many rules it made.
    pub rules: RuleCounts,
    /// CPU seconds to learn.
    pub learn_seconds: f64,
    /// CPU time for the key of one URL, the mean over URLs.
    pub nanoseconds_per_url: f64,
}

/// The figures of one method, of one site or averaged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// [`Score::compression`] by key.
    pub compression: f64,
    /// [`Score::achievable`].
    pub achievable: f64,
    /// [`Score::dup_reduction`] by key; `None` where nothing was duplicated.
    pub dup_reduction: Option<f64>,
    /// [`Score::fpr`] by key.
    pub fpr: f64,
    /// [`Score::precision`] by key.
    pub precision: f64,
    /// [`Score::recall`] by key.
    pub recall: f64,
    /// [`Score::f1`] by key.
    pub f1: f64,
    /// [`Score::f1`] by canonical URL.
    pub url_f1: f64,
}

/// Learns with every learner from every site's training share, several at a time, and scores the results. `done` is
/// called after each learner on each site, from any thread.
pub fn compare(
    sites: &[DividedSite],
    learners: &[Arc<dyn Learner>],
    settings: &LearnSettings,
    done: &(dyn Fn() + Sync),
) -> Result<Comparison, RefusedRules> {
    let tasks: Vec<(&DividedSite, &dyn Learner)> =
        sites.iter().flat_map(|site| learners.iter().map(move |learner| (site, &**learner))).collect();
    let timed = TIMED / u32::try_from(sites.len().max(1)).unwrap_or(u32::MAX);
    let rows = tasks
        .into_par_iter()
        .map(|(site, learner)| {
            let learned = measure::learn(site, learner, settings)?;
            let normalizer = measure::normalizer(site, learner, learned.rules)?;
            let [unseen, whole] = measure::score(site, learner, &normalizer);
            let (nanoseconds_per_url, timed_urls) = measure::time(site, learner, &normalizer, timed);
            done();
            Ok(Row {
                site: site.site().into(),
                method: learner.name(),
                rules: learned.counts,
                learn_seconds: learned.seconds,
                nanoseconds_per_url,
                timed_urls,
                unseen,
                whole,
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(Comparison { rows })
}

impl Comparison {
    /// The rows of the method of this name, in the order of the sites' names.
    pub fn of<'c>(&'c self, method: &str) -> impl Iterator<Item = &'c Row> {
        self.rows.iter().filter(move |row| row.method == method)
    }

    /// All URLs of all sites pooled.
    pub fn micro(&self, method: &str, scope: Scope) -> Figures {
        let sum =
            |tally: fn(&Row, Scope) -> Tally| self.of(method).map(|row| tally(row, scope)).sum::<Tally>();
        let key = sum(|row, scope| row.measured(scope).key);
        let url = sum(|row, scope| row.measured(scope).url);
        Figures::new(&key.score(), &url.score())
    }

    /// The mean over those sites that have URLs in the scope.
    pub fn macro_average(&self, method: &str, scope: Scope) -> Figures {
        let measured =
            self.of(method).map(|row| row.measured(scope)).filter(|measured| measured.key.urls > 0);
        let (keys, urls): (Vec<Score>, Vec<Score>) =
            measured.map(|measured| (measured.key.score(), measured.url.score())).unzip();
        Figures::mean(&MacroAverage::of(&keys), &MacroAverage::of(&urls))
    }

    /// What a method took for all sites.
    pub fn costs(&self, method: &str) -> Costs {
        let mut costs = Costs::default();
        let mut timed_urls = 0;
        for row in self.of(method) {
            costs.rules += row.rules;
            costs.learn_seconds += row.learn_seconds;
            costs.nanoseconds_per_url += row.nanoseconds_per_url * row.timed_urls as f64;
            timed_urls += row.timed_urls;
        }
        costs.nanoseconds_per_url /= timed_urls.max(1) as f64;
        costs
    }
}

impl RuleCounts {
    /// Qualified rules / raw rules; `None` if there are none.
    pub fn qualified_rate(&self) -> Option<f64> {
        (self.raw > 0).then(|| self.qualified as f64 / self.raw as f64)
    }
}

impl std::ops::AddAssign for RuleCounts {
    fn add_assign(&mut self, other: Self) {
        self.raw += other.raw;
        self.qualified += other.qualified;
        self.deployed += other.deployed;
    }
}

impl Figures {
    /// The figures of one set of URLs, by key and by canonical URL.
    pub fn new(key: &Score, url: &Score) -> Self {
        Self {
            compression: key.compression,
            achievable: key.achievable,
            dup_reduction: key.dup_reduction,
            fpr: key.fpr,
            precision: key.precision,
            recall: key.recall,
            f1: key.f1,
            url_f1: url.f1,
        }
    }

    fn mean(key: &MacroAverage, url: &MacroAverage) -> Self {
        Self {
            compression: key.compression,
            achievable: key.achievable,
            dup_reduction: key.dup_reduction,
            fpr: key.fpr,
            precision: key.precision,
            recall: key.recall,
            f1: key.f1,
            url_f1: url.f1,
        }
    }
}
