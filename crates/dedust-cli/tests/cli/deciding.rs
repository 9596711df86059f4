/*!
`dedust rules`: what people decide about rules, and what comes of it.
*/

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::{Sandbox, shop};

/// Two rules with evidence and one by hand. Ids: 1bcc19fb drops `sid`, e1648699 drops `ref`, 39902407 drops `x`.
const RULES: &str = r#"{"version": 1, "method": "by hand", "sites": {
  "a.example": {"rules": [
    {"change": [{"drop": "q.ref"}], "evidence": {"urls": 90, "support_pairs": 40, "false_pairs": 0, "groups": 20,
      "failed_groups": 0, "failure_bound": 0.1391, "kinds": ["digest"], "trust": "proven"}},
    {"change": [{"drop": "q.sid"}], "fetchable": true, "evidence": {"urls": 190, "support_pairs": 60, "false_pairs": 0,
      "groups": 30, "failed_groups": 0, "failure_bound": 0.095, "kinds": ["digest"],
      "examples": [{"url": "http://a.example/p?sid=1", "duplicate": "http://a.example/p?sid=2"}]}}]},
  "b.example": {"rules": [{"change": [{"drop": "q.x"}]}]}}}"#;

const URLS: &str = "http://a.example/p?id=1&sid=2\nhttp://a.example/p?id=1&sid=3\nhttp://a.example/p?id=2\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", RULES);
    sandbox.write("urls.txt", URLS);
    sandbox
}

/// A decision of which nothing depends on who runs the test, and when.
const SIGNED: [&str; 6] = ["--by", "anna", "--at", "2026-11-16T12:00:00Z", "--why", "breaks the search"];

fn decide(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.dedust(&[&["rules"], args, &SIGNED[..]].concat())
}

