/*!
What workers of a cluster do with batches of rows, and what their driver does with what they found: `Census`, `SamplePlan` and
`Sampler`, for `dedust.spread`. What becomes of the rows of a site is in [`crate::site_reducer`].

Batches come in as Arrow tables and go out as [`Rows`]. What is counted, drawn and learned is the business of `dedust-learn`.
*/

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field};
use dedust::errors::with_causes;
use dedust_crawl::{CrawlRow, ReadCrawlError, ReadReport, RowError, read_all};
use dedust_io::RowCounts;
use dedust_learn::Training;
use dedust_learn::support::{
    Census, Groups, Purpose, SamplePlan, ShardSampler, Sightings, SiteSize, Stage, StoredSite, Unchecked,
    find_mirrors,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{DedustError, ReadError, TrainError};
use crate::inputs::{self, ReadOptions};
use crate::learn::PyTrainer;
use crate::rows::Rows;
use crate::site_rows::LearnedRows;

/// The columns that make up the size of a site.
const SIZE: [&str; 4] = ["rows", "bytes", "parts", "digest"];

/// Rows of a batch that goes out.
const BATCH_ROWS: usize = 10_000;
/// Bytes of observations in it.
const BATCH_BYTES: usize = 16 << 20;

/// Observations that go out, with their sites.
#[derive(Default)]
struct Drawn {
    sites: StringBuilder,
    records: BinaryBuilder,
    rows: usize,
    bytes: usize,
    batches: Vec<Vec<ArrayRef>>,
}

impl Drawn {
    fn push(&mut self, site: &str, record: &[u8]) {
        self.sites.append_value(site);
        self.records.append_value(record);
        self.rows += 1;
        self.bytes += record.len();
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.end_batch();
        }
    }

    fn end_batch(&mut self) {
        self.batches.push(vec![Arc::new(self.sites.finish()), Arc::new(self.records.finish())]);
        (self.rows, self.bytes) = (0, 0);
    }

    fn finish(mut self) -> PyResult<Rows> {
        if self.rows > 0 {
            self.end_batch();
        }
        let fields =
            vec![Field::new("site", DataType::Utf8, true), Field::new("record", DataType::Binary, true)];
        Rows::new(fields, self.batches)
    }
}

/// Reads the rows of a table, whatever is wrong with some or all of them.
fn read_table(
    table: &Bound<'_, PyAny>,
    options: &ReadOptions,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError> + Send,
) -> PyResult<RowCounts> {
    let (py, sources) = (table.py(), inputs::sources(table)?);
    py.detach(|| {
        let opened = inputs::open(sources, options);
        let opened = opened.map_err(|error| ReadError::new_err(with_causes(&error)))?;
        let (ReadReport { rows, .. }, read) =
            read_all(opened.into_iter().map(|open| open()), &mut (), observe);
        match read {
            // A batch is a small part of a table, of which other parts may be better.
            Ok(())
            | Err(
                ReadCrawlError::NoUrls { .. } | ReadCrawlError::Read(dedust_io::ReadError::MostlyBad { .. }),
            ) => Ok(rows),
            Err(error) => Err(inputs::unreadable(&error)),
        }
    })
}

/// The names of the columns of a table, which may be empty, that are not used.
#[pyfunction]
pub(crate) fn unused_columns(trainer: Py<PyTrainer>, table: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let (py, sources) = (table.py(), inputs::sources(table)?);
    py.detach(|| {
        let unreadable = |error: dedust_io::ReadError| ReadError::new_err(with_causes(&error));
        let opened = inputs::open(sources, trainer.get().read_options()).map_err(unreadable)?;
        let mut unused = Vec::new();
        for open in opened {
            let layout = open().map_err(unreadable)?.layout();
            unused.extend(layout.unwrap_or_default().ignored.into_iter().map(String::from));
        }
        Ok(unused)
    })
}

/// The rows, bytes and parts of URLs below which a site need not be named to a plan.
#[pyfunction]
pub(crate) fn always_whole(trainer: Py<PyTrainer>) -> (u64, u64, u64) {
    let SiteSize { rows, bytes, parts, .. } = trainer.get().options().sample_size().always_whole();
    (rows, bytes, parts)
}

fn purpose(name: &str) -> PyResult<Purpose> {
    match name {
        "learn" => Ok(Purpose::Learn),
        "evaluate" => Ok(Purpose::Evaluate),
        _ => Err(PyValueError::new_err(format!("purpose=\"{name}\", expected learn or evaluate"))),
    }
}

