/*!
`dedust learn`: rule files and reports.
*/

use std::io::Write as _;

use insta::assert_snapshot;

use crate::sandbox::{Sandbox, report, shop};

/// A folder with `crawl.jsonl` and the `rules.json` learned from it.
fn learned() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", shop().join(""));
    assert_eq!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json", "-q"]), "exit 0\n");
    sandbox
}

/// Visits of 40 products under three session ids each: the one rule to be learned is beyond doubt.
fn visits() -> String {
    shop().into_iter().filter(|row| row.contains("/view?")).collect()
}

#[test]
fn the_report_shows_sites_and_rules() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", visits() + "{\"url\":\"http://news.example/\"}\n");
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json"]), @r"
    exit 0
    --- stderr
    site          URLs  duplicates known  rules  URLs saved   share     fpr
    shop.example   120                80      1          80  66.7 %  0.0000
    news.example     1                 0      0           0   0.0 %  0.0000
    total          121                80      1          80  66.1 %  0.0000
    canonical URLs: 40 alive, 0 unmet, 0 wrong

    shop.example: at most 2 of 40 pages are expected to be merged wrongly, 95 % confidence

    rules of shop.example, made one after the other; bounds are at 95 %:
      rule 0: [proven] `sid` does not matter (in keys only)
        120 URLs covered, 0 of 80 votes against: at most 2.1 % wrong
        e.g. http://www.shop.example/view?id=0&sid=0000000048d159e0
           = http://www.shop.example/view?id=0&sid=000000005b05b058

    1 rule written to rules.json
    ");
    assert_eq!(sandbox.names(), ["crawl.jsonl", "rules.json"]);
}

#[test]
fn the_report_for_programs_goes_to_stdout() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", visits());
    let run = ["learn", "crawl.jsonl", "-o", "rules.json", "--format", "json"];
    assert_snapshot!(sandbox.dedust(&run), @r#"
    exit 0
    --- stdout
    {"type":"site","site":"shop.example","urls":120,"labelled":120,"pages":40,"rules":1,"saved":80,"saved_without_rules":0,"fpr":0.0,"promise":{"lost":2,"pages":40},"canonical":{"alive":40,"unmet":0,"wrong":0}}
    {"type":"total","sites":1,"urls":120,"labelled":120,"pages":40,"rules":1,"saved":80,"saved_without_rules":0,"fpr":0.0,"canonical":{"alive":40,"unmet":0,"wrong":0}}
    "#);
}

/// Forty products that two domains show, and one page of its own for each.
fn two_domains() -> String {
    // The outlet says that its pages are those of the shop.
    let product = |page: u32, site: &str| {
        let canonical = format!("http://www.shop.example/p/{page}");
        format!(
            "{{\"url\":\"http://{site}/p/{page}\",\"digest\":\"{page}\",\"canonical\":\"{canonical}\"}}\n"
        )
    };
    let own = |site: &str| format!("{{\"url\":\"http://{site}/\",\"digest\":\"home of {site}\"}}\n");
    let products =
        (0..40).flat_map(|page| [product(page, "www.shop.example"), product(page, "www.outlet.example")]);
    products.chain([own("www.shop.example"), own("www.outlet.example")]).collect()
}

#[test]
fn a_mirror_is_reported_explained_and_rewritten() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", two_domains());
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json"]), @r"
    exit 0
    --- stderr
    site                                      URLs  duplicates known  rules  URLs saved   share     fpr
    outlet.example, a mirror of shop.example    41                 0      1          40  97.6 %  0.0000
    shop.example                                41                 0      0           0   0.0 %  0.0000
    total                                       82                 0      1          40  48.8 %  0.0000

    outlet.example:
      rule 0: shows the pages of shop.example, except /
        40 paths that both sites have, 0 with different pages: at most 7.2 % wrong with 95 % confidence

    1 rule written to rules.json
    hint: mirrors are applied with --trust-mirrors only
    ");
    let run = ["explain", "rules.json", "http://www.outlet.example/p/77", "--trust-mirrors"];
    assert_snapshot!(sandbox.dedust(&run), @r"
    exit 0
    --- stdout
    http://www.outlet.example/p/77
      safe form  http://www.outlet.example/p/77
      site       shop.example, 0 rules
      mirror     outlet.example shows the pages of shop.example
                 40 paths that both sites have, 0 with different pages: at most 7.2 % wrong with 95 % confidence
      rules      none of shop.example concerns it
      key        http://www.shop.example/p/77
      canonical  http://www.shop.example/p/77
    ");
    sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin"]);
    for rules in ["rules.json", "rules.bin"] {
        let run = sandbox.run_with(
            &["normalize", rules, "--trust-mirrors"],
            b"http://www.outlet.example/p/77\nhttp://a.outlets.example/p/1\n",
        );
        let expected = "http://www.shop.example/p/77\nhttp://a.outlets.example/p/1\n";
        assert_eq!(String::from_utf8(run.stdout).unwrap(), expected);
    }
}