fn lines_of(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let run = sandbox.run(args);
    let lines = String::from_utf8(run.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rules_are_listed_by_what_they_save_and_risk() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.dedust(&["rules", "list", "rules.json"]), @r"
    exit 0
    --- stdout
    site       id        URLs  groups  failed  wrong at most  trust    state    rule
    a.example  1bcc19fb   190      30       0          9.5 %  learned  applied  `sid` does not matter
    a.example  e1648699    90      20       0         13.9 %  proven   applied  `ref` does not matter
    b.example  39902407     -       -       -              -  by hand  applied  `x` does not matter
    --- stderr
    3 rules: 3 applied, 0 off, 0 pinned
    ");
    let ids = |args: &[&str]| -> Vec<String> {
        let lines =
            lines_of(&sandbox, &[&["rules", "list", "rules.json", "--format", "json"], args].concat());
        lines.iter().filter_map(|line| Some(line["id"].as_str()?.to_owned())).collect()
    };
    assert_eq!(ids(&["--sort", "risk"]), ["39902407", "e1648699", "1bcc19fb"]);
    assert_eq!(ids(&["--sort", "site"]), ["e1648699", "1bcc19fb", "39902407"]);
    assert_eq!(ids(&["--site", "b.example"]), ["39902407"]);
    assert_snapshot!(sandbox.dedust(&["rules", "list", "rules.json", "--site", "c.example"]), @r"
    exit 2
    --- stderr
    error: the rule file has no site `c.example`
    hint: sites are named by their registrable domain, here a.example, b.example
    ");
}

#[test]
fn a_rule_is_shown_with_all_that_is_known_of_it() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.dedust(&["rules", "show", "rules.json", "a.example", "1B"]), @r"
    exit 0
    --- stdout
    1bcc19fb  rule 1, learned, applied
      `sid` does not matter
      190 URLs covered, 0 of 30 groups failed: at most 9.5 % wrong
      duplicates known by digest
      in keys and canonical URLs
      e.g. http://a.example/p?sid=1 = http://a.example/p?sid=2
    ");
    let shown = lines_of(&sandbox, &["rules", "show", "rules.json", "a.example", "1b", "--format", "json"]);
    assert_eq!(shown[0]["rule"]["change"][0]["drop"], "q.sid");
    let site = sandbox.dedust(&["rules", "show", "rules.json", "a.example"]);
    assert!(
        site.contains("a.example: 2 rules, 2 applied") && site.contains("`ref` does not matter"),
        "{site}"
    );
}

#[test]
fn a_rule_that_is_off_is_applied_by_no_command() {
    let sandbox = sandbox();
    assert_snapshot!(decide(&sandbox, &["off", "rules.json", "a.example", "1bcc"]), @r"
    exit 0
    --- stderr
    1bcc19fb is off: `sid` does not matter
    1 rule changed in rules.json
    ");
    let file: Value = serde_json::from_str(&sandbox.read("rules.json")).unwrap();
    assert_eq!(
        file["sites"]["a.example"]["rules"][1]["off"],
        serde_json::json!({"by": "anna", "at": "2026-11-16T12:00:00Z", "why": "breaks the search"})
    );
    let compile = sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]);
    assert_eq!(compile.stderr, b"2 rules of 2 sites\n");
    for rules in ["rules.json", "rules.bin"] {
        let keys = sandbox.run(&["normalize", rules, "urls.txt", "--key"]);
        assert_eq!(String::from_utf8(keys.stdout).unwrap(), URLS, "{rules}");
        let new = sandbox.run(&["dedup", rules, "urls.txt"]);
        assert_eq!(String::from_utf8(new.stdout).unwrap(), URLS, "{rules}");
    }
    assert_snapshot!(sandbox.dedust(&["explain", "rules.json", "http://a.example/p?id=1&sid=2"]), @r"
    exit 0
    --- stdout
    http://a.example/p?id=1&sid=2
      safe form  http://a.example/p?id=1&sid=2
      site       a.example, 2 rules, 1 of them off
      rules      none concerns it, as no URLs like it were proven to be duplicates; it stays in its safe form
      off        1 of 2, 1bcc19fb: `sid` does not matter
                 turned off by anna on 2026-11-16: breaks the search
      key        http://a.example/p?id=1&sid=2
      canonical  http://a.example/p?id=1&sid=2
    ");
    let explained =
        lines_of(&sandbox, &["explain", "rules.json", "http://a.example/?sid=2", "--format", "json"]);
    assert_eq!(explained[0]["off"][0]["off"]["by"], "anna");
    sandbox.write("labelled.jsonl", "{\"url\":\"http://a.example/p?sid=1\",\"cluster\":\"1\"}\n");
    let shown = sandbox.dedust(&["evaluate", "rules.json", "labelled.jsonl", "--show", "a.example"]);
    assert!(shown.contains("off by anna on 2026-11-16: breaks the search"), "{shown}");

    assert_snapshot!(decide(&sandbox, &["off", "rules.json", "a.example", "1bcc"]), @r"
    exit 0
    --- stderr
    1bcc19fb is off already: `sid` does not matter
    nothing to change in rules.json
    ");
    assert_snapshot!(decide(&sandbox, &["on", "rules.json", "a.example", "1bcc"]), @r"
    exit 0
    --- stderr
    1bcc19fb is on: `sid` does not matter
    1 rule changed in rules.json
    ");
    let keys = sandbox.run(&["normalize", "rules.json", "urls.txt", "--key"]);
    assert_eq!(keys.stdout, b"http://a.example/p?id=1\nhttp://a.example/p?id=1\nhttp://a.example/p?id=2\n");
}

#[test]
fn all_rules_of_a_site_are_decided_at_once() {
    let sandbox = sandbox();
    assert_snapshot!(decide(&sandbox, &["pin", "rules.json", "a.example", "--all"]), @r"
    exit 0
    --- stderr
    e1648699 is pinned: `ref` does not matter
    1bcc19fb is pinned: `sid` does not matter
    2 rules changed in rules.json
    ");
    let listed = lines_of(&sandbox, &["rules", "list", "rules.json", "--format", "json"]);
    assert_eq!(listed[3]["pinned"], 2);
    decide(&sandbox, &["unpin", "rules.json", "a.example", "e1", "1b"]);
    let listed = lines_of(&sandbox, &["rules", "list", "rules.json", "--format", "json"]);
    assert_eq!(listed[3]["pinned"], 0);
}

#[test]
fn an_id_that_names_no_rule_or_several_is_refused_with_the_candidates() {
    let sandbox = sandbox();
    sandbox.write(
        "rules.json",
        r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}, {"change": [{"drop": "q.s7"}]},
            {"change": [{"drop": "q.x"}]}]}}}"#,
    );
    let before = sandbox.read("rules.json");
    assert_snapshot!(decide(&sandbox, &["off", "rules.json", "a.example", "ff"]), @r"
    exit 2
    --- stderr
    error: no rule of `a.example` has an id that starts with `ff`
    hint: its rules are 1bcc19fb (`sid` does not matter), fc548881 (`s7` does not matter), 39902407 (`x` does not matter)
    ");
    for args in [&["off", "rules.json", "a.example", ""][..], &["off", "rules.json", "a.example"]] {
        assert!(decide(&sandbox, args).starts_with("exit 2"), "{args:?}");
    }
    assert_eq!(sandbox.read("rules.json"), before);
    // Of seventeen ids, two start with the same digit.
    let rules: Vec<String> = (0..17).map(|at| format!(r#"{{"change": [{{"drop": "q.p{at}"}}]}}"#)).collect();
    let rules = format!(r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{}]}}}}}}"#, rules.join(","));
    sandbox.write("many.json", rules);
    let ambiguous = (0..16)
        .map(|digit| decide(&sandbox, &["off", "many.json", "a.example", &format!("{digit:x}")]))
        .find(|said| said.contains("is the beginning of"));
    assert!(ambiguous.unwrap().contains("hint: give more digits: "));
}

