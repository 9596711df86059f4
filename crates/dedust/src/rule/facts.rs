/*!
What is true of each kind of change, whatever rule makes it: what it takes away, what it puts, what it waits for, whether it can fail.

A change in, its [`Facts`] out. Whoever asks about changes in general asks here, so that a new kind is described once. How a change is made,
checked, written and put into words is said elsewhere.
*/

use super::{Area, Change, Mapped, PathPart, Replace, Source, Spelling, Spot};
use crate::url::UrlPart;

/// What is true of a change.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'c> {
    /// What it takes away, perhaps with a text in its place. If that is anything, the change does nothing else.
    pub takes: Taken<'c>,
    /// What it puts into a URL. If that is anything, the change does nothing else.
    pub puts: Put<'c>,
    /// Outside of this, it leaves the URL as it is.
    pub writes: Written<'c>,
    /// Where there may be a value afterwards that was not there before.
    pub new_values: NewValues<'c>,
    /// Without this, it changes nothing.
    pub waits_for: WaitsFor<'c>,
    /// With fewer path segments, it changes nothing.
    pub least_segments: usize,
    /// Why it may be impossible to make. Then no change of its rule is made.
    pub fails: Failure<'c>,
    /// Whether it is known to be made wherever the tests of its rule hold; what it takes away is surely gone then.
    pub is_sure: bool,
    /// What of a URL is not in the URL that it makes.
    pub loses: Loss<'c>,
    /// How much it says.
    pub size: usize,
}

