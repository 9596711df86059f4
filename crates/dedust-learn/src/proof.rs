/*!
How much proof is asked for before a rule is believed.
*/

use serde::{Deserialize, Serialize};

use crate::thresholds;

/// How much proof is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mode {
    /// By the groups that are held out alone, and whatever is known of such rules: at most 5 % of votes fail, and no rule
    /// loses more than its part of the pages.
    Strict,
    /// At most 5 % of votes fail, by what is known of such rules and all votes, with 95 % confidence; up to 15 % for rules
    /// that are known to be right elsewhere or can do little harm, and more where labels are provably wrong.
    #[default]
    Balanced,
    /// Few false votes, however few votes there are: as in the papers.
    Paper,
}

impl Mode {
    /// All modes, the most careful first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Balanced, Self::Paper];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Balanced => "balanced",
            Self::Paper => "paper",
        }
    }
}

/// How much proof is asked for, in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proof {
    /// What counts as proof.
    pub mode: Mode,
    /// The share of the pages of a site that one rule may lose. Default: 0.005.
    pub max_loss: f64,
    /// Whether all hosts of a registrable domain are taken to have one owner, so that what they show is enough to join them.
    /// Otherwise hosts are joined only if they lead to each other. Default: no.
    pub trusts_hosts: bool,
}

impl Default for Proof {
    fn default() -> Self {
        Self { mode: Mode::default(), max_loss: thresholds::proof::MAX_LOSS, trusts_hosts: false }
    }
}
