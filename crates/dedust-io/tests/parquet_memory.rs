/*!
Parquet files that unpack to far more than they hold: memory is counted by the allocator.
*/
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::Cursor;
use std::sync::Arc;

use dedust_io::{BadRowReason, Input, MAX_ROW_BYTES, Observation, ReadError, Reader};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A file of one column `url` with these values.
fn file(values: &[ByteArray], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message rows { required binary url (UTF8); }").unwrap());
    let properties = properties.set_compression(Compression::ZSTD(ZstdLevel::try_new(3).unwrap())).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    let mut column = row_group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    row_group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_dictionary_enabled(false)
}

fn zeros(len: usize) -> ByteArray {
    vec![b'0'; len].into()
}

fn open(bytes: Vec<u8>) -> Reader {
    Input::from_read("rows.parquet", Cursor::new(bytes)).and_then(Input::observations).unwrap()
}

/// The error that reading ends with at once, and the most bytes that were allocated at a time.
fn refusal(bytes: Vec<u8>) -> (ReadError, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let error = open(bytes).read(&mut Observation::new()).unwrap_err();
    (error, MEMORY.peak_usage() - before)
}

// One test, since the counters are those of the process.
#[test]
fn large_values_are_refused_before_memory_is_allocated_for_them() {
    let remedy = "so no row was read (write the table again with pages of 1 MiB and without such values)";
    let large = [zeros(129 << 20)];
    let dictionary = WriterProperties::builder().set_dictionary_page_size_limit(1 << 30);
    for (name, properties) in [("plain", plain()), ("dictionary", dictionary)] {
        let bytes = file(&large, properties);
        assert!(bytes.len() < 50_000, "{} bytes", bytes.len());
        let (error, peak) = refusal(bytes);
        assert_eq!(
            error.to_string(),
            format!(
                "rows.parquet: row group 0, column \"url\": a page of 135266308 bytes, expected at most 128 MiB, {remedy}"
            )
        );
        assert!(peak < 1 << 20, "{name}: {peak} bytes at a time");
    }

    // A thousand values of 5 MiB that differ in nothing: the page holds one of them.
    let repeated = vec![zeros(5 << 20); 1000];
    let (error, peak) = refusal(file(&repeated, plain().set_encoding(Encoding::DELTA_BYTE_ARRAY)));
    assert!(
        error.to_string().contains("bytes in the encoding DELTA_BYTE_ARRAY, expected at most 4 MiB"),
        "{error}"
    );
    assert!(peak < 32 << 20, "{peak} bytes at a time");

    // What is ordinary is read, in every encoding.
    let urls: Vec<ByteArray> = (0..1000).map(|id| format!("http://a.example/{id}").as_str().into()).collect();
    for encoding in [Encoding::PLAIN, Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = plain().set_encoding(encoding).set_writer_version(version);
            let mut reader = open(file(&urls, properties));
            let mut observation = Observation::new();
            for url in &urls {
                assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())), "{encoding} {version:?}");
                assert_eq!(observation.url(), url.data());
            }
        }
    }

    let values = [zeros(10), zeros(MAX_ROW_BYTES + 1), zeros(MAX_ROW_BYTES)];
    let mut reader = open(file(&values, plain()));
    let mut observation = Observation::new();
    assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
    let bad = reader.read(&mut observation).unwrap().unwrap().unwrap_err();
    assert_eq!((bad.location.number(), bad.reason), (2, BadRowReason::TooLong));
    assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
    assert_eq!(observation.url().len(), MAX_ROW_BYTES);
    assert_eq!(reader.read(&mut observation).unwrap(), None);
}
