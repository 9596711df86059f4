/*!
Joins two rules into one: what `second` makes of what `first` makes of a URL.

| `second` on a key | the joined operation |
|---|---|
| keep | keep |
| ignore | ignore |
| replace by j | what `first` does on j |
*/

use crate::propose::TreeOp;

/// The operations of `second` after `first`. A key whose value would come from a key that `first` does not write is
/// absent from the result, as it is from the URLs that `first` writes.
pub(super) fn compose(first: &[(u32, TreeOp)], second: &[(u32, TreeOp)]) -> Vec<(u32, TreeOp)> {
    second
        .iter()
        .filter_map(|&(key, op)| match op {
            TreeOp::Keep(_) | TreeOp::Ignore | TreeOp::Drop => Some((key, op)),
            TreeOp::Replace(via) => {
                let at = first.binary_search_by_key(&via, |(key, _)| *key).ok()?;
                Some((key, first[at].1))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_compose_by_the_table() {
        let first = [(1, TreeOp::Replace(7)), (2, TreeOp::Ignore), (3, TreeOp::Keep(40))];
        let second = [
            (0, TreeOp::Keep(10)),
            (4, TreeOp::Replace(1)),
            (5, TreeOp::Replace(2)),
            (6, TreeOp::Replace(3)),
            (8, TreeOp::Ignore),
            (9, TreeOp::Replace(99)),
        ];
        assert_eq!(
            compose(&first, &second),
            [
                (0, TreeOp::Keep(10)),
                (4, TreeOp::Replace(7)),
                (5, TreeOp::Ignore),
                (6, TreeOp::Keep(40)),
                (8, TreeOp::Ignore)
            ]
        );
    }
}
