/*!
What a report says of a small crawl that can be counted by hand.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use dedust::{Normalizer, RuleSet};
use dedust_learn::Clues;
use dedust_report::{CrawlFigures, RemainingReason, ReportBuilder, ReportData, ReportSettings};

const RULES: &str = r#"{"version": 1, "method": "by hand", "sites": {"a.example": {
    "rules": [
        {"change": [{"drop": "q.sid"}], "fetchable": true},
        {"change": [{"drop": "q.ref"}], "fetchable": true, "off": {"by": "anna", "why": "breaks the search"}},
        {"when": {"path_0": {"is": "list"}}, "change": [{"forget": "q.page"}]}
    ],
    "refused": [
        {"change": [{"drop": "q.print"}], "reason": "too few votes", "votes": 2, "against": 0, "missing": 7}
    ],
    "summary": {"urls": 90, "labelled": 90, "pages": 60, "raw_rules": 3, "qualified_rules": 3,
                "promise": {"lost": 2, "pages": 60}}
}}}"#;

/// URL, the digest of its page, and its size.
const CRAWL: &[(&str, &str, u64)] = &[
    ("http://a.example/p?id=1&sid=1", "p1", 100),
    ("http://a.example/p?id=1&sid=2", "p1", 110),
    ("HTTP://a.example:80/p?id=1&sid=1", "p1", 120),
    ("http://a.example/p?id=2", "p2", 200),
    ("http://a.example/p?id=2&ref=x", "p2", 210),
    ("http://a.example/p?id=2&print=1", "p2", 220),
    ("http://a.example/list?page=1", "l1", 300),
    ("http://a.example/list?page=2", "l2", 310),
    ("http://a.example/other", "o", 400),
];

fn report(rules: &str, crawl: &[(&str, &str, u64)]) -> ReportData {
    let rules = RuleSet::load(rules.as_bytes()).unwrap();
    let normalizer = Normalizer::compile(&rules);
    let mut builder = ReportBuilder::new(Some(&rules), &normalizer, ReportSettings::default());
    for (url, digest, size) in crawl {
        let clues = Clues { digest: Some(digest.as_bytes()), size: Some(*size), ..Clues::default() };
        builder.observe(url.as_bytes(), &clues).unwrap();
    }
    builder.finish()
}

#[test]
fn totals_are_those_that_a_crawler_would_meet() {
    let data = report(RULES, CRAWL);
    let figures = data.total.crawl.unwrap();
    assert_eq!(
        figures,
        CrawlFigures {
            urls: 9,
            keys: 6,
            groups: 2,
            safe_duplicates: 1,
            sized: 9,
            bytes: 1970,
            saved_bytes: 110 + 120 + 310,
            labelled: 9,
            pages: 5,
            labelled_keys: 6,
            covered: 4,
            lost: 1,
        }
    );
    assert_eq!((figures.saved(), figures.left()), (3, 2));
    assert_eq!(data.total.promise.unwrap().lost, 2);
    let rules = data.total.rules;
    assert_eq!((rules.all, rules.applied, rules.off, rules.unproven, rules.refused), (3, 2, 1, 1, 0));
}

#[test]
fn each_rule_is_charged_with_what_would_be_fetched_without_it() {
    let data = report(RULES, CRAWL);
    let rules = &data.details[0].rules;
    let figures: Vec<_> =
        rules.iter().map(|rule| (rule.changed, rule.saves, rule.saves_bytes, rule.hides)).collect();
    assert_eq!(
        figures[0],
        (Some(3), Some(1), Some(110), Some(0)),
        "the third URL is a duplicate without rules"
    );
    assert_eq!(figures[1], (Some(0), Some(0), Some(0), Some(0)), "it is off");
    assert_eq!(figures[2], (Some(2), Some(1), Some(310), Some(1)), "it hides a page");
    assert_eq!(rules[1].state, "off");
    assert_eq!(rules[0].id, "1bcc19fb");
}

#[test]
fn what_is_left_has_a_reason() {
    let data = report(RULES, CRAWL);
    let left = &data.details[0].remaining;
    let found: Vec<_> = left.iter().map(|kind| (kind.reason, kind.duplicates, &kind.parts[..])).collect();
    assert_eq!(
        found,
        [
            (RemainingReason::Unproven, 1, &["q.print".to_owned()][..]),
            (RemainingReason::Off, 1, &["q.ref".to_owned()][..]),
        ]
    );
    assert_eq!(left[0].example[1], "http://a.example/p?id=2&print=1");
}

#[test]
fn the_curve_goes_from_safe_normalization_to_all_rules() {
    let data = report(RULES, CRAWL);
    let curve: Vec<_> = data.details[0].curve.iter().map(|point| (point.rule, point.saved)).collect();
    assert_eq!(curve, [(None, 1), (Some(0), 2), (Some(2), 3)]);
    let last = data.details[0].visits.last().unwrap();
    assert_eq!((last.met, last.fetched, last.pages), (9, 6, 5));
}

#[test]
fn parameters_are_told_by_pairs_that_differ_in_them_alone() {
    let data = report(RULES, CRAWL);
    let map = &data.details[0].params;
    let cell = |param: &str, section: &str| {
        let param = map.params.iter().position(|name| name == param).unwrap() as u32;
        let section = map.sections.iter().position(|name| name == section).unwrap() as u32;
        map.cells.iter().find(|cell| (cell.param, cell.section) == (param, section)).copied().unwrap()
    };
    let sid = cell("q.sid", "/p");
    assert_eq!((sid.urls, sid.ignored, sid.different), (3, 3, 0));
    assert!(sid.same > 0);
    let page = cell("q.page", "/list");
    assert_eq!((page.ignored, page.same, page.different), (2, 0, 1));
    assert_eq!(cell("q.print", "/p").ignored, 0);
}

#[test]
fn groups_say_when_they_hold_several_pages() {
    let data = report(RULES, CRAWL);
    let groups = &data.details[0].groups;
    assert_eq!(groups.len(), 2);
    assert_eq!((groups[0].size, groups[0].pages, groups[0].saved_bytes), (2, 2, 310));
    assert_eq!((groups[1].size, groups[1].pages, &*groups[1].canonical), (3, 1, "http://a.example/p?id=1"));
}

#[test]
fn rules_alone_say_what_they_were_learned_from() {
    let rules = RuleSet::load(RULES.as_bytes()).unwrap();
    let data = ReportData::of_rules(&rules, false);
    assert_eq!((data.total.crawl, data.total.learned_urls, data.total.learned_pages), (None, 90, 60));
    assert_eq!(data.details[0].refused[0].missing, Some(7));
    assert!(data.urls.is_none() && data.details[0].rules[0].saves.is_none());
}

#[test]
fn the_site_with_most_duplicates_left_comes_first() {
    let mut crawl = CRAWL.to_vec();
    crawl.extend([
        ("http://b.example/1", "x", 1),
        ("http://b.example/2", "x", 1),
        ("http://b.example/3", "x", 1),
        ("http://b.example/4", "x", 1),
        ("http://c.example/1", "y", 1),
    ]);
    let data = report(RULES, &crawl);
    let sites: Vec<&str> = data.sites.iter().map(|row| &*row.site).collect();
    assert_eq!(sites, ["b.example", "a.example", "c.example"]);
    assert_eq!(data.total.crawl.unwrap().urls, 14);
    let parts: u64 = data.sites.iter().filter_map(|row| Some(row.figures.crawl?.keys)).sum();
    assert_eq!(data.total.crawl.unwrap().keys, parts);
}

#[test]
fn rules_in_the_page_have_no_evidence_and_the_same_keys() {
    let data = report(RULES, CRAWL);
    let rules = RuleSet::load(data.rules.as_bytes()).unwrap();
    let site = rules.site("a.example").unwrap();
    assert!(site.refused().is_empty() && !data.rules.contains("anna"));
    let (in_page, as_given) =
        (Normalizer::compile(&rules), Normalizer::compile_from(RULES.as_bytes()).unwrap());
    for (url, ..) in CRAWL {
        assert_eq!(in_page.key(url).unwrap(), as_given.key(url).unwrap());
    }
}
