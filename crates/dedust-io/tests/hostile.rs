/*! Input that is cut off, damaged, endless or random: never a panic, bounded memory, and no good row lost. */

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::{self, Cursor, Read, Write as _};

use dedust_io::{BadRowReason, Input, MAX_ROW_BYTES, Observation, ReadError};
use proptest::prelude::*;

/// Reads to the end. Returns each row as text, and what ended reading.
fn read_all(input: Result<Input, ReadError>) -> (Vec<String>, Option<ReadError>) {
    let mut rows = Vec::new();
    let mut reader = match input.and_then(Input::observations) {
        Ok(reader) => reader,
        Err(error) => return (rows, Some(error)),
    };
    let mut observation = Observation::new();
    loop {
        match reader.read(&mut observation) {
            Ok(Some(Ok(()))) => rows.push(format!("{observation:?}")),
            Ok(Some(Err(bad))) => rows.push(bad.to_string()),
            Ok(None) => return (rows, None),
            Err(error) => {
                assert!(matches!(reader.read(&mut observation), Ok(None)), "an error is final");
                return (rows, Some(error));
            }
        }
    }
}

fn from_bytes(name: &str, bytes: &[u8]) -> (Vec<String>, Option<ReadError>) {
    read_all(Input::from_read(name, Cursor::new(bytes.to_vec())))
}

fn sample(rows: usize) -> String {
    (0..rows)
        .map(|row| format!("{{\"url\":\"http://a.example/{row}\",\"cluster\":{}}}\n", row * row))
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Cuts a compressed text after every `step` bytes. `whole` is where a cut cannot be known.
fn cut_everywhere(text: &str, compressed: &[u8], step: usize, whole: usize) {
    let (all_rows, _) = from_bytes("x.jsonl", text.as_bytes());
    let mut longest = 0;
    for len in (4..compressed.len()).step_by(step) {
        let (rows, error) = from_bytes("x.jsonl", &compressed[..len]);
        assert!(rows[..] == all_rows[..rows.len()], "cut at {len}");
        longest = longest.max(rows.len());
        match error {
            Some(ReadError::Truncated { line, offset, .. }) => {
                let lines = text.split_inclusive('\n').take(rows.len());
                assert_eq!((line, offset), (rows.len() as u64, lines.map(str::len).sum::<usize>() as u64));
            }
            None => assert_eq!(len, whole),
            Some(other) => panic!("cut at {len}: {other}"),
        }
    }
    assert!(longest > all_rows.len() / 2, "at most {longest} rows before a cut");
}

#[test]
fn a_cut_compressed_file_gives_its_rows_and_says_where_it_ends() {
    let text = sample(150);
    cut_everywhere(&text, &gzip(text.as_bytes()), 1, usize::MAX);
    // A file of whole members cannot know that there were more.
    let (first, second) = text.as_bytes().split_at(text[..2000].rfind('\n').unwrap() + 1);
    let (first, second) = (gzip(first), gzip(second));
    cut_everywhere(&text, &[&first[..], &second].concat(), 1, first.len());
    // zstd gives out blocks of 128 KiB.
    let text = sample(10_000);
    cut_everywhere(&text, &zstd::encode_all(text.as_bytes(), 3).unwrap(), 2003, usize::MAX);
}

#[test]
fn damage_is_told_from_a_cut() {
    let text = sample(20_000);
    let (all_rows, _) = from_bytes("x.jsonl", text.as_bytes());
    for compressed in [gzip(text.as_bytes()), zstd::encode_all(text.as_bytes(), 3).unwrap()] {
        let mut damaged = compressed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 100].fill(0xff);
        let (rows, error) = from_bytes("x.jsonl", &damaged);
        assert!(matches!(error, Some(ReadError::Damaged { .. })), "{error:?}");
        assert!(rows[..5000] == all_rows[..5000]);
        let (rows, error) = from_bytes("x.jsonl", &[&compressed[..], b"garbage at the end"].concat());
        assert!(matches!(error, Some(ReadError::Damaged { .. })), "{error:?}");
        assert_eq!(rows.len(), 20_000);
    }
}

#[test]
fn a_failing_disk_is_not_blamed_on_the_file() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(5))
        }
    }
    let text = sample(10_000);
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
        let half = bytes[..bytes.len() / 2].to_vec();
        let (rows, error) = read_all(Input::from_read("x.jsonl", Cursor::new(half).chain(Failing)));
        assert!(rows.len() > 1000, "{} rows", rows.len());
        let Some(ReadError::Read { line, source, .. }) = error else { panic!("{error:?}") };
        assert_eq!((line, source.raw_os_error()), (rows.len() as u64, Some(5)));
    }
}

