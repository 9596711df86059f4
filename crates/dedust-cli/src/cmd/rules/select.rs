/*!
Which rules are meant: a site by its name, a rule by its id or the beginning of that. What to do if that is not clear.
*/

use dedust::RuleSet;
use dedust::errors::DecideError;
use dedust::rules::SiteEntry;

use crate::failure::Refusal;
use crate::rule_file::{refused_with, unknown_site};

/// Rules that are named to people who mistyped one.
const SHOWN: usize = 10;

/// Why nothing was decided, with a remedy.
pub(super) fn refusal(error: DecideError, rules: &RuleSet) -> Refusal {
    let rules_of = |site: &str| -> Vec<SiteEntry<'_>> {
        rules.site(site).into_iter().flat_map(|site| site.entries()).collect()
    };
    let remedy = match &error {
        DecideError::UnknownSite { site } => return unknown_site(rules, site),
        DecideError::Refused { site, rules, source } => return refused_with(site, rules, source.clone()),
        DecideError::UnknownId { site, .. } => {
            format!("its rules are {}", candidates(rules_of(site).into_iter()))
        }
        DecideError::SeveralIds { site, indexes, .. } => {
            let rules = rules_of(site);
            format!("give more digits: {}", candidates(indexes.iter().map(|&at| rules[at])))
        }
        _ => "nothing was written".into(),
    };
    Refusal::new(error.to_string(), remedy)
}

/// The first of some rules, by id and sentence.
fn candidates<'a>(rules: impl ExactSizeIterator<Item = SiteEntry<'a>>) -> String {
    let more = rules.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = rules.take(SHOWN).map(|rule| format!("{} ({rule})", rule.id())).collect();
    match (shown.is_empty(), more) {
        (true, _) => return "none".into(),
        (_, 0) => {}
        (_, more) => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}
