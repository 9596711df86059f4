use super::record::Records;
use super::sightings::{PathSighting, Seen, SightingCollector};
use super::*;
use crate::corpus::Corpus;
use crate::label::MainClues;
use crate::minhash::SKETCH_VALUES;

/// A shop of `pages` products, each under three sessions, in the order of `order`.
fn shop(pages: u64, order: impl Fn(u64) -> u64) -> impl Iterator<Item = (String, String)> {
    (0..3 * pages).map(move |at| {
        let (page, visit) = (order(at) / 3, order(at) % 3);
        let session = xxh3_64(&order(at).to_le_bytes());
        (format!("http://shop.example/view?id={page}&sid={session:x}&v={visit}"), format!("page {page}"))
    })
}

fn stored(
    rows: impl Iterator<Item = (String, String)>,
    sample: SampleSize,
    spill: Option<&Path>,
) -> StoredCrawl {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, sample);
    if let Some(folder) = spill {
        store = store.spill_to(folder, 10_000);
    }
    for (url, digest) in rows {
        let clues = Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
        store.observe(url.as_bytes(), &clues, Some(b"2024-05-01")).unwrap();
    }
    assert_eq!(store.has_spilled(), spill.is_some());
    store.finish().unwrap()
}

fn corpora(crawl: &StoredCrawl) -> Vec<(Corpus, SiteSize)> {
    (0..PARTS).flat_map(|part| crawl.corpora(part).unwrap()).collect()
}

fn urls(corpus: &Corpus) -> Vec<Vec<u8>> {
    (0..corpus.len() as u32).map(|row| corpus.url(row).to_vec()).collect()
}

#[test]
fn records_are_read_as_they_were_written() {
    let full = Clues {
        main: Some(MainClues { digest: b"main", layout: Some(7), sketch: [9; SKETCH_VALUES] }),
        cluster: Some(b"c"),
        canonical: Some(b""),
        redirect: Some(b"/r"),
        digest: Some(b"d"),
        text_digest: Some(b"t"),
        simhash: Some(u64::MAX),
        title: Some(b"title"),
        status: Some(404),
        size: Some(0),
    };
    let url = b"http://a.example/";
    let records = [
        Record { site: 7, page: 9, url, clues: full, time: Some(b"now") },
        Record { site: u32::MAX, page: u64::MAX, url, clues: Clues::default(), time: None },
        Record {
            site: 0,
            page: 0,
            url,
            clues: Clues { size: Some(5), title: Some(b"t"), ..Clues::default() },
            time: None,
        },
    ];
    let mut bytes = Vec::new();
    for record in &records {
        record.write(&mut bytes);
    }
    let mut reader = Records::new(&bytes);
    assert!(records.iter().all(|record| reader.read() == Some(*record)));
    assert_eq!(reader.read(), None);
}

fn size(rows: u64, bytes: u64) -> SiteSize {
    SiteSize { rows, bytes, ..SiteSize::default() }
}

#[test]
fn a_site_of_any_size_gets_its_share() {
    let paper = SampleSize::default();
    let sizes = [(10, 10), (50_000, 50_000), (60_000, 50_000), (350_000, 70_000), (5_000_000, 100_000)];
    for (rows, sample) in sizes {
        assert_eq!(paper.of(size(rows, 60 * rows)), sample);
    }
    assert_eq!(SampleSize::new(0.5, 1000).unwrap().of(size(5000, 300_000)), 1000);
    assert_eq!(paper.of(size(40_000, 40_000 * 8192)), 8192, "long URLs are fewer");
    assert_eq!((SampleSize::new(1.5, 1), SampleSize::new(0.5, 0)), (None, None));
}

