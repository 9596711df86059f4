//! Rule files are saved as they were loaded, and do what they did; files that make no sense are refused by name.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::fs;
use std::path::Path;

use dedust::errors::{LoadRulesError, with_causes};
use dedust::rules::Prefer;
use dedust::{LeftOut, LeftOutReason, Normalizer, RuleSet};

fn test_file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rules");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn saved(rules: &RuleSet) -> String {
    let mut saved = Vec::new();
    rules.save(&mut saved).unwrap();
    String::from_utf8(saved).unwrap()
}

fn every_operation() -> String {
    test_file("every-operation.json")
}

#[test]
fn a_file_is_saved_as_it_was_loaded() {
    for name in ["every-operation.json", "every-rule.json"] {
        let file = test_file(name);
        let rules = RuleSet::load(file.as_bytes()).unwrap();
        assert_eq!(saved(&rules), file);
    }
}

#[test]
fn rules_may_be_written_by_hand_and_in_any_order_of_fields() {
    let by_hand = r#"{"sites": {"a.example": {"rules": [{"fetchable": true, "change": [{"drop": "q.sid"}]}]}}, "version": 1}"#;
    let rules = RuleSet::load(by_hand.as_bytes()).unwrap();
    assert_eq!(rules.site("a.example").unwrap().rules()[0].to_string(), "`sid` does not matter");
    let normalizer = Normalizer::compile(&rules);
    assert_eq!(normalizer.normalize("http://a.example/?sid=1&id=2").unwrap(), "http://a.example/?id=2");
    assert_eq!(normalizer.normalize("http://a.example/?id=2").unwrap(), "http://a.example/?id=2");
}

/// What each file says in place of `RULES`, and why that makes no sense.
#[test]
fn rules_that_make_no_sense_are_refused_with_the_reason() {
    for (rules, reason) in [
        (
            r#"{"change": [{"drop": "q.s"}]}, {"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}]}"#,
            "rule 1 is invalid: it is never made: rule 0 takes `q.s` away first",
        ),
        (r#"{"change": []}"#, "rule 0 is invalid: there is no change"),
        (
            r#"{"change": [{"replace": [{"from": "a", "to": "aa"}]}]}"#,
            "rule 0 is invalid: replacing `a` by `aa` makes URLs no shorter",
        ),
        (
            r#"{"change": [{"set": {"key": "scheme", "to": [{"of": "q.s"}]}}]}"#,
            "rule 0 is invalid: `` cannot stand in `scheme`",
        ),
        (
            r#"{"change": [{"set": {"key": "path_0", "to": []}}]}"#,
            "rule 0 is invalid: `(no value)` cannot stand in `path_0`",
        ),
        (
            r#"{"when": {"last_0": {"is": "a"}}, "closed": true, "change": [{"drop": "q.s"}]}"#,
            "rule 0 is invalid: a closed rule asks for path segments from the left, not for `last_0`",
        ),
        (r#"{"change": [{"order": ["path_0"]}]}"#, "rule 0 is invalid: the order names `path_0`"),
        (
            r#"{"change": [{"set": {"key": "q.=", "to": [{"of": "q.id"}]}}]}"#,
            "rule 0 is invalid: `q.=` is a text in place of a parameter: it can be asked for, read",
        ),
        (
            r#"{"change": [{"map": {"of": "q.=", "values": [{"is": "1", "becomes": "new"}]}}]}"#,
            "rule 0 is invalid: `new` cannot stand in `q.=`",
        ),
    ] {
        let file = format!(r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{rules}]}}}}}}"#);
        let said = refusal(&file);
        assert!(said.starts_with(&format!("the rules of site `a.example` are refused: {reason}")), "{said}");
    }
}

