/*!
What the module remembers between calls, and what it does with it: rules, which of their rules are switched, and URLs.
*/

use std::collections::BTreeMap;

use dedust::errors::with_causes;
use dedust::rules::{Decision, SiteRules, SiteSummary, Standing};
use dedust::{Normalizer, RuleSet, Scratch};
use foldhash::HashMap;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

/// Rules and URLs.
#[derive(Default)]
pub(crate) struct State {
    /// As they were loaded; none if they are compiled.
    rules: Option<RuleSet>,
    /// With the rules that are switched.
    switched: Option<RuleSet>,
    trusts_mirrors: bool,
    normalizer: Normalizer,
    scratch: Scratch,
    urls: Vec<u8>,
    /// Where each URL ends.
    ends: Vec<usize>,
    group_by_key: HashMap<u128, u32>,
}

/// What is done to a URL.
#[derive(Debug, Serialize)]
struct Explained {
    safe: String,
    site: Option<Box<str>>,
    mirror: Option<Box<str>>,
    steps: Vec<Step>,
    key: String,
    canonical: String,
}

/// What a rule does to it.
#[derive(Debug, Serialize)]
struct Step {
    /// Its place in the site's list.
    rule: usize,
    /// What it says; compiled rules do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
    /// The key after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl State {
    pub(crate) fn load_rules(&mut self, json: &[u8], trusts_mirrors: bool) -> Result<(), String> {
        let rules = RuleSet::load(json).map_err(|error| with_causes(&error))?;
        self.trusts_mirrors = trusts_mirrors;
        self.normalizer = self.compiled(&rules);
        self.rules = Some(rules);
        self.switched = None;
        Ok(())
    }

    pub(crate) fn load_compiled(&mut self, bytes: &[u8], trusts_mirrors: bool) -> Result<(), String> {
        let normalizer = Normalizer::from_bytes(bytes).map_err(|error| with_causes(&error))?;
        self.trusts_mirrors = trusts_mirrors;
        self.normalizer = if trusts_mirrors { normalizer } else { normalizer.without_mirrors() };
        (self.rules, self.switched) = (None, None);
        Ok(())
    }

    fn compiled(&self, rules: &RuleSet) -> Normalizer {
        let normalizer = Normalizer::compile(rules);
        if self.trusts_mirrors { normalizer } else { normalizer.without_mirrors() }
    }

    pub(crate) fn load_urls(&mut self, lines: &[u8]) -> Result<(), String> {
        self.urls = lines.to_vec();
        let ends = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        self.ends = ends.collect();
        self.group_by_key.clear();
        Ok(())
    }

    fn url(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        self.urls.get(start..end)
    }

    pub(crate) fn switch(&mut self, lines: &[u8]) -> Result<(), String> {
        let rules = self.rules.as_ref().ok_or("compiled rules cannot be taken apart")?;
        let text = std::str::from_utf8(lines).map_err(|_| "switches are no text")?;
        let mut switches: BTreeMap<&str, Vec<(usize, bool)>> = BTreeMap::new();
        for line in text.lines() {
            let mut fields = line.split('\t');
            let fields = (fields.next(), fields.next().and_then(|index| index.parse().ok()), fields.next());
            let (Some(site), Some(index), Some(is_on)) = fields else {
                return Err(format!("`{line}` is no switch"));
            };
            switches.entry(site).or_default().push((index, is_on == "1"));
        }
        let mut switched = rules.clone();
        for (site, switches) in switches {
            let known = rules.site(site).ok_or_else(|| format!("there is no site `{site}`"))?;
            if let Some((index, _)) = switches.iter().find(|(index, _)| known.entry(*index).is_none()) {
                return Err(format!("{site} has no rule {index}"));
            }
            let known = known.clone().with_standings(|index, standing| {
                if let Some((_, is_on)) = switches.iter().rfind(|(switched, _)| *switched == index) {
                    set(standing, *is_on);
                }
            });
            let known = known.map_err(|error| with_causes(&error))?;
            switched.insert(site, known).map_err(|error| with_causes(&error))?;
        }
        self.normalizer = self.compiled(&switched);
        self.switched = Some(switched);
        Ok(())
    }

