/*!
Rules in a fixed order, checked: only a [`RuleSet`] can be compiled.
*/

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::check::check_edit;
use super::cycle::find_cycle;
use super::{Edit, InvalidRule, Mirror, Promise, RefusedEdit, Rule, Substitution};
use crate::url::{ParsedUrl, has_subdomains, site_of};

/// Rules for any number of sites.
///
/// ```
/// use dedust::{Normalizer, RuleSet};
///
/// let json = r#"{"version": 1, "method": "by hand", "sites": {"example.org": {"edits": [{
///     "change": [{"drop": "q.sid"}], "fetchable": true,
///     "evidence": {"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
///                  "failure_bound": 0.53, "kinds": ["digest"]}
/// }]}}}"#;
/// let rules = RuleSet::load(json.as_bytes())?;
/// assert_eq!(rules.method(), "by hand");
/// for (site, rules) in rules.sites() {
///     assert_eq!((site, rules.edits().len()), ("example.org", 1));
/// }
/// let normalizer = Normalizer::compile(&rules);
/// assert_eq!(normalizer.normalize("http://example.org/view?sid=9")?, "http://example.org/view");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSet {
    pub(super) method: Box<str>,
    /// Those that [`check_site`] has passed.
    pub(super) sites: BTreeMap<Box<str>, SiteRules>,
}

/// The rules of one site, in order: the first that covers a URL is applied, once. Or its edits: all that concern a
/// URL are made, in order. Or it has those of another site, whose pages it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteRules {
    summary: SiteSummary,
    hosts: Vec<Box<str>>,
    rules: Vec<Rule>,
    substitutions: Vec<Substitution>,
    edits: Vec<Edit>,
    refused: Vec<RefusedEdit>,
    mirror: Option<Mirror>,
}

/// What the rules of a site were learned from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteSummary {
    /// Distinct URLs after safe normalization.
    pub urls: u64,
    /// Those of them whose page is known.
    pub labelled: u64,
    /// Distinct pages among the labelled URLs.
    pub pages: u64,
    /// Rules proposed before any check.
    pub raw_rules: u64,
    /// Rules that passed the check for false merges.
    pub qualified_rules: u64,
    /// What the rules are expected to lose at most, if their learner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
}

/// The most that a segment of an exception may have.
const MAX_SEGMENT_BYTES: usize = u8::MAX as usize;
/// Exceptions of a mirror. A mirror of it has them too, so with any number of them a small file could take for ever.
const MAX_EXCEPTIONS: usize = 256;

/// Why the rules of a site are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSite {
    /// The name is not a host.
    #[error("`{0}` is no host name in lower case")]
    Name(Box<str>),
    /// One rule is malformed.
    #[error("rule {index} is invalid")]
    Rule {
        /// Its place in the site's list, from 0.
        index: usize,
        /// What is wrong with it.
        source: InvalidRule,
    },
    /// One edit is malformed.
    #[error("edit {index} is invalid")]
    Edit {
        /// Its place in the site's list, from 0.
        index: usize,
        /// What is wrong with it.
        source: InvalidRule,
    },
    /// A site has both.
    #[error("a site can have rules and substitutions, or edits, but not both")]
    RulesAndEdits,
    /// The rules are to hold on a host that is not of the site.
    #[error("`{0}` is no host of the site, in lower case and without `www.`")]
    Host(Box<str>),
    /// A mirror has rules of its own, or the two sites are not different registrable domains.
    #[error(
        "a mirror has no rules of its own; it and the site whose pages it shows are two registrable domains"
    )]
    Mirror,
    /// A mirror has too many exceptions, or too long ones.
    #[error("a mirror has at most {MAX_EXCEPTIONS} exceptions, of at most {MAX_SEGMENT_BYTES} bytes each")]
    Exceptions,
    /// A substitution could go on for ever, or looks for nothing.
    #[error("substitution {index} makes URLs no shorter: `{from}` to `{to}`")]
    Substitution {
        /// Its place in the site's list, from 0.
        index: usize,
        /// What it looks for.
        from: Box<str>,
        /// What it puts in its place.
        to: Box<str>,
    },
    /// Rules undo each other's work.
    #[error("rules {} rewrite into each other without end", list(.indexes))]
    Cycle {
        /// Their places in the site's list, from 0.
        indexes: Vec<usize>,
    },
}

