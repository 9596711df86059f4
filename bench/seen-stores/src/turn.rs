/*!
One turn of one contestant, in a process of its own. Figures are printed as lines `name=value`.

All answers are checked.
*/

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_128;

use crate::Outcome;
use crate::measure::{Clock, Times, disk_bytes, memory_megabytes};
use crate::store::{self, Durability, Store};

/// Keys of the turn `sync`.
pub(crate) const SYNC_KEYS: u64 = 100 * SYNC_BATCH;
/// Keys of the turn `crash`: not a whole number of whatever a store syncs at a time.
pub(crate) const CRASH_KEYS: u64 = 40 * BATCH;
/// Keys that are asked for at a time, as by `dedust dedup`.
const BATCH: u64 = 64 << 10;
/// Likewise, where each batch is synced.
const SYNC_BATCH: u64 = 4 << 10;
/// A prime that divides no round number of keys: old keys come far from where they came first.
const STRIDE: u64 = 1_000_003;

pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    let [turn, name, folder, keys] = arguments else {
        return Err("turn needs TURN STORE FOLDER KEYS".into());
    };
    let (folder, keys) = (Path::new(folder), keys.parse()?);
    match turn.as_str() {
        "speed" => speed(name, folder, keys),
        "sync" => sync(name, folder, keys),
        "crash" => crash(name, folder, keys),
        "after-crash" => after_crash(name, folder, keys),
        _ => Err(format!("unknown turn {turn}").into()),
    }
}

/// `keys` new keys, then as many of which every other one is new, then closing and opening again.
fn speed(name: &str, folder: &Path, keys: u64) -> Outcome<()> {
    let mut store = store::open(name, folder, Durability::Process)?;
    let new = ask(&mut *store, keys, BATCH, |at| (at, true))?;
    tell("new_per_s", keys as f64 / new.wall)?;
    tell("new_cpu_ns", new.cpu * 1e9 / keys as f64)?;
    let mixed = ask(&mut *store, keys, BATCH, |at| match at % 2 {
        0 => (at * STRIDE % keys, false),
        _ => (keys + at, true),
    })?;
    tell("mixed_per_s", keys as f64 / mixed.wall)?;
    tell("mixed_cpu_ns", mixed.cpu * 1e9 / keys as f64)?;
    tell("peak_mb", memory_megabytes("VmHWM")?)?;
    tell("anonymous_mb", memory_megabytes("RssAnon")?)?;

    let started = Instant::now();
    drop(store);
    tell("close_s", started.elapsed().as_secs_f64())?;
    if !store::is_on_disk(name) {
        return Ok(());
    }
    tell("disk_bytes_per_key", disk_bytes(folder)? as f64 / (keys + keys / 2) as f64)?;
    let started = Instant::now();
    let mut store = store::open(name, folder, Durability::Process)?;
    ask(&mut *store, 1000, 1000, |at| (at, false))?;
    tell("reopen_s", started.elapsed().as_secs_f64())
}

/// New keys, where each batch is on the disk before it is answered.
fn sync(name: &str, folder: &Path, keys: u64) -> Outcome<()> {
    let mut store = store::open(name, folder, Durability::Power)?;
    let times = ask(&mut *store, keys, SYNC_BATCH, |at| (at, true))?;
    tell("sync_per_s", keys as f64 / times.wall)
}

/// New keys without fsync. The process ends by a signal as soon as the last are answered.
fn crash(name: &str, folder: &Path, keys: u64) -> Outcome<()> {
    let mut store = store::open(name, folder, Durability::Process)?;
    ask(&mut *store, keys, BATCH, |at| (at, true))?;
    std::process::abort()
}

/// What is left of the keys of the turn `crash`, and how long opening takes.
fn after_crash(name: &str, folder: &Path, keys: u64) -> Outcome<()> {
    let started = Instant::now();
    let mut store = store::open(name, folder, Durability::Process)?;
    tell("reopen_after_crash_s", started.elapsed().as_secs_f64())?;
    let keys: Vec<u128> = (0..keys).map(key_of).collect();
    let mut is_new = Vec::new();
    let mut lost = 0;
    for keys in keys.chunks(BATCH as usize) {
        is_new.clear();
        store.insert_batch(keys, &mut is_new)?;
        lost += is_new.iter().filter(|&&is_new| is_new).count();
    }
    tell("lost_after_crash", lost as f64)
}

/// Asks for `count` keys. `key` gives the number of a key, and whether it is new.
fn ask(store: &mut dyn Store, count: u64, batch: u64, key: impl Fn(u64) -> (u64, bool)) -> Outcome<Times> {
    let mut clock = Clock::start();
    let (mut keys, mut expected, mut is_new) = (Vec::new(), Vec::new(), Vec::new());
    for start in (0..count).step_by(batch as usize) {
        clock.leave_out(|| {
            keys.clear();
            expected.clear();
            is_new.clear();
            for at in start..count.min(start + batch) {
                let (number, is_new) = key(at);
                keys.push(key_of(number));
                expected.push(is_new);
            }
        });
        store.insert_batch(&keys, &mut is_new)?;
        if is_new != expected {
            return Err(format!("wrong answers in the batch that starts at {start}").into());
        }
    }
    Ok(clock.stop())
}

fn key_of(number: u64) -> u128 {
    xxh3_128(&number.to_le_bytes())
}

fn tell(figure: &str, value: f64) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "{figure}={value}")?)
}
