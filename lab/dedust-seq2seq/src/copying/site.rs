/*!
A site's URLs as templates with arguments.
*/

use std::collections::BTreeMap;

use dedust::ParsedUrl;
use dedust::rules::{UrlPart, Value, tokenize};
use dedust_learn::Corpus;

use super::language::{Language, is_argument};

/// The parts of a URL, in the order of [`UrlPart`].
pub type Parts = Vec<(UrlPart, Value)>;

/// The URLs of a site, as far as they have templates.
#[derive(Debug)]
pub struct Site<'c> {
    pub(super) corpus: &'c Corpus,
    /// The words.
    pub language: Language,
    /// By row.
    pub(super) parts: Vec<Parts>,
    /// By row; `None` where a name is no word.
    pub(super) template_of: Vec<Option<u32>>,
    /// In the order of their words.
    pub templates: Vec<Template>,
}

/// What URLs have in common that differ in their arguments only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Numbers of words.
    pub words: Vec<u32>,
    /// The keys that the words come from.
    pub keys: Vec<UrlPart>,
    /// The URLs, by row.
    pub rows: Vec<u32>,
}

/// The parts of a URL in the order of their keys; `None` if rules cannot speak of it.
pub fn parts_of(url: &[u8], domain: &str) -> Option<Parts> {
    let parsed = ParsedUrl::parse(url).ok()?;
    let mut parts = tokenize(&parsed, domain)?;
    parts.sort();
    Some(parts)
}

impl<'c> Site<'c> {
    /// Reads the URLs of a corpus.
    pub fn new(corpus: &'c Corpus) -> Self {
        let parts: Vec<Parts> = (0..corpus.len() as u32)
            .map(|row| parts_of(corpus.url(row), corpus.site()).unwrap_or_default())
            .collect();
        let language = Language::new(parts.iter().map(Vec::as_slice));
        let mut rows_by_template: BTreeMap<Vec<u32>, (Vec<u16>, Vec<u32>)> = BTreeMap::new();
        for (row, parts) in (0..).zip(&parts) {
            if let Some(encoded) = language.encode(parts).filter(|words| !words.is_empty()) {
                let (words, places): (Vec<u32>, Vec<u16>) = encoded.into_iter().unzip();
                rows_by_template.entry(words).or_insert_with(|| (places, Vec::new())).1.push(row);
            }
        }
        let mut template_of = vec![None; corpus.len()];
        let mut templates = Vec::new();
        for (words, (places, rows)) in rows_by_template {
            for &row in &rows {
                template_of[row as usize] = Some(templates.len() as u32);
            }
            let first = &parts[rows[0] as usize];
            let keys = places.iter().map(|&place| first[usize::from(place)].0.clone()).collect();
            templates.push(Template { words, keys, rows });
        }
        Self { corpus, language, parts, template_of, templates }
    }

    /// The value of a key in a row.
    pub(super) fn value(&self, row: u32, key: &UrlPart) -> Option<&Value> {
        let parts = &self.parts[row as usize];
        parts.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|at| &parts[at].1)
    }

    /// The rows of every page, by page.
    pub(super) fn rows_by_page(&self) -> Vec<Vec<u32>> {
        let mut rows_by_page = vec![Vec::new(); self.corpus.page_count()];
        for row in 0..self.corpus.len() as u32 {
            if let Some(page) = self.corpus.label(row) {
                rows_by_page[page as usize].push(row);
            }
        }
        rows_by_page
    }
}

impl Template {
    /// The template of a URL whose parts these are; `None` if it has a name that is no word.
    pub fn of(language: &Language, parts: &Parts) -> Option<Self> {
        let (words, places): (Vec<u32>, Vec<u16>) = language.encode(parts)?.into_iter().unzip();
        let keys = places.iter().map(|&place| parts[usize::from(place)].0.clone()).collect();
        (!words.is_empty()).then_some(Self { words, keys, rows: Vec::new() })
    }

    /// The keys whose values are arguments, in the order of the URL.
    pub fn argument_keys(&self) -> impl Iterator<Item = &UrlPart> {
        self.words.iter().zip(&self.keys).filter(|(word, _)| is_argument(**word)).map(|(_, key)| key)
    }
}
