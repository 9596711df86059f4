/*!
What of a crawl was not needed, as one sentence and a bar.
*/

use std::fmt;

use crate::{Budgets, Pattern, Verdict};

/// Fetches of a crawl that were not needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waste {
    /// All fetches.
    pub fetches: u64,
    /// URLs of pages that were fetched before.
    pub duplicates: u64,
    /// By verdict, those of budgets.
    pub by_verdict: Vec<(Verdict, u64)>,
}

impl Waste {
    /// Of a crawl with so many fetches, and so many duplicates among them.
    pub fn of(budgets: &Budgets, fetches: u64, duplicates: u64) -> Self {
        let mut by_verdict: Vec<(Verdict, u64)> = Vec::new();
        for pattern in budgets.patterns.iter().filter(|pattern| pattern.is_limited()) {
            match by_verdict.iter_mut().find(|(verdict, _)| *verdict == pattern.verdict) {
                Some((_, urls)) => *urls += pattern.left_out(),
                None => by_verdict.push((pattern.verdict, pattern.left_out())),
            }
        }
        by_verdict.retain(|(_, urls)| *urls > 0);
        by_verdict.sort_by_key(|(verdict, urls)| (std::cmp::Reverse(*urls), *verdict));
        Self { fetches, duplicates, by_verdict }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.duplicates + self.by_verdict.iter().map(|(_, urls)| urls).sum::<u64>()
    }

    fn share(&self, urls: u64) -> f64 {
        urls as f64 / self.fetches.max(1) as f64
    }

    /// A bar of so many cells, a letter for each kind of waste and a dot for what was needed.
    pub fn bar(&self, cells: usize) -> String {
        let mut bar = String::new();
        let mut sum = 0;
        let kinds = self.by_verdict.iter().map(|(verdict, urls)| (verdict.words(), *urls));
        for (name, urls) in [("duplicates", self.duplicates)].into_iter().chain(kinds) {
            sum += urls;
            let end = (self.share(sum) * cells as f64).round() as usize;
            let letter = name.chars().next().unwrap_or(' ').to_ascii_uppercase();
            while bar.len() < end.min(cells) {
                bar.push(letter);
            }
        }
        while bar.len() < cells {
            bar.push('.');
        }
        bar
    }
}

impl fmt::Display for Waste {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.total() == 0 {
            return f.write_str("No fetch was found that was not needed.");
        }
        let percent = |urls: u64| format!("{:.0} %", 100.0 * self.share(urls));
        write!(
            f,
            "{} of these fetches were not needed: {} duplicates",
            percent(self.total()),
            percent(self.duplicates)
        )?;
        for (verdict, urls) in &self.by_verdict {
            let words = match verdict {
                Verdict::Sink => "sinks",
                Verdict::Facet => "facets",
                other => other.words(),
            };
            write!(f, ", {} {words}", percent(*urls))?;
        }
        f.write_str(".")
    }
}

impl Pattern {
    /// URLs of those that were seen that would not have been fetched.
    pub fn left_out(&self) -> u64 {
        ((1.0 - self.fetch) * self.seen.urls as f64).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_says_what_was_wasted() {
        let waste = Waste {
            fetches: 1_000,
            duplicates: 90,
            by_verdict: vec![(Verdict::LowYield, 210), (Verdict::Sink, 80)],
        };
        assert_eq!(
            waste.to_string(),
            "38 % of these fetches were not needed: 9 % duplicates, 21 % low yield, 8 % sinks."
        );
        assert_eq!(waste.bar(20), "DDLLLLSS............");
        assert_eq!(
            Waste { fetches: 7, ..Waste::default() }.to_string(),
            "No fetch was found that was not needed."
        );
    }
}
