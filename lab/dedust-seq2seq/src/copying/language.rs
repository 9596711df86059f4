/*!
The words of a site, and URLs as sequences of them.
*/

use std::collections::BTreeMap;

use dedust::rules::{UrlPart, Value};
use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use crate::pair::END;

/// One word of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Ends every sequence.
    End,
    /// A host label that is no word.
    AnyLabel,
    /// A path segment that is no word.
    AnySegment,
    /// A value that is no word.
    AnyValue,
    /// A scheme.
    Scheme(Box<str>),
    /// A host label.
    Label(Box<str>),
    /// A path segment.
    Segment(Box<str>),
    /// The slash at the end of a path.
    Slash,
    /// A parameter, or any other key that stands before its value.
    Name(UrlPart),
    /// The value of such a key.
    Value(UrlPart, Value),
}

/// Share of the URLs that must have a segment or label, or of those with the name that must have a value.
const MIN_SHARE: f64 = 0.01;
/// The same for numbers: few of them mean something by themselves. Those in paths never do.
const MIN_NUMBER_SHARE: f64 = 0.05;
/// URLs that must have a word in any case.
const MIN_URLS: u32 = 5;
/// Words of a site, at most: the most frequent ones.
const MAX_WORDS: usize = 2000;

/// The words of a site by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedLanguage", into = "SavedLanguage")]
pub struct Language {
    words: Vec<Word>,
    ids: HashMap<Word, u32>,
    /// Words from here on stand in targets only.
    literals_from: usize,
}

/// What is saved of a language.
#[derive(Serialize, Deserialize)]
struct SavedLanguage {
    words: Vec<Word>,
    literals_from: usize,
}

impl From<SavedLanguage> for Language {
    fn from(SavedLanguage { words, literals_from }: SavedLanguage) -> Self {
        let ids = words.iter().cloned().zip(0..).collect();
        Self { literals_from: literals_from.min(words.len()), words, ids }
    }
}

impl From<Language> for SavedLanguage {
    fn from(Language { words, literals_from, .. }: Language) -> Self {
        Self { words, literals_from }
    }
}

/// The arguments, in the order of their numbers: right after the end.
const ARGUMENTS: [Word; 3] = [Word::AnyLabel, Word::AnySegment, Word::AnyValue];

impl Language {
    /// Learns the words of a site from the key-value pairs of its URLs.
    pub(super) fn new<'u>(urls: impl Iterator<Item = &'u [(UrlPart, Value)]>) -> Self {
        let mut counts: BTreeMap<Word, u32> = BTreeMap::new();
        let mut total = 0;
        for pairs in urls {
            total += 1;
            let mut words: Vec<Word> =
                pairs.iter().flat_map(|(key, value)| words_of(key, value)).flatten().collect();
            words.sort_unstable();
            words.dedup();
            for word in words {
                *counts.entry(word).or_default() += 1;
            }
        }
        let names: HashMap<UrlPart, u32> = counts
            .iter()
            .filter_map(|(word, &count)| match word {
                Word::Name(key) => Some((key.clone(), count)),
                _ => None,
            })
            .collect();
        let is_word = |word: &Word, count: u32| {
            let share = |of: u32, min: f64| count >= MIN_URLS && f64::from(count) >= min * f64::from(of);
            match word {
                Word::Segment(text) if is_number(text) => false,
                Word::Label(_) | Word::Segment(_) => share(total, MIN_SHARE),
                Word::Value(_, Value::Bare) => true,
                Word::Value(key, value) => {
                    let is_number = value.as_text().is_some_and(is_number);
                    share(
                        names.get(key).copied().unwrap_or(0),
                        if is_number { MIN_NUMBER_SHARE } else { MIN_SHARE },
                    )
                }
                Word::Name(_) => count >= MIN_URLS,
                _ => true,
            }
        };
        let mut chosen: Vec<(u32, Word)> = counts
            .into_iter()
            .filter(|(word, count)| is_word(word, *count))
            .map(|(word, count)| (count, word))
            .collect();
        chosen.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        chosen.truncate(MAX_WORDS);
        chosen.sort_by(|a, b| a.1.cmp(&b.1));
        let mut language = Self::default();
        for word in
            std::iter::once(Word::End).chain(ARGUMENTS).chain(chosen.into_iter().map(|(_, word)| word))
        {
            language.add(word);
        }
        language.literals_from = language.words.len();
        language
    }

    fn add(&mut self, word: Word) {
        if !self.ids.contains_key(&word) {
            self.ids.insert(word.clone(), self.words.len() as u32);
            self.words.push(word);
        }
    }

    /// Adds a word that stands in targets only.
    pub(super) fn add_literal(&mut self, word: Word) {
        self.add(word);
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// A word by its number.
    pub fn word(&self, id: u32) -> Option<&Word> {
        self.words.get(id as usize)
    }

    /// The words by number.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The words that stand in sources too.
    pub(super) fn source_words(&self) -> &[Word] {
        &self.words[..self.literals_from]
    }

    /// The number of a word.
    pub(super) fn id(&self, word: &Word) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// The number of a word of sources.
    fn source_id(&self, word: &Word) -> Option<u32> {
        self.id(word).filter(|&id| (id as usize) < self.literals_from)
    }

    /// A URL as words, each with the place among `pairs` it comes from; `None` if it has a name that is no word.
    pub(super) fn encode(&self, pairs: &[(UrlPart, Value)]) -> Option<Vec<(u32, u16)>> {
        let mut encoded = Vec::with_capacity(pairs.len() + 2);
        for ((key, value), place) in pairs.iter().zip(0u16..) {
            encoded
                .extend(self.encode_part(key, Some(value))?.into_iter().flatten().map(|word| (word, place)));
        }
        Some(encoded)
    }

    /// The one or two words of a key with its value, or with any value.
    pub(super) fn encode_part(&self, key: &UrlPart, value: Option<&Value>) -> Option<[Option<u32>; 2]> {
        let argument = match key {
            UrlPart::Scheme | UrlPart::TrailingSlash => None,
            UrlPart::Subdomain(_) => Some(1),
            UrlPart::PathSegment(_) => Some(2),
            _ => Some(3),
        };
        let [first, second] = words_of(key, value.unwrap_or(&Value::Bare));
        let of_value = |word: &Word| value.and_then(|_| self.source_id(word)).or(argument);
        let (first, second) = match (&first, &second) {
            (Some(name), Some(word)) => (self.source_id(name), of_value(word)),
            (Some(word), None) => return Some([Some(of_value(word)?), None]),
            _ => return None,
        };
        Some([Some(first?), Some(second?)])
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word stands for any value.
pub(super) fn is_argument(word: u32) -> bool {
    word != END && word <= ARGUMENTS.len() as u32
}

/// One or two words for each key with its value.
pub(super) fn words_of(key: &UrlPart, value: &Value) -> [Option<Word>; 2] {
    let text = || value.as_text().unwrap_or_default().into();
    match key {
        UrlPart::Scheme => [Some(Word::Scheme(text())), None],
        UrlPart::Subdomain(_) => [Some(Word::Label(text())), None],
        UrlPart::PathSegment(_) => [Some(Word::Segment(text())), None],
        UrlPart::TrailingSlash => [Some(Word::Slash), None],
        _ => [Some(Word::Name(key.clone())), Some(Word::Value(key.clone(), value.clone()))],
    }
}
