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
use dedust_baselines::{Method};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64_with_seed;
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};

const MAX_SERIES: usize = 6;
const MAX_PAGES: u64 = 40;
const MAX_COPIES: u64 = 4;
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
    method: u8,
    series: Vec<Series>,
}

/// URLs that are built alike, of pages that have several of them.
#[derive(Arbitrary, Debug)]
struct Series {
    page_count: u8,
    copies: u8,
    is_https: bool,
    domain: u8,
    host_labels: Vec<Variation>,
    segments: Vec<Variation>,
    has_slash: bool,
    params: Vec<(u8, Variation)>,
    label: Label,
    lie: Lie,
    status: Status,
}

/// The number of a page, and which of its URLs it is.
#[derive(Clone, Copy)]
struct Number {
    page: u64,
    copy: u64,
}

/// What a part of a URL depends on.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Variation {
    /// The same everywhere.
    Word(u8),
    Page,
    PageHash(u8),
    /// A value that some pages have in common.
    Section(u8),
    Copy,
    /// As a session id looks.
    CopyHash(u8),
    /// One of some words for each URL.
    CopyWord(u8),
    /// Not in every URL of a page.
    Sometimes(u8),
    /// Many times the same letter.
    Long(u8),
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
    /// To the URL that the same page has in another series.
    Canonical(u8),
    Redirect(u8),
    /// Both, and a digest that may contradict them.
    Everything(u8),
}

/// Which labels are wrong.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Lie {
    None,
    /// One text for pages that are different.
    SameText {
        every: u8,
    },
    /// Different texts for one page.
    OwnText {
        every: u8,
    },
    /// The text of another page.
    Shifted {
        every: u8,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Status {
    Unknown,
    Good,
    /// The third of three.
    SomeFail,
    Any(u16),
}

impl Number {
    fn hash(self, seed: u8) -> u64 {
        xxh3_64_with_seed(&(self.page << 8 | self.copy).to_le_bytes(), seed.into())
    }
}

impl Variation {
    fn write(self, number: Number, out: &mut String) {
        let word = |number: u64| WORDS[number as usize % WORDS.len()];
        let _ = match self {
            Self::Word(at) | Self::Sometimes(at) => write!(out, "{}", word(at.into())),
            Self::Page => write!(out, "{}", number.page),
            Self::PageHash(seed) => write!(out, "{:08x}", Number { copy: 0, ..number }.hash(seed) as u32),
            Self::Section(pages) => write!(out, "s{}", number.page / u64::from(pages).max(1)),
            Self::Copy => write!(out, "{}", number.copy),
            Self::CopyHash(seed) => write!(out, "{:016x}", number.hash(seed)),
            Self::CopyWord(seed) => write!(out, "{}", word(number.hash(seed))),
            Self::Long(letters) => write!(out, "{}", "x".repeat(usize::from(letters) * 16)),
        };
    }

    fn is_absent(self, number: Number) -> bool {
        matches!(self, Self::Sometimes(_)) && number.copy.is_multiple_of(2)
    }
}

impl Series {
    fn numbers(&self) -> impl Iterator<Item = Number> + use<> {
        let (pages, copies) = (u64::from(self.page_count) % MAX_PAGES, u64::from(self.copies) % MAX_COPIES);
        (0..=pages).flat_map(move |page| (0..=copies).map(move |copy| Number { page, copy }))
    }

    fn url(&self, number: Number) -> String {
        let mut url = String::from(if self.is_https { "https://" } else { "http://" });
        let is_there = |part: &&Variation| !part.is_absent(number);
        for label in self.host_labels.iter().take(MAX_PARTS).filter(is_there) {
            label.write(number, &mut url);
            url.push('.');
        }
        url.push_str(DOMAINS[usize::from(self.domain) % DOMAINS.len()]);
        for segment in self.segments.iter().take(MAX_PARTS).filter(is_there) {
            url.push('/');
            segment.write(number, &mut url);
        }
        if self.has_slash || self.segments.is_empty() {
            url.push('/');
        }
        let params = self.params.iter().take(MAX_PARTS).filter(|(_, value)| is_there(&value));
        for (at, (name, value)) in params.enumerate() {
            let name = NAMES[usize::from(*name) % NAMES.len()];
            let _ = write!(url, "{}{name}=", if at == 0 { '?' } else { '&' });
            value.write(number, &mut url);
        }
        url
    }

    /// The text that stands for the page, true or not.
    fn page(&self, number: Number) -> String {
        let is_one_of = |every: u8| number.hash(0).is_multiple_of(u64::from(every).max(1));
        match self.lie {
            Lie::SameText { every } if is_one_of(every) => "not found".into(),
            Lie::OwnText { every } if is_one_of(every) => format!("{:x}", number.hash(1)),
            Lie::Shifted { every } if is_one_of(every) => format!("page {}", number.page + 1),
            _ => format!("page {}", number.page),
        }
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
            let observation = |number: Number| Observation {
                url: one.url(number),
                page: one.page(number),
                other: other.url(Number { copy: 0, ..number }),
                label: one.label,
                status: match one.status {
                    Status::Unknown => None,
                    Status::Good => Some(200),
                    Status::SomeFail => Some(if number.hash(2).is_multiple_of(3) { 404 } else { 200 }),
                    Status::Any(status) => Some(status),
                },
            };
            one.numbers().map(observation).collect()
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
        // Every other crawl is for the default method.
        let method = METHODS.get(usize::from(self.method) % (2 * METHODS.len())).copied().unwrap_or_default();
        let trainer = Trainer::builder().learner(method).build().expect("settings are those by default");
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
