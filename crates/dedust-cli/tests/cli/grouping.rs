/*!
`dedust groups`: which URLs rules bring together.
*/

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Rows of two pages and of one that is alone, and a line that is no URL.
const CRAWL: &str = r#"{"url":"http://a.example/p?id=1&sid=9","size":100}
{"url":"http://a.example/p?id=1","size":100}
{"url":"http://a.example/p?id=2&ref=x","size":700}
{"url":"http://a.example/p?id=2&ref=y","size":800}
{"url":"HTTP://A.example:80/p?id=2&ref=y","size":800}
{"url":"http://a.example/p?id=1&sid=9","size":5000}
{"url":"http://a.example/alone"}
{"url":"no URL"}
"#;

#[test]
fn groups_that_save_most_come_first_with_the_rules_that_join_them() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("crawl.jsonl", CRAWL);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "crawl.jsonl"]), @r"
    exit 0
    --- stdout
      group      3 URLs, 1,600 bytes saved
      canonical  http://a.example/p?id=2&ref=y, chosen of 2
      key        http://a.example/p?id=2
      joined by  rule 0 of a.example, e1648699: `ref` does not matter
      first      http://a.example/p?id=2&ref=x
                 http://a.example/p?id=2&ref=y
                 HTTP://A.example:80/p?id=2&ref=y

      group      2 URLs, 100 bytes saved
      canonical  http://a.example/p?id=1
      key        http://a.example/p?id=1
      joined by  rule 1 of a.example, 1bcc19fb: `sid` does not matter
      first      http://a.example/p?id=1&sid=9
                 http://a.example/p?id=1

    5 URLs of 6 in 2 groups: 3 duplicates, 1 of them by safe normalization alone, 1,700 bytes saved

                                   URLs    share  bytes    share
    all                               6  100.0 %  2,500  100.0 %
    duplicates                        3   50.0 %  1,700   68.0 %
      by safe normalization alone     1   16.7 %    800   32.0 %
      by rules                        2   33.3 %    900   36.0 %
    The sizes of 1 URL are not known.
    --- stderr
    warning: crawl.jsonl:8: no scheme, expected one such as `http:` at the start, row skipped: no URL
    warning: 1 of 8 rows skipped
    ");
}

#[test]
fn every_url_is_a_row_of_csv() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("urls.txt", "http://a.example/p?sid=1\nhttp://a.example/p?sid=2,3\nhttp://b.example/\n");
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "urls.txt", "--format", "csv", "-o", "groups.csv"]), @r"
    exit 0
    --- stderr
    2 URLs of 3 in 1 group: 1 duplicate, 0 of them by safe normalization alone
    ");
    assert_snapshot!(sandbox.read("groups.csv"), @r#"
    group,urls,url,bytes,first,canonical,key,rules
    1,2,http://a.example/p?sid=1,,true,http://a.example/p,http://a.example/p,a.example#1
    1,2,"http://a.example/p?sid=2,3",,false,http://a.example/p,http://a.example/p,a.example#1
    "#);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "urls.txt", "-o", "groups.csv"]), @r"
    exit 2
    --- stderr
    error: groups.csv already exists (overwrite it with --force)
    ");
}

#[test]
fn groups_of_one_url_and_of_no_rules_can_be_asked_for() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("crawl.jsonl", CRAWL);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "crawl.jsonl", "--format", "jsonl", "--min-size", "1", "-q"]), @r#"
    exit 0
    --- stdout
    {"type":"group","key":"http://a.example/p?id=2","canonical":"http://a.example/p?id=2&ref=y","canonical_urls":2,"urls":3,"bytes_saved":1600,"safe_duplicates":1,"rules":[{"site":"a.example","index":0,"id":"e1648699","rule":"`ref` does not matter"}],"members":[{"url":"http://a.example/p?id=2&ref=x","bytes":700},{"url":"http://a.example/p?id=2&ref=y","bytes":800},{"url":"HTTP://A.example:80/p?id=2&ref=y","bytes":800}]}
    {"type":"group","key":"http://a.example/p?id=1","canonical":"http://a.example/p?id=1","canonical_urls":1,"urls":2,"bytes_saved":100,"safe_duplicates":0,"rules":[{"site":"a.example","index":1,"id":"1bcc19fb","rule":"`sid` does not matter"}],"members":[{"url":"http://a.example/p?id=1&sid=9","bytes":100},{"url":"http://a.example/p?id=1","bytes":100}]}
    {"type":"group","key":"http://a.example/alone","canonical":"http://a.example/alone","canonical_urls":1,"urls":1,"bytes_saved":0,"safe_duplicates":0,"rules":[],"members":[{"url":"http://a.example/alone"}]}
    {"type":"total","urls":6,"keys":3,"groups":2,"duplicates":3,"safe_duplicates":1,"bytes":2500,"bytes_saved":1700,"safe_bytes_saved":800,"sizes_unknown":1}
    "#);
}

#[test]
fn of_many_groups_and_urls_only_some_are_shown() {
    let sandbox = Sandbox::with_two_rules();
    let urls: String = (0..21 * 6).map(|at| format!("http://a.example/{}?sid={at}\n", at % 21)).collect();
    sandbox.write("urls.txt", urls);
    let text = sandbox.dedust(&["groups", "rules.json", "urls.txt"]);
    assert_eq!(text.matches("  group ").count(), 20, "{text}");
    assert_eq!(text.matches("and 1 more").count(), 20, "{text}");
    assert!(text.contains("1 more group, which --all shows"), "{text}");
    let text = sandbox.dedust(&["groups", "rules.json", "urls.txt", "--all"]);
    assert_eq!((text.matches("  group ").count(), text.matches("more").count()), (21, 0), "{text}");
}

#[test]
fn compiled_rules_name_rules_by_their_places() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin"]);
    sandbox.write("urls.txt", "http://a.example/p?sid=1\nhttp://a.example/p?sid=2\n");
    assert_snapshot!(sandbox.dedust(&["groups", "rules.bin", "urls.txt"]), @r"
    exit 0
    --- stdout
      group      2 URLs
      canonical  http://a.example/p
      key        http://a.example/p
      joined by  rule 1 of a.example
      first      http://a.example/p?sid=1
                 http://a.example/p?sid=2

    2 URLs of 2 in 1 group: 1 duplicate, 0 of them by safe normalization alone

                                   URLs    share
    all                               2  100.0 %
    duplicates                        1   50.0 %
      by safe normalization alone     0    0.0 %
      by rules                        1   50.0 %
    ");
}

#[test]
fn a_crawl_that_does_not_fit_into_memory_is_refused() {
    let sandbox = Sandbox::with_two_rules();
    let urls: String = (0..40_000).map(|at| format!("http://a.example/{at}\n")).collect();
    sandbox.write("urls.txt", urls);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "urls.txt", "--memory", "2"]), @r"
    exit 2
    --- stderr
    error: the URLs of this crawl do not fit into 2 MB
    hint: allow more with --memory MB, or name fewer files at a time: URLs of different sites are never taken for one page, mirrors aside
    ");
}
