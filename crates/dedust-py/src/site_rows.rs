/*!
What was made of sites, as rows of a table: how their URLs are grouped, their rules, or how good rules are.

Sites come in one at a time, and [`Rows`] go out. A site without rules or figures is a row that says why.
*/

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field};
use dedust::errors::with_causes;
use dedust_learn::Training;
use dedust_learn::support::Unchecked;
use pyo3::prelude::*;

use crate::errors::{DedustError, TrainError};
use crate::rows::Rows;

/// Sites with the groups of their URLs.
#[derive(Default)]
pub(crate) struct GroupRows {
    sites: StringBuilder,
    groups: BinaryBuilder,
}

impl GroupRows {
    pub(crate) fn push(&mut self, site: &str, groups: &[u8]) {
        self.sites.append_value(site);
        self.groups.append_value(groups);
    }

    pub(crate) fn finish(mut self) -> PyResult<Rows> {
        let fields =
            vec![Field::new("site", DataType::Utf8, true), Field::new("groups", DataType::Binary, true)];
        Rows::new(fields, vec![vec![Arc::new(self.sites.finish()), Arc::new(self.groups.finish())]])
    }
}

/// Sites with their rules.
#[derive(Default)]
pub(crate) struct LearnedRows {
    sites: StringBuilder,
    rules: BinaryBuilder,
    /// URLs, pages, saved, promise, observations.
    numbers: [Int64Builder; 5],
    states: StringBuilder,
    errors: StringBuilder,
}

impl LearnedRows {
    /// Adds a site of a training.
    pub(crate) fn push_site(&mut self, name: &str, training: &Training) -> PyResult<()> {
        let found = training.sites.iter().find(|report| &*report.site == name);
        let Some((report, rules)) = found.zip(training.rules.site(name)) else { return Ok(()) };
        let mut alone = training.rules.without_sites();
        let mut json = Vec::new();
        alone.insert(name, rules.clone()).map_err(|error| TrainError::new_err(with_causes(&error)))?;
        alone.save(&mut json).map_err(|error| DedustError::new_err(error.to_string()))?;
        self.sites.append_value(name);
        self.rules.append_value(json);
        let promise = rules.summary().promise.map(|promise| promise.lost.cast_signed());
        let numbers = [
            Some(report.urls as i64),
            Some(report.pages as i64),
            Some(report.saved as i64),
            promise,
            Some(report.observations.cast_signed()),
        ];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.append_option(number));
        self.states.append_value("learned");
        self.errors.append_null();
        Ok(())
    }

    /// Adds a large site, whose rules are to be held against all of its rows.
    pub(crate) fn push_unchecked(&mut self, unchecked: &Unchecked) {
        self.sites.append_value(unchecked.site());
        self.rules.append_value(unchecked.to_json());
        self.numbers.iter_mut().for_each(Int64Builder::append_null);
        self.states.append_value("unchecked");
        self.errors.append_null();
    }

    pub(crate) fn push_failure(&mut self, name: &str, state: &str, error: Option<&str>) {
        self.sites.append_value(name);
        self.rules.append_null();
        self.numbers.iter_mut().for_each(Int64Builder::append_null);
        self.states.append_value(state);
        self.errors.append_option(error);
    }

    pub(crate) fn finish(mut self) -> PyResult<Rows> {
        let mut fields =
            vec![Field::new("site", DataType::Utf8, true), Field::new("rules", DataType::Binary, true)];
        let numbers = ["urls", "pages", "saved", "promise", "observations"];
        fields.extend(numbers.map(|name| Field::new(name, DataType::Int64, true)));
        fields.extend(["state", "error"].map(|name| Field::new(name, DataType::Utf8, true)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.sites.finish()), Arc::new(self.rules.finish())];
        columns.extend(self.numbers.iter_mut().map(|column| -> ArrayRef { Arc::new(column.finish()) }));
        columns.push(Arc::new(self.states.finish()));
        columns.push(Arc::new(self.errors.finish()));
        Rows::new(fields, vec![columns])
    }
}

/// Sites with figures.
#[derive(Default)]
pub(crate) struct EvaluatedRows {
    sites: StringBuilder,
    /// URLs, pages, URLs whose page is not known.
    numbers: [Int64Builder; 3],
    /// Compression, fpr, precision, recall, F1.
    shares: [Float64Builder; 5],
    states: StringBuilder,
    errors: StringBuilder,
}

impl EvaluatedRows {
    pub(crate) fn push(&mut self, name: &str, evaluation: &dedust_eval::Evaluation) {
        self.sites.append_value(name);
        let key = &evaluation.micro.key;
        let numbers = [key.urls as i64, key.pages as i64, evaluation.unlabelled as i64];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.append_value(number));
        let shares = [key.compression, key.fpr, key.precision, key.recall, key.f1];
        self.shares.iter_mut().zip(shares).for_each(|(column, share)| column.append_value(share));
        self.states.append_value("learned");
        self.errors.append_null();
    }

    pub(crate) fn push_failure(&mut self, name: &str, state: &str, error: Option<&str>) {
        self.sites.append_value(name);
        self.numbers.iter_mut().for_each(Int64Builder::append_null);
        self.shares.iter_mut().for_each(Float64Builder::append_null);
        self.states.append_value(state);
        self.errors.append_option(error);
    }

    pub(crate) fn finish(mut self) -> PyResult<Rows> {
        let mut fields = vec![Field::new("site", DataType::Utf8, true)];
        fields.extend(["urls", "pages", "unlabelled"].map(|name| Field::new(name, DataType::Int64, true)));
        let shares = ["compression", "fpr", "precision", "recall", "f1"];
        fields.extend(shares.map(|name| Field::new(name, DataType::Float64, true)));
        fields.extend(["state", "error"].map(|name| Field::new(name, DataType::Utf8, true)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.sites.finish())];
        columns.extend(self.numbers.iter_mut().map(|column| -> ArrayRef { Arc::new(column.finish()) }));
        columns.extend(self.shares.iter_mut().map(|column| -> ArrayRef { Arc::new(column.finish()) }));
        columns.push(Arc::new(self.states.finish()));
        columns.push(Arc::new(self.errors.finish()));
        Rows::new(fields, vec![columns])
    }
}
