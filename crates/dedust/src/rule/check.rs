/*!
Whether an edit makes sense by itself: no gaps, no text that would be read as something else.
*/

use std::collections::BTreeMap;

use super::{Change, Closed, Edit, Op, PathPart, Replace, Rule, Source, Spot, Test};
use crate::url::{ParamName, TokenKey, Value, is_query_text};

/// Why an edit is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEdit {
    /// A value is copied from a key that the tests do not name.
    #[error("`{to}` is copied from `{from}`, which `when` does not name")]
    UnknownSource {
        /// The key that is written.
        to: TokenKey,
        /// The key that is missing among the tests.
        from: TokenKey,
    },
    /// The URL that is written has no scheme, or may lack it.
    #[error("what is written has no `scheme`, or may lack it")]
    NoScheme,
    /// The URL that is written lacks a path segment or host label.
    #[error("what is written has `{0}` but not the one before it")]
    Gap(TokenKey),
    /// A value or name would be read as something else in a URL.
    #[error("`{value}` cannot stand in `{key}` of a safely normalized URL")]
    UnsafeText {
        /// The key.
        key: TokenKey,
        /// Its value.
        value: Box<str>,
    },
    /// A list that is searched is not sorted.
    #[error("the values of `{0}` are not sorted, or one stands twice")]
    Unsorted(Box<str>),
    /// A bound that is no share.
    #[error("the failure bound must be from 0 to 1")]
    FailureBound,
    /// A parameter that is written and would also be passed through.
    #[error("`{0}` is written, and also passed through")]
    PassedThrough(TokenKey),
    /// The order names something else than a query parameter, or one that is not written.
    #[error("the order names `{0}`, which is no query parameter that is written")]
    UnknownInOrder(TokenKey),
    /// A URL is written anew of which not all is known.
    #[error(
        "an edit that writes URLs anew must be closed and last, ask for nothing but `is` and `any` of keys, and make no other change than their order; `count` and `table` cannot be used in it"
    )]
    WritesOpen,
    /// A change that must be the only one.
    #[error("an edit that replaces text, or moves URLs to another site, makes no other change")]
    NotAlone,
    /// A replacement that asks for something.
    #[error("an edit that replaces text has no tests, is not closed and not last")]
    ReplaceWithTests,
    /// A replacement could go on for ever, or looks for nothing.
    #[error("replacing `{from}` by `{to}` makes URLs no shorter")]
    ReplaceGrows {
        /// What it looks for.
        from: Box<str>,
        /// What it writes instead.
        to: Box<str>,
    },
    /// A replacement stands behind an edit of another kind.
    #[error("edits that replace text must stand before all others")]
    ReplaceAfterOthers,
    /// An edit that writes URLs anew, or replaces text, stands beside one that changes parts of URLs.
    #[error("edits that write URLs anew or replace text cannot stand beside edits that change parts of URLs")]
    WritesAmongOthers,
    /// A closed edit asks for a segment from the right.
    #[error("a closed edit asks for path segments from the left, not for `{0}`")]
    ClosedFromRight(Box<str>),
    /// A text in place of a parameter is written where none was, or by an edit that writes URLs anew.
    #[error(
        "`{0}` is a text in place of a parameter: it can be asked for, read, left out and translated, not added"
    )]
    AddsText(TokenKey),
    /// There is nothing to change.
    #[error("there is no change")]
    NoChange,
    /// An earlier edit takes away what it asks for, or what it would change.
    #[error("it is never made: edit {by} takes `{spot}` away first")]
    NeverMade {
        /// The index of the earlier edit.
        by: usize,
        /// What it takes away.
        spot: Box<str>,
    },
}

