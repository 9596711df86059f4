/*!
`dedup --seen redis://...` and `dedust seen` with a real `redis-server` on loopback: what is printed, and what people are told.

Skipped, and that is said, where there is no `redis-server`; the test of TLS also where it knows no TLS, or `openssl` is missing.
*/

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use dedust_test_server::redis::Redis;

/// Rules in which `sid` does not matter.
const RULES: &str = r#"{"version": 1, "method": "by hand", "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#;
/// Others.
const OTHER_RULES: &str = r#"{"version": 1, "method": "by hand", "sites": {"a.example": {"rules": [{"change": [{"drop": "q.ref"}]}]}}}"#;

/// What a command ended with, printed and said.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

struct Sandbox {
    folder: tempfile::TempDir,
    redis: Redis,
}

impl Sandbox {
    fn start(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let redis = Redis::start(folder.path(), options)?;
        fs::write(folder.path().join("rules.json"), RULES).unwrap();
        fs::write(folder.path().join("other.json"), OTHER_RULES).unwrap();
        Some(Self { folder, redis })
    }

    fn run(&self, args: &[&str], input: &str) -> Ran {
        run(self.folder.path(), args, input, &[])
    }

    /// Prints new URLs of the input.
    fn dedup(&self, args: &[&str], input: &str) -> Ran {
        let ran = self.run(&[&["dedup", "rules.json"], args].concat(), input);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran
    }
}

fn names_in(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn run(folder: &Path, args: &[&str], input: &str, environment: &[(&str, &str)]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dedust"))
        .args(args)
        .current_dir(folder)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its options does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn one_process_does_not_print_what_another_has_printed() {
    let Some(sandbox) = Sandbox::start(&[]) else { return };
    let set = sandbox.redis.set("crawl");
    let seen = ["--seen", &set, "--stats", "--format", "json"];
    let first = sandbox.dedup(
        &seen,
        "http://a.example/?id=1&sid=1\nhttp://a.example/?id=1&sid=2\nhttp://b.example/?sid=1\n",
    );
    assert_eq!(
        first.out,
        "{\"type\":\"url\",\"input\":\"http://a.example/?id=1&sid=1\",\"key\":\"http://a.example/?id=1\"}\n\
         {\"type\":\"url\",\"input\":\"http://b.example/?sid=1\",\"key\":\"http://b.example/?sid=1\"}\n\
         {\"type\":\"stats\",\"lines\":3,\"urls\":3,\"new\":2,\"bad\":0,\"other_schemes\":0,\"seen\":2,\"asked\":2,\
         \"unconfirmed\":0,\"reconnects\":0}\n"
    );
    // On b.example nothing is known of `sid`, so another one is another page.
    let second = sandbox.dedup(
        &seen[..2],
        "http://a.example/?id=1&sid=3\nhttp://b.example/?sid=1\nhttp://b.example/?sid=2\n",
    );
    assert_eq!((second.out.as_str(), second.err.as_str()), ("http://b.example/?sid=2\n", ""));
}

#[test]
fn sessions_end_by_commit_or_cancel() {
    let Some(sandbox) = Sandbox::start(&[]) else { return };
    let set = sandbox.redis.set("crawl");
    let url = "http://a.example/?id=1\n";
    let session = ["--seen", &set, "--session", "november"];
    let ran = sandbox.dedup(&session, url);
    assert_eq!(ran.out, url);
    assert!(ran.err.contains("session november stays open"), "{}", ran.err);
    assert_eq!(sandbox.dedup(&session, url).out, "");

    let listed = sandbox.run(&["seen", "list", &set], "");
    assert!(listed.out.ends_with(": 0 keys, used last\n  session november: 1 key, open\n"), "{}", listed.out);
    let ran = sandbox.run(&["seen", "cancel", &set, "november"], "");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(0), &*format!("session november cancelled at {set}: 1 key\n"))
    );
    assert_eq!(sandbox.dedup(&session, url).out, url);
    let ran = sandbox.run(&["seen", "commit", &set, "november", "--format", "json"], "");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "{\"type\":\"done\",\"verb\":\"commit\",\"keys\":1}\n")
    );
    assert_eq!(sandbox.dedup(&["--seen", &set], url).out, "");

    let ran = sandbox.run(&["seen", "commit", &set, "november"], "");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no session \"november\" is open there"), "{}", ran.err);
    assert!(ran.err.contains("dedust seen list URL"), "{}", ran.err);
}

