/*!
Counts pairs of rows in one group, and how many of them are duplicates.

The naive way looks at every pair. Here the rows are sorted by group, mixed groups by label, and one scan
adds up n(n - 1)/2 for every run of n: pairs are never enumerated. This is the inner loop of learners, so the
buffer can be kept between calls.
*/

use std::iter::Sum;
use std::ops::AddAssign;

/// What [`count_pairs`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCounts {
    /// N_supp, the number of pairs in one group.
    pub support: u128,
    /// N_same, the number of pairs in one group with equal labels.
    pub same: u128,
    /// Number of groups with two rows or more.
    pub groups: u64,
    /// Number of groups with more than one label.
    pub mixed_groups: u64,
}

impl PairCounts {
    /// N_supp - N_same, the number of pairs in one group that are not duplicates.
    pub const fn false_pairs(&self) -> u128 {
        self.support - self.same
    }

    /// (N_supp - N_same) / N_supp, the share of false pairs; 0 if no two rows share a group.
    pub fn fpr(&self) -> f64 {
        if self.support == 0 { 0.0 } else { self.false_pairs() as f64 / self.support as f64 }
    }

    /// Mixed groups / groups with two rows or more; 0 if there are none.
    pub fn group_failure_rate(&self) -> f64 {
        if self.groups == 0 { 0.0 } else { self.mixed_groups as f64 / self.groups as f64 }
    }
}

impl AddAssign for PairCounts {
    fn add_assign(&mut self, other: PairCounts) {
        self.support += other.support;
        self.same += other.same;
        self.groups += other.groups;
        self.mixed_groups += other.mixed_groups;
    }
}

impl Sum for PairCounts {
    fn sum<I: Iterator<Item = PairCounts>>(counts: I) -> PairCounts {
        counts.fold(PairCounts::default(), |mut total, counts| {
            total += counts;
            total
        })
    }
}

/// Counts the pairs of rows, each row a group and a label, in any order.
///
/// Where this is called often, a [`PairCounter`] saves the allocation.
pub fn count_pairs(rows: impl IntoIterator<Item = (u64, u32)>) -> PairCounts {
    PairCounter::new().count(rows)
}

/// Counts pairs again and again in one buffer.
#[derive(Debug, Clone, Default)]
pub struct PairCounter {
    rows: Vec<(u64, u32)>,
}

impl PairCounter {
    /// A counter with an empty buffer, which grows to 16 bytes per row.
    pub fn new() -> PairCounter {
        PairCounter::default()
    }

    /// As [`count_pairs`].
    pub fn count(&mut self, rows: impl IntoIterator<Item = (u64, u32)>) -> PairCounts {
        self.rows.clear();
        self.rows.extend(rows);
        // By group alone: comparing one number is faster, and most groups turn out to have one label only.
        self.rows.sort_unstable_by_key(|row| row.0);
        let mut counts = PairCounts::default();
        for group in self.rows.chunk_by_mut(|left, right| left.0 == right.0) {
            if group.len() < 2 {
                continue;
            }
            counts.groups += 1;
            counts.support += pairs_among(group.len());
            if group.iter().all(|row| row.1 == group[0].1) {
                counts.same += pairs_among(group.len());
                continue;
            }
            counts.mixed_groups += 1;
            group.sort_unstable_by_key(|row| row.1);
            for equal in group.chunk_by(|left, right| left.1 == right.1) {
                counts.same += pairs_among(equal.len());
            }
        }
        counts
    }
}

/// C2(n) = n(n - 1)/2.
fn pairs_among(count: usize) -> u128 {
    let count = count as u128;
    count * count.saturating_sub(1) / 2
}
