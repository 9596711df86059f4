/*!
Safe normalization of a million mixed URLs against two URL parsers, in one process and in turns.

`cargo bench -p dedust --bench safe_tier`. Every contestant takes a `&str` and leaves the normalized URL as bytes
in a buffer that is reused where its interface allows. The peers do a little less: they keep fragments and decode
no escapes. Results are checked before anything is timed.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod mixed_urls;
mod race;

use std::collections::HashSet;
use std::hint::black_box;

use dedust::ParsedUrl;

use self::race::{ada, race, safe_tier, servo};

const URLS: usize = 1_000_000;
const ROUNDS: usize = 9;

fn main() {
    let urls = mixed_urls::mixed_urls(URLS, 7);
    check(&urls);

    race(
        "mixed",
        &urls,
        ROUNDS,
        &[
            ("dedust, buffer reused", &safe_tier),
            ("dedust, new value per URL", &dedust_new),
            ("ada-url", &ada),
            ("url", &servo),
        ],
        ["reused", "new"],
    );
}

fn dedust_new(urls: &[String]) -> usize {
    urls.iter().filter_map(|url| ParsedUrl::parse(url).ok()).map(|url| black_box(url.as_bytes()).len()).sum()
}

/// The counts that the list and the three normalizers must give.
fn check(urls: &[String]) {
    let distinct = |normalize: &dyn Fn(&String) -> Option<String>| {
        urls.iter().filter_map(normalize).collect::<HashSet<_>>().len()
    };
    let ours = |url: &String| {
        let parsed = ParsedUrl::parse(url).ok()?;
        Some(String::from_utf8(parsed.as_bytes().to_vec()).expect("the list is valid UTF-8"))
    };
    let unchanged = urls.iter().filter(|url| ours(url).as_ref() == Some(*url)).count();
    let disagreeing = urls.iter().filter(|url| {
        let peer = ada_url::Url::parse(url, None).ok().map(|url| url.href().to_owned());
        // What the peer leaves to do: escapes, the fragment.
        ours(url) != peer.as_deref().and_then(|peer| ours(&peer.to_owned()))
    });
    assert_eq!(disagreeing.count(), 0, "URLs that a peer's reading changes");
    assert_eq!(unchanged, 914_530, "URLs in normal form");
    let distinct_urls = (distinct(&|url| Some(url.clone())), distinct(&ours));
    assert_eq!(
        (distinct_urls, safe_tier(urls)),
        ((999_833, 999_807), 84_586_025),
        "distinct URLs before and after, bytes after"
    );
}
