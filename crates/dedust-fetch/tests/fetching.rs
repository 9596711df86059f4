/*!
Fetches from a real server on this machine: answers good, bad and hostile.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::io::Write as _;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dedust_fetch::{FetchError, Fetcher, FetcherBuilder};
use dedust_test_server::{Reply, Server, document};
use flate2::Compression;
use flate2::write::GzEncoder;

/// May connect to servers of tests.
fn builder() -> FetcherBuilder {
    let builder = Fetcher::builder().delay(Duration::ZERO).timeout(Duration::from_secs(20));
    ["127.0.0.1", "127.0.0.2"].iter().fold(builder, |builder, host| builder.allow_host(host.parse().unwrap()))
}

/// The numbers in a target: `/p?id=12&sid=3` is 12, 3.
fn numbers(target: &str) -> Vec<u64> {
    target.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn gzip(body: &str) -> Reply {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body.as_bytes()).unwrap();
    let headers = "Content-Type: text/html\r\nContent-Encoding: gzip\r\n";
    Reply::Status(200, headers.into(), encoder.finish().unwrap())
}

#[test]
fn pages_are_compared_by_what_readers_see() {
    let server = Server::start(|target| match numbers(target)[..] {
        [id, visit] if target.starts_with("/gzip") => gzip(&document(id, visit)),
        [id, visit] if target.starts_with("/page") => Reply::html(document(id, visit)),
        _ => Reply::status(404),
    });
    let fetcher = builder().build();
    let page = |path: &str| fetcher.fetch(&server.url(path)).unwrap();
    assert!(page("/page?id=1&sid=1").is_same_page(&page("/page?id=1&sid=2")));
    assert!(!page("/page?id=1&sid=1").is_same_page(&page("/page?id=2&sid=1")));
    assert!(page("/page?id=1&sid=1").is_same_page(&page("/gzip?id=1&sid=3")));
    assert_eq!(server.requests()[0], "/robots.txt");
    assert_eq!((server.count("/robots.txt"), server.count("/no-such-page")), (1, 1));
    assert_eq!(fetcher.requests() as usize, server.requests().len());
}

#[test]
fn nothing_personal_is_sent() {
    let server = Server::start(|target| match target {
        "/robots.txt" => Reply::status(404),
        _ => Reply::Status(200, "Set-Cookie: id=7; Path=/\r\n".into(), document(1, 1).into()),
    });
    let fetcher = builder().user_agent("tester/2 (me)").build();
    let with_credentials = server.url("/a").replace("http://", "http://user:secret@");
    fetcher.fetch(&with_credentials).unwrap_err();
    let _ = fetcher.fetch(&server.url("/b"));
    assert_eq!(server.requests()[1], "/a");
    for headers in server.headers() {
        assert!(!headers.contains("cookie:") && !headers.contains("authorization:"), "{headers}");
        assert!(headers.contains("user-agent: tester/2 (me)"), "{headers}");
    }
}

#[test]
fn private_addresses_are_never_connected_to() {
    let server = Server::start(|_| Reply::html(document(1, 1)));
    let fetcher = Fetcher::builder().delay(Duration::ZERO).build();
    let port = server.url("").rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let outcome = fetcher.fetch(&format!("http://{host}:{port}/"));
        assert!(matches!(outcome, Err(FetchError::PrivateAddress)), "{host}: {outcome:?}");
    }
    assert_eq!((server.requests().len(), fetcher.requests()), (0, 0));
}

#[test]
fn redirects_lead_only_to_hosts_that_are_named() {
    let unnamed = Server::start_on(Ipv4Addr::new(127, 0, 0, 3), |_| Reply::html(document(1, 1)));
    let other_port = Server::start(|_| Reply::html(document(1, 1)));
    let targets =
        [unnamed.url("/"), other_port.url("/"), "http://169.254.169.254/latest/meta-data/".to_owned()];
    let server = Server::start(move |target| match numbers(target)[..] {
        [index] => Reply::redirect(&targets[index as usize]),
        _ => Reply::status(404),
    });
    let host = server.url("").strip_prefix("http://").unwrap().parse().unwrap();
    let fetcher = Fetcher::builder().delay(Duration::ZERO).allow_host(host).build();
    for index in 0..3 {
        let outcome = fetcher.fetch(&server.url(&format!("/{index}")));
        assert!(matches!(outcome, Err(FetchError::PrivateAddress)), "{index}: {outcome:?}");
    }
    assert_eq!((unnamed.requests().len(), other_port.requests().len()), (0, 0));
    // One robots.txt and three redirects: nothing else was connected to.
    assert_eq!((server.requests().len(), fetcher.requests()), (4, 4));
}

#[test]
fn a_named_host_does_not_open_its_addresses_to_other_names() {
    let server = Server::start(|_| Reply::html(document(1, 1)));
    let port = server.url("").rsplit(':').next().unwrap().to_owned();
    let fetcher = Fetcher::builder().delay(Duration::ZERO).allow_host("localhost".parse().unwrap()).build();
    let outcome = fetcher.check(&format!("http://127.0.0.1:{port}/"));
    assert!(matches!(outcome, Err(FetchError::PrivateAddress)), "{outcome:?}");
    assert!(fetcher.check(&format!("http://localhost:{port}/")).is_ok());
    assert_eq!(server.requests(), ["/robots.txt"]);
}

#[test]
fn robots_are_obeyed_on_every_hop() {
    let server = Server::start(|target| match target {
        "/robots.txt" => Reply::Status(200, String::new(), "User-agent: dedust\nDisallow: /no".into()),
        "/hop" => Reply::redirect("/no/1"),
        _ => Reply::html(document(1, 1)),
    });
    let fetcher = builder().build();
    assert!(matches!(fetcher.check(&server.url("/no/1")), Err(FetchError::Robots)));
    assert!(matches!(fetcher.fetch(&server.url("/no/1")), Err(FetchError::Robots)));
    assert!(matches!(fetcher.fetch(&server.url("/hop")), Err(FetchError::Robots)));
    assert_eq!(server.requests(), ["/robots.txt", "/hop"]);
}

#[test]
fn a_site_without_reachable_robots_is_left_alone() {
    let server = Server::start(|target| match target {
        "/robots.txt" => Reply::status(503),
        _ => Reply::html(document(1, 1)),
    });
    assert!(matches!(builder().build().fetch(&server.url("/a")), Err(FetchError::NoRobots)));
    assert_eq!(server.requests(), ["/robots.txt", "/robots.txt"]);
}

#[test]
fn redirects_are_followed_within_limits() {
    let server = Server::start(|target| match (target.split('/').nth(1), numbers(target).first()) {
        (Some("loop"), _) => Reply::redirect("/loop"),
        (Some("hop"), Some(0)) => Reply::html(document(1, 1)),
        (Some("hop"), Some(left)) => Reply::redirect(&format!("{}", left - 1)),
        (Some("file"), _) => Reply::redirect("file:///etc/passwd"),
        (Some("nowhere"), _) => Reply::status(302),
        (Some("bad"), _) => Reply::redirect("http://[bad/"),
        _ => Reply::status(404),
    });
    let fetcher = builder().max_redirects(3).build();
    let fetch = |path: &str| fetcher.fetch(&server.url(path));
    assert!(fetch("/hop/3").is_ok());
    assert!(matches!(fetch("/hop/4"), Err(FetchError::Redirects)));
    assert!(matches!(fetch("/loop"), Err(FetchError::Redirects)));
    assert_eq!(server.count("/loop"), 4);
    assert!(matches!(fetch("/file"), Err(FetchError::Scheme)));
    assert!(matches!(fetch("/nowhere"), Err(FetchError::BadRedirect)));
    assert!(matches!(fetch("/bad"), Err(FetchError::BadRedirect)));
}

#[test]
fn error_pages_in_disguise_are_told() {
    let apology = format!("<title>Oops</title><p>{}", "We looked everywhere and found nothing. ".repeat(5));
    let server = Server::start(move |target| match target {
        "/robots.txt" => Reply::status(404),
        "/real" => Reply::html(document(1, 1)),
        "/gone" => Reply::redirect("/sorry"),
        _ => Reply::html(format!("<!-- {target} -->{apology}")),
    });
    let fetcher = builder().build();
    assert!(fetcher.fetch(&server.url("/real")).is_ok());
    for path in ["/lost", "/gone"] {
        let error = fetcher.fetch(&server.url(path)).unwrap_err();
        assert!(matches!(error, FetchError::SoftError) && error.is_missing(), "{path}");
    }
    assert_eq!(server.count("/no-such-page"), 1);
}

#[test]
fn broken_answers_are_trouble() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let server = Server::start(move |target| match target {
        "/garbage" => Reply::Raw(b"\0\x01\x02 what is this\r\n\r\n".to_vec()),
        "/nothing" => Reply::Raw(Vec::new()),
        "/short" => Reply::Raw(format!("{head}Content-Length: 999\r\n\r\n<p>short").into()),
        "/chunks" => Reply::Raw(format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n<p>").into()),
        "/cut-chunk" => Reply::Raw(format!("{head}Transfer-Encoding: chunked\r\n\r\nff\r\n<p>").into()),
        "/headers" => Reply::Raw([head.as_bytes(), &b"X: y\r\n".repeat(1 << 16)].concat()),
        "/gzip" => Reply::Status(200, "Content-Encoding: gzip\r\n".into(), b"not gzip at all".to_vec()),
        _ => Reply::status(404),
    });
    let fetcher = builder().build();
    for path in ["/garbage", "/nothing", "/short", "/chunks", "/cut-chunk", "/headers", "/gzip"] {
        let outcome = fetcher.fetch(&server.url(path));
        assert!(matches!(outcome, Err(FetchError::Network(_))), "{path}: {outcome:?}");
    }
}

#[test]
fn slow_answers_are_given_up() {
    let server = Server::start(|target| match target {
        "/never" => Reply::Withhold(Vec::new()),
        "/stuck" => Reply::Withhold(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n<p>".to_vec()),
        _ => Reply::status(404),
    });
    let fetcher = builder().timeout(Duration::from_secs(1)).build();
    for path in ["/never", "/stuck"] {
        let outcome = fetcher.fetch(&server.url(path));
        assert!(matches!(outcome, Err(FetchError::Timeout)), "{path}: {outcome:?}");
    }
}

#[test]
fn size_is_bounded_before_and_after_unpacking() {
    let server = Server::start(|target| match target {
        "/large" => Reply::html("x".repeat(100_001)),
        "/bomb" => gzip(&"x".repeat(50_000_000)),
        "/fits" => Reply::html("x".repeat(100_000)),
        "/empty" => Reply::html(""),
        _ => Reply::status(404),
    });
    let fetcher = builder().max_bytes(100_000).build();
    assert!(matches!(fetcher.fetch(&server.url("/large")), Err(FetchError::TooLarge)));
    assert!(matches!(fetcher.fetch(&server.url("/bomb")), Err(FetchError::TooLarge)));
    assert!(matches!(fetcher.fetch(&server.url("/empty")), Err(FetchError::Empty)));
    assert!(fetcher.fetch(&server.url("/fits")).is_ok());
}

#[test]
fn a_server_in_trouble_is_asked_twice() {
    let asked = AtomicU32::new(0);
    let server = Server::start(move |target| match target {
        "/down" => Reply::status(500),
        "/shaky" if asked.fetch_add(1, Ordering::SeqCst) == 0 => Reply::status(502),
        "/shaky" => Reply::html(document(1, 1)),
        _ => Reply::status(404),
    });
    let fetcher = builder().build();
    assert!(matches!(fetcher.fetch(&server.url("/down")), Err(FetchError::Status(500))));
    assert!(matches!(fetcher.fetch(&server.url("/lost")), Err(FetchError::Status(404))));
    assert!(fetcher.fetch(&server.url("/shaky")).is_ok());
    assert_eq!((server.count("/down"), server.count("/lost"), server.count("/shaky")), (2, 1, 2));
}

#[test]
fn one_host_sees_one_request_at_a_time() {
    let answer = |target: &str| match target {
        _ if target.len() > 2 => Reply::status(404),
        _ => Reply::html(document(numbers(target)[0], 1)),
    };
    let servers = [Server::start(answer), Server::start_on(Ipv4Addr::new(127, 0, 0, 2), answer)];
    let fetcher = builder().delay(Duration::from_millis(1)).build();
    std::thread::scope(|scope| {
        for id in 0..8 {
            let (fetcher, servers) = (&fetcher, &servers);
            scope.spawn(move || {
                for server in servers {
                    fetcher.fetch(&server.url(&format!("/{id}"))).unwrap();
                }
            });
        }
    });
    for server in &servers {
        assert_eq!((server.requests().len(), server.max_active()), (10, 1));
    }
}
