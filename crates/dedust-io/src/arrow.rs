/*!
Arrow files, also known as Feather, Arrow streams, and Arrow tables in memory: tables in batches of rows.

Files and streams are read batch by batch, so that memory is bounded by the largest batch: see [`messages`]. Only the known columns are
read. Times, integers, floating point numbers, text and bytes of any width are understood, also as dictionaries.
*/

mod messages;

use std::io::{BufReader, Read as _, Seek as _};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray, RecordBatch};
use arrow_ipc::MessageHeader;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::{ArrowError, DataType, SchemaRef, TimeUnit};

pub(crate) use self::messages::{Checked, MessageError};
use self::messages::{FILE_MAGIC, Messages};
use crate::bad_row::{BadRowReason, SourcePosition};
use crate::names::NamedColumn;
use crate::table::{Cell, KnownColumns, TableRows, failure, fill, known_columns};
use crate::table_file::TableFile;
use crate::timestamp::{self, Unit};
use crate::{Location, Observation, ReadError};

/// Reads an Arrow file, stream or table.
pub(crate) struct Table {
    batches: Batches,
    /// In the order of a batch.
    known: KnownColumns,
    batch: Vec<BatchColumn>,
    batch_rows: usize,
    row_in_batch: usize,
    /// Rows read.
    count: u64,
}

/// Where batches come from.
enum Batches {
    File(Box<OpenTable>),
    /// With all columns.
    Memory(BatchIterator),
}

/// The columns of one batch after the other.
pub(crate) type BatchIterator = Box<dyn Iterator<Item = Result<Vec<ArrayRef>, ArrowError>> + Send>;

/// The values of a column. Those of a dictionary are looked up, since it may say one long value very often.
pub(crate) struct BatchColumn {
    values: ArrayRef,
    /// For each row, the index of its value, or nothing.
    indexes: Option<Vec<Option<usize>>>,
}

impl Table {
    /// Reads what the file says of itself.
    pub(crate) fn open(name: &Arc<str>, file: TableFile, named: &[NamedColumn]) -> Result<Self, ReadError> {
        let mut table = OpenTable::open(name, file)?;
        let names: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let known = known_columns(name, &names, named)?;
        let indexes = known.columns.iter().map(|(index, _)| *index).collect();
        table.decoder = table.decoder.with_projection(indexes);
        Ok(Self::new(Batches::File(Box::new(table)), known))
    }

    /// Reads a table with columns of these names.
    pub(crate) fn of_batches(
        name: &Arc<str>,
        names: &[&str],
        batches: BatchIterator,
        named: &[NamedColumn],
    ) -> Result<Self, ReadError> {
        Ok(Self::new(Batches::Memory(batches), known_columns(name, names, named)?))
    }

    fn new(batches: Batches, known: KnownColumns) -> Self {
        Self { batches, known, batch: Vec::new(), batch_rows: 0, row_in_batch: 0, count: 0 }
    }

    /// Moves on to a row. `false` at the end.
    fn advance(&mut self) -> Result<bool, MessageError> {
        while self.row_in_batch == self.batch_rows {
            // Before the next one takes memory.
            self.batch.clear();
            let Some(columns) = self.next_columns()? else { return Ok(false) };
            self.batch = columns.iter().map(BatchColumn::new).collect();
            (self.batch_rows, self.row_in_batch) = (columns.first().map_or(0, |column| column.len()), 0);
        }
        Ok(true)
    }

    /// The known columns of the next batch.
    fn next_columns(&mut self) -> Result<Option<Vec<ArrayRef>>, MessageError> {
        match &mut self.batches {
            Batches::File(table) => Ok(table.next_batch(|_| {})?.map(|batch| batch.columns().to_vec())),
            Batches::Memory(batches) => {
                let Some(columns) = batches.next().transpose()? else { return Ok(None) };
                let known = self.known.columns.iter().map(|(index, _)| columns.get(*index).cloned());
                let missing =
                    || ArrowError::SchemaError("a batch has fewer columns than its table".to_owned());
                Ok(Some(known.collect::<Option<_>>().ok_or_else(missing)?))
            }
        }
    }
}

/// An Arrow file or stream of which the schema was read.
pub(crate) struct OpenTable {
    messages: Messages<BufReader<TableFile>>,
    decoder: FileDecoder,
    pub(crate) schema: SchemaRef,
    pub(crate) is_file: bool,
}