/// Whether an edit that writes URLs anew says what becomes of every part.
fn check_write(edit: &Edit, target: &BTreeMap<TokenKey, Op>) -> Result<(), InvalidEdit> {
    let test = |key: &TokenKey| edit.when.get(&Spot::Key(key.clone()));
    let is_other_param = |key: &TokenKey| {
        edit.closed == Closed::ExceptParams && matches!(key, TokenKey::QueryParam(_)) && test(key).is_none()
    };
    if !Rule::is_one(edit) {
        return Err(InvalidEdit::WritesOpen);
    }
    let asked = edit.when.keys().filter_map(|spot| match spot {
        Spot::Key(key) => Some(key),
        Spot::FromRight(_) => None,
    });
    if let Some(key) = asked.chain(target.keys()).find(|key| key.is_query_text()) {
        return Err(InvalidEdit::AddsText(key.clone()));
    }
    let may_lack = |from: &TokenKey| test(from).is_none_or(may_be_absent);
    let has_scheme = match target.get(&TokenKey::Scheme) {
        None => false,
        Some(Op::Keep(_) | Op::Ignore | Op::Join(_)) => true,
        Some(Op::Copy(from)) => !may_lack(from),
        Some(Op::Map { of, values }) => !may_lack(of) && values.iter().all(|mapped| mapped.becomes.is_some()),
    };
    if !has_scheme {
        return Err(InvalidEdit::NoScheme);
    }
    for (key, op) in target {
        let before = match key {
            TokenKey::PathSegment(index @ 1..) => Some(TokenKey::PathSegment(index - 1)),
            TokenKey::Subdomain(index @ 1..) => Some(TokenKey::Subdomain(index - 1)),
            _ => None,
        };
        if before.is_some_and(|before| !target.contains_key(&before)) {
            return Err(InvalidEdit::Gap(key.clone()));
        }
        check_text(key, None)?;
        if is_other_param(key) {
            return Err(InvalidEdit::PassedThrough(key.clone()));
        }
        let check_source = |from: &TokenKey| match test(from) {
            None => Err(InvalidEdit::UnknownSource { to: key.clone(), from: from.clone() }),
            Some(_) => Ok(()),
        };
        match op {
            Op::Keep(value) => check_text(key, Some(value))?,
            Op::Copy(from) => check_source(from)?,
            Op::Join(sources) => {
                for source in sources {
                    check_read(key, source)?;
                    if let Some(Spot::Key(from)) = &source.of {
                        check_source(from)?;
                    }
                }
            }
            Op::Map { of, values } => {
                check_source(of)?;
                for text in values.iter().filter_map(|mapped| mapped.becomes.clone()) {
                    check_text(key, Some(&Value::Text(text)))?;
                }
            }
            Op::Ignore => {}
        }
    }
    for spot in edit.when.keys() {
        // Else an earlier parameter of the name would be passed through, and come after this one.
        if let Spot::Key(TokenKey::QueryParam(ParamName { name, occurrence: occurrence @ 2.. })) = spot {
            let before = TokenKey::QueryParam(ParamName { name: name.clone(), occurrence: occurrence - 1 });
            if is_other_param(&before) {
                return Err(InvalidEdit::PassedThrough(before));
            }
        }
    }
    Ok(())
}

/// Whether a test is true of a URL that lacks the part.
fn may_be_absent(test: &Test) -> bool {
    match test {
        Test::Any(any) => any.optional,
        Test::Not(_) | Test::Absent => true,
        Test::Is(_) | Test::OneOf(_) => false,
    }
}

/// Whether what is written of a value stays within its part of a URL.
fn check_read(key: &TokenKey, source: &Source) -> Result<(), InvalidEdit> {
    let texts = [&source.prefix, &source.suffix].into_iter().chain(source.table.iter().map(|(_, to)| to));
    for text in texts {
        check_text(key, Some(&Value::Text(text.clone())))?;
    }
    let is_sorted = source.table.is_sorted_by(|a, b| a.0 < b.0);
    if is_sorted { Ok(()) } else { Err(InvalidEdit::Unsorted(key.to_string().into())) }
}

fn check_replace(edit: &Edit, Replace { from, to, .. }: &Replace) -> Result<(), InvalidEdit> {
    if !edit.when.is_empty() || edit.closed != Closed::No || edit.last {
        return Err(InvalidEdit::ReplaceWithTests);
    }
    match (to.len(), to) < (from.len(), from) {
        true => Ok(()),
        false => Err(InvalidEdit::ReplaceGrows { from: from.clone(), to: to.clone() }),
    }
}

