/*!
Whether a rule or an edit makes sense by itself: no gaps, no text that would be read as something else.
*/

use super::{Change, Edit, Op, Part, PathPart, Rule, Source, Spot};
use crate::url::{ParamName, TokenKey, Value};

/// Why a rule is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRule {
    /// A target value is copied from a key that the pattern does not have.
    #[error("`{to}` is copied from `{from}`, which the pattern does not name")]
    UnknownSource {
        /// The target key.
        to: TokenKey,
        /// The key that is missing in the pattern.
        from: TokenKey,
    },
    /// The target form has no scheme, or may lack it.
    #[error("the target has no `scheme`, or may lack it")]
    NoScheme,
    /// The target form skips a path segment or host label.
    #[error("the target has `{0}` but not the one before it")]
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
    /// A target parameter that the rule would also pass through.
    #[error("the target writes `{0}`, which the rule also passes through")]
    PassedThrough(TokenKey),
    /// The query order names something that the target does not have.
    #[error("the query order names `{0}`, which is no query parameter of the target")]
    UnknownInOrder(TokenKey),
}

impl Rule {
    /// Whether the rule makes sense by itself: a [`SiteRules`](super::SiteRules) takes no others.
    pub fn check(&self) -> Result<(), InvalidRule> {
        check(self)
    }
}

fn check(rule: &Rule) -> Result<(), InvalidRule> {
    let target = &rule.rewrite;
    if !(0.0..=1.0).contains(&rule.evidence.failure_bound) {
        return Err(InvalidRule::FailureBound);
    }
    let may_lack = |from: &TokenKey| rule.pattern.get(from).is_none_or(|source| source.is_optional());
    let has_scheme = match target.get(&TokenKey::Scheme) {
        None => false,
        Some(Op::Keep(_) | Op::Ignore | Op::Join(_)) => true,
        Some(Op::Copy(from)) => !may_lack(from),
        Some(Op::Map { of, values }) => !may_lack(of) && values.iter().all(|mapped| mapped.becomes.is_some()),
    };
    if !has_scheme {
        return Err(InvalidRule::NoScheme);
    }
    for (key, op) in target.ops() {
        match key {
            TokenKey::PathSegment(index) | TokenKey::Subdomain(index) if *index > 0 => {
                let before = match key {
                    TokenKey::PathSegment(_) => TokenKey::PathSegment(index - 1),
                    _ => TokenKey::Subdomain(index - 1),
                };
                if target.get(&before).is_none() {
                    return Err(InvalidRule::Gap(key.clone()));
                }
            }
            _ => {}
        }
        check_text(key, None)?;
        if rule.is_other_param(key) {
            return Err(InvalidRule::PassedThrough(key.clone()));
        }
        match op {
            Op::Keep(value) => check_text(key, Some(value))?,
            Op::Copy(from) if rule.pattern.get(from).is_none() => {
                return Err(InvalidRule::UnknownSource { to: key.clone(), from: from.clone() });
            }
            Op::Join(parts) => {
                for part in parts {
                    match part {
                        Part::Text(text) => check_text(key, Some(&Value::Text(text.clone())))?,
                        Part::Copy(from) | Part::Atom { of: from, .. }
                            if rule.pattern.get(from).is_none() =>
                        {
                            return Err(InvalidRule::UnknownSource { to: key.clone(), from: from.clone() });
                        }
                        Part::Copy(_) | Part::Atom { .. } => {}
                    }
                }
            }
            Op::Map { of, .. } if rule.pattern.get(of).is_none() => {
                return Err(InvalidRule::UnknownSource { to: key.clone(), from: of.clone() });
            }
            Op::Map { values, .. } => {
                for text in values.iter().filter_map(|mapped| mapped.becomes.clone()) {
                    check_text(key, Some(&Value::Text(text)))?;
                }
            }
            Op::Copy(_) | Op::Ignore => {}
        }
    }
    for (key, _) in rule.pattern.keys() {
        check_text(key, None)?;
        // Else an earlier parameter of the name would be passed through, and come after this one.
        if let TokenKey::QueryParam(ParamName { name, occurrence: occurrence @ 2.. }) = key {
            let before = TokenKey::QueryParam(ParamName { name: name.clone(), occurrence: occurrence - 1 });
            if rule.is_other_param(&before) {
                return Err(InvalidRule::PassedThrough(before));
            }
        }
    }
    for key in target.query_order() {
        if !matches!(key, TokenKey::QueryParam(_)) || target.get(key).is_none() {
            return Err(InvalidRule::UnknownInOrder(key.clone()));
        }
    }
    Ok(())
}

