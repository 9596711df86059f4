/*!
New keys and repeats per second, and the memory that takes.

    cargo bench -p dedust-seen --bench seen -- [MILLIONS OF KEYS, default 5]

Keys are asked for in batches as `dedust dedup` does; repeats come in another order than the keys came first, which is
the worst case: a crawl meets most keys again soon. The set lies in the folder for temporary files.
*/
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and has no one to report to"
)]

use std::time::Instant;

use dedust_seen::SeenSet;

const BATCH: u64 = 64 << 10;

fn main() {
    let millions = std::env::args().skip(1).find_map(|argument| argument.parse::<u64>().ok()).unwrap_or(5);
    let count = millions * 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let mut set = SeenSet::open(folder.path()).unwrap();
    println!("{:<10} {:>12} {:>9} {:>12} {:>10}", "keys", "per second", "seconds", "worst batch", "peak MB");

    let worst = ask(&mut set, "new", count, |number| number, true);
    // A prime that divides no round number of keys: every key once, far from its neighbours.
    let again = ask(&mut set, "repeats", count, |number| number * 1_000_003 % count, false);
    assert!(worst > 0.0 && again > 0.0);
    let stats = set.stats();
    assert_eq!((stats.keys, stats.lookups), (count, 2 * count));
    println!("{stats:?}");

    let started = Instant::now();
    drop(set);
    let closed = started.elapsed();
    let started = Instant::now();
    let set = SeenSet::open(folder.path()).unwrap();
    assert_eq!(set.stats().keys, count);
    println!("closed in {:.3} s, opened in {:.3} s", closed.as_secs_f64(), started.elapsed().as_secs_f64());
}

/// Asks for `count` keys and returns the seconds that the slowest batch took.
fn ask(set: &mut SeenSet, name: &str, count: u64, number: impl Fn(u64) -> u64, expected: bool) -> f64 {
    let started = Instant::now();
    let hasher = set.hasher();
    let (mut keys, mut is_new, mut worst) = (Vec::new(), Vec::new(), 0_f64);
    for start in (0..count).step_by(BATCH as usize) {
        keys.clear();
        keys.extend((start..count.min(start + BATCH)).map(|at| hasher.hash(&number(at).to_le_bytes())));
        let asked = Instant::now();
        set.insert_batch(&keys, &mut is_new).unwrap();
        worst = worst.max(asked.elapsed().as_secs_f64());
        assert!(is_new.iter().all(|&is_new| is_new == expected));
    }
    let seconds = started.elapsed().as_secs_f64();
    let rate = count as f64 / seconds;
    println!("{name:<10} {rate:>12.0} {seconds:>9.2} {:>10.0}ms {:>10}", worst * 1000.0, peak_megabytes());
    worst
}

/// The most memory the process had so far, where the system tells.
fn peak_megabytes() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        peak.and_then(|text| text.trim().strip_suffix(" kB")).and_then(|text| text.parse::<u64>().ok());
    kilobytes.map_or("unknown".into(), |kilobytes| (kilobytes / 1000).to_string())
}
