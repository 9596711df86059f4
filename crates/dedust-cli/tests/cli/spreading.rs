/*!
`learn --part`, `merge` and `collect`: several processes do what one does.
*/

use crate::sandbox::{Sandbox, report, shop};

/// A folder with a crawl of `files` files: the shop, an outlet that leads to it, and sites whose parameters matter.
fn crawl(files: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut rows = shop();
    for page in 0..40 {
        let url = format!("http://www.shop.example/p/{page}");
        rows.push(format!("{{\"url\":\"{url}\",\"digest\":\"p{page}\",\"canonical\":\"{url}\"}}\n"));
        rows.push(format!(
            "{{\"url\":\"http://www.outlet.example/p/{page}\",\"digest\":\"p{page}\",\"canonical\":\"{url}\"}}\n"
        ));
    }
    for site in 0..20 {
        for page in 0..60 {
            rows.push(format!(
                "{{\"url\":\"http://site{site}.example/v?id={}&s={page}\",\"digest\":\"{}\",\"time\":\"2026-05-{:02}\"}}\n",
                page / 3,
                page / 3,
                page % 28 + 1
            ));
        }
    }
    std::fs::create_dir(sandbox.path("crawl")).unwrap();
    for file in 0..files {
        let text: String = rows.iter().skip(file).step_by(files).map(String::as_str).collect();
        sandbox.write(&format!("crawl/{file}.jsonl"), text);
    }
    sandbox
}

fn learn_parts(sandbox: &Sandbox, parts: usize) {
    for part in 1..=parts {
        let (of, folder) = (format!("{part}/{parts}"), format!("parts/{part}"));
        let run = ["learn", "crawl", "--part", &of, "-o", &folder, "-q"];
        assert_eq!(sandbox.dedust(&run), "exit 0\n");
    }
}

#[test]
fn parts_make_the_rules_of_the_whole() {
    let sandbox = crawl(7);
    assert_eq!(sandbox.dedust(&["learn", "crawl", "-o", "whole.json", "-q"]), "exit 0\n");
    let whole = sandbox.read("whole.json");
    assert!(whole.contains("outlet.example") && whole.contains("site19.example"));
    // More parts than files, too.
    for parts in [1, 3, 9] {
        learn_parts(&sandbox, parts);
        assert_eq!(sandbox.dedust(&["merge", "parts", "-o", "rules.json", "-q", "--force"]), "exit 0\n");
        assert_eq!(sandbox.read("rules.json"), whole, "{parts} parts");
        if parts == 3 {
            for part in ["1/2", "2/2"] {
                let file = format!("rules-{}.json", &part[..1]);
                assert_eq!(
                    sandbox.dedust(&["merge", "parts", "--part", part, "-o", &file, "-q"]),
                    "exit 0\n"
                );
            }
            let collected = ["collect", "rules-1.json", "rules-2.json", "-o", "all.json", "-q"];
            assert_eq!(sandbox.dedust(&collected), "exit 0\n");
            assert_eq!(sandbox.read("all.json"), whole);
        }
        std::fs::remove_dir_all(sandbox.path("parts")).unwrap();
    }
}

