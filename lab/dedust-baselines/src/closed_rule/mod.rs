/*!
Closed rules, as the literature writes them: a [`Pattern`] that says which URLs, a [`Rewrite`] that says what to make of them.

The first rule of a list that covers a URL is applied, and no other. All values are read before any is written. Learners of the
literature find, compare and choose such rules; [`learned`] says the same by the rules of rule files.
*/

mod cycle;
mod pattern;
mod readers;
mod rewrite;
mod rules;
mod shape;

use std::collections::BTreeMap;

use dedust::rules::{Evidence, Rule, UrlPart, Value};
use dedust_learn::support::Learned;

pub use cycle::find_cycle;
pub use pattern::{Pattern, ValuePattern};
pub use rewrite::{Op, Rewrite};

/// A pattern, and what becomes of the URLs that it covers.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedRule {
    /// Which URLs it covers.
    pub pattern: Pattern,
    /// What it does with query parameters that the pattern does not name.
    pub other_params: OtherParams,
    /// What it makes of them.
    pub rewrite: Rewrite,
    /// Whether what it writes is known to show the page. Otherwise it changes keys only.
    pub fetchable: bool,
    /// Why it is trusted.
    pub evidence: Evidence,
}

/// What a rule does with query parameters of which nothing was learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherParams {
    /// A URL that has any is not covered.
    #[default]
    Refuse,
    /// They are passed through as they are.
    Keep,
}

/// `rules` without those that no rule file can say and, of any that rewrite into each other, without the one that covers fewest URLs.
pub fn fitting(mut rules: Vec<ClosedRule>) -> Vec<ClosedRule> {
    rules.retain(|rule| rule.rules().is_some());
    while let Some(cycle) = find_cycle(&rules) {
        match cycle.into_iter().min_by_key(|&at| (rules[at].evidence.urls, at)) {
            Some(weakest) => rules.remove(weakest),
            None => break,
        };
    }
    rules
}

/// What a learner hands out that has found these rules, in the order in which they are to be tried.
pub fn learned(closed: &[ClosedRule]) -> Learned {
    let rules = closed.iter().filter_map(ClosedRule::rules).flatten().collect();
    Learned { rules, raw_rules: closed.len(), qualified_rules: closed.len(), ..Learned::default() }
}

impl ClosedRule {
    /// Rules of a rule file that do the same: one, or one for each case where it matters which optional parts a URL has. `None` where no rules do,
    /// or what they would write cannot stand in a URL.
    pub fn rules(&self) -> Option<Vec<Rule>> {
        rules::rules(self)
    }

    /// Whether a URL with these pairs is covered.
    pub fn covers(&self, tokens: &BTreeMap<UrlPart, Value>) -> bool {
        match self.other_params {
            OtherParams::Refuse => self.pattern.matches(tokens),
            OtherParams::Keep => {
                let is_other = |key: &UrlPart| self.is_other_param(key);
                let named = tokens.iter().filter(|(key, _)| !is_other(key));
                self.pattern.matches(&named.map(|(key, value)| (key.clone(), value.clone())).collect())
            }
        }
    }

    /// Whether `key` is a query parameter that the rule passes through.
    fn is_other_param(&self, key: &UrlPart) -> bool {
        self.other_params == OtherParams::Keep
            && matches!(key, UrlPart::QueryParam(_))
            && self.pattern.get(key).is_none()
    }

    /// Whether it writes another URL, not only a key.
    fn writes(&self) -> bool {
        self.fetchable && self.rewrite.is_writable() && !self.is_in_place()
    }

    /// Whether the rule leaves every URL in its own form and only forgets values: no key moves or appears.
    pub fn is_in_place(&self) -> bool {
        self.pattern.keys().count() == self.rewrite.ops().count()
            && self.rewrite.ops().all(|(key, op)| match op {
                Op::Keep(value) => matches!(self.pattern.get(key), Some(ValuePattern::Is(is)) if is == value),
                Op::Copy(from) => from == key,
                Op::Ignore => self.pattern.get(key).is_some(),
                Op::Join(_) => false,
            })
    }
}