#[test]
fn what_was_learned_holds_when_it_is_applied() {
    let sandbox = learned();
    let normalize = |urls: &str, flags: &[&str]| {
        let run = sandbox.run_with(&[&["normalize", "rules.json"], flags].concat(), urls.as_bytes());
        String::from_utf8(run.stdout).unwrap()
    };
    let visit =
        |page: u32, session: u32| format!("http://www.shop.example/view?id={page}&sid={session:016x}\n");
    for page in [3, 77] {
        let seen = normalize(&visit(page, 1), &["--key"]);
        assert_eq!(normalize(&visit(page, 0xffff), &["--key"]), seen);
        assert_ne!(normalize(&visit(page + 1, 1), &["--key"]), seen);
    }
    let archive: String = (0..90).map(|page| format!("http://www.shop.example/archive/{page}\n")).collect();
    assert_eq!(normalize(&archive, &[]), archive);
    let limits = ["--min-precision", "1", "--min-recall", "1", "--max-fpr", "0"];
    let run = sandbox.run(&[&["evaluate", "rules.json", "crawl.jsonl"], &limits[..]].concat());
    assert_eq!(run.status.code(), Some(0));
    let explained = sandbox.dedust(&["explain", "rules.json", visit(3, 1).trim_end()]);
    assert!(explained.contains("`sid` does not matter"), "{explained}");
}

#[test]
fn rules_go_to_stdout_for_a_dash() {
    let sandbox = learned();
    let run = sandbox.run_with(&["learn", "-", "-o", "-", "-q"], shop().join("").as_bytes());
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(String::from_utf8(run.stdout).unwrap(), sandbox.read("rules.json"));
    assert!(run.stderr.is_empty());
}

#[test]
fn the_same_observations_give_the_same_bytes() {
    let sandbox = learned();
    let expected = sandbox.read("rules.json");
    let mut rows = shop();
    rows.reverse();
    let third = rows.len() / 3;
    rows.rotate_left(third);
    let (first, second) = rows.split_at(rows.len() / 2);
    sandbox.write("first.jsonl", first.join(""));
    sandbox.write("second.jsonl", second.join(""));
    for threads in ["1", "4"] {
        let args = ["learn", "crawl.jsonl", "-o", "same.json", "--force", "-q", "--threads", threads];
        assert_eq!(sandbox.dedust(&args), "exit 0\n");
        assert_eq!(sandbox.read("same.json"), expected);
        let args = ["learn", "second.jsonl", "first.jsonl", "-o", "shuffled.json", "--force", "-q"];
        assert_eq!(sandbox.dedust(&[&args[..], &["--threads", threads]].concat()), "exit 0\n");
        assert_eq!(sandbox.read("shuffled.json"), expected);
    }
}

#[test]
fn at_most_twenty_sites_are_shown() {
    let sandbox = Sandbox::new();
    let urls: String = (10..35).map(|site| format!("http://site{site}.example/\n")).collect();
    let run = report(&sandbox.run_with(&["learn", "-", "-o", "rules.json"], urls.as_bytes()));
    let shown: Vec<&str> = run.lines().filter(|line| line.starts_with("site")).collect();
    assert_eq!(shown.len(), 1 + 20);
    assert!(run.contains("\ntotal "), "{run}");
    assert!(run.contains("\nand 5 more sites\n"), "{run}");
}

#[test]
fn every_method_can_be_asked_for() {
    let sandbox = Sandbox::with_rules();
    for method in ["tree-graph", "tree-naive", "standard"] {
        let args = ["learn", "crawl.jsonl", "-o", "rules.json", "--force", "-q", "--method", method];
        assert_eq!(sandbox.dedust(&args), "exit 0\n");
        assert!(sandbox.read("rules.json").contains(&format!("\"method\": \"{method}\"")));
    }
}

