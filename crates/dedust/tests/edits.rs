/*!
Edits as they stand in rule files, and what they make of URLs: each kind of change and test by example, and any edits at
all beside an interpreter that makes them one by one and checks every canonical URL by reading it again.
*/

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::collections::BTreeMap;

use dedust::rules::{
    Area, Atom, Change, Count, Edit, Evidence, Mapped, PathPart, SiteRules, SiteSummary, Source, Spelling,
    Spot, Test, TokenKey, Value, ValueClass,
};
use dedust::support::{EditList, UrlParts};
use dedust::{Normalizer, ParsedUrl, RuleSet};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const DOMAIN: &str = "example.org";

/// A normalizer of these edits for `example.org`, given as JSON without evidence.
fn edits(json: &str) -> Normalizer {
    let mut edits: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    for edit in &mut edits {
        edit["evidence"] = serde_json::to_value(Evidence::default()).unwrap();
    }
    let file = serde_json::json!({"version": 1, "method": "by hand", "sites": {DOMAIN: {"edits": edits}}});
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
}

/// Checks that neither edits nor order of parameters change a URL.
#[track_caller]
fn stays(normalizer: &Normalizer, url: &str) {
    check(normalizer, url, url, url);
}

#[test]
fn parameters_are_dropped_wherever_they_stand() {
    let normalizer = edits(r#"[{"change": [{"drop": "q.sid"}], "fetchable": true}]"#);
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
        edits(r#"[{"when": {"q.page": {"is": "1"}}, "change": [{"drop": "q.page"}], "fetchable": true}]"#);
    check(&normalizer, "/a?page=1&page=2", "/a?page=2", "/a?page=2");
    stays(&normalizer, "/a?page=2&page=1");
}

#[test]
fn what_cannot_be_fetched_changes_keys_only() {
    let normalizer =
        edits(r#"[{"change": [{"drop": "q.sid"}]}, {"change": [{"drop": "q.ref"}], "fetchable": true}]"#);
    check(&normalizer, "/?ref=1&sid=2&x=3", "/?x=3", "/?sid=2&x=3");
    check(&normalizer, "/?sid=2", "/", "/?sid=2");
    stays(&normalizer, "/?x=3");
}

#[test]
fn forgotten_values_are_stars_in_keys() {
    let normalizer = edits(
        r#"[{"change": [{"forget": "q.s"}]}, {"change": [{"forget": "path_1"}]},
                               {"change": [{"forget": "sub_0"}]}]"#,
    );
    check(&normalizer, "/a/b/c?s=9", "/a/*/c?s=*", "/a/b/c?s=9");
    check(&normalizer, "http://m.example.org/a", "http://*.example.org/a", "http://m.example.org/a");
    stays(&normalizer, "/a?t=9");
}

#[test]
fn a_forgotten_path_is_a_star() {
    let normalizer = edits(r#"[{"when": {"q.do": {"is": "login"}}, "change": ["forget_path"]}]"#);
    check(&normalizer, "/any/page/?do=login", "/*?do=login", "/any/page/?do=login");
    stays(&normalizer, "/any/page/?do=show");
    stays(&normalizer, "/any/page/?do");
}

#[test]
fn values_stand_for_others_or_for_none() {
    let normalizer = edits(
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
fn one_edit_may_leave_out_several_labels() {
    let normalizer = edits(
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
    let normalizer = edits(
        r#"[{"change": [{"set": {"key": "path_0", "to": [{"of": "q.title"}]}}]},
            {"change": [{"fold": {"of": "path", "to": "lowercase"}}]}]"#,
    );
    check(&normalizer, "/1?title=Wiki", "/wiki?title=Wiki", "/1?title=Wiki");
    stays(&normalizer, "/1?name=Wiki");
}

#[test]
fn spellings_are_made_one() {
    let fold = |of: &str, to: &str| {
        edits(&format!(r#"[{{"change": [{{"fold": {{"of": {of}, "to": "{to}"}}}}], "fetchable": true}}]"#))
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
    let normalizer = edits(
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
    let normalizer = edits(
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
    let normalizer = edits(
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
    let normalizer = edits(r#"[{"change": ["unrepeat"], "fetchable": true}]"#);
    check(&normalizer, "/a/b/a/b/x", "/a/b/x", "/a/b/x");
    check(&normalizer, "/a/a/a/", "/a/", "/a/");
    stays(&normalizer, "/a/b/a/x");
}

#[test]
fn slashes_ports_and_path_parameters_are_dropped() {
    let normalizer = edits(
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
        edits(&format!(
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
    let normalizer = edits(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    check(&normalizer, "/?b=1;a=2;c=3", "/?a=2;b=1", "/?b=1;a=2");
    // Without `c` the value of `b` would be read as two parameters.
    check(&normalizer, "/?b=1;a=2&c=3", "/?b=1;a=2", "/?b=1;a=2&c=3");
}

#[test]
fn users_are_left_out_of_keys_and_kept_in_urls() {
    let normalizer = edits(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    check(&normalizer, "http://me:pw@example.org/?c=1&b", "/?b", "http://me:pw@example.org/?c=1&b");
}

#[test]
fn edits_that_share_a_bit_are_all_made() {
    let many: Vec<String> = (0..200)
        .map(|number| format!(r#"{{"change": [{{"drop": "q.p{number}"}}], "fetchable": true}}"#))
        .collect();
    let normalizer = edits(&format!("[{}]", many.join(",")));
    check(&normalizer, "/?p199=1&x=2&p0=3&p1=4&p200=5", "/?p200=5&x=2", "/?x=2&p200=5");
    let explanation = normalizer.explain("http://example.org/?p199=1&x=2&p0=3&p1=4").unwrap();
    assert_eq!(explanation.edits, [0, 1, 199]);
    assert_eq!(normalizer.explain("http://example.org/?z=1&x=2&p200=3").unwrap().edits, [0; 0]);
}

#[test]
fn other_sites_and_schemes_are_left_alone() {
    let normalizer = edits(r#"[{"change": [{"drop": "q.c"}], "fetchable": true}]"#);
    stays(&normalizer, "http://example.com/?c=1");
    stays(&normalizer, "mailto:me@example.org?c=1");
    check(&normalizer, "ftp://example.org/?c=1", "ftp://example.org/", "ftp://example.org/");
}

/// What edits are made of in property tests: few names and values, so that they meet.
const NAMES: [&str; 5] = ["a", "b", "sid", "a-rather-long-name", "a-rather-long-game"];
const VALUES: [&str; 10] = ["", "1", "20", "a", "index.php", "Wiki%3AA", "x-7-y.html", "*", "007", "a%20b"];

fn name() -> impl Strategy<Value = String> {
    (prop::sample::select(&NAMES[..]), prop::bool::weighted(0.1))
        .prop_map(|(name, is_second)| if is_second { format!("{name}#2") } else { name.to_owned() })
}

fn text() -> impl Strategy<Value = Box<str>> {
    prop::sample::select(&VALUES[..]).prop_map(Into::into)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Bare), 9 => text().prop_map(Value::Text)]
}

fn key() -> impl Strategy<Value = TokenKey> {
    let parsed = |text: String| text.parse().unwrap();
    prop_oneof![
        6 => name().prop_map(move |name| parsed(format!("q.{name}"))),
        1 => name().prop_map(move |name| parsed(format!("mp.{name}"))),
        4 => (0..4u16).prop_map(TokenKey::PathSegment),
        1 => (0..2u16).prop_map(TokenKey::Subdomain),
        2 => prop::sample::select(vec![
            TokenKey::Scheme, TokenKey::Port, TokenKey::TrailingSlash, TokenKey::QuerySeparator, TokenKey::Hashbang,
        ]),
    ]
}

fn spot() -> impl Strategy<Value = Spot> {
    prop_oneof![5 => key().prop_map(Spot::Key), 1 => (0..3u16).prop_map(Spot::FromRight)]
}

fn class() -> impl Strategy<Value = ValueClass> {
    prop::sample::select(vec![
        ValueClass::Text,
        ValueClass::Digits,
        ValueClass::Word,
        ValueClass::File("php".into()),
        ValueClass::Framed {
            prefix: "x-".into(),
            class: ValueClass::Digits.into(),
            suffix: "-y.html".into(),
        },
    ])
}

fn test() -> impl Strategy<Value = Test> {
    prop_oneof![
        4 => value().prop_map(Test::Is),
        1 => vec(value(), 0..4).prop_map(Test::OneOf),
        2 => vec(value(), 0..3).prop_map(Test::Not),
        3 => class().prop_map(Test::Any),
        1 => Just(Test::Absent),
    ]
}

fn source() -> impl Strategy<Value = Source> {
    let atom = prop::sample::select(vec![
        Atom::Digits(0),
        Atom::Stem,
        Atom::Extension,
        Atom::Piece { separator: '-', index: 1 },
        Atom::PieceFromRight { separator: '%', index: 0 },
    ]);
    let count = (-2..20i64, -20..20i64).prop_map(|(times, plus)| Count { times, plus });
    let table = vec((text(), text()), 0..3).prop_map(|mut table| {
        table.sort();
        table.dedup_by(|a, b| a.0 == b.0);
        table
    });
    let affix = || prop_oneof![4 => Just("".into()), 1 => text()];
    (
        affix(),
        option::weighted(0.8, spot()),
        option::weighted(0.3, atom),
        option::weighted(0.1, count),
        table,
        affix(),
    )
        .prop_map(|(prefix, of, part, count, table, suffix): (Box<str>, _, _, _, Vec<_>, Box<str>)| {
            let table = if table.len() > 1 { table } else { Vec::new() };
            Source { prefix, of, part, count, table, suffix }
        })
}

fn part() -> impl Strategy<Value = PathPart> {
    prop_oneof![
        2 => text().prop_map(PathPart::Text),
        2 => (0..3u16, 0..2u16).prop_map(|(from, but_last)| PathPart::Segments { from, but_last }),
        1 => (0..3u16).prop_map(PathPart::First),
        1 => (0..3u16).prop_map(PathPart::Last),
        3 => (source(), option::weighted(0.3, prop::sample::select(vec![':', '-', 'é'])))
            .prop_map(|(from, split)| PathPart::Value { from, split }),
    ]
}

fn spelling() -> impl Strategy<Value = Spelling> {
    use Spelling::{Composed, Lowercase, PlusAsSpace, Underscored, Unescaped, Unpadded};
    prop::sample::select(vec![Lowercase, Unescaped, PlusAsSpace, Underscored, Unpadded, Composed])
}

fn change() -> impl Strategy<Value = Change> {
    let area = prop_oneof![Just(Area::Path), Just(Area::Params), key().prop_map(Area::Key)];
    let mapped = vec((value(), option::of(text())), 1..4).prop_map(|mut values| {
        values.sort();
        values.dedup_by(|a, b| a.0 == b.0);
        values.into_iter().map(|(is, becomes)| Mapped { is, becomes }).collect::<Vec<_>>()
    });
    let scheme =
        (prop::sample::select(vec!["http", "https", "ftp"]), prop::sample::select(vec!["http", "https"]));
    let scheme = scheme.prop_map(|(is, becomes)| Change::Map {
        of: TokenKey::Scheme,
        values: vec![Mapped { is: is.into(), becomes: Some(becomes.into()) }],
    });
    let www =
        (0..2u16, prop_oneof![3 => Just(None), 1 => Just(Some("m".into()))]).prop_map(|(index, becomes)| {
            Change::Map { of: TokenKey::Subdomain(index), values: vec![Mapped { is: "www".into(), becomes }] }
        });
    prop_oneof![
        1 => www,
        8 => spot().prop_map(Change::Drop),
        2 => spot().prop_map(Change::Forget),
        1 => Just(Change::ForgetPath),
        4 => (key(), mapped).prop_map(|(of, values)| Change::Map { of, values }),
        1 => scheme,
        3 => (area, spelling()).prop_map(|(of, to)| Change::Fold { of, to }),
        3 => (key(), vec(source(), 0..3)).prop_map(|(key, to)| Change::Set { key, to }),
        3 => vec(part(), 0..4).prop_map(Change::Path),
        1 => Just(Change::Unrepeat),
        2 => Just(Change::UnrepeatParams),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let when = prop_oneof![1 => Just(BTreeMap::new()), 1 => btree_map(spot(), test(), 0..3)];
    let changes = prop_oneof![3 => vec(change(), 1), 1 => vec(change(), 2..4)];
    (when, changes, prop::bool::weighted(0.7)).prop_map(|(when, change, fetchable)| Edit {
        when,
        change,
        fetchable,
        evidence: Evidence::default(),
    })
}

/// Edits that a rule file may hold, few or more than there are bits for.
fn site() -> impl Strategy<Value = Vec<Edit>> {
    let is_valid = |edit: &Edit| {
        let site = SiteRules::new(SiteSummary::default(), Vec::new()).unwrap();
        site.with_edits(vec![edit.clone()]).is_ok()
    };
    let edit = || edit().prop_filter("a rule file refuses the edit", is_valid);
    prop_oneof![4 => vec(edit(), 1..6), 1 => vec(edit(), 33..40)]
}

fn url() -> impl Strategy<Value = String> {
    let pick = |texts: &'static [&'static str]| prop::sample::select(texts);
    let value = || prop_oneof![6 => pick(&VALUES[..]), 1 => pick(&["A%CC%8A", "a;b=1", "a'b", "%27", "x+y", "a:b/c", "..", "%A", "a%", "00.01", "x-01%2F%3a"])];
    let segment =
        || prop_oneof![8 => value(), 1 => pick(&["Abc", "x;a=1", "tl;dr", "%7e", ".", "b%", "%C3%B1%CC%83"])];
    let param = || {
        (pick(&NAMES[..]), option::weighted(0.9, value()))
            .prop_map(|(name, value)| value.map_or(name.to_owned(), |value| format!("{name}={value}")))
    };
    let query = (vec(param(), 1..5), prop_oneof![9 => Just("&"), 1 => Just(";")])
        .prop_map(|(params, separator)| format!("?{}", params.join(separator)));
    (
        prop_oneof![6 => Just("http"), 3 => Just("https"), 1 => pick(&["ftp", "foo", "wss"])],
        prop_oneof![6 => Just(""), 2 => Just("www."), 1 => pick(&["a.b.", "me@", "1.", "www.a.", "www.www."])],
        prop_oneof![9 => Just(""), 1 => pick(&[":80", ":8080", ":443"])],
        vec(segment(), 0..5).prop_map(|segments| segments.join("/")),
        prop_oneof![3 => Just(""), 1 => Just("/"), 1 => pick(&[";a=1", ";sid=2;b=1/"])],
        option::weighted(0.7, query),
        prop_oneof![9 => Just(""), 1 => Just("#!a")],
    )
        .prop_map(|(scheme, labels, port, path, end, query, hashbang)| {
            let query = query.unwrap_or_default();
            format!("{scheme}://{labels}{DOMAIN}{port}/{path}{end}{query}{hashbang}")
        })
}

/// Makes edits one by one.
struct Interpreter<'a> {
    edits: &'a [Edit],
}

impl Interpreter<'_> {
    fn key(&self, url: &ParsedUrl) -> Vec<u8> {
        let (mut parts, mut key) = (UrlParts::default(), Vec::new());
        let edits = EditList::new(self.edits).unwrap();
        if !url.is_hierarchical() || !parts.read(url, DOMAIN.len(), &edits) {
            return Normalizer::default().key(url.as_bytes()).unwrap().into_bytes();
        }
        for place in 0..edits.len() {
            parts.apply(&edits, place);
        }
        parts.write_key(&edits, &mut key);
        key
    }

    /// What the edits with fetchable results make of a URL, canonical or not.
    fn rewritten(&self, url: &ParsedUrl) -> Vec<u8> {
        let (mut parts, mut rewritten) = (UrlParts::default(), Vec::new());
        let edits = EditList::new(self.edits.iter().filter(|edit| edit.fetchable)).unwrap();
        if !url.is_hierarchical() || url.userinfo().is_some() || !parts.read(url, DOMAIN.len(), &edits) {
            return url.as_bytes().to_vec();
        }
        for place in 0..edits.len() {
            parts.apply(&edits, place);
        }
        if !parts.is_writable() {
            return url.as_bytes().to_vec();
        }
        parts.write_url(&edits, &mut rewritten);
        rewritten
    }

    fn canonical(&self, url: &ParsedUrl) -> Vec<u8> {
        let rewritten = self.rewritten(url);
        let is_canonical = ParsedUrl::parse(&rewritten).is_ok_and(|again| {
            let is_of_site = again.host() == DOMAIN.as_bytes() || again.host().ends_with(b".example.org");
            again.as_bytes() == rewritten
                && is_of_site
                && self.rewritten(&again) == rewritten
                && self.key(&again) == self.key(url)
        });
        if is_canonical { rewritten } else { url.as_bytes().to_vec() }
    }
}

fn compiled(edits: &[Edit]) -> Normalizer {
    let site = SiteRules::new(SiteSummary::default(), Vec::new()).unwrap();
    let mut rules = RuleSet::new("by hand");
    rules.insert(DOMAIN, site.with_edits(edits.to_vec()).unwrap()).unwrap();
    Normalizer::compile(&rules)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn compiled_edits_do_what_interpreted_edits_do(edits in site(), urls in vec(url(), 8)) {
        let (normalizer, interpreter) = (compiled(&edits), Interpreter { edits: &edits });
        for url in urls {
            let Ok(parsed) = ParsedUrl::parse(&url) else { continue };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let key = normalizer.key(&url).unwrap();
            prop_assert_eq!(key.to_string(), text(&interpreter.key(&parsed)), "key of {}", url);
            let canonical = normalizer.normalize(&url).unwrap();
            prop_assert_eq!(canonical.to_string(), text(&interpreter.canonical(&parsed)), "canonical of {}", url);
            // Whatever the edits are.
            prop_assert_eq!(normalizer.key(&canonical).unwrap(), key, "key of {}", canonical);
            prop_assert_eq!(normalizer.normalize(&canonical).unwrap(), canonical);
        }
    }
}
