/*!
Rules: a [`Pattern`] that says which URLs, a [`Rewrite`] that says what to make of them, and the [`Evidence`]
that says why to trust it.
*/

mod evidence;
mod file;
mod rewrite;
mod set;

pub use evidence::{Evidence, Example};
pub use file::{FORMAT_VERSION, LoadRulesError};
pub use rewrite::{Op, Rewrite};
pub use set::{InvalidRule, InvalidSite, RuleSet, SiteRules, SiteSummary, find_cycle};

use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;

/// A proven way to bring a group of a site's URLs to one form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Which URLs it covers.
    pub pattern: Pattern,
    /// What it makes of them.
    pub rewrite: Rewrite,
    /// Why it is trusted.
    pub evidence: Evidence,
}

impl Rule {
    /// Whether the rule leaves every URL in its own form and only forgets values: no key moves or appears.
    pub fn is_in_place(&self) -> bool {
        self.pattern.keys().count() == self.rewrite.ops().count()
            && self.rewrite.ops().all(|(key, op)| match op {
                Op::Keep(value) => {
                    matches!(self.pattern.get(key), Some(crate::pattern::ValuePattern::Is(is)) if is == value)
                }
                Op::Copy(from) => from == key,
                Op::Ignore => self.pattern.get(key).is_some(),
            })
    }
}
