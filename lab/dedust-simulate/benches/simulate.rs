/*!
How fast synthetic sites are written as JSON Lines, on one thread.

`cargo bench -p dedust-simulate --bench simulate [-- URLS]`. The sites of the `www10` profile, scaled to about a million URLs
or `URLS`, go to a sink: observations alone, then with the truth beside them; then one site per phenomenon. What is
written is counted and checked before it is timed. MB/s are those of the observations, whatever else is written.
*/

#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use dedust_simulate::{Phenomenon, Profile, Site, SiteSpec};

const SITES: usize = 25;
const URLS: u64 = 1_000_000;
const RUNS: usize = 5;

/// Counts bytes and lines, and looks at all of them.
#[derive(Default)]
struct Counter {
    bytes: u64,
    lines: u64,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes anything, as a device would that costs nothing.
struct BlackHole;

impl Write for BlackHole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(black_box(bytes).len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() {
    let urls = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(URLS);
    let specs = Profile::Www10.site_specs(SITES, urls / SITES as u64, 7);
    let sites = Profile::plan(specs).expect("the profile gives valid sites");
    println!("{:<34} {:>9} {:>11} {:>8}", "", "URLs", "URLs/s", "MB/s");
    report("www10, URLs only", &sites, |site| {
        site.visit_rows(|row| {
            black_box(row);
            Ok::<(), io::Error>(())
        })
    });
    report("www10, observations", &sites, |site| {
        let mut lines = Vec::new();
        site.visit_rows(|row| {
            row.append_observation(&mut lines);
            if lines.len() > 1 << 16 {
                BlackHole.write_all(&lines)?;
                lines.clear();
            }
            io::Result::Ok(())
        })
    });
    report("www10, observations and truth", &sites, |site| site.write_json_lines(BlackHole, BlackHole));
    for phenomenon in Phenomenon::ALL {
        let site = Site::new(SiteSpec::single(phenomenon, urls / 10, 7)).expect("valid");
        report(phenomenon.name(), &[site], |site| site.write_json_lines(BlackHole, io::sink()));
    }
}

/// Times the best of some runs.
fn report(name: &str, sites: &[Site], write: impl Fn(&Site) -> io::Result<()>) {
    let mut counter = Counter::default();
    for site in sites {
        site.write_json_lines(&mut counter, io::sink()).expect("a counter takes all");
    }
    let urls: u64 = sites.iter().map(Site::urls).sum();
    assert_eq!(counter.lines, urls, "one line per URL");
    let seconds = (0..RUNS).map(|_| {
        let started = Instant::now();
        for site in sites {
            write(site).expect("a black hole takes all");
        }
        started.elapsed().as_secs_f64()
    });
    let best = seconds.fold(f64::INFINITY, f64::min);
    println!("{name:<34} {urls:>9} {:>11.0} {:>8.0}", urls as f64 / best, counter.bytes as f64 / best / 1e6);
}
