/*!
A site of 100,000 URLs makes a page of less than 3 MB, with all its URLs in it.
*/

use dedust::{Normalizer, RuleSet};
use dedust_learn::Clues;
use dedust_report::page::static_page;
use dedust_report::{ReportBuilder, ReportSettings};

const URLS: u64 = 100_000;

/// A number that looks like chance.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[test]
fn a_page_of_100_000_urls_has_less_than_3_mb() {
    let rules = r#"{"version": 1, "sites": {"shop.example": {"rules": [
        {"change": [{"drop": "q.sid"}], "fetchable": true},
        {"change": [{"drop": "q.utm_source"}], "fetchable": true},
        {"change": [{"map": {"of": "scheme", "values": [{"is": "http", "becomes": "https"}]}}], "fetchable": true}
    ]}}}"#;
    let rules = RuleSet::load(rules.as_bytes()).unwrap();
    let normalizer = Normalizer::compile(&rules);
    let mut builder = ReportBuilder::new(Some(&rules), &normalizer, ReportSettings::default());
    for number in 0..URLS {
        let chance = mixed(number);
        // Every page has two URLs, in no order; a few thousand sessions.
        let page = chance % (URLS / 2);
        let scheme = if chance & 1 << 40 == 0 { "http" } else { "https" };
        let session = match chance >> 41 & 3 {
            0 => format!("&sid={:016x}", mixed(chance >> 20 & 0xfff)),
            1 => format!("&utm_source=letter-{}", chance >> 43 & 31),
            _ => String::new(),
        };
        let url = format!(
            "{scheme}://www.shop.example/catalogue/part-{}/item-{page}.html?view={number}{session}",
            page % 37
        );
        let digest = number.to_string();
        let clues = Clues {
            digest: Some(digest.as_bytes()),
            size: Some(20_000 + chance % 30_000),
            ..Clues::default()
        };
        builder.observe(url.as_bytes(), &clues).unwrap();
    }
    let data = builder.finish();
    let table = data.urls.as_ref().unwrap();
    assert_eq!((table.count, table.left_out), (URLS, 0), "all URLs are in the page");
    let size = static_page(&data).len();
    assert!(size < 3_000_000, "{size} bytes, {} of them URLs", table.bytes.len());
}
