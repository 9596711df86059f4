/*!
The text of a page as passages, runs of three words, of which only hashes are kept. Says nothing of whether two pages are the same.
*/

use xxhash_rust::xxh3::xxh3_64;

/// Words that make one passage.
const PASSAGE_WORDS: usize = 3;

/// Passages of a page; a longer text is compared as a whole only.
const MAX_PASSAGES: usize = 1 << 16;

/// Hashes of what a reader sees.
#[derive(Clone, Debug)]
pub(crate) struct Passages {
    pub(crate) title: Option<u64>,
    /// In ascending order, each once.
    pub(crate) hashes: Box<[u64]>,
}

impl Passages {
    /// The passages of a text; `None` if they are too many.
    pub(crate) fn of(text: &str, title: Option<u64>) -> Option<Self> {
        let words: Vec<u64> = text.split_whitespace().map(|word| xxh3_64(word.as_bytes())).collect();
        if words.len() > MAX_PASSAGES {
            return None;
        }
        let hash = |words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            xxh3_64(&bytes)
        };
        let mut hashes: Vec<u64> = match words.len() {
            ..PASSAGE_WORDS => vec![hash(&words)],
            _ => words.windows(PASSAGE_WORDS).map(hash).collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        Some(Self { title, hashes: hashes.into() })
    }

    /// Whether it is one of them.
    pub(crate) fn has(&self, passage: u64) -> bool {
        self.hashes.binary_search(&passage).is_ok()
    }

    /// Those that `other` has not.
    pub(crate) fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u64> + 'a {
        self.hashes.iter().copied().filter(|passage| !other.has(*passage))
    }
}
