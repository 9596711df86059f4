/*!
A pattern in words: a host, a path with stars where any segment may stand, parameters, and what its URLs do not have.
*/

use std::fmt;

use crate::{Pattern, Test};

/// Tests that are named of those that URLs of a pattern do not pass.
const SHOWN_EXCEPTIONS: usize = 2;

/// Directories that are shown of a path.
const SHOWN_DIRECTORIES: usize = 12;

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = |part: &str| {
            let found = self.when.iter().find(|test| !test.is_negated && &*test.part == part);
            found.map(|test| &*test.value)
        };
        f.write_str(&self.host)?;
        self.write_path(f, is)?;
        self.write_query(f, is)?;
        if let Some(limit) = is("deeper_than") {
            write!(f, ", deeper than {limit}")?;
        }
        if let Some(repeats) = is("repeats") {
            write!(f, ", a segment {repeats} times")?;
        }
        let exceptions: Vec<&Test> = self.when.iter().filter(|test| test.is_negated).collect();
        for (index, test) in exceptions.iter().take(SHOWN_EXCEPTIONS).enumerate() {
            let before = if index == 0 { ", but not" } else { " or" };
            write!(
                f,
                "{before} {} {}",
                test.part,
                if test.value.is_empty() { "empty" } else { &test.value }
            )?;
        }
        match exceptions.len().saturating_sub(SHOWN_EXCEPTIONS) {
            0 => Ok(()),
            more => write!(f, " or {more} more"),
        }
    }
}

impl Pattern {
    fn write_path<'a>(
        &'a self,
        f: &mut fmt::Formatter<'_>,
        is: impl Fn(&str) -> Option<&'a str>,
    ) -> fmt::Result {
        let directory = |index: usize| is(&format!("path_{index}"));
        let depth = is("depth").and_then(|depth| depth.parse::<usize>().ok());
        let known =
            (0..SHOWN_DIRECTORIES).rev().find(|index| directory(*index).is_some()).map_or(0, |last| last + 1);
        let shown = depth.map_or(known, |depth| depth.saturating_sub(1).clamp(known, SHOWN_DIRECTORIES));
        for index in 0..shown {
            write!(f, "/{}", directory(index).unwrap_or("*"))?;
        }
        if depth.is_none() {
            f.write_str("/**")?;
        }
        let file = is("file").or_else(|| is("file_shape")).or_else(|| is("file_pattern"));
        match (file, is("extension")) {
            (Some(file), _) => write!(f, "/{file}"),
            (None, Some("/")) => f.write_str("/"),
            (None, Some("-")) => f.write_str("/*"),
            (None, Some(extension)) => write!(f, "/*.{extension}"),
            (None, None) if depth.is_some() => f.write_str("/*"),
            (None, None) => Ok(()),
        }
    }

    fn write_query<'a>(
        &'a self,
        f: &mut fmt::Formatter<'_>,
        is: impl Fn(&str) -> Option<&'a str>,
    ) -> fmt::Result {
        let value = |name: &str| is(&format!("q.{name}")).unwrap_or("*").to_owned();
        if let Some(names) = is("names") {
            let pairs: Vec<String> = names
                .split('&')
                .filter(|name| !name.is_empty())
                .map(|name| format!("{name}={}", value(name)))
                .collect();
            return if pairs.is_empty() { Ok(()) } else { write!(f, "?{}", pairs.join("&")) };
        }
        let positive = self.when.iter().filter(|test| !test.is_negated);
        let named: Vec<String> = positive
            .filter_map(|test| match test.part.strip_prefix("q.") {
                Some(name) => Some(format!("{name}={}", test.value)),
                None => (&*test.part == "name" && is(&format!("q.{}", test.value)).is_none())
                    .then(|| format!("{}=*", test.value)),
            })
            .collect();
        if named.is_empty() { Ok(()) } else { write!(f, "?{}", named.join("&")) }
    }
}
