/*!
Many URLs at once: without the interpreter, on as many threads as asked for, and interruptible.

Rows are worked on in waves, some ten thousand for each thread. Between waves signals are looked at, so that Control-C ends a
long call. Threads end with their wave.
*/

use std::ops::Range;
use std::thread;

use arrow_array::{ArrayAccessor, ArrayRef};
use arrow_schema::DataType;
use dedust::errors::ParseUrlError;
use dedust::{Both, Normalizer, Scratch};
use dedust_seen::KeyHasher;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};

use crate::arrow;
use crate::column::{Column, Texts, Written, check_type};
use crate::errors;
use crate::text::{GivenUrl, shorten, type_name};

/// Rows of a wave, for each thread.
const WAVE_ROWS: usize = 1 << 16;
/// Rows of a list that are copied at a time, if there is one thread: no more than the nearest memory holds.
const LIST_ROWS: usize = 1 << 11;
const MAX_THREADS: usize = 1024;
/// Rows that are worth a thread.
const MIN_ROWS: usize = 256;

/// What is made of each URL.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    Canonical,
    Key,
    /// A hash of the key.
    Key128(KeyHasher),
    /// The key, and the canonical URL in a column of its own.
    Both,
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

/// 16 bytes that stand for a key, most significant first.
pub(crate) fn key128(hasher: KeyHasher, key: &[u8]) -> [u8; 16] {
    hasher.hash(key).to_hash().to_be_bytes()
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

/// What a thread works with, from wave to wave.
struct Worker {
    scratch: Scratch,
    /// As many as there are columns of results.
    written: Vec<Written>,
}

/// Rows with a URL or null. A type of its own for each kind of column, so that no row costs an indirect call.
struct Rows<G> {
    len: usize,
    has_nulls: bool,
    get: G,
}

impl Rows<()> {
    fn of<'a, A>(array: A) -> Rows<impl Fn(usize) -> Option<&'a [u8]> + Sync>
    where
        A: ArrayAccessor<Item = &'a [u8]> + Sync,
    {
        let (len, has_nulls) = (array.len(), array.null_count() > 0);
        Rows { len, has_nulls, get: move |row| (!has_nulls || array.is_valid(row)).then(|| array.value(row)) }
    }
}

/// A row that is no URL, where that is an error.
struct BadUrl {
    row: usize,
    error: ParseUrlError,
}

impl Batch<'_> {
    /// Works on a column or a list, and gives back the same; two of them in a tuple for both.
    pub(crate) fn run<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = urls.py();
        if urls.hasattr("__arrow_c_array__")? {
            let array = arrow::import_array(urls)?;
            let of = self.result_type(array.data_type());
            check_type(array.data_type())?;
            let chunks = self.chunk(py, &array, &of, 0)?;
            return columns(py, &of, chunks.into_iter().map(|chunk| vec![chunk]));
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

    /// How many columns of results there are, each as it is before anything is written.
    fn empty(&self, texts: usize, bytes: usize) -> Vec<Written> {
        let count = if matches!(self.wanted, Wanted::Both) { 2 } else { 1 };
        (0..count).map(|_| Written::with_capacity(texts, bytes)).collect()
    }

    fn is_hash(&self) -> bool {
        matches!(self.wanted, Wanted::Key128(_))
    }

    fn result_type(&self, of: &DataType) -> DataType {
        if self.is_hash() { DataType::FixedSizeBinary(16) } else { of.clone() }
    }

    fn stream<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        use arrow_array::ArrayReader as _;
        let py = urls.py();
        let reader = arrow::import_stream(urls)?;
        check_type(reader.field().data_type())?;
        let of = self.result_type(reader.field().data_type());
        let mut rows = 0;
        let mut chunks = vec![Vec::new(); self.empty(0, 0).len()];
        for array in reader {
            let array = array.map_err(|error| arrow::not_usable(&error))?;
            let results = self.chunk(py, &array, &of, rows)?;
            chunks.iter_mut().zip(results).for_each(|(chunks, chunk)| chunks.push(chunk));
            rows += array.len();
        }
        columns(py, &of, chunks)
    }

    /// The results for one array, one array for each column of results.
    fn chunk(
        &self,
        py: Python<'_>,
        array: &ArrayRef,
        of: &DataType,
        rows_before: usize,
    ) -> PyResult<Vec<ArrayRef>> {
        let texts = Texts::of(array)?;
        let mut written = self.empty(texts.len(), texts.bytes());
        let (workers, all) = (&mut self.workers(), &mut written[..]);
        match &texts {
            Texts::Small(array) => self.write(py, &Rows::of(array), rows_before, workers, all),
            Texts::Large(array) => self.write(py, &Rows::of(array), rows_before, workers, all),
            Texts::View(array) => self.write(py, &Rows::of(array), rows_before, workers, all),
        }?;
        written.into_iter().map(|written| written.into_array(of)).collect()
    }

    fn workers(&self) -> Vec<Worker> {
        let worker = || Worker { scratch: Scratch::default(), written: self.empty(0, 0) };
        (0..self.threads).map(|_| worker()).collect()
    }

    /// A list has texts and bytes, which are copied, since Python may not be asked for them later.
    fn list<'py>(&self, rows: Bound<'py, PyIterator>) -> PyResult<Bound<'py, PyAny>> {
        let py = rows.py();
        let wave_rows = if self.threads == 1 { LIST_ROWS } else { WAVE_ROWS * self.threads };
        let (mut texts, mut written) = (Written::default(), self.empty(0, 0));
        let mut given: Vec<Option<Bound<'py, PyAny>>> = Vec::new();
        let mut workers = self.workers();
        let mut rows = rows.enumerate().peekable();
        let results: Vec<_> = written.iter().map(|_| PyList::empty(py)).collect();
        while let Some((first, _)) = rows.peek() {
            let first = *first;
            texts.clear();
            written.iter_mut().for_each(Written::clear);
            given.clear();
            for (row, url) in rows.by_ref().take(wave_rows) {
                given.push(self.take(py, row, url?, &mut texts)?);
            }
            let rows_of_wave = Rows { len: given.len(), has_nulls: true, get: |row| texts.get(row) };
            self.write(py, &rows_of_wave, first, &mut workers, &mut written)?;
            for (written, results) in written.iter().zip(&results) {
                for (row, url) in given.iter().enumerate() {
                    match (url, written.get(row)) {
                        (Some(_), Some(bytes)) if self.is_hash() => {
                            results.append(PyBytes::new(py, bytes))?;
                        }
                        // Only what was no URL is empty; it stays as it was given.
                        (Some(url), Some(b"")) => results.append(url)?,
                        (Some(url), Some(bytes)) => results.append(GivenUrl::of(url)?.result(bytes)?)?,
                        _ => results.append(py.None())?,
                    }
                }
            }
        }
        one_or_all(py, results.into_iter().map(Bound::into_any).collect())
    }

    /// Copies the text of a row of a list. What is no text is no URL.
    fn take<'py>(
        &self,
        py: Python<'py>,
        row: usize,
        url: Bound<'py, PyAny>,
        texts: &mut Written,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if url.is_none() {
            texts.push_null();
            return Ok(None);
        }
        match GivenUrl::of(&url).map_err(|error| at_row(py, row, &error))?.bytes() {
            Ok(bytes) => texts.push(bytes),
            Err(error) if self.on_error == OnError::Raise => return Err(at_row(py, row, &error)),
            Err(_) => texts.push(b""),
        }
        Ok(Some(url))
    }

    fn write<'u, G: Fn(usize) -> Option<&'u [u8]> + Sync>(
        &self,
        py: Python<'_>,
        rows: &Rows<G>,
        rows_before: usize,
        workers: &mut [Worker],
        all: &mut [Written],
    ) -> PyResult<()> {
        let mut start = 0;
        while start < rows.len {
            let end = rows.len.min(start + WAVE_ROWS * self.threads);
            let wave = py.detach(|| self.wave(start..end, rows, workers, all));
            if let Err(BadUrl { row, error }) = wave {
                let shown = shorten((rows.get)(row).unwrap_or_default());
                return Err(errors::ParseUrlError::new_err(format!(
                    "row {}: `{shown}` is no URL: {error}",
                    rows_before + row
                )));
            }
            py.check_signals()?;
            start = end;
        }
        Ok(())
    }

    fn wave<'u, G: Fn(usize) -> Option<&'u [u8]> + Sync>(
        &self,
        wave: Range<usize>,
        rows: &Rows<G>,
        workers: &mut [Worker],
        all: &mut [Written],
    ) -> Result<(), BadUrl> {
        let share = wave.len().div_ceil(workers.len());
        if workers.len() == 1 || share < MIN_ROWS {
            return self.piece(wave, rows, &mut workers[0].scratch, all);
        }
        thread::scope(|scope| {
            let threads: Vec<_> = workers
                .iter_mut()
                .enumerate()
                .map(|(index, Worker { scratch, written })| {
                    let start = wave.end.min(wave.start + index * share);
                    let piece = start..wave.end.min(start + share);
                    written.iter_mut().for_each(Written::clear);
                    scope.spawn(move || self.piece(piece, rows, scratch, written))
                })
                .collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(piece) => piece,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        for worker in workers {
            all.iter_mut().zip(&worker.written).for_each(|(all, written)| all.append(written));
        }
        Ok(())
    }

    /// Writes the results of some rows behind those that are there.
    fn piece<'u, G: Fn(usize) -> Option<&'u [u8]>>(
        &self,
        piece: Range<usize>,
        rows: &Rows<G>,
        scratch: &mut Scratch,
        out: &mut [Written],
    ) -> Result<(), BadUrl> {
        let first = out[0].len();
        let mut bad = None;
        let push_null = if self.is_hash() { Written::push_null_key } else { Written::push_null };
        let null = |out: &mut [Written]| out.iter_mut().for_each(push_null);
        let next = |out: &[Written]| piece.start + (out[0].len() - first);
        // Rows that are null are not handed over, so they are caught up with.
        let catch_up = |out: &mut [Written]| {
            while rows.has_nulls && next(out) < piece.end && (rows.get)(next(out)).is_none() {
                null(out);
            }
        };
        // Of two texts as many are written as there are columns.
        let mut each = |input: &[u8], result: Result<[&[u8]; 2], ParseUrlError>| {
            catch_up(out);
            // With "keep", a text that is no URL stays as it is.
            let result = result.or_else(|error| match self.on_error {
                OnError::Keep => Ok([input; 2]),
                on_error => Err((error, on_error)),
            });
            match (result, self.wanted) {
                (Ok([key, _]), Wanted::Key128(hasher)) => out[0].push(&key128(hasher, key)),
                (Ok(texts), _) => out.iter_mut().zip(texts).for_each(|(out, text)| out.push(text)),
                (Err((error, on_error)), _) => {
                    if on_error == OnError::Raise && bad.is_none() {
                        bad = Some(BadUrl { row: next(out), error });
                    }
                    null(out);
                }
            }
        };
        let urls = piece.clone().filter_map(&rows.get);
        match self.wanted {
            Wanted::Canonical => {
                self.normalizer
                    .each_canonical(urls, scratch, |url, result| each(url, result.map(|url| [url; 2])));
            }
            Wanted::Key | Wanted::Key128(_) => {
                self.normalizer.each_key(urls, scratch, |url, result| each(url, result.map(|key| [key; 2])));
            }
            Wanted::Both => self.normalizer.each_both(urls, scratch, |url, result| {
                each(url, result.map(|Both { key, canonical }| [key, canonical]));
            }),
        }
        catch_up(out);
        bad.map_or(Ok(()), Err)
    }
}

/// Columns of results, of which each has some chunks.
fn columns<'py>(
    py: Python<'py>,
    of: &DataType,
    columns: impl IntoIterator<Item = Vec<ArrayRef>>,
) -> PyResult<Bound<'py, PyAny>> {
    let column = |chunks| Ok(Bound::new(py, Column::new(of.clone(), chunks))?.into_any());
    one_or_all(py, columns.into_iter().map(column).collect::<PyResult<_>>()?)
}

/// The only result, or all as a tuple.
fn one_or_all<'py>(py: Python<'py>, mut results: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    match results.len() {
        1 => Ok(results.remove(0)),
        _ => Ok(PyTuple::new(py, results)?.into_any()),
    }
}

/// The same exception with the number of a row.
fn at_row(py: Python<'_>, row: usize, error: &PyErr) -> PyErr {
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    PyErr::from_type(error.get_type(py), format!("row {row}: {text}"))
}
