/*!
Rules such as are learned for sites of many kinds, for benchmarks.
*/

/// Rules as (pattern, target): sessions, mirrors, print views, tracking, a moved wiki. `SITE` is the number of the site, so
/// that no two sites have the same rules, which would be kept only once.
pub const RULES: [(&str, &str); 10] = [
    // Dropped.
    (
        r#""path_0": {"is": "view.php"}, "q.id": {"any": {"class": "digits"}},
           "q.sidSITE": {"any": {"class": "text", "optional": true}}"#,
        r#""path_0": {"keep": "view.php"}, "q.id": {"copy": "q.id"}"#,
    ),
    // Ignored: never seen without.
    (
        r#""path_0": {"is": "showthread.php"}, "q.t": {"any": {"class": "digits"}},
           "q.s": {"any": {"class": "hex"}}"#,
        r#""path_0": {"keep": "showthread.php"}, "q.t": {"copy": "q.t"}, "q.s": "ignore""#,
    ),
    // Moved.
    (
        r#""path_0": {"is": "index.php"}, "q.title": {"any": {"class": "slug"}}"#,
        r#""path_0": {"keep": "wiki"}, "path_1": {"copy": "q.title"}"#,
    ),
    // Mirrored.
    (
        r#""sub_0": {"is": "www"}, "path_0": {"is": "wiki"}, "path_1": {"any": {"class": "slug"}}"#,
        r#""path_0": {"keep": "wiki"}, "path_1": {"copy": "path_1"}"#,
    ),
    (
        r#""path_0": {"is": "article"}, "path_1": {"any": {"class": "slug"}},
           "mp.jsessionid": {"any": {"class": "word"}}"#,
        r#""path_0": {"keep": "article"}, "path_1": {"copy": "path_1"}"#,
    ),
    (
        r#""path_0": {"is": "news"}, "path_1": {"any": {"class": "digits"}}, "path_2": {"is": "print"}"#,
        r#""path_0": {"keep": "news"}, "path_1": {"copy": "path_1"}"#,
    ),
    (
        r#""path_0": {"is": "tag"}, "path_1": {"any": {"class": "slug"}}, "tslash": {"is": "/"}"#,
        r#""path_0": {"keep": "tag"}, "path_1": {"copy": "path_1"}"#,
    ),
    (
        r#""path_0": {"is": "list"}, "q.category": {"any": {"class": "word"}},
           "q.page": {"any": {"class": "digits", "optional": true}}, "q.view": {"any": {"class": "word"}}"#,
        r#""path_0": {"keep": "list"}, "q.category": {"copy": "q.category"}, "q.page": {"copy": "q.page"},
           "q.view": "ignore""#,
    ),
    (
        r#""path_0": {"is": "product"}, "path_1": {"any": {"class": {"file": "html"}}},
           "q.ref": {"any": {"class": "text", "optional": true}}, "q.utm_source": {"any": {"class": "text"}}"#,
        r#""path_0": {"keep": "product"}, "path_1": {"copy": "path_1"}"#,
    ),
    (
        r#""path_0": {"is": "archive"}, "path_1": {"any": {"class": "date"}}, "q.sort": {"is": "date"}"#,
        r#""path_0": {"keep": "archive"}, "path_1": {"copy": "path_1"}"#,
    ),
];

/// A rule of a rule file.
pub fn rule_json((pattern, target): (&str, &str)) -> String {
    let evidence = r#"{"urls": 400, "support_pairs": 200, "false_pairs": 0, "groups": 100, "failed_groups": 0,
                       "failure_bound": 0.0295, "kinds": ["digest"]}"#;
    format!(
        r#"{{"pattern": {{"scheme": {{"is": "http"}}, {pattern}}},
            "rewrite": {{"target": {{"scheme": {{"keep": "http"}}, {target}}}}}, "evidence": {evidence}}}"#
    )
}
