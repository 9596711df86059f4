/*!
What a training tells of one site.
*/

use serde::{Deserialize, Serialize};

use crate::preference::UnmetPreference;
use crate::score::Score;

/// What the rules of one site do to the URLs they were learned from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SiteReport {
    /// The registrable domain.
    pub site: Box<str>,
    /// The site whose pages it shows, if it is a mirror. Then only about how much that saves is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror_of: Option<Box<str>>,
    /// Observations, of which all or some were learned from.
    pub observations: u64,
    /// Distinct URLs that were learned from, after safe normalization.
    pub urls: usize,
    /// Those whose page is known.
    pub labelled: usize,
    /// Distinct pages among the labelled ones.
    pub pages: usize,
    /// Rules deployed.
    pub rules: usize,
    /// URLs that need not be fetched: all URLs less the distinct keys.
    pub saved: usize,
    /// Those of them that need no rules, since keys have their parameters sorted and no userinfo.
    #[serde(default)]
    pub saved_without_rules: usize,
    /// The labelled URLs, scored by their keys.
    pub score: Score,
    /// Forms that people prefer and that are not written, though rules join them and others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<UnmetPreference>,
}
