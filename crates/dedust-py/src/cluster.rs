/*!
`cluster`: crawls in, which URLs show the same page out, as a table.
*/

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt32Type;
use arrow_array::{Array as _, LargeStringArray, RecordBatch, RecordBatchIterator, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use dedust_crawl::Seen;
use dedust_learn::Clusterer;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::arrow;
use crate::batch::thread_count;
use crate::inputs::{Crawl, ReadOptions};
use crate::learn::evidence_kinds;

/// A table of the URLs of a crawl, in their order: `url`, `cluster` and `evidence`. Equal clusters, equal pages; null is
/// unknown. pyarrow, Polars and pandas take it as it is.
#[pyclass(frozen, name = "Clusters", module = "dedust")]
pub(crate) struct PyClusters {
    batch: RecordBatch,
}

/// Finds which URLs of paths and tables show the same page.
#[pyfunction]
#[pyo3(signature = (inputs, *, evidence="auto", host=None, columns=None, threads=None, progress=None))]
pub(crate) fn cluster(
    inputs: &Bound<'_, PyAny>,
    evidence: &str,
    host: Option<String>,
    columns: Option<Bound<'_, PyDict>>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyClusters> {
    let (kinds, options) = (evidence_kinds(evidence)?, ReadOptions::new(host, columns.as_ref())?);
    let threads = thread_count(threads)?;
    let rows: Vec<(u64, u32, String)> = Vec::new();
    let observe = |(clusterer, rows): &mut (Clusterer, Vec<(u64, u32, String)>), seen: &Seen| {
        let url = clusterer.observe(seen.url(), &seen.clues())?;
        rows.push((seen.place(), url, String::from_utf8_lossy(seen.url()).into_owned()));
        Ok(())
    };
    let state = (Clusterer::new(kinds), rows);
    let batch =
        Crawl { inputs, options, threads, progress }.read_into(state, observe, |(clusterer, mut rows)| {
            rows.sort_by_key(|(place, ..)| *place);
            let clusters = clusterer.finish().renumbered(rows.iter().map(|(_, url, _)| *url));
            let fields = vec![
                Field::new("url", DataType::LargeUtf8, false),
                Field::new("cluster", DataType::UInt32, true),
                Field::new("evidence", DataType::Utf8, true),
            ];
            let evidence = rows.iter().map(|(_, url, _)| clusters.kinds_of(*url));
            let evidence = evidence.map(|kinds| (!kinds.is_empty()).then(|| kinds.to_string()));
            let evidence: StringArray = evidence.collect();
            let labels: UInt32Array = rows.iter().map(|(_, url, _)| clusters.cluster_of(*url)).collect();
            let urls: LargeStringArray = rows.into_iter().map(|(_, _, url)| Some(url)).collect();
            RecordBatch::try_new(
                Arc::new(Schema::new(fields)),
                vec![Arc::new(urls), Arc::new(labels), Arc::new(evidence)],
            )
            .map_err(|error| arrow::not_usable(&error))
        })?;
    Ok(PyClusters { batch })
}

#[pymethods]
impl PyClusters {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The rows as a list of pairs of a URL and its cluster.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let urls = self.batch.column(0).as_string::<i64>();
        let clusters = self.batch.column(1).as_primitive::<UInt32Type>();
        let row = |row: usize| (urls.value(row), clusters.is_valid(row).then(|| clusters.value(row)));
        PyList::new(py, (0..self.batch.num_rows()).map(row))
    }

    fn __repr__(&self) -> String {
        let clusters = self.batch.column(1).as_primitive::<UInt32Type>();
        let count = clusters.iter().flatten().max().map_or(0, |most| u64::from(most) + 1);
        format!("<dedust.Clusters of {} URLs in {count} clusters>", self.batch.num_rows())
    }

    /// The table, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        arrow::export_batches(py, Box::new(batches))
    }
}