#[test]
fn other_rules_have_other_keys_unless_they_are_made_again() {
    let Some(sandbox) = Sandbox::start(&[]) else { return };
    let set = sandbox.redis.set("crawl");
    let urls = "http://a.example/?id=1\nhttp://a.example/?id=2\n";
    fs::write(sandbox.folder.path().join("printed.txt"), urls).unwrap();
    assert_eq!(sandbox.dedup(&["--seen", &set], urls).out, urls);
    let changed = sandbox.run(&["dedup", "other.json", "--seen", &set], "http://a.example/?id=1\n");
    assert_eq!(changed.out, "http://a.example/?id=1\n");
    assert!(changed.err.contains("was last used with other rules"), "{}", changed.err);
    assert!(changed.err.contains("--rekey FILE"), "{}", changed.err);
    let filled = sandbox.run(&["dedup", "other.json", "--seen", &set, "--rekey", "printed.txt", "-"], urls);
    assert_eq!((filled.code, filled.out.as_str()), (Some(0), ""), "{}", filled.err);

    let listed = sandbox.run(&["seen", "list", &set, "--format", "json"], "").out;
    assert_eq!(listed.matches("\"keys\":2}").count(), 2, "{listed}");
    let old = listed.lines().find(|line| line.contains("\"last\":false")).unwrap();
    let fingerprint = old.split('"').nth(7).unwrap();
    let ran = sandbox.run(&["seen", "forget", &set, fingerprint], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(sandbox.run(&["seen", "list", &set], "").out.lines().count(), 1);
}

#[test]
fn a_command_that_starts_before_its_server_waits_for_it_and_says_so() {
    let Some(mut sandbox) = Sandbox::start(&[]) else { return };
    fs::write(sandbox.folder.path().join("urls.txt"), "http://a.example/\n").unwrap();
    sandbox.redis.kill();
    let mut child = Command::new(env!("CARGO_BIN_EXE_dedust"))
        .args(["dedup", "rules.json", "urls.txt", "--seen", &sandbox.redis.set("crawl")])
        .current_dir(sandbox.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("no connection to the server") && told.ends_with("; it is waited for\n"), "{told}");
    sandbox.redis.start_again();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"http://a.example/\n"[..]));
}

#[test]
fn a_set_that_is_removed_while_it_is_used_is_warned_of() {
    let Some(sandbox) = Sandbox::start(&[]) else { return };
    let set = sandbox.redis.set("crawl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_dedust"))
        .args(["dedup", "rules.json", "--seen", &set])
        .current_dir(sandbox.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |url: &str| {
        input.write_all(url.as_bytes()).unwrap();
        let mut line = String::new();
        printed.read_line(&mut line).unwrap();
        assert_eq!(line, url);
    };
    ask("http://a.example/1\n");
    let mut server = std::net::TcpStream::connect(sandbox.redis.address).unwrap();
    server.write_all(b"FLUSHALL\r\n").unwrap();
    let mut answer = [0; 5];
    server.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+OK\r\n");
    ask("http://a.example/2\n");
    drop(input);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&format!("warning: {set} was removed while it was used")), "{told}");
    let ran = sandbox.dedup(&["--seen", &set], "http://a.example/1\nhttp://a.example/2\n");
    assert_eq!(ran.out, "http://a.example/1\n", "with the secret of the one before");
}