/// What a change takes away.
#[derive(Clone, Copy, Debug)]
pub enum Taken<'c> {
    /// Nothing.
    Nothing,
    /// A part; what stands behind it may move up.
    Part(&'c Spot),
    /// The value of a part: `*` stands in its place.
    Value(&'c Spot),
    /// The path as a whole: `*` stands in its place.
    Path,
    /// Some values, which become others or nothing.
    Values(&'c UrlPart, &'c [Mapped]),
}

/// What a change puts into a URL.
#[derive(Clone, Copy, Debug)]
pub enum Put<'c> {
    /// Nothing.
    Nothing,
    /// A value, also where there was none.
    Value(&'c UrlPart, &'c [Source]),
    /// A new path.
    Path(&'c [PathPart]),
    /// Values in another spelling.
    Spelling(&'c Area, Spelling),
    /// Other texts in place of some.
    Texts(&'c [Replace]),
}

/// What a change may write, as small as it is known.
#[derive(Clone, Copy, Debug)]
pub enum Written<'c> {
    /// One part.
    Spot(&'c Spot),
    /// One part that has a key.
    Key(&'c UrlPart),
    /// The path.
    Path,
    /// The values of all query parameters.
    ParamValues,
    /// How often query parameters stand in the URL.
    ParamCount,
    /// What separates query parameters, and so which there are.
    Separators,
    /// The order of query parameters, these first.
    Order(&'c [UrlPart]),
    /// The URL as a text.
    Url,
}

/// Where a change may put a value.
#[derive(Clone, Copy, Debug)]
pub enum NewValues<'c> {
    /// Nowhere.
    Nowhere,
    /// In one part.
    At(&'c UrlPart),
    /// In any part.
    Anywhere,
}

/// Without what a change changes nothing.
#[derive(Clone, Copy, Debug)]
pub enum WaitsFor<'c> {
    /// Nothing is known: it may change any URL.
    Anything,
    /// A part.
    Part(&'c Spot),
    /// One of some values.
    Values(&'c UrlPart, &'c [Mapped]),
    /// A value in another spelling.
    Spelling(&'c Area, Spelling),
    /// Path segments that stand there twice.
    RepeatedSegments,
    /// Query parameters that stand there twice.
    RepeatedParams,
}

/// Why a change may be impossible to make.
#[derive(Clone, Copy, Debug)]
pub enum Failure<'c> {
    /// It never is.
    Never,
    /// A value that it reads may not be there, or not be as expected. It is looked for before anything is changed.
    WithoutValue,
    /// There may be no room for what these values become. There always is in a URL of which nothing was changed before.
    WithoutRoom(&'c [Mapped]),
    /// The URL that it makes may be none.
    NoUrl,
}

/// What a change loses of a URL: whether two URLs that become one are named alike depends on it.
#[derive(Clone, Copy, Debug)]
pub enum Loss<'c> {
    /// Nothing: a value is written elsewhere, or in another way.
    Nothing,
    /// What says the same as another part of the URL.
    Repeats,
    /// Values that stand for others, or for nothing.
    Values(&'c [Mapped]),
    /// The value of a part, unless another change reads it.
    Part(&'c UrlPart),
    /// Those segments that are in no part of the new path.
    Segments(&'c [PathPart]),
    /// Anything.
    Unknown,
}

/// What is assumed unless more is known: the worst of everything.
const UNKNOWN: Facts<'static> = Facts {
    takes: Taken::Nothing,
    puts: Put::Nothing,
    writes: Written::Url,
    new_values: NewValues::Anywhere,
    waits_for: WaitsFor::Anything,
    least_segments: 0,
    fails: Failure::NoUrl,
    is_sure: false,
    loses: Loss::Unknown,
    size: 1,
};

impl Change {
    /// What is true of it.
    pub fn facts(&self) -> Facts<'_> {
        match self {
            Self::Drop(spot) => Facts {
                takes: Taken::Part(spot),
                writes: Written::Spot(spot),
                new_values: NewValues::Nowhere,
                waits_for: WaitsFor::Part(spot),
                least_segments: segments_up_to(spot),
                fails: Failure::Never,
                is_sure: true,
                loses: match spot {
                    Spot::Key(key) => Loss::Part(key),
                    Spot::FromRight(_) => Loss::Unknown,
                },
                ..UNKNOWN
            },
            Self::Forget(spot) => Facts {
                takes: Taken::Value(spot),
                writes: Written::Spot(spot),
                new_values: NewValues::Nowhere,
                waits_for: WaitsFor::Part(spot),
                least_segments: segments_up_to(spot),
                fails: Failure::Never,
                is_sure: true,
                ..UNKNOWN
            },
            Self::ForgetPath => Facts {
                takes: Taken::Path,
                writes: Written::Path,
                fails: Failure::Never,
                is_sure: true,
                ..UNKNOWN
            },
            Self::Map { of, values } => Facts {
                takes: Taken::Values(of, values),
                writes: Written::Key(of),
                new_values: NewValues::At(of),
                waits_for: WaitsFor::Values(of, values),
                least_segments: match of {
                    UrlPart::PathSegment(index) => usize::from(*index) + 1,
                    _ => 0,
                },
                fails: Failure::WithoutRoom(values),
                is_sure: true,
                loses: Loss::Values(values),
                size: values.len(),
                ..UNKNOWN
            },
            Self::Fold { of, to } => Facts {
                puts: Put::Spelling(of, *to),
                writes: match of {
                    Area::Path => Written::Path,
                    Area::Params => Written::ParamValues,
                    Area::Key(key) => Written::Key(key),
                },
                new_values: match of {
                    Area::Path | Area::Params => NewValues::Nowhere,
                    Area::Key(key) => NewValues::At(key),
                },
                waits_for: WaitsFor::Spelling(of, *to),
                fails: Failure::Never,
                is_sure: true,
                loses: if *to == Spelling::Lowercase { Loss::Unknown } else { Loss::Nothing },
                ..UNKNOWN
            },
            Self::Set { key, to } => Facts {
                puts: Put::Value(key, to),
                writes: Written::Key(key),
                new_values: NewValues::At(key),
                fails: Failure::WithoutValue,
                loses: Loss::Nothing,
                ..UNKNOWN
            },
            Self::Path(parts) => Facts {
                puts: Put::Path(parts),
                writes: Written::Path,
                fails: Failure::WithoutValue,
                loses: Loss::Segments(parts),
                size: parts.len(),
                ..UNKNOWN
            },
            Self::Unrepeat => Facts {
                writes: Written::Path,
                waits_for: WaitsFor::RepeatedSegments,
                least_segments: 2,
                fails: Failure::Never,
                loses: Loss::Repeats,
                ..UNKNOWN
            },
            Self::UnrepeatParams => Facts {
                writes: Written::ParamCount,
                new_values: NewValues::Nowhere,
                waits_for: WaitsFor::RepeatedParams,
                fails: Failure::Never,
                loses: Loss::Repeats,
                ..UNKNOWN
            },
            Self::SplitParams => Facts { writes: Written::Separators, fails: Failure::Never, ..UNKNOWN },
            Self::Order(keys) => Facts {
                writes: Written::Order(keys),
                new_values: NewValues::Nowhere,
                fails: Failure::Never,
                ..UNKNOWN
            },
            Self::Replace(list) => Facts { puts: Put::Texts(list), ..UNKNOWN },
        }
    }

    /// The values that it reads to write them elsewhere, to be changed.
    pub fn sources_mut(&mut self) -> Vec<&mut Source> {
        match self {
            Self::Set { to, .. } => to.iter_mut().collect(),
            Self::Path(parts) => parts.iter_mut().filter_map(PathPart::source_mut).collect(),
            Self::Drop(_)
            | Self::Forget(_)
            | Self::ForgetPath
            | Self::Map { .. }
            | Self::Fold { .. }
            | Self::Unrepeat
            | Self::UnrepeatParams
            | Self::SplitParams
            | Self::Order(_)
            | Self::Replace(_) => Vec::new(),
        }
    }
}

impl<'c> Facts<'c> {
    /// The values that it reads to write them elsewhere.
    pub fn sources(&self) -> impl Iterator<Item = &'c Source> + use<'c> {
        let (to, parts): (&[Source], &[PathPart]) = match self.puts {
            Put::Value(_, to) => (to, &[]),
            Put::Path(parts) => (&[], parts),
            Put::Nothing | Put::Spelling(..) | Put::Texts(_) => (&[], &[]),
        };
        to.iter().chain(parts.iter().filter_map(PathPart::source))
    }

    /// The part that it gives another value or none, other than by moving others up and by spelling.
    pub fn valued_part(&self) -> Option<&'c UrlPart> {
        let taken = match self.takes {
            Taken::Part(Spot::Key(key)) | Taken::Value(Spot::Key(key)) | Taken::Values(key, _) => Some(key),
            Taken::Part(Spot::FromRight(_)) | Taken::Value(Spot::FromRight(_)) => None,
            Taken::Nothing | Taken::Path => None,
        };
        let put = match self.puts {
            Put::Value(key, _) => Some(key),
            Put::Nothing | Put::Path(_) | Put::Spelling(..) | Put::Texts(_) => None,
        };
        taken.or(put)
    }

    /// Whether it writes a value where none may have been.
    pub fn puts_values(&self) -> bool {
        match self.puts {
            Put::Value(..) | Put::Path(_) => true,
            Put::Nothing | Put::Spelling(..) | Put::Texts(_) => false,
        }
    }

    /// Whether it forgets a value: what it makes of a URL is no URL.
    pub fn forgets(&self) -> bool {
        match self.takes {
            Taken::Value(_) | Taken::Path => true,
            Taken::Nothing | Taken::Part(_) | Taken::Values(..) => false,
        }
    }

    /// Whether it changes the query or the URL as a whole.
    pub fn is_of_whole(&self) -> bool {
        match self.writes {
            Written::Separators | Written::Order(_) | Written::Url => true,
            Written::Spot(_)
            | Written::Key(_)
            | Written::Path
            | Written::ParamValues
            | Written::ParamCount => false,
        }
    }

    /// Whether it leaves every URL as it is.
    pub fn is_idle(&self) -> bool {
        let is_idle = match self.takes {
            Taken::Part(spot) => *spot == Spot::Key(UrlPart::Scheme),
            Taken::Values(_, values) => values.iter().all(|mapped| {
                mapped.becomes.as_deref().map(str::as_bytes) == mapped.is.as_raw() && mapped.becomes.is_some()
            }),
            Taken::Nothing | Taken::Value(_) | Taken::Path => false,
        };
        let puts_what_is_there =
            matches!(self.puts, Put::Value(key, [source]) if *source == Source::of(Spot::Key(key.clone())));
        is_idle || puts_what_is_there || matches!(self.writes, Written::Order([]))
    }

    /// Whether it is sure to change nothing in what it made of a URL in which no name stands twice.
    pub fn is_done_once(&self) -> bool {
        // What stands behind a segment or a label moves up.
        let is_counted = |key: &UrlPart| matches!(key, UrlPart::PathSegment(_) | UrlPart::Subdomain(_));
        match self.takes {
            Taken::Part(Spot::Key(key)) => !is_counted(key),
            Taken::Values(of, values) => {
                // What becomes of a value must stay that.
                let stays = |text: &str| {
                    let changed = values.iter().filter(|other| other.is.as_text() == Some(text));
                    changed.into_iter().all(|other| other.becomes.as_deref() == Some(text))
                };
                values.iter().all(|mapped| mapped.becomes.as_deref().map_or(!is_counted(of), stays))
            }
            Taken::Part(Spot::FromRight(_)) | Taken::Value(_) | Taken::Path => false,
            Taken::Nothing => matches!(self.puts, Put::Spelling(_, Spelling::Lowercase)),
        }
    }
}

impl PathPart {
    /// The value that it is made of.
    fn source(&self) -> Option<&Source> {
        match self {
            Self::Value { from, .. } => Some(from),
            Self::Text(_) | Self::Segments { .. } | Self::First(_) | Self::Last(_) => None,
        }
    }

    fn source_mut(&mut self) -> Option<&mut Source> {
        match self {
            Self::Value { from, .. } => Some(from),
            Self::Text(_) | Self::Segments { .. } | Self::First(_) | Self::Last(_) => None,
        }
    }
}

/// The number of segments that a path has in which this one is; 0 for what is no segment.
fn segments_up_to(spot: &Spot) -> usize {
    match spot {
        Spot::Key(UrlPart::PathSegment(index)) | Spot::FromRight(index) => usize::from(*index) + 1,
        Spot::Key(_) => 0,
    }
}
