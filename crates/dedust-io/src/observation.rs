/*!
One URL seen once, and what is known about its page.

Readers fill the same [`Observation`] again and again: its columns lie one after the other in two buffers, so that a
row costs no allocation. Values are checked here, once for all formats. Does not know where they come from.
*/

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use crate::column::Kind;
use crate::{BadBody, BadColumn, Column, Location, nutch};

/// One URL seen once. Filled by [`crate::Reader::read`], best reused from row to row.
///
/// An empty value is an absent one: `""` in JSON, nothing between two commas in CSV.
#[derive(Clone, Default)]
pub struct Observation {
    /// Columns of kind [`Kind::Address`] and [`Kind::Addresses`], in any order; the latter with a line feed between two.
    addresses: Vec<u8>,
    /// Columns of kind [`Kind::Text`] and [`Kind::Label`], in any order.
    text: String,
    /// By column. Fits 32 bits because a row does.
    spans: [Span; Column::ALL.len()],
    simhash: Option<u64>,
    size: Option<u64>,
    status: Option<u16>,
    is_truncated: bool,
    /// Hashes of lines, in the order of the input.
    lines: Vec<u64>,
    location: Location,
    bad_columns: Vec<BadColumn>,
    bad_body: Option<BadBody>,
}

#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

/// The value is not what its column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is not what its column holds")]
pub struct WrongValue;

impl Observation {
    /// An observation without any value, to be filled.
    pub fn new() -> Self {
        Self::default()
    }

    /// The URL as met by the crawler; any bytes, never empty after a successful read.
    pub fn url(&self) -> &[u8] {
        self.address(Column::Url).unwrap_or_default()
    }

    /// The explicit duplicate label: `cluster`, or else `page`. Numbers are as written.
    pub fn cluster(&self) -> Option<&str> {
        self.text(Column::Cluster).or_else(|| self.text(Column::Page))
    }

    /// Target of `rel=canonical`.
    pub fn canonical(&self) -> Option<&[u8]> {
        self.address(Column::Canonical)
    }

    /// Target of the redirect.
    pub fn redirect(&self) -> Option<&[u8]> {
        self.address(Column::Redirect)
    }

    /// URLs that were redirected to this one, in the order in which they were asked for.
    pub fn redirected_from(&self) -> impl Iterator<Item = &[u8]> {
        let list = self.address(Column::RedirectedFrom);
        list.into_iter().flat_map(|list| list.split(|&byte| byte == b'\n'))
    }

    /// Hash of the body.
    pub fn digest(&self) -> Option<&str> {
        self.text(Column::Digest)
    }

    /// Hash of the text of the body.
    pub fn text_digest(&self) -> Option<&str> {
        self.text(Column::TextDigest)
    }

    /// Similarity hash of the text.
    pub fn simhash(&self) -> Option<u64> {
        self.simhash
    }

    /// Title of the page.
    pub fn title(&self) -> Option<&str> {
        self.text(Column::Title)
    }

    /// Size of the body in bytes.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// HTTP status.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Media type.
    pub fn mime(&self) -> Option<&str> {
        self.text(Column::Mime)
    }

    /// When the URL was fetched, as written in the input.
    pub fn time(&self) -> Option<&str> {
        self.text(Column::Time)
    }

    /// Whether only the beginning of the body was kept. Such a row has no digests.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// The part of a Common Crawl index that the row belongs to: `warc`, `crawldiagnostics` or `robotstxt`.
    pub fn subset(&self) -> Option<&str> {
        self.text(Column::Subset)
    }

    /// Hashes of the lines of text that the page shows; none if nothing is known of them.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// Where the row is in its input.
    pub fn location(&self) -> Location {
        self.location
    }

    /// Columns of this row that could not be used and count as absent.
    pub fn bad_columns(&self) -> &[BadColumn] {
        &self.bad_columns
    }

    /// Why only the beginning of the page could be read, if so.
    pub fn bad_body(&self) -> Option<&BadBody> {
        self.bad_body.as_ref()
    }

