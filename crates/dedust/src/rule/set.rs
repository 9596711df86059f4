/*!
Rules in a fixed order, checked: only a [`RuleSet`] can be compiled.
*/

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Change, Edit, Mirror, Op, Part, PathPart, Promise, RefusedEdit, Rule, Source, Spot, Substitution,
};
use crate::pattern::{AnyValue, ValueClass, ValuePattern};
use crate::url::{ParamName, ParsedUrl, TokenKey, Value, has_subdomains, site_of};

/// Rules for any number of sites.
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
        if !is_registrable(&mirror.of)
            || !(0.0..=1.0).contains(&mirror.evidence.failure_bound)
            || !mirror.except.iter().all(|segment| is_short(segment))
        {
            return Err(InvalidSite::Mirror);
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

impl Rule {
    /// Whether the rule makes sense by itself: a [`SiteRules`] takes no others.
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

fn check_edit(edit: &Edit) -> Result<(), InvalidRule> {
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

/// Rules whose written URLs may be covered by each other in a circle, if there are any: their places in `rules`.
///
/// A rule that only forgets values writes no URL and cannot take part.
pub fn find_cycle(rules: &[Rule]) -> Option<Vec<usize>> {
    let writers: Vec<usize> =
        (0..rules.len()).filter(|&at| rules[at].rewrite.is_writable() && !rules[at].is_in_place()).collect();
    let copies_in_place = |rule: &Rule| {
        rule.rewrite.ops().all(|(key, op)| match op {
            Op::Copy(from) | Op::Map { of: from, .. } => from == key,
            Op::Keep(_) | Op::Ignore => true,
            Op::Join(_) => false,
        })
    };
    let next = |at: usize| {
        writers.iter().copied().filter(move |&other| {
            feeds(&rules[at], &rules[other])
                && match other.cmp(&at) {
                    // The URL was covered by the earlier rule before, unless something that it looks at was changed.
                    Ordering::Less => !leaves_alone(&rules[at], &rules[other]),
                    Ordering::Equal => !copies_in_place(&rules[at]),
                    // The URL is still covered by the rule that wrote it.
                    Ordering::Greater => !leaves_alone(&rules[at], &rules[at]),
                }
        })
    };
    let mut state = vec![State::New; rules.len()];
    for &start in &writers {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        let mut path = vec![(start, next(start).collect::<Vec<_>>())];
        while let Some((at, rest)) = path.last_mut() {
            match rest.pop() {
                None => {
                    state[*at] = State::Done;
                    path.pop();
                }
                Some(other) if state[other] == State::Open => {
                    let mut cycle: Vec<usize> = path.iter().map(|(at, _)| *at).collect();
                    let from = cycle.iter().position(|&at| at == other).unwrap_or(0);
                    cycle.drain(..from);
                    cycle.sort_unstable();
                    return Some(cycle);
                }
                Some(other) if state[other] == State::New => {
                    state[other] = State::Open;
                    path.push((other, next(other).collect()));
                }
                Some(_) => {}
            }
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// Whether `writer` changes nothing that decides whether `reader` covers a URL.
fn leaves_alone(writer: &Rule, reader: &Rule) -> bool {
    reader.pattern.keys().all(|(key, pattern)| {
        let is_free = matches!(pattern, ValuePattern::Any(AnyValue { class: ValueClass::Text, except, optional: true })
            if except.is_empty());
        is_free
            || match writer.rewrite.get(key) {
                Some(Op::Copy(from)) => from == key,
                Some(Op::Keep(value)) => *pattern == ValuePattern::Is(value.clone()) && writer.pattern.get(key) == Some(pattern),
                Some(_) => false,
                None => writer.is_other_param(key) || (writer.pattern.get(key).is_none()),
            }
    })
}

/// Whether a URL written by `from` may be covered by `to`.
pub(crate) fn feeds(from: &Rule, to: &Rule) -> bool {
    let written = from.rewrite.ops().all(|(key, op)| match (op, to.pattern.get(key)) {
        (Op::Ignore, _) => false,
        (Op::Keep(value), Some(pattern)) => pattern.matches(Some(value)),
        (Op::Copy(source), Some(pattern)) => {
            from.pattern.get(source).is_some_and(|source| source.overlaps(pattern))
        }
        (Op::Join(_) | Op::Map { .. }, Some(_)) => true,
        (_, None) if to.is_other_param(key) => true,
        (Op::Keep(_) | Op::Join(_), None) => false,
        (Op::Map { .. }, None) => true,
        (Op::Copy(source), None) => from.pattern.get(source).is_some_and(|source| source.is_optional()),
    });
    written
        && to.pattern.keys().all(|(key, pattern)| {
            from.rewrite.get(key).is_some() || pattern.is_optional() || from.is_other_param(key)
        })
}
