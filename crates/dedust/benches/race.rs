/*!
Lets contestants take turns on the same URLs and prints their median times, for benchmarks.
*/

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

use cpu_time::ThreadTime;
use dedust::ParsedUrl;

/// A name, and a pass over all URLs that returns the bytes written, so that no one can skip the writing.
pub type Contestant<'a> = (&'a str, &'a dyn Fn(&[String]) -> usize);

/// Times `rounds` passes of each contestant and prints a table with ratios to the first two, whose short names are
/// given.
///
/// With `DEDUST_BENCH_CSV` set to a file, also appends lines of date and commit (as in `DEDUST_BENCH_RUN`), list,
/// contestant, URLs, rounds and median nanoseconds per URL to it.
pub fn race(
    list: &str,
    urls: &[String],
    rounds: usize,
    contestants: &[Contestant<'_>],
    first_two: [&str; 2],
) {
    // `cargo bench --bench NAME -- WORD` lets only those run whose names hold the word.
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let contestants: Vec<&Contestant<'_>> =
        contestants.iter().filter(|(name, _)| name.contains(&word)).collect();
    let mut times = vec![Vec::with_capacity(rounds); contestants.len()];
    // Taking turns spreads whatever else the machine does over all of them.
    for _ in 0..rounds {
        for ((_, normalize_all), times) in contestants.iter().zip(&mut times) {
            // Of this thread alone: what else runs on the machine then counts little.
            let start = ThreadTime::now();
            black_box(normalize_all(black_box(urls)));
            times.push(start.elapsed());
        }
    }

    let medians: Vec<Duration> = times.into_iter().map(median).collect();
    let count = urls.len() as f64;
    let bytes: usize = urls.iter().map(String::len).sum();
    println!("{count} URLs, {:.1} bytes on average, median of {rounds} rounds", bytes as f64 / count);
    let against = first_two.map(|name| format!("against {name}"));
    println!(
        "{:<26} {:>7} {:>11} {:>6} {:>17} {:>17}",
        "", "ns/URL", "URLs/s", "MB/s", against[0], against[1]
    );
    let csv = std::env::var_os("DEDUST_BENCH_CSV");
    let mut csv =
        csv.map(|path| File::options().create(true).append(true).open(path).expect("a file to write to"));
    let run = std::env::var("DEDUST_BENCH_RUN").unwrap_or_else(|_| ",".into());
    for ((name, _), median) in contestants.iter().zip(&medians) {
        if let Some(csv) = &mut csv {
            let ns = median.as_secs_f64() * 1e9 / count;
            writeln!(csv, "{run},{list},\"{name}\",{count},{rounds},{ns:.1}")
                .expect("the file can be written");
        }
        let seconds = median.as_secs_f64();
        let ratio = |ours: Duration| seconds / ours.as_secs_f64();
        println!(
            "{name:<26} {:>7.1} {:>11.0} {:>6.0} {:>15.2} x {:>15.2} x",
            seconds * 1e9 / count,
            count / seconds,
            bytes as f64 / 1e6 / seconds,
            ratio(medians[0]),
            ratio(medians[1.min(medians.len() - 1)]),
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Safe normalization alone, in one buffer.
pub fn safe_tier(urls: &[String]) -> usize {
    let mut parsed = ParsedUrl::default();
    let mut written = 0;
    for url in urls {
        if parsed.parse_from(url.as_bytes()).is_ok() {
            written += black_box(parsed.as_bytes()).len();
        }
    }
    written
}

/// Parses and writes with `ada-url`.
pub fn ada(urls: &[String]) -> usize {
    let parsed = urls.iter().filter_map(|url| ada_url::Url::parse(url, None).ok());
    parsed.map(|url| black_box(url.href()).len()).sum()
}

/// Parses and writes with `url`.
pub fn servo(urls: &[String]) -> usize {
    urls.iter().filter_map(|url| url::Url::parse(url).ok()).map(|url| black_box(url.as_str()).len()).sum()
}
