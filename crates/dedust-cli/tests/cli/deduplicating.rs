/*!
`dedust dedup`: the first URL of every page, once.
*/

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Output, Stdio};

use insta::assert_snapshot;
use xxhash_rust::xxh3::xxh3_128;

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
    5 in logs, 0 in 0 sorted files; 168 bytes on disk, 0 bytes of memory; 0 merges
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
    {"type":"stats","lines":9,"urls":7,"new":4,"bad":1,"other_schemes":0,"seen":4,"recent":4,"runs":0,"disk_bytes":104,"index_bytes":0,"merges":0}
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
fn sets_that_cannot_be_read_are_refused() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen", "-q"];
    sandbox.run_with(&args, LINES.as_bytes());
    let path = sandbox.path("seen/log-00000001");
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_snapshot!(sandbox.dedust(&args), @r"
    exit 2
    --- stderr
    error: seen/log-00000001 is damaged at byte 0: it does not start as a file of this kind does
    hint: put the folder back from a copy, or keep what can be read: dedust seen repair DIR
    ");
    sandbox.write("seen/SEEN", "dedust set of seen keys, format 2\nsecret 00\n");
    assert_snapshot!(sandbox.dedust(&args), @r"
    exit 2
    --- stderr
    error: seen/SEEN is damaged at byte 0: its checksum is wrong
    hint: put this file back from a copy, or start with a new folder: all pages will be new once more
    ");
    sandbox.write("seen/SEEN", "dedust set of seen keys, format 9\n");
    assert_snapshot!(sandbox.dedust(&args), @r#"
    exit 2
    --- stderr
    error: seen is a set of seen keys of another format: expected format 2, found "dedust set of seen keys, format 9"
    hint: use the version of dedust that wrote it, or start with a new folder
    "#);
}

#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_the_marker_is_refused() {
    let sandbox = Sandbox::with_rules();
    fs::create_dir(sandbox.path("seen")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("seen/SEEN")).status().unwrap();
    assert!(made.success());
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "--seen", "seen"]), @r"
    exit 2
    --- stderr
    error: seen/SEEN is no regular file
    hint: remove it, or put back the file from a copy
    ");
}

/// URLs of two sites, neither of which is in the rules, with the same XXH3.
fn urls_with_one_xxh3() -> String {
    let url = |site: char, page: char| {
        let (folders, title) = ("news/".repeat(22), "-title".repeat(16));
        format!("http://aaaaaaaaaaaaaaaaa{site}aaa5aoo.example/{folders}n{page}ageN-zQ{title}-tit\n")
    };
    let urls = [url('0', '1'), url('1', '0')];
    let [first, second] = urls.each_ref().map(|url| xxh3_128(url.trim_end().as_bytes()));
    assert_eq!(first, second);
    urls.concat()
}

#[test]
fn no_site_can_hide_the_page_of_another() {
    let sandbox = Sandbox::with_rules();
    let urls = urls_with_one_xxh3();
    for args in [&["dedup", "rules.json"][..], &["dedup", "rules.json", "--seen", "seen"]] {
        let run = sandbox.run_with(args, urls.as_bytes());
        assert_eq!(String::from_utf8(run.stdout).unwrap(), urls);
    }
}

#[test]
fn what_is_printed_does_not_depend_on_the_secret() {
    let sandbox = Sandbox::with_rules();
    let line = |at: u32| format!("http://www.shop.example/view?id={}&sid={at:016x}\n", at * 7 % 1009);
    sandbox.write("urls.txt", (0..5000).map(line).collect::<String>());
    let first = sandbox.run(&["dedup", "rules.json", "urls.txt"]).stdout;
    assert_eq!(first.iter().filter(|&&byte| byte == b'\n').count(), 1009);
    for folder in ["a", "b"] {
        assert!(sandbox.run(&["dedup", "rules.json", "urls.txt", "--seen", folder]).stdout == first);
    }
    assert_ne!(sandbox.read("a/SEEN"), sandbox.read("b/SEEN"));
}

