//! Duplicates that follow no rule are learned as they were seen, and no further.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use dedust::Normalizer;
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};

/// A URL, the text that it shows, where it redirects to instead, if it does, and what it names as canonical.
struct Seen {
    url: String,
    text: String,
    redirect: Option<String>,
    canonical: Option<String>,
}

fn shows(url: impl Into<String>, text: impl Into<String>) -> Seen {
    Seen { url: url.into(), text: text.into(), redirect: None, canonical: None }
}

fn redirects(url: impl Into<String>, to: impl Into<String>) -> Seen {
    Seen { url: url.into(), text: String::new(), redirect: Some(to.into()), canonical: None }
}

fn learned(crawl: impl IntoIterator<Item = Seen>) -> Normalizer {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    for Seen { url, text, redirect, canonical } in crawl {
        let canonical = canonical.as_ref().map(String::as_bytes);
        let clues = match &redirect {
            None => {
                Clues { text_digest: Some(text.as_bytes()), canonical, status: Some(200), ..Clues::default() }
            }
            Some(to) => Clues { redirect: Some(to.as_bytes()), status: Some(301), ..Clues::default() },
        };
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let trainer = Trainer::builder().build().unwrap();
    Normalizer::compile(&trainer.train_stored(&store.finish().unwrap(), &()).unwrap().rules)
}

fn key(normalizer: &Normalizer, url: &str) -> String {
    normalizer.key(url).unwrap().to_string()
}

/// Numbers that look random.
fn mixed(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1) >> 12
}

fn blog() -> impl Iterator<Item = Seen> {
    (1..=80).flat_map(|n| {
        let post = format!("http://blog.example/{}/title-{}", 2000 + mixed(n) % 20, mixed(n));
        [
            redirects(format!("http://blog.example/?p={}", 7 * n), post.clone()),
            shows(post, format!("post {n}")),
        ]
    })
}

#[test]
fn a_number_of_the_database_is_the_page_that_it_was_seen_to_lead_to() {
    let rules = learned(blog());
    let post = format!("http://blog.example/{}/title-{}", 2000 + mixed(3) % 20, mixed(3));
    assert_eq!(key(&rules, "http://blog.example/?p=21"), key(&rules, &post));
    for unseen in
        ["http://blog.example/?p=22", "http://blog.example/?p=21&preview=1", "http://blog.example/x?p=21"]
    {
        assert_eq!(key(&rules, unseen), unseen);
    }
}

#[test]
fn what_redirects_is_written_as_the_page_that_it_leads_to() {
    let rules = learned(blog());
    let post = format!("http://blog.example/{}/title-{}", 2000 + mixed(3) % 20, mixed(3));
    for url in ["http://blog.example/?p=21", &post] {
        assert_eq!(rules.normalize(url).unwrap(), *post, "longer, but ?p=21 only leads to it");
    }
    assert_eq!(rules.normalize("http://blog.example/?p=22").unwrap(), *"http://blog.example/?p=22");
}

#[test]
fn of_urls_that_show_a_page_that_is_written_which_canonical_links_name() {
    let crawl = (1..=80).flat_map(|n| {
        let named = format!("http://shop.example/goods/thing-{}", mixed(n));
        let item = |url: String| Seen { canonical: Some(named.clone()), ..shows(url, format!("thing {n}")) };
        [item(format!("http://shop.example/?i={}", 7 * n)), item(named.clone())]
    });
    let rules = learned(crawl);
    let named = format!("http://shop.example/goods/thing-{}", mixed(3));
    for url in ["http://shop.example/?i=21", &named] {
        assert_eq!(rules.normalize(url).unwrap(), *named);
    }
    assert_eq!(rules.normalize("http://shop.example/?i=22").unwrap(), *"http://shop.example/?i=22");
}

#[test]
fn a_part_whose_values_name_no_pages_is_not_looked_up() {
    // Both the shelf and the day decide; on some days two shelves show the same.
    let crawl = (0..400).map(|n| {
        let (shelf, day) = (n % 20, n / 20);
        let text =
            if day < 8 && shelf % 2 == 1 { format!("{} {day}", shelf - 1) } else { format!("{shelf} {day}") };
        shows(format!("http://a.example/list?shelf=s{shelf}&day=d{day}"), text)
    });
    let rules = learned(crawl);
    let url = "http://a.example/list?day=d3&shelf=s5";
    assert_eq!(key(&rules, url), url);
}

#[test]
fn a_text_that_stands_everywhere_is_not_entered() {
    let crawl = (0..200).map(|n| {
        let text = if n % 2 == 0 { "nothing was found".to_owned() } else { format!("found {n}") };
        shows(format!("http://a.example/search?q=w{}", mixed(n)), text)
    });
    let rules = learned(crawl);
    for n in [4, 5] {
        let url = format!("http://a.example/search?q=w{}", mixed(n));
        assert_eq!(key(&rules, &url), url);
    }
}

#[test]
fn a_text_may_stand_at_one_place_of_each_kind() {
    let kinds = ["i", "item", "nr", "sku", "thing"];
    let place = |kind: usize, n: u32| {
        format!("http://shop.example/?{}={}", kinds[kind], mixed(n + 100 * kind as u32))
    };
    let crawl = (1..=80).flat_map(|n| {
        let page = format!("http://shop.example/goods/thing-{}", mixed(n));
        let others = (0..kinds.len()).map(move |kind| place(kind, n));
        others.chain([page]).map(move |url| shows(url, format!("thing {n}")))
    });
    let rules = learned(crawl);
    let page = key(&rules, &format!("http://shop.example/goods/thing-{}", mixed(3)));
    for kind in 0..kinds.len() {
        assert_eq!(key(&rules, &place(kind, 3)), page);
    }
    assert_eq!(key(&rules, "http://shop.example/?nr=1"), "http://shop.example/?nr=1");
}

#[test]
fn pages_of_another_host_stay_there() {
    let crawl = (0..100).flat_map(|n| {
        let text = format!("page {n}");
        [
            shows(format!("http://one.a.example/{}", mixed(n)), text.clone()),
            shows(format!("http://two.a.example/?n={n}"), text),
        ]
    });
    let rules = learned(crawl);
    let url = "http://two.a.example/?n=7";
    assert_eq!(key(&rules, url), url);
}

#[test]
fn what_is_forgotten_beside_the_selector_was_seen_too() {
    // The crawl has met only the last revision of each page; older ones show something else.
    let crawl = (1..=80).flat_map(|n| {
        let page = format!("http://wiki.example/wiki/Title_{}", mixed(n));
        let text = format!("page {n}");
        [shows(format!("{page}?oldid={}", 1000 + mixed(n + 100)), text.clone()), shows(page, text)]
    });
    let rules = learned(crawl);
    let page = format!("http://wiki.example/wiki/Title_{}", mixed(30));
    assert_eq!(key(&rules, &format!("{page}?oldid={}", 1000 + mixed(130))), key(&rules, &page));
    assert_eq!(key(&rules, &format!("{page}?oldid=987")), format!("{page}?oldid=987"));
}
