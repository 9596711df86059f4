/*!
Errors by the rules that are charged with them.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust_report::RuleRef;

/// What a rule is charged with: how much, and with which errors.
#[derive(Default)]
pub(super) struct Charge<C, E> {
    pub(super) counts: C,
    pub(super) errors: Vec<E>,
}

/// What each rule is charged with; also what no rule is to blame for.
pub(super) struct Charges<C, E>(BTreeMap<Option<RuleRef>, Charge<C, E>>);

impl<C: Default, E> Charges<C, E> {
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Charges a rule with an error, and gives its counts to be raised.
    pub(super) fn add(&mut self, rule: Option<RuleRef>, error: E) -> &mut C {
        let charge =
            self.0.entry(rule).or_insert_with(|| Charge { counts: C::default(), errors: Vec::new() });
        charge.errors.push(error);
        &mut charge.counts
    }

    /// All rules, those with most by `weight` first.
    pub(super) fn worst_first<W: Ord>(
        self,
        weight: impl Fn(&C) -> W,
    ) -> Vec<(Option<RuleRef>, Charge<C, E>)> {
        let mut charges: Vec<_> = self.0.into_iter().collect();
        charges.sort_by_key(|(_, charge)| Reverse(weight(&charge.counts)));
        charges
    }
}
