use std::collections::BTreeSet;

use dedust::rules::{Rule, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_learn::support::rule_text;
use dedust_learn::{Clues, Crawl, EvidenceKinds};

use super::*;
use crate::{BuildOptions, PatternTree, ProposeOptions, SelectOptions, propose, select};

fn corpus(urls: impl IntoIterator<Item = (String, String)>) -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (page, url) in urls {
        crawl.observe(url.as_bytes(), &Clues { cluster: Some(page.as_bytes()), ..Clues::default() }).unwrap();
    }
    crawl.into_corpora().remove(0)
}

fn shown(rules: &[Rule]) -> Vec<String> {
    rules.iter().map(rule_text).collect()
}

/// The eight URLs of the figure: `U1` to `U4` differ from all others in both keys, `U5` to `U8` in one at a time.
fn figure_3(without: Option<usize>) -> Corpus {
    let values = ["r s", "t u", "v w", "x y", "p m", "q m", "p n", "q n"];
    let urls = values.iter().enumerate().filter(|(at, _)| Some(at + 1) != without).map(|(_, pair)| {
        let (k3, k5) = pair.split_once(' ').unwrap();
        ("same".into(), format!("http://example.com/?k1=a&k2=b&k3={k3}&k4=c&k5={k5}"))
    });
    // Another page, so that something could go wrong.
    let other = ("other".into(), "http://example.com/?k1=a&k2=b&k3=p&k4=d&k5=m".into());
    corpus(urls.chain([other]))
}

const IDEAL: &str = "scheme is http, q.k1 is a, q.k2 is b, q.k3 is <text>, q.k4 is c, q.k5 is <text>, nothing else: \
                     forget q.k3, forget q.k5, end";

#[test]
fn figure_3_is_learned_from_all_eight_urls() {
    let options = FanoutOptions { fanout: 2, ..FanoutOptions::default() };
    assert_eq!(shown(&learn_fanout(&figure_3(None), &options).rules), [IDEAL]);
}

#[test]
fn figure_3_breaks_down_without_the_sixth_url() {
    let options = FanoutOptions { fanout: 2, ..FanoutOptions::default() };
    let corpus = figure_3(Some(6));
    let rules = shown(&learn_fanout(&corpus, &options).rules);
    assert!(!rules.contains(&IDEAL.to_string()), "{rules:?}");
    assert!(rules.iter().all(|rule| rule.matches("forget").count() == 1), "one key at a time: {rules:?}");
}

#[test]
fn the_tree_needs_no_critical_url() {
    let corpus = figure_3(Some(6));
    let tree = PatternTree::build(&corpus, &BuildOptions::default());
    let rules = select(&tree, &propose(&tree, &ProposeOptions::default()), &SelectOptions::default());
    let forgets_both = |rule: &String| rule.contains("forget q.k3") && rule.contains("forget q.k5");
    let rules: Vec<Rule> = learned(&rules).rules;
    assert!(shown(&rules).iter().any(forgets_both), "{:?}", shown(&rules));
}

#[test]
fn a_wildcard_needs_as_many_values_as_the_fan_out() {
    let urls = |pages: usize| {
        corpus((0..pages).flat_map(|n| {
            let url = |form: &str| (n.to_string(), format!("http://example.org/{form}/{n}"));
            [url("view"), url("show")]
        }))
    };
    let count = |pages| learn_fanout(&urls(pages), &FanoutOptions::default()).rules.len();
    assert_eq!((count(4), count(5)), (0, 1));
}

#[test]
fn rules_that_merge_different_pages_are_dropped() {
    // Ten pages do not depend on `lang`, and twenty do.
    let urls = (0..30).flat_map(|n| {
        let page = |lang: &str| if n < 10 { n.to_string() } else { format!("{n} {lang}") };
        ["en", "de"].map(|lang| (page(lang), format!("http://example.org/{n}?lang={lang}")))
    });
    let learned = learn_fanout(&corpus(urls), &FanoutOptions::default());
    assert!(learned.raw_rules > 0);
    assert_eq!((learned.qualified_rules, shown(&learned.rules)), (0, vec![]));
}

#[test]
fn chains_are_joined() {
    // Some pages were seen with and without `www`, others with http and https: both lead to one form.
    let urls = (0..40).flat_map(|n| {
        let first = if n < 20 { "http://www.example.org" } else { "https://example.org" };
        [(n.to_string(), format!("{first}/{n}")), (n.to_string(), format!("http://example.org/{n}"))]
    });
    let rules = learn_fanout(&corpus(urls), &FanoutOptions::default()).rules;
    let mut set = RuleSet::new("fanout");
    set.insert("example.org", SiteRules::new(SiteSummary::default(), rules.clone()).unwrap()).unwrap();
    let normalizer = Normalizer::compile(&set);
    let keys: BTreeSet<_> = ["http://www.example.org/7", "https://example.org/7", "http://example.org/7"]
        .into_iter()
        .map(|url| normalizer.key(url).unwrap())
        .collect();
    assert_eq!(keys.len(), 1, "{keys:?}, {:?}", shown(&rules));
}
