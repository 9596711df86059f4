/*!
`dedust dedup`: the first URL of every page, once.
*/

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Output, Stdio};

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const LINES: &str = "\
http://www.shop.example/view?id=7&sid=00000000deadbeef
HTTP://NEWS.example:80/story/3?utm_source=mail#top

http://www.shop.example/view?id=7&sid=00000000cafecafe
http://www.shop.example/view?id=8&sid=00000000cafecafe
no url
http://news.example/story/3
https://unknown.example/b?z=1&a=2
https://unknown.example/b?a=2&z=1
";

#[test]
fn the_first_url_of_each_page_is_printed_as_it_came() {
    let sandbox = Sandbox::with_rules();
    assert_snapshot!(sandbox.dedust_with(&["dedup", "rules.json"], LINES), @r"
    exit 0
    --- stdout
    http://www.shop.example/view?id=7&sid=00000000deadbeef
    HTTP://NEWS.example:80/story/3?utm_source=mail#top
    http://www.shop.example/view?id=8&sid=00000000cafecafe
    https://unknown.example/b?z=1&a=2
    --- stderr
    warning: standard input:6: no scheme, expected one such as `http:` at the start, left out: no url
    warning: 1 of 9 lines is no URL and was left out
    ");
}

#[test]
fn what_was_seen_is_remembered_in_a_folder() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "-", "--seen", "seen", "--stats", "-q"];
    assert_snapshot!(sandbox.dedust_with(&args, LINES), @r"
    exit 0
    --- stdout
    http://www.shop.example/view?id=7&sid=00000000deadbeef
    HTTP://NEWS.example:80/story/3?utm_source=mail#top
    http://www.shop.example/view?id=8&sid=00000000cafecafe
    https://unknown.example/b?z=1&a=2
    ");
    let more = "http://news.example/story/3?utm_source=feed\nhttp://news.example/story/4\n";
    assert_snapshot!(sandbox.dedust_with(&args[..6], more), @r"
    exit 0
    --- stdout
    http://news.example/story/4
    --- stderr
    1 of 2 URLs new, 50.0 %
    5 keys in seen
    5 in logs, 0 in 0 sorted files; 0.0 MB on disk, 0.0 MB of memory; 0 merges
    ");
}

#[test]
fn json_tells_keys_and_figures() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen", "--sync", "--format", "json", "--stats", "-q"];
    assert_snapshot!(sandbox.dedust_with(&args, LINES), @r#"
    exit 0
    --- stdout
    {"type":"url","input":"http://www.shop.example/view?id=7&sid=00000000deadbeef","key":"http://www.shop.example/view?id=7&sid=*"}
    {"type":"url","input":"HTTP://NEWS.example:80/story/3?utm_source=mail#top","key":"http://news.example/story/3"}
    {"type":"url","input":"http://www.shop.example/view?id=8&sid=00000000cafecafe","key":"http://www.shop.example/view?id=8&sid=*"}
    {"type":"url","input":"https://unknown.example/b?z=1&a=2","key":"https://unknown.example/b?a=2&z=1"}
    {"type":"stats","lines":9,"urls":7,"new":4,"bad":1,"seen":4,"recent":4,"runs":0,"disk_bytes":104,"index_bytes":0,"merges":0}
    "#);
}

#[test]
fn order_is_kept_on_any_number_of_threads() {
    let sandbox = Sandbox::with_rules();
    let line = |at: u32| format!("http://www.shop.example/view?id={}&sid={at:016x}\n", at % 10_007);
    sandbox.write("urls.txt", (0..30_000).map(line).collect::<String>());
    let first: String = (0..10_007).map(line).collect();
    for threads in ["1", "4"] {
        let run = sandbox.run(&["dedup", "rules.json", "urls.txt", "--threads", threads]);
        assert!(run.stdout == first.as_bytes());
    }
}

#[test]
fn a_pipe_is_answered_line_by_line() {
    let sandbox = Sandbox::with_rules();
    let mut command = sandbox.command(&["dedup", "rules.json", "--seen", "seen"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for page in 0..3 {
        let line = format!("http://www.shop.example/archive/{page}\n");
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        let mut answer = vec![0; line.len()];
        stdout.read_exact(&mut answer).unwrap();
        assert_eq!(answer, line.as_bytes());
    }
    // While it runs, no other process may use the set.
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "--seen", "seen"]), @r"
    exit 2
    --- stderr
    error: seen is in use by another process
    hint: wait until it ends, or give each process a folder of its own
    ");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn folders_that_are_no_sets_are_refused() {
    let sandbox = Sandbox::with_rules();
    fs::create_dir(sandbox.path("mail")).unwrap();
    sandbox.write("mail/inbox", "");
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "--seen", "mail"]), @r#"
    exit 2
    --- stderr
    error: mail is no set of seen keys: it holds "inbox" and no file "SEEN"
    hint: name an empty folder, or one that is not there yet
    "#);
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "--seen", "crawl.jsonl"]), @r"
    exit 2
    --- stderr
    error: cannot create the folder crawl.jsonl
      cause: File exists (os error 17)
    ");
}

