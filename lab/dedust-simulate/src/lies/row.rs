/*!
One observation of a lying site, with the truth about it.
*/

use dedust_learn::Clues;

use crate::text::push_number;

/// The [`LyingRow::content`] of a URL that shows an error text in place of its page.
pub const ERROR_CONTENT: u64 = u64::MAX;

/// A URL of a [`LyingSite`](super::LyingSite), what a crawler saw there, and what is really there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LyingRow {
    /// In ASCII without quotes or backslashes, as are title and links.
    pub url: String,
    /// The page it really leads to, also where an error was shown instead.
    pub page: u64,
    /// Equal where the same content was shown, apart from what differs between fetches of one page: the number of the
    /// page, or [`ERROR_CONTENT`].
    pub content: u64,
    /// HTTP status. Where it is not 200 there is no title, no text and no canonical link.
    pub status: u16,
    /// Title of the page.
    pub title: String,
    /// Hash of the text, 16 hex digits.
    pub text_digest: String,
    /// Fingerprint of the text.
    pub simhash: u64,
    /// Words of the text.
    pub words: u32,
    /// Target of `rel=canonical`.
    pub canonical: Option<String>,
    /// Target of the redirect.
    pub redirect: Option<String>,
}

impl LyingRow {
    /// What it tells a learner.
    pub fn clues(&self) -> Clues<'_> {
        let is_page = self.status == 200;
        Clues {
            canonical: self.canonical.as_deref().map(str::as_bytes),
            redirect: self.redirect.as_deref().map(str::as_bytes),
            text_digest: is_page.then_some(self.text_digest.as_bytes()),
            simhash: is_page.then_some(self.simhash),
            title: is_page.then_some(self.title.as_bytes()),
            status: Some(self.status),
            ..Clues::default()
        }
    }

    /// Appends a line of JSON with the URL and what was seen there: `status`; for pages `title`, `text_digest`,
    /// `simhash` and `words`; and, where there is one, `canonical` or `redirect`.
    pub fn append_observation(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        push_text(out, "url", &self.url);
        out.extend_from_slice(br#","status":"#);
        push_number(out, u64::from(self.status));
        if self.status == 200 {
            for (name, text) in [
                ("title", self.title.as_str()),
                ("text_digest", self.text_digest.as_str()),
                ("simhash", format!("{:016x}", self.simhash).as_str()),
            ] {
                out.push(b',');
                push_text(out, name, text);
            }
            out.extend_from_slice(br#","words":"#);
            push_number(out, u64::from(self.words));
        }
        for (name, target) in [("canonical", &self.canonical), ("redirect", &self.redirect)] {
            if let Some(target) = target {
                out.push(b',');
                push_text(out, name, target);
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends a line of JSON with the URL and its page, `{"url":..,"page":..}`.
    pub fn append_truth(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        push_text(out, "url", &self.url);
        out.extend_from_slice(br#","page":"#);
        push_number(out, self.page);
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a name and a text that needs no escapes.
fn push_text(out: &mut Vec<u8>, name: &str, text: &str) {
    for part in ["\"", name, "\":\"", text, "\""] {
        out.extend_from_slice(part.as_bytes());
    }
}
