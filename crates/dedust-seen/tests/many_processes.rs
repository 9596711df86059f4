/*!
Processes that share a set on a real `redis-server`, which is killed while they ask.

The processes are this test itself, started again. Skipped, and that is said, where there is no `redis-server`.
`DEDUST_SHARED_KEYS` says how many keys each of them asks for, 60,000 by default.
*/
#![cfg(all(unix, feature = "redis"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use dedust_seen::{SeenKey, SeenSet};
use dedust_test_server::redis::Redis;

const ADDRESS: &str = "DEDUST_SHARED_ADDRESS";
const PROCESS: &str = "DEDUST_SHARED_PROCESS";
const PROCESSES: u64 = 4;
const BATCH: u64 = 500;

/// Keys that each process asks for.
fn asked() -> u64 {
    std::env::var("DEDUST_SHARED_KEYS").map_or(60_000, |keys| keys.parse().unwrap())
}

/// What a process asks for: of all questions of all processes, 60 % are repeats.
fn number(process: u64, at: u64) -> u64 {
    let mixed = (process << 40 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let distinct = PROCESSES * asked() * 2 / 5;
    // Each number once, in an order of its own for each process; then some of them again.
    let once = asked() * 2 / 5;
    if at < once { process * once + at } else { (mixed ^ mixed >> 29) % distinct }
}

/// What a process does: prints the numbers that are new, batch by batch. On its own, as a test, it does nothing.
#[test]
fn child() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let process: u64 = std::env::var(PROCESS).unwrap().parse().unwrap();
    let mut set = SeenSet::options().recent_keys(10_000).connect(&address).unwrap();
    let hasher = set.hasher();
    let mut is_new = Vec::new();
    let mut out = std::io::stdout().lock();
    // Repeats among the first ones too, by starting anywhere.
    for start in (0..asked()).step_by(BATCH as usize) {
        let range = start..asked().min(start + BATCH);
        let numbers: Vec<u64> = range.map(|at| number(process, (at * 7919 + process) % asked())).collect();
        let keys: Vec<SeenKey> = numbers.iter().map(|number| hasher.hash(&number.to_le_bytes())).collect();
        set.insert_batch(&keys, &mut is_new).unwrap();
        let new = numbers.iter().zip(&is_new).filter(|(_, is_new)| **is_new);
        let text: String = new.map(|(number, _)| format!("new {number}\n")).collect();
        out.write_all(text.as_bytes()).unwrap();
    }
    let stats = set.stats();
    writeln!(out, "unconfirmed {}\nreconnects {}", stats.unconfirmed_keys, stats.reconnects).unwrap();
}

/// What processes printed.
#[derive(Default)]
struct Printed {
    /// How often each number was new.
    new: HashMap<u64, u64>,
    unconfirmed: u64,
    reconnects: u64,
}

/// Runs all processes to their ends. Meanwhile `after` is told of each line, by its number.
fn run(address: &str, mut after: impl FnMut(u64)) -> Printed {
    let (sender, lines) = mpsc::channel::<String>();
    let mut children: Vec<Child> = (0..PROCESSES)
        .map(|process| {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child", "--nocapture"])
                .env(ADDRESS, address)
                .env(PROCESS, process.to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let out = BufReader::new(child.stdout.take().unwrap());
            let sender = sender.clone();
            thread::spawn(move || out.lines().for_each(|line| sender.send(line.unwrap()).unwrap()));
            child
        })
        .collect();
    drop(sender);
    let mut printed = Printed::default();
    for (line, count) in lines.iter().zip(1..) {
        let Some((name, figure)) = line.split_once(' ') else { continue };
        match (name, figure.parse::<u64>()) {
            ("new", Ok(number)) => *printed.new.entry(number).or_default() += 1,
            ("unconfirmed", Ok(keys)) => printed.unconfirmed += keys,
            ("reconnects", Ok(times)) => printed.reconnects += times,
            _ => {}
        }
        after(count);
    }
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    printed
}

fn all_numbers() -> u64 {
    let mut all: Vec<u64> =
        (0..PROCESSES).flat_map(|process| (0..asked()).map(move |at| number(process, at))).collect();
    all.sort_unstable();
    all.dedup();
    all.len() as u64
}

#[test]
fn each_key_is_new_for_exactly_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let printed = run(&redis.set("crawl"), |_| ());
    assert_eq!(printed.new.len() as u64, all_numbers());
    assert_eq!(all_numbers(), PROCESSES * asked() * 2 / 5);
    assert!(printed.new.values().all(|&times| times == 1));
    assert_eq!((printed.unconfirmed, printed.reconnects), (0, 0));
}

#[test]
fn a_server_that_is_killed_and_started_again_loses_no_page() {
    let folder = tempfile::tempdir().unwrap();
    // It answers only what is in its file, so that what it loses is what it did not answer.
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let Some(mut redis) = Redis::start(folder.path(), &options) else { return };
    let address = redis.set("crawl");
    let a_fifth = all_numbers() / 5;
    let printed = run(&address, |count| {
        if count % a_fifth == 0 && count < 4 * a_fifth {
            redis.kill();
            redis.start_again();
        }
    });
    assert_eq!(printed.new.len() as u64, all_numbers(), "a page is lost");
    assert!(printed.reconnects > 0);
    let repeats = printed.new.values().sum::<u64>() - printed.new.len() as u64;
    println!("{repeats} pages let through again, {} keys unconfirmed", printed.unconfirmed);
    assert!(repeats <= printed.unconfirmed, "{repeats} repeats, {} of them counted", printed.unconfirmed);
}
