/*!
Hosts, paths and what else has a place in a URL.
*/

use dedust::{Normalizer, RuleSet};

use super::{check, rules, stays};

#[test]
fn a_forgotten_path_is_a_star() {
    let normalizer = rules(r#"[{"when": {"q.do": {"is": "login"}}, "change": ["forget_path"]}]"#);
    check(&normalizer, "/any/page/?do=login", "/*?do=login", "/any/page/?do=login");
    stays(&normalizer, "/any/page/?do=show");
    stays(&normalizer, "/any/page/?do");
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
fn users_are_left_out_of_keys_and_kept_in_urls() {
    let normalizer = rules(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    check(&normalizer, "http://me:pw@example.org/?c=1&b", "/?b", "http://me:pw@example.org/?c=1&b");
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

/// Labels are not even read where a host has fewer of them than rules speak of.
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
fn several_names_of_a_segment_are_one() {
    let info = rules(
        r#"[{"change": [{"map": {"of": "path_1", "values": [{"is": "ci", "becomes": "info"}, {"is": "vinfo", "becomes": "info"}]}}],
             "fetchable": true}]"#,
    );
    check(&info, "/repo/ci/abc", "/repo/info/abc", "/repo/info/abc");
    check(&info, "/repo/vinfo/abc", "/repo/info/abc", "/repo/info/abc");
    stays(&info, "/repo/tree/abc");
}

/// A value of a parameter, which anybody can choose, must not choose the site of a key.
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
