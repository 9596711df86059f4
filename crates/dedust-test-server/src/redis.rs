/*!
A real `redis-server` on a port of its own on loopback, in a folder of the test, that can be killed and started again; and a proxy in front of it that
loses what it is told to lose.

The variable `DEDUST_REDIS_SERVER` names another program that takes the same options, such as `valkey-server`.
*/

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::thread;

/// A running server. It is killed when dropped.
pub struct Redis {
    server: Child,
    folder: PathBuf,
    options: Vec<String>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Redis {
    /// Starts a server with some options in an existing folder; says that the test is skipped where there is none.
    pub fn start(folder: &Path, options: &[&str]) -> Option<Self> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let address = free_address();
        let Some(server) = spawn(folder, address, &options) else {
            skip();
            return None;
        };
        Some(Self { server, folder: folder.to_owned(), options, address })
    }

    /// Kills it as `kill -9` does, so that it writes nothing any more.
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Starts it again where it was, after [`kill`](Self::kill).
    pub fn start_again(&mut self) {
        self.server = spawn(&self.folder, self.address, &self.options).expect("the program was there before");
    }

    /// The address of a set there.
    pub fn set(&self, prefix: &str) -> String {
        format!("redis://{}/{prefix}", self.address)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An address where nothing listens. Its port is below those that the system gives to connections which go out: none of these must take
/// it while the server is gone.
fn free_address() -> SocketAddr {
    static STARTED: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() as u16).wrapping_mul(97);
    let is_free = |address: &SocketAddr| TcpListener::bind(address).is_ok();
    let mut addresses = (0..10_000).map(|_| {
        let port = 20_000 + first.wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed)) % 10_000;
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    });
    addresses.find(is_free).expect("a port between 20,000 and 29,999 is free")
}

/// Starts the program, and waits until it has read its files and answers.
fn spawn(folder: &Path, address: SocketAddr, options: &[String]) -> Option<Child> {
    let program = std::env::var_os("DEDUST_REDIS_SERVER").unwrap_or("redis-server".into());
    let port = address.port().to_string();
    let mut command = Command::new(program);
    command.args(["--bind", "127.0.0.1", "--save", "", "--daemonize", "no", "--dir"]).arg(folder);
    if !options.iter().any(|option| option == "--tls-port") {
        command.args(["--port", &port]);
    }
    command.args(options.iter().map(|option| if option == "PORT" { &port } else { option }));
    let mut server =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut log = BufReader::new(server.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("Ready to accept connections") {
        assert!(log.read_line(&mut text).unwrap() > 0, "redis-server ended: {text}");
    }
    // It must not wait for somebody to read on.
    thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    Some(server)
}

#[expect(clippy::print_stderr, reason = "who runs the tests is to know what was not tested")]
fn skip() {
    eprintln!("skipped: there is no redis-server; on Debian: apt install redis-server");
}

/// What a [`LossyProxy`] does with the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Passes it on, and the answer back.
    Nothing = 0,
    /// Ends the connection instead of passing it on.
    Request = 1,
    /// Passes it on, waits for the answer, and ends the connection instead of passing that back.
    Answer = 2,
}

/// Passes on what is said between clients and a server, one request at a time.
pub struct LossyProxy {
    /// Where it listens.
    pub address: SocketAddr,
    next: Arc<AtomicU8>,
}

impl LossyProxy {
    /// Starts one in front of a server. It ends with the process.
    pub fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (address, next) = (listener.local_addr().unwrap(), Arc::new(AtomicU8::new(0)));
        let loss = Arc::clone(&next);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let loss = Arc::clone(&loss);
                thread::spawn(move || pass_on(&client, &TcpStream::connect(server).unwrap(), &loss));
            }
        });
        Self { address, next }
    }

    /// Loses something once, from the next request on.
    pub fn lose(&self, loss: Loss) {
        self.next.store(loss as u8, Ordering::SeqCst);
    }
}

/// Requests must be answered before the next is sent, and both fit into 64 KiB.
fn pass_on(mut client: &TcpStream, mut server: &TcpStream, next: &AtomicU8) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut bytes) {
        let loss = next.swap(Loss::Nothing as u8, Ordering::SeqCst);
        if loss == Loss::Request as u8 {
            break;
        }
        server.write_all(&bytes[..count]).unwrap();
        let Ok(count @ 1..) = server.read(&mut bytes) else { break };
        if loss == Loss::Answer as u8 || client.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
