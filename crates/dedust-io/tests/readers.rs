/*! Every format, from files as users have them: `testdata/readers/`, plain, gzip and zstd. */

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use dedust_io::{Compression, Format, Input, Observation, Reader, RowCounts, open};

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "testdata", "readers", name].iter().collect()
}

/// Good rows and bad rows, each as text.
fn rows(mut reader: Reader) -> (Vec<String>, Vec<String>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let mut observation = Observation::new();
    while let Some(row) = reader.read(&mut observation).unwrap() {
        match row {
            Ok(()) => good.push(format!("{observation:?}")),
            Err(row) => bad.push(row.to_string()),
        }
    }
    let RowCounts { good: good_count, bad: bad_count, .. } = reader.counts();
    assert_eq!((good_count, bad_count), (good.len() as u64, bad.len() as u64));
    (good, bad)
}

/// The good rows of a file without bad ones.
fn good_rows(name: &str, format: Format) -> Vec<String> {
    let input = open(path(name)).unwrap();
    assert_eq!((input.format(), input.compression(), input.is_empty()), (format, Compression::None, false));
    let (good, bad) = rows(input.observations().unwrap());
    assert_eq!(bad, [""; 0]);
    good
}

const OBSERVATIONS: [&str; 5] = [
    r#"Observation { line: 1, url: "http://a.example/p?id=1", cluster: "7", digest: "f674d8b97dd35695", text_digest: "6851eef02415401b", simhash: e98d2e642e690eda, title: "Page, the \"first\"", size: 31052, status: 200, mime: "text/html", time: "2024-01-02T03:04:05Z" }"#,
    r#"Observation { line: 3, url: "http://a.example/p?id=1&sid=9", cluster: "7", canonical: "http://a.example/p?id=1", title: "Two\nlines", status: 200 }"#,
    r#"Observation { line: 4, url: "http://a.example/old", redirect: "http://a.example/p?id=2", size: 0, status: 301 }"#,
    r#"Observation { line: 5, url: "http://a.example/café", title: "Café" }"#,
    r#"Observation { line: 6, url: "http://a.example/q?a=1,2", cluster: "x y" }"#,
];

#[test]
fn json_lines_are_read() {
    assert_eq!(good_rows("observations.jsonl", Format::JsonLines), OBSERVATIONS);
}

#[test]
fn csv_has_the_same_observations() {
    let mut expected = OBSERVATIONS.map(str::to_owned);
    // One line down for the header, and one more after the field over two lines.
    for (row, line) in expected.iter_mut().zip([(1, 2), (3, 4), (4, 6), (5, 7), (6, 8)]) {
        *row = row.replace(&format!("line: {}", line.0), &format!("line: {}", line.1));
    }
    assert_eq!(good_rows("observations.csv", Format::Csv), expected);
}

#[test]
fn tsv_has_the_same_observations() {
    let mut expected =
        OBSERVATIONS.map(|row| row.replace("cluster:", "page:").replace("Two\\nlines", "Two lines"));
    for (row, line) in expected.iter_mut().zip([(1, 2), (3, 4), (4, 5), (5, 6), (6, 7)]) {
        *row = row.replace(&format!("line: {}", line.0), &format!("line: {}", line.1));
    }
    assert_eq!(good_rows("observations.tsv", Format::Tsv), expected);
}

#[test]
fn url_lists_are_read() {
    let mut reader = open(path("urls.txt")).unwrap().observations().unwrap();
    let mut observation = Observation::new();
    let mut urls = Vec::new();
    while let Some(row) = reader.read(&mut observation).unwrap() {
        row.unwrap();
        urls.push((observation.location().number(), observation.url().to_vec()));
    }
    assert_eq!(
        urls,
        [
            (3, b"http://a.example/p?id=1".to_vec()),
            (4, b"http://a.example/p?id=1#top".to_vec()),
            (6, b"http://a.example/caf\xe9".to_vec()),
            (7, b"  # not a remark, it does not start the line".to_vec()),
            (8, b"a.example/no-scheme".to_vec()),
        ]
    );
    assert_eq!(reader.format(), Format::UrlList);
}

