/*!
The Arrow schema that writers keep in the metadata of a Parquet file, with the added columns.

Readers match its fields with those of the file one by one, so that one with fewer fields must not be kept.
*/

use ::parquet::file::metadata::KeyValue;

use super::AddedNames;

/// Under which the schema is kept.
const KEY: &str = "ARROW:schema";

/// A pair of the metadata as it is to be written; `None` if it is to be left out. Without the feature `arrow`, the schema cannot be
/// extended: readers then take types from the Parquet schema.
pub(super) fn extended(pair: KeyValue, names: &AddedNames) -> Option<KeyValue> {
    if pair.key != KEY {
        return Some(pair);
    }
    let value = extended_schema(pair.value.as_deref()?, names)?;
    Some(KeyValue { key: pair.key, value: Some(value) })
}

#[cfg(not(feature = "arrow"))]
fn extended_schema(_: &str, _: &AddedNames) -> Option<String> {
    None
}

#[cfg(feature = "arrow")]
fn extended_schema(text: &str, names: &AddedNames) -> Option<String> {
    use arrow_ipc::convert::{try_schema_from_flatbuffer_bytes, try_schema_from_ipc_buffer};
    use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
    use arrow_schema::{DataType, Field, FieldRef, Schema};
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    let bytes = BASE64_STANDARD.decode(text).ok()?;
    // Some writers leave out the mark and the length.
    let schema =
        try_schema_from_ipc_buffer(&bytes).or_else(|_| try_schema_from_flatbuffer_bytes(&bytes)).ok()?;
    let mut fields: Vec<FieldRef> = schema.fields().iter().cloned().collect();
    fields.extend([&names.key, &names.url].map(|name| FieldRef::new(Field::new(name, DataType::Utf8, true))));
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(
            &schema,
            &mut DictionaryTracker::new(true),
            &IpcWriteOptions::default(),
        )
        .ipc_message;
    let length = u32::try_from(message.len()).ok()?;
    let bytes = [&[0xff; 4][..], &length.to_le_bytes(), &message].concat();
    Some(BASE64_STANDARD.encode(bytes))
}
