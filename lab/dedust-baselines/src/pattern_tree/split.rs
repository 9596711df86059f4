/*!
Which key to split by, and which of its values to keep: equations 4 and 5.
*/

/// Values must hold at least this share of a node's URLs to be salient, and keys to be split by.
pub(super) const SHARE_FLOOR: f64 = 0.01;

/// The frequency must fall at least threefold from a salient value to the next, else there is no decline.
const LEAST_DROP: f64 = 3.0;

/// Entropy of the values under one key: H = -sum_i p_i ln p_i, p_i = share of URLs with value i.
///
/// Takes `n` URLs and the sum of c_i ln c_i over the counts, which is all it depends on:
/// H = ln n - (sum_i c_i ln c_i) / n.
pub(super) fn entropy(n: usize, sum_of_c_ln_c: f64) -> f64 {
    let n = n as f64;
    (n.ln() - sum_of_c_ln_c / n).max(0.0)
}

/// The smallest count that is not rare among `n` URLs.
pub(super) fn floor(n: usize) -> f64 {
    (SHARE_FLOOR * n as f64).max(2.0)
}

/// How many of the values with these frequencies, in descending order, are salient among `n` URLs.
///
/// They are those before the steepest decline of the logarithmic frequency curve (equation 5, whose printed sign
/// cannot be meant). A frequency of 1 is added at the end, so that values which are all frequent decline too; the
/// decline must be threefold; and no salient value may be rare.
pub(super) fn salient_count(frequencies: &[u32], n: usize) -> usize {
    let next = frequencies.iter().skip(1).copied().chain([1]);
    let drops = frequencies.iter().zip(next).map(|(&f, next)| f64::from(f) / f64::from(next));
    let (mut position, mut steepest) = (0, 0.0);
    for (at, drop) in drops.enumerate() {
        if drop > steepest {
            (position, steepest) = (at + 1, drop);
        }
    }
    if steepest < LEAST_DROP {
        return 0;
    }
    frequencies[..position].iter().filter(|&&f| f64::from(f) >= floor(n)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn salient(frequencies: &[u32]) -> usize {
        salient_count(frequencies, frequencies.iter().sum::<u32>() as usize)
    }

    #[test]
    fn values_before_the_steepest_decline_are_salient() {
        assert_eq!(salient(&[50_000, 30_000, 2, 1, 1, 1]), 2);
        assert_eq!(salient(&[500, 480, 450]), 3);
        assert_eq!(salient(&[300]), 1);
    }

    #[test]
    fn without_a_decline_nothing_is_salient() {
        assert_eq!(salient(&[1; 20]), 0);
        let mut one_pair = vec![2];
        one_pair.extend([1; 20]);
        assert_eq!(salient(&one_pair), 0);
    }

    #[test]
    fn a_smooth_curve_does_not_make_every_value_salient() {
        let zipf: Vec<u32> = (1..200).map(|rank| 1000 / rank).collect();
        assert!(salient(&zipf) < 30, "{}", salient(&zipf));
    }

    #[test]
    fn entropy_of_two_even_values_is_ln_2() {
        let half = 50.0 * 50f64.ln();
        assert!((entropy(100, half + half) - 2f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(7, 7.0 * 7f64.ln()), 0.0);
    }
}
