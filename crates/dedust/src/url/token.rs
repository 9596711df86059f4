/*!
The key-value view of a URL: [`ParsedUrl`] in, `(key, value)` pairs out.

`http://forum.example.org/view.php;s=9/?id=7&new` on the site `example.org` reads

| key | value |
|---|---|
| `scheme` | `http` |
| `sub_0` | `forum`: labels left of the site's domain, counted from the right, so `www` shifts nothing |
| `path_0` | `view.php`: segments from the left; an empty one is a value too |
| `mp.s` | `9`: parameters of the last path segment |
| `tslash` | `/`, present only when the path ends with a slash |
| `q.id` | `7` |
| `q.new` | no value: [`Value::Bare`], which is not the empty text of `new=` |
| `q.=` | a text in place of a parameter, as in `?/topic,21.0.html` or `?1588347`: it has no `=`, and starts with a digit or has a `/` or `,` |

Repeated names become `q.a`, `q.a#2`, ... in order of appearance. A key that is not there has no pair: absence
is the third state next to the empty text and [`Value::Bare`]. Two different safe-normalized URLs never share
all their pairs, except that parameters may stand in another order: that is what lets a key stand for a URL.

A query that is separated by `;` says so with the pair `sep` = `;`. Where parts lie is found by `outline.rs`.
*/

use std::ops::ControlFlow;

use foldhash::HashMap;
use memchr::memchr2;

use super::ParsedUrl;
use super::outline::{MAX_POSITIONS, Outline, Segments, Separators};

/// The name of one part of a URL that can hold a value. Ordered by class, then by position or name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UrlPart {
    /// `http` or `https`.
    Scheme,
    /// A host label left of the site's domain, counted from the right.
    Subdomain(u16),
    /// A port that is not the scheme's default.
    Port,
    /// A path segment, counted from the left.
    PathSegment(u16),
    /// Present when the path ends with a slash.
    TrailingSlash,
    /// A `;name=value` parameter of the last path segment.
    PathParam(ParamName),
    /// Present when query parameters are separated by something else than `&`.
    QuerySeparator,
    /// A query parameter, or a text in place of one, whose name is `=`.
    QueryParam(ParamName),
    /// The part after `#!`.
    Hashbang,
}

/// A parameter's name, and which of its appearances is meant (1 for the first).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParamName {
    /// The name as it stands in the safe-normalized URL.
    pub name: Box<str>,
    /// 1 for the first parameter of that name, 2 for the second, ...
    pub occurrence: u32,
}

/// The value of a key that is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A parameter without `=`. Written `null` in rule files.
    Bare,
    /// Text, possibly empty.
    Text(Box<str>),
}

/// A key as met in a URL, borrowed; parameters carry their name without its occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawKey<'a> {
    /// See [`UrlPart::Scheme`].
    Scheme,
    /// See [`UrlPart::Subdomain`]; `u16::MAX` for all that lie beyond the thousandth.
    Subdomain(u16),
    /// See [`UrlPart::Port`].
    Port,
    /// See [`UrlPart::PathSegment`]; `u16::MAX` for all that lie beyond the thousandth.
    PathSegment(u16),
    /// See [`UrlPart::TrailingSlash`].
    TrailingSlash,
    /// See [`UrlPart::PathParam`].
    PathParam(&'a [u8]),
    /// See [`UrlPart::QuerySeparator`].
    QuerySeparator,
    /// See [`UrlPart::QueryParam`].
    QueryParam(&'a [u8]),
    /// See [`UrlPart::Hashbang`].
    Hashbang,
}

impl RawKey<'_> {
    /// The key of a name's first, second, ... occurrence; of no matter for keys without a name.
    #[must_use]
    pub fn to_key(self, occurrence: u32) -> UrlPart {
        let named = |name: &[u8]| ParamName { name: String::from_utf8_lossy(name).into(), occurrence };
        match self {
            Self::Scheme => UrlPart::Scheme,
            Self::Subdomain(index) => UrlPart::Subdomain(index),
            Self::Port => UrlPart::Port,
            Self::PathSegment(index) => UrlPart::PathSegment(index),
            Self::TrailingSlash => UrlPart::TrailingSlash,
            Self::PathParam(name) => UrlPart::PathParam(named(name)),
            Self::QuerySeparator => UrlPart::QuerySeparator,
            Self::QueryParam(name) => UrlPart::QueryParam(named(name)),
            Self::Hashbang => UrlPart::Hashbang,
        }
    }
}

/// A value as met in a URL: `None` is [`Value::Bare`].
pub type RawValue<'a> = Option<&'a [u8]>;

