/*!
`dedust report`: one page of rules and a crawl. What the page does, `.ci/browser` tests in a browser.
*/

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// The data in a page.
fn data_of(html: &str) -> Value {
    let start = html.find("id=\"report-data\">").unwrap() + "id=\"report-data\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

fn without_size(text: &str) -> String {
    let start = text.find("; a page of ").unwrap();
    let end = start + text[start..].find('\n').unwrap_or(text.len() - start);
    format!("{}{}", &text[..start], &text[end..])
}

#[test]
fn a_page_is_made_of_rules_and_a_crawl() {
    let sandbox = Sandbox::with_rules();
    let said = sandbox.dedust(&["report", "rules.json", "crawl.jsonl", "-o", "report.html"]);
    assert_snapshot!(without_size(&said), @r"
    exit 0
    --- stderr
    2 sites, 2 rules applied; 120 of 240 URLs need not be fetched
    ");
    let html = sandbox.read("report.html");
    assert!(html.starts_with("<!doctype html>") && html.len() < 3_000_000, "{} bytes", html.len());
    let data = data_of(&html);
    let crawl = &data["total"]["crawl"];
    assert_eq!((&crawl["urls"], &crawl["keys"], &crawl["pages"]), (&240.into(), &120.into(), &120.into()));
    assert_eq!(data["details"].as_array().unwrap().len(), 2);
}

#[test]
fn a_page_is_not_overwritten_unless_asked_for() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("report.html", "mine");
    let said = sandbox.dedust(&["report", "rules.json", "-o", "report.html"]);
    assert!(said.starts_with("exit 2") && said.contains("--force"), "{said}");
    assert_eq!(sandbox.read("report.html"), "mine");
    let said = sandbox.dedust(&["report", "rules.json", "-o", "report.html", "--force"]);
    assert!(said.starts_with("exit 0"), "{said}");
    assert_eq!(data_of(&sandbox.read("report.html"))["total"]["crawl"], Value::Null);
}

#[test]
fn compiled_rules_need_a_crawl() {
    let sandbox = Sandbox::with_rules();
    sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin"]);
    let said = sandbox.dedust(&["report", "rules.bin", "-o", "report.html"]);
    assert!(
        said.starts_with("exit 2") && said.contains("compiled rules say nothing of themselves"),
        "{said}"
    );
    let said = sandbox.dedust(&["report", "rules.bin", "crawl.jsonl", "-o", "report.html"]);
    assert!(said.contains("120 of 240 URLs need not be fetched"), "{said}");
    let data = data_of(&sandbox.read("report.html"));
    assert!(data["compiled"].is_string() && data["details"][0]["rules"].as_array().unwrap().is_empty());
}

#[test]
fn the_same_input_gives_the_same_page() {
    let sandbox = Sandbox::with_rules();
    for name in ["a.html", "b.html"] {
        let said = sandbox.dedust(&["report", "rules.json", "crawl.jsonl", "-o", name, "--threads", "1"]);
        assert!(said.starts_with("exit 0"), "{said}");
    }
    assert!(sandbox.read("a.html") == sandbox.read("b.html"));
}
