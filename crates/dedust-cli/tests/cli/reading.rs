/*!
Crawls in the formats that crawlers write: archives, indexes, tables.
*/

use std::io::Write as _;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A site whose session ids do not matter: its pages, each under three URLs.
fn visits() -> impl Iterator<Item = (u32, String)> {
    (0..120_u32).map(|visit| {
        let product = visit / 3;
        let session = (visit + 1).wrapping_mul(0x9e37_79b9);
        (product, format!("http://shop.example/view?id={product}&sid={session:08x}"))
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The record of a page, compressed by itself.
fn record(url: &str, page: &str) -> Vec<u8> {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}");
    let len = block.len();
    let head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n";
    let fields = format!("WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n");
    gzip(format!("{head}{fields}Content-Length: {len}\r\n\r\n{block}\r\n\r\n").as_bytes())
}

/// A page of one product that names the URL it was asked for, so that no two bodies are equal.
fn page(product: u32, url: &str) -> String {
    let words: Vec<String> =
        (0..80_u32).map(|word| format!("word{}", product * 7919 + word * word * 31)).collect();
    format!(
        "<!doctype html><title>Product {product}</title><form action=\"{url}\"></form><p>{}</p>",
        words.join(" ")
    )
}

fn archive() -> Vec<Vec<u8>> {
    visits().map(|(product, url)| record(&url, &page(product, &url))).collect()
}

const LEARN: [&str; 6] = ["learn", "crawl", "-o", "rules.json", "--force", "-q"];

/// The rewrites learned from a crawl.
fn rules(crawl: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("crawl", crawl);
    assert_eq!(sandbox.dedust(&LEARN), "exit 0\n");
    sandbox.dedust(&["explain", "rules.json", "http://shop.example/view?id=7&sid=0a0b0c0d"])
}

fn warnings(output: &str) -> String {
    let warnings: Vec<&str> = output.lines().filter(|line| line.starts_with("warning")).collect();
    warnings.join("\n")
}

#[test]
fn archives_and_indexes_teach_what_their_pages_show() {
    let index: String = visits()
        .map(|(product, url)| {
            format!("example,shop)/view 20240506070809 {url} text/html 200 DIGEST{product} - - 5 6 crawl.warc.gz\n")
        })
        .collect();
    let from_index = rules(format!(" CDX N b a m s k r M S V g\n{index}"));
    assert!(from_index.contains("`sid` does not matter"), "{from_index}");
    let json_index: String = visits()
        .map(|(product, url)| {
            format!("example,shop)/view 20240506070809 {{\"url\":\"{url}\",\"status\":\"200\",\"digest\":\"DIGEST{product}\"}}\n")
        })
        .collect();
    assert_eq!(rules(gzip(json_index.as_bytes())), from_index);
    let from_archive = rules(archive().concat());
    assert!(from_archive.contains("`sid` does not matter"), "{from_archive}");
}

#[test]
fn a_damaged_archive_is_used_as_far_as_it_goes() {
    let sandbox = Sandbox::new();
    let mut records = archive();
    let middle = records[7].len() / 2;
    records[7][middle..middle + 9].fill(0xff);
    let bytes = records.concat();
    sandbox.write("crawl", &bytes[..bytes.len() - 50]);
    let output = sandbox.dedust(&["learn", "crawl", "-o", "rules.json"]);
    assert_snapshot!(warnings(&output), @r"
    warning: crawl: record 8 at byte 3964: cannot be decompressed (corrupt deflate stream), record skipped
    warning: crawl: record 120 at byte 68476: cut off: its compressed data end before they are complete (fetch the file again), record skipped: http://shop.example/view?id=39&sid=2a010eb8
    warning: 2 of 120 rows skipped
    ");
    assert!(output.starts_with("exit 0\n"), "{output}");
}

#[test]
fn tables_are_read() {
    let sandbox = Sandbox::new();
    let rows = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/rows.parquet");
    sandbox.write("crawl", std::fs::read(rows).unwrap());
    let output = sandbox.dedust(&["learn", "crawl", "-o", "rules.json", "--method", "tree-graph"]);
    assert_snapshot!(warnings(&output), @r#"
    warning: crawl: row 4: no "url" column, row skipped
    warning: crawl: row 2: column "simhash" is "e98d", expected 16 hex digits, column ignored
    warning: crawl: row 2: column "size" is -1, expected a whole number of bytes, column ignored
    warning: 1 of 4 rows skipped
    warning: 2 column values ignored, their rows are kept
    "#);
    assert!(output.contains("1 rule written to rules.json"), "{output}");
}
