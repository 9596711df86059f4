/*!
A thousand sites with the rules that the default method learns on a million URLs, beside two URL parsers that know no
rules.

`cargo bench -p dedust --bench rules`. The rules are those that were learned on six kinds of applications, with one
parameter of its own for each site; the URLs are those of these applications, with [`mixed_urls`] moved to the same hosts.
Results are checked before anything is timed.

The variables `DEDUST_BENCH_RULES` and `DEDUST_BENCH_URLS` name a rule file and a list of URLs to be used instead.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod learned_sites;
mod mixed_urls;
mod passes;
mod race;

use std::collections::HashSet;

use dedust::{Normalizer, ParsedUrl, RuleSet, Scratch};

use self::passes::{bytes_of_all, race_all};

const URLS: usize = 1_000_000;

fn main() {
    let (rules, urls) = match (std::env::var("DEDUST_BENCH_RULES"), std::env::var("DEDUST_BENCH_URLS")) {
        (Ok(rules), Ok(urls)) => (read_rules(&rules), read_urls(&urls)),
        _ => (learned_sites::rules(), learned_sites::urls(URLS)),
    };
    let normalizer = Normalizer::compile(&rules);
    let counts = check(&normalizer, &urls);
    if std::env::var_os("DEDUST_BENCH_RULES").is_none() {
        assert_eq!(
            counts,
            (804_691, 679_917, 923_571),
            "URLs with another key, with another canonical URL, distinct keys"
        );
    }
    race_all("1000 sites with rules", "rules", &normalizer, &urls);
}

fn read_rules(path: &str) -> RuleSet {
    let file = std::fs::File::open(path).expect("a rule file");
    RuleSet::load(std::io::BufReader::new(file)).expect("rules that can be read")
}

fn read_urls(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a list of URLs");
    text.lines().map(str::to_owned).collect()
}

/// How many URLs get another key and another canonical URL, and how many keys there are. Both ways to ask must give the
/// same.
fn check(normalizer: &Normalizer, urls: &[String]) -> (usize, usize, usize) {
    let (mut scratch, mut safe) = (Scratch::default(), ParsedUrl::default());
    let no_rules = Normalizer::default();
    let (mut rewritten, mut rekeyed, mut read, mut distinct) = (0, 0, 0, HashSet::new());
    for url in urls {
        if safe.parse_from(url.as_bytes()).is_err() {
            continue;
        }
        read += 1;
        rewritten +=
            usize::from(normalizer.normalize_with(url.as_bytes(), &mut scratch) != Ok(safe.as_bytes()));
        let key = normalizer.key(url).expect("it was read before");
        rekeyed += usize::from(no_rules.key(url) != Ok(key.clone()));
        distinct.insert(key);
    }
    bytes_of_all(normalizer, urls);
    println!(
        "{} sites, {} rules; of {read} URLs {rekeyed} get another key and {rewritten} another canonical URL; {} distinct keys",
        normalizer.site_count(),
        normalizer.rule_count(),
        distinct.len()
    );
    (rekeyed, rewritten, distinct.len())
}