#[test]
fn a_rule_by_hand_is_checked_and_pinned() {
    let sandbox = sandbox();
    assert_snapshot!(decide(&sandbox, &["add", "rules.json", "c.example", "--drop", "q.z", "--fetchable"]), @r"
    exit 0
    --- stderr
    66f3e778 added: `z` does not matter
    rules.json has the new site c.example
    ");
    let urls = "http://c.example/?z=1\nhttp://c.example/?y=1\n";
    let normalized = sandbox.run_with(&["normalize", "rules.json"], urls.as_bytes());
    assert_eq!(normalized.stdout, b"http://c.example/\nhttp://c.example/?y=1\n");
    let lower = br#"{"change": [{"fold": {"of": "path", "to": "lowercase"}}]}"#;
    let args = ["rules", "add", "rules.json", "c.example", "--json", "-"];
    assert_eq!(sandbox.run_with(&args, lower).status.code(), Some(0));
    let keys = sandbox.run_with(&["normalize", "rules.json", "--key"], b"http://c.example/A\n");
    assert_eq!(keys.stdout, b"http://c.example/a\n");
    let listed =
        lines_of(&sandbox, &["rules", "list", "rules.json", "--site", "c.example", "--format", "json"]);
    assert_eq!(listed[0]["pinned"]["why"], "breaks the search");
    assert_eq!(listed[1]["state"], "pinned");

    let before = sandbox.read("rules.json");
    assert_snapshot!(decide(&sandbox, &["add", "rules.json", "a.example", "--drop", "q.sid"]), @r"
    exit 2
    --- stderr
    error: `a.example` has this rule already, as 1bcc19fb
    hint: dedust rules pin rules.json a.example 1bcc19fb
    ");
    assert_snapshot!(decide(&sandbox, &["add", "rules.json", "a.example", "--drop", "sid"]), @r"
    exit 2
    --- stderr
    error: --drop sid: `sid` is no key; keys are scheme, sub_N, port, path_N, tslash, mp.NAME, sep, q.NAME, hashbang
    hint: parts are named as q.sid, mp.s, path_0, last_0, sub_0, port or tslash; docs/rules.md has all of them
    ");
    let never = br#"{"when": {"q.sid": {"is": "1"}}, "change": [{"drop": "q.y"}]}"#;
    let args = ["rules", "add", "rules.json", "a.example", "--json", "-"];
    assert_snapshot!(sandbox.dedust_with(&args, never), @r"
    exit 2
    --- stderr
    error: the rules of `a.example` would be refused: rule 2 is invalid: it is never made: rule 1 takes `q.sid` away first
    hint: nothing was written; rule 1 is 1bcc19fb (`sid` does not matter), rule 2 is 43a6f63a (where `sid` is `1`: `y` does not matter)
    ");
    assert_snapshot!(sandbox.dedust_with(&args, "{\"change\": []"), @r#"
    exit 2
    --- stderr
    error: standard input has no rule: EOF while parsing an object at line 1 column 13
    hint: a rule looks like this: {"change": [{"drop": "q.sid"}]}; docs/rules.md has all of them
    "#);
    assert_eq!(sandbox.read("rules.json"), before);
}

#[test]
fn files_that_cannot_be_changed_are_refused() {
    let sandbox = sandbox();
    sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]);
    assert_snapshot!(decide(&sandbox, &["off", "rules.bin", "a.example", "--all"]), @r"
    exit 2
    --- stderr
    error: rules.bin holds compiled rules, which have no evidence
    hint: name the rule file that they were compiled from
    ");
    assert!(decide(&sandbox, &["off", "-", "a.example", "--all"]).contains("hint: name a file"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, RULES.as_bytes()).unwrap();
    sandbox.write("rules.json.gz", packed.finish().unwrap());
    let said = decide(&sandbox, &["off", "rules.json.gz", "a.example", "--all"]);
    assert!(said.contains("error: rules.json.gz is compressed, and rules are written plain"), "{said}");
    let said = sandbox.dedust(&["rules", "off", "rules.json", "a.example", "--all", "--at", "monday"]);
    assert!(said.contains("error: --at: `monday` is no time such as 2026-11-16T12:00:00Z"), "{said}");
    assert_eq!(sandbox.read("rules.json"), RULES);
}

/// Visits of 40 products under three session ids each.
fn visits() -> String {
    shop().into_iter().filter(|row| row.contains("/view?")).collect()
}

#[test]
fn decisions_and_verdicts_outlive_learning() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", visits());
    sandbox.run(&["learn", "crawl.jsonl", "-o", "rules.json"]);
    decide(&sandbox, &["off", "rules.json", "shop.example", "--all"]);
    decide(&sandbox, &["add", "rules.json", "shop.example", "--drop", "q.ref"]);
    decide(&sandbox, &["add", "rules.json", "other.example", "--drop", "q.s"]);
    let before = sandbox.read("rules.json");
    let again = ["learn", "crawl.jsonl", "-o", "rules.json", "--force", "--keep", "rules.json"];
    let said = sandbox.dedust(&again);
    let kept =
        "kept of rules.json: 1 rule off, 2 rules pinned, 0 verdicts; the figures are of what was learned";
    assert!(said.contains(kept), "{said}");
    assert!(said.contains("rule 0: [proven] [off] `sid` does not matter"), "{said}");
    assert_eq!(
        sandbox.read("rules.json").replace("by hand", "canonfd"),
        before,
        "the same crawl, the same rules"
    );
    let urls = "http://www.shop.example/view?id=1&ref=2&sid=3\nhttp://other.example/?s=1&t=2\n";
    let keys = sandbox.run_with(&["normalize", "rules.json", "--key"], urls.as_bytes());
    assert_eq!(
        String::from_utf8(keys.stdout).unwrap(),
        "http://www.shop.example/view?id=1&sid=3\nhttp://other.example/?t=2\n"
    );
    assert!(
        sandbox
            .dedust(&["learn", "crawl.jsonl", "-o", "x.json", "--keep", "none.json"])
            .starts_with("exit 2")
    );
}

#[test]
fn a_learned_rule_gives_way_to_a_pinned_one_with_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", visits());
    let pinned = r#"{"version": 1, "sites": {"shop.example": {"rules": [
        {"when": {"q.sid": {"is": "1"}}, "change": [{"drop": "q.id"}], "pinned": {}}]}}}"#;
    sandbox.write("old.json", pinned);
    let said = sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json", "--keep", "old.json"]);
    assert!(
        said.contains(
            "warning: shop.example: the learned rule is left out, since it cannot stand beside a pinned rule: 1bcc19fb (`sid` \
             does not matter): rule 1 is invalid: it is never made: rule 0 takes `q.sid` away first"
        ),
        "{said}"
    );
    let keys =
        sandbox.run_with(&["normalize", "rules.json", "--key"], b"http://www.shop.example/view?id=1&sid=3\n");
    assert_eq!(keys.stdout, b"http://www.shop.example/view?id=1&sid=3\n");
}

