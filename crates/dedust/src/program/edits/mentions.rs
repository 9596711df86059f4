/*!
Of which parts of a URL does an edit speak?
*/

use crate::rule::{Area, Change, Edit, PathPart, Source, Spot};
use crate::url::TokenKey;

/// All keys that edits speak of.
pub(super) fn mentions<'a>(edits: &[(usize, &'a Edit)]) -> impl Iterator<Item = &'a TokenKey> {
    edits.iter().flat_map(|(_, edit)| mentioned(edit))
}

/// All keys that an edit speaks of.
pub(super) fn mentioned(edit: &Edit) -> Vec<&TokenKey> {
    fn key(spot: &Spot) -> Option<&TokenKey> {
        match spot {
            Spot::Key(key) => Some(key),
            Spot::FromRight(_) => None,
        }
    }
    fn read(source: &Source) -> Option<&TokenKey> {
        source.of.as_ref().and_then(key)
    }
    let mut keys: Vec<&TokenKey> = edit.when.keys().filter_map(key).collect();
    for change in &edit.change {
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
            | Change::Replace(_)
            | Change::Move(_) => {}
        }
    }
    keys
}
