/*!
Nanoseconds to hash a URL to 128 bits: keyed functions beside XXH3, which anyone can forge.

    cargo bench -p dedust-seen --bench hash

All contestants hash the same URLs of 37 to 106 bytes, which fit into the cache, in turns on one thread. The median of nine
rounds counts.
*/
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::hint::black_box;
use std::time::Instant;

use ahash::RandomState;
use highway::{HighwayHash as _, HighwayHasher, Key};
use siphasher::sip128::{SipHasher13, SipHasher24};
use xxhash_rust::xxh3::xxh3_128;

const URLS: u64 = 4096;
/// How often a round hashes all of them.
const PASSES: u64 = 250;
const ROUNDS: usize = 9;
const SECRET: [u64; 4] =
    [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 0x0f1e_2d3c_4b5a_6978, 0x8796_a5b4_c3d2_e1f0];

type Hash = Box<dyn Fn(&[String]) -> u128>;

fn main() {
    let urls: Vec<String> = (0..URLS).map(url).collect();
    let contestants = contestants();
    for (name, hash) in &contestants {
        let sample: HashSet<u128> =
            urls.iter().take(1000).map(|url| hash(std::slice::from_ref(url))).collect();
        assert_eq!(sample.len(), 1000, "{name} gives two URLs the same hash");
    }

    let mut seconds = vec![Vec::new(); contestants.len()];
    for _ in 0..ROUNDS {
        for ((_, hash), seconds) in contestants.iter().zip(&mut seconds) {
            let started = Instant::now();
            for _ in 0..PASSES {
                black_box(hash(black_box(&urls)));
            }
            seconds.push(started.elapsed().as_secs_f64());
        }
    }
    let medians: Vec<f64> = seconds.iter_mut().map(|seconds| median(seconds)).collect();
    let bytes: usize = urls.iter().map(String::len).sum();
    println!("{} bytes per URL\n{:<22} {:>10} {:>9}", bytes / urls.len(), "", "ns per URL", "of XXH3");
    for ((name, _), median) in contestants.iter().zip(&medians) {
        println!("{name:<22} {:>10.1} {:>7.2} x", median * 1e9 / (URLS * PASSES) as f64, median / medians[0]);
    }
}

/// A URL such as crawls meet, of any of some forms and lengths.
fn url(number: u64) -> String {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let site = mixed >> 54;
    match mixed >> 20 & 3 {
        0 => format!("http://www.site{site:04}.example/item/{number:08}"),
        1 => format!("https://shop{site:04}.example/view?category=books&id={number:07}"),
        2 => format!(
            "https://news{site:04}.example/2024/05/{:02}/a-title-of-words-{mixed:016x}.html",
            mixed % 28
        ),
        _ => format!(
            "http://forum{site:04}.example/thread.php?page={}&id={number:07}&session={mixed:032x}",
            mixed % 9
        ),
    }
}

/// XXH3 first: all others are compared to it.
fn contestants() -> Vec<(&'static str, Hash)> {
    let sip13 = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
    let sip24 = SipHasher24::new_with_keys(SECRET[0], SECRET[1]);
    let mut blake3_key = [0; 32];
    for (bytes, number) in blake3_key.chunks_exact_mut(8).zip(SECRET) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    let [a, b, c, d] = SECRET;
    let (low, high) = (RandomState::with_seeds(a, b, c, d), RandomState::with_seeds(d, c, b, a));
    vec![
        ("XXH3-128, no key", each(xxh3_128)),
        ("SipHash-1-3-128", each(move |url| sip13.hash(url).as_u128())),
        ("SipHash-2-4-128", each(move |url| sip24.hash(url).as_u128())),
        ("HighwayHash-128", each(|url| joined(HighwayHasher::new(Key(SECRET)).hash128(url)))),
        (
            "BLAKE3, keyed",
            each(move |url| {
                let hash = *blake3::keyed_hash(&blake3_key, url).as_bytes();
                u128::from_le_bytes(std::array::from_fn(|at| hash[at]))
            }),
        ),
        ("aHash twice, two keys", each(move |url| joined([ahash_of(&low, url), ahash_of(&high, url)]))),
    ]
}

/// Hashes all URLs without a call through a pointer for each.
fn each(hash: impl Fn(&[u8]) -> u128 + 'static) -> Hash {
    Box::new(move |urls| urls.iter().fold(0, |sum, url| sum ^ hash(url.as_bytes())))
}

fn ahash_of(state: &RandomState, url: &[u8]) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write(url);
    hasher.finish()
}

fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
