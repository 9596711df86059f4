/*!
Sites that change, lie or attack: pages that a crawl with rules of before would lose are seen.
*/

use std::collections::BTreeSet;

use crate::crawler::{Crawler, chance, value};

/// A shop on which the session says nothing: each item under four URLs.
fn item(number: usize) -> String {
    format!("http://shop.example/item?id={}&sid={}", number / 4, 1000 + chance(number, 90_000))
}

fn by_id(url: &str) -> String {
    format!("item {}", value(url, "id"))
}

#[test]
fn a_crawl_of_an_honest_site_gets_cheaper_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let site = |url: &str, _| by_id(url);
    let mut crawler = Crawler::open(&folder.path().join("state"), &site);
    let urls: Vec<String> = (0..4000).map(item).collect();
    crawler.run(&urls);
    assert_eq!(crawler.lost(by_id), (0, 1000));
    let status = crawler.crawl.status();
    assert!(crawler.fetched.len() < 1400, "{} of 4000 URLs were fetched", crawler.fetched.len());
    assert!(status.audits > 0 && status.audits * 20 <= status.skipped + 40, "{status:?}");
    // A URL that was never met is not taken for another.
    let key = crawler.crawl.admit(b"http://shop.example/item?id=5000").unwrap();
    assert_eq!((key.key, key.verdict.is_fetched()), (&b"http://shop.example/item?id=5000"[..], true));
}

/// `view` says nothing in the shop, and which page it is in the old part, which comes late.
fn by_section(url: &str) -> String {
    match url.contains("/old/") {
        true => format!("old item {} in view {}", value(url, "id"), value(url, "view")),
        false => by_id(url),
    }
}

#[test]
fn a_rule_that_is_wrong_in_a_late_section_gives_back_every_page() {
    let folder = tempfile::tempdir().unwrap();
    let site = |url: &str, _| by_section(url);
    let mut crawler = Crawler::open(&folder.path().join("state"), &site);
    let shop =
        |number: usize| format!("http://shop.example/all/new/item?id={}&view={}", number / 4, number % 4);
    let old =
        |number: usize| format!("http://shop.example/all/old/item?id={}&view={}", number / 4, number % 4);
    let mut urls: Vec<String> = (0..2000).map(shop).collect();
    urls.extend((8000..10_000).map(old));
    crawler.run(&urls);
    assert_eq!(crawler.lost(by_section), (0, 500 + 2000));
    assert!(crawler.returned > 0, "the first of them were skipped");
}

#[test]
fn a_site_that_changes_its_software_loses_next_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Afterwards, `sid` is the part of the item that is shown.
    let page = |url: &str| match value(url, "sid").parse::<usize>() {
        Ok(part) if part < 10 => format!("item {} part {part}", value(url, "id")),
        _ => by_id(url),
    };
    let site = |url: &str, _| page(url);
    let mut crawler = Crawler::open(&folder.path().join("state"), &site);
    let after = |number: usize| format!("http://shop.example/item?id={}&sid={}", number / 4, number % 4);
    let mut urls: Vec<String> = (0..2400).map(item).collect();
    urls.extend((4000..6400).map(after));
    crawler.run(&urls);
    let (lost, pages) = crawler.lost(page);
    assert!(lost * 100 <= pages, "{lost} of {pages}");
}

#[test]
fn a_site_that_answers_a_second_request_differently_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shown = std::cell::RefCell::new(BTreeSet::new());
    // Honest until it is known which rules were learned.
    let site = |url: &str, fetches: usize| {
        let page = by_id(url);
        match fetches > 600 && !shown.borrow_mut().insert(page.clone()) {
            true => format!("{page} once more, by {url}"),
            false => page,
        }
    };
    let mut crawler = Crawler::open(&folder.path().join("state"), &site);
    let urls: Vec<String> = (0..6000).map(item).collect();
    crawler.run(&urls);
    assert_eq!(crawler.lost(by_id), (0, 1500));
}

#[test]
fn urls_of_an_attacker_hide_no_page_and_touch_no_other_site() {
    let folder = tempfile::tempdir().unwrap();
    // A tenth of the URLs says that the id does not matter.
    let page = |url: &str| match value(url, "evil") {
        "" => by_id(url),
        _ => "a page for everybody".to_owned(),
    };
    let site = |url: &str, _| page(url);
    let url = |number: usize| match chance(number, 10) {
        0 => format!("http://shop.example/item?id={}&sid=7&evil={}", chance(number, 3000), number % 3),
        _ => item(number),
    };
    let attacked: Vec<String> = (0..4000).map(url).collect();
    let other: Vec<String> =
        (0..2000).map(|number| item(number).replace("shop.example", "other.example")).collect();
    let mut alone = Crawler::open(&folder.path().join("alone"), &site);
    alone.run(&other);
    let mut crawler = Crawler::open(&folder.path().join("state"), &site);
    for (attacked, other) in attacked.chunks(100).zip(other.chunks(50)) {
        crawler.run(attacked);
        crawler.run(other);
    }
    let (lost, pages) = crawler.lost(|url| format!("{} {}", url.contains("other.example"), page(url)));
    assert!(lost * 100 <= pages, "{lost} of {pages}");
    let rules_of = |crawler: &Crawler<'_>| {
        let rules = crawler.crawl.rules();
        let said = |rule: &dedust::rules::Rule| rule.to_string();
        rules.site("other.example").unwrap().rules().iter().map(said).collect::<Vec<_>>()
    };
    assert_eq!(rules_of(&crawler), rules_of(&alone));
}
