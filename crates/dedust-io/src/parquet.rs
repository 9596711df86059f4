/*!
Parquet files: the rows of a table whose columns are named as everywhere else.

A file comes in, since Parquet is read from its end; rows go out in order. Of the columns only those known are read, some values
at a time, so that neither the number of rows nor that of other columns costs memory. Columns may have any type that can hold
their values: text or bytes, whole numbers of any width, floating point numbers that are whole, times.

Memory is bounded by a few pages of each column: see [`limits`].
*/

mod column_values;
mod delta;
mod limits;

use std::sync::Arc;

use ::parquet::basic::Repetition;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::FileReader as _;
use ::parquet::schema::types::{SchemaDescriptor, TypePtr};

pub(crate) use self::column_values::ColumnValues;
use self::limits::{LimitedFile, Refusals};
use crate::bad_row::{BadRowReason, SourcePosition};
use crate::names::NamedColumn;
use crate::table::{KnownColumns, TableRows, failure, fill, known_columns};
use crate::table_file::TableFile;
use crate::{Location, Observation, ReadError};

/// An opened file whose known columns were found.
pub(crate) struct OpenFile {
    pub(crate) name: Arc<str>,
    pub(crate) reader: LimitedFile,
    refusals: Refusals,
    pub(crate) known: KnownColumns,
    /// For each known column, its index among those that hold values.
    pub(crate) leaves: Vec<usize>,
}

/// Reads a Parquet file.
pub(crate) struct Table {
    file: OpenFile,
    /// The row group to be read next.
    next_group: usize,
    /// The known columns of the current row group.
    columns: Vec<ColumnValues>,
    batch_rows: usize,
    row_in_batch: usize,
    /// Rows read.
    count: u64,
}

impl OpenFile {
    /// Reads what the file says of itself.
    pub(crate) fn open(name: &Arc<str>, file: TableFile, named: &[NamedColumn]) -> Result<Self, ReadError> {
        let reader = LimitedFile::open(file).map_err(|source| failure(name, 0, source))?;
        let refusals = reader.refusals();
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        // Lists and structures are no values of ours.
        let is_value = |field: &&TypePtr| {
            field.is_primitive() && field.get_basic_info().repetition() != Repetition::REPEATED
        };
        let fields: Vec<&TypePtr> = schema.root_schema().get_fields().iter().filter(is_value).collect();
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let known = known_columns(name, &names, named)?;
        let leaves = known.columns.iter().map(|(index, _)| leaf(&schema, names[*index])).collect();
        Ok(Self { name: name.clone(), reader, refusals, known, leaves })
    }

    /// The values of a known column in a row group.
    pub(crate) fn column(&self, group: usize, leaf: usize) -> Result<ColumnValues, ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let descriptor = group.metadata().column(leaf).column_descr_ptr();
        Ok(ColumnValues::new(descriptor, group.get_column_page_reader(leaf)?))
    }

    /// An error for a file that can be read no further than `row`.
    pub(crate) fn failure(&self, row: u64, source: ParquetError) -> ReadError {
        match self.refusals.get() {
            Some(page) => ReadError::OversizedPage { file: self.name.clone(), row, page: page.clone() },
            None => failure(&self.name, row, source),
        }
    }
}

/// The index of a column of the root among those that hold values.
fn leaf(schema: &SchemaDescriptor, name: &str) -> usize {
    let is_it = |column: &::parquet::schema::types::ColumnDescPtr| column.path().parts() == [name];
    schema.columns().iter().position(is_it).unwrap_or_default()
}

impl Table {
    pub(crate) fn open(name: &Arc<str>, file: TableFile, named: &[NamedColumn]) -> Result<Self, ReadError> {
        let file = OpenFile::open(name, file, named)?;
        Ok(Table { file, next_group: 0, columns: Vec::new(), batch_rows: 0, row_in_batch: 0, count: 0 })
    }

    /// Moves on to a row. `false` at the end.
    fn advance(&mut self) -> Result<bool, ParquetError> {
        while self.row_in_batch == self.batch_rows {
            self.row_in_batch = 0;
            self.batch_rows = self.next_values()?;
            if self.batch_rows > 0 {
                break;
            }
            if self.next_group == self.file.reader.num_row_groups() {
                return Ok(false);
            }
            // Before the next ones take memory.
            self.columns.clear();
            let (file, group) = (&self.file, self.next_group);
            self.columns =
                file.leaves.iter().map(|leaf| file.column(group, *leaf)).collect::<Result<_, _>>()?;
            self.next_group += 1;
        }
        Ok(true)
    }

    /// Reads some values of all columns, which must be as many.
    fn next_values(&mut self) -> Result<usize, ParquetError> {
        let mut rows = None;
        for column in &mut self.columns {
            let found = column.advance()?;
            if *rows.get_or_insert(found) != found {
                return Err(ParquetError::General("its columns have different numbers of rows".to_owned()));
            }
        }
        Ok(rows.unwrap_or_default())
    }
}

impl TableRows for Table {
    fn read(
        &mut self,
        file: &Arc<str>,
        observation: &mut Observation,
    ) -> Result<Option<Result<(), BadRowReason>>, ReadError> {
        if !self.advance().map_err(|error| self.file.failure(self.count, error))? {
            return Ok(None);
        }
        let row = self.row_in_batch;
        self.row_in_batch += 1;
        self.count += 1;
        let cells = self.file.known.columns.iter().zip(&self.columns);
        let cells = cells.map(|(&(_, column), values)| (column, values.cell(row)));
        Ok(Some(fill(observation, SourcePosition { file, location: self.location() }, cells)))
    }

    fn location(&self) -> Location {
        Location::Row(self.count)
    }

    fn known(&self) -> &KnownColumns {
        &self.file.known
    }
}
