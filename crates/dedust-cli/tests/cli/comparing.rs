/*!
`dedust compare`: methods side by side.
*/

use std::path::Path;

use insta::{assert_snapshot, with_settings};
use serde_json::Value;

use crate::sandbox::{Sandbox, shop};

/// A folder with `crawl.jsonl`, of which [`shop`] tells.
fn crawled() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", shop().join(""));
    sandbox
}

/// The lines of `--format json`.
fn records(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let run = sandbox.run(&[&["compare", "--format", "json", "-q"], args].concat());
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_type<'r>(records: &'r [Value], name: &str) -> Vec<&'r Value> {
    records.iter().filter(|record| record["type"] == name).collect()
}

#[test]
fn methods_are_rows_of_a_table_per_scope() {
    let sandbox = crawled();
    let args =
        ["compare", "crawl.jsonl", "--methods", "standard,keep-all", "--train", "0.5", "--split", "order"];
    with_settings!({filters => vec![
        // Seconds, megabytes and nanoseconds end the lines that have rule counts before them.
        (r"( 0)  +\d+\.\d{3}  +(\d+\.\d|-)  +\d+\n", "$1  [costs]\n"),
    ]}, {
        assert_snapshot!(sandbox.dedust(&args), @r"
        exit 0
        --- stdout
        the unseen rest: 120 URLs, 60 pages, 50.0 % achievable, micro average
        method    compression  dup-reduction     fpr  precision  recall      F1  URL F1  raw  qualified  rules  learn s  peak MB  ns/URL
        standard       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667    0          0      0  [costs]
        keep-all       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667    0          0      0  [costs]

        the unseen rest: 120 URLs, 60 pages, 50.0 % achievable, macro average
        method    compression  dup-reduction     fpr  precision  recall      F1  URL F1
        standard       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667
        keep-all       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667

        the whole: 240 URLs, 120 pages, 50.0 % achievable, micro average
        method    compression  dup-reduction     fpr  precision  recall      F1  URL F1
        standard       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667
        keep-all       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667

        the whole: 240 URLs, 120 pages, 50.0 % achievable, macro average
        method    compression  dup-reduction     fpr  precision  recall      F1  URL F1
        standard       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667
        keep-all       0.0000         0.0000  0.0000     0.5000  1.0000  0.6667  0.6667
        --- stderr
        2 sites, 240 URLs; learned from 120 (the first 50.0 %); scored on 240, 120 of them unseen; pages known from the evidence of the input itself
        ");
    });
}

#[test]
fn what_is_unseen_and_what_was_learned_from_make_the_whole() {
    let sandbox = crawled();
    for split in ["random", "order"] {
        let records = records(&sandbox, &["crawl.jsonl", "--methods", "tree-graph", "--split", split]);
        let number = |record: &Value, path: &str| record.pointer(path).unwrap().as_u64().unwrap();
        let sites = of_type(&records, "site");
        assert_eq!(sites.len(), 2);
        let total = of_type(&records, "split")[0];
        assert_eq!((&total["split"], &total["labels"]), (&split.into(), &"evidence".into()));
        for record in sites.iter().chain([&total]) {
            let unseen = number(record, "/unseen/urls");
            assert_eq!(number(record, "/train_urls") + unseen, number(record, "/whole/urls"), "{record}");
        }
        let pooled: u64 =
            of_type(&records, "method").iter().map(|row| number(row, "/unseen/canonical")).sum();
        assert_eq!(number(of_type(&records, "micro")[0], "/unseen/canonical"), pooled);
        assert_eq!(of_type(&records, "macro").len(), 1);
    }
}

#[test]
fn figures_are_those_of_evaluate_on_the_same_split() {
    let sandbox = Sandbox::new();
    let rows: Vec<String> = shop().into_iter().filter(|row| row.contains("shop.example")).collect();
    let (train, rest) = rows.split_at(rows.len() / 2);
    sandbox.write("crawl.jsonl", rows.join(""));
    sandbox.write("train.jsonl", train.join(""));
    sandbox.write("rest.jsonl", rest.join(""));
    let args = ["crawl.jsonl", "--methods", "tree-graph", "--train", "0.5", "--split", "order"];
    let records = records(&sandbox, &args);
    let learn = ["learn", "train.jsonl", "-o", "rules.json", "-q", "--method", "tree-graph"];
    assert_eq!(sandbox.dedust(&learn), "exit 0\n");
    for (scope, file) in [("unseen", "rest.jsonl"), ("whole", "crawl.jsonl")] {
        let run = sandbox.run(&["evaluate", "rules.json", file, "--format", "json"]);
        let site: Value =
            serde_json::from_slice(run.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        let row = &of_type(&records, "method")[0][scope];
        for name in ["urls", "pages", "canonical", "covered", "false_pairs", "compression", "fpr", "f1"] {
            assert_eq!(row[name], site[name], "{name} of {scope}");
        }
        assert_eq!(row["url_f1"], site["url"]["f1"], "{scope}");
    }
    assert!(of_type(&records, "method")[0]["rules"].as_u64() > Some(0));
}

#[test]
fn a_real_crawl_is_scored_by_the_truth() {
    let sandbox = Sandbox::new();
    // The sample is for the README, too, and lies at the root of the repository: a packaged crate is without.
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sample/");
    if !Path::new(sample).exists() {
        eprintln!("not tested: {sample} is not there");
        return;
    }
    let (crawl, truth) = (format!("{sample}blog.jsonl.gz"), format!("{sample}blog-unseen.jsonl.gz"));
    let args = [&crawl, "--truth", &truth, "--methods", "tree-graph,keep-all", "--max-train", "800"];
    let records = records(&sandbox, &args);
    let split = of_type(&records, "split")[0];
    assert_eq!((&split["labels"], &split["train_urls"]), (&"truth".into(), &800.into()));
    let rows = of_type(&records, "micro");
    let f1 = |row: &Value| row["unseen"]["f1"].as_f64().unwrap();
    assert!(f1(rows[0]) > f1(rows[1]), "{} against {}", rows[0], rows[1]);
    assert_eq!(rows[1]["whole"]["f1"], split["whole"]["keep_all_f1"]);
    if cfg!(target_os = "linux") {
        assert!(rows[0]["peak_bytes"].as_u64() > Some(1_000_000), "{}", rows[0]);
    }
}

#[test]
fn the_sweep_and_the_page_come_with_html() {
    let sandbox = crawled();
    // In order, as half of so few URLs drawn at random has too few duplicates for a candidate.
    let split = ["--train", "0.5", "--split", "order"];
    let args =
        [&["crawl.jsonl", "--methods", "tree-graph,standard", "--html", "page.html"], &split[..]].concat();
    let records = records(&sandbox, &args);
    let sweep = of_type(&records, "sweep");
    assert_eq!(sweep.len(), 2 * 11);
    assert!(sweep[21]["qualified_rate"].is_null() && sweep[0]["qualified_rate"].is_number());
    let at_default = sweep.iter().find(|point| point["max_fpr"] == 0.05).unwrap();
    assert_eq!(at_default["micro"]["unseen"]["f1"], of_type(&records, "micro")[0]["unseen"]["f1"]);
    let page = sandbox.read("page.html");
    for part in
        ["tree-graph", "shop.example", "<svg", "Dup-reduction over", "prefers-color-scheme", "</html>"]
    {
        assert!(page.contains(part), "{part}");
    }
    for foreign in ["<script", "<link", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert_eq!(sandbox.names(), ["crawl.jsonl", "page.html"]);
    let again = sandbox.dedust(&["compare", "crawl.jsonl", "--methods", "standard", "--html", "page.html"]);
    assert!(again.starts_with("exit 2\n") && again.contains("page.html"), "{again}");
    assert_eq!(sandbox.read("page.html"), page);
    let force = ["compare", "crawl.jsonl", "--methods", "standard", "--html", "page.html", "--force", "-q"];
    assert_eq!(sandbox.run(&force).status.code(), Some(0));
    assert_ne!(sandbox.read("page.html"), page);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let sandbox = crawled();
    sandbox.write("elsewhere.csv", "url,page\nhttp://other.example/,1\n");
    sandbox.write("bare.txt", "http://a.example/1\nhttp://a.example/2\n");
    let refused = |args: &[&str]| {
        let run = sandbox.dedust(&[&["compare"], args].concat());
        assert!(run.starts_with("exit 2\n--- stderr\n"), "{run}");
        run
    };
    let unknown = refused(&["crawl.jsonl", "--methods", "standard,magic"]);
    assert!(unknown.contains("magic") && unknown.contains("tree-graph"), "{unknown}");
    for share in ["0", "1.5", "NaN"] {
        let train = refused(&["crawl.jsonl", "--train", share]);
        assert!(train.contains("above 0 and at most 1"), "{train}");
    }
    assert!(refused(&["crawl.jsonl", "--max-train", "0"]).contains("at least one URL"));
    assert!(refused(&["crawl.jsonl", "--max-fpr", "2"]).contains("--max-fpr is 2"));
    let foreign = refused(&["crawl.jsonl", "--truth", "elsewhere.csv"]);
    assert!(foreign.contains("a site that is in the input"), "{foreign}");
    assert!(refused(&["bare.txt"]).contains("--truth"));
    assert!(refused(&["crawl.jsonl", "--html", "no/such/page.html"]).contains("folder must exist"));
}

#[test]
fn mirrors_are_left_out_as_learn_leaves_them_out() {
    let sandbox = Sandbox::new();
    let pages = (0..50).flat_map(|page| {
        ["old", "new"].map(|site| {
            let url = format!("http://{site}.example/{page}");
            let canonical = format!("http://new.example/{page}");
            serde_json::json!({"url": url, "canonical": canonical, "digest": format!("{page}")}).to_string()
                + "\n"
        })
    });
    sandbox.write("crawl.jsonl", pages.collect::<String>());
    let note = |args: &[&str]| {
        let run = sandbox.run(&[&["compare", "crawl.jsonl", "--train", "1"], args].concat());
        String::from_utf8(run.stderr).unwrap().contains(
            "nothing is learned by canonfd from 1 site that shows the pages of another, such as old.example those of \
             new.example",
        )
    };
    assert!(note(&["--methods", "canonfd,standard"]));
    assert!(!note(&["--methods", "canonfd,standard", "--no-mirrors"]));
    assert!(!note(&["--methods", "standard"]));
}
