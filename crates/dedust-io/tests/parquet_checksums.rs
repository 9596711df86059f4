/*!
Parquet files whose pages have checksums: what was changed since is damage, and never another URL.
*/
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use dedust_io::{AddedNames, Format, Input, Observation, ReadError, RewriteError, Rewriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const ROWS: usize = 10;

/// A file with the columns `url` and `title` in two row groups, each column of one page, and one with a dictionary before it if asked for.
fn plain_file(has_dictionary: bool) -> Bytes {
    let schema = "message rows { required binary url (UTF8); required binary title (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_dictionary_enabled(has_dictionary).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for group in 0..2 {
        let mut row_group = writer.next_row_group().unwrap();
        for name in ["url", "title"] {
            let value = |row: usize| format!("http://a.example/{name}/{group}/{row}").into_bytes();
            let values: Vec<ByteArray> = (0..ROWS).map(|row| ByteArray::from(value(row))).collect();
            let mut column = row_group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        row_group.close().unwrap();
    }
    writer.into_inner().unwrap().into()
}

/// The same file with a checksum in the header of each page, which the crate does not write.
fn with_checksums(file: &Bytes) -> Vec<u8> {
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    for group in metadata.row_groups() {
        let mut row_group = writer.next_row_group().unwrap();
        for column in group.columns() {
            let (bytes, column) = column_with_checksums(file, column);
            let closed = ColumnCloseResult {
                bytes_written: bytes.len() as u64,
                rows_written: ROWS as u64,
                metadata: column,
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            row_group.append_column(&Bytes::from(bytes), closed).unwrap();
        }
        row_group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn column_with_checksums(file: &Bytes, column: &ColumnChunkMetaData) -> (Vec<u8>, ColumnChunkMetaData) {
    let (start, length) = column.byte_range();
    let data = column.data_page_offset() as usize;
    let end = (start + length) as usize;
    let mut bytes = Vec::new();
    if column.dictionary_page_offset().is_some() {
        bytes.extend(page_with_checksum(&file[start as usize..data]));
    }
    let new_data = bytes.len();
    bytes.extend(page_with_checksum(&file[data..end]));
    let dictionary = column.dictionary_page_offset().map(|_| 0);
    let column = column.clone().into_builder();
    let column = column.set_dictionary_page_offset(dictionary).set_data_page_offset(new_data as i64);
    let column = column.set_total_compressed_size(bytes.len() as i64);
    (bytes, column.build().unwrap())
}

/// Puts a checksum into the header of a page. Fields of Thrift's compact protocol have numbers relative to the field before: kind, two
/// sizes, the checksum as number 4, and what the kind of page has of its own.
fn page_with_checksum(page: &[u8]) -> Vec<u8> {
    let mut at = 0;
    let mut size: usize = 0;
    for _ in 0..3 {
        assert_eq!(page[at], 0x15, "the next field, a number");
        at += 1;
        let len = page[at..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let bytes = page[at..at + len].iter().rev();
        size = bytes.fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f)) / 2;
        at += len;
    }
    let mut checksum = flate2::Crc::new();
    checksum.update(&page[page.len() - size..]);
    let checksum = checksum.sum().cast_signed();
    let mut rest = u64::from(((checksum << 1) ^ (checksum >> 31)).cast_unsigned());
    let mut with = page[..at].to_vec();
    with.push(0x15);
    while rest > 0x7f {
        with.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    with.push(rest as u8);
    with.push(page[at] - 0x10);
    with.extend_from_slice(&page[at + 1..]);
    with
}

/// The URLs that `learn` reads, and how reading ended.
fn read(file: &[u8]) -> (Vec<String>, Option<ReadError>) {
    let input = Input::from_read("rows.parquet", Cursor::new(file.to_vec()));
    let mut reader = input.and_then(Input::observations).unwrap();
    let mut observation = Observation::new();
    let mut urls = Vec::new();
    loop {
        match reader.read(&mut observation) {
            Ok(Some(row)) => {
                row.unwrap();
                urls.push(String::from_utf8(observation.url().to_vec()).unwrap());
            }
            Ok(None) => return (urls, None),
            Err(error) => return (urls, Some(error)),
        }
    }
}

/// The table that `normalize` writes, with the URLs as keys.
fn copy(file: &[u8]) -> Result<Vec<u8>, RewriteError> {
    let mut out = Vec::new();
    let names = AddedNames { key: "key".into(), url: "canonical_url".into() };
    let mut rewriter = Rewriter::new(Format::Parquet, names, &mut out);
    rewriter.add(Input::from_read("rows.parquet", Cursor::new(file.to_vec()))?, &mut |batch, added| {
        for url in batch.urls.iter() {
            added.keys.push_text(url);
            added.urls.push_text(url);
        }
        ControlFlow::Continue(())
    })?;
    rewriter.finish()?;
    Ok(out)
}

/// Changes a letter of a value, so that it is as well formed as before.
fn change(file: &mut [u8], value: &str) {
    let at = file.windows(value.len()).position(|bytes| bytes == value.as_bytes()).unwrap();
    file[at] ^= 1;
}

#[test]
fn a_page_that_does_not_match_its_checksum_is_damage() {
    for has_dictionary in [false, true] {
        let whole = with_checksums(&plain_file(has_dictionary));
        let (urls, error) = read(&whole);
        assert!(error.is_none(), "{error:?}");
        assert_eq!((urls.len(), &*urls[0]), (2 * ROWS, "http://a.example/url/0/0"));
        assert!(copy(&whole).is_ok());

        // In the second row group: the first one is delivered.
        let mut damaged = whole.clone();
        change(&mut damaged, "http://a.example/url/1/7");
        let expected = "cannot read rows.parquet as a table after row 10, the rows up to there were read: \
                        Parquet error: Page CRC checksum mismatch";
        let (urls, error) = read(&damaged);
        assert_eq!(urls.len(), ROWS);
        assert_eq!(with_causes(&error.unwrap()), expected);
        assert_eq!(with_causes(&copy(&damaged).unwrap_err()), expected);
    }
}

#[test]
fn numbers_of_a_dictionary_are_checked_too() {
    let mut damaged = with_checksums(&plain_file(true));
    let column = SerializedFileReader::new(Bytes::from(damaged.clone())).unwrap();
    let (start, length) = column.metadata().row_group(0).column(0).byte_range();
    // The last byte of the page has the number of the last row's value.
    damaged[(start + length) as usize - 1] ^= 1;
    let (urls, error) = read(&damaged);
    assert!(urls.is_empty() && error.is_some(), "{urls:?} {error:?}");
    assert!(copy(&damaged).is_err());
}

#[test]
fn columns_that_are_copied_keep_their_checksums() {
    let mut damaged = with_checksums(&plain_file(false));
    change(&mut damaged, "http://a.example/title/1/7");
    let copied = copy(&damaged).unwrap();
    // Whoever reads that column of the copy sees the damage as before.
    let reader = SerializedFileReader::new(Bytes::from(copied)).unwrap();
    assert!(reader.get_row_iter(None).unwrap().any(|row| row.is_err()));
}

/// An error with its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
