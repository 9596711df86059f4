/*!
All there is to say about a URL: what was done to it, by which rules, and what the rule file says of these.

Takes a URL, compiled rules and, where they are at hand, the rules that they were made of. What comes out can be printed, or written as
JSON. Changes no URL itself: [`Normalizer::explain`] does.
*/

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::normalizer::{Explanation, Normalizer};
use crate::program::rules::{RuleList, UrlParts};
use crate::rule::{Decision, Evidence, Fetched, Mirror, RefusedRule, Rule, RuleSet, SiteRules, Verdict};
use crate::url::{ParseUrlError, ParsedUrl, site_of};

/// A URL with all there is to say about it. Written as JSON, it is what `dedust explain --format json` prints.
///
/// ```
/// use dedust::{ExplainedUrl, Normalizer, RuleSet};
///
/// let rules = RuleSet::load(&br#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#[..])?;
/// let normalizer = Normalizer::compile(&rules);
/// let explained = ExplainedUrl::new("http://a.example/p?sid=1", Some(&rules), &normalizer)?;
/// assert_eq!(explained.explanation.key, "http://a.example/p");
/// assert_eq!(explained.rules.len(), 1);
/// assert!(ExplainedUrl::new("http://a.example/p", Some(&rules), &normalizer)?.rules.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ExplainedUrl<'a> {
    /// The URL as given.
    pub input: &'a str,
    /// The site it belongs to: a registrable domain, or a host. Empty for a URL without one.
    pub site: String,
    /// What was done to it.
    pub explanation: Explanation,
    /// How many rules that site has.
    pub site_rules: usize,
    /// The hosts on which they hold; empty for all.
    pub hosts: &'a [Box<str>],
    /// Those of the rules that are not applied, since they were refuted.
    pub refuted_rules: usize,
    /// Those of them that are off.
    pub off_rules: usize,
    /// Why the URL is taken for one of another site, if it is.
    pub mirror: Option<&'a Mirror>,
    /// Rules that changed the URL or its key, with their indexes.
    pub rules: Vec<(usize, &'a Rule)>,
    /// Rules that would have concerned it and are off.
    pub off: Vec<(usize, &'a Rule, &'a Decision)>,
    /// Rules that would have concerned it and were not believed.
    pub refused: Vec<&'a RefusedRule>,
    /// Whether the texts of rules are not at hand.
    pub is_compiled: bool,
}

/// The JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "explanation")]
struct Record<'a> {
    /// The URL as given.
    input: &'a str,
    /// After safe normalization.
    safe: String,
    /// The site it belongs to: a registrable domain, or a host.
    site: &'a str,
    /// The site of the URL, if it shows the pages of `site`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<&'a str>,
    /// How many rules that site has, unless they are compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    site_rules: Option<usize>,
    /// The hosts on which they hold, with and without `www`; empty for all.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hosts: &'a [Box<str>],
    /// The rules that changed it, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<RuleRecord<'a>>,
    /// Rules that would have changed it and are off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    off: Vec<OffRecord<'a>>,
    /// Rules that would have changed it and were not believed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedRecord<'a>>,
    /// Their indexes in the site's list, where no more is known: compiled rules hold no text.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    compiled_rules: &'a [usize],
    /// For equality only.
    key: String,
    /// Can be fetched.
    canonical: String,
}

/// A rule, for people who read JSON.
#[derive(Debug, Serialize)]
struct RuleRecord<'a> {
    /// Its index in the site's list, from 0.
    index: usize,
    /// What `dedust rules` calls it.
    id: String,
    /// What it does, in words.
    rule: String,
    /// Whether what it writes can be fetched.
    fetchable: bool,
    /// Why it is trusted, as in the rule file.
    evidence: &'a Evidence,
    /// Who decided that it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<&'a Decision>,
}

/// A rule that somebody turned off, for people who read JSON.
#[derive(Debug, Serialize)]
struct OffRecord<'a> {
    /// Its index in the site's list, from 0.
    index: usize,
    /// What `dedust rules` calls it.
    id: String,
    /// What it would do, in words.
    rule: String,
    /// Who decided that, when and why.
    off: &'a Decision,
}

/// A rule that was not believed, for people who read JSON.
#[derive(Debug, Serialize)]
struct RefusedRecord<'a> {
    /// What it would do, in words.
    rule: String,
    /// Why it is not made.
    reason: &'a str,
    /// Votes on it, and those of them against it.
    votes: u64,
    against: u64,
    /// Votes for it that are missing, if votes would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
    /// What fetching pages said about it, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched: Option<FetchedRecord<'a>>,
}

/// What fetching pages said about such a rule.
#[derive(Debug, Serialize)]
struct FetchedRecord<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    /// Pairs of the same page that are missing, if they would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<u64>,
}