/// Visits the pairs of `url`, whose host ends with the site's domain of `domain_len` bytes.
///
/// Stops early when `visit` breaks, and says so. Allocates nothing.
pub fn visit_tokens<'a>(
    url: &'a ParsedUrl,
    domain_len: usize,
    separators: Separators,
    mut visit: impl FnMut(RawKey<'a>, RawValue<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    visit(RawKey::Scheme, Some(url.scheme()))?;
    let (text, outline) = (url.as_bytes(), Outline::of(url));
    let index_of = |index: usize| if index < MAX_POSITIONS { index as u16 } else { u16::MAX };
    // Of another site, if it has this one's name by chance: `b-example.org` is none of `example.org`.
    let is_of_other = url.host().iter().nth_back(domain_len).is_some_and(|&byte| byte != b'.');
    for (index, label) in outline.labels(domain_len).enumerate() {
        let index = if is_of_other { u16::MAX } else { index_of(index) };
        visit(RawKey::Subdomain(index), Some(label.text(text)))?;
    }
    if let Some(port) = url.port() {
        visit(RawKey::Port, Some(port))?;
    }
    let mut segments = outline.segments();
    for (index, segment) in segments.iter_mut().flatten().enumerate() {
        visit(RawKey::PathSegment(index_of(index)), Some(segment.text(text)))?;
    }
    if segments.as_ref().is_none_or(|segments| segments.has_slash) {
        visit(RawKey::TrailingSlash, Some(b"/"))?;
    }
    for param in segments.iter().filter_map(Segments::params).flatten() {
        visit(RawKey::PathParam(param.name(text)), param.value(text))?;
    }
    if let Some(query) = outline.query(separators) {
        if query.separator() != b'&' {
            visit(RawKey::QuerySeparator, Some(b";"))?;
        }
        for param in query.params() {
            let (name, value) = match (param.name(text), param.value(text)) {
                (text, None) if is_query_text(text) => (TEXT_NAME, Some(text)),
                param => param,
            };
            visit(RawKey::QueryParam(name), value)?;
        }
    }
    if let Some(hashbang) = url.hashbang() {
        visit(RawKey::Hashbang, Some(hashbang))?;
    }
    ControlFlow::Continue(())
}

/// The name of a text that stands in place of a parameter. No parameter has it.
pub(crate) const TEXT_NAME: &[u8] = b"=";

/// Whether a piece of a query without `=` is a text, such as `/topic,21.0.html` or `1588347`, and not the name of a parameter.
#[inline]
pub(crate) fn is_query_text(piece: &[u8]) -> bool {
    piece.first().is_some_and(u8::is_ascii_digit) || memchr2(b'/', b',', piece).is_some()
}

