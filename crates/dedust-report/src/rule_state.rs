/*!
The state of a rule in a word or two: whether it is applied, how it is trusted, and what people decided about it.
*/

use dedust::rules::{Evidence, Rule};

/// Whether it is applied and why not: `applied`, `pinned`, `off`, `refuted`, or several of these.
pub fn state(rule: &Rule) -> String {
    let states = [
        ("off", rule.off.is_some()),
        ("pinned", rule.pinned.is_some()),
        ("refuted", rule.evidence.is_refuted()),
    ];
    let states: Vec<&str> = states.into_iter().filter(|(_, is_so)| *is_so).map(|(name, _)| name).collect();
    if states.is_empty() { "applied".into() } else { states.join(", ") }
}

/// Why it is trusted: `proven`, `likely` or `fetched` as its learner says, `learned` if that says nothing, `by hand` without
/// evidence.
pub fn trust(rule: &Rule) -> &'static str {
    match rule.evidence.trust {
        Some(trust) => trust.name(),
        None if is_by_hand(rule) => "by hand",
        None => "learned",
    }
}

/// Whether nothing was seen of it.
pub fn is_by_hand(rule: &Rule) -> bool {
    let Evidence { urls, groups, support_pairs, .. } = rule.evidence;
    (urls, groups, support_pairs) == (0, 0, 0)
}
