/*!
The figures of the evaluation: of one site ([`Score`]), of several ([`MacroAverage`]) and of duplicate labels
([`LabelScore`]).

Pure functions of groups and labels. What the trainer reports of a site is scored by the same code, which is therefore
in `dedust-learn`.
*/

mod labels;

use serde::Serialize;

pub use dedust_learn::Score;
pub use dedust_learn::support::{Tally, score};

pub use self::labels::{LabelScore, score_labels};

/// The macro average: the mean over sites of each figure, every site weighing the same.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct MacroAverage {
    /// Number of sites. With none, all means are 0.
    pub sites: usize,
    /// Number of sites left out of `dup_reduction`, because nothing was duplicated there.
    pub sites_without_duplicates: usize,
    /// Mean of [`Score::compression`].
    pub compression: f64,
    /// Mean of [`Score::achievable`].
    pub achievable: f64,
    /// Mean of [`Score::dup_reduction`] where it is defined; `None` if it is defined nowhere.
    pub dup_reduction: Option<f64>,
    /// Mean of [`Score::fpr`].
    pub fpr: f64,
    /// Mean of [`Score::precision`].
    pub precision: f64,
    /// Mean of [`Score::recall`].
    pub recall: f64,
    /// Mean of [`Score::f1`].
    pub f1: f64,
    /// Mean of [`Score::pair_precision`].
    pub pair_precision: f64,
    /// Mean of [`Score::pair_recall`].
    pub pair_recall: f64,
    /// Mean of [`Score::pair_f1`].
    pub pair_f1: f64,
}

impl MacroAverage {
    /// Averages the scores of several sites.
    pub fn of(scores: &[Score]) -> MacroAverage {
        let average = |figure: fn(&Score) -> f64| mean(scores.iter().map(figure)).unwrap_or(0.0);
        MacroAverage {
            sites: scores.len(),
            sites_without_duplicates: scores.iter().filter(|score| score.dup_reduction.is_none()).count(),
            compression: average(|score| score.compression),
            achievable: average(|score| score.achievable),
            dup_reduction: mean(scores.iter().filter_map(|score| score.dup_reduction)),
            fpr: average(|score| score.fpr),
            precision: average(|score| score.precision),
            recall: average(|score| score.recall),
            f1: average(|score| score.f1),
            pair_precision: average(|score| score.pair_precision),
            pair_recall: average(|score| score.pair_recall),
            pair_f1: average(|score| score.pair_f1),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0u64, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text names in place of hashes and labels, for readable examples.
    fn rows(names: &[(&str, &str)]) -> Vec<(u128, u32)> {
        let number =
            |name: &str| name.bytes().fold(7u32, |number, byte| number.wrapping_mul(31) + u32::from(byte));
        names.iter().map(|(group, label)| (u128::from(number(group)), number(label))).collect()
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "found {found}, expected {expected}");
    }

    #[test]
    fn micro_average_pools_and_macro_average_takes_the_mean() {
        let large = Tally::count(rows(&[("1", "a"), ("1", "a"), ("2", "b"), ("3", "c")]));
        let small = Tally::count(rows(&[("1", "a"), ("2", "a")]));
        let distinct = Tally::count(rows(&[("1", "a"), ("2", "b")]));

        let pooled = [large, small, distinct].into_iter().sum::<Tally>().score();
        assert_eq!((pooled.urls, pooled.pages, pooled.canonical, pooled.covered), (8, 6, 7, 6));
        assert_close(pooled.compression, 1.0 / 8.0);

        let average = MacroAverage::of(&[large.score(), small.score(), distinct.score()]);
        assert_eq!((average.sites, average.sites_without_duplicates), (3, 1));
        assert_close(average.compression, 0.25 / 3.0);
        assert_close(average.dup_reduction.unwrap(), 0.5);
        assert_close(average.precision, (1.0 + 0.5 + 1.0) / 3.0);

        assert_eq!(MacroAverage::of(&[distinct.score()]).dup_reduction, None);
        assert_eq!(MacroAverage::of(&[]).sites, 0);
    }
}
