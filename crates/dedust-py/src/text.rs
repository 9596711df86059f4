/*!
URLs as Python gives them, `str` or `bytes`, and results of the same kind.
*/

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::ParseUrlError;

/// A URL that was given. Results are of the same kind.
pub(crate) enum GivenUrl<'a, 'py> {
    Text(&'a Bound<'py, PyString>),
    Bytes(&'a Bound<'py, PyBytes>),
}

impl<'a, 'py> GivenUrl<'a, 'py> {
    pub(crate) fn of(url: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = url.cast::<PyString>() {
            Ok(Self::Text(text))
        } else if let Ok(bytes) = url.cast::<PyBytes>() {
            Ok(Self::Bytes(bytes))
        } else {
            Err(PyTypeError::new_err(format!("expected a URL as str or bytes, not {}", type_name(url))))
        }
    }

    /// The bytes of the URL. A `str` may hold half of a surrogate pair, which is none.
    pub(crate) fn bytes(&self) -> PyResult<&'a [u8]> {
        match self {
            Self::Text(text) => text.to_str().map(str::as_bytes).map_err(|_| {
                let shown = text.repr().map_or_else(|_| "the URL".to_owned(), |shown| shown.to_string());
                ParseUrlError::new_err(format!(
                    "{shown} has a lone surrogate, which is no text; decode its source with errors=\"replace\""
                ))
            }),
            Self::Bytes(bytes) => Ok(bytes.as_bytes()),
        }
    }

    /// What is made of the URL, if it is one.
    pub(crate) fn made<T>(
        &self,
        make: impl FnOnce(&'a [u8]) -> Result<T, dedust::errors::ParseUrlError>,
    ) -> PyResult<T> {
        let bytes = self.bytes()?;
        make(bytes).map_err(|error| no_url(bytes, error))
    }

    /// A result.
    pub(crate) fn result(&self, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            // Text stays text, so nothing is ever replaced.
            Self::Text(text) => Ok(PyString::new(text.py(), &String::from_utf8_lossy(bytes)).into_any()),
            Self::Bytes(given) => Ok(PyBytes::new(given.py(), bytes).into_any()),
        }
    }
}

/// A text that is no URL, in an exception.
fn no_url(url: &[u8], error: dedust::errors::ParseUrlError) -> PyErr {
    ParseUrlError::new_err(format!("`{}` is no URL: {error}", shorten(url)))
}

/// As much of a URL as a message can take, without characters that control terminals.
pub(crate) fn shorten(url: &[u8]) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(&url[..url.len().min(SHOWN)]);
    let mut shown: String = text
        .chars()
        .flat_map(|character| match character.is_control() {
            true => character.escape_default().collect::<Vec<char>>(),
            false => vec![character],
        })
        .collect();
    if url.len() > SHOWN {
        shown.push_str("...");
    }
    shown
}

/// The name of an object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}

/// `2 mirrors` or `1 mirror`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
