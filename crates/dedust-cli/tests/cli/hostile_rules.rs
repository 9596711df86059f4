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
        r#"{{"when": {{"path_0": {{"is": "{from}"}}}}, "change": [{{"path": [{{"text": "{to}"}}]}}], "fetchable": true, {EVIDENCE}}}"#
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
                "rules": [{{"change": [{{"drop": "q.s"}}], {evidence}}}], "refused": [{refused}]}}}}}}"#
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
      cause: rule file has format version 99, this build reads version 1
    hint: upgrade dedust, or learn the rules again with this version
    ");
}

#[test]
fn a_malformed_rule() {
    let rules = format!("{}, {{\"when\": 7}}", move_path("x", "y"));
    assert_snapshot!(load(site(&rules)), @"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: rule 1 of site `a.example` is malformed
      cause: invalid type: integer `7`, expected a map at line 1 column 10
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
fn a_field_that_nobody_knows() {
    let rule = move_path("x", "y");
    let rules = [rule.clone(), rule.replacen("\"when\"", "\"colour\": \"red\", \"when\"", 1)].join(",");
    assert_snapshot!(load(site(&rules)), @"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: rule 1 of site `a.example` is malformed
      cause: unknown field `colour`, expected one of `says`, `when`, `closed`, `change`, `last`, `fetchable`, `evidence`, `off`, `pinned` at line 1 column 9
    hint: correct or remove it in the file (rules are counted from 0), or learn the rules again
    ");
    assert_snapshot!(load(r#"{"version": 1, "colour": "red", "sites": {}}"#), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: unknown field `colour`, expected `version`, `method`, `options` or `sites`
    hint: remove it, or correct its name; a newer version of dedust may know it
    ");
    assert_snapshot!(load(r#"{"version": 1, "sites": {"a.example": {"rule": []}}}"#), @"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: site `a.example` is malformed
      cause: unknown field `rule`, expected one of `summary`, `hosts`, `rules`, `refused`, `mirror`, `canonical_urls` at line 1 column 7
    hint: correct or remove it in the file (rules are counted from 0), or learn the rules again
    ");
}

#[test]
fn a_site_that_is_there_twice() {
    assert_snapshot!(load(r#"{"version": 1, "sites": {"a.example": {}, "b.example": {}, "a.example": {}}}"#), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: site `a.example` is there twice
    hint: keep one of the two in the file
    ");
}

/// Runs every command that applies rules, and `compile` last, with the same rules.
fn each_command(rules: &str, flags: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", rules);
    sandbox.write("crawl.jsonl", "{\"url\": \"http://a.example/?p0=1\", \"cluster\": \"x\"}\n");
    sandbox.write("urls.txt", "http://a.example/?p0=1\n");
    let commands = [
        &["normalize", "rules.json", "urls.txt"][..],
        &["dedup", "rules.json", "urls.txt"],
        &["evaluate", "rules.json", "crawl.jsonl"],
        &["explain", "rules.json", "http://a.example/?p0=1"],
        &["compile", "rules.json", "-o", "rules.bin"],
    ];
    let said = |command: &&[&str]| {
        let flags = if command[0] == "compile" { &[] } else { flags };
        let run = sandbox.run(&[command, flags].concat());
        assert_eq!(run.status.code(), Some(0), "{command:?}");
        String::from_utf8(run.stderr).unwrap()
    };
    commands.iter().map(said).collect()
}

#[test]
fn sites_that_are_too_large_are_told_by_every_command() {
    // Texts have room for less than 64 KiB.
    let value = "x".repeat(70_000);
    let rule = format!(
        r#"{{"change": [{{"map": {{"of": "q.p0", "values": [{{"is": "{value}"}}]}}}}], {EVIDENCE}}}"#
    );
    let rules = format!(r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{rule}]}}}}}}"#);
    let said = each_command(&rules, &[]);
    assert_eq!(said[..4], vec![said[0].clone(); 4]);
    assert_snapshot!(said[0], @r"
    warning: 1 site of rules.json left out as too large to be compiled: a.example; URLs of such a site stay as they are
    hint: remove some rules of these sites, or learn them again from fewer URLs
    ");
    assert!(said[4].ends_with(&said[0]), "{}", said[4]);

    let sandbox = Sandbox::new();
    sandbox.write("rules.json", rules);
    sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]);
    assert_snapshot!(sandbox.dedust_with(&["normalize", "rules.bin"], "http://a.example/?p0=1\n"), @r"
    exit 0
    --- stdout
    http://a.example/?p0=1
    --- stderr
    warning: 1 site was left out when rules.bin was compiled; URLs of such a site stay as they are
    hint: compile the rule file again to see which they are, and why
    ");
}

#[test]
fn rules_that_need_too_much_memory_are_refused_with_the_limit() {
    let sandbox = Sandbox::new();
    let rule = format!(r#"{{"change": [{{"drop": "q.s"}}], {EVIDENCE}}}"#);
    let sites: Vec<String> =
        (0..4000).map(|number| format!(r#""site-{number}.example": {{"rules": [{rule}]}}"#)).collect();
    sandbox.write("rules.json", format!(r#"{{"version": 1, "sites": {{{}}}}}"#, sites.join(", ")));
    assert_snapshot!(sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin", "--memory", "1"]), @r"
    exit 2
    --- stderr
    error: cannot use the rules in rules.json
      cause: the rules need more than 1 MB of memory, which is the limit; 2885 sites and 834915 bytes of JSON were read
    hint: put the sites into several files, or allow more: dedust compile RULES -o RULES.bin --memory MB
    ");
    assert_snapshot!(sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin", "--memory", "2"]), @r"
    exit 0
    --- stderr
    4,000 rules of 4,000 sites
    ");
}

#[test]
fn mirrors_in_a_circle_are_told_by_every_command() {
    let mirror = |site: &str, of: &str| {
        format!(r#""{site}": {{"mirror": {{"of": "{of}", "fetchable": true, {EVIDENCE}}}}}"#)
    };
    let mirrors = [("a.example", "b.example"), ("b.example", "a.example"), ("c.example", "d.example")];
    let mirrors = mirrors.map(|(site, of)| mirror(site, of)).join(", ");
    let said = each_command(&format!(r#"{{"version": 1, "sites": {{{mirrors}}}}}"#), &["--trust-mirrors"]);
    assert_eq!(said[..4], vec![said[0].clone(); 4]);
    assert_snapshot!(said[0], @r"
    warning: 2 sites of rules.json left out as mirrors of each other, in a circle or in a row of more than eight: a.example, b.example; URLs of such a site stay as they are
    hint: remove one of these mirrors from the file, or name the original in each of them
    ");
    assert!(said[4].ends_with(&said[0]), "{}", said[4]);
}

/// What `docs/security.md` says of mirrors: a page that only the mirror was seen with stands for that of the original.
#[test]
fn a_trusted_mirror_stands_for_pages_of_its_original() {
    let sandbox = Sandbox::new();
    let mirror = format!(
        r#""a.example": {{"mirror": {{"of": "b.example", "except": ["own"], "fetchable": true, {EVIDENCE}}}}}"#
    );
    sandbox.write("rules.json", format!(r#"{{"version": 1, "sites": {{{mirror}}}}}"#));
    let urls =
        ["http://a.example/new", "http://b.example/new", "http://a.example/own", "http://b.example/own"];
    let printed = |flags: &[&str]| {
        let said =
            sandbox.dedust_with(&[&["dedup", "rules.json"], flags].concat(), &(urls.join("\n") + "\n"));
        urls.map(|url| said.lines().any(|line| line == url))
    };
    assert_eq!(printed(&[]), [true, true, true, true]);
    assert_eq!(printed(&["--trust-mirrors"]), [true, false, true, true]);
}

#[test]
fn mirrors_are_applied_only_where_they_are_trusted() {
    let mirror = |site: &str| {
        format!(r#""{site}": {{"mirror": {{"of": "evil.example", "fetchable": true, {EVIDENCE}}}}}"#)
    };
    let rules = format!(r#"{{"version": 1, "sites": {{{}, {}}}}}"#, mirror("a.example"), mirror("b.example"));
    let said = each_command(&rules, &[]);
    assert_eq!(said[..4], vec![said[0].clone(); 4]);
    assert_snapshot!(said[0], @r"
    warning: 2 mirrors in rules.json are not applied: URLs of one domain would become URLs of another
    hint: if you learned these rules yourself, or trust whoever did, add --trust-mirrors
    ");
    assert_eq!(each_command(&rules, &["--trust-mirrors"])[..4], ["", "", "", ""]);

    let sandbox = Sandbox::new();
    sandbox.write("rules.json", rules);
    sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]);
    for rules in ["rules.json", "rules.bin"] {
        let normalize = |flags: &[&str]| {
            let run = sandbox.run_with(&[&["normalize", rules], flags].concat(), b"http://a.example/x\n");
            String::from_utf8(run.stdout).unwrap()
        };
        assert_eq!(normalize(&[]), "http://a.example/x\n", "{rules}");
        assert_eq!(normalize(&["--key"]), "http://a.example/x\n", "{rules}");
        assert_eq!(normalize(&["--trust-mirrors"]), "http://evil.example/x\n", "{rules}");
    }
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
