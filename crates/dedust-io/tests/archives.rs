/*! Archives made by hand: every kind of record in every kind of packing, and whatever can go wrong with them. */

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::{self, Cursor, Read, Write as _};

use dedust_io::{Format, Input, MAX_BODY_BYTES, Observation, ReadError, RecordCounts};
use proptest::prelude::*;

/// A record of an archive, with the empty lines that end it.
fn record(kind: &str, fields: &str, block: &[u8]) -> Vec<u8> {
    let len = block.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n{fields}Content-Length: {len}\r\n\r\n"
    );
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn target(path: &str) -> String {
    format!(
        "WARC-Target-URI: http://a.example/{path}\r\nContent-Type: application/http; msgtype=response\r\n"
    )
}

fn page(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{headers}\r\n");
    record("response", &target(path), &[head.as_bytes(), body].concat())
}

/// One record of each kind, and what is read of them.
fn all_kinds() -> Vec<Vec<u8>> {
    vec![
        record("warcinfo", "", b"software: by hand\r\n"),
        page("plain", "Link: <http://a.example/p>; rel=canonical\r\n", b"<p>plain</p>"),
        record("request", &target("plain"), b"GET /plain HTTP/1.1\r\n\r\n"),
        record("metadata", &target("plain"), b"fetchTimeMs: 7"),
        page("chunked", "Transfer-Encoding: chunked\r\n", b"4\r\n<p>c\r\n9\r\nhunks</p>\r\n0\r\n\r\n"),
        page("gzip", "Content-Encoding: gzip\r\n", &gzip(b"<p>gzip</p>")),
        record(
            "response",
            &format!("{}WARC-Payload-Digest: sha1:OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB\r\n", target("old")),
            b"HTTP/1.1 301 Moved\r\nLocation: /new\r\nContent-Type: text/html\r\n\r\n",
        ),
        record(
            "revisit",
            &format!("{}WARC-Payload-Digest: sha1:OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB\r\n", target("again")),
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        ),
        record(
            "resource",
            "WARC-Target-URI: <http://a.example/resource>\r\nContent-Type: text/html\r\n",
            b"<p>resource</p>",
        ),
        record(
            "response",
            &target("picture"),
            b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n",
        ),
        record(
            "response",
            "WARC-Target-URI: dns:a.example\r\nContent-Type: text/dns\r\n",
            b"20240506070809\n",
        ),
        record("conversion", &target("plain"), b"plain"),
        record("continuation", &target("plain"), b"and more"),
    ]
}

