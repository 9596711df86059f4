/*!
Tables in, tables out: `normalize` adds two columns and keeps all else, or writes nothing.
*/

use std::fs;

use crate::sandbox::Sandbox;

const URL: &str = "http://www.shop.example/view?id=7&sid=0a0b0c0d";
const KEY: &str = "http://www.shop.example/view?id=7&sid=*";

fn rows_parquet() -> Vec<u8> {
    fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/rows.parquet")).unwrap()
}

#[test]
fn text_tables_get_two_columns() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("a.csv", format!("n,url\n1,{URL}\n2,nowhere\n3,\n"));
    let output = sandbox.dedust(&["normalize", "rules.json", "a.csv", "-o", "b.csv"]);
    assert_eq!(
        output,
        "exit 2\n--- stderr\nwarning: a.csv:3: no scheme, expected one such as `http:` at the start, kept without key: \
         nowhere\nwarning: a.csv:4: no URL, kept without key\nwarning: 2 of 3 rows kept without key, since they have no \
         URL\nerror: 2 of 3 lines of a.csv are no URLs\nhint: expected one URL per line such as http://a.example/, or a \
         table whose header names a column `url`; if another column holds the URLs, name it with --column url=NAME\n"
    );
    assert_eq!(sandbox.names(), ["a.csv", "crawl.jsonl", "rules.json"]);
    sandbox.write("a.csv", format!("n,url\n1,{URL}\n2,nowhere\n3,{URL}\n"));
    let output = sandbox.dedust(&["normalize", "rules.json", "a.csv", "-o", "b.csv", "-q"]);
    assert_eq!(output, "exit 0\n");
    assert_eq!(
        sandbox.read("b.csv"),
        format!("n,url,dedust_key,dedust_url\n1,{URL},{KEY},{URL}\n2,nowhere,,\n3,{URL},{KEY},{URL}\n")
    );
    sandbox.write("a.jsonl", format!("{{\"url\":\"{URL}\",\"n\":1}}\n"));
    let names = ["--key-column", "k", "--url-column", "u"];
    let output = sandbox.dedust(&[&["normalize", "rules.json", "a.jsonl"], &names[..]].concat());
    assert_eq!(
        output,
        format!("exit 0\n--- stdout\n{{\"url\":\"{URL}\",\"n\":1,\"k\":\"{KEY}\",\"u\":\"{URL}\"}}\n")
    );
    let output = sandbox.dedust(&["normalize", "rules.json", "b.csv"]);
    assert!(output.contains("b.csv already has a column \"dedust_key\""), "{output}");
    let output = sandbox.dedust(&["normalize", "rules.json", "a.csv", "-o", "b.csv"]);
    assert!(output.contains("b.csv already exists (overwrite it with --force)"), "{output}");
}

#[test]
fn parquet_stays_parquet() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("rows.parquet", rows_parquet());
    let output = sandbox.dedust(&["normalize", "rules.json", "rows.parquet", "-o", "out.parquet"]);
    assert!(output.starts_with("exit 0\n"), "{output}");
    assert!(output.contains("rows.parquet: row 4: no URL, kept without key"), "{output}");
    let key = ["--column", "url=dedust_key", "--format", "text", "-q"];
    let keys = sandbox.dedust(&[&["normalize", "rules.json", "out.parquet"], &key[..]].concat());
    let urls =
        sandbox.dedust(&["normalize", "rules.json", "rows.parquet", "--key", "--format", "text", "-q"]);
    assert_eq!(keys, urls);
    // All that was there is read as before.
    let learn = |input: &str| {
        let output = sandbox.dedust(&["learn", input, "-o", "r.json", "--force", "--method", "tree-graph"]);
        output.replace(input, "INPUT").replace(", dedust_key, dedust_url", "")
    };
    let before = learn("rows.parquet");
    let after = learn("out.parquet");
    assert_eq!(after, before);
    let piped = sandbox.run_with(&["normalize", "rules.json", "-q"], &rows_parquet());
    assert_eq!(piped.stdout, fs::read(sandbox.path("out.parquet")).unwrap());
}

#[test]
fn a_damaged_table_leaves_nothing_behind() {
    let sandbox = Sandbox::with_rules();
    let bytes = rows_parquet();
    let before = sandbox.names();
    for (name, damaged) in [
        ("cut.parquet", bytes[..bytes.len() - 20].to_vec()),
        ("half.parquet", [&bytes[..4], &vec![0xff; bytes.len() / 2], &bytes[4 + bytes.len() / 2..]].concat()),
        ("a.jsonl.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56".to_vec()),
    ] {
        sandbox.write(name, damaged);
        let output = sandbox.dedust(&["normalize", "rules.json", name, "-o", "out"]);
        assert!(output.starts_with("exit 2\n--- stderr\nerror: ") && output.contains(name), "{output}");
        fs::remove_file(sandbox.path(name)).unwrap();
        assert_eq!(sandbox.names(), before, "{name}");
    }
}

