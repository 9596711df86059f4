/*!
Rule files that cannot be used: refused as a whole, with the place of what is wrong.
*/

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const EVIDENCE: &str = r#""evidence": {"urls": 2, "support_pairs": 1, "false_pairs": 0, "groups": 1, "failed_groups": 0,
    "failure_bound": 0.95, "kinds": ["digest"]}"#;

/// What `normalize` says of a rule file; every command loads it the same way.
fn load(rules: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", rules);
    let said = sandbox.dedust_with(&["normalize", "rules.json"], "http://a.example/\n");
    sandbox.write("crawl.txt", "http://a.example/\n");
    assert_eq!(sandbox.dedust(&["evaluate", "rules.json", "crawl.txt"]), said);
    assert_eq!(sandbox.dedust(&["explain", "rules.json", "http://a.example/"]), said);
    said
}

fn site(rules: &str) -> String {
    format!(r#"{{"version": 1, "method": "by hand", "sites": {{"a.example": {{"rules": [{rules}]}}}}}}"#)
}

/// A rule that rewrites the path `from` to `to`.
fn move_path(from: &str, to: &str) -> String {
    format!(
        r#"{{"pattern": {{"scheme": {{"is": "http"}}, "path_0": {{"is": "{from}"}}}},
            "rewrite": {{"target": {{"scheme": {{"keep": "http"}}, "path_0": {{"keep": "{to}"}}}}}}, {EVIDENCE}}}"#
    )
}

#[test]
fn a_good_one_loads() {
    let rules = site(&move_path("old", "new"));
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", rules);
    let said = sandbox.dedust_with(&["normalize", "rules.json"], "http://a.example/old\n");
    assert_snapshot!(said, @r"
    exit 0
    --- stdout
    http://a.example/new
    ");
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    let sandbox = Sandbox::new();
    let evidence = EVIDENCE.replace(
        "\"kinds\"",
        r#""examples": [{"url": "http://a.example/\u001b[2J", "duplicate": "http://a.example/"}], "kinds""#,
    );
    let refused = r#"{"change": [{"drop": "q.t"}], "reason": "hidden\u001b[8m\r", "votes": 3, "against": 1}"#;
    sandbox.write(
        "rules.json",
        format!(
            r#"{{"version": 1, "method": "by hand", "sites": {{"a.example": {{
                "edits": [{{"change": [{{"drop": "q.s"}}], {evidence}}}], "refused": [{refused}]}}}}}}"#
        ),
    );
    let said = sandbox.dedust(&["explain", "rules.json", "http://a.example/?s=1&t=2"]);
    assert!(said.contains(r"http://a.example/\u{1b}[2J") && said.contains(r"hidden\u{1b}[8m\r"), "{said}");
    assert!(!said.contains(|character: char| character.is_control() && character != '\n'), "{said}");
}

#[test]
fn a_newer_version() {
    assert_snapshot!(load(r#"{"version": 99, "sites": {}, "colour": "red"}"#), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: rule file has format version 99, this build reads up to 1
    hint: upgrade dedust, or learn the rules again with this version
    ");
}

#[test]
fn a_circle() {
    let rules = [move_path("x", "y"), move_path("a", "b"), move_path("b", "a")].join(",");
    assert_snapshot!(load(site(&rules)), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: the rules of site `a.example` are refused
      cause: rules 1, 2 rewrite into each other without end
    hint: remove one of these rules from the file; they are counted from 0
    ");
}

#[test]
fn a_malformed_rule() {
    let rules = format!("{}, {{\"pattern\": 7}}", move_path("x", "y"));
    assert_snapshot!(load(site(&rules)), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: rule 1 of site `a.example` is malformed
      cause: invalid type: integer `7`, expected a map at line 1 column 13
    hint: correct or remove it in the file (rules are counted from 0), or learn the rules again
    ");
}

#[test]
fn a_rule_that_would_write_something_else() {
    assert_snapshot!(load(site(&move_path("x", "y?z"))), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: the rules of site `a.example` are refused
      cause: rule 0 is invalid
      cause: `y?z` cannot stand in `path_0` of a safely normalized URL
    hint: correct or remove it in the file (rules are counted from 0), or learn the rules again
    ");
}

#[test]
fn a_site_that_is_no_host() {
    assert_snapshot!(load(r#"{"version": 1, "sites": {"A B": {"rules": []}}}"#), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: the rules of site `A B` are refused
      cause: `A B` is no host name in lower case
    hint: correct or remove it in the file (rules are counted from 0), or learn the rules again
    ");
}

#[test]
fn something_else() {
    assert_snapshot!(load("http://a.example/\n"), @r#"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: not a rule file; expected JSON that starts with {"version": 1
      cause: expected value at line 1 column 1
    hint: RULES, the file that `dedust learn -o RULES` writes, is the first argument
    "#);
    assert_snapshot!(load("{}"), @r#"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: not a rule file; expected JSON that starts with {"version": 1
      cause: missing field `version` at line 1 column 2
    hint: RULES, the file that `dedust learn -o RULES` writes, is the first argument
    "#);
    assert_snapshot!(load(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), @r#"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: not a rule file; expected JSON that starts with {"version": 1
      cause: expected value at line 1 column 1
    hint: RULES, the file that `dedust learn -o RULES` writes, is the first argument
    "#);
    assert_snapshot!(load(""), @r#"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: not a rule file; expected JSON that starts with {"version": 1
      cause: EOF while parsing a value at line 1 column 0
    hint: RULES, the file that `dedust learn -o RULES` writes, is the first argument
    "#);
}

#[test]
fn nothing() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.dedust(&["normalize", "rules.json"]), @r"
    exit 2
    --- stderr
    error: cannot open rules.json
      cause: No such file or directory (os error 2)
    hint: check the name; `-` reads standard input
    ");
    assert_snapshot!(sandbox.dedust(&["normalize", "."]), @r"
    exit 2
    --- stderr
    error: . is a directory, expected a file (name the files in it, such as ./*)
    ");
    assert_snapshot!(sandbox.dedust(&["evaluate", "-", "-"]), @r"
    exit 2
    --- stderr
    error: both the rules and the URLs are to come from standard input
    hint: name the file of at least one
    ");
}
