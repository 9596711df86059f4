/*!
Sites that show the pages of another site under the same paths: what a rule file says of one, read, written and put into words.

Whether a site can be a mirror of another is checked where the site has a name, in [`super::set`].
*/

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::definition::given;
use super::{Decision, Evidence, RuleId, SiteEntry};

/// Says that a site shows the pages of another: its URLs are taken for URLs of the other, whose rules are then made. Such a site
/// has no rules of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// The registrable domain of the other site.
    pub of: Box<str>,
    /// The first segments of paths under which it has pages of its own, sorted; an empty one is its home page.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "sorted")]
    pub except: Vec<Box<str>>,
    /// Whether pages are known to be there too, so that canonical URLs can be of the other site. Otherwise keys only are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fetchable: bool,
    /// Somebody turned it off: it stays in the file and is not applied.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub off: Option<Box<Decision>>,
    /// Somebody vouches for it: it stays when the rules are learned again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub pinned: Option<Box<Decision>>,
    /// Why it is believed. Groups are paths that both sites have.
    #[serde(default, skip_serializing_if = "Evidence::is_none")]
    pub evidence: Evidence,
}

/// Sorts what a file has in any order, so that two mirrors that except the same say the same.
fn sorted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Box<str>>, D::Error> {
    let mut except: Vec<Box<str>> = Vec::deserialize(deserializer)?;
    except.sort_unstable();
    except.dedup();
    Ok(except)
}

impl Mirror {
    /// Whether URLs are moved by it; as for a [rule](super::Rule::is_applied).
    pub fn is_applied(&self) -> bool {
        SiteEntry::from(self).is_applied()
    }

    /// What it is called on the command line: by the other site and the exceptions.
    pub fn id(&self) -> RuleId {
        let said = std::iter::once(&self.of).chain(&self.except);
        // No segment has a slash.
        let said: String = said.flat_map(|text| [text, "/"]).collect();
        RuleId::of_hash(xxh3_64(said.as_bytes()))
    }

    /// Whether another says the same, whatever is known or was decided about the two.
    pub fn says_same(&self, other: &Self) -> bool {
        self.of == other.of && self.except == other.except
    }
}

impl fmt::Display for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shows the pages of {}", self.of)?;
        self.except
            .iter()
            .enumerate()
            .try_for_each(|(at, segment)| write!(f, "{} /{segment}", if at == 0 { ", except" } else { "," }))
    }
}
