/*!
A rule before anything is known of it, and what can be told of it without asking the site.
*/

use std::cmp::Ordering;
use std::collections::BTreeMap;

use dedust::rules::{Change, Closed, Mapped, PathPart, Rule, Source, Spelling, Spot, Test, UrlPart, Value};

/// A rule before anything is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Draft {
    pub(super) when: BTreeMap<Spot, Test>,
    /// Whether a URL may have no other parts than those that it asks for; the scheme need not be named.
    pub(super) is_closed: bool,
    pub(super) change: Vec<Change>,
}

impl Ord for Draft {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Draft {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Draft {
    /// What decides between two rules that as much speaks for. Those that count segments from the right come first, since they hold at any
    /// depth of a site; those that ask for nothing come last, since most of them are offered on every site.
    fn rank(&self) -> impl Ord {
        let Self { when, is_closed, change } = self;
        let counts_from_right = when.keys().any(|spot| matches!(spot, Spot::FromRight(_)));
        (!counts_from_right, when.is_empty(), when, is_closed, change)
    }

    /// One that concerns all URLs.
    pub(super) fn everywhere(change: Vec<Change>) -> Self {
        Self { change, ..Self::default() }
    }

    /// The rule as it is made, without what is known of it.
    pub(super) fn to_rule(&self) -> Rule {
        let Self { when, is_closed, change } = self.clone();
        let closed = if is_closed { Closed::Yes } else { Closed::No };
        Rule { when, closed, change, ..Rule::default() }
    }

    /// How many things it asks for and changes.
    pub(super) fn size(&self) -> usize {
        let parts = |change: &Change| match change {
            Change::Path(parts) => parts.len(),
            Change::Map { values, .. } => values.len(),
            _ => 1,
        };
        self.when.len() + self.change.iter().map(parts).sum::<usize>()
    }

    /// The same where one more thing is true; `None` when that contradicts what it asks for.
    pub(super) fn and(&self, spot: Spot, test: Test) -> Option<Self> {
        let mut draft = self.clone();
        match (draft.when.get_mut(&spot), test) {
            (None, test) => {
                draft.when.insert(spot, test);
            }
            (Some(Test::Not(values)), Test::Not(more)) => {
                values.extend(more);
                values.sort();
                values.dedup();
            }
            (Some(Test::Any(_)), Test::Is(value)) => {
                draft.when.insert(spot, Test::Is(value));
            }
            (Some(_), _) => return None,
        }
        Some(draft)
    }

    /// The same where no value is written over another: a parameter that it sets must be absent.
    pub(super) fn without_loss(mut self) -> Self {
        let set: Vec<UrlPart> = self
            .change
            .iter()
            .filter_map(|change| match change {
                Change::Set { key, .. } if !self.change.iter().any(|change| change.reads(key)) => Some(key),
                _ => None,
            })
            .cloned()
            .collect();
        for key in set {
            self.when.entry(Spot::Key(key)).or_insert(Test::Absent);
        }
        self
    }

    /// The same, but not where the key has this value.
    pub(super) fn except(mut self, spot: Spot, value: Value) -> Option<Self> {
        let Spot::Key(key) = &spot else { return None };
        // A value that is an exception to its own rule is not part of it.
        for change in &mut self.change {
            if let Change::Map { of, values } = change
                && of == key
            {
                values.retain(|mapped| mapped.is != value);
                if values.is_empty() {
                    return None;
                }
                return Some(self);
            }
        }
        self.and(spot, Test::Not(vec![value]))
    }

    /// Keys of which it takes a value for none, with the value; without one where it takes any.
    pub(super) fn taken_for_none(&self) -> Vec<(&UrlPart, Option<&Value>)> {
        let mut taken = Vec::new();
        for change in &self.change {
            match change {
                Change::Map { of, values } => {
                    let none = values.iter().filter(|mapped| mapped.becomes.is_none());
                    taken.extend(none.map(|mapped| (of, Some(&mapped.is))));
                }
                Change::Drop(Spot::Key(key)) => match self.when.get(&Spot::Key(key.clone())) {
                    Some(Test::Is(value)) => taken.push((key, Some(value))),
                    _ => taken.push((key, None)),
                },
                _ => {}
            }
        }
        taken
    }

    /// Whether it concerns the whole site, perhaps with exceptions.
    pub(super) fn is_wide(&self) -> bool {
        self.when.values().all(|test| matches!(test, Test::Not(_)))
    }

