/*!
Passes over a list of URLs, for benchmarks: each returns the bytes written.
*/

use std::hint::black_box;

use dedust::{Normalizer, ParsedUrl, Scratch};

/// Copies in the order of hosts, `www.` left out.
pub fn by_site(urls: &[String]) -> Vec<String> {
    let host = |url: &&String| {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        rest.strip_prefix("www.").unwrap_or(rest).split('/').next().map(str::to_owned)
    };
    let mut urls: Vec<&String> = urls.iter().collect();
    urls.sort_by_cached_key(host);
    urls.into_iter().cloned().collect()
}

pub fn keys(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut written = 0;
    normalizer.each_key(urls.iter().map(|url| url.as_bytes()), &mut Scratch::default(), |_, key| {
        written += key.map_or(0, |key| black_box(key).len());
    });
    written
}

pub fn canonical_urls(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut written = 0;
    normalizer.each_canonical(urls.iter().map(|url| url.as_bytes()), &mut Scratch::default(), |_, url| {
        written += url.map_or(0, |url| black_box(url).len());
    });
    written
}

pub fn safe_tier(urls: &[String]) -> usize {
    let mut parsed = ParsedUrl::default();
    let mut written = 0;
    for url in urls {
        if parsed.parse_from(url.as_bytes()).is_ok() {
            written += black_box(parsed.as_bytes()).len();
        }
    }
    written
}

pub fn one_key_at_a_time(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut scratch = Scratch::default();
    let keys = urls
        .iter()
        .map(|url| normalizer.key_with(url.as_bytes(), &mut scratch).map(|key| black_box(key).len()));
    keys.flatten().sum()
}

pub fn one_url_at_a_time(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut scratch = Scratch::default();
    let urls = urls
        .iter()
        .map(|url| normalizer.normalize_with(url.as_bytes(), &mut scratch).map(|url| black_box(url).len()));
    urls.flatten().sum()
}
