/*!
Whether pages were seen, for several clients.
*/

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use dedust_serve::SeenLocation;
use dedust_test_server::redis::{Loss, LossyProxy, Redis};
use serde_json::Value;

use crate::service::Service;

fn with_set() -> Service {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("rules.json"), crate::service::RULES).unwrap();
    again(folder)
}

fn again(folder: Arc<tempfile::TempDir>) -> Service {
    let seen = folder.path().join("seen");
    Service::in_folder(folder, |options| options.seen = Some(SeenLocation::Folder(seen)))
}

#[test]
fn a_page_is_new_once() {
    let service = with_set();
    let urls = "http://a.example/p?sid=1\nhttp://a.example/p?sid=2\nhttp://a.example/q?sid=1\nno URL\n";
    assert_eq!(service.text("/v1/seen", urls).body, "new\nseen\nnew\nerror\n");
    assert_eq!(service.text("/v1/seen", urls).body, "seen\nseen\nseen\nerror\n");
    assert_eq!(service.metric("dedust_seen_keys"), 2);
    let folder = Arc::clone(&service.folder);
    service.stop().unwrap();
    let service = again(folder);
    assert_eq!(service.text("/v1/seen", urls).body, "seen\nseen\nseen\nerror\n", "also for the next server");
}

#[test]
fn a_url_with_the_key_of_its_own_redirect_is_no_duplicate() {
    let service = with_set();
    let rows = r#"{"url":"http://a.example/p?sid=1"}
{"url":"http://a.example/p","chain":["http://a.example/p?sid=1"]}
{"url":"http://a.example/p","chain":["http://a.example/other","no URL"]}
{"url":"http://a.example/new","chain":["http://a.example/new?sid=2"]}
"#;
    let answer = service.ndjson("/v1/seen", rows);
    let found: Vec<(bool, bool)> = answer
        .body
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| (line["new"].as_bool().unwrap(), line["duplicate"].as_bool().unwrap()))
        .collect();
    assert_eq!(found, [(true, false), (false, false), (false, true), (true, false)], "{}", answer.body);
}

/// Asks for the same pages by four clients at a time, those of `services` in turn, and says how often each page was new.
fn news(services: &[&Service]) -> HashMap<usize, u32> {
    let pages = 3000_usize;
    let found: Vec<Vec<(usize, String)>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4_usize)
            .map(|client| {
                let service = services[client % services.len()];
                scope.spawn(move || {
                    // All in different orders, and in batches of different lengths.
                    let step = [1, 7, 11, 13][client];
                    let pages: Vec<usize> = (0..pages).map(|at| (at * step + client * 500) % pages).collect();
                    let mut found = Vec::new();
                    for pages in pages.chunks(client * 40 + 1) {
                        let url = |page: &usize| format!("http://a.example/p/{page}?sid={client}\n");
                        let answer = service.text("/v1/seen", &pages.iter().map(url).collect::<String>());
                        let words = answer.body.lines().map(ToOwned::to_owned);
                        found.extend(pages.iter().copied().zip(words));
                    }
                    found
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut news: HashMap<usize, u32> = HashMap::new();
    for (page, word) in found.iter().flatten() {
        *news.entry(*page).or_default() += u32::from(word == "new");
    }
    assert_eq!(found.iter().flatten().count(), 4 * pages);
    assert_eq!(news.len(), pages);
    news
}

#[test]
fn two_clients_never_both_hear_that_a_page_is_new() {
    let news = news(&[&with_set()]);
    assert!(news.values().all(|news| *news == 1), "{news:?}");
}

#[test]
fn two_clients_of_two_servers_never_both_hear_that_a_page_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let [one, other] = [0; 2]
        .map(|_| Service::with(|options| options.seen = Some(SeenLocation::from(&*redis.set("crawl")))));
    let news = news(&[&one, &other]);
    assert!(news.values().all(|news| *news == 1), "{news:?}");
}

#[test]
fn without_a_set_the_answer_says_how_to_have_one() {
    let service = Service::start();
    let answer = service.text("/v1/seen", "http://a.example/\n");
    assert_eq!(answer.status, 501);
    assert!(answer.body.contains("--seen DIR"), "{}", answer.body);
}

#[test]
fn where_others_can_connect_adding_needs_the_token() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("rules.json"), crate::service::RULES).unwrap();
    let seen = folder.path().join("seen");
    let service = Service::in_folder(folder, |options| {
        options.seen = Some(SeenLocation::Folder(seen));
        options.public = true;
    });
    assert_eq!(service.text("/v1/seen", "http://a.example/").status, 401);
    assert_eq!(service.text("/v1/keys", "http://a.example/").status, 200, "reading does not");
    let token = format!("Bearer {}", service.token);
    let answer = service.post("/v1/seen", "http://a.example/", &[("authorization", &token)]);
    assert_eq!((answer.status, &*answer.body), (200, "new\n"));
}

