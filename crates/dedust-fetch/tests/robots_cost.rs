/*!
What a robots.txt costs, however it is written: bytes of memory, counted by the allocator, and requests.
*/

use std::time::Duration;

use dedust_fetch::{FetchError, Fetcher};
use dedust_test_server::{Reply, Server};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A file with this many rules that stand for nearly anything.
fn wildcards(count: usize) -> String {
    let rules = (0..count).map(|number| format!("Disallow: /*a{number}*b*c{number}*$\n"));
    format!("User-agent: *\n{}", rules.collect::<String>())
}

// One test, since the counters are those of the process.
#[test]
fn memory_is_bounded_for_a_file_and_for_all_of_them() {
    let kept = wildcards(4_900);
    let refused = wildcards(14_000);
    assert!(refused.len() < 500_000);
    let servers = [kept, refused].map(|file| {
        Server::start(move |target| match target {
            "/robots.txt" => Reply::Status(200, String::new(), file.clone().into()),
            _ => Reply::status(404),
        })
    });
    let fetcher = Fetcher::builder().delay(Duration::ZERO).allow_host("127.0.0.1".parse().unwrap()).build();

    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    assert!(fetcher.check(&servers[0].url("/p")).is_ok());
    let outcome = fetcher.check(&servers[1].url("/p"));
    assert!(matches!(outcome, Err(FetchError::LongRobots)), "{outcome:?}");
    let (peak, live) = (MEMORY.peak_usage() - before, MEMORY.current_usage() - before);
    assert!(peak < 8 << 20, "{peak} bytes at a time");
    assert!(live < 1 << 20, "{live} bytes kept");

    // Each address is an origin of its own, as each host of a hostile domain is; these are refused unconnected.
    for number in 0..300 {
        let outcome = fetcher.check(&format!("http://127.1.{}.{}/", number / 256, number % 256));
        assert!(matches!(outcome, Err(FetchError::PrivateAddress)), "{outcome:?}");
    }
    fetcher.check(&servers[0].url("/p")).unwrap();
    assert_eq!(servers[0].count("/robots.txt"), 2, "an origin of long ago is forgotten and asked again");
    let live = MEMORY.current_usage() - before;
    assert!(live < 2 << 20, "{live} bytes kept");
}
