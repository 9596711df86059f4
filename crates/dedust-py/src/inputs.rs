/*!
What is learned from: paths of files of any format, and tables that are in memory.

A table goes the same way as a file does: the reader knows its columns by their names. Nothing is copied, and Python is not asked for
it by a thread that holds the interpreter.
*/

use std::path::PathBuf;
use std::sync::Mutex;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{ArrayReader as _, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use dedust::errors::with_causes;
use dedust_crawl::{CrawlRow, ReadCrawlError, ReadReport, RowError, read_all};
use dedust_io::{Column, NamedColumn, Preset, Reader, RowCounts};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyMapping, PyTuple};

use crate::arrow;
use crate::errors::{ReadError, warn};
use crate::text::type_name;
use crate::work;

/// How inputs are read.
#[derive(Clone, Default)]
pub(crate) struct ReadOptions {
    pub(crate) host: Option<String>,
    pub(crate) columns: Vec<NamedColumn>,
}

impl ReadOptions {
    /// The same, for those who do not ask when something was fetched.
    pub(crate) fn without_times(&self) -> Self {
        let mut columns = self.columns.clone();
        columns.retain(|named| named.column != Column::Time);
        columns.push(NamedColumn { column: Column::Time, name: None });
        Self { host: self.host.clone(), columns }
    }

    /// Columns by our names, each with the name that it has in the inputs.
    pub(crate) fn new(host: Option<String>, columns: Option<&Bound<'_, PyMapping>>) -> PyResult<Self> {
        let mut named = Vec::new();
        for (column, name) in pairs(columns)? {
            let text = format!("{column}={name}");
            let column = text.parse::<NamedColumn>();
            named.push(
                column.map_err(|error| PyValueError::new_err(format!("columns: {}", with_causes(&error))))?,
            );
        }
        Ok(Self { host, columns: named })
    }
}

/// The texts of a mapping.
pub(crate) fn pairs(mapping: Option<&Bound<'_, PyMapping>>) -> PyResult<Vec<(String, String)>> {
    match mapping {
        Some(mapping) => mapping.items()?.iter().map(|pair| pair.extract()).collect(),
        None => Ok(Vec::new()),
    }
}

/// One input.
pub(crate) enum Source {
    Path(PathBuf),
    Table(Table),
}

/// The inputs that were given: one, or a list.
pub(crate) fn sources(inputs: &Bound<'_, PyAny>) -> PyResult<Vec<Source>> {
    let mut sources = Vec::new();
    if inputs.is_instance_of::<PyList>() || inputs.is_instance_of::<PyTuple>() {
        for input in inputs.try_iter()? {
            sources.push(source(&input?)?);
        }
    } else {
        sources.push(source(inputs)?);
    }
    if sources.is_empty() {
        return Err(PyValueError::new_err("no inputs; name at least one file or give a table"));
    }
    Ok(sources)
}

fn source(input: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(path) = input.extract::<PathBuf>() {
        return Ok(Source::Path(path));
    }
    if input.hasattr("__arrow_c_stream__")? {
        let reader = arrow::import_stream(input)?;
        let of = reader.field().data_type().clone();
        return Table::new(&of, Batches::Stream(reader)).map(Source::Table);
    }
    if input.hasattr("__arrow_c_array__")? {
        let array = arrow::import_array(input)?;
        let of = array.data_type().clone();
        return Table::new(&of, Batches::One(Some(array))).map(Source::Table);
    }
    Err(PyTypeError::new_err(format!(
        "expected the path of a file, or a table with a column \"url\", not {}",
        type_name(input)
    )))
}

/// Opens inputs one after the other. Paths may be folders, patterns and lists.
pub(crate) fn open(
    sources: Vec<Source>,
    options: &ReadOptions,
) -> Result<Vec<Opening<'_>>, dedust_io::ReadError> {
    let mut opened: Vec<Opening<'_>> = Vec::new();
    for (index, source) in sources.into_iter().enumerate() {
        match source {
            Source::Path(path) => {
                for path in dedust_io::expand(&[path])? {
                    opened.push(Box::new(move || {
                        dedust_crawl::open(&path, options.host.as_deref(), &options.columns)
                    }));
                }
            }
            Source::Table(Table { names, batches }) => opened.push(Box::new(move || {
                let names: Vec<&str> = names.iter().map(|name| &**name).collect();
                Reader::of_batches(&format!("table {}", index + 1), &names, batches, &options.columns)
            })),
        }
    }
    Ok(opened)
}