#[test]
fn differences_are_told_and_are_an_answer_of_no() {
    let sandbox = sandbox();
    fs::copy(sandbox.path("rules.json"), sandbox.path("old.json")).unwrap();
    assert_eq!(sandbox.dedust(&["rules", "diff", "old.json", "rules.json"]), "exit 0\n");
    decide(&sandbox, &["off", "rules.json", "a.example", "1bcc"]);
    decide(&sandbox, &["add", "rules.json", "b.example", "--drop", "q.y"]);
    assert_snapshot!(sandbox.dedust(&["rules", "diff", "old.json", "rules.json", "urls.txt"]), @r"
    exit 1
    --- stdout
    a.example
      ~ 1bcc19fb applied -> off: `sid` does not matter
    b.example
      + 2d17f834 pinned, in keys only: `y` does not matter
    http://a.example/p?id=1&sid=2
      - http://a.example/p?id=1
      + http://a.example/p?id=1&sid=2
    http://a.example/p?id=1&sid=3
      - http://a.example/p?id=1
      + http://a.example/p?id=1&sid=3
    a.example: 2 of 3 URLs have other keys
    --- stderr
    2 of 3 URLs have other keys
    ");
    let lines =
        lines_of(&sandbox, &["rules", "diff", "rules.json", "old.json", "urls.txt", "--format", "json"]);
    assert_eq!(lines[0]["after"], "applied");
    assert_eq!(lines[2]["after"], "http://a.example/p?id=1");
    let mixed = "no url\nhttp://a.example/\nhttp://b.example/\n";
    let said = sandbox.dedust_with(&["rules", "diff", "old.json", "old.json", "-"], mixed);
    assert_snapshot!(said, @r"
    exit 0
    --- stderr
    warning: standard input:1: no scheme, expected one such as `http:` at the start, left out: no url
    warning: 1 row of standard input skipped
    0 of 2 URLs have other keys
    ");
    assert_eq!(lines[4], serde_json::json!({"type": "urls", "site": "a.example", "urls": 3, "changed": 2}));
}

#[test]
fn files_are_merged_with_their_decisions() {
    let sandbox = sandbox();
    fs::copy(sandbox.path("rules.json"), sandbox.path("theirs.json")).unwrap();
    decide(&sandbox, &["off", "theirs.json", "a.example", "1bcc"]);
    decide(&sandbox, &["add", "theirs.json", "c.example", "--drop", "q.z"]);
    assert_snapshot!(sandbox.dedust(&["rules", "merge", "rules.json", "theirs.json", "-o", "both.json"]), @r"
    exit 0
    --- stderr
    a.example 1bcc19fb: off in one file and not in the other, now off: `sid` does not matter
    4 rules of 3 sites written to both.json
    ");
    assert_eq!(sandbox.dedust(&["rules", "diff", "theirs.json", "both.json"]), "exit 0\n");
    assert!(
        sandbox
            .dedust(&["rules", "merge", "rules.json", "theirs.json", "-o", "both.json"])
            .starts_with("exit 2")
    );
}

#[test]
fn rules_that_contradict_each_other_are_named_unless_a_file_is_preferred() {
    let sandbox = sandbox();
    let theirs = r#"{"version": 1, "sites": {"a.example": {"rules": [
        {"when": {"q.sid": {"is": "1"}}, "change": [{"drop": "q.y"}]}]}}}"#;
    sandbox.write("theirs.json", theirs);
    let merge = ["rules", "merge", "rules.json", "theirs.json", "-o", "both.json"];
    assert_snapshot!(sandbox.dedust(&merge), @r"
    exit 1
    --- stderr
    error: the rules of `a.example` would be refused: rule 2 is invalid: it is never made: rule 1 takes `q.sid` away first
    hint: nothing was written; rule 1 is 1bcc19fb (`sid` does not matter), rule 2 is 43a6f63a (where `sid` is `1`: `y` does not matter)
    nothing was written: 1 site cannot be united
    hint: turn off one rule of each pair, or choose a file for such sites: --prefer first or second
    ");
    assert!(!sandbox.path("both.json").exists());
    let prefer = [&merge[..], &["--prefer", "second"]].concat();
    assert_eq!(sandbox.run(&prefer).status.code(), Some(0));
    let keys = sandbox.run_with(&["normalize", "both.json", "--key"], b"http://a.example/?sid=1&y=2\n");
    assert_eq!(keys.stdout, b"http://a.example/?sid=1\n");
}

