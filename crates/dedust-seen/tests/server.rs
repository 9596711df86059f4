/*!
A set that processes share, on a real `redis-server`: what it answers, what it loses, how sessions end, and what it refuses.

Skipped, and that is said, where there is no `redis-server`.
*/
#![cfg(all(unix, feature = "redis"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::Duration;

use dedust_seen::server::{SeenServer, ServerError};
use dedust_seen::{SeenError, SeenKey, SeenOptions, SeenSet};
use dedust_test_server::redis::{Loss, LossyProxy, Redis};
use redis::Connection;

fn server(options: &[&str]) -> Option<(tempfile::TempDir, Redis)> {
    let folder = tempfile::tempdir().unwrap();
    let redis = Redis::start(folder.path(), options)?;
    Some((folder, redis))
}

fn client(redis: &Redis) -> Connection {
    redis::Client::open(format!("redis://{}", redis.address)).unwrap().get_connection().unwrap()
}

fn ask(set: &mut SeenSet, numbers: impl IntoIterator<Item = u64>) -> Vec<bool> {
    let hasher = set.hasher();
    let keys: Vec<SeenKey> = numbers.into_iter().map(|number| hasher.hash(&number.to_le_bytes())).collect();
    let mut is_new = Vec::new();
    set.insert_batch(&keys, &mut is_new).unwrap();
    is_new
}

/// In a session of this name.
fn session(name: &str) -> SeenOptions {
    SeenSet::options().session(name)
}

/// Why a set cannot be used; the address that the message has.
fn refused(error: SeenError) -> (ServerError, String) {
    match error {
        SeenError::Server { address, source } => (source, address),
        other => panic!("{other}"),
    }
}

/// What a set that has no answers any more says: the key is new, and the next one is an error.
fn failure_of(mut set: SeenSet) -> ServerError {
    let (before, key) = (set.stats().unconfirmed_keys, set.hasher().hash(b"without an answer"));
    assert!(set.insert(key).unwrap());
    assert_eq!(set.stats().unconfirmed_keys, before + 1);
    let (error, _) = refused(set.insert(key).unwrap_err());
    assert!(matches!(set.insert(key), Err(SeenError::Failed)));
    error
}

#[test]
fn processes_see_what_others_have_seen() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let (mut one, mut other) =
        (SeenSet::connect(&redis.set("crawl")).unwrap(), SeenSet::connect(&redis.set("crawl")).unwrap());
    assert_eq!(ask(&mut one, [1, 2, 1, 3]), [true, true, false, true]);
    assert_eq!(ask(&mut other, [3, 4, 4]), [false, true, false]);
    assert_eq!(ask(&mut one, [1, 4, 5]), [false, false, true]);
    let stats = one.stats();
    assert_eq!((stats.keys, stats.new_keys, stats.lookups), (5, 4, 7));
    // What it has heard of, it does not ask for again.
    assert_eq!((stats.asked_keys, stats.unconfirmed_keys), (5, 0));
    assert_eq!(ask(&mut one, 0..20_000).iter().filter(|&&is_new| is_new).count(), 19_995);
    assert!(ask(&mut other, 0..20_000).iter().all(|&is_new| !is_new));

    // Another prefix is another set, with another secret.
    let mut apart = SeenSet::connect(&redis.set("other")).unwrap();
    assert_ne!(apart.hasher().hash(b"key"), one.hasher().hash(b"key"));
    assert_eq!(ask(&mut apart, [1]), [true]);
}

#[test]
fn a_small_filter_changes_no_answer() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let mut set = SeenSet::options().recent_keys(10).connect(&redis.set("crawl")).unwrap();
    for _ in 0..3 {
        ask(&mut set, 0..1000);
    }
    assert_eq!((set.stats().new_keys, set.stats().keys), (1000, 1000));
    assert!(set.stats().asked_keys > 2000);
}

