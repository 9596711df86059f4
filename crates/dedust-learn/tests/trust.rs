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

/// Links that somebody placed to pages which ignore the parameter `id`, as nearly all servers do.
fn placed_links(count: usize, ending: &'static str) -> impl Iterator<Item = Page> {
    let pages =
        (0..1_000).map(move |n| page(format!("http://shop.example/slug-{n}{ending}"), format!("slug {n}")));
    let links = (0..count).map(move |n| {
        let target = n % 25;
        page(
            format!("http://shop.example/slug-{target}{ending}?id={}", 7_919 * n + 13),
            format!("slug {target}"),
        )
    });
    pages.chain(links)
}

#[test]
fn links_from_strangers_make_no_parameter_vanish_elsewhere() {
    for count in [50, 100, 800] {
        let normalizer = learned(placed_links(count, "/"), LearnOptions::default());
        for url in
            ["http://shop.example/view?id=7", "http://shop.example/?id=7", "http://shop.example/a/b/?id=7"]
        {
            assert_eq!(key(&normalizer, url), url, "{count} links");
        }
    }
}

#[test]
fn links_from_strangers_reach_no_section_that_was_not_seen() {
    for ending in ["", "/"] {
        let normalizer = learned(placed_links(200, ending), LearnOptions::default());
        let url = format!("http://shop.example/view{ending}?id=7");
        assert_eq!(key(&normalizer, &url), url);
    }
}

#[test]
fn links_from_strangers_take_no_pages_of_the_home_page() {
    let posts = (1..=10).map(|n| page(format!("http://shop.example/?p={n}"), format!("post {n}")));
    let pages = (0..1_000).map(|n| page(format!("http://shop.example/slug-{n}/"), format!("slug {n}")));
    let links = (0..800).map(|n| {
        page(
            format!("http://shop.example/slug-{}/?p={}", n % 400, 7_919 * n + 13),
            format!("slug {}", n % 400),
        )
    });
    let normalizer = learned(pages.chain(posts).chain(links), LearnOptions::default());
    for n in [3, 9, 777, 2_000] {
        let url = format!("http://shop.example/?p={n}");
        assert_eq!(key(&normalizer, &url), url);
    }
}

#[test]
fn three_hosts_do_not_outvote_a_fourth() {
    let ignoring = ["a", "b", "c"].into_iter().flat_map(|host| {
        (0..40usize).flat_map(move |n| {
            (0..6).map(move |view| {
                page(
                    format!("http://{host}.hoster.example/p/{n}?item={}", 100 * n + view),
                    format!("{host} {n}"),
                )
            })
        })
    });
    let victim =
        (0..20).map(|n| page(format!("http://victim.hoster.example/p/1?item={n}"), format!("item {n}")));
    let normalizer = learned(ignoring.chain(victim), LearnOptions::default());
    let url = "http://victim.hoster.example/p/1?item=7";
    assert_eq!(key(&normalizer, url), url);
    assert_eq!(key(&normalizer, "http://a.hoster.example/p/1?item=7"), "http://a.hoster.example/p/1");
}

#[test]
fn a_page_without_text_takes_the_place_of_no_other() {
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    for n in 0..1_200 {
        let (text, url) = (format!("view {n}"), format!("http://shop.example/view?id={n}"));
        let seen = Clues {
            text_digest: Some(text.as_bytes()),
            title: Some(b"Title"),
            status: Some(200),
            canonical: Some(url.as_bytes()),
            ..Clues::default()
        };
        crawl.observe(url.as_bytes(), &seen, None).unwrap();
        if n < 60 {
            let cut_off = Clues { status: Some(200), canonical: Some(url.as_bytes()), ..Clues::default() };
            crawl.observe(format!("http://shop.example/u/{n}").as_bytes(), &cut_off, None).unwrap();
        }
    }
    let training = Trainer::builder().build().unwrap().train_stored(&crawl.finish().unwrap(), &()).unwrap();
    let normalizer = Normalizer::compile(&training.rules);
    for url in ["http://shop.example/view?id=777", "http://shop.example/u/777"] {
        assert_eq!(key(&normalizer, url), url);
        assert_eq!(normalizer.normalize(url).unwrap().to_string(), url);
    }
}

#[test]
fn a_rule_of_two_folders_changes_no_others() {
    // Ten pages stand in two folders, under one name; names of other folders mean other pages.
    let twice = (0..10usize).flat_map(|n| {
        ["de", "en"]
            .map(move |folder| page(format!("http://shop.example/{folder}/both-{n}/"), format!("both {n}")))
    });
    let single = (0..40usize).flat_map(|folder| {
        (0..60usize).map(move |n| {
            page(format!("http://shop.example/folder-{folder}/page-{folder}-{n}/"), format!("{folder} {n}"))
        })
    });
    let normalizer = learned(twice.chain(single), LearnOptions::default());
    for url in ["http://shop.example/folder-7/new/", "http://shop.example/fr/kontakt/"] {
        assert_eq!(key(&normalizer, url), url);
    }
}

#[test]
fn reports_of_one_kind_stay_apart_however_alike_they_are() {
    let mut crawl = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    for n in 0..600u64 {
        // A few bits of a fingerprint tell them apart, and every text is another.
        let simhash = 0x5a5a_5a5a_5a5a_5a5a ^ (1 << (n % 7)) ^ (1 << (20 + n % 5)) ^ (1 << (40 + n % 3));
        let text = format!("report {n}");
        let clues = Clues {
            text_digest: Some(text.as_bytes()),
            title: Some(b"Report"),
            simhash: Some(simhash),
            status: Some(200),
            ..Clues::default()
        };
        crawl
            .observe(
                format!("http://lab.example/summaries/{}_{}_x.html", n % 12, n / 12).as_bytes(),
                &clues,
                None,
            )
            .unwrap();
        // Articles, of which no two are alike.
        let text = format!("article {n}");
        let clues = Clues {
            text_digest: Some(text.as_bytes()),
            simhash: Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            ..clues
        };
        crawl.observe(format!("http://lab.example/articles/{n}").as_bytes(), &clues, None).unwrap();
    }
    let training = Trainer::builder().build().unwrap().train_stored(&crawl.finish().unwrap(), &()).unwrap();
    let normalizer = Normalizer::compile(&training.rules);
    let url = "http://lab.example/summaries/9_7_x.html";
    assert_eq!(key(&normalizer, url), url);
    assert_ne!(key(&normalizer, "http://lab.example/summaries/8_7_x.html"), url);
}

#[test]
fn a_bare_flag_is_no_spelling() {
    // Most threads fit on one page, so that `all` shows what is shown without it; others do not.
    let threads = (0..4usize).flat_map(|n| {
        ["", "&all"]
            .map(move |flag| page(format!("http://forum.example/view?topic={n}{flag}"), format!("{n}")))
    });
    let long = (10..60usize).map(|n| page(format!("http://forum.example/view?topic={n}"), format!("{n}")));
    let normalizer = learned(threads.chain(long), LearnOptions::default());
    let url = "http://forum.example/view?all&topic=77";
    assert_ne!(key(&normalizer, url), key(&normalizer, "http://forum.example/view?topic=77"));
}
