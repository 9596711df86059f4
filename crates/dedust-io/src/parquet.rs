/*!
Parquet files: the rows of a table whose columns are named as everywhere else.

A file comes in, since Parquet is read from its end; rows go out in order. Of the columns only those known are read, page by
page, so that neither the number of rows nor that of other columns costs memory. Columns may have any type that can hold
their values: text or bytes, whole numbers of any width, floating point numbers that are whole, times.
*/

use std::fs::File;
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::reader::RowIter;
use ::parquet::record::{Field, Row};
use ::parquet::schema::types::{Type, TypePtr};

use crate::bad_row::{BadRowReason, Place, shorten, shorten_quoted};
use crate::column::Kind;
use crate::observation::WrongValue;
use crate::{Column, Location, Observation, ReadError};

/// Reads a Parquet file.
pub(crate) struct Table {
    rows: RowIter<'static>,
    columns: Vec<Column>,
    /// Rows read.
    count: u64,
}

impl Table {
    /// Reads what the file says of itself.
    pub(crate) fn open(name: &Arc<str>, file: File) -> Result<Self, ReadError> {
        let damaged = |source| failure(name, 0, source);
        let reader = SerializedFileReader::new(file).map_err(damaged)?;
        let schema = reader.metadata().file_metadata().schema().clone();
        let known = known_columns(&schema);
        let columns: Vec<Column> = known.iter().map(|(column, _)| *column).collect();
        for (index, column) in columns.iter().enumerate() {
            if columns[..index].contains(column) {
                return Err(ReadError::DuplicateColumn { file: name.clone(), column: *column });
            }
        }
        if !columns.contains(&Column::Url) {
            let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
            let columns = shorten_quoted(names.join(", ").as_bytes());
            return Err(ReadError::NoUrlInTable { file: name.clone(), columns });
        }
        let projection = Type::group_type_builder(schema.name())
            .with_fields(known.into_iter().map(|(_, field)| field).collect())
            .build()
            .map_err(damaged)?;
        let rows = RowIter::from_file_into(Box::new(reader)).project(Some(projection)).map_err(damaged)?;
        Ok(Table { rows, columns, count: 0 })
    }

    /// Where the current row is.
    pub(crate) fn location(&self) -> Location {
        Location::Row(self.count)
    }

    /// Reads the next row. `None` at the end.
    pub(crate) fn read(
        &mut self,
        file: &Arc<str>,
        observation: &mut Observation,
    ) -> Result<Option<Result<(), BadRowReason>>, ReadError> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row.map_err(|source| failure(file, self.count, source))?;
        self.count += 1;
        let location = self.location();
        observation.start(location);
        Ok(Some(self.fill(&row, Place { file, location }, observation)))
    }

    fn fill(&self, row: &Row, place: Place<'_>, observation: &mut Observation) -> Result<(), BadRowReason> {
        let mut has_url = false;
        for (&column, (_, field)) in self.columns.iter().zip(row.get_column_iter()) {
            if matches!(field, Field::Null) {
                continue;
            }
            has_url |= column == Column::Url;
            if set(observation, column, field).is_err() {
                let found = match field {
                    Field::Str(text) => shorten_quoted(text.as_bytes()),
                    other => shorten(other.to_string().as_bytes()),
                };
                if column == Column::Url {
                    return Err(BadRowReason::WrongUrl { found });
                }
                observation.push_bad_column(place.bad_column(column, found));
            }
        }
        match (has_url, observation.url()) {
            (false, _) => Err(BadRowReason::NoUrl),
            (true, b"") => Err(BadRowReason::EmptyUrl),
            (true, _) => Ok(()),
        }
    }
}

/// The columns of a table that are known and hold one value per row.
fn known_columns(schema: &Type) -> Vec<(Column, TypePtr)> {
    let fields = schema.get_fields().iter().filter(|field| field.is_primitive());
    fields
        .filter_map(|field| {
            Some((Column::from_name(&field.name().to_ascii_lowercase())?, TypePtr::clone(field)))
        })
        .collect()
}

fn failure(file: &Arc<str>, row: u64, source: ParquetError) -> ReadError {
    ReadError::Table { file: file.clone(), row, source: Box::new(source) }
}

fn set(observation: &mut Observation, column: Column, field: &Field) -> Result<(), WrongValue> {
    let whole = match field {
        Field::Str(text) => return observation.set_text(column, text),
        Field::Bytes(bytes) => return observation.set_bytes(column, bytes.data()),
        Field::Byte(value) => Some(i64::from(*value)),
        Field::Short(value) => Some(i64::from(*value)),
        Field::Int(value) => Some(i64::from(*value)),
        Field::Long(value) => Some(*value),
        Field::UByte(value) => Some(i64::from(*value)),
        Field::UShort(value) => Some(i64::from(*value)),
        Field::UInt(value) => Some(i64::from(*value)),
        // Data frames write integers so where a column has gaps; whole numbers below 2^53 are exact.
        Field::Float(value) => whole_of(f64::from(*value)),
        Field::Double(value) => whole_of(*value),
        _ => None,
    };
    match (column.kind(), field, whole) {
        (Kind::Simhash, Field::ULong(bits), _) => observation.set_simhash(*bits),
        (Kind::Simhash, Field::Long(bits), _) => observation.set_simhash(bits.cast_unsigned()),
        (Kind::Size | Kind::Status, Field::ULong(value), _) => return observation.set_number(column, *value),
        (Kind::Size | Kind::Status, _, Some(value)) => {
            return observation.set_number(column, u64::try_from(value).map_err(|_| WrongValue)?);
        }
        (Kind::Label, Field::ULong(value), _) => return observation.set_text(column, &value.to_string()),
        (Kind::Label, _, Some(value)) => return observation.set_text(column, &value.to_string()),
        (Kind::Label, Field::Date(_) | Field::TimestampMillis(_) | Field::TimestampMicros(_), _) => {
            return observation.set_text(column, &field.to_string());
        }
        _ => return Err(WrongValue),
    }
    Ok(())
}

fn whole_of(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value as i64)
}
