/*!
What is served, where, and within which limits.
*/

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dedust_learn::support::{CanonFd, Learner};
use dedust_report::TreeOf;
use dedust_seen::SeenLocation;

use crate::error::ServeError;
use crate::event::Log;
use crate::live::rules_in;

/// Characters of a token at least: 64 bits, in hexadecimal digits.
const MIN_TOKEN: usize = 16;

/// Finds the learner of a method.
pub type LearnerOf = fn(&str) -> Option<Arc<dyn Learner>>;

/// What is served. Fields have defaults, which [`ServeOptions::new`] sets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The rule file, plain or compiled.
    pub rules: PathBuf,
    /// The state of a live crawl, for `/v1/crawl`; default none. It has the rule file then: see [`ServeOptions::live`].
    pub live: Option<PathBuf>,
    /// Rules that serve a live crawl until a site has its own; default none.
    pub known_rules: Option<PathBuf>,
    /// The share of the URLs that a live crawl skips which it may audit; default 0.05.
    pub audit: f64,
    /// Crawls that rules can be learned from again; default none.
    pub crawl: Vec<PathBuf>,
    /// The learner of a method that a rule file names, `None` where there is none; default [`CanonFd`] alone.
    pub learner: LearnerOf,
    /// What makes the trees of sites for the page; default nothing.
    pub tree: Option<TreeOf>,
    /// Where to listen; default 127.0.0.1:7007. Port 0 is any that is free.
    pub listen: SocketAddr,
    /// Whether `listen` may be an address that other machines can reach; default no.
    pub public: bool,
    /// Names by which the server may be called, beside `localhost` and addresses; default none.
    pub hosts: Vec<String>,
    /// Where the seen-set is; default nowhere, and then `/v1/seen` is not there.
    pub seen: Option<SeenLocation>,
    /// How long a server that has the seen-set and does not answer is waited for, before its keys count as new; default 20 s.
    pub seen_patience: Duration,
    /// Whether keys outlive a loss of power before they are acknowledged, and not only the end of the process; default no. Of sets in
    /// folders only.
    pub sync: bool,
    /// Whether mirrors are applied; default no.
    pub trust_mirrors: bool,
    /// What whoever writes must know; default a random one.
    pub token: Option<String>,
    /// Threads that answer; default one per core.
    pub threads: Option<usize>,
    /// Whether SIGTERM and SIGINT stop the server and SIGHUP reloads rules; default no, for servers inside of programs.
    pub signals: bool,
    /// Limits on what clients may take.
    pub limits: Limits,
    /// Told about what happens; default nobody.
    pub log: Log,
}

/// What clients may take. Whoever takes more gets an error, or the connection is closed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request's body; default 1 GiB. They are never in memory all at once.
    pub body_bytes: u64,
    /// Connections at a time; default 1,024.
    pub connections: usize,
    /// Time for the head of a request; default 10 s.
    pub head: Duration,
    /// Time without a byte in either direction; default 60 s.
    pub idle: Duration,
    /// Time for the body of a request and its answer; default 10 min.
    pub request: Duration,
    /// Time that requests have to end when the server is stopped; default 10 s.
    pub stop: Duration,
    /// Time between looks at the rule file; default 1 s.
    pub reload: Duration,
}

impl ServeOptions {
    /// Serves a rule file with defaults.
    pub fn new(rules: impl Into<PathBuf>) -> Self {
        Self {
            rules: rules.into(),
            live: None,
            known_rules: None,
            audit: 0.05,
            crawl: Vec::new(),
            learner: |method| (method == CanonFd.name()).then(|| Arc::new(CanonFd) as _),
            tree: None,
            listen: (Ipv4Addr::LOCALHOST, 7007).into(),
            public: false,
            hosts: Vec::new(),
            seen: None,
            seen_patience: Duration::from_secs(20),
            sync: false,
            trust_mirrors: false,
            token: None,
            threads: None,
            signals: false,
            limits: Limits::default(),
            log: Log::silent(),
        }
    }

    /// Serves a live crawl in a folder, and the rules that it learns.
    pub fn live(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        Self { live: Some(state.clone()), ..Self::new(rules_in(&state)) }
    }

    /// Refuses what is not safe.
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        if !self.public && !self.listen.ip().is_loopback() {
            return Err(ServeError::NotLoopback { address: self.listen });
        }
        if let Some(location @ SeenLocation::Server(_)) = self.seen.as_ref().filter(|_| self.sync) {
            return Err(ServeError::SyncOfServer { address: location.to_string() });
        }
        match &self.token {
            Some(token) if self.has_short_token() && (self.public || self.live.is_none()) => {
                Err(ServeError::ShortToken { characters: token.len(), needed: MIN_TOKEN })
            }
            _ => Ok(()),
        }
    }

    /// Whether the token can be guessed. One of a live crawl may be, on this machine alone, where crawlers need none.
    pub fn has_short_token(&self) -> bool {
        self.token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 30,
            connections: 1024,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            request: Duration::from_secs(600),
            stop: Duration::from_secs(10),
            reload: Duration::from_secs(1),
        }
    }
}

/// A token that nobody can guess: 128 random bits.
pub fn random_token() -> Result<String, ServeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| ServeError::System { act: "get random numbers", source: error.into() })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
