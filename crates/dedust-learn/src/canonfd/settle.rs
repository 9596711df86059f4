/*!
When an unproven rule is believed after all: by pages that were fetched for it.

Counts of fetched pairs come in, and what they lack comes out. Nothing is fetched here.

Fetched pairs have to be enough by themselves. They may be URLs that the rule was learned from, and the same group must not
be counted twice. How many are enough is what the learner asked for: its votes and those that it said were missing.
*/

use std::collections::BTreeSet;

use dedust::rules::{RefusedRule, Rule, Spot, Test, UrlPart, Value};
use dedust::support::has_subdomains;

use super::scope::changes_host;
use crate::confidence::failure_bound;
use crate::thresholds;

/// The most pairs of one group of URLs that count.
pub const MAX_PAIRS_OF_GROUP: usize = thresholds::vote::MAX_OF_GROUP as usize;

/// What was fetched of the groups of URLs that a rule would join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchedGroups {
    /// Pairs that showed the same page: votes for the rule.
    pub same: u64,
    /// Pairs that showed different pages: votes against it.
    pub different: u64,
    /// Groups with such pairs.
    pub groups: u64,
    /// Those of them with pairs of different pages.
    pub failed_groups: u64,
    /// Distinct pages of the others.
    pub pages: u64,
}

/// What is missing before a rule is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lack {
    /// So many pairs of the same page, with no more different ones; `None` if no reasonable number would do.
    Pairs(Option<u64>),
    /// The groups show too few different pages, as those of empty lists do.
    Pages,
}

impl FetchedGroups {
    /// What is missing before `refused` is believed. `None` if it is.
    pub fn lack(&self, refused: &RefusedRule) -> Option<Lack> {
        let needed = refused.votes.saturating_add(refused.missing?);
        if !is_enough(self.same, self.different, needed) {
            let most = thresholds::proof::MAX_MISSING
                .max(needed.saturating_sub(self.same).min(2 * thresholds::proof::MAX_MISSING));
            let more =
                (1..=most).find(|more| is_enough(self.same.saturating_add(*more), self.different, needed));
            return Some(Lack::Pairs(more));
        }
        let agreeing = self.groups.saturating_sub(self.failed_groups);
        let are_few = self.pages < thresholds::families::MIN_PAGES
            || agreeing > thresholds::proof::MAX_GROUPS_PER_PAGE.saturating_mul(self.pages);
        are_few.then_some(Lack::Pages)
    }

    /// The share of groups that fail, and of pairs that do, is at most this, with 95 % confidence.
    pub fn failure_bound(&self) -> f64 {
        let of_pairs = failure_bound(self.different, self.same.saturating_add(self.different));
        of_pairs.max(failure_bound(self.failed_groups, self.groups))
    }
}

/// Whether so many pairs prove a rule that takes `needed` votes if none is against it. If some are, the failure bound must
/// be no larger than it would be after these votes, and within the limit of the learner.
fn is_enough(same: u64, different: u64, needed: u64) -> bool {
    match different {
        0 => same >= needed,
        _ => {
            failure_bound(different, same.saturating_add(different))
                <= thresholds::proof::LIMIT.min(failure_bound(0, needed))
        }
    }
}

/// The rule where hosts speak for it: as it is if that is enough for all `hosts` of the site on which rules hold (none for
/// all hosts), or else with a condition. `None` if it has a condition on hosts already that would let it reach further.
pub fn on_agreeing_hosts(
    rule: Rule,
    site: &str,
    hosts: &[Box<str>],
    agreeing: &BTreeSet<String>,
) -> Option<Vec<Rule>> {
    let is_agreeing = |host: &str| agreeing.contains(host);
    let reaches_no_others = !hosts.is_empty() && hosts.iter().all(|host| is_agreeing(host));
    if !has_subdomains(site.as_bytes())
        || changes_host(&rule.change)
        || agreeing.len() >= thresholds::scope::MIN_PLACES
        || reaches_no_others
    {
        return Some(vec![rule]);
    }
    let spot = Spot::Key(UrlPart::Subdomain(0));
    match rule.when.get(&spot) {
        Some(Test::Is(_) | Test::OneOf(_) | Test::Absent) => return Some(vec![rule]),
        Some(_) => return None,
        None => {}
    }
    let mut labels: BTreeSet<Value> = agreeing.iter().filter_map(|host| label(host, site)).collect();
    // With and without `www` a host is one.
    let is_bare = agreeing.contains(site);
    labels.extend(is_bare.then(|| Value::from("www")));
    let tests = [is_bare.then_some(Test::Absent), Some(Test::OneOf(labels.into_iter().collect()))];
    let on_hosts = |test: Test| {
        let mut rule = rule.clone();
        rule.when.insert(spot.clone(), test);
        rule
    };
    Some(tests.into_iter().flatten().map(on_hosts).collect())
}

