/*!
`dedust compile`: rules in a form that opens at once.
*/

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, Stdio};

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const RULES: &str = r#"{"version": 1, "method": "by hand", "sites": {"a.example": {"rules": [{
    "when": {"path_0": {"is": "p"}}, "change": [{"drop": "q.sid"}], "fetchable": true,
    "evidence": {"urls": 2, "support_pairs": 1, "false_pairs": 0, "groups": 1, "failed_groups": 0,
                 "failure_bound": 0.95, "kinds": ["digest"]}}]}}}"#;

fn compiled() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", RULES);
    let run = sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]);
    assert_eq!((run.status.code(), &*run.stderr), (Some(0), &b"1 rule of 1 site\n"[..]));
    sandbox
}

#[test]
fn compiled_rules_take_the_place_of_plain_ones() {
    let sandbox = compiled();
    let urls = "http://a.example/p?sid=1\n\nno URL\nhttp://b.example/?b=1&a=2\n";
    for arguments in
        [&["normalize"][..], &["normalize", "--key"], &["normalize", "--format", "json"], &["dedup"]]
    {
        let with = |rules| sandbox.dedust_with(&[arguments, &[rules]].concat(), urls);
        assert_eq!(with("rules.bin"), with("rules.json"), "{arguments:?}");
    }
    assert_snapshot!(sandbox.dedust(&["explain", "rules.bin", "http://a.example/p?sid=1"]), @r"
    exit 0
    --- stdout
    http://a.example/p?sid=1
      safe form  http://a.example/p?sid=1
      site       a.example
      rule       0, counted from 0; compiled rules say no more, the rule file they were made from does
      key        http://a.example/p
      canonical  http://a.example/p
    ");
    assert_snapshot!(sandbox.dedust(&["compile", "rules.bin", "--check"]), @r"
    exit 0
    --- stderr
    rules.bin is as it was written: 1 rule of 1 site
    ");
}

#[test]
fn compiled_rules_are_told_by_their_places() {
    let sandbox = Sandbox::with_two_rules();
    assert_eq!(sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]).status.code(), Some(0));
    let urls = ["http://a.example/p?sid=1", "http://a.example/p?ref=3&sid=4", "http://a.example/p"];
    assert_snapshot!(sandbox.dedust(&[&["explain", "rules.bin"], &urls[..]].concat()), @r"
    exit 0
    --- stdout
    http://a.example/p?sid=1
      safe form  http://a.example/p?sid=1
      site       a.example
      rule       1, counted from 0; compiled rules say no more, the rule file they were made from does
      key        http://a.example/p
      canonical  http://a.example/p

    http://a.example/p?ref=3&sid=4
      safe form  http://a.example/p?ref=3&sid=4
      site       a.example
      rules      0 and 1, counted from 0; compiled rules say no more, the rule file they were made from does
      key        http://a.example/p
      canonical  http://a.example/p?ref=3

    http://a.example/p
      safe form  http://a.example/p
      site       a.example
      rules      none concerns it, as no URLs like it were proven to be duplicates; it stays in its safe form
      key        http://a.example/p
      canonical  http://a.example/p
    ");
    assert_snapshot!(sandbox.dedust(&["explain", "rules.bin", urls[1], "--format", "json"]), @r#"
    exit 0
    --- stdout
    {"type":"explanation","input":"http://a.example/p?ref=3&sid=4","safe":"http://a.example/p?ref=3&sid=4","site":"a.example","compiled_rules":[0,1],"key":"http://a.example/p","canonical":"http://a.example/p?ref=3"}
    "#);
}

#[test]
fn an_existing_file_is_kept_unless_forced() {
    let sandbox = compiled();
    let before = fs::read(sandbox.path("rules.bin")).unwrap();
    assert_eq!(sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]).status.code(), Some(2));
    assert_eq!(sandbox.run(&["compile", "rules.json", "-o", "rules.bin", "--force"]).status.code(), Some(0));
    assert_eq!(fs::read(sandbox.path("rules.bin")).unwrap(), before, "the same rules give the same bytes");
}

#[test]
fn damage_is_told_before_anything_is_printed() {
    let sandbox = compiled();
    let mut bytes = fs::read(sandbox.path("rules.bin")).unwrap();
    bytes[4100] ^= 1;
    sandbox.write("rules.bin", &bytes);
    let said = sandbox.dedust_with(&["normalize", "rules.bin"], "http://a.example/p?sid=1\n");
    // Where the only block ends depends on the rules.
    let said = said
        .split(" to ")
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()))
        .collect::<Vec<_>>();
    assert_snapshot!(said.join(" to N"), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.bin
      cause: the compiled rules are damaged: bytes 4096 to N do not match their checksum
    hint: make it again from the rule file: dedust compile RULES -o RULES.bin --force
    ");
    assert_eq!(sandbox.run(&["compile", "rules.bin", "--check"]).status.code(), Some(1));
    sandbox.write("rules.bin", &bytes[..5000.min(bytes.len() - 1)]);
    assert_eq!(sandbox.run(&["normalize", "rules.bin"]).status.code(), Some(2));
}

#[test]
fn a_reader_keeps_its_rules_when_the_file_is_overwritten_and_says_so() {
    for changed in ["overwritten", "cut", "removed", "renamed"] {
        let sandbox = compiled();
        sandbox.write("new.json", RULES.replace("q.sid", "q.key"));
        sandbox.dedust(&["compile", "new.json", "-o", "new.bin"]);
        let mut reader = sandbox.command(&["normalize", "rules.bin"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut urls = reader.stdin.take().unwrap();
        let mut answers = BufReader::new(reader.stdout.take().unwrap()).lines();
        let mut ask = |urls: &mut ChildStdin, url: &str| {
            writeln!(urls, "{url}").unwrap();
            answers.next().unwrap().unwrap()
        };
        assert_eq!(ask(&mut urls, "http://a.example/p?sid=1"), "http://a.example/p");
        match changed {
            "overwritten" => {
                fs::copy(sandbox.path("new.bin"), sandbox.path("rules.bin")).unwrap();
            }
            "cut" => sandbox.write("rules.bin", ""),
            "removed" => fs::remove_file(sandbox.path("rules.bin")).unwrap(),
            _ => fs::rename(sandbox.path("new.bin"), sandbox.path("rules.bin")).unwrap(),
        }
        for _ in 0..2 {
            assert_eq!(ask(&mut urls, "http://a.example/p?sid=2"), "http://a.example/p", "{changed}");
            assert_eq!(ask(&mut urls, "http://a.example/p?key=2"), "http://a.example/p?key=2", "{changed}");
        }
        drop(urls);
        let run = reader.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{changed}");
        assert_eq!(
            String::from_utf8(run.stderr).unwrap(),
            "warning: rules.bin was changed, replaced or removed; the rules that were read from it are applied until the end\n\
             hint: start the command again to use new rules\n",
            "{changed}"
        );
    }
}

#[test]
fn commands_that_need_evidence_ask_for_the_rule_file() {
    let sandbox = compiled();
    assert_snapshot!(sandbox.dedust_with(&["validate", "rules.bin", "-"], "http://a.example/\n"), @r"
    exit 2
    --- stderr
    error: rules.bin holds compiled rules, which have no evidence
    hint: name the rule file that they were compiled from
    ");
}
