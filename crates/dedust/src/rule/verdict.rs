/*!
What fetching pages said about a rule, after it was learned.

A verdict is part of a rule's [`Evidence`](super::Evidence). A refuted rule stays in the file, so that people can see
why it is not applied, but is not compiled. One whose canonical URLs are not alive is applied to keys, and is not fetchable.
*/

use serde::{Deserialize, Serialize};

/// What came of fetching pairs of URLs that a rule says are one page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// What follows from the counts.
    pub outcome: Outcome,
    /// Pairs that showed the same page.
    pub same: u64,
    /// Pairs that showed different pages, or a page and a refusal.
    pub different: u64,
    /// Pairs of which nothing was learned: unreachable, forbidden to fetch, or too large.
    pub failed: u64,
    /// The day on which they were fetched, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Box<str>>,
    /// What came of the canonical URLs that the rule writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalVerdict>,
}

/// What came of fetching canonical URLs, each counted once, to see whether it shows the page of the URL that it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalVerdict {
    /// What follows from the counts. If they are refuted, the rule is not fetchable.
    pub outcome: Outcome,
    /// They show the page, without a redirect.
    pub alive: u64,
    /// They redirect.
    pub redirected: u64,
    /// There is no such page.
    pub missing: u64,
    /// They show another page.
    pub different: u64,
    /// Nothing was learned of them.
    pub failed: u64,
}

impl CanonicalVerdict {
    /// Those that are no canonical URLs.
    pub fn dead(&self) -> u64 {
        self.redirected.saturating_add(self.missing).saturating_add(self.different)
    }
}

/// Whether a rule holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It brings URLs of the same page together.
    Confirmed,
    /// It brings different pages together too often.
    Refuted,
    /// The pairs that could be compared do not tell.
    #[default]
    Unknown,
}

impl Outcome {
    /// As in the rule file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Evidence;

    #[test]
    fn evidence_without_a_verdict_reads_and_writes_as_before() {
        let text = r#"{"urls":9,"support_pairs":4,"false_pairs":0,"groups":4,"failed_groups":0,"failure_bound":0.53,"kinds":[]}"#;
        let evidence: Evidence = serde_json::from_str(text).unwrap();
        assert_eq!(evidence.verdict, None);
        assert_eq!(serde_json::to_string(&evidence).unwrap(), text);
    }

    #[test]
    fn outcomes_are_written_by_name() {
        for outcome in [Outcome::Confirmed, Outcome::Refuted, Outcome::Unknown] {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("{:?}", outcome.name()));
        }
        let verdict =
            Verdict { outcome: Outcome::Refuted, same: 3, different: 5, failed: 1, ..Verdict::default() };
        let text = r#"{"outcome":"refuted","same":3,"different":5,"failed":1}"#;
        assert_eq!(serde_json::to_string(&verdict).unwrap(), text);
        assert_eq!(serde_json::from_str::<Verdict>(text).unwrap(), verdict);
    }
}
