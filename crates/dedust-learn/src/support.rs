/*!
What other crates of this project need beside the public interface: those with other learners, those that measure learners, those that
spread learning over processes, and those that check rules by fetching.

Not part of the stable interface: anything here may change in any release.
*/

use dedust::rules::Value;

use crate::corpus::Corpus;

// For other learners: rows of interned pairs, counts of pairs, evidence of rules, rules in words.
pub use crate::corpus::{NO_LABEL, UrlList};
pub use crate::learner::{LearnSettings, Learned, Learner};
pub use crate::pair_counts::{PairCounter, PairCounts, count_pairs};
pub use crate::pair_number::pair_number;
pub use crate::rule_evidence::{is_fetchable, rule_evidence};
pub use crate::rule_text::rule_text;

// For those that measure, compare and report.
pub use crate::canonfd::CanonFd;
pub use crate::canonical_fate::{CanonicalFate, Seen};
pub use crate::cluster::{Clusterer, Clusters};
pub use crate::crawl_store::StoredRow;
pub use crate::label::{LabelBuilder, Labels};
pub use crate::link_targets::LinkTargets;
pub use crate::minhash::{SKETCH_VALUES, Sketch};
pub use crate::score::{Tally, score};
pub use crate::text_hash::is_digest_of_nothing;

// For those that hand over options and show what came of them.
pub use crate::options::ChangedOption;
pub use crate::preference::{Form, Preferences, PreferredForms, UnmetPreference, UnmetReason};
pub use crate::proof::Proof;
pub use crate::trainer::TrainerBuilder;

// For those that spread a crawl over processes.
pub use crate::crawl_store::{
    Census, Groups, MirrorSite, PARTS, SamplePlan, SampleSize, ShardSampler, Sightings, SiteSample, SiteSize,
    Stage, StoredSite, SuspendedStore, find_mirrors,
};
pub use crate::observed::Purpose;
pub use crate::recount::Unchecked;

// For those that settle by fetching what the evidence left open.
pub use crate::canonfd::{FetchedGroups, Lack, MAX_PAIRS_OF_GROUP, Refusal, on_agreeing_hosts};
pub use crate::confidence::{failure_bound, failure_floor};

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
