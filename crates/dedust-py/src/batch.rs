/*!
Many URLs at once: without the interpreter, on as many threads as asked for, and interruptible.

Rows are worked on in waves, some ten thousand for each thread. Between waves signals are looked at, so that Control-C ends a
long call. Threads end with their wave.
*/

use std::ops::Range;
use std::thread;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use dedust::errors::ParseUrlError;
use dedust::{Normalizer, Scratch};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString};
use xxhash_rust::xxh3::xxh3_128;

use crate::arrow;
use crate::column::{Column, Texts, Written, check_type, push_null_key};
use crate::errors;
use crate::text::{GivenUrl, shorten, type_name};

/// Rows of a wave, for each thread.
const WAVE_ROWS: usize = 1 << 16;
const MAX_THREADS: usize = 1024;

/// What is made of each URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Canonical,
    Key,
    /// A hash of the key.
    Key128,
}

/// What is made of a text that is no URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// It stays as it is.
    Keep,
    /// Null.
    Null,
    /// An exception that names the row.
    Raise,
}

impl OnError {
    pub(crate) fn of_name(name: &str) -> PyResult<Self> {
        match name {
            "keep" => Ok(Self::Keep),
            "null" => Ok(Self::Null),
            "raise" => Ok(Self::Raise),
            other => Err(PyValueError::new_err(format!(
                "errors=\"{other}\", expected \"keep\", \"null\" or \"raise\""
            ))),
        }
    }
}

/// How many threads a call may use.
pub(crate) fn thread_count(threads: Option<usize>) -> PyResult<usize> {
    match threads {
        None => Ok(thread::available_parallelism().map_or(1, usize::from)),
        Some(threads) if (1..=MAX_THREADS).contains(&threads) => Ok(threads),
        Some(other) => {
            Err(PyValueError::new_err(format!("threads={other}, expected a number from 1 to {MAX_THREADS}")))
        }
    }
}

/// One call.
pub(crate) struct Batch<'a> {
    pub(crate) normalizer: &'a Normalizer,
    pub(crate) wanted: Wanted,
    pub(crate) on_error: OnError,
    pub(crate) threads: usize,
}

/// A row that is no URL, where that is an error.
struct BadUrl {
    row: usize,
    error: ParseUrlError,
}

