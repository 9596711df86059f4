/*!
Everything that ends reading or writing, with the file, the place and the way out.

Rows that are merely unusable are not here: see [`crate::BadRow`]. Messages do not repeat their cause, which is in
`source()`.
*/

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Column, Compression};

/// What to do if the URLs have another name.
const NAME_IT: &str = "if another column holds the URLs, name it: --column url=NAME";
const OTHER_COLUMNS: &str = "cluster (or page), canonical, redirect, digest, text_digest, simhash, title, size, \
                             status, mime, time, truncated";

/// Reading stopped. Rows delivered before remain usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is missing or may not be read.
    #[error("cannot open {file}")]
    Open {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What the system says.
        source: io::Error,
    },
    /// A directory was named where a file is needed.
    #[error("{file} is a directory, expected a file (name the files in it, such as {file}/*)")]
    IsDirectory {
        /// The input, as named by the user.
        file: Arc<str>,
    },
    /// The system failed while reading.
    #[error("cannot read {file} {}", Whereabouts(*line, *offset))]
    Read {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The last line that was delivered.
        line: u64,
        /// Bytes of uncompressed text up to the end of that line.
        offset: u64,
        /// What the system says.
        source: io::Error,
    },
    /// The system failed while an archive was read.
    #[error("cannot read {file} after record {record} (byte {offset}), the records up to there were read")]
    ReadArchive {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The last record that was delivered, counted from 1.
        record: u64,
        /// Where that record starts.
        offset: u64,
        /// What the system says.
        source: io::Error,
    },
    /// A compressed file was cut off, as by an interrupted download.
    #[error("{file} is cut off: its {compression} data ends {}; fetch it again", Whereabouts(*line, *offset))]
    Truncated {
        /// The input, as named by the user.
        file: Arc<str>,
        /// How the input is compressed.
        compression: Compression,
        /// The last line that was delivered.
        line: u64,
        /// Bytes of uncompressed text up to the end of that line.
        offset: u64,
        /// What the decompressor says.
        source: io::Error,
    },
    /// A compressed file is not what its first bytes promised.
    #[error(
        "{file} is damaged: its {compression} data cannot be decompressed {}; fetch it again",
        Whereabouts(*line, *offset)
    )]
    Damaged {
        /// The input, as named by the user.
        file: Arc<str>,
        /// How the input is compressed.
        compression: Compression,
        /// The last line that was delivered.
        line: u64,
        /// Bytes of uncompressed text up to the end of that line.
        offset: u64,
        /// What the decompressor says.
        source: io::Error,
    },
    /// A table does not say which column holds the URLs.
    #[error(
        "{file} has no column \"url\", its columns are {columns}; expected url and, where known, {OTHER_COLUMNS} \
         ({NAME_IT})"
    )]
    NoUrlInTable {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The names of the columns, shortened and in quotes.
        columns: String,
    },
    /// A table is damaged, cut off, or written in a way that is not known.
    #[error("cannot read {file} as a table{}", AfterRow(*row))]
    Table {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The last row that was delivered, counted from 1.
        row: u64,
        /// What is wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A page of a Parquet file would take too much memory.
    #[error(
        "{file}: {page}{} (write the table again with pages of 1 MiB and without such values)",
        AfterRow(*row)
    )]
    OversizedPage {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The last row that was delivered, counted from 1.
        row: u64,
        /// The page.
        page: OversizedPage,
    },
    /// A part of an Arrow file would take too much memory.
    #[error("{file}: {batch}{} (write the table again in smaller batches)", AfterRow(*row))]
    OversizedBatch {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The last row that was delivered, counted from 1.
        row: u64,
        /// What is too large.
        batch: OversizedBatch,
    },
    /// What comes through a pipe could not be put into a temporary file, which this format needs.
    #[error("cannot put {file} into a temporary file (a table is best read from its own path)")]
    Spool {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What the system says.
        source: io::Error,
    },
    /// Binary data of no known kind.
    #[error(
        "{file} does not look like any supported format, expected {expected}, plain or compressed with gzip or zstd"
    )]
    UnknownFormat {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What [`Format::list`](crate::Format::list) names.
        expected: String,
    },
    /// A known format that this version does not read.
    #[error("{file} is {}, {}", format.description(), format.remedy())]
    UnsupportedFormat {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What it is.
        format: Unsupported,
    },
    /// A delimited file does not say which column holds the URLs.
    #[error(
        "{file} has no \"url\" column, its first line is {header}; expected a header that names url and, where known, \
         {OTHER_COLUMNS} ({NAME_IT})"
    )]
    NoUrlColumn {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The first line, shortened and in quotes.
        header: String,
    },
    /// A column that the user named is not there.
    #[error("{file} has no column \"{name}\" to use as {column}, its columns are {columns}")]
    NoSuchColumn {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What it was to be used as.
        column: Column,
        /// The name that is missing.
        name: Box<str>,
        /// The names of the columns, shortened and in quotes.
        columns: String,
    },
    /// A folder has no files in it that could be read.
    #[error("{file} is a folder without files (hidden files and those that start with _ are left out)")]
    EmptyFolder {
        /// The folder, as named by the user.
        file: Arc<str>,
    },
    /// A pattern matches nothing.
    #[error("no file matches {file}")]
    NoMatch {
        /// The pattern, as named by the user.
        file: Arc<str>,
    },
    /// An object of a store, in a build that reads files alone.
    #[error("this build cannot read {file} (download it, or build with --features remote)")]
    NotBuilt {
        /// The input, as named by the user.
        file: Arc<str>,
    },
    /// A pattern is none.
    #[error("{file} is no pattern for files: {problem}")]
    BadPattern {
        /// The pattern, as named by the user.
        file: Arc<str>,
        /// What is wrong.
        problem: String,
    },
    /// A delimited file names a column twice.
    #[error("{file} has two columns \"{column}\" in its header, expected one")]
    DuplicateColumn {
        /// The input, as named by the user.
        file: Arc<str>,
        /// The column.
        column: Column,
    },
    /// A log was to be read that does not say of which host it is, and nobody else did.
    #[error(
        "{file} is {format}, which does not say of which host it is; name the host, as in \
         --host http://www.example.com"
    )]
    NoHost {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What it is, in words.
        format: &'static str,
    },
    /// More rows were bad than good, so the input is probably something else.
    #[error("{bad} of {} rows of {file} could not be read as {format}, expected {expected}", good + bad)]
    MostlyBad {
        /// The input, as named by the user.
        file: Arc<str>,
        /// What the input was read as, in words.
        format: &'static str,
        /// What its rows must look like.
        expected: &'static str,
        /// Rows that could be used.
        good: u64,
        /// Rows that could not.
        bad: u64,
    },
}