#[test]
fn what_was_on_disk_is_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let in_memory = stored(shop(1000, |at| at), SampleSize::default(), None);
    let spilled = stored(shop(1000, |at| at), SampleSize::default(), Some(folder.path()));
    let reopened = StoredCrawl::open(
        EvidenceKinds::AUTO,
        SampleSize::default(),
        folder.path(),
        spilled.sites().to_vec(),
    )
    .unwrap();
    let expected = corpora(&in_memory);
    assert_eq!((expected.len(), expected[0].0.len(), expected[0].1.rows), (1, 3000, 3000));
    for crawl in [&spilled, &reopened] {
        assert_eq!(urls(&corpora(crawl)[0].0), urls(&expected[0].0));
    }
}

#[test]
fn a_sample_holds_whole_groups_whatever_the_order() {
    let size = SampleSize::new(0.2, 3000).unwrap();
    let [sample, shuffled] = [1, 7919].map(|step| {
        let crawl = stored(shop(10_000, |at| at * step % 30_000), size, None);
        assert_eq!(crawl.sampled_rows(), 3000);
        corpora(&crawl).remove(0).0
    });
    assert_eq!(urls(&sample), urls(&shuffled));
    // Sessions vary within pages, products do not, so that a product is drawn with all of its sessions.
    assert_eq!((sample.len(), sample.page_count()), (3000, 1000));
}

#[test]
fn a_sample_keeps_the_pages_that_a_wrong_rule_would_join() {
    // Two views of a product are one page for every third product only: a rule that ignores the view is wrong, and
    // looks it where both views of a product are in the sample.
    let rows = (0..20_000_u64).flat_map(|product| {
        ["list", "grid"].map(|view| {
            let page = if product % 3 == 0 { format!("{product}") } else { format!("{product} {view}") };
            (format!("http://shop.example/{product}?view={view}"), page)
        })
    });
    let sample = corpora(&stored(rows, SampleSize::new(0.1, 4000).unwrap(), None)).remove(0).0;
    assert_eq!(sample.len(), 4000);
    let mut products: Vec<Vec<u8>> =
        urls(&sample).into_iter().map(|url| url[..url.len() - "list".len()].to_vec()).collect();
    products.sort();
    products.dedup();
    assert_eq!(products.len(), 2000);
}

/// Fifty pages of `new.example`; `old.example` shows the same and names them as canonical, `copy.example` shows the same and
/// says nothing, `other.example` shows different ones.
fn four_domains() -> impl Iterator<Item = (String, Clues<'static>)> {
    (0..50).flat_map(|page| {
        let at = |site: &str, text: String, canonical: Option<&str>| {
            let canonical = canonical.map(|site| leaked(format!("http://{site}/a/{page}?s=1")));
            let digest = Some(leaked(text));
            (format!("http://{site}/a/{page}?s=1"), Clues { digest, canonical, ..Clues::default() })
        };
        [
            at("new.example", format!("page {page}"), None),
            at("www.old.example", format!("page {page}"), Some("new.example")),
            at("copy.example", format!("page {page}"), None),
            at("other.example", format!("other {page}"), None),
        ]
    })
}

