/*!
The straightforward selection: one rule per pattern, none inside another, no circles.
*/

use std::cmp::Reverse;

use crate::closed_rule::{ClosedRule, OtherParams, ValuePattern, fitting};
use dedust::rules::{AnyValue, UrlPart, ValueClass};

/// Rules in the order in which they are to be tried: those that ask for most first.
pub(super) fn select(mut rules: Vec<ClosedRule>) -> Vec<ClosedRule> {
    let name = |rule: &ClosedRule| format!("{} -> {}", rule.pattern, rule.rewrite);
    rules.sort_by_cached_key(|rule| {
        // Shares of false pairs lie between 0 and 1, where the order of bits is the order of numbers.
        let rate = rule.evidence.false_pair_rate().to_bits();
        (rate, Reverse(rule.evidence.support_pairs), name(rule))
    });
    let mut kept: Vec<ClosedRule> = Vec::new();
    for rule in rules {
        if !kept.iter().any(|other| covers(other, &rule) && covers(&rule, other)) {
            kept.push(rule);
        }
    }
    let inside: Vec<bool> = (0..kept.len())
        .map(|at| (0..kept.len()).any(|other| other != at && covers(&kept[other], &kept[at])))
        .collect();
    let mut rules: Vec<ClosedRule> =
        kept.into_iter().zip(inside).filter(|(_, inside)| !inside).map(|(rule, _)| rule).collect();
    let values = |rule: &ClosedRule| {
        rule.pattern.keys().filter(|(_, pattern)| matches!(pattern, ValuePattern::Is(_))).count()
    };
    rules.sort_by_cached_key(|rule| (Reverse(values(rule)), Reverse(rule.pattern.keys().count())));
    fitting(rules)
}

/// Whether every URL that `inner` covers is covered by `outer`, as far as their patterns say.
fn covers(outer: &ClosedRule, inner: &ClosedRule) -> bool {
    let passes =
        |key: &UrlPart| outer.other_params == OtherParams::Keep && matches!(key, UrlPart::QueryParam(_));
    (outer.other_params == OtherParams::Keep || inner.other_params == OtherParams::Refuse)
        && inner.pattern.keys().all(|(key, pattern)| match outer.pattern.get(key) {
            Some(outer) => holds(outer, pattern),
            None => passes(key),
        })
        && outer.pattern.keys().all(|(key, pattern)| {
            inner.pattern.get(key).is_some()
                || (pattern.is_optional() && (inner.other_params == OtherParams::Refuse || !passes(key)))
        })
}

fn holds(outer: &ValuePattern, inner: &ValuePattern) -> bool {
    match (outer, inner) {
        (ValuePattern::Any(outer), ValuePattern::Any(inner)) => {
            let AnyValue { class, except, optional } = outer;
            (*class == ValueClass::Text || *class == inner.class)
                && except.iter().all(|value| inner.except.contains(value))
                && (*optional || !inner.optional)
        }
        (outer, ValuePattern::Is(value)) => outer.matches(Some(value)),
        (ValuePattern::Is(_), ValuePattern::Any(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use dedust::rules::{Evidence, Value};

    use super::*;
    use crate::closed_rule::{Op, Pattern, Rewrite};

    fn rule(values: &[(&str, Option<&str>)], other_params: OtherParams, false_pairs: u64) -> ClosedRule {
        let any =
            || ValuePattern::Any(AnyValue { class: ValueClass::Text, except: Vec::new(), optional: false });
        let keys = values.iter().map(|(name, value)| {
            (UrlPart::query(name), value.map_or_else(any, |value| ValuePattern::Is(Value::from(value))))
        });
        let evidence = Evidence { urls: 9, support_pairs: 10, false_pairs, ..Evidence::default() };
        let rewrite = Rewrite::new([(UrlPart::Scheme, Op::Keep("http".into()))], Vec::new());
        ClosedRule { pattern: Pattern::new(keys), other_params, rewrite, fetchable: true, evidence }
    }

    #[test]
    fn the_fewest_false_pairs_win_and_the_wider_pattern_stays() {
        let rules = select(vec![
            rule(&[("a", None)], OtherParams::Refuse, 1),
            rule(&[("a", None)], OtherParams::Refuse, 0),
            rule(&[("a", Some("1"))], OtherParams::Refuse, 0),
            rule(&[("b", Some("1"))], OtherParams::Refuse, 0),
        ]);
        let patterns: Vec<String> = rules.iter().map(|rule| rule.pattern.to_string()).collect();
        assert_eq!(patterns.len(), 2, "{patterns:?}");
        assert!(rules.iter().all(|rule| rule.evidence.false_pairs == 0));
    }

    #[test]
    fn passed_parameters_may_be_named_by_the_inner_rule() {
        let open = rule(&[("a", None)], OtherParams::Keep, 0);
        let closed = rule(&[("a", None), ("b", Some("1"))], OtherParams::Refuse, 0);
        assert!(covers(&open, &closed));
        assert!(!covers(&closed, &open));
        assert!(!covers(&rule(&[("a", None)], OtherParams::Refuse, 0), &open));
    }
}