/// Counts the rows of each site.
#[pyclass(name = "Census", module = "dedust._dedust")]
pub(crate) struct PyCensus {
    options: ReadOptions,
    census: Census,
    counts: RowCounts,
}

#[pymethods]
impl PyCensus {
    #[new]
    #[pyo3(signature = (trainer, purpose="learn"))]
    fn new(trainer: Py<PyTrainer>, purpose: &str) -> PyResult<Self> {
        let census = Census::new(self::purpose(purpose)?, trainer.get().inner().finds_mirrors());
        let options = trainer.get().read_options().without_times();
        Ok(Self { options, census, counts: RowCounts::default() })
    }

    /// Counts the rows of a table.
    fn take(&mut self, table: &Bound<'_, PyAny>) -> PyResult<()> {
        let Self { options, census, counts } = self;
        let more = read_table(table, options, |row| Ok(census.observe(row.url(), &row.clues())?))?;
        counts.good += more.good;
        counts.bad += more.bad;
        counts.bad_columns += more.bad_columns;
        Ok(())
    }

    /// Rows that were read, rows that were skipped, values that were ignored, and URLs that are too long to be learned from.
    #[getter]
    fn counts(&self) -> (u64, u64, u64, u64) {
        let RowCounts { good, bad, bad_columns, .. } = self.counts;
        (good, bad, bad_columns, self.census.too_long())
    }

    /// The sites, and what tells of mirrors. Nothing is left here.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<(Rows, Bound<'py, PyBytes>)> {
        let (sites, sightings) = std::mem::take(&mut self.census).finish();
        let mut names = StringBuilder::new();
        let mut numbers: [Int64Builder; 4] = Default::default();
        for StoredSite { name, size, .. } in &sites {
            names.append_value(name);
            let SiteSize { rows, bytes, parts, digest } = *size;
            for (column, number) in numbers.iter_mut().zip([rows, bytes, parts, digest]) {
                column.append_value(number.cast_signed());
            }
        }
        let mut fields = vec![Field::new("site", DataType::Utf8, true)];
        fields.extend(SIZE.map(|name| Field::new(name, DataType::Int64, true)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(names.finish())];
        columns.extend(numbers.map(|mut column| Arc::new(column.finish()) as ArrayRef));
        Ok((Rows::new(fields, vec![columns])?, PyBytes::new(py, &py.detach(|| sightings.to_bytes()))))
    }
}

fn sightings(bytes: &[u8]) -> PyResult<Sightings> {
    Sightings::from_bytes(bytes)
        .ok_or_else(|| PyValueError::new_err("these bytes are no sightings of a census"))
}

/// What several workers found that tells of mirrors, put together. In any order it is the same.
#[pyfunction]
pub(crate) fn merge_sightings<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| {
        let mut merged = Sightings::default();
        for part in &parts {
            merged.merge(sightings(part)?);
        }
        Ok::<_, PyErr>(merged.to_bytes())
    })?;
    Ok(PyBytes::new(py, &merged))
}

/// The names of sites that may be mirrors, or have some.
#[pyfunction]
pub(crate) fn declared_sites(bytes: &[u8]) -> PyResult<Vec<String>> {
    Ok(sightings(bytes)?.declared_sites())
}

/// How sites are sampled.
#[pyclass(name = "SamplePlan", module = "dedust._dedust")]
pub(crate) struct PySamplePlan {
    plan: SamplePlan,
    /// The rules of mirrors.
    mirrors: Training,
}

#[pymethods]
impl PySamplePlan {
    /// `sites` are those that are large, those that are among `declared_sites(found)`, and those that the trainer takes for
    /// mirrors; each by name, and the four numbers of its size. Others may be among them.
    #[new]
    fn new(trainer: Py<PyTrainer>, sites: Vec<(String, [u64; 4])>, found: &[u8]) -> PyResult<Self> {
        let trainer = trainer.get();
        let mut sites: Vec<StoredSite> = sites
            .into_iter()
            .map(|(name, [rows, bytes, parts, digest])| {
                let size = SiteSize { rows, bytes, parts, digest };
                StoredSite { size, ..StoredSite::new(name) }
            })
            .collect();
        if trainer.inner().finds_mirrors() {
            find_mirrors(sightings(found)?, &trainer.options().mirror, &mut sites);
        }
        let mut plan = SamplePlan::new(trainer.options().sample_size());
        sites.iter().for_each(|site| plan.add(site));
        let mirrors = trainer.inner().train_mirrors(&sites);
        Ok(Self { plan, mirrors: mirrors.map_err(|error| TrainError::new_err(with_causes(&error)))? })
    }

