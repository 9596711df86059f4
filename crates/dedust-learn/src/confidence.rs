/*!
How bad a rule may still be, after what was seen of it.
*/

use statrs::distribution::{Beta, ContinuousCDF};

use crate::thresholds::proof::DOUBT_OF_BOUND;

/// The upper end of the one-sided 95 % Clopper-Pearson interval for `failures` in `trials`.
pub fn failure_bound(failures: u64, trials: u64) -> f64 {
    if failures >= trials {
        return 1.0;
    }
    let (failures, trials) = (failures as f64, trials as f64);
    Beta::new(failures + 1.0, trials - failures).map_or(1.0, |beta| beta.inverse_cdf(1.0 - DOUBT_OF_BOUND))
}

/// The lower end of that interval.
pub fn failure_floor(failures: u64, trials: u64) -> f64 {
    if failures == 0 {
        return 0.0;
    }
    let (failures, trials) = (failures as f64, trials as f64);
    Beta::new(failures, trials - failures + 1.0).map_or(0.0, |beta| beta.inverse_cdf(DOUBT_OF_BOUND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_failures_the_bound_shrinks_with_the_trials() {
        assert!((failure_bound(0, 59) - 0.0495).abs() < 1e-3);
        assert!((failure_bound(0, 299) - 0.01).abs() < 1e-3);
        assert_eq!(failure_bound(0, 0), 1.0);
        assert_eq!(failure_bound(3, 3), 1.0);
        assert!((failure_bound(1, 10) - 0.3942).abs() < 1e-3);
    }

    #[test]
    fn what_never_failed_may_never_fail() {
        assert_eq!(failure_floor(0, 0), 0.0);
        assert_eq!(failure_floor(0, 100), 0.0);
        assert!((failure_floor(59, 59) - 0.9505).abs() < 1e-3);
        assert!((failure_floor(9, 10) - 0.6058).abs() < 1e-3);
    }
}
