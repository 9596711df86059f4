/*!
`Normalizer`: compiled rules, and what they make of URLs.
*/

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dedust::errors::with_causes;
use dedust::{Both, Normalizer, ParsedUrl, RuleSet, Scratch, is_compiled};
use dedust_seen::KeyHasher;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::batch::{Batch, OnError, Wanted, key128, thread_count};
use crate::errors::{LoadRulesError, cannot_use, no_file, warn};
use crate::explanation::Explanation;
use crate::rule_set::{PyRuleSet, save};
use crate::text::{GivenUrl, counted, type_name};

/// Applies rules to URLs. Without rules, only what never changes the page is done.
///
/// `rules` is a `RuleSet`, or the path of a rule file, plain or compiled. Mirrors, which take URLs of one domain for those of
/// another, are applied with `trust_mirrors=True` only.
///
/// >>> from dedust import Normalizer
/// >>> normalizer = Normalizer()
/// >>> normalizer.normalize("HTTP://Example.org:80/a/../b?z=1&a=2#top")
/// 'http://example.org/b?z=1&a=2'
/// >>> normalizer.key("http://example.org/b?z=1&a=2")
/// 'http://example.org/b?a=2&z=1'
#[pyclass(frozen, weakref, name = "Normalizer", module = "dedust")]
pub(crate) struct PyNormalizer {
    normalizer: Normalizer,
    /// Where rules are said in words.
    rules: Option<Arc<RuleSet>>,
    trust_mirrors: bool,
    /// Buffers for single URLs; whoever finds them in use makes new ones.
    scratch: Mutex<Box<Scratch>>,
}

impl PyNormalizer {
    fn new(
        py: Python<'_>,
        name: &str,
        normalizer: Normalizer,
        rules: Option<Arc<RuleSet>>,
        trust_mirrors: bool,
    ) -> PyResult<Self> {
        if normalizer.left_out_count() > 0 {
            let sites = counted(normalizer.left_out_count(), "site", "sites");
            warn(py, &format!("{sites} of {name} left out; URLs of such a site stay as they are"))?;
        }
        if normalizer.mirror_count() > 0 && !trust_mirrors {
            let mirrors = counted(normalizer.mirror_count(), "mirror", "mirrors");
            warn(
                py,
                &format!(
                    "{mirrors} in {name} not applied: URLs of one domain would become URLs of another; if you \
                     trust whoever learned these rules, add trust_mirrors=True"
                ),
            )?;
        }
        Ok(Self::quietly(normalizer, rules, trust_mirrors))
    }

    fn quietly(normalizer: Normalizer, rules: Option<Arc<RuleSet>>, trust_mirrors: bool) -> Self {
        let normalizer = if trust_mirrors { normalizer } else { normalizer.without_mirrors() };
        Self { normalizer, rules, trust_mirrors, scratch: Mutex::default() }
    }

    pub(crate) fn inner(&self) -> &Normalizer {
        &self.normalizer
    }

    /// The normalizer of a rule set.
    pub(crate) fn of_rules(py: Python<'_>, rules: &Arc<RuleSet>, trust_mirrors: bool) -> PyResult<Self> {
        let normalizer = py.detach(|| Normalizer::compile(rules));
        Self::new(py, "the rules", normalizer, Some(rules.clone()), trust_mirrors)
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        match self.scratch.try_lock() {
            Ok(mut scratch) => work(&mut scratch),
            Err(_) => work(&mut Scratch::default()),
        }
    }

    fn batch<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        wanted: Wanted,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (on_error, threads) = (OnError::of_name(errors)?, thread_count(threads)?);
        Batch { normalizer: &self.normalizer, wanted, on_error, threads }.run(urls)
    }
}

#[pymethods]
impl PyNormalizer {
    #[new]
    #[pyo3(signature = (rules=None, *, trust_mirrors=false))]
    fn py_new(py: Python<'_>, rules: Option<Bound<'_, PyAny>>, trust_mirrors: bool) -> PyResult<Self> {
        let Some(rules) = rules else { return Ok(Self::quietly(Normalizer::default(), None, trust_mirrors)) };
        if let Ok(rules) = rules.cast::<PyRuleSet>() {
            return Self::of_rules(py, rules.get().inner(), trust_mirrors);
        }
        let Ok(path) = rules.extract::<PathBuf>() else {
            return Err(PyTypeError::new_err(format!(
                "expected a RuleSet or the path of a rule file, not {}",
                type_name(&rules)
            )));
        };
        let normalizer = py.detach(|| open(&path))?;
        Self::new(py, &path.display().to_string(), normalizer, None, trust_mirrors)
    }

