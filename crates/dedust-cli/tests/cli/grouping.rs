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
fn groups_that_save_most_come_first_with_the_edits_that_join_them() {
    let sandbox = Sandbox::with_edits();
    sandbox.write("crawl.jsonl", CRAWL);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "crawl.jsonl"]), @"");
}

#[test]
fn every_url_is_a_row_of_csv() {
    let sandbox = Sandbox::with_edits();
    sandbox.write("urls.txt", "http://a.example/p?sid=1\nhttp://a.example/p?sid=2,3\nhttp://b.example/\n");
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "urls.txt", "--format", "csv", "-o", "groups.csv"]), @"");
    assert_snapshot!(sandbox.read("groups.csv"), @"");
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "urls.txt", "-o", "groups.csv"]), @"");
}

#[test]
fn groups_of_one_url_and_of_no_rules_can_be_asked_for() {
    let sandbox = Sandbox::with_edits();
    sandbox.write("crawl.jsonl", CRAWL);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "crawl.jsonl", "--format", "jsonl", "--min-size", "1", "-q"]), @"");
}

#[test]
fn of_many_groups_and_urls_only_some_are_shown() {
    let sandbox = Sandbox::with_edits();
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
fn compiled_rules_name_edits_by_their_places() {
    let sandbox = Sandbox::with_edits();
    sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin"]);
    sandbox.write("urls.txt", "http://a.example/p?sid=1\nhttp://a.example/p?sid=2\n");
    assert_snapshot!(sandbox.dedust(&["groups", "rules.bin", "urls.txt"]), @"");
}

#[test]
fn a_crawl_that_does_not_fit_into_memory_is_refused() {
    let sandbox = Sandbox::with_edits();
    let urls: String = (0..40_000).map(|at| format!("http://a.example/{at}\n")).collect();
    sandbox.write("urls.txt", urls);
    assert_snapshot!(sandbox.dedust(&["groups", "rules.json", "urls.txt", "--memory", "2"]), @"");
}
