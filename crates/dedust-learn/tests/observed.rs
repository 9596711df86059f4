//! Duplicates that follow no rule are learned as they were seen, and no further.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use dedust::Normalizer;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, SampleSize, Trainer};

/// A URL, the text that it shows, and where it redirects to instead, if it does.
struct Seen {
    url: String,
    text: String,
    redirect: Option<String>,
}

fn shows(url: impl Into<String>, text: impl Into<String>) -> Seen {
    Seen { url: url.into(), text: text.into(), redirect: None }
}

fn redirects(url: impl Into<String>, to: impl Into<String>) -> Seen {
    Seen { url: url.into(), text: String::new(), redirect: Some(to.into()) }
}

fn learned(crawl: impl IntoIterator<Item = Seen>) -> Normalizer {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    for Seen { url, text, redirect } in crawl {
        let clues = match &redirect {
            None => Clues { text_digest: Some(text.as_bytes()), status: Some(200), ..Clues::default() },
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
fn canonical_urls_of_tables_were_seen_and_stay() {
    let rules = learned(blog());
    let post = format!("http://blog.example/{}/title-{}", 2000 + mixed(3) % 20, mixed(3));
    let canonical = rules.normalize("http://blog.example/?p=21").unwrap();
    assert!(canonical == *"http://blog.example/?p=21" || canonical == *post, "{canonical}");
    assert_eq!(rules.normalize(&canonical).unwrap(), canonical);
    assert_eq!(rules.key(&canonical).unwrap(), rules.key("http://blog.example/?p=21").unwrap());
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
