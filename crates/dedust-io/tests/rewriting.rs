/*! Tables that are copied with two columns more: all else stays, and damaged ones give a message or rows, never a panic. */

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;

use dedust_io::{AddedNames, Format, Input, Observation, RewriteError, Rewriter};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

fn names() -> AddedNames {
    AddedNames { key: "key".into(), url: "canonical_url".into() }
}

/// Copies tables; keys are the lengths of URLs, and URLs are in upper case.
fn copy_all(name: &str, tables: &[&[u8]]) -> Result<(Vec<u8>, Vec<String>), RewriteError> {
    let format = Input::from_read(name, Cursor::new(tables[0].to_vec()))?.format();
    assert!(format.is_table(), "{format}");
    let mut out = Vec::new();
    let mut bad = Vec::new();
    let mut rewriter = Rewriter::new(format, names(), &mut out);
    for table in tables {
        let input = Input::from_read(name, Cursor::new(table.to_vec()))?;
        rewriter.add(input, &mut |batch, added| {
            bad.extend(batch.bad_rows.iter().map(ToString::to_string));
            for url in batch.urls.iter() {
                added.keys.push_text(url.map(|url| url.len().to_string()).as_deref().map(str::as_bytes));
                added.urls.push_text(url.map(<[u8]>::to_ascii_uppercase).as_deref());
            }
            ControlFlow::Continue(())
        })?;
    }
    rewriter.finish()?;
    Ok((out, bad))
}

fn copied(name: &str, table: &str) -> String {
    String::from_utf8(copy_all(name, &[table.as_bytes()]).unwrap().0).unwrap()
}

#[test]
fn text_tables_keep_their_rows() {
    assert_eq!(
        copied("a.jsonl", "{\"url\": \"http://a/\\u00e9\", \"x\": [1, {\"y\": null}] }\r\n\n{\"url\":\"u\"}"),
        "{\"url\": \"http://a/\\u00e9\", \"x\": [1, {\"y\": null}],\"key\":\"11\",\"canonical_url\":\"HTTP://A/é\"}\r\n\
         {\"url\":\"u\",\"key\":\"1\",\"canonical_url\":\"U\"}\n"
    );
    assert_eq!(
        copied("a.csv", "id,url,\"a, b\"\n1,u,\"x\ny\"\n2,\"v,w\",\n3,,\n"),
        "id,url,\"a, b\",key,canonical_url\n1,u,\"x\ny\",1,U\n2,\"v,w\",,3,\"V,W\"\n3,,,,\n"
    );
    assert_eq!(copied("a.tsv", "url\tb\r\nu\t1\r\n"), "url\tb\tkey\tcanonical_url\r\nu\t1\t1\tU\r\n");
    assert_eq!(
        copied("a.csv", "url\nhttp://a/1,2\n\"http://a/3,4\"\n"),
        "url,key,canonical_url\n\"http://a/1,2\",12,\"HTTP://A/1,2\"\n\"http://a/3,4\",12,\"HTTP://A/3,4\"\n"
    );
    assert_eq!(
        copied("a.json", "[\n{\"url\":\"u\"},\n{\"url\":\"v\"}\n]\n"),
        "{\"url\":\"u\",\"key\":\"1\",\"canonical_url\":\"U\"}\n{\"url\":\"v\",\"key\":\"1\",\"canonical_url\":\"V\"}\n"
    );
}

