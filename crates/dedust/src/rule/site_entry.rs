/*!
What people decide about and `validate` puts to the test: a rule of a site, or that the site is a mirror.

Both have an id, a sentence, evidence and decisions. What they do to a URL is said by [`Rule`] and [`Mirror`] alone.
*/

use std::fmt;

use serde::Serialize;

use super::{Decision, Evidence, Mirror, Rule, RuleId};

/// A rule, or that a site is a mirror. Serialized as in a rule file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SiteEntry<'a> {
    /// One of the rules of a site.
    Rule(&'a Rule),
    /// The only entry of a site that shows the pages of another.
    Mirror(&'a Mirror),
}

/// What is known of an entry and was decided about it, to be changed.
#[derive(Debug, PartialEq)]
pub struct Standing<'a> {
    /// Whether what it writes can be fetched.
    pub fetchable: &'a mut bool,
    /// Why it is trusted.
    pub evidence: &'a mut Evidence,
    /// Somebody turned it off.
    pub off: &'a mut Option<Box<Decision>>,
    /// Somebody vouches for it.
    pub pinned: &'a mut Option<Box<Decision>>,
}

impl<'a> From<&'a Rule> for SiteEntry<'a> {
    fn from(rule: &'a Rule) -> Self {
        Self::Rule(rule)
    }
}

impl<'a> From<&'a Mirror> for SiteEntry<'a> {
    fn from(mirror: &'a Mirror) -> Self {
        Self::Mirror(mirror)
    }
}

impl<'a> From<&'a mut Rule> for Standing<'a> {
    fn from(Rule { fetchable, evidence, off, pinned, .. }: &'a mut Rule) -> Self {
        Self { fetchable, evidence, off, pinned }
    }
}

impl<'a> From<&'a mut Mirror> for Standing<'a> {
    fn from(Mirror { fetchable, evidence, off, pinned, .. }: &'a mut Mirror) -> Self {
        Self { fetchable, evidence, off, pinned }
    }
}

impl<'a> SiteEntry<'a> {
    /// What it is called on the command line.
    pub fn id(self) -> RuleId {
        match self {
            Self::Rule(rule) => rule.id(),
            Self::Mirror(mirror) => mirror.id(),
        }
    }

    /// Whether what it writes can be fetched.
    pub fn fetchable(self) -> bool {
        match self {
            Self::Rule(rule) => rule.fetchable,
            Self::Mirror(mirror) => mirror.fetchable,
        }
    }

    /// Why it is trusted.
    pub fn evidence(self) -> &'a Evidence {
        match self {
            Self::Rule(rule) => &rule.evidence,
            Self::Mirror(mirror) => &mirror.evidence,
        }
    }

    /// The decision that it is not applied.
    pub fn off(self) -> Option<&'a Decision> {
        match self {
            Self::Rule(rule) => rule.off.as_deref(),
            Self::Mirror(mirror) => mirror.off.as_deref(),
        }
    }

    /// The decision that it stays.
    pub fn pinned(self) -> Option<&'a Decision> {
        match self {
            Self::Rule(rule) => rule.pinned.as_deref(),
            Self::Mirror(mirror) => mirror.pinned.as_deref(),
        }
    }

    /// Whether URLs are changed by it. Not if somebody turned it off, nor if fetching pages refuted it; one that is pinned is
    /// applied even then, since people have the last word.
    pub fn is_applied(self) -> bool {
        self.off().is_none() && (self.pinned().is_some() || !self.evidence().is_refuted())
    }

    /// Whether something was decided about it.
    pub fn is_decided(self) -> bool {
        self.off().is_some() || self.pinned().is_some()
    }

    /// Whether another says the same, whatever is known or was decided about the two.
    pub fn says_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Rule(rule), Self::Rule(other)) => rule.says_same(other),
            (Self::Mirror(mirror), Self::Mirror(other)) => mirror.says_same(other),
            (Self::Rule(_), Self::Mirror(_)) | (Self::Mirror(_), Self::Rule(_)) => false,
        }
    }
}

impl fmt::Display for SiteEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => rule.fmt(f),
            Self::Mirror(mirror) => mirror.fmt(f),
        }
    }
}
