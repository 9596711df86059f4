/*!
Crawls in object stores: what is learned from them is what is learned from files, and a connection that breaks is told.

S3 is the server of `moto`, on loopback: `DEDUST_MOTO_SERVER` names the program (`pip install 'moto[server]'`). Without it the
test of S3 is skipped, and says so. The web server is in the process of the test.
*/

#![cfg(feature = "remote")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A crawl in which `sid` does not matter.
fn crawl(pages: Range<u32>) -> String {
    let mut rows = String::new();
    for page in pages {
        for visit in 0..3 {
            let session = 0x1234_5678 * u64::from(page + 1) * (visit + 3);
            rows += &format!(
                "{{\"url\":\"http://www.shop.example/view?id={page}&sid={session:016x}\",\"digest\":\"{page}\",\"status\":200}}\n"
            );
        }
    }
    rows
}

fn dedust(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dedust"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for name in ["AWS_PROFILE", "AWS_SESSION_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

fn succeed(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> Vec<u8> {
    let output = dedust(folder, args, environment);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// A server that speaks S3.
struct Moto {
    server: Child,
    address: SocketAddr,
}

impl Moto {
    fn start(program: &str) -> Self {
        // Free when asked for; nobody else on this machine is likely to take it meanwhile.
        let address =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).unwrap();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &address.port().to_string()]);
        let mut server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while TcpStream::connect(address).is_err() {
            assert!(server.try_wait().unwrap().is_none(), "{program} ended");
            thread::yield_now();
        }
        Self { server, address }
    }

    /// Puts an object, or makes a bucket.
    fn put(&self, path: &str, bytes: &[u8]) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let length = bytes.len();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_bucket_is_read_as_a_folder_is() {
    let Ok(program) = std::env::var("DEDUST_MOTO_SERVER") else {
        eprintln!("skipped: DEDUST_MOTO_SERVER does not name the program moto_server");
        return;
    };
    let moto = Moto::start(&program);
    let endpoint = format!("http://{}", moto.address);
    let environment = [
        ("AWS_ENDPOINT", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ];
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("crawl/part=2")).unwrap();
    moto.put("/archive", b"");
    let parts = [("crawl/part=1.jsonl", crawl(0..40)), ("crawl/part=2/b c#1.jsonl", crawl(40..60))];
    for (name, rows) in &parts {
        fs::write(folder.path().join(name), rows).unwrap();
        moto.put(&format!("/archive/{}", name.replace(' ', "%20").replace('#', "%23")), rows.as_bytes());
    }
    moto.put("/archive/crawl/_SUCCESS", b"");

    succeed(folder.path(), &["learn", "crawl", "-o", "local.json"], &[]);
    let local = fs::read(folder.path().join("local.json")).unwrap();
    assert!(String::from_utf8_lossy(&local).contains("q.sid"), "a rule was learned");
    for inputs in ["s3://archive/crawl/", "s3://archive/crawl/**/*.jsonl"] {
        succeed(folder.path(), &["learn", inputs, "-o", "remote.json", "--force"], &environment);
        assert!(fs::read(folder.path().join("remote.json")).unwrap() == local, "{inputs}");
    }

    // A table.
    succeed(folder.path(), &["normalize", "local.json", "crawl/part=1.jsonl", "-o", "with-keys.jsonl"], &[]);
    let with_keys = fs::read(folder.path().join("with-keys.jsonl")).unwrap();
    let written =
        succeed(folder.path(), &["normalize", "local.json", "s3://archive/crawl/part=1.jsonl"], &environment);
    assert!(written == with_keys);

    for (input, problem) in [
        ("s3://archive/missing.jsonl", "cannot open s3://archive/missing.jsonl"),
        ("s3://archive/none/", "s3://archive/none/ is a folder without files"),
        ("s3://archive/*.parquet", "no file matches s3://archive/*.parquet"),
    ] {
        // What reads nothing leaves nothing that the next run would have to be told to overwrite.
        let output = dedust(folder.path(), &["learn", input, "-o", "none.json"], &environment);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(problem), "{message}");
    }
}

/// A web server with one file, of which it sends what is asked for, or half of it where that is not allowed.
fn serve(
    file: Vec<u8>,
    allow: impl Fn(usize, &Range<usize>) -> bool + Send + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<Range<usize>>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().unwrap().unwrap_or_default();
            let headers = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
            let range = headers.filter_map(|line| {
                let range = line.to_ascii_lowercase().strip_prefix("range: bytes=")?.to_owned();
                let (start, end) = range.split_once('-')?;
                Some(start.parse::<usize>().ok()?..end.parse::<usize>().ok()? + 1)
            });
            let range = range.last().unwrap_or(0..file.len());
            let length = range.len();
            let place = format!("Content-Range: bytes {}-{}/{}\r\n", range.start, range.end - 1, file.len());
            let (status, place) = if length == file.len() && request.starts_with("HEAD") {
                ("200 OK", "")
            } else {
                ("206 Partial Content", place.as_str())
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nConnection: close\r\nETag: \"1\"\r\nLast-Modified: Mon, 16 Nov 2026 12:00:00 GMT\r\n{place}Content-Length: {length}\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes());
            if request.starts_with("GET") {
                let mut asked = log.lock().unwrap();
                let sent = if allow(asked.len(), &range) {
                    range.clone()
                } else {
                    range.start..range.start + length / 2
                };
                asked.push(range);
                let _ = stream.write_all(&file[sent]);
            }
        }
    });
    (address, asked)
}

