/*!
Two URLs that put a rule to the test, and the place of the rule.
*/

use std::fmt;

/// Two URLs of one page, if the rule is right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// A URL that the rule changes.
    pub url: String,
    /// What it becomes.
    pub other: String,
}

/// A rule by its place in the list of its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A rule.
    Rule(usize),
    /// One of the rules that were considered and not believed.
    Unproven(usize),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(index) => write!(f, "rule {index}"),
            Self::Unproven(index) => write!(f, "unproven rule {index}"),
        }
    }
}
