/*!
How much longer may edits make a URL? No longer than [`max_result`] allows: what they write uses up [room](EditedUrl::room), and a
change for which there is none left is not made.

So it depends on all edits whether one is made, and a URL that ran out of room says nothing of what was made of it. When
edits are compiled, it is found out up to which length no URL can.
*/

use std::collections::BTreeSet;

use super::change::CannotChange;
use super::edited_url::EditedUrl;
use crate::program::{MIN_RESULT, max_result};
use crate::rule::{Change, Edit, PathPart, Source, Spelling, Spot};
use crate::url::{ParamName, TokenKey};

impl EditedUrl {
    /// Gives a URL of so many bytes the room that it has before any edit is made.
    #[inline(always)]
    pub(super) fn set_room(&mut self, url_len: usize) {
        self.room = max_result(url_len) - url_len;
    }

    /// Takes room for what a change writes.
    #[inline]
    pub(super) fn take_room(&mut self, bytes: usize) -> Result<(), CannotChange> {
        match self.room.checked_sub(bytes) {
            Some(left) => {
                self.room = left;
                Ok(())
            }
            None => {
                self.is_out_of_room = true;
                Err(CannotChange)
            }
        }
    }
}

/// Any URL.
const UNLIMITED: u8 = 31;

/// A power of two: no URL of so many bytes or less, with whatever some of these edits made of it, runs out of room unseen. Powers, so that
/// sites whose edits are built alike still share all else.
pub(super) fn unlimited_bytes(edits: &[(usize, &Edit)]) -> u8 {
    // Then the edits that are made to a URL are those that are made to its key, and whether there was room is seen.
    if edits.iter().all(|(_, edit)| edit.fetchable) {
        return UNLIMITED;
    }
    let (mut times, mut once, mut plus) = (1u64, 1u64, 0u64);
    let mut written: BTreeSet<Spot> = BTreeSet::new();
    for change in edits.iter().flat_map(|(_, edit)| &edit.change) {
        let (copies, bytes) = written_by(change);
        // What was not written before is no longer than the URL was.
        if reads(change).is_some_and(|reads| reads.iter().all(|part| !written.contains(part))) {
            once = once.saturating_add(copies);
        } else {
            times = times.saturating_mul(copies + 1);
        }
        plus = plus.saturating_add(bytes);
        match change {
            Change::Set { key, .. } => _ = written.insert(part_of(&Spot::Key(key.clone()))),
            Change::Path(_) => _ = written.insert(Spot::FromRight(0)),
            _ => {}
        }
    }
    times = times.saturating_mul(once);
    if (times, plus) == (1, 0) {
        return UNLIMITED;
    }
    // A `*` in place of an empty value makes a URL twice as long at most.
    let bytes = (MIN_RESULT as u64 / times.saturating_mul(2)).saturating_sub(plus);
    bytes.checked_ilog2().unwrap_or(0) as u8
}

/// The parts whose values a change copies; `None` if that is more than values.
fn reads(change: &Change) -> Option<Vec<Spot>> {
    let part = |source: &Source| source.of.as_ref().map(part_of);
    match change {
        Change::Set { to, .. } => Some(to.iter().filter_map(part).collect()),
        Change::Path(parts) => {
            let has_path = parts.iter().any(|part| {
                matches!(part, PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_))
            });
            let values = parts.iter().filter_map(|path_part| match path_part {
                PathPart::Value { from, .. } => part(from),
                _ => None,
            });
            Some(values.chain(has_path.then_some(Spot::FromRight(0))).collect())
        }
        _ => None,
    }
}

/// The path as a whole, or all parameters of a name, or another part.
fn part_of(spot: &Spot) -> Spot {
    let first = |name: &ParamName| ParamName { name: name.name.clone(), occurrence: 1 };
    match spot {
        Spot::FromRight(_) | Spot::Key(TokenKey::PathSegment(_)) => Spot::FromRight(0),
        Spot::Key(TokenKey::Subdomain(_)) => Spot::Key(TokenKey::Subdomain(0)),
        Spot::Key(TokenKey::QueryParam(name)) => Spot::Key(TokenKey::QueryParam(first(name))),
        Spot::Key(TokenKey::PathParam(name)) => Spot::Key(TokenKey::PathParam(first(name))),
        Spot::Key(_) => spot.clone(),
    }
}

/// What a change may write: so many times the URL, and so many bytes.
fn written_by(change: &Change) -> (u64, u64) {
    match change {
        Change::Map { values, .. } => {
            let texts = values.iter().filter_map(|mapped| mapped.becomes.as_ref());
            (0, texts.map(|text| text.len() as u64).max().unwrap_or(0))
        }
        Change::Set { key, to } => {
            // With the name.
            let name = (key.to_string().len() + 2) as u64;
            to.iter().map(read_by).fold((0, name), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        }
        Change::Path(parts) => {
            let written = parts.iter().map(|part| match part {
                PathPart::Text(text) => (0, 1 + text.len() as u64),
                PathPart::Value { from, .. } => (read_by(from).0, 1 + read_by(from).1),
                PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_) => (1, 0),
            });
            let (copies, bytes) = written.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            // What is there once more takes the place of the path that was there.
            let has_rest = parts.iter().any(|part| {
                matches!(part, PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_))
            });
            (copies - u64::from(has_rest), bytes)
        }
        // Three bytes may become of one. That takes no room, but what is copied of it does.
        Change::Fold { to: Spelling::PlusAsSpace | Spelling::Composed, .. } => (2, 0),
        _ => (0, 0),
    }
}

fn read_by(Source { prefix, of, count, table, suffix, .. }: &Source) -> (u64, u64) {
    /// The digits of a number, with its sign.
    const NUMBER_BYTES: u64 = 20;
    let around = (prefix.len() + suffix.len()) as u64;
    match (of, count, &table[..]) {
        (None, ..) => (0, around),
        (Some(_), Some(_), _) => (0, around + NUMBER_BYTES),
        (Some(_), None, []) => (1, around),
        (Some(_), None, table) => {
            (0, around + table.iter().map(|(_, to)| to.len() as u64).max().unwrap_or(0))
        }
    }
}
