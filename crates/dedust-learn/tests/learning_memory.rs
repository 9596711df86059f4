//! What learning takes in memory from crawls that were made to take much.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Numbers that look random and are the same each time.
fn chance(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

/// Megabytes at the most, and those of the URLs.
fn megabytes_of(rows: u64, sample: SampleSize, url: impl Fn(u64) -> String) -> (f64, f64) {
    ALLOCATED.reset_peak_usage();
    let before = ALLOCATED.current_usage_as_mb();
    let mut store = CrawlStore::new(EvidenceKinds::AUTO, sample).with_mirrors();
    let mut bytes = 0;
    for row in 0..rows {
        let (url, digest) = (url(row), (chance(row) % (rows / 10)).to_string());
        bytes += url.len();
        let clues = Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
        store.observe(url.as_bytes(), &clues, None).unwrap();
    }
    let training = Trainer::builder().build().unwrap().train_stored(&store.finish().unwrap(), &()).unwrap();
    assert_eq!(training.sites[0].rules, 0, "nothing here follows a rule");
    (f64::from(ALLOCATED.peak_usage_as_mb() - before), bytes as f64 / 1e6)
}

/// 120 segments and 100 parameters, none of which says which page it is.
fn wide(row: u64) -> String {
    let part = |at: u64, values: u64| chance(row * 1009 + at) % values;
    let segments: String = (0..120).map(|at| format!("/{}", part(at, 3))).collect();
    let params: Vec<String> =
        (0..100).map(|at| format!("n{}={}", part(200 + at, 40), part(400 + at, 3))).collect();
    format!("http://s.example{segments}?{}", params.join("&"))
}

#[test]
fn urls_of_very_many_parts_take_no_more_memory_than_others() {
    let (most, bytes) = megabytes_of(3_000, SampleSize::default(), wide);
    assert!(most <= 20.0 * bytes, "{most} MB for {bytes} MB of URLs");
}
