/*!
Copies tables, adding two columns: tables in, tables of the same format out.

An [`Input`] comes in; its URLs go to the caller in batches, who gives back a key and a URL for each; the rows go out with
both, all else as it was. JSON Lines, CSV, TSV, CDX, CDXJ, Parquet and Arrow files can be copied, several of one format into one. Does
not know how keys are made.

Rows that cannot be read are left out and handed over as [`BadRow`]s; rows without a URL are kept. What is written is
complete only after [`Rewriter::finish`].
*/

#[cfg(feature = "arrow")]
mod arrow;
mod error;
mod lines;
mod parquet;
mod text_column;

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

#[cfg(feature = "arrow")]
use self::arrow::ArrowRewriter;
pub use self::error::RewriteError;
use self::lines::LineRewriter;
use self::parquet::ParquetRewriter;
pub use self::text_column::TextColumn;
use crate::{BadRow, Format, Input, Layout, Location};

/// Rows of a batch, at most.
pub(crate) const BATCH_ROWS: usize = 8 << 10;

/// Bytes of the URLs of a batch, from which on it is complete.
pub(crate) const BATCH_BYTES: usize = 1 << 20;

/// How the columns are called that are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedNames {
    /// The column with keys.
    pub key: String,
    /// The column with canonical URLs.
    pub url: String,
}

/// The URLs of some rows, in order.
#[derive(Debug, Default)]
pub struct UrlBatch {
    /// One for each row, absent if it has none.
    pub urls: TextColumn,
    /// Where the rows of a text are.
    pub(crate) locations: Vec<Location>,
    /// The number of the first row of a table whose rows are no lines.
    pub(crate) first_row: u64,
    /// The input, as named by the user.
    pub file: Arc<str>,
    /// Rows that are left out, met among these.
    pub bad_rows: Vec<BadRow>,
}

/// What is added to some rows.
#[derive(Debug, Default)]
pub struct AddedColumns {
    /// One for each row, absent if it has none.
    pub keys: TextColumn,
    /// One for each row, absent if it has none.
    pub urls: TextColumn,
}

/// Makes keys and URLs of URLs, or breaks off the copy. The columns to be filled are empty.
pub type MakeColumns<'a> = dyn FnMut(&UrlBatch, &mut AddedColumns) -> ControlFlow<()> + 'a;

/// Copies tables of one format to one output.
pub struct Rewriter<'o> {
    format: Format,
    kind: Kind<'o>,
}

enum Kind<'o> {
    Lines(Box<LineRewriter<'o>>),
    Parquet(Box<ParquetRewriter<'o>>),
    #[cfg(feature = "arrow")]
    Arrow(Box<ArrowRewriter<'o>>),
}

impl<'o> Rewriter<'o> {
    /// Copies tables of a format for which [`Format::is_table`] holds; inputs of another are refused.
    pub fn new(format: Format, names: AddedNames, output: &'o mut (dyn Write + Send)) -> Self {
        let kind = match format {
            Format::Parquet => Kind::Parquet(Box::new(ParquetRewriter::new(names, output))),
            #[cfg(feature = "arrow")]
            Format::Arrow => Kind::Arrow(Box::new(ArrowRewriter::new(names, output))),
            _ => Kind::Lines(Box::new(LineRewriter::new(format, names, output))),
        };
        Self { format, kind }
    }

    /// Copies all rows of an input, which must have the format and the columns of those before. Returns which of its columns
    /// were read as which.
    pub fn add(&mut self, input: Input, make: &mut MakeColumns<'_>) -> Result<Option<Layout>, RewriteError> {
        if input.format() != self.format {
            let (file, found) = (input.name().into(), input.format());
            return Err(RewriteError::OtherFormat { file, found, expected: self.format });
        }
        match &mut self.kind {
            Kind::Lines(lines) => lines.add(input, make),
            Kind::Parquet(parquet) => parquet.add(input, make),
            #[cfg(feature = "arrow")]
            Kind::Arrow(arrow) => arrow.add(input, make),
        }
    }

    /// Writes what stands at the end of a table.
    pub fn finish(self) -> Result<(), RewriteError> {
        match self.kind {
            Kind::Lines(lines) => lines.finish(),
            Kind::Parquet(parquet) => parquet.finish(),
            #[cfg(feature = "arrow")]
            Kind::Arrow(arrow) => arrow.finish(),
        }
    }
}

impl std::fmt::Debug for Rewriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rewriter").field("format", &self.format).finish_non_exhaustive()
    }
}

impl UrlBatch {
    /// An empty batch of rows of a file.
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Where a row is.
    pub fn location(&self, row: usize) -> Location {
        self.locations.get(row).copied().unwrap_or(Location::Row(self.first_row + row as u64))
    }

    /// Whether no further row should be added.
    pub(crate) fn is_full(&self) -> bool {
        self.urls.len() >= BATCH_ROWS || self.urls.bytes() >= BATCH_BYTES
    }

    /// Adds a row of a text.
    pub(crate) fn push(&mut self, url: Option<&[u8]>, location: Location) {
        self.urls.push(url);
        self.locations.push(location);
    }

    pub(crate) fn clear(&mut self) {
        self.urls.clear();
        self.locations.clear();
        self.bad_rows.clear();
    }
}

impl AddedColumns {
    /// Empties both columns.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.urls.clear();
    }

    /// Adds key and URL of one row, as text; neither of a row that has none.
    pub fn push(&mut self, row: Option<(&[u8], &[u8])>) {
        self.keys.push_text(row.map(|(key, _)| key));
        self.urls.push_text(row.map(|(_, url)| url));
    }

    /// Adds the values of other rows.
    pub fn append(&mut self, other: &Self) {
        self.keys.append(&other.keys);
        self.urls.append(&other.urls);
    }

    /// Adds rows without values until there are so many.
    pub fn pad_to(&mut self, rows: usize) {
        self.keys.pad_to(rows);
        self.urls.pad_to(rows);
    }

    /// Fills both columns, one value for each row of `batch`.
    pub(crate) fn fill(&mut self, batch: &UrlBatch, make: &mut MakeColumns<'_>) -> Result<(), RewriteError> {
        self.clear();
        if make(batch, self).is_break() {
            return Err(RewriteError::BrokenOff);
        }
        let rows = batch.urls.len();
        if self.keys.len() == rows && self.urls.len() == rows {
            return Ok(());
        }
        Err(RewriteError::WrongLength { rows, keys: self.keys.len(), urls: self.urls.len() })
    }
}

impl AddedNames {
    /// In the order of the columns.
    pub(crate) fn both(&self) -> [&str; 2] {
        [&self.key, &self.url]
    }

    /// An error if an input has a column of one of these names.
    pub(crate) fn check<'a>(
        &self,
        file: &Arc<str>,
        mut names: impl Iterator<Item = &'a str>,
    ) -> Result<(), RewriteError> {
        match names.find(|name| *name == self.key || *name == self.url) {
            Some(name) => Err(RewriteError::NameTaken { file: file.clone(), name: name.into() }),
            None => Ok(()),
        }
    }
}
