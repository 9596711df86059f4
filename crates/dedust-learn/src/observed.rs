/*!
One observation, read: its URL parsed, its links resolved, its site known.

Takes the URL and clues as they came. Every way in to learning starts here, so that what one process leaves out, all leave out.
*/

use dedust::errors::ParseUrlError;
use dedust::{ParsedUrl, site_of};

use crate::label::Clues;
use crate::link_targets::LinkTargets;
use crate::thresholds::crawl::{MAX_URL_BYTES, MAX_URL_PARTS};

/// The observation that was read last, and room for the next.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) url: ParsedUrl,
    pub(crate) links: LinkTargets,
    /// Observations that were left out because their URLs have too many bytes or parts.
    pub(crate) too_long: u64,
    purpose: Purpose,
}

/// What observations are read for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To learn from them: those whose URLs are not of the web, or have too many bytes or parts, are left out.
    #[default]
    Learn,
    /// To see how good rules are, which are applied to all URLs.
    Evaluate,
}

impl Observed {
    pub(crate) fn new(purpose: Purpose) -> Self {
        Self { purpose, ..Self::default() }
    }

    /// Whether the observation is of use.
    pub(crate) fn read(&mut self, url: &[u8], clues: &Clues<'_>) -> Result<bool, ParseUrlError> {
        self.url.parse_from(url)?;
        if self.purpose == Purpose::Learn {
            if !is_of_the_web(&self.url) {
                return Ok(false);
            }
            if is_too_long(&self.url) {
                self.too_long += 1;
                return Ok(false);
            }
        }
        self.links.resolve(&self.url, clues);
        Ok(true)
    }

    /// The name of its site.
    pub(crate) fn site(&self) -> &[u8] {
        site_of(self.url.host())
    }
}

/// Whether there is anything to learn from a URL: not from others, such as `mailto:`.
pub(crate) fn is_of_the_web(url: &ParsedUrl) -> bool {
    matches!(url.scheme(), b"http" | b"https" | b"ftp" | b"ws" | b"wss")
}

/// Whether a URL has more bytes or parts than a page is named by.
fn is_too_long(url: &ParsedUrl) -> bool {
    let url = url.as_bytes();
    // Most URLs have fewer bytes than that.
    url.len() > MAX_URL_PARTS
        && (url.len() > MAX_URL_BYTES
            || url.iter().filter(|byte| matches!(byte, b'/' | b'?' | b'&' | b';')).count() > MAX_URL_PARTS)
}
