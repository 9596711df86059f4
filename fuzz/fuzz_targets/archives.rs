/*!
Any bytes as a web archive or an index: reading never panics, bodies stay within their limit, and compression does
not change the rows. The first byte chooses how the input starts; `@@@@` splits it into gzip members.
*/

#![no_main]

use std::io::{Cursor, Write as _};

use dedust_io::{Input, MAX_BODY_BYTES, Observation, ReadError};
use libfuzzer_sys::fuzz_target;

// No table: panics of their readers are caught, which is too late for the fuzzer.
const STARTS: [&[u8]; 3] = [b"WARC/1.0\r\n", b"filedesc://a.arc ", b" CDX "];
const SPLIT: &[u8] = b"@@@@";

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, rest)) = bytes.split_first() else { return };
    let start = STARTS[usize::from(*choice) % STARTS.len()];
    let input = [start, rest].concat();
    let rows = read(input.clone());
    assert_eq!(read(gzip(&input)), rows);
    // Members are places to go on at after damage, so only a single one must give the same rows.
    let mut members = Vec::new();
    let mut at = 0;
    while let Some(end) = input[at..].windows(SPLIT.len()).position(|window| window == SPLIT) {
        members.extend(gzip(&input[at..at + end]));
        at += end + SPLIT.len();
    }
    members.extend(gzip(&input[at..]));
    read(members.clone());
    let damaged_at = members.len() * usize::from(rest.last().copied().unwrap_or_default()) / 256;
    members[damaged_at] ^= 0x55;
    read(members);
});

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// The rows that could be used, in words. Messages name places, which differ between packings.
fn read(bytes: Vec<u8>) -> Vec<String> {
    let mut rows = Vec::new();
    let read_all = || -> Result<(), ReadError> {
        let mut reader = Input::from_read("archive", Cursor::new(bytes))?.observations()?;
        let mut observation = Observation::new();
        while let Some(row) = reader.read(&mut observation)? {
            let body = reader.document().map_or(0, |document| document.body().len());
            assert!(body <= MAX_BODY_BYTES);
            match row {
                Ok(()) => rows.push(format!("{observation:?} {body}")),
                Err(bad) => assert!(!bad.to_string().is_empty()),
            }
        }
        reader.check()
    };
    if let Err(error) = read_all() {
        assert!(!error.to_string().is_empty());
    }
    rows
}
