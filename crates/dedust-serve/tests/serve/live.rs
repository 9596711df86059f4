/*!
A live crawl over HTTP: many requests, one state.
*/

use std::sync::Arc;

use dedust_serve::ServeOptions;
use serde_json::Value;

use crate::service::Service;

/// Serves a live crawl in a folder of the test.
fn start() -> Service {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    in_folder(folder)
}

fn in_folder(folder: Arc<tempfile::TempDir>) -> Service {
    let state = folder.path().join("state");
    Service::in_folder(folder, |options| {
        let live = ServeOptions::live(state);
        (options.rules, options.live) = (live.rules, live.live);
        // Clients of this machine may name any token.
        options.token = Some("short".into());
    })
}

fn url(number: usize) -> String {
    format!("http://a.example/item?id={}&sid={}", number / 4, 7919 * number)
}

/// Asks about URLs, observes those that are to be fetched, and says how many there were.
fn crawl(service: &Service, numbers: std::ops::Range<usize>) -> usize {
    let urls: Vec<String> = numbers.clone().map(url).collect();
    let answer = service.text("/v1/crawl/admit", &(urls.join("\n") + "\n"));
    assert_eq!((answer.status, answer.body.lines().count()), (200, urls.len()), "{}", answer.body);
    let mut rows = String::new();
    let mut count = 0;
    for ((number, url), verdict) in numbers.zip(&urls).zip(answer.body.lines()) {
        if verdict != "skip" {
            let page = number / 4;
            rows.push_str(&format!("{{\"url\":\"{url}\",\"status\":200,\"text_digest\":\"{page}\"}}\n"));
            count += 1;
        }
    }
    let answer = service.ndjson("/v1/crawl/observe", &rows);
    let observed: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    assert_eq!(observed["observed"], if rows.is_empty() { 0 } else { count }, "{answer:?}");
    count
}

fn status(service: &Service) -> Value {
    serde_json::from_str(&service.get("/v1/crawl").body).unwrap()
}

/// Waits until nothing is being learned: the server says so in its answers.
fn wait(service: &Service) -> Value {
    loop {
        let status = status(service);
        if status["learning"] == false {
            return status;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_crawl_gets_cheaper_and_goes_on_where_it_was() {
    let service = start();
    let mut fetched = 0;
    for batch in 0..20 {
        fetched += crawl(&service, 50 * batch..50 * (batch + 1));
        wait(&service);
    }
    assert!(fetched < 500, "{fetched} of 1000 URLs were fetched");
    let before = status(&service);
    assert_eq!((before["urls"].clone(), before["fetched"].clone()), (1000.into(), fetched.into()));
    let folder = Arc::clone(&service.folder);
    drop(service);
    let rules = std::fs::read_to_string(folder.path().join("state/rules.json")).unwrap();
    assert!(rules.contains("q.sid"), "{rules}");

    let service = in_folder(folder);
    let again = service.text("/v1/crawl/admit", &format!("{}\nhttp://a.example/item?id=7000\n", url(0)));
    assert_eq!(again.body, "skip\nfetch\n");
    let key = service.text("/v1/keys", "http://a.example/item?id=1&sid=2\n");
    assert_eq!(key.body, "http://a.example/item?id=1\n", "rules of the state are served");
}

#[test]
fn each_line_has_an_answer_in_its_format() {
    let service = start();
    let answer =
        service.ndjson("/v1/crawl/admit", "{\"url\":\"http://A.example\"}\n{}\n{\"url\":\"http://\"}\n");
    let lines: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{}", answer.body);
    assert_eq!(lines[0]["verdict"], "fetch");
    assert_eq!(
        (&lines[0]["url"], &lines[0]["key"]),
        (&"http://A.example".into(), &"http://a.example/".into())
    );
    assert!(lines[1]["error"].is_string() && lines[2]["error"].is_string());
    assert_eq!(service.text("/v1/crawl/admit", "http://a.example/\nno URL\n").body, "skip\nerror\n");
    assert_eq!(service.get("/v1/crawl/returned").body, "");
    // A fetch that failed says nothing, and its page is given to another URL.
    service.ndjson("/v1/crawl/observe", "{\"url\":\"http://a.example/\",\"status\":503}\n");
    assert_eq!(service.text("/v1/crawl/admit", "http://a.example/\n").body, "fetch\n");
}

#[test]
fn observations_are_also_read_from_archives() {
    let service = start();
    let page = "<html><title>One</title><p>Some words of a page that is only one.</p></html>";
    let http =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}", page.len());
    let warc = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/one\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    );
    let answer = service.post("/v1/crawl/observe", &warc, &[("content-type", "application/warc")]);
    assert_eq!(answer.body, "{\"observed\":1,\"refused\":0}\n");
    assert_eq!(
        service.text("/v1/crawl/admit", "http://a.example/one\nhttp://a.example/two\n").body,
        "skip\nfetch\n"
    );
    let refused =
        service.post("/v1/crawl/observe", "neither\0rows\nnor records\n", &[("content-type", "text/plain")]);
    assert_eq!(refused.status, 400, "{}", refused.body);
}

#[test]
fn a_server_without_a_live_crawl_says_so() {
    let service = Service::start();
    for path in ["/v1/crawl", "/v1/crawl/returned"] {
        let answer = service.get(path);
        assert!(answer.status == 501 && answer.body.contains("--live STATE"), "{}", answer.body);
    }
    assert_eq!(service.text("/v1/crawl/admit", "http://a.example/\n").status, 501);
}
