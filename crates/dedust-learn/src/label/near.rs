/*!
Ties rows whose texts are nearly equal and whose titles are equal: by simhash, and by shingles.

Where the sketches of both are known, they must resemble each other too: fingerprints of three bits' difference alone
are right about three times out of four (Manku, Jain and Das Sarma, WWW 2007).
*/

use super::tie::Ties;
use super::{FingerprintSighting, MAX_HAMMING_BITS};
use crate::evidence::EvidenceKind;
use crate::minhash::{BANDS, Sketch, band_hash, resemblance};
use crate::simhash::near_pairs;

/// The least resemblance of nearly equal texts.
const MIN_RESEMBLANCE: f64 = 0.9;

const NO_SKETCH: u32 = u32::MAX;

/// The sketches of the rows that have one.
#[derive(Debug, Clone, Default)]
pub(super) struct Sketches {
    sketches: Vec<Sketch>,
    /// Where the sketch of a row is; shorter than there are rows if the last have none.
    by_row: Vec<u32>,
}

impl Sketches {
    /// Remembers the sketch of a row; of several, the least, so that their order leaves no trace.
    pub(super) fn observe(&mut self, row: u32, sketch: &Sketch) {
        let row = row as usize;
        if self.by_row.len() <= row {
            self.by_row.resize(row + 1, NO_SKETCH);
        }
        match self.sketches.get_mut(self.by_row[row] as usize) {
            Some(known) => *known = (*known).min(*sketch),
            None => {
                self.by_row[row] = self.sketches.len() as u32;
                self.sketches.push(*sketch);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sketches.is_empty()
    }

    pub(super) fn of(&self, row: u32) -> Option<&Sketch> {
        let index = *self.by_row.get(row as usize)?;
        self.sketches.get(index as usize)
    }

    /// How much the texts of two rows have in common, if both are known.
    pub(super) fn resemblance(&self, left: u32, right: u32) -> Option<f64> {
        Some(resemblance(self.of(left)?, self.of(right)?))
    }

    fn may_be_near(&self, left: u32, right: u32) -> bool {
        self.resemblance(left, right).is_none_or(|resemblance| resemblance >= MIN_RESEMBLANCE)
    }
}

/// Ties rows with an equal title and similar fingerprints.
///
/// Equal fingerprints are tied first, so that the search for near pairs meets each fingerprint once.
pub(super) fn tie_similar(ties: &mut Ties, mut sightings: Vec<FingerprintSighting>, sketches: &Sketches) {
    sightings.sort_unstable();
    sightings.dedup();
    let mut members = Vec::new();
    for same_title in sightings.chunk_by(|left, right| left.title == right.title) {
        let mut fingerprints = Vec::new();
        let mut rows = Vec::new();
        for equal in same_title.chunk_by(|left, right| left.fingerprint == right.fingerprint) {
            let first = equal[0].row;
            members.clear();
            members.extend(
                equal.iter().map(|sighting| sighting.row).filter(|&row| sketches.may_be_near(first, row)),
            );
            equal.iter().for_each(|sighting| ties.note_evidence(sighting.row));
            if ties.tie(EvidenceKind::Simhash, &members) {
                fingerprints.push(equal[0].fingerprint);
                rows.push(first);
            }
        }
        near_pairs(&fingerprints, MAX_HAMMING_BITS, |left, right| {
            let (left, right) = (rows[left], rows[right]);
            if sketches.may_be_near(left, right) {
                ties.tie(EvidenceKind::Simhash, &[left, right]);
            }
        });
    }
}

/// Ties rows with an equal title and a band of their sketches in common, if the whole sketches resemble each other.
///
/// In each run of rows with an equal band, all are compared with the first: a row that is not near it may be near others,
/// with which it then has other bands in common.
pub(super) fn tie_resembling(ties: &mut Ties, sketches: &Sketches, titles: &[u64]) {
    let with_both = |(row, &title): (u32, &u64)| (title != super::title::NO_TITLE).then_some((row, title));
    let rows: Vec<(u32, u64)> = (0..).zip(titles).filter_map(with_both).collect();
    let mut bands: Vec<super::Sighting> = Vec::with_capacity(rows.len());
    for band in 0..BANDS {
        bands.clear();
        bands.extend(rows.iter().filter_map(|&(row, title)| {
            Some(super::Sighting { value: band_hash(sketches.of(row)?, band, title), row })
        }));
        bands.sort_unstable();
        for run in bands.chunk_by(super::Sighting::has_same_value) {
            let (first, others) = (run[0].row, &run[1..]);
            for other in others.iter().map(|sighting| sighting.row) {
                if sketches.may_be_near(first, other) && titles[first as usize] == titles[other as usize] {
                    ties.tie(EvidenceKind::Shingles, &[first, other]);
                }
            }
        }
    }
}
