/*!
A set of rows.
*/

/// A set of rows, one bit for each.
pub(in crate::canonfd) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    /// Those of `rows`, which are all below `end`.
    pub(in crate::canonfd) fn of(rows: impl Iterator<Item = u32>, end: usize) -> Self {
        let mut words = vec![0u64; end.div_ceil(64)];
        rows.for_each(|row| words[row as usize / 64] |= 1 << (row % 64));
        Self { words }
    }

    pub(in crate::canonfd) fn contains(&self, row: u32) -> bool {
        self.words[row as usize / 64] >> (row % 64) & 1 == 1
    }

    /// The rows in order.
    pub(in crate::canonfd) fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    at as u32 * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_and_once() {
        let set = RowSet::of([129, 0, 63, 64, 129].into_iter(), 130);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert!(set.contains(64) && !set.contains(65) && !set.contains(128));
    }
}