    pub(crate) fn groups(&mut self, start: usize, count: usize, out: &mut Vec<u8>) -> Result<(), String> {
        if start == 0 {
            self.group_by_key.clear();
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        for number in start..start.saturating_add(count).min(self.ends.len()) {
            let url = self.url(number).unwrap_or_default();
            let key = self.normalizer.key_with(url, &mut scratch).map_or_else(|_| xxh3_128(url), xxh3_128);
            let next = self.group_by_key.len() as u32;
            let group = *self.group_by_key.entry(key).or_insert(next);
            out.extend_from_slice(&group.to_le_bytes());
        }
        self.scratch = scratch;
        Ok(())
    }

    pub(crate) fn changed(
        &self,
        rule: &[u8],
        start: usize,
        count: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let text = std::str::from_utf8(rule).ok().and_then(|text| text.split_once('\t'));
        let named = text.and_then(|(site, index)| Some((site, index.parse::<usize>().ok()?)));
        let (site, index) = named.ok_or("the input is no rule")?;
        for number in start..start.saturating_add(count).min(self.ends.len()) {
            let explained = self.url(number).and_then(|url| self.normalizer.explain(url).ok());
            let is_changed = |explained: dedust::Explanation| {
                explained.site.as_deref() == Some(site) && explained.rules.contains(&index)
            };
            if explained.is_some_and(is_changed) {
                out.extend_from_slice(&(number as u32).to_le_bytes());
            }
        }
        Ok(())
    }

    pub(crate) fn explain(&self, url: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let explained = self.normalizer.explain(url).map_err(|error| with_causes(&error))?;
        let rules = self.switched.as_ref().or(self.rules.as_ref());
        let site = explained.site.as_deref();
        let known = rules.zip(site).and_then(|(rules, site)| Some((site, rules, rules.site(site)?)));
        let steps = explained.rules.iter().map(|&rule| Step {
            rule,
            sentence: known.and_then(|(_, _, rules)| Some(rules.rules().get(rule)?.to_string())),
            key: known.and_then(|(site, all, rules)| self.key_after(site, all, rules, rule, url)),
        });
        let answer = Explained {
            steps: steps.collect(),
            safe: explained.safe.to_string(),
            key: explained.key.to_string(),
            canonical: explained.canonical.to_string(),
            site: explained.site,
            mirror: explained.mirror,
        };
        serde_json::to_writer(out, &answer).map_err(|error| with_causes(&error))
    }

    /// The key of a URL with the rules of a site up to one.
    fn key_after(
        &self,
        site: &str,
        all: &RuleSet,
        site_rules: &SiteRules,
        last: usize,
        url: &[u8],
    ) -> Option<String> {
        let rules = site_rules.rules().get(..=last)?.to_vec();
        let rules =
            SiteRules::new(SiteSummary::default(), rules).ok()?.with_hosts(site_rules.hosts().to_vec());
        let mut set = RuleSet::new("");
        set.insert(site, rules).ok()?;
        for (name, mirror) in all.sites().filter(|(_, rules)| rules.mirror().is_some()) {
            set.insert(name, mirror.clone()).ok()?;
        }
        Some(self.compiled(&set).key(url).ok()?.to_string())
    }

    pub(crate) fn keys(&mut self, lines: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        for url in urls_of(lines) {
            out.extend_from_slice(self.normalizer.key_with(url, &mut self.scratch).unwrap_or_default());
            out.push(b'\n');
        }
        Ok(())
    }

    pub(crate) fn canonical(&mut self, lines: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        for url in urls_of(lines) {
            out.extend_from_slice(self.normalizer.normalize_with(url, &mut self.scratch).unwrap_or_default());
            out.push(b'\n');
        }
        Ok(())
    }
}

fn urls_of(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.strip_suffix(b"\n").unwrap_or(lines).split(|byte| *byte == b'\n')
}

/// Turns a rule on, whatever was found or decided about it, or off.
fn set(Standing { off, evidence, .. }: Standing<'_>, is_on: bool) {
    *off = (!is_on).then(Box::<Decision>::default);
    if is_on {
        evidence.verdict = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"{"version": 1, "sites": {"a.example": {"rules": [
        {"change": [{"drop": "q.sid"}], "fetchable": true},
        {"change": [{"forget": "q.ref"}]}
    ]}}}"#;

    fn loaded() -> State {
        let mut state = State::default();
        state.load_rules(RULES.as_bytes(), false).unwrap();
        state
    }

    fn numbers(bytes: &[u8]) -> Vec<u32> {
        bytes.chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    #[test]
    fn keys_come_out_line_by_line_and_what_is_no_url_is_empty() {
        let mut out = Vec::new();
        loaded().keys(b"http://a.example/p?sid=1\nno url\nhttp://a.example/q\n", &mut out).unwrap();
        assert_eq!(out, b"http://a.example/p\n\nhttp://a.example/q\n");
    }

    #[test]
    fn every_step_has_the_key_that_is_left_by_it() {
        let mut out = Vec::new();
        loaded().explain(b"HTTP://A.example/p?sid=1&ref=2#top", &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["safe"], "http://a.example/p?sid=1&ref=2");
        assert_eq!(json["steps"][0]["key"], "http://a.example/p?ref=2");
        assert_eq!(json["steps"][1]["key"], json["key"]);
        assert_eq!(json["key"], "http://a.example/p?ref=*");
    }

    #[test]
    fn a_rule_that_is_switched_off_joins_nothing() {
        let mut state = loaded();
        state.load_urls(b"http://a.example/p?sid=1\nhttp://a.example/p?sid=2\nhttp://a.example/q\n").unwrap();
        let groups = |state: &mut State| {
            let mut out = Vec::new();
            state.groups(0, 10, &mut out).unwrap();
            numbers(&out)
        };
        assert_eq!(groups(&mut state), [0, 0, 1]);
        let mut changed = Vec::new();
        state.changed(b"a.example\t0", 0, 10, &mut changed).unwrap();
        assert_eq!(numbers(&changed), [0, 1]);
        state.switch(b"a.example\t0\t0\n").unwrap();
        assert_eq!(groups(&mut state), [0, 1, 2]);
        state.switch(b"").unwrap();
        assert_eq!(groups(&mut state), [0, 0, 1]);
        assert!(state.switch(b"b.example\t0\t0\n").is_err());
        assert!(state.switch(b"a.example\t7\t0\n").is_err());
    }
}
