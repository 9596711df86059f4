/*!
The rules that the default method learns on eight real applications, and the URLs that a crawler met there, beside two
URL parsers that know no rules.

`cargo build --release -p dedust-cli && cargo bench -p dedust --bench apps`. The crawls are in `../shared/data/apps`, or in
`apps` of the folder that `DEDUST_DATA` names; without them the benchmark says so and ends. The rules of each application are
learned once by the release build of the command line, and are kept in a temporary folder. Every application stands on
125 sites, with one parameter of its own for each, so that no two sites have the same rules. Four URLs in five are such
that rules change their keys; in a second list one in five is.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod passes;
mod race;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dedust::{Normalizer, RuleSet, Scratch};
use serde_json::{Value, json};

use self::passes::{bytes_of_all, race_all};

const APPLICATIONS: [&str; 8] =
    ["cgit", "dokuwiki", "gitweb", "mediawiki", "roundup", "smf", "wordpress", "zencart"];
const SITES_OF_EACH: usize = 125;
const URLS: usize = 500_000;

fn main() {
    let data = std::env::var_os("DEDUST_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let data = data.join("apps");
    if !data.is_dir() {
        println!("There are no crawls of applications in {}: nothing is measured.", data.display());
        return;
    }
    let Some(binary) = release_binary() else {
        println!("There is no release build of dedust-cli to learn with: nothing is measured.");
        return;
    };
    let apps: Vec<App> =
        APPLICATIONS.iter().map(|name| App::learn(&binary, &data.join(name), name)).collect();
    let normalizer = Normalizer::compile(&rules(&apps));
    for (list, changed_in_ten) in [("four URLs in five changed", 8), ("one URL in five changed", 2)] {
        let urls = urls(&apps, &normalizer, changed_in_ten);
        bytes_of_all(&normalizer, &urls);
        println!("\n{list}; {}", shares(&normalizer, &urls));
        race_all(&format!("rules of applications, {list},"), "rules", &normalizer, &urls);
    }
}

/// The command line, which is built beside benchmarks.
fn release_binary() -> Option<PathBuf> {
    let benchmark = std::env::current_exe().ok()?;
    Some(benchmark.parent()?.parent()?.join("dedust")).filter(|path| path.is_file())
}

/// An application: its rules in JSON, the host that it was crawled on, and the URLs of the crawl.
struct App {
    rules: Vec<Value>,
    host: String,
    urls: Vec<String>,
}

impl App {
    fn learn(binary: &Path, folder: &Path, name: &str) -> Self {
        let crawl = folder.join("pages.jsonl.gz");
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("apps");
        std::fs::create_dir_all(&kept).expect("a temporary folder");
        let rules = kept.join(format!("{name}.json"));
        if !rules.is_file() {
            let mut learn = Command::new(binary);
            learn.arg("learn").arg("--output").arg(&rules).arg(&crawl).stderr(Stdio::null());
            assert!(learn.status().expect("dedust runs").success(), "{name} is learned");
        }
        let rules: Value = serde_json::from_slice(&std::fs::read(&rules).expect("rules")).expect("JSON");
        let sites = rules["sites"].as_object().expect("sites");
        let site = sites.values().next().expect("one site");
        let host = site["hosts"][0].as_str().expect("a host").to_owned();
        let lines = Command::new("gzip").arg("-dc").arg(&crawl).output().expect("gzip runs").stdout;
        let url = |line: &[u8]| {
            let row: Value = serde_json::from_slice(line).ok()?;
            row["url"].as_str().map(str::to_owned)
        };
        let urls = lines.split(|&byte| byte == b'\n').filter_map(url).collect();
        Self { rules: site["rules"].as_array().expect("rules").clone(), host, urls }
    }
}

fn site(number: usize) -> String {
    format!("site-{number}.{}", ["com", "org", "net", "de", "co.uk"][number % 5])
}

/// The rules of every application on each of its sites, with one that the site has alone.
fn rules(apps: &[App]) -> RuleSet {
    let sites = (0..apps.len() * SITES_OF_EACH).map(|number| {
        let App { rules, host, .. } = &apps[number % apps.len()];
        let mut rules = rules.clone();
        let mut own = json!({"change": [{"drop": format!("q.sid{number}")}], "fetchable": true});
        own["evidence"] = rules[0]["evidence"].clone();
        rules.push(own);
        let label = host.split('.').next().expect("a label");
        (site(number), json!({"rules": rules, "hosts": [format!("{label}.{}", site(number))]}))
    });
    let sites: serde_json::Map<String, Value> = sites.collect();
    let file = json!({"version": 1, "method": "canonfd", "sites": sites});
    RuleSet::load(file.to_string().as_bytes()).expect("the rules are valid")
}

/// URLs in no order of sites, so many of ten with keys that rules change.
fn urls(apps: &[App], normalizer: &Normalizer, changed_in_ten: usize) -> Vec<String> {
    let no_rules = Normalizer::default();
    let mut next = [vec![0; apps.len()], vec![0; apps.len()]];
    let url = |index: usize| {
        // Each number once, in no order.
        let number = index * 611_953 % URLS;
        let app = number % apps.len();
        let wants_change = number / apps.len() % 10 < changed_in_ten;
        let site_number = app + apps.len() * (number / 80 % SITES_OF_EACH);
        let App { host, urls, .. } = &apps[app];
        let label = host.split('.').next().expect("a label");
        loop {
            let at = &mut next[usize::from(wants_change)][app];
            *at += 7;
            let url = urls[*at % urls.len()].replace(host, &format!("{label}.{}", site(site_number)));
            let is_changed = normalizer.key(&url).ok() != no_rules.key(&url).ok();
            if is_changed == wants_change {
                return url;
            }
        }
    };
    (0..URLS).map(url).collect()
}

/// How many URLs get another key and another canonical URL.
fn shares(normalizer: &Normalizer, urls: &[String]) -> String {
    let no_rules = Normalizer::default();
    let mut scratch = Scratch::default();
    let (mut rekeyed, mut rewritten) = (0, 0);
    for url in urls {
        rekeyed += usize::from(normalizer.key(url).ok() != no_rules.key(url).ok());
        let safe = no_rules.normalize(url).ok();
        let canonical = normalizer.normalize_with(url.as_bytes(), &mut scratch).ok();
        rewritten += usize::from(safe.as_ref().map(|url| url.as_bytes()) != canonical);
    }
    format!(
        "{} sites, {} rules; of {} URLs {rekeyed} get another key and {rewritten} another canonical URL",
        normalizer.site_count(),
        normalizer.rule_count(),
        urls.len()
    )
}
