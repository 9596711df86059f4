/*!
Rules that change while they are served.
*/

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::service::{RULES, Service};

fn quick() -> Service {
    Service::with(|options| options.limits.reload = Duration::from_millis(1))
}

const LOADED: &str = "dedust_rules_loads_total";
const REFUSED: &str = "dedust_rules_refused_total";

/// Replaces the rule file as a whole, and waits until the server has `LOADED` or `REFUSED` it.
fn replace(service: &Service, text: &str, counter: &str) {
    let before = service.metric(counter);
    let beside = service.folder.path().join("beside");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(beside, service.rules()).unwrap();
    let has_looked = (0..1_000_000).any(|_| service.metric(counter) > before);
    assert!(has_looked);
}

#[test]
fn a_file_that_cannot_be_used_is_told_and_the_rules_before_it_are_kept() {
    let service = quick();
    let url = "http://a.example/p?sid=1\n";
    replace(&service, "{\"version\": 1, \"sites\": ", REFUSED);
    assert_eq!(service.text("/v1/keys", url).body, "http://a.example/p\n");
    assert_eq!(service.metric(REFUSED), 1);
    assert_eq!(service.metric("dedust_rules_stale"), 1);
    let told = service.events.lock().unwrap().iter().any(|event| {
        event.event == "rules_refused" && event.message.contains("rules.json") && event.remedy.is_some()
    });
    assert!(told, "{:?}", service.events.lock().unwrap());

    let served = || serde_json::from_str::<Value>(&service.get("/v1/rules").body).unwrap();
    let stale = served();
    assert_eq!((&stale["version"], &stale["rules"], &stale["stale"]), (&1.into(), &2.into(), &true.into()));

    replace(&service, r#"{"version": 1, "sites": {}}"#, LOADED);
    assert_eq!(service.text("/v1/keys", url).body, url);
    assert_eq!(service.metric("dedust_rules_stale"), 0);
    let empty = served();
    assert_eq!((&empty["version"], &empty["rules"], &empty["stale"]), (&2.into(), &0.into(), &false.into()));
    assert_ne!(empty["fingerprint"], stale["fingerprint"]);

    std::fs::remove_file(service.rules()).unwrap();
    replace(&service, RULES, LOADED);
    assert_eq!(service.text("/v1/keys", url).body, "http://a.example/p\n");
}

#[test]
fn rules_are_swapped_a_hundred_times_and_no_answer_is_torn() {
    let service = quick();
    let is_done = AtomicBool::new(false);
    let urls: String = (0..2000).map(|at| format!("http://a.example/p/{at}?sid={at}\n")).collect();
    let with: String = (0..2000).map(|at| format!("http://a.example/p/{at}\n")).collect();
    let counts: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let (mut changed, mut same) = (0, 0);
                    while !is_done.load(Ordering::Relaxed) {
                        let answer = service.text("/v1/normalize", &urls);
                        assert_eq!(answer.status, 200);
                        let is_changed = answer.body == with;
                        assert!(is_changed || answer.body == urls, "an answer of two rule sets");
                        changed += u64::from(is_changed);
                        same += u64::from(!is_changed);
                    }
                    (changed, same)
                })
            })
            .collect();
        for swap in 0..100 {
            replace(&service, if swap % 2 == 0 { r#"{"version": 1, "sites": {}}"# } else { RULES }, LOADED);
        }
        is_done.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(service.metric(LOADED), 101);
    assert!(counts.iter().all(|(changed, same)| changed + same > 0), "{counts:?}");
}
