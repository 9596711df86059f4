/*!
Closed edits as the literature writes them: a [`Pattern`] that says which URLs, a [`Rewrite`] that says what to make of them.

[`Rule::to_edit`] and [`Rule::of`] lead to an [`Edit`] and back. Learners of the literature make rules; what is compiled to templates
is a rule too, since all of a URL that it covers is known when it is compiled.
*/

use std::collections::BTreeMap;

use serde::Deserialize;

use super::check::check_edit;
use super::{Change, Closed, Edit, Evidence, InvalidEdit, Op, Pattern, Rewrite, Spot, Test, ValuePattern};
use crate::url::{TokenKey, Value};

/// A closed edit that writes URLs anew and is the last: the first rule that covers a URL is applied, and no other.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OtherParams {
    /// A URL that has any is not covered.
    #[default]
    Refuse,
    /// They are passed through as they are.
    Keep,
}

impl Rule {
    /// The edit that does the same. Where all values of what it writes are known, that can be fetched.
    pub fn to_edit(&self) -> Edit {
        let test = |pattern: &ValuePattern| match pattern {
            ValuePattern::Is(value) => Test::Is(value.clone()),
            ValuePattern::Any(any) => Test::Any(any.clone()),
        };
        let target = self.rewrite.ops().map(|(key, op)| (key.clone(), op.clone())).collect();
        let order = self.rewrite.query_order();
        let order = (!order.is_empty()).then(|| Change::Order(order.to_vec()));
        Edit {
            when: self.pattern.keys().map(|(key, pattern)| (Spot::Key(key.clone()), test(pattern))).collect(),
            closed: match self.other_params {
                OtherParams::Refuse => Closed::Yes,
                OtherParams::Keep => Closed::ExceptParams,
            },
            change: [Change::Write(target)].into_iter().chain(order).collect(),
            last: true,
            fetchable: self.fetchable && self.rewrite.is_writable(),
            evidence: self.evidence.clone(),
        }
    }

    /// The rule that does the same as an edit, if there is one.
    pub fn of(edit: &Edit) -> Option<Self> {
        let (target, query_order) = match &*edit.change {
            [Change::Write(target)] => (target, Vec::new()),
            [Change::Write(target), Change::Order(order)] => (target, order.clone()),
            _ => return None,
        };
        let other_params = match edit.closed {
            Closed::No => return None,
            Closed::ExceptParams => OtherParams::Keep,
            Closed::Yes => OtherParams::Refuse,
        };
        let key_pattern = |(spot, test): (&Spot, &Test)| {
            let Spot::Key(key) = spot else { return None };
            let pattern = match test {
                Test::Is(value) => ValuePattern::Is(value.clone()),
                Test::Any(any) => ValuePattern::Any(any.clone()),
                Test::OneOf(_) | Test::Not(_) | Test::Absent => return None,
            };
            Some((key.clone(), pattern))
        };
        let keys: Option<Vec<_>> = edit.when.iter().map(key_pattern).collect();
        let is_plain = target.values().all(|op| match op {
            Op::Join(sources) => sources.iter().all(|source| {
                source.count.is_none()
                    && source.table.is_empty()
                    && !matches!(source.of, Some(Spot::FromRight(_)))
            }),
            Op::Keep(_) | Op::Copy(_) | Op::Ignore | Op::Map { .. } => true,
        });
        let (pattern, rewrite) = (Pattern::new(keys?), Rewrite::new(target.clone(), query_order));
        let Edit { fetchable, ref evidence, .. } = *edit;
        (edit.last && is_plain).then(|| Self {
            pattern,
            other_params,
            rewrite,
            fetchable,
            evidence: evidence.clone(),
        })
    }

    /// Whether the rule makes sense by itself.
    pub fn check(&self) -> Result<(), InvalidEdit> {
        check_edit(&self.to_edit())
    }

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

    /// Whether it writes another URL, not only a key.
    pub(crate) fn writes(&self) -> bool {
        self.fetchable && self.rewrite.is_writable() && !self.is_in_place()
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
