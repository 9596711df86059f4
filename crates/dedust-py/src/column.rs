/*!
Columns of texts: URLs that come in, keys and canonical URLs that go out.

Texts are bytes here. A column comes out as the type that it came in as: `string`, `large_string`, `string_view`, or the same
of bytes.
*/

use std::ops::Range;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyList, PyString};

use crate::arrow;

/// Texts that came in.
pub(crate) enum Texts {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
}

impl Texts {
    /// The texts of an array; an error where it holds none.
    pub(crate) fn of(array: &ArrayRef) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Small(array.as_string::<i32>().clone().into()),
            DataType::LargeUtf8 => Self::Large(array.as_string::<i64>().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Self::Small(array.as_binary().clone()),
            DataType::LargeBinary => Self::Large(array.as_binary().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            other => return Err(wrong_type(other)),
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Small(array) => array.len(),
            Self::Large(array) => array.len(),
            Self::View(array) => array.len(),
        }
    }

    /// About how many bytes they are.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Small(array) => (array.value_offsets()[array.len()] - array.value_offsets()[0]) as usize,
            Self::Large(array) => (array.value_offsets()[array.len()] - array.value_offsets()[0]) as usize,
            Self::View(array) => array.total_buffer_bytes_used(),
        }
    }

    /// The text of a row; nothing for null.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

/// Whether columns of this type are taken.
pub(crate) fn check_type(of: &DataType) -> PyResult<()> {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    match of {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => Ok(()),
        other => Err(wrong_type(other)),
    }
}

fn wrong_type(found: &DataType) -> PyErr {
    PyTypeError::new_err(match found {
        DataType::Struct(fields) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            format!("expected a column of URLs, not a table; choose one of its columns: {}", names.join(", "))
        }
        DataType::Dictionary(..) => {
            "expected a column of URLs as strings, not as a dictionary; cast it to string".to_owned()
        }
        other => format!("expected a column of URLs as strings or bytes, not of type {other}"),
    })
}

/// Texts that go out: one after the other, with where each begins and ends, and which are not null.
pub(crate) struct Written {
    bytes: Vec<u8>,
    /// As Arrow has them: one more than there are texts.
    offsets: Vec<i64>,
    /// Empty until there is a null.
    valid: Vec<bool>,
}

impl Default for Written {
    fn default() -> Self {
        Self { bytes: Vec::new(), offsets: vec![0], valid: Vec::new() }
    }
}

impl Written {
    /// With room for so many texts, of so many bytes in all.
    pub(crate) fn with_capacity(texts: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(texts + 1);
        offsets.push(0);
        Self { bytes: Vec::with_capacity(bytes), offsets, valid: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.offsets.push(self.bytes.len() as i64);
        if !self.valid.is_empty() {
            self.valid.push(true);
        }
    }

    pub(crate) fn push_null(&mut self) {
        if self.valid.is_empty() {
            self.valid.resize(self.len(), true);
        }
        self.offsets.push(self.bytes.len() as i64);
        self.valid.push(false);
    }

    /// A null among values of 16 bytes, which takes as much room as they do.
    pub(crate) fn push_null_key(&mut self) {
        self.bytes.extend_from_slice(&[0; 16]);
        self.push_null();
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Forgets all texts, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.truncate(1);
        self.valid.clear();
    }

    /// The text of a row; nothing for null.
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let (start, end) = (self.offsets[row] as usize, self.offsets[row + 1] as usize);
        self.valid.get(row).is_none_or(|valid| *valid).then(|| &self.bytes[start..end])
    }

    /// Puts the texts of another behind these.
    pub(crate) fn append(&mut self, other: &Self) {
        if !self.valid.is_empty() || !other.valid.is_empty() {
            self.valid.resize(self.len(), true);
            match other.valid.is_empty() {
                true => self.valid.resize(self.len() + other.len(), true),
                false => self.valid.extend_from_slice(&other.valid),
            }
        }
        let start = self.bytes.len() as i64;
        self.bytes.extend_from_slice(&other.bytes);
        self.offsets.extend(other.offsets[1..].iter().map(|end| start + end));
    }

