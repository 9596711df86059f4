/*!
What people decided about a rule: that it is not applied, or that it stays.

A decision is part of the rule in the rule file, so that it can be reviewed and goes where the rules go. Decisions outlive learning:
they are found again by what a rule says ([`RuleId`]), not by its index in a list.
*/

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{CanonicalCounts, Change, Closed, Evidence, Promise, Rule, SiteEntry, SiteRules, Spot, Test};

/// Who decided, when and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<str>>,
    /// When, as `2026-11-16T12:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "time")]
    pub at: Option<Box<str>>,
    /// For which reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Box<str>>,
}

/// ` by anna on 2026-11-16: breaks the search`; empty where nothing is known.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(by) = &self.by {
            write!(f, " by {by}")?;
        }
        if let Some(day) = self.at.as_deref().and_then(|at| at.get(..10)) {
            write!(f, " on {day}")?;
        }
        match &self.why {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}

/// Names a rule by what it says: eight hexadecimal digits that depend on nothing but `when`, `closed`, `change` and `last`; a mirror by
/// the other site and the exceptions.
///
/// For people to type. Programs that ask whether two rules are the same use [`Rule::says_same`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u32);

impl RuleId {
    pub(super) fn of_hash(hash: u64) -> Self {
        Self((hash >> 32) as u32)
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// What a rule says, without why and since when.
#[derive(Serialize)]
struct Said<'a> {
    when: &'a BTreeMap<Spot, Test>,
    closed: Closed,
    change: &'a [Change],
    last: bool,
}

impl Rule {
    /// Whether URLs are changed by it. Not if somebody turned it off, nor if fetching pages refuted it; a pinned one is applied
    /// even then, since people have the last word.
    pub fn is_applied(&self) -> bool {
        SiteEntry::from(self).is_applied()
    }

    /// What it is called on the command line.
    pub fn id(&self) -> RuleId {
        let said = Said { when: &self.when, closed: self.closed, change: &self.change, last: self.last };
        // Names of parts are texts, so that this cannot fail.
        let json = serde_json::to_vec(&said).unwrap_or_default();
        RuleId::of_hash(xxh3_64(&json))
    }

    /// Whether another rule says the same, whatever is known or was decided about the two.
    pub fn says_same(&self, other: &Self) -> bool {
        self.when == other.when
            && self.closed == other.closed
            && self.change == other.change
            && self.last == other.last
    }
}

impl SiteRules {
    /// What the rules that are applied are expected to lose at most: less than was promised of all that were learned, where some of
    /// these are off or refuted. `None` if nothing was promised, or if a rule is applied of which nothing is known but that somebody
    /// wants it: written by hand, or pinned although it was refuted.
    pub fn promise(&self) -> Option<Promise> {
        let Promise { lost, pages } = self.summary().promise?;
        let is_known = |rule: &Rule| rule.evidence != Evidence::default() && !rule.evidence.is_refuted();
        if !self.applied().all(|(_, rule)| is_known(rule)) {
            return None;
        }
        let lost = if self.applied().next().is_none() { 0 } else { lost };
        Some(Promise { lost, pages })
    }