#[test]
fn a_lost_request_is_sent_again_and_answered_as_if_nothing_had_happened() {
    let Some((_folder, redis)) = server(&[]) else { return };
    ask(&mut SeenSet::connect(&redis.set("crawl")).unwrap(), [2]);
    let proxy = LossyProxy::start(redis.address);
    for options in [SeenSet::options(), session("a")] {
        let mut set = options.connect(&format!("redis://{}/crawl", proxy.address)).unwrap();
        assert_eq!(ask(&mut set, [2]), [false]);
        proxy.lose(Loss::Request);
        assert_eq!(ask(&mut set, [1, 2, 1]), [true, false, false]);
        assert_eq!((set.stats().reconnects, set.stats().unconfirmed_keys), (1, 0));
        redis::cmd("FLUSHALL").query::<()>(&mut client(&redis)).unwrap();
        ask(&mut SeenSet::connect(&redis.set("crawl")).unwrap(), [2]);
    }
}

#[test]
fn keys_whose_answer_is_lost_are_new_and_counted() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let mut other = SeenSet::connect(&redis.set("crawl")).unwrap();
    ask(&mut other, [1, 2]);
    let proxy = LossyProxy::start(redis.address);
    let mut set = SeenSet::connect(&format!("redis://{}/crawl", proxy.address)).unwrap();
    assert_eq!(ask(&mut set, [1]), [false]);
    proxy.lose(Loss::Answer);
    // 1 is known here. Nobody knows of 2 and 3 whether they were new, so no page of theirs may be lost.
    assert_eq!(ask(&mut set, [1, 2, 3]), [false, true, true]);
    assert_eq!((set.stats().reconnects, set.stats().unconfirmed_keys, set.stats().new_keys), (1, 2, 2));
    assert_eq!(ask(&mut set, [2, 3]), [false, false]);
    assert_eq!(ask(&mut other, [3]), [false]);
}

#[test]
fn a_cancelled_session_hides_nothing_and_a_committed_one_all() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let address = redis.set("crawl");
    let mut outside = SeenSet::connect(&address).unwrap();
    assert_eq!(ask(&mut outside, [1]), [true]);
    let mut cancelled = session("november").connect(&address).unwrap();
    let mut its_other_process = session("november").connect(&address).unwrap();
    let mut committed = session("december").connect(&address).unwrap();

    assert_eq!(ask(&mut cancelled, [1, 2]), [false, true]);
    assert_eq!(ask(&mut its_other_process, [2, 3]), [false, true]);
    // Sessions do not see each other, so that none can hide what another will find.
    assert_eq!(ask(&mut committed, [2, 4]), [true, true]);
    // The server has 1 once.
    assert_eq!((cancelled.stats().keys, committed.stats().keys), (2, 3));

    assert_eq!(cancelled.cancel().unwrap(), 2);
    assert_eq!(committed.commit().unwrap(), 2);
    assert_eq!(ask(&mut outside, [2, 3, 4]), [false, true, false]);
    let mut again = session("november").connect(&address).unwrap();
    assert_eq!(ask(&mut again, [2, 5]), [false, true]);

    assert_eq!(SeenSet::connect(&address).unwrap().commit().unwrap(), 0);
    let error = SeenSet::connect(&address).unwrap().cancel().unwrap_err();
    assert!(matches!(error, SeenError::NoSession), "{error}");
}

