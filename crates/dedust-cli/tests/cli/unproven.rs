/*!
`dedust validate --unproven`: rules that the learner could not prove, settled by fetching.
*/

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dedust_test_server::{Reply, Server, document};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, report};
use crate::validating::{FAST, records, validate};

/// Rules for a site that leave out `sid`, and unproven rules that would leave out `ref` and `lang`. That `id` matters was
/// seen in training.
fn rules(missing: u64) -> Value {
    let drop_param = |name: &str| json!([{"drop": format!("q.{name}")}]);
    json!({"version": 1, "method": "canonfd", "sites": {"127.0.0.1": {
        "summary": {"urls": 500, "labelled": 500, "pages": 400, "raw_rules": 4, "qualified_rules": 1,
                    "promise": {"lost": 1, "pages": 400}},
        "rules": [{"change": drop_param("sid"), "fetchable": true,
                   "evidence": {"urls": 90, "support_pairs": 40, "false_pairs": 0, "groups": 20, "failed_groups": 0,
                                "failure_bound": 0.1391, "kinds": ["digest"]}}],
        "refused": [
            {"change": drop_param("ref"), "reason": "too few URLs speak for it", "votes": 10, "against": 0,
             "missing": missing, "merged": 12},
            {"change": drop_param("lang"), "reason": "too few URLs speak for it", "votes": 10, "against": 0,
             "missing": 8},
            {"change": drop_param("id"), "reason": "URLs that it brings together show different pages", "votes": 40,
             "against": 30}
        ]
    }}})
}