    /// The canonical form of a URL, which can be fetched.
    fn normalize<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = GivenUrl::of(url)?;
        self.with_scratch(|scratch| {
            given.result(given.made(|url| self.normalizer.normalize_with(url, scratch))?)
        })
    }

    /// The key of a URL. Equal keys, equal pages; not to be fetched.
    fn key<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let given = GivenUrl::of(url)?;
        self.with_scratch(|scratch| given.result(given.made(|url| self.normalizer.key_with(url, scratch))?))
    }

    /// The key of a URL and its canonical form: `(key, canonical)`. Costs little more than one of the two.
    fn both<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let given = GivenUrl::of(url)?;
        self.with_scratch(|scratch| {
            let Both { key, canonical } = given.made(|url| self.normalizer.both_with(url, scratch))?;
            Ok((given.result(key)?, given.result(canonical)?))
        })
    }

    /// 16 bytes that stand for the key in a store of your own: its SipHash-1-3 with a secret, most significant byte first.
    ///
    /// The secret is 16 random bytes, such as secrets.token_bytes(16), kept with the store: only hashes with the same one can be
    /// compared. Whoever knows it can make URLs that are taken for others.
    #[pyo3(signature = (url, *, secret))]
    fn key128<'py>(&self, url: &Bound<'py, PyAny>, secret: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let (given, hasher) = (GivenUrl::of(url)?, hasher_of(secret)?);
        self.with_scratch(|scratch| {
            let key = given.made(|url| self.normalizer.key_with(url, scratch))?;
            Ok(PyBytes::new(url.py(), &key128(hasher, key)))
        })
    }

    /// The canonical forms of many URLs: an Arrow column in, a Column out; a list in, a list out. Nulls stay null.
    ///
    /// A text that is no URL stays as it is with errors="keep", becomes null with "null", and raises with "raise".
    #[pyo3(signature = (urls, *, errors="keep", threads=1))]
    fn normalize_many<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(urls, Wanted::Canonical, errors, threads)
    }

    /// The keys of many URLs; see normalize_many.
    #[pyo3(signature = (urls, *, errors="keep", threads=1))]
    fn key_many<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(urls, Wanted::Key, errors, threads)
    }

    /// The keys and the canonical forms of many URLs: two Columns, or two lists; see normalize_many. Costs little more than one of
    /// the two.
    #[pyo3(signature = (urls, *, errors="keep", threads=1))]
    fn both_many<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(urls, Wanted::Both, errors, threads)
    }

    /// The 16 bytes of key128 for many URLs; see normalize_many. With errors="keep" a text that is no URL is its own key.
    #[pyo3(signature = (urls, *, secret, errors="keep", threads=1))]
    fn key128_many<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        secret: &[u8],
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(urls, Wanted::Key128(hasher_of(secret)?), errors, threads)
    }

    /// What is done to a URL, and by which rules. Rules are said in words if the normalizer was made of a RuleSet.
    fn explain(&self, url: &Bound<'_, PyAny>) -> PyResult<Explanation> {
        let given = GivenUrl::of(url)?;
        let explanation = given.made(|url| self.normalizer.explain(url))?;
        Ok(Explanation::new(given.bytes()?, explanation, self.rules.as_deref()))
    }

    /// Writes the compiled rules to a file that opens at once. An existing one is replaced with `force=True` only.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        py.detach(|| save(&path, force, |output| self.normalizer.save(output)))
    }

    /// How many sites have rules.
    #[getter]
    fn site_count(&self) -> u64 {
        self.normalizer.site_count()
    }

    /// How many rules all sites have.
    #[getter]
    fn rule_count(&self) -> u64 {
        self.normalizer.rule_count()
    }

    /// Who made the rules.
    #[getter]
    fn method(&self) -> &str {
        self.normalizer.method()
    }

    fn __repr__(&self) -> String {
        let rules = counted(self.normalizer.rule_count(), "rule", "rules");
        format!(
            "<dedust.Normalizer with {rules} of {}>",
            counted(self.normalizer.site_count(), "site", "sites")
        )
    }

    /// The compiled rules as bytes. A process that gets the same ones many times keeps them once.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let mut bytes = Vec::new();
        this.normalizer.save(&mut bytes).map_err(|error| LoadRulesError::new_err(error.to_string()))?;
        let arguments = (PyBytes::new(py, &bytes), this.trust_mirrors).into_pyobject(py)?;
        Ok((py.import("dedust._unpickled")?.getattr("normalizer")?, arguments))
    }

    /// The normalizer of compiled rules that `save` wrote.
    #[staticmethod]
    fn _from_compiled(compiled: &[u8], trust_mirrors: bool) -> PyResult<Self> {
        match Normalizer::from_bytes(compiled) {
            Ok(normalizer) => Ok(Self::quietly(normalizer, None, trust_mirrors)),
            Err(error) => Err(LoadRulesError::new_err(with_causes(&error))),
        }
    }
}

/// The site of a URL: the registrable domain of its host.
///
/// >>> from dedust import site_of
/// >>> site_of("http://www.bbc.co.uk/news")
/// 'bbc.co.uk'
#[pyfunction]
pub(crate) fn site_of(url: &Bound<'_, PyAny>) -> PyResult<String> {
    let parsed = GivenUrl::of(url)?.made(ParsedUrl::parse)?;
    Ok(String::from_utf8_lossy(dedust::site_of(parsed.host())).into_owned())
}

/// Opens a rule file, plain or compiled.
fn open(path: &Path) -> PyResult<Normalizer> {
    let unusable = |error: &dyn std::error::Error| cannot_use(path.display(), error);
    let mut file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => no_file(path),
        _ => unusable(&error),
    })?;
    let mut start = Vec::new();
    (&mut file).take(16).read_to_end(&mut start).map_err(|error| unusable(&error))?;
    if is_compiled(&start) {
        return Normalizer::open(path).map_err(|error| unusable(&error));
    }
    let text = dedust_io::open_text(path).map_err(|error| unusable(&error))?;
    Normalizer::compile_from(text).map_err(|error| unusable(&error))
}

fn hasher_of(secret: &[u8]) -> PyResult<KeyHasher> {
    let secret = secret.try_into().map_err(|_| {
        PyValueError::new_err(format!(
            "secret has {} bytes, expected 16, such as secrets.token_bytes(16)",
            secret.len()
        ))
    })?;
    Ok(KeyHasher::with_secret(secret))
}
