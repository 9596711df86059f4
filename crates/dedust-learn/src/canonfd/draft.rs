/*!
A rule before anything is known of it, and what can be told of it without asking the site.
*/

use std::cmp::Ordering;
use std::collections::BTreeMap;

use dedust::rules::{Change, Closed, Mapped, PathPart, Rule, Spot, Test, UrlPart, Value};
use dedust::support::{Loss, Put, Taken};

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
        self.when.len() + self.change.iter().map(|change| change.facts().size).sum::<usize>()
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
            .filter_map(|change| match change.facts().puts {
                Put::Value(key, _) => Some(key),
                Put::Nothing | Put::Path(_) | Put::Spelling(..) | Put::Texts(_) => None,
            })
            .filter(|key| !self.change.iter().any(|change| change.reads(key)))
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
            match change.facts().takes {
                Taken::Values(of, values) => {
                    let none = values.iter().filter(|mapped| mapped.becomes.is_none());
                    taken.extend(none.map(|mapped| (of, Some(&mapped.is))));
                }
                Taken::Part(spot @ Spot::Key(key)) => match self.when.get(spot) {
                    Some(Test::Is(value)) => taken.push((key, Some(value))),
                    _ => taken.push((key, None)),
                },
                Taken::Nothing | Taken::Part(Spot::FromRight(_)) | Taken::Value(_) | Taken::Path => {}
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
        self.change.iter().all(|change| match change.facts().loses {
            Loss::Nothing | Loss::Repeats => true,
            Loss::Values(values) => values.iter().all(|mapped| mapped.becomes.is_none()),
            Loss::Part(key) => self.is_fixed_or_read(key),
            Loss::Segments(parts) => (is_shorter(parts) || is_fixed(parts)) && self.keeps_segments(),
            Loss::Unknown => false,
        })
    }

    /// Whether what it takes away of a key is known, or written elsewhere.
    fn is_fixed_or_read(&self, key: &UrlPart) -> bool {
        matches!(self.when.get(&Spot::Key(key.clone())), Some(Test::Is(_)))
            || self.change.iter().any(|change| change.reads(key))
    }

    /// Whether it takes away what other rules could have moved elsewhere: it is tried when nothing else is left.
    pub(super) fn is_late(&self) -> bool {
        self.forgets_path()
    }

    /// Whether it computes numbers.
    pub(super) fn counts(&self) -> bool {
        self.change.iter().flat_map(|change| change.facts().sources()).any(|source| source.count.is_some())
    }

    /// Whether it writes values elsewhere, or in another way, and forgets none: pages that it brings together have the same
    /// names.
    pub(super) fn is_move(&self) -> bool {
        self.change.iter().any(|change| change.facts().puts_values())
            && self.change.iter().all(|change| match change.facts().loses {
                Loss::Nothing => true,
                Loss::Part(key) => self.is_fixed_or_read(key),
                Loss::Segments(_) => change.facts().sources().next().is_some() && self.keeps_segments(),
                Loss::Repeats | Loss::Values(_) | Loss::Unknown => false,
            })
    }

    /// Whether a rule forgets what pages are named by.
    pub(super) fn forgets_path(&self) -> bool {
        self.change.iter().any(|change| match change.facts().takes {
            Taken::Path | Taken::Value(Spot::FromRight(_) | Spot::Key(UrlPart::PathSegment(_))) => true,
            Taken::Nothing | Taken::Part(_) | Taken::Value(Spot::Key(_)) | Taken::Values(..) => false,
        })
    }

    /// Whether every segment of a path of fixed length is fixed or read.
    fn keeps_segments(&self) -> bool {
        let depth = self.when.iter().find_map(|(spot, test)| match (spot, test) {
            (Spot::Key(UrlPart::PathSegment(depth)), Test::Absent) => Some(*depth),
            _ => None,
        });
        let paths = || {
            self.change.iter().filter_map(|change| match change.facts().puts {
                Put::Path(parts) => Some(parts),
                Put::Nothing | Put::Value(..) | Put::Spelling(..) | Put::Texts(_) => None,
            })
        };
        let is_known = |part: &PathPart| matches!(part, PathPart::Text(_) | PathPart::Value { .. });
        let reads_segments = paths().any(|parts| parts.iter().all(is_known));
        let is_kept = |index: u16| self.is_fixed_or_read(&UrlPart::PathSegment(index));
        let is_fixed_path = paths().any(is_fixed);
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
