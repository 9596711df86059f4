use dedust_learn::support::rule_text;
use dedust_learn::{Clues, Crawl, EvidenceKinds};

use super::site::SpotNumber;
use super::transformation::{Rule, Source, Transformation};
use super::*;

fn corpus(urls: impl IntoIterator<Item = (String, String)>) -> Corpus {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (page, url) in urls {
        crawl.observe(url.as_bytes(), &Clues { cluster: Some(page.as_bytes()), ..Clues::default() }).unwrap();
    }
    crawl.into_corpora().remove(0)
}

fn row_of(corpus: &Corpus, url: &str) -> u32 {
    (0..corpus.len() as u32).find(|&row| corpus.url(row) == url.as_bytes()).unwrap()
}

fn between(corpus: &Corpus, from: &str, to: &str) -> Transformation {
    let site = Site::new(corpus);
    Transformation::between(&site, row_of(corpus, from), row_of(corpus, to))
}

#[test]
fn segments_are_aligned_from_the_end_when_that_is_less_work() {
    let (long, short) = ("http://example.org/en/docs/7", "http://example.org/docs/7");
    let corpus = corpus([long, short].map(|url| ("1".into(), url.into())));
    let transformation = between(&corpus, long, short);
    assert!(transformation.from_end);
    assert_eq!(transformation.rules, [(SpotNumber::FromEnd(2), Rule::Delete)]);
}

#[test]
fn segments_are_aligned_from_the_start_otherwise() {
    let (long, short) = ("http://example.org/questions/7/words", "http://example.org/q/7");
    let corpus = corpus([long, short].map(|url| ("1".into(), url.into())));
    let transformation = between(&corpus, long, short);
    assert!(!transformation.from_end);
    assert!(matches!(transformation.rules[..], [(_, Rule::Replace(Source::Literal(_))), (_, Rule::Delete)]));
}

#[test]
fn a_transformation_tells_the_form_of_its_result() {
    let urls = (0..30).flat_map(|n| {
        let url = |text: String| (n.to_string(), format!("http://example.org/{text}"));
        [url(format!("thread_{n}.html")), url(format!("showthread.php?t={n}"))]
    });
    let corpus = corpus(urls);
    let site = Site::new(&corpus);
    let row = |text: &str| row_of(&corpus, &format!("http://example.org/{text}"));
    let there = Transformation::between(&site, row("showthread.php?t=7"), row("thread_7.html"));
    let back = Transformation::between(&site, row("thread_7.html"), row("showthread.php?t=7"));
    let mut view = Vec::new();
    site.view(row("showthread.php?t=12"), there.from_end, &mut view);
    assert_eq!(there.apply(&site, &view), Some(site.form_by_row[row("thread_12.html") as usize]));
    site.view(row("thread_12.html"), back.from_end, &mut view);
    assert_eq!(back.apply(&site, &view), Some(site.form_by_row[row("showthread.php?t=12") as usize]));
    assert_eq!(there.apply(&site, &view), None, "there is no `t` to read");
}

#[test]
fn a_leading_segment_goes_at_any_depth() {
    // `/en` may be left out, before two segments as before three.
    let urls = (0..60).flat_map(|n| {
        let path = if n % 2 == 0 { format!("a/{n}") } else { format!("a/b/{n}") };
        [
            (n.to_string(), format!("http://example.org/en/{path}")),
            (n.to_string(), format!("http://example.org/{path}")),
        ]
    });
    let learned = learn_decision_tree(&corpus(urls), &DecisionTreeOptions::default());
    let shown: Vec<String> = learned.rules.iter().map(rule_text).collect();
    // Nothing else was seen at depth four, but at depth three `/a/b/7` is a URL of its own.
    let expected = [
        "scheme is <text>, path_0 is en, path_1 is <text>, path_2 is <text>, no sep, nothing else but parameters: path = /{path_1..}, end",
        "scheme is <text>, path_0 is <text>, path_1 is <text>, path_2 is <text>, path_3 is <text>, no sep, nothing else but parameters: path = /{path_1..}, end",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn without_duplicates_nothing_is_learned() {
    let urls = (0..60).map(|n| (n.to_string(), format!("http://example.org/{n}?x={}", n % 3)));
    let learned = learn_decision_tree(&corpus(urls), &DecisionTreeOptions::default());
    assert_eq!((learned.raw_rules, learned.rules.len()), (0, 0));
}
