/*!
Whether a rule makes sense by itself: no gaps, no text that would be read as something else.
*/

use super::{Change, Closed, Facts, Mapped, PathPart, Put, Replace, Rule, Source, Spot, Taken, Written};
use crate::url::{UrlPart, Value, is_query_text};

/// Why a rule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRule {
    /// A URL would be left without scheme.
    #[error("what is written has no `scheme`, or may lack it")]
    NoScheme,
    /// A value or name would be read as something else in a URL.
    #[error("`{value}` cannot stand in `{key}` of a safely normalized URL")]
    UnsafeText {
        /// The key.
        key: UrlPart,
        /// Its value.
        value: Box<str>,
    },
    /// A list that is searched is not sorted.
    #[error("the values of `{0}` are not sorted, or one stands twice")]
    Unsorted(Box<str>),
    /// A bound that is no share.
    #[error("the failure bound must be from 0 to 1")]
    FailureBound,
    /// The order names something else than a query parameter.
    #[error("the order names `{0}`, which is no query parameter")]
    UnknownInOrder(UrlPart),
    /// A replacement could go on for ever, or looks for nothing.
    #[error("replacing `{from}` by `{to}` makes URLs no shorter")]
    ReplaceGrows {
        /// What it looks for.
        from: Box<str>,
        /// What it writes instead.
        to: Box<str>,
    },
    /// A closed rule asks for a segment from the right.
    #[error("a closed rule asks for path segments from the left, not for `{0}`")]
    ClosedFromRight(Box<str>),
    /// A text in place of a parameter is written where none was.
    #[error(
        "`{0}` is a text in place of a parameter: it can be asked for, read, left out and translated, not added"
    )]
    AddsText(UrlPart),
    /// There is nothing to change.
    #[error("there is no change, expected one unless the rule is the last")]
    NoChange,
    /// An earlier rule takes away what it asks for, or what it would change.
    #[error("it is never made: rule {by} takes `{spot}` away first")]
    NeverMade {
        /// The index of the earlier rule.
        by: usize,
        /// What it takes away.
        spot: Box<str>,
    },
}

/// Whether what is written of a value stays within its part of a URL.
fn check_read(key: &UrlPart, source: &Source) -> Result<(), InvalidRule> {
    let texts = [&source.prefix, &source.suffix].into_iter().chain(source.table.iter().map(|(_, to)| to));
    for text in texts {
        check_text(key, Some(&Value::Text(text.clone())))?;
    }
    let is_sorted = source.table.is_sorted_by(|a, b| a.0 < b.0);
    if is_sorted { Ok(()) } else { Err(InvalidRule::Unsorted(key.to_string().into())) }
}

fn check_replace(Replace { from, to, .. }: &Replace) -> Result<(), InvalidRule> {
    match (to.len(), to) < (from.len(), from) {
        true => Ok(()),
        false => Err(InvalidRule::ReplaceGrows { from: from.clone(), to: to.clone() }),
    }
}

pub(super) fn check_rule(rule: &Rule) -> Result<(), InvalidRule> {
    let bounds = [Some(rule.evidence.failure_bound), rule.evidence.canonical_bound];
    if !bounds.into_iter().flatten().all(|bound| (0.0..=1.0).contains(&bound)) {
        return Err(InvalidRule::FailureBound);
    }
    for spot in rule.when.keys() {
        check_spot(spot)?;
    }
    if rule.change.is_empty() && !rule.last {
        return Err(InvalidRule::NoChange);
    }
    if let Some(spot) = rule.when.keys().find(|spot| matches!(spot, Spot::FromRight(_)))
        && rule.closed != Closed::No
    {
        return Err(InvalidRule::ClosedFromRight(spot.to_string().into()));
    }
    rule.change.iter().try_for_each(check_change)
}

/// Whether what a change speaks of and writes can stand in a URL.
fn check_change(change: &Change) -> Result<(), InvalidRule> {
    let Facts { takes, puts, writes, .. } = change.facts();
    match takes {
        Taken::Part(spot) | Taken::Value(spot) => check_spot(spot)?,
        Taken::Values(of, values) => check_values(of, values)?,
        Taken::Nothing | Taken::Path => {}
    }
    match puts {
        Put::Value(key, _) if key.is_query_text() => return Err(InvalidRule::AddsText(key.clone())),
        Put::Value(key, to) => check_value(key, to)?,
        Put::Path(parts) => parts.iter().try_for_each(check_part)?,
        Put::Texts(list) => list.iter().try_for_each(check_replace)?,
        Put::Nothing | Put::Spelling(..) => {}
    }
    if let Written::Order(order) = writes {
        order.iter().try_for_each(|key| check_text(key, None))?;
        if let Some(key) = order.iter().find(|key| !matches!(key, UrlPart::QueryParam(_))) {
            return Err(InvalidRule::UnknownInOrder(key.clone()));
        }
    }
    Ok(())
}