/// Inputs that are to be read, and how.
pub(crate) struct Crawl<'a, 'py> {
    pub(crate) inputs: &'a Bound<'py, PyAny>,
    pub(crate) options: ReadOptions,
    pub(crate) threads: usize,
    pub(crate) progress: Option<&'a Bound<'py, PyAny>>,
}

impl Crawl<'_, '_> {
    /// Reads all rows into a state, and makes something of it, without the interpreter. What was left out is logged, also where
    /// reading fails.
    pub(crate) fn read_into<S: Send, T: Send>(
        self,
        mut state: S,
        observe: impl Fn(&mut S, &CrawlRow) -> Result<(), RowError> + Sync,
        finish: impl FnOnce(S) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let Self { inputs, options, threads, progress } = self;
        let (py, sources) = (inputs.py(), sources(inputs)?);
        let report = Mutex::new(ReadReport::default());
        let outcome = work::run(py, threads, progress, |work| {
            let opened = open(sources, &options).map_err(|error| ReadError::new_err(with_causes(&error)))?;
            let opened = opened.into_iter().map(|open| open());
            let (found, read) = read_all(opened, &mut work.reading(), |row| observe(&mut state, row));
            if let Ok(mut report) = report.lock() {
                *report = found;
            }
            read.map_err(|error| unreadable(&error))?;
            finish(state)
        });
        if let Ok(report) = report.into_inner() {
            log(py, &report)?;
        }
        outcome
    }
}

/// An input that is opened when its turn comes.
pub(crate) type Opening<'o> = Box<dyn FnOnce() -> Result<Reader, dedust_io::ReadError> + Send + 'o>;

/// A table, with the names of its columns.
pub(crate) struct Table {
    names: Vec<Box<str>>,
    batches: Batches,
}

enum Batches {
    One(Option<ArrayRef>),
    Stream(ArrayStreamReader),
}

impl Iterator for Batches {
    type Item = Result<Vec<ArrayRef>, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = match self {
            Self::One(array) => array.take().map(Ok),
            Self::Stream(reader) => reader.next(),
        };
        array.map(|array| Ok(array?.as_struct().columns().to_vec()))
    }
}

impl Table {
    fn new(of: &DataType, batches: Batches) -> PyResult<Self> {
        let DataType::Struct(fields) = of else {
            return Err(PyTypeError::new_err(format!(
                "expected a table with a column \"url\" and others that tell of the pages, not a column of type {of}"
            )));
        };
        Ok(Self { names: fields.iter().map(|field| field.name().as_str().into()).collect(), batches })
    }
}

/// Says what was left out, by Python's `logging`.
pub(crate) fn log(py: Python<'_>, report: &ReadReport) -> PyResult<()> {
    let RowCounts { good, bad, bad_columns, bad_bodies } = report.rows;
    for found in report.layouts.found() {
        for (column, unused) in &found.layout.unused_evidence {
            let name = &found.name;
            warn(
                py,
                &format!(
                    "the column \"{unused}\" of {name} looks like `{column}` and was not used; if it is, add \
                     columns={{\"{column}\": \"{unused}\"}}"
                ),
            )?;
        }
    }
    if report.layouts.has(Preset::CommonCrawl) && report.redirects == 0 {
        warn(py, "no redirects in this index of Common Crawl: they are in its subset `crawldiagnostics`")?;
    }
    for message in &report.messages {
        warn(py, message)?;
    }
    for (count, what) in [
        (bad, "rows skipped"),
        (bad_columns, "values of columns ignored"),
        (bad_bodies, "pages read in part"),
    ] {
        if count > 0 {
            warn(py, &format!("{count} {what}, of {} rows", good + bad))?;
        }
    }
    Ok(())
}

/// An exception for inputs that cannot be read.
pub(crate) fn unreadable(error: &ReadCrawlError) -> PyErr {
    ReadError::new_err(with_causes(error))
}
