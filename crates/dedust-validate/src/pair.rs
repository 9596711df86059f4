/*!
Two URLs that put an edit to the test, and the place of the edit.
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

/// An edit by its place in the list of its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An edit.
    Edit(usize),
    /// One of the edits that were considered and not believed.
    Unproven(usize),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit(index) => write!(f, "edit {index}"),
            Self::Unproven(index) => write!(f, "unproven edit {index}"),
        }
    }
}