    pub(crate) fn set_location(&mut self, location: Location) {
        self.location = location;
    }

    pub(crate) fn set_bad_body(&mut self, bad: Option<BadBody>) {
        self.bad_body = bad;
    }

    /// Forgets all values and starts a row.
    pub(crate) fn start(&mut self, location: Location) {
        self.addresses.clear();
        self.text.clear();
        self.spans = Default::default();
        self.simhash = None;
        self.size = None;
        self.status = None;
        self.is_truncated = false;
        self.lines.clear();
        self.location = location;
        self.bad_columns.clear();
        self.bad_body = None;
    }

    pub(crate) fn push_bad_column(&mut self, bad: BadColumn) {
        self.bad_columns.push(bad);
    }

    /// Sets a column from text. What it held before is forgotten.
    pub fn set_text(&mut self, column: Column, value: &str) -> Result<(), WrongValue> {
        match column.kind() {
            Kind::Address => self.set_address(column, value.as_bytes()),
            Kind::Addresses => self.set_addresses(column, urls_in(value.as_bytes())),
            Kind::Text | Kind::Label => {
                let start = self.text.len();
                self.text.push_str(value);
                self.spans[column as usize] = Span { start: start as u32, end: self.text.len() as u32 };
            }
            Kind::Simhash | Kind::Size | Kind::Status if value.is_empty() => {}
            Kind::Simhash => self.simhash = Some(parse_simhash(value).ok_or(WrongValue)?),
            Kind::Flag => self.set_flag(column, !is_no(value)),
            Kind::Hashes => self.set_lines(hashes_in(value)),
            Kind::Status => {
                let status = parse_whole(value).or_else(|| nutch::status_of_state(value));
                self.set_number(column, status.ok_or(WrongValue)?)?;
            }
            Kind::Size => self.set_number(column, parse_whole(value).ok_or(WrongValue)?)?,
        }
        Ok(())
    }

    /// Sets a column from bytes that may not be text. Only URLs, canonical links and redirects may be any bytes.
    pub fn set_bytes(&mut self, column: Column, value: &[u8]) -> Result<(), WrongValue> {
        match column.kind() {
            Kind::Address => self.set_address(column, value),
            Kind::Addresses => self.set_addresses(column, urls_in(value)),
            _ => self.set_text(column, std::str::from_utf8(value).map_err(|_| WrongValue)?)?,
        }
        Ok(())
    }

    /// Sets a size or status. Labels are set from their text instead.
    pub fn set_number(&mut self, column: Column, value: u64) -> Result<(), WrongValue> {
        match column.kind() {
            Kind::Size => self.size = Some(value),
            Kind::Status => self.status = Some(u16::try_from(value).map_err(|_| WrongValue)?),
            Kind::Flag => self.set_flag(column, value != 0),
            Kind::Hashes => self.set_lines([value]),
            Kind::Address | Kind::Addresses | Kind::Text | Kind::Label | Kind::Simhash => {
                return Err(WrongValue);
            }
        }
        Ok(())
    }

    /// Sets a column of kind [`Kind::Flag`], of which there is one.
    pub(crate) fn set_flag(&mut self, column: Column, value: bool) {
        debug_assert_eq!(column, Column::Truncated);
        self.is_truncated = value;
    }

    /// Sets the hashes of the lines of text that the page shows.
    pub fn set_lines(&mut self, lines: impl IntoIterator<Item = u64>) {
        self.lines.clear();
        self.lines.extend(lines);
    }

    /// All columns of the row are set: what they mean together.
    pub(crate) fn complete(&mut self) {
        if self.is_truncated {
            self.forget(Column::Digest);
            self.forget(Column::TextDigest);
        }
    }

    /// Sets the similarity hash of the text.
    pub fn set_simhash(&mut self, simhash: u64) {
        self.simhash = Some(simhash);
    }

