/*!
`dedup --budgets`: what is not worth fetching is left out, and counted by pattern.
*/

use std::path::Path;

use dedust_budget::{BudgetBook, Budgets};

use super::piece::Tally;
use crate::cmd::budget;
use crate::number::{count, counted, percent_of};
use crate::printer::Printer;
use crate::table::{Align, Table};

/// Patterns that are shown.
const SHOWN_PATTERNS: usize = 10;

/// Budgets, and the same ready for lookup.
pub(super) struct Budgeted {
    budgets: Budgets,
    book: BudgetBook,
}

impl Budgeted {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let budgets = budget::load(path)?;
        Ok(Self { book: BudgetBook::new(&budgets), budgets })
    }

    pub(super) fn book(&self) -> &BudgetBook {
        &self.book
    }

    /// Says how many URLs were not worth fetching, and of which patterns.
    pub(super) fn report(&self, tally: &Tally, printer: &mut Printer) {
        let deferred: u64 = tally.deferred.iter().sum();
        printer.note(format_args!(
            "{} of {} not fetched because of budgets, {}",
            count(deferred),
            counted(tally.urls, "URL", "URLs"),
            percent_of(deferred, tally.urls)
        ));
        let mut patterns: Vec<_> = self.budgets.patterns.iter().zip(&tally.deferred).collect();
        patterns.retain(|(_, count)| **count > 0);
        patterns.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        if patterns.is_empty() {
            return;
        }
        let columns = [("not fetched", Align::Right), ("verdict", Align::Left), ("pattern", Align::Left)];
        let mut table = Table::with_columns(&columns);
        for (pattern, deferred) in patterns.iter().take(SHOWN_PATTERNS) {
            table.push([count(**deferred), pattern.verdict.words().to_owned(), pattern.to_string()]);
        }
        printer.note(table);
        if patterns.len() > SHOWN_PATTERNS {
            let more = (patterns.len() - SHOWN_PATTERNS) as u64;
            printer.note(format_args!("and {}", counted(more, "pattern more", "patterns more")));
        }
    }
}
