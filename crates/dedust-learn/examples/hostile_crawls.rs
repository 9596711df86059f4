/*!
How long does learning take from a crawl that was made to take long? Looks for the worst crawl.

`cargo run --release -p dedust-learn --example hostile_crawls [-- MINUTES [MEGABYTES]]`. For 60 minutes, or `MINUTES`,
crawls of 2 MB are made by changing those that took most time or memory so far: how many sites, hosts, names, values and
parts of URLs there are, how long they are, how often they come again, and which evidence ties them. Then the worst two are
made with 100 MB, or `MEGABYTES`. Learns on one thread. Exits with 1 when 100 MB take more than 60 s of CPU time or 2 GB, or when
learning from 2 MB takes more than 20 times as much memory.
*/

#![expect(clippy::print_stdout, reason = "a check reports on standard output")]

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use dedust_learn::support::SampleSize;
use dedust_learn::{Clues, CrawlStore, EvidenceKinds, Trainer};
use peak_alloc::PeakAlloc;
use xxhash_rust::xxh3::xxh3_64;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Bytes of a crawl that is tried.
const TRIAL_BYTES: usize = 2_000_000;
/// Crawls that are changed further.
const SURVIVORS: usize = 12;
const MAX_SECONDS: f64 = 60.0;
const MAX_MEGABYTES: f64 = 2_000.0;
/// The memory that a crawl of [`TRIAL_BYTES`] may take.
const MAX_TRIAL_MEGABYTES: f64 = 20.0 * TRIAL_BYTES as f64 / 1e6;
/// What a row of JSON Lines takes beside its texts.
const ROW_BYTES: usize = 30;

/// What a crawl is made of: each number is an exponent of two, so that all sizes are as likely.
#[derive(Clone, Debug)]
struct Shape {
    seed: u64,
    /// Sites, and hosts of each.
    sites: u32,
    hosts: u32,
    /// Segments and parameters of a URL, at most, and whether all have as many.
    segments: u32,
    params: u32,
    is_uniform: bool,
    /// Words that are segments, names and values, and how long values are.
    words: u32,
    names: u32,
    values: u32,
    value_bytes: u32,
    /// URLs of a page.
    copies: u32,
    /// Parts of a URL that differ between the URLs of a page; the others depend on the page.
    changed: u32,
    /// One in so many pages is said to be another.
    lies: u32,
    evidence: u32,
    has_separators: bool,
    has_mixed_case: bool,
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = xxh3_64(&self.0.to_le_bytes());
        self.0 % end.max(1)
    }
}

impl Shape {
    /// URLs of very many parts, none of which says which page it is.
    fn wide() -> Self {
        Self {
            seed: 1,
            sites: 0,
            hosts: 0,
            segments: 7,
            params: 7,
            is_uniform: true,
            words: 2,
            names: 5,
            values: 2,
            value_bytes: 0,
            copies: 3,
            changed: 8,
            lies: 6,
            evidence: 1,
            has_separators: false,
            has_mixed_case: false,
        }
    }

    fn random(chance: &mut Chance) -> Self {
        let mut shape = Self {
            seed: chance.below(u64::MAX),
            sites: 0,
            hosts: 0,
            segments: 2,
            params: 3,
            is_uniform: false,
            words: 4,
            names: 4,
            values: 4,
            value_bytes: 2,
            copies: 2,
            changed: 1,
            lies: 6,
            evidence: 0,
            has_separators: false,
            has_mixed_case: false,
        };
        for _ in 0..20 {
            shape = shape.changed(chance);
        }
        shape
    }

    fn changed(&self, chance: &mut Chance) -> Self {
        let mut shape = self.clone();
        let size = |chance: &mut Chance, most: u64| chance.below(most + 1) as u32;
        match chance.below(15) {
            0 => shape.sites = size(chance, 15),
            1 => shape.hosts = size(chance, 12),
            2 => shape.segments = size(chance, 8),
            3 => shape.params = size(chance, 8),
            4 => shape.words = size(chance, 14),
            5 => shape.names = size(chance, 14),
            6 => shape.values = size(chance, 16),
            7 => shape.value_bytes = size(chance, 9),
            8 => shape.copies = size(chance, 10),
            9 => shape.changed = size(chance, 8),
            10 => shape.lies = size(chance, 8),
            11 => shape.evidence = size(chance, 5),
            12 => shape.is_uniform = !shape.is_uniform,
            13 => shape.has_separators = !shape.has_separators,
            _ => shape.has_mixed_case = !shape.has_mixed_case,
        }
        shape
    }

    /// Observes URLs until they are so many bytes.
    fn observe(&self, store: &mut CrawlStore, bytes: usize) {
        let (mut url, mut other, mut page) = (String::new(), String::new(), String::new());
        let mut written = 0;
        for row in 0.. {
            if written >= bytes {
                break;
            }
            let number = row >> self.copies;
            self.write_url(number, row, &mut url);
            self.write_url(number, number << self.copies, &mut other);
            page.clear();
            let is_lie = Chance(row ^ self.seed).below(1 << self.lies) == 0;
            let _ = write!(page, "{}", if is_lie { number / 2 } else { number });
            let text = Some(page.as_bytes());
            let simhash = xxh3_64(page.as_bytes()) ^ (row & 3);
            let clues = match self.evidence {
                0 => Clues { cluster: text, ..Clues::default() },
                1 => Clues { digest: text, title: text, ..Clues::default() },
                2 => Clues { text_digest: text, canonical: Some(other.as_bytes()), ..Clues::default() },
                3 => Clues { redirect: Some(other.as_bytes()), status: Some(301), ..Clues::default() },
                4 => Clues { title: Some(b"title"), simhash: Some(simhash), ..Clues::default() },
                _ => Clues { digest: text, canonical: Some(other.as_bytes()), ..Clues::default() },
            };
            let _ = store.observe(url.as_bytes(), &clues, None);
            let of_links = if matches!(self.evidence, 2 | 3 | 5) { other.len() } else { 0 };
            written += url.len() + of_links + page.len() + ROW_BYTES;
        }
    }

