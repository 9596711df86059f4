/*!
`dedust normalize`: one line in, one line out.
*/

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const LINES: &str = "\
http://www.shop.example/view?id=7&sid=00000000deadbeef
HTTP://NEWS.example:80/story/3?utm_source=mail#top

http://www.shop.example/archive/3
no url
  \t
https://unknown.example/b?z=1&a=2
";

#[test]
fn canonical_urls_come_line_by_line() {
    let sandbox = Sandbox::with_rules();
    assert_snapshot!(sandbox.dedust_with(&["normalize", "rules.json"], LINES), @r"
    exit 0
    --- stdout
    http://www.shop.example/view?id=7&sid=00000000deadbeef
    http://news.example/story/3

    http://www.shop.example/archive/3
    no url
      	
    https://unknown.example/b?z=1&a=2
    --- stderr
    warning: standard input:5: no scheme, expected one such as `http:` at the start, passed through: no url
    warning: 1 of 7 lines is no URL and was passed through
    ");
}

#[test]
fn keys_bring_more_together() {
    let sandbox = Sandbox::with_rules();
    let args = ["normalize", "rules.json", "-", "--key", "--format", "tsv", "-q"];
    assert_snapshot!(sandbox.dedust_with(&args, LINES), @r"
    exit 0
    --- stdout
    http://www.shop.example/view?id=7&sid=00000000deadbeef	http://www.shop.example/view?id=7&sid=*
    HTTP://NEWS.example:80/story/3?utm_source=mail#top	http://news.example/story/3

    http://www.shop.example/archive/3	http://www.shop.example/archive/3
    no url	no url
      	
    https://unknown.example/b?z=1&a=2	https://unknown.example/b?a=2&z=1
    ");
}

#[test]
fn json_tells_the_rule() {
    let sandbox = Sandbox::with_rules();
    let args = ["normalize", "rules.json", "--format", "json", "-q"];
    assert_snapshot!(sandbox.dedust_with(&args, LINES), @r#"
    exit 0
    --- stdout
    {"type":"url","input":"http://www.shop.example/view?id=7&sid=00000000deadbeef","canonical":"http://www.shop.example/view?id=7&sid=00000000deadbeef","site":"shop.example","rules":[0]}
    {"type":"url","input":"HTTP://NEWS.example:80/story/3?utm_source=mail#top","canonical":"http://news.example/story/3","site":"news.example","rules":[0]}
    {"type":"blank"}
    {"type":"url","input":"http://www.shop.example/archive/3","canonical":"http://www.shop.example/archive/3"}
    {"type":"url","input":"no url","canonical":"no url","error":"no scheme, expected one such as `http:` at the start"}
    {"type":"blank"}
    {"type":"url","input":"https://unknown.example/b?z=1&a=2","canonical":"https://unknown.example/b?z=1&a=2"}
    "#);
    let keys = sandbox.dedust_with(&[&args[..], &["--key"]].concat(), "http://a.example/?b=1&a=2");
    assert_snapshot!(keys, @r#"
    exit 0
    --- stdout
    {"type":"url","input":"http://a.example/?b=1&a=2","key":"http://a.example/?a=2&b=1"}
    "#);
}

#[test]
fn json_tells_the_rules() {
    let sandbox = Sandbox::with_two_rules();
    let urls = "http://a.example/p?id=1&sid=2\nhttp://a.example/p?ref=3&sid=4\nhttp://a.example/p?id=1\n";
    assert_snapshot!(sandbox.dedust_with(&["normalize", "rules.json", "--format", "json"], urls), @r#"
    exit 0
    --- stdout
    {"type":"url","input":"http://a.example/p?id=1&sid=2","canonical":"http://a.example/p?id=1","site":"a.example","rules":[1]}
    {"type":"url","input":"http://a.example/p?ref=3&sid=4","canonical":"http://a.example/p?ref=3","site":"a.example","rules":[0,1]}
    {"type":"url","input":"http://a.example/p?id=1","canonical":"http://a.example/p?id=1"}
    "#);
}

#[test]
fn pages_of_their_own_never_change() {
    let sandbox = Sandbox::with_rules();
    let archive: String = (0..90).map(|page| format!("http://www.shop.example/archive/{page}\n")).collect();
    for flags in [&[][..], &["--key"]] {
        let run = sandbox.run_with(&[&["normalize", "rules.json"], flags].concat(), archive.as_bytes());
        assert_eq!(String::from_utf8(run.stdout).unwrap(), archive);
    }
}

#[test]
fn bytes_and_line_ends_are_kept() {
    let sandbox = Sandbox::with_rules();
    let input = b"caf\xe9\r\n\r\nhttp://a.example/caf\xe9\r\n \x01\nhttp://a.example";
    let run = sandbox.run_with(&["normalize", "rules.json", "-q"], input);
    let expected = b"caf\xe9\r\n\r\nhttp://a.example/caf\xe9\r\n \x01\nhttp://a.example/\n";
    assert_eq!(run.stdout.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(run.status.code(), Some(0));
}

#[test]
fn check_answers_by_its_exit_code() {
    let sandbox = Sandbox::with_rules();
    let args = ["normalize", "rules.json", "--check"];
    assert_snapshot!(sandbox.dedust_with(&args, LINES), @r"
    exit 1
    --- stderr
    warning: standard input:5: no scheme, expected one such as `http:` at the start: no url
    warning: 1 of 7 lines is no URL
    1 of 4 URLs is not canonical
    the first is standard input:2: HTTP://NEWS.example:80/story/3?utm_source=mail#top
    ");
    assert_snapshot!(sandbox.dedust_with(&args, "http://a.example/\n\n"), @"exit 0");
}

#[test]
fn compressed_input_is_opened_as_it_is() {
    let sandbox = Sandbox::with_rules();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(LINES.as_bytes()).unwrap();
    sandbox.write("urls.gz", gzip.finish().unwrap());
    sandbox.write("urls.zst", zstd::encode_all(LINES.as_bytes(), 1).unwrap());
    sandbox.write("urls.txt", LINES);
    let plain = sandbox.run(&["normalize", "rules.json", "urls.txt"]);
    for name in ["urls.gz", "urls.zst"] {
        assert_eq!(sandbox.run(&["normalize", "rules.json", name]).stdout, plain.stdout);
    }
}

#[test]
fn order_is_kept_on_any_number_of_threads() {
    let sandbox = Sandbox::with_rules();
    let lines: String =
        (0..30_000).map(|at| format!("http://www.shop.example/view?id={at}&sid={at:016x}#{at}\n")).collect();
    sandbox.write("urls.txt", &lines);
    let args = ["normalize", "rules.json", "urls.txt", "--key", "--threads"];
    let run = sandbox.run(&[&args[..], &["4"]].concat());
    assert_eq!(run.stdout, sandbox.run(&[&args[..], &["1"]].concat()).stdout);
    let keys = String::from_utf8(run.stdout).unwrap();
    assert_eq!(keys.lines().count(), 30_000);
    for (at, key) in keys.lines().enumerate() {
        assert_eq!(key, format!("http://www.shop.example/view?id={at}&sid=*"));
    }
}

#[test]
fn a_pipe_is_answered_line_by_line() {
    let sandbox = Sandbox::with_rules();
    let mut command = sandbox.command(&["normalize", "rules.json"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for page in 0..3 {
        let line = format!("http://www.shop.example/archive/{page}\n");
        stdin.write_all(line.as_bytes()).unwrap();
        let mut answer = vec![0; line.len()];
        stdout.read_exact(&mut answer).unwrap();
        assert_eq!(answer, line.as_bytes());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Whoever waits for the answer to a line that is no URL gets it, and need not say more.
#[test]
fn a_pipe_is_answered_even_if_it_starts_with_no_url() {
    let sandbox = Sandbox::with_rules();
    let mut child = sandbox.command(&["normalize", "rules.json"]).stdin(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for line in ["nowhere\n", "nowhere else\n", "http://a.example/\n", "http://b.example/\n"] {
        stdin.write_all(line.as_bytes()).unwrap();
        let mut answer = vec![0; line.len()];
        stdout.read_exact(&mut answer).unwrap();
        assert_eq!(answer, line.as_bytes());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_refused_is_not_printed() {
    let sandbox = Sandbox::with_rules();
    let text = "Dear all,\nhttp://a.example/\nis the place.\n\nYours";
    for args in [&["normalize", "rules.json"][..], &["dedup", "rules.json", "--seen", "seen", "-q"]] {
        let run = sandbox.run_with(args, text.as_bytes());
        assert_eq!(String::from_utf8(run.stdout).unwrap(), "", "{args:?}");
        let message = String::from_utf8(run.stderr).unwrap();
        assert!(message.contains("error: 3 of "), "{message}");
        assert_eq!(run.status.code(), Some(2));
    }
    // Nor is it remembered.
    let output = sandbox.dedust_with(&["dedup", "rules.json", "--seen", "seen"], "http://a.example/\n");
    assert_eq!(output, "exit 0\n--- stdout\nhttp://a.example/\n");
    // A table of which most rows have no URL, in which the first has one.
    let table = "n,url\n1,http://a.example/1\n2,\n3,\n";
    for args in [&["normalize", "rules.json", "--format", "text"][..], &["dedup", "rules.json"]] {
        let run = sandbox.run_with(args, table.as_bytes());
        assert_eq!(
            (run.status.code(), String::from_utf8(run.stdout).unwrap()),
            (Some(2), String::new()),
            "{args:?}"
        );
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("urls.txt", "http://www.shop.example/archive/1\n".repeat(200_000));
    let mut child = sandbox.command(&["normalize", "rules.json", "urls.txt"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 100]).unwrap();
    drop(stdout);
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(String::from_utf8(run.stderr).unwrap(), "");
}

#[test]
fn a_hundred_megabytes_in_one_line_are_passed_through() {
    let sandbox = Sandbox::with_rules();
    let long = 100_000_000;
    let mut text = vec![b'x'; long];
    text.extend_from_slice(b"\nhttp://a.example\n");
    sandbox.write("long.txt", &text);
    let run = sandbox.run(&["normalize", "rules.json", "long.txt"]);
    assert_eq!(run.status.code(), Some(0));
    assert!(run.stdout[..=long] == text[..=long]);
    assert_eq!(&run.stdout[long..], b"\nhttp://a.example/\n");
    assert_snapshot!(String::from_utf8(run.stderr).unwrap(), @r"
    warning: long.txt:1: longer than 16 MiB, passed through: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    warning: 1 of 2 lines is no URL and was passed through
    ");
    let run = sandbox.run(&["normalize", "rules.json", "long.txt", "--format", "json", "-q"]);
    assert_snapshot!(String::from_utf8(run.stdout).unwrap(), @r#"
    {"type":"url","error":"longer than 16 MiB","line":1}
    {"type":"url","input":"http://a.example","canonical":"http://a.example/"}
    "#);
}