/// The extension of a file name, without its dot: `html` of `index.html`; none for `.profile` or `v1.2`.
///
/// An extension is 2 to 5 letters or digits with at least one letter, after a stem that is not empty.
pub fn extension(segment: &str) -> Option<&str> {
    let (stem, extension) = segment.rsplit_once('.')?;
    let fits = (2..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    (fits && !stem.is_empty()).then_some(extension)
}

/// All pairs of `url` on a site, in the order of the URL; `None` when rules cannot speak of it: it holds bytes
/// that are not UTF-8, or has more than a thousand path segments or host labels.
pub fn tokenize(url: &ParsedUrl, domain: &str) -> Option<Vec<(UrlPart, Value)>> {
    let mut tokens = Vec::new();
    let (mut path_names, mut query_names) = (NameCounts::default(), NameCounts::default());
    let flow = visit_tokens(url, domain.len(), Separators::Safe, |key, value| {
        let named = |name: &[u8], occurrence| {
            Some(ParamName { name: std::str::from_utf8(name).ok()?.into(), occurrence })
        };
        let key = match key {
            RawKey::Subdomain(u16::MAX) | RawKey::PathSegment(u16::MAX) => None,
            RawKey::Scheme => Some(UrlPart::Scheme),
            RawKey::Subdomain(index) => Some(UrlPart::Subdomain(index)),
            RawKey::Port => Some(UrlPart::Port),
            RawKey::PathSegment(index) => Some(UrlPart::PathSegment(index)),
            RawKey::TrailingSlash => Some(UrlPart::TrailingSlash),
            RawKey::PathParam(name) => named(name, path_names.count(name)).map(UrlPart::PathParam),
            RawKey::QuerySeparator => Some(UrlPart::QuerySeparator),
            RawKey::QueryParam(name) => named(name, query_names.count(name)).map(UrlPart::QueryParam),
            RawKey::Hashbang => Some(UrlPart::Hashbang),
        };
        let value = match value {
            None => Some(Value::Bare),
            Some(bytes) => std::str::from_utf8(bytes).ok().map(|text| Value::Text(text.into())),
        };
        match key.zip(value) {
            Some(pair) => {
                tokens.push(pair);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    });
    flow.is_continue().then_some(tokens)
}

/// How often each name came so far.
#[derive(Default)]
pub(crate) struct NameCounts<'a> {
    /// The names themselves, while they are few.
    few: [&'a [u8]; MAX_FEW_NAMES],
    few_len: usize,
    many: HashMap<&'a [u8], u32>,
}

/// Names that are faster to compare than to hash.
const MAX_FEW_NAMES: usize = 16;

impl<'a> NameCounts<'a> {
    /// How often a name came, with this time.
    pub(crate) fn count(&mut self, name: &'a [u8]) -> u32 {
        if self.few_len < MAX_FEW_NAMES {
            self.few[self.few_len] = name;
            self.few_len += 1;
            return self.few[..self.few_len].iter().filter(|other| **other == name).count() as u32;
        }
        if self.many.is_empty() {
            for name in self.few {
                *self.many.entry(name).or_default() += 1;
            }
        }
        let count = self.many.entry(name).or_default();
        *count += 1;
        *count
    }
}

impl UrlPart {
    /// Whether it stands for a text in place of a query parameter.
    pub fn is_query_text(&self) -> bool {
        matches!(self, Self::QueryParam(param) if param.name.as_bytes() == TEXT_NAME)
    }

    /// The first query parameter called `name`; `=` stands for a text in place of a parameter.
    pub fn query(name: &str) -> Self {
        Self::QueryParam(ParamName { name: name.into(), occurrence: 1 })
    }
}

impl Value {
    /// The text, or `None` for a parameter without `=`.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Bare => None,
            Self::Text(text) => Some(text),
        }
    }

    /// The text as bytes.
    pub fn as_raw(&self) -> RawValue<'_> {
        self.as_text().map(str::as_bytes)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> String {
        let url = ParsedUrl::parse(url).unwrap();
        let tokens = tokenize(&url, "example.org").unwrap();
        tokens.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn host_labels_are_counted_from_the_right() {
        assert_eq!(read("http://a.b.example.org/"), "scheme=http sub_0=b sub_1=a tslash=/");
        assert_eq!(read("https://example.org:81/"), "scheme=https port=81 tslash=/");
        let other = ParsedUrl::parse("http://b-example.org/").unwrap();
        assert_eq!(tokenize(&other, "example.org"), None);
    }

    #[test]
    fn slashes_make_values_not_holes() {
        assert_eq!(read("http://example.org/a"), "scheme=http path_0=a");
        assert_eq!(read("http://example.org/a/"), "scheme=http path_0=a tslash=/");
        assert_eq!(read("http://example.org/a//b"), "scheme=http path_0=a path_1= path_2=b");
        assert_eq!(read("http://example.org//"), "scheme=http path_0= tslash=/");
    }

    #[test]
    fn absent_empty_and_bare_are_three_things() {
        assert_eq!(read("http://example.org/"), "scheme=http tslash=/");
        assert_eq!(read("http://example.org/?a="), "scheme=http tslash=/ q.a=");
        assert_eq!(read("http://example.org/?a"), "scheme=http tslash=/ q.a=(no value)");
        assert_eq!(read("http://example.org/?"), "scheme=http tslash=/ q.=(no value)");
    }

    #[test]
    fn texts_stand_in_place_of_parameters() {
        assert_eq!(read("http://example.org/?/topic,21.0.html"), "scheme=http tslash=/ q.==/topic,21.0.html");
        assert_eq!(
            read("http://example.org/?sid=9&15-a-title&7&new"),
            "scheme=http tslash=/ q.sid=9 q.==15-a-title q.=#2=7 q.new=(no value)"
        );
        // A value of a parameter, however it is called, is not meant.
        assert_eq!(read("http://example.org/?/a=7"), "scheme=http tslash=/ q./a=7");
        assert_eq!(read("http://example.org/?a.b-c"), "scheme=http tslash=/ q.a.b-c=(no value)");
    }

    #[test]
    fn repeated_parameters_are_numbered() {
        assert_eq!(read("http://example.org/?a=1&b=2&a=3"), "scheme=http tslash=/ q.a=1 q.b=2 q.a#2=3");
    }

    #[test]
    fn path_parameters_leave_the_last_segment() {
        assert_eq!(read("http://example.org/x;jsessionid=A1"), "scheme=http path_0=x mp.jsessionid=A1");
        assert_eq!(read("http://example.org/x;s=1/?q=2"), "scheme=http path_0=x tslash=/ mp.s=1 q.q=2");
        assert_eq!(read("http://example.org/tl;dr"), "scheme=http path_0=tl;dr");
        assert_eq!(read("http://example.org/x;v=1/y"), "scheme=http path_0=x;v=1 path_1=y");
    }

    #[test]
    fn semicolons_separate_only_when_every_piece_is_named() {
        assert_eq!(read("http://example.org/?a=1;b=2"), "scheme=http tslash=/ sep=; q.a=1 q.b=2");
        assert_eq!(read("http://example.org/?q=tl;dr"), "scheme=http tslash=/ q.q=tl;dr");
        assert_eq!(read("http://example.org/?a=1;b=2&c=3"), "scheme=http tslash=/ q.a=1;b=2 q.c=3");
    }

    #[test]
    fn extensions_are_short_and_hold_a_letter() {
        assert_eq!(extension("index.html"), Some("html"));
        assert_eq!(extension("a.b.php3"), Some("php3"));
        assert_eq!(extension(".profile"), None);
        assert_eq!(extension("release-1.25"), None);
        assert_eq!(extension("no"), None);
    }
}