pub(super) fn check_edit(edit: &Edit) -> Result<(), InvalidEdit> {
    if !(0.0..=1.0).contains(&edit.evidence.failure_bound) {
        return Err(InvalidEdit::FailureBound);
    }
    for spot in edit.when.keys() {
        check_spot(spot)?;
    }
    if edit.change.is_empty() {
        return Err(InvalidEdit::NoChange);
    }
    if let Some(spot) = edit.when.keys().find(|spot| matches!(spot, Spot::FromRight(_)))
        && edit.closed != Closed::No
    {
        return Err(InvalidEdit::ClosedFromRight(spot.to_string().into()));
    }
    let is_alone = |change: &Change| matches!(change, Change::Replace(_) | Change::Move(_));
    if edit.change.len() > 1 && edit.change.iter().any(is_alone) {
        return Err(InvalidEdit::NotAlone);
    }
    let mut written = None;
    for change in &edit.change {
        match change {
            Change::Replace(replace) => check_replace(edit, replace)?,
            Change::Move(_) | Change::SplitParams => {}
            Change::Write(target) => {
                check_write(edit, target)?;
                written = Some(target);
            }
            Change::Order(order) => {
                order.iter().try_for_each(|key| check_text(key, None))?;
                let is_param = |key: &TokenKey| {
                    matches!(key, TokenKey::QueryParam(_))
                        && written.is_none_or(|target| target.contains_key(key))
                };
                if let Some(key) = order.iter().find(|key| !is_param(key)) {
                    return Err(InvalidEdit::UnknownInOrder(key.clone()));
                }
            }
            Change::Drop(spot) | Change::Forget(spot) => check_spot(spot)?,
            Change::Map { of, values } => {
                check_text(of, None)?;
                for text in values.iter().filter_map(|mapped| mapped.becomes.clone()) {
                    check_text(of, Some(&Value::Text(text)))?;
                }
                if *of == TokenKey::Scheme && values.iter().any(|mapped| mapped.becomes.is_none()) {
                    return Err(InvalidEdit::NoScheme);
                }
                if !values.is_sorted_by(|a, b| a.is < b.is) {
                    return Err(InvalidEdit::Unsorted(of.to_string().into()));
                }
            }
            Change::Set { key, .. } if key.is_query_text() => return Err(InvalidEdit::AddsText(key.clone())),
            Change::Set { key, to } => {
                check_text(key, None)?;
                to.iter().try_for_each(|source| check_read(key, source))?;
            }
            Change::Path(parts) => {
                for part in parts {
                    let key = TokenKey::PathSegment(0);
                    match part {
                        PathPart::Text(text) => {
                            check_text(&key, Some(&Value::Text(text.clone())))?;
                            if text.is_empty() || **text == *"." || **text == *".." || text.contains(';') {
                                return Err(InvalidEdit::UnsafeText { key, value: text.clone() });
                            }
                        }
                        PathPart::Value { from, .. } => check_read(&key, from)?,
                        PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_) => {}
                    }
                }
            }
            Change::ForgetPath | Change::Fold { .. } | Change::Unrepeat | Change::UnrepeatParams => {}
        }
    }
    Ok(())
}

fn check_spot(spot: &Spot) -> Result<(), InvalidEdit> {
    match spot {
        Spot::Key(key) => check_text(key, None),
        Spot::FromRight(_) => Ok(()),
    }
}

/// Refuses text that would end the part of a URL that it is written to.
fn check_text(key: &TokenKey, value: Option<&Value>) -> Result<(), InvalidEdit> {
    let refuse = |text: &str| Err(InvalidEdit::UnsafeText { key: key.clone(), value: text.into() });
    let clean =
        |text: &str, ends: &[u8]| text.bytes().all(|byte| byte.is_ascii_graphic() && !ends.contains(&byte));
    if let TokenKey::PathParam(name) | TokenKey::QueryParam(name) = key {
        let ends: &[u8] = if matches!(key, TokenKey::PathParam(_)) { b"/?#;=" } else { b"&#=" };
        if !clean(&name.name, ends) && !key.is_query_text() {
            return refuse(&name.name);
        }
    }
    let ends: &[u8] = match key {
        TokenKey::Scheme => return refuse_unless(value, &["http", "https", "ftp", "ws", "wss"], refuse),
        TokenKey::TrailingSlash => return refuse_unless(value, &["/"], refuse),
        TokenKey::QuerySeparator => return refuse_unless(value, &[";"], refuse),
        TokenKey::Subdomain(_) | TokenKey::Port => b"./?#@:\\",
        TokenKey::PathSegment(_) => b"/?#\\",
        TokenKey::PathParam(_) => b"/?#;\\",
        TokenKey::QueryParam(_) => b"&#",
        TokenKey::Hashbang => b"",
    };
    match value {
        None => Ok(()),
        Some(Value::Bare) if matches!(key, TokenKey::QueryParam(_)) => Ok(()),
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
    refuse: impl Fn(&str) -> Result<(), InvalidEdit>,
) -> Result<(), InvalidEdit> {
    match value {
        None => Ok(()),
        Some(Value::Text(text)) if known.contains(&&**text) => Ok(()),
        Some(value) => refuse(&value.to_string()),
    }
}
