/*!
The state of an edit in a word or two: whether it is applied, how it is trusted, and what people decided about it.
*/

use dedust::rules::{Edit, Evidence};

/// Whether it is applied and why not: `applied`, `pinned`, `off`, `refuted`, or several of these.
pub fn state(edit: &Edit) -> String {
    let states = [
        ("off", edit.off.is_some()),
        ("pinned", edit.pinned.is_some()),
        ("refuted", edit.evidence.is_refuted()),
    ];
    let states: Vec<&str> = states.into_iter().filter(|(_, is_so)| *is_so).map(|(name, _)| name).collect();
    if states.is_empty() { "applied".into() } else { states.join(", ") }
}

/// Why it is trusted: `proven`, `likely` or `fetched` as its learner says, `learned` if that says nothing, `by hand` without
/// evidence.
pub fn trust(edit: &Edit) -> &'static str {
    match edit.evidence.trust {
        Some(trust) => trust.name(),
        None if is_by_hand(edit) => "by hand",
        None => "learned",
    }
}

/// Whether nothing was seen of it.
pub fn is_by_hand(edit: &Edit) -> bool {
    let Evidence { urls, groups, support_pairs, .. } = edit.evidence;
    (urls, groups, support_pairs) == (0, 0, 0)
}
