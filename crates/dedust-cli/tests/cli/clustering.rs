/*!
`dedust cluster` and `dedust evaluate --labels`: labels from pages and from evidence, and whether they are right.
*/

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// One record of an archive.
fn record(url: &str, http_head: &str, body: &str) -> String {
    let http = format!("{http_head}\r\n\r\n{body}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

fn page(url: &str, html: &str) -> String {
    record(url, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8", html)
}

/// An article with all that surrounds it: where one is, what was read last, when it was changed.
fn article(title: &str, place: &str, visits: usize, matter: &str) -> String {
    format!(
        "<title>{title}</title><body><nav><a href=/>Home</a></nav><p class=trail>You are here: {place}</p>\
         <div class=text><p>{matter}</p><p>{matter}</p></div><p class=changed>{visits} visits so far</p>"
    )
}

/// Articles that are each there under two URLs with another trail and another counter, a page to log in under every
/// path, and a redirect.
fn archive() -> String {
    let mut archive = String::new();
    for number in 0..12 {
        let matter =
            format!("Article {number} tells at length what number {number} is about, and why. ").repeat(3);
        for view in ["", "?view=1"] {
            let url = format!("http://wiki.example/{number}{view}");
            let place = format!("{number}{view}");
            let visits = number * 10 + view.len();
            archive += &page(&url, &article(&format!("No. {number}"), &place, visits, &matter));
        }
        let ask =
            "You are not logged in. Type in your name and your password, then press the button. ".repeat(2);
        archive += &page(
            &format!("http://wiki.example/{number}?do=login"),
            &article("Log in", &format!("{number}"), number, &ask),
        );
    }
    archive += &record("http://wiki.example/one", "HTTP/1.1 301 Moved\r\nLocation: /1", "");
    archive
}

fn truth() -> String {
    let mut truth = String::new();
    for number in 0..12 {
        truth += &format!("{{\"url\":\"http://wiki.example/{number}\",\"page\":\"{number}\"}}\n");
        truth += &format!("{{\"url\":\"http://wiki.example/{number}?view=1\",\"page\":\"{number}\"}}\n");
        truth += &format!("{{\"url\":\"http://wiki.example/{number}?do=login\",\"page\":\"login\"}}\n");
    }
    truth + "{\"url\":\"http://wiki.example/one\",\"page\":\"1\"}\n"
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.warc", archive());
    sandbox.write("truth.jsonl", truth());
    sandbox
}

#[test]
fn pages_are_clustered_by_what_they_are_about() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.dedust(&["cluster", "crawl.warc", "-o", "labelled.jsonl"]), @r"
    exit 0
    --- stderr
    37 URLs, 13 pages, 24 duplicates
    URLs tied by kind of evidence: main 36, redirect 2

    largest clusters
    title  URLs  paths       evidence
    No. 1     3      1  redirect+main
      http://wiki.example/1
    No. 0     2      1           main
      http://wiki.example/0
    No. 2     2      1           main
      http://wiki.example/2
    No. 3     2      1           main
      http://wiki.example/3
    No. 4     2      1           main
      http://wiki.example/4
    No. 5     2      1           main
      http://wiki.example/5
    No. 6     2      1           main
      http://wiki.example/6
    No. 7     2      1           main
      http://wiki.example/7
    No. 8     2      1           main
      http://wiki.example/8
    No. 9     2      1           main
      http://wiki.example/9

    suspected soft errors: one page under many paths
    title   URLs  paths  evidence
    Log in    12     12      main
      http://wiki.example/0?do=login

    observations written to labelled.jsonl
    ");
    let labelled = sandbox.read("labelled.jsonl");
    assert_eq!(labelled.lines().count(), 37);
    let cluster_of = |url: &str| {
        let start = format!("{{\"url\":\"{url}\",\"cluster\":");
        let line = labelled.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
        line.split(',').next().unwrap().to_owned()
    };
    assert_eq!(cluster_of("http://wiki.example/1"), cluster_of("http://wiki.example/1?view=1"));
    assert_eq!(cluster_of("http://wiki.example/1"), cluster_of("http://wiki.example/one"));
    assert_eq!(cluster_of("http://wiki.example/1?do=login"), cluster_of("http://wiki.example/7?do=login"));
    assert_ne!(cluster_of("http://wiki.example/1"), cluster_of("http://wiki.example/2"));
    assert!(
        labelled.starts_with("{\"url\":\"http://wiki.example/0\",\"cluster\":0,\"evidence\":"),
        "in the order of the input"
    );
}

#[test]
fn labels_are_scored_by_the_truth() {
    let sandbox = sandbox();
    sandbox.dedust(&["cluster", "crawl.warc", "-o", "labelled.jsonl"]);
    let right =
        sandbox.dedust(&["evaluate", "--labels", "truth.jsonl", "labelled.jsonl", "--min-recall", "1"]);
    assert_snapshot!(right, @r"
    exit 0
    --- stdout
    labels
    URLs                37
    in a cluster        37
    pages               13
    clusters            13
    pair precision  1.0000
    pair recall     1.0000
    wrong           0.0000
    --- stderr
    read labelled.jsonl as JSON Lines; ignored columns: evidence, main_digest
    ");
    // The pages themselves will do, with any evidence.
    let by_text = [
        "evaluate",
        "--labels",
        "truth.jsonl",
        "crawl.warc",
        "--evidence",
        "signature",
        "--min-recall",
        "0.5",
    ];
    assert_snapshot!(sandbox.dedust(&by_text), @r"
    exit 1
    --- stdout
    labels
    URLs                37
    in a cluster        36
    pages               13
    clusters            37
    pair precision  1.0000
    pair recall     0.0000
    wrong           0.0000
    --- stderr
    missed: pair recall 0.000000 is below --min-recall 0.5
    ");
    let json = ["evaluate", "--labels", "truth.jsonl", "labelled.jsonl", "--format", "json"];
    assert_snapshot!(sandbox.dedust(&json), @r#"
    exit 0
    --- stdout
    {"type":"labels","urls":37,"labelled":37,"pages":13,"clusters":13,"tied_pairs":80,"false_pairs":0,"duplicate_pairs":80,"pair_precision":1.0,"pair_recall":1.0,"wrong":0,"wrong_share":0.0,"not_in_truth":0}
    --- stderr
    read labelled.jsonl as JSON Lines; ignored columns: evidence, main_digest
    "#);
}

#[test]
fn labels_of_other_urls_cannot_be_scored() {
    let sandbox = sandbox();
    sandbox.write("other.jsonl", "{\"url\":\"http://other.example/\",\"cluster\":1}\n");
    sandbox.write("urls.txt", "http://wiki.example/0\n");
    assert_snapshot!(sandbox.dedust(&["evaluate", "--labels", "truth.jsonl", "other.jsonl"]), @r"
    exit 2
    --- stderr
    error: truth.jsonl tells nothing of the 1 URL to be scored
    hint: TRUTH and LABELLED must spell URLs in the same way
    ");
    assert_snapshot!(sandbox.dedust(&["evaluate", "--labels", "urls.txt", "other.jsonl"]), @r"
    exit 2
    --- stderr
    error: urls.txt tells the page of no URL
    hint: it needs a column `page` or `cluster`
    ");
    assert_snapshot!(sandbox.dedust(&["evaluate", "rules.json"]), @r"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <LABELLED>...

    Usage: dedust evaluate [OPTIONS] <RULES> <LABELLED>...
           dedust evaluate [OPTIONS] --labels <TRUTH> <LABELLED>...

    For more information, try '--help'.
    ");
}

#[test]
fn the_report_for_programs_goes_to_stdout() {
    let sandbox = sandbox();
    let run = sandbox.run(&["cluster", "crawl.warc", "-o", "labelled.jsonl", "--format", "json"]);
    let lines = String::from_utf8(run.stdout).unwrap();
    let (clusters, total) = lines.trim_end().rsplit_once('\n').unwrap();
    assert_snapshot!(total, @r#"{"type":"total","urls":37,"labelled":37,"clusters":13,"duplicates":24,"evidence":{"main":36,"redirect":2},"suspects":1,"suspect_urls":12}"#);
    assert_eq!(clusters.matches("\"suspect\":true").count(), 1);
    assert!(clusters.contains("\"title\":\"Log in\""));
    let both = sandbox.dedust(&["cluster", "crawl.warc", "-o", "-", "--format", "json"]);
    assert_snapshot!(both, @r"
    exit 2
    --- stderr
    error: `-o -` and `--format json` both write to standard output
    hint: write the observations to a file
    ");
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let sandbox = sandbox();
    for threads in ["1", "3"] {
        sandbox.dedust(&["cluster", "crawl.warc", "-o", threads, "--threads", threads]);
    }
    assert_eq!(sandbox.read("1"), sandbox.read("3"));
}

#[test]
fn evidence_in_rows_is_clustered_too() {
    let sandbox = Sandbox::new();
    let rows = "http://a.example/,d1\nhttp://a.example/x,d1\nhttp://a.example/y,\n";
    sandbox.write("rows.csv", format!("url,digest\n{rows}"));
    assert_snapshot!(sandbox.dedust(&["cluster", "rows.csv", "-o", "-", "-q"]), @r#"
    exit 0
    --- stdout
    {"url":"http://a.example/","cluster":0,"evidence":"digest","digest":"d1"}
    {"url":"http://a.example/x","cluster":0,"evidence":"digest","digest":"d1"}
    {"url":"http://a.example/y","cluster":null}
    "#);
}

#[test]
fn rules_are_learned_from_an_archive() {
    let sandbox = sandbox();
    let report = sandbox.dedust(&["learn", "crawl.warc", "-o", "rules.json"]);
    assert!(report.contains("rule written") || report.contains("rules written"), "{report}");
}

#[test]
fn relative_links_are_those_of_their_page() {
    let sandbox = Sandbox::with_two_rules();
    let crawl = r#"{"url":"http://b.example/docs/one?s=1","canonical":"one"}
{"url":"http://b.example/docs/one?s=2","canonical":"../docs/one"}
{"url":"http://b.example/docs/two?s=1","redirect":"?s=2","status":302}
{"url":"http://b.example/docs/two?s=2"}
{"url":"http://b.example/news/one?s=1","canonical":"one"}
{"url":"http://b.example/news/one?s=2","canonical":"//b.example/news/one"}
{"url":"http://b.example/none/one","canonical":"null"}
"#;
    sandbox.write("crawl.jsonl", crawl);
    assert_eq!(sandbox.dedust(&["cluster", "crawl.jsonl", "-o", "labelled.jsonl", "-q"]), "exit 0\n");
    let clusters: Vec<_> = sandbox
        .read("labelled.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["cluster"].clone())
        .collect();
    assert_snapshot!(serde_json::to_string(&clusters).unwrap(), @"[0,0,1,1,2,2,null]");
    // Scored by the same labels: seven URLs less one of which nothing is known, three pages.
    let scores = sandbox.dedust(&["evaluate", "rules.json", "crawl.jsonl"]);
    assert!(scores.contains("\nb.example     6      3 "), "{scores}");
}
