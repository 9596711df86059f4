/*!
Puts methods side by side: all learn from the same share of every site, and are scored on the same URLs.

1. A [`Sample`] takes observations, and labelled URLs if the truth is known from elsewhere, and becomes one
   [`DividedSite`] per site: what may be learned from, read as `dedust learn` reads a crawl, and what is scored.
2. [`compare`] learns with every [`Learner`](dedust_learn::support::Learner) from every site's share and gives a [`Comparison`]: one [`Row`] per site and
   method, with averages on demand.
3. [`sweep`] does so for several limits on the false pairs of a rule, as in section 6 of Lei et al., WWW 2010.
4. A [`CurveSample`] learns from growing shares of each site.

Every figure comes in two scopes (see [`Scope`]): the paper scores on the whole, which contains what was learned from;
the unseen rest does not. Prints and draws nothing.
*/

mod comparison;
mod learning_curve;
mod measure;
mod sample;
mod scored;
mod split;
mod sweep;

#[cfg(test)]
mod tests;

pub use comparison::{Comparison, Costs, Figures, RuleCounts, compare};
pub use learning_curve::{CurvePoint, CurveSample, SiteCurve};
pub use measure::{Measured, Row};
pub use sample::{DividedSite, Sample};
pub use scored::{Scope, ScoredUrls};
pub use split::{Draw, InvalidSplit, Split};
pub use sweep::{SWEPT_RATES, SweepPoint, sweep};

use dedust::errors::InvalidSite;

/// A learner made rules that do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the rules that {method} learned for `{site}` are refused")]
pub struct RefusedRules {
    /// The registrable domain.
    pub site: Box<str>,
    /// The name of the method.
    pub method: &'static str,
    /// What is wrong with its rules.
    pub source: InvalidSite,
}
