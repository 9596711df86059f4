/*!
Clients that are slow, wrong or hostile get an answer or a close, and others are answered meanwhile.
*/

use std::io::{Read as _, Write as _};
use std::time::Duration;

use dedust_serve::SeenLocation;

use crate::service::{Service, read_to_close};

/// With limits that end soon.
fn impatient() -> Service {
    Service::with(|options| {
        options.limits.head = Duration::from_millis(200);
        options.limits.idle = Duration::from_millis(300);
        options.limits.request = Duration::from_millis(600);
        options.limits.body_bytes = 100_000;
        options.limits.connections = 8;
    })
}

fn is_well(service: &Service) {
    let answer = service.text("/v1/keys", "http://a.example/p?sid=1\n");
    assert_eq!((answer.status, &*answer.body), (200, "http://a.example/p\n"));
}

#[test]
fn a_head_or_a_body_that_does_not_end_is_given_up() {
    let service = impatient();
    for beginning in [
        "",
        "POST /v1/ke",
        "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\n",
        "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhttp://a.example/",
        "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhttp",
        "POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhttp://a.example/",
        "POST /v1/rules/a.example/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ] {
        // Ends only if the server closes the connection: this client does not.
        let answer = service.raw(beginning.as_bytes());
        assert!(!answer.starts_with("HTTP/1.1 200"), "{beginning:?}: {answer}");
        is_well(&service);
    }
}

