/*!
Document bytes to [`Page`]: the title, the text that a reader sees, and where the page says it really lives.

Takes documents as they are: broken markup is read as browsers do, bytes without meaning become U+FFFD. Follows no
links, runs no scripts, and knows no page but this one (see [`crate::SiteSample`]).
*/

use url::Url;

use crate::block::{Block, Place};
use crate::{charset, link_header, markup, refresh, text};

/// Blocks that are told apart; what follows is all one.
const MAX_BLOCKS: usize = 1 << 16;

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

/// What a reader sees of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub(crate) title: String,
    /// The blocks, a space between two.
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    pub(crate) refresh: Option<String>,
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

    /// The content of `<title>`; empty if there is none.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The visible text, white space as single spaces.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where `rel=canonical` leads, of the document or of its `Link` header. `None` if two say different things.
    pub fn canonical(&self) -> Option<&str> {
        self.canonical.as_deref()
    }

    /// Where the page sends its readers after a moment.
    pub fn refresh(&self) -> Option<&str> {
        self.refresh.as_deref()
    }

    /// About how much memory it takes, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Page>()
            + self.title.len()
            + self.text.capacity()
            + self.blocks.capacity() * size_of::<Block>()
    }

    /// The text of a block.
    pub(crate) fn text_of(&self, block: &Block) -> &str {
        // Blocks begin and end where words do; a span that would not is no reason to panic.
        self.text.get(block.start..block.end).unwrap_or_default()
    }

    /// Adds the words of `bytes` as a block, if there are any.
    pub(crate) fn push_block(&mut self, bytes: &[u8], slot: u64, place: Place) {
        let Some(start) = text::push_words(&mut self.text, bytes) else { return };
        let (end, count) = (self.text.len(), self.blocks.len());
        match self.blocks.last_mut() {
            Some(last) if count == MAX_BLOCKS => last.end = end,
            _ => self.blocks.push(Block { start, end, slot, place }),
        }
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
        page.push_block(line.as_bytes(), 0, Place::Body);
    }
    page
}

#[cfg(test)]
mod tests;
