/*!
What came of one edit: of a rule, a verdict; of an edit that was not proven, also whether it is applied from now on.
*/

use dedust::errors::InvalidSite;
use dedust::rules::{Edit, Outcome, RefusedEdit};

use super::pair::Target;
use super::trial::Trial;

/// What came of one rule.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) site: String,
    pub(super) target: Target,
    pub(super) trial: Trial,
    pub(super) outcome: Outcome,
    /// What becomes of an edit that was not proven.
    pub(super) settled: Option<Settled>,
}

/// What becomes of an unproven edit.
#[derive(Debug)]
pub(super) struct Settled {
    /// What takes its place among the edits that are applied; empty if it stays unproven.
    pub(super) edits: Vec<Edit>,
    /// As it is kept if it stays.
    pub(super) refused: RefusedEdit,
    /// Pages more that the site may lose with it.
    pub(super) lost: u64,
    /// Why it stays.
    pub(super) obstacle: Option<Obstacle>,
}

/// Why an edit stays unproven.
#[derive(Debug)]
pub(super) enum Obstacle {
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
    pub(super) fn outcome(&self) -> Outcome {
        match &self.obstacle {
            None => Outcome::Confirmed,
            Some(Obstacle::Refuted) => Outcome::Refuted,
            Some(_) => Outcome::Unknown,
        }
    }

    /// Pairs of the same page that are missing, if only they are.
    pub(super) fn missing(&self) -> Option<u64> {
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