/// The label of a host next to the name of its site.
fn label(host: &str, site: &str) -> Option<Value> {
    let labels = host.strip_suffix(site)?.strip_suffix('.')?;
    labels.rsplit('.').next().map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedust::rules::{Change, Evidence};

    fn refused(votes: u64, missing: Option<u64>) -> RefusedRule {
        RefusedRule {
            when: [].into(),
            change: vec![Change::Drop(Spot::Key(UrlPart::query("ref")))],
            reason: "too few URLs speak for it".into(),
            votes,
            against: 0,
            missing,
            merged: None,
            fetched: None,
        }
    }

    fn fetched(same: u64, different: u64, pages: u64) -> FetchedGroups {
        FetchedGroups { same, different, groups: same + different, failed_groups: different, pages }
    }

    #[test]
    fn fetched_pairs_are_enough_by_themselves() {
        let rule = refused(20, Some(6));
        assert_eq!(fetched(25, 0, 25).lack(&rule), Some(Lack::Pairs(Some(1))));
        assert_eq!(fetched(26, 0, 26).lack(&rule), None);
        assert_eq!(fetched(0, 0, 0).lack(&rule), Some(Lack::Pairs(Some(26))));
        assert_eq!(fetched(100, 0, 4).lack(&rule), Some(Lack::Pages));
        assert_eq!(fetched(26, 0, 6).lack(&rule), Some(Lack::Pages), "an empty list, for many values");
    }

    #[test]
    fn different_pages_raise_the_number_of_pairs_that_are_needed() {
        let rule = refused(20, Some(6));
        assert_eq!(fetched(26, 1, 26).lack(&rule), Some(Lack::Pairs(Some(66))));
        assert_eq!(fetched(92, 1, 92).lack(&rule), None);
        assert!(failure_bound(1, 93) <= 0.05 && failure_bound(1, 92) > 0.05);
        let careful = refused(100, Some(50));
        assert!(fetched(92, 1, 92).lack(&careful).is_some(), "the learner asked for more");
        assert_eq!(fetched(149, 0, 149).lack(&careful), Some(Lack::Pairs(Some(1))));
        assert_eq!(fetched(10, 90, 10).lack(&careful), Some(Lack::Pairs(None)));
        assert_eq!(fetched(7, 0, 7).lack(&refused(u64::MAX, Some(9))), Some(Lack::Pairs(None)));
    }

    #[test]
    fn a_rule_holds_on_the_hosts_that_were_fetched() {
        let rule = refused(0, Some(1)).to_rule(Evidence::default());
        let on = |hosts: &[&str], agreeing: &[&str]| {
            let hosts: Vec<Box<str>> = hosts.iter().map(|host| (*host).into()).collect();
            let agreeing = agreeing.iter().map(|host| (*host).to_owned()).collect();
            let rules = on_agreeing_hosts(rule.clone(), "a.example", &hosts, &agreeing).unwrap();
            rules.into_iter().map(|rule| rule.when.into_values().collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let all: Vec<Vec<Test>> = vec![vec![]];
        assert_eq!(on(&["a.example"], &["a.example"]), all);
        assert_eq!(on(&[], &["a.example", "x.a.example", "y.a.example"]), all);
        let one_of =
            |labels: &[&str]| vec![Test::OneOf(labels.iter().map(|label| Value::from(*label)).collect())];
        assert_eq!(on(&[], &["x.a.example"]), [one_of(&["x"])]);
        assert_eq!(on(&[], &["a.example"]), [vec![Test::Absent], one_of(&["www"])]);
        assert_eq!(on(&["a.example", "x.a.example"], &["x.a.example"]), [one_of(&["x"])]);
        let alone = on_agreeing_hosts(rule.clone(), "127.0.0.1", &[], &["127.0.0.1".to_owned()].into());
        assert_eq!(alone, Some(vec![rule]));
    }
}