impl<'a> ExplainedUrl<'a> {
    /// Explains a URL. `rules` are those that `normalizer` was made of, if they are at hand.
    pub fn new(
        input: &'a str,
        rules: Option<&'a RuleSet>,
        normalizer: &Normalizer,
    ) -> Result<Self, ParseUrlError> {
        let explanation = normalizer.explain(input)?;
        let site = match &explanation.site {
            Some(site) => site.to_string(),
            None => String::from_utf8_lossy(site_of(ParsedUrl::parse(input)?.host())).into_owned(),
        };
        let known = rules.and_then(|rules| rules.site(&site));
        Ok(Self {
            input,
            rules: explanation.rules.iter().filter_map(|&at| Some((at, known?.rules().get(at)?))).collect(),
            mirror: rules
                .zip(explanation.mirror.as_deref())
                .and_then(|(rules, name)| rules.site(name)?.mirror()),
            off: known.map_or_else(Vec::new, |known| off_for(&explanation, &site, known)),
            refused: known.map_or_else(Vec::new, |known| refused_for(&explanation, &site, known)),
            site_rules: known.map_or(0, |site| site.len()),
            hosts: known.map_or(&[], |site| site.hosts()),
            refuted_rules: known.map_or(0, refuted_rules),
            off_rules: known.map_or(0, |known| known.entries().filter(|entry| entry.off().is_some()).count()),
            is_compiled: rules.is_none(),
            site,
            explanation,
        })
    }
}

impl Serialize for ExplainedUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Explanation { safe, key, canonical, rules, .. } = &self.explanation;
        let record = Record {
            input: self.input,
            safe: safe.to_string(),
            site: &self.site,
            mirror: self.explanation.mirror.as_deref(),
            site_rules: (!self.is_compiled).then_some(self.site_rules),
            hosts: self.hosts,
            rules: self
                .rules
                .iter()
                .map(|(index, rule)| RuleRecord {
                    index: *index,
                    id: rule.id().to_string(),
                    rule: rule.to_string(),
                    fetchable: rule.fetchable,
                    evidence: &rule.evidence,
                    pinned: rule.pinned.as_deref(),
                })
                .collect(),
            off: self
                .off
                .iter()
                .map(|&(index, rule, off)| OffRecord {
                    index,
                    id: rule.id().to_string(),
                    rule: rule.to_string(),
                    off,
                })
                .collect(),
            refused: self.refused.iter().map(|rule| RefusedRecord::new(rule)).collect(),
            compiled_rules: if self.is_compiled { rules } else { &[] },
            key: key.to_string(),
            canonical: canonical.to_string(),
        };
        record.serialize(serializer)
    }
}

impl<'a> RefusedRecord<'a> {
    fn new(refused: &'a RefusedRule) -> Self {
        let RefusedRule { reason, votes, against, missing, fetched, .. } = refused;
        let fetched = fetched
            .as_ref()
            .map(|Fetched { verdict, missing, .. }| FetchedRecord { verdict, missing: *missing });
        Self {
            rule: refused.to_string(),
            reason,
            votes: *votes,
            against: *against,
            missing: *missing,
            fetched,
        }
    }
}

/// Rules that would change the URL, had they been believed. A few.
fn refused_for<'a>(explanation: &Explanation, name: &str, site: &'a SiteRules) -> Vec<&'a RefusedRule> {
    let Some(mut trial) = Trial::new(explanation, name, site) else { return Vec::new() };
    let would_change = |refused: &&RefusedRule| trial.would_change(&refused.to_rule(Evidence::default()));
    // Some differ in what their sentences leave out.
    let mut said = BTreeSet::new();
    let is_said_first = |refused: &&RefusedRule| said.insert(refused.to_string());
    site.refused().iter().filter(would_change).filter(is_said_first).take(3).collect()
}

/// Rules that would change the URL, were they not off.
fn off_for<'a>(
    explanation: &Explanation,
    name: &str,
    site: &'a SiteRules,
) -> Vec<(usize, &'a Rule, &'a Decision)> {
    let Some(mut trial) = Trial::new(explanation, name, site) else { return Vec::new() };
    let rules = site.rules().iter().enumerate();
    let off = rules.filter_map(|(index, rule)| Some((index, rule, rule.off.as_deref()?)));
    off.filter(|(_, rule, _)| trial.would_change(rule)).collect()
}

/// Tries rules that are not applied on a URL.
struct Trial {
    url: ParsedUrl,
    site_bytes: usize,
    parts: UrlParts,
}

impl Trial {
    /// `None` on a host where the rules of the site do not hold: such a rule would not be made either.
    fn new(explanation: &Explanation, name: &str, site: &SiteRules) -> Option<Self> {
        let holds = explanation.site.is_some() || site.applied().next().is_none();
        let url = ParsedUrl::parse(explanation.safe.as_bytes()).ok();
        let url = url.filter(|_| holds && explanation.mirror.is_none())?;
        Some(Self { url, site_bytes: name.len(), parts: UrlParts::default() })
    }

    /// Whether a rule alone would change the key.
    fn would_change(&mut self, rule: &Rule) -> bool {
        let Some(rules) = RuleList::new([rule]) else { return false };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        self.parts.read(&self.url, self.site_bytes, &rules) && {
            self.parts.write_key(&rules, &mut before);
            self.parts.apply(&rules, 0);
            self.parts.write_key(&rules, &mut after);
            before != after
        }
    }
}

fn refuted_rules(site: &SiteRules) -> usize {
    site.entries().filter(|entry| entry.off().is_none() && !entry.is_applied()).count()
}
