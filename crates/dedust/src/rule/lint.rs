/*!
What is wrong with a rule file, all of it at once: for people who write one by hand.

The text of a file in, problems out, each with its line. [`RuleSet::load`] refuses a file at the first error; this goes on with the next rule. A
warning is about a rule that can be loaded and may not do what is meant.
*/

mod doubt;
mod outline;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use self::outline::{Field, Lines, fields};
use super::file::are_options;
use super::set::check_site;
use super::{
    FORMAT_VERSION, InvalidRule, InvalidSite, LoadRulesError, Mirror, RefusedRule, Rule, RuleSet, SiteRules,
    SiteSummary,
};
use crate::with_causes::with_causes;

/// Errors of the rules of one site that are looked for: each takes another look at all of them.
const MAX_SET_ERRORS: usize = 100;

/// Rules before one that it is compared with, so that a long file takes no longer than others.
const MAX_PAIRS: usize = 1000;

/// Something that is wrong with a rule file, or may be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where it is, counted from 1.
    pub line: usize,
    /// The site that it is about.
    pub site: Option<Box<str>>,
    /// The rule of the site, counted from 0.
    pub rule: Option<usize>,
    /// Whether the file cannot be used.
    pub is_error: bool,
    /// What is wrong.
    pub text: Box<str>,
}

/// All but the line.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_error { "error: " } else { "warning: " })?;
        match (&self.site, self.rule) {
            (Some(site), Some(rule)) => write!(f, "rule {rule} of `{site}`: ")?,
            (Some(site), None) => write!(f, "site `{site}`: ")?,
            (None, _) => {}
        }
        f.write_str(&self.text)
    }
}

/// All problems of the text of a rule file, in the order of lines. Without errors, it can be loaded.
pub fn lint(text: &str) -> Vec<Problem> {
    let mut linter = Linter { lines: Lines::new(text), problems: Vec::new() };
    linter.file(text);
    let Linter { mut problems, .. } = linter;
    if !problems.iter().any(|problem| problem.is_error)
        && let Err(error) = RuleSet::load(text.as_bytes())
    {
        // What is not about one line, such as the memory that all rules take.
        let text = with_causes(&error).into();
        problems.push(Problem { line: 1, site: None, rule: None, is_error: true, text });
    }
    problems.sort_by_key(|problem| problem.line);
    problems
}

struct Linter<'a> {
    lines: Lines<'a>,
    problems: Vec<Problem>,
}

/// What a problem is about.
#[derive(Clone, Copy, Default)]
struct About<'a> {
    site: Option<&'a str>,
    rule: Option<usize>,
}

impl<'a> Linter<'a> {
    fn error(&mut self, line: usize, about: About<'_>, text: impl fmt::Display) {
        self.add(line, about, true, &text);
    }

    fn warn(&mut self, line: usize, about: About<'_>, text: impl fmt::Display) {
        self.add(line, about, false, &text);
    }

    fn add(&mut self, line: usize, about: About<'_>, is_error: bool, text: &dyn fmt::Display) {
        let About { site, rule } = about;
        let (site, text) = (site.map(Into::into), text.to_string().into());
        self.problems.push(Problem { line, site, rule, is_error, text });
    }

