/*!
Clusters to pairs: every URL of a page with the page's canonical one.
*/

use std::cmp::Reverse;

use dedust_learn::Corpus;

use super::language::PaperLanguage;
use super::tokens::tokenize;
use crate::pair::{HeldOut, PairCounts, Pairs, Symbol};

/// The canonical URL among those of one page: fewest tokens, then the most frequent tokens.
///
/// ```
/// use dedust_seq2seq::paper::{PaperLanguage, canonical};
///
/// let urls = ["http://a.example/q/7", "http://a.example/question/7/how", "http://a.example/q/8"];
/// let language = PaperLanguage::new(urls.into_iter());
/// assert_eq!(canonical(&language, &urls[..2]), Some(urls[0]));
/// ```
pub fn canonical<'u>(language: &PaperLanguage, urls: &[&'u str]) -> Option<&'u str> {
    let preference = |url: &&&'u str| {
        let tokens = tokenize(url);
        let sum: u64 = tokens.iter().map(|token| u64::from(language.frequency(token))).sum();
        (tokens.len(), Reverse(sum), url.len(), **url)
    };
    urls.iter().min_by_key(preference).copied()
}

/// The vocabulary and the pairs of a site, one in ten pages held out.
pub fn pairs(corpus: &Corpus, seed: u64) -> (PaperLanguage, Pairs) {
    let text = |row: u32| std::str::from_utf8(corpus.url(row)).unwrap_or_default();
    let mut language = PaperLanguage::new((0..corpus.len() as u32).map(text));
    let mut rows_by_page: Vec<Vec<u32>> = vec![Vec::new(); corpus.page_count()];
    for row in 0..corpus.len() as u32 {
        if let Some(page) = corpus.label(row) {
            rows_by_page[page as usize].push(row);
        }
    }
    let mut url_pairs: Vec<(u32, usize, &str, &str)> = Vec::new();
    for (page, rows) in (0..).zip(&rows_by_page).filter(|(_, rows)| rows.len() >= 2) {
        let urls: Vec<&str> = rows.iter().map(|&row| text(row)).collect();
        if let Some(target) = canonical(&language, &urls) {
            url_pairs.extend(urls.iter().map(|source| (page, urls.len(), *source, target)));
        }
    }
    let foreign: Vec<&str> = url_pairs
        .iter()
        .flat_map(|(_, _, source, target)| {
            let known = tokenize(source);
            let is_foreign = |token: &&str| !language.is_function(token) && !known.contains(token);
            tokenize(target).into_iter().filter(is_foreign).collect::<Vec<_>>()
        })
        .collect();
    language.add_literals(foreign.into_iter());

    let held_out = HeldOut { seed, one_in: 10 };
    let [mut train, mut checks] = [PairCounts::default(), PairCounts::default()];
    let mut pairs = Pairs { observed: url_pairs.len(), ..Pairs::default() };
    for (page, urls, source, target) in url_pairs {
        let masked = language.mask(source).and_then(|source| {
            let target = language.mask_target(target, &source.arguments)?;
            Some((source.words, target))
        });
        match masked {
            None => pairs.unlearnable += 1,
            Some((words, target)) => {
                let side = if held_out.is_held_out(page, urls, source.as_bytes()) {
                    &mut checks
                } else {
                    &mut train
                };
                side.add(&words, target.into_iter().map(Symbol::Word).collect(), 1.0);
            }
        }
    }
    pairs.train = train.into_equal_pairs();
    pairs.held_out = checks.into_equal_pairs();
    (language, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedust_learn::{Clues, Crawl, EvidenceKinds};

    fn corpus(pages: &[(&str, String)]) -> Corpus {
        let mut crawl = Crawl::new(EvidenceKinds::AUTO);
        for (page, url) in pages {
            let clues = Clues { cluster: Some(page.as_bytes()), ..Clues::default() };
            crawl.observe(url.as_bytes(), &clues).unwrap();
        }
        crawl.into_corpora().remove(0)
    }

    #[test]
    fn every_url_of_a_page_is_paired_with_its_canonical_one() {
        let pages: Vec<(String, String)> = (0..300)
            .flat_map(|n| {
                [
                    (format!("{n}"), format!("http://a.example/question/{n}/how-{n}")),
                    (format!("{n}"), format!("http://a.example/q/{n}")),
                    (format!("alone {n}"), format!("http://a.example/tagged/t{n}")),
                ]
            })
            .collect();
        let pages: Vec<(&str, String)> = pages.iter().map(|(page, url)| (&**page, url.clone())).collect();
        let (language, pairs) = pairs(&corpus(&pages), 0);
        let read = |symbols: &[Symbol]| {
            let words: Vec<u32> = symbols
                .iter()
                .map(|symbol| match symbol {
                    Symbol::Word(word) => *word,
                    Symbol::Copy(_) => panic!("the paper does not copy"),
                })
                .collect();
            language.read(&words)
        };
        assert_eq!(pairs.observed, 600, "singletons give no pairs");
        let mut lines: Vec<String> = pairs
            .train
            .iter()
            .map(|pair| format!("{} -> {}", language.read(&pair.source), read(&pair.target)))
            .collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "http: a.example q arg_1 -> http: a.example q arg_1",
                "http: a.example question arg_1 arg_2 -> http: a.example q arg_1",
            ]
        );
    }

    #[test]
    fn constant_targets_become_words_and_looked_up_ones_are_left_out() {
        let set = |name: &str| format!("http://a.example/private-message/set/{name}");
        let mut pages: Vec<(String, String)> =
            (0..40).map(|n| ("login".into(), set(&format!("user{n}")))).collect();
        pages.push(("login".into(), set("anzer")));
        for n in 0..40 {
            pages.push((format!("{n}"), format!("http://a.example/t/prev/{}", 1000 + n)));
            pages.push((format!("{n}"), format!("http://a.example/t/{}.aspx", 2000 + n)));
        }
        let pages: Vec<(&str, String)> = pages.iter().map(|(page, url)| (&**page, url.clone())).collect();
        let (language, pairs) = pairs(&corpus(&pages), 0);
        assert!(language.words().any(|word| word == "anzer"), "all members of one page lead there");
        assert_eq!(
            pairs.unlearnable, 40,
            "of each looked-up page only the target itself can be learned from"
        );
    }
}
