/*!
Starts the real server: what it prints, how it ends, and what is left when it is killed.
*/
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dedust_test_server::redis::Redis;

const RULES: &str = r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#;

/// A server that is killed when dropped.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(folder: &Path, more: &[&str]) -> Self {
        Self::run(folder, &[&["serve", "rules.json", "--listen", "127.0.0.1:0"], more].concat())
    }

    /// Starts the command with these arguments.
    fn run(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(
            dedust(folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(),
        )
    }

    /// A command that was started, when it listens.
    fn of(mut child: Child) -> Self {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("http://").and_then(|line| line.strip_suffix('/')).unwrap_or_default();
        let address = address.to_owned();
        if address.is_empty() {
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            panic!("{told}");
        }
        Self { child, address }
    }

    /// Ends it with a signal, and says how it ended and what it printed on standard error, if that was not closed.
    fn signal(mut self, signal: &str) -> (Option<i32>, String) {
        self.kill(signal);
        let mut told = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut told).unwrap();
        }
        (self.child.wait().unwrap().code(), told)
    }

    fn kill(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// The head of an answer to a request for a path.
    fn get(&self, path: &str) -> String {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        // A server that does not answer fails the test, which would wait for ever otherwise.
        connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(connection, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn dedust(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedust"));
    command.current_dir(folder).env_remove("DEDUST_TOKEN");
    command
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rules.json"), RULES).unwrap();
    folder
}

/// The whole lines of an answer that have come, all of them or not; `None` if there was none. Asks by HTTP 1.0, in which the answer ends
/// with the connection and has no chunks.
fn post(address: &str, path: &str, body: &str) -> Option<Vec<String>> {
    let mut connection = TcpStream::connect(address).ok()?;
    write!(
        connection,
        "POST {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.0 200 "), "{answer}");
    let whole = body.rfind('\n').map_or("", |end| &body[..end]);
    Some(whole.lines().map(ToOwned::to_owned).collect())
}

#[test]
fn an_acknowledged_page_survives_kill_9() {
    const BATCH: usize = 50;
    let folder = folder();
    let next = AtomicUsize::new(0);
    let mut acknowledged: Vec<usize> = Vec::new();
    for round in 0..4_u64 {
        let mut running = Running::start(folder.path(), &["--seen", "seen", "-q"]);
        // When it is killed is left to chance.
        let enough = acknowledged.len() + RandomState::new().hash_one(round) as usize % 4000;
        let count = AtomicUsize::new(acknowledged.len());
        let address = running.address.clone();
        let found: Vec<usize> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut found = Vec::new();
                        loop {
                            let first = next.fetch_add(BATCH, Ordering::Relaxed);
                            let url = |page: usize| format!("http://a.example/p/{page}?sid={page}\n");
                            let lines: String = (first..first + BATCH).map(url).collect();
                            let Some(answers) = post(&address, "/v1/seen", &lines) else { return found };
                            assert!(
                                answers.iter().all(|answer| answer == "new"),
                                "each page is asked for once"
                            );
                            found.extend(first..first + answers.len());
                            count.fetch_add(answers.len(), Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            while count.load(Ordering::Relaxed) < enough {
                std::thread::yield_now();
            }
            // SIGKILL.
            running.child.kill().unwrap();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        });
        running.child.wait().unwrap();
        acknowledged.extend(found);
    }
    let running = Running::start(folder.path(), &["--seen", "seen", "-q"]);
    let lines: String = acknowledged.iter().map(|page| format!("http://a.example/p/{page}\n")).collect();
    let answers = post(&running.address, "/v1/seen", &lines).unwrap();
    assert_eq!(answers.len(), acknowledged.len());
    let lost = answers.iter().filter(|answer| *answer != "seen").count();
    assert_eq!(lost, 0, "of {}", acknowledged.len());
    assert_eq!(post(&running.address, "/v1/seen", "http://a.example/q\n").unwrap(), ["new"]);
}

#[test]
fn the_answer_is_that_of_the_command() {
    let folder = folder();
    let urls: String = (0..500)
        .map(|at| format!("http://a.example/p/{at}?sid={at}&id=1\nhttp://b.example/?sid={at}\n"))
        .collect();
    std::fs::write(folder.path().join("urls.txt"), &urls).unwrap();
    let running = Running::start(folder.path(), &[]);
    for (path, option) in [("/v1/normalize", None), ("/v1/keys", Some("--key"))] {
        let printed = dedust(folder.path())
            .args(["normalize", "rules.json", "urls.txt"])
            .args(option)
            .output()
            .unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        let answers = post(&running.address, path, &urls).unwrap();
        assert!(answers.iter().map(String::as_str).eq(printed.lines()), "{path}");
    }
}

#[test]
fn the_command_and_the_server_share_a_set() {
    let folder = folder();
    let in_redis = tempfile::tempdir().unwrap();
    let redis = Redis::start(in_redis.path(), &[]);
    let on_server = redis.as_ref().map(|redis| redis.set("crawl"));
    std::fs::write(
        folder.path().join("urls.txt"),
        "http://a.example/1?sid=2\nhttp://a.example/2\nhttp://b.example/\n",
    )
    .unwrap();
    for set in ["seen"].into_iter().chain(on_server.as_deref()) {
        let running = Running::start(folder.path(), &["--seen", set]);
        let answers = post(&running.address, "/v1/seen", "http://a.example/1?sid=1\nhttp://b.example/\n");
        assert_eq!(answers.unwrap(), ["new", "new"], "{set}");
        // A folder is of one process at a time.
        assert_eq!(running.signal("-TERM").0, Some(0));
        let dedup = |more: &[&str]| {
            let mut command = dedust(folder.path());
            command.args(["dedup", "rules.json", "urls.txt", "--seen", set]).args(more);
            let output = command.output().unwrap();
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
        };
        assert_eq!(dedup(&[]), ("http://a.example/2\n".into(), String::new()), "{set}");
        // There are no mirrors in the rules that could be trusted.
        assert_eq!(dedup(&["--trust-mirrors"]), (String::new(), String::new()), "{set}");
        let running = Running::start(folder.path(), &["--seen", set]);
        assert_eq!(post(&running.address, "/v1/seen", "http://a.example/2\n").unwrap(), ["seen"], "{set}");
        let (_, told) = running.signal("-TERM");
        assert!(!told.contains("other rules") && !told.contains("rules have changed"), "{told}");
    }
}

#[test]
fn a_signal_stops_it_in_order() {
    let folder = folder();
    let running = Running::start(folder.path(), &["--seen", "seen"]);
    assert_eq!(post(&running.address, "/v1/seen", "http://a.example/\n").unwrap(), ["new"]);
    let (code, told) = running.signal("-TERM");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("token for changes: ") && told.contains("has stopped"), "{told}");
    let running = Running::start(folder.path(), &["--log", "json"]);
    let (code, told) = running.signal("-INT");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.lines().any(|line| line.contains(r#""level":"note","event":"rules_loaded","#)), "{told}");
}

#[test]
fn requests_are_answered_when_nobody_reads_the_log() {
    const REQUESTS: usize = 200;
    let folder = folder();
    // Four megabytes of log, of which a pipe takes 64 KiB and the queue two megabytes.
    let path = format!("/{}", "x".repeat(20_000));
    let ask = |running: &Running| {
        for _ in 0..REQUESTS {
            assert!(running.get(&path).starts_with("HTTP/1.0 404 "));
        }
    };
    let mut running = Running::start(folder.path(), &["-v"]);
    ask(&running);
    let mut log = BufReader::new(running.child.stderr.take().unwrap());
    let (mut written, mut dropped) = (0, 0);
    while written + dropped < REQUESTS {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "{written} written, {dropped} dropped");
        written += usize::from(line.contains(" GET /xxx"));
        if let Some((number, _)) = line.split_once(" messages were dropped") {
            dropped += number.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
        }
    }
    assert_eq!(written + dropped, REQUESTS);
    assert!(dropped > 0 && written > 0, "{written} written, {dropped} dropped");
    running.child.stderr = Some(log.into_inner());
    let (code, told) = running.signal("-TERM");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("has stopped"), "{told}");

    // It ends without a reader, too.
    let mut running = Running::start(folder.path(), &["-v"]);
    ask(&running);
    running.kill("-TERM");
    assert_eq!(running.child.wait().unwrap().code(), Some(0));

    // Closed: there is nobody to tell.
    let mut running = Running::start(folder.path(), &["-v"]);
    drop(running.child.stderr.take());
    ask(&running);
    assert_eq!(running.signal("-TERM").0, Some(0));
}

#[test]
fn a_log_in_json_has_an_object_in_each_line() {
    let objects = |log: &str| -> Vec<serde_json::Value> {
        let object = |line: &str| {
            assert!(!line.chars().any(char::is_control), "{line:?}");
            let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
            assert!(value["time"].is_string() && value["level"].is_string(), "{line}");
            value
        };
        log.lines().map(object).collect()
    };
    let folder = folder();
    let child = dedust(folder.path())
        .args(["serve", "rules.json", "--listen", "127.0.0.1:0", "--log", "json", "-v"])
        .env("DEDUST_TOKEN", "0123456789abcdef")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let running = Running::of(child);
    // A name that would end the line, or command a terminal.
    let decision = r#"{"verb":"off","all":true,"by":"a\nwarning: \u009b31m\u001b[31m\u007f"}"#;
    let mut connection = TcpStream::connect(&running.address).unwrap();
    write!(
        connection,
        "POST /v1/rules/a.example/decisions HTTP/1.0\r\nHost: localhost\r\n\
         Authorization: Bearer 0123456789abcdef\r\nContent-Length: {}\r\n\r\n{decision}",
        decision.len()
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    let (code, log) = running.signal("-TERM");
    assert_eq!(code, Some(0), "{log}");
    let events: Vec<_> =
        objects(&log).iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
    for expected in ["token", "rules_loaded", "decided", "request", "stopped"] {
        assert!(events.iter().any(|event| event == expected), "{expected} in {log}");
    }
    let output =
        dedust(folder.path()).args(["serve", "missing.json", "--log", "json", "-q"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = objects(&String::from_utf8(output.stderr).unwrap());
    let [failure] = &*told else { panic!("{told:?}") };
    assert_eq!((&failure["level"], &failure["event"]), (&"error".into(), &"failed".into()));
    assert!(failure["message"].as_str().unwrap().contains("missing.json"), "{failure}");
    assert!(failure["remedy"].is_string(), "{failure}");
}

#[test]
fn what_is_wrong_is_said_with_a_remedy() {
    let folder = folder();
    let running = Running::start(folder.path(), &[]);
    let told = |arguments: &[&str]| {
        let output = dedust(folder.path()).arg("serve").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let text = told(&["rules.json", "--listen", &running.address]);
    assert!(text.contains(&format!("cannot listen on {}", running.address)), "{text}");
    assert!(text.contains("hint: another program listens there"), "{text}");
    let text = told(&["rules.json", "--listen", "192.0.2.1:7007"]);
    assert!(
        text.contains("192.0.2.1:7007 can be reached from other machines") && text.contains("--public"),
        "{text}"
    );
    let text = told(&["rules.json", "--seen", "redis://user:secret@127.0.0.1/crawl", "--sync"]);
    assert!(
        text.contains("redis://127.0.0.1:6379/crawl is a server") && text.contains("appendfsync"),
        "{text}"
    );
    // Nobody listens there.
    let nobody = ["--seen", "redis://user:secret@127.0.0.1:1/crawl", "--patience", "0s"];
    let text = told(&[&["rules.json", "--listen", "127.0.0.1:0"], &nobody[..]].concat());
    assert!(
        text.contains("redis://127.0.0.1:1/crawl") && text.contains("hint: check host and port"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
    let text = told(&["missing.json", "--listen", "127.0.0.1:0"]);
    assert!(text.contains("missing.json") && text.contains("hint: "), "{text}");
    std::fs::write(folder.path().join("broken.json"), "{").unwrap();
    let text = told(&["broken.json", "--listen", "127.0.0.1:0"]);
    assert!(text.contains("cannot use the rules in broken.json") && text.contains("hint: "), "{text}");
}

/// The command of a file in `docs/service`, with paths in the folder of the test and a free port of the loopback interface.
fn documented(file: &str, start: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/service").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(start)).unwrap();
    let words =
        line.split(|c: char| c.is_whitespace() || "[],\"".contains(c)).filter(|word| !word.is_empty());
    let mut words = words.map(|word| match word {
        "0.0.0.0:7007" | "127.0.0.1:7007" => "127.0.0.1:0".to_owned(),
        word if word.ends_with("/rules.json") => "rules.json".to_owned(),
        word if word.ends_with("/seen") => "seen".to_owned(),
        word => word.to_owned(),
    });
    assert_eq!(words.next().as_deref(), Some("/usr/bin/dedust"), "where packages and images have it");
    words.collect()
}

#[test]
fn documented_services_start_and_answer() {
    for (file, start) in [("dedust.service", "ExecStart="), ("Containerfile", "ENTRYPOINT ")] {
        let folder = folder();
        let arguments = documented(file, start);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let running = Running::run(folder.path(), &arguments);
        let mut connection = TcpStream::connect(&running.address).unwrap();
        connection.write_all(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.0 200 ") && answer.ends_with("\r\n\r\nok\n"), "{answer}");
        assert!(folder.path().join("seen/SEEN").is_file(), "{file}");
        let (code, told) = running.signal("-TERM");
        assert_eq!(code, Some(0), "{told}");
    }
}
