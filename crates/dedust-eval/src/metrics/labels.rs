/*!
How good duplicate labels are, against the pages that URLs really show.
*/

use foldhash::HashMap;
use serde::Serialize;

use super::Tally;

/// Figures of labels: for each URL its true page and its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LabelScore {
    /// Number of URLs whose true page is known.
    pub urls: u64,
    /// Of these, the number in a cluster. Each of the others counts as a cluster of its own.
    pub labelled: u64,
    /// Number of true pages.
    pub pages: u64,
    /// Number of clusters, those of one URL included.
    pub clusters: u64,
    /// Pairs of URLs in one cluster.
    pub tied_pairs: u128,
    /// Of these, pairs that show different pages.
    pub false_pairs: u128,
    /// Pairs of URLs that show the same page.
    pub duplicate_pairs: u128,
    /// Share of the pairs in one cluster that show the same page; 1 if there are none.
    pub pair_precision: f64,
    /// Share of the pairs that show the same page that are in one cluster; 1 if there are none.
    pub pair_recall: f64,
    /// URLs in a wrong cluster: one in which another page has more URLs, or as many and a lower number.
    pub wrong: u64,
    /// Share of the URLs in a wrong cluster; 0 if there are no URLs.
    pub wrong_share: f64,
}

/// Scores labels: for each URL its page and its cluster, if it is in one.
///
/// ```
/// # use dedust_eval::metrics::score_labels;
/// // Three URLs of page 0, of which one is tied to page 1.
/// let score = score_labels([(0, Some(7)), (0, Some(7)), (0, Some(8)), (1, Some(8)), (1, Some(8))]);
/// assert_eq!((score.pair_precision, score.pair_recall), (0.5, 0.5));
/// assert_eq!((score.wrong, score.wrong_share), (1, 0.2));
/// ```
pub fn score_labels(rows: impl IntoIterator<Item = (u32, Option<u32>)>) -> LabelScore {
    let mut labelled = 0;
    let rows: Vec<(u128, u32)> = (0u128..)
        .zip(rows)
        .map(|(number, (page, cluster))| match cluster {
            Some(cluster) => {
                labelled += 1;
                (u128::from(cluster), page)
            }
            None => (number + (1 << 64), page),
        })
        .collect();
    let mut counts: HashMap<(u128, u32), u64> = HashMap::default();
    for row in &rows {
        *counts.entry(*row).or_default() += 1;
    }
    let mut most: HashMap<u128, u64> = HashMap::default();
    for (&(cluster, _), &count) in &counts {
        let most = most.entry(cluster).or_default();
        *most = (*most).max(count);
    }
    let right: u64 = most.values().sum();
    let urls = rows.len() as u64;
    let score = Tally::count(rows).score();
    LabelScore {
        urls,
        labelled,
        pages: score.pages,
        clusters: score.canonical,
        tied_pairs: score.support_pairs,
        false_pairs: score.false_pairs,
        duplicate_pairs: score.duplicate_pairs,
        pair_precision: score.pair_precision,
        pair_recall: score.pair_recall,
        wrong: urls - right,
        wrong_share: if urls == 0 { 0.0 } else { (urls - right) as f64 / urls as f64 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_labels_score_one() {
        let score = score_labels([(0, Some(3)), (1, Some(4)), (0, Some(3)), (2, None)]);
        assert_eq!((score.pair_precision, score.pair_recall, score.wrong), (1.0, 1.0, 0));
        assert_eq!((score.urls, score.labelled, score.pages, score.clusters), (4, 3, 3, 3));
    }

    #[test]
    fn urls_without_a_label_are_tied_to_nothing() {
        let score = score_labels([(0, None), (0, None), (0, Some(0))]);
        assert_eq!((score.tied_pairs, score.duplicate_pairs, score.pair_recall), (0, 3, 0.0));
        assert_eq!(score.wrong, 0, "alone is not wrong");
    }

    #[test]
    fn nothing_at_all_is_not_wrong() {
        let score = score_labels([]);
        assert_eq!((score.pair_precision, score.pair_recall, score.wrong_share), (1.0, 1.0, 0.0));
    }
}
