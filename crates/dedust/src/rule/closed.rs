/*!
Closed edits as the literature writes them: a [`Pattern`] that says which URLs, a [`Rewrite`] that says what to make of them.

[`Rule::into_edit`] and [`Rule::of`] lead to an [`Edit`] and back. Learners of the literature make rules; what is compiled to templates
is a rule too, since all of a URL that it covers is known when it is compiled.
*/

use std::collections::BTreeMap;

use serde::Deserialize;

use super::check::check_edit;
use super::{
    Change, Closed, Edit, Evidence, InvalidEdit, Op, Pattern, Rewrite, Source, Spot, Test, ValuePattern,
};
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
    pub fn into_edit(self) -> Edit {
        let Self { pattern, other_params, rewrite, fetchable, evidence } = self;
        let test = |pattern| match pattern {
            ValuePattern::Is(value) => Test::Is(value),
            ValuePattern::Any(any) => Test::Any(any),
        };
        let fetchable = fetchable && rewrite.is_writable();
        let (target, order) = rewrite.into_parts();
        let order = (!order.is_empty()).then_some(Change::Order(order));
        Edit {
            when: pattern.into_keys().map(|(key, pattern)| (Spot::Key(key), test(pattern))).collect(),
            closed: match other_params {
                OtherParams::Refuse => Closed::Yes,
                OtherParams::Keep => Closed::ExceptParams,
            },
            change: [Change::Write(target)].into_iter().chain(order).collect(),
            last: true,
            fetchable,
            evidence,
            ..Edit::default()
        }
    }

    /// The rule that does the same as an edit, if there is one.
    pub fn of(edit: &Edit) -> Option<Self> {
        let (target, order, other_params) = Self::parts_of(edit)?;
        let pattern = |(spot, test): (&Spot, &Test)| match (spot, test) {
            (Spot::Key(key), Test::Is(value)) => Some((key.clone(), ValuePattern::Is(value.clone()))),
            (Spot::Key(key), Test::Any(any)) => Some((key.clone(), ValuePattern::Any(any.clone()))),
            _ => None,
        };
        Some(Self {
            pattern: Pattern::new(edit.when.iter().filter_map(pattern)),
            other_params,
            rewrite: Rewrite::new(target.clone(), order.to_vec()),
            fetchable: edit.fetchable,
            evidence: edit.evidence.clone(),
        })
    }

    /// Whether a rule does the same as an edit.
    pub(super) fn is_one(edit: &Edit) -> bool {
        Self::parts_of(edit).is_some()
    }

    /// What an edit writes, in which order, and what it does with other parameters; `None` if no rule does the same.
    fn parts_of(edit: &Edit) -> Option<(&BTreeMap<TokenKey, Op>, &[TokenKey], OtherParams)> {
        let (target, order) = match &*edit.change {
            [Change::Write(target)] => (target, &[][..]),
            [Change::Write(target), Change::Order(order)] => (target, &**order),
            _ => return None,
        };
        let other_params = match edit.closed {
            Closed::No => return None,
            Closed::ExceptParams => OtherParams::Keep,
            Closed::Yes => OtherParams::Refuse,
        };
        let is_asked =
            |(spot, test): (&Spot, &Test)| matches!((spot, test), (Spot::Key(_), Test::Is(_) | Test::Any(_)));
        let is_plain = |source: &Source| {
            source.count.is_none()
                && source.table.is_empty()
                && !matches!(source.of, Some(Spot::FromRight(_)))
        };
        let is_copied = |op: &Op| match op {
            Op::Join(sources) => sources.iter().all(is_plain),
            Op::Keep(_) | Op::Copy(_) | Op::Ignore | Op::Map { .. } => true,
        };
        let is_rule = edit.last && edit.when.iter().all(is_asked) && target.values().all(is_copied);
        is_rule.then_some((target, order, other_params))
    }

    /// Whether the rule makes sense by itself.
    pub fn check(&self) -> Result<(), InvalidEdit> {
        check_edit(&self.clone().into_edit())
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
