/*!
Two rule sets in, one out: the sites of both, and for a site that both have the rules of both.

Rules are the same if they say the same. Of such a rule the evidence of more URLs is taken, and the decisions and verdicts of both: off wins over
applied, pinned over off. Of two canonical URLs that were observed for one URL, that of the larger crawl is taken. Rules of two sets may not be
able to stand together, or hold on different hosts; such a site is a conflict, unless the caller prefers one of the sets.
*/

use super::{
    Decision, Evidence, InvalidSite, Mirror, Outcome, Promise, Rule, RuleIndex, RuleSet, SiteEntry,
    SiteRules, SiteSummary, Standing,
};

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

/// An entry that is off in one set and not in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecidedTwice {
    /// Its site.
    pub site: Box<str>,
    /// Its number in the merged site.
    pub index: usize,
}

/// A site on which two sets cannot be united.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MergeConflict {
    /// The site.
    pub site: Box<str>,
    /// The rules of both, to which indexes of `cause` refer; none if one of them is a mirror.
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
                    let preferred = prefer.map(|prefer| preferred(first, second, prefer));
                    if preferred.is_none() {
                        merged.conflicts.push(MergeConflict { site: name.into(), rules, cause });
                    }
                    preferred
                }
            };
            match site {
                Some(site) => {
                    let index_of = |rule: &Rule| site.rules().iter().position(|known| known.says_same(rule));
                    let mirrors = united_mirrors(first, second).filter(|(_, is_decided)| *is_decided);
                    let indexes = decided.iter().filter_map(index_of).chain(mirrors.map(|_| 0));
                    merged.decided.extend(indexes.map(|index| DecidedTwice { site: name.into(), index }));
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

/// One of two sites that are mirrors and say the same, and whether that was decided differently.
fn united_mirrors(first: &SiteRules, second: &SiteRules) -> Option<(Mirror, bool)> {
    match (first, second) {
        (SiteRules::Mirror(first), SiteRules::Mirror(second)) if first.says_same(second) => {
            Some((both(&**first, second), first.off.is_some() != second.off.is_some()))
        }
        _ => None,
    }
}

/// One rule, or mirror, of two that say the same.
fn both<E>(first: &E, second: &E) -> E
where
    E: Clone,
    for<'e> SiteEntry<'e>: From<&'e E>,
    for<'e> Standing<'e>: From<&'e mut E>,
{
    let entries = [first, second].map(SiteEntry::from);
    let known = |entry: SiteEntry<'_>| (entry.evidence().urls, entry.evidence().groups);
    let mut united = if known(entries[1]) > known(entries[0]) { second.clone() } else { first.clone() };
    let Standing { evidence, off, pinned, .. } = Standing::from(&mut united);
    let boxed = |decision: &Decision| Box::new(decision.clone());
    *pinned = entries.iter().find_map(|entry| entry.pinned()).map(boxed);
    let is_vouched_for = entries.iter().any(|entry| entry.pinned().is_some() && entry.off().is_none());
    *off = entries.iter().find_map(|entry| entry.off()).filter(|_| !is_vouched_for).map(boxed);
    let mut verdicts = entries.iter().filter_map(|entry| entry.evidence().verdict.as_ref());
    let refuted = verdicts.clone().find(|verdict| verdict.outcome == Outcome::Refuted);
    let known = refuted.or_else(|| verdicts.find(|verdict| verdict.outcome != Outcome::Unknown));
    if let Some(known) = known {
        evidence.verdict = Some(known.clone());
    }
    united
}

fn unite(first: &SiteRules, second: &SiteRules, rules: Vec<Rule>) -> Result<SiteRules, Option<InvalidSite>> {
    match (first, second) {
        (SiteRules::Rules(_), SiteRules::Rules(_)) => {}
        (_, mirror) if first.is_empty() => return Ok(mirror.clone()),
        (mirror, _) if second.is_empty() => return Ok(mirror.clone()),
        _ => {
            let mirror = united_mirrors(first, second).map(|(mirror, _)| mirror.into());
            return mirror.ok_or(Some(InvalidSite::NotOnlyMirror));
        }
    }
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
    let [larger, smaller] = by_size(first, second);
    let mut canonical_urls = smaller.canonical_urls().clone();
    canonical_urls.extend(larger.canonical_urls().clone());
    Ok(rules.with_refused(refused).with_hosts(hosts.to_vec()).with_canonical_urls(canonical_urls))
}

/// That of the larger crawl first.
fn by_size<'s>(first: &'s SiteRules, second: &'s SiteRules) -> [&'s SiteRules; 2] {
    if second.summary().urls > first.summary().urls { [second, first] } else { [first, second] }
}

/// The summary of the larger crawl. What rules of both may lose adds up.
fn summary(first: &SiteRules, second: &SiteRules) -> SiteSummary {
    let [larger, _] = by_size(first, second);
    let promise = match (first.summary().promise, second.summary().promise) {
        (Some(a), Some(b)) => {
            let pages = a.pages.max(b.pages);
            Some(Promise { lost: a.lost.saturating_add(b.lost).min(pages), pages })
        }
        (promise, None) if second.is_empty() => promise,
        (None, promise) if first.is_empty() => promise,
        _ => None,
    };
    // Rules of two crawls write other URLs than those of either.
    let canonical = match (first.is_empty(), second.is_empty()) {
        (_, true) => first.summary().canonical,
        (true, _) => second.summary().canonical,
        (false, false) => None,
    };
    SiteSummary { promise, canonical, ..larger.summary().clone() }
}

/// The site of one set, with decisions of both about rules that both have if these can stand together.
fn preferred(first: &SiteRules, second: &SiteRules, prefer: Prefer) -> SiteRules {
    let (chosen, other) = match prefer {
        Prefer::First => (first, second),
        Prefer::Second => (second, first),
    };
    if let SiteRules::Mirror(_) = chosen {
        return chosen.clone();
    }
    let index = RuleIndex::new(other.rules());
    let decided = chosen.rules().iter().map(|rule| {
        let same = index.indexes_of(other.rules(), rule).first().map(|&index| &other.rules()[index]);
        same.map_or_else(|| rule.clone(), |other| both(rule, other))
    });
    chosen.clone().with_rules(decided.collect()).unwrap_or_else(|_| chosen.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(site: &str) -> RuleSet {
        const EVIDENCE: &str = r#"{"urls": 9, "support_pairs": 9, "false_pairs": 0, "groups": 9,
            "failed_groups": 0, "failure_bound": 0.1, "kinds": []}"#;
        let site = site.replace("EVIDENCE", EVIDENCE);
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
    fn mirrors_are_united_if_they_say_the_same() {
        let plain = load(r#"{"mirror": {"of": "b.example", "evidence": EVIDENCE}}"#);
        let off = load(r#"{"mirror": {"of": "b.example", "off": {}}}"#);
        let merged = plain.merge(&off, None);
        let SiteRules::Mirror(mirror) = merged.rules.site("a.example").unwrap() else { panic!("no mirror") };
        assert_eq!((mirror.evidence.urls, mirror.off.is_some(), merged.decided.len()), (9, true, 1));
        for other in [r#"{"mirror": {"of": "c.example"}}"#, r#"{"rules": [{"change": [{"drop": "q.s"}]}]}"#] {
            let other = load(other);
            assert_eq!(plain.merge(&other, None).conflicts[0].cause, Some(InvalidSite::NotOnlyMirror));
            assert_eq!(plain.merge(&other, Some(Prefer::First)).rules, plain);
            assert_eq!(plain.merge(&other, Some(Prefer::Second)).rules, other);
        }
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