#[test]
fn indexes_stay_indexes() {
    let row = "a)/ 20140126200624 http://a/ text/html 200 OSSA - - 5 6 f.warc";
    let dns = "a)/ 20140126200624 dns:a text/dns 200 OSSA - - 5 6 f.warc";
    assert_eq!(
        copied("a.cdx", &format!(" CDX N b a m s k r M S V g\n{row}\n{dns}\n")),
        format!(" CDX N b a m s k r M S V g U A\n{row} 9 HTTP://A/\n{dns} - -\n")
    );
    assert_eq!(
        copied("a.cdx", &format!("{row}\n")),
        format!(" CDX N b a m s k r M S V g U A\n{row} 9 HTTP://A/\n")
    );
    let row = r#"a)/ 20140126200624 {"url": "http://a/"}"#;
    assert_eq!(
        copied("a.cdxj", &format!("!OpenWayback-CDXJ 1.0\n{row}\n")),
        format!(
            "!OpenWayback-CDXJ 1.0\n{},\"key\":\"9\",\"canonical_url\":\"HTTP://A/\"}}\n",
            &row[..row.len() - 1]
        )
    );
}

#[test]
fn bad_rows_are_left_out_and_rows_without_urls_are_kept() {
    let table = "{\"url\":\"u\"}\n{\"url\":\nnothing\n{\"x\":1}\n{\"url\":7}\n";
    let (out, bad) = copy_all("a.jsonl", &[table.as_bytes()]).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "{\"url\":\"u\",\"key\":\"1\",\"canonical_url\":\"U\"}\n{\"x\":1,\"key\":null,\"canonical_url\":null}\n\
         {\"url\":7,\"key\":null,\"canonical_url\":null}\n"
    );
    assert_eq!(bad.len(), 2);
    assert!(bad[0].starts_with("a.jsonl:2: invalid JSON"), "{bad:?}");
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let refused = |name: &str, tables: &[&[u8]]| copy_all(name, tables).unwrap_err().to_string();
    let other = "a.csv has other columns than the input before it (give each an output of its own)";
    assert_eq!(refused("a.csv", &[b"url,a\nu,1\n", b"url,b\nu,1\n"]), other);
    assert_eq!(
        refused("a.csv", &[b"url,a\nu,1\n", b"{\"url\":\"u\"}\n"]),
        "a.csv is JSON Lines, and the input before it CSV (give each format an output of its own)"
    );
    let taken = "already has a column \"key\" (call the added ones otherwise: --key-column, --url-column)";
    assert_eq!(refused("a.csv", &[b"url,key\nu,1\n"]), format!("a.csv {taken}"));
    assert_eq!(refused("a.jsonl", &[b"{\"url\":\"u\",\"key\":1}\n"]), format!("a.jsonl {taken}"));
    assert_eq!(refused("a.parquet", &[&table(1, "key")]), format!("a.parquet {taken}"));
    let two = copy_all("a.csv", &[b"url,a\nu,1\n", b"url,a\r\nv,1\r\n"]).unwrap().0;
    assert_eq!(String::from_utf8(two).unwrap(), "url,a,key,canonical_url\nu,1,1,U\nv,1,1,V\r\n");
}

