use super::*;
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

fn corpora(crawl: &StoredCrawl) -> Vec<(Corpus, u64)> {
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

#[test]
fn a_site_of_any_size_gets_its_share() {
    let paper = SampleSize::default();
    let sizes = [(10, 10), (50_000, 50_000), (60_000, 50_000), (350_000, 70_000), (5_000_000, 100_000)];
    for (rows, sample) in sizes {
        assert_eq!(paper.of(rows), sample);
    }
    assert_eq!(SampleSize::new(0.5, 1000).unwrap().of(5000), 1000);
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
    assert_eq!((expected.len(), expected[0].0.len(), expected[0].1), (1, 3000, 3000));
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
