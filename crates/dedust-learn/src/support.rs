/*!
What the crates with other learners and with the evaluation share with this one: rows of interned pairs, counts of pairs,
evidence of rules, edits in words.

Not part of the stable interface: anything here may change in any release.
*/

use dedust::rules::Value;

use crate::corpus::Corpus;

pub use crate::corpus::{NO_LABEL, UrlList};
pub use crate::crawl_store::StoredRow;
pub use crate::edit_text::edit_text;
pub use crate::fitting::fitting;
pub use crate::pair_counts::{PairCounter, PairCounts, count_pairs};
pub use crate::pair_number::pair_number;
pub use crate::rule_evidence::{is_fetchable, rule_evidence};

/// The URLs of a [`Corpus`] as rows of numbers. A pair is a key with a value; a row is the list of its pairs.
pub trait InternedRows {
    /// The label of each row; [`NO_LABEL`] if its page is not known.
    fn labels(&self) -> &[u32];
    /// The pairs of a row.
    fn pairs(&self, row: u32) -> &[u32];
    /// The number of distinct pairs.
    fn pair_count(&self) -> usize;
    /// The number of a pair's key: its index in [`Corpus::keys`].
    fn pair_key(&self, pair: u32) -> u32;
    /// The number of a pair's value; equal values of different keys have equal numbers.
    fn pair_value(&self, pair: u32) -> u32;
    /// The number of distinct values.
    fn value_count(&self) -> usize;
    /// The value of a number.
    fn value(&self, value: u32) -> &Value;
}

impl InternedRows for Corpus {
    #[inline]
    fn labels(&self) -> &[u32] {
        self.labels()
    }

    #[inline]
    fn pairs(&self, row: u32) -> &[u32] {
        self.pairs(row)
    }

    #[inline]
    fn pair_count(&self) -> usize {
        self.pair_count()
    }

    #[inline]
    fn pair_key(&self, pair: u32) -> u32 {
        self.pair_key(pair)
    }

    #[inline]
    fn pair_value(&self, pair: u32) -> u32 {
        self.pair_value(pair)
    }

    #[inline]
    fn value_count(&self) -> usize {
        self.value_count()
    }

    #[inline]
    fn value(&self, value: u32) -> &Value {
        self.value(value)
    }
}
