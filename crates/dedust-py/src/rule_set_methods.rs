/*!
The methods of [`PyRuleSet`] for Python: read, write, look up, and compile rules.
*/

use std::path::PathBuf;

use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust::rules::SiteEntry;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{LoadRulesError, WriteError, cannot_use, no_file};
use crate::html;
use crate::normalizer::PyNormalizer;
use crate::rule_set::{PyRuleSet, save};
use crate::text::{GivenUrl, counted};

/// Sites and rules that a notebook shows.
const SHOWN: usize = 50;

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
        let given = GivenUrl::of(json)?;
        let text = given.bytes()?;
        let loaded = py.detach(|| RuleSet::load(text));
        loaded.map(Self::new).map_err(|error| LoadRulesError::new_err(with_causes(&error)))
    }

    /// Writes a rule file: the same rules, the same bytes. An existing one is replaced with `force=True` only.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        py.detach(|| save(&path, force, |output| self.inner().save(output)))
    }

    /// The text of the rule file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let json = py.detach(|| json(self.inner()))?;
        String::from_utf8(json).map_err(|error| WriteError::new_err(error.to_string()))
    }

    /// The rules in the form in which they are applied.
    #[pyo3(signature = (*, trust_mirrors=false))]
    fn compile(&self, py: Python<'_>, trust_mirrors: bool) -> PyResult<PyNormalizer> {
        PyNormalizer::of_rules(py, self.inner(), trust_mirrors)
    }

    /// These rules and those of another set, whose sites replace those of the same name.
    fn joined(&self, other: &Self) -> Self {
        let mut rules = RuleSet::clone(self.inner());
        rules.append(RuleSet::clone(other.inner()));
        Self::new(rules)
    }

    /// The names of the sites, in order.
    #[getter]
    fn sites(&self) -> Vec<String> {
        self.inner().sites().map(|(site, _)| site.to_owned()).collect()
    }

    /// The rules of a site, in words.
    fn rules(&self, site: &str) -> PyResult<Vec<String>> {
        match self.inner().site(site) {
            Some(rules) => Ok(rules.entries().map(|rule| rule.to_string()).collect()),
            None => Err(PyKeyError::new_err(format!("there are no rules of the site {site}"))),
        }
    }

    /// Who made the rules.
    #[getter]
    fn method(&self) -> &str {
        self.inner().method()
    }

    /// How many rules all sites have.
    #[getter]
    fn rule_count(&self) -> usize {
        self.inner().rule_count()
    }

    /// How many sites there are.
    fn __len__(&self) -> usize {
        self.inner().sites().len()
    }

    fn __contains__(&self, site: &str) -> bool {
        self.inner().site(site).is_some()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner() == other.inner()
    }

    fn __repr__(&self) -> String {
        let sites = counted(self.__len__() as u64, "site", "sites");
        format!("<dedust.RuleSet of {sites} with {}>", counted(self.rule_count() as u64, "rule", "rules"))
    }

    fn _repr_html_(&self) -> String {
        let rules = self
            .inner()
            .sites()
            .flat_map(|(site, rules)| rules.entries().map(move |rule| (site.to_owned(), rule)));
        let row = |(site, rule): (String, SiteEntry<'_>)| {
            let evidence = rule.evidence();
            vec![site, rule.to_string(), evidence.urls.to_string(), evidence.groups.to_string()]
        };
        let table = html::table(&["site", "rule", "URLs", "groups"], rules.take(SHOWN).map(row));
        let more = self.rule_count().saturating_sub(SHOWN);
        let rest = if more > 0 { format!("<p>and {more} more</p>") } else { String::new() };
        format!("{table}{rest}")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let arguments = (PyBytes::new(slf.py(), &json(slf.get().inner())?),).into_pyobject(slf.py())?;
        Ok((slf.get_type().getattr("from_json")?, arguments))
    }
}

/// The bytes of the rule file.
fn json(rules: &RuleSet) -> PyResult<Vec<u8>> {
    let mut json = Vec::new();
    match rules.save(&mut json) {
        Ok(()) => Ok(json),
        Err(error) => Err(WriteError::new_err(error.to_string())),
    }
}