    /// Makes a column of text absent.
    pub(crate) fn forget(&mut self, column: Column) {
        self.spans[column as usize] = Span::default();
    }

    /// Sets a column of kind [`Kind::Address`].
    pub(crate) fn set_address(&mut self, column: Column, value: &[u8]) {
        let start = self.addresses.len();
        self.addresses.extend_from_slice(value);
        self.spans[column as usize] = Span { start: start as u32, end: self.addresses.len() as u32 };
    }

    /// Sets a column of kind [`Kind::Addresses`]. Line ends within a URL mean nothing, and would make two of it.
    pub(crate) fn set_addresses<'a>(&mut self, column: Column, values: impl Iterator<Item = &'a [u8]>) {
        let start = self.addresses.len();
        for value in values.map(<[u8]>::trim_ascii).filter(|value| !value.is_empty()) {
            if self.addresses.len() > start {
                self.addresses.push(b'\n');
            }
            self.addresses.extend(value.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        }
        self.spans[column as usize] = Span { start: start as u32, end: self.addresses.len() as u32 };
    }

    fn address(&self, column: Column) -> Option<&[u8]> {
        let Span { start, end } = self.spans[column as usize];
        (start < end).then(|| &self.addresses[start as usize..end as usize])
    }

    fn text(&self, column: Column) -> Option<&str> {
        let Span { start, end } = self.spans[column as usize];
        (start < end).then(|| &self.text[start as usize..end as usize])
    }
}

impl fmt::Debug for Observation {
    /// Shows the columns that are present.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Observation");
        match self.location {
            Location::Line(line) => shown.field("line", &line),
            Location::Record { number, .. } => shown.field("record", &number),
            Location::Row(row) => shown.field("row", &row),
        };
        for column in Column::ALL {
            let name = column.name();
            match column.kind() {
                Kind::Address => {
                    self.address(column).map(|value| shown.field(name, &String::from_utf8_lossy(value)))
                }
                Kind::Addresses => self.address(column).map(|_| {
                    let urls: Vec<_> = self.redirected_from().map(String::from_utf8_lossy).collect();
                    shown.field(name, &urls)
                }),
                Kind::Text | Kind::Label => self.text(column).map(|value| shown.field(name, &value)),
                Kind::Simhash => self.simhash.map(|value| shown.field(name, &format_args!("{value:016x}"))),
                Kind::Size => self.size.map(|value| shown.field(name, &value)),
                Kind::Status => self.status.map(|value| shown.field(name, &value)),
                Kind::Flag => self.is_truncated.then(|| shown.field(name, &true)),
                Kind::Hashes => (!self.lines.is_empty()).then(|| shown.field(name, &self.lines)),
            };
        }
        if !self.bad_columns.is_empty() {
            shown.field("bad_columns", &self.bad_columns);
        }
        if let Some(bad) = &self.bad_body {
            shown.field("bad_body", &bad.reason);
        }
        shown.finish()
    }
}

fn parse_simhash(value: &str) -> Option<u64> {
    // from_str_radix alone would take a sign and any length.
    if value.len() != 16 || !value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(value, 16).ok()
}

/// A whole number, also as `200.0`: data frames write integers so where a column has gaps.
fn parse_whole(value: &str) -> Option<u64> {
    let value = value.trim_ascii();
    let digits = match value.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => return None,
        None => value,
    };
    // A sign is refused: parse would take "+5".
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

/// The URLs in a text that lists some: feeds in CSV have commas between them, and so may URLs have. A URL starts with its scheme, at
/// the start or behind what separates two.
fn urls_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const BETWEEN: &[u8] = b",;| \t\r\n'\"[]";
    let is_start = move |at: usize| {
        let is_free = at == 0 || BETWEEN.contains(&text[at - 1]);
        is_free && [&b"http://"[..], b"https://"].iter().any(|scheme| text[at..].starts_with(scheme))
    };
    let mut starts = memchr::memchr_iter(b'h', text).filter(move |&at| is_start(at)).peekable();
    std::iter::from_fn(move || {
        let start = starts.next()?;
        let mut url = &text[start..starts.peek().map_or(text.len(), |&next| next)];
        while let Some((_, before)) = url.split_last().filter(|(last, _)| BETWEEN.contains(last)) {
            url = before;
        }
        Some(url)
    })
}

