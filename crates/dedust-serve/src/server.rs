/*!
Listens, takes connections within limits, looks for changed rules, and stops in order.
*/

use std::future::pending;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use dedust::errors::with_causes;
use dedust_live::LiveOptions;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::time::MissedTickBehavior;

use crate::app::App;
use crate::error::ServeError;
use crate::guard::Guard;
use crate::idle::IdleLimited;
use crate::learning::Learning;
use crate::live::{Live, LiveThread};
use crate::live_rules::{LiveRules, load};
use crate::metrics::Metrics;
use crate::options::{Limits, ServeOptions, random_token};
use crate::report::Report;
use crate::routes::router;
use crate::seen::{Seen, SeenThread};

/// Bytes that are held of a connection in each direction.
const BUFFER_BYTES: usize = 64 << 10;
/// Bytes of the head of a request, to the end of its empty line.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Headers of a request at most.
const MAX_HEADERS: usize = 64;
/// What is said to connections that are too many.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 21\r\n\r\ntoo many connections\n";

/// A server that is ready to run.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
    app: Arc<App>,
    seen: Option<SeenThread>,
    live: Option<LiveThread>,
    signals: Signals,
    runtime: Runtime,
    stop: Arc<watch::Sender<bool>>,
}

/// Stops a server.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// Requests that are being answered are answered, and no more.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Opens the rules, the seen-set and the socket.
    pub fn open(options: ServeOptions) -> Result<Self, ServeError> {
        options.check()?;
        let cannot_listen = |source| ServeError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).map_err(cannot_listen)?;
        listener.set_nonblocking(true).map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let token = options.token.clone().map_or_else(random_token, Ok)?;
        let metrics = Arc::new(Metrics::new());
        let (live, live_thread) = open_live(&options)?.unzip();
        let rules = Arc::new(LiveRules::open(&options, &metrics)?);
        let (seen, thread) =
            Seen::open(&options, rules.current().normalizer.fingerprint(), &metrics)?.unzip();
        if let Some(seen) = &seen {
            rules.tell_seen(seen.clone());
        }
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        if let Some(threads) = options.threads {
            builder.worker_threads(threads.max(1));
        }
        let runtime = builder.enable_all().thread_name("serve").build();
        let runtime = runtime.map_err(|source| ServeError::System { act: "start threads", source })?;
        // Who knows the address may already want it to stop.
        let signals = {
            let _runtime = runtime.enter();
            Signals::new(options.signals)
                .map_err(|source| ServeError::System { act: "wait for signals", source })?
        };
        let app = App {
            rules,
            seen,
            live,
            guard: Guard::new(&options.hosts, token.clone(), options.public),
            report: Report::new(options.crawl.clone(), options.trust_mirrors, options.tree),
            learning: Learning::new(options.crawl, options.learner, options.log.clone()),
            metrics,
            limits: options.limits,
            log: options.log,
        };
        let stop = Arc::new(watch::Sender::new(false));
        Ok(Self {
            listener,
            address,
            token,
            app: Arc::new(app),
            seen: thread,
            live: live_thread,
            signals,
            runtime,
            stop,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What whoever writes must know.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Stops it, from any thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop))
    }

    /// Answers until it is stopped, and then closes the seen-set.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, app, seen: thread, live: live_thread, signals, runtime, stop, .. } = self;
        let (seen, log) = (app.seen.clone(), app.log.clone());
        let live = app.live.clone();
        let (learning, stop) = (Arc::clone(&app), stop.subscribe());
        let served = runtime.block_on(serve(listener, app, signals, stop));
        learning.learning.cancel();
        runtime.shutdown_timeout(Duration::from_secs(1));
        if let (Some(seen), Some(thread)) = (seen, thread) {
            seen.close();
            thread.close()?;
        }
        if let (Some(live), Some(thread)) = (live, live_thread) {
            live.stop();
            thread.close();
        }
        log.note("stopped", "all requests are answered, and the server has stopped".into());
        served
    }
}

/// Opens the live crawl, if one is asked for.
fn open_live(options: &ServeOptions) -> Result<Option<(Live, LiveThread)>, ServeError> {
    let Some(state) = &options.live else { return Ok(None) };
    let known = options.known_rules.as_ref().map(|path| load(path, options.trust_mirrors)).transpose()?;
    let mut live = LiveOptions::default();
    live.rules = known.map(|known| known.normalizer);
    live.audit = options.audit;
    Live::open(state, live, &options.log).map(Some)
}

