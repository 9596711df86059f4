/*!
How fast web archives are read, beside warcio, the reader most crawls are read with, in one run.

Reads `pages.warc.gz` of each site in `../shared/data/apps`, or under `DEDUST_DATA`, and the same archives unpacked and as
zstd; without them, a synthetic one. Prints megabytes of uncompressed archive per second of processor time, best of five
runs. warcio is looked for in `python3`, or where `DEDUST_PYTHON` says. Each run asserts that all records arrived.
*/

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::io::{Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ProcessTime;
use dedust_io::{Input, Observation, open};

const RUNS: u32 = 5;

/// Reads every body, as we do, and prints the best time and the number of records.
const WARCIO: &str = r#"
import sys, time
from warcio.archiveiterator import ArchiveIterator
best = None
for _ in range(2):
    started, records = time.process_time(), 0
    with open(sys.argv[1], "rb") as stream:
        for record in ArchiveIterator(stream):
            records += 1
            record.rec_headers.get_header("WARC-Target-URI")
            record.http_headers and record.http_headers.get_header("Content-Type")
            record.content_stream().read()
    seconds = time.process_time() - started
    best = seconds if best is None else min(best, seconds)
print(best, records)
"#;

fn main() {
    let archives = archives();
    if archives.is_empty() {
        println!("no archives found, so a synthetic one is read");
        let folder = std::env::temp_dir().join(format!("dedust-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the system has room for temporary files");
        let path = folder.join("synthetic.warc.gz");
        std::fs::write(&path, synthetic()).expect("the system has room for temporary files");
        compare(&path);
        std::fs::remove_dir_all(&folder).expect("the folder was just made");
    }
    for path in archives {
        compare(&path);
    }
}

fn archives() -> Vec<PathBuf> {
    let root = std::env::var_os("DEDUST_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(sites) = root.join("apps").read_dir() else { return Vec::new() };
    let mut archives: Vec<PathBuf> =
        sites.flatten().map(|site| site.path().join("pages.warc.gz")).filter(|path| path.is_file()).collect();
    archives.sort();
    archives
}

/// A thousand pages, compressed one by one.
fn synthetic() -> Vec<u8> {
    let mut archive = Vec::new();
    for number in 0..1000_u32 {
        let words: String =
            (0..5000_u32).map(|word| format!("<p>word{} ", word.wrapping_mul(number) % 9973)).collect();
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{words}");
        let mut encoder = flate2::write::GzEncoder::new(archive, flate2::Compression::default());
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n\
             WARC-Target-URI: http://a.example/{number}\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        );
        encoder.write_all(record.as_bytes()).expect("a vector takes all bytes");
        archive = encoder.finish().expect("a vector takes all bytes");
    }
    archive
}

fn compare(path: &Path) {
    let mut unpacked = Vec::new();
    let file = std::fs::File::open(path).expect("the archive is there");
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut unpacked).expect("the archive is whole");
    let megabytes = unpacked.len() as f64 / 1e6;
    println!("{} ({megabytes:.0} MB)", path.display());

    let (seconds, records) = best(|| read(open(path).expect("the archive is there")));
    let speed = report("gzip per record", megabytes, seconds);
    let packed = zstd::encode_all(&unpacked[..], 3).expect("a vector takes all bytes");
    for (name, bytes) in [("plain", unpacked), ("zstd", packed)] {
        // Shared, because a copy of the archive would be a good part of the time.
        let bytes: Arc<[u8]> = bytes.into();
        let (seconds, same) = best(|| {
            read(Input::from_read("benchmark", Cursor::new(bytes.clone())).expect("the archive is whole"))
        });
        assert_eq!(same, records, "{name}");
        report(name, megabytes, seconds);
    }
    match warcio(path) {
        Some((seconds, same)) => {
            assert_eq!(same, records, "warcio");
            let other = report("warcio", megabytes, seconds);
            println!("  faster than warcio by           {:>8.1} x", speed / other);
        }
        None => println!("  no warcio in python3 (choose another with DEDUST_PYTHON)"),
    }
}

fn best(run: impl Fn() -> u64) -> (f64, u64) {
    let mut best = Duration::MAX;
    let mut records = 0;
    for _ in 0..RUNS {
        let started = ProcessTime::now();
        records = run();
        best = best.min(started.elapsed());
    }
    (best.as_secs_f64(), records)
}

fn report(name: &str, megabytes: f64, seconds: f64) -> f64 {
    let speed = megabytes / seconds;
    println!("  {name:<30} {speed:>8.1} MB/s");
    speed
}

fn read(input: Input) -> u64 {
    let mut reader = input.observations().expect("archives need nothing else");
    let mut observation = Observation::new();
    let mut bytes = 0;
    while let Some(row) = reader.read(&mut observation).expect("the archive is whole") {
        row.expect("every record is valid");
        bytes += reader.document().map_or(0, |document| document.body().len());
    }
    assert!(bytes > 0);
    reader.records().map_or(0, |records| records.total())
}

fn warcio(path: &Path) -> Option<(f64, u64)> {
    let python = std::env::var("DEDUST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(python).args(["-c", WARCIO]).arg(path).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (seconds, records) = text.trim().split_once(' ')?;
    Some((seconds.parse().ok()?, records.parse().ok()?))
}