#[test]
fn what_is_wrong_with_parts_is_told() {
    let sandbox = crawl(3);
    learn_parts(&sandbox, 3);
    let merge = |inputs: &[&str]| sandbox.dedust(&[&["merge", "-o", "rules.json"], inputs].concat());
    let of_two = ["learn", "crawl", "--part", "1/2", "-o", "other", "-q"];
    assert_eq!(sandbox.dedust(&of_two), "exit 0\n");
    for (inputs, expected) in [
        (&["parts/1", "parts/3"][..], "2 of 3 parts are there; missing: 2/3"),
        (&["parts/1", "parts/2", "parts/1"], "parts/1 and parts/1 are both part 1 of 3"),
        (&["parts/1", "other"], "other is one of 2 parts, and others are of 3"),
        (&["crawl"], "crawl is no part of `dedust learn --part`, and holds none"),
        (&["parts", "--mode", "strict"], "its --mode was balanced, and now is strict"),
    ] {
        let told = merge(inputs);
        assert!(told.starts_with("exit 2") && told.contains(expected), "{told}");
    }
    std::fs::remove_file(sandbox.path("parts/2/part.json")).unwrap();
    assert!(merge(&["parts"]).contains("parts/2 is not complete"));
    let again = sandbox.dedust(&["learn", "crawl", "--part", "1/3", "-o", "parts/1"]);
    assert!(again.contains("parts/1 already exists") && again.contains("--force"), "{again}");
    let wrong = sandbox.dedust(&["learn", "crawl", "--part", "4/3", "-o", "parts/4"]);
    assert!(wrong.contains("such as 3/8"), "{wrong}");
    assert!(!sandbox.path("rules.json").exists());
}

/// A row of a table for each site of a rule file.
fn table(sandbox: &Sandbox, rules: &str) -> String {
    let rules: serde_json::Value = serde_json::from_str(&sandbox.read(rules)).unwrap();
    let row = |(site, of): (&String, &serde_json::Value)| {
        let alone = serde_json::json!({
            "version": rules["version"], "method": rules["method"], "options": rules["options"], "sites": {site: of}
        });
        format!("{}\n", serde_json::json!({"site": site, "rules": alone.to_string(), "urls": 1}))
    };
    rules["sites"].as_object().unwrap().iter().map(row).collect()
}

#[test]
fn a_table_of_sites_is_collected_into_one_file() {
    let sandbox = crawl(1);
    assert_eq!(sandbox.dedust(&["learn", "crawl", "-o", "rules.json", "-q"]), "exit 0\n");
    let rows = table(&sandbox, "rules.json");
    sandbox.write("sites.jsonl", &rows);
    assert_eq!(sandbox.dedust(&["collect", "sites.jsonl", "-o", "again.json", "-q"]), "exit 0\n");
    assert_eq!(sandbox.read("again.json"), sandbox.read("rules.json"));

    assert_eq!(sandbox.dedust(&["compile", "rules.json", "-o", "rules.bin", "-q"]), "exit 0\n");
    let reversed: Vec<&str> = rows.lines().rev().collect();
    sandbox.write("reversed.jsonl", reversed.join("\n") + "\n{\"site\":\"failed.example\",\"rules\":null}\n");
    let told = report(&sandbox.run(&["collect", "reversed.jsonl", "-o", "collected.bin"]));
    assert!(told.starts_with("exit 0") && told.contains("1 site without rules"), "{told}");
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert_eq!(bytes("collected.bin"), bytes("rules.bin"));
    let url = "http://site3.example/v?id=7&s=8";
    sandbox.write("urls.txt", format!("{url}\nhttp://elsewhere.example/v?id=7&s=8\n"));
    let keys = sandbox.dedust(&["normalize", "collected.bin", "urls.txt", "--key"]);
    assert!(!keys.contains(url) && keys.contains("http://elsewhere.example/v?id=7&s=8"), "{keys}");
}

#[test]
fn what_is_wrong_with_a_table_is_told() {
    let sandbox = crawl(1);
    assert_eq!(sandbox.dedust(&["learn", "crawl", "-o", "rules.json", "-q"]), "exit 0\n");
    let told = sandbox.dedust(&["collect", "rules.json", "rules.json", "-o", "all.bin"]);
    assert!(told.starts_with("exit 2") && told.contains("in rules.json, and before"), "{told}");
    sandbox.write("sites.jsonl", "{\"site\":\"a.example\",\"rules\":\"{}\"}\n");
    let told = sandbox.dedust(&["collect", "sites.jsonl", "-o", "all.bin"]);
    assert!(told.starts_with("exit 2") && told.contains("row 1 of sites.jsonl"), "{told}");
    assert!(!sandbox.path("all.bin").exists());
}