/// Where reading stopped, from the number of the last line delivered and the bytes of text up to its end.
struct Whereabouts(u64, u64);

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Whereabouts(0, _) => f.write_str("within the first line, so no row was read"),
            Whereabouts(line, offset) => {
                write!(f, "after line {line} (byte {offset} of the text), the rows up to there were read")
            }
        }
    }
}

/// Where reading of a table stopped.
struct AfterRow(u64);

impl fmt::Display for AfterRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str(", so no row was read"),
            row => write!(f, " after row {row}, the rows up to there were read"),
        }
    }
}

/// A page of a Parquet file that is larger than is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row group {row_group}, column \"{column}\": {excess}")]
#[non_exhaustive]
pub struct OversizedPage {
    /// Counted from 0.
    pub row_group: usize,
    /// The name of the column.
    pub column: String,
    /// What is too large.
    pub excess: Excess,
}

/// What is too large about a page of a Parquet file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Excess {
    /// The page itself, packed or unpacked.
    #[error("a page of {0} bytes, expected at most 128 MiB")]
    PageBytes(u64),
    /// A page whose values repeat the beginnings of others.
    #[error("a page of {0} bytes in the encoding DELTA_BYTE_ARRAY, expected at most 4 MiB")]
    PrefixPageBytes(u64),
    /// The values of a dictionary.
    #[error("a dictionary of {0} values, expected one for every four of its bytes and at most 4194304")]
    DictionaryValues(u64),
    /// The lengths of the texts in a page.
    #[error("a list of {0} lengths, expected one for every value of its page and at most 4194304")]
    ListedValues(u64),
}