    /// What the crawl knows of the canonical URLs, if all rules that would write them are applied, and no others.
    pub fn canonical_counts(&self) -> Option<CanonicalCounts> {
        let is_as_learned = |rule: &Rule| rule.is_applied() == rule.evidence.canonical.is_some();
        let mut writers = self.rules().iter().filter(|rule| rule.fetchable);
        self.summary().canonical.filter(|_| writers.all(is_as_learned))
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<str>>, D::Error> {
    let text: Option<Box<str>> = Option::deserialize(deserializer)?;
    match text {
        Some(text) if !is_time(&text) => {
            Err(de::Error::custom(format_args!("`{text}` is no time such as 2026-11-16T12:00:00Z")))
        }
        text => Ok(text),
    }
}

/// Whether a text is a time as RFC 3339 writes it.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |start: usize, digits: usize, smallest: u32, largest: u32| {
        bytes.get(start..start + digits).is_some_and(|digits| {
            let value = digits
                .iter()
                .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| 10 * sum + u32::from(digit - b'0')));
            value.is_some_and(|value| (smallest..=largest).contains(&value))
        })
    };
    let is = |at: usize, expected: &[u8]| bytes.get(at).is_some_and(|byte| expected.contains(byte));
    let has_date =
        number(0, 4, 0, 9999) && is(4, b"-") && number(5, 2, 1, 12) && is(7, b"-") && number(8, 2, 1, 31);
    let has_time = is(10, b"Tt") && number(11, 2, 0, 23) && is(13, b":") && number(14, 2, 0, 59);
    let has_seconds = is(16, b":") && number(17, 2, 0, 60);
    let fraction = match bytes.get(19) {
        Some(b'.') => 1 + bytes[20..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let zone = 19 + fraction;
    let is_utc = is(zone, b"Zz") && bytes.len() == zone + 1;
    let has_offset =
        is(zone, b"+-") && number(zone + 1, 2, 0, 23) && is(zone + 3, b":") && number(zone + 4, 2, 0, 59);
    has_date && has_time && has_seconds && fraction != 1 && (is_utc || has_offset && bytes.len() == zone + 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Outcome, SiteSummary, Verdict};

    fn rule(json: &str) -> Rule {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_promise_is_one_of_what_is_applied() {
        let learned = r#"{"change": [{"drop": "q.sid"}], "evidence": {"urls": 9, "support_pairs": 9, "false_pairs": 0, "groups": 9,
            "failed_groups": 0, "failure_bound": 0.3, "kinds": []}}"#;
        let [learned, by_hand] = [learned, r#"{"change": [{"drop": "q.ref"}]}"#].map(rule);
        let off = Rule { off: Some(Box::default()), ..learned.clone() };
        let mut pinned = Rule { pinned: Some(Box::default()), ..learned.clone() };
        let lost = |rules: &[&Rule]| {
            let rules = rules.iter().map(|&rule| rule.clone()).collect();
            let summary =
                SiteSummary { promise: Some(Promise { lost: 3, pages: 40 }), ..SiteSummary::default() };
            SiteRules::new(summary, rules).unwrap().promise().map(|promise| promise.lost)
        };
        assert_eq!(lost(&[&learned]), Some(3));
        assert_eq!(lost(&[&pinned]), Some(3));
        assert_eq!(lost(&[&off]), Some(0));
        assert_eq!(lost(&[&learned, &by_hand]), None);
        let verdict = r#"{"outcome": "refuted", "same": 1, "different": 9, "failed": 0}"#;
        pinned.evidence.verdict = serde_json::from_str(verdict).ok();
        assert!(pinned.evidence.is_refuted());
        assert_eq!(lost(&[&pinned]), None);
        assert_eq!(lost(&[&Rule { pinned: None, ..pinned.clone() }]), Some(0));
    }

    #[test]
    fn counts_of_canonical_urls_are_those_of_what_is_applied() {
        let writes = r#"{"change": [{"drop": "q.sid"}], "fetchable": true, "evidence": {"urls": 9, "support_pairs": 9, "false_pairs": 0,
            "groups": 9, "failed_groups": 0, "failure_bound": 0.3, "kinds": [], "canonical": {"alive": 40, "unmet": 3, "wrong": 0},
            "canonical_bound": 0.0722}}"#;
        let [writes, in_keys, by_hand] = [
            writes,
            r#"{"change": [{"drop": "q.v"}]}"#,
            r#"{"change": [{"drop": "q.w"}], "fetchable": true}"#,
        ]
        .map(rule);
        assert!(serde_json::to_string(&writes).unwrap().contains(r#""canonical_bound":0.0722"#));
        let counts = CanonicalCounts { alive: 50, unmet: 3, wrong: 1 };
        let known = |rules: &[&Rule]| {
            let rules = rules.iter().map(|&rule| rule.clone()).collect();
            let summary = SiteSummary { canonical: Some(counts), ..SiteSummary::default() };
            SiteRules::new(summary, rules).unwrap().canonical_counts()
        };
        let off = Some(Box::<Decision>::default());
        assert_eq!(known(&[&writes, &in_keys]), Some(counts));
        assert_eq!(known(&[&writes, &Rule { off: off.clone(), ..by_hand.clone() }]), Some(counts));
        assert_eq!(known(&[&writes, &by_hand]), None, "it writes others");
        assert_eq!(known(&[&Rule { off, ..writes.clone() }, &in_keys]), None, "it would write others");
    }

    #[test]
    fn times_are_those_of_rfc_3339() {
        for time in ["2026-11-16T12:00:00Z", "2026-11-16T12:00:00.25Z", "2026-11-16T12:00:00-08:00"] {
            assert!(is_time(time), "{time}");
        }
        for text in [
            "",
            "yesterday",
            "2026-11-16",
            "2026-11-16T12:00Z",
            "2026-13-16T12:00:00Z",
            "2026-11-16T12:00:00",
            "2026-11-16T12:00:00.Z",
            "2026-11-16T12:00:00+1",
            "2026-11-16T12:00:00Z ",
            "2026-11-16T12:00:0\u{e9}Z",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn ids_depend_on_what_a_rule_says_alone() {
        let plain = rule(r#"{"change": [{"drop": "q.sid"}]}"#);
        let decided = rule(
            r#"{"says": "x", "closed": false, "change": [{"drop": "q.sid"}], "fetchable": true, "off": {"by": "anna"},
                "evidence": {"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
                             "failure_bound": 0.5, "kinds": []}}"#,
        );
        assert_eq!(plain.id(), decided.id());
        assert!(plain.says_same(&decided));
        // Rule files name rules by it, so it must never change.
        assert_eq!(plain.id().to_string(), "1bcc19fb");
        for other in [
            r#"{"change": [{"drop": "q.sid2"}]}"#,
            r#"{"change": [{"drop": "q.sid"}], "last": true}"#,
            r#"{"when": {"path_0": {"is": "a"}}, "change": [{"drop": "q.sid"}]}"#,
        ] {
            assert_ne!(plain.id(), rule(other).id());
            assert!(!plain.says_same(&rule(other)));
        }
    }

    #[test]
    fn a_rule_is_applied_unless_it_is_off_or_refuted_and_a_pinned_one_even_then() {
        let mut rule = rule(r#"{"change": [{"drop": "q.sid"}]}"#);
        assert!(rule.is_applied());
        rule.evidence.verdict = Some(Verdict { outcome: Outcome::Refuted, ..Verdict::default() });
        assert!(!rule.is_applied());
        rule.pinned = Some(Box::default());
        assert!(rule.is_applied());
        rule.off = Some(Box::default());
        assert!(!rule.is_applied());
    }

    #[test]
    fn decisions_read_as_they_are_written() {
        let json = r#"{"by":"anna","at":"2026-11-16T12:00:00Z","why":"breaks the search"}"#;
        let decision: Decision = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&decision).unwrap(), json);
        assert_eq!(decision.to_string(), " by anna on 2026-11-16: breaks the search");
        assert_eq!(serde_json::to_string(&Decision::default()).unwrap(), "{}");
        let error = serde_json::from_str::<Decision>(r#"{"at":"monday"}"#).unwrap_err();
        assert!(error.to_string().starts_with("`monday` is no time such as 2026-11-16T12:00:00Z"), "{error}");
    }
}
