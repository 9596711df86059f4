/*!
`dedust validate`, against a web server in the process of the test.
*/

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dedust_test_server::{Reply, Server, document};
use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox::{Sandbox, report};

/// Rules for a host: `index.html` is left out, `/view` forgets `sid`, and `/old?id=` becomes `/new/ID`.
fn rules(site: &str) -> String {
    format!(
        r#"{{"version": 1, "method": "by hand", "sites": {{"{site}": {{"rules": [
            {{"change": [{{"replace": [{{"from": "index.html", "to": "", "at_end": true}}]}}], "fetchable": true}},
            {{"when": {{"path_0": {{"is": "view"}}}}, "change": [{{"forget": "q.sid"}}]}},
            {{"when": {{"path_0": {{"is": "old"}}, "q.id": {{"any": "digits"}}}},
              "change": [{{"path": [{{"text": "new"}}, {{"value": {{"from": {{"of": "q.id"}}}}}}]}}, {{"drop": "q.id"}}],
              "last": true, "fetchable": true}}
        ]}}}}}}"#
    )
}

/// A server, and a folder with rules for it and 30 URLs for each of them.
fn setup(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> (Server, Sandbox) {
    let server = Server::start(answer);
    let sandbox = Sandbox::new();
    sandbox.write("rules.json", rules("127.0.0.1"));
    sandbox.write("urls.txt", urls(&server, 30));
    (server, sandbox)
}

fn urls(server: &Server, count: usize) -> String {
    (0..count)
        .flat_map(|id| {
            let paths = [
                format!("/view?id={id}&sid=1"),
                format!("/view?id={id}&sid=2"),
                format!("/old?id={id}"),
                format!("/d{id}/index.html"),
            ];
            paths.map(|path| server.url(&path) + "\n")
        })
        .collect()
}

pub(crate) const FAST: [&str; 10] = [
    "validate",
    "rules.json",
    "urls.txt",
    "--allow-host",
    "127.0.0.1",
    "--delay",
    "0s",
    "--samples",
    "20",
    "--no-progress",
];

pub(crate) fn validate(sandbox: &Sandbox, more: &[&str]) -> Output {
    sandbox.run(&[&FAST[..], more].concat())
}

/// The lines of `--format json`.
pub(crate) fn records(run: &Output) -> Vec<serde_json::Value> {
    // 1 where a rule was refuted.
    assert!(matches!(run.status.code(), Some(0 | 1)), "{}", report(run));
    let text = String::from_utf8(run.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Outcome, same, different and failed of each rule.
fn outcomes(records: &[serde_json::Value]) -> Vec<(&str, u64, u64, u64)> {
    let rules = records.iter().filter(|record| record["type"] == "rule");
    let number = |record: &serde_json::Value, name: &str| record[name].as_u64().unwrap();
    rules
        .map(|record| {
            let count = |name| number(record, name);
            (record["outcome"].as_str().unwrap(), count("same"), count("different"), count("failed"))
        })
        .collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The first two numbers of a target.
fn numbers(target: &str) -> (u64, u64) {
    let mut numbers = target.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Every rule holds.
fn honest(target: &str) -> Reply {
    let (id, visit) = numbers(target);
    match target.split(['/', '?']).nth(1) {
        Some("view") => Reply::html(document(id, visit)),
        Some("old") => Reply::redirect(&format!("/new/{id}")),
        Some("new") => Reply::html(document(1000 + id, 0)),
        // One of the two is sent compressed.
        Some(folder) if target.ends_with("/index.html") && folder.starts_with('d') => Reply::Status(
            200,
            "Content-Type: text/html\r\nContent-Encoding: gzip\r\n".into(),
            gzip(&document(2000 + id, 0)),
        ),
        Some(folder) if folder.starts_with('d') => Reply::html(document(2000 + id, 1)),
        _ => Reply::status(404),
    }
}

#[test]
fn rules_that_hold_are_confirmed_and_stay() {
    let (server, sandbox) = setup(honest);
    let run = validate(&sandbox, &["--format", "json", "--date", "2024-05-01"]);
    let records = records(&run);
    assert_eq!(outcomes(&records), [("confirmed", 19, 0, 0); 3]);
    assert_eq!(records[3]["confirmed"], 3);
    assert_eq!(records[3]["requests"].as_u64(), Some(server.requests().len() as u64));
    assert_eq!((server.requests()[0].as_str(), server.count("/robots.txt")), ("/robots.txt", 1));
    assert_eq!((server.count("/view"), server.count("/old"), server.max_active()), (38, 19, 1));
    let introduced = |headers: &String| headers.contains("user-agent: dedust/0.1 (url normalization check)");
    assert!(server.headers().iter().all(introduced));
    assert_eq!(sandbox.names(), ["rules.json", "urls.txt"]);
    let rules: serde_json::Value = serde_json::from_str(&sandbox.read("rules.json")).unwrap();
    let canonical = json!({"outcome": "confirmed", "alive": 19, "redirected": 0, "missing": 0, "different": 0, "failed": 0});
    for (index, is_fetchable) in [true, false, true].into_iter().enumerate() {
        let mut verdict =
            json!({"outcome": "confirmed", "same": 19, "different": 0, "failed": 0, "date": "2024-05-01"});
        if is_fetchable {
            verdict["canonical"] = canonical.clone();
        }
        assert_eq!(rules["sites"]["127.0.0.1"]["rules"][index]["evidence"]["verdict"], verdict);
        let said = &records[index]["canonical"];
        assert_eq!(said["alive"].as_u64(), is_fetchable.then_some(19));
        assert_eq!(said["failure_bound"].as_f64(), is_fetchable.then_some(0.1459));
    }
    let old = server.url("/old?id=77\n");
    let normalized = sandbox.run_with(&["normalize", "rules.json"], old.as_bytes());
    assert_eq!(String::from_utf8(normalized.stdout).unwrap(), server.url("/new/77\n"));
}

#[test]
fn rules_that_do_not_hold_are_refuted_and_no_longer_applied() {
    let (server, sandbox) = setup(|target| match (target.split(['/', '?']).nth(1), numbers(target)) {
        (Some("view"), (id, visit)) => Reply::html(document(100 * visit + id, 0)),
        (Some("old"), (id, _)) => Reply::html(document(id, 0)),
        (Some("new"), _) => Reply::status(410),
        _ => honest(target),
    });
    let run = report(&validate(&sandbox, &["-o", "checked.json"]));
    let host = server.url("");
    let run = run.replace(&host, "http://HOST");
    let table: Vec<&str> =
        run.lines().filter(|line| line.starts_with("127.0.0.1 ") || line.starts_with("rule ")).collect();
    assert_snapshot!(table[..4].join("\n"), @r"
    rule                outcome  same  different  failed
    127.0.0.1 rule 0  confirmed    19          0       0
    127.0.0.1 rule 1    refuted     0          4       0
    127.0.0.1 rule 2    refuted     0          4       0
    ");
    assert!(run.contains("brings together different pages:\n    http://HOST/view?id="), "{run}");
    assert!(run.contains("\n3 rules: 1 confirmed, 2 refuted, 0 unknown; "), "{run}");
    assert!(run.ends_with("verdicts written to checked.json\n"), "{run}");
    assert!(!sandbox.read("rules.json").contains("verdict"));
    for path in ["/old?id=7\n", "/view?id=1&sid=2\n"] {
        let url = server.url(path);
        let key = sandbox.run_with(&["normalize", "checked.json", "--key"], url.as_bytes());
        assert_eq!(String::from_utf8(key.stdout).unwrap(), url);
    }
    let explained = sandbox.dedust(&["explain", "checked.json", &server.url("/old?id=7")]);
    assert!(explained.contains("3 rules, 2 of them refuted"), "{explained}");
}

#[test]
fn rules_whose_canonical_urls_are_not_alive_change_keys_only() {
    // The rule for `/old` writes URLs that lead on.
    let (server, sandbox) = setup(|target| match (target.split(['/', '?']).nth(1), numbers(target).0) {
        (Some("old" | "page"), id) => Reply::html(document(1000 + id, 0)),
        (Some("new"), id) => Reply::redirect(&format!("/page/{id}")),
        _ => honest(target),
    });
    let run = report(&validate(&sandbox, &["-o", "checked.json"])).replace(&server.url(""), "http://HOST");
    let table: Vec<&str> = run.lines().skip_while(|line| !line.starts_with("canonical URLs of")).collect();
    assert_snapshot!(table[..3].join("\n"), @r"
    canonical URLs of  alive  redirect  missing  other page  failed  not alive at most
    127.0.0.1 rule 0      19         0        0           0       0             14.6 %
    127.0.0.1 rule 2       0         4        0           0       0            100.0 %
    ");
    let sentence = "  it changes keys only, since of 4 canonical URLs 4 redirect, 0 are missing and 0 show another page\n    http://HOST/old?id=";
    assert!(run.contains(sentence), "{run}");
    let url = server.url("/old?id=7");
    let normalized = sandbox.run_with(&["normalize", "checked.json"], format!("{url}\n").as_bytes());
    assert_eq!(String::from_utf8(normalized.stdout).unwrap(), format!("{url}\n"));
    let key = sandbox.run_with(&["normalize", "checked.json", "--key"], format!("{url}\n").as_bytes());
    assert_eq!(String::from_utf8(key.stdout).unwrap(), server.url("/new/7\n"));
    let explained = sandbox.dedust(&["explain", "checked.json", &url]);
    assert!(
        explained.contains("different ones; it changes keys only, since of 4 canonical URLs 4 redirect"),
        "{explained}"
    );
}

#[test]
fn nothing_private_is_fetched_unless_allowed() {
    let (server, sandbox) = setup(honest);
    let run = sandbox.run(&["validate", "rules.json", "urls.txt", "--delay", "0s", "--format", "json"]);
    let records = records(&run);
    assert_eq!(outcomes(&records), [("unknown", 0, 0, 30); 3]);
    assert_eq!(records[0]["failures"]["private address"], 30);
    assert_eq!((server.requests().len(), &records[3]["requests"]), (0, &0.into()));
}

#[test]
fn redirects_to_private_addresses_are_trouble_not_evidence() {
    // A server under an address that is not named stands for the inside of a network.
    let inside = Server::start_on(Ipv4Addr::new(127, 0, 0, 3), |_| Reply::html(document(1, 1)));
    let targets = [inside.url("/secret"), "http://169.254.169.254/latest/meta-data/".to_owned()];
    let (server, sandbox) = setup(move |path| match path {
        "/robots.txt" => Reply::status(404),
        _ => Reply::redirect(&targets[path.len() % 2]),
    });
    let run = validate(&sandbox, &["--format", "json"]);
    let records = records(&run);
    assert_eq!(outcomes(&records), [("unknown", 0, 0, 30); 3]);
    assert_eq!(records[0]["failures"]["private address"], 30);
    assert!(server.requests().len() > 30, "the host that is named is asked");
    assert_eq!(inside.requests().len(), 0);
}

#[test]
fn what_says_nothing_is_unknown() {
    let (server, sandbox) = setup(|target| match (target.split(['/', '?']).nth(1), numbers(target).0) {
        (Some("view"), 0..5) => Reply::Raw(b"garbage\r\n\r\n".to_vec()),
        (Some("view"), 5..9) => Reply::html(vec![b'x'; 70_000]),
        (Some("view"), 9..12) => Reply::redirect(target),
        (Some("view"), 12) => Reply::Withhold(Vec::new()),
        (Some("view"), 13..) => Reply::status(500),
        (Some("robots.txt"), _) => Reply::Status(200, String::new(), "User-agent: *\nDisallow: /new".into()),
        (Some("no-such-page"), _) => Reply::status(404),
        _ => Reply::html(format!("<p>{}", "Sorry, there is nothing to be found here. ".repeat(9))),
    });
    let run = validate(&sandbox, &["--format", "json", "--timeout", "2s", "--max-bytes", "64KiB"]);
    let records = records(&run);
    assert_eq!(outcomes(&records), [("unknown", 0, 0, 30); 3]);
    let failures = |rule: usize| serde_json::to_string(&records[rule]["failures"]).unwrap();
    assert_snapshot!(failures(0), @r#"{"error page with status 200":30}"#);
    assert_snapshot!(failures(1), @r#"{"network trouble":5,"status 500":17,"timed out":1,"too large":4,"too many redirects":3}"#);
    assert_snapshot!(failures(2), @r#"{"forbidden by robots.txt":30}"#);
    assert_eq!((server.count("/old"), server.count("/new")), (0, 0));
    assert!(sandbox.read("rules.json").contains("\"outcome\": \"unknown\""));
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let (server, sandbox) = setup(honest);
    let state = "rules.json.validate-state.jsonl";
    sandbox.write("expected.json", sandbox.read("rules.json"));
    let full = sandbox.run(&[
        "validate",
        "expected.json",
        "urls.txt",
        "--allow-host",
        "127.0.0.1",
        "--delay",
        "0s",
        "--samples",
        "20",
    ]);
    assert_eq!(full.status.code(), Some(0));
    let asked = server.requests().len();

    // As after an interruption: a server that kills the client in the middle of its work.
    let (pid, seen) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
    let server_pid = pid.clone();
    let (victim_server, victim) = setup(move |target| {
        let pid = server_pid.load(Ordering::SeqCst);
        if pid != 0 && seen.fetch_add(1, Ordering::SeqCst) == 30 {
            let killed = std::process::Command::new("kill").arg("-KILL").arg(pid.to_string()).status();
            assert!(killed.unwrap().success());
            return Reply::Withhold(Vec::new());
        }
        honest(target)
    });
    let gate = victim.command(&FAST).spawn().unwrap();
    pid.store(gate.id() as usize, Ordering::SeqCst);
    let stopped = gate.wait_with_output().unwrap();
    assert_ne!(stopped.status.code(), Some(0));
    assert_eq!(victim.names(), ["rules.json", state, "urls.txt"]);
    let noted = victim.read(state).lines().count();
    assert!(noted >= 10, "{noted}");
    pid.store(0, Ordering::SeqCst);

    let before = victim_server.requests().len();
    let run = report(&validate(&victim, &[]));
    assert!(run.contains(&format!("{noted} pairs known from before")), "{run}");
    assert_eq!(victim.names(), ["rules.json", "urls.txt"]);
    let again = victim_server.requests().len() - before;
    assert!(again <= asked - 2 * noted + 2, "{again} requests, {asked} for all, {noted} pairs noted");
    let port = |server: &Server| server.url("").rsplit(':').next().unwrap().to_owned();
    let expected = sandbox.read("expected.json").replace(&port(&server), &port(&victim_server));
    assert_eq!(victim.read("rules.json"), expected);
}

#[test]
fn rules_that_are_off_are_not_tried_and_pinned_ones_stay_applied() {
    let (server, sandbox) = setup(|target| match target {
        _ if target.starts_with("/new") => Reply::status(410),
        _ if target.starts_with("/old") => Reply::html(document(1, 1)),
        _ => honest(target),
    });
    let listed = sandbox.run(&["rules", "list", "rules.json", "--sort", "site", "--format", "json"]);
    let ids: Vec<String> =
        records(&listed).iter().filter_map(|rule| Some(rule["id"].as_str()?.into())).collect();
    assert_eq!(sandbox.run(&["rules", "off", "rules.json", "127.0.0.1", &ids[1]]).status.code(), Some(0));
    assert_eq!(sandbox.run(&["rules", "pin", "rules.json", "127.0.0.1", &ids[2]]).status.code(), Some(0));
    let run = report(&validate(&sandbox, &[]));
    assert!(!run.contains("127.0.0.1 rule 1 "), "{run}");
    let warning = format!("warning: 127.0.0.1: {} was refuted, but is pinned and stays applied: ", ids[2]);
    assert!(run.contains(&warning), "{run}");
    let urls = server.url("/old?id=7\n") + &server.url("/view?id=1&sid=2\n");
    let keys = sandbox.run_with(&["normalize", "rules.json", "--key"], urls.as_bytes());
    let expected = server.url("/new/7\n") + &server.url("/view?id=1&sid=2\n");
    assert_eq!(String::from_utf8(keys.stdout).unwrap(), expected);
}

#[test]
fn known_pairs_are_not_fetched_again() {
    let (server, sandbox) = setup(honest);
    let pairs: String = (0..30)
        .map(|id| {
            let (url, other) = (server.url(&format!("/old?id={id}")), server.url(&format!("/new/{id}")));
            format!("{{\"url\":\"{url}\",\"other\":\"{other}\",\"outcome\":\"different\"}}\n")
        })
        .collect();
    sandbox.write("state.jsonl", pairs + "{\"url\":\"http");
    let records = records(&validate(&sandbox, &["--format", "json", "--state", "state.jsonl"]));
    assert_eq!(outcomes(&records)[2], ("refuted", 0, 4, 0));
    assert_eq!((server.count("/old"), server.count("/new")), (0, 0));
    assert_eq!(sandbox.names(), ["rules.json", "urls.txt"]);
}

#[test]
fn a_verdict_stays_until_there_is_a_better_one() {
    let (server, sandbox) = setup(|target| match target {
        _ if target.starts_with("/new") => Reply::status(404),
        _ if target.starts_with("/old") => Reply::html(document(1, 1)),
        _ => honest(target),
    });
    assert_eq!(validate(&sandbox, &["-q"]).status.code(), Some(1), "a rule was refuted");
    let judged = sandbox.read("rules.json");
    assert!(judged.contains("\"outcome\": \"refuted\""));
    sandbox.write("urls.txt", urls(&server, 3));
    let records = records(&validate(&sandbox, &["--format", "json", "--max-fail", "0.5"]));
    assert_eq!(outcomes(&records)[1].0, "unknown");
    assert_eq!(sandbox.read("rules.json"), judged);
}

#[test]
fn sites_are_checked_side_by_side() {
    let (one, sandbox) = setup(honest);
    let two = Server::start_on(Ipv4Addr::new(127, 0, 0, 2), honest);
    let mut both: serde_json::Value = serde_json::from_str(&sandbox.read("rules.json")).unwrap();
    let other: serde_json::Value = serde_json::from_str(&rules("127.0.0.2")).unwrap();
    both["sites"]["127.0.0.2"] = other["sites"]["127.0.0.2"].clone();
    sandbox.write("rules.json", both.to_string());
    sandbox.write("urls.txt", urls(&one, 30) + &urls(&two, 30));
    let records = records(&validate(&sandbox, &["--allow-host", "127.0.0.2", "--format", "json"]));
    assert_eq!(outcomes(&records), [("confirmed", 19, 0, 0); 6]);
    assert_eq!((one.max_active(), two.max_active()), (1, 1));
    let again = records.iter().map(|record| record["site"].as_str().unwrap_or("all")).collect::<Vec<_>>();
    assert_eq!(again[2..5], ["127.0.0.1", "127.0.0.2", "127.0.0.2"]);
}

#[test]
fn what_cannot_be_written_is_known_before_anything_is_fetched() {
    let (server, sandbox) = setup(honest);
    sandbox.write("there.json", "");
    assert_snapshot!(report(&validate(&sandbox, &["-o", "there.json"])), @r"
    exit 2
    --- stderr
    error: there.json already exists (overwrite it with --force)
    ");
    assert_snapshot!(report(&validate(&sandbox, &["-o", "-", "--format", "json"])), @r"
    exit 2
    --- stderr
    error: `-o -` and `--format json` both write to standard output
    hint: write the rules to a file
    ");
    assert_snapshot!(report(&validate(&sandbox, &["--max-fail", "2"])), @r"
    exit 2
    --- stderr
    error: --max-fail is 2
    hint: expected a share from 0 to 1
    ");
    assert_snapshot!(report(&validate(&sandbox, &["--state", "urls.txt"])), @r"
    exit 2
    --- stderr
    error: urls.txt:1 is not a line of a state file
    hint: name another file with --state, or remove this one to start anew
    ");
    assert_snapshot!(report(&validate(&sandbox, &["--timeout", "1"])), @r"
    exit 2
    --- stderr
    error: invalid value '1' for '--timeout <TIME>': expected a time up to an hour such as 300ms, 1s or 2m

    For more information, try '--help'.
    ");
    assert_snapshot!(report(&validate(&sandbox, &["--allow-host", "http://a.example/"])), @r#"
    exit 2
    --- stderr
    error: invalid value 'http://a.example/' for '--allow-host <HOST>': "http://a.example/" is not a host, expected a name or an address such as a.example, 10.0.0.7:8080 or [fd00::7]:80

    For more information, try '--help'.
    "#);
    assert_snapshot!(sandbox.dedust_with(&["validate", "-", "urls.txt"], sandbox.read("rules.json")), @r"
    exit 2
    --- stderr
    error: the rules come from standard input, so that verdicts cannot be written into them
    hint: name the file to write with -o
    ");
    sandbox.write("rules.json.gz", gzip(&sandbox.read("rules.json")));
    assert_snapshot!(sandbox.dedust(&["validate", "rules.json.gz", "urls.txt"]), @r"
    exit 2
    --- stderr
    error: rules.json.gz is compressed, and rules are written plain
    hint: name the file to write with -o
    ");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_list_without_suitable_urls_teaches_nothing() {
    let (server, sandbox) = setup(honest);
    sandbox.write("urls.txt", "http://other.example/\n");
    let run = report(&validate(&sandbox, &["-o", "-"]));
    assert!(run.contains("warning: no rule changes any URL of urls.txt\n"), "{run}");
    assert!(run.contains("\"outcome\": \"unknown\""), "{run}");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(sandbox.names(), ["rules.json", "urls.txt"]);
}
