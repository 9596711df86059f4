/*!
The vocabulary of a site, and URLs with their arguments replaced by placeholders.
*/

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::tokens::{is_delimiter, tokenize};
use crate::pair::END;

/// A URL with more arguments is not translated.
pub const MAX_ARGUMENTS: usize = 20;

/// Share of the URLs that must have a token to make it a function.
const MIN_SHARE: f64 = 0.01;

/// Targets of the site that must have an argument to make it a word.
const MIN_TARGETS: u32 = 2;

/// The words of a site: the end, placeholders, functions, and arguments that targets share.
#[derive(Clone, Debug, Default)]
pub struct PaperLanguage {
    /// By number.
    words: Vec<Box<str>>,
    functions: HashMap<Box<str>, u32>,
    literals: HashMap<Box<str>, u32>,
    /// URLs that have a token.
    frequencies: HashMap<Box<str>, u32>,
}

/// A URL whose arguments are replaced by placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked<'u> {
    /// Numbers of words.
    pub words: Vec<u32>,
    /// What the placeholders stand for: `arg_1` first.
    pub arguments: Vec<&'u str>,
}

impl PaperLanguage {
    /// Learns which tokens are functions.
    pub fn new<'u>(urls: impl Iterator<Item = &'u str>) -> Self {
        let mut frequencies: HashMap<Box<str>, u32> = HashMap::default();
        let mut count = 0u32;
        for url in urls {
            count += 1;
            let tokens: BTreeSet<&str> = tokenize(url).into_iter().collect();
            for token in tokens {
                match frequencies.get_mut(token) {
                    Some(frequency) => *frequency += 1,
                    None => {
                        frequencies.insert(token.into(), 1);
                    }
                }
            }
        }
        let is_function = |token: &str, frequency: u32| {
            is_delimiter(token) || f64::from(frequency) >= MIN_SHARE * f64::from(count)
        };
        let functions: BTreeSet<&str> = frequencies
            .iter()
            .filter(|(token, frequency)| is_function(token, **frequency))
            .map(|(token, _)| &**token)
            .collect();
        let mut words: Vec<Box<str>> = vec!["<EOS>".into()];
        words.extend((1..=MAX_ARGUMENTS).map(|n| format!("arg_{n}").into_boxed_str()));
        let first = words.len() as u32;
        words.extend(functions.iter().map(|token| Box::from(*token)));
        let functions = functions.iter().zip(first..).map(|(token, id)| (Box::from(*token), id)).collect();
        Self { words, functions, literals: HashMap::default(), frequencies }
    }

    /// Makes words of the arguments that enough of these targets have and their sources do not.
    pub(super) fn add_literals<'u>(&mut self, foreign: impl Iterator<Item = &'u str>) {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for argument in foreign {
            *counts.entry(argument).or_default() += 1;
        }
        for (argument, _) in counts.into_iter().filter(|(_, count)| *count >= MIN_TARGETS) {
            self.literals.insert(argument.into(), self.words.len() as u32);
            self.words.push(argument.into());
        }
    }

    /// The number of words, the end and all placeholders among them.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words by number.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }

    /// A word by its number.
    pub(super) fn word(&self, word: u32) -> Option<&str> {
        self.words.get(word as usize).map(|word| &**word)
    }

    /// The functions, in a fixed order.
    pub(super) fn functions(&self) -> impl Iterator<Item = &str> {
        let last = MAX_ARGUMENTS + 1 + self.functions.len();
        self.words.get(MAX_ARGUMENTS + 1..last).unwrap_or_default().iter().map(|word| &**word)
    }

    /// Whether a word stands for an argument.
    pub(super) fn is_placeholder(word: u32) -> bool {
        (1..=MAX_ARGUMENTS as u32).contains(&word)
    }

    /// The number of training URLs with this token.
    pub fn frequency(&self, token: &str) -> u32 {
        self.frequencies.get(token).copied().unwrap_or(0)
    }

    /// Whether a token is a function.
    pub fn is_function(&self, token: &str) -> bool {
        self.functions.contains_key(token)
    }

    /// Replaces the arguments of a URL; `None` if there are too many.
    ///
    /// ```
    /// use dedust_seq2seq::paper::PaperLanguage;
    ///
    /// let urls: Vec<String> = (0..200).map(|n| format!("http://a.example/user/{n}/name-{n}")).collect();
    /// let language = PaperLanguage::new(urls.iter().map(String::as_str));
    /// let masked = language.mask("http://a.example/user/123/mike").unwrap();
    /// assert_eq!(language.read(&masked.words), "http: a.example user arg_1 arg_2");
    /// assert_eq!(masked.arguments, ["123", "mike"]);
    ///
    /// let target = language.mask_target("http://a.example/user/123", &masked.arguments).unwrap();
    /// assert_eq!(language.read(&target), "http: a.example user arg_1");
    /// let restored = language.restore(&target, &masked.arguments).unwrap();
    /// assert_eq!(restored, ["http:", "a.example", "user", "123"]);
    /// ```
    pub fn mask<'u>(&self, url: &'u str) -> Option<Masked<'u>> {
        let mut masked = Masked { words: Vec::new(), arguments: Vec::new() };
        for token in tokenize(url) {
            masked.words.push(match self.functions.get(token) {
                Some(&id) => id,
                None => {
                    masked.arguments.push(token);
                    masked.arguments.len() as u32
                }
            });
        }
        (masked.arguments.len() <= MAX_ARGUMENTS).then_some(masked)
    }

    /// The words of a target in the light of its source's arguments; `None` if nothing can be learned from it.
    pub fn mask_target(&self, url: &str, arguments: &[&str]) -> Option<Vec<u32>> {
        let word = |token: &str| {
            let place = || Some(arguments.iter().position(|argument| *argument == token)? as u32 + 1);
            self.functions.get(token).copied().or_else(place).or_else(|| self.literals.get(token).copied())
        };
        tokenize(url).into_iter().map(word).collect()
    }

    /// Puts arguments back into a translation; `None` if it speaks of one that the source lacks.
    pub fn restore<'a>(&'a self, words: &[u32], arguments: &[&'a str]) -> Option<Vec<&'a str>> {
        let token = |&word: &u32| match word as usize {
            at if at == END as usize => None,
            at @ 1..=MAX_ARGUMENTS => arguments.get(at - 1).copied(),
            at => self.words.get(at).map(|word| &**word),
        };
        words.iter().map(token).collect()
    }

    /// Words as people read them.
    pub fn read(&self, words: &[u32]) -> String {
        let word = |&word: &u32| self.words.get(word as usize).map_or("<unknown>", |word| &**word);
        words.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language() -> PaperLanguage {
        let urls: Vec<String> = (0..300)
            .map(|n| match n {
                0..3 => format!("http://a.example/rare/{n}"),
                _ => format!("http://a.example/view?id={n}"),
            })
            .collect();
        PaperLanguage::new(urls.iter().map(String::as_str))
    }

    #[test]
    fn one_in_a_hundred_makes_a_function() {
        let language = language();
        assert!(language.is_function("rare"), "three of 300");
        assert!(!language.is_function("17"));
        assert!(language.is_function("="), "delimiters always are");
        assert_eq!(language.frequency("view"), 297);
    }

    #[test]
    fn equal_arguments_keep_their_own_numbers() {
        let language = language();
        let masked = language.mask("http://a.example/view?id=x&x=x").unwrap();
        assert_eq!(masked.arguments, ["x", "&", "x", "x"]);
        assert_eq!(language.mask_target("http://a.example/x", &["y", "x", "x"]).unwrap().last(), Some(&2));
    }

    #[test]
    fn what_cannot_be_restored_is_refused() {
        let language = language();
        assert_eq!(language.restore(&[2], &["only one"]), None);
        assert_eq!(language.restore(&[9999], &[]), None);
        assert_eq!(language.restore(&[END], &[]), None);
    }

    #[test]
    fn too_many_arguments_are_not_translated() {
        let language = language();
        let url =
            |count: usize| (0..count).fold("http://a.example".to_owned(), |url, n| format!("{url}/{n}x"));
        assert!(language.mask(&url(20)).is_some());
        assert!(language.mask(&url(21)).is_none());
    }
}