#[test]
fn mirrors_that_make_no_sense_are_refused_with_the_reason() {
    for (site, reason) in [
        (
            r#"{"mirror": {"of": "b.example"}, "rules": []}"#,
            "are refused: a mirror of a site is nothing else",
        ),
        (
            r#"{"mirror": {"of": "b.example"}, "hosts": []}"#,
            "are refused: a mirror of a site is nothing else",
        ),
        (
            r#"{"mirror": {"of": "b.example", "except": ["a/b"]}}"#,
            "are refused: a mirror has at most 256 exceptions",
        ),
        (
            r#"{"mirror": {"of": "a.example"}}"#,
            "are refused: a mirror and the site whose pages it shows must be",
        ),
        (
            r#"{"mirror": {"site": "b.example"}}"#,
            "is malformed: unknown field `site`, expected one of `of`, `except`",
        ),
        (r#"{"mirror": null}"#, "is malformed: invalid type: null"),
        (r#"{"rules": [{"change": [{"move": "b.example"}]}]}"#, "is malformed: unknown variant `move`"),
    ] {
        let said = refusal(&format!(r#"{{"version": 1, "sites": {{"a.example": {site}}}}}"#));
        assert!(said.contains(reason), "{said}");
    }
}

/// What is misspelt in a rule, and what is said of it.
#[test]
fn misspelt_rules_are_refused_with_their_place() {
    for (rule, reason) in [
        (
            r#"{"when": {"q.s": {"si": "1"}}, "change": [{"drop": "q.t"}]}"#,
            "unknown variant `si`, expected one of `is`, `one_of`, `not`, `absent`, `any`",
        ),
        (r#"{"when": {"q.s": {"any": "digit"}}, "change": [{"drop": "q.t"}]}"#, "unknown variant `digit`"),
        (r#"{"when": {"qs": {"is": "1"}}, "change": [{"drop": "q.t"}]}"#, "`qs` is no key"),
        (
            r#"{"closed": "yes", "change": [{"drop": "q.t"}]}"#,
            "invalid value: string \"yes\", expected `true`, `false` or \"except_params\" for `closed`",
        ),
        (r#"{"change": [{"dorp": "q.t"}]}"#, "unknown variant `dorp`"),
        (r#"{"chagne": [{"drop": "q.t"}]}"#, "unknown field `chagne`"),
    ] {
        let file = format!(r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{rule}]}}}}}}"#);
        let said = refusal(&file);
        assert!(said.starts_with(&format!("rule 0 of site `a.example` is malformed: {reason}")), "{said}");
    }
}

#[test]
fn rules_do_what_they_did() {
    let rules = RuleSet::load(test_file("every-rule.json").as_bytes()).unwrap();
    let normalizer = Normalizer::compile(&rules);
    for (url, key, canonical) in [
        ("https://www.E/a/?sid=1&b=1", "http://E/a?b=one", "http://E/a/?b=one"),
        ("http://E/index.php?title=Talk:A", "http://E/wiki/p-talk/a", "http://E/wiki/p-talk/a"),
        ("http://E/thread_7.html?s=1", "http://E/view/7?s=*", "http://E/view/7?s=1"),
        ("http://E/x/y/z/?page=2&lang=de", "http://E/x/z?l=1-&start=20", "http://E/x/z/?start=20&l=1-"),
        ("http://E/a?id=007&q=a+e%CC%81", "http://E/a?id=7&q=a%20%C3%A9", "http://E/a?id=7&q=a%20%C3%A9"),
        ("http://E/a/b?do=login", "http://E/*?do=login", "http://E/a/b?do=login"),
        (
            "http://E/thread_x.html?do=show",
            "http://E/thread_x.html?do=show",
            "http://E/thread_x.html?do=show",
        ),
    ] {
        let [url, key, canonical] = [url, key, canonical].map(|text| text.replace('E', "edited.example"));
        assert_eq!(normalizer.key(&url).unwrap().to_string(), key, "{url}");
        assert_eq!(normalizer.normalize(&url).unwrap().to_string(), canonical, "{url}");
    }
}

#[test]
fn closed_rules_do_what_they_did() {
    let normalizer = Normalizer::compile(&RuleSet::load(every_operation().as_bytes()).unwrap());
    for (url, canonical) in [
        ("http://a.example/thread_7.html", "http://a.example/showthread.php?t=7"),
        ("https://www.a.example/view?x=1&sid=0123abcd&id=5", "http://a.example/view?x=1&id=5"),
        ("http://a.example/view?id=5&new", "http://a.example/view?id=5"),
        ("http://a.example/a", "http://a.example/a/?all;b=1"),
        ("http://a.example/stays?x=1", "http://a.example/stays?x=1"),
        ("http://a.example/p/index.html", "http://a.example/p/"),
        ("http://a.example/view?id=0", "http://a.example/view?id=0"),
        ("http://a.example/thread_x.html", "http://a.example/thread_x.html"),
        ("http://de.a.example/manual/intro", "http://de.a.example/manual/intro"),
    ] {
        assert_eq!(normalizer.normalize(url).unwrap(), canonical);
    }
    assert_eq!(
        normalizer.key("http://de.a.example/manual/intro").unwrap(),
        "http://*.a.example/manual/intro"
    );
}

/// The message of an error and of its causes.
fn refusal(file: &str) -> String {
    with_causes(&RuleSet::load(file.as_bytes()).unwrap_err())
}

#[test]
fn files_that_make_no_sense_are_refused_by_name() {
    let file = every_operation();
    for version in [0, 2, 3] {
        assert_eq!(
            refusal(&file.replacen("\"version\": 1", &format!("\"version\": {version}"), 1)),
            format!("rule file has format version {version}, this build reads version 1")
        );
    }
    assert_eq!(
        refusal(&file.replace("\"to\": \"\"", "\"to\": \"index.html/\"")),
        "the rules of site `a.example` are refused: rule 0 is invalid: replacing `index.html` by `index.html/` makes URLs no shorter"
    );
    assert!(
        refusal(&file.replace("\"q.id\"", "\"colour\""))
            .starts_with("rule 2 of site `a.example` is malformed: ")
    );
    assert!(refusal("[]").starts_with("not a rule file; expected JSON that starts with {\"version\": 1"));
}

#[test]
fn what_the_learner_was_asked_for_is_kept_and_not_understood() {
    let file = |options: &str| {
        let site = r#""sites": {"a.example": {"rules": [{"change": [{"drop": "q.s"}]}]}}"#;
        RuleSet::load(format!(r#"{{"version": 1, {options}{site}}}"#).as_bytes()).unwrap()
    };
    let options = r#"{"shape":[1,{"of":"tomorrow"}],"a":null}"#;
    let asked = file(&format!(r#""options": {options}, "#));
    assert_eq!(asked.options(), Some(options));
    let again = saved(&asked);
    assert!(again.contains(&format!("\n  \"options\": {options},\n")), "{again}");
    assert_eq!(RuleSet::load(again.as_bytes()).unwrap(), asked);
    // It changes nothing but itself.
    let plain = file("");
    assert_eq!(again.replace(&format!("  \"options\": {options},\n"), ""), saved(&plain));
    let url = "http://a.example/?s=1";
    assert_eq!(Normalizer::compile(&asked).key(url), Normalizer::compile(&plain).key(url));
    assert_eq!(asked.without_sites().options(), Some(options));
    // Whoever does not say what was asked for contradicts nobody.
    let other = file(r#""options": {"b":1}, "#);
    let merged =
        |first: &RuleSet, second, prefer| first.merge(second, prefer).rules.options().map(str::to_owned);
    assert_eq!(merged(&plain, &asked, None).as_deref(), Some(options));
    assert_eq!(merged(&asked, &other, None).as_deref(), Some(options));
    assert_eq!(merged(&asked, &other, Some(Prefer::Second)).as_deref(), Some(r#"{"b":1}"#));
}

#[test]
fn the_length_of_what_the_learner_was_asked_for_is_limited() {
    let file = |bytes: usize| {
        format!(r#"{{"options": {{"a": "{}"}}, "version": 1, "sites": {{}}}}"#, "x".repeat(bytes))
    };
    let head = r#"{"a": ""}"#.len();
    assert!(RuleSet::load(file((1 << 20) - head).as_bytes()).is_ok());
    assert_eq!(refusal(&file((1 << 20) - head + 1)), "`options` is no object of at most 1024 KiB of JSON");
}

/// Fields that the format does not have, keys and sites that are there twice: where each is put, and the refusal.
#[test]
fn what_would_not_be_applied_is_refused_with_its_place() {
    let colour = "\"colour\":\"red\",";
    let every_operation = [
        (
            "\"version\":1,",
            colour,
            "unknown field `colour`, expected `version`, `method`, `options` or `sites`",
        ),
        ("\"a.example\":{", colour, "site `a.example` is malformed: unknown field `colour`"),
        ("\"summary\":{", colour, "site `a.example` is malformed: unknown field `colour`"),
        ("\"rules\":[{", colour, "rule 0 of site `a.example` is malformed: unknown field `colour`"),
        ("\"any\":{", colour, "rule 1 of site `a.example` is malformed: unknown field `colour`"),
        ("\"framed\":{", colour, "rule 1 of site `a.example` is malformed: unknown field `colour`"),
        ("\"set\":{", colour, "rule 1 of site `a.example` is malformed: unknown field `colour`"),
        ("\"to\":[{", colour, "rule 1 of site `a.example` is malformed: unknown field `colour`"),
        ("\"map\":{", colour, "rule 2 of site `a.example` is malformed: unknown field `colour`"),
        ("\"evidence\":{", colour, "rule 0 of site `a.example` is malformed: unknown field `colour`"),
        ("\"replace\":[{", colour, "rule 0 of site `a.example` is malformed: unknown field `colour`"),
        (
            "\"when\":{",
            "\"scheme\":{\"is\":\"ftp\"},",
            "rule 1 of site `a.example` is malformed: key `scheme` is there twice",
        ),
        ("\"sites\":{", "\"a.example\":{},", "site `a.example` is there twice"),
        ("\"version\":1,", "\"sites\":{},", "not a rule file"),
        ("\"version\":1,", "\"options\":{},\"options\":{},", "not a rule file"),
        ("\"version\":1,", "\"options\":[],", "`options` is no object of at most 1024 KiB of JSON"),
    ];
    let every_rule = [
        ("\"rules\":[{", colour, "rule 0 of site `edited.example` is malformed: unknown field `colour`"),
        (
            "\"rules\":[",
            "{\"when\":{}},",
            "rule 0 of site `edited.example` is malformed: missing field `change`",
        ),
        (
            "\"edited.example\":{",
            "\"refused\":[{\"colour\":\"red\"}],",
            "refused rule 0 of site `edited.example` is malformed: unknown field `colour`",
        ),
    ];
    let on_one_line = |name: &str| test_file(name).split_whitespace().collect::<String>();
    for (name, cases) in [("every-operation.json", &every_operation[..]), ("every-rule.json", &every_rule)] {
        let file = on_one_line(name);
        assert!(RuleSet::load(file.as_bytes()).is_ok(), "{name}");
        for (after, text, refused) in cases {
            assert!(file.contains(after), "{after}");
            let changed = file.replacen(after, &format!("{after}{text}"), 1);
            let said = refusal(&changed);
            assert!(said.starts_with(refused), "{after}{text}: {said}");
            let streamed = Normalizer::compile_from(changed.as_bytes()).unwrap_err();
            assert!(said.starts_with(&streamed.to_string()), "{after}{text}: {streamed}");
        }
    }
}

#[test]
fn sites_that_are_too_large_are_named() {
    let site = |length: usize| {
        format!(
            r#"{{"rules": [{{"when": {{"path_0": {{"is": "{}"}}}}, "change": [{{"drop": "q.s"}}]}}]}}"#,
            "x".repeat(length)
        )
    };
    let file = format!(
        r#"{{"version": 1, "method": "by hand", "sites": {{"large.example": {}, "small.example": {}}}}}"#,
        site(1 << 16),
        site(3)
    );
    for normalizer in [
        Normalizer::compile(&RuleSet::load(file.as_bytes()).unwrap()),
        Normalizer::compile_from(file.as_bytes()).unwrap(),
    ] {
        let large = LeftOut { site: "large.example".into(), reason: LeftOutReason::TooLarge };
        assert_eq!(normalizer.left_out(), &[large]);
        assert_eq!(normalizer.site_count(), 1);
    }
}

#[test]
fn rules_hold_on_the_hosts_that_are_named() {
    let file = |hosts: &str| {
        format!(
            r#"{{"version": 1, "method": "by hand", "sites": {{"corp.example": {{"hosts": [{hosts}], "rules": [
                {{"change": [{{"map": {{"of": "sub_1", "values": [{{"is": "www"}}]}}}}], "fetchable": true,
                  "evidence": {{"urls": 9, "support_pairs": 9, "false_pairs": 0, "groups": 9, "failed_groups": 0, "failure_bound": 0.1, "kinds": []}}}},
                {{"change": [{{"drop": "q.x"}}], "fetchable": true,
                  "evidence": {{"urls": 9, "support_pairs": 9, "false_pairs": 0, "groups": 9, "failed_groups": 0, "failure_bound": 0.1, "kinds": []}}}}
            ]}}}}}}"#
        )
    };
    let rules = RuleSet::load(file(r#""a.corp.example", "b.c.corp.example""#).as_bytes()).unwrap();
    let normalizer = Normalizer::compile(&rules);
    assert_eq!(normalizer.site_count(), 1);
    for (url, canonical) in [
        ("http://www.a.corp.example/p?x=1", "http://a.corp.example/p"),
        ("http://a.corp.example/p?x=1&y=2", "http://a.corp.example/p?y=2"),
        ("http://b.c.corp.example/p?x=1", "http://b.c.corp.example/p"),
    ] {
        assert_eq!(normalizer.normalize(url).unwrap().to_string(), canonical);
        assert_eq!(normalizer.normalize(canonical).unwrap().to_string(), canonical);
        assert_eq!(normalizer.key(url).unwrap(), normalizer.key(canonical).unwrap());
    }
    for other in ["http://corp.example/p?x=1", "http://d.a.corp.example/p?x=1", "http://c.corp.example/p?x=1"]
    {
        assert_eq!(normalizer.normalize(other).unwrap().to_string(), other);
    }
    let mut saved = Vec::new();
    rules.save(&mut saved).unwrap();
    assert_eq!(RuleSet::load(&*saved).unwrap(), rules);

    for foreign in ["evil.example", "acorp.example", "www.a.corp.example", "A.corp.example"] {
        let refused = RuleSet::load(file(&format!("\"{foreign}\"")).as_bytes()).unwrap_err();
        assert!(matches!(refused, LoadRulesError::InvalidSite { .. }), "{foreign}: {refused}");
    }
}

#[test]
fn a_host_on_which_the_rules_do_not_hold_is_not_written() {
    let file = r#"{"version": 1, "sites": {"corp.example": {"hosts": ["m.corp.example"], "rules": [
        {"when": {"sub_0": {"is": "m"}}, "change": [{"drop": "sub_0"}], "fetchable": true},
        {"change": [{"forget": "q.x"}]}]}}}"#;
    let normalizer = Normalizer::compile_from(file.as_bytes()).unwrap();
    let url = "http://m.corp.example/p?x=1";
    assert_eq!(normalizer.key(url).unwrap(), "http://corp.example/p?x=*");
    // `http://corp.example/p?x=1` has another key.
    assert_eq!(normalizer.normalize(url).unwrap(), url);
}

fn site_of_rules(rules: &[String]) -> String {
    format!(r#"{{"version": 1, "sites": {{"a.example": {{"rules": [{}]}}}}}}"#, rules.join(","))
}

fn drop_in(section: &str, name: &str) -> String {
    format!(r#"{{"when": {{"path_0": {{"is": "{section}"}}}}, "change": [{{"drop": "q.{name}"}}]}}"#)
}

#[test]
fn a_site_with_too_many_rules_is_refused_by_name() {
    let rules: Vec<String> = (0..10_001).map(|number| drop_in(&format!("s{number}"), "sid")).collect();
    let loaded = RuleSet::load(site_of_rules(&rules[1..]).as_bytes()).unwrap();
    assert_eq!(loaded.rule_count(), 10_000);
    assert_eq!(Normalizer::compile(&loaded).key("http://a.example/s7?sid=1").unwrap(), "http://a.example/s7");
    let error = RuleSet::load(site_of_rules(&rules).as_bytes()).unwrap_err();
    assert_eq!(
        with_causes(&error),
        "the rules of site `a.example` are refused: there are 10001 rules, expected at most 10000: leave some out, or \
         say by one rule what several say of the values of one part, with `one_of`, `map` or a `table`"
    );
}

/// A rule is compared with those that may take away what it asks for, however many others there are.
#[test]
fn a_rule_that_is_never_made_is_found_in_a_long_list() {
    let others = (0..9_000).map(|number| drop_in(&format!("s{number}"), &format!("p{number}")));
    let mut rules: Vec<String> = [drop_in("a", "sid")].into_iter().chain(others).collect();
    rules.push(drop_in("b", "sid"));
    assert!(RuleSet::load(site_of_rules(&rules).as_bytes()).is_ok());
    rules.push(drop_in("a", "sid"));
    let error = RuleSet::load(site_of_rules(&rules).as_bytes()).unwrap_err();
    assert_eq!(
        with_causes(&error),
        "the rules of site `a.example` are refused: rule 9002 is invalid: it is never made: rule 0 takes `q.sid` away first"
    );
}