#[test]
fn every_problem_of_a_file_is_told_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "rules.json",
        "{\"version\": 1, \"sites\": {\"a.example\": {\"rules\": [\n{\"change\": []},\n{\"change\": [{\"drop\": \"q.s\"}]},\n\
         {\"change\": [{\"drop\": \"sid\"}]}]}}}",
    );
    assert_snapshot!(sandbox.dedust(&["rules", "lint", "rules.json"]), @"
    exit 1
    --- stdout
    rules.json:2: error: rule 0 of `a.example`: there is no change, expected one unless the rule is the last
    rules.json:2: warning: rule 0 of `a.example`: has no evidence and is not pinned, so `learn --keep` would not keep it
    rules.json:3: warning: rule 1 of `a.example`: has no evidence and is not pinned, so `learn --keep` would not keep it
    rules.json:4: error: rule 2 of `a.example`: `sid` is no key; keys are scheme, sub_N, port, path_N, tslash, mp.NAME, sep, q.NAME, hashbang
    --- stderr
    2 errors, 2 warnings
    ");
    let lines = lines_of(&sandbox, &["rules", "lint", "rules.json", "--format", "json"]);
    assert_eq!((&lines[0]["line"], &lines[0]["rule"]), (&Value::from(2), &Value::from(0)));
    sandbox.write("good.json", RULES);
    let said = sandbox.dedust(&["rules", "lint", "good.json"]);
    assert!(said.starts_with("exit 0") && said.contains("0 errors, 1 warning"), "{said}");
    sandbox.write("bad.json", b"{\n\"\xff\"}");
    let said = sandbox.dedust(&["rules", "lint", "bad.json"]);
    assert!(said.contains("error: bad.json:2: not UTF-8"), "{said}");
}