/// Pages of a shop: `id` and `lang` say which, and nothing else.
fn shop(target: &str) -> Reply {
    let param = |name: &str| {
        let params = target.split(['?', '&']).skip(1);
        params.filter_map(|param| param.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let id: u64 = param("id").and_then(|id| id.parse().ok()).unwrap_or_default();
    match target.split('?').next() {
        Some("/p") => {
            let page = id + 1000 * param("lang").map_or(0, |lang| lang.len() as u64);
            Reply::html(document(page, target.len() as u64))
        }
        _ => Reply::status(404),
    }
}

/// Five URLs for each of `count` pages.
fn urls(server: &Server, count: usize) -> String {
    let paths = |id| {
        let query = ["", "&ref=a", "&ref=b&sid=7", "&lang=d", "&lang=fr"];
        query.map(|query| server.url(&format!("/p?id={id}{query}\n")))
    };
    (0..count).flat_map(paths).collect()
}

/// A server, and a folder with rules for it and the URLs of `count` pages.
fn setup(missing: u64, count: usize, answer: fn(&str) -> Reply) -> (Server, Sandbox) {
    let (server, sandbox) = (Server::start(answer), Sandbox::new());
    sandbox.write("rules.json", rules(missing).to_string());
    sandbox.write("urls.txt", urls(&server, count));
    (server, sandbox)
}

fn site(sandbox: &Sandbox) -> Value {
    let rules: Value = serde_json::from_str(&sandbox.read("rules.json")).unwrap();
    rules["sites"]["127.0.0.1"].clone()
}

/// The lines of `--format json` on unproven rules.
fn unproven(records: &[Value]) -> Vec<&Value> {
    records.iter().filter(|record| record["type"] == "unproven").collect()
}

#[test]
fn a_rule_that_holds_is_promoted_and_one_that_does_not_is_refuted() {
    let (server, sandbox) = setup(8, 30, shop);
    let records = records(&validate(&sandbox, &["--unproven", "--format", "json", "--date", "2024-05-01"]));
    let [promoted, refuted] = unproven(&records)[..] else { panic!("{records:?}") };
    assert_eq!((&promoted["outcome"], &promoted["obstacle"]), (&json!("confirmed"), &Value::Null));
    assert_eq!((&promoted["same"], &promoted["different"]), (&json!(20), &json!(0)));
    assert_eq!((&refuted["outcome"], &refuted["different"]), (&json!("refuted"), &json!(4)));
    assert_eq!(refuted["differing"].as_array().map(Vec::len), Some(3));
    let total = records.last().unwrap();
    assert_eq!((&total["rules"], &total["unproven"], &total["promoted"]), (&json!(1), &json!(2), &json!(1)));

    let site = site(&sandbox);
    let rule = &site["rules"][1];
    assert_eq!((&rule["change"], &rule["fetchable"]), (&json!([{"drop": "q.ref"}]), &json!(true)));
    let verdict =
        json!({"outcome": "confirmed", "same": 20, "different": 0, "failed": 0, "date": "2024-05-01"});
    assert_eq!((&rule["evidence"]["verdict"], &rule["evidence"]["trust"]), (&verdict, &json!("fetched")));
    assert_eq!(
        (&rule["evidence"]["groups"], &rule["evidence"]["failure_bound"]),
        (&json!(20), &json!(0.1391))
    );
    // 30 groups of three forms each lose 60 forms, of which at most 13.91 % are wrong.
    assert_eq!((&promoted["lost"], &site["summary"]["promise"]["lost"]), (&json!(9), &json!(10)));
    let [lang, id] = &site["refused"].as_array().unwrap()[..] else { panic!("{site}") };
    let verdict = json!({"outcome": "refuted", "same": 0, "different": 4, "failed": 0, "date": "2024-05-01"});
    assert_eq!((&lang["fetched"]["verdict"], &lang["missing"]), (&verdict, &json!(8)));
    assert_eq!((&id["votes"], &id["fetched"]), (&json!(40), &Value::Null), "it is not tried");

    let given =
        ["/p?id=77&ref=x", "/p?id=77&lang=d", "/p?id=77", "/q?ref"].map(|path| server.url(path) + "\n");
    let normalized = sandbox.run_with(&["normalize", "rules.json"], given.concat().as_bytes());
    let expected = ["/p?id=77", "/p?id=77&lang=d", "/p?id=77", "/q"].map(|path| server.url(path) + "\n");
    assert_eq!(String::from_utf8(normalized.stdout).unwrap(), expected.concat());
    let explained = sandbox.dedust(&["explain", "rules.json", &server.url("/p?id=7&ref=x&lang=d")]);
    let lines: Vec<&str> = explained.lines().filter(|line| !line.contains("http://")).collect();
    assert_snapshot!(lines.join("\n"), @r"
    exit 0
    --- stdout
      site       127.0.0.1, 2 rules
      rule       1 of 2, e1648699: `ref` does not matter
                 60 URLs changed in a list of URLs; 0 of 20 groups that were fetched failed; at most 13.9 % wrong with 95 % confidence
                 confirmed by fetching on 2024-05-01: 20 pairs showed the same page, 0 different ones
      refused    `lang` does not matter
                 too few URLs speak for it: 0 of 10 votes against
                 refuted by fetching on 2024-05-01: 0 pairs showed the same page, 4 different ones
      refused    `id` does not matter
                 URLs that it brings together show different pages: 30 of 40 votes against
    ");
}

#[test]
fn nothing_unproven_is_tried_without_the_option() {
    let (server, sandbox) = setup(8, 30, shop);
    let records = records(&validate(&sandbox, &["--format", "json"]));
    assert_eq!((records.len(), unproven(&records).len()), (2, 0));
    assert_eq!(site(&sandbox)["refused"], rules(8)["sites"]["127.0.0.1"]["refused"]);
    assert!(server.requests().iter().all(|target| !target.contains("lang")));
}

#[test]
fn later_runs_add_pairs_of_other_groups() {
    let (server, sandbox) = setup(18, 23, shop);
    let first = report(&validate(&sandbox, &["--unproven"]));
    assert!(
        first.contains("`ref` does not matter\n  not applied: 8 more pairs of the same page are missing"),
        "{first}"
    );
    assert!(first.contains("\n2 unproven rules: 0 promoted, 1 refuted, 1 still unproven\n"), "{first}");
    let fetched = site(&sandbox)["refused"][0]["fetched"].clone();
    assert_eq!((&fetched["missing"], &fetched["verdict"]["same"]), (&json!(8), &json!(20)));
    let explained = sandbox.dedust(&["explain", "rules.json", &server.url("/p?id=7&ref=x")]);
    assert!(explained.contains("unknown by fetching: 20 pairs showed the same page, 0 different ones; 8 more pairs would prove it"), "{explained}");

    // Of each group that was compared, all pairs are known; the other three have two pairs each.
    let before = server.count("/p");
    let second = report(&validate(&sandbox, &["--unproven"]));
    assert!(second.contains("not applied: 2 more pairs of the same page are missing"), "{second}");
    assert!(server.count("/p") > before);
    let third = report(&validate(&sandbox, &["--unproven"]));
    assert!(third.contains("not applied: 2 more pairs of the same page are missing"), "{third}");

    sandbox.write("urls.txt", urls(&server, 24));
    let fourth = report(&validate(&sandbox, &["--unproven"]));
    assert!(
        fourth.contains("applied from now on: 48 URLs changed in a list of URLs; 0 of 24 groups"),
        "{fourth}"
    );
    let site = site(&sandbox);
    assert_eq!(site["rules"][1]["evidence"]["support_pairs"], 28);
    assert_eq!(site["refused"].as_array().map(Vec::len), Some(2));
}

#[test]
fn pages_that_are_all_the_same_prove_nothing() {
    let (_server, sandbox) = setup(8, 30, |target| match target {
        _ if target.starts_with("/p") => Reply::html(document(1, 1)),
        _ => Reply::status(404),
    });
    let records = records(&validate(&sandbox, &["--unproven", "--format", "json"]));
    for record in unproven(&records) {
        assert_eq!(record["obstacle"], "the pairs that were compared show too few different pages");
        assert_eq!((&record["outcome"], &record["same"]), (&json!("unknown"), &json!(20)));
    }
    assert_eq!(site(&sandbox)["rules"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_rule_that_cannot_be_used_is_not_fetched() {
    let (server, sandbox) = setup(8, 30, shop);
    let mut rules = rules(8);
    let refused = &mut rules["sites"]["127.0.0.1"]["refused"];
    refused[1]["change"] = json!([{"path": [{"text": "a?b"}]}]);
    sandbox.write("rules.json", rules.to_string());
    let records = records(&validate(&sandbox, &["--unproven", "--format", "json"]));
    let [promoted, unusable] = unproven(&records)[..] else { panic!("{records:?}") };
    assert_eq!(promoted["outcome"], "confirmed");
    assert_snapshot!(unusable["obstacle"].as_str().unwrap(), @"the rules of the site would be refused with it: rule 2 is invalid: `a?b` cannot stand in `path_0` of a safely normalized URL");
    assert!(server.requests().iter().all(|target| !target.contains("lang")));
}

#[test]
fn an_interrupted_run_settles_the_same() {
    let (pid, seen) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
    let server_pid = pid.clone();
    let server = Server::start(move |target| {
        let pid = server_pid.load(Ordering::SeqCst);
        // After the applied rule, its canonical URLs and most pairs of the first unproven rule.
        if pid != 0 && target.contains("ref=") && seen.fetch_add(1, Ordering::SeqCst) == 45 {
            let killed = std::process::Command::new("kill").arg("-KILL").arg(pid.to_string()).status();
            assert!(killed.unwrap().success());
            return Reply::Withhold(Vec::new());
        }
        shop(target)
    });
    let sandbox = Sandbox::new();
    sandbox.write("urls.txt", urls(&server, 30));
    sandbox.write("rules.json", rules(8).to_string());
    assert_eq!(validate(&sandbox, &["--unproven"]).status.code(), Some(0));
    let expected = sandbox.read("rules.json");

    sandbox.write("rules.json", rules(8).to_string());
    let client = sandbox.command(&[&FAST[..], &["--unproven"]].concat()).spawn().unwrap();
    pid.store(client.id() as usize, Ordering::SeqCst);
    assert_ne!(client.wait_with_output().unwrap().status.code(), Some(0));
    pid.store(0, Ordering::SeqCst);
    let state = sandbox.read("rules.json.validate-state.jsonl");
    assert!(state.lines().any(|line| line.contains("\"outcome\":\"same\",\"page\":")), "{state}");
    assert_eq!(validate(&sandbox, &["--unproven"]).status.code(), Some(0));
    assert_eq!(sandbox.read("rules.json"), expected);
}

#[test]
fn mirrors_are_checked_if_they_are_trusted() {
    let sandbox = Sandbox::new();
    let evidence = json!({"urls": 0, "support_pairs": 0, "false_pairs": 0, "groups": 0, "failed_groups": 0,
                          "failure_bound": 1.0, "kinds": []});
    let mirror = json!({"of": "a.example", "fetchable": true, "evidence": evidence});
    let rules = json!({"version": 1, "sites": {"b.example": {"mirror": mirror}}});
    sandbox.write("rules.json", rules.to_string());
    sandbox.write("urls.txt", "http://c.example/\n");
    let args = ["validate", "rules.json", "urls.txt", "-o", "-", "--force"];
    let said = sandbox.run(&args);
    assert_snapshot!(String::from_utf8(said.stderr).unwrap(), @r"
    warning: 1 mirror in rules.json is not applied: URLs of one domain would become URLs of another
    hint: if you learned these rules yourself, or trust whoever did, add --trust-mirrors
    warning: no rule changes any URL of urls.txt
    rule  outcome  same  different  failed

    0 rules: 0 confirmed, 0 refuted, 0 unknown; 0 requests made
    verdicts written to standard output
    ");
    assert!(!String::from_utf8(said.stdout).unwrap().contains("verdict"));
    let said = sandbox.run(&[&args[..], &["--trust-mirrors"]].concat());
    assert!(!report(&said).contains("not applied"));
    assert!(String::from_utf8(said.stdout).unwrap().contains("verdict"));
}
