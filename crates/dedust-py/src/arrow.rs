/*!
Arrow arrays from Python and to Python, by the C data interface and its capsules.

The only unsafe code of the package: capsules hold pointers, and what they point to has to be taken at the word of their name.

By hand, since the crate `pyo3-arrow` (0.20) is made for Arrow 59, where the crate `parquet` here needs Arrow 60: arrays would be
of two types, which are not the same to the compiler. It brings `numpy` and `chrono-tz`, too.
*/
#![expect(unsafe_code, reason = "the C data interface hands over pointers")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The array of an object with `__arrow_c_array__`.
pub(crate) fn import_array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let capsules = object.call_method0("__arrow_c_array__")?;
    let capsules = capsules.cast::<PyTuple>()?;
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name points to an initialized schema or array, and nobody else uses it: the capsules were made
    // for this call. Moving them out leaves empty ones behind, which the capsules do not release again.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr())) };
    // SAFETY: whoever made the capsules keeps to the C data interface. The layout is checked.
    let data = unsafe { from_ffi(array, &schema) };
    data.map(make_array).map_err(|error| not_usable(&error))
}

/// The arrays of an object with `__arrow_c_stream__`, which may call Python.
pub(crate) fn import_stream(object: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let stream = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: as above; the stream is moved out of its capsule.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(|error| not_usable(&error))
}

/// What Arrow says against an object.
pub(crate) fn not_usable(error: &ArrowError) -> PyErr {
    PyTypeError::new_err(format!("the Arrow data cannot be used: {error}"))
}

/// The capsule of a type.
pub(crate) fn export_type<'py>(py: Python<'py>, of: &DataType) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(of).map_err(|error| not_usable(&error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// The capsules of an array.
pub(crate) fn export_array<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = export_type(py, array.data_type())?;
    Ok((schema, PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array.to_data()), ARRAY)?))
}

/// The capsule of a stream of arrays of one type.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    of: &DataType,
    chunks: Vec<ArrayRef>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = ExportedStream {
        field: Field::new("", of.clone(), true),
        chunks: chunks.into_iter(),
        last_error: None,
    };
    let stream: *mut c_void = Box::into_raw(Box::new(stream)).cast();
    // SAFETY: the callbacks take `private_data` for what it is, and `release_stream` frees it once.
    let stream = unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(write_schema),
            Some(write_next),
            Some(last_error),
            Some(release_stream),
            stream,
        )
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

struct ExportedStream {
    field: Field,
    chunks: std::vec::IntoIter<ArrayRef>,
    last_error: Option<CString>,
}

/// The code for an argument that cannot be used, as the C library has it on all systems that we know.
const EINVAL: c_int = 22;

/// What a stream was made with.
///
/// # Safety
///
/// `stream` is one of [`export_stream`] that was not released, and nobody else uses it meanwhile.
unsafe fn exported<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut ExportedStream {
    // SAFETY: the caller says so; the private data is that of `export_stream` until the stream is released.
    unsafe { &mut *(*stream).private_data().cast::<ExportedStream>() }
}

unsafe extern "C" fn write_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: consumers call it on a stream that they have, one call at a time.
    let exported = unsafe { exported(stream) };
    match FFI_ArrowSchema::try_from(&exported.field) {
        Ok(schema) => {
            // SAFETY: consumers give memory for a schema, which need not be initialized.
            unsafe { out.write(schema) };
            0
        }
        Err(error) => {
            exported.last_error = CString::new(error.to_string()).ok();
            EINVAL
        }
    }
}

unsafe extern "C" fn write_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: as in `write_schema`.
    let chunk = unsafe { exported(stream) }.chunks.next();
    let array = chunk.map_or_else(FFI_ArrowArray::empty, |chunk| FFI_ArrowArray::new(&chunk.to_data()));
    // SAFETY: consumers give memory for an array, which need not be initialized.
    unsafe { out.write(array) };
    0
}

unsafe extern "C" fn last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: as in `write_schema`. The text lives until the next call.
    let exported = unsafe { exported(stream) };
    exported.last_error.as_ref().map_or(std::ptr::null(), |error| error.as_ptr())
}

unsafe extern "C" fn release_stream(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: called once, on a stream that was not released; after it there is no callback to call it again.
    unsafe {
        let stream = &mut *stream;
        drop(Box::from_raw(stream.private_data().cast::<ExportedStream>()));
        stream.set_private_data(std::ptr::null_mut());
        stream.set_release(None);
    }
}

/// An array behind a pointer that can be shared.
pub(crate) fn shared(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// The capsule of a stream of batches.
pub(crate) fn export_batches<'py>(
    py: Python<'py>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}