impl OpenTable {
    pub(crate) fn open(name: &Arc<str>, mut file: TableFile) -> Result<Self, ReadError> {
        let unreadable = |source| failure(name, 0, source);
        let damaged = |source: ArrowError| failure(name, 0, source);
        let length = file.size().map_err(unreadable)?;
        let mut magic = [0; FILE_MAGIC.len()];
        let is_file = file.read_exact(&mut magic).is_ok() && magic == FILE_MAGIC;
        file.rewind().map_err(unreadable)?;
        let failed = |error| read_error(name, 0, error);
        let mut messages = Messages::new(BufReader::new(file), length, is_file).map_err(failed)?;
        let message = messages.next().map_err(failed)?;
        let head = message.as_ref().map(|message| message.head()).transpose().map_err(damaged)?;
        let Some((schema, version)) =
            head.and_then(|head| head.header_as_schema().map(|schema| (schema, head.version())))
        else {
            return Err(damaged(ArrowError::ParseError("it does not start with a schema".to_owned())));
        };
        let schema = Arc::new(try_fb_to_schema(schema).map_err(damaged)?);
        let decoder = FileDecoder::new(schema.clone(), version);
        Ok(Self { messages, decoder, schema, is_file })
    }

    /// The next batch of rows; `look` is shown its message.
    pub(crate) fn next_batch(
        &mut self,
        mut look: impl FnMut(&Checked),
    ) -> Result<Option<RecordBatch>, MessageError> {
        while let Some(message) = self.messages.next()? {
            if message.kind == MessageHeader::DictionaryBatch {
                self.decoder.read_dictionary(&message.block, &message.bytes)?;
            } else if let Some(batch) = self.decoder.read_record_batch(&message.block, &message.bytes)? {
                look(&message);
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl BatchColumn {
    pub(crate) fn new(array: &ArrayRef) -> Self {
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            return Self { values: text_as_bytes(array), indexes: None };
        };
        let (keys, values) = (dictionary.keys(), text_as_bytes(dictionary.values()));
        let indexes = if values.is_empty() {
            vec![None; keys.len()]
        } else {
            let indexes = dictionary.normalized_keys().into_iter().enumerate();
            indexes.map(|(row, index)| (!keys.is_null(row)).then_some(index)).collect()
        };
        Self { values, indexes: Some(indexes) }
    }

    pub(crate) fn cell(&self, row: usize) -> Cell<'_> {
        match self.indexes.as_ref().map_or(Some(row), |indexes| indexes[row]) {
            Some(index) => cell(&self.values, index),
            None => Cell::Null,
        }
    }
}

/// The same array, in which text is bytes: that of somebody else may not be UTF-8, whatever its type says.
fn text_as_bytes(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8 => Arc::new(BinaryArray::from(array.as_string::<i32>().clone())),
        DataType::LargeUtf8 => Arc::new(LargeBinaryArray::from(array.as_string::<i64>().clone())),
        DataType::Utf8View => Arc::new(array.as_string_view().clone().to_binary_view()),
        _ => array.clone(),
    }
}

/// An error for a table that can be read no further than `row`.
pub(crate) fn read_error(file: &Arc<str>, row: u64, error: MessageError) -> ReadError {
    match error {
        MessageError::Oversized(batch) => ReadError::OversizedBatch { file: file.clone(), row, batch },
        MessageError::Damaged(source) => failure(file, row, source),
    }
}

impl TableRows for Table {
    fn read(
        &mut self,
        file: &Arc<str>,
        observation: &mut Observation,
    ) -> Result<Option<Result<(), BadRowReason>>, ReadError> {
        if !self.advance().map_err(|error| read_error(file, self.count, error))? {
            return Ok(None);
        }
        let row = self.row_in_batch;
        self.row_in_batch += 1;
        self.count += 1;
        let cells = self.known.columns.iter().zip(&self.batch);
        let cells = cells.map(|((_, column), values)| (*column, values.cell(row)));
        Ok(Some(fill(observation, SourcePosition { file, location: self.location() }, cells)))
    }

    fn location(&self) -> Location {
        Location::Row(self.count)
    }

    fn known(&self) -> &KnownColumns {
        &self.known
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
        ($kind:ty, $unit:expr) => {
            Cell::of_time(timestamp::since_1970(array.as_primitive::<$kind>().value(row), $unit))
        };
    }
    match array.data_type() {
        DataType::Null => Cell::Null,
        DataType::Boolean => Cell::Flag(array.as_boolean().value(row)),
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
        DataType::Date32 => {
            Cell::of_time(timestamp::day_since_1970(array.as_primitive::<Date32Type>().value(row)))
        }
        DataType::Timestamp(TimeUnit::Second, _) => time!(TimestampSecondType, Unit::Second),
        DataType::Timestamp(TimeUnit::Millisecond, _) => time!(TimestampMillisecondType, Unit::Millisecond),
        DataType::Timestamp(TimeUnit::Microsecond, _) => time!(TimestampMicrosecondType, Unit::Microsecond),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => time!(TimestampNanosecondType, Unit::Nanosecond),
        other => Cell::Other(format!("of type {other}")),
    }
}
