/*!
The page as text: what crawls say must not become markup, and nothing may be asked of the network.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use dedust::{Normalizer, RuleSet};
use dedust_learn::Clues;
use dedust_report::page::{live_assets, static_page};
use dedust_report::{ReportBuilder, ReportData, ReportSettings};

const HOSTILE: &[&str] = &[
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "-->]]><img src=x onerror=alert(1)>",
    "\u{2028}\u{2029}&lt;\"'`",
];

fn hostile_report() -> ReportData {
    let rules = r#"{"version": 1, "sites": {"a.example": {
        "rules": [
            {"change": [{"drop": "q.sid"}], "fetchable": true},
            {"change": [{"drop": "q.ref"}], "off": {"by": "</script><!--", "why": "<script>alert(1)</script>"}}
        ],
        "refused": [{"change": [{"drop": "q.print"}], "reason": "<!--<script>", "votes": 1, "against": 0}]
    }}}"#;
    let rules = RuleSet::load(rules.as_bytes()).unwrap();
    let normalizer = Normalizer::compile(&rules);
    let mut builder = ReportBuilder::new(Some(&rules), &normalizer, ReportSettings::default());
    for (at, text) in HOSTILE.iter().enumerate() {
        for session in 0..2 {
            let url = format!("http://a.example/{text}?id={at}&sid={session}&</script>=1");
            let clues =
                Clues { title: Some(text.as_bytes()), digest: Some(text.as_bytes()), ..Clues::default() };
            builder.observe(url.as_bytes(), &clues).unwrap();
        }
    }
    builder.finish()
}

/// What stands between two texts.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let from = text.find(start).expect(start) + start.len();
    &text[from..from + text[from..].find(end).expect(end)]
}

#[test]
fn hostile_texts_are_data_and_no_markup() {
    let data = hostile_report();
    let html = static_page(&data);
    let json = between(&html, "id=\"report-data\">", "</script>");
    assert!(!json.contains(['<', '>', '&']), "no character of the data means anything to HTML");
    let read: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(read, serde_json::to_value(&data).unwrap(), "and nothing is lost");
    let titles: Vec<&str> = read["details"][0]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|group| group["title"].as_str())
        .collect();
    assert!(titles.contains(&HOSTILE[0]), "{titles:?}");
    assert_eq!(html.matches("<script").count(), 3, "data, normalizer, module");
    assert_eq!(html.matches("</script>").count(), 3);
    assert_eq!(html.matches("<!--").count(), 0);
}

#[test]
fn the_policy_allows_this_script_and_no_request() {
    use base64::Engine as _;
    use sha2::Digest as _;

    let html = static_page(&hostile_report());
    let policy = between(&html, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe-inline") && !policy.contains("http") && !policy.contains("connect-src"));
    for (start, end) in [("<script type=\"module\">", "</script>"), ("<style>", "</style>")] {
        let hash = sha2::Sha256::digest(between(&html, start, end).as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(hash);
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{start} is allowed by its hash");
    }
}

#[test]
fn texts_are_never_read_as_markup_by_the_script() {
    let assets = live_assets();
    let script = assets.iter().find(|asset| asset.path == "page.js").unwrap();
    let script = std::str::from_utf8(&script.bytes).unwrap();
    for name in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
    ] {
        assert!(!script.contains(name), "{name}");
    }
    assert!(!script.contains("import ") && !script.contains("export "), "all modules are one");
    for address in ["http://", "https://"] {
        let found: Vec<&str> =
            script.match_indices(address).map(|(at, _)| &script[at..(at + 30).min(script.len())]).collect();
        let allowed = |text: &&str| {
            text.starts_with("http://www.w3.org/2000/svg") || text.starts_with("http://\u{2026}")
        };
        assert!(found.iter().all(allowed), "{found:?}");
    }
}

#[test]
fn the_live_page_is_four_files_of_one_origin() {
    let assets = live_assets();
    let names: Vec<(&str, &str)> = assets.iter().map(|asset| (asset.path, asset.content_type)).collect();
    assert_eq!(
        names,
        [
            ("index.html", "text/html; charset=utf-8"),
            ("page.js", "text/javascript; charset=utf-8"),
            ("page.css", "text/css; charset=utf-8"),
            ("dedust.wasm", "application/wasm"),
        ]
    );
    let index = std::str::from_utf8(&assets[0].bytes).unwrap();
    assert!(index.contains("script-src 'self' 'wasm-unsafe-eval'") && !index.contains("report-data"));
    if assets[3].bytes.is_empty() {
        eprintln!("skipped: what dedust.wasm holds: this build has none");
    } else {
        assert_eq!(&assets[3].bytes[..4], b"\0asm");
    }
}

#[test]
fn no_name_is_declared_in_two_modules() {
    let assets = live_assets();
    let script = std::str::from_utf8(&assets[1].bytes).unwrap();
    let mut names: Vec<&str> = script
        .lines()
        .filter_map(|line| {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let rest = ["function ", "const ", "let ", "class "]
                .iter()
                .find_map(|start| line.strip_prefix(start))?;
            rest.split([' ', '(', '=']).next()
        })
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count > 50 && names.len() == count, "{count} declarations, {} names", names.len());
}
