/*!
Which delimiters divide the values of each key: `thread_123.html` has a number between letters, `7-red-shoes` begins
with one, and `index.php` is a name with an extension.
*/

use dedust::rules::Atom;
use dedust::support::extension;
use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;

/// Distinct values of a key below which nothing is said about it.
const MIN_VALUES: usize = 20;
/// Share of the values that must have a delimiter.
const MIN_SUPPORT: f64 = 0.7;
/// Share of those that must have as many pieces as most have.
const MIN_REGULAR: f64 = 0.9;
/// Pieces of a value, at most.
const MAX_PIECES: usize = 8;

const DELIMITERS: [char; 15] = ['-', '_', '.', ',', ';', ':', '~', '+', '!', '$', '(', ')', '\'', '@', '='];

/// A way to divide a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// Between runs of digits and other runs.
    Digits,
    /// A file name from its extension.
    File,
    /// At a character.
    At(char),
}

/// The ways to divide values, by key.
pub(super) struct DeepTokens {
    splits_by_key: Vec<Vec<Split>>,
}

impl DeepTokens {
    pub(super) fn of(corpus: &Corpus) -> Self {
        let mut texts_by_key: Vec<Vec<&str>> = vec![Vec::new(); corpus.keys().len()];
        for pair in 0..corpus.pair_count() as u32 {
            if let Some(text) = corpus.value(corpus.pair_value(pair)).as_text() {
                texts_by_key[corpus.pair_key(pair) as usize].push(text);
            }
        }
        Self { splits_by_key: texts_by_key.iter().map(|texts| accepted(texts)).collect() }
    }

    /// How values of `key` may be divided.
    pub(super) fn splits(&self, key: u32) -> &[Split] {
        &self.splits_by_key[key as usize]
    }
}

fn accepted(texts: &[&str]) -> Vec<Split> {
    if texts.len() < MIN_VALUES {
        return Vec::new();
    }
    let holds = |split: &Split| {
        let mut counts = [0usize; MAX_PIECES + 1];
        for text in texts {
            counts[split.atoms(text).count().min(MAX_PIECES)] += 1;
        }
        let with: usize = counts[1..].iter().sum();
        let most = counts[1..MAX_PIECES].iter().max().copied().unwrap_or(0);
        with as f64 >= MIN_SUPPORT * texts.len() as f64 && most as f64 >= MIN_REGULAR * with as f64
    };
    [Split::Digits, Split::File].into_iter().chain(DELIMITERS.map(Split::At)).filter(holds).collect()
}

impl Split {
    /// The pieces of `text` that have an address; none if it is not divided.
    pub(super) fn atoms(self, text: &str) -> impl Iterator<Item = (Atom, &str)> {
        let atoms = (0..=u8::MAX).map_while(move |index| match self {
            Self::Digits => Some(Atom::Digits(index)),
            Self::At(separator) => Some(Atom::Piece { separator, index }),
            Self::File => [Atom::Stem, Atom::Extension].get(usize::from(index)).copied(),
        });
        let divides = match self {
            Self::Digits => !text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::At(separator) => text.contains(separator),
            Self::File => extension(text).is_some(),
        };
        atoms
            .take_while(move |_| divides)
            .map_while(|atom| Some((atom, std::str::from_utf8(atom.of(text.as_bytes())?).ok()?)))
    }

    /// All of `text`, piece by piece, with the text between addressed pieces.
    pub(super) fn pieces(self, text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut done = 0;
        for (_, piece) in self.atoms(text) {
            let start = piece.as_ptr() as usize - text.as_ptr() as usize;
            pieces.extend([&text[done..start], piece]);
            done = start + piece.len();
        }
        pieces.push(&text[done..]);
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_need_support_and_regular_counts() {
        let threads: Vec<String> = (0..40).map(|n| format!("thread_{n}.html")).collect();
        let mut texts: Vec<&str> = threads.iter().map(String::as_str).collect();
        texts.push("index.php");
        assert_eq!(accepted(&texts), [Split::Digits, Split::File, Split::At('_'), Split::At('.')]);
        let slugs: Vec<String> = (0..40).map(|n| format!("{n}{}", "-word".repeat(1 + n % 5))).collect();
        let texts: Vec<&str> = slugs.iter().map(String::as_str).collect();
        assert_eq!(accepted(&texts), [Split::Digits]);
        assert_eq!(accepted(&texts[..10]), []);
    }

    #[test]
    fn pieces_add_up_to_the_text() {
        assert_eq!(Split::Digits.pieces("thread_12-p3.html"), ["thread_", "12", "-p", "3", ".html"]);
        assert_eq!(Split::File.pieces("a.b.html"), ["a.b", ".", "html"]);
        assert_eq!(Split::At('-').pieces("7-red"), ["7", "-", "red"]);
        assert_eq!(Split::At('-').pieces("red"), ["red"]);
    }

    #[test]
    fn a_text_that_is_not_divided_has_no_pieces_of_its_own() {
        assert_eq!(Split::Digits.atoms("123").count(), 0);
        assert_eq!(Split::At('-').atoms("red").count(), 0);
        assert_eq!(Split::At('-').atoms("7-red").count(), 2);
    }
}