    fn write_url(&self, page: u64, row: u64, url: &mut String) {
        let (mut of_page, mut of_row) =
            (Chance(page ^ self.seed), Chance(row.wrapping_mul(31) ^ self.seed.rotate_left(7)));
        let (site, host) = (of_page.below(1 << self.sites), of_page.below(1 << self.hosts));
        url.clear();
        let _ = write!(url, "http://h{host}.s{site}.example");
        let mut count = |most: u32| if self.is_uniform { 1 << most } else { of_page.below(1 << most) + 1 };
        let (segments, params) = (count(self.segments) - 1, count(self.params) - 1);
        let changed = of_row.below(1 << self.changed);
        for part in 0..segments + params {
            let letter = if self.has_mixed_case && of_row.below(4) == 0 { 'W' } else { 'w' };
            let chance = if part < changed { &mut of_row } else { &mut of_page };
            if part < segments {
                let _ = write!(url, "/{letter}{}", chance.below(1 << self.words));
                continue;
            }
            let separator = match part - segments {
                0 => '?',
                _ if self.has_separators && chance.below(8) == 0 => ';',
                _ => '&',
            };
            let (name, value) = (chance.below(1 << self.names), chance.below(1 << self.values));
            let width = 1 << self.value_bytes >> 1;
            let _ = write!(url, "{separator}{name:x}={value:0width$x}");
        }
    }
}

struct Trial {
    shape: Shape,
    seconds: f64,
    megabytes: f64,
}

impl Trial {
    fn of(shape: Shape, bytes: usize) -> Self {
        ALLOCATED.reset_peak_usage();
        let start = ProcessTime::now();
        let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::default()).with_mirrors();
        shape.observe(&mut store, bytes);
        let trainer = Trainer::builder().build().expect("settings are those by default");
        let crawl = store.finish().expect("nothing is put on disk");
        let training = trainer.train_stored(&crawl, &()).expect("learned rules are valid");
        drop(training);
        Self {
            shape,
            seconds: start.elapsed().as_secs_f64(),
            megabytes: f64::from(ALLOCATED.peak_usage_as_mb()),
        }
    }

    /// The larger of what it takes of either, as a share of what it may take. Time does not grow as fast as crawls.
    fn badness(&self) -> f64 {
        (self.seconds / MAX_SECONDS).max(self.megabytes / MAX_TRIAL_MEGABYTES)
    }

    fn print(&self, what: &str) {
        println!("{what:<12} {:>8.2} s {:>7.0} MB  {:?}", self.seconds, self.megabytes, self.shape);
    }
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let time = Duration::from_secs(60 * numbers.next().unwrap_or(60));
    let bytes = 1_000_000 * numbers.next().unwrap_or(100) as usize;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be started");
    let is_bounded = threads.install(|| is_bounded(time, bytes));
    if is_bounded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_bounded(time: Duration, bytes: usize) -> bool {
    let start = Instant::now();
    let mut chance = Chance(1);
    let mut worst: Vec<Trial> = Vec::new();
    let mut trials = 0;
    while trials == 0 || start.elapsed() < time {
        let known = worst.get(chance.below(2 * SURVIVORS as u64) as usize);
        let shape = match known {
            _ if trials == 0 => Shape::wide(),
            Some(known) => known.shape.changed(&mut chance),
            None => Shape::random(&mut chance),
        };
        let trial = Trial::of(shape, TRIAL_BYTES);
        if worst.first().is_none_or(|first| trial.badness() > first.badness()) {
            trial.print(&format!("trial {trials}"));
        }
        worst.push(trial);
        worst.sort_by(|a, b| b.badness().total_cmp(&a.badness()));
        worst.truncate(SURVIVORS);
        trials += 1;
    }
    println!("{trials} crawls of {} MB", TRIAL_BYTES / 1_000_000);
    let by = |key: fn(&Trial) -> f64| worst.iter().max_by(|a, b| key(a).total_cmp(&key(b)));
    let worst = [by(|trial| trial.seconds), by(|trial| trial.megabytes)];
    let is_small = worst.iter().flatten().all(|trial| trial.megabytes <= MAX_TRIAL_MEGABYTES);
    let large = worst.into_iter().flatten().map(|trial| Trial::of(trial.shape.clone(), bytes));
    let of_limit = bytes as f64 / 100_000_000.0;
    large.fold(is_small, |is_bounded, trial| {
        trial.print(&format!("{} MB", bytes / 1_000_000));
        is_bounded && trial.seconds <= of_limit * MAX_SECONDS && trial.megabytes <= MAX_MEGABYTES
    })
}
