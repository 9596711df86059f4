/*!
How fast observations are read, per format and compression.

Generates the same observations in every format, in memory, and prints rows and megabytes of text per second of one
core, best of five runs. Each run asserts that all rows arrived.
*/

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::time::{Duration, Instant};

use dedust_io::{Input, Observation};

const ROWS: u64 = 500_000;
const RUNS: u32 = 5;

fn main() {
    let json_lines = text(|text, row| {
        let url = url(row);
        let hash = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let _ = writeln!(
            text,
            r#"{{"url": "{url}", "status": 200, "mime": "text/html", "size": {}, "title": "Article {row} \u2013 Systems Wiki", "digest": "{hash:032x}", "text_digest": "{:032x}", "simhash": "{hash:016x}", "words": 481}}"#,
            3000 + row % 40_000,
            !hash,
        );
    });
    let labelled = text(|text, row| {
        let _ = writeln!(text, r#"{{"url": "{}", "cluster": {}}}"#, url(row), row / 3);
    });
    let csv = format!(
        "url,status,mime,size,title,digest\n{}",
        text(|text, row| {
            let hash = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let _ = writeln!(
                text,
                "{},200,text/html,{},Article {row},{hash:032x}",
                url(row),
                3000 + row % 40_000
            );
        })
    );
    let quoted_csv = csv.replace(",Article ", ",\"Article, or \"\"page\"\" \"").replace("\"\" \"", "\"\" ");
    let quoted_csv = close_quotes(&quoted_csv);
    let list = text(|text, row| {
        let _ = writeln!(text, "{}", url(row));
    });

    for (name, text) in [
        ("JSON Lines", &json_lines),
        ("JSON Lines, url and cluster", &labelled),
        ("CSV", &csv),
        ("CSV with quotes", &quoted_csv),
        ("TSV", &csv.replace(',', "\t")),
        ("URL list", &list),
    ] {
        report(name, text.len(), text.as_bytes());
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(json_lines.as_bytes()).expect("a vector takes all bytes");
    report("JSON Lines, gzip", json_lines.len(), &gzip.finish().expect("a vector takes all bytes"));
    let zstd = zstd::encode_all(json_lines.as_bytes(), 3).expect("a vector takes all bytes");
    report("JSON Lines, zstd", json_lines.len(), &zstd);
}

fn text(mut row: impl FnMut(&mut String, u64)) -> String {
    let mut text = String::new();
    for number in 0..ROWS {
        row(&mut text, number);
    }
    text
}

fn url(row: u64) -> String {
    format!("http://wiki.example.org/w/index.php?title=Article_{row}&action=history&oldid={}", row * 7)
}

/// Ends the title that the caller opened in each row.
fn close_quotes(csv: &str) -> String {
    let mut closed = String::with_capacity(csv.len() + 2 * ROWS as usize);
    for line in csv.lines() {
        match line.rsplit_once(',') {
            Some((row, digest)) if line.contains('"') => {
                let _ = writeln!(closed, "{row}\",{digest}");
            }
            _ => {
                let _ = writeln!(closed, "{line}");
            }
        }
    }
    closed
}

fn report(name: &str, text_len: usize, bytes: &[u8]) {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let source = Cursor::new(bytes.to_vec());
        let started = Instant::now();
        let rows = read(source);
        best = best.min(started.elapsed());
        assert_eq!(rows, ROWS, "{name}");
    }
    println!(
        "{name:<30} {:>6.2} M rows/s {:>8.1} MB/s",
        ROWS as f64 / best.as_secs_f64() / 1e6,
        text_len as f64 / best.as_secs_f64() / 1e6
    );
}

fn read(source: Cursor<Vec<u8>>) -> u64 {
    let mut reader =
        Input::from_read("benchmark", source).and_then(Input::observations).expect("input is valid");
    let mut observation = Observation::new();
    while let Some(row) = reader.read(&mut observation).expect("input is valid") {
        row.expect("every row is valid");
    }
    assert_eq!(reader.counts().bad_columns, 0);
    reader.counts().good
}
