/*!
Crawls of hostile sites: learning never panics, takes observations in any order, and learns rules that can be saved,
loaded and applied to the URLs of the crawl with everything that is promised of keys and canonical URLs.

The input is a short description of a crawl, not the crawl itself: series of URLs with many parameters, names that
repeat, long paths, many hosts and values that look random, with labels that may lie.
*/

#![no_main]

use std::fmt::Write as _;

use dedust::{Normalizer, RuleSet, Scratch};
use dedust_fuzz::check_promises;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Method, SampleSize, Trainer};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const MAX_SERIES: usize = 8;
const MAX_URLS_PER_SERIES: u64 = 64;
const MAX_PARTS: usize = 24;
/// The methods that need no other crate.
const METHODS: [Method; 7] = [
    Method::CanonFd,
    Method::TreeGraph,
    Method::TreeNaive,
    Method::DecisionTree,
    Method::Fanout5,
    Method::Fanout10,
    Method::DustBuster,
];

const DOMAINS: [&str; 4] = ["a.example", "b.example", "c.co.uk", "192.0.2.1"];
const NAMES: [&str; 12] =
    ["id", "sid", "utm_source", "page", "lang", "a", "a", "*", "q%5B%5D", "do", "PHPSESSID", "%"];
const WORDS: [&str; 12] =
    ["", "1", "index.php", "wiki", "a%2Fb", "..", "login", "print", "0", "A", "a;b=1", "e%CC%81"];

#[derive(Arbitrary, Debug)]
struct HostileCrawl {
    /// Canonical links of other sites are looked at, as `dedust learn` does.
    finds_mirrors: bool,
    /// All but canonfd are less likely.
    method: u8,
    series: Vec<Series>,
}

/// URLs that are built alike. The n-th has the n-th value of each part.
#[derive(Arbitrary, Debug)]
struct Series {
    url_count: u8,
    is_https: bool,
    domain: u8,
    host_labels: Vec<Variation>,
    segments: Vec<Variation>,
    has_slash: bool,
    params: Vec<(u8, Variation)>,
    page: Variation,
    label: Label,
    status: Status,
}

/// What the n-th value of a part is.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Variation {
    /// The same everywhere.
    Word(u8),
    /// One of some words.
    Words(u8),
    /// A number that counts up.
    Count,
    /// A number that repeats after some URLs.
    Modulo(u8),
    /// A number that stays the same for some URLs.
    Quotient(u8),
    /// As a session id or a digest looks.
    Hash { seed: u8, after: u8 },
    /// Many times the same letter.
    Long(u8),
    /// There is none in every other URL.
    Sometimes(u8),
}

