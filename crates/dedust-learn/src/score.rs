/*!
Measures how well a grouping of URLs matches the pages behind them.

Takes, for each URL in crawl order, the group it was put in and the label of its page; gives [`Score`], the figures
of a report. Pure functions: knows neither rules nor URLs. What learners ask for often is in [`crate::pair_counts`]. Two URLs count as duplicates exactly if their labels are equal,
so rows without a label must be left out by the caller.

Words used in the formulas:

| symbol | meaning |
|---|---|
| N_ori | number of URLs |
| C_ori | number of pages: distinct labels |
| N_norm | number of groups: distinct canonical URLs |
| C_norm | number of covered pages: distinct labels among the first URLs of the groups |
| C_lost | number of pages that are not covered, and of which no URL may show the same as the first URL of its group |
| N_supp | number of pairs of URLs in one group: sum over groups g of C2(size of g), C2(n) = n(n - 1)/2 |
| N_same | of these, the pairs with equal labels |
| N_dup | number of pairs of URLs with equal labels, in one group or not |

A crawler fetches the first URL of each group and never the others, so C_norm pages are what it gets. Labels of a crawl tell apart what nobody saw to
be the same: a redirect and a page, say, or two fetches of a page that changes. So of the pages that are not covered only C_lost are known
to be others than what the crawler gets instead; where labels are all that is known, these are all of them.
Compression and dup-reduction do not punish false merges: one single group gives about 1 for both. Report
them next to the recall.

After Lei et al., WWW 2010 (compression, dup-reduction, fpr), and Xu et al., SIGIR 2017 (crawl simulation).
*/

#[cfg(test)]
mod tests;

use std::iter::Sum;
use std::ops::AddAssign;

use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

/// The counts behind a [`Score`]. Counts of several sites add up, as their groups and labels are disjoint.
///
/// The micro average over sites is the score of the sum: `tallies.into_iter().sum::<Tally>().score()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// N_ori, the number of URLs.
    pub urls: u64,
    /// C_ori, the number of distinct labels.
    pub pages: u64,
    /// N_norm, the number of groups.
    pub canonical: u64,
    /// C_norm, the number of distinct labels among the first URLs of the groups.
    pub covered: u64,
    /// C_lost, the number of other labels whose pages are known to be others than those.
    pub lost: u64,
    /// N_supp, the number of pairs in one group.
    pub support_pairs: u128,
    /// N_same, the number of pairs in one group with equal labels.
    pub same_pairs: u128,
    /// N_dup, the number of pairs with equal labels.
    pub duplicate_pairs: u128,
}

impl Tally {
    /// Counts one site: for each URL in crawl order its group and its label. Linear in the number of URLs.
    pub fn count(rows: impl IntoIterator<Item = (u128, u32)>) -> Tally {
        Self::count_with(rows, |_, _| true)
    }

    /// Like [`Tally::count`], where more than labels is known: whether two URLs with different labels, by their indexes, are known to
    /// show different pages.
    pub fn count_with(
        rows: impl IntoIterator<Item = (u128, u32)>,
        are_different: impl Fn(usize, usize) -> bool,
    ) -> Tally {
        struct Group {
            id: u64,
            size: u64,
            /// The index and the label of its first URL.
            first: (usize, u32),
        }
        let mut tally = Tally::default();
        let mut groups: HashMap<u128, Group> = HashMap::default();
        let mut size_by_group_and_label: HashMap<(u64, u32), u64> = HashMap::default();
        let mut size_by_label: HashMap<u32, u64> = HashMap::default();
        let (mut covered, mut perhaps_covered) = (HashSet::default(), HashSet::default());
        for (at, (group, label)) in rows.into_iter().enumerate() {
            tally.urls += 1;
            let id = groups.len() as u64;
            let Group { id, size, first } =
                groups.entry(group).or_insert_with(|| Group { id, size: 0, first: (at, label) });
            if *size == 0 {
                covered.insert(label);
            } else if first.1 != label && !are_different(first.0, at) {
                perhaps_covered.insert(label);
            }
            // A new member makes one pair with every member before it.
            tally.support_pairs += count_one(size);
            tally.same_pairs += count_one(size_by_group_and_label.entry((*id, label)).or_default());
            tally.duplicate_pairs += count_one(size_by_label.entry(label).or_default());
        }
        tally.pages = size_by_label.len() as u64;
        tally.canonical = groups.len() as u64;
        tally.covered = covered.len() as u64;
        tally.lost = tally.pages - covered.union(&perhaps_covered).count() as u64;
        tally
    }

