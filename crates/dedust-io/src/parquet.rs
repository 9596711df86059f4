/*!
Parquet files: the rows of a table whose columns are named as everywhere else.

A file comes in, since Parquet is read from its end; rows go out in order. Of the columns only those known are read, page by
page, so that neither the number of rows nor that of other columns costs memory. Columns may have any type that can hold
their values: text or bytes, whole numbers of any width, floating point numbers that are whole, times.

Memory is bounded by a few pages of each column: see [`limits`].
*/

mod delta;
mod limits;

use std::fs::File;
use std::sync::Arc;

use ::parquet::file::reader::FileReader as _;
use ::parquet::record::Field;
use ::parquet::record::reader::RowIter;
use ::parquet::schema::types::{Type, TypePtr};

use self::limits::{LimitedFile, Refusals};
use crate::bad_row::{BadRowReason, Place};
use crate::table::{Cell, TableRows, failure, fill, known_columns};
use crate::{Column, Location, Observation, ReadError};

/// Values of a column that are unpacked at a time. Each may be as long as its page.
const BATCH_VALUES: usize = 64;

/// Reads a Parquet file.
pub(crate) struct Table {
    rows: RowIter<'static>,
    refusals: Refusals,
    columns: Vec<Column>,
    /// Rows read.
    count: u64,
}

impl Table {
    /// Reads what the file says of itself.
    pub(crate) fn open(name: &Arc<str>, file: File) -> Result<Self, ReadError> {
        let damaged = |source| failure(name, 0, source);
        let reader = LimitedFile::open(file).map_err(damaged)?;
        let refusals = reader.refusals();
        let schema = reader.metadata().file_metadata().schema().clone();
        // Lists and structures are no values of ours.
        let fields: Vec<&TypePtr> = schema.get_fields().iter().filter(|field| field.is_primitive()).collect();
        let known = known_columns(name, fields.iter().map(|field| field.name()))?;
        let projection = Type::group_type_builder(schema.name())
            .with_fields(known.iter().map(|(index, _)| TypePtr::clone(fields[*index])).collect())
            .build()
            .map_err(damaged)?;
        let rows = RowIter::from_file_into(Box::new(reader)).project(Some(projection)).map_err(damaged)?;
        let rows = rows.with_batch_size(BATCH_VALUES);
        Ok(Table { rows, refusals, columns: known.into_iter().map(|(_, column)| column).collect(), count: 0 })
    }
}

impl TableRows for Table {
    fn read(
        &mut self,
        file: &Arc<str>,
        observation: &mut Observation,
    ) -> Result<Option<Result<(), BadRowReason>>, ReadError> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row.map_err(|source| match self.refusals.get() {
            Some(page) => {
                ReadError::OversizedPage { file: file.clone(), row: self.count, page: page.clone() }
            }
            None => failure(file, self.count, source),
        })?;
        self.count += 1;
        let cells = self.columns.iter().zip(row.get_column_iter());
        let cells = cells.map(|(&column, (_, field))| (column, cell(field)));
        Ok(Some(fill(observation, Place { file, location: self.location() }, cells)))
    }

    fn location(&self) -> Location {
        Location::Row(self.count)
    }
}

fn cell(field: &Field) -> Cell<'_> {
    match field {
        Field::Null => Cell::Null,
        Field::Str(text) => Cell::Text(text),
        Field::Bytes(bytes) => Cell::Bytes(bytes.data()),
        Field::Byte(value) => Cell::Whole((*value).into()),
        Field::Short(value) => Cell::Whole((*value).into()),
        Field::Int(value) => Cell::Whole((*value).into()),
        Field::Long(value) => Cell::Whole((*value).into()),
        Field::UByte(value) => Cell::Whole((*value).into()),
        Field::UShort(value) => Cell::Whole((*value).into()),
        Field::UInt(value) => Cell::Whole((*value).into()),
        Field::ULong(value) => Cell::Whole((*value).into()),
        Field::Float(value) => Cell::Real((*value).into()),
        Field::Double(value) => Cell::Real(*value),
        Field::Date(_) | Field::TimestampMillis(_) | Field::TimestampMicros(_) => {
            Cell::Time(field.to_string())
        }
        other => Cell::Other(other.to_string()),
    }
}
