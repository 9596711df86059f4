/*!
States that were left at any point, as a process leaves them that is killed, go on as if nothing had been.
*/

use std::fs;
use std::path::Path;

use dedust_live::errors::LiveError;
use dedust_live::{LiveCrawl, LiveOptions, Verdict};

use crate::crawler::{Crawler, chance, value};

fn url(number: usize) -> String {
    format!("http://shop.example/item?id={}&sid={}", number / 4, 1000 + chance(number, 90_000))
}

fn page(url: &str) -> String {
    format!("item {}", value(url, "id"))
}

/// A folder as the system has it now: what a process that is killed now leaves behind.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_crawl_that_is_killed_again_and_again_is_the_crawl_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // With the same secret, the same URLs are audited.
    drop(LiveCrawl::open(&path("empty"), LiveOptions::default()).unwrap());
    copy(&path("empty"), &path("whole"));
    copy(&path("empty"), &path("0"));
    let site = |url: &str, _| page(url);
    let urls: Vec<String> = (0..2000).map(url).collect();
    let mut whole = Crawler::open(&path("whole"), &site);
    whole.run(&urls);

    let mut killed = Crawler::open(&path("0"), &site);
    for (number, batch) in urls.chunks(50).enumerate() {
        killed.batch(batch);
        if number % 3 == 0 {
            let (from, to) = (path(&(number / 3).to_string()), path(&(number / 3 + 1).to_string()));
            copy(&from, &to);
            let Crawler { fetched, asked, verdicts, returned, .. } = killed;
            killed = Crawler { fetched, asked, verdicts, returned, ..Crawler::open(&to, &site) };
            // Nothing that was observed is asked for again.
            for url in killed.fetched.keys() {
                assert_eq!(killed.crawl.admit(url.as_bytes()).unwrap().verdict, Verdict::Skip, "{url}");
            }
        }
    }
    let differs = killed.verdicts.iter().zip(&whole.verdicts).position(|(one, two)| one != two);
    assert_eq!((differs, killed.verdicts.len()), (None, whole.verdicts.len()));
    assert_eq!(killed.lost(page), (0, 500));
    assert_eq!(killed.rules(), whole.rules());
}

#[test]
fn what_was_in_flight_is_admitted_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut crawl = LiveCrawl::open(&path("state"), LiveOptions::default()).unwrap();
    let url = b"http://a.example/?a=1&b=2";
    assert_eq!(crawl.admit(url).unwrap().verdict, Verdict::Fetch);
    assert_eq!(crawl.admit(url).unwrap().verdict, Verdict::Skip);
    crawl.save().unwrap();
    copy(&path("state"), &path("copy"));
    let mut crawl = LiveCrawl::open(&path("copy"), LiveOptions::default()).unwrap();
    assert_eq!(crawl.admit(b"http://a.example/?b=2&a=1").unwrap().verdict, Verdict::Skip);
    assert_eq!(crawl.admit(url).unwrap().verdict, Verdict::Fetch);
}

#[test]
fn a_fetch_that_failed_gives_its_page_to_another_url() {
    let folder = tempfile::tempdir().unwrap();
    let mut crawl = LiveCrawl::open(&folder.path().join("state"), LiveOptions::default()).unwrap();
    let (one, two, three) =
        (b"http://a.example/?a=1&b=2", b"http://a.example/?b=2&a=1", b"http://a.example/?b=2&&a=1#top");
    assert_eq!(crawl.admit(one).unwrap().verdict, Verdict::Fetch);
    assert_eq!(crawl.admit(two).unwrap().verdict, Verdict::Skip);
    crawl.fail(one).unwrap();
    assert_eq!(crawl.returned(10).unwrap(), ["http://a.example/?b=2&a=1"]);
    assert_eq!(crawl.returned(10).unwrap(), [] as [&str; 0], "each is handed out once");
    let other = crawl.admit(three).unwrap();
    assert_eq!(other.verdict == Verdict::Fetch, other.key != b"http://a.example/?a=1&b=2");
}

#[test]
fn sites_that_memory_has_no_room_for_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = LiveOptions::default();
    (options.held_bytes, options.journal_bytes) = (10_000, 20_000);
    let mut crawl = LiveCrawl::open(&folder.path().join("state"), options).unwrap();
    let url = |number: usize| format!("http://s{}.example/{number}", number % 50);
    for number in 0..5000 {
        assert_eq!(crawl.admit(url(number).as_bytes()).unwrap().verdict, Verdict::Fetch);
        crawl.save().unwrap();
    }
    assert!(crawl.status().sites < 50, "some were put away");
    for number in 0..5000 {
        assert_eq!(crawl.admit(url(number).as_bytes()).unwrap().verdict, Verdict::Skip, "{number}");
        crawl.save().unwrap();
    }
}

#[test]
fn a_state_is_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let open = || LiveCrawl::open(&folder.path().join("state"), LiveOptions::default());
    let first = open().unwrap();
    assert!(matches!(open(), Err(LiveError::InUse { .. })));
    drop(first);
    assert!(open().is_ok());
}
