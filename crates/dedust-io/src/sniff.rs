/*!
Decides the format of an input from its first bytes; the file name is only a hint where they leave a choice.

Takes the beginning of the uncompressed text and the name, returns a [`Format`] or the reason why there is none. Does
not read, decompress or parse rows.
*/

use std::sync::Arc;

use memchr::memmem;

use crate::access_log::is_log_line;
use crate::names::NamedColumn;
use crate::preset::{OTHER_NAMES, simplified};
use crate::{Column, Format, ReadError, Unsupported, crawl_log, nutch};

/// How much of the text is looked at.
pub(crate) const SNIFFED_BYTES: usize = 64 << 10;

/// Among how many lines one must be a log's; the first may be a request that was no HTTP.
const SNIFFED_LOG_LINES: usize = 5;

/// Bytes of a name in a header; a longer field is none.
const MAX_NAME_BYTES: usize = 128;

pub(crate) const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// The format of a text that begins with `start`.
pub(crate) fn sniff(file: &Arc<str>, start: &[u8], named: &[NamedColumn]) -> Result<Format, ReadError> {
    let unsupported = |format| ReadError::UnsupportedFormat { file: file.clone(), format };
    if let Some(format) = archive_of(start) {
        return Ok(format);
    }
    if let Some(format) = table_of(start) {
        return Ok(format);
    }
    if let Some(format) = by_magic(start) {
        return Err(unsupported(format));
    }
    if looks_binary(start) {
        return Err(ReadError::UnknownFormat { file: file.clone() });
    }
    let text = start.strip_prefix(UTF8_BOM).unwrap_or(start).trim_ascii_start();
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    if is_array_of_lines(text) {
        return Ok(Format::JsonArray);
    }
    if let Some(format) = by_first_line(line, line.len() < text.len()) {
        return Err(unsupported(format));
    }
    if let Some(format) = index_of(start, line) {
        return Ok(format);
    }
    if line.first() == Some(&b'{') {
        return Ok(Format::JsonLines);
    }
    if text.split(|&byte| byte == b'\n').take(SNIFFED_LOG_LINES).any(is_log_line) {
        return Ok(Format::AccessLog);
    }
    if text.split(|&byte| byte == b'\n').take(SNIFFED_LOG_LINES).any(crawl_log::is_log_line) {
        return Ok(Format::CrawlLog);
    }
    if nutch::is_first_line(line) {
        return Ok(Format::NutchDump);
    }
    Ok(match (header_separator(line, named), name_hint(file)) {
        (Some(b'\t'), _) => Format::Tsv,
        (Some(_), _) => Format::Csv,
        // Read as what the name says, which then reports what is missing.
        (None, Some(format)) if !line.is_empty() => format,
        (None, _) => Format::UrlList,
    })
}

/// The separator under which a line is a header: one of its fields is a known column, and none an address.
/// A header of the single column `url` is separated by tabs, so that its URLs may hold commas.
pub(crate) fn header_separator(line: &[u8], named: &[NamedColumn]) -> Option<u8> {
    if memmem::find(line, b"://").is_some() {
        return None;
    }
    let is_url = |name: &str| {
        name.eq_ignore_ascii_case(Column::Url.name())
            || named.iter().any(|named| {
                named.column == Column::Url
                    && named.name.as_deref().is_some_and(|url| url.eq_ignore_ascii_case(name))
            })
    };
    let is_known = |field: &[u8]| {
        // Longer than any name.
        if field.len() > MAX_NAME_BYTES {
            return false;
        }
        let name = heading(field);
        is_url(&name) || Column::from_name(&name.to_ascii_lowercase()).is_some() || may_hold_urls(&name)
    };
    if line.len() <= MAX_NAME_BYTES && is_url(&heading(line)) {
        return Some(b'\t');
    }
    let separates = |&separator: &u8| {
        let mut fields = line.split(move |&byte| byte == separator);
        memchr::memchr(separator, line).is_some() && fields.any(is_known)
    };
    [b'\t', b',', b';'].into_iter().find(separates)
}

/// Whether a column of this name may hold URLs, in tables of other tools.
fn may_hold_urls(name: &str) -> bool {
    let name = simplified(name);
    let of_url = OTHER_NAMES.iter().filter(|(column, _)| *column == Column::Url);
    of_url.flat_map(|(_, names)| *names).any(|other| *other == name)
}

/// The name in a field of a header, without quotes.
pub(crate) fn heading(field: &[u8]) -> String {
    let name = String::from_utf8_lossy(field);
    name.trim_matches(|c: char| c.is_ascii_whitespace() || c == '"').to_owned()
}

