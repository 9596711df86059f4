/*!
URL to [`Fingerprint`], with manners: robots.txt first, one request at a time, a pause after each.

Redirects are followed here, hop by hop, so that each is checked as the first URL was. A page that a host also shows
for a URL that cannot exist is an error page, whatever its status.
*/

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::allowed_host::AllowedHosts;
use crate::host::{Host, Origin};
use crate::recent::Recent;
use crate::robots::Robots;
use crate::transport::{Answer, Limits, Transport};
use crate::{AllowedHost, FetchError, Fingerprint, Visit};

/// Hosts whose pauses and failures are remembered. Far more than can be asked within the longest pause.
const MAX_HOSTS: usize = 10_000;

/// Origins whose robots.txt is kept; that of another is fetched again when it is needed.
const MAX_ORIGINS: usize = 256;

/// Longest URL that is fetched. Few servers accept more, and every rule of a robots.txt reads the whole URL.
const MAX_URL_BYTES: usize = 16 << 10;

/// Fetches pages. Shared by threads; requests to one host wait for each other.
#[derive(Debug)]
pub struct Fetcher {
    transport: Transport,
    limits: Limits,
    delay: Duration,
    max_redirects: u32,
    hosts: Recent<Host>,
    origins: Recent<Origin>,
    requests: AtomicU64,
}

/// Settings of a [`Fetcher`].
#[derive(Clone, Debug)]
pub struct FetcherBuilder {
    limits: Limits,
    delay: Duration,
    max_redirects: u32,
}

impl FetcherBuilder {
    /// The pause after each request to a host. Default: one second; more where robots.txt asks for it.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// How long one request may take, from the name lookup to the last byte. Default: ten seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    /// Bytes of a page, unpacked; a larger page is an error. Default: 5 MiB.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.limits.max_bytes = max_bytes;
        self
    }

    /// Redirects to follow from one URL. Default: 5.
    #[must_use]
    pub fn max_redirects(mut self, max_redirects: u32) -> Self {
        self.max_redirects = max_redirects;
        self
    }

    /// A host that may be connected to although its address is not public. Default: none. May be called for any number
    /// of hosts.
    #[must_use]
    pub fn allow_host(mut self, host: AllowedHost) -> Self {
        self.limits.allowed_hosts.push(host);
        self
    }

    /// How we introduce ourselves; robots.txt is read for what stands before the first `/`.
    /// Default: `dedust/0.1 (URL normalization check)`.
    #[must_use]
    pub fn user_agent(mut self, user_agent: &str) -> Self {
        self.limits.user_agent = user_agent.into();
        self
    }

    /// A fetcher that has met no host yet.
    pub fn build(self) -> Fetcher {
        let Self { limits, delay, max_redirects } = self;
        Fetcher {
            transport: Transport::new(&limits),
            limits,
            delay,
            max_redirects,
            hosts: Recent::new(MAX_HOSTS),
            origins: Recent::new(MAX_ORIGINS),
            requests: AtomicU64::new(0),
        }
    }
}

impl Fetcher {
    /// How we introduce ourselves unless told otherwise.
    pub const USER_AGENT: &'static str = "dedust/0.1 (URL normalization check)";

    /// Settings, all at their defaults.
    pub fn builder() -> FetcherBuilder {
        let limits = Limits {
            timeout: Duration::from_secs(10),
            max_bytes: 5 << 20,
            allowed_hosts: AllowedHosts::default(),
            user_agent: Self::USER_AGENT.into(),
        };
        FetcherBuilder { limits, delay: Duration::from_secs(1), max_redirects: 5 }
    }

    /// Requests made so far, those for robots.txt and missing pages too.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether `url` may be fetched at all, by its scheme and its site's robots.txt.
    pub fn check(&self, url: &str) -> Result<(), FetchError> {
        let url = parse(url)?;
        self.robots(&self.origin(&url), &url).check(&url)
    }

    /// The page at `url`, after redirects.
    pub fn fetch(&self, url: &str) -> Result<Fingerprint, FetchError> {
        self.visit(url).map(|visit| visit.fingerprint)
    }

    /// The same, with what it takes to compare it with another visit.
    pub fn visit(&self, url: &str) -> Result<Visit, FetchError> {
        let (url, page) = self.follow(parse(url)?)?;
        match self.missing(&url) {
            Some(missing) if page.fingerprint.is_same_page(&missing) => Err(FetchError::SoftError),
            _ => Ok(page),
        }
    }

