/*!
Passes over a list of URLs, for benchmarks: each returns the bytes written.
*/

use std::hint::black_box;

use dedust::{Normalizer, Scratch};

use crate::race::{Contestant, ada, race, safe_tier, servo};

const ROUNDS: usize = 9;

/// The bytes of all keys and of all canonical URLs. Many at a time and one by one must be the same.
pub fn bytes_of_all(normalizer: &Normalizer, urls: &[String]) -> (usize, usize) {
    let bytes = (keys(normalizer, urls), canonical_urls(normalizer, urls));
    assert_eq!(bytes, (one_key_at_a_time(normalizer, urls), one_url_at_a_time(normalizer, urls)));
    assert_eq!(bytes.0 + bytes.1, both(normalizer, urls));
    bytes
}

/// Lets keys and canonical URLs race against two URL parsers, on a list in no order and site by site.
pub fn race_all(list: &str, what: &str, normalizer: &Normalizer, urls: &[String]) {
    let no_rules = Normalizer::default();
    let contestants: [Contestant<'_>; 9] = [
        ("dedust, keys", &|urls| keys(normalizer, urls)),
        ("dedust, canonical URLs", &|urls| canonical_urls(normalizer, urls)),
        ("dedust, both", &|urls| both(normalizer, urls)),
        ("dedust, one key at a time", &|urls| one_key_at_a_time(normalizer, urls)),
        ("dedust, one URL at a time", &|urls| one_url_at_a_time(normalizer, urls)),
        ("dedust, keys, no rules", &|urls| one_key_at_a_time(&no_rules, urls)),
        ("dedust, safe tier alone", &safe_tier),
        ("ada-url, no rules", &ada),
        ("url, no rules", &servo),
    ];
    println!("Sites in no order, so that the {what} of most URLs are not in the cache:");
    race(&format!("{list} in no order"), urls, ROUNDS, &contestants, ["key", "canonical"]);
    println!("\nSite by site:");
    race(&format!("{list} one by one"), &by_site(urls), ROUNDS, &contestants, ["key", "canonical"]);
}

/// Copies in the order of hosts, `www.` left out.
fn by_site(urls: &[String]) -> Vec<String> {
    let host = |url: &&String| {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        rest.strip_prefix("www.").unwrap_or(rest).split('/').next().map(str::to_owned)
    };
    let mut urls: Vec<&String> = urls.iter().collect();
    urls.sort_by_cached_key(host);
    urls.into_iter().cloned().collect()
}

fn keys(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut written = 0;
    normalizer.each_key(urls.iter().map(|url| url.as_bytes()), &mut Scratch::default(), |_, key| {
        written += key.map_or(0, |key| black_box(key).len());
    });
    written
}

fn canonical_urls(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut written = 0;
    normalizer.each_canonical(urls.iter().map(|url| url.as_bytes()), &mut Scratch::default(), |_, url| {
        written += url.map_or(0, |url| black_box(url).len());
    });
    written
}

fn both(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut written = 0;
    normalizer.each_both(urls.iter().map(|url| url.as_bytes()), &mut Scratch::default(), |_, both| {
        written += both.map_or(0, |both| black_box(both.key).len() + black_box(both.canonical).len());
    });
    written
}

fn one_key_at_a_time(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut scratch = Scratch::default();
    let keys = urls
        .iter()
        .map(|url| normalizer.key_with(url.as_bytes(), &mut scratch).map(|key| black_box(key).len()));
    keys.flatten().sum()
}

fn one_url_at_a_time(normalizer: &Normalizer, urls: &[String]) -> usize {
    let mut scratch = Scratch::default();
    let urls = urls
        .iter()
        .map(|url| normalizer.normalize_with(url.as_bytes(), &mut scratch).map(|url| black_box(url).len()));
    urls.flatten().sum()
}
