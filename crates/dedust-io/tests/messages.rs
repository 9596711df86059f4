/*! Everything a user can be told by this crate, in one place, as it is read on a terminal. */

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::error::Error;
use std::fs;
use std::io::{Cursor, Read, Write as _};

use dedust_io::{Format, Input, Observation, OutputFile, WriteError, open};

/// All messages of an input, in order: bad rows, bad columns, and what ended reading.
fn messages(name: &str, source: impl Read + Send + 'static) -> Vec<String> {
    let mut reader = match Input::from_read(name, source).and_then(Input::observations) {
        Ok(reader) => reader,
        Err(error) => return vec![with_cause(&error)],
    };
    let mut messages = Vec::new();
    let mut observation = Observation::new();
    loop {
        match reader.read(&mut observation) {
            Ok(Some(Ok(()))) => messages.extend(observation.bad_columns().iter().map(ToString::to_string)),
            Ok(Some(Err(bad))) => messages.push(bad.to_string()),
            Ok(None) => break,
            Err(error) => {
                messages.push(with_cause(&error));
                break;
            }
        }
    }
    messages.extend(reader.check().err().map(|error| with_cause(&error)));
    messages
}

fn with_cause(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn testdata(name: &str) -> Cursor<Vec<u8>> {
    let path = format!("{}/testdata/readers/{name}", env!("CARGO_MANIFEST_DIR"));
    Cursor::new(fs::read(path).unwrap())
}

#[test]
fn bad_rows() {
    assert_eq!(
        messages("bad_rows.jsonl", testdata("bad_rows.jsonl")),
        [
            r#"bad_rows.jsonl:2: no "url" column, row skipped: {"uri": "http://a.example/2"}"#,
            r#"bad_rows.jsonl:3: "url" is 3, expected text, row skipped: {"url": 3}"#,
            r#"bad_rows.jsonl:4: "url" is empty, row skipped: {"url": ""}"#,
            r#"bad_rows.jsonl:5: invalid JSON at column 28 (EOF while parsing an object), row skipped: {"url": "http://a.example/5""#,
            r#"bad_rows.jsonl:6: expected a JSON object such as {"url":"http://a.example/"}, row skipped: ["http://a.example/6"]"#,
            r#"bad_rows.jsonl:7: column "status" is "abc", expected a whole number from 0 to 65535, column ignored"#,
            r#"bad_rows.jsonl:7: column "simhash" is "e98d", expected 16 hex digits, column ignored"#,
            r#"bad_rows.jsonl:7: column "title" is 1984, expected text in UTF-8, column ignored"#,
            r#"bad_rows.jsonl:7: column "size" is -1, expected a whole number of bytes, column ignored"#,
            r#"bad_rows.jsonl:7: column "cluster" is a list, expected text or a number, column ignored"#,
        ]
    );
    assert_eq!(
        messages("bad_rows.csv", testdata("bad_rows.csv")),
        [
            r#"bad_rows.csv:3: 2 fields where the header has 3 (a field with a comma in it must be quoted), row skipped: http://a.example/2,200"#,
            r#"bad_rows.csv:4: 4 fields where the header has 3 (a field with a comma in it must be quoted), row skipped: http://a.example/3,200,three,and more"#,
            r#"bad_rows.csv:5: a quote is opened and not closed (a quote inside a quoted field is written twice), row skipped: http://a.example/4,200,"four"#,
            r#"bad_rows.csv:7: "url" is empty, row skipped: ,200,six"#,
            r#"bad_rows.csv:8: column "status" is "OK", expected a whole number from 0 to 65535, column ignored"#,
            "bad_rows.csv:9: column \"title\" is \"caf\u{fffd}\", expected text in UTF-8, column ignored",
        ]
    );
    assert_eq!(
        messages("urls.txt", &b"http://a.example/\nhttp://a.example/2\nnot \x08 text\n"[..]),
        [
            "urls.txt:3: not text (it holds the control character 0x08), expected one URL per line, row skipped: not \\u{8} text"
        ]
    );
    assert_eq!(
        messages(
            "a.jsonl",
            &b"{\"url\":\"http://a.example/\"}\n{\"url\":\"http://a.example/caf\xe9\"}\n"[..]
        ),
        ["a.jsonl:2: not UTF-8 at column 29, row skipped: {\"url\":\"http://a.example/caf\u{fffd}\"}"]
    );
    let long = Cursor::new("http://a.example/\n").chain(std::io::repeat(b'x').take(20 << 20));
    let shown = "x".repeat(80);
    assert_eq!(
        messages("urls.txt", long),
        [format!("urls.txt:2: longer than 16 MiB, row skipped: {shown}...")]
    );
}

#[test]
fn mostly_bad() {
    let last = |name: &str, bytes: &'static [u8]| messages(name, bytes).pop().unwrap();
    assert_eq!(
        messages("mostly_bad.jsonl", testdata("mostly_bad.jsonl")).pop().unwrap(),
        r#"2 of 3 rows of mostly_bad.jsonl could not be read as JSON Lines, expected one object per line with at least a url, such as {"url":"http://a.example/"}"#
    );
    assert_eq!(
        last("a.csv", b"url,title\na\nb\n"),
        r#"2 of 2 rows of a.csv could not be read as CSV, expected rows with as many fields as the header, and a URL in the column "url""#
    );
    assert_eq!(
        last("a.tsv", b"url\ttitle\na\nb\n"),
        r#"2 of 2 rows of a.tsv could not be read as TSV, expected rows with as many tabs as the header, and a URL in the column "url""#
    );
    assert_eq!(
        last("a.txt", b"http://a.example/\n\x01\n\x01\n"),
        "2 of 3 rows of a.txt could not be read as a list of URLs, expected one URL per line"
    );
    assert_eq!(messages("a.txt", &b"http://a.example/\n\x01\n"[..]).len(), 1, "half is not more than half");
}

#[test]
fn headers() {
    let columns = "expected a header that names url and, where known, cluster (or page), canonical, redirect, digest, \
                   text_digest, simhash, title, size, status, mime, time, truncated (if another column holds the URLs, \
                   name it: --column url=NAME)";
    assert_eq!(
        messages("no_url_column.csv", testdata("no_url_column.csv")),
        [format!(
            r#"no_url_column.csv has no "url" column, its first line is "uri,status,title"; {columns}"#
        )]
    );
    assert_eq!(
        messages("no_header.csv", testdata("no_header.csv")),
        [format!(
            r#"no_header.csv has no "url" column, its first line is "http://a.example/1,200,one"; {columns}"#
        )]
    );
    assert_eq!(
        messages("a.csv", &b"url,title,URL\n"[..]),
        ["a.csv has two columns \"url\" in its header, expected one"]
    );
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let show = |path: &str| {
        let error = open(folder.path().join(path)).unwrap_err();
        with_cause(&error).replace(folder.path().to_str().unwrap(), "FOLDER")
    };
    fs::create_dir(folder.path().join("crawl")).unwrap();
    assert_eq!(show("crawl.jsonl"), "cannot open FOLDER/crawl.jsonl: No such file or directory (os error 2)");
    assert_eq!(
        show("crawl"),
        "FOLDER/crawl is a directory, expected a file (name the files in it, such as FOLDER/crawl/*)"
    );

    let text = "{\"url\":\"http://a.example/\"}\n".repeat(1000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let cut = |bytes: &[u8]| Cursor::new(bytes[..bytes.len() - 10].to_vec());
    let garbled = |bytes: &[u8]| Cursor::new([bytes, b"something else"].concat());
    assert_eq!(
        messages("crawl.jsonl.gz", cut(&gzip)),
        [
            "crawl.jsonl.gz is cut off: its gzip data ends after line 996 (byte 27888 of the text), the rows up to there \
          were read; fetch it again: incomplete deflate stream"
        ]
    );
    assert_eq!(
        messages("crawl.jsonl.zst", cut(&zstd)),
        [
            "crawl.jsonl.zst is cut off: its zstd data ends within the first line, so no row was read; fetch it again: \
          incomplete frame"
        ]
    );
    assert_eq!(
        messages("crawl.jsonl.gz", garbled(&gzip)),
        [
            "crawl.jsonl.gz is damaged: its gzip data cannot be decompressed after line 1000 (byte 28000 of the text), the \
          rows up to there were read; fetch it again: invalid gzip header"
        ]
    );
    assert_eq!(
        messages("crawl.jsonl.zst", garbled(&zstd)),
        [
            "crawl.jsonl.zst is damaged: its zstd data cannot be decompressed after line 1000 (byte 28000 of the text), the \
          rows up to there were read; fetch it again: Unknown frame descriptor"
        ]
    );
    assert_eq!(
        messages("crawl.jsonl", Cursor::new(text).chain(FailingDisk)),
        [
            "cannot read crawl.jsonl after line 1000 (byte 28000 of the text), the rows up to there were read: \
          the disk is gone"
        ]
    );
}

struct FailingDisk;

impl Read for FailingDisk {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is gone"))
    }
}

#[test]
fn access_logs() {
    let log = "1.2.3.4 - - [02/Jun/2025:00:23:57 +0000] \"GET / HTTP/1.1\" 301 -\nrotated\n";
    assert_eq!(
        messages("access.log", log.as_bytes()),
        ["access.log is an access log, which does not say of which host it is; name the host, as in --host \
          http://www.example.com"]
    );
    let input = Input::from_read("access.log", log.as_bytes()).unwrap();
    let mut reader = input.with_host("a.example/").observations().unwrap();
    let mut observation = Observation::new();
    assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
    assert_eq!(observation.url(), b"http://a.example/");
    let bad = reader.read(&mut observation).unwrap().unwrap().unwrap_err();
    assert_eq!(
        bad.to_string(),
        "access.log:2: not a line of an access log in the common or combined format, row skipped: rotated"
    );
    reader.check().unwrap();
}

#[test]
fn formats_that_are_not_read() {
    let formats = Format::list();
    assert!(formats.starts_with("a WARC file, an ARC file, a CDX index,"), "{formats}");
    assert!(formats.contains(" CSV, TSV, ") && formats.ends_with(" or a list of URLs"), "{formats}");
    assert_eq!(formats.contains("an Arrow file"), cfg!(feature = "arrow"), "{formats}");
    let binary = format!(
        "a.jpg does not look like any supported format, expected {formats}, plain or compressed with gzip or zstd"
    );
    for (name, start, message) in [
        ("a.jpg", &b"\xff\xd8\xff\xe0\0\x10JFIF"[..], binary.as_str()),
        (
            "a.json",
            b"[\n",
            "a.json is a JSON array, expected one JSON object per line (convert it with: jq -c '.[]')",
        ),
        (
            "rules.json",
            b"{\n  \"version\": 1\n}\n",
            "rules.json is a JSON document of several lines, expected one JSON object per line (convert it with: jq -c .)",
        ),
        (
            "sitemap.xml",
            b"<?xml version=\"1.0\"?>",
            "sitemap.xml is an HTML or XML document, expected JSON Lines, CSV, TSV or one URL per line",
        ),
        (
            "a.bz2",
            b"BZh91AY&SY",
            "a.bz2 is compressed with bzip2, expected gzip or zstd (pipe it in with: bzip2 -dc FILE | dedust ... -)",
        ),
        (
            "a.xz",
            b"\xfd7zXZ\0\0",
            "a.xz is compressed with xz, expected gzip or zstd (pipe it in with: xz -dc FILE | dedust ... -)",
        ),
        (
            "a.lz4",
            b"\x04\x22\x4d\x18",
            "a.lz4 is compressed with lz4, expected gzip or zstd (pipe it in with: lz4 -dc FILE | dedust ... -)",
        ),
        (
            "a.zip",
            b"PK\x03\x04",
            "a.zip is a zip archive, expected gzip or zstd (pipe it in with: unzip -p FILE | dedust ... -; save a spreadsheet as CSV)",
        ),
    ] {
        assert_eq!(messages(name, start), [message]);
    }
    let mut twice = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    twice.write_all(b"\x1f\x8b\x08").unwrap();
    assert_eq!(
        messages("a.gz", Cursor::new(twice.finish().unwrap())),
        ["a.gz is compressed twice, expected one layer of gzip or zstd (decompress it once)"]
    );
}

#[test]
fn outputs() {
    let folder = tempfile::tempdir().unwrap();
    let folder_name = folder.path().to_str().unwrap().to_owned();
    let shown = |error: WriteError| with_cause(&error).replace(&folder_name, "FOLDER");
    let create = |path: &str| OutputFile::create(format!("{folder_name}/{path}"), false);
    fs::write(folder.path().join("rules.json"), "{}").unwrap();
    assert_eq!(
        shown(create("rules.json").unwrap_err()),
        "FOLDER/rules.json already exists (overwrite it with --force)"
    );
    assert_eq!(shown(create("").unwrap_err()), "FOLDER/ is a directory, expected a file name");
    assert_eq!(
        shown(create("missing/rules.json").unwrap_err()),
        "cannot create FOLDER/missing/rules.json: No such file or directory (os error 2)"
    );
    let output = create("new.json").unwrap();
    drop(folder);
    assert_eq!(
        shown(output.commit().unwrap_err()),
        "cannot write FOLDER/new.json: No such file or directory (os error 2)"
    );
}

#[test]
fn parquet() {
    let bytes = |name| testdata(name).into_inner();
    assert_eq!(
        messages("no_url.parquet", testdata("no_url.parquet")),
        ["no_url.parquet has no column \"url\", its columns are \"link\"; expected url and, where known, \
             cluster (or page), canonical, redirect, digest, text_digest, simhash, title, size, status, mime, time, truncated \
             (if another column holds the URLs, name it: --column url=NAME)"]
    );
    assert_eq!(
        messages("rows.parquet", testdata("rows.parquet")),
        [
            "rows.parquet: row 2: column \"simhash\" is \"e98d\", expected 16 hex digits, column ignored",
            "rows.parquet: row 2: column \"size\" is -1, expected a whole number of bytes, column ignored",
            "rows.parquet: row 4: no \"url\" column, row skipped",
        ]
    );
    let whole = bytes("rows.parquet");
    let cut = messages("cut.parquet", Cursor::new(whole[..whole.len() / 2].to_vec()));
    assert_eq!(
        cut,
        [
            "cannot read cut.parquet as a table, so no row was read: Parquet error: Invalid Parquet file. Corrupt footer"
        ]
    );
}