#[test]
fn a_session_whose_process_died_can_be_ended_by_others_or_ends_by_itself() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let address = redis.set("crawl");
    for (name, rules) in [("a", 1), ("a", 2), ("b", 2)] {
        ask(&mut session(name).rules(rules).connect(&address).unwrap(), 0..10_000);
    }
    let left: i64 =
        redis::cmd("TTL").arg(format!("crawl:{:032x}:session:a", 1)).query(&mut client(&redis)).unwrap();
    assert!((1..=7 * 24 * 60 * 60).contains(&left), "{left}");

    let mut admin = SeenServer::connect(&address, &SeenSet::options()).unwrap();
    let open: Vec<(u64, usize, bool)> = admin
        .versions()
        .unwrap()
        .iter()
        .map(|version| (version.keys, version.sessions.len(), version.is_last))
        .collect();
    assert_eq!(open, [(0, 1, false), (0, 2, true)]);
    assert_eq!(admin.commit("a").unwrap(), 20_000);
    assert_eq!(admin.cancel("b").unwrap(), 10_000);
    let (error, _) = refused(admin.commit("b").unwrap_err());
    assert!(matches!(error, ServerError::NoSession { .. }), "{error}");
    let versions = admin.versions().unwrap();
    assert_eq!(versions.iter().map(|version| version.keys).collect::<Vec<_>>(), [10_000, 10_000]);
    assert!(versions.iter().all(|version| version.sessions.is_empty()));

    assert_eq!(admin.forget(&versions[0].rules).unwrap(), 10_000);
    assert_eq!(admin.versions().unwrap().len(), 1);
    assert_eq!(ask(&mut SeenSet::options().rules(1).connect(&address).unwrap(), [7]), [true]);
    assert_eq!(ask(&mut SeenSet::options().rules(2).connect(&address).unwrap(), [7]), [false]);
}

#[test]
fn keys_of_other_rules_are_apart() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let connect = |rules| SeenSet::options().rules(rules).connect(&redis.set("crawl")).unwrap();
    let mut old = connect(7);
    assert_eq!((ask(&mut old, [1]), old.stats().rules_changed), (vec![true], false));
    assert!(!connect(7).stats().rules_changed);
    let mut new = connect(8);
    assert!(new.stats().rules_changed);
    assert_eq!((new.stats().keys, ask(&mut new, [1, 2])), (0, vec![true, true]));
    // A process that still has the old rules is not disturbed.
    assert_eq!(ask(&mut old, [1, 2]), [false, true]);
    // One that gets the new rules while it runs sees what others saw with them.
    assert_eq!(ask(&mut old, [3]), [true]);
    assert!(!old.note_rules(8).unwrap());
    assert_eq!(ask(&mut old, [1, 2, 3]), [false, false, true]);
}

#[test]
fn keys_are_forgotten_after_their_time() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let day = Duration::from_secs(24 * 60 * 60);
    let address = redis.set("crawl");
    let mut set = SeenSet::options().ttl(day).connect(&address).unwrap();
    assert_eq!(ask(&mut set, [1]), [true]);
    // Whoever does not say for how long takes what there is.
    assert_eq!(ask(&mut SeenSet::connect(&address).unwrap(), [1, 2]), [false, true]);
    let mut in_session = session("a").connect(&address).unwrap();
    assert_eq!(ask(&mut in_session, [2, 3]), [false, true]);
    in_session.commit().unwrap();

    let mut client = client(&redis);
    let names: Vec<String> = redis::cmd("KEYS").arg("crawl:no-rules:keys*").query(&mut client).unwrap();
    assert!(!names.is_empty());
    for name in &names {
        let left: u64 = redis::cmd("TTL").arg(name).query(&mut client).unwrap();
        assert!((day.as_secs() * 3 / 2..=day.as_secs() * 2).contains(&left), "{name}: {left}");
    }
    redis::cmd("UNLINK").arg(&names).query::<()>(&mut client).unwrap();
    assert_eq!(ask(&mut SeenSet::connect(&address).unwrap(), [1, 2, 3]), [true, true, true]);

    let (error, _) = refused(SeenSet::options().ttl(2 * day).connect(&address).unwrap_err());
    assert_eq!(error.to_string(), "the set was made to remember keys for 86400 s, not for 172800 s");
}

#[test]
fn a_server_that_lost_its_memory_gets_the_secret_back() {
    let Some((_folder, mut redis)) = server(&[]) else { return };
    let address = redis.set("crawl");
    let mut set = SeenSet::connect(&address).unwrap();
    assert_eq!(ask(&mut set, [1, 2]), [true, true]);
    redis.kill();
    redis.start_again();
    // What this process knows stays known; what the server forgot is new once more for others.
    assert_eq!(ask(&mut set, [1, 3]), [false, true]);
    let mut other = SeenSet::connect(&address).unwrap();
    assert_eq!(other.hasher().hash(b"key"), set.hasher().hash(b"key"));
    assert_eq!(ask(&mut other, [1, 3]), [true, false]);

    // Two secrets would hide nothing, but let everything through twice for ever.
    let mut client = client(&redis);
    redis::cmd("FLUSHALL").query::<()>(&mut client).unwrap();
    ask(&mut SeenSet::connect(&address).unwrap(), [1]);
    redis::cmd("CLIENT")
        .arg("KILL")
        .arg("TYPE")
        .arg("normal")
        .arg("SKIPME")
        .arg("yes")
        .query::<()>(&mut client)
        .unwrap();
    assert!(matches!(failure_of(set), ServerError::MadeAnew));
}

