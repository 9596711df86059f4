/*!
CPU time and memory of clustering fingerprints that differ in at most three bits, against their number.

`cargo bench -p dedust-learn --bench near_duplicates`. First 20,000 fingerprints, of which every pair that comparing all
with all finds must be in one cluster. Then 200,000 and 2,000,000 under one title, the worst case, on one thread: half
are random, half are others with one to three bits flipped. Then the same of a site whose pages share most of their
text, so that fingerprints agree in most bits. Checked each time: every copy is with its original, and there are
about as many clusters as there are originals. The exponent is the slope between the two sizes: 1 is linear.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use cpu_time::ProcessTime;
use dedust_learn::support::{LabelBuilder, Labels};
use dedust_learn::{Clues, EvidenceKind, EvidenceKinds};

const SIZES: [u32; 2] = [200_000, 2_000_000];
const CHECKED: u32 = 20_000;

fn main() {
    for bits in [64, 40] {
        let found = cluster(CHECKED, bits).1;
        println!(
            "{CHECKED} fingerprints of {bits} bits: all {} near pairs are tied",
            check_all_pairs(&found, bits)
        );
        let seconds = SIZES.map(|size| {
            let (seconds, labels) = cluster(size, bits);
            check(&labels, size);
            println!("{size:>9} fingerprints {seconds:>6.2} s CPU, {} clusters", labels.cluster_count());
            seconds
        });
        let exponent = (seconds[1] / seconds[0]).ln() / (f64::from(SIZES[1]) / f64::from(SIZES[0])).ln();
        println!("exponent {exponent:.3}");
    }
    if let Some(peak) = peak_memory_mib() {
        println!("peak memory {peak:.0} MiB");
    }
}

/// Even rows are originals, each odd row is the one before it with up to three bits flipped. Only the lowest `bits` bits
/// vary.
fn fingerprint(row: u32, bits: u32) -> u64 {
    let original = spread(u64::from(row / 2) + 1) >> (64 - bits);
    let template = spread(u64::MAX) & !(u64::MAX >> (64 - bits));
    let flips = (0..u64::from(row % 2) * (1 + u64::from(row / 2) % 3))
        .fold(0, |flips, flip| flips | 1 << (spread(u64::from(row) << 2 | flip) % u64::from(bits)));
    template | (original ^ flips)
}

fn cluster(size: u32, bits: u32) -> (f64, Labels) {
    let started = ProcessTime::now();
    let mut builder = LabelBuilder::new(EvidenceKinds::only(EvidenceKind::Simhash));
    for row in 0..size {
        let clues =
            Clues { simhash: Some(fingerprint(row, bits)), title: Some(b"title"), ..Clues::default() };
        builder.observe(row, &row.to_le_bytes(), &clues);
    }
    let labels = builder.finish(size as usize);
    (started.elapsed().as_secs_f64(), labels)
}

fn check_all_pairs(labels: &Labels, bits: u32) -> u64 {
    let fingerprints: Vec<u64> = (0..CHECKED).map(|row| fingerprint(row, bits)).collect();
    let mut pairs = 0;
    for left in 0..CHECKED {
        for right in left + 1..CHECKED {
            if (fingerprints[left as usize] ^ fingerprints[right as usize]).count_ones() <= 3 {
                pairs += 1;
                assert_eq!(labels.label_of(left), labels.label_of(right), "{left} and {right}");
            }
        }
    }
    assert!(pairs >= u64::from(CHECKED / 2));
    pairs
}

fn check(labels: &Labels, size: u32) {
    assert!((0..size / 2).all(|pair| labels.label_of(2 * pair) == labels.label_of(2 * pair + 1)));
    let originals = size as usize / 2;
    // By chance a few originals are near each other.
    assert!((originals * 9 / 10..=originals).contains(&labels.cluster_count()), "{}", labels.cluster_count());
}

fn spread(number: u64) -> u64 {
    let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xe703_7ed1_a0b4_28db);
    hash ^ (hash >> 29)
}

/// The most memory that the process had, where the system tells.
fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
