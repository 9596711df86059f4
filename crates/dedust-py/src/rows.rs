/*!
`Rows`: the rows of a table that goes out.

Batches of columns in, an Arrow stream out. What the columns say is the business of those who make them.
*/

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow;

/// Rows of a table, by the Arrow PyCapsule interface.
#[pyclass(frozen, subclass, name = "Rows", module = "dedust._dedust")]
pub(crate) struct Rows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        arrow::export_batches(py, Box::new(RecordBatchIterator::new(batches, self.schema.clone())))
    }
}

impl Rows {
    /// A table of these fields: for each batch, its columns.
    pub(crate) fn new(fields: Vec<Field>, columns: Vec<Vec<ArrayRef>>) -> PyResult<Self> {
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let batches = columns.into_iter().map(|columns| RecordBatch::try_new(schema.clone(), columns));
        let batches = batches.collect::<Result<_, _>>().map_err(|error| arrow::not_usable(&error))?;
        Ok(Self { schema, batches })
    }

    pub(crate) fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }
}
