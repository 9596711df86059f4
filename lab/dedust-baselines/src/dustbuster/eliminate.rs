/*!
Phase 2: of rules that say nearly the same, keeps those whose evidence is as good and whose claim is smaller.

A rule refines another if it is the other with the same text added before both strings and the same after them:
`.org/story?id=`, `.org/story_` refines `?id=`, `_`. Both have about equal support: then nothing speaks for the
general one, and it goes. With clearly more support the general one stays, and so does the refinement, until
validation tells which of them holds.

Rules are unordered pairs here. Fetches nothing.
*/

use std::cmp::Reverse;

use super::Options;
use super::detect::LikelyRule;
use super::tokens::TokenList;

/// A likely rule, ready to be compared with others.
#[derive(Debug)]
pub(super) struct Comparable<'t> {
    pub(super) rule: LikelyRule,
    pub(super) from: &'t [u32],
    pub(super) to: &'t [u32],
    /// Weights of the tokens of `from` less those of `to`. Context common to both leaves it as it is, so that rules
    /// which refine each other have equal ones, up to the sign.
    balance: u64,
}

impl<'t> Comparable<'t> {
    pub(super) fn new(rule: LikelyRule, tokens: &'t TokenList) -> Self {
        let (from, to) = (tokens.piece(rule.from), tokens.piece(rule.to));
        let weights = |side: &[u32]| side.iter().fold(0u64, |sum, &token| sum.wrapping_add(weight(token)));
        Self { balance: weights(from).wrapping_sub(weights(to)), rule, from, to }
    }

    /// Whether this is `general` with common context around both strings. No rule refines itself.
    pub(super) fn refines(&self, general: &Self) -> bool {
        self.from.len() + self.to.len() > general.from.len() + general.to.len()
            && (self.balance == general.balance && contains(self, general.from, general.to)
                || self.balance == general.balance.wrapping_neg() && contains(self, general.to, general.from))
    }
}

/// Whether some context makes `from` and `to` into the two strings of `special`.
fn contains(special: &Comparable<'_>, from: &[u32], to: &[u32]) -> bool {
    let added = special.from.len().checked_sub(from.len());
    if added.is_none() || added != special.to.len().checked_sub(to.len()) {
        return false;
    }
    (0..=special.from.len() - from.len()).any(|before| {
        let (from_end, to_end) = (before + from.len(), before + to.len());
        special.from[before..from_end] == *from
            && special.to[before..to_end] == *to
            && special.from[..before] == special.to[..before]
            && special.from[from_end..] == special.to[to_end..]
    })
}

fn weight(token: u32) -> u64 {
    let mixed = (u64::from(token) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The rules that are not redundant, best supported first.
pub(super) fn eliminate<'t>(
    tokens: &'t TokenList,
    rules: Vec<LikelyRule>,
    options: &Options,
) -> Vec<Comparable<'t>> {
    let mut rules: Vec<Comparable<'_>> =
        rules.into_iter().map(|rule| Comparable::new(rule, tokens)).collect();
    sort_by_support(&mut rules, tokens, |rule| rule.wide_support);
    let mut eliminated = vec![false; rules.len()];
    for first in 0..rules.len() {
        if eliminated[first] {
            continue;
        }
        let support = rules[first].rule.wide_support;
        let allowed = (options.max_relative_difference * f64::from(support))
            .max(f64::from(options.max_absolute_difference));
        for second in first + 1..rules.len().min(first + 1 + options.elimination_window) {
            if f64::from(support - rules[second].rule.wide_support) > allowed {
                break;
            }
            if eliminated[second] {
                continue;
            }
            if rules[first].refines(&rules[second]) {
                eliminated[second] = true;
            } else if rules[second].refines(&rules[first]) {
                eliminated[first] = true;
                break;
            }
        }
    }
    let mut flags = eliminated.into_iter();
    rules.retain(|_| flags.next() == Some(false));
    sort_by_support(&mut rules, tokens, |rule| rule.support);
    rules
}

/// Most support first; then longer rules, then in the order of their texts, so that the order is total.
fn sort_by_support(rules: &mut [Comparable<'_>], tokens: &TokenList, support: fn(&LikelyRule) -> u32) {
    let text = |side: &[u32]| {
        let mut text = Vec::new();
        tokens.write(side, &mut text);
        text
    };
    rules.sort_by_cached_key(|rule| {
        let Comparable { rule, from, to, .. } = rule;
        (Reverse(support(rule)), Reverse(from.len() + to.len()), text(from), text(to), *from, *to)
    });
}
