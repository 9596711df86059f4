/*!
One request, one answer: URL in, status and bytes out.

Follows no redirects and knows no manners (see [`crate::fetcher`]); bounds time and size, and connects to checked
addresses only.
*/

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use ureq::http::header::{CONNECTION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use ureq::unversioned::transport::DefaultConnector;
use url::Url;

use crate::FetchError;
use crate::allowed_host::AllowedHosts;
use crate::resolver::{CheckedResolver, NotPublic};

/// Longest pause that a host may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Makes requests.
#[derive(Debug)]
pub(crate) struct Transport {
    agent: ureq::Agent,
    max_bytes: usize,
}

/// Limits of a request.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) max_bytes: usize,
    /// Which hosts may be connected to although their addresses are not public.
    pub(crate) allowed_hosts: AllowedHosts,
    pub(crate) user_agent: String,
}

/// What a server said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// Where a redirect leads.
    pub(crate) location: Option<String>,
    /// How long the server wants to be left alone.
    pub(crate) pause: Option<Duration>,
    pub(crate) body: Vec<u8>,
    /// Whether there was more than may be read.
    pub(crate) is_cut: bool,
}

impl Transport {
    pub(crate) fn new(limits: &Limits) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            // A connection that waits for the next page keeps one of the server's.
            .max_idle_connections(0)
            .timeout_global(Some(limits.timeout))
            .user_agent(limits.user_agent.clone())
            .accept("text/html,application/xhtml+xml,*/*;q=0.5")
            .build();
        let resolver = CheckedResolver { allowed_hosts: limits.allowed_hosts.clone() };
        Self {
            agent: ureq::Agent::with_parts(config, DefaultConnector::default(), resolver),
            max_bytes: limits.max_bytes,
        }
    }

    /// Asks for `url`, which is `http` or `https`. Credentials in it are not sent.
    pub(crate) fn get(&self, url: &Url) -> Result<Answer, FetchError> {
        let url = without_credentials(url).ok_or(FetchError::BadUrl)?;
        let mut response =
            self.agent.get(url.as_str()).header(CONNECTION, "close").call().map_err(describe)?;
        let header = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let mut answer = Answer {
            status: response.status().as_u16(),
            content_type: header(CONTENT_TYPE),
            location: header(LOCATION),
            pause: header(RETRY_AFTER)
                .and_then(|value| value.trim().parse().ok())
                .map(|seconds| Duration::from_secs(seconds).min(MAX_PAUSE)),
            body: Vec::new(),
            is_cut: false,
        };
        if (200..300).contains(&answer.status) {
            let limit = self.max_bytes as u64 + 1;
            let read = response.body_mut().as_reader().take(limit).read_to_end(&mut answer.body);
            read.map_err(|error| describe(ureq::Error::from(error)))?;
            answer.is_cut = answer.body.len() > self.max_bytes;
            answer.body.truncate(self.max_bytes);
        }
        Ok(answer)
    }
}

fn without_credentials(url: &Url) -> Option<Url> {
    let mut url = url.clone();
    url.set_fragment(None);
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

fn describe(error: ureq::Error) -> FetchError {
    match error {
        ureq::Error::Timeout(_) => FetchError::Timeout,
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => FetchError::BadUrl,
        ureq::Error::Other(cause) if cause.is::<NotPublic>() => FetchError::PrivateAddress,
        error => FetchError::Network(Arc::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_fragments_are_not_sent() {
        let url = Url::parse("http://user:secret@a.example/p?q#top").unwrap();
        assert_eq!(without_credentials(&url).unwrap().as_str(), "http://a.example/p?q");
    }
}
