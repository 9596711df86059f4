/*!
Rules that may stand together: what a rule set would refuse is left out.
*/

use dedust::support::Rule;

/// `rules` without those that make no sense by themselves and, of any that rewrite into each other, without the one that
/// covers fewest URLs.
pub fn fitting(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.retain(|rule| rule.check().is_ok());
    while let Some(cycle) = dedust::support::find_cycle(&rules) {
        match cycle.into_iter().min_by_key(|&at| (rules[at].evidence.urls, at)) {
            Some(weakest) => rules.remove(weakest),
            None => break,
        };
    }
    rules
}