/// A server whose set is on another one, which is waited for as shortly as can be.
fn sharing(address: &str) -> Service {
    Service::with(|options| {
        options.seen = Some(SeenLocation::from(address));
        options.seen_patience = Duration::from_millis(1);
    })
}

fn has_told(service: &Service, event: &str) -> bool {
    service.events.lock().unwrap().iter().any(|told| told.event == event)
}

#[test]
fn servers_that_share_a_set_say_new_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let [one, other] = [sharing(&redis.set("crawl")), sharing(&redis.set("crawl"))];
    let urls = "http://a.example/p?sid=1\nhttp://a.example/p?sid=2\nno URL\n";
    assert_eq!(one.text("/v1/seen", urls).body, "new\nseen\nerror\n");
    assert_eq!(other.text("/v1/seen", urls).body, "seen\nseen\nerror\n");
    assert_eq!(other.text("/v1/seen", "http://a.example/other\n").body, "new\n");
    let another = sharing(&redis.set("another"));
    assert_eq!(another.text("/v1/seen", urls).body, "new\nseen\nerror\n", "a set of its own");
}

#[test]
fn servers_agree_after_the_set_was_removed_under_them() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let remove = || {
        let mut client = TcpStream::connect(redis.address).unwrap();
        client.write_all(b"FLUSHALL\r\n").unwrap();
        let mut answer = [0; 5];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"+OK\r\n");
    };
    let seen =
        |service: &Service, page: u32| service.text("/v1/seen", &format!("http://a.example/{page}\n")).body;
    let one = sharing(&redis.set("crawl"));
    assert_eq!(seen(&one, 1), "new\n");
    remove();
    assert_eq!(seen(&one, 2), "new\n");
    assert!(has_told(&one, "seen_removed"));
    assert_eq!(seen(&sharing(&redis.set("crawl")), 2), "seen\n", "with the same secret");

    remove();
    let other = sharing(&redis.set("crawl"));
    assert_eq!(seen(&other, 3), "new\n");
    // It hears of the other secret with the answer to the first, and is told with the second.
    assert_eq!([seen(&one, 3), seen(&one, 4)], ["new\n", "new\n"], "rather twice than never");
    assert!(has_told(&one, "seen_unconfirmed") && has_told(&one, "seen_made_anew"));
    assert_eq!([seen(&one, 3), seen(&one, 5)], ["seen\n", "new\n"]);
    assert_eq!(seen(&other, 5), "seen\n");
}

#[test]
fn keys_of_each_rules_are_apart_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let [one, other] = [sharing(&redis.set("crawl")), sharing(&redis.set("crawl"))];
    assert_eq!(one.text("/v1/seen", "http://a.example/p\n").body, "new\n");
    assert_eq!(
        other.write("/v1/rules/a.example/decisions", r#"{"verb":"off","all":true,"by":"anna"}"#).status,
        200
    );
    assert_eq!(other.text("/v1/seen", "http://a.example/p\n").body, "new\n", "by other rules");
    assert!(has_told(&other, "seen_rules_changed"));
    assert_eq!(one.text("/v1/seen", "http://a.example/p?sid=2\n").body, "seen\n");
}

#[test]
fn a_set_whose_server_was_gone_is_used_again_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let Some(mut redis) = Redis::start(folder.path(), &options) else { return };
    let service = sharing(&redis.set("crawl"));
    assert_eq!(service.text("/v1/seen", "http://a.example/1\n").body, "new\n");
    redis.kill();
    assert_eq!(service.text("/v1/seen", "http://a.example/2\n").body, "new\n", "rather twice than never");
    assert!(has_told(&service, "seen_unconfirmed"));
    let answer = service.text("/v1/seen", "http://a.example/3\n");
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert!(has_told(&service, "seen_failed"));
    assert_eq!(service.text("/v1/keys", "http://a.example/3\n").status, 200, "all else is answered");
    redis.start_again();
    let urls = "http://a.example/1\nhttp://a.example/3\n";
    assert_eq!(service.text("/v1/seen", urls).body, "seen\nnew\n");
}

#[test]
fn an_answer_that_is_lost_on_the_way_is_said_to_be_new() {
    let folder = tempfile::tempdir().unwrap();
    let Some(redis) = Redis::start(folder.path(), &[]) else { return };
    let proxy = LossyProxy::start(redis.address);
    let service = Service::with(|options| {
        options.seen = Some(SeenLocation::from(&*format!("redis://{}/crawl", proxy.address)));
    });
    assert_eq!(service.text("/v1/seen", "http://a.example/1\n").body, "new\n");
    proxy.lose(Loss::Answer);
    assert_eq!(service.text("/v1/seen", "http://a.example/2\n").body, "new\n");
    assert!(has_told(&service, "seen_unconfirmed"));
    assert_eq!(service.text("/v1/seen", "http://a.example/2\nhttp://a.example/1\n").body, "seen\nseen\n");
}
