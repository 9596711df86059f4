/*!
What was learned of a site: its rules, and those that were withdrawn.
*/

use std::sync::Arc;

use dedust::rules::{Decision, Rule, SiteRules};
use dedust::{Normalizer, RuleSet};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::audit::{Audit, Finding};

/// Who withdraws rules, in rule files.
const BY: &str = "dedust live";

/// What was learned of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// The rules of the site alone; none before it was learned from.
    pub(crate) rules: Arc<RuleSet>,
    /// The rules that are applied; `None` if there are none.
    pub(crate) normalizer: Option<Arc<Normalizer>>,
    pub(crate) withdrawn: Vec<Withdrawn>,
    /// Rows of which it was learned.
    pub(crate) rows: u64,
    /// Entries before this one are of a site as it was once.
    pub(crate) since: u32,
    /// Doubts that have it looked at again.
    pub(crate) next_doubts: u64,
    /// All of them, so far.
    pub(crate) doubts: u64,
    /// Whether its rules are others than those before, which is kept, since evidence is rounded when rules are written.
    pub(crate) is_renewed: bool,
}

/// A rule that failed its audits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Withdrawn {
    /// As it was learned.
    pub(crate) rule: Rule,
    /// Where it still holds, if anywhere.
    pub(crate) narrowed: Option<Rule>,
    /// Rows of the site then. It is believed again when there are twice as many and they say so.
    pub(crate) rows: u64,
    /// Audits that concerned it, and those of them that showed another page.
    pub(crate) audits: u64,
    pub(crate) different: u64,
}

/// Knowledge as a record keeps it.
#[derive(Serialize, Deserialize)]
struct Saved {
    rows: u64,
    since: u32,
    doubts: u64,
    next_doubts: u64,
    is_renewed: bool,
    /// A letter for each audit so far.
    findings: String,
    withdrawn: Vec<Withdrawn>,
    rules: Box<RawValue>,
}

impl Knowledge {
    /// Knowledge with other rules.
    pub(crate) fn with_rules(self, rules: RuleSet) -> Self {
        let has_rules = rules.sites().any(|(_, site)| site.applied().next().is_some());
        let normalizer = has_rules.then(|| Arc::new(Normalizer::compile(&rules).without_mirrors()));
        Self { rules: Arc::new(rules), normalizer, ..self }
    }

    /// For a record.
    pub(crate) fn to_json(&self, audits: &[Audit]) -> Vec<u8> {
        let mut rules = Vec::new();
        // Writing to memory does not fail.
        let _ = self.rules.save(&mut rules);
        let text = String::from_utf8(rules).unwrap_or_default();
        let saved = Saved {
            rows: self.rows,
            since: self.since,
            doubts: self.doubts,
            next_doubts: self.next_doubts,
            is_renewed: self.is_renewed,
            findings: audits.iter().map(letter_of).collect(),
            withdrawn: self.withdrawn.clone(),
            rules: RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned()),
        };
        serde_json::to_vec(&saved).unwrap_or_default()
    }

    /// Reads a record, and notes what it says of audits. `None` if it is damaged.
    pub(crate) fn of_json(json: &[u8], audits: &mut [Audit]) -> Option<Self> {
        let saved: Saved = serde_json::from_slice(json).ok()?;
        let rules = RuleSet::load(saved.rules.get().as_bytes()).ok()?;
        for (audit, letter) in audits.iter_mut().zip(saved.findings.bytes()) {
            (audit.finding, audit.is_joined) = finding_of(letter);
        }
        let Saved { rows, since, doubts, next_doubts, is_renewed, withdrawn, .. } = saved;
        let knowledge = Self { withdrawn, rows, since, next_doubts, doubts, is_renewed, ..Self::default() };
        Some(knowledge.with_rules(rules))
    }

    /// Bytes that it takes, roughly.
    pub(crate) fn held_bytes(&self) -> usize {
        const RULE_BYTES: usize = 2048;
        RULE_BYTES * (self.rules.rule_count() + self.withdrawn.len())
    }
}

impl Withdrawn {
    /// The rules of a site without this one.
    pub(crate) fn take_from(&self, rules: &SiteRules) -> SiteRules {
        let off = || {
            let why = format!("{} of {} audits showed another page", self.different, self.audits);
            Some(Box::new(Decision { by: Some(BY.into()), at: None, why: Some(why.into()) }))
        };
        let mut changed = Vec::new();
        for rule in rules.rules() {
            if !rule.says_same(&self.rule) || !rule.is_applied() {
                changed.push(rule.clone());
                continue;
            }
            changed.extend(self.narrowed.clone());
            changed.push(Rule { off: off(), ..rule.clone() });
        }
        rules.clone().with_rules(changed).unwrap_or_else(|_| without_rules(rules))
    }
}

/// A site none of whose rules is applied.
fn without_rules(rules: &SiteRules) -> SiteRules {
    rules.clone().with_rules(Vec::new()).unwrap_or_default()
}

fn letter_of(audit: &Audit) -> char {
    let letter = match audit.finding {
        Finding::Open => 'o',
        Finding::Same => 's',
        Finding::Different => 'd',
        Finding::Unclear => 'u',
    };
    if audit.is_joined { letter.to_ascii_uppercase() } else { letter }
}

fn finding_of(letter: u8) -> (Finding, bool) {
    let finding = match letter.to_ascii_lowercase() {
        b's' => Finding::Same,
        b'd' => Finding::Different,
        b'u' => Finding::Unclear,
        _ => Finding::Open,
    };
    (finding, letter.is_ascii_uppercase())
}
