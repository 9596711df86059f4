/*!
What the owner of a site can do about a pattern, as text to copy: a pattern in, lines for robots.txt and pages out.

A line is offered only if it says exactly what the pattern says: one that says more would hide pages that nobody looked at.
*/

use crate::{Pattern, Verdict};

/// What would end a waste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A line of robots.txt.
    Disallow(String),
    /// A line of robots.txt that some crawlers read: the parameter chooses no page.
    CleanParam(String),
    /// For the pages of the pattern.
    Page(&'static str),
}

impl Advice {
    /// The text to copy.
    pub fn text(&self) -> &str {
        match self {
            Self::Disallow(line) | Self::CleanParam(line) => line,
            Self::Page(text) => text,
        }
    }
}

impl Pattern {
    /// What its owner can do; nothing about a pattern that is fetched in full.
    pub fn advice(&self) -> Vec<Advice> {
        let mut advice = Vec::new();
        if !self.is_limited() {
            return advice;
        }
        if let Some(path) = self.robots_path() {
            advice.push(Advice::Disallow(format!("Disallow: {path}")));
        }
        let names = self.parameters();
        if !names.is_empty() && matches!(self.verdict, Verdict::Facet | Verdict::Sink) {
            advice.push(Advice::CleanParam(format!("Clean-param: {}", names.join("&"))));
        }
        advice.extend(
            match self.verdict {
                Verdict::Facet | Verdict::LowYield if !names.is_empty() => {
                    Some("<link rel=canonical> to the URL without these parameters")
                }
                Verdict::Endless => Some("rel=nofollow on links within these pages"),
                Verdict::Sink => Some("status 404, or a redirect, instead of 200"),
                _ => None,
            }
            .map(Advice::Page),
        );
        advice
    }

    /// Parameters that all its URLs have.
    fn parameters(&self) -> Vec<&str> {
        let positive = || self.when.iter().filter(|test| !test.is_negated);
        let mut names: Vec<&str> = positive()
            .filter_map(|test| match &*test.part {
                "name" => Some(&*test.value),
                part => part.strip_prefix("q."),
            })
            .chain(positive().filter(|test| &*test.part == "names").flat_map(|test| test.value.split('&')))
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The pattern of robots.txt that matches the same URLs; `None` if there is none.
    fn robots_path(&self) -> Option<String> {
        let mut directories: Vec<(usize, &str)> = Vec::new();
        let mut name = None;
        let mut extension = None;
        for test in &self.when {
            let is_special = test.value.contains(['*', '$', '#', ' ']);
            let part = &*test.part;
            if test.is_negated || is_special {
                return None;
            }
            if let Some(index) = part.strip_prefix("path_").and_then(|index| index.parse().ok()) {
                directories.push((index, &test.value));
            } else if part == "name" && name.is_none() {
                name = Some(&*test.value);
            } else if part == "extension" && extension.is_none() && !matches!(&*test.value, "/" | "-") {
                extension = Some(&*test.value);
            } else {
                return None;
            }
        }
        directories.sort_unstable();
        let mut path = String::new();
        for (at, (index, directory)) in directories.iter().enumerate() {
            // A star matches slashes too, so that only a beginning without gaps is exact.
            if at != *index {
                return None;
            }
            path.push('/');
            path.push_str(directory);
        }
        path.push('/');
        match (name, extension) {
            (Some(name), None) => Some(format!("{path}*?*{name}=")),
            (None, Some(extension)) => Some(format!("{path}*.{extension}$")),
            (None, None) => Some(path),
            (Some(_), Some(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seen, Test};

    fn pattern(verdict: Verdict, when: &[(&str, &str, bool)]) -> Pattern {
        let test = |(part, value, is_negated): &(&str, &str, bool)| Test {
            part: (*part).into(),
            value: (*value).into(),
            is_negated: *is_negated,
        };
        Pattern {
            id: String::new(),
            host: "a.example".to_owned(),
            when: when.iter().map(test).collect(),
            fetch: 0.01,
            decided: false,
            verdict,
            seen: Seen::default(),
        }
    }

    fn texts(pattern: &Pattern) -> Vec<String> {
        pattern.advice().iter().map(|advice| advice.text().to_owned()).collect()
    }

    #[test]
    fn a_line_says_exactly_what_the_pattern_says() {
        let calendar = pattern(Verdict::Endless, &[("path_0", "calendar", false)]);
        assert_eq!(texts(&calendar), ["Disallow: /calendar/", "rel=nofollow on links within these pages"]);
        let history = pattern(Verdict::LowYield, &[("path_0", "wiki", false), ("name", "version", false)]);
        assert_eq!(texts(&history)[0], "Disallow: /wiki/*?*version=");
        // Neither a gap nor what is excepted can be said.
        let gap = pattern(Verdict::LowYield, &[("path_1", "pix", false)]);
        let except = pattern(Verdict::LowYield, &[("path_0", "a", false), ("name", "q", true)]);
        assert!(texts(&gap).is_empty() && texts(&except).is_empty());
    }

    #[test]
    fn nothing_is_advised_against_what_is_fetched_in_full() {
        let archive = Pattern { fetch: 1.0, ..pattern(Verdict::WorthFetching, &[("path_0", "2024", false)]) };
        assert!(archive.advice().is_empty());
    }
}
