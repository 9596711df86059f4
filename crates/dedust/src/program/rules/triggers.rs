/*!
What triggers a rule? Something without which it changes no URL.

What a test asks for must be there, and so must a value that is read: any one of these will do, and the one that
fewest URLs have is best. Otherwise a rule is triggered by what its changes would change, all of it. Whatever is not
understood here is triggered by every URL: that is slower, never wrong.
*/

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{DEPTHS, Feature, FoldedArea, spelling_bits};
use crate::rule::{Area, Change, Closed, Facts, PathPart, Put, Rule, Spelling, Spot, Taken, Test, WaitsFor};
use crate::url::{UrlPart, Value};

/// Something that a URL may have. Ordered by how many URLs do, those with least first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trigger {
    /// A query parameter with a value.
    Param(Box<str>, Value),
    QueryName(Box<str>),
    PathName(Box<str>),
    /// A value of the path, wherever it stands.
    Segment(Box<str>),
    /// Any of some characters in an area.
    Characters(FoldedArea, u8),
    Feature(Feature),
}

impl Trigger {
    /// The larger, the more URLs have it.
    fn frequency(&self) -> u8 {
        match self {
            Self::Param(..) => 0,
            Self::QueryName(_) | Self::PathName(_) | Self::Feature(Feature::Rare | Feature::Repeats) => 1,
            Self::Segment(_) => 2,
            Self::Characters(..) => 3,
            Self::Feature(Feature::TrailingSlash | Feature::Labels) => 4,
            Self::Feature(Feature::Http | Feature::Https) => 5,
            Self::Feature(Feature::Always) => 6,
        }
    }
}

/// What a rule waits for: any of these, among them so many values at most.
pub(super) fn triggers(rule: &Rule, max_values: usize) -> BTreeSet<Trigger> {
    let asked = rule.when.iter().filter_map(|(spot, test)| asked_for(spot, test, max_values));
    // Where there are more known values, each is rarer.
    let frequency = |triggers: &BTreeSet<Trigger>| {
        (triggers.iter().map(Trigger::frequency).max(), Reverse(triggers.len()))
    };
    if rule.last {
        // It ends the list where its tests hold, also if it changes nothing.
        return asked
            .min_by_key(frequency)
            .unwrap_or_else(|| BTreeSet::from([Trigger::Feature(Feature::Always)]));
    }
    let read = needed(rule).map(|spot| BTreeSet::from([presence(spot)]));
    let changed: Option<BTreeSet<Trigger>> = rule
        .change
        .iter()
        .map(|change| changed_by(change, max_values))
        .try_fold(BTreeSet::new(), |mut all, triggers| {
            all.extend(triggers?);
            Some(all)
        });
    let best = asked.chain(read).chain(changed).min_by_key(frequency);
    best.unwrap_or_else(|| BTreeSet::from([Trigger::Feature(Feature::Always)]))
}

/// A bit for every number of segments with which the rule may change a URL.
pub(super) fn depths(rule: &Rule) -> u8 {
    let (mut least, mut most) = (0, usize::MAX);
    let mut need = |segments: usize| least = least.max(segments);
    for (spot, test) in &rule.when {
        if let Spot::Key(UrlPart::PathSegment(index)) | Spot::FromRight(index) = spot {
            match test {
                Test::Is(_) | Test::OneOf(_) => need(usize::from(*index) + 1),
                Test::Any(any) if !any.optional => need(usize::from(*index) + 1),
                Test::Absent => most = most.min(usize::from(*index)),
                Test::Not(_) | Test::Any(_) => {}
            }
        }
    }
    if rule.closed != Closed::No {
        let is_segment =
            |spot: &&Spot| matches!(spot, Spot::Key(UrlPart::PathSegment(_)) | Spot::FromRight(_));
        most = most.min(rule.when.keys().filter(is_segment).count());
    }
    let (needed, first) =
        if rule.last { (None, None) } else { (Some(needed(rule)), rule.change.first().map(Change::facts)) };
    for spot in needed.into_iter().flatten() {
        if let Spot::Key(UrlPart::PathSegment(index)) | Spot::FromRight(index) = spot {
            need(usize::from(*index) + 1);
        }
    }
    if let Some(Facts { puts: Put::Path(parts), .. }) = first {
        for part in parts {
            match part {
                PathPart::Segments { from, but_last } => need(usize::from(*from) + usize::from(*but_last)),
                PathPart::First(count) | PathPart::Last(count) => need(usize::from(*count)),
                PathPart::Text(_) | PathPart::Value { .. } => {}
            }
        }
    }
    if let Some(only) = first.filter(|_| rule.change.len() == 1) {
        need(only.least_segments);
    }
    // The last stands for all that are larger.
    let fits =
        |depth: usize| if depth + 1 < DEPTHS { depth >= least && depth <= most } else { depth <= most };
    (0..DEPTHS).filter(|&depth| fits(depth)).fold(0, |bits, depth| bits | 1 << depth)
}

