/*!
Which edits are meant: a site by its name, an edit by its id or the beginning of that. What to do if that is not clear.
*/

use dedust::RuleSet;
use dedust::errors::DecideError;
use dedust::rules::Edit;

use crate::failure::Refusal;
use crate::rule_file::{refused_with, unknown_site};

/// Edits that are named to people who mistyped one.
const SHOWN: usize = 10;

/// Why nothing was decided, with a remedy.
pub(super) fn refusal(error: DecideError, rules: &RuleSet) -> Refusal {
    let edits_of = |site: &str| rules.site(site).map_or(&[][..], |site| site.edits());
    let remedy = match &error {
        DecideError::UnknownSite { site } => return unknown_site(rules, site),
        DecideError::Refused { site, edits, source } => return refused_with(site, edits, source.clone()),
        DecideError::UnknownId { site, .. } => format!("its edits are {}", candidates(edits_of(site).iter())),
        DecideError::SeveralIds { site, indexes, .. } => {
            let edits = edits_of(site);
            format!("give more digits: {}", candidates(indexes.iter().map(|&at| &edits[at])))
        }
        _ => "nothing was written".into(),
    };
    Refusal::new(error.to_string(), remedy)
}

/// The first of some edits, by id and sentence.
fn candidates<'a>(edits: impl ExactSizeIterator<Item = &'a Edit>) -> String {
    let more = edits.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = edits.take(SHOWN).map(|edit| format!("{} ({edit})", edit.id())).collect();
    match (shown.is_empty(), more) {
        (true, _) => return "none".into(),
        (_, 0) => {}
        (_, more) => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}