#[test]
fn a_client_that_takes_no_answers_is_cut_off() {
    let service = Service::with(|options| {
        options.limits.idle = Duration::from_millis(300);
    });
    let mut connection = service.connect();
    connection
        .write_all(b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    let lines = "http://a.example/p?sid=1\n".repeat(2000);
    let chunk = format!("{:x}\r\n{lines}\r\n", lines.len());
    // Never reads; sooner or later the server does not either, and closes.
    let sent = (0..100_000).take_while(|_| connection.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 100_000, "the server took 5 GB of which it could not answer a line");
    is_well(&service);
}

#[test]
fn bodies_that_are_too_large_are_refused() {
    let service = impatient();
    let answer = service.raw(b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("--max-body"), "{answer}");
    let answer = service
        .raw(b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let mut chunked =
        b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let line = format!("186a0\r\n{}\r\n", "x".repeat(100_000));
    chunked.extend_from_slice(line.repeat(3).as_bytes());
    chunked.extend_from_slice(b"0\r\n\r\n");
    let answer = service.raw(&chunked);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413 "), "{answer}");
    is_well(&service);
}

#[test]
fn a_line_that_is_too_long_is_an_error_among_others() {
    let service = Service::start();
    let body = format!("http://a.example/1\nhttp://a.example/{}\nhttp://a.example/2\n", "x".repeat(1 << 20));
    let answer = service.text("/v1/keys", &body);
    assert_eq!(answer.body, "http://a.example/1\n\nhttp://a.example/2\n");
    let headers = [("content-type", "text/plain"), ("accept", "application/x-ndjson")];
    let answer = service.post("/v1/keys", &body, &headers);
    assert_eq!(answer.body.lines().count(), 3);
    assert!(
        answer.body.contains("longer than 65536 bytes") && answer.body.len() < 1000,
        "{}",
        answer.body.len()
    );
}

#[test]
fn wrong_methods_paths_and_heads_get_an_answer() {
    let service = Service::start();
    let status = |request: &str| {
        let answer = service.raw(request.as_bytes());
        answer.split(' ').nth(1).map(|status| status.parse::<u16>().unwrap())
    };
    let head = "Host: localhost\r\nConnection: close\r\n";
    assert_eq!(status(&format!("GET /v1/keys HTTP/1.1\r\n{head}\r\n")), Some(405));
    assert_eq!(status(&format!("BREW /healthz HTTP/1.1\r\n{head}\r\n")), Some(405));
    assert_eq!(status(&format!("GET /v2/keys HTTP/1.1\r\n{head}\r\n")), Some(404));
    assert_eq!(status(&format!("GET /../rules.json HTTP/1.1\r\n{head}\r\n")), Some(404));
    assert_eq!(status("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"), Some(400), "no Host");
    assert_eq!(status("GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"), Some(421));
    assert_eq!(
        status(&format!("GET /healthz HTTP/1.1\r\n{head}Origin: http://evil.example\r\n\r\n")),
        Some(403)
    );
    // A target with a host goes before the header.
    for (host, expected) in [("localhost", 200), ("127.0.0.1:7007", 200), ("evil.example", 421)] {
        assert_eq!(status(&format!("GET http://{host}/healthz HTTP/1.1\r\n{head}\r\n")), Some(expected));
    }
    assert_eq!(status("nonsense\r\n\r\n"), Some(400));
    let answer = service.raw(format!("GET /v1/rules/%ff HTTP/1.1\r\n{head}\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains(r#""remedy":"name the site"#), "{answer}");
    let many = "X: y\r\n".repeat(100);
    assert_eq!(status(&format!("GET /healthz HTTP/1.1\r\n{head}{many}\r\n")), Some(431));
    let long = "x".repeat(200_000);
    assert!([Some(431), Some(414), None].contains(&status(&format!("GET /{long} HTTP/1.1\r\n{head}\r\n"))));
    is_well(&service);
}

#[test]
fn browsers_are_told_to_be_careful() {
    let service = Service::start();
    let answer = service.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
    ] {
        assert!(answer.contains(header), "{header} in {answer}");
    }
    assert!(!answer.to_ascii_lowercase().contains("access-control-allow"));
}

#[test]
fn too_many_connections_are_turned_away() {
    let service = Service::with(|options| options.limits.connections = 4);
    let mut open: Vec<_> = (0..4).map(|_| service.connect()).collect();
    // Each is taken, and answered.
    for connection in &mut open {
        connection.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut start = [0; 12];
        connection.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
    }
    let mut one_more = service.connect();
    let answer = read_to_close(&mut one_more);
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    drop(open);
    let is_answered = (0..100_000).any(|_| {
        service
            .raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 200")
    });
    assert!(is_answered, "there is room again");
}

#[test]
fn a_head_has_64_kib_and_not_a_byte_more() {
    let service = Service::start();
    let head = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
    };
    // Each with so many bytes more.
    let long_target = |more: usize| head(&format!("/{}", "x".repeat(more)), "");
    let long_header = |more: usize| head("/healthz", &format!("X: {}\r\n", "x".repeat(more)));
    let many_headers = |more: usize| {
        let lines = |header: usize| format!("X-{header:02}: {}\r\n", "x".repeat(1000));
        let all: String = (0..60).map(lines).collect();
        head("/healthz", &format!("{all}Y: {}\r\n", "y".repeat(more)))
    };
    // Spaces that are no part of the value.
    let spaces = |more: usize| head("/healthz", &format!("X:{}x\r\n", " ".repeat(more)));
    for (bytes, is_taken) in [(65_535, true), (65_536, true), (65_537, false), (70_000, false)] {
        let status = |with: &dyn Fn(usize) -> String| {
            let request = with(bytes - with(0).len());
            assert_eq!(request.len(), bytes);
            service.raw(request.as_bytes()).split(' ').nth(1).map(ToOwned::to_owned)
        };
        let expected = |taken| Some(if is_taken { taken } else { "431" });
        assert_eq!(status(&long_target).as_deref(), expected("404"), "{bytes}");
        assert_eq!(status(&long_header).as_deref(), expected("200"), "{bytes}");
        assert_eq!(status(&many_headers).as_deref(), expected("200"), "{bytes}");
        assert_eq!(status(&spaces).as_deref(), expected("200"), "{bytes}");
    }
    is_well(&service);
}

#[test]
fn packed_bodies_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let service = Service::with(|options| options.seen = Some(SeenLocation::Folder(seen)));
    let token = format!("Bearer {}", service.token);
    for path in
        ["/v1/normalize", "/v1/keys", "/v1/seen", "/v1/explain", "/v1/rules/a.example/decisions", "/v1/learn"]
    {
        for coding in ["gzip", "br", "identity, gzip", "GZIP", "x-other", ""] {
            let headers = [("content-encoding", coding), ("authorization", &token)];
            let answer = service.post(path, "http://a.example/\n", &headers);
            assert_eq!(answer.status, 415, "{path} {coding:?}: {}", answer.body);
            assert!(answer.body.contains("without Content-Encoding"), "{}", answer.body);
        }
    }
    let answer = service.post("/v1/keys", "http://a.example/p?sid=1\n", &[("content-encoding", "Identity")]);
    assert_eq!((answer.status, &*answer.body), (200, "http://a.example/p\n"));
    // The same by the transfer coding, which says how the body is chunked.
    let answer = service.raw(
        b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
          12\r\nhttp://a.example/\n\r\n0\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 501 ") && answer.contains("gzip, chunked"), "{answer}");
    is_well(&service);
}

#[test]
fn pages_of_others_start_nothing_and_links_to_the_page_work() {
    let service = Service::start();
    let status = |method: &str, path: &str, site: &str, mode: &str, dest: &str| {
        let answer = service.raw(
            format!(
                "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\
                 Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {dest}\r\n\r\n"
            )
            .as_bytes(),
        );
        answer.split(' ').nth(1).map(|status| status.parse::<u16>().unwrap())
    };
    // An image, a request of a script, a link, a window and a frame; `same-site` is another port of this machine.
    for site in ["cross-site", "same-site", "another"] {
        assert_eq!(status("GET", "/v1/report", site, "no-cors", "image"), Some(403), "{site}");
        assert_eq!(status("GET", "/v1/report", site, "cors", "empty"), Some(403), "{site}");
        assert_eq!(status("GET", "/v1/report", site, "navigate", "document"), Some(403), "{site}");
        assert_eq!(status("GET", "/", site, "navigate", "iframe"), Some(403), "{site}");
        assert_eq!(status("GET", "/metrics", site, "no-cors", "image"), Some(403), "{site}");
        for path in ["/v1/keys", "/v1/seen", "/v1/explain", "/v1/learn"] {
            assert_eq!(status("POST", path, site, "no-cors", "empty"), Some(403), "{path} {site}");
        }
        assert_eq!(status("POST", "/", site, "navigate", "document"), Some(403), "{site}");
        assert_eq!(status("GET", "/", site, "navigate", "document"), Some(200), "{site}");
    }
    // A person who types the address, and the page itself.
    assert_eq!(status("GET", "/", "none", "navigate", "document"), Some(200));
    assert_eq!(status("GET", "/v1/report", "none", "navigate", "document"), Some(200));
    assert_eq!(status("GET", "/v1/report", "same-origin", "cors", "empty"), Some(200));
    assert_eq!(status("POST", "/v1/keys", "same-origin", "cors", "empty"), Some(200));
    // Who sends several is no browser.
    let answer = service.raw(
        b"GET /v1/report HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
          Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n\r\n",
    );
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}
