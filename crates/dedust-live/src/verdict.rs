/*!
The answer to a URL.
*/

use serde::{Deserialize, Serialize};

/// Whether a URL is to be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is: its page is not known.
    Fetch,
    /// It is: it is believed to show a page that was fetched, and is fetched to find out.
    Audit,
    /// It is not: its page was fetched under another URL, or is being fetched.
    Skip,
}

impl Verdict {
    /// The word for it in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Audit => "audit",
            Self::Skip => "skip",
        }
    }

    /// Whether it is to be fetched.
    pub const fn is_fetched(self) -> bool {
        !matches!(self, Self::Skip)
    }

    pub(crate) const fn code(self) -> u8 {
        self.name().as_bytes()[0]
    }

    pub(crate) const fn of_code(code: u8) -> Option<Self> {
        match code {
            b'f' => Some(Self::Fetch),
            b'a' => Some(Self::Audit),
            b's' => Some(Self::Skip),
            _ => None,
        }
    }
}