#[test]
fn processes_agree_on_one_secret_after_the_set_was_removed_under_them() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let address = redis.set("crawl");
    let mut client = client(&redis);
    let mut remove = || redis::cmd("FLUSHALL").query::<()>(&mut client).unwrap();
    for options in [SeenSet::options(), session("a")] {
        // Its connection stays open, and it is the first to ask: the set is made again with its secret.
        let mut old = options.connect(&address).unwrap();
        assert_eq!(ask(&mut old, [1]), [true]);
        remove();
        assert_eq!((ask(&mut old, [2]), old.stats().removals), (vec![true], 1));
        let mut other = options.connect(&address).unwrap();
        assert_eq!(ask(&mut other, [2, 3]), [false, true]);
        assert_eq!((ask(&mut old, [3, 4]), old.stats().removals), (vec![false, true], 1));
        assert_eq!(SeenServer::connect(&address, &options).unwrap().versions().unwrap().len(), 1);

        // Another one is the first, with another secret: those of the old one end, and hide nothing.
        remove();
        let mut new = options.connect(&address).unwrap();
        assert_eq!(ask(&mut new, [5]), [true]);
        assert!(matches!(failure_of(old), ServerError::MadeAnew));
        assert!(matches!(failure_of(other), ServerError::MadeAnew));
        assert_eq!(ask(&mut new, [2, 5]), [true, false]);
        assert_eq!(new.stats().removals, 0);
        remove();
    }
}

#[test]
fn a_session_whose_set_was_removed_does_not_end_another_of_its_name() {
    let Some((_folder, redis)) = server(&[]) else { return };
    let address = redis.set("crawl");
    let [mut commits, mut cancels] = [0; 2].map(|_| session("a").connect(&address).unwrap());
    ask(&mut commits, [1]);
    ask(&mut cancels, [2]);
    redis::cmd("FLUSHALL").query::<()>(&mut client(&redis)).unwrap();
    let mut new = session("a").connect(&address).unwrap();
    assert_eq!(ask(&mut new, [1, 2]), [true, true]);
    for error in [commits.commit().unwrap_err(), cancels.cancel().unwrap_err()] {
        assert!(matches!(refused(error).0, ServerError::MadeAnew));
    }
    assert_eq!(new.commit().unwrap(), 2);
}

#[test]
fn the_first_connection_is_tried_again_too() {
    let Some((_folder, mut redis)) = server(&[]) else { return };
    let proxy = LossyProxy::start(redis.address);
    proxy.lose(Loss::Request);
    let mut set = SeenSet::connect(&format!("redis://{}/crawl", proxy.address)).unwrap();
    assert_eq!((ask(&mut set, [1]), set.stats().reconnects), (vec![true], 0));

    redis.kill();
    let listener = TcpListener::bind(redis.address).unwrap();
    let address = redis.set("crawl");
    let connecting = thread::spawn(move || SeenSet::connect(&address));
    // It has tried once when the server is started.
    drop(listener.accept().unwrap());
    drop(listener);
    redis.start_again();
    assert_eq!(ask(&mut connecting.join().unwrap().unwrap(), [1]), [true]);
}

