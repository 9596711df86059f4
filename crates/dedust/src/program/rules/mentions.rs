/*!
Of which parts of a URL does a rule speak?
*/

use crate::rule::{Area, Change, PathPart, Rule, Source, Spot};
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
    fn read(source: &Source) -> Option<&UrlPart> {
        source.of.as_ref().and_then(key)
    }
    let mut keys: Vec<&UrlPart> = rule.when.keys().filter_map(key).collect();
    for change in &rule.change {
        match change {
            Change::Drop(spot) | Change::Forget(spot) => keys.extend(key(spot)),
            Change::Map { of, .. } | Change::Fold { of: Area::Key(of), .. } => keys.push(of),
            Change::Set { key, to } => {
                keys.push(key);
                keys.extend(to.iter().filter_map(read));
            }
            Change::Path(parts) => keys.extend(parts.iter().filter_map(|part| match part {
                PathPart::Value { from, .. } => read(from),
                _ => None,
            })),
            Change::Order(order) => keys.extend(order),
            Change::ForgetPath
            | Change::Fold { .. }
            | Change::Unrepeat
            | Change::UnrepeatParams
            | Change::SplitParams
            | Change::Replace(_) => {}
        }
    }
    keys
}