#[test]
fn the_end_of_a_log_is_cut_off_after_a_loss_of_power() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen"];
    let line = |page| format!("http://news.example/story/{page}\n");
    sandbox.run_with(&args, (line(1) + &line(2)).as_bytes());
    sandbox.run_with(&args, line(3).as_bytes());
    let path = sandbox.path("seen/log-00000001");
    let whole = fs::read(&path).unwrap();
    // The only key of the last batch. A record follows that says that the set was closed.
    let mut damaged = whole.clone();
    damaged[120..136].fill(0);
    fs::write(&path, &damaged).unwrap();
    assert_snapshot!(sandbox.dedust(&["seen", "check", "seen"]), @r"
    exit 1
    --- stdout
    log-00000001: 2 keys, and 64 bytes at the end that are damaged: its checksum is wrong
    --- stderr
    hint: to keep what can be read: dedust seen repair seen
    ");
    assert_eq!(fs::read(&path).unwrap(), damaged);
    assert_snapshot!(sandbox.dedust_with(&args, line(1) + &line(2) + &line(3)), @r"
    exit 0
    --- stdout
    http://news.example/story/3
    --- stderr
    warning: 64 bytes at the end of logs in seen were no whole records, as after a loss of power, and were cut off: URLs that were printed last may be printed once more
    ");
    assert_snapshot!(sandbox.dedust(&["seen", "check", "seen"]), @r"
    exit 0
    --- stdout
    log-00000001: 3 keys
    --- stderr
    3 keys in seen
    ");

    fs::write(&path, &damaged).unwrap();
    assert_snapshot!(sandbox.dedust(&["seen", "repair", "seen"]), @r"
    exit 0
    --- stdout
    log-00000001: 64 bytes at the end cut off, 2 keys kept
    --- stderr
    2 keys in seen
    ");
    assert_snapshot!(sandbox.dedust(&["seen", "repair", "seen"]), @r"
    exit 0
    --- stdout
    log-00000001: 2 keys
    --- stderr
    2 keys in seen
    ");
}

#[test]
fn damaged_and_lost_files_are_repaired() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen", "-q"];
    sandbox.run_with(&args, LINES.as_bytes());
    let mut log = fs::read(sandbox.path("seen/log-00000001")).unwrap();
    log[0] ^= 1;
    sandbox.write("seen/log-00000001", &log);
    sandbox.write("seen/log-00000003", [&b"dedustL1"[..], &3_u64.to_le_bytes()].concat());
    assert_snapshot!(sandbox.dedust(&["seen", "check", "seen"]), @r"
    exit 1
    --- stdout
    log-00000001: damaged at byte 0: it does not start as a file of this kind does
    log-00000002: missing
    log-00000003: 0 keys
    --- stderr
    hint: to keep what can be read: dedust seen repair seen
    ");
    assert_snapshot!(sandbox.dedust(&["seen", "check", "seen", "--format", "json", "-q"]), @r#"
    exit 1
    --- stdout
    {"type":"file","name":"log-00000001","keys":0,"fault":"damaged","cut_bytes":0}
    {"type":"file","name":"log-00000002","keys":0,"fault":"missing","cut_bytes":0}
    {"type":"file","name":"log-00000003","keys":0,"fault":null,"cut_bytes":0}
    {"type":"set","keys":0,"whole":false}
    "#);
    assert_snapshot!(sandbox.dedust(&["seen", "repair", "seen"]), @r"
    exit 0
    --- stdout
    log-00000001: 4 keys kept; the damaged file is kept as log-00000001.damaged
    log-00000002: was missing, and its keys are lost; replaced by an empty file
    log-00000003: 0 keys
    --- stderr
    4 keys in seen
    ");
    assert_snapshot!(sandbox.dedust(&["seen", "check", "seen"]), @r"
    exit 0
    --- stdout
    log-00000001: 4 keys
    log-00000002: 0 keys
    log-00000003: 0 keys
    --- stderr
    4 keys in seen
    ");
    assert_eq!(fs::read(sandbox.path("seen/log-00000001.damaged")).unwrap(), log);
    assert_snapshot!(sandbox.dedust_with(&args, LINES), @"exit 0");
}

#[test]
fn where_there_is_no_set_there_is_nothing_to_check() {
    let sandbox = Sandbox::with_rules();
    fs::create_dir(sandbox.path("empty")).unwrap();
    let checked = sandbox.dedust(&["seen", "check", "empty"]);
    assert_snapshot!(checked, @r#"
    exit 2
    --- stderr
    error: empty is no set of seen keys: it has no file "SEEN"
    hint: name the folder of `dedust dedup --seen`
    "#);
    assert_eq!(sandbox.dedust(&["seen", "repair", "empty"]), checked);
    assert_eq!(fs::read_dir(sandbox.path("empty")).unwrap().count(), 0);
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

#[test]
fn a_set_is_made_anew_where_rules_have_changed() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "urls.txt", "--seen", "seen", "-o", "new.txt"];
    let urls = "http://www.shop.example/view?id=7&sid=00000000deadbeef\nhttp://www.shop.example/archive/1\n";
    sandbox.write("urls.txt", urls);
    assert_snapshot!(sandbox.dedust(&args), @"exit 0");
    assert_eq!(sandbox.read("new.txt"), urls);

    // With rules for another site alone, the product has another key.
    sandbox.write("rules.json", r#"{"version": 1, "sites": {"news.example": {"rules": []}}}"#);
    assert_snapshot!(sandbox.dedust(&args[..5]), @r"
    exit 0
    --- stdout
    http://www.shop.example/view?id=7&sid=00000000deadbeef
    --- stderr
    warning: the rules have changed since seen was last used: pages whose key is another one now are new once more
    hint: to avoid that, give the URLs that were printed so far: --rekey FILE
    ");
    // Told once.
    assert_snapshot!(sandbox.dedust(&args[..5]), @"exit 0");

    sandbox.write("rules.json", crate::sandbox::RULES);
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "--seen", "seen", "--rekey", "new.txt"]), @r"
    exit 0
    --- stderr
    seen made anew: 2 keys, 3 keys before
    ");
    assert_snapshot!(sandbox.dedust(&args[..5]), @"exit 0");
    assert_eq!(sandbox.names(), ["crawl.jsonl", "new.txt", "rules.json", "seen", "urls.txt"]);
}

#[test]
fn rekeying_that_fails_leaves_the_set_as_it_was() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("urls.txt", "http://www.shop.example/archive/1\n");
    sandbox.run(&["dedup", "rules.json", "urls.txt", "--seen", "seen"]);
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "--seen", "seen", "--rekey", "missing.txt"]), @r"
    exit 2
    --- stderr
    error: cannot open missing.txt
      cause: No such file or directory (os error 2)
    hint: check the name; `-` reads standard input
    ");
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "urls.txt", "--seen", "seen"]), @"exit 0");
    assert_eq!(sandbox.names(), ["crawl.jsonl", "rules.json", "seen", "urls.txt"]);
}

/// Whoever asks for figures gets them, also when the stream has no end.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_what_it_did() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen", "--stats", "-o", "new.txt"];
    let mut child = sandbox.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"http://www.shop.example/archive/1\nhttp://www.shop.example/archive/2\n").unwrap();
    while fs::read_to_string(sandbox.path("new.txt")).unwrap_or_default().lines().count() < 2 {
        std::thread::yield_now();
    }
    interrupt(&child);
    assert_snapshot!(crate::sandbox::report(&child.wait_with_output().unwrap()), @r"
    exit 130
    --- stderr
    2 of 2 URLs new, 100.0 %
    2 keys in seen
    2 in logs, 0 in 0 sorted files; 72 bytes on disk, 0 bytes of memory; 0 merges
    error: interrupted
    ");
    drop(stdin);
    // It was closed in order: no URL is in doubt.
    assert_snapshot!(sandbox.dedust(&["dedup", "rules.json", "new.txt", "--seen", "seen"]), @"exit 0");
}

