/*!
Tables of other tools: their columns are recognised, named by the user, or said to be ignored.
*/

use std::fs;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// A site whose session ids do not matter: pages, each under three URLs.
fn visits() -> impl Iterator<Item = (u32, String)> {
    (0..120_u32).map(|visit| {
        let product = visit / 3;
        let session = (visit + 1).wrapping_mul(0x9e37_79b9);
        (product, format!("http://shop.example/view?id={product}&sid={session:08x}"))
    })
}

/// What is said when rules are learned from a file, without figures, and whether `sid` was found not to matter.
fn learn(name: &str, text: &str, options: &[&str]) -> (String, bool) {
    let sandbox = Sandbox::new();
    if let Some((folder, _)) = name.rsplit_once('/') {
        fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    sandbox.write(name, text);
    let output = sandbox.dedust(&[&["learn", name, "-o", "rules.json"], options].concat());
    let said = output.lines().filter(|line| line.starts_with("read ") || line.starts_with("warning"));
    let said: Vec<&str> = said.collect();
    assert!(output.starts_with("exit 0\n"), "{output}");
    let explained = sandbox.dedust(&["explain", "rules.json", "http://shop.example/view?id=7&sid=0a0b0c0d"]);
    (said.join("\n"), explained.contains("`sid` does not matter"))
}

#[test]
fn the_index_of_common_crawl_is_recognised() {
    let header = "url_surtkey,url,fetch_time,fetch_status,fetch_redirect,content_digest,content_mime_type,content_mime_detected,content_truncated,warc_filename";
    let rows: String = visits()
        .map(|(product, url)| {
            format!("k,{url},2024-05-06,200,,DIGEST{product},text/html,text/html,,f.warc.gz\n")
        })
        .collect();
    let (said, learned) = learn("part-0.csv", &format!("{header}\n{rows}"), &[]);
    assert!(learned, "{said}");
    assert_snapshot!(said, @"
    read part-0.csv as CSV (common-crawl), with time=fetch_time, status=fetch_status, redirect=fetch_redirect, digest=content_digest, mime=content_mime_detected, truncated=content_truncated; ignored columns: url_surtkey, content_mime_type, warc_filename
    warning: no redirects in this index of Common Crawl: they are in its subset `crawldiagnostics`, which is read together with `warc` if both are named
    ");
    // The digest of a body that was cut off says nothing.
    let truncated = rows.replace("text/html,,f", "text/html,length,f");
    let (_, learned) = learn("part-0.csv", &format!("{header}\n{truncated}"), &[]);
    assert!(!learned);
    // Files of robots.txt are no pages, and the folder says that these are such.
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("crawl=1/subset=robotstxt")).unwrap();
    sandbox.write("crawl=1/subset=robotstxt/part-0.csv", format!("{header}\n{rows}"));
    let output = sandbox.dedust(&["learn", "crawl=1", "-o", "rules.json"]);
    assert!(output.contains("error: no URLs in crawl=1/subset=robotstxt/part-0.csv"), "{output}");
}

#[test]
fn redirects_of_common_crawl_are_in_another_subset() {
    let header = "url,fetch_status,fetch_redirect,content_digest\n";
    let sandbox = Sandbox::new();
    for subset in ["warc", "crawldiagnostics"] {
        fs::create_dir_all(sandbox.path(&format!("crawl=1/subset={subset}"))).unwrap();
    }
    let page = |product: u32| format!("http://shop.example/view?id={product}");
    let pages: String = (0..120).map(|product| format!("{},200,,DIGEST{product}\n", page(product))).collect();
    let redirects: String = visits()
        .map(|(product, url)| format!("{url},301,{},3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\n", page(product)))
        .collect();
    sandbox.write("crawl=1/subset=warc/a.csv", format!("{header}{pages}"));
    sandbox.write("crawl=1/subset=crawldiagnostics/a.csv", format!("{header}{redirects}"));
    let output = sandbox.dedust(&["learn", "crawl=1", "-o", "rules.json"]);
    assert!(
        output.contains("and 1 more as CSV (common-crawl)") && !output.contains("no redirects"),
        "{output}"
    );
    let key = sandbox.dedust(&["normalize", "rules.json", "crawl=1", "--key", "--format", "text", "-q"]);
    assert!(key.contains("http://shop.example/view?id=7\n") && !key.contains("sid="), "{key}");
}

#[test]
fn an_export_of_screaming_frog_is_recognised() {
    let rows: String = visits()
        .map(|(product, url)| {
            format!("\"{url}\",\"text/html; charset=utf-8\",\"200\",\"OK\",\"Product {product}\",\"\",\"\",\"hash{product}\"\r\n")
        })
        .collect();
    let header = "\u{feff}\"Address\",\"Content Type\",\"Status Code\",\"Status\",\"Title 1\",\"Canonical Link Element 1\",\"Redirect URL\",\"Hash\"\r\n";
    let (said, learned) = learn("internal_all.csv", &format!("{header}{rows}"), &[]);
    assert!(learned, "{said}");
    assert_snapshot!(said, @"read internal_all.csv as CSV (screaming-frog), with url=Address, mime=Content Type, status=Status Code, title=Title 1, canonical=Canonical Link Element 1, redirect=Redirect URL, digest=Hash; ignored columns: Status");
}

#[test]
fn dumps_of_nutch_are_recognised() {
    let text: String = visits()
        .map(|(product, url)| {
            format!("{url}\tVersion: 7\nStatus: 2 (db_fetched)\nFetch time: Mon May 06\nSignature: {product:032x}\nMetadata: \n \tContent-Type=text/html\n\n")
        })
        .collect();
    let (said, learned) = learn("part-r-00000", &text, &[]);
    assert!(learned, "{said}");
    assert_eq!(said, "read part-r-00000 as a dump of a Nutch CrawlDb");
    let rows: String = visits()
        .map(|(product, url)| {
            format!("\"{url}\",2,\"db_fetched\",Mon,Mon,0,1,1,1.0,\"{product:032x}\",\"\"\n")
        })
        .collect();
    let header = "Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,Score,Signature,Metadata\n";
    let (said, learned) = learn("dump.csv", &format!("{header}{rows}"), &[]);
    assert!(learned && said.contains("as CSV (nutch-crawldb), with status=Status name"), "{said}");
}

#[test]
fn redirects_among_the_metadata_of_nutch_are_evidence() {
    let moved = |product: u32| format!("moved(12), lastModified=0: http://shop.example/view?id={product}");
    let rows: String = visits()
        .map(|(product, url)| {
            let metadata = format!("{{\"_pst_\": \"{}\", \"nutch.protocol.code\": \"301\"}}", moved(product));
            format!("{{\"url\": \"{url}\", \"statusName\": \"db_redir_perm\", \"signature\": \"null\", \"metadata\": {metadata}}}\n")
        })
        .collect();
    let (said, learned) = learn("dump.json", &rows, &[]);
    assert!(learned, "{said}");
    assert_eq!(
        said,
        "read dump.json as JSON Lines (nutch-crawldb), with status=statusName, digest=signature, redirect=metadata"
    );
    let rows: String = visits()
        .map(|(product, url)| {
            format!(
                "\"{url}\",\"db_redir_perm\",\"null\",\"_pst_:{}|||Content-Type:text/html|||\"\n",
                moved(product)
            )
        })
        .collect();
    let (said, learned) = learn("dump.csv", &format!("Url,Status name,Signature,Metadata\n{rows}"), &[]);
    assert!(learned, "{said}");
    // Pages without a signature are not all the same page.
    let rows: String = visits().map(|(_, url)| format!("\"{url}\",\"db_fetched\",\"null\",\"\"\n")).collect();
    let (said, learned) = learn("dump.csv", &format!("Url,Status name,Signature,Metadata\n{rows}"), &[]);
    assert!(!learned && said.contains("no evidence of duplicates"), "{said}");
}

#[test]
fn the_log_of_heritrix_is_recognised() {
    let text: String = visits()
        .map(|(product, url)| {
            format!("2024-05-06T07:08:09.123Z   200      11385 {url} L http://a.example/ text/html #012 20240506070809001+117 sha1:DIGEST{product} - -\n")
        })
        .collect();
    let (said, learned) = learn("crawl.log", &text, &[]);
    assert!(learned, "{said}");
    assert_eq!(said, "read crawl.log as a Heritrix crawl.log");
}

#[test]
fn feeds_of_scrapy_are_recognised() {
    let items: Vec<String> = visits()
        .map(|(product, url)| {
            format!("{{\"response_url\": \"{url}\", \"spider\": \"shop\", \"body_sha1\": \"{product:040x}\", \"price\": 7}}")
        })
        .collect();
    let (said, learned) = learn("items.json", &format!("[\n{}\n]", items.join(",\n")), &[]);
    assert!(learned, "{said}");
    assert_eq!(
        said,
        "read items.json as a JSON array (scrapy), with url=response_url, digest=body_sha1; ignored columns: spider, price"
    );
}

/// A spider that drops session ids by redirects, and notes how it came to each page.
#[test]
fn the_way_to_a_page_in_a_feed_of_scrapy_is_evidence() {
    let page = |product: u32| format!("http://shop.example/view?id={product}");
    let items: String = visits()
        .map(|(product, url)| {
            format!(
                "{{\"url\": \"{}\", \"redirect_times\": 1, \"redirect_urls\": [\"{url}\"]}}\n",
                page(product)
            )
        })
        .collect();
    let (said, learned) = learn("items.jsonl", &items, &[]);
    assert!(learned, "{said}");
    assert_eq!(
        said,
        "read items.jsonl as JSON Lines (scrapy), with redirected_from=redirect_urls; ignored columns: redirect_times"
    );
    let rows: String = visits()
        .map(|(product, url)| {
            format!("{},\"{url},http://shop.example/view?id={product}&sid=&from=a,b\"\n", page(product))
        })
        .collect();
    let (said, learned) = learn("items.csv", &format!("url,redirect_urls\n{rows}"), &[]);
    assert!(learned, "{said}");
    // The URL that was asked for in place of the one that answered: where it led is not known.
    let items: String = visits()
        .map(|(_, url)| format!("{{\"url\": \"{url}\", \"redirect_urls\": [\"{url}\"]}}\n"))
        .collect();
    let (said, learned) = learn("items.jsonl", &items, &[]);
    assert!(!learned, "{said}");
    // Commands for which only rows count see one URL for each.
    let sandbox = Sandbox::with_rules();
    sandbox.write("items.jsonl", items);
    let output = sandbox.run(&["normalize", "rules.json", "items.jsonl", "--format", "text", "-q"]);
    assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 120);
}

