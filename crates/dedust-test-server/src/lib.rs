/*!
A web server on a port of its own, in the process of the test, that answers as it is told and remembers what it was
asked; and [`redis`], a real server of seen keys.

# Versions and features

Rust 1.90 and no features. For the tests of this project: any release may change it.
*/

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

pub mod redis;

/// An answer.
pub enum Reply {
    /// A complete answer of this status: headers, each with its line end, and body.
    Status(u16, String, Vec<u8>),
    /// These bytes, whatever they mean, and the end of the connection.
    Raw(Vec<u8>),
    /// These bytes, and then nothing until the client gives up.
    Withhold(Vec<u8>),
}

impl Reply {
    /// A document of HTML.
    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::Status(200, "Content-Type: text/html; charset=utf-8\r\n".into(), body.into())
    }

    /// An empty answer of this status.
    pub fn status(status: u16) -> Self {
        Self::Status(status, String::new(), Vec::new())
    }

    /// A redirect.
    pub fn redirect(location: &str) -> Self {
        Self::Status(302, format!("Location: {location}\r\n"), Vec::new())
    }
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
    stop: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

/// What was asked.
#[derive(Default)]
struct Log {
    /// Path and query of each request, in order.
    targets: Vec<String>,
    /// The headers of each request.
    headers: Vec<String>,
    active: u32,
    max_active: u32,
}

impl Server {
    /// A server that answers a path with its query.
    pub fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_on(Ipv4Addr::LOCALHOST, answer)
    }

    /// The same, on another address of this machine.
    pub fn start_on(address: Ipv4Addr, answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (log, stop) = (Arc::<Mutex<Log>>::default(), Arc::<AtomicBool>::default());
        let accepting = thread::spawn({
            let (log, stop, answer) = (log.clone(), stop.clone(), Arc::new(answer));
            move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let (log, answer) = (log.clone(), answer.clone());
                    thread::spawn(move || {
                        // A client that hangs up is what some tests are about.
                        let _ = serve(stream?, &log, &*answer);
                        std::io::Result::Ok(())
                    });
                }
            }
        });
        Self { address, log, stop, accepting: Some(accepting) }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What was asked for so far, in order.
    pub fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().targets.clone()
    }

    /// Requests for a path that starts so.
    pub fn count(&self, start: &str) -> usize {
        self.requests().iter().filter(|target| target.starts_with(start)).count()
    }

    /// The headers of all requests.
    pub fn headers(&self) -> Vec<String> {
        self.log.lock().unwrap().headers.clone()
    }

    /// The most requests that were under way at one time.
    pub fn max_active(&self) -> u32 {
        self.log.lock().unwrap().max_active
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let woken = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take().filter(|_| woken.is_ok()) {
            let _ = accepting.join();
        }
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Log>, answer: &dyn Fn(&str) -> Reply) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        headers += &line.to_ascii_lowercase();
    }
    {
        let mut log = log.lock().unwrap();
        log.targets.push(target.clone());
        log.headers.push(headers);
        log.active += 1;
        log.max_active = log.max_active.max(log.active);
    }
    let reply = answer(&target);
    // Before the answer, after which the client is free to ask again.
    log.lock().unwrap().active -= 1;
    match reply {
        Reply::Status(status, headers, body) => {
            let length = body.len();
            write!(stream, "HTTP/1.1 {status} Said\r\n{headers}Content-Length: {length}\r\n")?;
            stream.write_all(b"Connection: close\r\n\r\n")?;
            stream.write_all(&body)
        }
        Reply::Raw(bytes) => stream.write_all(&bytes),
        Reply::Withhold(bytes) => {
            stream.write_all(&bytes)?;
            stream.read(&mut [0]).map(drop)
        }
    }
}

/// A page with a title and a text of its own for each `seed`, and some links that differ by `visit`.
pub fn document(seed: u64, visit: u64) -> String {
    let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let text: String = (0..200)
        .map(|_| {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("w{:x} ", word >> 44)
        })
        .collect();
    format!(
        "<!doctype html><title>Page {seed}</title><nav><a href='/?sid={visit}'>home</a></nav>\
         <script>visit({visit})</script><p>{text}</p>"
    )
}
