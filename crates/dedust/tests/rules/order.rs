/*!
Which rules are made, in which order, and whether the result can be fetched.
*/

use super::{check, rules, stays};

#[test]
fn a_rule_sees_what_was_made_early() {
    let normalizer = rules(
        r#"[{"change": [{"map": {"of": "scheme", "values": [{"is": "https", "becomes": "http"}]}}], "fetchable": true},
            {"when": {"scheme": {"is": "http"}}, "change": ["forget_path"]}]"#,
    );
    check(&normalizer, "https://example.org/a", "/*", "http://example.org/a");
    check(&normalizer, "/a", "/*", "/a");
    stays(&normalizer, "ftp://example.org/a");
}

#[test]
fn what_cannot_be_fetched_changes_keys_only() {
    let normalizer =
        rules(r#"[{"change": [{"drop": "q.sid"}]}, {"change": [{"drop": "q.ref"}], "fetchable": true}]"#);
    check(&normalizer, "/?ref=1&sid=2&x=3", "/?x=3", "/?sid=2&x=3");
    check(&normalizer, "/?sid=2", "/", "/?sid=2");
    stays(&normalizer, "/?x=3");
}

#[test]
fn forgotten_values_are_stars_in_keys() {
    let normalizer = rules(
        r#"[{"change": [{"forget": "q.s"}]}, {"change": [{"forget": "path_1"}]},
                               {"change": [{"forget": "sub_0"}]}]"#,
    );
    check(&normalizer, "/a/b/c?s=9", "/a/*/c?s=*", "/a/b/c?s=9");
    check(&normalizer, "http://m.example.org/a", "http://*.example.org/a", "http://m.example.org/a");
    stays(&normalizer, "/a?t=9");
}

#[test]
fn if_one_change_is_impossible_none_is_made() {
    let normalizer = rules(
        r#"[{"change": [{"drop": "q.a"}, {"set": {"key": "q.start", "to": [{"of": "q.page", "count": {"times": 20, "plus": -20}}]}},
                        {"drop": "q.page"}], "fetchable": true}]"#,
    );
    check(&normalizer, "/?a=1&page=3", "/?start=40", "/?start=40");
    check(&normalizer, "/?page=1", "/?start=0", "/?start=0");
    stays(&normalizer, "/?a=1&page=0");
    stays(&normalizer, "/?a=1&page=x");
    stays(&normalizer, "/?a=1");
}

#[test]
fn rules_that_share_a_bit_are_all_made() {
    // With a test, none of them is made early, so that each needs a bit.
    let many: Vec<String> = (0..200)
        .map(|number| {
            let change = format!(r#""change": [{{"drop": "q.p{number}"}}]"#);
            format!(r#"{{"when": {{"q.keep": "absent"}}, {change}, "fetchable": true}}"#)
        })
        .collect();
    let normalizer = rules(&format!("[{}]", many.join(",")));
    stays(&normalizer, "/?keep=1&p0=3&p199=1");
    check(&normalizer, "/?p199=1&x=2&p0=3&p1=4&p200=5", "/?p200=5&x=2", "/?x=2&p200=5");
    let explanation = normalizer.explain("http://example.org/?p199=1&x=2&p0=3&p1=4").unwrap();
    assert_eq!(explanation.rules, [0, 1, 199]);
    assert_eq!(normalizer.explain("http://example.org/?z=1&x=2&p200=3").unwrap().rules, [0; 0]);
}

#[test]
fn closed_rules_ask_that_there_is_nothing_else() {
    let closed = rules(
        r#"[{"when": {"path_0": {"is": "view"}, "q.id": {"any": "digits"}}, "closed": true,
             "change": [{"forget": "q.id"}]}]"#,
    );
    check(&closed, "/view?id=1", "/view?id=*", "/view?id=1");
    for other in ["/view?id=1&page=2", "/view/?id=1", "/view/a?id=1", "/view;s=1?id=1", "/view?id=1#!a"] {
        stays(&closed, other);
    }
    stays(&closed, "http://www.example.org/view?id=1");
    let except_params = rules(
        r#"[{"when": {"path_0": {"is": "view"}}, "closed": "except_params", "change": [{"drop": "q.sid"}], "fetchable": true}]"#,
    );
    check(&except_params, "/view?id=1&sid=2", "/view?id=1", "/view?id=1");
    stays(&except_params, "/view/a?sid=2");
}

#[test]
fn nothing_is_done_after_the_last_rule() {
    let last = rules(
        r#"[{"when": {"path_0": {"is": "search"}}, "change": [{"drop": "q.sid"}], "last": true, "fetchable": true},
            {"change": [{"drop": "q.page"}], "fetchable": true}]"#,
    );
    check(&last, "/search?page=2&sid=1", "/search?page=2", "/search?page=2");
    // Also where it has nothing to change.
    stays(&last, "/search?page=2");
    check(&last, "/list?page=2&sid=1", "/list?sid=1", "/list?sid=1");
}

#[test]
fn rules_may_undo_what_others_did() {
    // Others need a form that is not that of canonical URLs.
    let normalizer = rules(
        r#"[{"change": [{"map": {"of": "sub_1", "values": [{"is": "www"}]}}], "fetchable": true},
            {"when": {"sub_1": "absent", "path_0": {"is": "a"}}, "change": [{"forget": "q.sid"}]},
            {"when": {"sub_0": {"any": "text"}, "sub_1": "absent", "path_0": {"not": ["b"]}},
             "change": [{"set": {"key": "sub_1", "to": [{"prefix": "www"}]}}], "fetchable": true}]"#,
    );
    let canonical = "http://www.w.example.org/c?sid=1";
    check(&normalizer, "http://w.example.org/c?sid=1", canonical, canonical);
    let canonical = "http://www.w.example.org/a?sid=1";
    check(&normalizer, "http://w.example.org/a?sid=1", "http://www.w.example.org/a?sid=*", canonical);
    check(&normalizer, canonical, "http://www.w.example.org/a?sid=*", canonical);
    let without = "http://w.example.org/b";
    check(&normalizer, "http://www.w.example.org/b", without, without);
    stays(&normalizer, "http://example.org/c");
}
