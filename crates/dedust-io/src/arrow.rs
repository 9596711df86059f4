/*!
Arrow files, also known as Feather, and Arrow streams: tables in batches of rows.

Read batch by batch, so that memory is bounded by the largest batch. Only the known columns are read. Times, integers,
floating point numbers, text and bytes of any width are understood, also as dictionaries.
*/

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use crate::bad_row::{BadRowReason, Place};
use crate::table::{Cell, TableRows, failure, fill, known_columns};
use crate::{Column, Location, Observation, ReadError};

/// What a file starts with; a stream starts otherwise.
const FILE_MAGIC: &[u8] = b"ARROW1";

/// Reads an Arrow file or stream.
pub(crate) struct Table {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    /// The known columns, by their index in a batch.
    columns: Vec<(usize, Column)>,
    batch: Vec<ArrayRef>,
    batch_rows: usize,
    row_in_batch: usize,
    /// Rows read.
    count: u64,
}

impl Table {
    /// Reads what the file says of itself.
    pub(crate) fn open(name: &Arc<str>, mut file: File) -> Result<Self, ReadError> {
        let damaged = |source| failure(name, 0, source);
        let mut magic = [0; FILE_MAGIC.len()];
        let is_file = file.read_exact(&mut magic).is_ok() && magic == FILE_MAGIC;
        file.rewind().map_err(|source| failure(name, 0, source))?;
        let source = BufReader::new(file);
        let (schema, batches): (_, Box<dyn Iterator<Item = _> + Send>) = if is_file {
            let reader = FileReader::try_new(source, None).map_err(damaged)?;
            (reader.schema(), Box::new(reader))
        } else {
            let reader = StreamReader::try_new(source, None).map_err(damaged)?;
            (reader.schema(), Box::new(reader))
        };
        let columns = known_columns(name, schema.fields().iter().map(|field| field.name().as_str()))?;
        Ok(Table { batches, columns, batch: Vec::new(), batch_rows: 0, row_in_batch: 0, count: 0 })
    }

    /// Moves on to a row. `false` at the end.
    fn advance(&mut self) -> Result<bool, ArrowError> {
        while self.row_in_batch == self.batch_rows {
            let Some(batch) = self.batches.next() else { return Ok(false) };
            let batch = batch?;
            self.batch = self
                .columns
                .iter()
                .map(|(index, _)| without_dictionary(batch.column(*index)))
                .collect::<Result<_, _>>()?;
            (self.batch_rows, self.row_in_batch) = (batch.num_rows(), 0);
        }
        Ok(true)
    }
}

impl TableRows for Table {
    fn read(
        &mut self,
        file: &Arc<str>,
        observation: &mut Observation,
    ) -> Result<Option<Result<(), BadRowReason>>, ReadError> {
        if !self.advance().map_err(|source| failure(file, self.count, source))? {
            return Ok(None);
        }
        let row = self.row_in_batch;
        self.row_in_batch += 1;
        self.count += 1;
        let cells = self.columns.iter().zip(&self.batch);
        let cells = cells.map(|((_, column), array)| (*column, cell(array, row)));
        Ok(Some(fill(observation, Place { file, location: self.location() }, cells)))
    }

    fn location(&self) -> Location {
        Location::Row(self.count)
    }
}

fn without_dictionary(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => arrow_select::take::take(dictionary.values(), dictionary.keys(), None),
        None => Ok(array.clone()),
    }
}

fn cell(array: &ArrayRef, row: usize) -> Cell<'_> {
    if array.is_null(row) {
        return Cell::Null;
    }
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).into()
        };
    }
    macro_rules! time {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value_as_datetime(row).map_or_else(
                || Cell::Other("a time out of range".to_owned()),
                |time| Cell::Time(time.format("%Y-%m-%dT%H:%M:%S%.f").to_string()),
            )
        };
    }
    match array.data_type() {
        DataType::Null => Cell::Null,
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(row)),
        DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Cell::Bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Cell::Bytes(array.as_binary_view().value(row)),
        DataType::Int8 => Cell::Whole(number!(Int8Type)),
        DataType::Int16 => Cell::Whole(number!(Int16Type)),
        DataType::Int32 => Cell::Whole(number!(Int32Type)),
        DataType::Int64 => Cell::Whole(number!(Int64Type)),
        DataType::UInt8 => Cell::Whole(number!(UInt8Type)),
        DataType::UInt16 => Cell::Whole(number!(UInt16Type)),
        DataType::UInt32 => Cell::Whole(number!(UInt32Type)),
        DataType::UInt64 => Cell::Whole(number!(UInt64Type)),
        DataType::Float32 => Cell::Real(number!(Float32Type)),
        DataType::Float64 => Cell::Real(number!(Float64Type)),
        DataType::Date32 => time!(Date32Type),
        DataType::Timestamp(TimeUnit::Second, _) => time!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => time!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => time!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => time!(TimestampNanosecondType),
        other => Cell::Other(format!("of type {other}")),
    }
}
