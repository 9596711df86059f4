/*!
`RuleSet`: the rules of any number of sites, with why they are believed.
*/

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust_io::OutputFile;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{LoadRulesError, WriteError, cannot_use, no_file};
use crate::html;
use crate::normalizer::PyNormalizer;
use crate::text::counted;

/// Sites and edits that a notebook shows.
const SHOWN: usize = 50;

/// Rules by site, as a rule file has them.
///
/// >>> from dedust import RuleSet
/// >>> rules = RuleSet.from_json('''{"version": 2, "sites": {"example.org": {"edits": [
/// ...     {"change": [{"drop": "q.sid"}], "fetchable": true}]}}}''')
/// >>> rules.edits("example.org")
/// ['`sid` does not matter']
/// >>> rules.compile().normalize("http://example.org/view?sid=9")
/// 'http://example.org/view'
#[pyclass(frozen, name = "RuleSet", module = "dedust")]
pub(crate) struct PyRuleSet {
    rules: Arc<RuleSet>,
}

impl PyRuleSet {
    pub(crate) fn new(rules: RuleSet) -> Self {
        Self { rules: Arc::new(rules) }
    }

    pub(crate) fn inner(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    fn json(&self) -> PyResult<Vec<u8>> {
        let mut json = Vec::new();
        match self.rules.save(&mut json) {
            Ok(()) => Ok(json),
            Err(error) => Err(WriteError::new_err(error.to_string())),
        }
    }
}

#[pymethods]
impl PyRuleSet {
    /// Loads a rule file, plain or compressed with gzip or zstd.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        if !path.exists() {
            return Err(no_file(&path));
        }
        py.detach(|| {
            let text = dedust_io::open_text(&path).map_err(|error| cannot_use(path.display(), &error))?;
            RuleSet::load(text).map(Self::new).map_err(|error| cannot_use(path.display(), &error))
        })
    }

    /// Reads the text of a rule file.
    #[staticmethod]
    fn from_json(py: Python<'_>, json: &Bound<'_, PyAny>) -> PyResult<Self> {
        let given = crate::text::GivenUrl::of(json)?;
        let text = given.bytes()?;
        let loaded = py.detach(|| RuleSet::load(text));
        loaded.map(Self::new).map_err(|error| LoadRulesError::new_err(with_causes(&error)))
    }

    /// Writes a rule file: the same rules, the same bytes. An existing one is replaced with `force=True` only.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        py.detach(|| save(&path, force, |output| self.rules.save(output)))
    }

    /// The text of the rule file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let json = py.detach(|| self.json())?;
        String::from_utf8(json).map_err(|error| WriteError::new_err(error.to_string()))
    }

    /// The rules in the form in which they are applied.
    #[pyo3(signature = (*, trust_mirrors=false))]
    fn compile(&self, py: Python<'_>, trust_mirrors: bool) -> PyResult<PyNormalizer> {
        PyNormalizer::of_rules(py, &self.rules, trust_mirrors)
    }

    /// These rules and those of another set, whose sites replace those of the same name.
    fn joined(&self, other: &Self) -> Self {
        let mut rules = RuleSet::clone(&self.rules);
        rules.append(RuleSet::clone(&other.rules));
        Self::new(rules)
    }

    /// The names of the sites, in order.
    #[getter]
    fn sites(&self) -> Vec<String> {
        self.rules.sites().map(|(site, _)| site.to_owned()).collect()
    }

    /// The edits of a site, in words.
    fn edits(&self, site: &str) -> PyResult<Vec<String>> {
        match self.rules.site(site) {
            Some(rules) => Ok(rules.edits().iter().map(ToString::to_string).collect()),
            None => Err(PyKeyError::new_err(format!("there are no rules of the site {site}"))),
        }
    }

    /// Who made the rules.
    #[getter]
    fn method(&self) -> &str {
        self.rules.method()
    }

    /// How many edits all sites have.
    #[getter]
    fn rule_count(&self) -> usize {
        self.rules.rule_count()
    }

    /// How many sites there are.
    fn __len__(&self) -> usize {
        self.rules.sites().len()
    }

    fn __contains__(&self, site: &str) -> bool {
        self.rules.site(site).is_some()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.rules == other.rules
    }

    fn __repr__(&self) -> String {
        let sites = counted(self.__len__() as u64, "site", "sites");
        format!("<dedust.RuleSet of {sites} with {}>", counted(self.rule_count() as u64, "edit", "edits"))
    }

    fn _repr_html_(&self) -> String {
        let edits = self
            .rules
            .sites()
            .flat_map(|(site, rules)| rules.edits().iter().map(move |edit| (site.to_owned(), edit)));
        let row = |(site, edit): (String, &dedust::rules::Edit)| {
            let evidence = &edit.evidence;
            vec![site, edit.to_string(), evidence.urls.to_string(), evidence.groups.to_string()]
        };
        let table = html::table(&["site", "edit", "URLs", "groups"], edits.take(SHOWN).map(row));
        let more = self.rule_count().saturating_sub(SHOWN);
        let rest = if more > 0 { format!("<p>and {more} more</p>") } else { String::new() };
        format!("{table}{rest}")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let arguments = (PyBytes::new(slf.py(), &slf.get().json()?),).into_pyobject(slf.py())?;
        Ok((slf.get_type().getattr("from_json")?, arguments))
    }
}

/// Writes a file whole, or not at all.
pub(crate) fn save(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut OutputFile) -> io::Result<()>,
) -> PyResult<()> {
    let failed = |error: dedust_io::WriteError| {
        WriteError::new_err(match error {
            dedust_io::WriteError::Exists { path } => {
                format!("{} already exists (overwrite it with force=True)", path.display())
            }
            other => with_causes(&other),
        })
    };
    let mut output = OutputFile::create(path, force).map_err(failed)?;
    write(&mut output)
        .and_then(|()| output.flush())
        .map_err(|source| failed(dedust_io::WriteError::Write { path: path.to_owned(), source }))?;
    output.commit().map_err(failed)
}
