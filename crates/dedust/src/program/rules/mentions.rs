/*!
Of which parts of a URL does a rule speak?
*/

use crate::rule::{Change, Rule, Spot, Written};
use crate::url::UrlPart;

/// All keys that rules speak of.
pub(super) fn mentions<'a>(rules: &[(usize, &'a Rule)]) -> impl Iterator<Item = &'a UrlPart> {
    rules.iter().flat_map(|(_, rule)| mentioned(rule))
}

/// All keys that a rule speaks of.
pub(super) fn mentioned(rule: &Rule) -> Vec<&UrlPart> {
    fn key(spot: &Spot) -> Option<&UrlPart> {
        match spot {
            Spot::Key(key) => Some(key),
            Spot::FromRight(_) => None,
        }
    }
    let mut keys: Vec<&UrlPart> = rule.when.keys().filter_map(key).collect();
    for facts in rule.change.iter().map(Change::facts) {
        match facts.writes {
            Written::Spot(spot) => keys.extend(key(spot)),
            Written::Key(key) => keys.push(key),
            Written::Order(order) => keys.extend(order),
            Written::Path
            | Written::ParamValues
            | Written::ParamCount
            | Written::Separators
            | Written::Url => {}
        }
        keys.extend(facts.sources().filter_map(|source| source.of.as_ref()).filter_map(key));
    }
    keys
}