    /// Whether there are large sites, of which groups have to be found.
    #[getter]
    fn has_large_sites(&self) -> bool {
        self.plan.has_large_sites()
    }

    /// Says how the URLs of large sites are grouped: sites with what a `SiteReducer` found. Those that are not among them have no rows
    /// that tell.
    fn set_groups(&mut self, found: Vec<(String, Vec<u8>)>) {
        self.plan.set_groups(found.into_iter().map(|(site, groups)| {
            let keys = groups.as_chunks::<8>().0.iter().map(|key| u64::from_le_bytes(*key));
            (site, Groups::of_varying_keys(keys))
        }));
    }

    /// The plan for sites of which too few rows were drawn.
    fn wider(&self, sites: Vec<String>) -> Self {
        Self { plan: self.plan.wider(sites.iter().map(String::as_str)), mirrors: Training::default() }
    }

    /// The plan to hold rules of large sites against all of their rows: what a `SiteReducer` gave as those of `unchecked` sites.
    fn to_check(&self, unchecked: Vec<Vec<u8>>) -> PyResult<Self> {
        let read = |json: &Vec<u8>| {
            let unchecked = std::str::from_utf8(json).ok().and_then(Unchecked::from_json);
            unchecked
                .ok_or_else(|| PyValueError::new_err("these are no rules that a SiteReducer left unchecked"))
        };
        let unchecked = unchecked.iter().map(read).collect::<PyResult<Vec<Unchecked>>>()?;
        Ok(Self { plan: self.plan.to_check(unchecked), mirrors: Training::default() })
    }

    /// The rules of sites that show the pages of another, as a `SiteReducer` gives those of others.
    fn mirrors(&self) -> PyResult<Rows> {
        let mut rows = LearnedRows::default();
        for report in &self.mirrors.sites {
            rows.push_site(&report.site, &self.mirrors)?;
        }
        rows.finish()
    }

    /// The plan as text, without mirrors.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.plan).map_err(|error| DedustError::new_err(error.to_string()))
    }

    /// Reads the text of a plan.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        let plan = serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { plan, mirrors: Training::default() })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let arguments = (slf.borrow().to_json()?,).into_pyobject(slf.py())?;
        Ok((slf.get_type().getattr("from_json")?, arguments))
    }
}

impl PySamplePlan {
    pub(crate) fn inner(&self) -> &SamplePlan {
        &self.plan
    }
}

fn stage(name: &str) -> PyResult<Stage> {
    match name {
        "pilot" => Ok(Stage::Pilot),
        "draw" => Ok(Stage::Draw),
        "check" => Ok(Stage::Check),
        _ => Err(PyValueError::new_err(format!("stage=\"{name}\", expected pilot, draw or check"))),
    }
}

/// Draws rows of sites.
#[pyclass(name = "Sampler", module = "dedust._dedust")]
pub(crate) struct PySampler {
    options: ReadOptions,
    sampler: Option<ShardSampler>,
}

#[pymethods]
impl PySampler {
    #[new]
    #[pyo3(signature = (trainer, plan, stage, purpose="learn"))]
    fn new(trainer: Py<PyTrainer>, plan: &PySamplePlan, stage: &str, purpose: &str) -> PyResult<Self> {
        let stage = self::stage(stage)?;
        let options = trainer.get().read_options();
        let options = if stage == Stage::Pilot { options.without_times() } else { options.clone() };
        Ok(Self { options, sampler: Some(ShardSampler::new(&plan.plan, stage, self::purpose(purpose)?)) })
    }

    /// Reads a table, and gives the rows that go on at once.
    fn take(&mut self, table: &Bound<'_, PyAny>) -> PyResult<Rows> {
        let sampler = self.sampler.as_mut().ok_or_else(is_finished)?;
        let mut drawn = Drawn::default();
        read_table(table, &self.options, |row| {
            let time = row.time().map(str::as_bytes);
            Ok(sampler.observe(row.url(), &row.clues(), time, |site, record| drawn.push(site, record))?)
        })?;
        drawn.finish()
    }

    /// The rows that were drawn of large sites.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Rows> {
        let sampler = self.sampler.take().ok_or_else(is_finished)?;
        let mut drawn = Drawn::default();
        py.detach(|| sampler.finish(|site, record| drawn.push(site, record)));
        drawn.finish()
    }
}

fn is_finished() -> PyErr {
    PyValueError::new_err("it is finished; make another one")
}
