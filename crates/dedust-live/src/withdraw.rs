/*!
Holds rules against audits: rules and audited pairs in, the rules that stand out.

A rule is withdrawn if, with 95 % confidence, more pairs that it joins are of two pages than a rule may join at all, in all of its audits
or in those since any time: so one that held for long, and does not any more, falls as fast as one that never held. It is also withdrawn
if the pages that it has hidden so far are more than a rule may lose. Where all pairs that failed have a value that no other has, the rule
stands where that value is not.
*/

use std::collections::BTreeMap;

use dedust::rules::{Rule, SiteRules, Spot, Test, UrlPart, Value, tokenize};
use dedust::{Normalizer, ParsedUrl, RuleSet};
use statrs::distribution::{Beta, ContinuousCDF as _};

use crate::audit::Weighted;
use crate::knowledge::Withdrawn;

/// The largest share of failing pairs with which the learner believes a rule.
const MOST_FAILING: f64 = 0.05;
/// The doubt that is left where a rule is withdrawn.
const DOUBT: f64 = 0.05;
/// Rules of a site that are withdrawn at a time, at most.
const MOST_WITHDRAWN: usize = 200;

/// An audit, in the order in which they were made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) url: &'a [u8],
    pub(crate) holder: &'a [u8],
    pub(crate) chance: f64,
    pub(crate) is_different: bool,
}

/// What a rule may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    /// Pages that it may lose.
    pub(crate) lost: f64,
    /// Rows of the site.
    pub(crate) rows: u64,
}