#[test]
fn a_line_of_100_megabytes_costs_one_row() {
    let line = io::repeat(b'x').take(100_000_000);
    let before = &b"{\"url\":\"http://a.example/1\"}\n{\"url\":\""[..];
    let after = &b"\"}\n{\"url\":\"http://a.example/3\"}\n"[..];
    let mut reader =
        Input::from_read("x.jsonl", before.chain(line).chain(after)).unwrap().observations().unwrap();
    let mut observation = Observation::new();
    assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
    let bad = reader.read(&mut observation).unwrap().unwrap().unwrap_err();
    assert_eq!((bad.location.number(), bad.reason), (2, BadRowReason::TooLong));
    assert_eq!(bad.value, format!("{{\"url\":\"{}...", "x".repeat(72)));
    assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
    assert_eq!((observation.url(), observation.location().number()), (&b"http://a.example/3"[..], 3));
    assert_eq!(reader.read(&mut observation).unwrap(), None);
}

#[test]
fn a_bomb_is_read_through_in_bounded_memory() {
    // Three lines that compress by a factor of ten thousand.
    let line = [vec![b'x'; 3 * MAX_ROW_BYTES], b"\n".to_vec()].concat();
    let text = [&line[..], &line, &line, b"http://a.example/\n"].concat();
    let bomb = zstd::encode_all(&text[..], 1).unwrap();
    assert!(bomb.len() < text.len() / 10_000);
    let (rows, error) = from_bytes("x.zst", &bomb);
    assert!(error.is_none());
    assert_eq!(rows.len(), 4);
    assert!(rows[..3].iter().all(|row| row.contains("longer than 16 MiB")));
    assert_eq!(rows[3], r#"Observation { line: 4, url: "http://a.example/" }"#);
}

/// Gives out bytes in pieces of the given lengths, over and over.
struct Pieces {
    bytes: Cursor<Vec<u8>>,
    lens: Vec<usize>,
    next: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.lens[self.next % self.lens.len()].min(buffer.len());
        self.next += 1;
        if self.next.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.bytes.read(&mut buffer[..len])
    }
}

/// Text that is nearly a file of some format.
fn nearly_valid() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"{\"url\":\"http://a.example/\",\"cluster\":1}\n"[..]),
        Just(&b"{\"url\":\"\\u00e4\",\"status\":\"x\"}\r\n"[..]),
        Just(&b"url,title\n"[..]),
        Just(&b"url\ttitle\n"[..]),
        Just(&b"http://a.example/,\"a\nb\"\n"[..]),
        Just(&b"http://a.example/,b\n"[..]),
        Just(&b"http://a.example/\tb\n"[..]),
        Just(&b"\""[..]),
        Just(&b"\"\""[..]),
        Just(&b","[..]),
        Just(&b"\n"[..]),
        Just(&b"\r\n"[..]),
        Just(&b"\xef\xbb\xbf"[..]),
        Just(&b"\xff"[..]),
        Just(&b"{"[..]),
        Just(&b"\\ud800"[..]),
        Just(&b"# remark\n"[..]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("x"), Just("x.csv"), Just("x.tsv"), Just("x.jsonl")]
}

fn shown((rows, error): (Vec<String>, Option<ReadError>)) -> (Vec<String>, Option<String>) {
    (rows, error.map(|error| error.to_string()))
}

proptest! {
    #[test]
    fn pieces_of_any_size_give_the_same_rows(
        bytes in nearly_valid(),
        name in name(),
        compression in 0..3,
        lens in prop::collection::vec(1..50_usize, 1..8),
    ) {
        let whole = shown(from_bytes(name, &bytes));
        let bytes = match compression {
            0 => bytes,
            1 => gzip(&bytes),
            _ => zstd::encode_all(&bytes[..], 1).unwrap(),
        };
        let pieces = Pieces { bytes: Cursor::new(bytes), lens, next: 0 };
        prop_assert_eq!(shown(read_all(Input::from_read(name, pieces))), whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), name in name()) {
        let (rows, _) = from_bytes(name, &bytes);
        prop_assert!(rows.len() <= bytes.len());
        let (rows, _) = from_bytes(name, &[&b"\x1f\x8b"[..], &bytes].concat());
        prop_assert_eq!(rows.len(), 0);
    }

    #[test]
    fn flipped_bits_never_panic(at in 0..2000_usize, bit in 0..8_u32, kind in 0..2) {
        let text = sample(100);
        let mut bytes = if kind == 0 { gzip(text.as_bytes()) } else { zstd::encode_all(text.as_bytes(), 3).unwrap() };
        let at = at % bytes.len();
        bytes[at] ^= 1_u8 << bit;
        let (rows, _) = from_bytes("x.jsonl", &bytes);
        prop_assert!(rows.len() <= 400);
    }

    #[test]
    fn damaged_tables_are_an_error_at_worst(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/readers/rows.parquet");
        let mut bytes = std::fs::read(path).unwrap();
        for (at, byte) in changes {
            let at = 4 + at.index(bytes.len() - 4);
            bytes[at] = byte;
        }
        let (rows, _) = from_bytes("x.parquet", &bytes);
        prop_assert!(rows.len() <= 4);
    }
}
