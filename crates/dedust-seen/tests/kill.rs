/*!
Kills a process that uses a set, at any moment, and checks what is left.

The process is this test itself, started again. Its tables are small, so that it is killed while it appends to logs,
sorts tables, writes, merges and removes files, and while it opens what the one before it left. `DEDUST_KILL_ROUNDS`
says how often, 8 times by default.
*/
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use dedust_seen::{SeenKey, SeenSet};

const FOLDER: &str = "DEDUST_KILL_FOLDER";
const SEED: &str = "DEDUST_KILL_SEED";
const BATCH: u64 = 300;
const NUMBERS: u64 = 8_000_000;

fn open(folder: &Path) -> SeenSet {
    SeenSet::options().recent_keys(2000).open(folder).unwrap()
}

/// Hard to foresee, but the same for the same numbers.
fn scrambled(seed: u64, number: u64) -> u64 {
    let mut mixed = (seed ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// What the process that is killed does: prints the numbers that the set says are new, batch by batch. On its own, as a
/// test, it does nothing.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let seed = std::env::var(SEED).unwrap().parse::<u64>().unwrap();
    let mut set = open(Path::new(&folder));
    let mut is_new = Vec::new();
    let mut out = std::io::stdout().lock();
    for start in (0..).step_by(BATCH as usize) {
        let numbers: Vec<u64> = (start..start + BATCH).map(|at| scrambled(seed, at) % NUMBERS).collect();
        let keys: Vec<SeenKey> =
            numbers.iter().map(|number| set.hasher().hash(&number.to_le_bytes())).collect();
        set.insert_batch(&keys, &mut is_new).unwrap();
        let mut text = String::new();
        for (number, &is_new) in numbers.iter().zip(&is_new) {
            if is_new {
                text += &format!("new {number}\n");
            }
        }
        out.write_all(text.as_bytes()).unwrap();
    }
}

#[test]
fn what_was_said_to_be_new_is_never_new_again() {
    let rounds = std::env::var("DEDUST_KILL_ROUNDS").map_or(8, |rounds| rounds.parse::<u64>().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut printed = HashSet::new();
    for round in 0..rounds {
        // When a process is killed is left to chance.
        let chance = RandomState::new().hash_one(round);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(FOLDER, folder.path())
            .env(SEED, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut take = |line: &mut String| {
            line.clear();
            let is_there = lines.read_line(line).unwrap() > 0;
            // The last line may be cut off, and is as good as not printed.
            if let Some(number) = line.strip_suffix('\n').and_then(|line| line.strip_prefix("new ")) {
                assert!(printed.insert(number.parse::<u64>().unwrap()), "{number} was new twice");
            }
            is_there
        };
        let mut line = String::new();
        for _ in 0..chance % 15_000 {
            assert!(take(&mut line), "the process ended by itself");
        }
        (0..chance >> 44).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        while take(&mut line) {}
        child.wait().unwrap();
    }

    let mut set = open(folder.path());
    let keys: Vec<SeenKey> = printed.iter().map(|number| set.hasher().hash(&number.to_le_bytes())).collect();
    let mut is_new = Vec::new();
    set.insert_batch(&keys, &mut is_new).unwrap();
    assert_eq!(is_new.iter().filter(|&&is_new| is_new).count(), 0, "of {}", keys.len());
    // At most one batch per round was in the set before it could be printed.
    let stats = set.stats();
    assert!(stats.keys - printed.len() as u64 <= rounds * BATCH, "{} printed, {stats:?}", printed.len());
    println!("{rounds} rounds, {} keys, {stats:?}", printed.len());
}
