/*!
`cluster`: crawls in, which URLs show the same page out, as a table.
*/

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt32Type;
use arrow_array::{LargeStringArray, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use dedust_crawl::CrawlRow;
use dedust_learn::support::Clusterer;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyMapping};

use crate::batch::thread_count;
use crate::inputs::{Crawl, ReadOptions};
use crate::learn::evidence_kinds;
use crate::rows::Rows;

/// A table of the URLs of a crawl, in their order: `url`, `cluster` and `evidence`. Equal clusters, equal pages; null is
/// unknown. pyarrow, Polars and pandas take it as it is.
#[pyclass(frozen, extends = Rows, name = "Clusters", module = "dedust")]
pub(crate) struct PyClusters;

/// Finds which URLs of paths and tables show the same page.
#[pyfunction]
#[pyo3(signature = (inputs, *, evidence="auto", host=None, columns=None, threads=None, progress=None))]
pub(crate) fn cluster(
    inputs: &Bound<'_, PyAny>,
    evidence: &str,
    host: Option<String>,
    columns: Option<Bound<'_, PyMapping>>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyClusters>> {
    let (kinds, options) = (evidence_kinds(evidence)?, ReadOptions::new(host, columns.as_ref())?);
    let threads = thread_count(threads)?;
    let rows: Vec<(u64, u32, String)> = Vec::new();
    let observe = |(clusterer, rows): &mut (Clusterer, Vec<(u64, u32, String)>), row: &CrawlRow| {
        let url = clusterer.observe(row.url(), &row.clues())?;
        rows.push((row.row_number(), url, String::from_utf8_lossy(row.url()).into_owned()));
        Ok(())
    };
    let state = (Clusterer::new(kinds), rows);
    let rows =
        Crawl { inputs, options, threads, progress }.read_into(state, observe, |(clusterer, mut rows)| {
            rows.sort_by_key(|(number, ..)| *number);
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
            Rows::new(fields, vec![vec![Arc::new(urls), Arc::new(labels), Arc::new(evidence)]])
        })?;
    Py::new(inputs.py(), PyClassInitializer::from(rows).add_subclass(PyClusters))
}

#[pymethods]
impl PyClusters {
    /// The rows as a list of pairs of a URL and its cluster.
    fn to_pylist<'py>(slf: PyRef<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let mut rows = Vec::new();
        for batch in slf.as_super().batches() {
            let (urls, clusters) = (batch.column(0).as_string::<i64>(), clusters(batch));
            rows.extend(urls.iter().zip(clusters.iter()));
        }
        PyList::new(slf.py(), rows)
    }

    fn __repr__(slf: PyRef<'_, Self>) -> String {
        let batches = slf.as_super().batches();
        let urls: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let most = batches.iter().flat_map(|batch| clusters(batch).iter().flatten()).max();
        let count = most.map_or(0, |most| u64::from(most) + 1);
        format!("<dedust.Clusters of {urls} URLs in {count} clusters>")
    }
}

fn clusters(batch: &RecordBatch) -> &UInt32Array {
    batch.column(1).as_primitive::<UInt32Type>()
}
