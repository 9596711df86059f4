/*!
What less of the crawl would have taught: rules learned again from growing shares of it, for the sites that are shown in full.

Learns with [`CanonFd`] and its defaults, whatever the rules of the report were made by. Crawls of more rows than a limit have no
curve: learning from all of them again would take longer than the rest of the report.
*/

use dedust_eval::compare::{CurvePoint, CurveSample};
use dedust_learn::support::{CanonFd, LearnSettings};
use dedust_learn::{Clues, EvidenceKinds};

use crate::data::{LearningPoint, SiteDetail};

/// The rows of a crawl, while they are few enough.
#[derive(Debug)]
pub(crate) struct LearningRows {
    sample: Option<CurveSample>,
    max_rows: usize,
}

impl LearningRows {
    pub(crate) fn new(kinds: EvidenceKinds, max_rows: usize) -> Self {
        Self { sample: (max_rows > 0).then(|| CurveSample::new(kinds)), max_rows }
    }

    /// Adds a row whose URL was parsed before.
    pub(crate) fn observe(&mut self, url: &[u8], clues: &Clues<'_>) {
        if let Some(sample) = &mut self.sample {
            // What is no URL is in no curve.
            let _ = sample.observe(url, clues, None);
        }
        self.sample.take_if(|sample| sample.len() > self.max_rows);
    }

    /// Puts the curves of sites beside all else that is known of them.
    pub(crate) fn add_to(&self, details: &mut [SiteDetail]) {
        // Rules that do not fit together have no curve; learners make none.
        let curves =
            self.sample.as_ref().and_then(|sample| sample.learn(&CanonFd, &LearnSettings::default()).ok());
        for curve in curves.unwrap_or_default() {
            if let Some(detail) = details.iter_mut().find(|detail| detail.site == curve.site) {
                detail.learning = curve.points.iter().map(learning_point).collect();
            }
        }
    }
}

fn learning_point(point: &CurvePoint) -> LearningPoint {
    let CurvePoint { share, urls, rules, whole, promise } = *point;
    let duplicates = whole.urls - whole.pages;
    LearningPoint {
        share,
        urls,
        rules,
        duplicates,
        removed: duplicates.saturating_sub(whole.canonical - whole.covered),
        pages: whole.pages,
        lost: whole.lost,
        promise,
    }
}