#[test]
fn a_file_of_the_web_is_read_by_ranges() {
    let folder = tempfile::tempdir().unwrap();
    // More than two requests, one of which breaks and is made again.
    let rows = crawl(0..30_000);
    fs::write(folder.path().join("crawl.jsonl"), &rows).unwrap();
    let (address, asked) = serve(rows.into_bytes(), |number, _| number != 1);
    succeed(folder.path(), &["learn", "crawl.jsonl", "-o", "local.json"], &[]);
    let url = format!("http://{address}/crawl.jsonl");
    succeed(folder.path(), &["learn", &url, "-o", "remote.json"], &[]);
    let [local, remote] =
        ["local.json", "remote.json"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(local == remote);
    let asked = asked.lock().unwrap();
    assert!(asked.len() > 2 && asked.iter().all(|range| range.len() <= 4 << 20), "{asked:?}");
}

/// Parquet is read from its end, so that it cannot be read as a stream.
#[test]
fn a_table_of_the_web_comes_out_as_one_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let table = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/rows.parquet")).unwrap();
    fs::write(folder.path().join("rows.parquet"), &table).unwrap();
    fs::write(folder.path().join("rules.json"), r#"{"version": 1, "sites": {}}"#).unwrap();
    let (address, _) = serve(table, |_, _| true);
    let url = format!("http://{address}/rows.parquet");
    for (input, output) in [("rows.parquet", "local.parquet"), (url.as_str(), "remote.parquet")] {
        succeed(folder.path(), &["normalize", "rules.json", input, "-o", output], &[]);
    }
    let [local, remote] =
        ["local.parquet", "remote.parquet"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(local == remote && !local.is_empty());
}

#[test]
fn a_connection_that_breaks_is_told_with_object_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (address, asked) = serve(crawl(0..30_000).into_bytes(), |_, range| range.start == 0);
    let url = format!("http://{address}/crawl.jsonl");
    let output = dedust(folder.path(), &["learn", &url, "-o", "rules.json"], &[]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(&format!("{url} at byte 4194304")), "{message}");
    assert!(asked.lock().unwrap().len() > 2, "it was tried again");
}

/// The first object is not asked for again, and of the second only what was read is not used again.
#[test]
fn after_a_broken_connection_reading_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (crawl(0..100), crawl(100..30_000));
    fs::write(folder.path().join("a.jsonl"), &first).unwrap();
    fs::write(folder.path().join("b.jsonl"), &second).unwrap();
    succeed(folder.path(), &["learn", "a.jsonl", "b.jsonl", "-o", "expected.json"], &[]);

    let (first, asked) = serve(first.into_bytes(), |_, _| true);
    let is_broken = Arc::new(AtomicBool::new(true));
    let breaks = is_broken.clone();
    let (second, _) =
        serve(second.into_bytes(), move |_, range| range.start == 0 || !breaks.load(Ordering::Relaxed));
    let urls = [format!("http://{first}/a.jsonl"), format!("http://{second}/b.jsonl")];
    let args = ["learn", &urls[0], &urls[1], "-o", "rules.json"];
    let output = dedust(folder.path(), &args, &[]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(&format!("{} at byte 4194304", urls[1])), "{message}");
    assert!(message.contains("go on with the same command and --resume"), "{message}");
    let asked_before = asked.lock().unwrap().len();
    assert_eq!(asked_before, 1);

    is_broken.store(false, Ordering::Relaxed);
    succeed(folder.path(), &[&args[..], &["--resume"]].concat(), &[]);
    assert_eq!(asked.lock().unwrap().len(), asked_before);
    let [expected, rules] =
        ["expected.json", "rules.json"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(expected == rules);
    assert!(!folder.path().join("rules.json.unfinished").exists());
}

#[test]
fn without_certificates_the_remedy_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("none.pem"), "").unwrap();
    let nothing = [("SSL_CERT_FILE", "none.pem"), ("SSL_CERT_DIR", "no-such-folder")];
    let output =
        dedust(folder.path(), &["learn", "https://127.0.0.1:9/crawl.jsonl", "-o", "rules.json"], &nothing);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot open https://127.0.0.1:9/crawl.jsonl"), "{message}");
    assert!(message.contains("apt install ca-certificates"), "{message}");
    assert!(message.contains("SSL_CERT_FILE"), "{message}");
}
