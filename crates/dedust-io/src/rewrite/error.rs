/*!
Why a table could not be copied.
*/

use std::io;
use std::sync::Arc;

use crate::{Format, ReadError};

/// A table could not be copied. What was written is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The input cannot be read, or not to its end.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output cannot be written.
    #[error("cannot write the table")]
    Write(#[from] io::Error),
    /// The output cannot be written, as the crate for its format says.
    #[error("cannot write the table")]
    WriteTable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is a column of that name.
    #[error(
        "{file} already has a column \"{name}\" (call the added ones otherwise: --key-column, --url-column)"
    )]
    NameTaken {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The column.
        name: Box<str>,
    },
    /// Lists, logs and archives have no columns that others could be added to.
    #[error("{file} is {format}, expected a table, as {} or {}", Format::Csv, Format::Parquet)]
    NotATable {
        /// The input, as named by the user.
        file: Arc<str>,
        /// Its format.
        format: Format,
    },
    /// Inputs of two formats cannot become one table.
    #[error("{file} is {found}, and the input before it {expected} (give each format an output of its own)")]
    OtherFormat {
        /// The input, as named by the user.
        file: Arc<str>,
        /// Its format.
        found: Format,
        /// That of the first input.
        expected: Format,
    },
    /// Inputs with other columns cannot become one table.
    #[error("{file} has other columns than the input before it (give each an output of its own)")]
    OtherColumns {
        /// The input, as named by the user.
        file: Arc<str>,
    },
    /// URLs in a column that holds none.
    #[error("the column \"{name}\" of {file} holds {found}, expected URLs as text")]
    UrlsOfOtherType {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The column.
        name: Box<str>,
        /// What it holds.
        found: String,
    },
    /// The caller broke off the copy.
    #[error("the copy was broken off")]
    BrokenOff,
    /// The caller made more or fewer values than there are rows.
    #[error("{keys} keys and {urls} URLs for {rows} rows")]
    WrongLength {
        /// Rows of the batch.
        rows: usize,
        /// Keys made of them.
        keys: usize,
        /// URLs made of them.
        urls: usize,
    },
}