/// Ctrl-C.
#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

#[test]
fn the_set_is_locked_before_the_first_line_comes() {
    let sandbox = Sandbox::with_rules();
    let args = ["dedup", "rules.json", "--seen", "seen"];
    let mut child = sandbox.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    while !sandbox.path("seen/RULES").exists() {
        std::thread::yield_now();
    }
    let second = sandbox.dedust(&args);
    assert!(second.contains("seen is in use by another process"), "{second}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_redirect_or_an_error_does_not_hide_the_page() {
    let sandbox = Sandbox::with_rules();
    let rows = "\
{\"url\":\"http://news.example/story/3?utm_source=mail\",\"status\":301}
{\"url\":\"http://news.example/story/3?utm_source=feed\",\"status\":301}
{\"url\":\"http://news.example/story/3\",\"status\":200}
{\"url\":\"http://news.example/story/3?utm_source=home\",\"status\":200}
{\"url\":\"http://news.example/story/4\",\"status\":404}
{\"url\":\"http://news.example/story/4\",\"status\":304}
";
    assert_snapshot!(sandbox.dedust_with(&["dedup", "rules.json", "-q"], rows), @r#"
    exit 0
    --- stdout
    {"url":"http://news.example/story/3?utm_source=mail","status":301}
    {"url":"http://news.example/story/3","status":200}
    {"url":"http://news.example/story/4","status":404}
    {"url":"http://news.example/story/4","status":304}
    "#);
}
