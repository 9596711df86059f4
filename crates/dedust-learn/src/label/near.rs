/*!
Ties rows whose texts are nearly equal and whose titles are equal: by simhash, and by shingles.

How near is near is measured on the site ([`crate::likeness`]): where two fetches of one page never differ, nothing is tied.
Where the sketches of both are known, they must resemble each other too: fingerprints of three bits' difference alone
are right about three times out of four (Manku, Jain and Das Sarma, WWW 2007).
*/

use super::tie::Ties;
use super::title::NO_TITLE;
use super::{FingerprintSighting, Sighting};
use crate::evidence::EvidenceKind;
use crate::likeness::Likeness;
use crate::minhash::{Sketch, band_hash, resemblance};
use crate::simhash::near_pairs;
use crate::thresholds;

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

    /// Whether the texts of two rows have at least so much in common, or may have, if one is not known.
    pub(super) fn may_resemble(&self, left: u32, right: u32, least: f64) -> bool {
        self.resemblance(left, right).is_none_or(|resemblance| resemblance >= least)
    }

    /// Calls `on_pair` with pairs of rows that may resemble each other, of which the first stands for all like it, and
    /// returns those that stand for others or for themselves. Linear in the rows: where there are more than
    /// [`thresholds::likeness::MAX_LEADERS`] kinds, rows of the others are passed over.
    pub(super) fn alike(&self, rows: &[u32], least: f64, mut on_pair: impl FnMut(u32, u32)) -> Vec<u32> {
        let mut leaders: Vec<u32> = Vec::new();
        for &row in rows {
            match leaders.iter().find(|leader| self.may_resemble(**leader, row, least)) {
                Some(&leader) => on_pair(leader, row),
                None if leaders.len() < thresholds::likeness::MAX_LEADERS => leaders.push(row),
                None => {}
            }
        }
        leaders
    }
}

/// The least resemblance of texts that are equal but for what two fetches of one page differ by.
fn least_resemblance(likeness: &Likeness) -> f64 {
    1.0 - f64::from(likeness.sketch.equal) / 64.0
}

/// Ties rows with an equal title and similar fingerprints.
///
/// Equal fingerprints are tied first, so that the search for near pairs meets each fingerprint once.
pub(super) fn tie_similar(
    ties: &mut Ties,
    mut sightings: Vec<FingerprintSighting>,
    sketches: &Sketches,
    url_by_row: &[u64],
    likeness: &Likeness,
) {
    let least = least_resemblance(likeness);
    let max_bits = likeness.simhash.equal.min(thresholds::labels::MAX_HAMMING_BITS);
    sightings.sort_unstable();
    sightings.dedup();
    let mut members = Vec::new();
    for same_title in sightings.chunk_by(|left, right| left.title == right.title) {
        let mut fingerprints = Vec::new();
        let mut rows = Vec::new();
        for equal in same_title.chunk_by(|left, right| left.fingerprint == right.fingerprint) {
            members.clear();
            members.extend(equal.iter().map(|sighting| sighting.row));
            // By their URLs, so that the numbers of rows leave no trace.
            members.sort_unstable_by_key(|&row| (url_by_row[row as usize], row));
            members.iter().for_each(|&row| ties.note_evidence(row));
            let mut is_believed = true;
            if sketches.is_empty() {
                is_believed = ties.tie(EvidenceKind::Simhash, &members);
                members.truncate(1);
            } else {
                members = sketches.alike(&members, least, |left, right| {
                    is_believed &= ties.tie(EvidenceKind::Simhash, &[left, right]);
                });
            }
            if is_believed {
                fingerprints.resize(fingerprints.len() + members.len(), equal[0].fingerprint);
                rows.append(&mut members);
            }
        }
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        near_pairs(&fingerprints, max_bits, |left, right| {
            let (left, right) = (rows[left], rows[right]);
            if sketches.may_resemble(left, right, least) {
                pairs.push((left.min(right), left.max(right)));
            }
            // Between explicit clusters it matters which pair comes first: not the one of lower rows.
            if pairs.len() == thresholds::likeness::MAX_PAIRS || ties.has_clusters() {
                tie_pairs(ties, &mut pairs);
            }
        });
        tie_pairs(ties, &mut pairs);
    }
}

/// Ties pairs in the order of their rows, which is that of memory, and forgets them.
fn tie_pairs(ties: &mut Ties, pairs: &mut Vec<(u32, u32)>) {
    pairs.sort_unstable();
    for (left, right) in pairs.drain(..) {
        ties.tie(EvidenceKind::Simhash, &[left, right]);
    }
}

/// Ties those rows that are compared and have an equal title and a band of their sketches in common, if the whole sketches resemble each
/// other.
pub(super) fn tie_resembling(
    ties: &mut Ties,
    sketches: &Sketches,
    titles: &[u64],
    url_by_row: &[u64],
    likeness: &Likeness,
    is_compared: impl Fn(u32) -> bool,
) {
    if likeness.sketch.equal == 0 {
        return;
    }
    let least = least_resemblance(likeness);
    // Rows by their URLs, so that their numbers leave no trace.
    let mut rows: Vec<u32> = (0..titles.len() as u32)
        .filter(|&row| titles[row as usize] != NO_TITLE && sketches.of(row).is_some() && is_compared(row))
        .collect();
    rows.sort_unstable_by_key(|&row| (url_by_row[row as usize], row));
    let mut bands: Vec<Sighting> = Vec::with_capacity(rows.len());
    let mut members = Vec::new();
    for band in 0..thresholds::likeness::BANDS {
        bands.clear();
        bands.extend((0..).zip(&rows).filter_map(|(rank, &row)| {
            let value = band_hash(sketches.of(row)?, band, titles[row as usize]);
            Some(Sighting { value, row: rank })
        }));
        bands.sort_unstable();
        for run in bands.chunk_by(Sighting::has_same_value) {
            members.clear();
            members.extend(run.iter().map(|sighting| rows[sighting.row as usize]));
            sketches.alike(&members, least, |left, right| {
                ties.tie(EvidenceKind::Shingles, &[left, right]);
            });
        }
    }
}