#[test]
fn only_the_evidence_asked_for_counts() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", shop().join(""));
    let args = ["learn", "crawl.jsonl", "-o", "rules.json", "--evidence", "canonical,redirect"];
    assert_snapshot!(sandbox.dedust(&args), @r"
    exit 0
    --- stderr
    site          URLs  duplicates known  rules  URLs saved  share     fpr
    shop.example   160                 0      0           0  0.0 %  0.0000
    news.example    80                 0      0           0  0.0 %  0.0000
    total          240                 0      0           0  0.0 %  0.0000

    0 rules written to rules.json
    warning: no evidence of duplicates of the kinds asked for, canonical+redirect
    hint: leave out --evidence to use all there is
    ");
}

#[test]
fn urls_alone_teach_nothing() {
    let sandbox = Sandbox::new();
    let urls = "# a remark\nhttp://a.example/1\n\nhttp://a.example/2\n";
    assert_snapshot!(sandbox.dedust_with(&["learn", "-", "-o", "rules.json"], urls), @r"
    exit 0
    --- stderr
    site       URLs  duplicates known  rules  URLs saved  share     fpr
    a.example     2                 0      0           0  0.0 %  0.0000

    0 rules written to rules.json
    warning: no evidence of duplicates: nothing can be learned from URLs alone
    hint: add one of the columns cluster (or page), canonical, redirect, digest, text_digest, or simhash with title; where only sizes are known, as in an access log, --method dustbuster can learn from them
    ");
}

/// Products of a shop, many enough to be sampled, in an order that mixes them.
fn large_shop(products: u64) -> String {
    let rows = (0..3 * products).map(|at| at * 7919 % (3 * products)).map(|at| {
        let (product, session) = (at / 3, (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        format!("{{\"url\":\"http://www.shop.example/view?id={product}&sid={session:016x}\",\"digest\":\"{product}\"}}\n")
    });
    rows.collect()
}

#[test]
fn what_memory_has_no_room_for_is_put_on_disk_and_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", shop().join(""));
    let learn = ["learn", "crawl.jsonl", "--format", "json", "-o"];
    let in_memory = sandbox.dedust(&[&learn[..], &["a.json"]].concat());
    let on_disk = sandbox.dedust(&[&learn[..], &["b.json", "--memory", "0"]].concat());
    assert_eq!(in_memory, on_disk);
    assert_eq!(sandbox.read("a.json"), sandbox.read("b.json"));
    assert_eq!(sandbox.names(), ["a.json", "b.json", "crawl.jsonl"]);
}

#[test]
fn large_sites_are_sampled() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", large_shop(4000));
    let args = ["learn", "crawl.jsonl", "-o", "rules.json", "--max-sample", "3000"];
    let report = sandbox.dedust(&args);
    assert!(report.contains("large sites were sampled: 3,000 of 12,000 URLs were learned from"), "{report}");
    // Drawn with all of their sessions.
    assert!(
        report.contains("shop.example  3,000             2,000      1       2,000  66.7 %  0.0000"),
        "{report}"
    );
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", large_shop(4000) + &shop().join(""));
    assert_eq!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "expected.json", "-q"]), "exit 0\n");
    let args = ["learn", "crawl.jsonl", "-o", "rules.json", "--memory", "0", "-q", "--max-fpr", "0.05"];
    let mut child = sandbox.command(&args).spawn().unwrap();
    while !sandbox.path("rules.json.unfinished/read.json").exists() && child.try_wait().unwrap().is_none() {}
    child.kill().unwrap();
    child.wait().unwrap();
    if sandbox.path("rules.json").exists() {
        // It was done before it could be killed.
        return;
    }
    assert_snapshot!(sandbox.dedust(&args), @r"
    exit 2
    --- stderr
    error: an earlier run was interrupted and left rules.json.unfinished
    hint: go on with it by --resume, or start over with --force
    ");
    let other = [&args[..8], &["0.01", "--resume"]].concat();
    assert_snapshot!(sandbox.dedust(&other), @r"
    exit 2
    --- stderr
    error: the run that left rules.json.unfinished cannot be resumed: its --max-fpr was 0.05, and now is 0.01
    hint: start over with --force instead of --resume
    ");
    assert_eq!(sandbox.dedust(&[&args[..], &["--resume"]].concat()), "exit 0\n");
    assert_eq!(sandbox.read("rules.json"), sandbox.read("expected.json"));
    assert!(!sandbox.path("rules.json.unfinished").exists());
}

/// Ctrl-C while the second of two inputs is read, which is a pipe, so that reading waits there.
#[cfg(unix)]
#[test]
fn reading_goes_on_where_it_was_interrupted() {
    let sandbox = Sandbox::new();
    let rows: Vec<String> = large_shop(4000).split_inclusive('\n').map(str::to_owned).collect();
    sandbox.write("a.jsonl", shop().join(""));
    sandbox.write("b.jsonl", rows.join(""));
    assert_eq!(sandbox.dedust(&["learn", "a.jsonl", "b.jsonl", "-o", "expected.json", "-q"]), "exit 0\n");
    let pipe = sandbox.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let args = ["learn", "a.jsonl", "pipe", "-o", "rules.json", "--memory", "0"];

    let child = sandbox.command(&args).spawn().unwrap();
    let mut writer = std::fs::File::options().write(true).open(&pipe).unwrap();
    writer.write_all(rows[..6000].concat().as_bytes()).unwrap();
    // Of the first input, and of some of the second.
    let bytes_on_disk = || -> u64 {
        let files = std::fs::read_dir(sandbox.path("rules.json.unfinished")).into_iter().flatten();
        files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum()
    };
    while bytes_on_disk() < 200_000 {}
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    // It may wait for this, and does not use it.
    let _ = writer.write_all(rows[6000..].concat().as_bytes());
    drop(writer);
    assert_snapshot!(report(&child.wait_with_output().unwrap()), @r"
    exit 130
    --- stderr
    hint: what was read until then is kept in rules.json.unfinished: go on with the same command and --resume
    error: interrupted
    ");

    let resumed = [&args[..], &["--resume", "--format", "json"]].concat();
    let child = sandbox.command(&resumed).spawn().unwrap();
    std::fs::write(&pipe, rows.concat()).unwrap();
    let output = report(&child.wait_with_output().unwrap());
    assert!(output.starts_with("exit 0\n"), "{output}");
    assert!(output.contains("--- stderr\ngoing on with reading where it ended\n"), "{output}");
    assert_eq!(sandbox.read("rules.json"), sandbox.read("expected.json"));
    assert!(!sandbox.path("rules.json.unfinished").exists());
}

/// Ctrl-C while standard input is read.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let args = ["learn", "-", "-o", "rules.json", "--memory", "1"];
    let mut child = sandbox.command(&args).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Enough that some of it is on disk.
    while !sandbox.path("rules.json.unfinished").exists() {
        for row in shop() {
            stdin.write_all(row.as_bytes()).unwrap();
        }
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_snapshot!(report(&child.wait_with_output().unwrap()), @r"
    exit 130
    --- stderr
    error: interrupted
    ");
    drop(stdin);
    assert_eq!(sandbox.names(), Vec::<String>::new());
}

/// Pages of `a.example`, of which the first so many were also met at each of some starts of URLs.
fn pages_at(starts: &[(&str, u32)]) -> String {
    let row = |start: &str, page: u32| {
        format!("{{\"url\":\"{start}/page/{page}\",\"digest\":\"page {page}\",\"status\":200}}\n")
    };
    let of_page = |page: u32| {
        let starts = starts.iter().filter(move |(_, pages)| page < *pages);
        starts.map(move |(start, _)| row(start, page)).collect::<String>()
    };
    (0..60).map(of_page).collect()
}

#[test]
fn the_preferred_form_is_written_where_it_was_seen_often_enough() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", pages_at(&[("http://a.example", 60), ("https://a.example", 30)]));
    let canonical = |prefer: &[&str]| {
        let learn = ["learn", "crawl.jsonl", "-o", "rules.json", "--force", "-q"];
        assert_eq!(sandbox.dedust(&[&learn, prefer].concat()), "exit 0\n");
        let urls = "http://a.example/page/70\nhttps://a.example/page/71\nhttp://b.example/page/70\n";
        sandbox.dedust_with(&["normalize", "rules.json"], urls)
    };
    assert_snapshot!(canonical(&[]), @r"
    exit 0
    --- stdout
    http://a.example/page/70
    http://a.example/page/71
    http://b.example/page/70
    ");
    assert_snapshot!(canonical(&["--prefer", "https"]), @r"
    exit 0
    --- stdout
    https://a.example/page/70
    https://a.example/page/71
    http://b.example/page/70
    ");
    assert_eq!(canonical(&["--prefer", "https,b.example=http"]), canonical(&["--prefer", "https"]));
    assert_eq!(canonical(&["--prefer", "https", "--prefer", "a.example=http"]), canonical(&[]));
}

#[test]
fn www_is_written_if_it_is_preferred() {
    let sandbox = Sandbox::new();
    let starts = [("http://a.example", 60), ("http://www.a.example", 40)];
    sandbox.write("crawl.jsonl", pages_at(&starts));
    let learn = ["learn", "crawl.jsonl", "-o", "rules.json", "--trust-hosts", "--prefer", "www", "-q"];
    assert_eq!(sandbox.dedust(&learn), "exit 0\n");
    let urls = "http://a.example/page/70\nhttp://www.a.example/page/71\nhttp://m.a.example/page/72\n";
    assert_snapshot!(sandbox.dedust_with(&["normalize", "rules.json"], urls), @r"
    exit 0
    --- stdout
    http://www.a.example/page/70
    http://www.a.example/page/71
    http://m.a.example/page/72
    ");
    assert_snapshot!(sandbox.dedust_with(&["normalize", "rules.json", "--key"], urls), @r"
    exit 0
    --- stdout
    http://www.a.example/page/70
    http://www.a.example/page/71
    http://m.a.example/page/72
    ");
}

#[test]
fn a_preference_that_is_not_met_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", pages_at(&[("http://a.example", 60), ("https://a.example", 5)]));
    assert_snapshot!(sandbox.dedust(&["learn", "crawl.jsonl", "-o", "rules.json", "--prefer", "https"]), @r"
    exit 0
    --- stderr
    site       URLs  duplicates known  rules  URLs saved  share     fpr
    a.example    65                 5      1           5  7.7 %  0.0000
    canonical URLs: 60 alive, 0 unmet, 0 wrong

    a.example: at most 1 of 60 pages are expected to be merged wrongly, 95 % confidence

    rules of a.example, made one after the other; bounds are at 95 %:
      rule 0: [likely] `https` is the same as `http` (in keys only)
        5 URLs covered, 0 of 5 votes against: at most 5.4 % wrong
        e.g. https://a.example/page/0
           = http://a.example/page/0

    1 rule written to rules.json
    a.example: `http` is kept where `https` is preferred: too few pages were seen in it for others to be fetched so
    ");
}

#[test]
fn preferences_that_make_no_sense_are_refused() {
    let sandbox = Sandbox::with_rules();
    let learn =
        |options: &[&str]| sandbox.dedust(&[&["learn", "crawl.jsonl", "-o", "new.json"], options].concat());
    assert_snapshot!(learn(&["--prefer", "https,http"]), @r"
    exit 2
    --- stderr
    error: --prefer cannot be met: `https` and `http` exclude each other
    hint: correct it, or leave it out
    ");
    assert_snapshot!(learn(&["--prefer", "ftp"]), @r"
    exit 2
    --- stderr
    error: invalid value 'ftp' for '--prefer <FORM>': `ftp` is no form, expected https, http, www or bare, or SITE=FORM such as example.org=www

    For more information, try '--help'.
    ");
    assert_snapshot!(learn(&["--prefer", "https", "--method", "tree-graph"]), @r"
    exit 2
    --- stderr
    error: --prefer says which form canonfd writes, and is not for tree-graph
    hint: correct it, or leave it out
    ");
}

#[test]
fn an_option_out_of_range_is_refused_by_its_name() {
    let sandbox = Sandbox::with_rules();
    for (option, value, expected) in [
        ("--max-fpr", "5", "--max-fpr is 5, expected 0 to 1"),
        ("--max-loss", "2", "--max-loss is 2, expected 0 to 1"),
        ("--max-loss", "-1", "--max-loss is -1, expected 0 to 1"),
        ("--max-loss", "NaN", "--max-loss is no finite number"),
        ("--sample", "1.5", "--sample is 1.5, expected 0 to 1"),
        ("--max-sample", "0", "--max-sample is 0, expected 1 or more"),
        (
            "--mirror=a.example=b.example",
            "--mirror=a.example=c.example",
            "--mirror is a.example=b.example and a.example=c.example, expected one original for a site",
        ),
    ] {
        let said = sandbox.dedust(&["learn", "crawl.jsonl", "-o", "new.json", option, value]);
        assert_eq!(
            said,
            format!("exit 2\n--- stderr\nerror: {expected}\nhint: correct it, or leave it out\n")
        );
        let merged = sandbox.dedust(&["merge", "parts", "-o", "new.json", option, value]);
        assert_eq!(merged, said);
    }
    let said = sandbox.dedust(&["learn", "crawl.jsonl", "-o", "new.json", "--mirror", "a=b.example"]);
    let expected = "invalid value 'a=b.example' for '--mirror <SITE=SITE>': expected two registrable domains";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn rules_are_learned_again_with_the_options_of_those_to_keep() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", pages_at(&[("http://a.example", 60), ("https://a.example", 60)]));
    let learn = |output: &str, options: &[&str]| {
        sandbox.dedust(&[&["learn", "crawl.jsonl", "-o", output, "--force"], options].concat())
    };
    let rules_of = |options: &[&str]| {
        learn("new.json", options);
        sandbox.read("new.json")
    };
    let old = ["--prefer", "http", "--max-loss", "0.25", "--trust-hosts"];
    let asked = rules_of(&old);
    assert!(learn("old.json", &old).starts_with("exit 0"));
    let said = learn("new.json", &["--keep", "old.json"]);
    let told = "with the options of old.json: --max-loss 0.25 --prefer http --trust-hosts given; give an option to change it";
    assert!(said.contains(told), "{said}");
    assert_eq!(sandbox.read("new.json"), asked);
    // What is given goes before.
    let other = rules_of(&["--max-loss", "0.25", "--prefer", "https"]);
    assert_ne!(other, asked);
    assert_eq!(rules_of(&["--keep", "old.json", "--prefer", "https", "--trust-hosts=false"]), other);
    let said = learn("new.json", &["--keep", "old.json", "--method", "standard"]);
    assert_eq!(
        said,
        "exit 2\n--- stderr\nerror: --prefer says which form canonfd writes, and is not for standard\nhint: give another value, \
         or correct `options` in old.json\n"
    );
    sandbox.write("old.json", asked.replace("0.25", "2"));
    assert_eq!(
        learn("new.json", &["--keep", "old.json"]),
        "exit 2\n--- stderr\nerror: cannot learn with the options of old.json: max_loss is 2, expected 0 to 1\nhint: correct \
         `options` in the file, or remove it there to learn with the defaults\n"
    );
}

#[test]
fn options_that_change_no_rule_change_nothing_but_what_is_said_of_them() {
    let sandbox = Sandbox::new();
    sandbox.write("crawl.jsonl", pages_at(&[("http://a.example", 60), ("https://a.example", 60)]));
    let learned = |options: &[&str]| {
        assert_eq!(
            sandbox
                .dedust(&[&["learn", "crawl.jsonl", "-o", "rules.json", "--force", "-q"], options].concat()),
            "exit 0\n"
        );
        sandbox.read("rules.json")
    };
    let rules = learned(&[]);
    let options = r#"  "options": {"evidence":"auto","max_fpr":0.05,"max_loss":0.005,"max_sample":100000,"method":"canonfd","mirror":[],"mode":"balanced","no_mirrors":false,"prefer":[],"sample":0.2,"trust_hosts":false},"#;
    assert_eq!(rules.lines().nth(3), Some(options));
    assert_eq!(learned(&["--max-sample", "99999"]), rules.replace("100000", "99999"));
    assert_eq!(learned(&["--method", "canonfd", "--evidence", "auto", "--sample", "0.2"]), rules);
}

#[test]
fn what_was_refused_is_shown_on_request_only() {
    let sandbox = Sandbox::new();
    // The language matters to all pages but a few.
    let row = |page: u32, language: &str| {
        let text = if page < 5 { "" } else { language };
        format!("{{\"url\":\"http://a.example/{page}?lang={language}\",\"digest\":\"{page}{text}\"}}\n")
    };
    let rows: String = (0..40).flat_map(|page| ["de", "en"].map(|language| row(page, language))).collect();
    sandbox.write("crawl.jsonl", rows);
    let learn = |option: &str| sandbox.dedust(&["learn", "crawl.jsonl", "-o", "new.json", "--force", option]);
    assert!(!learn("--no-progress").contains("refused"));
    let text = learn("--verbose");
    assert!(text.contains("considered on a.example and refused:"), "{text}");
}