/// What is too large about an Arrow file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OversizedBatch {
    /// The head of a message.
    #[error("a message head of {0} bytes, expected at most 64 MiB")]
    HeadBytes(u64),
    /// A batch of rows, packed or unpacked.
    #[error("a batch of {0} bytes, expected at most 1 GiB")]
    BatchBytes(u64),
    /// All dictionaries.
    #[error("dictionaries of {0} bytes, expected at most 1 GiB")]
    DictionaryBytes(u64),
    /// What is copied to append to dictionaries.
    #[error("{0} bytes to be copied to append to dictionaries, expected at most 16 GiB")]
    AppendedBytes(u64),
}

/// Formats that are recognised in order to be refused with a useful message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsupported {
    /// Apache Arrow, or Feather, in a build without the feature `arrow`.
    Arrow,
    /// One JSON array instead of lines.
    JsonArray,
    /// A JSON document over several lines.
    JsonDocument,
    /// HTML or XML.
    Markup,
    /// Compressed with bzip2.
    Bzip2,
    /// Compressed with xz.
    Xz,
    /// Compressed with lz4.
    Lz4,
    /// A zip archive.
    Zip,
    /// Compressed, and compressed again.
    CompressedTwice,
}

impl Unsupported {
    fn description(self) -> &'static str {
        match self {
            Unsupported::Arrow => "an Arrow file",
            Unsupported::JsonArray => "a JSON array",
            Unsupported::JsonDocument => "a JSON document of several lines",
            Unsupported::Markup => "an HTML or XML document",
            Unsupported::Bzip2 => "compressed with bzip2",
            Unsupported::Xz => "compressed with xz",
            Unsupported::Lz4 => "compressed with lz4",
            Unsupported::Zip => "a zip archive",
            Unsupported::CompressedTwice => "compressed twice",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Unsupported::Arrow => {
                "which this build does not read, expected Parquet (or build dedust with --features arrow)"
            }
            Unsupported::JsonArray => "expected one JSON object per line (convert it with: jq -c '.[]')",
            Unsupported::JsonDocument => "expected one JSON object per line (convert it with: jq -c .)",
            Unsupported::Markup => "expected JSON Lines, CSV, TSV or one URL per line",
            Unsupported::Bzip2 => "expected gzip or zstd (pipe it in with: bzip2 -dc FILE | dedust ... -)",
            Unsupported::Xz => "expected gzip or zstd (pipe it in with: xz -dc FILE | dedust ... -)",
            Unsupported::Lz4 => "expected gzip or zstd (pipe it in with: lz4 -dc FILE | dedust ... -)",
            Unsupported::Zip => {
                "expected gzip or zstd (pipe it in with: unzip -p FILE | dedust ... -; save a spreadsheet as CSV)"
            }
            Unsupported::CompressedTwice => "expected one layer of gzip or zstd (decompress it once)",
        }
    }
}

/// An output file could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There is a file of that name, and overwriting was not asked for.
    #[error("{} already exists (overwrite it with --force)", path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// A directory was named where a file is needed.
    #[error("{} is a directory, expected a file name", path.display())]
    IsDirectory {
        /// The target.
        path: PathBuf,
    },
    /// The file beside the target could not be created.
    #[error("cannot create {}", path.display())]
    Create {
        /// The target.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Writing or renaming failed; the target is as it was.
    #[error("cannot write {}", if path.as_os_str() == "-" { "to standard output".into() } else { path.display().to_string() })]
    Write {
        /// The target; `-` is standard output.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