#[test]
fn damaged_sets_are_refused() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen", "-q"];
    sandbox.run_with(&args, LINES.as_bytes());
    let path = sandbox.path("seen/log-00000001");
    let mut bytes = fs::read(&path).unwrap();
    bytes[50] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_snapshot!(sandbox.dedust(&args), @r"
    exit 2
    --- stderr
    error: seen/log-00000001 is damaged at byte 16: its checksum is wrong
    hint: put the folder back from a copy, or start with a new one: all pages will be new once more
    ");
    sandbox.write("seen/SEEN", "dedust set of seen keys, format 9\n");
    assert_snapshot!(sandbox.dedust(&args), @r#"
    exit 2
    --- stderr
    error: seen is a set of seen keys of another format: expected "dedust set of seen keys, format 1", found "dedust set of seen keys, format 9"
    hint: use the version of dedust that wrote it, or start with a new folder
    "#);
}

/// The binary is killed a few times while it prints; `dedust-seen` has a test that kills far more often.
#[test]
fn a_killed_process_forgets_nothing_it_printed() {
    let sandbox = Sandbox::with_rules();
    let urls: String = (0..60_000).map(|at| format!("http://www.shop.example/archive/{at}\n")).collect();
    sandbox.write("urls.txt", &urls);
    let args = ["dedup", "rules.json", "urls.txt", "--seen", "seen"];
    let mut printed = HashSet::new();
    let mut in_doubt = 0;
    for lines_before in [0, 1, 500] {
        // A pipe that is not read blocks the process while it prints.
        let mut child = sandbox.command(&args).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let mut take = || {
            line.clear();
            let is_there = stdout.read_line(&mut line).unwrap() > 0;
            if line.ends_with('\n') {
                assert!(printed.insert(line.clone()), "{line} was printed twice");
            }
            is_there
        };
        for _ in 0..lines_before {
            assert!(take(), "it ended by itself");
        }
        child.kill().unwrap();
        while take() {}
        in_doubt += urls_in_doubt(&child.wait_with_output().unwrap());
    }
    let run = sandbox.run(&args);
    in_doubt += urls_in_doubt(&run);
    for line in String::from_utf8(run.stdout).unwrap().split_inclusive('\n') {
        assert!(printed.insert(line.to_owned()), "{line} was printed twice");
    }
    let lost = urls.lines().count() - printed.len();
    assert!(lost <= in_doubt, "{lost} URLs were not printed, {in_doubt} were said to be in doubt");
    // Told once: this time all was printed.
    assert_snapshot!(sandbox.dedust(&args), @"exit 0");
}

/// How many URLs may not have been printed before this run, as it says.
fn urls_in_doubt(run: &Output) -> usize {
    let message = String::from_utf8_lossy(&run.stderr);
    let Some((_, number)) = message.split_once("was cut off: ") else { return 0 };
    number.split(' ').next().unwrap().replace(',', "").parse().unwrap()
}
