/*!
`evaluate`: rules and URLs whose pages are known in, figures out.
*/

use dedust::ParsedUrl;
use dedust_crawl::CrawlRow;
use dedust_eval::{Evaluator, Scores};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::batch::thread_count;
use crate::errors::DedustError;
use crate::html;
use crate::inputs::{Crawl, ReadOptions};
use crate::learn::{evidence_kinds, to_python};
use crate::normalizer::PyNormalizer;

/// How good rules are on URLs whose pages are known.
#[pyclass(frozen, name = "Evaluation", module = "dedust")]
pub(crate) struct PyEvaluation {
    evaluation: dedust_eval::Evaluation,
}

/// Scores a normalizer on paths and tables of URLs whose pages are known.
#[pyfunction]
#[pyo3(signature = (normalizer, inputs, *, evidence="auto", host=None, columns=None, threads=None, progress=None))]
pub(crate) fn evaluate(
    normalizer: &Bound<'_, PyNormalizer>,
    inputs: &Bound<'_, PyAny>,
    evidence: &str,
    host: Option<String>,
    columns: Option<Bound<'_, PyMapping>>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyEvaluation> {
    let (kinds, options) = (evidence_kinds(evidence)?, ReadOptions::new(host, columns.as_ref())?);
    let threads = thread_count(threads)?;
    let normalizer = normalizer.get().inner();
    let state = (Evaluator::new(normalizer, kinds), ParsedUrl::default());
    let observe = |(evaluator, url): &mut (Evaluator<'_>, ParsedUrl), row: &CrawlRow| {
        url.parse_from(row.url())?;
        evaluator.observe(row.url(), &row.clues());
        Ok(())
    };
    let finish = |(evaluator, _): (Evaluator<'_>, ParsedUrl)| Ok(evaluator.finish());
    let evaluation = Crawl { inputs, options, threads, progress }.read_into(state, observe, finish)?;
    if evaluation.sites.is_empty() {
        return Err(DedustError::new_err(format!(
            "the pages of all {} URLs are unknown, so there is nothing to compare with; the input needs a `cluster` or `page` \
             column, or other evidence: canonical, redirect, digest, text_digest, or simhash with title",
            evaluation.unlabelled
        )));
    }
    Ok(PyEvaluation { evaluation })
}

#[pymethods]
impl PyEvaluation {
    /// Figures by site, as `dedust evaluate --format json` has them.
    #[getter]
    fn sites<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sites = PyDict::new(py);
        for (site, scores) in &self.evaluation.sites {
            sites.set_item(&**site, figures(py, scores)?)?;
        }
        Ok(sites)
    }

    /// Figures of all URLs pooled.
    #[getter]
    fn micro<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        figures(py, &self.evaluation.micro)
    }

    /// The mean over sites, by keys. `dup_reduction` is None where no site has duplicates.
    #[getter]
    fn macro_average<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.evaluation.macro_average)
    }

    /// URLs left out because their page is not known.
    #[getter]
    fn unlabelled(&self) -> usize {
        self.evaluation.unlabelled
    }

    fn __repr__(&self) -> String {
        let key = &self.evaluation.micro.key;
        format!(
            "<dedust.Evaluation of {} URLs on {} sites: precision {:.4}, recall {:.4}, F1 {:.4}>",
            key.urls,
            self.evaluation.sites.len(),
            key.precision,
            key.recall,
            key.f1
        )
    }

    fn _repr_html_(&self) -> String {
        let row = |name: &str, scores: &Scores| {
            let key = &scores.key;
            let figures = [key.compression, key.fpr, key.precision, key.recall, key.f1];
            let mut cells = vec![name.to_owned(), key.urls.to_string(), key.pages.to_string()];
            cells.extend(figures.iter().map(|figure| format!("{figure:.4}")));
            cells
        };
        let sites = self.evaluation.sites.iter().map(|(site, scores)| row(site, scores));
        let rows = sites.chain([row("all URLs", &self.evaluation.micro)]);
        html::table(&["site", "URLs", "pages", "compression", "fpr", "precision", "recall", "F1"], rows)
    }
}

/// Figures by key, and under `url` by canonical URL.
fn figures<'py>(py: Python<'py>, scores: &Scores) -> PyResult<Bound<'py, PyAny>> {
    let figures = to_python(py, &scores.key)?;
    figures.set_item("dup_reduction", scores.key.dup_reduction_or_one())?;
    figures.set_item("live", scores.live)?;
    figures.set_item("canonical_urls", to_python(py, &scores.canonical)?)?;
    figures.set_item("changed", scores.changed)?;
    figures.set_item("keep_all_f1", scores.keep_all.f1)?;
    let url = to_python(py, &scores.url)?;
    url.set_item("dup_reduction", scores.url.dup_reduction_or_one())?;
    figures.set_item("url", url)?;
    Ok(figures)
}
