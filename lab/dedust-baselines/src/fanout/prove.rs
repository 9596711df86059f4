/*!
Runs rules on the training URLs.

URLs that a rule covers are rewritten; URLs that have such a result already meet them. Once it is known which keys mean
nothing, a URL's form is what is left of it without them: a result with a wildcard never equals a real URL.
*/

use dedust_learn::support::{PairCounter, PairCounts};

use super::context_index::ContextIndex;
use super::proof::{Forms, Merges};
use super::select::Candidate;
use super::table::{FanoutOp, STAR, Table, Transformations, WideRule, mix};

pub(super) struct Prover<'t, 'c> {
    pub(super) table: &'t Table<'c>,
    forms: Forms,
    counter: PairCounter,
    /// By row: the values that mean nothing, as positions in its shape.
    forgotten: Vec<Box<[u32]>>,
}

impl<'t, 'c> Prover<'t, 'c> {
    /// No key is known to mean nothing yet.
    pub(super) fn new(table: &'t Table<'c>) -> Self {
        let forgotten = vec![Box::default(); table.corpus.len()];
        let forms = Forms::new(std::iter::empty());
        let mut prover = Self { table, forms, counter: PairCounter::default(), forgotten };
        prover.forms = prover.current_forms();
        prover
    }

    /// The rows that each rule covers.
    pub(super) fn matches(&self, rules: &[WideRule]) -> Vec<Vec<u32>> {
        let index = ContextIndex::new(rules.iter());
        let mut rows_by_rule = vec![Vec::new(); rules.len()];
        for row in 0..self.table.corpus.len() as u32 {
            let values = self.table.values(row);
            for at in index.covering(self.table.shape(row), values) {
                if rules[at as usize].fits(values) {
                    rows_by_rule[at as usize].push(row);
                }
            }
        }
        rows_by_rule
    }

    /// Takes the values that these rules forget as meaningless from now on. The first that covers a URL counts.
    pub(super) fn project(&mut self, forgetting: &[Candidate], transformations: &Transformations) {
        self.forgotten.fill(Box::default());
        let rules: Vec<WideRule> = forgetting.iter().map(|candidate| candidate.rule.clone()).collect();
        let mut is_done = vec![false; self.table.corpus.len()];
        for (rule, rows) in rules.iter().zip(self.matches(&rules)) {
            let ops = transformations.get(rule.transformation);
            let positions: Box<[u32]> =
                (0u32..).zip(ops).filter(|(_, (_, op))| *op == FanoutOp::Star).map(|(at, _)| at).collect();
            for row in rows {
                if !std::mem::replace(&mut is_done[row as usize], true) {
                    self.forgotten[row as usize].clone_from(&positions);
                }
            }
        }
        self.forms = self.current_forms();
    }

    /// The values of a row, with [`STAR`] for those that mean nothing.
    pub(super) fn projected(&self, row: u32) -> Vec<u32> {
        let mut values = self.table.values(row).to_vec();
        for &position in &self.forgotten[row as usize] {
            values[position as usize] = STAR;
        }
        values
    }

    /// What a rule of this shape does to the rows it covers.
    pub(super) fn merges(&self, rows: &[u32], ops: &[(u32, FanoutOp)], shape: u32) -> Merges {
        let keys = self.table.keys(shape);
        let reads: Vec<(u32, Result<usize, u32>)> = ops
            .iter()
            .map(|&(to, op)| match op {
                FanoutOp::Literal(value) => (to, Err(value)),
                FanoutOp::Copy(from) => (to, keys.binary_search(&from).map_err(|_| STAR)),
                FanoutOp::Star => (to, Err(STAR)),
            })
            .collect();
        let result = |row: u32| {
            let values = self.table.values(row);
            reads.iter().fold(0u64, |sum, &(to, read)| {
                sum.wrapping_add(mix(to, read.map_or_else(|value| value, |at| values[at])))
            })
        };
        Merges::new(rows.iter().map(|&row| (result(row), row)).collect(), &self.forms)
    }

    /// The pairs that a rule brings together.
    pub(super) fn count(&mut self, rows: &[u32], ops: &[(u32, FanoutOp)], shape: u32) -> PairCounts {
        let merges = self.merges(rows, ops, shape);
        merges.counts(self.table.corpus, &mut self.counter)
    }

    fn current_forms(&self) -> Forms {
        Forms::new((0..self.table.corpus.len() as u32).map(|row| {
            let keys = self.table.keys(self.table.shape(row));
            let form = keys
                .iter()
                .zip(self.projected(row))
                .fold(0u64, |sum, (&key, value)| sum.wrapping_add(mix(key, value)));
            (form, row)
        }))
    }
}
