/*!
Rules: a [`Pattern`] that says which URLs, a [`Rewrite`] that says what to make of them, and the [`Evidence`]
that says why to trust it.
*/

mod atom;
mod check;
mod cycle;
mod edit;
mod evidence;
mod file;
mod limits;
mod mirror;
mod refused;
mod rewrite;
mod set;
mod spelling;
mod substitution;
mod unique_keys;
mod verdict;

pub use atom::Atom;
pub use check::InvalidRule;
pub(crate) use cycle::feeds;
pub use cycle::find_cycle;
pub use edit::{Area, Change, Count, Edit, PathPart, Source, Spelling, Spot, Test};
pub use evidence::{Evidence, Example, Promise, Trust};
pub(crate) use file::each_site;
pub use file::{FORMAT_VERSION, LoadRulesError};
pub use limits::DEFAULT_RULES_MEMORY;
pub use mirror::Mirror;
pub use refused::{Fetched, RefusedEdit};
pub use rewrite::{Mapped, Op, Part, Rewrite};
pub use set::{InvalidSite, RuleSet, SiteRules, SiteSummary};
pub(crate) use spelling::Composer;
pub use substitution::{MAX_PASSES, Substitution};
pub(crate) use substitution::{Replacement, substitute};
pub(crate) use unique_keys::unique_keys;
pub use verdict::{Outcome, Verdict};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pattern::{Pattern, ValuePattern};
use crate::url::{TokenKey, Value};

/// A proven way to bring a group of a site's URLs to one form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which URLs it covers.
    pub pattern: Pattern,
    /// What it does with query parameters that the pattern does not name.
    #[serde(default, skip_serializing_if = "OtherParams::is_refuse")]
    pub other_params: OtherParams,
    /// What it makes of them.
    pub rewrite: Rewrite,
    /// Why it is trusted.
    pub evidence: Evidence,
}

/// What a rule does with query parameters of which nothing was learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OtherParams {
    /// A URL that has any is not covered.
    #[default]
    Refuse,
    /// They are passed through as they are.
    Keep,
}

impl OtherParams {
    fn is_refuse(&self) -> bool {
        *self == Self::Refuse
    }
}

impl Rule {
    /// Whether a URL with these pairs is covered.
    pub fn covers(&self, tokens: &BTreeMap<TokenKey, Value>) -> bool {
        match self.other_params {
            OtherParams::Refuse => self.pattern.matches(tokens),
            OtherParams::Keep => {
                let is_other = |key: &TokenKey| self.is_other_param(key);
                let named = tokens.iter().filter(|(key, _)| !is_other(key));
                self.pattern.matches(&named.map(|(key, value)| (key.clone(), value.clone())).collect())
            }
        }
    }

    /// Whether `key` is a query parameter that the rule passes through.
    pub(crate) fn is_other_param(&self, key: &TokenKey) -> bool {
        self.other_params == OtherParams::Keep
            && matches!(key, TokenKey::QueryParam(_))
            && self.pattern.get(key).is_none()
    }

    /// Whether the rule leaves every URL in its own form and only forgets values: no key moves or appears.
    pub fn is_in_place(&self) -> bool {
        self.pattern.keys().count() == self.rewrite.ops().count()
            && self.rewrite.ops().all(|(key, op)| match op {
                Op::Keep(value) => {
                    matches!(self.pattern.get(key), Some(ValuePattern::Is(is)) if is == value)
                }
                Op::Copy(from) => from == key,
                Op::Ignore => self.pattern.get(key).is_some(),
                Op::Join(_) | Op::Map { .. } => false,
            })
    }
}