impl Batch<'_> {
    /// Works on a column or a list, and gives back the same.
    pub(crate) fn run<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = urls.py();
        if urls.hasattr("__arrow_c_array__")? {
            let array = arrow::import_array(urls)?;
            let of = self.result_type(array.data_type());
            check_type(array.data_type())?;
            let chunk = self.chunk(py, &array, &of, 0)?;
            return Ok(Bound::new(py, Column::new(of, vec![chunk]))?.into_any());
        }
        if urls.hasattr("__arrow_c_stream__")? {
            return self.stream(urls);
        }
        let is_list = urls.is_instance_of::<PyList>();
        if !is_list && (urls.is_instance_of::<PyString>() || urls.is_instance_of::<PyBytes>()) {
            return Err(PyTypeError::new_err(format!(
                "expected many URLs, not one {}; use the method without `_many`",
                type_name(urls)
            )));
        }
        if urls.is_instance_of::<PyDict>() {
            return Err(PyTypeError::new_err("expected a column or a list of URLs, not dict"));
        }
        match PyIterator::from_object(urls) {
            Ok(rows) => self.list(rows),
            Err(_) => Err(PyTypeError::new_err(format!(
                "expected a column or a list of URLs, not {}",
                type_name(urls)
            ))),
        }
    }

    fn result_type(&self, of: &DataType) -> DataType {
        if self.wanted == Wanted::Key128 { DataType::FixedSizeBinary(16) } else { of.clone() }
    }

    fn stream<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        use arrow_array::ArrayReader as _;
        let py = urls.py();
        let reader = arrow::import_stream(urls)?;
        check_type(reader.field().data_type())?;
        let of = self.result_type(reader.field().data_type());
        let mut rows = 0;
        let mut chunks = Vec::new();
        for array in reader {
            let array = array.map_err(|error| arrow::not_usable(&error))?;
            chunks.push(self.chunk(py, &array, &of, rows)?);
            rows += array.len();
        }
        Ok(Bound::new(py, Column::new(of, chunks))?.into_any())
    }

    fn chunk(
        &self,
        py: Python<'_>,
        array: &ArrayRef,
        of: &DataType,
        rows_before: usize,
    ) -> PyResult<ArrayRef> {
        let texts = Texts::of(array)?;
        let written = self.write(py, texts.len(), &|row| texts.get(row), rows_before)?;
        written.into_array(of)
    }

    /// A list has texts and bytes, which are copied, since Python may not be asked for them later.
    fn list<'py>(&self, rows: Bound<'py, PyIterator>) -> PyResult<Bound<'py, PyAny>> {
        let py = rows.py();
        let mut given: Vec<Option<Bound<'py, PyAny>>> = Vec::new();
        let mut texts = Written::default();
        for (row, url) in rows.enumerate() {
            let url = url?;
            if url.is_none() {
                texts.push_null();
                given.push(None);
                continue;
            }
            match GivenUrl::of(&url).map_err(|error| at_row(py, row, &error))?.bytes() {
                Ok(bytes) => texts.push(bytes),
                // What is no text is no URL.
                Err(error) if self.on_error == OnError::Raise => return Err(at_row(py, row, &error)),
                Err(_) => texts.push(b""),
            }
            given.push(Some(url));
        }
        let written = self.write(py, texts.len(), &|row| texts.get(row), 0)?;
        let results = PyList::empty(py);
        for (row, url) in given.iter().enumerate() {
            let (Some(url), Some(bytes)) = (url, written.get(row)) else {
                results.append(py.None())?;
                continue;
            };
            if self.wanted == Wanted::Key128 {
                results.append(PyBytes::new(py, bytes))?;
            } else if bytes.is_empty() {
                // Only what was no URL is empty; it stays as it was given.
                results.append(url)?;
            } else {
                results.append(GivenUrl::of(url)?.result(bytes)?)?;
            }
        }
        Ok(results.into_any())
    }

    fn write<'u>(
        &self,
        py: Python<'_>,
        rows: usize,
        url: &(dyn Fn(usize) -> Option<&'u [u8]> + Sync),
        rows_before: usize,
    ) -> PyResult<Written> {
        let mut all = Written::default();
        let mut scratches = vec![Scratch::default(); self.threads];
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + WAVE_ROWS * self.threads);
            let wave = py.detach(|| self.wave(start..end, url, &mut scratches, &mut all));
            if let Err(BadUrl { row, error }) = wave {
                let shown = shorten(url(row).unwrap_or_default());
                return Err(errors::ParseUrlError::new_err(format!(
                    "row {}: `{shown}` is no URL: {error}",
                    rows_before + row
                )));
            }
            py.check_signals()?;
            start = end;
        }
        Ok(all)
    }

    fn wave<'u>(
        &self,
        rows: Range<usize>,
        url: &(dyn Fn(usize) -> Option<&'u [u8]> + Sync),
        scratches: &mut [Scratch],
        all: &mut Written,
    ) -> Result<(), BadUrl> {
        let share = rows.len().div_ceil(scratches.len());
        if let [scratch] = scratches {
            return self.piece(rows, url, scratch, all);
        }
        if share < 256 {
            return self.piece(rows, url, &mut scratches[0], all);
        }
        let pieces = thread::scope(|scope| {
            let threads: Vec<_> = scratches
                .iter_mut()
                .enumerate()
                .map(|(index, scratch)| {
                    let start = rows.end.min(rows.start + index * share);
                    let rows = start..rows.end.min(start + share);
                    scope.spawn(move || {
                        let mut written = Written::default();
                        self.piece(rows, url, scratch, &mut written).map(|()| written)
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| match thread.join() {
                Ok(piece) => piece,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect::<Result<Vec<Written>, BadUrl>>()
        })?;
        pieces.into_iter().for_each(|piece| all.append(piece));
        Ok(())
    }

    /// Writes the results of some rows behind those that are there.
    fn piece<'u>(
        &self,
        rows: Range<usize>,
        url: &(dyn Fn(usize) -> Option<&'u [u8]> + Sync),
        scratch: &mut Scratch,
        out: &mut Written,
    ) -> Result<(), BadUrl> {
        let first = out.len();
        let mut bad = None;
        let is_hash = self.wanted == Wanted::Key128;
        let null = if is_hash { push_null_key } else { Written::push_null };
        // Rows that are null are not handed over, so they are caught up with.
        let catch_up = |out: &mut Written| {
            while rows.start + (out.len() - first) < rows.end
                && url(rows.start + (out.len() - first)).is_none()
            {
                null(out);
            }
        };
        let each = |input: &[u8], result: Result<&[u8], ParseUrlError>| {
            catch_up(out);
            match (result, self.on_error) {
                (Ok(text), _) if is_hash => out.push(&xxh3_128(text).to_be_bytes()),
                (Ok(text), _) => out.push(text),
                (Err(_), OnError::Keep) if is_hash => out.push(&xxh3_128(input).to_be_bytes()),
                (Err(_), OnError::Keep) => out.push(input),
                (Err(error), on_error) => {
                    if on_error == OnError::Raise && bad.is_none() {
                        bad = Some(BadUrl { row: rows.start + (out.len() - first), error });
                    }
                    null(out);
                }
            }
        };
        let urls = rows.clone().filter_map(url);
        match self.wanted {
            Wanted::Canonical => self.normalizer.each_canonical(urls, scratch, each),
            Wanted::Key | Wanted::Key128 => self.normalizer.each_key(urls, scratch, each),
        }
        catch_up(out);
        bad.map_or(Ok(()), Err)
    }
}

/// The same exception with the number of a row.
fn at_row(py: Python<'_>, row: usize, error: &PyErr) -> PyErr {
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    PyErr::from_type(error.get_type(py), format!("row {row}: {text}"))
}
