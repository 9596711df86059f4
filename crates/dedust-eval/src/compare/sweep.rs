/*!
The same comparison for several limits on the share of false pairs of a rule: figures 10 to 12 of Lei et al.
*/

use std::sync::Arc;

use dedust_learn::support::{LearnSettings, Learner};
use rayon::prelude::*;

use super::comparison::{Comparison, RuleCounts};
use super::measure::{self, Measured, Row};
use super::sample::DividedSite;
use super::scored::Scope;
use super::{Figures, RefusedRules};

/// The limits of the paper: 0, 0.01, ... 0.1.
pub const SWEPT_RATES: [f64; 11] = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1];

/// All sites, learned with one method and one limit.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    /// The name of the method.
    pub method: &'static str,
    /// The limit.
    pub max_false_pair_rate: f64,
    /// How many rules it made.
    pub rules: RuleCounts,
    comparison: Comparison,
}

impl SweepPoint {
    /// All URLs of all sites pooled.
    pub fn micro(&self, scope: Scope) -> Figures {
        self.comparison.micro(self.method, scope)
    }

    /// The mean over sites.
    pub fn macro_average(&self, scope: Scope) -> Figures {
        self.comparison.macro_average(self.method, scope)
    }
}

/// Learns again with every learner for every limit. `done` is called after each learner on each site, from any thread.
///
/// Points come in the order of learners, then of limits.
pub fn sweep(
    sites: &[DividedSite],
    learners: &[Arc<dyn Learner>],
    rates: &[f64],
    done: &(dyn Fn() + Sync),
) -> Result<Vec<SweepPoint>, RefusedRules> {
    let tasks: Vec<(&dyn Learner, &DividedSite)> =
        learners.iter().flat_map(|learner| sites.iter().map(move |site| (&**learner, site))).collect();
    let rows: Vec<Vec<Row>> = tasks
        .into_par_iter()
        .map(|(learner, site)| {
            let rows = sweep_site(site, learner, rates);
            done();
            rows
        })
        .collect::<Result<_, _>>()?;
    let mut points = Vec::new();
    for (learner, of_learner) in learners.iter().zip(rows.chunks(sites.len().max(1))) {
        for (at, &rate) in rates.iter().enumerate() {
            let comparison = Comparison { rows: of_learner.iter().map(|rows| rows[at].clone()).collect() };
            points.push(SweepPoint {
                method: learner.name(),
                max_false_pair_rate: rate,
                rules: comparison.costs(learner.name()).rules,
                comparison,
            });
        }
    }
    Ok(points)
}

fn sweep_site(site: &DividedSite, learner: &dyn Learner, rates: &[f64]) -> Result<Vec<Row>, RefusedRules> {
    let mut rows: Vec<Row> = Vec::new();
    let mut scored: Option<(_, [Measured; 2])> = None;
    for &rate in rates {
        let learned =
            measure::learn(site, learner, &LearnSettings::default().with_max_false_pair_rate(rate))?;
        // Most limits change nothing at most sites: the same rules need not be scored again.
        let known = scored.as_ref().filter(|(rules, _)| *rules == learned.rules).map(|(_, known)| *known);
        let [unseen, whole] = match known {
            Some(known) => known,
            None => {
                let normalizer = measure::normalizer(site, learner, learned.rules.clone())?;
                measure::score(site, learner, &normalizer)
            }
        };
        scored = Some((learned.rules, [unseen, whole]));
        rows.push(Row {
            site: site.site().into(),
            method: learner.name(),
            rules: learned.counts,
            learn_seconds: learned.seconds,
            nanoseconds_per_url: 0.0,
            timed_urls: 0,
            unseen,
            whole,
        });
    }
    Ok(rows)
}
