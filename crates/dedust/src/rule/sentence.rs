/*!
Rules as sentences: on `/viewtopic.php`, `sid` does not matter.
*/

use std::collections::BTreeMap;
use std::{fmt, slice};

use super::definition::{Area, Change, Closed, Count, PathPart, Replace, Rule, Source, Spelling, Spot, Test};
use super::{AnyValue, Facts, Mapped, Put, RefusedRule, Taken, ValueClass};
use crate::url::{UrlPart, Value};

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_conditions(f, &self.when, self.closed, &self.change)?;
        if self.change.is_empty() {
            return f.write_str("nothing is changed, and no more rules are made");
        }
        write_changes(f, &self.when, &self.change)?;
        f.write_str(if self.last { "; then no more rules are made" } else { "" })
    }
}

impl fmt::Display for RefusedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_conditions(f, &self.when, Closed::No, &self.change)?;
        write_changes(f, &self.when, &self.change)
    }
}

fn write_changes(f: &mut fmt::Formatter<'_>, when: &BTreeMap<Spot, Test>, changes: &[Change]) -> fmt::Result {
    // What is read is not left out, but written elsewhere.
    let is_read = |key: &UrlPart| changes.iter().any(|change| change.reads(key));
    let mut said = changes.iter().filter(|change| {
        let Facts { takes, puts, .. } = change.facts();
        let is_moved = matches!(takes, Taken::Part(Spot::Key(key)) if is_read(key));
        let is_moved_folded = matches!(puts, Put::Spelling(Area::Key(key), _) if is_read(key));
        !is_moved && !is_moved_folded
    });
    if let Some(first) = said.next() {
        write_change(f, when, first)?;
    }
    said.try_for_each(|change| {
        f.write_str("; ")?;
        write_change(f, when, change)
    })
}

/// Where the rule is made: the fixed start of the path first, then everything else.
fn write_conditions(
    f: &mut fmt::Formatter<'_>,
    when: &BTreeMap<Spot, Test>,
    closed: Closed,
    changes: &[Change],
) -> fmt::Result {
    let segment = |index: usize| when.get(&Spot::Key(UrlPart::PathSegment(index as u16)));
    let fixed: Vec<&Value> = (0..when.len())
        .map_while(|index| match segment(index) {
            Some(Test::Is(value)) => Some(value),
            _ => None,
        })
        .collect();
    let is_whole = segment(fixed.len()) == Some(&Test::Absent);
    let mut separator = "";
    if !fixed.is_empty() {
        f.write_str(if is_whole { "on `" } else { "under `" })?;
        fixed.iter().try_for_each(|value| write!(f, "/{value}"))?;
        f.write_str("`")?;
        separator = ", ";
    }
    for (spot, test) in when {
        if added_label(when, changes, spot).is_some() {
            continue;
        }
        if matches!(spot, Spot::Key(UrlPart::PathSegment(index)) if usize::from(*index) < fixed.len()) {
            continue;
        }
        let name = Name(spot);
        if *spot == Spot::Key(UrlPart::TrailingSlash) {
            let with = if *test == Test::Absent { "without" } else { "with" };
            write!(f, "{separator}where the path ends {with} a slash")?;
            separator = ", ";
            continue;
        }
        match test {
            Test::Is(value) => write!(f, "{separator}where {name} is `{value}`")?,
            Test::OneOf(values) => {
                write!(f, "{separator}where {name} is one of {} known values", values.len())?;
            }
            Test::Not(values) => {
                write!(f, "{separator}unless {name} is ")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}`{value}`", if at == 0 { "" } else { " or " })?;
                }
            }
            // That a value is there to be read goes without saying.
            Test::Any(any) if any.is_presence() && matches!(spot, Spot::Key(UrlPart::QueryParam(_))) => {
                write!(f, "{separator}where there is {name}")?;
            }
            Test::Any(any) if any.is_presence() => continue,
            Test::Any(AnyValue { class, except, optional }) => {
                let or_none = if *optional { " or there is none" } else { "" };
                match class {
                    ValueClass::Text if *optional => write!(f, "{separator}with or without {name}")?,
                    ValueClass::Text => write!(f, "{separator}where there is {name}")?,
                    _ => write!(f, "{separator}where {name} is like `{class}`{or_none}")?,
                }
                for (at, value) in except.iter().enumerate() {
                    write!(f, "{}`{value}`", if at == 0 { " but not " } else { " or " })?;
                }
            }
            Test::Absent => match spot {
                Spot::Key(UrlPart::PathSegment(depth)) if is_whole && usize::from(*depth) == fixed.len() => {
                    continue;
                }
                Spot::Key(UrlPart::PathSegment(depth)) => {
                    write!(f, "{separator}where the path has at most {depth} segments")?;
                }
                _ => write!(f, "{separator}where there is no {name}")?,
            },
        }
        separator = ", ";
    }
    let nothing_else = match closed {
        Closed::No => "",
        Closed::ExceptParams => "where a URL has nothing else but other parameters",
        Closed::Yes => "where a URL has nothing else",
    };
    if !nothing_else.is_empty() {
        write!(f, "{separator}{nothing_else}")?;
        separator = ", ";
    }
    f.write_str(if separator.is_empty() { "" } else { ": " })
}

