/*!
Sites that show the pages of another site under the same paths.
*/

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Evidence;

/// Says that a site shows the pages of another: its URLs are taken for URLs of the other, whose rules then hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// The registrable domain of the other site.
    pub of: Box<str>,
    /// The first segments of paths under which it has pages of its own, sorted; an empty one is its home page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Box<str>>,
    /// Whether pages are known to be there too, so that canonical URLs can be of the other site. Otherwise keys only are.
    pub fetchable: bool,
    /// Why it is believed. Groups are paths that both sites have.
    pub evidence: Evidence,
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shows the pages of {}", self.of)?;
        for (at, segment) in self.except.iter().enumerate() {
            write!(f, "{} /{segment}", if at == 0 { ", except" } else { "," })?;
        }
        Ok(())
    }
}