    /// Where redirects from `url` lead, and the page there.
    fn follow(&self, mut url: Url) -> Result<(Url, Visit), FetchError> {
        for hop in 0..=self.max_redirects {
            let origin = self.origin(&url);
            let robots = self.robots(&origin, &url);
            robots.check(&url)?;
            let answer = self.ask(&url, self.delay.max(robots.delay()))?;
            match answer.status {
                200..=299 if answer.is_cut => return Err(FetchError::TooLarge),
                200..=299 if answer.body.is_empty() => return Err(FetchError::Empty),
                200..=299 => {
                    let (fingerprint, passages) =
                        Fingerprint::with_passages(&answer.body, answer.content_type.as_deref());
                    return Ok((url, Visit { fingerprint, is_redirected: hop > 0, passages }));
                }
                301 | 302 | 303 | 307 | 308 => url = target(&url, &answer)?,
                status => return Err(FetchError::Status(status)),
            }
        }
        Err(FetchError::Redirects)
    }

    /// What `url` answers, once its host is free; a server in trouble is asked twice.
    fn ask(&self, url: &Url, delay: Duration) -> Result<Answer, FetchError> {
        let host = self.hosts.get(url.host_str().unwrap_or_default());
        let mut gate = host.enter()?;
        let mut is_second = false;
        loop {
            gate.wait();
            let outcome = self.transport.get(url);
            if matches!(outcome, Err(FetchError::PrivateAddress | FetchError::BadUrl)) {
                return outcome;
            }
            self.requests.fetch_add(1, Ordering::Relaxed);
            let asked_for = outcome.as_ref().ok().and_then(|answer| answer.pause);
            gate.pause(delay.max(asked_for.unwrap_or_default()));
            gate.note(&outcome);
            match outcome {
                Ok(answer) if answer.status >= 500 && !is_second => is_second = true,
                outcome => return outcome,
            }
        }
    }

    fn origin(&self, url: &Url) -> Arc<Origin> {
        self.origins.get(&url.origin().ascii_serialization())
    }

    /// What the site of `url` lets us fetch; asked once.
    fn robots<'a>(&self, origin: &'a Origin, url: &Url) -> &'a Robots {
        origin.robots.get_or_init(|| {
            let Ok(mut url) = url.join("/robots.txt") else { return Robots::Free };
            for _ in 0..=self.max_redirects {
                let answer = match self.ask(&url, self.delay) {
                    Ok(answer) => answer,
                    Err(error) => return Robots::Unreachable(error),
                };
                match answer.status {
                    200..=299 => return Robots::read(&self.limits.user_agent, &answer.body),
                    301 | 302 | 303 | 307 | 308 => match target(&url, &answer) {
                        Ok(next) => url = next,
                        Err(_) => return Robots::Free,
                    },
                    429 | 500.. => return Robots::Unreachable(FetchError::Status(answer.status)),
                    _ => return Robots::Free,
                }
            }
            Robots::Free
        })
    }

    /// The page that the host of `url` shows for a URL that does not exist; asked once.
    fn missing(&self, url: &Url) -> Option<Fingerprint> {
        let origin = self.origin(url);
        let probe = || {
            let name = url.origin().ascii_serialization();
            let probe = url.join(&format!("/no-such-page-{:016x}", xxh3_64(name.as_bytes()))).ok()?;
            self.follow(probe).ok().map(|(_, page)| page.fingerprint)
        };
        origin.missing.get_or_init(probe).clone()
    }
}

fn parse(url: &str) -> Result<Url, FetchError> {
    if url.len() > MAX_URL_BYTES {
        return Err(FetchError::BadUrl);
    }
    let url = Url::parse(url).map_err(|_| FetchError::BadUrl)?;
    if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(FetchError::Scheme) }
}

/// Where a redirect from `url` leads.
fn target(url: &Url, answer: &Answer) -> Result<Url, FetchError> {
    let location = answer.location.as_deref().ok_or(FetchError::BadRedirect)?;
    let target = url.join(location).map_err(|_| FetchError::BadRedirect)?;
    parse(target.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetchers_are_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Fetcher>();
    }

    #[test]
    fn only_web_pages_are_fetched() {
        let fetcher = Fetcher::builder().build();
        for url in ["ftp://a.example/", "file:///etc/passwd", "data:,x", "mailto:a@a.example"] {
            assert!(matches!(fetcher.fetch(url), Err(FetchError::Scheme)), "{url}");
        }
        let long = format!("http://a.example/{}", "x".repeat(MAX_URL_BYTES));
        for url in ["not a URL", &long] {
            assert!(matches!(fetcher.fetch(url), Err(FetchError::BadUrl)));
        }
        assert_eq!(fetcher.requests(), 0);
    }
}
