/*!
Whether `;` separates query parameters on a site: `?PHPSESSID=x&topic=310.0;topicseen`.

A URL alone does not tell: `?q=tl;dr` has one parameter. But what stands behind a `;` and is a name stands there behind many
different values, and a part of a value stands behind one, or is a number. So `;` is taken for a separator where most of what it is followed by
also stands behind something else. Then all URLs are read that way, and the first rule says so. It changes no URL, and brings
together those that have the same parameters; where these show different pages, it is not made.
*/

use dedust::ParsedUrl;
use dedust::rules::{Change, Evidence, Rule, Trust};
use dedust::support::{Query, Separators};
use foldhash::{HashMap, HashMapExt as _};
use xxhash_rust::xxh3::xxh3_64;

use crate::confidence::failure_bound;
use crate::corpus::Corpus;
use crate::evidence::EvidenceKinds;
use crate::rows::RowBuilder;

/// The corpus with `;` read as `&`, and the rule that says so; `None` if `;` does not separate parameters on this site.
pub(super) fn split(corpus: &Corpus) -> Option<(Corpus, Rule)> {
    let urls = urls_with_semicolons(corpus);
    if !follows_several(corpus, &urls) {
        return None;
    }
    let split = read_again(corpus)?;
    let evidence = evidence(&split, urls.len() as u64)?;
    let rule = Rule { fetchable: true, evidence, ..Rule::new(Change::SplitParams) };
    Some((split, rule))
}

/// The rows with a `;` in the query.
fn urls_with_semicolons(corpus: &Corpus) -> Vec<u32> {
    let has_one = |row: &u32| {
        let url = corpus.url(*row);
        memchr::memchr(b';', url).is_some()
            && Query::in_text(url)
                .is_some_and(|query| query.params().any(|param| param.is_after_semicolon(url)))
    };
    (0..corpus.len() as u32).filter(has_one).collect()
}

/// Whether most names behind a `;` stand behind several different texts.
fn follows_several(corpus: &Corpus, rows: &[u32]) -> bool {
    /// What is known of a name: how often it stands behind a `;`, the text before it, whether there is another, and whether
    /// it is more than a number.
    struct Name {
        count: u64,
        before: u64,
        has_others: bool,
        has_letter: bool,
    }
    let mut names: HashMap<u64, Name> = HashMap::new();
    for &row in rows {
        let url = corpus.url(row);
        let mut before = 0;
        for param in Query::in_text(url).iter().flat_map(Query::params) {
            if param.is_after_semicolon(url) {
                let has_letter = param.name(url).iter().any(u8::is_ascii_alphabetic);
                let first = Name { count: 0, before, has_others: false, has_letter };
                let name = names.entry(xxh3_64(param.name(url))).or_insert(first);
                name.count += 1;
                name.has_others |= name.before != before;
            }
            before = xxh3_64(param.text(url));
        }
    }
    let all: u64 = names.values().map(|name| name.count).sum();
    let is_name = |name: &&Name| name.has_others && name.has_letter;
    let several: u64 = names.values().filter(is_name).map(|name| name.count).sum();
    2 * several > all
}

/// The same URLs, taken apart at `;` too.
fn read_again(corpus: &Corpus) -> Option<Corpus> {
    let mut builder = RowBuilder::new(corpus.site().len(), Separators::Both);
    let mut url = ParsedUrl::default();
    for row in 0..corpus.len() as u32 {
        url.parse_from(corpus.url(row)).ok()?;
        if !builder.push(&url) {
            return None;
        }
    }
    let values = builder.values();
    let RowBuilder { row_pairs, row_ends, keys, pair_keys, pair_values, .. } = builder.sort_keys();
    Some(Corpus { row_pairs, row_ends, keys, pair_keys, pair_values, values, ..corpus.clone() })
}

/// What the pages say of URLs that have the same parameters when `;` separates them; `None` if they are different pages.
fn evidence(split: &Corpus, urls: u64) -> Option<Evidence> {
    let mut first_of_pairs: HashMap<Vec<u32>, u32> = HashMap::new();
    let (mut groups, mut kinds) = (0, EvidenceKinds::NONE);
    for row in (0..split.len() as u32).filter(|&row| split.label(row).is_some()) {
        let mut pairs = split.pairs(row).to_vec();
        pairs.sort_unstable();
        let first = *first_of_pairs.entry(pairs).or_insert(row);
        if first == row {
            continue;
        }
        groups += 1;
        kinds |= split.kinds(row);
        if split.label(first) != split.label(row) && split.are_different(first, row) {
            return None;
        }
    }
    Some(Evidence {
        urls,
        support_pairs: groups,
        groups,
        failure_bound: failure_bound(0, groups),
        kinds: kinds.iter().map(|kind| kind.name().into()).collect(),
        observed_until: split.latest().map(Into::into),
        trust: Some(Trust::Likely),
        ..Evidence::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clues, Crawl};

    fn corpus(urls: impl IntoIterator<Item = (String, String)>) -> Corpus {
        let mut crawl = Crawl::new(EvidenceKinds::AUTO);
        for (page, url) in urls {
            crawl
                .observe(url.as_bytes(), &Clues { cluster: Some(page.as_bytes()), ..Clues::default() })
                .unwrap();
        }
        crawl.into_corpora().remove(0)
    }

    fn forum(separator: char) -> Corpus {
        let topic = |n: u32| {
            let url = format!("http://a.example/?topic={n}");
            [url.clone(), format!("{url}{separator}topicseen"), format!("{url}{separator}topicseen&s=1")]
                .map(|url| (n.to_string(), url))
        };
        corpus((0..20).flat_map(topic))
    }

    #[test]
    fn a_name_behind_many_values_is_separated() {
        let (split, rule) = split(&forum(';')).unwrap();
        assert!(split.keys().iter().any(|key| key.to_string() == "q.topicseen"));
        assert_eq!(rule.to_string(), "`;` separates parameters as `&` does");
        assert!(super::split(&forum(',')).is_none());
    }

    #[test]
    fn a_part_of_a_value_is_not() {
        let search = |n: u32| (n.to_string(), format!("http://a.example/?q=tl;dr&page={n}"));
        assert!(split(&corpus((0..20).map(search))).is_none());
        let point = |n: u32| (n.to_string(), format!("http://a.example/?at={n};{};{}", n % 7, n % 5));
        assert!(split(&corpus((0..40).map(point))).is_none());
    }

    #[test]
    fn different_pages_with_the_same_parameters_speak_against_it() {
        let urls = (0..20).flat_map(|n| {
            [
                (format!("{n} a"), format!("http://a.example/?a={n};b")),
                (format!("{n} b"), format!("http://a.example/?b&a={n}")),
            ]
        });
        assert!(split(&corpus(urls)).is_none());
    }
}
