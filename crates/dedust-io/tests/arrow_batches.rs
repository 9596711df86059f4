/*!
Arrow tables in memory, which come from other libraries: read as the same rows in a file are, and trusted no more than these.
*/
#![cfg(feature = "arrow")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, Int64Array, StringArray, StringViewArray};
use arrow_schema::ArrowError;
use dedust_io::{Column, Location, NamedColumn, Observation, ReadError, Reader};

type Batches = Vec<Result<Vec<ArrayRef>, ArrowError>>;

fn reader(names: &[&str], batches: Batches, named: &[NamedColumn]) -> Result<Reader, ReadError> {
    Reader::of_batches("table", names, batches.into_iter(), named)
}

/// The URL and digest of each row, or what is wrong with it.
fn rows(reader: &mut Reader) -> Vec<Result<(String, Option<String>), String>> {
    let mut observation = Observation::new();
    let mut rows = Vec::new();
    while let Some(row) = reader.read(&mut observation).unwrap() {
        let url = || String::from_utf8_lossy(observation.url()).into_owned();
        rows.push(match row {
            Ok(()) => Ok((url(), observation.digest().map(ToOwned::to_owned))),
            Err(bad) => Err(bad.to_string()),
        });
    }
    rows
}

fn row(url: &str, digest: Option<&str>) -> Result<(String, Option<String>), String> {
    Ok((url.to_owned(), digest.map(str::to_owned)))
}

#[test]
fn text_of_any_kind_is_read() {
    let urls: [ArrayRef; 4] = [
        Arc::new(StringArray::from(vec!["http://a.example/1", "http://a.example/2"])),
        Arc::new(StringViewArray::from(vec!["http://a.example/1", "http://a.example/2"])),
        Arc::new(BinaryArray::from(vec![&b"http://a.example/1"[..], b"http://a.example/2"])),
        Arc::new(
            ["http://a.example/1", "http://a.example/2"].into_iter().collect::<DictionaryArray<Int32Type>>(),
        ),
    ];
    let digests: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
    let batches = urls.iter().map(|urls| Ok(vec![digests.clone(), urls.clone()])).collect();
    let mut reader = reader(&["digest", "url"], batches, &[]).unwrap();
    let both = [row("http://a.example/1", Some("x")), row("http://a.example/2", None)];
    assert_eq!(rows(&mut reader), [both.clone(), both.clone(), both.clone(), both].concat());
    assert_eq!(reader.counts().good, 8);
}

#[test]
fn a_column_can_be_named_or_left_out() {
    let column = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
    let batch = || Ok(vec![column("http://a.example/"), column("a"), column("b")]);
    let names = ["url", "digest", "hash"];
    for (name, expected) in [(Some("hash".into()), Some("b")), (None, None)] {
        let named = [NamedColumn { column: Column::Digest, name }];
        let mut reader = reader(&names, vec![batch()], &named).unwrap();
        assert_eq!(rows(&mut reader), [row("http://a.example/", expected)]);
    }
}

#[test]
fn rows_without_a_url_are_told_by_their_number() {
    let mut urls = StringBuilder::new();
    urls.append_value("http://a.example/");
    urls.append_null();
    let mut reader = reader(&["url"], vec![Ok(vec![Arc::new(urls.finish())])], &[]).unwrap();
    let mut observation = Observation::new();
    assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
    assert_eq!(observation.location(), Location::Row(1));
    let bad = reader.read(&mut observation).unwrap().unwrap().unwrap_err();
    assert!(bad.to_string().starts_with("table"), "{bad}");
    assert!(bad.to_string().contains("row 2"), "{bad}");
}

#[test]
fn a_table_that_ends_early_is_an_error_that_names_it() {
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["http://a.example/"]));
    let stopped = ArrowError::IoError("stopped".to_owned(), std::io::Error::other("stopped"));
    for second in [Err(stopped), Ok(vec![])] {
        let mut reader = reader(
            &["url", "size"],
            vec![Ok(vec![urls.clone(), Arc::new(Int64Array::from(vec![7]))]), second],
            &[],
        )
        .unwrap();
        let mut observation = Observation::new();
        assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
        let error = reader.read(&mut observation).unwrap_err();
        assert!(error.to_string().contains("table"), "{error}");
    }
}

#[test]
fn a_table_without_urls_is_refused() {
    let error = reader(&["address"], Vec::new(), &[]).err().unwrap();
    assert!(error.to_string().contains("address"), "{error}");
}
