/*!
The straightforward selection: one rule per context, none inside another, no circles; then chains are joined.
*/

use std::cmp::Reverse;

use dedust_learn::support::PairCounts;
use foldhash::HashSet;

use super::context_index::ContextIndex;
use super::table::{FanoutOp, STAR, Table, Transformations, WideRule, is_in_place};

/// A rule that passed its proof.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) rule: WideRule,
    pub(super) counts: PairCounts,
    /// URLs it can normalize.
    pub(super) covered: usize,
}

/// (a) Of the rules with one context, that with the smallest share of false pairs, then the larger support. (b) None
/// whose context lies inside that of another. In the order in which they are to be tried.
pub(super) fn outermost(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    sort(&mut candidates);
    let mut contexts: HashSet<(u32, Box<[u32]>)> = HashSet::default();
    candidates.retain(|candidate| {
        let context = (candidate.rule.shape, candidate.rule.context.clone());
        contexts.insert(context)
    });
    let index = ContextIndex::new(candidates.iter().map(|candidate| &candidate.rule));
    let is_inside = |(at, candidate): (usize, &Candidate)| {
        let rule = &candidate.rule;
        index
            .covering(rule.shape, &rule.context)
            .any(|other| other as usize != at && candidates[other as usize].rule.fits(&rule.context))
    };
    let inside: Vec<bool> = candidates.iter().enumerate().map(is_inside).collect();
    candidates.into_iter().zip(inside).filter(|(_, inside)| !inside).map(|(candidate, _)| candidate).collect()
}

/// Narrow contexts first, then the smaller share of false pairs, then the larger support.
fn sort(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| {
        let stars =
            |candidate: &Candidate| candidate.rule.context.iter().filter(|&&value| value == STAR).count();
        let order = |candidate: &Candidate| (Reverse(candidate.counts.support), candidate.rule.clone());
        (stars(a).cmp(&stars(b)))
            .then_with(|| a.counts.fpr().total_cmp(&b.counts.fpr()))
            .then_with(|| order(a).cmp(&order(b)))
    });
}

/// Rules with what is needed to follow one from the results of another.
struct Chains<'a> {
    table: &'a Table<'a>,
    candidates: &'a [Candidate],
    index: ContextIndex,
}

impl<'a> Chains<'a> {
    fn new(table: &'a Table<'a>, candidates: &'a [Candidate]) -> Self {
        let index = ContextIndex::new(candidates.iter().map(|candidate| &candidate.rule));
        Self { table, candidates, index }
    }

    /// The shape and the known values of a rule's results.
    fn results(&self, rule: &WideRule, ops: &[(u32, FanoutOp)]) -> Option<(u32, Vec<u32>)> {
        let keys: Vec<u32> = ops.iter().map(|(key, _)| *key).collect();
        Some((self.table.known_shape(&keys)?, rule.results(self.table.keys(rule.shape), ops)))
    }

    /// The first rule that covers all results of another.
    fn next(&self, at: usize, ops: &[(u32, FanoutOp)]) -> Option<usize> {
        let (shape, values) = self.results(&self.candidates[at].rule, ops)?;
        let covers = |&other: &usize| other != at && self.candidates[other].rule.fits(&values);
        self.index.covering(shape, &values).map(|other| other as usize).filter(covers).min()
    }
}

/// (c) Drops from every circle the rule that covers fewest URLs.
pub(super) fn without_circles<'a>(
    table: &'a Table<'a>,
    transformations: &Transformations,
    mut candidates: Vec<Candidate>,
) -> Vec<Candidate> {
    loop {
        let chains = Chains::new(table, &candidates);
        let ops = |at: usize| transformations.get(candidates[at].rule.transformation);
        let moves = |at: usize| !is_in_place(table.keys(candidates[at].rule.shape), ops(at));
        let next: Vec<Option<usize>> = (0..candidates.len())
            .map(|at| chains.next(at, ops(at)).filter(|&next| moves(at) && moves(next)))
            .collect();
        let weakest = circles(&next)
            .into_iter()
            .filter_map(|circle| circle.into_iter().min_by_key(|&at| (candidates[at].covered, Reverse(at))))
            .collect::<Vec<usize>>();
        if weakest.is_empty() {
            return candidates;
        }
        let mut at = 0;
        candidates.retain(|_| {
            at += 1;
            !weakest.contains(&(at - 1))
        });
    }
}