pub(super) fn check_edit(edit: &Edit) -> Result<(), InvalidRule> {
    if !(0.0..=1.0).contains(&edit.evidence.failure_bound) {
        return Err(InvalidRule::FailureBound);
    }
    for spot in edit.when.keys() {
        check_spot(spot)?;
    }
    let check_source = |key: &TokenKey, source: &Source| {
        let texts = [&source.prefix, &source.suffix].into_iter().chain(source.table.iter().map(|(_, to)| to));
        for text in texts {
            check_text(key, Some(&Value::Text(text.clone())))?;
        }
        let is_sorted = source.table.is_sorted_by(|a, b| a.0 < b.0);
        if is_sorted { Ok(()) } else { Err(InvalidRule::Unsorted(key.to_string().into())) }
    };
    for change in &edit.change {
        match change {
            Change::Drop(spot) | Change::Forget(spot) => check_spot(spot)?,
            Change::Map { of, values } => {
                check_text(of, None)?;
                for text in values.iter().filter_map(|mapped| mapped.becomes.clone()) {
                    check_text(of, Some(&Value::Text(text)))?;
                }
                if *of == TokenKey::Scheme && values.iter().any(|mapped| mapped.becomes.is_none()) {
                    return Err(InvalidRule::NoScheme);
                }
                if !values.is_sorted_by(|a, b| a.is < b.is) {
                    return Err(InvalidRule::Unsorted(of.to_string().into()));
                }
            }
            Change::Set { key, to } => {
                check_text(key, None)?;
                to.iter().try_for_each(|source| check_source(key, source))?;
            }
            Change::Path(parts) => {
                for part in parts {
                    let key = TokenKey::PathSegment(0);
                    match part {
                        PathPart::Text(text) => {
                            check_text(&key, Some(&Value::Text(text.clone())))?;
                            if text.is_empty() || **text == *"." || **text == *".." || text.contains(';') {
                                return Err(InvalidRule::UnsafeText { key, value: text.clone() });
                            }
                        }
                        PathPart::Value { from, .. } => check_source(&key, from)?,
                        PathPart::Segments { .. } | PathPart::First(_) | PathPart::Last(_) => {}
                    }
                }
            }
            Change::ForgetPath | Change::Fold { .. } | Change::Unrepeat | Change::UnrepeatParams => {}
        }
    }
    Ok(())
}

fn check_spot(spot: &Spot) -> Result<(), InvalidRule> {
    match spot {
        Spot::Key(key) => check_text(key, None),
        Spot::FromRight(_) => Ok(()),
    }
}

/// Refuses text that would end the place it is written to.
fn check_text(key: &TokenKey, value: Option<&Value>) -> Result<(), InvalidRule> {
    let refuse = |text: &str| Err(InvalidRule::UnsafeText { key: key.clone(), value: text.into() });
    let clean =
        |text: &str, ends: &[u8]| text.bytes().all(|byte| byte.is_ascii_graphic() && !ends.contains(&byte));
    if let TokenKey::PathParam(name) | TokenKey::QueryParam(name) = key {
        let ends: &[u8] = if matches!(key, TokenKey::PathParam(_)) { b"/?#;=" } else { b"&#=" };
        if !clean(&name.name, ends) {
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
