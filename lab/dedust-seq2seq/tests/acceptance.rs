//! From pages to rules with a translator that is no network: one that has learned its pairs by heart. What a network adds
//! is only how well it does on templates it has not seen; all else is tested here, in a build without one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::collections::BTreeMap;

use dedust::rules::{SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use dedust_learn::support::{Learned, score};
use dedust_learn::{Clues, Corpus, Crawl, EvidenceKinds};
use dedust_seq2seq::copying::{self, Site};
use dedust_seq2seq::pair::{Pairs, Symbol};

fn corpus(pages: impl IntoIterator<Item = (String, String)>) -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (page, url) in pages {
        let clues = Clues { cluster: Some(page.as_bytes()), ..Clues::default() };
        crawl.observe(url.as_bytes(), &clues).unwrap();
    }
    crawl.into_corpora().remove(0)
}

/// The translation with the largest weight of every template that was learned from.
fn by_heart(site: &Site<'_>, pairs: &Pairs) -> Vec<Option<Vec<Symbol>>> {
    let mut best: BTreeMap<&[u32], (f32, &[Symbol])> = BTreeMap::new();
    for pair in &pairs.train {
        let known = best.entry(&pair.source).or_insert((0.0, &[]));
        if pair.weight > known.0 {
            *known = (pair.weight, &pair.target);
        }
    }
    let translation = |words: &[u32]| best.get(words).map(|(_, target)| target.to_vec());
    site.templates.iter().map(|template| translation(&template.words)).collect()
}

fn normalizer(learned: Learned) -> Normalizer {
    let mut rules = RuleSet::new("seq2seq");
    rules.insert("example.org", SiteRules::new(SiteSummary::default(), learned.rules).unwrap()).unwrap();
    Normalizer::compile(&rules)
}

fn learn(pages: impl IntoIterator<Item = (String, String)>) -> Normalizer {
    normalizer(copying::learn(&corpus(pages), 0, by_heart))
}

fn url(path: String) -> String {
    format!("http://ask.example.org/{path}")
}

#[test]
fn a_superfluous_segment_goes_and_tagged_stays() {
    let pages = (0..150).flat_map(|n| {
        [
            (format!("user {n}"), url(format!("users/{n}/name-{n}x"))),
            (format!("user {n}"), url(format!("users/{n}"))),
            (format!("question {n}"), url(format!("questions/{}/words-{n}", 5000 + n))),
            (format!("question {n}"), url(format!("q/{}", 5000 + n))),
            (format!("tag {n}"), url(format!("questions/tagged/topic{n}"))),
        ]
    });
    let normalizer = learn(pages);
    let canonical = |path: &str| normalizer.normalize(url(path.into())).unwrap().to_string();
    assert_eq!(canonical("users/150781/rich"), url("users/150781".into()));
    assert_eq!(canonical("questions/132218/how-to"), url("q/132218".into()));
    assert_eq!(canonical("questions/tagged/google"), url("questions/tagged/google".into()));
    assert_eq!(canonical("never/seen/before"), url("never/seen/before".into()), "unseen patterns are copied");
}

#[test]
fn a_constant_redirection_is_learned_and_a_lookup_is_refused() {
    let pages = (0..300).flat_map(|n| {
        [
            ("login".to_owned(), url(format!("private-message/set/user{n}"))),
            (format!("thread {n}"), url(format!("t/prev/{}", 10_000 + n))),
            (format!("thread {n}"), url(format!("t/{}.aspx", 90_000 + 7 * n))),
        ]
    });
    let normalizer = learn(pages);
    let key = |path: &str| normalizer.key(url(path.into())).unwrap();
    assert_eq!(key("private-message/set/Yovav"), key("private-message/set/anzer"));
    assert_ne!(key("t/prev/10135"), key("t/prev/10136"));
    assert_eq!(
        normalizer.normalize(url("t/prev/10135".into())).unwrap().to_string(),
        url("t/prev/10135".into())
    );
}

#[test]
fn a_parameter_that_changes_the_page_on_held_out_urls_stays() {
    // Half of the pages differ by `page`; a translator that drops it must not be believed.
    let pages = (0..200).flat_map(|n| {
        let (first, second) = if n % 2 == 0 { (n, n) } else { (n, 1000 + n) };
        [
            (format!("{first}"), url(format!("list?id={n}&page=2"))),
            (format!("{second}"), url(format!("list?id={n}"))),
        ]
    });
    let dropping = |site: &Site<'_>, _: &Pairs| {
        let drop = |words: &[u32]| {
            (words.len() > 5).then(|| (0..words.len() as u16 - 2).map(Symbol::Copy).collect::<Vec<_>>())
        };
        site.templates.iter().map(|template| drop(&template.words)).collect()
    };
    let learned = copying::learn(&corpus(pages), 0, dropping);
    assert!(learned.raw_rules > 0, "the translation is a URL");
    assert_eq!(learned.rules.len(), 0);
}

