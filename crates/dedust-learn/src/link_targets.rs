/*!
Where the links of a page lead: its URL and what it says in, absolute targets in safe normal form out.

A redirect or canonical link may be relative, to the host (`/b`), to the page (`../b`, `?p=2`) or to the scheme
(`//b.example/`), and is read as browsers do. One that is no URL is left out, as is one that says nothing: an empty one, a
fragment, or a word that exports write for a value that is not there, which would be a page of every folder.

Learning, clustering and scoring all read links here, so that they agree on which URLs these name.
*/

use std::fmt::Write as _;

use dedust::ParsedUrl;
use url::Url;

use crate::label::Clues;

/// Words for a value that is not there.
const NO_TARGETS: [&str; 7] = ["-", "null", "none", "nil", "nan", "n/a", "undefined"];

/// The targets of the links of one page, and room for those of the next.
///
/// ```
/// use dedust::ParsedUrl;
/// use dedust_learn::Clues;
/// use dedust_learn::support::LinkTargets;
///
/// let page = ParsedUrl::parse("http://a.example/docs/one?print=1")?;
/// let clues = Clues { canonical: Some(b"../docs/one"), ..Clues::default() };
/// let mut links = LinkTargets::default();
/// links.resolve(&page, &clues);
/// assert_eq!(links.within(&clues).canonical, Some(&b"http://a.example/docs/one"[..]));
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Debug, Default)]
pub struct LinkTargets {
    canonical: Target,
    redirect: Target,
}

#[derive(Debug, Default)]
struct Target {
    url: ParsedUrl,
    is_known: bool,
}

impl LinkTargets {
    /// Reads the links of the page at `base`.
    pub fn resolve(&mut self, base: &ParsedUrl, clues: &Clues<'_>) {
        self.canonical.resolve(base, clues.canonical);
        self.redirect.resolve(base, clues.redirect);
    }

    /// What is known of that page, with these links in place of those as written.
    pub fn within<'a>(&'a self, clues: &Clues<'a>) -> Clues<'a> {
        Clues {
            canonical: self.canonical().map(ParsedUrl::as_bytes),
            redirect: self.redirect().map(ParsedUrl::as_bytes),
            ..*clues
        }
    }

    pub(crate) fn canonical(&self) -> Option<&ParsedUrl> {
        self.canonical.get()
    }

    pub(crate) fn redirect(&self) -> Option<&ParsedUrl> {
        self.redirect.get()
    }
}

impl Target {
    fn get(&self) -> Option<&ParsedUrl> {
        self.is_known.then_some(&self.url)
    }

    fn resolve(&mut self, base: &ParsedUrl, target: Option<&[u8]>) {
        let target = target.map(<[u8]>::trim_ascii).filter(|target| says_something(target));
        self.is_known = target.is_some_and(|target| {
            // Our own reading comes first: it keeps bytes that are not UTF-8.
            self.url.parse_from(target).is_ok()
                || absolute(base, target)
                    .is_some_and(|url| self.url.parse_from(url.as_str().as_bytes()).is_ok())
        });
    }
}

fn says_something(target: &[u8]) -> bool {
    let is_no_target = NO_TARGETS.iter().any(|word| target.eq_ignore_ascii_case(word.as_bytes()));
    !target.is_empty() && !target.starts_with(b"#") && !is_no_target
}

fn absolute(base: &ParsedUrl, target: &[u8]) -> Option<Url> {
    Url::parse(&text_of(base.as_bytes())).ok()?.join(&text_of(target)).ok()
}

/// Bytes as text, those that are not UTF-8 escaped.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_browsers_read_them() {
        let base = ParsedUrl::parse("http://a.example:8080/docs/one/two?p=1").unwrap();
        let mut links = LinkTargets::default();
        for (target, expected) in [
            (&b"http://B.example/x/../y"[..], Some("http://b.example/y")),
            (b" //b.example/x ", Some("http://b.example/x")),
            (b"/x?q=1", Some("http://a.example:8080/x?q=1")),
            (b"../x", Some("http://a.example:8080/docs/x")),
            (b"page2", Some("http://a.example:8080/docs/one/page2")),
            (b"./page2#top", Some("http://a.example:8080/docs/one/page2")),
            (b"?p=2", Some("http://a.example:8080/docs/one/two?p=2")),
            (b"/caf\xe9", Some("http://a.example:8080/caf%E9")),
            (b"", None),
            (b" ", None),
            (b"#top", None),
            (b"NULL", None),
            (b"http://", None),
            (b"//[::1/", None),
        ] {
            let clues = Clues { redirect: Some(target), ..Clues::default() };
            links.resolve(&base, &clues);
            let found = links.within(&clues).redirect.map(|url| String::from_utf8_lossy(url).into_owned());
            assert_eq!(found.as_deref(), expected, "{}", target.escape_ascii());
            assert_eq!(links.within(&clues).canonical, None);
        }
    }

    #[test]
    fn what_was_read_before_is_forgotten() {
        let base = ParsedUrl::parse("http://a.example/").unwrap();
        let mut links = LinkTargets::default();
        links.resolve(&base, &Clues { canonical: Some(b"/x"), ..Clues::default() });
        links.resolve(&base, &Clues::default());
        assert_eq!(links.within(&Clues::default()), Clues::default());
    }
}
