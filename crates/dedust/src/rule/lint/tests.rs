use super::*;

fn problems(text: &str) -> Vec<String> {
    let problems = lint(text);
    let has_errors = problems.iter().any(|problem| problem.is_error);
    assert_eq!(has_errors, RuleSet::load(text.as_bytes()).is_err(), "what has errors cannot be loaded");
    problems.iter().map(|problem| format!("{}: {problem}", problem.line)).collect()
}

#[test]
fn every_problem_is_found_with_its_line() {
    let text = r#"{
  "version": 1,
  "sites": {
    "a.example": {
      "rules": [
        { "change": [{ "dorp": "q.sid" }] },
        { "change": [{ "drop": "q.s" }], "pinned": {} },
        {
          "change": [{ "drop": "q.t" }],
          "colour": "red"
        },
        { "change": [], "pinned": {} },
        { "when": { "q.s": { "is": "1" } }, "change": [{ "drop": "q.t" }], "pinned": {} }
      ]
    },
    "b.example": { "hosts": ["c.example"], "rule": [] },
    "HTTP://c.example": { "rules": [] }
  }
}"#;
    assert_eq!(
        problems(text),
        [
            "6: error: rule 0 of `a.example`: unknown variant `dorp`, expected one of `drop`, `forget`, `forget_path`, \
             `map`, `fold`, `set`, `path`, `unrepeat`, `unrepeat_params`, `split_params`, `order`, `replace`",
            "10: error: rule 2 of `a.example`: unknown field `colour`, expected one of `says`, `when`, `closed`, `change`, \
             `last`, `fetchable`, `evidence`, `off`, `pinned`",
            "12: error: rule 3 of `a.example`: there is no change, expected one unless the rule is the last",
            "13: error: rule 4 of `a.example`: it is never made: rule 1 takes `q.s` away first",
            "13: warning: rule 4 of `a.example`: asks for `q.s`, which rule 1 drops from some URLs before",
            "16: error: site `b.example`: unknown field `rule`, expected `rules`, `hosts`, `summary`, `refused` or `mirror`",
            "16: error: site `b.example`: `c.example` is no host of the site, in lower case and without `www.`",
            "17: error: site `HTTP://c.example`: `HTTP://c.example` is no host name in lower case",
        ]
    );
}

#[test]
fn doubts_are_no_errors() {
    let text = r#"{"version": 1, "sites": {
        "www.a.example": {"rules": [
            {"change": [{"order": []}], "pinned": {}},
            {"when": {"q.a": {"one_of": []}}, "change": [{"drop": "q.b"}], "pinned": {}},
            {"change": [{"drop": "q.c"}]},
            {"when": {"path_0": {"is": "x"}}, "change": [{"drop": "q.s"}], "pinned": {}},
            {"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}], "pinned": {}}]}}}"#;
    assert_eq!(
        problems(text),
        [
            "2: warning: site `www.a.example`: no registrable domain, so its rules hold on this host alone; the site of all \
             hosts beside it is `a.example`",
            "3: warning: rule 0 of `www.a.example`: changes nothing",
            "4: warning: rule 1 of `www.a.example`: is never made: `q.a` is to be one of no values",
            "5: warning: rule 2 of `www.a.example`: has no evidence and is not pinned, so `learn --keep` would not keep it",
            "7: warning: rule 4 of `www.a.example`: asks for `q.s`, which rule 3 drops from some URLs before",
        ]
    );
}

#[test]
fn what_is_no_rule_file_is_one_error() {
    for (text, expected) in [
        ("", "1: error: EOF while parsing a value"),
        ("[]", "1: error: invalid type: sequence, expected an object"),
        ("{\n\"version\": 1,\n\"sites\": {,}}", "3: error: key must be a string"),
        (r#"{"version": 3, "sites": {}}"#, "1: error: version 3 is not known, expected 1"),
        (r#"{"version": 1}"#, "1: error: `sites` is missing"),
        (
            "{\n\"version\": 1,\n\"options\": 7, \"sites\": {}}",
            "3: error: `options` is no object of at most 1024 KiB of JSON",
        ),
        (
            r#"{"version": 1, "sites": {"a.example": {}, "a.example": {}}}"#,
            "1: error: `a.example` is there twice",
        ),
        (r#"{"version": 2, "sites": {}}"#, "1: error: version 2 is not known, expected 1"),
    ] {
        let found = lint(text).into_iter().filter(|problem| problem.is_error);
        let found: Vec<String> = found.map(|problem| format!("{}: {problem}", problem.line)).collect();
        assert_eq!(found, [expected], "{text}");
    }
}

#[test]
fn a_file_without_a_version_can_be_loaded() {
    assert_eq!(problems(r#"{"sites": {}}"#), ["1: warning: `version` is missing; this is version 1"]);
}

#[test]
fn a_file_without_problems_has_none() {
    let text =
        r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.s"}], "pinned": {}}]}}}"#;
    assert_eq!(problems(text), [""; 0]);
}
