/*!
How much longer may rules make a URL? No longer than [`max_result`] allows: [`EditedUrl::room`] is what is left to that, and a change
for which there is too little is not made.

So it depends on all rules whether one is made, and a URL that ran out of room says nothing of what was made of it. When
rules are compiled, it is found out up to which length no URL can.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::change::CannotChange;
use super::edited_url::EditedUrl;
use crate::program::{MIN_RESULT, max_result};
use crate::rule::{Change, Facts, PathPart, Put, Rule, Source, Spelling, Spot, Taken};
use crate::url::{ParamName, UrlPart};

/// What rules write to one URL, kept or not, has so many bytes at most: memory is bounded however many of them replace what others
/// wrote.
const MAX_WRITTEN: usize = 1 << 22;

impl EditedUrl {
    /// Gives a URL of so many bytes the room that it has before any rule is made.
    #[inline(always)]
    pub(super) fn set_room(&mut self, url_len: usize) {
        self.limit = max_result(url_len);
        self.room = self.limit - url_len;
    }

    /// Makes room for what takes the place of a text of the first length.
    #[inline]
    pub(super) fn exchange_room(&mut self, old: usize, new: usize) -> Result<(), CannotChange> {
        match (self.room + old).checked_sub(new) {
            Some(left) if self.written.len() <= MAX_WRITTEN => {
                self.room = left;
                Ok(())
            }
            _ => Err(self.no_room()),
        }
    }

    /// Whether nothing can become of so many bytes that were written for a change.
    #[inline]
    pub(super) fn is_too_much(&self, bytes: usize) -> bool {
        bytes > self.limit
    }

    /// Notes that a change is not made.
    #[cold]
    pub(super) fn no_room(&mut self) -> CannotChange {
        self.is_out_of_room = true;
        CannotChange
    }
}

/// Any URL.
const UNLIMITED: u8 = 31;

/// A power of two: no URL of so many bytes or less, with whatever some of these rules made of it, runs out of room unseen. Powers, so that
/// sites whose rules are built alike still share all else.
pub(super) fn unlimited_bytes(rules: &[(usize, &Rule)]) -> u8 {
    // Then the rules that are made to a URL are those that are made to its key, and whether there was room is seen.
    if rules.iter().all(|(_, rule)| rule.fetchable) {
        return UNLIMITED;
    }
    let (mut times, mut once, mut writings) = (1u64, 1u64, 0u64);
    // The longest that is written of each part beside what is copied.
    let mut written: BTreeMap<Spot, u64> = BTreeMap::new();
    for change in rules.iter().flat_map(|(_, rule)| &rule.change) {
        writings += writings_of(change);
        let Growth { copies, copied, writes } = Growth::of(change);
        // What was not written before is no longer than the URL was.
        if copied.iter().all(|part| !written.contains_key(part)) {
            once = once.saturating_add(copies);
        } else {
            times = times.saturating_mul(copies + 1);
        }
        if let Some((part, bytes)) = writes {
            let most = written.entry(part).or_default();
            *most = bytes.max(*most);
        }
    }
    times = times.saturating_mul(once);
    let plus = written.values().fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
    if writings.saturating_mul(MIN_RESULT as u64) > MAX_WRITTEN as u64 {
        return 0;
    }
    if (times, plus) == (1, 0) {
        return UNLIMITED;
    }
    // A `*` in place of an empty value makes a URL twice as long at most.
    let bytes = (MIN_RESULT as u64 / times).saturating_sub(plus) / 2;
    bytes.checked_ilog2().unwrap_or(0) as u8
}

/// How many texts as long as the result a change may write.
fn writings_of(change: &Change) -> u64 {
    let Facts { takes, puts, .. } = change.facts();
    let values = match takes {
        Taken::Values(..) => 1,
        Taken::Nothing | Taken::Part(_) | Taken::Value(_) | Taken::Path => 0,
    };
    let others = match puts {
        Put::Nothing => 0,
        Put::Value(..) | Put::Path(_) | Put::Texts(_) => 2,
        // A copy, and what becomes of it, of up to three times its length.
        Put::Spelling(..) => 4,
    };
    values + others
}

/// How much longer a change may make a URL.
#[derive(Default)]
struct Growth {
    /// How often the length of what it copies is added.
    copies: u64,
    /// The parts that it copies.
    copied: BTreeSet<Spot>,
    /// The part that it writes, and how many bytes beside that.
    writes: Option<(Spot, u64)>,
}

impl Growth {
    fn of(change: &Change) -> Self {
        let Facts { takes, puts, .. } = change.facts();
        match takes {
            Taken::Values(of, values) => {
                let texts = values.iter().filter_map(|mapped| mapped.becomes.as_ref());
                let longest = texts.map(|text| text.len() as u64).max().unwrap_or(0);
                Self { writes: Some((part_of(&Spot::Key(of.clone())), longest)), ..Self::default() }
            }
            Taken::Nothing => Self::of_put(puts),
            Taken::Part(_) | Taken::Value(_) | Taken::Path => Self::default(),
        }
    }

    fn of_put(puts: Put<'_>) -> Self {
        match puts {
            Put::Value(key, to) => {
                let mut growth = Self::default();
                // With the name.
                let mut bytes = (key.to_string().len() + 2) as u64;
                for source in to {
                    bytes += growth.read(source);
                }
                growth.writes = Some((part_of(&Spot::Key(key.clone())), bytes));
                growth
            }
            Put::Path(parts) => {
                let (mut growth, mut bytes) = (Self::default(), 0);
                for part in parts {
                    bytes += match part {
                        PathPart::Text(text) => 1 + text.len() as u64,
                        PathPart::Value { from, .. } if !reads_path(from) => 1 + growth.read(from),
                        PathPart::Value { from, .. } => 1 + (from.prefix.len() + from.suffix.len()) as u64,
                        PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_) => 0,
                    };
                }
                let copies_of_path = copies_of_path(parts);
                if copies_of_path > 0 {
                    growth.copies += copies_of_path;
                    growth.copied.insert(Spot::FromRight(0));
                }
                growth.writes = Some((Spot::FromRight(0), bytes));
                growth
            }
            // Three bytes may become of one. That takes no room, but what is copied of it does.
            Put::Spelling(_, Spelling::PlusAsSpace | Spelling::Composed) => {
                Self { copies: 2, ..Self::default() }
            }
            // What takes the place of a text is no longer than that.
            Put::Nothing | Put::Spelling(..) | Put::Texts(_) => Self::default(),
        }
    }

    /// Adds what is read of a source; the bytes that it gives beside.
    fn read(&mut self, Source { prefix, of, count, table, suffix, .. }: &Source) -> u64 {
        /// The digits of a number, with its sign.
        const NUMBER_BYTES: u64 = 20;
        let around = (prefix.len() + suffix.len()) as u64;
        match (of, count, &table[..]) {
            (None, ..) => around,
            (Some(_), Some(_), _) => around + NUMBER_BYTES,
            (Some(spot), None, []) => {
                self.copies += 1;
                self.copied.insert(part_of(spot));
                around
            }
            (Some(_), None, table) => around + table.iter().map(|(_, to)| to.len() as u64).max().unwrap_or(0),
        }
    }
}

/// Whether a source is a segment of the path, or a part of one.
fn reads_path(source: &Source) -> bool {
    let is_segment = |spot: &Spot| matches!(spot, Spot::FromRight(_) | Spot::Key(UrlPart::PathSegment(_)));
    source.count.is_none() && source.table.is_empty() && source.of.as_ref().is_some_and(is_segment)
}

/// Adds the indexes of so many segments; false if some were there, or there are too many to tell.
fn insert_first(count: u16, indexes: &mut BTreeSet<u16>) -> bool {
    const MOST: u16 = 64;
    count <= MOST && (0..count).all(|index| indexes.insert(index))
}

/// How often a new path may have the length of the old one, beyond once: not more where no segment of the old one is in it twice.
fn copies_of_path(parts: &[PathPart]) -> u64 {
    let (mut taken, mut is_in_order) = (0, true);
    // Segments from the left and from the right that are there, and what is between them.
    let (mut left, mut right): (BTreeSet<u16>, BTreeSet<u16>) = Default::default();
    let mut between: Option<(u16, u16)> = None;
    for part in parts {
        match part {
            PathPart::First(count) => is_in_order &= insert_first(*count, &mut left),
            PathPart::Last(count) => is_in_order &= insert_first(*count, &mut right),
            PathPart::Segments { from, but_last } => {
                is_in_order &= between.replace((*from, *but_last)).is_none();
            }
            PathPart::Value { from, .. } if reads_path(from) => {
                is_in_order &= match from.of {
                    Some(Spot::Key(UrlPart::PathSegment(index))) => left.insert(index),
                    Some(Spot::FromRight(index)) => right.insert(index),
                    _ => true,
                };
            }
            PathPart::Text(_) | PathPart::Value { .. } => continue,
        }
        taken += 1;
    }
    let is_apart = match between {
        Some((from, but_last)) => {
            left.last().is_none_or(|index| *index < from)
                && right.last().is_none_or(|index| *index < but_last)
        }
        // In a short path they may be the same.
        None => left.is_empty() || right.is_empty(),
    };
    if is_in_order && is_apart { 0 } else { taken }
}

/// The path as a whole, or all parameters of a name, or another part.
fn part_of(spot: &Spot) -> Spot {
    let first = |name: &ParamName| ParamName { name: name.name.clone(), occurrence: 1 };
    match spot {
        Spot::FromRight(_) | Spot::Key(UrlPart::PathSegment(_)) => Spot::FromRight(0),
        Spot::Key(UrlPart::Subdomain(_)) => Spot::Key(UrlPart::Subdomain(0)),
        Spot::Key(UrlPart::QueryParam(name)) => Spot::Key(UrlPart::QueryParam(first(name))),
        Spot::Key(UrlPart::PathParam(name)) => Spot::Key(UrlPart::PathParam(first(name))),
        Spot::Key(_) => spot.clone(),
    }
}
