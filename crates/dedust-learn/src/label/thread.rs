/*!
Takes apart components that hang together by a thread.

Ties are transitive, texts are not: page 1 of a list is nearly page 2, which is nearly page 3, and one wrong canonical
link joins two pages with all their copies. So of every component a few pairs of rows are compared; if more than one in
ten have little in common, the component is taken apart and put together again: first by equal bodies and texts and by
redirects, then by its other ties from the closest to the loosest, each of which must also join two groups whose
representatives have much in common. A value that said many rows are one page says so of those that are alike.

Only rows with a sketch can be compared, and a component with an explicit cluster is left alone. Which pairs are compared
depends on hashes of URLs, not on the order of rows.
*/

use foldhash::HashMap;

use super::near::Sketches;
use super::tie::{Tie, Ties};
use crate::evidence::EvidenceKind;
use crate::thresholds;

/// Splits components of `ties` in which rows have little in common.
pub(super) fn split(ties: &mut Ties, sketches: &Sketches, url_by_row: &[u64]) {
    let mut rows: Vec<(u32, u64, u32)> = Vec::new();
    for row in 0..ties.row_count() as u32 {
        if ties.is_tied(row) {
            rows.push((ties.root_of(row), url_by_row.get(row as usize).copied().unwrap_or_default(), row));
        }
    }
    rows.sort_unstable();
    let mut loose: HashMap<u32, Vec<Tie>> = HashMap::default();
    for component in rows.chunk_by(|left, right| left.0 == right.0) {
        let compared: Vec<u32> =
            component.iter().map(|row| row.2).filter(|&row| sketches.of(row).is_some()).collect();
        if hangs_by_a_thread(&compared, sketches) && ties.cluster_of(component[0].2).is_none() {
            loose.insert(component[0].0, Vec::new());
        }
    }
    if loose.is_empty() {
        return;
    }
    for tie in ties.take_log() {
        if let Some(of_component) = loose.get_mut(&ties.root_of(tie.left)) {
            of_component.push(tie);
        }
    }
    for component in rows.chunk_by(|left, right| left.0 == right.0) {
        if let Some(log) = loose.remove(&component[0].0) {
            ties.dissolve(component.iter().map(|row| row.2));
            join_again(ties, log, sketches, url_by_row);
        }
    }
}

/// Whether more than one in ten of some pairs of rows, sorted by their URLs, have little in common.
fn hangs_by_a_thread(rows: &[u32], sketches: &Sketches) -> bool {
    let count = rows.len();
    let is_far = |left: usize, right: usize| {
        sketches
            .resemblance(rows[left], rows[right])
            .is_some_and(|resemblance| resemblance < thresholds::likeness::MIN_RESEMBLANCE)
    };
    let all = count * count.saturating_sub(1) / 2;
    let (far, pairs) = if all <= thresholds::likeness::SAMPLED_PAIRS {
        let pairs = (0..count).flat_map(|left| (left + 1..count).map(move |right| (left, right)));
        (pairs.filter(|&(left, right)| is_far(left, right)).count(), all)
    } else {
        let far = (0..thresholds::likeness::SAMPLED_PAIRS as u64).filter(|&pair| {
            let left = spread(2 * pair) as usize % count;
            let right = (left + 1 + spread(2 * pair + 1) as usize % (count - 1)) % count;
            is_far(left, right)
        });
        (far.count(), thresholds::likeness::SAMPLED_PAIRS)
    };
    far as f64 > thresholds::likeness::MAX_FAR_SHARE * pairs as f64
}

fn join_again(ties: &mut Ties, log: Vec<Tie>, sketches: &Sketches, url_by_row: &[u64]) {
    let is_firm = |tie: &Tie| {
        use EvidenceKind::{Cluster, Digest, MainText, Redirect, TextDigest};
        matches!(tie.kind, Cluster | Digest | MainText | Redirect | TextDigest)
    };
    let (firm, loose): (Vec<Tie>, Vec<Tie>) = log.into_iter().partition(is_firm);
    for tie in &firm {
        ties.tie(tie.kind, &[tie.left, tie.right]);
    }
    let url_of = |row: u32| url_by_row.get(row as usize).copied().unwrap_or_default();
    let mut others: Vec<Tie> = Vec::new();
    // What one link or size said was logged as ties of its first row, one after the other; other kinds tie pairs.
    let is_of_one_value = |left: &Tie, right: &Tie| {
        (left.left, left.kind) == (right.left, right.kind)
            && matches!(left.kind, EvidenceKind::Canonical | EvidenceKind::Size)
    };
    for of_value in loose.chunk_by(is_of_one_value) {
        let kind = of_value[0].kind;
        let mut rows: Vec<u32> = of_value.iter().map(|tie| tie.right).collect();
        rows.push(of_value[0].left);
        rows.sort_unstable_by_key(|&row| (url_of(row), row));
        sketches.alike(&rows, thresholds::likeness::MIN_RESEMBLANCE, |left, right| {
            others.push(Tie { left, right, kind })
        });
    }
    let likeness = |tie: &Tie| sketches.resemblance(tie.left, tie.right);
    others.sort_by_cached_key(|tie| {
        let urls = [url_of(tie.left), url_of(tie.right)];
        let per_mille = likeness(tie).map_or(0, |likeness| (1000.0 * likeness) as u32);
        (std::cmp::Reverse(per_mille), urls.iter().min().copied(), urls.iter().max().copied(), tie.kind)
    });
    // The row of each group whose URL has the least hash, of those with a sketch.
    let mut representatives: HashMap<u32, u32> = HashMap::default();
    let members = firm.iter().chain(&others).flat_map(|tie| [tie.left, tie.right]);
    for row in members.filter(|&row| sketches.of(row).is_some()).collect::<Vec<u32>>() {
        let representative = representatives.entry(ties.root_of(row)).or_insert(row);
        if (url_of(row), row) < (url_of(*representative), *representative) {
            *representative = row;
        }
    }
    for tie in others {
        let roots = [ties.root_of(tie.left), ties.root_of(tie.right)];
        let pair = roots.map(|root| representatives.get(&root).copied());
        let is_close = match pair {
            [Some(left), Some(right)] => sketches
                .resemblance(left, right)
                .is_none_or(|likeness| likeness >= thresholds::likeness::MIN_RESEMBLANCE),
            _ => true,
        };
        if is_close && ties.tie(tie.kind, &[tie.left, tie.right]) {
            let root = ties.root_of(tie.left);
            if let Some(first) = pair.into_iter().flatten().min_by_key(|&row| (url_of(row), row)) {
                representatives.insert(root, first);
            }
        }
    }
}

/// Spreads small numbers over all 64 bits.
fn spread(number: u64) -> u64 {
    let hash = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 8
}