    /// Reads a value, or says why it cannot be read.
    fn read<T: DeserializeOwned>(&mut self, raw: &RawValue, about: About<'_>) -> Option<T> {
        match serde_json::from_str(raw.get()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.malformed(self.lines.of(raw), about, &error);
                None
            }
        }
    }

    fn malformed(&mut self, first_line: usize, about: About<'_>, error: &serde_json::Error) {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
        self.error(first_line + error.line().saturating_sub(1), about, text);
    }

    /// The fields of an object, each once.
    fn fields_of(&mut self, json: &'a str, first_line: usize, about: About<'_>) -> Vec<Field<'a>> {
        let fields = match fields(json) {
            Ok(fields) => fields,
            Err(error) => {
                self.malformed(first_line, about, &error);
                return Vec::new();
            }
        };
        let mut names = std::collections::BTreeSet::new();
        let (once, again): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|field| names.insert(field.name.clone()));
        for field in again {
            self.error(self.lines.of(field.value), about, format_args!("`{}` is there twice", field.name));
        }
        once
    }

    fn file(&mut self, text: &'a str) {
        let about = About::default();
        let fields = self.fields_of(text, 1, about);
        if fields.is_empty() && !self.problems.is_empty() {
            return;
        }
        let (mut version, mut sites) = (None, None);
        for Field { name, value } in fields {
            match &*name {
                "version" => version = Some(value),
                "method" => drop(self.read::<String>(value, about)),
                "options" if !are_options(value.get()) => {
                    self.error(self.lines.of(value), about, LoadRulesError::Options);
                }
                "options" => {}
                "sites" => sites = Some(value),
                _ => {
                    let line = self.lines.of(value);
                    self.error(
                        line,
                        about,
                        format_args!(
                            "unknown field `{name}`, expected `version`, `method`, `options` or `sites`"
                        ),
                    );
                }
            }
        }
        match version.map(|version| (version, self.read::<u32>(version, about))) {
            None => {
                self.warn(1, about, format_args!("`version` is missing; this is version {FORMAT_VERSION}"))
            }
            Some((_, Some(FORMAT_VERSION) | None)) => {}
            Some((version, Some(found))) => {
                let line = self.lines.of(version);
                self.error(
                    line,
                    about,
                    format_args!("version {found} is not known, expected {FORMAT_VERSION}"),
                );
                return;
            }
        }
        let Some(sites) = sites else {
            self.error(1, about, "`sites` is missing");
            return;
        };
        for Field { name, value } in self.fields_of(sites.get(), self.lines.of(sites), about) {
            self.site(&name, value);
        }
    }

    fn site(&mut self, name: &str, site: &'a RawValue) {
        let about = About { site: Some(name), rule: None };
        let line = self.lines.of(site);
        let (mut rules, mut hosts) = (Vec::new(), Vec::new());
        let fields = self.fields_of(site.get(), line, about);
        if let Some(mirror) = fields.iter().find(|field| field.name == "mirror") {
            if fields.len() > 1 {
                self.error(line, about, InvalidSite::NotOnlyMirror);
            }
            self.mirror(name, mirror.value);
            return;
        }
        for Field { name: field, value } in fields {
            match &*field {
                "summary" => drop(self.read::<SiteSummary>(value, about)),
                "hosts" => hosts = self.read::<Vec<Box<str>>>(value, about).unwrap_or_default(),
                "rules" => rules = self.list(value, about),
                "refused" => self.refused(value, about),
                _ => {
                    let line = self.lines.of(value);
                    let expected = "`rules`, `hosts`, `summary`, `refused` or `mirror`";
                    self.error(line, about, format_args!("unknown field `{field}`, expected {expected}"));
                }
            }
        }
        for host in hosts {
            let alone = SiteRules::default().with_hosts(vec![host]);
            if let Err(error @ InvalidSite::Host(_)) = check_site(name, &alone) {
                self.error(line, about, error);
            }
        }
        if let Err(error) = check_site(name, &SiteRules::default()) {
            self.error(line, about, error);
        } else if let Some(doubt) = doubt::of_name(name) {
            self.warn(line, about, doubt);
        }
        let mut read = Vec::new();
        for (index, raw) in rules.into_iter().enumerate() {
            let about = About { rule: Some(index), ..about };
            if let Some(rule) = self.read::<Rule>(raw, about) {
                read.push((index, self.lines.of(raw), rule));
            }
        }
        self.rules(name, line, &read);
        for (at, (index, line, rule)) in read.iter().enumerate() {
            let about = About { rule: Some(*index), ..about };
            for doubt in doubt::of_rule(rule) {
                self.warn(*line, about, doubt);
            }
            for (other, _, earlier) in read[..at].iter().rev().take(MAX_PAIRS) {
                if let Some(doubt) = doubt::of_pair(*other, earlier, rule) {
                    self.warn(*line, about, doubt);
                }
            }
        }
    }

    fn mirror(&mut self, name: &str, mirror: &'a RawValue) {
        let about = About { site: Some(name), rule: None };
        let line = self.lines.of(mirror);
        let Some(mirror) = self.read::<Mirror>(mirror, about) else { return };
        if let Some(doubt) = doubt::of_entry((&mirror).into()) {
            self.warn(line, about, doubt);
        }
        if let Err(error) = check_site(name, &mirror.into()) {
            self.error(line, about, error);
        }
    }

    fn refused(&mut self, list: &'a RawValue, about: About<'_>) {
        for raw in self.list(list, about) {
            self.read::<RefusedRule>(raw, about);
        }
    }

    fn list(&mut self, list: &'a RawValue, about: About<'_>) -> Vec<&'a RawValue> {
        serde_json::from_str(list.get()).unwrap_or_else(|error| {
            self.malformed(self.lines.of(list), about, &error);
            Vec::new()
        })
    }

    /// What is wrong with the rules of a site, one after the other: a rule that is refused is left out before the others are looked at
    /// again.
    fn rules(&mut self, name: &str, site_line: usize, read: &[(usize, usize, Rule)]) {
        let about = About { site: Some(name), rule: None };
        let mut left: Vec<&(usize, usize, Rule)> = read.iter().collect();
        for _ in 0..MAX_SET_ERRORS {
            let rules = left.iter().map(|(_, _, rule)| rule.clone()).collect();
            let checked = SiteRules::new(SiteSummary::default(), rules);
            let error = match checked.and_then(|rules| check_site(name, &rules)) {
                // The name was checked before.
                Ok(()) | Err(InvalidSite::Name(_)) => return,
                Err(error) => error,
            };
            let index_of = |at: usize| left.get(at).map_or(at, |(index, _, _)| *index);
            let at = match &error {
                InvalidSite::Rule { index, .. } => *index,
                _ => {
                    self.error(site_line, about, error);
                    return;
                }
            };
            let Some(&&(index, line, _)) = left.get(at) else { return };
            let about = About { rule: Some(index), ..about };
            match error {
                InvalidSite::Rule { source: InvalidRule::NeverMade { by, spot }, .. } => {
                    self.error(line, about, InvalidRule::NeverMade { by: index_of(by), spot });
                }
                InvalidSite::Rule { source, .. } => self.error(line, about, source),
                _ => return,
            }
            left.remove(at);
        }
        self.error(site_line, about, "there may be more errors of this kind; correct those first");
    }
}

#[cfg(test)]
mod tests;
