/*!
Rules in a fixed order, checked: only a [`RuleSet`] can be compiled.
*/

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::check::check_rule;
use super::never_made::EarlierRules;
use super::{CanonicalCounts, InvalidRule, Mirror, Promise, RefusedRule, Rule, SiteEntry, Standing};
use crate::url::{ParsedUrl, has_subdomains, site_of};

/// Rules for any number of sites.
///
/// ```
/// use dedust::{Normalizer, RuleSet};
///
/// let json = r#"{"version": 1, "method": "by hand", "sites": {"example.org": {"rules": [
///     {"change": [{"drop": "q.sid"}], "fetchable": true}
/// ]}}}"#;
/// let rules = RuleSet::load(json.as_bytes())?;
/// assert_eq!(rules.method(), "by hand");
/// for (site, rules) in rules.sites() {
///     assert_eq!((site, rules.rules().len()), ("example.org", 1));
/// }
/// let normalizer = Normalizer::compile(&rules);
/// assert_eq!(normalizer.normalize("http://example.org/view?sid=9")?, "http://example.org/view");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSet {
    pub(super) method: Box<str>,
    /// What the learner was asked for, as a JSON object.
    pub(super) options: Option<Box<str>>,
    /// Those that [`check_site`] has passed.
    pub(super) sites: BTreeMap<Box<str>, SiteRules>,
}

/// What a rule file says of one site.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteRules {
    /// It has rules of its own.
    Rules(OrderedRules),
    /// It shows the pages of another site, and is nothing else.
    Mirror(Box<Mirror>),
}

/// The rules of one site, in the order in which they are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderedRules {
    summary: SiteSummary,
    hosts: Vec<Box<str>>,
    rules: Vec<Rule>,
    refused: Vec<RefusedRule>,
    canonical_urls: BTreeMap<Box<str>, Option<Box<str>>>,
}

/// What the rules of a site were learned from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The canonical URLs that the rules write for URLs whose page was seen, if their learner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalCounts>,
}

impl SiteSummary {
    /// Nothing is known, as of rules by hand and of mirrors.
    const NONE: Self = Self {
        urls: 0,
        labelled: 0,
        pages: 0,
        raw_rules: 0,
        qualified_rules: 0,
        promise: None,
        canonical: None,
    };
}

impl Default for SiteSummary {
    fn default() -> Self {
        Self::NONE
    }
}

/// The most rules that a site may have, also of those that are not applied. Tables of many values are one rule, each text that is
/// replaced counts as one.
const MAX_RULES: usize = 10_000;
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
    /// One rule makes no sense, by itself or after those before it.
    #[error("rule {index} is invalid")]
    Rule {
        /// Its index in the site's list, from 0.
        index: usize,
        /// What is wrong with it.
        source: InvalidRule,
    },
    /// The rules are to hold on a host that is not of the site.
    #[error("`{0}` is no host of the site, in lower case and without `www.`")]
    Host(Box<str>),
    /// A mirror and its original are no two registrable domains.
    #[error("a mirror and the site whose pages it shows must be different registrable domains")]
    Mirror,
    /// A site is said to be a mirror, and something else.
    #[error(
        "a mirror of a site is nothing else: it has no `rules`, `hosts`, `summary` or `refused`, and one original"
    )]
    NotOnlyMirror,
    /// A mirror has too many exceptions, or too long ones.
    #[error(
        "a mirror has at most {MAX_EXCEPTIONS} exceptions, of at most {MAX_SEGMENT_BYTES} bytes each and without `/`"
    )]
    Exceptions,
    /// The bound in the evidence of a mirror is no share.
    #[error("the failure bound must be from 0 to 1")]
    FailureBound,
    /// There are too many rules. Learned sites have some dozens.
    #[error(
        "there are {count} rules, expected at most {MAX_RULES}: leave some out, or say by one rule what several say of the values of one part, with `one_of`, `map` or a `table`"
    )]
    TooManyRules {
        /// How many there are.
        count: usize,
    },
}

impl RuleSet {
    /// An empty set; `method` names the learner.
    pub fn new(method: &str) -> Self {
        Self { method: method.into(), ..Self::default() }
    }

    /// The same with what its learner was asked for, in place of what was said before. Nothing here depends on it.
    #[must_use]
    pub fn with_options(self, options: Map<String, Value>) -> Self {
        Self { options: Some(Value::Object(options).to_string().into()), ..self }
    }

