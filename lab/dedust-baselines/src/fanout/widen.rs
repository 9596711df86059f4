/*!
Stage 3: rules that differ in one single key become one.

Rules of one shape and transformation are put into buckets by everything but one key; a bucket with `fanout` values of
that key becomes one rule with a wildcard there. This is repeated until nothing changes. Keys with many values come
first, so that a chance meeting of few values does not take rules away from a larger bucket.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::table::{STAR, Table, WideRule, mix};

/// Contexts, each with whether some wildcard has `fanout` values as evidence.
type Contexts = HashMap<Box<[u32]>, bool>;

/// Widened rules, in the order of shapes, transformations and contexts. Those that stay specific are left out.
pub(super) fn widen(table: &Table<'_>, rules: Vec<WideRule>, fanout: usize) -> Vec<WideRule> {
    let mut contexts_by_kind: BTreeMap<(u32, u32), Contexts> = BTreeMap::new();
    for rule in rules {
        let contexts = contexts_by_kind.entry((rule.shape, rule.transformation)).or_default();
        *contexts.entry(rule.context).or_default() |= rule.is_widened;
    }
    let mut widened = Vec::new();
    for ((shape, transformation), contexts) in contexts_by_kind {
        let mut contexts: Vec<(Box<[u32]>, bool)> = contexts.into_iter().collect();
        while contexts.len() >= fanout && widen_once(table.keys(shape), &mut contexts, fanout) {}
        contexts.retain(|(_, is_widened)| *is_widened);
        contexts.sort_unstable();
        widened.extend(contexts.into_iter().map(|(context, is_widened)| WideRule {
            shape,
            context,
            transformation,
            is_widened,
        }));
    }
    widened
}

/// One round over all keys; whether anything changed.
fn widen_once(keys: &[u32], contexts: &mut Vec<(Box<[u32]>, bool)>, fanout: usize) -> bool {
    let mut order: Vec<(Reverse<usize>, usize)> = (0..keys.len())
        .map(|at| {
            let values: HashSet<u32> = contexts.iter().map(|(context, _)| context[at]).collect();
            (Reverse(values.len()), at)
        })
        .collect();
    order.sort_unstable();
    let mut changed = false;
    for (_, at) in order.into_iter().take_while(|(Reverse(values), _)| *values >= fanout) {
        let mut buckets: HashMap<u64, u32> = HashMap::default();
        let rest = |context: &[u32]| {
            let pairs = keys.iter().zip(context).enumerate();
            pairs
                .filter(|(index, _)| *index != at)
                .fold(0u64, |sum, (_, (&key, &value))| sum.wrapping_add(mix(key, value)))
        };
        for (context, _) in contexts.iter().filter(|(context, _)| context[at] != STAR) {
            *buckets.entry(rest(context)).or_default() += 1;
        }
        buckets.retain(|_, values| *values as usize >= fanout);
        if buckets.is_empty() {
            continue;
        }
        changed = true;
        let mut merged = Contexts::default();
        for (mut context, mut is_widened) in contexts.drain(..) {
            if context[at] != STAR && buckets.contains_key(&rest(&context)) {
                context[at] = STAR;
                is_widened = true;
            }
            *merged.entry(context).or_default() |= is_widened;
        }
        contexts.extend(merged);
    }
    changed
}