    /// Whether a rule only says the same in another way: what it takes away is a fixed text, or is written elsewhere.
    pub(super) fn is_harmless(&self) -> bool {
        self.change.iter().all(|change| match change {
            Change::Map { values, .. } => values.iter().all(|mapped| mapped.becomes.is_none()),
            Change::Fold { to, .. } => *to != Spelling::Lowercase,
            Change::Drop(Spot::Key(key)) => {
                matches!(self.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)))
                    || self.change.iter().any(|change| change.reads(key))
            }
            Change::Path(parts) => (is_shorter(parts) || is_fixed(parts)) && self.keeps_segments(),
            Change::Set { .. } | Change::Unrepeat | Change::UnrepeatParams => true,
            Change::Drop(Spot::FromRight(_)) | Change::Forget(_) | Change::ForgetPath => false,
            // Not learned so.
            Change::SplitParams | Change::Order(_) | Change::Replace(_) => false,
        })
    }

    /// Whether it takes away what other rules could have moved elsewhere: it is tried when nothing else is left.
    pub(super) fn is_late(&self) -> bool {
        self.forgets_path()
    }

    /// Whether it computes numbers.
    pub(super) fn counts(&self) -> bool {
        let is_counted = |source: &Source| source.count.is_some();
        self.change.iter().any(|change| match change {
            Change::Set { to, .. } => to.iter().any(is_counted),
            Change::Path(parts) => {
                parts.iter().any(|part| matches!(part, PathPart::Value { from, .. } if is_counted(from)))
            }
            _ => false,
        })
    }

    /// Whether it writes values elsewhere, or in another way, and forgets none: pages that it brings together have the same
    /// names.
    pub(super) fn is_move(&self) -> bool {
        let is_fixed = |key: &UrlPart| matches!(self.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)));
        let moves = |change: &Change| matches!(change, Change::Set { .. } | Change::Path(_));
        self.change.iter().any(moves)
            && self.change.iter().all(|change| match change {
                Change::Fold { to, .. } => *to != Spelling::Lowercase,
                Change::Set { .. } => true,
                Change::Path(parts) => {
                    parts.iter().any(|part| matches!(part, PathPart::Value { .. })) && self.keeps_segments()
                }
                Change::Drop(Spot::Key(key)) => {
                    is_fixed(key) || self.change.iter().any(|change| change.reads(key))
                }
                Change::Drop(Spot::FromRight(_)) | Change::Forget(_) | Change::ForgetPath => false,
                Change::Map { .. } | Change::Unrepeat | Change::UnrepeatParams => false,
                // Not learned so.
                Change::SplitParams | Change::Order(_) | Change::Replace(_) => false,
            })
    }

    /// Whether a rule forgets what pages are named by.
    pub(super) fn forgets_path(&self) -> bool {
        self.change.iter().any(|change| {
            matches!(
                change,
                Change::ForgetPath | Change::Forget(Spot::FromRight(_) | Spot::Key(UrlPart::PathSegment(_)))
            )
        })
    }

    /// Whether every segment of a path of fixed length is fixed or read.
    fn keeps_segments(&self) -> bool {
        let depth = self.when.iter().find_map(|(spot, test)| match (spot, test) {
            (Spot::Key(UrlPart::PathSegment(depth)), Test::Absent) => Some(*depth),
            _ => None,
        });
        let reads_segments = self.change.iter().any(|change| match change {
            Change::Path(parts) => {
                parts.iter().all(|part| matches!(part, PathPart::Text(_) | PathPart::Value { .. }))
            }
            _ => false,
        });
        let is_kept = |index: u16| {
            let key = UrlPart::PathSegment(index);
            matches!(self.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)))
                || self.change.iter().any(|change| change.reads(&key))
        };
        let is_fixed_path =
            self.change.iter().any(|change| matches!(change, Change::Path(parts) if is_fixed(parts)));
        !reads_segments || depth.map_or(!is_fixed_path, |depth| (0..depth).all(is_kept))
    }
}

/// A value of a key counts as none.
pub(super) fn nothing_for(of: UrlPart, is: Value) -> Change {
    Change::Map { of, values: vec![Mapped { is, becomes: None }] }
}

/// Whether a path has fixed segments only.
fn is_fixed(parts: &[PathPart]) -> bool {
    parts.iter().all(|part| matches!(part, PathPart::Text(_)))
}

/// Whether a path keeps all that varies, and has fewer fixed segments than it had.
fn is_shorter(parts: &[PathPart]) -> bool {
    use PathPart::{First, Last, Segments, Text, Value};
    let (mut texts, mut kept, mut left_out, mut has_value, mut has_rest) = (0, 0, 0, false, false);
    for part in parts {
        match part {
            Text(_) => texts += 1,
            First(count) | Last(count) => kept += count,
            Segments { from, but_last } => {
                left_out += from + but_last;
                has_rest = true;
            }
            Value { .. } => has_value = true,
            // Not known to keep anything.
            _ => return false,
        }
    }
    has_value || (has_rest && texts < left_out - kept.min(left_out))
}
