/*!
Rule files of version 1, which had four kinds of rules: closed rules, substitutions of text, edits, and mirrors.

What each of them says is said by an [`Edit`]. Edits that are never made were allowed, and are left out: they did nothing.
*/

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{LoadRulesError, read_list};
use crate::rule::{
    Atom, Change, Edit, Evidence, InvalidSite, Mapped, Mirror, Op, OtherParams, Pattern, Replace, Rewrite,
    Rule, SiteRules, SiteSummary, Source, Spot, unique_keys, without_never_made,
};
use crate::url::{TokenKey, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadedSite<'a> {
    #[serde(default)]
    summary: SiteSummary,
    #[serde(default)]
    hosts: Vec<Box<str>>,
    #[serde(borrow, default)]
    rules: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    substitutions: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    edits: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    refused: Vec<&'a RawValue>,
    #[serde(default)]
    mirror: Option<LoadedMirror>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadedMirror {
    of: Box<str>,
    #[serde(default)]
    except: Vec<Box<str>>,
    fetchable: bool,
    evidence: Evidence,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadedSubstitution {
    from: Box<str>,
    to: Box<str>,
    #[serde(default)]
    at_start: bool,
    #[serde(default)]
    at_end: bool,
    evidence: Evidence,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadedRule {
    pattern: Pattern,
    #[serde(default)]
    other_params: OtherParams,
    rewrite: LoadedRewrite,
    evidence: Evidence,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadedRewrite {
    #[serde(deserialize_with = "unique_keys")]
    target: BTreeMap<TokenKey, LoadedOp>,
    #[serde(default)]
    query_order: Vec<TokenKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum LoadedOp {
    Keep(Value),
    Copy(TokenKey),
    Ignore,
    Join(Vec<LoadedPart>),
    Map { of: TokenKey, values: Vec<Mapped> },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum LoadedPart {
    Text(Box<str>),
    Copy(TokenKey),
    Atom { of: TokenKey, which: Atom },
}

impl LoadedSite<'_> {
    pub(super) fn check(self, site: &str) -> Result<SiteRules, LoadRulesError> {
        let Self { summary, hosts, rules, substitutions, edits, refused, mirror } = self;
        let refuse = |source| LoadRulesError::InvalidSite { site: site.into(), source };
        let kinds = [mirror.is_some(), rules.len() + substitutions.len() > 0, !edits.is_empty()];
        if kinds.into_iter().filter(|has| *has).count() > 1 {
            return Err(refuse(InvalidSite::SeveralKinds));
        }
        let mirror = mirror.map(|LoadedMirror { of, except, fetchable, evidence }| {
            Mirror { of, except, fetchable, evidence }.to_edit()
        });
        let rules: Vec<LoadedRule> = read_list("rule", site, &rules)?;
        let substitutions: Vec<LoadedSubstitution> = read_list("substitution", site, &substitutions)?;
        let edits = read_list("edit", site, &edits)?;
        let refused = read_list("refused edit", site, &refused)?;
        let substitutions = substitutions.into_iter().map(LoadedSubstitution::into_edit);
        let rules = rules.into_iter().map(|rule| Rule::from(rule).into_edit());
        let edits =
            mirror.into_iter().chain(substitutions).chain(rules).chain(without_never_made(edits)).collect();
        let rules = SiteRules::new(summary, edits).map_err(refuse)?;
        Ok(rules.with_refused(refused).with_hosts(hosts))
    }
}

impl LoadedSubstitution {
    fn into_edit(self) -> Edit {
        let Self { from, to, at_start, at_end, evidence } = self;
        let replace = Replace { from, to, at_start, at_end };
        Edit { fetchable: true, evidence, ..Edit::new(Change::Replace(replace)) }
    }
}

impl From<LoadedRule> for Rule {
    fn from(LoadedRule { pattern, other_params, rewrite, evidence }: LoadedRule) -> Self {
        let LoadedRewrite { target, query_order } = rewrite;
        let target = target.into_iter().map(|(key, op)| (key, op.into()));
        Self { pattern, other_params, rewrite: Rewrite::new(target, query_order), fetchable: true, evidence }
    }
}

impl From<LoadedOp> for Op {
    fn from(op: LoadedOp) -> Self {
        match op {
            LoadedOp::Keep(value) => Self::Keep(value),
            LoadedOp::Copy(from) => Self::Copy(from),
            LoadedOp::Ignore => Self::Ignore,
            LoadedOp::Join(parts) => Self::Join(parts.into_iter().map(Source::from).collect()),
            LoadedOp::Map { of, values } => Self::Map { of, values },
        }
    }
}

impl From<LoadedPart> for Source {
    fn from(part: LoadedPart) -> Self {
        match part {
            LoadedPart::Text(text) => Self::text(&text),
            LoadedPart::Copy(key) => Self::of(Spot::Key(key)),
            LoadedPart::Atom { of, which } => Self { part: Some(which), ..Self::of(Spot::Key(of)) },
        }
    }
}
