/*!
Chosen rules in the language of rule files, proven once more as they are applied: together with what is forgotten.
*/

use dedust::rules::{AnyValue, UrlPart, ValueClass};
use dedust_learn::support::InternedRows as _;
use foldhash::HashMap;

use super::prove::Prover;
use super::select::Candidate;
use super::table::{FanoutOp, STAR, Table, Transformations, WideRule, is_in_place};
use crate::closed_rule::{ClosedRule, Op, OtherParams, Pattern, Rewrite, ValuePattern, fitting};

/// Rules in the order in which they are to be tried: narrow contexts first.
pub(super) fn rules(
    table: &Table<'_>,
    prover: &mut Prover<'_, '_>,
    transformations: &Transformations,
    chosen: Vec<WideRule>,
    max_false_pair_rate: f64,
) -> Vec<ClosedRule> {
    let ops = |rule: &WideRule| transformations.get(rule.transformation);
    let (forgetting, moving): (Vec<WideRule>, Vec<WideRule>) =
        chosen.into_iter().partition(|rule| is_in_place(table.keys(rule.shape), ops(rule)));
    let proven = |prover: &mut Prover<'_, '_>, rules: Vec<WideRule>| {
        let rows_by_rule = prover.matches(&rules);
        let mut candidates: Vec<(Candidate, Vec<u32>)> = rules
            .into_iter()
            .zip(rows_by_rule)
            .map(|(rule, rows)| {
                let counts = prover.count(&rows, ops(&rule), rule.shape);
                (Candidate { rule, counts, covered: rows.len() }, rows)
            })
            .collect();
        candidates.retain(|(candidate, _)| {
            candidate.counts.support > 0 && candidate.counts.fpr() <= max_false_pair_rate
        });
        candidates
    };
    let mut all = proven(prover, forgetting);
    let order = |rule: &WideRule| {
        (rule.context.iter().filter(|&&value| value == STAR).count(), rule.shape, rule.context.clone())
    };
    all.sort_by_cached_key(|(candidate, _)| order(&candidate.rule));
    let forgetting: Vec<Candidate> = all.iter().map(|(candidate, _)| candidate.clone()).collect();
    prover.project(&forgetting, transformations);
    all.extend(proven(prover, moving));
    all.sort_by_cached_key(|(candidate, _)| order(&candidate.rule));

    let positions = KeyPositions::of(table);
    let rules: Vec<ClosedRule> = all
        .iter()
        .map(|(Candidate { rule, counts, .. }, rows)| {
            let merges = prover.merges(rows, ops(rule), rule.shape);
            let (pattern, rewrite) = text(table, &positions, rule, ops(rule));
            ClosedRule {
                pattern,
                other_params: OtherParams::Refuse,
                rewrite,
                fetchable: true,
                evidence: merges.evidence(table.corpus, counts),
            }
        })
        .collect();
    fitting(rules)
}

fn text(
    table: &Table<'_>,
    positions: &KeyPositions,
    rule: &WideRule,
    ops: &[(u32, FanoutOp)],
) -> (Pattern, Rewrite) {
    let corpus = table.corpus;
    let key = |key: u32| corpus.keys()[key as usize].clone();
    let keys = table.keys(rule.shape);
    let pattern = Pattern::new(keys.iter().zip(&rule.context).map(|(&of, &value)| {
        let pattern = match value {
            STAR => {
                ValuePattern::Any(AnyValue { class: ValueClass::Text, except: Vec::new(), optional: false })
            }
            value => ValuePattern::Is(corpus.value(value).clone()),
        };
        (key(of), pattern)
    }));
    let op = |op: FanoutOp| match op {
        FanoutOp::Literal(value) => Op::Keep(corpus.value(value).clone()),
        // A copy of a value that is always the same says so.
        FanoutOp::Copy(from) => match keys.binary_search(&from).map(|at| rule.context[at]) {
            Ok(value) if value != STAR => Op::Keep(corpus.value(value).clone()),
            _ => Op::Copy(key(from)),
        },
        FanoutOp::Star => Op::Ignore,
    };
    let target: Vec<u32> = ops.iter().map(|(key, _)| *key).collect();
    let order = positions.query_order(table, &target).into_iter().map(key).collect();
    (pattern, Rewrite::new(ops.iter().map(|&(to, what)| (key(to), op(what))), order))
}

/// Where URLs of each shape have their keys: sums of positions, and the number of URLs.
struct KeyPositions {
    by_shape: HashMap<u32, Vec<u64>>,
}

impl KeyPositions {
    fn of(table: &Table<'_>) -> Self {
        let corpus = table.corpus;
        let mut by_shape: HashMap<u32, Vec<u64>> = HashMap::default();
        for row in 0..corpus.len() as u32 {
            let shape = table.shape(row);
            let keys = table.keys(shape);
            let sums = by_shape.entry(shape).or_insert_with(|| vec![0; keys.len()]);
            for (position, &pair) in (0u64..).zip(corpus.pairs(row)) {
                if let Ok(at) = keys.binary_search(&corpus.pair_key(pair)) {
                    sums[at] += position;
                }
            }
        }
        Self { by_shape }
    }

    /// The query parameters among `keys` in the order in which URLs of that shape have them, on average.
    fn query_order(&self, table: &Table<'_>, keys: &[u32]) -> Vec<u32> {
        let sums = table.known_shape(keys).and_then(|shape| self.by_shape.get(&shape));
        let mut order: Vec<(u64, u32)> = keys
            .iter()
            .enumerate()
            .filter(|(_, key)| matches!(table.corpus.keys()[**key as usize], UrlPart::QueryParam(_)))
            .map(|(at, &key)| (sums.map_or(0, |sums| sums[at]), key))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, key)| key).collect()
    }
}