fn check_values(of: &UrlPart, values: &[Mapped]) -> Result<(), InvalidRule> {
    check_text(of, None)?;
    for text in values.iter().filter_map(|mapped| mapped.becomes.clone()) {
        check_text(of, Some(&Value::Text(text)))?;
    }
    if *of == UrlPart::Scheme && values.iter().any(|mapped| mapped.becomes.is_none()) {
        return Err(InvalidRule::NoScheme);
    }
    if !values.is_sorted_by(|a, b| a.is < b.is) {
        return Err(InvalidRule::Unsorted(of.to_string().into()));
    }
    Ok(())
}

fn check_value(key: &UrlPart, to: &[Source]) -> Result<(), InvalidRule> {
    check_text(key, to.is_empty().then_some(&Value::Bare))?;
    match to {
        // Of some keys only few values are known.
        [Source { prefix, of: None, suffix, .. }] if suffix.is_empty() => {
            check_text(key, Some(&Value::Text(prefix.clone())))
        }
        to => to.iter().try_for_each(|source| check_read(key, source)),
    }
}

fn check_part(part: &PathPart) -> Result<(), InvalidRule> {
    let key = UrlPart::PathSegment(0);
    match part {
        PathPart::Text(text) => {
            check_text(&key, Some(&Value::Text(text.clone())))?;
            if text.is_empty() || **text == *"." || **text == *".." || text.contains(';') {
                return Err(InvalidRule::UnsafeText { key, value: text.clone() });
            }
            Ok(())
        }
        PathPart::Value { from, .. } => check_read(&key, from),
        PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_) => Ok(()),
    }
}

fn check_spot(spot: &Spot) -> Result<(), InvalidRule> {
    match spot {
        Spot::Key(key) => check_text(key, None),
        Spot::FromRight(_) => Ok(()),
    }
}

/// Refuses text that would end the part of a URL that it is written to.
fn check_text(key: &UrlPart, value: Option<&Value>) -> Result<(), InvalidRule> {
    let refuse = |text: &str| Err(InvalidRule::UnsafeText { key: key.clone(), value: text.into() });
    let clean =
        |text: &str, ends: &[u8]| text.bytes().all(|byte| byte.is_ascii_graphic() && !ends.contains(&byte));
    if let UrlPart::PathParam(name) | UrlPart::QueryParam(name) = key {
        let ends: &[u8] = if matches!(key, UrlPart::PathParam(_)) { b"/?#;=" } else { b"&#=" };
        if !clean(&name.name, ends) && !key.is_query_text() {
            return refuse(&name.name);
        }
    }
    let ends: &[u8] = match key {
        UrlPart::Scheme => return refuse_unless(value, &["http", "https", "ftp", "ws", "wss"], refuse),
        UrlPart::TrailingSlash => return refuse_unless(value, &["/"], refuse),
        UrlPart::QuerySeparator => return refuse_unless(value, &[";"], refuse),
        UrlPart::Subdomain(_) | UrlPart::Port => b"./?#@:\\",
        UrlPart::PathSegment(_) => b"/?#\\",
        UrlPart::PathParam(_) => b"/?#;\\",
        UrlPart::QueryParam(_) => b"&#",
        UrlPart::Hashbang => b"",
    };
    match value {
        None => Ok(()),
        Some(Value::Bare) if matches!(key, UrlPart::QueryParam(_)) => Ok(()),
        Some(Value::Bare) => refuse("(no value)"),
        // Anything else would be read as a parameter.
        Some(Value::Text(text))
            if key.is_query_text() && !(is_query_text(text.as_bytes()) && clean(text, b"=&#")) =>
        {
            refuse(text)
        }
        Some(Value::Text(text)) if clean(text, ends) => Ok(()),
        Some(Value::Text(text)) => refuse(text),
    }
}

fn refuse_unless(
    value: Option<&Value>,
    known: &[&str],
    refuse: impl Fn(&str) -> Result<(), InvalidRule>,
) -> Result<(), InvalidRule> {
    match value {
        None => Ok(()),
        Some(Value::Text(text)) if known.contains(&&**text) => Ok(()),
        Some(value) => refuse(&value.to_string()),
    }
}