#[test]
fn translations_that_are_no_urls_are_refused() {
    let pages = (0..60).flat_map(|n| {
        [
            (format!("{n}"), url(format!("view?id={n}&sid={n}a"))),
            (format!("{n}"), url(format!("view?id={n}"))),
        ]
    });
    let nonsense = |site: &Site<'_>, _: &Pairs| {
        let all = [
            vec![],
            vec![Symbol::Copy(0), Symbol::Copy(0)],
            vec![Symbol::Word(u32::MAX)],
            vec![Symbol::Copy(u16::MAX)],
        ];
        (0..site.templates.len()).map(|at| Some(all[at % all.len()].clone())).collect()
    };
    let learned = copying::learn(&corpus(pages), 0, nonsense);
    assert_eq!((learned.raw_rules, learned.rules.len()), (0, 0));
}

#[test]
fn crawl_simulation_of_five_urls_of_three_pages() {
    let score = score([(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)]);
    assert_eq!((score.precision, score.recall), (0.6, 1.0));
    assert!((score.f1 - 0.75).abs() < 1e-12);
}

#[test]
fn a_change_holds_on_forms_that_were_not_seen_if_what_stood_beside_it_is_there() {
    let pages = (0..150).flat_map(|n| {
        [
            (format!("{n}"), url(format!("view?id={n}&sid={n}a"))),
            (format!("{n}"), url(format!("view?id={n}"))),
            (format!("alone {n}"), url(format!("list/topic{n}"))),
        ]
    });
    let normalizer = learn(pages);
    let key = |path: &str| normalizer.key(url(path.into())).unwrap();
    assert_eq!(key("brand/new?id=7&sid=x9"), key("brand/new?id=7"));
    assert_ne!(key("brand/new?sid=x9"), key("brand/new"), "never seen without `id`");
    assert_ne!(key("brand/new?id=7"), key("brand/new?id=8"));
}

#[test]
fn parameters_that_always_come_together_go_together() {
    let pages = (0..150).flat_map(|n| {
        [
            (format!("{n}"), url(format!("post/p{n}?share=x{n}&nb={n}y"))),
            (format!("{n}"), url(format!("post/p{n}"))),
            (format!("alone {n}"), url(format!("post/p{n}?page=z{n}"))),
        ]
    });
    let normalizer = learn(pages);
    let key = |path: &str| normalizer.key(url(path.into())).unwrap();
    assert_eq!(key("post/other?share=mail&nb=1"), key("post/other"));
    assert_ne!(key("post/other?page=z1"), key("post/other"));
}

#[test]
fn where_a_parameter_says_all_the_path_does_not_matter() {
    let pages = (0..160).flat_map(|n| {
        let path = format!("{}/topic{n}", ["red", "green", "blue", "white"][n % 4]);
        [
            (format!("{n}"), url(path.clone())),
            (format!("rule {n}"), url(format!("{path}?do=edit"))),
            ("register".to_owned(), url(format!("{path}?do=register"))),
            ("register".to_owned(), url("?do=register".into())),
        ]
    });
    let normalizer = learn(pages);
    let key = |path: &str| normalizer.key(url(path.into())).unwrap();
    assert_eq!(key("red/topic4?do=register"), key("never/seen/before?do=register"));
    assert_ne!(key("red/topic4?do=edit"), key("red/topic8?do=edit"));
    assert_ne!(key("red/topic4"), key("red/topic8"));
}

#[test]
fn a_parameter_that_one_kind_of_page_needs_is_dropped_from_other_kinds_only() {
    let pages = (0..300).flat_map(|n| {
        let kind = if n < 6 { "list" } else { "view" };
        let with_limit = if n < 6 { format!("{n} and more") } else { n.to_string() };
        [
            (n.to_string(), url(format!("{kind}?id=x{n}"))),
            (with_limit, url(format!("{kind}?id=x{n}&limit={n}"))),
        ]
    });
    let normalizer = learn(pages);
    let key = |path: &str| normalizer.key(url(path.into())).unwrap();
    assert_eq!(key("view?id=new&limit=20"), key("view?id=new"));
    assert_ne!(key("list?id=new&limit=20"), key("list?id=new"), "2 % of all, but all of this kind");
    assert_ne!(key("brand/new?id=7&limit=20"), key("brand/new?id=7"), "of which kind this is nobody knows");
}

#[test]
fn a_host_is_another_name_but_for_the_kind_of_page_that_differs() {
    let pages = (0..220).flat_map(|n| {
        let (path, other) = if n < 16 {
            (format!("feed?of=x{n}"), format!("{n} by www"))
        } else {
            (format!("post/x{n}"), n.to_string())
        };
        [
            (n.to_string(), format!("http://ask.example.org/{path}")),
            (other, format!("http://www.ask.example.org/{path}")),
        ]
    });
    let normalizer = learn(pages);
    let key = |url: &str| normalizer.key(url).unwrap();
    assert_eq!(key("http://www.ask.example.org/post/new"), key("http://ask.example.org/post/new"));
    assert_eq!(key("http://www.ask.example.org/other/new"), key("http://ask.example.org/other/new"));
    assert_ne!(key("http://www.ask.example.org/feed?of=new"), key("http://ask.example.org/feed?of=new"));
}
