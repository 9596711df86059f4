/*!
Rows that are one page by some evidence, told apart by their titles.

Sites declare wrong canonical links, most often from every page to the first; two pages with two titles are not one.
A row without a title, or with two, fits any; but where rows have different titles, it is not known which.
*/

use super::Sighting;

/// The title of rows that have none, or more than one.
pub(super) const NO_TITLE: u64 = 0;

/// The title of each row, as a hash.
#[derive(Debug, Clone, Default)]
pub(super) struct Titles {
    seen: Vec<Sighting>,
}

impl Titles {
    pub(super) fn observe(&mut self, row: u32, title: u64) {
        self.seen.push(Sighting { value: title, row });
    }

    /// The titles by row.
    pub(super) fn by_row(&mut self, row_count: usize) -> Vec<u64> {
        let mut by_row = vec![NO_TITLE; row_count];
        self.seen.sort_unstable_by_key(|sighting| (sighting.row, sighting.value));
        self.seen.dedup();
        for titles in self.seen.chunk_by(|left, right| left.row == right.row) {
            if let ([title], Some(of_row)) = (titles, by_row.get_mut(titles[0].row as usize)) {
                *of_row = title.value;
            }
        }
        by_row
    }
}

/// Sorts `rows` by title and calls `on_group` for the rows of each; for all, if there is one title at most.
pub(super) fn groups(rows: &mut [u32], titles: &[u64], mut on_group: impl FnMut(&[u32])) {
    let title_of = |row: u32| titles.get(row as usize).copied().unwrap_or(NO_TITLE);
    rows.sort_unstable_by_key(|&row| (title_of(row), row));
    let known = rows.partition_point(|&row| title_of(row) == NO_TITLE);
    let (first, last) = (rows.get(known), rows.last());
    if first.map(|&row| title_of(row)) == last.map(|&row| title_of(row)) || known == rows.len() {
        on_group(rows);
    } else {
        rows.chunk_by(|&left, &right| title_of(left) == title_of(right)).for_each(on_group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(titles: &[u64]) -> Vec<Vec<u32>> {
        let mut rows: Vec<u32> = (0..titles.len() as u32).collect();
        let mut found = Vec::new();
        groups(&mut rows, titles, |group| found.push(group.to_vec()));
        found
    }

    #[test]
    fn rows_without_a_title_fit_the_only_one() {
        assert_eq!(grouped(&[7, NO_TITLE, 7]), [[1, 0, 2]]);
        assert_eq!(grouped(&[NO_TITLE, NO_TITLE]), [[0, 1]]);
        assert_eq!(grouped(&[7, NO_TITLE, 8, 7]), [vec![1], vec![0, 3], vec![2]]);
    }

    #[test]
    fn a_row_with_two_titles_has_none() {
        let mut titles = Titles::default();
        [(0, 7), (1, 7), (1, 8), (0, 7), (9, 7)]
            .into_iter()
            .for_each(|(row, title)| titles.observe(row, title));
        assert_eq!(titles.by_row(3), [7, NO_TITLE, NO_TITLE]);
    }
}
