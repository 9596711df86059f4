/*!
`SeenSet`: which keys were seen, on disk, across runs; or on a server, by many processes.

Background threads, the lock on the folder and the connection to a server belong to the process that opened the set. In a forked child they are not
there, or belong to two, so a set refuses to be used in one.
*/

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use arrow_array::BooleanArray;
use arrow_schema::DataType;
use dedust::errors::with_causes;
use dedust_seen::server::{is_address, shown_address};
use dedust_seen::{Durability, SeenKey, SeenSet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::ThreadPoolBuilder;

use crate::arrow;
use crate::column::{Column, Texts};
use crate::errors::SeenError;
use crate::normalizer::PyNormalizer;
use crate::text::GivenUrl;

/// Keys that are looked up on this thread: more would start a pool that does not survive a fork.
const BATCH_KEYS: usize = 2048;

/// Remembers keys, on disk if it is given a folder. One process at a time may have it open. SeenSet.connect opens one on a server that
/// many processes use at the same time.
///
/// >>> import dedust
/// >>> with dedust.SeenSet() as seen:
/// ...     seen.insert("http://example.org/"), seen.insert("http://example.org/")
/// (True, False)
#[pyclass(frozen, name = "SeenSet", module = "dedust")]
pub(crate) struct PySeenSet {
    /// None once it is closed.
    set: Mutex<Option<ManuallyDrop<SeenSet>>>,
    process: u32,
}

impl PySeenSet {
    fn with<T>(&self, work: impl FnOnce(&mut SeenSet) -> Result<T, dedust_seen::SeenError>) -> PyResult<T> {
        if self.process != std::process::id() {
            return Err(SeenError::new_err(
                "this set was opened before the process was forked; open one after that",
            ));
        }
        let mut set = self.set.lock().map_err(|_| SeenError::new_err("the set is broken; open it again"))?;
        match &mut *set {
            Some(set) => work(set).map_err(|error| SeenError::new_err(with_causes(&error))),
            None => Err(SeenError::new_err("the set is closed; open it again")),
        }
    }

    fn of(set: Result<SeenSet, dedust_seen::SeenError>) -> PyResult<Self> {
        let set = set.map_err(|error| SeenError::new_err(with_causes(&error)))?;
        Ok(Self { set: Mutex::new(Some(ManuallyDrop::new(set))), process: std::process::id() })
    }

    /// Ends the set, and with it a session.
    fn end(
        &self,
        py: Python<'_>,
        end: impl FnOnce(SeenSet) -> Result<u64, dedust_seen::SeenError> + Send,
    ) -> PyResult<u64> {
        // For what it says of a set that is closed, or not of this process.
        self.with(|_| Ok(()))?;
        let ended = py.detach(|| self.take().map_or(Ok(0), end));
        ended.map_err(|error| SeenError::new_err(with_causes(&error)))
    }

    fn take(&self) -> Option<SeenSet> {
        let set = self.set.lock().ok()?.take()?;
        Some(ManuallyDrop::into_inner(set))
    }
}

impl Drop for PySeenSet {
    fn drop(&mut self) {
        // Threads that are not there cannot be waited for.
        if self.process == std::process::id() {
            drop(self.take());
        }
    }
}

#[pymethods]
impl PySeenSet {
    /// Opens the set in a folder, which is made if it is not there; without one, the set is in memory.
    ///
    /// Answers outlive the process, also if it is killed; with durability="power" a loss of power too, which is slower.
    #[new]
    #[pyo3(signature = (folder=None, *, durability="process"))]
    fn new(py: Python<'_>, folder: Option<PathBuf>, durability: &str) -> PyResult<Self> {
        // It may have a password in it.
        if let Some(address) =
            folder.as_ref().map(|folder| folder.to_string_lossy()).filter(|text| is_address(text))
        {
            let shown = shown_address(&address);
            let text = format!(
                "{shown} is meant as the address of a server, expected a folder; give addresses to SeenSet.connect"
            );
            return Err(PyValueError::new_err(text));
        }
        let durability = match durability {
            "process" => Durability::Process,
            "power" => Durability::Power,
            other => {
                let text = format!("durability=\"{other}\", expected \"process\" or \"power\"");
                return Err(PyValueError::new_err(text));
            }
        };
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| SeenError::new_err(error.to_string()))?;
        let set = py.detach(|| match folder {
            Some(folder) => pool.install(|| SeenSet::options().durability(durability).open(folder)),
            None => SeenSet::in_memory(),
        });
        Self::of(set)
    }

    /// Connects to the set at redis://[USER:PASSWORD@]HOST[:PORT]/PREFIX[?db=NUMBER], or rediss:// for TLS, which any number of
    /// processes may use at the same time. It is made if it is not there.
    ///
    /// Keys that different rules make are kept apart: give the normalizer that makes them. A session is the name of a crawl, for all
    /// its processes; others see its keys after commit(). A new set remembers keys for good, or for the time of ttl at least. A server that
    /// is not there, yet or any more, is waited for a minute, or as long as patience says; keys whose answer is lost are new, and counted in stats["unconfirmed_keys"].
    #[staticmethod]
    #[pyo3(signature = (address, *, normalizer=None, session=None, ttl=None, patience=None))]
    fn connect(
        py: Python<'_>,
        address: &str,
        normalizer: Option<&PyNormalizer>,
        session: Option<String>,
        ttl: Option<Duration>,
        patience: Option<Duration>,
    ) -> PyResult<Self> {
        let mut options = SeenSet::options();
        if let Some(patience) = patience {
            options = options.patience(patience);
        }
        if let Some(normalizer) = normalizer {
            options = options.rules(normalizer.inner().fingerprint());
        }
        if let Some(session) = session {
            options = options.session(session);
        }
        if let Some(ttl) = ttl {
            options = options.ttl(ttl);
        }
        Self::of(py.detach(|| options.connect(address)))
    }

    /// Ends the session: its keys are seen for all from now on. Returns how many they are, and closes the set.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        self.end(py, SeenSet::commit)
    }

    /// Ends the session as if it had never been. Returns how many keys are forgotten, and closes the set.
    fn cancel(&self, py: Python<'_>) -> PyResult<u64> {
        self.end(py, SeenSet::cancel)
    }

    /// Whether a key is new. It is not from now on.
    fn insert(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let bytes = GivenUrl::of(key)?.bytes()?;
        py.detach(|| self.with(|set| set.insert(set.hasher().hash(bytes))))
    }

    /// Says of each key whether it is new: a list in, a list out; an Arrow column in, a Column out. Null is never new.
    fn insert_many<'py>(&self, py: Python<'py>, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let hasher = self.with(|set| Ok(set.hasher()))?;
        let mut hashes: Vec<Option<SeenKey>> = Vec::new();
        let is_array = keys.hasattr("__arrow_c_array__")?;
        if !is_array && !keys.hasattr("__arrow_c_stream__")? {
            for key in keys.try_iter()? {
                let key = key?;
                hashes.push(match key.is_none() {
                    true => None,
                    false => Some(hasher.hash(GivenUrl::of(&key)?.bytes()?)),
                });
            }
            return Ok(PyList::new(py, self.insert_hashes(py, &hashes)?)?.into_any());
        }
        let chunks = match is_array {
            true => vec![arrow::import_array(keys)?],
            false => {
                let chunks = arrow::import_stream(keys)?.collect::<Result<Vec<_>, _>>();
                chunks.map_err(|error| arrow::not_usable(&error))?
            }
        };
        for chunk in &chunks {
            let texts = Texts::of(chunk)?;
            hashes.extend((0..texts.len()).map(|row| texts.get(row).map(|key| hasher.hash(key))));
        }
        let is_new = BooleanArray::from(self.insert_hashes(py, &hashes)?);
        Ok(Bound::new(py, Column::new(DataType::Boolean, vec![arrow::shared(is_new)]))?.into_any())
    }

    /// Waits until all keys are on the disk itself.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.with(SeenSet::sync))
    }

    /// Closes the set. One that is closed already stays so.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        let closed = py.detach(|| self.take().map_or(Ok(()), SeenSet::close));
        closed.map_err(|error| SeenError::new_err(with_causes(&error)))
    }

    /// How many keys there are.
    fn __len__(&self) -> PyResult<usize> {
        self.with(|set| Ok(set.stats().keys as usize))
    }

    /// What the set holds, and what answering took.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.with(|set| Ok(set.stats()))?;
        let figures = PyDict::new(py);
        for (name, number) in [
            ("keys", stats.keys),
            ("recent_keys", stats.recent_keys),
            ("runs", stats.runs),
            ("disk_bytes", stats.disk_bytes),
            ("index_bytes", stats.index_bytes),
            ("lookups", stats.lookups),
            ("new_keys", stats.new_keys),
            ("asked_keys", stats.asked_keys),
            ("unconfirmed_keys", stats.unconfirmed_keys),
            ("reconnects", stats.reconnects),
            ("removals", stats.removals),
        ] {
            figures.set_item(name, number)?;
        }
        figures.set_item("unanswered_keys", stats.unanswered_keys)?;
        Ok(figures)
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

impl PySeenSet {
    fn insert_hashes(&self, py: Python<'_>, hashes: &[Option<SeenKey>]) -> PyResult<Vec<bool>> {
        let mut answers = Vec::with_capacity(hashes.len());
        let mut is_new = Vec::new();
        let mut keys = Vec::with_capacity(BATCH_KEYS);
        for batch in hashes.chunks(BATCH_KEYS) {
            keys.clear();
            keys.extend(batch.iter().flatten());
            py.detach(|| self.with(|set| set.insert_batch(&keys, &mut is_new)))?;
            let mut known = is_new.iter();
            answers
                .extend(batch.iter().map(|key| key.is_some() && known.next().is_some_and(|is_new| *is_new)));
            py.check_signals()?;
        }
        Ok(answers)
    }
}
