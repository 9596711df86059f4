/*!
What can be loaded and may not be meant.
*/

use std::fmt::Write as _;

use crate::rule::set::is_registrable;
use crate::rule::{Rule, SiteEntry, Spot, Taken, Test};
use crate::url::{UrlPart, site_of};

/// About the name of a site.
pub(super) fn of_name(name: &str) -> Option<String> {
    if is_registrable(name) {
        return None;
    }
    let mut text = "no registrable domain, so its rules hold on this host alone".to_owned();
    if let Ok(site) = str::from_utf8(site_of(name.as_bytes()))
        && site != name
    {
        let _ = write!(text, "; the site of all hosts beside it is `{site}`");
    }
    Some(text)
}

/// About a rule by itself.
pub(super) fn of_rule(rule: &Rule) -> Vec<String> {
    let mut doubts = Vec::new();
    if rule.change.iter().all(|change| change.facts().is_idle()) && !rule.change.is_empty() {
        doubts.push("changes nothing".to_owned());
    }
    if let Some((spot, _)) =
        rule.when.iter().find(|(_, test)| matches!(test, Test::OneOf(values) if values.is_empty()))
    {
        doubts.push(format!("is never made: `{spot}` is to be one of no values"));
    }
    doubts.extend(of_entry(rule.into()).map(str::to_owned));
    doubts
}

/// About a rule or a mirror by what is known of it.
pub(super) fn of_entry(entry: SiteEntry<'_>) -> Option<&'static str> {
    let is_forgotten = entry.evidence().is_none() && !entry.is_decided();
    is_forgotten.then_some("has no evidence and is not pinned, so `learn --keep` would not keep it")
}

/// About a rule and one before it.
pub(super) fn of_pair(index: usize, earlier: &Rule, later: &Rule) -> Option<String> {
    if earlier.says_same(later) {
        return Some(format!("says the same as rule {index}"));
    }
    if !earlier.is_applied() || !later.is_applied() {
        return None;
    }
    let is_param = |spot: &Spot| matches!(spot, Spot::Key(UrlPart::QueryParam(_) | UrlPart::PathParam(_)));
    let is_asked = |spot: &&Spot| later.when.get(*spot).is_some_and(|test| !test.holds(None));
    let mut dropped = earlier.change.iter().filter_map(|change| match change.facts().takes {
        Taken::Part(spot) => Some(spot).filter(|spot| is_param(spot)),
        Taken::Nothing | Taken::Value(_) | Taken::Path | Taken::Values(..) => None,
    });
    dropped
        .find(is_asked)
        .map(|spot| format!("asks for `{spot}`, which rule {index} drops from some URLs before"))
}
