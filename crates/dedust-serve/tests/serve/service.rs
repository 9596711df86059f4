/*!
A server of a test, and a client that waits for answers.
*/

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use dedust_serve::{Event, Log, ServeError, ServeOptions, Server, Stopper};
use tempfile::TempDir;

/// On this site `sid` and `ref` do not matter; URLs with `ref` are not known to show the page without it.
pub(crate) const RULES: &str = r#"{"version": 1, "sites": {"a.example": {"rules": [
    {"change": [{"drop": "q.sid"}], "fetchable": true},
    {"change": [{"drop": "q.ref"}]}
]}}}"#;

/// A server that runs until it is dropped.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) stopper: Stopper,
    pub(crate) folder: Arc<TempDir>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
    agent: ureq::Agent,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

impl Service {
    /// Serves [`RULES`].
    pub(crate) fn start() -> Self {
        Self::with(|_| ())
    }

    /// Serves [`RULES`] with other options.
    pub(crate) fn with(change: impl FnOnce(&mut ServeOptions)) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("rules.json"), RULES).unwrap();
        Self::in_folder(folder, change)
    }

    /// Serves `rules.json` of a folder.
    pub(crate) fn in_folder(folder: Arc<TempDir>, change: impl FnOnce(&mut ServeOptions)) -> Self {
        let mut options = ServeOptions::new(folder.path().join("rules.json"));
        options.listen = ([127, 0, 0, 1], 0).into();
        options.threads = Some(2);
        let events = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&events);
        options.log = Log::new(move |event| kept.lock().unwrap().push(event.clone()));
        change(&mut options);
        let server = Server::open(options).unwrap();
        let (address, token, stopper) = (server.address(), server.token().to_owned(), server.stopper());
        let thread = Some(std::thread::spawn(|| server.run()));
        // A connection for each request: one that is kept may be closed by an impatient server just when it is used again.
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0);
        let agent = config.build().into();
        Self { address, token, stopper, folder, events, agent, thread }
    }

    pub(crate) fn rules(&self) -> PathBuf {
        self.folder.path().join("rules.json")
    }

    /// Sends lines of text.
    pub(crate) fn text(&self, path: &str, body: &str) -> Answer {
        self.post(path, body, &[("content-type", "text/plain")])
    }

    /// Sends lines of JSON.
    pub(crate) fn ndjson(&self, path: &str, body: &str) -> Answer {
        self.post(path, body, &[("content-type", "application/x-ndjson")])
    }

    pub(crate) fn post(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.post(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        taken(request.send(body).unwrap())
    }

    /// Sends JSON as somebody who knows the token.
    pub(crate) fn write(&self, path: &str, body: &str) -> Answer {
        let token = format!("Bearer {}", self.token);
        self.post(path, body, &[("content-type", "application/json"), ("authorization", &token)])
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        taken(self.agent.get(self.url(path)).call().unwrap())
    }

    /// Sends bytes, and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut connection = self.connect();
        // What is refused need not be read to its end.
        let _ = connection.write_all(bytes);
        read_to_close(&mut connection)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// A figure of `/metrics`.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let figures = self.get("/metrics").body;
        let line = figures.lines().find(|line| line.split_once(' ').is_some_and(|(found, _)| found == name));
        line.unwrap_or_else(|| panic!("no {name} in {figures}")).rsplit_once(' ').unwrap().1.parse().unwrap()
    }

    /// Stops the server, and says how it ended.
    pub(crate) fn stop(mut self) -> Result<(), ServeError> {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap()
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

fn taken(mut response: ureq::http::Response<ureq::Body>) -> Answer {
    let content_type = response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
    let body = response.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
    Answer { status: response.status().as_u16(), content_type: content_type.unwrap_or_default(), body }
}

/// What comes until the connection is closed, or reset.
pub(crate) fn read_to_close(connection: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = connection.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}
