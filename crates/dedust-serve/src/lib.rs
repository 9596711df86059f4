/*!
Serves rules over HTTP: lines of URLs in, canonical URLs, keys or "was this page seen before?" out.

[`ServeOptions`] say what is served, and within which limits. [`Server::open`] opens rules, the seen-set and the socket, and
[`Server::run`] answers until it is asked to stop. `docs/service.md` of the repository describes the API by example, and
`/openapi.json` in full.

```
use dedust_serve::{ServeOptions, Server};
use std::io::{Read as _, Write as _};

# let folder = tempfile::tempdir()?;
# let path = folder.path().join("rules.json");
std::fs::write(&path, r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#)?;
let mut options = ServeOptions::new(&path);
options.listen = ([127, 0, 0, 1], 0).into();
let server = Server::open(options)?;
let (address, stopper) = (server.address(), server.stopper());
let running = std::thread::spawn(|| server.run());

let mut connection = std::net::TcpStream::connect(address)?;
write!(connection, "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 24\r\n\r\nhttp://a.example/p?sid=1")?;
let mut answer = String::new();
connection.read_to_string(&mut answer)?;
assert!(answer.ends_with("\r\n\r\nhttp://a.example/p\n"), "{answer}");

stopper.stop();
running.join().map_err(|_| "the server panicked")??;
# Ok::<(), Box<dyn std::error::Error>>(())
```

Prints nothing: what happens is reported to [`ServeOptions::log`]. Speaks HTTP/1.1 without TLS, which is left to a proxy.

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features. What `/openapi.json` describes is part of the promise, except for the report.
*/

mod answer;
mod app;
mod batch;
mod crawl;
mod error;
mod event;
mod format;
mod guard;
mod idle;
mod learning;
mod lines;
mod live;
mod live_rules;
mod metrics;
mod options;
mod problem;
mod report;
mod routes;
mod row;
mod seen;
mod server;

pub use dedust_seen::SeenLocation;
pub use error::{RulesError, ServeError};
pub use event::{Event, Level, Log};
pub use options::{LearnerOf, Limits, ServeOptions, random_token};
pub use routes::{OPENAPI, ROUTES};
pub use server::{Server, Stopper};
