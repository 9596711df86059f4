/*!
Memory does not depend on the number of lines of a batch, nor on clients that take no answers. Counted, not estimated.
*/

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use dedust_serve::{ServeOptions, Server};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const LINES: usize = 1_000_000;
/// Beyond what the server takes without requests. All lines have 37 times as much.
const MOST_BYTES: usize = 3 << 20;

#[test]
fn a_million_lines_take_no_more_memory_than_a_thousand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.json");
    std::fs::write(
        &path,
        r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#,
    )
    .unwrap();
    let mut options = ServeOptions::new(path);
    options.listen = ([127, 0, 0, 1], 0).into();
    options.threads = Some(2);
    options.limits.idle = Duration::from_millis(500);
    let server = Server::open(options).unwrap();
    let (address, stopper) = (server.address(), server.stopper());
    let running = std::thread::spawn(|| server.run());

    let piece: String = (0..1000).map(|at| format!("http://a.example/a/rather/long/path/of/a/page/{at}?id={at}&sid=0123456789abcdef0123456789abcdef\n")).collect();
    let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
    let open = |address| {
        let mut connection = TcpStream::connect(address).unwrap();
        connection.write_all(b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        connection
    };
    let ask = |times: usize| {
        let mut sending = open(address);
        let mut reading = sending.try_clone().unwrap();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                (0..times).for_each(|_| sending.write_all(chunk.as_bytes()).unwrap());
                sending.write_all(b"0\r\n\r\n").unwrap();
                sending.shutdown(Shutdown::Write).unwrap();
            });
            let mut buffer = vec![0; 64 << 10];
            let mut lines = 0;
            loop {
                match reading.read(&mut buffer).unwrap() {
                    0 => break,
                    read => lines += buffer[..read].windows(4).filter(|bytes| *bytes == b"http").count(),
                }
            }
            sender.join().unwrap();
            lines
        })
    };
    // What is taken once, by any batch.
    ask(10);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let lines = ask(LINES / 1000);
    let peak = MEMORY.peak_usage() - before;
    // Where two reads meet, one is not counted.
    assert!(lines > LINES * 99 / 100, "{lines}");
    assert!(peak < MOST_BYTES, "{peak} bytes");

    // Clients that only send: each ends when the server closes the connection.
    MEMORY.reset_peak_usage();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let mut connection = open(address);
                while connection.write_all(chunk.as_bytes()).is_ok() {}
            });
        }
    });
    let peak = MEMORY.peak_usage() - before;
    assert!(peak < 20 * (1 << 20), "{peak} bytes for 20 clients");
    stopper.stop();
    running.join().unwrap().unwrap();
}