/// The circles of a graph in which every node has one way out at most.
fn circles(next: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut visited_from = vec![usize::MAX; next.len()];
    let mut circles = Vec::new();
    for start in 0..next.len() {
        let mut at = start;
        while visited_from[at] == usize::MAX {
            visited_from[at] = start;
            match next[at] {
                Some(other) => at = other,
                None => break,
            }
        }
        if visited_from[at] == start && next[at].is_some() {
            let mut circle = vec![at];
            let mut other = next[at];
            while let Some(node) = other.filter(|&node| node != at) {
                circle.push(node);
                other = next[node];
            }
            circles.push(circle);
        }
    }
    circles
}

/// Rules that lead to the end of their chain, with the rules that forget the same values of URLs in that form.
pub(super) fn joined<'a>(
    table: &'a Table<'a>,
    transformations: &mut Transformations,
    candidates: Vec<Candidate>,
) -> Vec<WideRule> {
    let chains = Chains::new(table, &candidates);
    let mut rules: Vec<WideRule> = Vec::new();
    let mut endings: Vec<WideRule> = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let keys = table.keys(candidate.rule.shape);
        let mut ops = transformations.get(candidate.rule.transformation).to_vec();
        if is_in_place(keys, &ops) {
            rules.push(candidate.rule.clone());
            continue;
        }
        // Without circles, a chain passes every rule once at most.
        for _ in 0..candidates.len() {
            let Some(next) = chains.next(at, &ops) else { break };
            let rule = &candidates[next].rule;
            let next_ops = transformations.get(rule.transformation);
            ops = compose(&ops, next_ops);
            if is_in_place(table.keys(rule.shape), next_ops) {
                break;
            }
        }
        if ops.iter().any(|(_, op)| *op == FanoutOp::Star)
            && let Some((shape, results)) = chains.results(&candidate.rule, &ops)
        {
            let forgotten: Vec<u32> =
                ops.iter().map(|(_, op)| if *op == FanoutOp::Star { STAR } else { 0 }).collect();
            let transformation = transformations.forgetting(table.keys(shape), &forgotten);
            endings.push(WideRule { shape, context: results.into(), transformation, is_widened: true });
        }
        let transformation = transformations.intern(&ops);
        rules.push(WideRule { transformation, ..candidate.rule.clone() });
    }
    endings.sort_unstable();
    endings.dedup_by(|a, b| (a.shape, &a.context) == (b.shape, &b.context));
    for ending in endings {
        let covers = |rule: &WideRule| {
            rule.transformation == ending.transformation
                && rule.shape == ending.shape
                && rule.fits(&ending.context)
        };
        if !rules.iter().any(covers) {
            rules.retain(|rule| (rule.shape, &rule.context) != (ending.shape, &ending.context));
            rules.push(ending);
        }
    }
    rules
}

/// The operations of one rule after those of another.
fn compose(first: &[(u32, FanoutOp)], then: &[(u32, FanoutOp)]) -> Vec<(u32, FanoutOp)> {
    then.iter()
        .map(|&(to, op)| match op {
            FanoutOp::Copy(from) => {
                let at = first.binary_search_by_key(&from, |(key, _)| *key);
                (to, at.map_or(FanoutOp::Star, |at| first[at].1))
            }
            other => (to, other),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_once() {
        assert_eq!(circles(&[Some(1), Some(2), Some(1), None, Some(3)]), [vec![1, 2]]);
        assert_eq!(circles(&[Some(1), Some(0), Some(2)]), [vec![0, 1], vec![2]]);
        assert!(circles(&[None, Some(0)]).is_empty());
    }

    #[test]
    fn joined_operations_read_the_first_source() {
        use FanoutOp::{Copy, Literal, Star};
        let first = [(1, Literal(9)), (2, Copy(5)), (3, Star)];
        let then = [(1, Copy(2)), (2, Copy(1)), (4, Copy(3)), (6, Literal(7))];
        assert_eq!(compose(&first, &then), [(1, Copy(5)), (2, Literal(9)), (4, Star), (6, Literal(7))]);
    }
}
