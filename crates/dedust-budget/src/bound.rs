/*!
How much new text a pattern may still bring, after what was seen of it.
*/

use statrs::distribution::{Beta, ContinuousCDF as _};

/// How often a bound may be wrong.
const DOUBT: f64 = 0.05;

/// The upper 95 % bound of the mean of shares, of which so many add up to `sum`. For shares that are 0 or 1 it is that of Clopper and
/// Pearson; shares between these vary less.
pub(crate) fn share_bound(sum: f64, count: usize) -> f64 {
    let count = count as f64;
    if sum >= count {
        return 1.0;
    }
    Beta::new(sum + 1.0, count - sum).map_or(1.0, |beta| beta.inverse_cdf(1.0 - DOUBT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_shrink_with_what_was_seen() {
        assert_eq!(share_bound(0.0, 0), 1.0);
        assert!((share_bound(0.0, 20) - 0.1391).abs() < 1e-3);
        assert!((share_bound(0.0, 299) - 0.01).abs() < 1e-3);
        assert!(share_bound(2.5, 20) > share_bound(2.0, 20));
        assert_eq!(share_bound(3.0, 3), 1.0);
    }
}
