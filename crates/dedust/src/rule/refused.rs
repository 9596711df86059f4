/*!
Rules that were considered and not believed, and what was learned of them since.

They are not applied. `dedust explain` shows them, and `dedust validate --unproven` fetches pages to settle those that lack
nothing but votes: one that holds becomes a [`Rule`], the others keep what was found in [`Fetched`].
*/

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Change, Evidence, Rule, Spot, Test, Verdict, unique_keys};

/// A rule that was considered and not believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedRule {
    /// What would have to be true of a URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique_keys")]
    pub when: BTreeMap<Spot, Test>,
    /// What would be changed.
    pub change: Vec<Change>,
    /// Why it is not made.
    pub reason: Box<str>,
    /// Votes on it.
    pub votes: u64,
    /// Those of them against it.
    pub against: u64,
    /// Votes for it that are missing before it would be applied, with no more against it. `None` where votes would not help:
    /// it was seen to fail, or always shows the same few pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// How many fewer forms the training URLs would have with it, if its learner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<u64>,
    /// What fetching pages said about it, if that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Fetched>,
}

/// What fetching pages has said so far about a rule that is not applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetched {
    /// Pairs of URLs that were compared, in all runs.
    pub verdict: Verdict,
    /// Pairs of the same page that are missing before it would be applied, with no more different ones; `None` if it was
    /// refuted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Hashes of the groups of URLs that were compared, sorted, so that no group is counted twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u32>,
    /// Those of the groups that hold more than one page.
    #[serde(default)]
    pub failed_groups: u64,
    /// Distinct pages of the groups that hold one page: the most that one run has seen.
    #[serde(default)]
    pub pages: u64,
}

impl RefusedRule {
    /// The rule as it would be made, in keys only.
    pub fn to_rule(&self, evidence: Evidence) -> Rule {
        Rule { when: self.when.clone(), change: self.change.clone(), evidence, ..Rule::default() }
    }
}
