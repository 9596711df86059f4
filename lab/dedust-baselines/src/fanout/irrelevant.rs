/*!
Stage 1: keys whose values mean nothing, from duplicates that agree on all keys but one.

The naive way compares all pairs of duplicates, then all pairs of the results. Here the URLs of a page are put into
buckets by everything but one key; a bucket with two values makes that key a wildcard. The results of one round, by
the keys that they forget, are the input of the next.
*/

use foldhash::HashMap;

use super::table::{STAR, Table, Transformations, WideRule, mix};

/// URLs of a page that are compared, at most.
const MAX_URLS_PER_PAGE: usize = 1000;

/// URLs of a page, or what was made of them.
struct Form {
    shape: u32,
    context: Vec<u32>,
    is_widened: bool,
}

/// The rules that forget one key or more, as specific as they come.
pub(super) fn find(
    table: &Table<'_>,
    pages: &[Vec<u32>],
    fanout: usize,
    transformations: &mut Transformations,
) -> Vec<WideRule> {
    let mut rules = Vec::new();
    for rows in pages {
        let form = |&row: &u32| Form {
            shape: table.shape(row),
            context: table.values(row).into(),
            is_widened: false,
        };
        let mut level: Vec<Form> = rows.iter().take(MAX_URLS_PER_PAGE).map(form).collect();
        // URLs that differ only in the order of their parameters are one.
        level.sort_unstable_by(|a, b| (a.shape, &a.context).cmp(&(b.shape, &b.context)));
        level.dedup_by(|a, b| (a.shape, &a.context) == (b.shape, &b.context));
        let mut is_first = true;
        while !level.is_empty() {
            let (next, absorbed) = merge(table, &level, fanout);
            if !is_first {
                rules.extend(level.into_iter().zip(absorbed).filter(|(_, absorbed)| !absorbed).map(
                    |(form, _)| WideRule {
                        shape: form.shape,
                        transformation: transformations.forgetting(table.keys(form.shape), &form.context),
                        context: form.context.into(),
                        is_widened: form.is_widened,
                    },
                ));
            }
            is_first = false;
            level = next;
        }
    }
    rules
}

/// Forms that agree on all keys but one become one form; and for each of them, whether that happened to it.
fn merge(table: &Table<'_>, level: &[Form], fanout: usize) -> (Vec<Form>, Vec<bool>) {
    // By what stays the same: forms with distinct values of the key that differs.
    let mut buckets: HashMap<(u64, u32), Vec<usize>> = HashMap::default();
    for (at, form) in level.iter().enumerate() {
        let keys = table.keys(form.shape);
        let whole = keys
            .iter()
            .zip(&form.context)
            .fold(mix(STAR, form.shape), |sum, (&key, &value)| sum.wrapping_add(mix(key, value)));
        for (&key, &value) in keys.iter().zip(&form.context).filter(|&(_, &value)| value != STAR) {
            let rest = whole.wrapping_sub(mix(key, value));
            buckets.entry((rest, key)).or_default().push(at);
        }
    }
    let mut absorbed = vec![false; level.len()];
    let mut merged: Vec<(usize, u32, Vec<usize>)> = buckets
        .into_iter()
        .filter(|(_, members)| members.len() > 1)
        .map(|((_, key), members)| (members[0], key, members))
        .collect();
    merged.sort_unstable_by_key(|(first, key, _)| (*first, *key));
    let mut index_of: HashMap<(u32, Vec<u32>), usize> = HashMap::default();
    let mut next: Vec<Form> = Vec::new();
    for (first, key, members) in merged {
        let shape = level[first].shape;
        let mut context = level[first].context.clone();
        if let Ok(at) = table.keys(shape).binary_search(&key) {
            context[at] = STAR;
        }
        let is_widened = members.len() >= fanout || members.iter().any(|&at| level[at].is_widened);
        for at in members {
            absorbed[at] = true;
        }
        let index = *index_of.entry((shape, context.clone())).or_insert(next.len());
        match next.get_mut(index) {
            Some(form) => form.is_widened |= is_widened,
            None => next.push(Form { shape, context, is_widened }),
        }
    }
    (next, absorbed)
}
