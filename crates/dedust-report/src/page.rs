/*!
The page: data in, one file of HTML out that needs nothing else; or the same page as files for a server.

Scripts and styles are those of `web/`, written by hand. The modules are put one behind the other as one module, without their
imports; each name is declared in one of them only. Texts of crawls are part of the data alone, which is JSON in which no character
means anything to HTML, and the script makes text nodes of them. A content security policy allows this script and this style
by their hashes, and no request at all.
*/

use std::borrow::Cow;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use sha2::{Digest as _, Sha256};

use crate::data::ReportData;

/// The modules, each after those it needs.
const MODULES: &[&str] = &[
    include_str!("../web/dom.js"),
    include_str!("../web/format.js"),
    include_str!("../web/stored.js"),
    include_str!("../web/difference.js"),
    include_str!("../web/normalizer.js"),
    include_str!("../web/whatif.js"),
    include_str!("../web/charts.js"),
    include_str!("../web/live.js"),
    include_str!("../web/overview.js"),
    include_str!("../web/rules.js"),
    include_str!("../web/tree.js"),
    include_str!("../web/groups.js"),
    include_str!("../web/parameters.js"),
    include_str!("../web/try.js"),
    include_str!("../web/sites.js"),
    include_str!("../web/page.js"),
];
const STYLE: &str = include_str!("../web/page.css");
const INDEX: &str = include_str!("../web/index.html");
/// The normalizer of the page; empty if there was none when this was built, of which `page.js` tells the reader.
const WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dedust.wasm"));

/// Where the page is different from file to server.
const POLICY: &str = "<!-- policy -->";
const STYLES: &str = "<!-- style -->";
const SCRIPTS: &str = "<!-- script -->";

/// A file of the live page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its path below the root of the server, without a slash at the start: `index.html`, `page.js`, ...
    pub path: &'static str,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// What it holds.
    pub bytes: Cow<'static, [u8]>,
}

/// The content security policy of the live page, for a header: scripts, styles and requests of its own origin only.
pub const LIVE_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                               connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

/// One file with all in it, that opens from disk.
pub fn static_page(data: &ReportData) -> String {
    let script = script();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}' 'wasm-unsafe-eval'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(STYLE),
    );
    let scripts = format!(
        "<script type=\"application/json\" id=\"report-data\">{}</script>\n\
         <script type=\"application/octet-stream\" id=\"normalizer\">{}</script>\n\
         <script type=\"module\">{script}</script>",
        json_for_html(data),
        BASE64.encode(deflated(WASM)),
    );
    fill(&policy, &format!("<style>{STYLE}</style>"), &scripts)
}

/// The live page: `index.html`, `page.js`, `page.css` and `dedust.wasm`, which is empty in a build without it. Its data are those of
/// `/v1/report`: [`ReportData`] as JSON.
pub fn live_assets() -> Vec<Asset> {
    let index = fill(
        LIVE_POLICY,
        "<link rel=\"stylesheet\" href=\"page.css\">",
        "<script type=\"module\" src=\"page.js\"></script>",
    );
    vec![
        Asset {
            path: "index.html",
            content_type: "text/html; charset=utf-8",
            bytes: index.into_bytes().into(),
        },
        Asset {
            path: "page.js",
            content_type: "text/javascript; charset=utf-8",
            bytes: script().into_bytes().into(),
        },
        Asset { path: "page.css", content_type: "text/css; charset=utf-8", bytes: STYLE.as_bytes().into() },
        Asset { path: "dedust.wasm", content_type: "application/wasm", bytes: WASM.into() },
    ]
}

fn fill(policy: &str, style: &str, script: &str) -> String {
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    // The script last: what is put in is not searched for the other two.
    INDEX.replacen(POLICY, &meta, 1).replacen(STYLES, style, 1).replacen(SCRIPTS, script, 1)
}

/// All modules as one.
fn script() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines());
    let mut script = String::new();
    for line in lines.filter(|line| !line.starts_with("import ")) {
        script += line.strip_prefix("export ").unwrap_or(line);
        script.push('\n');
    }
    script
}

/// JSON without characters that mean something to HTML. They stand in texts only, where escapes mean the same.
fn json_for_html(data: &ReportData) -> String {
    // Serializing data to memory does not fail.
    let json = serde_json::to_string(data).unwrap_or_default();
    let mut html = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}'..='\u{9f}' => {
                html += &format!("\\u{:04x}", u32::from(character));
            }
            _ => html.push(character),
        }
    }
    html
}

fn hash(text: &str) -> String {
    BASE64.encode(Sha256::digest(text.as_bytes()))
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
