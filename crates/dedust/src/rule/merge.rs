/*!
Two rule sets in, one out: the sites of both, and for a site that both have the rules of both.

Rules are the same if they say the same. Of such a rule the evidence of more URLs is taken, and the decisions and verdicts of both: off wins over
applied, pinned over off. Rules of two sets may not be able to stand together, or hold on different hosts; such a site is a conflict, unless the
caller prefers one of the sets.
*/

use super::{Evidence, InvalidSite, Outcome, Promise, Rule, RuleIndex, RuleSet, SiteRules, SiteSummary};

/// Which of two sets counts for a site on which they cannot be united.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// The first.
    First,
    /// The second.
    Second,
}

/// What came of merging.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Merged {
    /// The sites of both, less those with a conflict.
    pub rules: RuleSet,
    /// Rules about which the two decided differently, in the order of sites.
    pub decided: Vec<DecidedTwice>,
    /// Sites on which they cannot be united.
    pub conflicts: Vec<MergeConflict>,
}

/// A rule that is off in one set and not in the other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DecidedTwice {
    /// Its site.
    pub site: Box<str>,
    /// As it is now.
    pub rule: Rule,
}

/// A site on which two sets cannot be united.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MergeConflict {
    /// The site.
    pub site: Box<str>,
    /// The rules of both, to which indexes of `cause` refer.
    pub rules: Vec<Rule>,
    /// Why they are refused; `None` if they hold on different hosts.
    pub cause: Option<InvalidSite>,
}

impl RuleSet {
    /// The sites and rules of both sets. A site on which they cannot be united is that of the preferred set, with decisions of both. What
    /// learners were asked for is that of the preferred set too, or of the first, unless it does not say.
    pub fn merge(&self, other: &Self, prefer: Option<Prefer>) -> Merged {
        let method = if self.method == other.method || other.method.is_empty() {
            self.method.clone()
        } else if self.method.is_empty() {
            other.method.clone()
        } else {
            format!("{}, {}", self.method, other.method).into()
        };
        let options = match prefer {
            Some(Prefer::Second) => other.options.as_ref().or(self.options.as_ref()),
            _ => self.options.as_ref().or(other.options.as_ref()),
        };
        let rules = Self { method, options: options.cloned(), sites: self.sites.clone() };
        let mut merged = Merged { rules, decided: Vec::new(), conflicts: Vec::new() };
        for (name, second) in other.sites() {
            let Some(first) = self.site(name) else {
                merged.rules.sites.insert(name.into(), second.clone());
                continue;
            };
            let (rules, decided) = united(first.rules(), second.rules());
            let site = match unite(first, second, rules.clone()) {
                Ok(site) => Some(site),
                Err(cause) => {
                    let preferred = prefer.and_then(|prefer| preferred(first, second, prefer));
                    if preferred.is_none() {
                        merged.conflicts.push(MergeConflict { site: name.into(), rules, cause });
                    }
                    preferred
                }
            };
            match site {
                Some(site) => {
                    let still_there = |rule: &Rule| site.rules().iter().any(|known| known.says_same(rule));
                    let decided = decided.into_iter().filter(still_there);
                    merged.decided.extend(decided.map(|rule| DecidedTwice { site: name.into(), rule }));
                    merged.rules.sites.insert(name.into(), site);
                }
                None => drop(merged.rules.sites.remove(name)),
            }
        }
        merged
    }
}

/// The rules of both lists, those of the first in their order, and those of them that were decided differently. A rule that a list
/// has twice is there twice.
fn united(first: &[Rule], second: &[Rule]) -> (Vec<Rule>, Vec<Rule>) {
    let mut rules = first.to_vec();
    let index = RuleIndex::new(first);
    let mut is_met = vec![false; first.len()];
    let (mut added, mut decided) = (Vec::new(), Vec::new());
    for rule in second {
        let same = index.indexes_of(first, rule).into_iter().find(|&at| !is_met[at]);
        let Some(at) = same else {
            added.push(rule.clone());
            continue;
        };
        is_met[at] = true;
        rules[at] = both(&first[at], rule);
        if first[at].off.is_some() != rule.off.is_some() {
            decided.push(rules[at].clone());
        }
    }
    rules.extend(added);
    (rules, decided)
}

/// One rule of two that say the same.
fn both(first: &Rule, second: &Rule) -> Rule {
    let known = |rule: &Rule| (rule.evidence.urls, rule.evidence.groups);
    let mut rule = if known(second) > known(first) { second.clone() } else { first.clone() };
    rule.pinned = first.pinned.clone().or_else(|| second.pinned.clone());
    rule.off = first.off.clone().or_else(|| second.off.clone());
    let vouched = |rule: &Rule| rule.pinned.is_some() && rule.off.is_none();
    if vouched(first) || vouched(second) {
        rule.off = None;
    }
    let refuted = [first, second].into_iter().find(|rule| rule.evidence.is_refuted());
    let verdict = |rule: &Rule| rule.evidence.verdict.clone().filter(|it| it.outcome != Outcome::Unknown);
    rule.evidence.verdict = match refuted {
        Some(refuted) => refuted.evidence.verdict.clone(),
        None => verdict(first).or_else(|| verdict(second)).or(rule.evidence.verdict),
    };
    rule
}

