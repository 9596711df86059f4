/*!
A chosen rule in the language of rule files: patterns of text instead of nodes and numbers, with its evidence.
*/

use dedust::rules::{AnyValue, Evidence, UrlPart};
use dedust_learn::support::{InternedRows as _, rule_evidence};
use dedust_learn::{Corpus, EvidenceKinds};
use foldhash::HashMap;

use super::deploy::DeployedRule;
use crate::closed_rule::{ClosedRule, Op, OtherParams, Pattern, Rewrite, ValuePattern};
use crate::pattern_tree::{NodeId, PatternTree};
use crate::propose::TreeOp;
use crate::propose::proof::{Projection, staying_ops};

pub(super) fn write(tree: &PatternTree<'_>, rule: &DeployedRule, other_params: OtherParams) -> ClosedRule {
    let corpus = tree.corpus();
    let key = |key: u32| corpus.keys()[key as usize].clone();
    let forth = Projection::new(tree, rule.source, rule.target, &rule.ops);
    let required: Vec<UrlPart> = forth.required().iter().map(|&required| key(required)).collect();
    let pattern = Pattern::new(tree.pattern(rule.source).keys().map(|(key, pattern)| {
        let pattern = match pattern {
            ValuePattern::Any(any) if required.contains(key) => {
                ValuePattern::Any(AnyValue { optional: false, ..any.clone() })
            }
            other => other.clone(),
        };
        (key.clone(), pattern)
    }));
    let ops = rule.ops.iter().filter_map(|&(to, op)| {
        let op = match op {
            TreeOp::Keep(value) => Op::Keep(corpus.value(value).clone()),
            TreeOp::Replace(from) => Op::Copy(key(from)),
            TreeOp::Ignore => Op::Ignore,
            TreeOp::Drop => return None,
        };
        Some((key(to), op))
    });
    let rewrite = Rewrite::new(ops, query_order(tree, rule.target, &rule.ops));
    // A parameter cannot be written by the rule and passed through as well.
    let writes_new =
        rewrite.ops().any(|(key, _)| pattern.get(key).is_none() && matches!(key, UrlPart::QueryParam(_)));
    let other_params = if writes_new { OtherParams::Refuse } else { other_params };
    ClosedRule { pattern, other_params, rewrite, fetchable: true, evidence: evidence(tree, rule, &forth) }
}

/// The query parameters of a node in the order in which its URLs have them, on average.
fn query_order(tree: &PatternTree<'_>, node: NodeId, ops: &[(u32, TreeOp)]) -> Vec<UrlPart> {
    let corpus = tree.corpus();
    let mut positions: HashMap<u32, (u64, u64)> = HashMap::default();
    for &row in tree.members(node) {
        for (position, &pair) in (0u64..).zip(corpus.pairs(row)) {
            let sum = positions.entry(corpus.pair_key(pair)).or_default();
            *sum = (sum.0 + position, sum.1 + 1);
        }
    }
    let mut order: Vec<(f64, u32)> = ops
        .iter()
        .filter(|(key, op)| {
            *op != TreeOp::Drop && matches!(corpus.keys()[*key as usize], UrlPart::QueryParam(_))
        })
        .filter_map(|(key, _)| positions.get(key).map(|&(sum, count)| (sum as f64 / count as f64, *key)))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, key)| corpus.keys()[key as usize].clone()).collect()
}

fn evidence(tree: &PatternTree<'_>, rule: &DeployedRule, forth: &Projection) -> Evidence {
    let corpus = tree.corpus();
    let stay = Projection::new(tree, rule.target, rule.target, &staying_ops(tree, rule.target, &rule.ops));
    // For every result of the rule, the shortest URL of each page that is there already.
    let mut there: HashMap<(u64, u32), u32> = HashMap::default();
    for &row in tree.members(rule.target) {
        if let (Some(group), Some(label)) = (stay.group(corpus, row), corpus.label(row)) {
            there
                .entry((group, label))
                .and_modify(|shortest| *shortest = shorter(corpus, *shortest, row))
                .or_insert(row);
        }
    }
    let mut urls = 0;
    let mut kinds = EvidenceKinds::NONE;
    let mut examples: Vec<(u32, u32)> = Vec::new();
    for &row in tree.members(rule.source) {
        let Some(group) = forth.group(corpus, row) else {
            continue;
        };
        urls += 1;
        let Some(label) = corpus.label(row) else { continue };
        kinds |= corpus.kinds(row);
        if let Some(&duplicate) = there.get(&(group, label))
            && duplicate != row
        {
            examples.push((row, duplicate));
        }
    }
    rule_evidence(corpus, urls, &rule.counts, kinds, examples)
}

fn shorter(corpus: &Corpus, a: u32, b: u32) -> u32 {
    if (corpus.url(b).len(), corpus.url(b)) < (corpus.url(a).len(), corpus.url(a)) { b } else { a }
}
