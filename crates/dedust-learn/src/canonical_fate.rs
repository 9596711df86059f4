/*!
What a crawl knows of the canonical URL of a URL, from what was seen at both.
*/

use dedust::rules::CanonicalCounts;

/// What was seen at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// Nothing that says anything.
    Unknown,
    /// An error that stays.
    Error,
    /// It leads to another URL.
    Redirect,
    /// It showed a page.
    Page,
}

/// What is known of the canonical URL of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CanonicalFate {
    /// It was fetched and showed the page.
    Alive,
    /// Nobody has fetched it.
    Unmet,
    /// It leads to another URL.
    Redirects,
    /// It answers with an error.
    Fails,
    /// It shows another page.
    OtherPage,
}

impl Seen {
    /// Whether it redirects or fails.
    pub fn is_gone(self) -> bool {
        match self {
            Self::Error | Self::Redirect => true,
            Self::Unknown | Self::Page => false,
        }
    }
}

impl CanonicalFate {
    /// What comes of what was seen at a URL and at its canonical URL, and whether that is known to be another page. `None` where both redirect or
    /// fail: nothing is worse than if the URL had stayed as it is.
    pub fn of(url: Seen, canonical: Seen, is_other: bool) -> Option<Self> {
        match canonical {
            Seen::Error | Seen::Redirect if url.is_gone() => None,
            Seen::Unknown => Some(Self::Unmet),
            Seen::Error => Some(Self::Fails),
            Seen::Redirect => Some(Self::Redirects),
            Seen::Page if is_other => Some(Self::OtherPage),
            Seen::Page => Some(Self::Alive),
        }
    }

    /// Whether the canonical URL is known not to show the page.
    pub fn is_wrong(self) -> bool {
        match self {
            Self::Alive | Self::Unmet => false,
            Self::Redirects | Self::Fails | Self::OtherPage => true,
        }
    }

    /// Adds it to what is known of others.
    pub fn count(self, counts: &mut CanonicalCounts) {
        match self {
            Self::Alive => counts.alive += 1,
            Self::Unmet => counts.unmet += 1,
            Self::Redirects | Self::Fails | Self::OtherPage => counts.wrong += 1,
        }
    }
}
