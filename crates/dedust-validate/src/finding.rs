/*!
What came of one rule: of a rule, a verdict; of a rule that was not proven, also whether it is applied from now on.
*/

use dedust::errors::InvalidSite;
use dedust::rules::{Outcome, RefusedRule, Rule};

use crate::pair::Target;
use crate::trial::{CanonicalTrial, Trial};

/// What came of one rule.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its site.
    pub site: String,
    /// Its place there.
    pub target: Target,
    /// What was compared.
    pub trial: Trial,
    /// What follows from it.
    pub outcome: Outcome,
    /// What came of its canonical URLs, if it makes any.
    pub canonical: Option<CanonicalTrial>,
    /// What becomes of a rule that was not proven.
    pub settled: Option<Settled>,
}

impl Finding {
    /// What came of the pairs of a rule, before anything else is known of it.
    pub(crate) fn new(site: &str, target: Target, trial: Trial, outcome: Outcome) -> Self {
        Self { site: site.into(), target, trial, outcome, canonical: None, settled: None }
    }
}

/// What becomes of an unproven rule.
#[derive(Clone, Debug)]
pub struct Settled {
    /// What takes its place among the rules that are applied; empty if it stays unproven.
    pub rules: Vec<Rule>,
    /// As it is kept if it stays.
    pub refused: RefusedRule,
    /// Pages more that the site may lose with it.
    pub lost: u64,
    /// Why it stays.
    pub obstacle: Option<Obstacle>,
}

/// Why a rule stays unproven.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// It joins different pages.
    Refuted,
    /// So many pairs of the same page are missing; `None` if they are too many to count.
    Pairs(Option<u64>),
    /// The pages are too few different ones.
    Pages,
    /// It would be made on hosts that were not asked.
    Hosts,
    /// The rules of the site would be refused with it.
    Invalid(InvalidSite),
    /// The rules of the site would not be compiled with it.
    TooLarge,
}

impl Settled {
    /// Confirmed if it is applied from now on.
    pub fn outcome(&self) -> Outcome {
        match &self.obstacle {
            None => Outcome::Confirmed,
            Some(Obstacle::Refuted) => Outcome::Refuted,
            Some(_) => Outcome::Unknown,
        }
    }

    /// Pairs of the same page that are missing, if only they are.
    pub fn missing(&self) -> Option<u64> {
        match self.obstacle {
            Some(Obstacle::Pairs(missing)) => missing,
            _ => None,
        }
    }
}

impl From<InvalidSite> for Obstacle {
    fn from(invalid: InvalidSite) -> Self {
        Self::Invalid(invalid)
    }
}
