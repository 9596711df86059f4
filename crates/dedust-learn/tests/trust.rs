//! Evidence that misleads must not lose pages: attacks, and sites that declare what is not true.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use dedust::Normalizer;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, LearnSettings, SampleSize, Trainer};

struct Page {
    url: String,
    text: String,
    canonical: Option<String>,
}

fn page(url: String, text: String) -> Page {
    Page { url, text, canonical: None }
}

fn learned(pages: impl Iterator<Item = Page>, settings: LearnSettings) -> Normalizer {
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default()).with_mirrors();
    for Page { url, text, canonical } in pages {
        let clues = Clues {
            text_digest: Some(text.as_bytes()),
            title: Some(b"Title"),
            status: Some(200),
            canonical: canonical.as_deref().map(str::as_bytes),
            ..Clues::default()
        };
        crawl.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let trainer = Trainer::builder().settings(settings).build().unwrap();
    let training = trainer.train_stored(&crawl.finish().unwrap(), &()).unwrap();
    Normalizer::compile(&training.rules)
}

fn key(normalizer: &Normalizer, url: &str) -> String {
    normalizer.key(url).unwrap().to_string()
}

#[test]
fn a_copy_on_the_same_hoster_does_not_take_over_its_victim() {
    let copied = || {
        let hosts = ["victim.hoster.example", "evil.hoster.example"];
        let pages = (0..200)
            .flat_map(move |n| hosts.map(|host| page(format!("http://{host}/p/{n}"), format!("page {n}"))));
        pages.chain([page("http://evil.hoster.example/more".to_owned(), "one more".to_owned())])
    };
    let url = "http://victim.hoster.example/p/777";
    assert_eq!(key(&learned(copied(), LearnSettings::default()), url), url);
    // Whoever vouches for the hosts gets them joined.
    let trusting = learned(copied(), LearnSettings::default().with_trusted_hosts(true));
    assert_eq!(key(&trusting, url), key(&trusting, "http://evil.hoster.example/p/777"));
}

#[test]
fn five_thousand_pages_weigh_more_than_one_group() {
    let noise = (0..1_500).flat_map(|n| {
        ["x", "y"].map(|id| page(format!("http://shop.example/p/{n}?id={id}{n}"), format!("page {n}")))
    });
    let views = (0..5_000).map(|id| page(format!("http://shop.example/view?id={id}"), format!("view {id}")));
    let normalizer = learned(noise.chain(views), LearnSettings::default());
    let url = "http://shop.example/view?id=7777";
    assert_eq!(key(&normalizer, url), url);
}

#[test]
fn a_list_whose_pages_all_name_the_first_keeps_its_pages() {
    let lists = (0..40).flat_map(|list| {
        (1..6).map(move |number| Page {
            url: format!("http://blog.example/list/{list}?page={number}"),
            text: format!("entries {number} of {list}"),
            canonical: Some(format!("http://blog.example/list/{list}")),
        })
    });
    let firsts =
        (0..40).map(|list| page(format!("http://blog.example/list/{list}"), format!("entries 1 of {list}")));
    let normalizer = learned(lists.chain(firsts), LearnSettings::default());
    let url = "http://blog.example/list/7?page=3";
    assert_eq!(key(&normalizer, url), url);
    let first = key(&normalizer, "http://blog.example/list/7?page=1");
    assert_eq!(
        first,
        key(&normalizer, "http://blog.example/list/7"),
        "the first page is shown without a number too"
    );
}