/// The text of a host label that is added where there is none, as `www` is.
fn added_label<'c>(when: &BTreeMap<Spot, Test>, changes: &'c [Change], spot: &Spot) -> Option<&'c str> {
    let Spot::Key(label @ UrlPart::Subdomain(_)) = spot else { return None };
    if when.get(spot) != Some(&Test::Absent) {
        return None;
    }
    changes.iter().find_map(|change| match change {
        Change::Set { key, to } if key == label => match &**to {
            [Source { of: None, prefix, suffix, .. }] if suffix.is_empty() => Some(&**prefix),
            _ => None,
        },
        _ => None,
    })
}

/// A spot as people call it.
struct Name<'a>(&'a Spot);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Spot::FromRight(0) => f.write_str("the last path segment"),
            Spot::FromRight(index) => write!(f, "path segment {} from the end", u32::from(*index) + 1),
            Spot::Key(key) => match key {
                UrlPart::Scheme => f.write_str("the scheme"),
                UrlPart::Subdomain(_) => write!(f, "host label `{key}`"),
                UrlPart::Port => f.write_str("the port"),
                UrlPart::PathSegment(index) => write!(f, "path segment {}", u32::from(*index) + 1),
                UrlPart::TrailingSlash => f.write_str("a trailing slash"),
                UrlPart::PathParam(name) => write!(f, "`;{name}`"),
                UrlPart::QuerySeparator => f.write_str("the separator of parameters"),
                key if key.is_query_text() => f.write_str("text in place of a parameter"),
                UrlPart::QueryParam(name) => write!(f, "`{name}`"),
                UrlPart::Hashbang => f.write_str("what follows `#!`"),
            },
        }
    }
}