/// Whether a text is a JSON array with one object per line.
fn is_array_of_lines(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let object = rest.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
    let object = array_element(object);
    object.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(object).is_ok()
}

/// What stands on a line of an array without brackets and commas; nothing on its first and last line.
pub(crate) fn array_element(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"[").unwrap_or(line).trim_ascii_start();
    let line = line.strip_suffix(b"]").unwrap_or(line).trim_ascii_end();
    line.strip_suffix(b",").unwrap_or(line).trim_ascii_end()
}

fn by_magic(start: &[u8]) -> Option<Unsupported> {
    const MAGIC: [(&[u8], Unsupported); 10] = [
        (b"ARROW1", Unsupported::Arrow),
        (b"\xff\xff\xff\xff", Unsupported::Arrow),
        (b"BZh", Unsupported::Bzip2),
        (b"\xfd7zXZ\0", Unsupported::Xz),
        (b"\x04\x22\x4d\x18", Unsupported::Lz4),
        (b"PK\x03\x04", Unsupported::Zip),
        (b"\x1f\x8b", Unsupported::CompressedTwice),
        (b"\x28\xb5\x2f\xfd", Unsupported::CompressedTwice),
        (b"<", Unsupported::Markup),
        (b"\xef\xbb\xbf<", Unsupported::Markup),
    ];
    MAGIC.into_iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, format)| format)
}

/// Text has no NUL and next to no other control characters.
fn looks_binary(start: &[u8]) -> bool {
    // A few may have crept in; one in fifty did not.
    const MAX_ODD: usize = 3;
    const SHARE: usize = 50;
    let odd =
        start.iter().filter(|&&byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c)).count();
    memchr::memchr(0, start).is_some() || (odd > MAX_ODD && odd * SHARE > start.len())
}

fn by_first_line(line: &[u8], more_follows: bool) -> Option<Unsupported> {
    match line.first()? {
        b'[' => Some(Unsupported::JsonArray),
        b'{' if line == b"{" && more_follows => Some(Unsupported::JsonDocument),
        b'{' => None,
        b'<' => Some(Unsupported::Markup),
        _ => None,
    }
}

/// The format of an archive that begins with `start`.
pub(crate) fn archive_of(start: &[u8]) -> Option<Format> {
    if start.starts_with(b"WARC/") {
        return Some(Format::Warc);
    }
    start.starts_with(b"filedesc://").then_some(Format::Arc)
}

/// The format of a table that begins with `start`.
fn table_of(start: &[u8]) -> Option<Format> {
    let is_arrow = start.starts_with(b"ARROW1") || start.starts_with(b"\xff\xff\xff\xff");
    if cfg!(feature = "arrow") && is_arrow {
        return Some(Format::Arrow);
    }
    start.starts_with(b"PAR1").then_some(Format::Parquet)
}

/// The format of an index whose first line is `line`. The separator that begins a header may be white space.
fn index_of(start: &[u8], line: &[u8]) -> Option<Format> {
    if line.starts_with(b"!OpenWayback-CDXJ") {
        return Some(Format::Cdxj);
    }
    let is_header = start.first().is_some_and(|byte| !byte.is_ascii_alphanumeric())
        && start.get(1..5).is_some_and(|mark| mark.starts_with(b"CDX") && mark[3] == start[0]);
    if is_header {
        return Some(Format::Cdx);
    }
    // `org,example)/path 20240102030405 ...`
    let mut words = line.split(|&byte| byte == b' ');
    let (key, time, next) = (words.next()?, words.next()?, words.next()?);
    let is_capture =
        memchr::memchr(b')', key).is_some() && time.len() == 14 && time.iter().all(u8::is_ascii_digit);
    is_capture.then_some(if next.starts_with(b"{") { Format::Cdxj } else { Format::Cdx })
}

