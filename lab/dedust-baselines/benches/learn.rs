/*!
CPU time of learning against the number of URLs, on one thread: what it costs, and that the cost grows linearly.

`cargo bench -p dedust-baselines --bench learn [-- LARGEST]`. Sites of 10,000 to 1,000,000 URLs, or up to `LARGEST`, are
observed and learned from with [`Method::TreeGraph`]; small ones three times, of which the median counts. Every result
is checked: the same rules each time, and about as many keys as the site has pages. The exponent is the slope of the
line through the logarithms: 1 is linear.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

mod site;

use std::time::Duration;

use cpu_time::ProcessTime;
use dedust_baselines::Method;
use dedust_learn::{Clues, Corpus, Crawl, EvidenceKinds, Trainer, Training};

use self::site::Site;

const SIZES: [usize; 6] = [10_000, 30_000, 70_000, 100_000, 300_000, 1_000_000];
/// Sites up to this size are learned from [`RUNS`] times, larger ones once.
const REPEATED_UP_TO: usize = 100_000;
const RUNS: usize = 3;
/// Keys per page: below, pages are merged; above, duplicates are missed.
const KEYS_PER_PAGE: std::ops::RangeInclusive<f64> = 1.0..=1.05;

/// CPU seconds of one size.
struct Cost {
    size: usize,
    observe: f64,
    train: f64,
}

fn main() {
    let largest = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(usize::MAX);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had");
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>8} {:>6} {:>9} {:>9}",
        "URLs", "observe s", "train s", "total s", "ns/URL", "rules", "pages", "keys"
    );
    let mut input_bytes = 0;
    let costs: Vec<Cost> = SIZES
        .into_iter()
        .filter(|&size| size <= largest)
        .map(|size| {
            let site = Site::generate(size);
            input_bytes = site.memory();
            pool.install(|| measure(&site))
        })
        .collect();
    let exponents =
        [|cost: &Cost| cost.observe, |cost: &Cost| cost.train, |cost: &Cost| cost.observe + cost.train]
            .map(|seconds| format!("{:.3}", exponent(&costs, seconds)));
    println!("{:>9} {:>9} {:>9} {:>9}", "exponent", exponents[0], exponents[1], exponents[2]);
    if let Some(peak) = peak_memory_mib() {
        println!("peak memory {peak:.0} MiB, {:.0} of them the URLs given", input_bytes as f64 / 1048576.0);
    }
}

fn measure(site: &Site) -> Cost {
    let runs = if site.len() <= REPEATED_UP_TO { RUNS } else { 1 };
    let mut times = Vec::with_capacity(runs);
    let mut first: Option<Training> = None;
    for _ in 0..runs {
        let (corpora, observe) = timed(|| observe(site));
        let (training, train) = timed(|| train(&corpora));
        check(site, &training);
        if let Some(first) = &first {
            assert_eq!(first.rules, training.rules, "the same URLs give the same rules");
        }
        times.push((observe, train));
        first.get_or_insert(training);
    }
    times.sort_unstable_by_key(|(observe, train)| *observe + *train);
    let (observe, train) = times[runs / 2];
    let (observe, train) = (observe.as_secs_f64(), train.as_secs_f64());
    if let Some(report) = first.iter().flat_map(|training| &training.sites).next() {
        println!(
            "{:>9} {observe:>9.3} {train:>9.3} {:>9.3} {:>8.0} {:>6} {:>9} {:>9}",
            site.len(),
            observe + train,
            (observe + train) * 1e9 / site.len() as f64,
            report.rules,
            site.pages,
            report.urls - report.saved,
        );
    }
    Cost { size: site.len(), observe, train }
}

fn observe(site: &Site) -> Vec<Corpus> {
    let mut crawl = Crawl::new(EvidenceKinds::AUTO);
    for (url, page) in site.rows() {
        let clues = Clues { cluster: Some(page), ..Clues::default() };
        crawl.observe(url, &clues).expect("the site has no malformed URLs");
    }
    crawl.into_corpora()
}

fn train(corpora: &[Corpus]) -> Training {
    let trainer = Trainer::builder().learner(Method::TreeGraph).build().expect("default settings are valid");
    trainer.train(corpora, &()).expect("learned rules fit together")
}

fn check(site: &Site, training: &Training) {
    let [report] = &training.sites[..] else {
        panic!("one site, not {}", training.sites.len());
    };
    assert_eq!((report.urls, report.pages), (site.len(), site.pages), "URLs and pages arrive");
    assert!(report.rules > 0, "something is learned");
    let keys_per_page = (report.urls - report.saved) as f64 / site.pages as f64;
    assert!(
        KEYS_PER_PAGE.contains(&keys_per_page),
        "{keys_per_page:.4} keys per page of {} URLs",
        site.len()
    );
}

/// The result with the CPU time, user and system, of the whole process.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = ProcessTime::now();
    let result = work();
    (result, start.elapsed())
}

/// The slope of the least-squares line through (ln size, ln seconds).
fn exponent(costs: &[Cost], seconds: impl Fn(&Cost) -> f64) -> f64 {
    let points: Vec<(f64, f64)> =
        costs.iter().map(|cost| ((cost.size as f64).ln(), seconds(cost).ln())).collect();
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    covariance / variance
}

/// The most memory the process has held, where the system tells.
fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
