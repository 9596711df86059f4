/*!
The values of one column of a row group, some at a time.
*/

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use ::parquet::errors::Result;
use ::parquet::record::Field;
use ::parquet::schema::types::ColumnDescPtr;

use crate::table::Cell;
use crate::timestamp::{self, Unit};

/// Values that are unpacked at a time. Each may be as long as its page.
pub(super) const BATCH_VALUES: usize = 64;

/// Reads a column that is no list.
pub(crate) struct ColumnValues {
    descriptor: ColumnDescPtr,
    /// What times are counted in, of a column of whole numbers that are times.
    time_unit: Option<Unit>,
    reader: ColumnReader,
    values: Values,
    /// For each row, whether it has a value; empty if all have.
    levels: Vec<i16>,
    /// For each row, the index of its value.
    indexes: Vec<usize>,
}

enum Values {
    Boolean(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl ColumnValues {
    pub(super) fn new(descriptor: ColumnDescPtr, pages: Box<dyn PageReader>) -> Self {
        let reader = get_column_reader(descriptor.clone(), pages);
        let values = match &reader {
            ColumnReader::BoolColumnReader(_) => Values::Boolean(Vec::new()),
            ColumnReader::Int32ColumnReader(_) => Values::Int32(Vec::new()),
            ColumnReader::Int64ColumnReader(_) => Values::Int64(Vec::new()),
            ColumnReader::Int96ColumnReader(_) => Values::Int96(Vec::new()),
            ColumnReader::FloatColumnReader(_) => Values::Float(Vec::new()),
            ColumnReader::DoubleColumnReader(_) => Values::Double(Vec::new()),
            ColumnReader::ByteArrayColumnReader(_) => Values::Bytes(Vec::new()),
            ColumnReader::FixedLenByteArrayColumnReader(_) => Values::Fixed(Vec::new()),
        };
        let time_unit = time_unit(&descriptor);
        Self { descriptor, time_unit, reader, values, levels: Vec::new(), indexes: Vec::new() }
    }

    /// Reads the next values, and returns for how many rows; 0 at the end of the row group.
    pub(crate) fn advance(&mut self) -> Result<usize> {
        self.levels.clear();
        let levels = (self.descriptor.max_def_level() > 0).then_some(&mut self.levels);
        macro_rules! read {
            ($reader:ident, $values:ident) => {{
                $values.clear();
                $reader.read_records(BATCH_VALUES, levels, None, $values)
            }};
        }
        let (rows, _, _) = match (&mut self.reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(reader), Values::Boolean(values)) => read!(reader, values),
            (ColumnReader::Int32ColumnReader(reader), Values::Int32(values)) => read!(reader, values),
            (ColumnReader::Int64ColumnReader(reader), Values::Int64(values)) => read!(reader, values),
            (ColumnReader::Int96ColumnReader(reader), Values::Int96(values)) => read!(reader, values),
            (ColumnReader::FloatColumnReader(reader), Values::Float(values)) => read!(reader, values),
            (ColumnReader::DoubleColumnReader(reader), Values::Double(values)) => read!(reader, values),
            (ColumnReader::ByteArrayColumnReader(reader), Values::Bytes(values)) => read!(reader, values),
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Values::Fixed(values)) => {
                read!(reader, values)
            }
            // Both were made together.
            _ => return Ok(0),
        }?;
        self.indexes.clear();
        let mut next = 0;
        let most = self.descriptor.max_def_level();
        self.indexes.extend(self.levels.iter().map(|level| {
            let index = next;
            next += usize::from(*level == most);
            index
        }));
        Ok(rows)
    }

    /// The value of a row among those read last.
    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
        let is_optional = self.descriptor.max_def_level() > 0;
        if is_optional && self.levels.get(row).is_none_or(|level| *level < self.descriptor.max_def_level()) {
            return Cell::Null;
        }
        let index = if is_optional { self.indexes[row] } else { row };
        let descriptor = &self.descriptor;
        match &self.values {
            Values::Bytes(values) => Cell::Bytes(values[index].data()),
            Values::Fixed(values) => Cell::Bytes(values[index].data()),
            Values::Boolean(values) => scalar(Field::convert_bool(descriptor, values[index])),
            Values::Int32(values) => scalar(Field::convert_int32(descriptor, values[index])),
            Values::Int64(values) => match self.time_unit {
                Some(unit) => Cell::of_time(timestamp::since_1970(values[index], unit)),
                None => scalar(Field::convert_int64(descriptor, values[index])),
            },
            // Writers of such times count no finer.
            Values::Int96(values) => {
                Cell::of_time(timestamp::since_1970(values[index].to_micros(), Unit::Microsecond))
            }
            Values::Float(values) => scalar(Field::convert_float(descriptor, values[index])),
            Values::Double(values) => scalar(Field::convert_double(descriptor, values[index])),
        }
    }

    /// The texts of the rows read last; `None` where there is none.
    pub(crate) fn texts(&self, rows: usize) -> impl Iterator<Item = Option<&[u8]>> {
        (0..rows).map(|row| match self.cell(row) {
            Cell::Bytes(bytes) => Some(bytes),
            _ => None,
        })
    }
}

/// What the numbers of a column count since 1970, if it says so. The older names of types have no nanoseconds.
fn time_unit(descriptor: &ColumnDescPtr) -> Option<Unit> {
    let older = match descriptor.converted_type() {
        ConvertedType::TIMESTAMP_MILLIS => Some(Unit::Millisecond),
        ConvertedType::TIMESTAMP_MICROS => Some(Unit::Microsecond),
        _ => None,
    };
    older.or_else(|| match descriptor.logical_type_ref()? {
        LogicalType::Timestamp(time) => Some(match time.unit {
            TimeUnit::MILLIS => Unit::Millisecond,
            TimeUnit::MICROS => Unit::Microsecond,
            TimeUnit::NANOS => Unit::Nanosecond,
        }),
        _ => None,
    })
}

/// A value that is neither text nor bytes, nor a time.
fn scalar(field: Field) -> Cell<'static> {
    match field {
        Field::Null => Cell::Null,
        Field::Bool(value) => Cell::Flag(value),
        Field::Byte(value) => Cell::Whole(value.into()),
        Field::Short(value) => Cell::Whole(value.into()),
        Field::Int(value) => Cell::Whole(value.into()),
        Field::Long(value) => Cell::Whole(value.into()),
        Field::UByte(value) => Cell::Whole(value.into()),
        Field::UShort(value) => Cell::Whole(value.into()),
        Field::UInt(value) => Cell::Whole(value.into()),
        Field::ULong(value) => Cell::Whole(value.into()),
        Field::Float(value) => Cell::Real(value.into()),
        Field::Double(value) => Cell::Real(value),
        Field::Date(day) => Cell::of_time(timestamp::day_since_1970(day)),
        other => Cell::Other(other.to_string()),
    }
}
