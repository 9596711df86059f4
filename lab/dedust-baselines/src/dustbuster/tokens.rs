/*!
URLs as sequences of tokens between a start token and an end token, with hashes of any part of them.

A token is a maximal run of letters and digits, or a single other byte: the same tokens between which a
[`dedust::rules::Replace`] finds its text. Takes the URLs of a [`Corpus`], gives numbers; looks at no labels.

Hashes are polynomials modulo the prime 2^61 - 1, so that the hash of any part of a URL follows from the hashes of
its beginnings in constant time. Two different parts have equal hashes once in some 10^16 pairs.
*/

use dedust::support::Interner;
use dedust_learn::Corpus;

/// The token before a URL.
pub(super) const START: u32 = 0;
/// The token after a URL.
pub(super) const END: u32 = 1;
/// Texts are numbered after these.
const FIRST_TEXT: u32 = 2;

/// Longer URLs take no part: they are traps, and their substrings would outnumber those of the whole site.
const MAX_TOKENS: usize = 512;

const PRIME: u64 = (1 << 61) - 1;
/// Any large number below [`PRIME`].
const BASE: u64 = 0x11f5_79c2_6aa1_93d7;

/// What the letters of the learner are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Runs of letters and digits, and single other bytes.
    Tokens,
    /// Every byte.
    #[cfg(test)]
    Bytes,
}

/// A part of a row: `len` tokens from `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) row: u32,
    pub(super) start: u16,
    pub(super) len: u16,
}

/// The tokens of every row, start and end included; a row too long to be used has none.
#[derive(Debug)]
pub(super) struct TokenList {
    texts: Interner,
    tokens: Vec<u32>,
    /// The tokens of row `i` are `tokens[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    /// For each token, the hash of its row up to and with that token.
    hashes: Vec<u64>,
    /// Powers of [`BASE`].
    powers: Vec<u64>,
}

impl TokenList {
    pub(super) fn new(corpus: &Corpus, alphabet: Alphabet) -> Self {
        let mut list = Self {
            texts: Interner::default(),
            tokens: Vec::new(),
            starts: vec![0],
            hashes: Vec::new(),
            powers: vec![1],
        };
        for _ in 0..MAX_TOKENS {
            list.powers.push(times(list.powers[list.powers.len() - 1], BASE));
        }
        for row in 0..corpus.len() as u32 {
            list.push(corpus.url(row), alphabet);
        }
        list
    }

    fn push(&mut self, url: &[u8], alphabet: Alphabet) {
        let start = self.tokens.len();
        self.tokens.push(START);
        for text in split(url, alphabet) {
            if self.tokens.len() - start >= MAX_TOKENS {
                break;
            }
            self.tokens.push(FIRST_TEXT + self.texts.intern(text));
        }
        self.tokens.push(END);
        if self.tokens.len() - start > MAX_TOKENS {
            self.tokens.truncate(start);
        }
        let mut hash = 0;
        for &token in &self.tokens[start..] {
            hash = plus(times(hash, BASE), u64::from(token) + 1);
            self.hashes.push(hash);
        }
        self.starts.push(self.tokens.len());
    }

    pub(super) fn row_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// One more than the largest token.
    pub(super) fn token_count(&self) -> usize {
        FIRST_TEXT as usize + self.texts.len()
    }

    pub(super) fn row(&self, row: u32) -> &[u32] {
        &self.tokens[self.starts[row as usize]..self.starts[row as usize + 1]]
    }

    pub(super) fn piece(&self, piece: Piece) -> &[u32] {
        &self.row(piece.row)[usize::from(piece.start)..usize::from(piece.start + piece.len)]
    }

    /// The text of a token; start and end have none.
    pub(super) fn text(&self, token: u32) -> &[u8] {
        if token < FIRST_TEXT { b"" } else { self.texts.get(token - FIRST_TEXT) }
    }

    /// Appends the text of tokens to `out`.
    pub(super) fn write(&self, tokens: &[u32], out: &mut Vec<u8>) {
        tokens.iter().for_each(|&token| out.extend_from_slice(self.text(token)));
    }

    /// Hashes of the parts of one row.
    pub(super) fn hashes(&self, row: u32) -> RowHashes<'_> {
        let hashes = &self.hashes[self.starts[row as usize]..self.starts[row as usize + 1]];
        RowHashes { hashes, powers: &self.powers }
    }
}

/// Hashes of the parts of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowHashes<'t> {
    hashes: &'t [u64],
    powers: &'t [u64],
}

impl RowHashes<'_> {
    /// The hash of the first `end` tokens.
    pub(super) fn prefix(&self, end: usize) -> u64 {
        if end == 0 { 0 } else { self.hashes[end - 1] }
    }

    /// The hash of the tokens from `start` to the end.
    pub(super) fn suffix(&self, start: usize) -> u64 {
        self.part(start, self.hashes.len())
    }

    /// The hash of the tokens from `start` to before `end`. Empty parts have the hash 0, others hardly ever.
    pub(super) fn part(&self, start: usize, end: usize) -> u64 {
        let before = times(self.prefix(start), self.powers[end - start]);
        plus(self.prefix(end), PRIME - before)
    }
}

/// The tokens of a URL without start and end.
fn split(url: &[u8], alphabet: Alphabet) -> impl Iterator<Item = &[u8]> {
    url.chunk_by(move |left, right| match alphabet {
        Alphabet::Tokens => left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric(),
        #[cfg(test)]
        Alphabet::Bytes => false,
    })
}

fn plus(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    plus(product as u64 & PRIME, (product >> 61) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dustbuster::tests::{corpus, labelled};

    #[test]
    fn runs_of_letters_and_digits_are_one_token() {
        let words = |alphabet| {
            split(b"http://a.example/b2?id=1", alphabet)
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(Alphabet::Tokens),
            ["http", ":", "/", "/", "a", ".", "example", "/", "b2", "?", "id", "=", "1"]
        );
        assert_eq!(words(Alphabet::Bytes).len(), 24);
    }

    #[test]
    fn equal_parts_have_equal_hashes_and_others_do_not() {
        let corpus = corpus(&labelled(["http://example.org/a/b/a/b", "http://example.org/x/a/b?a/b"]));
        let list = TokenList::new(&corpus, Alphabet::Tokens);
        let mut parts = Vec::new();
        for row in 0..2 {
            let tokens = list.row(row);
            for start in 0..=tokens.len() {
                for end in start..=tokens.len() {
                    parts.push((tokens[start..end].to_vec(), list.hashes(row).part(start, end)));
                }
            }
        }
        for (left, left_hash) in &parts {
            for (right, right_hash) in &parts {
                assert_eq!(left == right, left_hash == right_hash);
            }
        }
    }

    #[test]
    fn very_long_urls_take_no_part() {
        let long = format!("http://example.org/{}", "-a".repeat(600));
        let corpus = corpus(&labelled([&*long]));
        assert!(TokenList::new(&corpus, Alphabet::Tokens).row(0).is_empty());
    }
}
