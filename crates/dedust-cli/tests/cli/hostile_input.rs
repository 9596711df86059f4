/*!
Inputs that cannot be used: a message that helps, exit 2, and never a rule file.
*/

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;

use crate::sandbox::{Sandbox, shop};

/// Learns from `input` in the sandbox, and makes sure that nothing was written.
fn learn(sandbox: &Sandbox, input: &str) -> String {
    let before = sandbox.names();
    let run = sandbox.dedust(&["learn", input, "-o", "rules.json"]);
    assert_eq!(sandbox.names(), before);
    run
}

fn learn_from(bytes: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("crawl", bytes);
    learn(&sandbox, "crawl")
}

#[test]
fn a_table_on_which_its_reader_panics() {
    let rows = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/rows.parquet");
    let mut bytes = std::fs::read(rows).unwrap();
    bytes[440] = 0;
    // What the reader says when it panics is its own business.
    insta::with_settings!({filters => [(r"again \(.+\)", "again ([why])")]}, {
        assert_snapshot!(learn_from(bytes), @r"
        exit 2
        --- stderr
        read crawl as a Parquet file; ignored columns: id
        error: cannot read crawl as a table, so no row was read
          cause: the file is damaged, fetch or write it again ([why])
        ");
    });
}

#[test]
fn a_cut_off_download() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(shop().join("").as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let half = &gzip[..gzip.len() / 2];
    let sandbox = Sandbox::with_rules();
    sandbox.write("urls.gz", half);
    let run = sandbox.run(&["normalize", "rules.json", "urls.gz"]);
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8(run.stderr).unwrap();
    // How much of a cut-off stream can be read is the decompressor's business.
    insta::with_settings!({filters => [(r"\b\d\d+\b", "[n]")]}, {
        assert_snapshot!(learn_from(half), @r"
        exit 2
        --- stderr
        error: crawl is cut off: its gzip data ends after line [n] (byte [n] of the text), the rows up to there were read; fetch it again
          cause: incomplete deflate stream
        hint: to go on with what can be read, unpack the file: zcat FILE | dedust ... -
        ");
        assert_snapshot!(said, @r"
        error: urls.gz is cut off: its gzip data ends after line [n] (byte [n] of the text), the rows up to there were read; fetch it again
          cause: incomplete deflate stream
        hint: to go on with what can be read, unpack the file: zcat FILE | dedust ... -
        ");
    });
    let run = sandbox.run(&["evaluate", "rules.json", "urls.gz"]);
    assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0));
}

#[test]
fn damaged_data() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(shop().join("").as_bytes()).unwrap();
    let mut gzip = gzip.finish().unwrap();
    let middle = gzip.len() / 2;
    gzip[middle..middle + 64].fill(0xff);
    let run = learn_from(gzip);
    assert!(run.starts_with("exit 2\n--- stderr\n"), "{run}");
}

