/*!
A rule that joins or writes URLs, for programs: where it is, and what it does.
*/

use dedust_report::{JoiningRules, RuleRef};
use serde::Serialize;

/// A rule in a line of JSON.
#[derive(Debug, Serialize)]
pub(crate) struct NamedRule<'a> {
    site: &'a str,
    index: usize,
    /// What `dedust rules` calls it; compiled rules do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// What it does, in words; compiled rules do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

impl<'a> NamedRule<'a> {
    pub(crate) fn of(rule: &'a RuleRef, joining: &JoiningRules<'_>) -> Self {
        let RuleRef { site, index } = rule;
        Self { site, index: *index, id: joining.id(rule), rule: joining.sentence(rule) }
    }
}
