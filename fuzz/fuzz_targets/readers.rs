/*!
Any bytes as a crawl file: reading never panics, and how the bytes arrive does not change the rows, unless compressed
data are damaged. The length of the input chooses its name, its bytes the sizes of the chunks.
*/

#![no_main]

use std::io::{self, Cursor, Read};

use dedust_io::{Input, Observation, ReadError};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] = ["rows", "rows.jsonl", "rows.csv", "rows.tsv", "rows.txt"];

fuzz_target!(|bytes: &[u8]| {
    let name = NAMES[bytes.len() % NAMES.len()];
    let (rows, ended) = read(name, Cursor::new(bytes.to_vec()));
    let seed = bytes.iter().fold(1, |seed: u32, &byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let (chunked_rows, chunked_ended) = read(name, Chunks { rest: Cursor::new(bytes.to_vec()), seed });
    assert_eq!(chunked_ended.is_ok(), ended.is_ok());
    // A decompressor keeps back what it decoded together with the damage, so less may arrive before it.
    if !is_damage(&ended) && !is_damage(&chunked_ended) {
        assert_eq!(chunked_rows, rows);
    }
});

fn is_damage(ended: &Result<(), ReadError>) -> bool {
    matches!(ended, Err(ReadError::Damaged { .. } | ReadError::Truncated { .. }))
}

/// Rows in words, bad ones included, and how reading ended.
fn read(name: &str, source: impl Read + Send + 'static) -> (Vec<String>, Result<(), ReadError>) {
    let mut rows = Vec::new();
    let read_all = || {
        let mut reader = Input::from_read(name, source)?.observations()?;
        let mut observation = Observation::new();
        while let Some(row) = reader.read(&mut observation)? {
            rows.push(row.map_or_else(|bad| bad.to_string(), |()| format!("{observation:?}")));
        }
        reader.check()
    };
    let ended = read_all();
    (rows, ended)
}

/// Gives out a few bytes at a time.
struct Chunks {
    rest: Cursor<Vec<u8>>,
    seed: u32,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let end = buffer.len().min(1 << (self.seed >> 28));
        self.rest.read(&mut buffer[..end])
    }
}