#[test]
fn a_folder() {
    assert_snapshot!(learn(&Sandbox::new(), "."), @r"
    exit 2
    --- stderr
    error: . is a folder without files (hidden files and those that start with _ are left out)
    ");
}

#[test]
fn a_file_that_is_not_there() {
    assert_snapshot!(learn(&Sandbox::new(), "crawl.jsonl"), @r"
    exit 2
    --- stderr
    error: cannot open crawl.jsonl
      cause: No such file or directory (os error 2)
    hint: check the name; `-` reads standard input
    ");
}

#[test]
fn nothing_at_all() {
    assert_snapshot!(learn_from(""), @r#"
    exit 2
    --- stderr
    error: no URLs in crawl
    hint: it is empty, or nothing follows its header; expected one object per line with at least a url, such as {"url":"http://a.example/"}, or one URL per line
    "#);
    assert_snapshot!(learn_from("\n \n# only a remark\n"), @r#"
    exit 2
    --- stderr
    error: no URLs in crawl
    hint: it is empty, or nothing follows its header; expected one object per line with at least a url, such as {"url":"http://a.example/"}, or one URL per line
    "#);
}

#[test]
fn binary_data() {
    insta::with_settings!({filters => [(r"a WARC file, .+ or a list of URLs", "[formats]")]}, {
        assert_snapshot!(learn_from(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), @r"
        exit 2
        --- stderr
        error: crawl does not look like any supported format, expected [formats], plain or compressed with gzip or zstd
        ");
    });
    assert_snapshot!(learn_from(b"PAR1\x15\x04"), @r"
    exit 2
    --- stderr
    error: cannot read crawl as a table, so no row was read
      cause: EOF: Parquet file too small. Size is 6 but need 8
    ");
    let sandbox = Sandbox::with_rules();
    sandbox.write("urls", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let run = sandbox.dedust(&["normalize", "rules.json", "urls", "--check"]);
    assert!(
        run.starts_with("exit 2\n--- stderr\nerror: urls does not look like any supported format"),
        "{run}"
    );
}

#[test]
fn a_hundred_megabytes_in_one_line() {
    assert_snapshot!(learn_from(vec![b'x'; 100_000_000]), @r"
    exit 2
    --- stderr
    warning: crawl:1: longer than 16 MiB, row skipped: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    warning: 1 of 1 row skipped
    error: 1 of 1 rows of crawl could not be read as a list of URLs, expected one URL per line
    ");
}

#[test]
fn rows_that_cannot_be_used_are_shown_counted_and_skipped() {
    let sandbox = Sandbox::new();
    let bad = [
        "{\"uri\":\"http://www.shop.example/\"}\n",
        "{\"url\":7}\n",
        "{\"url\":\"\"}\n",
        "{\"url\":\"http://www.shop.example/\",\n",
        "[1]\n",
        "hello\n",
        "{\"url\":\"/view?id=1\"}\n",
        "{\"url\":\"http://a:port/\"}\n",
        "{\"url\":\"http://www.shop.example/1\",\"status\":\"fine\",\"simhash\":\"xyz\",\"title\":[1]}\n",
    ];
    sandbox.write("crawl.jsonl", bad.concat() + &shop().join(""));
    let run = sandbox.run(&["learn", "crawl.jsonl", "-o", "rules.json", "--format", "json"]);
    assert_eq!(run.status.code(), Some(0));
    assert_snapshot!(String::from_utf8(run.stderr).unwrap(), @r#"
    read crawl.jsonl as JSON Lines; ignored columns: uri
    warning: crawl.jsonl:1: no "url" column, row skipped: {"uri":"http://www.shop.example/"}
    warning: crawl.jsonl:2: "url" is 7, expected text, row skipped: {"url":7}
    warning: crawl.jsonl:3: "url" is empty, row skipped: {"url":""}
    warning: crawl.jsonl:4: invalid JSON at column 34 (EOF while parsing a value), row skipped: {"url":"http://www.shop.example/",
    warning: crawl.jsonl:5: expected a JSON object such as {"url":"http://a.example/"}, row skipped: [1]
    warning: crawl.jsonl:7: no scheme, expected one such as `http:` at the start, row skipped: /view?id=1
    warning: crawl.jsonl:8: invalid port, expected a number up to 65535, row skipped: http://a:port/
    warning: crawl.jsonl:9: column "status" is "fine", expected a whole number from 0 to 65535, column ignored
    warning: crawl.jsonl:9: column "simhash" is "xyz", expected 16 hex digits, column ignored
    warning: crawl.jsonl:9: column "title" is a list, expected text in UTF-8, column ignored
    warning: 8 of 249 rows skipped
    warning: 3 column values ignored, their rows are kept
    "#);
    assert!(sandbox.path("rules.json").exists());
    assert_eq!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json", "--force", "-q"]), "exit 0\n");
}

#[test]
fn mostly_bad_rows_are_an_error() {
    assert_snapshot!(learn_from("{\"url\":\"http://a.example/\"}\n{\"uri\":1}\n{\"uri\":2}\n"), @r#"
    exit 2
    --- stderr
    read crawl as JSON Lines; ignored columns: uri
    warning: crawl:2: no "url" column, row skipped: {"uri":1}
    warning: crawl:3: no "url" column, row skipped: {"uri":2}
    warning: 2 of 3 rows skipped
    error: 2 of 3 rows of crawl could not be read as JSON Lines, expected one object per line with at least a url, such as {"url":"http://a.example/"}
    "#);
    assert_snapshot!(learn_from("one\ntwo\nhttp://a.example/\n"), @r"
    exit 2
    --- stderr
    warning: crawl:1: no scheme, expected one such as `http:` at the start, row skipped: one
    warning: crawl:2: no scheme, expected one such as `http:` at the start, row skipped: two
    warning: 2 of 3 rows skipped
    error: 2 of 3 rows of crawl could not be read as a list of URLs, expected one URL per line
    ");
}

#[test]
fn a_header_without_urls() {
    assert_snapshot!(learn_from("title,status\nx,200\n"), @r#"
    exit 2
    --- stderr
    error: crawl has no "url" column, its first line is "title,status"; expected a header that names url and, where known, cluster (or page), canonical, redirect, digest, text_digest, simhash, title, size, status, mime, time, truncated (if another column holds the URLs, name it: --column url=NAME)
    "#);
}

#[test]
fn one_bad_input_among_good_ones() {
    let sandbox = Sandbox::new();
    sandbox.write("good.jsonl", shop().join(""));
    sandbox.write("empty.jsonl", "");
    let run = sandbox.run(&["learn", "good.jsonl", "empty.jsonl", "-o", "rules.json", "-q"]);
    assert_eq!(run.status.code(), Some(0));
    let run = sandbox.run(&["learn", "good.jsonl", "missing.jsonl", "-o", "other.json", "-q"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(!sandbox.path("other.json").exists());
}
