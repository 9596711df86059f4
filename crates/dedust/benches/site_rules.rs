/*!
Rules such as are learned for sites of many kinds, for benchmarks.
*/

/// Closed rules as (tests, changes): sessions, mirrors, print views, tracking, a moved wiki. `SITE` is the number of the site, so
/// that no two sites have the same rules, which would be kept only once.
pub const RULES: [(&str, &str); 10] = [
    // Dropped.
    (
        r#""path_0": {"is": "view.php"}, "q.id": {"any": "digits"}, "q.sidSITE": {"any": {"class": "text", "optional": true}}"#,
        r#"{"drop": "q.sidSITE"}"#,
    ),
    // Forgotten: never seen without.
    (
        r#""path_0": {"is": "showthread.php"}, "q.t": {"any": "digits"}, "q.s": {"any": "hex"}"#,
        r#"{"forget": "q.s"}"#,
    ),
    // Moved.
    (
        r#""path_0": {"is": "index.php"}, "q.title": {"any": "slug"}"#,
        r#"{"path": [{"text": "wiki"}, {"value": {"from": {"of": "q.title"}}}]}, {"drop": "q.title"}"#,
    ),
    // Mirrored.
    (
        r#""sub_0": {"is": "www"}, "path_0": {"is": "wiki"}, "path_1": {"any": "slug"}"#,
        r#"{"drop": "sub_0"}"#,
    ),
    (
        r#""path_0": {"is": "article"}, "path_1": {"any": "slug"}, "mp.jsessionid": {"any": "word"}"#,
        r#"{"drop": "mp.jsessionid"}"#,
    ),
    (
        r#""path_0": {"is": "news"}, "path_1": {"any": "digits"}, "path_2": {"is": "print"}"#,
        r#"{"drop": "path_2"}"#,
    ),
    (r#""path_0": {"is": "tag"}, "path_1": {"any": "slug"}, "tslash": {"is": "/"}"#, r#"{"drop": "tslash"}"#),
    (
        r#""path_0": {"is": "list"}, "q.category": {"any": "word"}, "q.page": {"any": {"class": "digits", "optional": true}},
           "q.view": {"any": "word"}"#,
        r#"{"forget": "q.view"}"#,
    ),
    (
        r#""path_0": {"is": "product"}, "path_1": {"any": {"file": "html"}},
           "q.ref": {"any": {"class": "text", "optional": true}}, "q.utm_source": {"any": "text"}"#,
        r#"{"drop": "q.utm_source"}, {"drop": "q.ref"}"#,
    ),
    (
        r#""path_0": {"is": "archive"}, "path_1": {"any": "date"}, "q.sort": {"is": "date"}"#,
        r#"{"drop": "q.sort"}"#,
    ),
];

/// A rule of a rule file.
pub fn rule_json((when, changes): (&str, &str)) -> String {
    let evidence = r#"{"urls": 400, "support_pairs": 200, "false_pairs": 0, "groups": 100, "failed_groups": 0,
                       "failure_bound": 0.0295, "kinds": ["digest"]}"#;
    let is_fetchable = !changes.contains("forget");
    format!(
        r#"{{"when": {{"scheme": {{"is": "http"}}, {when}}}, "closed": true, "change": [{changes}], "last": true,
            "fetchable": {is_fetchable}, "evidence": {evidence}}}"#
    )
}
