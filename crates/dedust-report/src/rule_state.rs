/*!
The state of a rule or a mirror in a word or two: whether it is applied, how it is trusted, and what people decided about it.
*/

use dedust::rules::{Evidence, SiteEntry};

/// Whether it is applied and why not: `applied`, `pinned`, `off`, `refuted`, or several of these.
pub fn state<'a>(entry: impl Into<SiteEntry<'a>>) -> String {
    let entry = entry.into();
    let states = [
        ("off", entry.off().is_some()),
        ("pinned", entry.pinned().is_some()),
        ("refuted", entry.evidence().is_refuted()),
    ];
    let states: Vec<&str> = states.into_iter().filter(|(_, is_so)| *is_so).map(|(name, _)| name).collect();
    if states.is_empty() { "applied".into() } else { states.join(", ") }
}

/// Why it is trusted: `proven`, `likely` or `fetched` as its learner says, `learned` if that says nothing, `by hand` without
/// evidence.
pub fn trust<'a>(entry: impl Into<SiteEntry<'a>>) -> &'static str {
    let entry = entry.into();
    match entry.evidence().trust {
        Some(trust) => trust.name(),
        None if is_by_hand(entry) => "by hand",
        None => "learned",
    }
}

/// Whether nothing was seen of it.
pub fn is_by_hand<'a>(entry: impl Into<SiteEntry<'a>>) -> bool {
    let Evidence { urls, groups, support_pairs, .. } = entry.into().evidence();
    (*urls, *groups, *support_pairs) == (0, 0, 0)
}
