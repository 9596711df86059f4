/*!
Rules as they stand in rule files, and what they make of URLs: each kind of change and test by example.
*/

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use dedust::{Normalizer, RuleSet};

const DOMAIN: &str = "example.org";

/// A normalizer of these rules for `example.org`, given as JSON.
fn rules(json: &str) -> Normalizer {
    let rules: serde_json::Value = serde_json::from_str(json).unwrap();
    let file = serde_json::json!({"version": 1, "sites": {DOMAIN: {"rules": rules}}});
    Normalizer::compile(&RuleSet::load(file.to_string().as_bytes()).unwrap())
}

/// Checks key and canonical URL, both without `http://example.org`.
#[track_caller]
fn check(normalizer: &Normalizer, url: &str, key: &str, canonical: &str) {
    let full = |text: &str| {
        if text.contains(':') && !text.starts_with('/') {
            text.to_owned()
        } else {
            format!("http://{DOMAIN}{text}")
        }
    };
    assert_eq!(normalizer.key(full(url)).unwrap().to_string(), full(key), "key of {url}");
    assert_eq!(normalizer.normalize(full(url)).unwrap().to_string(), full(canonical), "canonical of {url}");
    let (both_key, both_canonical) = normalizer.both(full(url)).unwrap();
    assert_eq!(
        (both_key.to_string(), both_canonical.to_string()),
        (full(key), full(canonical)),
        "both of {url}"
    );
}

/// Checks that neither rules nor order of parameters change a URL.
#[track_caller]
fn stays(normalizer: &Normalizer, url: &str) {
    check(normalizer, url, url, url);
}