#[test]
fn access_logs_are_read() {
    let input = open(path("access.log")).unwrap();
    assert_eq!(input.format(), Format::AccessLog);
    let (good, bad) = rows(input.with_host("http://docs.example").observations().unwrap());
    assert_eq!(
        good,
        [
            r#"Observation { line: 1, url: "http://docs.example/log/?h=master", size: 7115, status: 200, time: "2024-05-06T00:00:01+00:00" }"#,
            r#"Observation { line: 2, url: "http://docs.example/", status: 301, time: "2024-05-06T00:00:02+02:00" }"#,
            r#"Observation { line: 4, url: "http://docs.example/say%20\"hi\"", status: 200, time: "2024-05-06T00:00:04+00:00" }"#,
            r#"Observation { line: 6, url: "http://www.docs.example/x", size: 153, status: 404, time: "2024-05-06T00:00:06+00:00" }"#,
        ]
    );
    assert_eq!(bad.len(), 2);
    assert!(bad[0].contains("access.log:7: not a line of an access log in the common or combined format"));
    assert!(bad[1].contains("access.log:8: the request is neither for a path nor for a URL"));
}

#[test]
fn every_format_has_a_sample_with_rows() {
    let samples: Vec<Input> =
        fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().path()).flat_map(open).collect();
    for &format in Format::ALL.iter().filter(|format| **format != Format::Arrow || cfg!(feature = "arrow")) {
        let of_format = samples.iter().filter(|input| input.format() == format);
        let good = of_format.filter(|input| {
            let input = open(input.name()).unwrap().with_host("http://a.example");
            input.observations().is_ok_and(|reader| !rows(reader).0.is_empty())
        });
        assert!(good.count() > 0, "testdata/readers has no file that is {format}");
    }
}

#[test]
fn bad_rows_do_not_stop_reading() {
    for (name, good_lines, bad_lines) in [
        ("bad_rows.jsonl", vec![1, 7, 8, 9, 10, 11], vec![2, 3, 4, 5, 6]),
        ("bad_rows.csv", vec![2, 6, 8, 9, 10, 11], vec![3, 4, 5, 7]),
    ] {
        let mut reader = open(path(name)).unwrap().observations().unwrap();
        let mut observation = Observation::new();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        while let Some(row) = reader.read(&mut observation).unwrap() {
            match row {
                Ok(()) => good.push(observation.location().number()),
                Err(row) => bad.push(row.location.number()),
            }
        }
        assert_eq!((good, bad), (good_lines, bad_lines), "{name}");
        reader.check().unwrap();
        assert_eq!(reader.counts().bad_columns, if name.ends_with("csv") { 2 } else { 5 });
    }
}

#[test]
fn compressed_files_have_the_same_rows_whatever_their_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["observations.jsonl", "observations.csv", "observations.tsv", "urls.txt", "bad_rows.jsonl"] {
        let text = fs::read(path(name)).unwrap();
        let target = folder.path().join(name);
        fs::write(&target, &text).unwrap();
        let expected = rows(open(&target).unwrap().observations().unwrap());
        for (compressed, compression) in [
            (gzip(&[&text]), Compression::Gzip),
            // Members and frames end anywhere, also within a line; an empty one is no end.
            (gzip(&[&text[..10], b"", &text[10..100], &text[100..]]), Compression::Gzip),
            (zstd(&[&text]), Compression::Zstd),
            (zstd(&[&text[..10], b"", &text[10..]]), Compression::Zstd),
            ([&b"\x50\x2a\x4d\x18\x02\0\0\0ab"[..], &zstd(&[&text])].concat(), Compression::Zstd),
        ] {
            fs::write(&target, compressed).unwrap();
            let input = open(&target).unwrap();
            assert_eq!(input.compression(), compression);
            assert_eq!(rows(input.observations().unwrap()), expected);
        }
    }
}