fn list(indexes: &[usize]) -> String {
    indexes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl RuleSet {
    /// An empty set; `method` names the learner.
    pub fn new(method: &str) -> Self {
        Self { method: method.into(), sites: BTreeMap::new() }
    }

    /// The learner that made these rules.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Adds the sites of another set; where both have one, that of the other replaces it.
    pub fn append(&mut self, mut other: Self) {
        self.sites.append(&mut other.sites);
    }

    /// Adds the rules of a site, named by its registrable domain, in place of any it had.
    pub fn insert(&mut self, site: &str, rules: SiteRules) -> Result<(), InvalidSite> {
        check_site(site, &rules)?;
        self.sites.insert(site.into(), rules);
        Ok(())
    }

    /// The sites in the order of their names.
    pub fn sites(&self) -> impl ExactSizeIterator<Item = (&str, &SiteRules)> {
        self.sites.iter().map(|(site, rules)| (&**site, rules))
    }

    /// The rules of one site.
    pub fn site(&self, site: &str) -> Option<&SiteRules> {
        self.sites.get(site)
    }

    /// The number of rules of all sites.
    pub fn rule_count(&self) -> usize {
        self.sites.values().map(SiteRules::len).sum()
    }
}

impl SiteRules {
    /// Checks each rule, and that no rules rewrite into each other.
    pub fn new(summary: SiteSummary, rules: Vec<Rule>) -> Result<Self, InvalidSite> {
        for (index, rule) in rules.iter().enumerate() {
            rule.check().map_err(|source| InvalidSite::Rule { index, source })?;
        }
        match find_cycle(&rules) {
            Some(indexes) => Err(InvalidSite::Cycle { indexes }),
            None => Ok(Self { summary, rules, ..Self::default() }),
        }
    }

    /// The same, with substitutions that are applied to a URL before its rules. Checks that they come to an end.
    pub fn with_substitutions(self, substitutions: Vec<Substitution>) -> Result<Self, InvalidSite> {
        match substitutions.iter().position(|substitution| !substitution.shrinks()) {
            Some(index) => {
                let Substitution { from, to, .. } = substitutions[index].clone();
                Err(InvalidSite::Substitution { index, from, to })
            }
            None => Ok(Self { substitutions, ..self }),
        }
    }

    /// The same with edits, which a site can only have in place of rules and substitutions.
    pub fn with_edits(self, edits: Vec<Edit>) -> Result<Self, InvalidSite> {
        if !edits.is_empty() && !self.is_empty() {
            return Err(InvalidSite::RulesAndEdits);
        }
        for (index, edit) in edits.iter().enumerate() {
            check_edit(edit).map_err(|source| InvalidSite::Edit { index, source })?;
        }
        Ok(Self { edits, ..self })
    }

    /// The same with edits that were considered and not believed, for people to look at.
    #[must_use]
    pub fn with_refused(self, refused: Vec<RefusedEdit>) -> Self {
        Self { refused, ..self }
    }

    /// The same, but for these hosts of the site alone, with and without `www`, instead of all: sorted names, each with the
    /// name of the site at its end.
    #[must_use]
    pub fn with_hosts(self, hosts: Vec<Box<str>>) -> Self {
        Self { hosts, ..self }
    }

    /// A site that shows the pages of another, and so has no rules of its own.
    pub fn mirror_of(summary: SiteSummary, mirror: Mirror) -> Result<Self, InvalidSite> {
        check_name(&mirror.of)?;
        let is_short = |segment: &str| segment.len() <= MAX_SEGMENT_BYTES;
        if !is_registrable(&mirror.of) || !(0.0..=1.0).contains(&mirror.evidence.failure_bound) {
            return Err(InvalidSite::Mirror);
        }
        if mirror.except.len() > MAX_EXCEPTIONS || !mirror.except.iter().all(|segment| is_short(segment)) {
            return Err(InvalidSite::Exceptions);
        }
        Ok(Self { summary, mirror: Some(mirror), ..Self::default() })
    }

    /// The site whose pages it shows, if it is a mirror.
    pub fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    /// The hosts on which the rules hold, with and without `www`; empty where they hold on all hosts of the site.
    pub fn hosts(&self) -> &[Box<str>] {
        &self.hosts
    }

    /// Edits that were considered and not believed, those with most votes first.
    pub fn refused(&self) -> &[RefusedEdit] {
        &self.refused
    }

    /// The edits in the order in which they are made.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// The substitutions in the order in which they are applied.
    pub fn substitutions(&self) -> &[Substitution] {
        &self.substitutions
    }

    /// The number of rules, substitutions and edits; 1 for a mirror.
    pub fn len(&self) -> usize {
        self.rules.len() + self.substitutions.len() + self.edits.len() + usize::from(self.mirror.is_some())
    }

    /// Whether nothing was learned for the site.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rules in the order in which they are tried.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What they were learned from.
    pub fn summary(&self) -> &SiteSummary {
        &self.summary
    }
}

/// Whether a site of this name can have these rules.
pub(super) fn check_site(site: &str, rules: &SiteRules) -> Result<(), InvalidSite> {
    check_name(site)?;
    let is_host = |host: &str| {
        let labels = host.strip_suffix(site).filter(|labels| labels.is_empty() || labels.ends_with('.'));
        labels.is_some_and(|labels| !labels.starts_with("www.")) && check_name(host).is_ok()
    };
    if let Some(host) = rules.hosts.iter().find(|host| !is_host(host)) {
        return Err(InvalidSite::Host(host.clone()));
    }
    match &rules.mirror {
        Some(mirror) if *mirror.of == *site || !is_registrable(site) => Err(InvalidSite::Mirror),
        _ => Ok(()),
    }
}

/// Whether a site is a registrable domain, written as hosts of URLs are. A mirror of a mirror is found by the name of its site,
/// so a host below a site must not be one.
fn is_registrable(site: &str) -> bool {
    let home = format!("http://{site}/");
    let is_host = ParsedUrl::parse(&home)
        .is_ok_and(|url| url.as_bytes() == home.as_bytes() && url.host() == site.as_bytes());
    is_host && has_subdomains(site.as_bytes()) && site_of(site.as_bytes()) == site.as_bytes()
}

fn check_name(site: &str) -> Result<(), InvalidSite> {
    let is_host =
        |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && !b"/?#@\\%".contains(&byte);
    if site.is_empty() || !site.bytes().all(is_host) {
        return Err(InvalidSite::Name(site.into()));
    }
    Ok(())
}
