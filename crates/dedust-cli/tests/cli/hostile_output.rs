/*!
Outputs that cannot be written, or must not be: known before the work, and nothing is changed.
*/

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, shop};

fn crawl() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", shop().join(""));
    sandbox
}

#[test]
fn a_folder_that_is_not_there() {
    let sandbox = crawl();
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "missing/rules.json"]), @r"
    exit 2
    --- stderr
    error: cannot create missing/rules.json
      cause: No such file or directory (os error 2)
    hint: the folder must exist; create it with `mkdir -p`
    ");
    assert_eq!(sandbox.names(), ["crawl.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files() {
    let sandbox = crawl();
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "/proc/rules.json"]), @r"
    exit 2
    --- stderr
    error: cannot create /proc/rules.json
      cause: No such file or directory (os error 2)
    hint: choose a folder that you may write to
    ");
    assert!(!std::path::Path::new("/proc/rules.json").exists());
}

#[test]
fn a_folder_in_place_of_a_file() {
    let sandbox = crawl();
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", ".", "--force"]), @r"
    exit 2
    --- stderr
    error: . is a directory, expected a file name
    ");
    assert_eq!(sandbox.names(), ["crawl.jsonl"]);
}

#[test]
fn an_existing_file_is_kept_unless_forced() {
    let sandbox = crawl();
    sandbox.write("rules.json", "mine");
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json"]), @r"
    exit 2
    --- stderr
    error: rules.json already exists (overwrite it with --force)
    ");
    assert_eq!(sandbox.read("rules.json"), "mine");
    assert_eq!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json", "-q", "--force"]), "exit 0\n");
    assert!(sandbox.read("rules.json").starts_with("{\n  \"version\": 1,"));
}

#[test]
fn a_forced_file_outlives_a_failure() {
    let sandbox = crawl();
    sandbox.write("rules.json", "mine");
    sandbox.write("bad.jsonl", "nothing of use\n");
    let run = sandbox.run(&["learn", "crawl.jsonl", "bad.jsonl", "-o", "rules.json", "--force"]);
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(sandbox.read("rules.json"), "mine");
    assert_eq!(sandbox.names(), ["bad.jsonl", "crawl.jsonl", "rules.json"]);
}

#[test]
fn rules_and_report_do_not_mix() {
    let sandbox = crawl();
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "-", "--format", "json"]), @r"
    exit 2
    --- stderr
    error: `-o -` and `--format json` both write to standard output
    hint: write the rules to a file
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let sandbox = Sandbox::with_rules();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = sandbox.command(&["evaluate", "rules.json", "crawl.jsonl"]).stdout(full).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert_snapshot!(String::from_utf8(run.stderr).unwrap(), @r"
    error: cannot write to standard output
      cause: No space left on device (os error 28)
    hint: make room on that disk, or write to another one
    ");
}

/// Every command that writes, to a device that is full: by `-o`, and to standard output.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named_with_the_file_the_cause_and_a_remedy() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("urls.txt", "http://www.shop.example/view?id=1\n");
    sandbox.write("rows.parquet", include_bytes!("../../testdata/rows.parquet"));
    let reading = ["rules.json", "crawl.jsonl"];
    let both: &[&[&str]] = &[
        &["normalize", "rules.json", "urls.txt"],
        &[&["normalize"], &reading[..]].concat(),
        &["normalize", "rules.json", "rows.parquet"],
        &["dedup", "rules.json", "urls.txt"],
        &[&["dedup"], &reading[..]].concat(),
        &[&["evaluate"], &reading[..]].concat(),
        &[&["report"], &reading[..]].concat(),
        &["learn", "crawl.jsonl"],
        &["cluster", "crawl.jsonl"],
        &["compare", "crawl.jsonl"],
        &["compile", "rules.json"],
        &["rules", "merge", "rules.json", "rules.json"],
    ];
    let printing: &[&[&str]] = &[
        &["explain", "rules.json", "http://www.shop.example/view?id=1"],
        &["groups", "rules.json", "crawl.jsonl"],
        &["rules", "list", "rules.json"],
        &["tree", "crawl.jsonl"],
        &["man"],
        &["completions", "bash"],
        &["--help"],
    ];
    let told = |args: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = sandbox.command(args).stdout(full).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        String::from_utf8(run.stderr).unwrap()
    };
    let check = |args: &[&str], name: &str| {
        let told = told(args);
        for part in [name, "No space left on device", "\nhint: make room on that disk"] {
            assert!(told.contains(part), "{args:?}: {told}");
        }
        assert_eq!(
            told.matches("cannot write").count(),
            1 + told.matches("cannot write the table").count(),
            "{told}"
        );
    };
    for args in both {
        check(&[args, &["-q", "-o", "/dev/full"][..]].concat(), "cannot write /dev/full\n");
        check(&[args, &["-q", "-o", "-"][..]].concat(), "cannot write to standard output\n");
    }
    for args in printing {
        if args != &["--help"] {
            check(&[args, &["-q"][..]].concat(), "cannot write to standard output\n");
        } else {
            told(args);
        }
    }
    assert_eq!(sandbox.names(), ["crawl.jsonl", "rows.parquet", "rules.json", "urls.txt"]);
}

/// A set in a folder whose files may not become longer, as on a full disk; the shell ignores the signal, so that writing fails.
#[cfg(unix)]
#[test]
fn a_seen_set_that_cannot_grow_says_which_file_and_why() {
    let sandbox = Sandbox::with_rules();
    let urls: String = (0..2000).map(|page| format!("http://a.example/{page}\n")).collect();
    sandbox.write("urls.txt", urls);
    let dedup = sandbox.command(&["dedup", "rules.json", "urls.txt", "--seen", "seen", "-q"]);
    let run = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ && ulimit -f 8 && exec \"$@\"", "sh"])
        .arg(dedup.get_program())
        .args(dedup.get_args())
        .current_dir(sandbox.path("."))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert_snapshot!(String::from_utf8(run.stderr).unwrap(), @r"
    error: cannot write seen/log-00000001
      cause: File too large (os error 27)
    hint: raise the limit on the length of files (ulimit -f), or write to another disk
    ");
}

/// A command that is killed while it writes leaves a file beside its target, which the next one removes.
#[cfg(unix)]
#[test]
fn what_a_killed_command_left_is_removed_by_the_next_one() {
    use std::io::Write as _;
    use std::process::Stdio;

    let sandbox = Sandbox::with_rules();
    let start = || {
        let mut command = sandbox.command(&["normalize", "rules.json", "-", "-o", "out.txt", "--force"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // It does not end before its input does.
        input.write_all(b"http://www.shop.example/view?id=1\n").unwrap();
        let beside = format!(".out.txt.tmp-{}", child.id());
        while !sandbox.path(&beside).exists() {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::yield_now();
        }
        // Its writer may not have locked it yet: then it makes another one.
        (child, input, beside)
    };
    let (mut killed, _input, left) = start();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(sandbox.path(&left).exists());

    let (living, input, _) = start();
    assert!(!sandbox.path(&left).exists());
    let other = sandbox
        .run_with(&["normalize", "rules.json", "-", "-o", "out.txt", "--force"], b"http://a.example/\n");
    assert_eq!(other.status.code(), Some(0));
    assert_eq!(sandbox.read("out.txt"), "http://a.example/\n");
    drop(input);
    assert_eq!(living.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(sandbox.read("out.txt"), "http://www.shop.example/view?id=1\n");
    assert_eq!(sandbox.names(), ["crawl.jsonl", "out.txt", "rules.json"]);
}
