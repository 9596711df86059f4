/*!
The class `RuleSet`: the rules of any number of sites, with why they are believed; and how a file of rules is written.

Its methods are in [`crate::rule_set_methods`]: one of them makes a `Normalizer`, which is itself made of a `RuleSet`.
*/

use std::io;
use std::path::Path;
use std::sync::Arc;

use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust_io::OutputFile;
use pyo3::prelude::*;

use crate::errors::WriteError;

/// Rules by site, as a rule file has them.
///
/// >>> from dedust import RuleSet
/// >>> rules = RuleSet.from_json('''{"version": 1, "sites": {"example.org": {"rules": [
/// ...     {"change": [{"drop": "q.sid"}], "fetchable": true}]}}}''')
/// >>> rules.rules("example.org")
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
    OutputFile::create(path, force).and_then(|output| output.write_whole(write)).map_err(failed)
}
