/*!
Asks a server of `dedust serve` on the loopback interface, and says how long that took.

    cargo run --release -p dedust-serve --example load -- batches 127.0.0.1:7007 urls.txt 2000 [PID]
    cargo run --release -p dedust-serve --example load -- singles 127.0.0.1:7007 urls.txt 200 5000 10

`batches` sends so many batches of 1,000 lines to `/v1/keys` over one connection, and says what the process with this id, the server,
took of a core for a million lines. `singles` has so many clients send one URL at a time, so many a second all together, for so many
seconds; the time of a request counts from when it was due, so that a client that waits does not hide that others would have had to.
*/
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement, which ends if anything is wrong"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const BATCH: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().unwrap();
    let text = std::fs::read_to_string(&arguments[2]).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    match &*arguments[0] {
        "batches" => batches(&arguments[1], &lines, number(3), arguments.get(4).map(|_| number(4))),
        "singles" => singles(&arguments[1], &lines, number(3), number(4), number(5)),
        mode => panic!("{mode} is neither batches nor singles"),
    }
}

/// A connection that is kept.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: &str) -> Self {
        let connection = TcpStream::connect(address).unwrap();
        connection.set_nodelay(true).unwrap();
        Self(BufReader::with_capacity(256 << 10, connection))
    }

    /// Sends lines, and counts those of the answer.
    fn keys(&mut self, body: &str, answer: &mut Vec<u8>) -> usize {
        let head =
            format!("POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
        self.0.get_mut().write_all((head + body).as_bytes()).unwrap();
        let (mut line, mut length) = (String::new(), None);
        self.0.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>().unwrap());
            }
        }
        answer.clear();
        match length {
            Some(length) => self.take(length, answer),
            None => loop {
                line.clear();
                self.0.read_line(&mut line).unwrap();
                let length = usize::from_str_radix(line.trim(), 16).unwrap();
                self.take(length, answer);
                self.0.read_line(&mut line).unwrap();
                if length == 0 {
                    break;
                }
            },
        }
        answer.iter().filter(|byte| **byte == b'\n').count()
    }

    fn take(&mut self, length: usize, answer: &mut Vec<u8>) {
        let start = answer.len();
        answer.resize(start + length, 0);
        self.0.read_exact(&mut answer[start..]).unwrap();
    }
}

fn batches(address: &str, lines: &[&str], count: usize, server: Option<usize>) {
    let batches: Vec<String> = lines.chunks_exact(BATCH).map(|lines| lines.join("\n") + "\n").collect();
    let mut client = Client::connect(address);
    let mut answer = Vec::new();
    client.keys(&batches[0], &mut answer);
    let (started, before) = (Instant::now(), server.map(cpu_seconds));
    for at in 0..count {
        assert_eq!(client.keys(&batches[at % batches.len()], &mut answer), BATCH);
    }
    let seconds = started.elapsed().as_secs_f64();
    let sent = (count * BATCH) as f64;
    println!("{count} batches of {BATCH} lines in {seconds:.2} s: {:.0} lines/s", sent / seconds);
    if let (Some(server), Some(before)) = (server, before) {
        let cpu = cpu_seconds(server) - before;
        println!("CPU time of the server: {:.3} s for a million lines", cpu / sent * 1e6);
    }
}

/// CPU time of a process, in user and system mode.
fn cpu_seconds(process: usize) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // In hundredths of a second on every Linux.
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

fn singles(address: &str, lines: &[&str], clients: usize, rate: usize, seconds: usize) {
    let each = rate * seconds / clients;
    let pause = Duration::from_secs_f64(clients as f64 / rate as f64);
    let start = Instant::now() + Duration::from_millis(500);
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || {
                    let mut connection = Client::connect(address);
                    let mut answer = Vec::new();
                    // All clients are out of step.
                    let first = start + pause.mul_f64(client as f64 / clients as f64);
                    let mut times = Vec::with_capacity(each);
                    for at in 0..each {
                        let due = first + pause * at as u32;
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        let line = lines[(client * each + at) % lines.len()];
                        assert_eq!(connection.keys(line, &mut answer), 1);
                        times.push(due.elapsed());
                    }
                    times
                })
            })
            .collect();
        running.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let took = start.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{} requests of {clients} clients in {took:.2} s: {:.0} requests/s",
        times.len(),
        times.len() as f64 / took
    );
    println!(
        "p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, longest {:.2} ms",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}