    /// The figures that follow from the counts.
    pub fn score(&self) -> Score {
        let false_pairs = self.support_pairs - self.same_pairs;
        let duplicates_before = 1.0 - ratio(self.pages, self.urls).unwrap_or(1.0);
        let duplicates_after = 1.0 - ratio(self.covered, self.canonical).unwrap_or(1.0);
        let precision = ratio(self.covered, self.canonical).unwrap_or(1.0);
        let recall = ratio(self.covered, self.pages).unwrap_or(1.0);
        let pair_precision = pair_ratio(self.same_pairs, self.support_pairs).unwrap_or(1.0);
        let pair_recall = pair_ratio(self.same_pairs, self.duplicate_pairs).unwrap_or(1.0);
        Score {
            urls: self.urls,
            pages: self.pages,
            canonical: self.canonical,
            covered: self.covered,
            lost: self.lost,
            support_pairs: self.support_pairs,
            false_pairs,
            duplicate_pairs: self.duplicate_pairs,
            compression: 1.0 - ratio(self.canonical, self.urls).unwrap_or(1.0),
            achievable: duplicates_before,
            dup_reduction: (self.pages < self.urls).then(|| 1.0 - duplicates_after / duplicates_before),
            fpr: pair_ratio(false_pairs, self.support_pairs).unwrap_or(0.0),
            precision,
            recall,
            f1: harmonic_mean(precision, recall),
            pair_precision,
            pair_recall,
            pair_f1: harmonic_mean(pair_precision, pair_recall),
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.urls += other.urls;
        self.pages += other.pages;
        self.canonical += other.canonical;
        self.covered += other.covered;
        self.lost += other.lost;
        self.support_pairs += other.support_pairs;
        self.same_pairs += other.same_pairs;
        self.duplicate_pairs += other.duplicate_pairs;
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), |mut total, tally| {
            total += tally;
            total
        })
    }
}

/// The figures of the evaluation of one site, or of several sites pooled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// N_ori, the number of URLs.
    pub urls: u64,
    /// C_ori, the number of pages.
    pub pages: u64,
    /// N_norm, the number of canonical URLs.
    pub canonical: u64,
    /// C_norm, the number of pages that a crawler gets which fetches the first URL of each group.
    pub covered: u64,
    /// C_lost, the number of pages that it does not get, and that are known to be others than what it gets.
    pub lost: u64,
    /// 1 - N_norm / N_ori; 0 if there are no URLs.
    pub compression: f64,
    /// 1 - C_ori / N_ori, the compression of a perfect normalization; 0 if there are no URLs.
    pub achievable: f64,
    /// 1 - (1 - C_norm / N_norm) / (1 - C_ori / N_ori), undefined if there were no duplicates.
    pub dup_reduction: Option<f64>,
    /// (N_supp - N_same) / N_supp, the share of false pairs; 0 if no two URLs share a group.
    pub fpr: f64,
    /// N_supp, the number of pairs in one group.
    pub support_pairs: u128,
    /// N_supp - N_same, the number of pairs in one group that are not duplicates.
    pub false_pairs: u128,
    /// N_dup, the number of pairs of duplicates.
    pub duplicate_pairs: u128,
    /// C_norm / N_norm, covered pages per fetched URL; 1 if there are no URLs.
    pub precision: f64,
    /// C_norm / C_ori, covered pages per page; 1 if there are no pages.
    pub recall: f64,
    /// Harmonic mean of `precision` and `recall`.
    pub f1: f64,
    /// N_same / N_supp, the same as 1 - fpr; 1 if no two URLs share a group.
    pub pair_precision: f64,
    /// N_same / N_dup, the share of duplicate pairs that were found; 1 if there are none.
    pub pair_recall: f64,
    /// Harmonic mean of `pair_precision` and `pair_recall`.
    pub pair_f1: f64,
}

impl Score {
    /// Dup-reduction with 1 in place of undefined: where nothing was duplicated nothing was left to do.
    pub fn dup_reduction_or_one(&self) -> f64 {
        self.dup_reduction.unwrap_or(1.0)
    }

    /// 1 - C_norm / C_ori, the share of pages that a crawler no longer gets.
    pub fn lost_content(&self) -> f64 {
        1.0 - self.recall
    }
}

/// Scores a grouping: for each URL in crawl order its group and the label of its page.
///
/// ```
/// # use dedust_learn::support::score;
/// // Five URLs of three pages, each URL its own group.
/// let score = score([(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)]);
/// assert_eq!((score.precision, score.recall), (0.6, 1.0));
/// ```
pub fn score(rows: impl IntoIterator<Item = (u128, u32)>) -> Score {
    Tally::count(rows).score()
}

/// Adds one to a count and returns what it was before.
fn count_one(count: &mut u64) -> u128 {
    *count += 1;
    u128::from(*count - 1)
}

fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

fn pair_ratio(numerator: u128, denominator: u128) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

/// 2ab / (a + b); 0 if both are 0.
fn harmonic_mean(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 }
}