/// What is read by the first change that puts something new into the URL. If that is not there, nothing is changed.
fn needed(rule: &Rule) -> impl Iterator<Item = &Spot> {
    let first = rule.change.iter().map(Change::facts).find(Facts::puts_values);
    first.into_iter().flat_map(|facts| facts.sources()).filter_map(|source| source.of.as_ref())
}

/// What a test asks for; `None` when it can be passed by what is not there.
fn asked_for(spot: &Spot, test: &Test, max_values: usize) -> Option<BTreeSet<Trigger>> {
    let values = match test {
        Test::Is(value) => std::slice::from_ref(value),
        Test::OneOf(values) => values,
        Test::Any(any) if !any.optional => return Some(BTreeSet::from([presence(spot)])),
        Test::Any(_) | Test::Not(_) | Test::Absent => return None,
    };
    Some(value_of(spot, values.iter(), max_values))
}

/// That a part has one of some values.
fn value_of<'a>(
    spot: &Spot,
    values: impl ExactSizeIterator<Item = &'a Value>,
    max_values: usize,
) -> BTreeSet<Trigger> {
    match spot {
        Spot::Key(UrlPart::Scheme) => {
            let feature = |value: &Value| match value.as_text() {
                Some("http") => Trigger::Feature(Feature::Http),
                // Of URLs of other schemes all rules are asked.
                _ => Trigger::Feature(Feature::Https),
            };
            values.map(feature).collect()
        }
        Spot::Key(UrlPart::QueryParam(name)) if values.len() <= max_values => {
            values.map(|value| Trigger::Param(name.name.clone(), value.clone())).collect()
        }
        Spot::Key(UrlPart::PathSegment(_)) | Spot::FromRight(_) if values.len() <= max_values => {
            values.filter_map(Value::as_text).map(|text| Trigger::Segment(text.into())).collect()
        }
        _ => BTreeSet::from([presence(spot)]),
    }
}

/// That a part has a value.
fn presence(spot: &Spot) -> Trigger {
    Trigger::Feature(match spot {
        Spot::Key(UrlPart::QueryParam(name)) => return Trigger::QueryName(name.name.clone()),
        Spot::Key(UrlPart::PathParam(name)) => return Trigger::PathName(name.name.clone()),
        Spot::Key(UrlPart::Subdomain(_)) => Feature::Labels,
        Spot::Key(UrlPart::TrailingSlash) => Feature::TrailingSlash,
        Spot::Key(UrlPart::Port | UrlPart::Hashbang | UrlPart::QuerySeparator) => Feature::Rare,
        // The number of segments tells.
        Spot::Key(UrlPart::Scheme | UrlPart::PathSegment(_)) | Spot::FromRight(_) => Feature::Always,
    })
}

/// What a change would change; `None` when it makes something where there was nothing.
fn changed_by(change: &Change, max_values: usize) -> Option<BTreeSet<Trigger>> {
    let Facts { takes, waits_for, .. } = change.facts();
    if let Taken::Part(Spot::Key(UrlPart::Scheme)) = takes {
        // A URL keeps its scheme.
        return Some(BTreeSet::new());
    }
    Some(match waits_for {
        WaitsFor::Part(spot) => BTreeSet::from([presence(spot)]),
        WaitsFor::Values(of, values) => {
            value_of(&Spot::Key(of.clone()), values.iter().map(|mapped| &mapped.is), max_values)
        }
        WaitsFor::Spelling(Area::Key(key), _) => BTreeSet::from([presence(&Spot::Key(key.clone()))]),
        WaitsFor::Spelling(Area::Path, to) => BTreeSet::from([folded(FoldedArea::Path, to)]),
        WaitsFor::Spelling(Area::Params, to) => BTreeSet::from([folded(FoldedArea::Params, to)]),
        WaitsFor::RepeatedSegments => BTreeSet::from([Trigger::Feature(Feature::Repeats)]),
        WaitsFor::Anything | WaitsFor::RepeatedParams => return None,
    })
}

fn folded(area: FoldedArea, to: Spelling) -> Trigger {
    use spelling_bits::{CAPITAL, ESCAPED_LETTER, ESCAPED_PUNCTUATION, ESCAPED_SPACE, PADDING, PLUS};
    let characters = match to {
        Spelling::Lowercase => CAPITAL,
        Spelling::Unescaped => ESCAPED_PUNCTUATION,
        Spelling::Composed => ESCAPED_LETTER,
        Spelling::PlusAsSpace => PLUS,
        Spelling::Underscored => ESCAPED_SPACE | PLUS,
        Spelling::Unpadded => PADDING,
    };
    Trigger::Characters(area, characters)
}
