/*!
Clusters to pairs: every URL of a page with a form of it that a translation can lead to.

The target of a page is chosen as in the paper: fewest tokens, then the form that most URLs have. URLs whose arguments do
not hold those of the target cannot be translated to it (`/?p=7` knows nothing of `/2026/some-words`); they get a target of
their own, and the page counts as several.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::language::{Language, Word, is_argument, words_of};
use super::site::Site;
use crate::pair::{HeldOut, PairCounts, Pairs, Symbol};

/// How much a URL that stands alone says about leaving it alone. Little: its duplicates may not have been crawled.
const ALONE: f64 = 0.1;
/// Targets that one page may have.
const MAX_TARGETS: usize = 16;
/// Pairs that must lead to an argument that is not in their source, to make it a word.
const MIN_LITERAL: u32 = 10;
/// One page in so many is held out.
pub(super) const HELD_OUT: u64 = 2;

/// The pairs of a site. Adds words to its language that only targets have.
pub fn pairs(site: &mut Site<'_>, seed: u64) -> Pairs {
    let pages: Vec<Page> = site.rows_by_page().into_iter().map(|rows| Page::new(site, rows)).collect();
    let mut foreign: BTreeMap<Word, u32> = BTreeMap::new();
    for page in &pages {
        for &(source, target) in &page.apart {
            if let Err(words) = translation(site, source, target) {
                for word in words {
                    *foreign.entry(word).or_default() += 1;
                }
            }
        }
    }
    for (word, _) in foreign.into_iter().filter(|(_, count)| *count >= MIN_LITERAL) {
        site.language.add_literal(word);
    }

    let held_out = HeldOut { seed, one_in: HELD_OUT };
    let [mut train, mut checks] = [PairCounts::default(), PairCounts::default()];
    let mut pairs = Pairs::default();
    for (number, page) in (0..).zip(&pages) {
        let mut add = |source: u32, target: Vec<Symbol>, weight: f64| {
            let Some(template) = site.template_of[source as usize] else { return };
            let is_held_out = held_out.is_held_out(number, page.urls, site.corpus.url(source));
            let side = if is_held_out { &mut checks } else { &mut train };
            side.add(&site.templates[template as usize].words, target, weight);
        };
        for &(source, target) in &page.joined {
            if let Ok(symbols) = translation(site, source, target) {
                pairs.observed += 1;
                add(source, symbols, 1.0);
            }
        }
        for &(source, target) in &page.apart {
            match translation(site, source, target) {
                // Whether it stands for a page of its own, or its duplicates were not crawled, is not known.
                Ok(symbols) if page.urls == 1 => add(source, symbols, ALONE),
                Ok(symbols) => {
                    pairs.observed += 1;
                    add(source, symbols, 1.0);
                }
                Err(_) => {
                    pairs.unlearnable += usize::from(source != target);
                    if let Ok(symbols) = translation(site, source, source) {
                        add(source, symbols, ALONE);
                    }
                }
            }
        }
    }
    pairs.train = train.into_pairs();
    pairs.held_out = checks.into_pairs();
    pairs
}

/// The URLs of one page, each with its target.
struct Page {
    urls: usize,
    /// Those that parts of them lead to.
    joined: Vec<(u32, u32)>,
    /// Those that lead to no other URL of the page, with the URL that would be best.
    apart: Vec<(u32, u32)>,
}

impl Page {
    fn new(site: &Site<'_>, rows: Vec<u32>) -> Self {
        let mut page = Self { urls: rows.len(), joined: Vec::new(), apart: Vec::new() };
        let mut rest = by_preference(site, rows);
        let Some(&best) = rest.first() else { return page };
        for _ in 0..MAX_TARGETS {
            let Some(&target) = rest.first() else { break };
            let (sources, left): (Vec<u32>, Vec<u32>) =
                rest.into_iter().partition(|&source| translation(site, source, target).is_ok());
            let list = if sources.len() > 1 { &mut page.joined } else { &mut page.apart };
            let target = if sources.len() > 1 { target } else { best };
            list.extend(sources.into_iter().map(|source| (source, target)));
            rest = left;
        }
        page.apart.extend(rest.into_iter().map(|source| (source, best)));
        page
    }
}

/// The rows that have templates, the best target first.
fn by_preference(site: &Site<'_>, mut rows: Vec<u32>) -> Vec<u32> {
    let template =
        |row: u32| site.template_of[row as usize].map(|template| &site.templates[template as usize]);
    rows.retain(|&row| template(row).is_some());
    rows.sort_by_cached_key(|&row| {
        let (tokens, urls) =
            template(row).map_or((0, 0), |template| (template.words.len(), template.rows.len()));
        let url = site.corpus.url(row);
        (tokens, Reverse(urls), url.len(), url.to_vec())
    });
    rows
}

/// How to get from one URL to another; the words that are missing, if there is no way.
fn translation(site: &Site<'_>, source: u32, target: u32) -> Result<Vec<Symbol>, Vec<Word>> {
    let encode = |row: u32| site.language.encode(&site.parts[row as usize]).unwrap_or_default();
    let sources: Vec<(u32, u16)> = encode(source);
    let (source, target_parts) = (&site.parts[source as usize], &site.parts[target as usize]);
    let mut missing = Vec::new();
    let mut symbols = Vec::new();
    for (word, place) in encode(target) {
        if !is_argument(word) {
            symbols.push(Symbol::Word(word));
            continue;
        }
        let (key, value) = &target_parts[usize::from(place)];
        // The word before a value is its name and comes from the same place.
        let stands_at = |at: usize, is_wanted: bool| {
            let (word, place) = sources[at];
            is_argument(word) == is_wanted
                && source[usize::from(place)].1 == *value
                && !matches!(site.language.word(word), Some(Word::Name(_) | Word::Slash | Word::Scheme(_)))
        };
        let same_key = (0..sources.len())
            .find(|&at| stands_at(at, true) && source[usize::from(sources[at].1)].0 == *key);
        let copied = same_key
            .or_else(|| (0..sources.len()).find(|&at| stands_at(at, true)))
            .or_else(|| (0..sources.len()).find(|&at| stands_at(at, false)));
        match copied {
            Some(at) => symbols.push(Symbol::Copy(at as u16)),
            None => match literal(&site.language, key, value) {
                Ok(id) => symbols.push(Symbol::Word(id)),
                Err(word) => missing.extend(word),
            },
        }
    }
    if missing.is_empty() { Ok(symbols) } else { Err(missing) }
}

/// The word for a value that is an argument in sources.
fn literal(
    language: &Language,
    key: &dedust::rules::UrlPart,
    value: &dedust::rules::Value,
) -> Result<u32, Option<Word>> {
    let [first, second] = words_of(key, value);
    let word = second.or(first);
    word.as_ref().and_then(|word| language.id(word)).ok_or(word)
}
