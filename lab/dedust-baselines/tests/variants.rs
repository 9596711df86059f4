//! The readings of the paper that are switches of the library: each changes what its documentation says it does.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use dedust::rules::{SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_baselines::{
    BuildOptions, ClosedRule, CommonValues, FakeTest, Nested, OtherParams, PatternTree, ProposeOptions,
    Salience, SelectOptions, Selection, learned, propose, select,
};
use dedust_learn::{Clues, Corpus, Crawl, EvidenceKinds};

fn corpus(urls: impl IntoIterator<Item = (String, String)>) -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (page, url) in urls {
        crawl.observe(url.as_bytes(), &Clues { cluster: Some(page.as_bytes()), ..Clues::default() }).unwrap();
    }
    crawl.into_corpora().remove(0)
}

/// A value that looks random.
fn random(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

fn rules_of(corpus: &Corpus, propose_with: &ProposeOptions, select_with: &SelectOptions) -> Vec<ClosedRule> {
    let tree = PatternTree::build(corpus, &BuildOptions::default());
    select(&tree, &propose(&tree, propose_with), select_with)
}

fn normalizer(corpus: &Corpus, rules: Vec<ClosedRule>) -> Normalizer {
    let mut set = RuleSet::new("test");
    let rules = learned(&rules).rules;
    set.insert(corpus.site(), SiteRules::new(SiteSummary::default(), rules).unwrap()).unwrap();
    Normalizer::compile(&set)
}

#[test]
fn continue_on_trivial_splits_by_the_next_key() {
    // `t` is the most regular key, but every value of it comes just twice: the paper's tree ends at the root. In `s`,
    // one value stands out.
    let urls = (0..1000).map(|n| {
        let s = if n % 10 == 0 { "x".to_string() } else { format!("s{n}") };
        (n.to_string(), format!("http://example.org/a?s={s}&t={}", n / 2))
    });
    let corpus = corpus(urls);
    let split_key = |continue_on_trivial| {
        let mut options = BuildOptions::default();
        options.continue_on_trivial = continue_on_trivial;
        PatternTree::build(&corpus, &options).split_key(0).map(ToString::to_string)
    };
    assert_eq!(split_key(false), None);
    assert_eq!(split_key(true), Some("q.s".into()));
}

#[test]
fn global_salience_asks_the_whole_site() {
    // `news` is rare under its own key, but the most common word of the site.
    let urls = (0..100).map(|n| {
        let kind = if n % 50 == 0 { "news".to_string() } else { format!("k{n}") };
        (n.to_string(), format!("http://example.org/news/{kind}?id={n}"))
    });
    let corpus = corpus(urls);
    let size = |salience| {
        let mut options = BuildOptions::default();
        options.salience = salience;
        PatternTree::build(&corpus, &options).nodes().len()
    };
    assert_eq!(size(Salience::PerNode), 1);
    assert_eq!(size(Salience::Global), 3, "`news` and all others");
}

#[test]
fn aligned_values_must_agree_in_the_same_cluster() {
    // `z` takes the same values as `y`, but for other pages; `x` names the page, though not always in the same way.
    let urls = (0..40).flat_map(|n| {
        let x = if n % 10 == 0 { format!("x{n}") } else { n.to_string() };
        [
            (n, format!("http://example.org/a?x={x}&z={}", (n + 7) % 40)),
            (n, format!("http://example.org/b?y={n}")),
        ]
    });
    let corpus = corpus(urls.map(|(page, url)| (page.to_string(), url)));
    let learns_x = |common_values| {
        let mut options = ProposeOptions::default();
        options.common_values = common_values;
        let rules = rules_of(&corpus, &options, &SelectOptions::default());
        rules.iter().any(|rule| rule.rewrite.to_string().ends_with("/b?y={q.x}"))
    };
    assert!(!learns_x(CommonValues::Jaccard));
    assert!(learns_x(CommonValues::Aligned));
}

#[test]
fn the_raw_fake_test_ignores_the_distribution_of_values() {
    // One link of forty goes to the second mirror: duplicates rarely disagree, though the mirror means nothing.
    let urls = (0..200u64).flat_map(|n| {
        let mirror = if n % 20 == 0 { "b" } else { "a" };
        [
            (n, format!("http://example.org/{mirror}/{n}?r={:08x}", random(2 * n))),
            (n, format!("http://example.org/a/{n}?r={:08x}", random(2 * n + 1))),
        ]
    });
    let corpus = corpus(urls.map(|(page, url)| (page.to_string(), url)));
    let merges_mirrors = |fake_test| {
        let mut options = ProposeOptions::default();
        options.fake_test = fake_test;
        let normalizer = normalizer(&corpus, rules_of(&corpus, &options, &SelectOptions::default()));
        let key = |url: &str| normalizer.key(url).unwrap();
        key("http://example.org/b/999?r=00000000") == key("http://example.org/a/999?r=11111111")
    };
    assert!(merges_mirrors(FakeTest::Ratio));
    assert!(!merges_mirrors(FakeTest::Raw));
}

#[test]
fn nested_rules_are_kept_when_the_lowest_rate_goes_first() {
    let urls = (0..80u64).flat_map(|n| {
        [
            (n, format!("http://example.org/view?id={n}&kind={}&sid={:08x}", n % 2, random(3 * n))),
            (n, format!("http://example.org/view?id={n}&kind={}&sid={:08x}", n % 2, random(3 * n + 1))),
        ]
    });
    let corpus = corpus(urls.map(|(page, url)| (page.to_string(), url)));
    let count = |nested| {
        let mut options = SelectOptions::default();
        options.selection = Selection::Naive(nested);
        rules_of(&corpus, &ProposeOptions::default(), &options).len()
    };
    assert_eq!(count(Nested::KeepAncestor), 1);
    assert!(count(Nested::LowestRateFirst) > 1);
}

#[test]
fn other_params_are_refused_or_passed_through() {
    let urls = (0..60u64).flat_map(|n| {
        [
            (n, format!("http://example.org/view?id={n}&sid={:08x}", random(2 * n))),
            (n, format!("http://example.org/view?id={n}&sid={:08x}", random(2 * n + 1))),
        ]
    });
    let corpus = corpus(urls.map(|(page, url)| (page.to_string(), url)));
    let key = |other_params| {
        let mut options = SelectOptions::default();
        options.other_params = other_params;
        let normalizer = normalizer(&corpus, rules_of(&corpus, &ProposeOptions::default(), &options));
        normalizer.key("http://example.org/view?new=1&id=7&sid=00000000").unwrap().to_string()
    };
    assert_eq!(key(OtherParams::Refuse), "http://example.org/view?id=7&new=1&sid=00000000");
    assert_eq!(key(OtherParams::Keep), "http://example.org/view?id=7&new=1&sid=*");
}
