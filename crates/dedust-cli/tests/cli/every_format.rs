/*!
Every command reads what `learn` reads: all formats, folders, patterns, lists, and text in UTF-16.
*/

use std::fs;

use crate::sandbox::{Sandbox, shop};

const URL: &str = "http://www.shop.example/view?id=7&sid=0a0b0c0d";
const KEY: &str = "http://www.shop.example/view?id=7&sid=*";

/// One URL in every format that is text.
fn inputs() -> Vec<(&'static str, String)> {
    vec![
        ("urls.txt", format!("{URL}\n")),
        ("bom.txt", format!("\u{feff}{URL}\r\n")),
        ("rows.jsonl", format!("{{\"url\":\"{URL}\",\"digest\":\"a\"}}\n")),
        ("items.json", format!("[\n{{\"url\":\"{URL}\",\"digest\":\"a\"}}\n]\n")),
        ("rows.csv", format!("digest,url\r\na,{URL}\r\n")),
        ("rows.tsv", format!("digest\turl\na\t{URL}\n")),
        (
            "index.cdx",
            format!(
                " CDX N b a m s k r M S V g\nexample,shop)/ 20240506070809 {URL} text/html 200 A - - 5 6 f\n"
            ),
        ),
        ("index.cdxj", format!("example,shop)/ 20240506070809 {{\"url\":\"{URL}\",\"digest\":\"A\"}}\n")),
        (
            "access.log",
            "192.0.2.7 - - [06/May/2024:00:00:01 +0000] \"GET /view?id=7&sid=0a0b0c0d HTTP/1.1\" 200 7115\n"
                .to_owned(),
        ),
        (
            "crawl.log",
            format!(
                "2024-05-06T07:08:09.123Z   200      11385 {URL} L http://a.example/ text/html #012 20240506070809001+117 \
                 sha1:OSSA - -\n"
            ),
        ),
        ("crawldb.dump", format!("{URL}\tVersion: 7\nStatus: 2 (db_fetched)\nSignature: 5d41\n\n")),
        (
            "crawl.warc",
            format!(
                "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {URL}\r\nContent-Type: text/html\r\n\
                 Content-Length: 2\r\n\r\nhi\r\n\r\n"
            ),
        ),
    ]
}

const HOST: [&str; 2] = ["--host", "http://www.shop.example"];

