/*!
Stage 2's input: for every duplicate of a page, the rule that leads from it to the page's target.
*/

use std::cmp::Reverse;

use dedust_learn::support::InternedRows as _;
use foldhash::HashSet;

use super::prove::Prover;
use super::table::{FanoutOp, STAR, Table, Transformations, WideRule};

/// One rule per pair of a source and the target of its page, without the values that are known to mean nothing.
pub(super) fn find(
    prover: &Prover<'_, '_>,
    pages: &[Vec<u32>],
    max_sources: usize,
    transformations: &mut Transformations,
) -> Vec<WideRule> {
    let table = prover.table;
    let frequency = pair_frequencies(table);
    let mut seen: HashSet<(u32, Vec<u32>)> = HashSet::default();
    let mut rules = Vec::new();
    let mut ops = Vec::new();
    for rows in pages {
        let Some(target) = rows.iter().copied().min_by_key(|&row| target_order(table, &frequency, row))
        else {
            continue;
        };
        let to = prover.projected(target);
        seen.clear();
        seen.insert((table.shape(target), to.clone()));
        for &source in rows.iter().filter(|&&row| row != target).take(max_sources) {
            let from = prover.projected(source);
            if !seen.insert((table.shape(source), from.clone())) {
                continue;
            }
            transform(table.keys(table.shape(source)), &from, table.keys(table.shape(target)), &to, &mut ops);
            rules.push(WideRule {
                shape: table.shape(source),
                context: from.into(),
                transformation: transformations.intern(&ops),
                is_widened: false,
            });
        }
    }
    rules
}

/// Where each value of the target comes from: the same key, else the first key with that value, else nowhere.
fn transform(
    source_keys: &[u32],
    source: &[u32],
    target_keys: &[u32],
    target: &[u32],
    ops: &mut Vec<(u32, FanoutOp)>,
) {
    ops.clear();
    ops.extend(target_keys.iter().zip(target).map(|(&key, &value)| {
        let same = source_keys.binary_search(&key).is_ok_and(|at| source[at] == value);
        let op = if value == STAR {
            FanoutOp::Star
        } else if same {
            FanoutOp::Copy(key)
        } else {
            let from = source.iter().position(|&other| other == value);
            from.map_or(FanoutOp::Literal(value), |at| FanoutOp::Copy(source_keys[at]))
        };
        (key, op)
    }));
}

/// How many URLs have each pair.
fn pair_frequencies(table: &Table<'_>) -> Vec<u32> {
    let corpus = table.corpus;
    let mut frequency = vec![0; corpus.pair_count()];
    for row in 0..corpus.len() as u32 {
        for &pair in corpus.pairs(row) {
            frequency[pair as usize] += 1;
        }
    }
    frequency
}

/// Fewest keys, then the most common pairs, then the shortest, then the first by the alphabet.
fn target_order<'t>(
    table: &'t Table<'_>,
    frequency: &[u32],
    row: u32,
) -> (usize, Reverse<u64>, usize, &'t [u8]) {
    let corpus = table.corpus;
    let pairs = corpus.pairs(row);
    let common = pairs.iter().map(|&pair| u64::from(frequency[pair as usize])).sum();
    (pairs.len(), Reverse(common), corpus.url(row).len(), corpus.url(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_the_same_key_or_another_or_nowhere() {
        // print(path_0=5, path_1=7, sid=9) -> view(path_0=6, id=7, lang=3, sid=*)
        let mut ops = Vec::new();
        transform(&[1, 2, 8], &[5, 7, 9], &[1, 4, 5, 8], &[6, 7, 3, STAR], &mut ops);
        let expected = [
            (1, FanoutOp::Literal(6)),
            (4, FanoutOp::Copy(2)),
            (5, FanoutOp::Literal(3)),
            (8, FanoutOp::Star),
        ];
        assert_eq!(ops, expected);
    }
}