fn name_hint(file: &str) -> Option<Format> {
    let name = file.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffed(name: &str, start: impl AsRef<[u8]>) -> Result<Format, Option<Unsupported>> {
        sniff(&name.into(), start.as_ref(), &[]).map_err(|error| match error {
            ReadError::UnsupportedFormat { format, .. } => Some(format),
            ReadError::UnknownFormat { .. } => None,
            other => panic!("{other}"),
        })
    }

    #[test]
    fn content_decides() {
        for (start, format) in [
            ("{\"url\":\"u\"}\n", Format::JsonLines),
            ("\n \r\n{\"a\": 1", Format::JsonLines),
            ("[\n{\"url\":\"u\"},\n", Format::JsonArray),
            ("[{\"url\":\"u\"},\n", Format::JsonArray),
            ("[{\"url\":\"u\"}]\n", Format::JsonArray),
            ("Address,Status Code\n", Format::Csv),
            ("http://a.example/\tVersion: 7\n", Format::NutchDump),
            ("\u{feff}{\"url\":\"u\"}", Format::JsonLines),
            ("url,title\n", Format::Csv),
            ("\u{feff}url,title\n", Format::Csv),
            ("\"id\",\"URL\"\r\n", Format::Csv),
            ("url;title\n", Format::Csv),
            ("status,title\n", Format::Csv),
            ("id\turl\n", Format::Tsv),
            ("url\n", Format::Tsv),
            ("http://a.example/?a,url,title\n", Format::UrlList),
            ("a.example/x,y\n", Format::UrlList),
            ("# remark\n", Format::UrlList),
            ("1.2.3.4 - - [02/Jun/2025:00:23:57 +0000] \"GET / HTTP/1.1\" 301 -\n", Format::AccessLog),
            ("::1 - - [02/Jun/2025:00:23:57 +0000] \"-\" 408 -\n", Format::AccessLog),
            ("WARC/1.0\r\n", Format::Warc),
            ("filedesc://IAH.arc 0.0.0.0", Format::Arc),
            (" CDX N b a m s k r M S V g\n", Format::Cdx),
            ("|CDX|N|b|a\n", Format::Cdx),
            ("org,iana)/ 20140126200624 http://www.iana.org/ text/html 200 - - 1 f\n", Format::Cdx),
            ("org,iana)/ 20140126200624 {\"url\": \"http://www.iana.org/\"}\n", Format::Cdxj),
            ("!OpenWayback-CDXJ 1.0\n", Format::Cdxj),
            ("PAR1\u{15}\u{4}", Format::Parquet),
            ("", Format::UrlList),
            ("\n\n", Format::UrlList),
        ] {
            for name in ["standard input", "urls.txt", "urls.gz", "noextension"] {
                assert_eq!(sniffed(name, start), Ok(format), "{name} {start:?}");
            }
        }
        assert_eq!(sniffed("urls.csv", "{\"url\":\"u\"}\n"), Ok(Format::JsonLines));
        assert_eq!(sniffed("urls.jsonl", "url,title\n"), Ok(Format::Csv));
        assert_eq!(sniffed("urls.csv", ""), Ok(Format::UrlList));
    }

    #[test]
    fn the_name_decides_where_content_does_not() {
        for (name, format) in [
            ("a.csv", Format::Csv),
            ("A.CSV.GZ", Format::Csv),
            ("a.tsv.zst", Format::Tsv),
            ("a.b/c.jsonl", Format::JsonLines),
            ("a.csv/urls", Format::UrlList),
            ("a.txt", Format::UrlList),
        ] {
            assert_eq!(sniffed(name, "http://a.example/\n"), Ok(format), "{name}");
        }
    }

    #[test]
    fn other_formats_are_recognised() {
        for (start, format) in [
            (&b"[{\"url\":\"u\"}, {\"url\":\"v\"}]"[..], Unsupported::JsonArray),
            (b"{\n  \"url\": 1\n}\n", Unsupported::JsonDocument),
            (b"<!doctype html>", Unsupported::Markup),
            (b"\n<urlset>", Unsupported::Markup),
            (b"BZh91AY&SY", Unsupported::Bzip2),
            (b"\xfd7zXZ\0\0", Unsupported::Xz),
            (b"\x04\x22\x4d\x18", Unsupported::Lz4),
            (b"PK\x03\x04", Unsupported::Zip),
            (b"\x1f\x8b\x08", Unsupported::CompressedTwice),
        ] {
            assert_eq!(sniffed("urls.csv", start), Err(Some(format)));
        }
    }

    #[test]
    fn arrow_is_read_by_builds_that_can() {
        let expected =
            if cfg!(feature = "arrow") { Ok(Format::Arrow) } else { Err(Some(Unsupported::Arrow)) };
        for start in [&b"ARROW1\0\0"[..], b"\xff\xff\xff\xff\x10\x01\0\0"] {
            assert_eq!(sniffed("a.arrow", start), expected);
        }
    }

    #[test]
    fn binary_data_is_no_list_of_urls() {
        assert_eq!(sniffed("a.jpg", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Err(None));
        assert_eq!(sniffed("a.csv", b"\x01\x02\x03\x04"), Err(None));
        assert_eq!(sniffed("a.txt", b"http://a.example/caf\xe9\n"), Ok(Format::UrlList));
    }
}
