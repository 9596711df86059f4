/*!
Document bytes to [`Page`].

Takes documents as they are: broken markup is read as browsers do, bytes without meaning become U+FFFD. Follows no
links, runs no scripts, and knows no page but this one (see [`crate::PageSample`]).
*/

use url::Url;

use crate::block::PageRegion;
use crate::page::Page;
use crate::{charset, link_header, markup, refresh};

/// A document, and what came with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSource<'a> {
    /// Where it was fetched; links are relative to it.
    pub url: &'a [u8],
    /// The type with its parameters, such as `text/html; charset=UTF-8`.
    pub content_type: Option<&'a [u8]>,
    /// The values of the HTTP header `Link`.
    pub links: &'a [&'a [u8]],
    /// The value of the HTTP header `Refresh`.
    pub refresh: Option<&'a [u8]>,
    /// The document itself.
    pub body: &'a [u8],
}

impl Page {
    /// Reads a document, if it is one that has text: HTML, XHTML or plain text by its content type, or HTML by its
    /// first bytes if it has none.
    ///
    /// ```
    /// use dedust_pages::{Page, PageSource};
    ///
    /// let body = b"<title>One &amp; two</title><link rel=canonical href=/p><p>Some <b>tex</b>t.<p>More.";
    /// let page = Page::read(&PageSource { url: b"http://a.example/p?sid=9", body, ..PageSource::default() }).unwrap();
    /// assert_eq!((page.title(), page.text()), ("One & two", "Some text. More."));
    /// assert_eq!(page.canonical(), Some("http://a.example/p"));
    /// ```
    pub fn read(source: &PageSource<'_>) -> Option<Page> {
        let is_html = is_html(source)?;
        let decoded = charset::decode(source.body, source.content_type, is_html);
        let mut page = if is_html { markup::read(&decoded) } else { plain(&decoded) };
        let utf8 = |value: &[u8]| std::str::from_utf8(value).ok().map(str::to_owned);
        if let Some(header) = source.refresh.and_then(utf8) {
            page.refresh = refresh::target(&header).map(str::to_owned).or(page.refresh);
        }
        if page.canonical.is_none() {
            let mut headers = source.links.iter().filter_map(|header| utf8(header));
            page.canonical = headers.find_map(|header| link_header::canonical(&header).map(str::to_owned));
        }
        if page.canonical.is_some() || page.refresh.is_some() {
            page.resolve(source.url);
        }
        Some(page)
    }

    /// Makes links absolute. One that cannot be leads nowhere, and so does a refresh to the page itself.
    fn resolve(&mut self, url: &[u8]) {
        let document = std::str::from_utf8(url).ok().and_then(|url| Url::parse(url).ok());
        let base = match (&document, &self.base) {
            (Some(document), Some(base)) => document.join(base).ok().or_else(|| Some(document.clone())),
            (Some(document), None) => Some(document.clone()),
            (None, Some(base)) => Url::parse(base).ok(),
            (None, None) => None,
        };
        let absolute = |target: String| {
            let url = match &base {
                Some(base) => base.join(&target),
                None => Url::parse(&target),
            };
            url.ok().filter(|url| matches!(url.scheme(), "http" | "https"))
        };
        self.canonical = self.canonical.take().and_then(absolute).map(String::from);
        let elsewhere = |target: &Url| document.as_ref() != Some(target);
        self.refresh = self.refresh.take().and_then(absolute).filter(elsewhere).map(String::from);
    }
}

/// Whether a document is HTML or plain text; `None` if neither.
fn is_html(source: &PageSource<'_>) -> Option<bool> {
    let kind = source.content_type.map(|value| {
        let kind = value.split(|byte| *byte == b';').next().unwrap_or_default();
        kind.trim_ascii().to_ascii_lowercase()
    });
    match kind.as_deref() {
        Some(b"text/html" | b"application/xhtml+xml") => Some(true),
        Some(b"text/plain") => Some(false),
        None | Some(b"") if source.body.trim_ascii_start().starts_with(b"<") => Some(true),
        _ => None,
    }
}

/// Lines of plain text are blocks.
fn plain(decoded: &str) -> Page {
    let mut page = Page::default();
    for line in decoded.lines() {
        page.push_block(line.as_bytes(), 0, PageRegion::Body);
    }
    page
}

#[cfg(test)]
mod tests;
