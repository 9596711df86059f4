/*!
Which of the URLs that would be skipped are fetched anyway, and what follows from what they showed.

An audit is chosen by a hash with a secret, so that no site can tell which of its URLs are. Each URL has a chance that is known before the
hash is, and is never 0, so that every audit stands for a known number of skipped URLs: those that it was drawn from.
*/

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Gamma};

/// The doubt that is left of a bound.
const DOUBT: f64 = 0.05;
/// Audits without which the rules of a site count as young.
const YOUNG: u64 = 30;
/// How much more often URLs of young rules are audited.
const YOUTH: f64 = 2.0;

/// How the audits of a site are dealt out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    /// The share of the skipped URLs that may be audited.
    share: f64,
    /// Audits that may still be made.
    balance: f64,
    /// Audits of the rules as they are now.
    of_rules: u64,
}

impl Budget {
    pub(crate) fn new(share: f64) -> Self {
        Self { share, balance: 0.0, of_rules: 0 }
    }

    /// The chance that the next URL is audited. It is the share when one audit is left, more when there are more left or when rules are young, and
    /// half the share when none is: what is spent then is made up for later.
    pub(crate) fn chance(&self) -> f64 {
        let youth = if self.of_rules < YOUNG { YOUTH } else { 1.0 };
        let wanted = self.share * youth * (0.5 + self.balance / 2.0);
        wanted.clamp(self.share / 2.0, 4.0 * self.share)
    }

    /// A URL was skipped.
    pub(crate) fn earn(&mut self) {
        self.balance += self.share;
    }

    /// A URL is audited.
    pub(crate) fn spend(&mut self) {
        self.balance -= 1.0;
        self.of_rules += 1;
    }

    /// The rules are others.
    pub(crate) fn renew(&mut self) {
        self.of_rules = 0;
    }
}

/// A URL that was fetched to find out whether it shows the page of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Audit {
    pub(crate) entry: u32,
    pub(crate) holder: u32,
    /// With which it was chosen.
    pub(crate) chance: f32,
    pub(crate) finding: Finding,
    /// Whether the rules of now say that the two show one page.
    pub(crate) is_joined: bool,
}

/// What an audit showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing yet.
    Open,
    /// The same page.
    Same,
    /// Another page.
    Different,
    /// Too little to tell.
    Unclear,
}

/// A number that is not known, and lies between these with 95 % confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// It is at least this.
    pub least: u64,
    /// It is at most this.
    pub most: u64,
}

/// Pages that audits stand for, each drawn with its own chance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Weighted {
    sum: f64,
    squares: f64,
    largest: f64,
}

impl Weighted {
    /// Adds an audit that was chosen with a chance, and whether it showed another page.
    pub(crate) fn add(&mut self, chance: f64, is_different: bool) {
        // The audited URL itself was fetched.
        let weight = (1.0 / chance - 1.0).max(0.0);
        self.largest = self.largest.max(weight);
        if is_different {
            self.sum += weight;
            self.squares += weight * weight;
        }
    }

    /// At least and at most so many, each with 95 % confidence: the interval of Fay and Feuer (Statistics in Medicine, 1997) for a weighted
    /// sum of rare events.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        let (sum, squares) = (self.sum + self.largest, self.squares + self.largest * self.largest);
        (quantile(self.sum, self.squares, DOUBT), quantile(sum, squares, 1.0 - DOUBT))
    }
}

/// A quantile of the gamma distribution with this mean and variance.
fn quantile(mean: f64, variance: f64, share: f64) -> f64 {
    if mean <= 0.0 || variance <= 0.0 {
        return 0.0;
    }
    Gamma::new(mean * mean / variance, mean / variance).map_or(mean, |gamma| gamma.inverse_cdf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_are_at_most_their_share_of_what_is_skipped() {
        let mut budget = Budget::new(0.05);
        let (mut skipped, mut audits, mut state) = (0_u32, 0_u32, 1_u64);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = (state >> 11) as f64 / (1_u64 << 53) as f64;
            if draw < budget.chance() {
                budget.spend();
                audits += 1;
            } else {
                budget.earn();
                skipped += 1;
            }
        }
        assert!(audits <= skipped / 20 + 1, "{audits} of {skipped}");
        assert!(audits >= skipped / 25, "{audits} of {skipped}");
    }

    #[test]
    fn without_losses_the_bound_is_what_audits_cannot_see() {
        let mut audits = Weighted::default();
        for _ in 0..100 {
            audits.add(0.05, false);
        }
        let (least, most) = audits.bounds();
        assert_eq!(least, 0.0);
        // Three, which is the bound of what was never seen, for each URL that an audit stands for.
        assert!((most - 3.0 * 19.0).abs() < 1.0, "{most}");
        audits.add(0.05, true);
        let (least, most) = audits.bounds();
        assert!(least > 0.5 && least < 19.0 && most > 80.0 && most < 95.0, "{least} {most}");
    }
}