#[test]
fn an_empty_input_is_known_to_be_empty() {
    for bytes in [Vec::new(), gzip(&[b""]), zstd(&[b""]), b"\xef\xbb\xbf".to_vec()] {
        for name in ["urls.txt", "urls.csv", "urls.jsonl"] {
            let input = Input::from_read(name, Cursor::new(bytes.clone())).unwrap();
            assert!(input.is_empty());
            let mut reader = input.observations().unwrap();
            assert_eq!(reader.read(&mut Observation::new()).unwrap(), None);
            reader.check().unwrap();
        }
    }
    let blank = Input::from_read("urls.txt", &b"\n"[..]).unwrap();
    assert!(!blank.is_empty());
    assert_eq!(rows(blank.observations().unwrap()), (vec![], vec![]));
}

#[test]
fn a_reader_can_move_to_another_thread() {
    let reader = Input::from_read("urls.txt", &b"http://a.example/\n"[..]).unwrap().observations().unwrap();
    let (good, _) = std::thread::spawn(|| rows(reader)).join().unwrap();
    assert_eq!(good, [r#"Observation { line: 1, url: "http://a.example/" }"#]);
}

fn gzip(members: &[&[u8]]) -> Vec<u8> {
    let mut compressed = Vec::new();
    for member in members {
        let mut encoder = flate2::write::GzEncoder::new(&mut compressed, flate2::Compression::default());
        encoder.write_all(member).unwrap();
        encoder.finish().unwrap();
    }
    compressed
}

fn zstd(frames: &[&[u8]]) -> Vec<u8> {
    frames.iter().flat_map(|frame| zstd::encode_all(*frame, 3).unwrap()).collect()
}

#[test]
fn parquet_is_read() {
    let expected = [
        r#"Observation { row: 1, url: "http://a.example/p?id=1", cluster: "7", canonical: "http://a.example/p?id=1", digest: "5d41402abc4b2a76b9719d911017c592", simhash: e98d2e642e690eda, title: "One", size: 12, status: 200, time: "2024-01-02T03:04:05" }"#,
        r#"Observation { row: 2, url: "http://a.example/p?id=1&sid=9", cluster: "7", canonical: "http://a.example/p?id=1", digest: "5d41402abc4b2a76b9719d911017c592", title: "One", status: 200, time: "2024-01-02T03:04:05", bad_columns: "#,
        r#"Observation { row: 3, url: "http://a.example/café", title: "ä \"q\"", size: 14, time: "2024-01-02T03:04:05" }"#,
    ];
    // In one row group, compressed with zstd; in two, with snappy and the newer pages.
    for name in ["rows.parquet", "rows-snappy-v2.parquet"] {
        let input = open(path(name)).unwrap();
        assert_eq!(input.format(), Format::Parquet);
        let (good, bad) = rows(input.observations().unwrap());
        assert_eq!(good.len(), 3);
        for (row, expected) in good.iter().zip(expected) {
            assert!(row.starts_with(expected), "{row}");
        }
        assert_eq!(bad, [format!("{}: row 4: no \"url\" column, row skipped", path(name).display())]);
        // Through a pipe, and compressed once more.
        let bytes = fs::read(path(name)).unwrap();
        for piped in [bytes.clone(), zstd::encode_all(&bytes[..], 3).unwrap()] {
            let name = path(name).display().to_string();
            let input = Input::from_read(&name, Cursor::new(piped)).unwrap();
            assert_eq!(rows(input.observations().unwrap()).0, good);
        }
    }
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_has_the_same_rows_as_parquet() {
    let (parquet, _) = rows(open(path("rows.parquet")).unwrap().observations().unwrap());
    let input = open(path("rows.arrow")).unwrap();
    assert_eq!(input.format(), Format::Arrow);
    let (good, bad) = rows(input.observations().unwrap());
    let same = |row: &String| row.replace("rows.parquet", "rows.arrow");
    assert_eq!(good, parquet.iter().map(same).collect::<Vec<_>>());
    assert_eq!(bad, [format!("{}: row 4: no \"url\" column, row skipped", path("rows.arrow").display())]);
}