#[test]
fn parameters_are_dropped_wherever_they_stand() {
    let normalizer = rules(r#"[{"change": [{"drop": "q.sid"}], "fetchable": true}]"#);
    check(&normalizer, "/a?sid=1&z=2&b=3", "/a?b=3&z=2", "/a?z=2&b=3");
    check(&normalizer, "/a?sid=1", "/a", "/a");
    check(&normalizer, "/a?sid", "/a", "/a");
    check(&normalizer, "/a?sid=1&z=2&sid=2&b=3", "/a?b=3&z=2", "/a?z=2&b=3");
    check(&normalizer, "/a?sid=1&sid=2", "/a", "/a");
    stays(&normalizer, "/a?SID=1&si=2&side=3");
    stays(&normalizer, "/sid?x=sid");
}

#[test]
fn where_a_value_is_asked_for_the_first_of_a_name_is_dropped() {
    let normalizer =
        rules(r#"[{"when": {"q.page": {"is": "1"}}, "change": [{"drop": "q.page"}], "fetchable": true}]"#);
    check(&normalizer, "/a?page=1&page=2", "/a?page=2", "/a?page=2");
    stays(&normalizer, "/a?page=2&page=1");
}

#[test]
fn parameters_are_split_behind_one_that_was_written() {
    let normalizer = rules(
        r#"[{"change": [{"set": {"key": "q.new-name", "to": [{"of": "q.a"}]}}], "fetchable": true},
            {"change": [{"order": ["q.new-name"]}], "fetchable": true}, {"change": ["split_params"], "fetchable": true}]"#,
    );
    // What was written comes last in keys; as a URL it would come first, and have another key.
    check(&normalizer, "/?a=1&b=x;new-name=2", "/?a=1&b=x&new-name=2&new-name=1", "/?a=1&b=x;new-name=2");
    let key = normalizer.key("http://example.org/?new-name;z=1&a=1").unwrap();
    assert_eq!(key, "http://example.org/?a=1&new-name&new-name=1&z=1");
    check(&normalizer, "/?b=x;c", "/?b=x&c", "/?b=x;c");
    stays(&normalizer, "/?b=x&c=1");
}

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
fn texts_in_place_of_parameters_are_dropped_read_and_translated() {
    let dropped = rules(r#"[{"change": [{"drop": "q.="}], "fetchable": true}]"#);
    check(&dropped, "/a.css?1588347", "/a.css", "/a.css");
    check(&dropped, "/a?b=1&/topic,21.0.html&a=2", "/a?a=2&b=1", "/a?b=1&a=2");
    check(&dropped, "/a?1&2", "/a", "/a");
    stays(&dropped, "/a?v=1588347");
    stays(&dropped, "/a?new");
    stays(&dropped, "/a?/b=1");

    let read = rules(
        r#"[{"when": {"path_0": {"is": "showthread.php"}, "q.=": {"any": "text"}}, "fetchable": true,
             "change": [{"set": {"key": "q.t", "to": [{"of": "q.=", "part": {"digits": 0}}]}}, {"drop": "q.="}]}]"#,
    );
    check(&read, "/showthread.php?15-a-title&p=2", "/showthread.php?p=2&t=15", "/showthread.php?p=2&t=15");
    stays(&read, "/showthread.php?t=15");
    stays(&read, "/other.php?15-a-title");

    let translated = rules(
        r#"[{"change": [{"map": {"of": "q.=", "values": [{"is": "/a,1", "becomes": "/z,1"}]}}], "fetchable": true},
            {"change": [{"fold": {"of": {"key": "q.="}, "to": "lowercase"}}]},
            {"when": {"q.=": {"is": "/old,2"}}, "change": [{"forget": "q.="}]}]"#,
    );
    // Keys are sorted by what is written.
    check(&translated, "/?/a,1&/b=1", "/?/b=1&/z,1", "/?/z,1&/b=1");
    check(&translated, "/?/Old,2&x=1", "/?*&x=1", "/?/Old,2&x=1");
    stays(&translated, "/?/b,1");
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
fn a_forgotten_path_is_a_star() {
    let normalizer = rules(r#"[{"when": {"q.do": {"is": "login"}}, "change": ["forget_path"]}]"#);
    check(&normalizer, "/any/page/?do=login", "/*?do=login", "/any/page/?do=login");
    stays(&normalizer, "/any/page/?do=show");
    stays(&normalizer, "/any/page/?do");
}

#[test]
fn values_stand_for_others_or_for_none() {
    let normalizer = rules(
        r#"[{"change": [{"map": {"of": "q.page", "values": [{"is": null}, {"is": "1"}, {"is": "one", "becomes": "I"}]}}],
             "fetchable": true},
            {"change": [{"map": {"of": "scheme", "values": [{"is": "https", "becomes": "http"}]}}], "fetchable": true},
            {"change": [{"map": {"of": "sub_0", "values": [{"is": "www"}]}}], "fetchable": true}]"#,
    );
    check(&normalizer, "/?page=1&x=2", "/?x=2", "/?x=2");
    check(&normalizer, "/?page", "/", "/");
    check(&normalizer, "/?page=one", "/?page=I", "/?page=I");
    check(&normalizer, "https://www.example.org/?page=1", "/", "/");
    // Port 80 belongs to http, so the URL could not be read as it was written.
    check(&normalizer, "https://example.org:80/", "http://example.org:80/", "https://example.org:80/");
    stays(&normalizer, "/?page=2");
    stays(&normalizer, "/?page=");
    stays(&normalizer, "http://forum.example.org/");
}

#[test]
fn one_rule_may_leave_out_several_labels() {
    let normalizer = rules(
        r#"[{"change": [{"map": {"of": "sub_0", "values": [{"is": "www"}]}},
                        {"map": {"of": "sub_1", "values": [{"is": "www"}]}}], "fetchable": true}]"#,
    );
    check(&normalizer, "http://www.example.org/a", "/a", "/a");
    let of_blog = "http://blog.example.org/a";
    check(&normalizer, "http://www.blog.example.org/a", of_blog, of_blog);
    stays(&normalizer, of_blog);
}

#[test]
fn a_value_that_moved_is_spelled_like_those_of_its_place() {
    let normalizer = rules(
        r#"[{"change": [{"set": {"key": "path_0", "to": [{"of": "q.title"}]}}]},
            {"change": [{"fold": {"of": "path", "to": "lowercase"}}]}]"#,
    );
    check(&normalizer, "/1?title=Wiki", "/wiki?title=Wiki", "/1?title=Wiki");
    stays(&normalizer, "/1?name=Wiki");
}