/// A Parquet table of two row groups, with a column of lists among its four.
fn table(rows: usize, other: &str) -> Vec<u8> {
    let schema = format!(
        "message table {{ optional int32 id; required group tags (LIST) {{ repeated group list {{ \
         optional binary element (UTF8); }} }} optional binary url (UTF8); required binary {other} (UTF8); }}"
    );
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        for column in 0..4 {
            let mut values = group.next_column().unwrap().unwrap();
            let text = |row: usize| ByteArray::from(format!("http://a.example/{column}/{row}").into_bytes());
            match column {
                0 => {
                    let ids: Vec<i32> = (0..rows as i32).collect();
                    values.typed::<Int32Type>().write_batch(&ids, Some(&vec![1; rows]), None).unwrap();
                }
                1 => {
                    // Two tags each.
                    let tags: Vec<ByteArray> = (0..2 * rows).map(text).collect();
                    let levels: Vec<i16> = (0..2 * rows as i16).map(|index| index % 2).collect();
                    let typed = values.typed::<ByteArrayType>();
                    typed.write_batch(&tags, Some(&vec![2; 2 * rows]), Some(&levels)).unwrap();
                }
                2 => {
                    let urls: Vec<ByteArray> = (0..rows).filter(|row| row % 5 != 4).map(text).collect();
                    let levels: Vec<i16> = (0..rows).map(|row| i16::from(row % 5 != 4)).collect();
                    values.typed::<ByteArrayType>().write_batch(&urls, Some(&levels), None).unwrap();
                }
                _ => {
                    let texts: Vec<ByteArray> = (0..rows).map(text).collect();
                    values.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
                }
            }
            values.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn parquet_keeps_all_columns() {
    let before = table(100, "other");
    let (after, _) = copy_all("a.parquet", &[&before, &before]).unwrap();
    let rows = |bytes: &[u8]| -> Vec<String> {
        let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    };
    let (before, after) = (rows(&before), rows(&after));
    assert_eq!((before.len(), after.len()), (200, 400));
    for (index, after) in after.iter().enumerate() {
        let before = &before[index % 200];
        let row = index % 100;
        let added = match row % 5 {
            4 => ", key: null, canonical_url: null}".to_owned(),
            _ => {
                let url = format!("http://a.example/2/{row}");
                format!(", key: \"{}\", canonical_url: \"{}\"}}", url.len(), url.to_uppercase())
            }
        };
        assert_eq!(*after, format!("{}{added}", &before[..before.len() - 1]));
    }
}

/// Changes a file in some way that depends on `seed` alone.
fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..=next(4) {
        if bytes.is_empty() {
            break;
        }
        let at = next(bytes.len());
        match next(6) {
            0 => bytes.truncate(at),
            1 => {
                bytes.drain(at..(at + next(50)).min(bytes.len()));
            }
            2 => {
                let end = (at + next(200)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let target = next(bytes.len());
                bytes.splice(target..target, piece);
            }
            // The end of a Parquet file says what is in it.
            3 => {
                let from_end = next(400).min(bytes.len() - 1);
                let index = bytes.len() - 1 - from_end;
                bytes[index] = next(256) as u8;
            }
            4 => bytes[at] ^= 1 << next(8),
            _ => bytes[at] = next(256) as u8,
        }
    }
    bytes
}

/// Rows of a table, bad ones too.
fn count_rows(name: &str, bytes: &[u8]) -> Result<u64, dedust_io::ReadError> {
    let mut reader = Input::from_read(name, Cursor::new(bytes.to_vec()))?.observations()?;
    let mut observation = Observation::new();
    while reader.read(&mut observation)?.is_some() {}
    Ok(reader.counts().good + reader.counts().bad)
}

fn mutate(name: &str, format: Format, bytes: &[u8]) {
    let (mut whole, mut refused) = (0, 0);
    for seed in 0..500 {
        let bytes = mutated(bytes, seed);
        let is_table = |input: &Input| input.format().is_table();
        if !Input::from_read(name, Cursor::new(bytes.clone())).is_ok_and(|input| is_table(&input)) {
            refused += 1;
            continue;
        }
        match copy_all(name, &[&bytes]) {
            Err(error) => {
                assert!(
                    error.to_string().contains(name) || error.to_string().contains("write"),
                    "{seed}: {error}"
                );
                refused += 1;
            }
            Ok((out, _)) => {
                match (count_rows(name, &out), count_rows(name, &bytes)) {
                    (Ok(rows), Ok(expected)) => {
                        assert!(rows <= expected + 1, "{seed}: {rows} rows of {expected}")
                    }
                    // Texts that are no UTF-8 any more are copied, and read by none.
                    (Err(_), Err(_)) => {}
                    (Err(error), Ok(_)) => panic!("{seed}: {error}"),
                    (Ok(_), Err(error)) => panic!("{seed}: copied, though {error}"),
                }
                whole += 1;
            }
        }
    }
    assert!(whole > 20 && whole + refused == 500, "{format}: {whole} copied, {refused} refused");
}

#[test]
fn mutated_text_tables_give_a_message_or_rows() {
    let rows = |row: fn(usize) -> String| (0..60).map(row).collect::<String>();
    let jsonl = rows(|row| format!("{{\"url\":\"http://a.example/{row}\",\"title\":\"a \\\"{row}\\\"\"}}\n"));
    mutate("a.jsonl", Format::JsonLines, jsonl.as_bytes());
    let csv = rows(|row| format!("http://a.example/{row},200,\"a, \"\"{row}\"\"\"\r\n"));
    mutate("a.csv", Format::Csv, format!("url,status,title\r\n{csv}").as_bytes());
    let tsv = rows(|row| format!("http://a.example/{row}\t200\ta {row}\n"));
    mutate("a.tsv", Format::Tsv, format!("url\tstatus\ttitle\n{tsv}").as_bytes());
    let cdx = rows(|row| {
        format!("a)/{row} 20140126200624 http://a.example/{row} text/html 200 OSSA{row} - - 5 6 f\n")
    });
    mutate("a.cdx", Format::Cdx, format!(" CDX N b a m s k r M S V g\n{cdx}").as_bytes());
    let cdxj = rows(|row| format!("a)/{row} 20140126200624 {{\"url\": \"http://a.example/{row}\"}}\n"));
    mutate("a.cdxj", Format::Cdxj, cdxj.as_bytes());
}

#[test]
fn mutated_parquet_files_give_a_message_or_rows() {
    mutate("a.parquet", Format::Parquet, &table(100, "other"));
}

#[cfg(feature = "arrow")]
mod arrow {
    use std::sync::Arc;

    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch};
    use arrow_ipc::CompressionType;
    use arrow_ipc::reader::{FileReader, StreamReader};
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

    use super::*;

    fn batches() -> Vec<RecordBatch> {
        (0..2)
            .map(|part| {
                let ids: Int64Array = (0..50).map(|row| (row % 7 > 0).then_some(part * 50 + row)).collect();
                let urls: LargeStringArray = (0..50)
                    .map(|row| (row % 5 != 4).then(|| format!("http://a.example/{part}/{row}")))
                    .collect();
                let kinds: DictionaryArray<Int8Type> =
                    (0..50).map(|row| Some(["a", "b", "c"][row % 3])).collect();
                let columns: [(&str, ArrayRef); 3] =
                    [("id", Arc::new(ids)), ("url", Arc::new(urls)), ("kind", Arc::new(kinds))];
                RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
                    .unwrap()
            })
            .collect()
    }

    fn file(compression: Option<CompressionType>) -> Vec<u8> {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let batches = batches();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    }

    fn stream() -> Vec<u8> {
        let batches = batches();
        let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    }

    #[test]
    fn files_and_streams_keep_all_columns() {
        for before in [file(None), file(Some(CompressionType::ZSTD)), stream()] {
            let (after, _) = copy_all("a.arrow", &[&before, &before]).unwrap();
            let copies: Vec<RecordBatch> = if after.starts_with(b"ARROW1") {
                FileReader::try_new(Cursor::new(after), None).unwrap().map(Result::unwrap).collect()
            } else {
                StreamReader::try_new(Cursor::new(after), None).unwrap().map(Result::unwrap).collect()
            };
            assert_eq!(copies.len(), 4);
            for (copy, batch) in copies.iter().zip(batches().iter().cycle()) {
                assert_eq!(copy.project(&[0, 1, 2]).unwrap().columns(), batch.columns());
                let added = copy.column(3).as_any().downcast_ref::<arrow_array::StringArray>().unwrap();
                assert_eq!(
                    added.iter().take(5).collect::<Vec<_>>(),
                    [Some("20"), Some("20"), Some("20"), Some("20"), None]
                );
            }
        }
    }

    #[test]
    fn mutated_arrow_files_give_a_message_or_rows() {
        mutate("a.arrow", Format::Arrow, &file(None));
        mutate("a.arrow", Format::Arrow, &stream());
    }
}