#[test]
fn several_tables_become_one() {
    let sandbox = Sandbox::with_rules();
    sandbox.write("a.csv", format!("n,url\n1,{URL}\n"));
    sandbox.write("b.csv", format!("n,url\n2,{URL}\n"));
    sandbox.write("c.csv", format!("url\n{URL}\n"));
    let output = sandbox.dedust(&["normalize", "rules.json", "a.csv", "b.csv"]);
    assert_eq!(
        output,
        format!(
            "exit 0\n--- stdout\nn,url,dedust_key,dedust_url\n1,{URL},{KEY},{URL}\n2,{URL},{KEY},{URL}\n"
        )
    );
    let output = sandbox.dedust(&["normalize", "rules.json", "a.csv", "c.csv", "-o", "out.csv"]);
    assert!(output.starts_with("exit 2\n") && output.contains("c.csv"), "{output}");
    assert!(!sandbox.path("out.csv").exists());
    sandbox.write("two.parquet", rows_parquet());
    sandbox.write("one.parquet", rows_parquet());
    let output = sandbox.dedust(&[
        "normalize",
        "rules.json",
        "one.parquet",
        "two.parquet",
        "-o",
        "both.parquet",
        "-q",
    ]);
    assert_eq!(output, "exit 0\n");
    let urls =
        |input: &str| sandbox.run(&["normalize", "rules.json", input, "--format", "text", "-q"]).stdout;
    assert_eq!(urls("both.parquet"), [urls("one.parquet"), urls("two.parquet")].concat());
}

#[test]
fn a_folder_of_tables_becomes_a_folder_of_tables() {
    let sandbox = Sandbox::with_rules();
    let table = format!("n,url\n1,{URL}\n2,http://www.shop.example/archive/3\n");
    let with_keys = format!(
        "n,url,dedust_key,dedust_url\n1,{URL},{KEY},{URL}\n2,http://www.shop.example/archive/3,\
         http://www.shop.example/archive/3,http://www.shop.example/archive/3\n"
    );
    fs::create_dir_all(sandbox.path("in/crawl=1/subset=warc")).unwrap();
    fs::create_dir_all(sandbox.path("in/crawl=2")).unwrap();
    sandbox.write("in/crawl=1/subset=warc/part.csv", &table);
    sandbox.write("in/crawl=2/part.csv.zst", zstd::encode_all(table.as_bytes(), 1).unwrap());
    sandbox.write("in/rows.parquet", rows_parquet());
    sandbox.write("in/urls", format!("{URL}#top\n"));
    let outputs =
        ["out/crawl=1/subset=warc/part.csv", "out/crawl=2/part.csv", "out/rows.parquet", "out/urls.txt"];
    let run = |arguments: &[&str]| sandbox.dedust(&[&["normalize", "rules.json", "-q"], arguments].concat());

    assert_eq!(run(&["in", "-o", "out/"]), "exit 0\n");
    assert_eq!(sandbox.read(outputs[0]), with_keys);
    assert_eq!(sandbox.read(outputs[1]), with_keys);
    assert_eq!(sandbox.read(outputs[3]), format!("{URL}\n"));
    assert_eq!(run(&["in/rows.parquet", "-o", "one.parquet"]), "exit 0\n");
    let bytes_of = |name: &str| fs::read(sandbox.path(name)).unwrap();
    assert!(bytes_of(outputs[2]) == bytes_of("one.parquet"));

    // What is there is kept, and nothing else is written.
    fs::remove_file(sandbox.path(outputs[0])).unwrap();
    let output = run(&["in", "-o", "out"]);
    assert_eq!(
        output,
        "exit 2\n--- stderr\nerror: out/crawl=2/part.csv already exists (overwrite it with --force)\n"
    );
    assert!(!sandbox.path(outputs[0]).exists());
    assert_eq!(run(&["in", "-o", "out", "--force"]), "exit 0\n");
    assert_eq!(sandbox.read(outputs[0]), with_keys);
}

#[test]
fn a_folder_has_one_file_for_each_input() {
    let sandbox = Sandbox::with_rules();
    fs::create_dir_all(sandbox.path("a")).unwrap();
    fs::create_dir_all(sandbox.path("b")).unwrap();
    sandbox.write("a/urls.txt", "http://a.example/\n");
    sandbox.write("b/urls.txt", "http://b.example/\n");
    let output = sandbox.dedust(&["normalize", "rules.json", "a/urls.txt", "b/urls.txt", "-o", "out/"]);
    assert_eq!(
        output,
        "exit 2\n--- stderr\nerror: two inputs would be written to out/urls.txt\nhint: name the folder that both are in as \
         the input\n"
    );
    let output = sandbox.dedust(&["normalize", "rules.json", "-o", "out/"]);
    assert!(output.contains("error: standard input has no name, and out/ is a folder"), "{output}");
    assert!(!sandbox.path("out").exists());
    let output = sandbox.dedust(&["normalize", "rules.json", "?/urls.txt", "-o", "out/"]);
    assert_eq!(output, "exit 0\n");
    assert_eq!(sandbox.read("out/b/urls.txt"), "http://b.example/\n");
}