fn unite(first: &SiteRules, second: &SiteRules, rules: Vec<Rule>) -> Result<SiteRules, Option<InvalidSite>> {
    let hosts = match (first.is_empty(), second.is_empty()) {
        (true, _) => second.hosts(),
        (_, true) => first.hosts(),
        _ if first.hosts() == second.hosts() => first.hosts(),
        _ => return Err(None),
    };
    let mut refused = first.refused().to_vec();
    for rule in second.refused() {
        if !refused.iter().any(|known| known.when == rule.when && known.change == rule.change) {
            refused.push(rule.clone());
        }
    }
    let index = RuleIndex::new(&rules);
    refused.retain(|refused| index.indexes_of(&rules, &refused.to_rule(Evidence::default())).is_empty());
    let rules = SiteRules::new(summary(first, second), rules).map_err(Some)?;
    Ok(rules.with_refused(refused).with_hosts(hosts.to_vec()))
}

/// The summary of the larger crawl. What rules of both may lose adds up.
fn summary(first: &SiteRules, second: &SiteRules) -> SiteSummary {
    let larger = if second.summary().urls > first.summary().urls { second } else { first };
    let promise = match (first.summary().promise, second.summary().promise) {
        (Some(a), Some(b)) => {
            let pages = a.pages.max(b.pages);
            Some(Promise { lost: a.lost.saturating_add(b.lost).min(pages), pages })
        }
        (promise, None) if second.is_empty() => promise,
        (None, promise) if first.is_empty() => promise,
        _ => None,
    };
    SiteSummary { promise, ..larger.summary().clone() }
}

/// The site of one set, with decisions of both about rules that both have. `None` if even these cannot stand together.
fn preferred(first: &SiteRules, second: &SiteRules, prefer: Prefer) -> Option<SiteRules> {
    let (chosen, other) = match prefer {
        Prefer::First => (first, second),
        Prefer::Second => (second, first),
    };
    let index = RuleIndex::new(other.rules());
    let decided = chosen.rules().iter().map(|rule| {
        let same = index.indexes_of(other.rules(), rule).first().map(|&index| &other.rules()[index]);
        same.map_or_else(|| rule.clone(), |other| both(rule, other))
    });
    let decided = chosen.clone().with_rules(decided.collect()).ok();
    decided.or_else(|| Some(chosen.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(site: &str) -> RuleSet {
        RuleSet::load(format!(r#"{{"version": 1, "sites": {{"a.example": {site}}}}}"#).as_bytes()).unwrap()
    }

    fn said(merged: &Merged) -> Vec<String> {
        let site = merged.rules.site("a.example").unwrap();
        site.rules().iter().map(|rule| format!("{rule}, {}", rule.is_applied())).collect()
    }

    #[test]
    fn rules_of_both_are_united() {
        let first = load(r#"{"rules": [{"change": [{"drop": "q.a"}]}, {"change": [{"drop": "q.b"}]}]}"#);
        let second = load(r#"{"rules": [{"change": [{"drop": "q.b"}]}, {"change": [{"drop": "q.c"}]}]}"#);
        let merged = first.merge(&second, None);
        assert_eq!(
            said(&merged),
            ["`a` does not matter, true", "`b` does not matter, true", "`c` does not matter, true"]
        );
        assert!(merged.conflicts.is_empty() && merged.decided.is_empty());
        assert_eq!(first.merge(&first, None).rules, first);
        let twice =
            load(r#"{"rules": [{"change": [{"drop": "path_1"}]}, {"change": [{"drop": "path_1"}]}]}"#);
        assert_eq!(twice.merge(&twice, None).rules, twice);
        assert_eq!(RuleSet::default().merge(&twice, None).rules, twice);
        assert_eq!(first.merge(&RuleSet::default(), None).rules, first);
        assert_eq!(RuleSet::default().merge(&first, None).rules, first);
    }

    #[test]
    fn off_wins_over_applied_and_pinned_over_off() {
        let plain = load(r#"{"rules": [{"change": [{"drop": "q.a"}]}]}"#);
        let off = load(r#"{"rules": [{"change": [{"drop": "q.a"}], "off": {}}]}"#);
        let pinned = load(r#"{"rules": [{"change": [{"drop": "q.a"}], "pinned": {}}]}"#);
        for (first, second, is_applied) in
            [(&plain, &off, false), (&off, &plain, false), (&off, &pinned, true)]
        {
            let merged = first.merge(second, None);
            assert_eq!(said(&merged), [format!("`a` does not matter, {is_applied}")]);
            assert_eq!(merged.decided.len(), 1);
        }
        assert!(plain.merge(&pinned, None).decided.is_empty());
    }

    #[test]
    fn rules_that_cannot_stand_together_are_a_conflict_unless_one_set_is_preferred() {
        let first = load(r#"{"rules": [{"change": [{"drop": "q.s"}]}]}"#);
        let second = load(r#"{"rules": [{"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}]}]}"#);
        let merged = first.merge(&second, None);
        assert_eq!(merged.conflicts.len(), 1);
        assert!(merged.rules.site("a.example").is_none());
        assert_eq!(first.merge(&second, Some(Prefer::First)).rules, first);
        assert_eq!(first.merge(&second, Some(Prefer::Second)).rules, second);
    }

    #[test]
    fn rules_of_different_hosts_are_a_conflict() {
        let first = load(r#"{"hosts": ["x.a.example"], "rules": [{"change": [{"drop": "q.s"}]}]}"#);
        let second = load(r#"{"rules": [{"change": [{"drop": "q.t"}]}]}"#);
        let merged = first.merge(&second, None);
        assert_eq!(merged.conflicts[0].cause, None);
        assert_eq!(first.merge(&second, Some(Prefer::Second)).rules, second);
    }
}
