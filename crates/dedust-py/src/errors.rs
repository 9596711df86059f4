/*!
The exceptions of the package: one class for each kind of error, all below `DedustError`, with the message of the library.
*/

use std::error::Error;
use std::fmt::Display;
use std::path::Path;

use dedust::errors::with_causes;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(dedust, DedustError, PyException, "Anything that dedust cannot do.");
create_exception!(dedust, ParseUrlError, DedustError, "A text that is no URL.");
create_exception!(dedust, LoadRulesError, DedustError, "Rules that cannot be used.");
create_exception!(dedust, ReadError, DedustError, "Inputs that cannot be read.");
create_exception!(dedust, SeenError, DedustError, "A set of seen keys that cannot be used.");
create_exception!(dedust, TrainError, DedustError, "A learner that failed.");
create_exception!(dedust, WriteError, DedustError, "A file that cannot be written.");

/// Rules at `name` that cannot be used.
pub(crate) fn cannot_use(name: impl Display, error: &dyn Error) -> PyErr {
    LoadRulesError::new_err(format!("cannot use the rules in {name}: {}", with_causes(error)))
}

/// Rules that are not there.
pub(crate) fn no_file(path: &Path) -> PyErr {
    LoadRulesError::new_err(format!("there is no rule file {}; check the name", path.display()))
}

/// Warns by Python's `logging`, under the name `dedust`.
pub(crate) fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    log(py, "warning", text)
}

/// Says something there that is worth knowing.
pub(crate) fn note(py: Python<'_>, text: &str) -> PyResult<()> {
    log(py, "info", text)
}

fn log(py: Python<'_>, level: &str, text: &str) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("dedust",))?;
    logger.call_method1(level, ("%s", text))?;
    Ok(())
}