#[test]
fn what_cannot_be_used_is_refused_without_naming_the_password() {
    let Some((_folder, redis)) = server(&["--requirepass", "open sesame"]) else { return };
    let mut client = redis::Client::open(format!("redis://:open%20sesame@{}", redis.address))
        .and_then(|client| client.get_connection())
        .unwrap();
    let with = |user: &str, prefix: &str| format!("redis://{user}@{}/{prefix}", redis.address);
    let shown = |prefix: &str| redis.set(prefix);
    let expect = |address: &str, shown: &str, problem: &str| {
        let (error, address) = refused(SeenSet::connect(address).unwrap_err());
        assert_eq!((error.to_string().as_str(), address.as_str()), (problem, shown));
    };

    let mut set = SeenSet::connect(&with(":open%20sesame", "crawl")).unwrap();
    assert_eq!(ask(&mut set, [1]), [true]);
    let wrong = "the server refuses the user name or password of the address";
    expect(&with(":close", "crawl"), &shown("crawl"), wrong);
    expect(&with("user:open%20sesame", "crawl"), &shown("crawl"), wrong);
    expect(&shown("crawl"), &shown("crawl"), "the server asks for a password, and the address has none");

    redis::cmd("RPUSH").arg("list:set").arg("a").query::<()>(&mut client).unwrap();
    let kind = "a key of the server that starts with the prefix holds something that is not of a set";
    expect(&with(":open%20sesame", "list"), &shown("list"), kind);
    redis::cmd("SET").arg("text:no-rules:keys").arg("a").query::<()>(&mut client).unwrap();
    expect(&with(":open%20sesame", "text"), &shown("text"), kind);
    redis::cmd("SET").arg("foreign:set").arg("something else\nsecret").query::<()>(&mut client).unwrap();
    let foreign = "what the server has there is no set of seen keys of a format that this release reads: \"something else\"";
    expect(&with(":open%20sesame", "foreign"), &shown("foreign"), foreign);

    redis::cmd("ACL")
        .arg(&[
            "SETUSER",
            "crawler",
            "on",
            ">pass",
            "~crawl:*",
            "+@read",
            "+@write",
            "+@transaction",
            "+@connection",
        ])
        .query::<()>(&mut client)
        .unwrap();
    assert_eq!(ask(&mut SeenSet::connect(&with("crawler:pass", "crawl")).unwrap(), [1, 2]), [false, true]);
    let (error, _) = refused(SeenSet::connect(&with("crawler:pass", "other")).unwrap_err());
    assert!(matches!(error, ServerError::NotAllowed { .. }), "{error}");

    redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1mb").query::<()>(&mut client).unwrap();
    assert!(matches!(failure_of(set), ServerError::Full));
    let error = session("a b").connect(&with(":open%20sesame", "crawl")).unwrap_err();
    assert!(matches!(refused(error).0, ServerError::SessionName { .. }));
}

#[test]
fn a_server_that_goes_away_is_waited_for_and_then_told() {
    let Some((_folder, mut redis)) = server(&[]) else { return };
    let address = redis.set("crawl");
    let mut set = SeenSet::options().patience(Duration::from_millis(300)).connect(&address).unwrap();
    assert_eq!(ask(&mut set, [1]), [true]);
    redis.kill();
    // All that was asked for in one call is let through, and what is known to be seen is not.
    let is_new = ask(&mut set, 1..10_000);
    assert_eq!(is_new.iter().filter(|&&is_new| is_new).count(), 9_998);
    let (error, _) = refused(set.close().unwrap_err());
    assert!(error.to_string().starts_with("the server has not answered for"), "{error}");
    let impatient = SeenSet::options().first_patience(Duration::ZERO);
    let error = impatient.connect(&address).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot use the set of seen keys at {address}"));
    assert!(error.may_pass());
    let (error, _) = refused(error);
    assert!(matches!(error, ServerError::Connect { .. }), "{error}");

    // A web server answers, but not as Redis does.
    let web = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = web.local_addr().unwrap();
    let answering = thread::spawn(move || {
        let (mut client, _) = web.accept().unwrap();
        client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        client
    });
    let error = SeenSet::connect(&format!("redis://{address}/crawl")).unwrap_err();
    assert!(!error.may_pass());
    assert!(matches!(refused(error).0, ServerError::Malformed));
    answering.join().unwrap();
}
