//! Evidence that misleads must not lose pages: attacks, and sites that declare what is not true.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use dedust::Normalizer;
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, LearnOptions, Trainer};

struct Page {
    url: String,
    text: String,
    canonical: Option<String>,
}

fn page(url: String, text: String) -> Page {
    Page { url, text, canonical: None }
}

fn learned(pages: impl Iterator<Item = Page>, options: LearnOptions) -> Normalizer {
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
    let trainer = Trainer::builder().options(options).build().unwrap();
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
    assert_eq!(key(&learned(copied(), LearnOptions::default()), url), url);
    // Whoever vouches for the hosts gets them joined.
    let trusting = learned(copied(), LearnOptions { trust_hosts: true, ..LearnOptions::default() });
    assert_eq!(key(&trusting, url), key(&trusting, "http://evil.hoster.example/p/777"));
}

#[test]
fn a_host_cannot_speak_for_the_one_that_it_copies() {
    // Every copied page names its original, which may rewrite the copy but never the original.
    let pages = (0..200).flat_map(|n| {
        let victim = format!("http://victim.hoster.example/p/{n}");
        let copy = Page {
            url: format!("http://evil.hoster.example/p/{n}"),
            text: format!("page {n}"),
            canonical: Some(victim.clone()),
        };
        [page(victim, format!("page {n}")), copy]
    });
    let normalizer = learned(pages, LearnOptions::default());
    let url = "http://victim.hoster.example/p/777";
    assert_eq!(key(&normalizer, url), url);
}

/// Pages of a wiki that ignores the case of letters in its paths, met in both spellings.
fn case_blind(host: &str) -> impl Iterator<Item = Page> {
    (0..100).flat_map(move |n| {
        let shown = format!("{host} {n}");
        ["Page", "page"].map(|name| page(format!("http://{host}/{name}{n}"), shown.clone()))
    })
}

#[test]
fn a_rule_holds_on_the_host_that_showed_it() {
    let git = (0..100).map(|n| page(format!("http://git.corp.example/File{n}"), format!("file {n}")));
    let normalizer = learned(case_blind("wiki.corp.example").chain(git), LearnOptions::default());
    assert_eq!(key(&normalizer, "http://wiki.corp.example/Page777"), "http://wiki.corp.example/page777");
    assert_eq!(
        key(&normalizer, "http://www.wiki.corp.example/Page777"),
        "http://www.wiki.corp.example/page777"
    );
    for url in
        ["http://git.corp.example/File7", "http://newapp.corp.example/Page7", "http://corp.example/Page7"]
    {
        assert_eq!(key(&normalizer, url), url);
    }
}

#[test]
fn a_rule_that_three_hosts_agree_on_holds_on_all() {
    let two = || case_blind("a.corp.example").chain(case_blind("b.corp.example"));
    let url = "http://d.corp.example/Page777";
    assert_eq!(key(&learned(two(), LearnOptions::default()), url), url);
    let three = two().chain(case_blind("c.corp.example"));
    assert_eq!(key(&learned(three, LearnOptions::default()), url), "http://d.corp.example/page777");
}

#[test]
fn a_value_is_no_default_where_others_of_its_key_may_matter() {
    // In one category of five, `color` filters. By chance, `red` was seen in the others only.
    let shop = |filters: fn(usize) -> bool| {
        (0..60usize).flat_map(move |category| {
            let colors =
                ["blue", "green", "red"].into_iter().filter(move |color| category % 5 > 0 || *color != "red");
            let list = format!("http://shop.example/list?cat={category}");
            let filtered = colors.map({
                let list = list.clone();
                move |color| {
                    let shown =
                        if filters(category) { format!("{category} {color}") } else { format!("{category}") };
                    page(format!("{list}&color={color}"), shown)
                }
            });
            filtered.chain([page(list, format!("{category}"))])
        })
    };
    let url = "http://shop.example/list?cat=777&color=red";
    let filtering = learned(shop(|category| category % 5 == 0), LearnOptions::default());
    assert_eq!(key(&filtering, url), url);
    let idle = learned(shop(|_| false), LearnOptions::default());
    assert_eq!(key(&idle, url), "http://shop.example/list?cat=777");
}

#[test]
fn errors_beside_pages_speak_against_a_rule() {
    // `v` shows the same page or an error, and is needed where it gives an error without.
    let seen = |status: u16| {
        let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
        for n in 0..120 {
            let text = format!("page {n}");
            let found = Clues { text_digest: Some(text.as_bytes()), status: Some(200), ..Clues::default() };
            let other = if n % 3 == 0 { Clues { status: Some(status), ..Clues::default() } } else { found };
            crawl.observe(format!("http://shop.example/p/{n}?v=1").as_bytes(), &found, None).unwrap();
            crawl.observe(format!("http://shop.example/p/{n}?v=2").as_bytes(), &found, None).unwrap();
            crawl.observe(format!("http://shop.example/p/{n}?v=3").as_bytes(), &other, None).unwrap();
        }
        let training =
            Trainer::builder().build().unwrap().train_stored(&crawl.finish().unwrap(), &()).unwrap();
        key(&Normalizer::compile(&training.rules), "http://shop.example/p/777?v=3")
    };
    assert_eq!(seen(404), "http://shop.example/p/777?v=3");
    assert_eq!(seen(503), "http://shop.example/p/777", "an error that passes says nothing");
}

#[test]
fn five_thousand_pages_weigh_more_than_one_group() {
    let noise = (0..1_500).flat_map(|n| {
        ["x", "y"].map(|id| page(format!("http://shop.example/p/{n}?id={id}{n}"), format!("page {n}")))
    });
    let views = (0..5_000).map(|id| page(format!("http://shop.example/view?id={id}"), format!("view {id}")));
    let normalizer = learned(noise.chain(views), LearnOptions::default());
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
    let normalizer = learned(lists.chain(firsts), LearnOptions::default());
    let url = "http://blog.example/list/7?page=3";
    assert_eq!(key(&normalizer, url), url);
    let first = key(&normalizer, "http://blog.example/list/7?page=1");
    assert_eq!(
        first,
        key(&normalizer, "http://blog.example/list/7"),
        "the first page is shown without a number too"
    );
}
