/*!
Columns of text, aligned. Takes rows, gives lines; prints nothing itself (see [`crate::printer`]).
*/

use std::fmt;

/// On which side the cells of a column meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A heading, and rows of as many cells.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose first column holds words and all others numbers.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let columns =
            (0..headings.len()).map(|at| if at == 0 { Align::Left } else { Align::Right }).collect();
        let heading = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Self { columns, rows: vec![heading] }
    }

    /// A table whose columns hold what is said.
    pub(crate) fn with_columns(columns: &[(&str, Align)]) -> Self {
        let heading = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        Self { columns: columns.iter().map(|(_, align)| *align).collect(), rows: vec![heading] }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for ((cell, align), width) in row.iter().zip(&self.columns).zip(&widths) {
                if !line.is_empty() {
                    line.push_str("  ");
                }
                line.push_str(&match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                });
            }
            let separator = if at == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_meet_left_and_numbers_right() {
        let mut table = Table::new(&["site", "URLs"]);
        table.push(["a.example".into(), "7".into()]);
        table.push(["b".into(), "1,200".into()]);
        assert_eq!(table.to_string(), "site        URLs\na.example      7\nb          1,200");
    }
}
