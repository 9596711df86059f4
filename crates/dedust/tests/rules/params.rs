/*!
Values and parameters: left out, replaced, spelled, separated and put in order.
*/

use dedust::Normalizer;

use super::{DOMAIN, check, rules, stays};

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