    /// As an array of this type.
    pub(crate) fn into_array(self, of: &DataType) -> PyResult<ArrayRef> {
        let nulls = (!self.valid.is_empty()).then(|| NullBuffer::from(self.valid));
        let bytes = Buffer::from_vec(self.bytes);
        let failed = |error: arrow_schema::ArrowError| arrow::not_usable(&error);
        if let DataType::FixedSizeBinary(size) = of {
            return Ok(arrow::shared(FixedSizeBinaryArray::try_new(*size, bytes, nulls).map_err(failed)?));
        }
        let is_small = matches!(of, DataType::Utf8 | DataType::Binary);
        if is_small && bytes.len() > i32::MAX as usize {
            return Err(PyOverflowError::new_err(
                "the result has more than 2 GiB, which a column of type string cannot hold; cast the input to large_string",
            ));
        }
        if is_small {
            let offsets: Vec<i32> = self.offsets.iter().map(|&offset| offset as i32).collect();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            return Ok(match of {
                DataType::Utf8 => arrow::shared(StringArray::try_new(offsets, bytes, nulls).map_err(failed)?),
                _ => arrow::shared(BinaryArray::try_new(offsets, bytes, nulls).map_err(failed)?),
            });
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        if matches!(of, DataType::LargeBinary | DataType::BinaryView) {
            let array = LargeBinaryArray::try_new(offsets, bytes, nulls).map_err(failed)?;
            return Ok(match of {
                DataType::LargeBinary => arrow::shared(array),
                _ => arrow::shared(BinaryViewArray::from(&array)),
            });
        }
        let array = LargeStringArray::try_new(offsets, bytes, nulls).map_err(failed)?;
        Ok(match of {
            DataType::LargeUtf8 => arrow::shared(array),
            _ => arrow::shared(StringViewArray::from(&array)),
        })
    }
}

/// A column of texts. pyarrow, Polars, DuckDB and pandas take it as it is, without copies.
#[pyclass(frozen, module = "dedust")]
pub(crate) struct Column {
    of: DataType,
    chunks: Vec<ArrayRef>,
}

impl Column {
    pub(crate) fn new(of: DataType, chunks: Vec<ArrayRef>) -> Self {
        Self { of, chunks }
    }

    /// The values of some rows of a chunk, as Python has them.
    fn values<'py>(
        &self,
        py: Python<'py>,
        chunk: &ArrayRef,
        rows: Range<usize>,
        mut each: impl FnMut(Option<Bound<'py, PyAny>>) -> PyResult<()>,
    ) -> PyResult<()> {
        let is_text = matches!(self.of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let texts = Texts::of(chunk).ok();
        for row in rows {
            let value = match (&texts, &self.of) {
                _ if chunk.is_null(row) => None,
                (Some(texts), _) if is_text => {
                    texts.get(row).map(|bytes| PyString::new(py, &String::from_utf8_lossy(bytes)).into_any())
                }
                (Some(texts), _) => texts.get(row).map(|bytes| PyBytes::new(py, bytes).into_any()),
                (None, DataType::Boolean) => {
                    Some(PyBool::new(py, chunk.as_boolean().value(row)).to_owned().into_any())
                }
                (None, _) => Some(PyBytes::new(py, chunk.as_fixed_size_binary().value(row)).into_any()),
            };
            each(value)?;
        }
        Ok(())
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let length = self.__len__();
        let index_from_start =
            if index < 0 { length.checked_add_signed(index) } else { Some(index as usize) };
        let Some(mut row) = index_from_start.filter(|row| *row < length) else {
            return Err(PyIndexError::new_err(format!("row {index} of a column of {length} rows")));
        };
        for chunk in &self.chunks {
            if row < chunk.len() {
                let mut value = None;
                self.values(py, chunk, row..row + 1, |found| {
                    value = found;
                    Ok(())
                })?;
                return Ok(value);
            }
            row -= chunk.len();
        }
        Ok(None)
    }

    /// The texts as a list.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for chunk in &self.chunks {
            self.values(py, chunk, 0..chunk.len(), |value| list.append(value))?;
        }
        Ok(list)
    }

    /// The name of the Arrow type.
    #[getter]
    fn r#type(&self) -> String {
        self.of.to_string()
    }

    /// How many rows are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.null_count()).sum()
    }

    fn __repr__(&self) -> String {
        format!("<dedust.Column of {} rows, {}>", self.__len__(), self.of)
    }

    /// The type, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::export_type(py, &self.of)
    }

    /// The column as one array, by the Arrow PyCapsule interface. The chunks of a stream are put together for it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        if let [chunk] = &self.chunks[..] {
            return arrow::export_array(py, chunk);
        }
        let mut all = Written::default();
        for chunk in &self.chunks {
            if let DataType::FixedSizeBinary(_) = self.of {
                let chunk = chunk.as_fixed_size_binary();
                (0..chunk.len()).for_each(|row| match chunk.is_null(row) {
                    true => all.push_null_key(),
                    false => all.push(chunk.value(row)),
                });
                continue;
            }
            let texts = Texts::of(chunk)?;
            (0..texts.len()).for_each(|row| match texts.get(row) {
                Some(text) => all.push(text),
                None => all.push_null(),
            });
        }
        arrow::export_array(py, &all.into_array(&self.of)?)
    }

    /// The column as a stream of arrays, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        arrow::export_stream(py, &self.of, self.chunks.clone())
    }
}
