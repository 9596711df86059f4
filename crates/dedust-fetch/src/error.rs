/*!
Why there is no page at a URL, as far as we can tell.
*/

use std::sync::Arc;

/// Why a fetch gave no page to compare.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Not a URL, or one that no request can be made for.
    #[error("no URL that can be fetched")]
    BadUrl,
    /// Only `http` and `https` are fetched.
    #[error("neither http nor https")]
    Scheme,
    /// The site asks not to fetch it.
    #[error("forbidden by robots.txt")]
    Robots,
    /// What the site asks for is not known.
    #[error("robots.txt cannot be fetched")]
    NoRobots,
    /// The site asks for more than is remembered of a site.
    #[error("robots.txt has more than 5000 rules")]
    LongRobots,
    /// The host has no address on the public internet, and was not named as one that may be connected to nevertheless.
    #[error("private address")]
    PrivateAddress,
    /// An answer, but not a page.
    #[error("status {0}")]
    Status(u16),
    /// The page that the host shows for URLs that do not exist.
    #[error("error page with status 200")]
    SoftError,
    /// Redirects without end, or more than were allowed.
    #[error("too many redirects")]
    Redirects,
    /// A redirect that leads nowhere.
    #[error("redirect without a target")]
    BadRedirect,
    /// No complete answer in time.
    #[error("timed out")]
    Timeout,
    /// More bytes than were allowed.
    #[error("too large")]
    TooLarge,
    /// An answer without content.
    #[error("empty")]
    Empty,
    /// The host failed too often to be asked again.
    #[error("host given up")]
    GivenUp,
    /// No connection, or an answer that is broken.
    #[error("network trouble")]
    Network(#[source] Arc<ureq::Error>),
}

impl FetchError {
    /// Whether the site answered that there is no such page. Trouble on the way and requests to come back later are
    /// no such answer.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Status(status) => (400..500).contains(status) && !matches!(status, 408 | 425 | 429),
            Self::SoftError => true,
            _ => false,
        }
    }

    /// Whether the host may be down.
    pub(crate) fn is_trouble(&self) -> bool {
        matches!(self, Self::Timeout | Self::Network(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_final_answers_say_that_a_page_is_missing() {
        for status in [400, 401, 403, 404, 410, 451] {
            assert!(FetchError::Status(status).is_missing(), "{status}");
        }
        for status in [204, 304, 408, 425, 429, 500, 503, 599] {
            assert!(!FetchError::Status(status).is_missing(), "{status}");
        }
        assert!(FetchError::SoftError.is_missing());
        assert!(!FetchError::Timeout.is_missing() && !FetchError::Robots.is_missing());
    }
}