/// Withdraws rules of a site that fail, and says which.
pub(crate) fn withdraw(
    rules: &mut RuleSet,
    site: &str,
    pairs: &[Pair<'_>],
    allowed: Allowed,
) -> Vec<Withdrawn> {
    let mut withdrawn = Vec::new();
    if pairs.iter().all(|pair| !pair.is_different) {
        return withdrawn;
    }
    while withdrawn.len() < MOST_WITHDRAWN
        && let Some(site_rules) = rules.site(site).cloned()
        && let Some(found) = worst(rules, &site_rules, site, pairs, allowed)
    {
        let changed = found.take_from(&site_rules);
        withdrawn.push(found);
        if rules.insert(site, changed).is_err() {
            let _ = rules.insert(site, SiteRules::default());
            break;
        }
    }
    withdrawn
}

/// The rule that fails most clearly, if any does.
fn worst(
    all: &RuleSet,
    rules: &SiteRules,
    site: &str,
    pairs: &[Pair<'_>],
    allowed: Allowed,
) -> Option<Withdrawn> {
    let normalizer = Normalizer::compile(all);
    let mut pairs_of: BTreeMap<usize, Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        let (Ok(one), Ok(two)) = (normalizer.explain(pair.url), normalizer.explain(pair.holder)) else {
            continue;
        };
        if one.key != two.key {
            continue;
        }
        let mut indexes: Vec<usize> = one.rules.iter().chain(&two.rules).copied().collect();
        indexes.sort_unstable();
        indexes.dedup();
        // A rule that changes both alike joins nothing by itself, but all that concern a pair are asked: the others will stand.
        indexes.into_iter().for_each(|index| pairs_of.entry(index).or_default().push(pair));
    }
    let mut worst: Option<(f64, usize)> = None;
    for (&index, pairs) in &pairs_of {
        let Some(rule) = rules.rules().get(index) else { continue };
        let badness = badness(pairs, rule.evidence.failure_bound.min(MOST_FAILING), allowed);
        if badness > 1.0 && worst.is_none_or(|(most, _)| badness > most) {
            worst = Some((badness, index));
        }
    }
    let (_, index) = worst?;
    let (rule, pairs) = (rules.rules().get(index)?, &pairs_of[&index]);
    let different = pairs.iter().filter(|pair| pair.is_different).count() as u64;
    Some(Withdrawn {
        rule: rule.clone(),
        narrowed: narrowed(rule, site, pairs),
        rows: allowed.rows,
        audits: pairs.len() as u64,
        different,
    })
}

/// How clearly a rule fails: more than 1 if it does. Each audit could have been the first of those that count, and so could each of their numbers:
/// doubt is divided among them, so that looking often finds nothing that is not there.
///
/// Of the pages that it has hidden, as many may be lost as showed something else when it was learned: some pages differ from fetch to fetch.
fn badness(pairs: &[&Pair<'_>], noise: f64, allowed: Allowed) -> f64 {
    let doubt = DOUBT / pairs.len().max(1) as f64;
    let (mut different, mut all, mut worst) = (0, 0, 0.0_f64);
    for pair in pairs.iter().rev() {
        all += 1;
        if pair.is_different {
            different += 1;
            worst = worst.max(least_share(different, all, doubt) / MOST_FAILING);
        }
    }
    let mut lost = Weighted::default();
    pairs.iter().for_each(|pair| lost.add(pair.chance, pair.is_different));
    let hidden: f64 = pairs.iter().map(|pair| 1.0 / pair.chance).sum();
    worst.max(lost.bounds().0 / allowed.lost.max(noise * hidden).max(1.0))
}

/// At least this share fails, but for so much doubt: the lower end of the interval of Clopper and Pearson.
fn least_share(different: u32, all: u32, doubt: f64) -> f64 {
    let (different, all) = (f64::from(different), f64::from(all));
    Beta::new(different, all - different + 1.0).map_or(0.0, |beta| beta.inverse_cdf(doubt))
}

/// The rule where none of the failing pairs has it: but for a value that all of these have, and no other.
fn narrowed(rule: &Rule, site: &str, pairs: &[&Pair<'_>]) -> Option<Rule> {
    let tokens =
        |url: &[u8]| -> Option<Vec<(UrlPart, Value)>> { tokenize(&ParsedUrl::parse(url).ok()?, site) };
    let mut failing = pairs.iter().filter(|pair| pair.is_different);
    let mut common = tokens(failing.next()?.url)?;
    let mut count = 1;
    for pair in failing {
        let other = tokens(pair.url)?;
        common.retain(|token| other.contains(token));
        count += 1;
    }
    if count < 2 {
        return None;
    }
    for pair in pairs.iter().filter(|pair| !pair.is_different) {
        let other = tokens(pair.url)?;
        common.retain(|token| !other.contains(token));
    }
    let (part, value) =
        common.into_iter().find(|(part, _)| !rule.when.contains_key(&Spot::Key(part.clone())))?;
    let mut when = rule.when.clone();
    when.insert(Spot::Key(part), Test::Not(vec![value]));
    Some(Rule { when, ..rule.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> RuleSet {
        let json = br#"{"version": 1, "sites": {"a.example": {"rules": [
            {"change": [{"drop": "q.sid"}]},
            {"change": [{"drop": "q.view"}]}
        ]}}}"#;
        RuleSet::load(&json[..]).unwrap()
    }

    /// Withdraws by audits of `urls`, each with whether it showed another page than the URL without a query.
    fn after(audits: &[(&str, bool)]) -> (RuleSet, Vec<Withdrawn>) {
        let texts: Vec<(String, String, bool)> = audits
            .iter()
            .map(|(url, is_different)| {
                let url = format!("http://a.example{url}");
                (url.clone(), url.split(['?']).next().unwrap().to_owned(), *is_different)
            })
            .collect();
        let pairs: Vec<Pair<'_>> = texts
            .iter()
            .map(|(url, holder, is_different)| Pair {
                url: url.as_bytes(),
                holder: holder.as_bytes(),
                chance: 0.05,
                is_different: *is_different,
            })
            .collect();
        let mut rules = rules();
        let withdrawn = withdraw(&mut rules, "a.example", &pairs, Allowed { lost: 10.0, rows: 2000 });
        (rules, withdrawn)
    }

    fn keys(rules: &RuleSet, urls: [&str; 3]) -> [String; 3] {
        let normalizer = Normalizer::compile(rules);
        urls.map(|url| normalizer.key(url).unwrap().to_string())
    }

    #[test]
    fn rules_that_hold_stay() {
        let (rules, withdrawn) = after(&[("/a?sid=1", false); 40]);
        assert_eq!((rules.clone(), withdrawn), (self::rules(), vec![]));
        let one_of_many: Vec<(&str, bool)> = (0..60).map(|at| ("/a?sid=1", at == 5)).collect();
        assert_eq!(after(&one_of_many).1, [], "one may be a page that changed");
    }

    #[test]
    fn a_rule_that_fails_of_late_falls_and_the_others_stay() {
        let mut audits = vec![("/a?sid=1", false); 100];
        audits.extend([("/b?view=1", false); 100]);
        audits.extend([("/c?view=2", true); 3]);
        audits.extend([("/d?view=3", true); 1]);
        let (rules, withdrawn) = after(&audits);
        assert_eq!(withdrawn.len(), 1);
        assert_eq!((withdrawn[0].audits, withdrawn[0].different), (104, 4));
        let urls = ["http://a.example/a?sid=1", "http://a.example/b?view=1", "http://a.example/c?view=2"];
        let [one, two, three] = keys(&rules, urls);
        assert_eq!(one, "http://a.example/a");
        assert_eq!([two, three], [urls[1], urls[2]]);
        let said = serde_json::to_string(&rules.site("a.example").unwrap().rules()[1]).unwrap();
        assert!(said.contains("4 of 104 audits showed another page"), "{said}");
    }

    #[test]
    fn a_rule_that_fails_in_one_section_holds_in_the_others() {
        let mut audits = vec![("/shop/a?view=1", false); 100];
        audits.extend([("/old/c?view=2", true), ("/old/d?view=3", true), ("/old/e?view=4", true)]);
        let (rules, withdrawn) = after(&audits);
        assert!(withdrawn[0].narrowed.is_some());
        let urls = [
            "http://a.example/shop/x?view=1",
            "http://a.example/old/x?view=1",
            "http://a.example/old/x?sid=1",
        ];
        let expected = ["http://a.example/shop/x", urls[1], "http://a.example/old/x"];
        assert_eq!(keys(&rules, urls), expected);
    }
}