/// The names of the mirrors of a crawl, each with that of its original.
fn mirrors(rows: impl Iterator<Item = (String, Clues<'static>)>) -> Vec<(Box<str>, Box<str>)> {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default()).with_mirrors();
    for (url, clues) in rows {
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let crawl = store.finish().unwrap();
    let found = (0..PARTS).flat_map(|part| crawl.mirrors(part)).map(|(site, _, original)| (site, original));
    found.map(|(site, original)| (site.name.clone(), original.name.clone())).collect()
}

fn leaked(text: String) -> &'static [u8] {
    text.leak().as_bytes()
}

fn with_digest((url, digest): (String, String)) -> (String, Clues<'static>) {
    (url, Clues { digest: Some(leaked(digest)), ..Clues::default() })
}

#[test]
fn a_site_that_declares_its_pages_to_be_those_of_another_is_its_mirror() {
    let expected = [("old.example".into(), "new.example".into())];
    assert_eq!(mirrors(four_domains()), expected, "a copy that says nothing is a site of its own");

    let folder = tempfile::tempdir().unwrap();
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default()).with_mirrors();
    store = store.spill_to(folder.path(), 1_000);
    for (url, clues) in four_domains() {
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let crawl = store.finish().unwrap();
    let (kinds, sample) = (EvidenceKinds::AUTO, SampleSize::default());
    let reopened = StoredCrawl::open(kinds, sample, folder.path(), crawl.sites().to_vec()).unwrap();
    for crawl in [crawl, reopened] {
        let mut sizes: Vec<(String, usize)> =
            corpora(&crawl).into_iter().map(|(corpus, _)| (corpus.site().to_owned(), corpus.len())).collect();
        sizes.sort();
        let expected = ["copy.example", "new.example", "other.example"].map(|site| (site.to_owned(), 50));
        assert_eq!(sizes, expected, "rows of a mirror say nothing of its original");
    }
}

#[test]
fn the_user_may_name_a_mirror() {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default())
        .with_named_mirror("copy.example", "new.example");
    for (url, clues) in four_domains() {
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let crawl = store.finish().unwrap();
    let found: Vec<&str> =
        crawl.sites().iter().filter(|site| site.mirror.is_some()).map(|site| &*site.name).collect();
    assert_eq!(found, ["old.example", "copy.example"]);
}

#[test]
fn copying_a_site_takes_nothing_over_in_either_direction() {
    // The copy is larger than the victim, which names its own pages as canonical.
    let copied = (0..500).flat_map(|page| {
        let digest = Some(leaked(format!("page {page}")));
        let canonical = Some(leaked(format!("http://victim.example/{page}")));
        let victim = Clues { digest, canonical, ..Clues::default() };
        let copy = Clues { digest, ..Clues::default() };
        [(format!("http://victim.example/{page}"), victim), (format!("http://evil.example/{page}"), copy)]
    });
    let more = Clues { digest: Some(b"one more"), ..Clues::default() };
    assert_eq!(mirrors(copied.chain([("http://evil.example/more".to_owned(), more)])), []);
}

#[test]
fn claims_about_pages_that_nobody_has_seen_make_no_mirror() {
    // Twenty-five canonical links, or redirects, to paths of the victim that do not exist.
    for is_redirect in [false, true] {
        let claims = (0..25).map(|page| {
            let target = Some(leaked(format!("http://victim.example/none/{page}")));
            let digest = Some(leaked(format!("junk {page}")));
            let clues = if is_redirect {
                Clues { redirect: target, status: Some(301), ..Clues::default() }
            } else {
                Clues { canonical: target, digest, ..Clues::default() }
            };
            (format!("http://evil.example/none/{page}"), clues)
        });
        let pages = (0..500).map(|page| (format!("http://victim.example/{page}"), format!("page {page}")));
        assert_eq!(mirrors(claims.chain(pages.map(with_digest))), []);
    }
}

#[test]
fn a_domain_whose_name_has_the_hash_of_another_does_not_speak_for_it() {
    let (victim, double) = ("victim.com", "0ao2kb6em5gh751ywhhgr8jh5iimf707oledgjl3upb6b99y27ayj00f252z.com");
    assert_eq!(xxh3_64(victim.as_bytes()), xxh3_64(double.as_bytes()));
    let page = |site: &str, page: u32, canonical: Option<&str>| {
        let canonical = canonical.map(|site| leaked(format!("http://{site}/{page}")));
        let digest = Some(leaked(format!("page {page}")));
        (format!("http://{site}/{page}"), Clues { canonical, digest, ..Clues::default() })
    };
    let rows: Vec<(String, Clues<'static>)> = (0..200)
        .flat_map(|number| {
            let of_victim = page(victim, number, Some(victim));
            [of_victim, page(double, number, Some("evil.com")), page("evil.com", number, None)]
        })
        .collect();
    let own = (200..600).map(|number| page(victim, number, Some(victim)));
    let rows: Vec<(String, Clues<'static>)> = rows.into_iter().chain(own).collect();
    // The double may say of itself what it likes.
    let expected = [(double.into(), "evil.com".into())];
    assert_eq!(mirrors(rows.clone().into_iter()), expected);
    assert_eq!(mirrors(rows.into_iter().rev()), expected);
}

#[test]
fn texts_that_were_chosen_to_have_one_hash_are_two_pages() {
    let texts = ["victim.com", "0ao2kb6em5gh751ywhhgr8jh5iimf707oledgjl3upb6b99y27ayj00f252z.com"];
    assert_eq!(xxh3_64(texts[0].as_bytes()), xxh3_64(texts[1].as_bytes()));
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    for (page, text) in texts.iter().enumerate() {
        for visit in 0..2 {
            let url = format!("http://a.example/{page}?visit={visit}");
            let clues = Clues { digest: Some(text.as_bytes()), ..Clues::default() };
            store.observe(url.as_bytes(), &clues, None).unwrap();
        }
    }
    let corpora = corpora(&store.finish().unwrap());
    assert_eq!((corpora[0].0.len(), corpora[0].0.page_count()), (4, 2));
}

#[test]
fn a_page_that_names_itself_is_no_page_of_another_site() {
    // Somebody has found a way to place redirects, or a second canonical link, on the pages of the victim.
    let placed = (0..200).flat_map(|page| {
        let of = |site: &str| Some(leaked(format!("http://{site}/{page}")));
        let digest = Some(leaked(format!("page {page}")));
        let own = Clues { canonical: of("victim.example"), digest, ..Clues::default() };
        let placed = [
            Clues { canonical: of("evil.example"), digest, ..Clues::default() },
            Clues { redirect: of("evil.example"), status: Some(302), ..Clues::default() },
        ][page % 2];
        let copy = Clues { digest, ..Clues::default() };
        [("victim", own), ("victim", placed), ("evil", copy)]
            .map(|(site, clues)| (format!("http://{site}.example/{page}"), clues))
    });
    assert_eq!(mirrors(placed), []);
}

#[test]
fn a_small_part_of_a_site_in_common_makes_no_mirror() {
    let pages = (0..2_000).map(|page| (format!("http://victim.example/{page}"), format!("page {page}")));
    let copied = (0..30).map(|page| {
        let canonical = Some(leaked(format!("http://victim.example/{page}")));
        let digest = Some(leaked(format!("page {page}")));
        (format!("http://evil.example/{page}"), Clues { canonical, digest, ..Clues::default() })
    });
    let own = (2_000..2_400).map(|page| (format!("http://evil.example/{page}"), format!("junk {page}")));
    assert_eq!(mirrors(pages.chain(own).map(with_digest).chain(copied)), []);
}

#[test]
fn old_addresses_that_lead_to_new_ones_are_mirrors() {
    let page = |page: u64, target: u64| {
        let redirect = Some(leaked(format!("https://new.example/a/{target}")));
        let old = Clues { status: Some(301), redirect, ..Clues::default() };
        let digest = Some(leaked(format!("page {page}")));
        let new = Clues { status: Some(200), digest, ..Clues::default() };
        [(format!("http://old.example/a/{page}"), old), (format!("https://new.example/a/{page}"), new)]
    };
    let expected = [("old.example".into(), "new.example".into())];
    assert_eq!(mirrors((0..50).flat_map(|number| page(number, number))), expected);
    // An old site all of whose pages lead to one page of the new.
    assert_eq!(mirrors((0..50).flat_map(|number| page(number, 0))), []);
}

/// The same page of `b.example` as that of `a.example`, which it names as canonical.
fn declared((url, digest): (String, String)) -> (String, Clues<'static>) {
    let canonical = url.contains("b.example").then(|| leaked(url.replace("b.example", "a.example")));
    (url, Clues { digest: Some(leaked(digest)), canonical, ..Clues::default() })
}

#[test]
fn sites_that_say_the_same_under_every_path_are_no_mirrors() {
    let parked = (0..50).flat_map(|page| {
        ["a.example", "b.example"].map(|site| (format!("http://{site}/{page}"), "for sale".to_owned()))
    });
    assert_eq!(mirrors(parked.map(declared)), []);
}

#[test]
fn sites_that_differ_under_one_path_in_five_are_no_mirrors() {
    let rows = (0..200).flat_map(|page| {
        ["a.example", "b.example"].map(|site| {
            let own = if page % 5 == 0 { site } else { "both" };
            (format!("http://{site}/{page}"), format!("{page} of {own}"))
        })
    });
    assert_eq!(mirrors(rows.map(declared)), []);
}

#[test]
fn a_mirror_may_have_a_section_of_its_own() {
    let rows = (0..200).flat_map(|page| {
        ["a.example", "b.example"].map(|site| {
            let (section, own) = if page % 5 == 0 { ("contact", site) } else { ("docs", "both") };
            (format!("http://{site}/{section}/{page}"), format!("{page} of {own}"))
        })
    });
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default()).with_mirrors();
    for (url, clues) in rows.map(declared) {
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let crawl = store.finish().unwrap();
    let (site, mirror, _) = (0..PARTS).flat_map(|part| crawl.mirrors(part)).next().unwrap();
    assert_eq!((&*site.name, mirror.paths, mirror.failures), ("b.example", 160, 0));
    assert_eq!(mirror.except, ["contact".into()]);
}

#[test]
fn mirrors_do_not_depend_on_the_order() {
    let rows: Vec<(String, Clues<'static>)> = (0..100)
        .flat_map(|page| ["c.b.example", "b.example", "a.example"].map(|site| (page, site)))
        .map(|(page, site)| declared((format!("http://{site}/{page}"), format!("{page}"))))
        .collect();
    for rows in [rows.clone(), rows.into_iter().rev().collect()] {
        assert_eq!(mirrors(rows.into_iter()), [("b.example".into(), "a.example".into())]);
    }
}

#[test]
fn urls_with_too_many_parts_are_counted_and_not_learned_from() {
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
    let mut observe = |url: String| store.observe(url.as_bytes(), &Clues::default(), None).unwrap();
    observe("http://a.example/x?id=1".to_owned());
    observe(format!("http://a.example/x?{}", "a&".repeat(300)));
    observe(format!("http://a.example{}", "/a".repeat(300)));
    observe(format!("http://long.example/x?id={}", "1".repeat(9000)));
    let crawl = store.finish().unwrap();
    assert_eq!((crawl.rows(), crawl.too_long()), (1, 3));
    assert_eq!(crawl.sites().len(), 1);
}

#[test]
fn sightings_of_several_processes_are_those_of_one() {
    let most = thresholds::mirrors::MAX_SIGHTINGS as u64;
    let sighting = |number: u64| PathSighting {
        site: (number % 7) as u32,
        path: xxh3_64(&number.to_le_bytes()),
        section: 7 + (number % 5) as u32,
        seen: Seen::Page(number),
        has_www: number.is_multiple_of(2),
    };
    let note = |numbers: &mut dyn Iterator<Item = u64>| {
        let texts = (0..12).map(|text: u8| format!("text {text:02}").into_bytes().into()).collect();
        let mut sightings: SightingCollector = Sightings { texts, ..Sightings::default() }.into();
        numbers.for_each(|number| sightings.push(sighting(number)));
        sightings.finish()
    };
    let all = note(&mut (0..most + 1000));
    assert_eq!(all.level, 1, "there are too many to be looked at all");
    assert_eq!(all.texts.len(), 12);
    for processes in [2, 3] {
        let mut merged = Sightings::default();
        for process in (0..processes).rev() {
            merged.merge(note(&mut (0..most + 1000).filter(|number| number % processes == process)));
        }
        assert_eq!(merged, all);
    }
    let small = note(&mut (0..100));
    assert_eq!(Sightings::from_bytes(&small.to_bytes()), Some(small));
}