/// The hashes in a text that lists some, in brackets or not, with commas or spaces between two.
fn hashes_in(text: &str) -> impl Iterator<Item = u64> {
    let texts = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '"' | '\''));
    texts.filter(|text| !text.is_empty()).map(line_hash)
}

/// A hash of a line as it is written: a number, or any other text, which is hashed.
pub(crate) fn line_hash(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| xxh3_64(text.as_bytes()))
}

/// Ways to say that a body is whole.
fn is_no(value: &str) -> bool {
    ["", "-", "0", "false", "no", "null"].iter().any(|no| value.eq_ignore_ascii_case(no))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simhash_is_exactly_sixteen_hex_digits() {
        assert_eq!(parse_simhash("e98d2e642e690eda"), Some(0xe98d_2e64_2e69_0eda));
        assert_eq!(parse_simhash("E98D2E642E690EDA"), Some(0xe98d_2e64_2e69_0eda));
        for wrong in ["", "e98d", "+98d2e642e690eda", "0xe98d2e642e690eda", "g98d2e642e690eda", "äääääääa"]
        {
            assert_eq!(parse_simhash(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_may_end_in_point_zero() {
        assert_eq!(parse_whole("200"), Some(200));
        assert_eq!(parse_whole(" 200.0 "), Some(200));
        for wrong in ["", "-1", "+1", "1.5", "1e3", "abc", ".0", "18446744073709551616"] {
            assert_eq!(parse_whole(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_new_row_forgets_the_one_before() {
        let mut observation = Observation::new();
        for column in Column::ALL {
            let value = match column {
                Column::Simhash => "e98d2e642e690eda",
                Column::RedirectedFrom => "http://a/1",
                _ => "200",
            };
            observation.set_text(column, value).unwrap();
        }
        assert_eq!(
            format!("{observation:?}"),
            "Observation { line: 0, url: \"200\", cluster: \"200\", page: \"200\", canonical: \"200\", \
             redirect: \"200\", redirected_from: [\"http://a/1\"], digest: \"200\", text_digest: \"200\", simhash: e98d2e642e690eda, title: \"200\", \
             size: 200, status: 200, mime: \"200\", time: \"200\", truncated: true, subset: \"200\", lines: [200] }"
        );
        observation.start(Location::Line(7));
        assert_eq!(format!("{observation:?}"), "Observation { line: 7 }");
    }

    #[test]
    fn lists_of_urls_are_cut_where_urls_start() {
        for (text, urls) in [
            ("", &[][..]),
            ("no URL", &[]),
            ("http://a/1", &["http://a/1"]),
            ("http://a/1,2,https://a/?u=http://b/,c", &["http://a/1,2", "https://a/?u=http://b/,c"]),
            ("['http://a/1', \"http://a/2\"]", &["http://a/1", "http://a/2"]),
            ("http://a/1|http://a/http://b/\n", &["http://a/1", "http://a/http://b/"]),
        ] {
            let mut observation = Observation::new();
            observation.set_text(Column::RedirectedFrom, text).unwrap();
            let found: Vec<_> = observation.redirected_from().map(String::from_utf8_lossy).collect();
            assert_eq!(found, urls, "{text}");
        }
    }

    #[test]
    fn cluster_wins_over_page_in_any_order() {
        for order in [[Column::Cluster, Column::Page], [Column::Page, Column::Cluster]] {
            let mut observation = Observation::new();
            for column in order {
                observation.set_text(column, column.name()).unwrap();
            }
            assert_eq!(observation.cluster(), Some("cluster"));
        }
    }
}