/// Takes connections until asked to stop, then waits for those that are there.
async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    mut signals: Signals,
    mut stop: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let listener = tokio::net::TcpListener::from_std(listener)
        .map_err(|source| ServeError::System { act: "listen", source })?;
    let service = TowerToHyperService::new(router(Arc::clone(&app)));
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(app.limits.connections));
    let http = http(&app.limits);
    let mut looks = tokio::time::interval(app.limits.reload);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                        turn_away(&stream, &app);
                        continue;
                    };
                    // Without it small answers wait for the client's acknowledgement.
                    let _ = stream.set_nodelay(true);
                    let io = TokioIo::new(IdleLimited::new(stream, app.limits.idle));
                    let connection = graceful.watch(http.serve_connection(io, service.clone()));
                    app.metrics.connections.inc();
                    let app = Arc::clone(&app);
                    tokio::spawn(async move {
                        // A client that is gone, or was too slow, has nobody to tell.
                        let _ = connection.await;
                        app.metrics.connections.dec();
                        drop(place);
                    });
                }
                Err(error) => {
                    let remedy = "allow more open files: ulimit -n, or LimitNOFILE= of the unit";
                    app.log.warning("accept_failed", with_causes(&error), remedy);
                    // Most likely there are too many open files; some will be closed.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            _ = looks.tick() => look(&app, LiveRules::reload_if_changed),
            signal = signals.next() => match signal {
                Signal::Reload => look(&app, LiveRules::reload_now),
                Signal::Stop => break,
            },
            _ = stop.wait_for(|stop| *stop) => break,
        }
    }
    drop(listener);
    app.log.note("stopping", "no more connections are taken; requests are answered to their end".into());
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(app.limits.stop) => {
            let remedy = "give them more time with --grace SECONDS";
            app.log.warning("cut_off", "some requests did not end in time and were cut off".into(), remedy);
        }
        () = signals.stop() => {}
    }
    Ok(())
}

fn http(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        // A client may say that it has sent all, and wait for the rest of the answer.
        .half_close(true)
        .max_buf_size(BUFFER_BYTES)
        // A buffer may take more than its size if it comes at once.
        .max_header_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    http
}

/// Tells a client that there is no room for it.
fn turn_away(stream: &TcpStream, app: &App) {
    app.metrics.connections_refused.inc();
    // A new connection has room for a few bytes, and nobody waits here for one that has not.
    let _ = stream.try_write(TOO_MANY);
}

/// Looks at the rule file, on another thread, while connections are taken.
fn look(app: &Arc<App>, look: impl FnOnce(&LiveRules) + Send + 'static) {
    let rules = Arc::clone(&app.rules);
    // A panic is reported on standard error, and the rules stay as they are.
    drop(tokio::task::spawn_blocking(move || look(&rules)));
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Stop,
    Reload,
}

/// Signals to the process, if they are wanted.
struct Signals {
    #[cfg(unix)]
    caught: Option<Caught>,
    #[cfg(not(unix))]
    is_wanted: bool,
}

#[cfg(unix)]
struct Caught {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    /// Waits until the process is to stop.
    async fn stop(&mut self) {
        while self.next().await != Signal::Stop {}
    }
}

#[cfg(unix)]
impl Signals {
    fn new(is_wanted: bool) -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let catch = || {
            Ok::<_, io::Error>(Caught {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
            })
        };
        Ok(Self { caught: is_wanted.then(catch).transpose()? })
    }

    async fn next(&mut self) -> Signal {
        match &mut self.caught {
            Some(Caught { interrupt, terminate, hangup }) => {
                tokio::select! {
                    _ = interrupt.recv() => Signal::Stop,
                    _ = terminate.recv() => Signal::Stop,
                    _ = hangup.recv() => Signal::Reload,
                }
            }
            None => pending().await,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn new(is_wanted: bool) -> io::Result<Self> {
        Ok(Self { is_wanted })
    }

    async fn next(&mut self) -> Signal {
        if !self.is_wanted || tokio::signal::ctrl_c().await.is_err() {
            return pending().await;
        }
        Signal::Stop
    }
}
