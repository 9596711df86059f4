/*!
Rules of a million sites beside those of a thousand: what it costs to open them, to hold them and to apply them.

`cargo bench -p dedust --bench million_sites`, and with `-- partial` for sites whose rules name only what they look at. Else every site has
two or three of [`RULES`], which name every part of a URL, with first segments out of a thousand, so that sites share a program by chance
only. The sites of a stream of URLs follow Zipf's law with exponent 1: the site of rank k has a share of 1/k, so that half of the URLs are of the thousand most popular of a million sites, and one in seven of the
rarest is met once in two million. Three of four URLs are of a form that a rule covers. The stream is made in small parts
between the measurements, since a list of it would be larger than the rules. Every measurement is a process of its own,
which reports the time of its thread and what it holds in memory.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod site_rules;

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use dedust::{Normalizer, Scratch};

use self::site_rules::{RULES, rule_json};

const FEW: u64 = 1_000;
const MANY: u64 = 1_000_000;
const URLS: usize = 8_000_000;
const PART: usize = 4096;
const ROUNDS: usize = 3;

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let what = if words.first().is_some_and(|word| word == "partial") { What::Partial } else { What::Closed };
    if what == What::Partial {
        words.remove(0);
    }
    if let [path, sites] = &words[..] {
        return measure(what, Path::new(path), sites.parse().expect("a number of sites"));
    }
    let files = [FEW, MANY].map(|sites| (sites, compile(what, sites)));
    let mut results = vec![Vec::new(); files.len()];
    for _ in 0..ROUNDS {
        for ((sites, path), results) in files.iter().zip(&mut results) {
            results.push(measured(what, path, *sites));
        }
    }
    let list = if what == What::Partial { " with partial rules" } else { "" };
    println!("{URLS} URLs, sites{list} by Zipf's law, median of {ROUNDS} rounds");
    println!(
        "{:>10} {:>9} {:>9} {:>8} {:>14} {:>8}",
        "sites", "file MB", "open ms", "ns/URL", "against few", "RSS MB"
    );
    let csv = std::env::var_os("DEDUST_BENCH_CSV");
    let mut csv =
        csv.map(|path| File::options().create(true).append(true).open(path).expect("a file to write to"));
    let run = std::env::var("DEDUST_BENCH_RUN").unwrap_or_else(|_| ",".into());
    let medians: Vec<[f64; 3]> = results.into_iter().map(medians).collect();
    for ((sites, path), [open, time, resident]) in files.iter().zip(&medians) {
        let size = std::fs::metadata(path).map_or(0, |file| file.len()) as f64 / 1e6;
        let against = time / medians[0][1];
        println!("{sites:>10} {size:>9.1} {open:>9.2} {time:>8.1} {against:>12.2} x {resident:>8.0}");
        if let Some(csv) = &mut csv {
            writeln!(
                csv,
                "{run},{sites} sites{list} by Zipf's law,\"dedust, keys\",{URLS},{ROUNDS},{time:.1}\n\
                 {run},{sites} sites{list} by Zipf's law,\"dedust, resident MB\",{URLS},{ROUNDS},{resident:.1}\n\
                 {run},{sites} sites{list} by Zipf's law,\"dedust, open ms\",{URLS},{ROUNDS},{open:.2}"
            )
            .expect("the file can be written");
        }
    }
}

/// What sites have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// Rules that name every part of a URL.
    Closed,
    /// Rules that name the parts that they change.
    Partial,
}

/// Milliseconds to open, nanoseconds per URL, resident megabytes.
fn medians(rounds: Vec<[f64; 3]>) -> [f64; 3] {
    [0, 1, 2].map(|figure| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[figure]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    })
}

/// Lets a process of its own measure.
fn measured(what: What, path: &Path, sites: u64) -> [f64; 3] {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    if what == What::Partial {
        command.arg("partial");
    }
    let output = command.arg(path).arg(sites.to_string()).output().expect("it runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    figures.try_into().unwrap_or_else(|_| panic!("three figures: {text} {output:?}"))
}

fn measure(what: What, path: &Path, sites: u64) {
    let start = Instant::now();
    let normalizer = Normalizer::open(path).expect("the file can be opened");
    normalizer.key("http://example.com/").expect("a URL");
    let open = start.elapsed();
    let (mut random, mut scratch) = (Random(7), Scratch::default());
    let (mut time, mut bytes, mut covered) = (Duration::ZERO, 0, 0);
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..URLS / PART {
        text.clear();
        ends.clear();
        for _ in 0..PART {
            match what {
                What::Closed => write_url(&mut random, sites, &mut text),
                What::Partial => write_partial_url(&mut random, sites, &mut text),
            }
            ends.push(text.len());
        }
        let mut from = 0;
        let urls = ends.iter().map(|&end| &text[std::mem::replace(&mut from, end)..end]);
        let start = ThreadTime::now();
        normalizer.each_key(urls, &mut scratch, |url, key| {
            let key = black_box(key.expect("every URL can be read"));
            bytes += key.len();
            covered += usize::from(key != url);
        });
        time += start.elapsed();
    }
    black_box(bytes);
    assert!(covered * 10 > URLS * 6, "rules must apply: {covered}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident: f64 =
        resident.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN);
    println!(
        "{} {} {}",
        open.as_secs_f64() * 1e3,
        time.as_secs_f64() * 1e9 / (URLS / PART * PART) as f64,
        resident * 1024.0 / 1e6
    );
}

/// A number that tells a site from others, of which neighbours in rank have nothing in common.
fn site_number(rank: u64) -> u64 {
    mix(rank) >> 40
}

fn site(rank: u64) -> String {
    let top_level = ["com", "org", "net", "de", "co.uk"][(rank % 5) as usize];
    format!("{rank:x}-{:x}.{top_level}", site_number(rank) % 0xFFF)
}

/// Which of [`RULES`] a site has.
fn kinds(rank: u64) -> impl Iterator<Item = usize> {
    let number = mix(rank ^ 0x5151);
    let (first, step) = (number % 10, 1 + (number >> 8) % 3);
    (0..2 + (number >> 16) % 2).map(move |index| ((first + index * step) % 10) as usize)
}

/// Writes a file of compiled rules; returns where it lies.
fn compile(what: What, sites: u64) -> PathBuf {
    let start = Instant::now();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{sites}-sites.bin"));
    let rules = RULES.map(rule_json);
    let rules = RuleFile { what, rules: &rules, sites, rank: 0, text: Vec::new(), at: 0 };
    let normalizer = Normalizer::compile_from(io::BufReader::new(rules)).expect("the rules are valid");
    assert_eq!(normalizer.site_count(), sites);
    let mut file = BufWriter::new(File::create(&path).expect("a file to write to"));
    normalizer.save(&mut file).and_then(|()| file.flush()).expect("the file can be written");
    println!("rules of {sites} sites compiled in {:.1} s", start.elapsed().as_secs_f64());
    path
}

/// A rule file that is written while it is read, since it would not fit into memory.
struct RuleFile<'a> {
    what: What,
    rules: &'a [String],
    sites: u64,
    rank: u64,
    text: Vec<u8>,
    at: usize,
}

impl Read for RuleFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            match self.rank {
                0 => self.text.extend_from_slice(br#"{"version": 1, "method": "by hand", "sites": {"#),
                rank if rank <= self.sites => self.write_site(rank),
                rank if rank == self.sites + 1 => self.text.extend_from_slice(b"}}"),
                _ => return Ok(0),
            }
            self.rank += 1;
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl RuleFile<'_> {
    fn write_site(&mut self, rank: u64) {
        let rule = |kind: usize| {
            let own = format!(r#""{}""#, own_name(kind, rank));
            let name = format!(r#""{}""#, FIRST_SEGMENTS[kind]);
            self.rules[kind].replace(&name, &own).replace("SITE", &rank.to_string())
        };
        let rules: Vec<String> = match self.what {
            What::Closed => kinds(rank).map(rule).collect(),
            What::Partial => rules(rank),
        };
        let urls = 1 + self.sites / rank;
        let comma = if rank == 1 { "" } else { "," };
        let summary = format!(
            r#""summary": {{"urls": {urls}, "labelled": {urls}, "pages": 1, "raw_rules": 3, "qualified_rules": 3}}"#
        );
        let text = format!(r#"{comma}"{}": {{{summary}, "rules": [{}]}}"#, site(rank), rules.join(","));
        self.text.extend_from_slice(text.as_bytes());
    }
}

/// The rules of a site: a session of its own name, and two or three of others that many sites have.
fn rules(rank: u64) -> Vec<String> {
    const SHARED: [&str; 5] = [
        r#"{"drop": "q.utm_source"}"#,
        r#"{"map": {"of": "sub_0", "values": [{"is": "www"}]}}"#,
        r#"{"drop": "tslash"}"#,
        r#"{"fold": {"of": "path", "to": "lowercase"}}"#,
        r#"{"drop": "q.print"}"#,
    ];
    let evidence = r#"{"urls": 400, "support_pairs": 200, "false_pairs": 0, "groups": 100, "failed_groups": 0,
                       "failure_bound": 0.0295, "kinds": ["digest"]}"#;
    let own = format!(r#"{{"drop": "q.sid{rank}"}}"#);
    let number = mix(rank ^ 0x5151);
    let shared = (0..2 + number % 2).map(|index| SHARED[((number >> 8) + index) as usize % SHARED.len()]);
    std::iter::once(&*own)
        .chain(shared)
        .map(|change| {
            format!(r#"{{"when": {{}}, "change": [{change}], "fetchable": true, "evidence": {evidence}}}"#)
        })
        .collect()
}

/// Appends a URL of a random site. Three in four have its session, some what other rules wait for.
fn write_partial_url(random: &mut Random, sites: u64, text: &mut Vec<u8>) {
    let rank = random.rank(sites);
    let token = random.next();
    let (site, id) = (site(rank), token >> 40);
    let start = if token.is_multiple_of(5) { "http://www." } else { "http://" };
    let session = if token.is_multiple_of(4) { String::new() } else { format!("&sid{rank}={token:016x}") };
    let url = match token >> 8 & 3 {
        0 => format!("{start}{site}/view.php?id={id}{session}"),
        1 => format!("{start}{site}/News/{id}/?page={}{session}&utm_source=letter", id % 100),
        2 => format!("{start}{site}/wiki/The_history_of_{id}?action=view{session}"),
        _ => format!("{start}{site}/list?category=garden&page={}{session}&print=1", id % 1000),
    };
    text.extend_from_slice(url.as_bytes());
}

/// The first segments that [`RULES`] ask for.
const FIRST_SEGMENTS: [&str; 10] = [
    "view.php",
    "showthread.php",
    "index.php",
    "wiki",
    "article",
    "news",
    "tag",
    "list",
    "product",
    "archive",
];

/// What a site has instead.
fn own_name(kind: usize, rank: u64) -> String {
    format!("{}{}", site_number(rank) % 1000, FIRST_SEGMENTS[kind])
}

/// Appends a URL of a random site, which a rule covers in three of four cases.
fn write_url(random: &mut Random, sites: u64, text: &mut Vec<u8>) {
    let rank = random.rank(sites);
    let token = random.next();
    let kinds: Vec<usize> = kinds(rank).collect();
    let kind = kinds[(token >> 8) as usize % kinds.len()];
    let (site, id) = (site(rank), token >> 40);
    let name = if token.is_multiple_of(4) { "other".to_owned() } else { own_name(kind, rank) };
    let url = match kind {
        0 => format!("http://{site}/{name}?sid{rank}={token:016x}&id={id}"),
        1 => format!("http://{site}/{name}?t={id}&s={token:016x}"),
        2 => format!("http://{site}/{name}?title=The_history_of_{id}"),
        3 => format!("http://www.{site}/{name}/The_history_of_{id}"),
        4 => format!("http://{site}/{name}/the-{id}-best-guides;jsessionid={token:016X}"),
        5 => format!("http://{site}/{name}/{id}/print"),
        6 => format!("http://{site}/{name}/summer-{}/", id % 100),
        7 => format!("http://{site}/{name}?category=garden&page={}&view=grid", id % 1000),
        8 => format!("http://{site}/{name}/tea-kettle-{id}.html?ref=front&utm_source=newsletter"),
        _ => format!("http://{site}/{name}/{}-{:02}?sort=date", 1990 + id % 37, 1 + id % 12),
    };
    text.extend_from_slice(url.as_bytes());
}

fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// From 0 up to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from 1 to `last`, k with a probability proportional to 1/k.
    fn rank(&mut self, last: u64) -> u64 {
        loop {
            // With a probability proportional to ln(1 + 1/k). 1/k is larger than that, most so for k = 1: by 1/ln 2.
            let rank = (self.share() * ((last + 1) as f64).ln()).exp() as u64;
            let rank = rank.clamp(1, last);
            let share = (1.0 / rank as f64) / (1.0 / rank as f64).ln_1p();
            if self.share() * std::f64::consts::LN_2.recip() < share {
                return rank;
            }
        }
    }
}