/// What is said of the page.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Label {
    None,
    Cluster,
    Digest,
    TextDigest,
    /// All but a few bits are those of the page.
    Simhash,
    /// To the URL that the same number has in another series.
    Canonical(u8),
    Redirect(u8),
    /// Both, and a digest that contradicts them.
    Everything(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Status {
    Unknown,
    Good,
    /// The third of three.
    SomeFail,
    Any(u16),
}

impl Variation {
    fn write(self, number: u64, out: &mut String) {
        let hash = |seed: u8, number: u64| xxh3_64_with_seed(&number.to_le_bytes(), seed.into());
        let word = |number: u64| WORDS[number as usize % WORDS.len()];
        let divisor = |divisor: u8| u64::from(divisor).max(1);
        let _ = match self {
            Self::Word(at) => write!(out, "{}", word(at.into())),
            Self::Words(count) => write!(out, "{}", word(hash(count, number) % divisor(count))),
            Self::Count => write!(out, "{number}"),
            Self::Modulo(by) => write!(out, "{}", number % divisor(by)),
            Self::Quotient(by) => write!(out, "{}", number / divisor(by)),
            Self::Hash { seed, after } => write!(out, "{:016x}", hash(seed, number / divisor(after))),
            Self::Long(letters) => write!(out, "{}", "x".repeat(usize::from(letters) * 16)),
            Self::Sometimes(at) if number.is_multiple_of(2) => write!(out, "{}", word(at.into())),
            Self::Sometimes(_) => Ok(()),
        };
    }

    fn text(self, number: u64) -> String {
        let mut text = String::new();
        self.write(number, &mut text);
        text
    }
}

impl Series {
    fn url(&self, number: u64) -> String {
        let mut url = String::from(if self.is_https { "https://" } else { "http://" });
        for label in self.host_labels.iter().take(MAX_PARTS) {
            label.write(number, &mut url);
            url.push('.');
        }
        url.push_str(DOMAINS[usize::from(self.domain) % DOMAINS.len()]);
        for segment in self.segments.iter().take(MAX_PARTS) {
            url.push('/');
            segment.write(number, &mut url);
        }
        if self.has_slash || self.segments.is_empty() {
            url.push('/');
        }
        for (at, (name, value)) in self.params.iter().take(MAX_PARTS).enumerate() {
            if matches!(value, Variation::Sometimes(_)) && !number.is_multiple_of(2) {
                continue;
            }
            let name = NAMES[usize::from(*name) % NAMES.len()];
            let _ = write!(url, "{}{name}=", if at == 0 { '?' } else { '&' });
            value.write(number, &mut url);
        }
        url
    }
}

/// A URL, and what the crawl says of it.
struct Observation {
    url: String,
    page: String,
    other: String,
    label: Label,
    status: Option<u16>,
}

impl Observation {
    fn add_to(&self, store: &mut CrawlStore) {
        let (page, other) = (Some(self.page.as_bytes()), Some(self.other.as_bytes()));
        let clues = Clues { status: self.status, title: page, ..Clues::default() };
        let clues = match self.label {
            Label::None => clues,
            Label::Cluster => Clues { cluster: page, ..clues },
            Label::Digest => Clues { digest: page, size: Some(self.page.len() as u64), ..clues },
            Label::TextDigest => Clues { text_digest: page, ..clues },
            Label::Simhash => {
                let simhash = xxh3_64_with_seed(self.page.as_bytes(), 1) ^ (self.url.len() as u64 & 3);
                Clues { simhash: Some(simhash), ..clues }
            }
            Label::Canonical(_) => Clues { canonical: other, text_digest: page, ..clues },
            Label::Redirect(_) => Clues { redirect: other, status: Some(301), ..clues },
            Label::Everything(_) => Clues { canonical: other, redirect: other, digest: page, ..clues },
        };
        // What is no URL is refused, and that is all.
        let _ = store.observe(self.url.as_bytes(), &clues, None);
    }
}

impl HostileCrawl {
    fn observations(&self) -> Vec<Observation> {
        let series = &self.series[..self.series.len().min(MAX_SERIES)];
        let of_series = |one: &Series| -> Vec<Observation> {
            let other = match one.label {
                Label::Canonical(at) | Label::Redirect(at) | Label::Everything(at) => {
                    &series[usize::from(at) % series.len()]
                }
                _ => one,
            };
            let observation = |number: u64| Observation {
                url: one.url(number),
                page: one.page.text(number),
                other: other.url(number),
                label: one.label,
                status: match one.status {
                    Status::Unknown => None,
                    Status::Good => Some(200),
                    Status::SomeFail => Some(if number % 3 == 2 { 404 } else { 200 }),
                    Status::Any(status) => Some(status),
                },
            };
            (0..u64::from(one.url_count).min(MAX_URLS_PER_SERIES)).map(observation).collect()
        };
        series.iter().flat_map(of_series).collect()
    }

    /// The rule file that is learned from these observations.
    fn learn<'o>(&self, observations: impl Iterator<Item = &'o Observation>) -> Vec<u8> {
        let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default());
        if self.finds_mirrors {
            store = store.with_mirrors();
        }
        observations.for_each(|observation| observation.add_to(&mut store));
        let crawl = store.finish().expect("nothing is put on disk");
        let method = METHODS.get(usize::from(self.method)).copied().unwrap_or_default();
        let trainer = Trainer::builder().method(method).build().expect("settings are those by default");
        let training = trainer.train_stored(&crawl, &()).expect("learned rules are valid");
        let mut file = Vec::new();
        training.rules.save(&mut file).expect("a vector takes all bytes");
        file
    }
}

fuzz_target!(|crawl: HostileCrawl| {
    let observations = crawl.observations();
    let file = crawl.learn(observations.iter());
    assert!(crawl.learn(observations.iter().rev()) == file, "the order of observations leaves no trace");

    let rules = RuleSet::load(&*file).expect("learned rules can be loaded");
    let normalizer = Normalizer::compile(&rules);
    let mut scratch = Scratch::default();
    for Observation { url, other, .. } in &observations {
        check_promises(&normalizer, url.as_bytes(), &mut scratch);
        check_promises(&normalizer, other.as_bytes(), &mut scratch);
    }
});