#[test]
fn messages_name_the_address_without_its_password_and_the_remedy() {
    let Some(sandbox) = Sandbox::start(&["--requirepass", "sesame"]) else { return };
    let (at, set) = (sandbox.redis.address, sandbox.redis.set("crawl"));
    let fails = |args: &[&str], parts: &[&str]| {
        let ran = sandbox.run(&[&["dedup", "rules.json"], args].concat(), "http://a.example/\n");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        for part in parts {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
        assert!(!ran.err.contains("sesam"), "{}", ran.err);
    };
    let with = |password: &str, rest: &str| format!("redis://:{password}@{at}/{rest}");
    fails(
        &["--seen", &with("sesam", "crawl")],
        &[&set, "refuses the user name or password", "redis://:PASSWORD@HOST"],
    );
    fails(&["--seen", &set], &[&set, "asks for a password"]);
    fails(&["--seen", &with("sesame", "")], &["has no prefix", "redis://HOST:PORT/PREFIX"]);
    fails(&["--seen", &with("sesame", "0")], &["?db=NUMBER"]);
    fails(&["--seen", &with("sesame", "crawl"), "--sync"], &["--sync is for folders", &set, "appendfsync"]);
    fails(&["--seen", &with("sesame", "crawl"), "--session", "a b"], &["\"a b\" is no name of a session"]);
    fails(&["--seen", "mysql://:sesame@host/crawl"], &["mysql://...@host/crawl", "neither redis nor rediss"]);
    fails(
        &["--seen", "folder", "--session", "a"],
        &["--session is for sets on servers", "redis://HOST/PREFIX"],
    );
    fails(
        &["--seen", "redis://127.0.0.1:1/crawl", "--patience", "0s"],
        &["redis://127.0.0.1:1/crawl", "no connection", "redis-cli"],
    );
    let before = names_in(sandbox.folder.path());
    for address in [
        &format!("redis:/:sesame@{at}/crawl") as &str,
        &format!("rediss::sesame@{at}/crawl"),
        &format!("REDIS:/user:sesame@{at}/crawl"),
        &format!("//:sesame@{at}/crawl"),
        &format!(":sesame@{at}/crawl"),
        "redis:/:sesame",
        "unix:/run/redis.sock?password=sesame",
        "redis+unix:/run/redis.sock",
    ] {
        fails(
            &["--seen", address],
            &["it lacks `://`", "redis://HOST:PORT/PREFIX", "hint: give a folder as ./NAME"],
        );
        let ran = sandbox.run(&["seen", "list", address], "");
        assert!(ran.err.contains("it lacks `://`") && !ran.err.contains("sesam"), "{}", ran.err);
    }
    assert_eq!(names_in(sandbox.folder.path()), before, "no folder of such a name");
    let ran = sandbox.run(&["dedup", "rules.json", "--seen", "./redis:folder"], "http://a.example/\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "http://a.example/\n"), "{}", ran.err);

    let ran = sandbox.run(
        &["dedup", "rules.json", "--seen", &with("sesame", "crawl"), "--ttl", "1d"],
        "http://a.example/\n",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    fails(
        &["--seen", &with("sesame", "crawl"), "--ttl", "2d"],
        &["for 86400 s, not for 172800 s", "leave --ttl out"],
    );
}

#[test]
fn tls_checks_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let openssl = |args: &[&str]| {
        let made = Command::new("openssl").args(args).current_dir(folder.path()).output();
        made.is_ok_and(|made| made.status.success())
    };
    let authority = [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
        "-subj", "/CN=test",
    ];
    let request = [
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "server.key",
        "-out",
        "server.csr",
        "-subj",
        "/CN=localhost",
    ];
    fs::write(folder.path().join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let signed = [
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "server.pem",
    ];
    if !(openssl(&authority) && openssl(&request) && openssl(&signed)) {
        skip("openssl makes no certificates");
        return;
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key, ca) = (path("server.pem"), path("server.key"), path("ca.pem"));
    let options = [
        "--port",
        "0",
        "--tls-port",
        "PORT",
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &ca,
        "--tls-auth-clients",
        "no",
    ];
    let program = std::env::var_os("DEDUST_REDIS_SERVER").unwrap_or("redis-server".into());
    let version = Command::new(program).args(["--tls-port", "0", "--version"]).output();
    if version.is_err() {
        skip("there is no redis-server");
        return;
    }
    let Some(sandbox) = Sandbox::start(&options) else { return };
    let set = format!("rediss://localhost:{}/crawl", sandbox.redis.address.port());
    let dedup = |environment: &[(&str, &str)]| {
        let args = ["dedup", "rules.json", "--seen", &set];
        run(sandbox.folder.path(), &args, "http://a.example/\n", environment)
    };
    let trusted = dedup(&[("SSL_CERT_FILE", &ca)]);
    assert_eq!((trusted.code, trusted.out.as_str()), (Some(0), "http://a.example/\n"), "{}", trusted.err);
    let unknown = dedup(&[]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""), "{}", unknown.err);
    assert!(unknown.err.contains(&set) && unknown.err.contains("certificate"), "{}", unknown.err);
}

#[expect(clippy::print_stderr, reason = "who runs the tests is to know what was not tested")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
