/*!
Lines in, lines out.
*/

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;

use dedust::{Normalizer, RuleSet};
use serde_json::Value;

use crate::service::{RULES, Service};

fn normalizer() -> Normalizer {
    Normalizer::compile(&RuleSet::load(RULES.as_bytes()).unwrap())
}

#[test]
fn every_line_is_answered_by_a_line() {
    let service = Service::start();
    let urls =
        "http://A.example/p?sid=1\r\n\nno URL\nhttp://b.example/p?sid=1&ref=2\nhttp://a.example/p?ref=2";
    let answer = service.text("/v1/normalize", urls);
    assert_eq!((answer.status, &*answer.content_type), (200, "text/plain; charset=utf-8"));
    assert_eq!(
        answer.body.lines().collect::<Vec<_>>(),
        ["http://a.example/p", "", "", "http://b.example/p?sid=1&ref=2", "http://a.example/p?ref=2"],
        "the rules are those of one site, and what is in the key only stays in the URL"
    );
    let answer = service.text("/v1/keys", urls);
    assert_eq!(
        answer.body.lines().collect::<Vec<_>>(),
        ["http://a.example/p", "", "", "http://b.example/p?ref=2&sid=1", "http://a.example/p"]
    );
    assert_eq!(service.metric("dedust_lines_total{route=\"/v1/keys\"}"), 5);
    assert_eq!(service.metric("dedust_bad_lines_total{route=\"/v1/keys\"}"), 2);
}

#[test]
fn json_says_what_is_wrong_with_a_line() {
    let service = Service::start();
    let rows = "{\"url\":\"http://a.example/p?sid=1\",\"id\":7}\n\"http://b.example/\"\n{\"url\":\"no URL\"}\n{\"uri\":1}\n";
    let answer = service.ndjson("/v1/keys", rows);
    assert_eq!((answer.status, &*answer.content_type), (200, "application/x-ndjson"));
    let lines: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        serde_json::json!({"input": "http://a.example/p?sid=1", "key": "http://a.example/p"})
    );
    assert_eq!(lines[1]["key"], "http://b.example/");
    assert_eq!(lines[2]["input"], "no URL");
    assert!(lines[2]["error"].is_string() && lines[3]["error"].as_str().unwrap().contains("\"url\""));
    assert_eq!(lines.len(), 4);
}

#[test]
fn formats_of_request_and_answer_are_chosen_apart() {
    let service = Service::start();
    let url = "http://a.example/p?sid=1";
    let accept = |accept: &'static str| [("content-type", "text/plain"), ("accept", accept)];
    let answer = service.post("/v1/normalize", url, &accept("application/x-ndjson"));
    assert_eq!(
        answer.body,
        "{\"input\":\"http://a.example/p?sid=1\",\"canonical\":\"http://a.example/p\"}\n"
    );
    let headers = [("content-type", "application/json"), ("accept", "text/plain")];
    let answer = service.post("/v1/normalize", &format!("{{\"url\":\"{url}\"}}"), &headers);
    assert_eq!(answer.body, "http://a.example/p\n");
    // As `curl --data-binary` sends it.
    let answer = service.post("/v1/normalize", url, &[("content-type", "application/x-www-form-urlencoded")]);
    assert_eq!(answer.body, "http://a.example/p\n");
    assert_eq!(service.post("/v1/keys", url, &accept("image/png")).status, 406);
    assert_eq!(service.post("/v1/keys", url, &[("content-type", "image/png")]).status, 415);
    assert_eq!(service.post("/v1/explain", url, &accept("text/plain")).status, 406);
}

#[test]
fn a_url_in_json_cannot_make_two_lines() {
    let service = Service::start();
    let rows = "{\"url\":\"http://a.example/x\\ny\"}\n{\"url\":\"http://a.example/z\"}\n";
    let headers = [("content-type", "application/x-ndjson"), ("accept", "text/plain")];
    for path in ["/v1/normalize", "/v1/keys"] {
        assert_eq!(service.post(path, rows, &headers).body.lines().count(), 2, "{path}");
    }
}

#[test]
fn explanations_are_those_of_the_command() {
    let service = Service::start();
    let answer = service.text("/v1/explain", "http://a.example/p?sid=1&ref=2\nno URL\n");
    let lines: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["type"], "explanation");
    assert_eq!(lines[0]["key"], "http://a.example/p");
    assert_eq!(lines[0]["canonical"], "http://a.example/p?ref=2");
    assert_eq!(lines[0]["rules"].as_array().unwrap().len(), 2);
    assert_eq!(lines[1]["input"], "no URL");
}

#[test]
fn a_large_batch_is_answered_while_it_is_sent() {
    let service = Service::start();
    let urls: Vec<String> =
        (0..200_000).map(|at| format!("http://a.example/p/{at}?sid={}&id={at}", at % 7)).collect();
    let expected = normalizer();
    let mut sending = service.connect();
    let mut reading = BufReader::new(sending.try_clone().unwrap());
    sending
        .write_all(b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    // The first lines are answered before the others are sent.
    let send = |sending: &mut std::net::TcpStream, urls: &[String]| {
        let lines = urls.join("\n") + "\n";
        write!(sending, "{:x}\r\n{lines}\r\n", lines.len()).unwrap();
    };
    send(&mut sending, &urls[..1]);
    let mut line = String::new();
    while !line.contains("http://a.example/p/0?") {
        line.clear();
        assert!(reading.read_line(&mut line).unwrap() > 0);
    }
    let others = urls.clone();
    let sender = std::thread::spawn(move || {
        others[1..].chunks(1000).for_each(|urls| send(&mut sending, urls));
        sending.write_all(b"0\r\n\r\n").unwrap();
        sending.shutdown(Shutdown::Write).unwrap();
    });
    let mut rest = Vec::new();
    reading.read_to_end(&mut rest).unwrap();
    sender.join().unwrap();
    let keys = unchunked(&rest);
    let mut keys = keys.lines();
    for url in &urls[1..] {
        assert_eq!(expected.key(url).unwrap(), keys.next().unwrap(), "{url}");
    }
    assert_eq!(keys.next(), None);
}

/// What chunks hold, after the first of them.
fn unchunked(mut bytes: &[u8]) -> String {
    let mut text = Vec::new();
    // The end of the first chunk.
    bytes = bytes.strip_prefix(b"\r\n").unwrap();
    loop {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n").unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        bytes = &bytes[end + 2..];
        if length == 0 {
            return String::from_utf8(text).unwrap();
        }
        text.extend_from_slice(&bytes[..length]);
        bytes = &bytes[length + 2..];
    }
}

#[test]
fn the_rules_of_a_site_are_shown() {
    let service = Service::start();
    let answer = service.get("/v1/rules/a.example");
    let site: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(site["rules"][0]["sentence"], "`sid` does not matter", "{site}");
    assert_eq!(service.get("/v1/rules/b.example").status, 404);
    assert_eq!(service.get("/healthz").body, "ok\n");
}