fn utf16(text: &str) -> Vec<u8> {
    [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn every_format_is_normalized_deduplicated_and_explained() {
    let sandbox = Sandbox::with_rules();
    for (name, text) in inputs() {
        let as_utf16 = if name == "crawl.warc" { text.clone().into_bytes() } else { utf16(&text) };
        for bytes in [text.into_bytes(), as_utf16] {
            sandbox.write(name, bytes);
            let run = |args: &[&str]| {
                let output = sandbox.run(&[args, &HOST].concat());
                assert!(output.status.success(), "{name} {args:?}: {}", crate::sandbox::report(&output));
                String::from_utf8(output.stdout).unwrap()
            };
            let keys = run(&["normalize", "rules.json", name, "--key", "--format", "text"]);
            assert_eq!(keys.trim_end(), KEY, "{name}");
            let new = run(&["dedup", "rules.json", name, "--format", "text"]);
            assert_eq!(new.trim_end(), URL, "{name}");
            assert!(run(&["explain", "rules.json", name]).contains(KEY), "{name}");
            assert!(run(&["groups", "rules.json", name, "--min-size", "1"]).contains(KEY), "{name}");
            assert!(
                run(&["cluster", name, "-o", "-"]).contains(&format!("{{\"url\":\"{URL}\",\"cluster\"")),
                "{name}"
            );
        }
    }
}

#[test]
fn rows_are_deduplicated_as_they_came() {
    let sandbox = Sandbox::with_rules();
    let other = URL.replace("0a0b0c0d", "ffffffff");
    let row = |url: &str| format!("example,shop)/ 20240506070809 {{\"url\":\"{url}\", \"x\": 1}}\n");
    sandbox.write("index.cdxj", [row(URL), row(&other)].concat());
    assert_eq!(
        sandbox.dedust(&["dedup", "rules.json", "index.cdxj", "-q"]),
        format!("exit 0\n--- stdout\n{}", row(URL))
    );
    sandbox.write("a.csv", format!("n,url\r\n1,{URL}\r\n2,{other}\r\n3,mailto:a@a.example\r\n"));
    assert_eq!(
        sandbox.dedust(&["dedup", "rules.json", "a.csv"]),
        format!(
            "exit 0\n--- stdout\nn,url\n1,{URL}\r\n--- stderr\n1 URL was left out because of --schemes, such as \
             mailto:a@a.example\n"
        )
    );
    let all = sandbox.dedust(&["dedup", "rules.json", "a.csv", "--schemes", "any", "-q"]);
    assert_eq!(all, format!("exit 0\n--- stdout\nn,url\n1,{URL}\r\n3,mailto:a@a.example\r\n"));
}

#[test]
fn folders_patterns_and_lists_stand_for_their_files() {
    let sandbox = Sandbox::with_rules();
    fs::create_dir_all(sandbox.path("crawl/a")).unwrap();
    sandbox.write("crawl/a/1.txt", format!("{URL}\n"));
    sandbox.write("crawl/2.csv", "url,n\nhttp://news.example/story/1?utm_source=mail,1\n");
    sandbox.write("crawl/_SUCCESS", "");
    sandbox.write("crawl/.2.csv.crc", b"\0\x01\x02");
    sandbox.write("list", "# both\ncrawl/a\n\ncrawl/*.csv\n");
    let expected =
        "exit 0\n--- stdout\nhttp://news.example/story/1\nhttp://www.shop.example/view?id=7&sid=0a0b0c0d\n";
    let reversed =
        "exit 0\n--- stdout\nhttp://www.shop.example/view?id=7&sid=0a0b0c0d\nhttp://news.example/story/1\n";
    let normalize =
        |input: &str| sandbox.dedust(&["normalize", "rules.json", input, "--format", "text", "-q"]);
    assert_eq!(normalize("crawl"), expected);
    assert_eq!(normalize("crawl/**/*.*"), expected);
    assert_eq!(normalize("@list"), reversed);
    let evaluated =
        sandbox.dedust(&["dedup", "rules.json", "crawl", "@list", "-q", "--format", "text", "--stats"]);
    assert_eq!(evaluated.matches("http").count(), 2, "{evaluated}");
    fs::create_dir(sandbox.path("empty")).unwrap();
    let refused = normalize("empty");
    assert!(refused.starts_with("exit 2\n--- stderr\nerror: empty is a folder without files"), "{refused}");
    let refused = normalize("*.parquet");
    assert!(refused.starts_with("exit 2\n--- stderr\nerror: no file matches *.parquet"), "{refused}");
}

#[test]
fn learning_from_a_folder_is_learning_from_its_files() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("crawl")).unwrap();
    let rows = shop();
    sandbox.write("crawl/a.jsonl", rows[..100].concat());
    sandbox.write("crawl/b.jsonl", utf16(&rows[100..].concat()));
    sandbox.write("all.jsonl", rows.concat());
    assert_eq!(sandbox.dedust(&["learn", "crawl", "-o", "a.json", "-q"]), "exit 0\n");
    assert_eq!(sandbox.dedust(&["learn", "all.jsonl", "-o", "b.json", "-q"]), "exit 0\n");
    assert_eq!(sandbox.read("a.json"), sandbox.read("b.json"));
}

#[test]
fn what_holds_no_urls_is_refused() {
    let sandbox = Sandbox::with_rules();
    let text = "Dear reader,\nthis is no list\nof URLs at all\nhttp://a.example/\n";
    sandbox.write("letter", text);
    let remedy = "hint: expected one URL per line such as http://a.example/";
    for args in
        [&["normalize", "rules.json", "letter"][..], &["normalize", "rules.json", "letter", "--check"]]
    {
        let output = sandbox.dedust(args);
        assert!(output.starts_with("exit 2\n--- stderr\n"), "{output}");
        assert!(
            output.contains("error: 3 of 4 lines of letter are no URLs") && output.contains(remedy),
            "{output}"
        );
        assert!(output.contains("letter:1: no scheme"), "{output}");
    }
    let output = sandbox.dedust(&["dedup", "rules.json", "letter"]);
    assert!(output.starts_with("exit 2\n") && output.contains(remedy), "{output}");
    let output = sandbox.dedust(&["normalize", "rules.json", "letter", "-o", "out.txt"]);
    assert!(output.starts_with("exit 2\n") && !sandbox.path("out.txt").exists(), "{output}");
    sandbox.write("a.csv", "name,address of page\nx,http://a.example/\n");
    let output = sandbox.dedust(&["normalize", "rules.json", "a.csv"]);
    assert!(output.starts_with("exit 2\n") && output.contains("--column url=NAME"), "{output}");
    let named =
        sandbox.dedust(&["normalize", "rules.json", "a.csv", "--column", "url=address of page", "-q"]);
    let expected = "name,address of page,dedust_key,dedust_url\nx,http://a.example/,http://a.example/,http://a.example/\n";
    assert_eq!(named, format!("exit 0\n--- stdout\n{expected}"));
}
