/*!
Tables whose columns have names and types: what Parquet and Arrow files have in common.

A cell of whatever type comes in, and goes into the column of an [`Observation`] if it can hold its value. Which columns are
known, and that there must be URLs, is decided here once.
*/

use std::cell::Cell as ThreadCell;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use crate::bad_row::{BadRowReason, SourcePosition, shorten, shorten_quoted};
use crate::column::Kind;
use crate::names::{Layout, NamedColumn, Names};
use crate::observation::WrongValue;
use crate::{Column, Location, MAX_ROW_BYTES, Observation, ReadError};

/// Rows of a table, in order.
pub(crate) trait TableRows: Send {
    /// Reads the next row. `None` at the end.
    fn read(
        &mut self,
        file: &Arc<str>,
        observation: &mut Observation,
    ) -> Result<Option<Result<(), BadRowReason>>, ReadError>;

    /// Where the current row is.
    fn location(&self) -> Location;

    /// Which columns are used.
    fn known(&self) -> &KnownColumns;
}

/// A value of a table.
pub(crate) enum Cell<'a> {
    Null,
    /// Text too, of any column that may hold it.
    Bytes(&'a [u8]),
    /// Any integer of up to 64 bits.
    Whole(i128),
    Real(f64),
    Flag(bool),
    /// A time or date, in words that sort.
    Time(String),
    /// None of these, in words.
    Other(String),
}

impl Cell<'_> {
    /// A time or date, if it is one.
    pub(crate) fn of_time(text: Option<String>) -> Self {
        text.map_or_else(|| Self::Other("a time out of range".to_owned()), Self::Time)
    }
}

/// Which of the columns of a table are known, by their index.
pub(crate) struct KnownColumns {
    pub(crate) columns: Vec<(usize, Column)>,
    pub(crate) names: Names,
    pub(crate) layout: Layout,
}

/// Finds the known columns of a table with these names.
pub(crate) fn known_columns(
    file: &Arc<str>,
    names: &[&str],
    named: &[NamedColumn],
) -> Result<KnownColumns, ReadError> {
    let resolved = Names::resolve(names, named, Some(file))?;
    let mut known: Vec<(usize, Column)> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let Some(column) = resolved.column_of_heading(name) else { continue };
        if known.iter().any(|(_, other)| *other == column) {
            return Err(ReadError::DuplicateColumn { file: file.clone(), column });
        }
        known.push((index, column));
    }
    if !known.iter().any(|(_, column)| *column == Column::Url) {
        let columns = shorten_quoted(names.join(", ").as_bytes());
        return Err(ReadError::NoUrlInTable { file: file.clone(), columns });
    }
    let layout = resolved.layout(names.iter().copied());
    Ok(KnownColumns { columns: known, names: resolved, layout })
}

/// An error for a table that can be read no further than `row`.
pub(crate) fn failure(
    file: &Arc<str>,
    row: u64,
    source: impl std::error::Error + Send + Sync + 'static,
) -> ReadError {
    ReadError::Table { file: file.clone(), row, source: Box::new(source) }
}

thread_local! {
    /// Whether this thread is within [`guarded`].
    static IS_GUARDED: ThreadCell<bool> = const { ThreadCell::new(false) };
}

/// From now on, panics within [`guarded`] are not printed: they are reported as errors.
fn silence_guarded_panics() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                print(panic);
            }
        }));
    });
}

/// Runs what reads a table. The readers of tables are not ours, and some panic on damaged files: that ends reading with
/// an error, as any other damage does.
pub(crate) fn guarded<T>(
    file: &Arc<str>,
    row: u64,
    read: impl FnOnce() -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    silence_guarded_panics();
    IS_GUARDED.set(true);
    // Nothing of a table is used after an error.
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    outcome.unwrap_or_else(|payload| {
        let problem = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default();
        let problem = format!("the file is damaged, fetch or write it again ({problem})");
        Err(failure(file, row, io::Error::new(io::ErrorKind::InvalidData, problem)))
    })
}

/// Puts the cells of a row into an observation.
pub(crate) fn fill<'a>(
    observation: &mut Observation,
    position: SourcePosition<'_>,
    cells: impl Iterator<Item = (Column, Cell<'a>)>,
) -> Result<(), BadRowReason> {
    observation.start(position.location);
    let mut has_url = false;
    let mut row_bytes = 0;
    for (column, cell) in cells {
        if matches!(cell, Cell::Null) {
            continue;
        }
        row_bytes += cell.len();
        if row_bytes > MAX_ROW_BYTES {
            return Err(BadRowReason::TooLong);
        }
        has_url |= column == Column::Url;
        if set(observation, column, &cell).is_err() {
            let found = cell.shown();
            if column == Column::Url {
                return Err(BadRowReason::WrongUrl { found });
            }
            observation.push_bad_column(position.bad_column(column, found));
        }
    }
    match (has_url, observation.url()) {
        (false, _) => Err(BadRowReason::NoUrl),
        (true, b"") => Err(BadRowReason::EmptyUrl),
        (true, _) => Ok(()),
    }
}

fn set(observation: &mut Observation, column: Column, cell: &Cell<'_>) -> Result<(), WrongValue> {
    match (column.kind(), cell) {
        (_, Cell::Null) => Ok(()),
        (_, Cell::Bytes(bytes)) => observation.set_bytes(column, bytes),
        (Kind::Flag, Cell::Flag(value)) => {
            observation.set_flag(column, *value);
            Ok(())
        }
        (Kind::Simhash, Cell::Whole(bits)) => {
            // Signed or not, it is the same 64 bits.
            let bits = u64::try_from(*bits).or_else(|_| i64::try_from(*bits).map(i64::cast_unsigned));
            observation.set_simhash(bits.map_err(|_| WrongValue)?);
            Ok(())
        }
        (Kind::Size | Kind::Status | Kind::Flag, Cell::Whole(value)) => {
            observation.set_number(column, u64::try_from(*value).map_err(|_| WrongValue)?)
        }
        // Data frames write integers so where a column has gaps; whole numbers below 2^53 are exact.
        (_, Cell::Real(value)) if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 => {
            set(observation, column, &Cell::Whole(*value as i128))
        }
        (Kind::Label, Cell::Whole(value)) => observation.set_text(column, &value.to_string()),
        (Kind::Label, Cell::Time(time)) => observation.set_text(column, time),
        _ => Err(WrongValue),
    }
}

impl Cell<'_> {
    /// Bytes of a value that may have any number of them.
    fn len(&self) -> usize {
        match self {
            Cell::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// In words, for a message.
    fn shown(&self) -> String {
        match self {
            Cell::Null => "null".to_owned(),
            Cell::Bytes(bytes) => shorten_quoted(bytes),
            Cell::Whole(value) => value.to_string(),
            Cell::Real(value) => value.to_string(),
            Cell::Flag(value) => value.to_string(),
            Cell::Time(text) | Cell::Other(text) => shorten(text.as_bytes()),
        }
    }
}
