/*!
`budget`, `dedup --budgets` and `waste`: a wiki of which old versions bring nothing, and keep coming.
*/

use serde_json::json;

use crate::sandbox::Sandbox;

/// Articles with lines of their own, and versions that show some of these.
fn wiki() -> String {
    let row = |url: String, lines: Vec<u64>| json!({"url": url, "lines": lines}).to_string() + "\n";
    let rows = (0..200u64).flat_map(|number| {
        let article: Vec<u64> = (0..20).map(|line| 1_000 * number + line).collect();
        let version = |version: u64| {
            let old = article.iter().copied().filter(|line| line % 7 != version).collect();
            row(format!("http://a.example/wiki/{number}?version={version}"), old)
        };
        let versions = [version(1), version(2)];
        [row(format!("http://a.example/wiki/{number}"), article)].into_iter().chain(versions)
    });
    rows.collect()
}

fn urls() -> String {
    (500..600).map(|n| format!("http://a.example/wiki/{n}\nhttp://a.example/wiki/{n}?version=1\n")).collect()
}

#[test]
fn what_brings_nothing_is_left_out_and_counted() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("crawl.jsonl", wiki());
    sandbox.write("urls.txt", urls());
    let learned = sandbox.run(&["budget", "crawl.jsonl", "-o", "budgets.json"]);
    let said = String::from_utf8(learned.stderr).unwrap();
    assert_eq!(learned.status.code(), Some(0), "{said}");
    assert!(said.contains("version=") && said.contains("endless"), "{said}");
    let left = sandbox.run(&["dedup", "rules.json", "urls.txt", "--budgets", "budgets.json"]);
    let (out, said) = (String::from_utf8(left.stdout).unwrap(), String::from_utf8(left.stderr).unwrap());
    assert_eq!(out.lines().filter(|url| !url.contains('?')).count(), 100, "articles are fetched");
    let versions = out.lines().filter(|url| url.contains('?')).count();
    assert!(versions < 20, "{out}");
    assert!(
        said.contains(&format!("{} of 200 URLs not fetched because of budgets", 100 - versions)),
        "{said}"
    );
}

#[test]
fn what_was_left_out_is_printed_when_the_budget_rises() {
    let sandbox = Sandbox::with_two_rules();
    sandbox.write("urls.txt", urls());
    let budgets = |fetch: f64| {
        let when = json!([{"part": "name", "is": "version"}]);
        let pattern = json!({"host": "a.example", "when": when, "fetch": fetch, "decided": true});
        json!({"version": 1, "keep_text": 0.99, "patterns": [pattern]}).to_string()
    };
    let mut printed = Vec::new();
    for fetch in [0.0, 1.0] {
        sandbox.write("budgets.json", budgets(fetch));
        let run =
            sandbox.run(&["dedup", "rules.json", "urls.txt", "--seen", "seen", "--budgets", "budgets.json"]);
        printed.push(String::from_utf8(run.stdout).unwrap().lines().count());
    }
    assert_eq!(printed, [100, 100], "articles first, then the versions that were left out");
}

#[test]
fn waste_is_one_sentence() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", wiki());
    let run = sandbox.run(&["waste", "crawl.jsonl"]);
    let out = String::from_utf8(run.stdout).unwrap();
    let first = out.lines().next().unwrap_or_default();
    assert!(first.ends_with("of these fetches were not needed: 0 % duplicates, 66 % endless."), "{out}");
    assert!(out.lines().nth(1).is_some_and(|bar| bar.starts_with("EEEE") && bar.ends_with("....")), "{out}");
}

#[test]
fn a_crawl_of_which_nothing_is_known_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("urls.txt", urls());
    let run = sandbox.run(&["budget", "urls.txt", "-o", "budgets.json"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8(run.stderr).unwrap().contains("nothing is known of the pages of this crawl"));
}
