/*!
Four processes that share a set on a `redis-server` of this machine, beside the way of scrapy-redis: one `SADD` for each request, of 40
hexadecimal digits.

    cargo bench -p dedust-seen --features redis --bench shared -- [MILLIONS OF URLS, default 1]

Of all URLs 60 % are repeats, anywhere among the others, which is the worst case for what a process remembers: a crawl meets most URLs again
soon. All processes are this program, started again, and use the same client. Answers are checked: each key is new for exactly one process.
The way of scrapy-redis is favoured a little: its digits are not made by SHA-1, and its client is not Python.
*/
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and has no one to report to"
)]

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use dedust_seen::{KeyHasher, SeenKey, SeenSet};
use dedust_test_server::redis::Redis;

const PROCESSES: u64 = 4;
/// As `dedust dedup` asks.
const BATCH: u64 = 8192;
/// Ticks of a second in `/proc`.
const TICKS: f64 = 100.0;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [way, address, process, urls] = &*args {
        return child(way, address, process.parse().unwrap(), urls.parse().unwrap());
    }
    let millions = args.first().and_then(|argument| argument.parse::<f64>().ok()).unwrap_or(1.0);
    let urls = (millions * 1_000_000.0) as u64;
    println!(
        "{:<26} {:>10} {:>9} {:>12} {:>11} {:>11} {:>12} {:>9} {:>9}",
        "way", "URLs", "seconds", "URLs/second", "server CPU", "client CPU", "asked", "keys", "B/key"
    );
    for (way, urls) in [
        ("batches", urls),
        ("session", urls),
        ("scrapy-redis", urls),
        ("one-by-one", urls / 10),
        ("scrapy-redis", urls / 10),
    ] {
        measure(way, urls);
    }
}

/// What each process asks for.
fn number(process: u64, at: u64, of_process: u64) -> u64 {
    let (once, distinct) = (of_process * 2 / 5, PROCESSES * (of_process * 2 / 5));
    let mixed = (process << 40 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Mixed, so that repeats are anywhere. A prime that divides no round number gives each place once.
    let at = at * 1_000_003 % of_process;
    if at < once { process * once + at } else { (mixed ^ mixed >> 29) % distinct }
}

fn url(number: u64) -> String {
    format!("http://www.example.org/articles/{number}/how-to-tell-pages-apart?page={}", number % 7)
}

fn measure(way: &str, urls: u64) {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let client = redis::Client::open(format!("redis://{}", redis.address)).unwrap();
    let mut connection = client.get_connection().unwrap();
    let mut info = |name: &str| -> f64 {
        let text: String = redis::cmd("INFO").arg("everything").query(&mut connection).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        value.trim().parse().unwrap()
    };
    let (empty, of_process) = (info("used_memory"), urls / PROCESSES);
    let started = Instant::now();
    let children: Vec<_> = (0..PROCESSES)
        .map(|process| {
            Command::new(std::env::current_exe().unwrap())
                .args([way, &redis.set("crawl"), &process.to_string(), &of_process.to_string()])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let (mut new, mut cpu, mut asked) = (0, 0.0, 0);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
        new += figures[0] as u64;
        asked += figures[1] as u64;
        cpu += figures[2];
    }
    let seconds = started.elapsed().as_secs_f64();
    let distinct = PROCESSES * (of_process * 2 / 5);
    // All keys are on the server, so that each was new at least once; with as many answers, each was exactly once.
    assert_eq!(new, distinct, "{way}");
    let server = info("used_cpu_user") + info("used_cpu_sys");
    let memory = (info("used_memory") - empty) / distinct as f64;
    println!(
        "{way:<26} {urls:>10} {seconds:>9.1} {:>12.0} {server:>11.1} {cpu:>11.1} {asked:>12} {distinct:>9} {memory:>9.1}",
        urls as f64 / seconds
    );
}

/// Asks for the URLs of a process, and prints how many were new, how many the server was asked for, and the time that it took.
fn child(way: &str, address: &str, process: u64, urls: u64) {
    let mut new = 0_u64;
    let mut asked = urls;
    if way == "scrapy-redis" {
        let server = address.rsplit_once('/').unwrap().0;
        let mut connection = redis::Client::open(server).unwrap().get_connection().unwrap();
        let hasher = KeyHasher::with_secret([7; 16]);
        for at in 0..urls {
            let hash = hasher.hash(url(number(process, at, urls)).as_bytes()).to_hash();
            let text = format!("{hash:032x}{:08x}", hash as u32);
            new +=
                redis::cmd("SADD").arg("spider:dupefilter").arg(text).query::<u64>(&mut connection).unwrap();
        }
    } else {
        let options = if way == "session" { SeenSet::options().session("crawl") } else { SeenSet::options() };
        let mut set = options.connect(address).unwrap();
        let hasher = set.hasher();
        let (mut keys, mut is_new): (Vec<SeenKey>, Vec<bool>) = (Vec::new(), Vec::new());
        let batch = if way == "one-by-one" { 1 } else { BATCH };
        for start in (0..urls).step_by(batch as usize) {
            keys.clear();
            let places = start..urls.min(start + batch);
            keys.extend(places.map(|at| hasher.hash(url(number(process, at, urls)).as_bytes())));
            set.insert_batch(&keys, &mut is_new).unwrap();
            new += is_new.iter().filter(|&&is_new| is_new).count() as u64;
        }
        assert_eq!(set.stats().unconfirmed_keys, 0);
        asked = set.stats().asked_keys;
    }
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    println!("{new} {asked} {}", ticks / TICKS);
}