#[test]
fn spellings_are_made_one() {
    let fold = |of: &str, to: &str| {
        rules(&format!(r#"[{{"change": [{{"fold": {{"of": {of}, "to": "{to}"}}}}], "fetchable": true}}]"#))
    };
    let lowercase = fold(r#""path""#, "lowercase");
    check(&lowercase, "/Main/Page%3F?Q=A", "/main/page%3F?Q=A", "/main/page%3F?Q=A");
    stays(&lowercase, "/main/page%3F");
    let unescaped = fold(r#""params""#, "unescaped");
    check(&unescaped, "/%3A?a=%3A%2F%26", "/%3A?a=:/%26", "/%3A?a=:/%26");
    // An apostrophe is always escaped in a query.
    check(&unescaped, "/?a=%27", "/?a='", "/?a=%27");
    let spaces = fold(r#""params""#, "plus_as_space");
    check(&spaces, "/a+b?q=a+b", "/a+b?q=a%20b", "/a+b?q=a%20b");
    let underscored = fold(r#""path""#, "underscored");
    check(&underscored, "/a%20b+c", "/a_b+c", "/a_b+c");
    let unpadded = fold(r#"{"key": "q.id"}"#, "unpadded");
    check(&unpadded, "/?id=007&n=007", "/?id=7&n=007", "/?id=7&n=007");
    let composed = fold(r#""params""#, "composed");
    check(&composed, "/?q=e%CC%81", "/?q=%C3%A9", "/?q=%C3%A9");
    stays(&composed, "/?q=%FF%C3");
}

#[test]
fn paths_are_put_together_from_parts() {
    let normalizer = rules(
        r#"[{"when": {"path_0": {"is": "index.php"}, "path_1": "absent", "q.title": {"any": "text"}},
             "change": [{"path": [{"text": "wiki"}, {"value": {"from": {"of": "q.title"}, "split": ":"}}]}, {"drop": "q.title"}],
             "fetchable": true},
            {"when": {"last_0": {"is": "print"}}, "change": [{"path": [{"segments": {"from": 0, "but_last": 1}}]}],
             "fetchable": true},
            {"when": {"path_0": {"one_of": ["a", "b"]}, "path_3": {"any": "digits"}},
             "change": [{"path": [{"first": 1}, {"last": 1}]}], "fetchable": true}]"#,
    );
    check(&normalizer, "/index.php?title=Help:Me", "/wiki/Help/Me", "/wiki/Help/Me");
    check(&normalizer, "/news/7/print", "/news/7", "/news/7");
    check(&normalizer, "/print/", "/", "/");
    check(&normalizer, "/b/x/y/7", "/b/7", "/b/7");
    // Impossible: a step in the path, nothing at all, a character that ends the path.
    stays(&normalizer, "/index.php?title=..");
    stays(&normalizer, "/index.php?title=");
    stays(&normalizer, "/index.php?title=a?b");
    stays(&normalizer, "/index.php?title");
    stays(&normalizer, "/index.php/x?title=Me");
    stays(&normalizer, "/c/x/y/7");
    stays(&normalizer, "/b/x/y/z");
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
fn values_are_set_from_parts_and_tables() {
    let normalizer = rules(
        r#"[{"when": {"path_0": {"is": "thread"}, "path_1": {"any": {"framed": {"prefix": "t", "class": "digits", "suffix": ".html"}}}},
             "change": [{"set": {"key": "q.id", "to": [{"prefix": "n", "of": "path_1", "part": {"digits": 0}, "suffix": "-"},
                                                       {"prefix": "x"}, {"of": "path_0"}]}},
                        {"path": [{"text": "view"}]}], "fetchable": true},
            {"when": {"q.lang": {"any": "text"}},
             "change": [{"set": {"key": "sub_0", "to": [{"of": "q.lang", "table": [["de", "german"], ["fr", "french"]]}]}},
                        {"drop": "q.lang"}], "fetchable": true}]"#,
    );
    check(&normalizer, "/thread/t17.html", "/view?id=n17-xthread", "/view?id=n17-xthread");
    check(&normalizer, "/thread/t17.html?id=2&a=3", "/view?a=3&id=n17-xthread", "/view?id=n17-xthread&a=3");
    check(&normalizer, "/x?lang=fr", "http://french.example.org/x", "http://french.example.org/x");
    stays(&normalizer, "/x?lang=es");
    stays(&normalizer, "/thread/x17.html");
    stays(&normalizer, "http://a.b.example.org/thread/t.html");
}

#[test]
fn repeated_blocks_of_a_path_are_written_once() {
    let normalizer = rules(r#"[{"change": ["unrepeat"], "fetchable": true}]"#);
    check(&normalizer, "/a/b/a/b/x", "/a/b/x", "/a/b/x");
    check(&normalizer, "/a/a/a/", "/a/", "/a/");
    stays(&normalizer, "/a/b/a/x");
}

#[test]
fn slashes_ports_and_path_parameters_are_dropped() {
    let normalizer = rules(
        r#"[{"change": [{"drop": "tslash"}], "fetchable": true}, {"change": [{"drop": "port"}], "fetchable": true},
            {"change": [{"drop": "mp.jsessionid"}], "fetchable": true}, {"change": [{"drop": "hashbang"}], "fetchable": true}]"#,
    );
    check(&normalizer, "http://example.org:8080/a/", "/a", "/a");
    check(&normalizer, "/a;x=1;jsessionid=F00/", "/a;x=1", "/a;x=1");
    check(&normalizer, "/a;jsessionid=F00?b=1#!c", "/a?b=1", "/a?b=1");
    // `/a/` would be read as another URL than `/a/` with an empty segment.
    check(&normalizer, "/a//", "/a/", "/a//");
    stays(&normalizer, "/");
    stays(&normalizer, "/tl;dr");
}

#[test]
fn tests_tell_absent_empty_and_bare_values_apart() {
    let when = |test: &str| {
        rules(&format!(
            r#"[{{"when": {{"q.v": {test}}}, "change": [{{"drop": "q.s"}}], "fetchable": true}}]"#
        ))
    };
    let passes = |normalizer: &Normalizer, query: &str| {
        let url = format!("http://{DOMAIN}/?{query}s=1");
        normalizer.normalize(&url).unwrap().as_bytes() != url.as_bytes()
    };
    let all = ["", "v&", "v=&", "v=a&", "v=7&"];
    let passed = |test: &str| all.map(|query| passes(&when(test), query));
    assert_eq!(passed(r#"{"is": "a"}"#), [false, false, false, true, false]);
    assert_eq!(passed(r#"{"is": null}"#), [false, true, false, false, false]);
    assert_eq!(passed(r#"{"one_of": [null, "", "7"]}"#), [false, true, true, false, true]);
    assert_eq!(passed(r#"{"not": ["7", "a"]}"#), [true, true, true, false, false]);
    assert_eq!(passed(r#"{"any": "text"}"#), [false, true, true, true, true]);
    assert_eq!(passed(r#"{"any": "digits"}"#), [false, false, false, false, true]);
    assert_eq!(passed(r#""absent""#), [true, false, false, false, false]);
}

#[test]
fn semicolons_keep_their_meaning() {
    let normalizer = rules(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    check(&normalizer, "/?b=1;a=2;c=3", "/?a=2;b=1", "/?b=1;a=2");
    // Without `c` the value of `b` would be read as two parameters.
    check(&normalizer, "/?b=1;a=2&c=3", "/?b=1;a=2", "/?b=1;a=2&c=3");
}

#[test]
fn users_are_left_out_of_keys_and_kept_in_urls() {
    let normalizer = rules(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    check(&normalizer, "http://me:pw@example.org/?c=1&b", "/?b", "http://me:pw@example.org/?c=1&b");
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

/// Tables wait for the values that they look up, up to some number of them: few, many, and more than that.
#[test]
fn tables_of_any_size_translate_what_they_know() {
    for size in [9, 16, 17, 300, 20_000] {
        let numbers = 100_000..100_000 + size;
        let values: Vec<String> = numbers.clone().map(|number| format!(r#""{number}""#)).collect();
        let pairs: Vec<String> =
            numbers.map(|number| format!(r#"["{number}", "a-title-of-page-{number}"]"#)).collect();
        let (values, pairs) = (values.join(","), pairs.join(","));
        let normalizer = rules(&format!(
            r#"[{{"change": [{{"drop": "q.sid"}}], "fetchable": true}},
                {{"when": {{"q.p": {{"one_of": [{values}]}}}}, "closed": true, "fetchable": true,
                  "change": [{{"path": [{{"value": {{"from": {{"of": "q.p", "table": [{pairs}]}}}}}}]}}, {{"drop": "q.p"}}]}}]"#
        ));
        for number in [100_000, 100_000 + size / 2, 100_000 + size - 1] {
            let page = format!("/a-title-of-page-{number}");
            check(&normalizer, &format!("/?p={number}"), &page, &page);
            check(&normalizer, &format!("/?sid=1&p={number}"), &page, &page);
            stays(&normalizer, &format!("/?p={number}&x=1"));
            stays(&normalizer, &format!("/?q={number}"));
        }
        stays(&normalizer, &format!("/?p={}", 100_000 + size));
        stays(&normalizer, "/?p");
    }
}

/// Rules of a host leave `www` out where the rest has the same rules, and not where it has others.
#[test]
fn hosts_with_the_same_rules_are_joined() {
    let www = r#"{"change": [{"map": {"of": "sub_1", "values": [{"is": "www"}]}}], "fetchable": true}"#;
    let drop = r#"{"change": [{"drop": "q.sid"}], "fetchable": true}"#;
    let site = format!(r#"{{"hosts": ["blog.example.org"], "rules": [{www}, {drop}]}}"#);
    let file = format!(r#"{{"version": 1, "sites": {{"example.org": {site}}}}}"#);
    let normalizer = Normalizer::compile(&RuleSet::load(file.as_bytes()).unwrap());
    let blog = "http://blog.example.org/a?b=1";
    check(&normalizer, "http://www.blog.example.org/a?b=1&sid=2", blog, blog);
    stays(&normalizer, blog);
    stays(&normalizer, "http://www.shop.example.org/a?b=1&sid=2");
    // The host that is written has rules of its own.
    let moved = r#"{"change": [{"map": {"of": "sub_0", "values": [{"is": "old", "becomes": "blog"}]}}], "fetchable": true}"#;
    let other = r#"{"change": [{"drop": "q.b"}], "fetchable": true}"#;
    let file = format!(
        r#"{{"version": 1, "sites": {{"example.org": {{"rules": [{moved}]}}, "blog.example.org": {{"rules": [{other}]}}}}}}"#
    );
    let normalizer = Normalizer::compile(&RuleSet::load(file.as_bytes()).unwrap());
    check(&normalizer, "http://old.example.org/a?b=1", blog, "http://old.example.org/a?b=1");
    check(&normalizer, blog, "http://blog.example.org/a", "http://blog.example.org/a");
}

#[test]
fn other_sites_and_schemes_are_left_alone() {
    let normalizer = rules(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    stays(&normalizer, "http://example.com/?c=1");
    stays(&normalizer, "mailto:me@example.org?c=1");
    check(&normalizer, "ftp://example.org/?c=1", "ftp://example.org/", "ftp://example.org/");
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
fn an_order_is_for_urls_and_not_for_keys() {
    let ordered = rules(r#"[{"change": [{"order": ["q.id", "q.page"]}], "fetchable": true}]"#);
    check(&ordered, "/?a=1&page=2&id=3", "/?a=1&id=3&page=2", "/?id=3&page=2&a=1");
    check(&ordered, "/?id=3&page=2&a=1", "/?a=1&id=3&page=2", "/?id=3&page=2&a=1");
    assert_eq!(ordered.explain("http://example.org/?a=1&id=3").unwrap().rules, [0]);
    assert!(ordered.explain("http://example.org/?id=3&a=1").unwrap().rules.is_empty());
}

#[test]
fn semicolons_separate_where_a_rule_says_so() {
    let split = rules(
        r#"[{"when": {"path_0": {"is": "index.php"}}, "change": ["split_params"], "fetchable": true},
            {"change": [{"drop": "q.PHPSESSID"}], "fetchable": true},
            {"change": [{"drop": "q.topicseen"}], "fetchable": true}]"#,
    );
    let topic = "/index.php?topic=310.0";
    check(&split, "/index.php?PHPSESSID=x&topic=310.0;topicseen", topic, topic);
    check(&split, "/index.php?topic=310.0;topicseen", topic, topic);
    check(&split, "/index.php?topicseen;topic=310.0", topic, topic);
    // Keys have one separator; URLs keep theirs.
    check(&split, "/index.php?b=1;a=2", "/index.php?a=2&b=1", "/index.php?b=1;a=2");
    check(&split, "/index.php?b=1;a=2&topicseen", "/index.php?a=2&b=1", "/index.php?b=1;a=2");
    stays(&split, "/other?q=tl;dr");
}

#[test]
fn a_url_is_not_written_if_its_semicolons_would_then_separate() {
    let split = rules(
        r#"[{"closed": "except_params", "change": ["split_params"], "fetchable": true},
            {"change": [{"drop": "last_0"}], "fetchable": true}]"#,
    );
    check(&split, "/?b;a", "/?a&b", "/?b;a");
    check(&split, "/x?b;a", "/?b;a", "/x?b;a");
    check(&split, "/x?b&a", "/?a&b", "/?b&a");
}

/// A rule that cannot be made as a whole leaves no trace: the URL without its path would be split by the first rule.
#[test]
fn a_url_is_not_written_if_it_was_split_in_vain() {
    let split = rules(
        r#"[{"closed": "except_params", "change": ["split_params"], "fetchable": true},
            {"change": [{"drop": "last_0"}], "fetchable": true},
            {"when": {"last_0": "absent"}, "change": ["split_params", {"set": {"key": "path_0", "to": [{"of": "q.no"}]}}], "fetchable": true}]"#,
    );
    check(&split, "/x?b;a", "/?b;a", "/x?b;a");
    check(&split, "/x?b&a", "/?a&b", "/?b&a");
    stays(&split, "/?a&b");
}

#[test]
fn what_a_rule_repeats_another_writes_once() {
    let twice = rules(
        r#"[{"change": [{"path": [{"last": 1}, {"last": 1}]}], "fetchable": true},
            {"change": ["unrepeat"], "fetchable": true}]"#,
    );
    check(&twice, "/a/b", "/b", "/b");
    stays(&twice, "/b");
}

/// Where a rule says so of all URLs, they are read so. The same rule with a test that is always true is made after reading.
#[test]
fn semicolons_that_separate_on_all_urls_are_read_so() {
    let with_test = |when: &str| {
        rules(&format!(
            r#"[{{"when": {when}, "change": ["split_params"], "fetchable": true}},
                {{"change": [{{"drop": "q.sid"}}], "fetchable": true}},
                {{"change": [{{"map": {{"of": "q.b", "values": [{{"is": null}}]}}}}], "fetchable": true}},
                {{"when": {{"q.a": {{"is": "1"}}}}, "change": [{{"forget": "q.d"}}]}},
                {{"when": {{"q.d": {{"not": ["x=y"]}}}}, "change": [{{"drop": "q.utm"}}, {{"drop": "q.utm#2"}}], "fetchable": true}},
                {{"change": [{{"fold": {{"of": "params", "to": "unescaped"}}}}], "fetchable": true}}]"#
        ))
    };
    let (read_so, made_so) = (with_test("{}"), with_test(r#"{"scheme": {"is": "http"}}"#));
    check(&read_so, "/?sid=1;z=2&a=1;b", "/?a=1&z=2", "/?z=2&a=1");
    check(&read_so, "/?z=2;a=1", "/?a=1&z=2", "/?z=2;a=1");
    stays(&read_so, "/x;sid=1?a=2&z=sid");
    let in_keys =
        rules(r#"[{"change": ["split_params"]}, {"change": [{"drop": "q.sid"}], "fetchable": true}]"#);
    check(&in_keys, "/?a=1;sid=2&b=3", "/?a=1&b=3", "/?a=1;sid=2&b=3");
    let pieces = ["a=1", "b", "sid=2", "utm=3", "c=%2F%26", "=x", "", "d=x=y"];
    let mut changed = 0;
    for number in 0..pieces.len().pow(4) {
        let piece = |at: u32| pieces[number / pieces.len().pow(at) % pieces.len()];
        let separator = |at: u32| if (number / 7) >> at & 1 == 0 { '&' } else { ';' };
        let rest =
            ["", "0123456789", "0123456789012345678901234567890123456789"][number % 3].repeat(number % 4);
        let query = (0..4).map(|at| format!("{}{}", piece(at), separator(at))).collect::<String>();
        let url = format!("http://{DOMAIN}/p?{query}e={rest}");
        let (key, canonical) = (read_so.key(&url).unwrap(), read_so.normalize(&url).unwrap());
        assert_eq!(key, made_so.key(&url).unwrap(), "key of {url}");
        assert_eq!(canonical, made_so.normalize(&url).unwrap(), "canonical of {url}");
        assert_eq!(key, read_so.key(&canonical).unwrap(), "key of {canonical}, the canonical URL of {url}");
        changed += usize::from(canonical != *url);
    }
    assert!(changed > 1000, "{changed} URLs are changed");
    let explanation = read_so.explain("http://example.org/?z=1;a=2").unwrap();
    assert_eq!(explanation.rules, [0]);
}

/// Labels are not even read where a host has fewer of them than rules speak of.
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

#[test]
fn labels_are_left_out_where_there_are_enough() {
    let normalizer = rules(
        r#"[{"when": {"q.x": "absent"}, "change": [{"map": {"of": "sub_1", "values": [{"is": "www"}]}}], "fetchable": true}]"#,
    );
    check(&normalizer, "http://www.git.example.org/", "http://git.example.org/", "http://git.example.org/");
    let long = "http://www.a-label-of-twenty-bytes.example.org/";
    check(&normalizer, long, &long.replace("www.", ""), &long.replace("www.", ""));
    for url in ["http://example.org/", "http://www.example.org/", "http://www.git.example.org/?x=1"] {
        stays(&normalizer, url);
    }
    stays(&normalizer, "http://git.www.example.org/");
    let two = "http://www.www.example.org/";
    check(&normalizer, two, "http://www.example.org/", "http://www.example.org/");
}

#[test]
fn a_part_of_a_value_may_be_missing() {
    let first_page = rules(
        r#"[{"when": {"q.topic": {"any": "digits"}}, "fetchable": true,
             "change": [{"set": {"key": "q.topic", "to": [{"of": "q.topic", "suffix": ".0"}]}}]}]"#,
    );
    check(&first_page, "/?topic=115", "/?topic=115.0", "/?topic=115.0");
    stays(&first_page, "/?topic=115.20");
}

#[test]
fn several_names_of_a_segment_are_one() {
    let info = rules(
        r#"[{"change": [{"map": {"of": "path_1", "values": [{"is": "ci", "becomes": "info"}, {"is": "vinfo", "becomes": "info"}]}}],
             "fetchable": true}]"#,
    );
    check(&info, "/repo/ci/abc", "/repo/info/abc", "/repo/info/abc");
    check(&info, "/repo/vinfo/abc", "/repo/info/abc", "/repo/info/abc");
    stays(&info, "/repo/tree/abc");
}

#[test]
fn a_value_may_be_any_but_some_or_absent() {
    let any = rules(
        r#"[{"when": {"q.page": {"any": {"class": "digits", "except": ["1"], "optional": true}}}, "change": [{"drop": "q.sid"}],
             "fetchable": true}]"#,
    );
    check(&any, "/?page=2&sid=1", "/?page=2", "/?page=2");
    check(&any, "/?sid=1", "/", "/");
    stays(&any, "/?page=1&sid=1");
    stays(&any, "/?page=x&sid=1");
}

/// Whoever chooses the value of a parameter must not choose the site of a key.
#[test]
fn a_value_that_is_no_label_does_not_become_one() {
    let by_language = rules(
        r#"[{"change": [{"set": {"key": "sub_0", "to": [{"of": "q.l"}]}}, {"drop": "q.l"}], "fetchable": true}]"#,
    );
    let key = |url: &str| by_language.key(url).unwrap().to_string();
    assert_eq!(key("http://www.example.org/a?l=de"), "http://de.example.org/a");
    for value in ["victim.example/", "a/b", "a%2Fb", "a:80", "me@x", "A", "a.b", "", "%C3%BC"] {
        stays(&by_language, &format!("http://www.example.org/a?l={value}"));
    }
}
