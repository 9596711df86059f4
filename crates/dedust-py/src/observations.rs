/*!
`ObservationWriter`: what a crawler sees, written while it crawls, as evidence for the next `learn`.

Pages say of themselves what those of archives do, by the same code. What repeats on a site is known after some of its pages,
so rows wait for that in memory, in bounded number; they are written when it is known, or when the writer is closed. Rows are
compressed in frames that are written whole, so that a file whose writer was killed can be read up to there.
*/

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Mutex;

use dedust::ParsedUrl;
use dedust::errors::with_causes;
use dedust_crawl::{CrawlRow, Pages};
use dedust_io::{Column, Document, Observation};
use flate2::Compression;
use flate2::write::GzEncoder;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::WriteError;
use crate::text::GivenUrl;

/// Bytes of rows that are compressed together.
const FRAME_BYTES: usize = 256 << 10;

/// Appends observations to a file of JSON Lines, plain or compressed as its name says: .gz, .zst.
#[pyclass(frozen, module = "dedust")]
pub(crate) struct ObservationWriter {
    path: PathBuf,
    /// None once it is closed.
    state: Mutex<Option<ManuallyDrop<State>>>,
    process: u32,
}

impl Drop for ObservationWriter {
    fn drop(&mut self) {
        // The thread that reads pages is not there in a forked child, and the rows are its parent's.
        if self.process != std::process::id() {
            return;
        }
        if let Ok(state) = self.state.get_mut()
            && let Some(state) = state.take()
        {
            // Whoever wants to know of failures closes the writer.
            let _ = ManuallyDrop::into_inner(state).finish();
        }
    }
}

struct State {
    pages: Pages,
    rows: Rows,
    pool: ThreadPool,
}

struct Rows {
    file: File,
    form: Form,
    text: Vec<u8>,
    count: u64,
}

#[derive(Clone, Copy)]
enum Form {
    Plain,
    Gzip,
    Zstandard,
}

impl Rows {
    fn push(&mut self, row: &CrawlRow) -> io::Result<()> {
        row.write_line(&mut self.text)?;
        self.count += 1;
        if self.text.len() >= FRAME_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what waits, as one frame.
    fn flush(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        match self.form {
            Form::Plain => self.file.write_all(&self.text)?,
            Form::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(&self.text)?;
                self.file.write_all(&encoder.finish()?)?;
            }
            Form::Zstandard => self.file.write_all(&zstd::bulk::compress(&self.text, 3)?)?,
        }
        self.text.clear();
        Ok(())
    }
}

/// What was seen of one URL.
struct Given<'a> {
    url: &'a [u8],
    status: Option<u16>,
    headers: String,
    body: Option<Vec<u8>>,
    redirect: Option<&'a [u8]>,
    time: Option<String>,
}

impl State {
    fn write(&mut self, given: Given<'_>) -> io::Result<()> {
        let mut observation = Observation::new();
        // Values that their columns do not take are as good as none.
        let _ = observation.set_bytes(Column::Url, given.url);
        if let Some(status) = given.status {
            let _ = observation.set_number(Column::Status, status.into());
        }
        if let Some(redirect) = given.redirect {
            let _ = observation.set_bytes(Column::Redirect, redirect);
        }
        if let Some(time) = &given.time {
            let _ = observation.set_text(Column::Time, time);
        }
        let Some(body) = given.body else { return self.rows.push(&CrawlRow::new(observation)) };
        let _ = observation.set_number(Column::Size, body.len() as u64);
        let document = Document::new(&given.headers, body);
        let mime = document.content_type().and_then(|mime| mime.split(|byte| *byte == b';').next());
        if let Some(mime) = mime.and_then(|mime| std::str::from_utf8(mime.trim_ascii()).ok()) {
            let _ = observation.set_text(Column::Mime, mime);
        }
        let row = CrawlRow::new(observation);
        if !Pages::wants(&row) {
            return self.rows.push(&row);
        }
        let Self { pages, rows, pool } = self;
        pool.install(|| pages.push(row, document, |row| rows.push(row)))
    }

    fn finish(&mut self) -> io::Result<()> {
        let Self { pages, rows, pool } = self;
        pool.install(|| pages.finish(|row| rows.push(row)))?;
        rows.flush()
    }
}

#[pymethods]
impl ObservationWriter {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            WriteError::new_err(format!("cannot write {}: {error}", path.display()))
        };
        let form = match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Form::Gzip,
            Some("zst") => Form::Zstandard,
            _ => Form::Plain,
        };
        let file =
            OpenOptions::new().append(true).create(true).open(&path).map_err(|error| failed(&error))?;
        let pool = ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| failed(&error))?;
        let rows = Rows { file, form, text: Vec::new(), count: 0 };
        let state = State { pages: Pages::default(), rows, pool };
        Ok(Self { path, state: Mutex::new(Some(ManuallyDrop::new(state))), process: std::process::id() })
    }

    /// Adds what was seen of a URL. Headers are `Name: value` lines; without a body there is no page.
    #[pyo3(signature = (url, *, status=None, headers="", body=None, redirect=None, time=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named")]
    fn write(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        status: Option<u16>,
        headers: &str,
        body: Option<&[u8]>,
        redirect: Option<&Bound<'_, PyAny>>,
        time: Option<String>,
    ) -> PyResult<()> {
        let given = GivenUrl::of(url)?;
        given.made(ParsedUrl::parse)?;
        let url = given.bytes()?;
        let redirect = redirect.map(|redirect| GivenUrl::of(redirect)?.bytes()).transpose()?;
        let given = Given {
            url,
            status,
            headers: headers.to_owned(),
            body: body.map(<[u8]>::to_vec),
            redirect,
            time,
        };
        self.with(py, |state| state.write(given))
    }

    /// Writes what waits for no other rows.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |state| state.rows.flush())
    }

    /// Writes all that is left, and closes the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let is_open = self.state.lock().is_ok_and(|state| state.is_some());
        if !is_open || self.process != std::process::id() {
            return Ok(());
        }
        let finished = self.with(py, State::finish);
        if let Ok(mut state) = self.state.lock() {
            drop(state.take().map(ManuallyDrop::into_inner));
        }
        finished
    }

    /// How many rows were written.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.rows.count))
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.close(py)
    }
}

impl ObservationWriter {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> io::Result<T> + Send,
    ) -> PyResult<T> {
        if self.process != std::process::id() {
            let text = format!("{} was opened before the process was forked", self.path.display());
            return Err(WriteError::new_err(text));
        }
        py.detach(|| {
            let mut state = self.state.lock().map_err(|_| WriteError::new_err("the writer is broken"))?;
            let Some(state) = &mut *state else {
                return Err(WriteError::new_err(format!("{} was closed", self.path.display())));
            };
            work(state).map_err(|error| {
                WriteError::new_err(format!("cannot write {}: {}", self.path.display(), with_causes(&error)))
            })
        })
    }
}