const PAGES: [&str; 7] = [
    r#"url: "http://a.example/plain", size: 12, status: 200, mime: "text/html", time: "2024-05-06T07:08:09Z" } <p>plain</p>"#,
    r#"url: "http://a.example/chunked", size: 13, status: 200, mime: "text/html", time: "2024-05-06T07:08:09Z" } <p>chunks</p>"#,
    r#"url: "http://a.example/gzip", size: 11, status: 200, mime: "text/html", time: "2024-05-06T07:08:09Z" } <p>gzip</p>"#,
    r#"url: "http://a.example/old", redirect: "/new", digest: "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB", size: 0, status: 301, mime: "text/html", time: "2024-05-06T07:08:09Z" } "#,
    r#"url: "http://a.example/again", digest: "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB", status: 200, mime: "text/html", time: "2024-05-06T07:08:09Z" } no document"#,
    r#"url: "http://a.example/resource", size: 15, mime: "text/html", time: "2024-05-06T07:08:09Z" } <p>resource</p>"#,
    r#"url: "http://a.example/picture", size: 8, status: 200, mime: "image/png", time: "2024-05-06T07:08:09Z" } no document"#,
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// What was read of an archive: pages and messages in order, and how it ended.
struct Reading {
    rows: Vec<String>,
    records: RecordCounts,
    error: Option<ReadError>,
}

impl Reading {
    fn of(source: impl Read + Send + 'static) -> Reading {
        let mut reader = Input::from_read("a.warc", source).and_then(Input::observations).unwrap();
        let mut observation = Observation::new();
        let mut rows = Vec::new();
        let error = loop {
            match reader.read(&mut observation) {
                Ok(Some(Ok(()))) => {
                    let body = reader.document().map_or("no document".into(), |document| {
                        String::from_utf8_lossy(&document.body()[..document.body().len().min(80)])
                    });
                    let shown = format!("{observation:?} {body}");
                    rows.push(shown.split_once(", ").unwrap().1.to_owned());
                    rows.extend(observation.bad_body().map(ToString::to_string));
                }
                Ok(Some(Err(bad))) => rows.push(bad.to_string()),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        Reading { rows, records: reader.records().unwrap(), error }
    }

    fn of_bytes(bytes: &[u8]) -> Reading {
        let reading = Self::of(Cursor::new(bytes.to_vec()));
        assert!(reading.error.is_none(), "{:?}", reading.error);
        reading
    }

    /// The paths of the pages, or `!` and the message.
    fn short(&self) -> Vec<String> {
        self.rows
            .iter()
            .map(|row| match row.strip_prefix("url: \"http://a.example/") {
                Some(rest) => rest.split('"').next().unwrap().to_owned(),
                None => format!("!{}", row.strip_prefix("a.warc: ").unwrap()),
            })
            .collect()
    }
}

#[test]
fn records_of_every_kind_are_read_from_every_packing() {
    let records = all_kinds();
    let whole = records.concat();
    let members = records.iter().flat_map(|record| gzip(record)).collect::<Vec<_>>();
    let frames = records.iter().flat_map(|record| zstd(record)).collect::<Vec<_>>();
    let (half, rest) = whole.split_at(whole.len() / 2);
    let bare_line_ends = String::from_utf8_lossy(&records[0]).replace("\r\n", "\n").into_bytes();
    for (packing, bytes) in [
        ("plain", whole.clone()),
        ("gzip per record", members),
        ("gzip", gzip(&whole)),
        ("gzip, two parts", [gzip(half), gzip(rest)].concat()),
        ("zstd per record", frames),
        ("zstd", zstd(&whole)),
        ("line ends", [bare_line_ends, records[1..].concat()].concat()),
    ] {
        let reading = Reading::of_bytes(&bytes);
        assert_eq!(reading.rows, PAGES, "{packing}");
        let records = reading.records;
        assert_eq!((records.total(), records.info, records.response, records.resource), (13, 1, 6, 1));
        assert_eq!((records.request, records.metadata, records.revisit), (1, 1, 1));
        assert_eq!((records.conversion, records.other), (1, 1));
    }
}

#[test]
fn zstd_with_a_dictionary_is_read() {
    let records = all_kinds();
    // Any bytes may be a dictionary.
    let dictionary = records.concat();
    for packed in [dictionary.clone(), zstd(&dictionary)] {
        let mut bytes = b"\x5d\x2a\x4d\x18".to_vec();
        bytes.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        bytes.extend(packed);
        for record in &records {
            let mut encoder = zstd::Encoder::with_dictionary(Vec::new(), 3, &dictionary).unwrap();
            encoder.write_all(record).unwrap();
            bytes.extend(encoder.finish().unwrap());
        }
        assert!(bytes.len() < 4 * dictionary.len());
        assert_eq!(Reading::of_bytes(&bytes).rows, PAGES);
    }
}

#[test]
fn older_archives_are_read() {
    let http = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old</p>";
    let line = |url: &str, mime: &str, block: &str| {
        format!("{url} 192.0.2.7 20080430204825 {mime} {}\n{block}\n", block.len())
    };
    let about = "1 0 by hand\nURL IP-address Archive-date Content-type Archive-length\n";
    let records = [
        line("filedesc://a.arc", "text/plain", about),
        line("dns:a.example", "text/dns", "20080430204825\n"),
        line("http://a.example/old", "text/html", http),
        line("http://a.example/older", "text/html", "<p>older</p>"),
        line(
            "http://a.example/picture",
            "image/gif",
            "HTTP/1.0 200 OK\r\nContent-Type: image/gif\r\n\r\nGIF",
        ),
    ];
    let members = records.iter().flat_map(|record| gzip(record.as_bytes())).collect::<Vec<_>>();
    for bytes in [records.concat().into_bytes(), members] {
        let reading = Reading::of_bytes(&bytes);
        let time = r#"time: "2008-04-30T20:48:25Z" }"#;
        assert_eq!(
            reading.rows,
            [
                format!(
                    r#"url: "http://a.example/old", size: 10, status: 200, mime: "text/html", {time} <p>old</p>"#
                ),
                format!(r#"url: "http://a.example/older", size: 12, mime: "text/html", {time} <p>older</p>"#),
                format!(
                    r#"url: "http://a.example/picture", size: 3, status: 200, mime: "image/gif", {time} no document"#
                ),
            ]
        );
        assert_eq!((reading.records.info, reading.records.response), (1, 4));
    }
}

#[test]
fn a_wrong_length_costs_no_other_record() {
    let wrong = |page: Vec<u8>, len: &str| {
        let text = String::from_utf8(page).unwrap();
        let (before, after) = text.split_once("Content-Length: ").unwrap();
        format!("{before}Content-Length: {len}{}", &after[after.find('\r').unwrap()..]).into_bytes()
    };
    let [first, second, third] = ["1", "2", "3"].map(|path| page(path, "", b"<p>a body\nof two lines</p>"));
    let second_len = second.len() - second.windows(4).position(|end| end == b"\r\n\r\n").unwrap() - 8;
    for (len, expected) in [
        // What remains is no record, and is passed over.
        ("70", vec!["1", "2", "!record 3 at byte 474: no record starts here", "3"]),
        ("seventy", vec!["1", "!record 2 at byte 240: Content-Length is \"seventy\"", "3"]),
        ("", vec!["1", "!record 2 at byte 240: Content-Length is \"\"", "3"]),
        ("-1", vec!["1", "!record 2 at byte 240: Content-Length is \"-1\"", "3"]),
        ("99999999999999999999", vec!["1", "!record 2 at byte 240: Content-Length is \"9999", "3"]),
    ] {
        let records = [first.clone(), wrong(second.clone(), len), third.clone()];
        let reading = Reading::of_bytes(&records.concat()).short();
        assert_eq!(reading.len(), expected.len(), "{reading:?}");
        for (row, expected) in reading.iter().zip(&expected) {
            assert!(row.split(" at byte ").next() == expected.split(" at byte ").next(), "{row} {expected}");
            let reason =
                |row: &str| row.split_once(": ").map(|(_, reason)| reason.to_owned()).unwrap_or_default();
            assert!(reason(row).starts_with(&reason(expected)), "{row} {expected}");
        }
    }
    // Too long: where records are compressed by themselves, the next one is known by its member.
    let long = wrong(second.clone(), "500");
    let members = [gzip(&first), gzip(&long), gzip(&third)];
    let message = format!(
        "!record 2 at byte {}: cut off after {} of 500 bytes, record skipped: http://a.example/2",
        members[0].len(),
        second_len + 4
    );
    assert_eq!(Reading::of_bytes(&members.concat()).short(), ["1".to_owned(), message, "3".to_owned()]);
}

/// The same record with another length.
fn with_length(record: &[u8], len: u64) -> Vec<u8> {
    let text = String::from_utf8(record.to_vec()).unwrap();
    let (before, after) = text.split_once("Content-Length: ").unwrap();
    format!("{before}Content-Length: {len}{}", &after[after.find('\r').unwrap()..]).into_bytes()
}

/// Bytes from the start of a record to its block.
fn head_len(record: &[u8]) -> u64 {
    record.windows(4).position(|end| end == b"\r\n\r\n").unwrap() as u64 + 4
}

#[test]
fn a_length_that_is_too_long_swallows_no_record() {
    let pages: Vec<Vec<u8>> =
        (0..7).map(|number| page(&number.to_string(), "", &b"<p>text</p>\n".repeat(20))).collect();
    let offset = pages[0].len();
    let block_len = pages[1].len() as u64 - head_len(&pages[1]);
    // Within the first line of the next record, behind it, within the next record, near the end of the file, far behind it.
    let rest: u64 = pages[2..].iter().map(|page| page.len() as u64).sum();
    for len in
        [block_len + 3, block_len + 10, block_len + 300, block_len + rest - 20, 1 << 20, 1 << 40, u64::MAX]
    {
        let lying = with_length(&pages[1], len);
        let whole = [&pages[0][..], &lying, &pages[2..].concat()].concat();
        let message = format!(
            "!record 2 at byte {offset}: its length is {len}, but another record starts after {block_len} bytes (fetch or \
             write the file again), record skipped: http://a.example/1"
        );
        for bytes in [whole.clone(), gzip(&whole), zstd(&whole)] {
            let reading = Reading::of_bytes(&bytes);
            assert_eq!(reading.short(), ["0", &message, "2", "3", "4", "5", "6"]);
            assert_eq!(reading.records.response, 7);
        }
    }
}

#[test]
fn a_page_that_shows_records_is_one_page() {
    let shown = [page("shown-1", "", b"<p>1</p>"), page("shown-2", "", b"<p>2</p>")].concat();
    let body = [b"<pre>\r\n\r\n", &shown[..], b"</pre>\nWARC/1.0\r\n"].concat();
    for body in [&body[..], &shown, b"\r\n\r\nWARC/1.0\r\n", b"WARC/1.0\r\n\r\n"] {
        let record = page("about", "", body);
        let resource = record_of_archive(body);
        for whole in [
            [&record[..], &page("next", "", b"x")].concat(),
            [&resource[..], &page("next", "", b"x")].concat(),
            [&page("about", "", b"x")[..], &page("next", "", body)].concat(),
        ] {
            for bytes in [whole.clone(), gzip(&whole)] {
                assert_eq!(Reading::of_bytes(&bytes).short(), ["about", "next"]);
            }
        }
    }
}

#[test]
fn damage_behind_a_page_that_shows_records_is_not_blamed_on_it() {
    let about = gzip(&page("about", "", b"<pre>\nWARC/1.0\r\n</pre>"));
    let mut damaged = gzip(&page("damaged", "", b"<p>text</p>"));
    damaged[12..20].fill(0xff);
    let rows = Reading::of_bytes(&[&about[..], &damaged, &gzip(&page("next", "", b"x"))].concat()).short();
    assert_eq!((rows[0].as_str(), rows[rows.len() - 1].as_str()), ("about", "next"), "{rows:?}");
    assert!(
        rows[1].starts_with(&format!("!record 2 at byte {}: cannot be decompressed (", about.len())),
        "{rows:?}"
    );
}

/// An archive within an archive.
fn record_of_archive(archive: &[u8]) -> Vec<u8> {
    let fields = "WARC-Target-URI: http://a.example/about\r\nContent-Type: application/warc\r\n";
    record("resource", fields, archive)
}

#[test]
fn a_length_that_is_too_long_swallows_no_record_of_an_older_archive() {
    let page = |path: &str, len: usize, block: &str| {
        format!("http://a.example/{path} 192.0.2.7 20080430204825 text/html {len}\n{block}\n")
    };
    let body = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>text\nhttp://a.example/ is a link\n</p>";
    let about = "filedesc://a.arc 192.0.2.7 20080430204825 text/plain 4\n1 0\n\n";
    let honest: Vec<String> = (0..5).map(|number| page(&number.to_string(), body.len(), body)).collect();
    for len in [body.len() + 30, 400, 1 << 40] {
        let whole = [about, &honest[0], &page("1", len, body), &honest[2..].concat()].concat();
        let message = format!(
            "!record 3 at byte {}: its length is {len}, but another record starts after {} bytes (fetch or write the file \
             again), record skipped: http://a.example/1 192.0.2.7 20080430204825 text/html {len}",
            about.len() + honest[0].len(),
            body.len() + 1
        );
        assert_eq!(Reading::of_bytes(whole.as_bytes()).short(), ["0", &message, "2", "3", "4"]);
    }
    // A page that shows a record.
    let shown = format!("{body}\n{}", honest[0]);
    let whole = [about, &page("about", shown.len(), &shown), &honest[1]].concat();
    assert_eq!(Reading::of_bytes(whole.as_bytes()).short(), ["about", "1"]);
}

#[test]
fn a_cut_archive_gives_its_records_and_says_where_it_ends() {
    let records: Vec<Vec<u8>> =
        (0..8).map(|number| page(&number.to_string(), "", format!("<p>{number}</p>").as_bytes())).collect();
    for members in [records.clone(), records.iter().map(|record| gzip(record)).collect()] {
        let bytes = members.concat();
        let is_gzip = bytes[0] == 0x1f;
        for len in members[0].len()..bytes.len() {
            let reading = Reading::of_bytes(&bytes[..len]);
            let mut at = 0;
            let whole = members
                .iter()
                .take_while(|member| {
                    at += member.len();
                    at <= len
                })
                .count();
            let start: usize = members[..whole].iter().map(Vec::len).sum();
            let rows = reading.short();
            let pages = rows.iter().filter(|row| !row.starts_with('!')).count();
            // The empty lines after a record may be missing.
            let nearly = pages == whole + 1;
            assert!(pages == whole || nearly, "{len} {rows:?}");
            if len > start && !nearly {
                let message = rows.last().unwrap();
                let place = format!("!record {} at byte {start}: cut off", whole + 1);
                let is_mark = !is_gzip && len - start < 10;
                assert!(message.starts_with(&place) || is_mark, "{len} {message} {place}");
                assert_eq!(rows.len(), whole + 1, "{len} {rows:?}");
            }
        }
    }
}

#[test]
fn a_damaged_member_costs_one_record() {
    let records: Vec<Vec<u8>> = (0..5)
        .map(|number| {
            let body: String = (0..500).map(|word| format!("{} ", word * number * 7919 % 1000)).collect();
            gzip(&page(&number.to_string(), "", body.as_bytes()))
        })
        .collect();
    let mut damaged = records.clone();
    let middle = damaged[2].len() / 2;
    damaged[2][middle..middle + 20].fill(0xff);
    let rows = Reading::of_bytes(&damaged.concat()).short();
    let at = records[0].len() + records[1].len();
    let message = format!("!record 3 at byte {at}: cannot be decompressed (");
    assert_eq!((rows[0].as_str(), rows[1].as_str()), ("0", "1"));
    assert!(rows[2].starts_with(&message), "{}", rows[2]);
    assert_eq!(rows[rows.len() - 2..], ["3", "4"]);
    // What lies between members is no member.
    let garbage = [&records[0][..], b"garbage \x1f\x8b between", &records[1]].concat();
    let rows = Reading::of_bytes(&garbage).short();
    assert_eq!((rows.first().unwrap().as_str(), rows.last().unwrap().as_str()), ("0", "1"), "{rows:?}");
    assert!(rows[1].contains("cannot be decompressed"), "{rows:?}");
}

#[test]
fn bodies_are_bounded_whatever_they_unpack_to() {
    let bomb = gzip(&vec![b' '; 4 * MAX_BODY_BYTES]);
    let archive = gzip(&[page("bomb", "Content-Encoding: gzip\r\n", &bomb), page("next", "", b"x")].concat());
    assert!(archive.len() < 100_000);
    let message = "!record 1 at byte 0: the body is longer than 8 MiB, only its beginning is used";
    assert_eq!(Reading::of_bytes(&archive).short(), ["bomb", message, "next"]);

    let damaged = &gzip(b"<p>some text</p>")[..15];
    let message = "!record 1 at byte 0: the body cannot be decoded as gzip (";
    let rows = Reading::of_bytes(&page("cut", "Content-Encoding: gzip\r\n", damaged)).short();
    assert!(rows[0] == "cut" && rows[1].starts_with(message), "{rows:?}");
}

#[test]
fn a_body_of_500_megabytes_is_read_through() {
    let len = 500_000_000_u64;
    let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let head = String::from_utf8(record("response", &target("long"), b"")).unwrap();
    let head = head.replace(
        "Content-Length: 0\r\n\r\n\r\n\r\n",
        &format!("Content-Length: {}\r\n\r\n", len + http.len() as u64),
    );
    let source = Cursor::new(format!("{head}{http}"))
        .chain(io::repeat(b'x').take(len))
        .chain(Cursor::new([b"\r\n\r\n".to_vec(), page("next", "", b"x")].concat()));
    let message = "!record 1 at byte 0: the body is longer than 8 MiB, only its beginning is used";
    assert_eq!(Reading::of(source).short(), ["long", message, "next"]);
}

#[test]
fn odd_records_are_told() {
    let target = target("1");
    for (bytes, expected) in [
        (
            record("response", "Content-Type: application/http\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
            "no WARC-Target-URI",
        ),
        (
            record("response", &target, b"<p>\r\n"),
            "the block starts with \"<p>\\r\\n\", expected an HTTP status line",
        ),
        (
            [b"WARC/1.0\r\nWARC-Type: response\r\nX: ".to_vec(), vec![b'x'; 5 << 20]].concat(),
            "its head is longer",
        ),
    ] {
        let bytes = [page("0", "", b""), bytes, page("2", "", b"")].concat();
        let rows = Reading::of_bytes(&bytes).short();
        assert!(rows[1].starts_with("!record 2 at byte ") && rows[1].contains(expected), "{rows:?}");
        assert!(rows.len() < 3 || rows[2] == "2", "{rows:?}");
    }
}

#[test]
fn a_failing_disk_is_not_blamed_on_the_archive() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(5))
        }
    }
    let bytes = [gzip(&page("1", "", b"one")), gzip(&page("2", "", b"two"))[..100].to_vec()].concat();
    let reading = Reading::of(Cursor::new(bytes).chain(Failing));
    assert_eq!(reading.short(), ["1"]);
    let Some(ReadError::ReadArchive { record, source, .. }) = reading.error else {
        panic!("{:?}", reading.error)
    };
    assert_eq!((record, source.raw_os_error()), (1, Some(5)));
}

#[test]
fn archives_are_known_by_content() {
    for (bytes, format) in [(&all_kinds().concat()[..], Format::Warc), (b"filedesc://a.arc", Format::Arc)] {
        assert_eq!(Input::from_read("x", Cursor::new(bytes.to_vec())).unwrap().format(), format);
    }
}

proptest! {
    /// Bytes changed, cut out or put in anywhere: no panic, and no more rows than there can be.
    #[test]
    fn damage_never_panics(
        packing in 0..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6),
    ) {
        let records = all_kinds();
        let mut bytes: Vec<u8> = match packing {
            0 => records.concat(),
            1 => records.iter().flat_map(|record| gzip(record)).collect(),
            _ => records.iter().flat_map(|record| zstd(record)).collect(),
        };
        for (at, byte, change) in changes {
            // The first record tells the format.
            let at = 200 + at.index(bytes.len() - 200);
            match change {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        let reading = Reading::of_bytes(&bytes);
        prop_assert!(reading.rows.len() <= 60, "{} rows", reading.rows.len());
    }

    /// How bytes arrive does not change what is read.
    #[test]
    fn pieces_of_any_size_give_the_same_records(lens in prop::collection::vec(1..200_usize, 1..8), packing in 0..3) {
        struct Pieces(Cursor<Vec<u8>>, Vec<usize>, usize);
        impl Read for Pieces {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.2 += 1;
                let len = self.1[self.2 % self.1.len()].min(buffer.len());
                self.0.read(&mut buffer[..len])
            }
        }
        let records = all_kinds();
        let bytes: Vec<u8> = match packing {
            0 => records.concat(),
            1 => records.iter().flat_map(|record| gzip(record)).collect(),
            _ => gzip(&records.concat()),
        };
        let reading = Reading::of(Pieces(Cursor::new(bytes), lens, 0));
        prop_assert_eq!(&reading.rows, PAGES.as_slice());
    }
}