    /// The same without any site.
    #[must_use]
    pub fn without_sites(&self) -> Self {
        Self { method: self.method.clone(), options: self.options.clone(), sites: BTreeMap::new() }
    }

    /// The learner that made these rules.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// What the learner was asked for, as a JSON object that only the learner understands; `None` if the rules do not say.
    pub fn options(&self) -> Option<&str> {
        self.options.as_deref()
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

/// No rules.
impl Default for SiteRules {
    fn default() -> Self {
        Self::Rules(OrderedRules::default())
    }
}

impl From<Mirror> for SiteRules {
    fn from(mirror: Mirror) -> Self {
        Self::Mirror(Box::new(mirror))
    }
}

impl SiteRules {
    /// Checks each rule, and that they can stand together.
    pub fn new(summary: SiteSummary, rules: Vec<Rule>) -> Result<Self, InvalidSite> {
        let count = rules.iter().map(Rule::weight).sum();
        if count > MAX_RULES {
            return Err(InvalidSite::TooManyRules { count });
        }
        let mut earlier = EarlierRules::default();
        for (index, rule) in rules.iter().enumerate() {
            check_rule(rule).map_err(|source| InvalidSite::Rule { index, source })?;
            if let Some((by, spot)) = earlier.taker(rule) {
                let source = InvalidRule::NeverMade { by, spot: spot.to_string().into() };
                return Err(InvalidSite::Rule { index, source });
            }
            earlier.push(index, rule);
        }
        Ok(Self::Rules(OrderedRules { summary, rules, ..OrderedRules::default() }))
    }

    /// The same with other rules, also in place of a mirror.
    pub fn with_rules(self, rules: Vec<Rule>) -> Result<Self, InvalidSite> {
        let OrderedRules { summary, hosts, refused, canonical_urls, .. } = match self {
            Self::Rules(rules) => rules,
            Self::Mirror(_) => OrderedRules::default(),
        };
        let rules = Self::new(summary, rules)?.with_hosts(hosts).with_refused(refused);
        Ok(rules.with_canonical_urls(canonical_urls))
    }

    /// The same after a change to what is known of each entry, or was decided about it. Entries are numbered from 0.
    pub fn with_standings(self, mut change: impl FnMut(usize, Standing<'_>)) -> Result<Self, InvalidSite> {
        match self {
            Self::Rules(mut ordered) => {
                let mut rules = std::mem::take(&mut ordered.rules);
                rules.iter_mut().enumerate().for_each(|(index, rule)| change(index, rule.into()));
                Self::Rules(ordered).with_rules(rules)
            }
            Self::Mirror(mut mirror) => {
                change(0, Standing::from(&mut *mirror));
                Ok(Self::Mirror(mirror))
            }
        }
    }

    /// The same with a change that only rules can have: a mirror stays as it is.
    fn map_rules(self, change: impl FnOnce(OrderedRules) -> OrderedRules) -> Self {
        match self {
            Self::Rules(rules) => Self::Rules(change(rules)),
            Self::Mirror(_) => self,
        }
    }

    /// The same with another summary; a mirror has none.
    #[must_use]
    pub fn with_summary(self, summary: SiteSummary) -> Self {
        self.map_rules(|rules| OrderedRules { summary, ..rules })
    }

    /// The same with rules that were considered and not believed, for people to look at; a mirror has none.
    #[must_use]
    pub fn with_refused(self, refused: Vec<RefusedRule>) -> Self {
        self.map_rules(|rules| OrderedRules { refused, ..rules })
    }

    /// The same, but for these hosts of the site alone, with and without `www`, instead of all: sorted names, each with the
    /// name of the site at its end. A mirror is one on all hosts.
    #[must_use]
    pub fn with_hosts(self, hosts: Vec<Box<str>>) -> Self {
        self.map_rules(|rules| OrderedRules { hosts, ..rules })
    }

    /// The same with canonical URLs that were observed: for some URLs that the rules write, the URL that shows their page, or nothing where
    /// a URL is to stay as it is instead. They are of effect where the rules give both the same key, and leave the first as it is. A mirror
    /// has none.
    #[must_use]
    pub fn with_canonical_urls(self, canonical_urls: BTreeMap<Box<str>, Option<Box<str>>>) -> Self {
        self.map_rules(|rules| OrderedRules { canonical_urls, ..rules })
    }

    /// Canonical URLs that were observed, by what the rules write.
    pub fn canonical_urls(&self) -> &BTreeMap<Box<str>, Option<Box<str>>> {
        static NONE: BTreeMap<Box<str>, Option<Box<str>>> = BTreeMap::new();
        self.ordered().map_or(&NONE, |rules| &rules.canonical_urls)
    }

    fn ordered(&self) -> Option<&OrderedRules> {
        match self {
            Self::Rules(rules) => Some(rules),
            Self::Mirror(_) => None,
        }
    }

    /// Of which site it shows the pages, if it is a mirror and that is applied.
    pub fn mirror(&self) -> Option<&Mirror> {
        match self {
            Self::Rules(_) => None,
            Self::Mirror(mirror) => Some(&**mirror).filter(|mirror| mirror.is_applied()),
        }
    }

    /// The hosts on which the rules are made, with and without `www`; empty where they are made on all hosts of the site.
    pub fn hosts(&self) -> &[Box<str>] {
        self.ordered().map_or(&[], |rules| &rules.hosts)
    }

    /// Rules that were considered and not believed, those with most votes first.
    pub fn refused(&self) -> &[RefusedRule] {
        self.ordered().map_or(&[], |rules| &rules.refused)
    }

    /// The rules in the order in which they are made; none of a mirror.
    pub fn rules(&self) -> &[Rule] {
        self.ordered().map_or(&[], |rules| &rules.rules)
    }

    /// Those of them that are applied, with their indexes.
    pub fn applied(&self) -> impl Iterator<Item = (usize, &Rule)> {
        self.rules().iter().enumerate().filter(|(_, rule)| rule.is_applied())
    }

    /// The rules in their order, or that it is a mirror.
    pub fn entries(&self) -> impl Iterator<Item = SiteEntry<'_>> {
        (0..self.len()).filter_map(|index| self.entry(index))
    }

    /// One of the entries, by its number.
    pub fn entry(&self, index: usize) -> Option<SiteEntry<'_>> {
        match self {
            Self::Rules(rules) => rules.rules.get(index).map(SiteEntry::Rule),
            Self::Mirror(mirror) => (index == 0).then_some(SiteEntry::Mirror(mirror)),
        }
    }

    /// The number of entries, also of those that are not applied.
    pub fn len(&self) -> usize {
        match self {
            Self::Rules(rules) => rules.rules.len(),
            Self::Mirror(_) => 1,
        }
    }

    /// Whether nothing was learned for the site.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the rules were learned from.
    pub fn summary(&self) -> &SiteSummary {
        self.ordered().map_or(&SiteSummary::NONE, |rules| &rules.summary)
    }
}

/// Whether a site of this name can have these rules.
pub(super) fn check_site(site: &str, rules: &SiteRules) -> Result<(), InvalidSite> {
    check_name(site)?;
    match rules {
        SiteRules::Rules(rules) => check_hosts(site, &rules.hosts),
        SiteRules::Mirror(mirror) => check_mirror(site, mirror),
    }
}

fn check_hosts(site: &str, hosts: &[Box<str>]) -> Result<(), InvalidSite> {
    let is_host = |host: &str| {
        let labels = host.strip_suffix(site).filter(|labels| labels.is_empty() || labels.ends_with('.'));
        labels.is_some_and(|labels| !labels.starts_with("www.")) && check_name(host).is_ok()
    };
    match hosts.iter().find(|host| !is_host(host)) {
        Some(host) => Err(InvalidSite::Host(host.clone())),
        None => Ok(()),
    }
}

fn check_mirror(site: &str, mirror: &Mirror) -> Result<(), InvalidSite> {
    if *mirror.of == *site || !is_registrable(site) || !is_registrable(&mirror.of) {
        return Err(InvalidSite::Mirror);
    }
    let is_segment = |text: &str| text.len() <= MAX_SEGMENT_BYTES && !text.contains('/');
    if mirror.except.len() > MAX_EXCEPTIONS || !mirror.except.iter().all(|segment| is_segment(segment)) {
        return Err(InvalidSite::Exceptions);
    }
    match (0.0..=1.0).contains(&mirror.evidence.failure_bound) {
        true => Ok(()),
        false => Err(InvalidSite::FailureBound),
    }
}

/// Whether a site is a registrable domain, written as hosts of URLs are. A mirror of a mirror is found by the name of its site,
/// so a host below a site must not be one.
pub(super) fn is_registrable(site: &str) -> bool {
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