#[test]
fn the_index_of_wget_is_recognised() {
    let rows: String = visits()
        .map(|(product, url)| {
            format!(
                "{url} 20240506070809 {url} text/html 200 DIGEST{product} - - 334 a.warc.gz <urn:uuid:1>\n"
            )
        })
        .collect();
    let (said, learned) = learn("a.cdx", &format!(" CDX a b a m s k r M V g u\n{rows}"), &[]);
    assert!(learned, "{said}");
    assert_eq!(said, "read a.cdx as a CDX index (wget)");
}

#[test]
fn evidence_under_another_name_is_said_and_can_be_named() {
    let rows: String = visits().map(|(product, url)| format!("{url},{product:032x},x\n")).collect();
    let text = format!("url,MD5,note\n{rows}");
    let (said, learned) = learn("a.csv", &text, &[]);
    assert!(!learned);
    assert_snapshot!(said, @r#"
    read a.csv as CSV; ignored columns: MD5, note
    warning: the column "MD5" of a.csv looks like `digest` and was not used; if it is, add --column digest=MD5
    warning: no evidence of duplicates: nothing can be learned from URLs alone
    "#);
    let (said, learned) = learn("a.csv", &text, &["--column", "digest=MD5"]);
    assert!(learned, "{said}");
    assert_eq!(said, "read a.csv as CSV, with digest=MD5; ignored columns: note");
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", text);
    assert_snapshot!(sandbox.dedust(&["learn", "a.csv", "-o", "r.json", "--column", "digest=sha1"]), @r#"
    exit 2
    --- stderr
    error: a.csv has no column "sha1" to use as digest, its columns are "url, MD5, note"
    "#);
    let output = sandbox.dedust(&["learn", "a.csv", "-o", "r.json", "--column", "hash=MD5"]);
    assert!(output.contains("no column is called `hash`, expected one of url, cluster"), "{output}");
}
