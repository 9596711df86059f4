/*!
A thousand sites with ten rules each on a million URLs, beside two URL parsers that know no rules.

`cargo bench -p dedust --bench normalize`. Seven in ten URLs are of a form that a rule of their site covers, the others
are [`mixed_urls`] moved to the same hosts. Results are checked before anything is timed.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod mixed_urls;
mod passes;
mod race;
mod site_rules;

use std::collections::HashSet;

use dedust::{Normalizer, ParsedUrl, RuleSet, Scratch};

use self::passes::{bytes_of_all, race_all};
use self::site_rules::{RULES, rule_json};

const SITES: usize = 1000;
const URLS: usize = 1_000_000;

fn main() {
    let normalizer = Normalizer::compile(&rules());
    let urls = urls();
    check(&normalizer, &urls);
    race_all("1000 sites", "rules", &normalizer, &urls);
}

fn site(index: usize) -> String {
    let top_level = ["com", "org", "net", "de", "co.uk"][index % 5];
    format!("site-{index}.{top_level}")
}

fn rules() -> RuleSet {
    let rules = RULES.map(rule_json);
    let site_rules = format!(r#"{{"rules": [{}]}}"#, rules.join(", "));
    let rules_of = |index: usize| site_rules.replace("SITE", &index.to_string());
    let sites: Vec<String> =
        (0..SITES).map(|index| format!(r#""{}": {}"#, site(index), rules_of(index))).collect();
    let file = format!(r#"{{"version": 1, "method": "by hand", "sites": {{{}}}}}"#, sites.join(", "));
    RuleSet::load(file.as_bytes()).expect("the rules are valid")
}

/// The URLs, in no order of sites or forms.
fn urls() -> Vec<String> {
    let mixed = mixed_urls::mixed_urls(URLS * 3 / 10, 11);
    let covered = URLS - mixed.len();
    let mut urls: Vec<String> = (0..covered as u64).map(covered_url).collect();
    urls.extend(mixed.iter().enumerate().map(|(index, url)| {
        let (scheme, rest) = url.split_once("://").expect("every URL has an authority");
        let path = rest.find('/').expect("every URL has a path");
        format!("{scheme}://www.{}{}", site(index % SITES), &rest[path..])
    }));
    // A walk with a step that has no divisor in common with the number of URLs visits each once. Copied, so that
    // they lie in memory in the order in which they are read.
    let step = 611_953;
    (0..URLS).map(|index| urls[index * step % URLS].clone()).collect()
}

/// A URL that one of the rules of its site covers.
fn covered_url(number: u64) -> String {
    let token = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let id = token >> 40;
    let index = (token >> 8) as usize % SITES;
    let site = site(index);
    match number % 10 {
        0 => format!("http://{site}/view.php?sid{index}={token:016x}&id={id}"),
        1 => format!("http://{site}/showthread.php?t={id}&s={token:016x}"),
        2 => format!("http://{site}/index.php?title=The_history_of_{id}"),
        3 => format!("http://www.{site}/wiki/The_history_of_{id}"),
        4 => format!("http://{site}/article/the-{id}-best-guides;jsessionid={token:016X}"),
        5 => format!("http://{site}/news/{id}/print"),
        6 => format!("http://{site}/tag/summer-{}/", id % 100),
        7 => format!("http://{site}/list?category=garden&page={}&view=grid", id % 1000),
        8 => format!("http://{site}/product/tea-kettle-{id}.html?ref=front&utm_source=newsletter"),
        _ => format!("http://{site}/archive/{}-{:02}?sort=date", 1990 + id % 37, 1 + id % 12),
    }
}

/// The counts that the list and the rules must give.
fn check(normalizer: &Normalizer, urls: &[String]) {
    let (mut scratch, mut safe) = (Scratch::default(), ParsedUrl::default());
    let (mut rewritten, mut distinct) = (0, HashSet::new());
    for url in urls {
        safe.parse_from(url.as_bytes()).expect("every URL can be read");
        let canonical = normalizer.normalize_with(url.as_bytes(), &mut scratch);
        rewritten += usize::from(canonical != Ok(safe.as_bytes()));
        distinct.insert(normalizer.key(url).expect("every URL can be read"));
    }
    assert_eq!(
        (rewritten, distinct.len(), bytes_of_all(normalizer, urls)),
        (560_000, 920_853, (55_398_153, 56_658_153)),
        "URLs rewritten, distinct keys, bytes of keys and canonical URLs"
    );
}