fn write_change(f: &mut fmt::Formatter<'_>, when: &BTreeMap<Spot, Test>, change: &Change) -> fmt::Result {
    match change {
        Change::Drop(spot) => match (spot, when.get(spot)) {
            (Spot::Key(key), Some(Test::Is(value))) if key.is_query_text() => {
                write!(f, "`?{value}` is the same as none")
            }
            (Spot::Key(UrlPart::QueryParam(name)), Some(Test::Is(value))) => {
                write!(f, "`{name}={value}` is the same as none")
            }
            (Spot::Key(UrlPart::PathSegment(_)) | Spot::FromRight(_), _) => {
                write!(f, "{} is left out", Name(spot))
            }
            _ => write!(f, "{} does not matter", Name(spot)),
        },
        Change::Forget(spot) => write!(f, "{} does not matter", Name(spot)),
        Change::ForgetPath => f.write_str("the path does not matter"),
        Change::Map { of, values } => {
            for (at, Mapped { is, becomes }) in values.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { ", " })?;
                match (of, is, becomes) {
                    (of, is, None) if of.is_query_text() => write!(f, "`?{is}` is the same as none")?,
                    (of, is, Some(becomes)) if of.is_query_text() => {
                        write!(f, "`?{is}` is the same as `?{becomes}`")?;
                    }
                    (UrlPart::QueryParam(name), Value::Bare, None) => {
                        write!(f, "`{name}` without value is the same as none")?
                    }
                    (UrlPart::QueryParam(name), is, None) => write!(f, "`{name}={is}` is the same as none")?,
                    (UrlPart::QueryParam(name), is, Some(becomes)) => {
                        write!(f, "`{name}={is}` is the same as `{name}={becomes}`")?;
                    }
                    (_, is, None) => write!(f, "`{is}` is the same as none")?,
                    (_, is, Some(becomes)) => write!(f, "`{is}` is the same as `{becomes}`")?,
                }
            }
            Ok(())
        }
        Change::Fold { of, to } => {
            let area = match of {
                Area::Path => "the path".to_owned(),
                Area::Params => "parameters".to_owned(),
                Area::Key(key) => Name(&Spot::Key(key.clone())).to_string(),
            };
            let what = match to {
                Spelling::Lowercase => "letter case does not matter",
                Spelling::Unescaped => "escapes such as `%3A` do not matter",
                Spelling::PlusAsSpace => "`+` is the same as `%20`",
                Spelling::Underscored => "spaces are the same as `_`",
                Spelling::Unpadded => "leading zeros do not matter",
                Spelling::Composed => "composed and decomposed accents are the same",
            };
            write!(f, "in {area}, {what}")
        }
        Change::Set { key, to } => {
            let spot = Spot::Key(key.clone());
            if let Some(label) = added_label(when, slice::from_ref(change), &spot) {
                return write!(f, "no `{label}` is the same as `{label}`");
            }
            match (key, to.is_empty()) {
                (_, true) => return write!(f, "{} has no value", Name(&spot)),
                (UrlPart::TrailingSlash, _) => return f.write_str("a slash is added"),
                _ => write!(f, "{} is `", Name(&spot))?,
            }
            to.iter().try_for_each(|source| write!(f, "{source}"))?;
            f.write_str("`")
        }
        Change::Path(parts) => {
            f.write_str("the path is `")?;
            for part in parts {
                match part {
                    PathPart::Text(text) => write!(f, "/{text}")?,
                    PathPart::First(1) => f.write_str("/{first segment}")?,
                    PathPart::First(count) => write!(f, "/{{first {count} segments}}")?,
                    PathPart::Last(1) => f.write_str("/{last segment}")?,
                    PathPart::Last(count) => write!(f, "/{{last {count} segments}}")?,
                    PathPart::Segments { from: 0, but_last } => {
                        write!(f, "/{{all but the last {but_last}}}")?
                    }
                    PathPart::Segments { .. } => f.write_str("/{rest}")?,
                    PathPart::Value { from, split: None } => write!(f, "/{from}")?,
                    PathPart::Value { from, split: Some(split) } => write!(f, "/{from} with / for {split}")?,
                }
            }
            f.write_str("`")
        }
        Change::Unrepeat => f.write_str("parts of the path that repeat themselves are written once"),
        Change::UnrepeatParams => f.write_str("parameters that say the same twice are written once"),
        Change::SplitParams => f.write_str("`;` separates parameters as `&` does"),
        Change::Order(keys) => {
            f.write_str("parameters are written in the order ")?;
            for (at, key) in keys.iter().enumerate() {
                write!(f, "{}{}", if at == 0 { "" } else { ", " }, Name(&Spot::Key(key.clone())))?;
            }
            Ok(())
        }
        Change::Replace(list) => list.iter().enumerate().try_for_each(|(at, replace)| {
            f.write_str(if at == 0 { "" } else { ", then " })?;
            write_replace(f, replace)
        }),
    }
}

fn write_replace(
    f: &mut fmt::Formatter<'_>,
    Replace { from, to, at_start, at_end }: &Replace,
) -> fmt::Result {
    let anchor = match (at_start, at_end) {
        (true, true) => " where it is all there is",
        (true, false) => " at the start",
        (false, true) => " at the end",
        (false, false) => "",
    };
    match &**to {
        "" => write!(f, "`{from}` is left out{anchor}"),
        _ => write!(f, "`{from}` is replaced by `{to}`{anchor}"),
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        if let Some(spot) = &self.of {
            let part = self.part.map_or(String::new(), |part| format!(".{part}"));
            match self.count {
                _ if !self.table.is_empty() => {
                    write!(f, "{{{spot}{part}, by a table of {}}}", self.table.len())?
                }
                None => write!(f, "{{{spot}{part}}}")?,
                Some(Count { times: 1, plus }) => write!(f, "{{{spot}{part} {plus:+}}}")?,
                Some(Count { times, plus }) => write!(f, "{{{times} * {spot}{part} {plus:+}}}")?,
            }
        }
        f.write_str(&self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(rule: &str) -> String {
        serde_json::from_str::<Rule>(rule).unwrap().to_string()
    }

    #[test]
    fn a_host_label_that_is_added_is_said_like_one_that_is_dropped() {
        let dropped = r#"{"change": [{"map": {"of": "sub_0", "values": [{"is": "www"}]}}]}"#;
        assert_eq!(sentence(dropped), "`www` is the same as none");
        let added = r#"{"when": {"sub_0": "absent"}, "change": [{"set": {"key": "sub_0", "to": [{"prefix": "www"}]}}]}"#;
        assert_eq!(sentence(added), "no `www` is the same as `www`");
        let read = r#"{"when": {"sub_0": "absent", "q.lang": {"any": "text"}},
            "change": [{"set": {"key": "sub_0", "to": [{"of": "q.lang"}]}}, {"drop": "q.lang"}]}"#;
        assert_eq!(
            sentence(read),
            "where there is no host label `sub_0`, where there is `lang`: host label `sub_0` is `{q.lang}`"
        );
    }
}