#[test]
fn rules_on_trial_change_nothing_and_say_what_they_would_do() {
    let sandbox = sandbox();
    let in_use = r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.ref"}]}]}}}"#;
    sandbox.write("in-use.json", in_use);
    sandbox.write("urls.txt", URLS.to_owned() + "http://a.example/p?id=2&ref=3\nhttp://a.example/p?id=1\n");
    let plain = sandbox.run(&["dedup", "in-use.json", "urls.txt"]);
    let trial = ["dedup", "in-use.json", "urls.txt", "--shadow", "rules.json"];
    assert_eq!(sandbox.run(&trial).stdout, plain.stdout);
    assert_snapshot!(sandbox.dedust(&trial), @r"
    exit 0
    --- stdout
    http://a.example/p?id=1&sid=2
    http://a.example/p?id=1&sid=3
    http://a.example/p?id=2
    http://a.example/p?id=1
    --- stderr
    with rules.json, 2 of 4 printed URLs would have been left out too, 50.0 %
      2 by a.example 1bcc19fb, `sid` does not matter
        http://a.example/p?id=1&sid=3
        = http://a.example/p?id=1&sid=2
        http://a.example/p?id=1
        = http://a.example/p?id=1&sid=2
    ");
    let lines = lines_of(&sandbox, &[&trial[..], &["--format", "json", "--stats"]].concat());
    assert_eq!(lines[4]["type"], "shadow_rule");
    assert_eq!(lines[4]["left_out"], 2);
    assert_eq!(lines[5], serde_json::json!({"type": "shadow", "printed": 4, "left_out": 2, "kept": 0}));
    assert_eq!(lines[6]["type"], "stats");
    // The other way round, the rules on trial would print more.
    let less = lines_of(
        &sandbox,
        &["dedup", "rules.json", "urls.txt", "--shadow", "in-use.json", "--format", "json"],
    );
    let figures = less.last().unwrap();
    assert_eq!((&figures["left_out"], &figures["kept"]), (&Value::from(0), &Value::from(2)));
}

#[test]
fn rules_on_trial_take_tables_and_leave_the_seen_set_alone() {
    let sandbox = sandbox();
    sandbox.write(
        "rows.jsonl",
        "{\"url\":\"http://a.example/p?sid=1\"}\n{\"url\":\"http://a.example/p?sid=2\"}\n",
    );
    sandbox.write("none.json", r#"{"version": 1, "sites": {}}"#);
    sandbox.run(&["compile", "rules.json", "-o", "rules.bin"]);
    let args = ["dedup", "none.json", "rows.jsonl", "--seen", "seen", "--shadow", "rules.bin"];
    let said = sandbox.dedust(&args);
    assert!(
        said.contains("with rules.bin, 1 of 2 printed URLs would have been left out too, 50.0 %"),
        "{said}"
    );
    assert!(said.contains("1 by a.example rule 1"), "{said}");
    let again = sandbox.run(&["dedup", "none.json", "rows.jsonl", "--seen", "seen"]);
    assert_eq!(again.stdout, b"", "both rows were seen by the rules in use");
}
