/*!
Decides the format of an input from its first bytes; the file name is only a hint where they leave a choice.

Takes the beginning of the uncompressed text and the name, returns a [`Format`] or the reason why there is none. Asks the formats for their
[`Sign`]s, the surest first. Does not read, decompress or parse rows.
*/

use std::sync::Arc;

use super::jsonl;
use crate::names::NamedColumn;
use crate::{Format, ReadError, Unsupported};

/// How much of the text is looked at.
pub(crate) const SNIFFED_BYTES: usize = 64 << 10;

/// Among how many lines one must be a log's; the first may be a request that was no HTTP.
const SNIFFED_LOG_LINES: usize = 5;

pub(crate) const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

pub(super) const ARROW_MAGIC: &[&[u8]] = &[b"ARROW1", b"\xff\xff\xff\xff"];

/// By what a format is recognised, from the surest to the least sure.
#[derive(Clone, Copy)]
pub(crate) enum Sign {
    /// It starts with one of these.
    FirstBytes(&'static [&'static [u8]]),
    /// Its lines have a form of their own.
    Form(fn(&Beginning<'_>) -> bool),
    /// Its first line names columns, as lines of other forms may do by chance.
    Header(fn(&Beginning<'_>) -> bool),
    /// Nothing: it is what is left.
    Rest,
    /// It is not recognised, because this build cannot read it.
    NotBuilt,
}

/// The beginning of a text.
pub(crate) struct Beginning<'a> {
    /// As it stands there.
    pub(super) start: &'a [u8],
    /// Without a byte order mark and white space before it.
    pub(super) text: &'a [u8],
    /// Its first line, without white space around it.
    pub(super) line: &'a [u8],
    /// Columns that the user named.
    pub(super) named: &'a [NamedColumn],
}

impl<'a> Beginning<'a> {
    fn new(start: &'a [u8], named: &'a [NamedColumn]) -> Self {
        let text = start.strip_prefix(UTF8_BOM).unwrap_or(start).trim_ascii_start();
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
        Self { start, text, line, named }
    }

    /// Whether one of the first lines has the form of a log's.
    pub(super) fn has_log_line(&self, is_log_line: fn(&[u8]) -> bool) -> bool {
        self.text.split(|&byte| byte == b'\n').take(SNIFFED_LOG_LINES).any(is_log_line)
    }
}

/// The format of a text that begins with `start`.
pub(crate) fn sniff(file: &Arc<str>, start: &[u8], named: &[NamedColumn]) -> Result<Format, ReadError> {
    let unsupported = |format| ReadError::UnsupportedFormat { file: file.clone(), format };
    if let Some(format) = by_first_bytes(start) {
        return Ok(format);
    }
    if let Some(format) = by_magic(start) {
        return Err(unsupported(format));
    }
    if looks_binary(start) {
        return Err(ReadError::UnknownFormat { file: file.clone(), expected: Format::list() });
    }
    let beginning = Beginning::new(start, named);
    if let Some(format) = by_first_line(&beginning) {
        return Err(unsupported(format));
    }
    let has_form = |sign| matches!(sign, Sign::Form(is_it) if is_it(&beginning));
    let has_header = |sign| matches!(sign, Sign::Header(is_it) if is_it(&beginning));
    // Read as what the name says, which then reports what is missing.
    let by_name = || extension(file).filter(|_| !beginning.line.is_empty());
    let rest = || by_sign(|sign| matches!(sign, Sign::Rest));
    let format = by_sign(has_form).or_else(|| by_sign(has_header)).or_else(by_name).or_else(rest);
    format.ok_or_else(|| ReadError::UnknownFormat { file: file.clone(), expected: Format::list() })
}

fn by_sign(is_met: impl Fn(Sign) -> bool) -> Option<Format> {
    Format::ALL.iter().copied().find(|format| is_met(format.entry().sign))
}

/// The format of what begins with these bytes, if they are enough to tell.
pub(crate) fn by_first_bytes(start: &[u8]) -> Option<Format> {
    by_sign(
        |sign| matches!(sign, Sign::FirstBytes(known) if known.iter().any(|first| start.starts_with(first))),
    )
}

/// The format that the name of a file tells.
fn extension(file: &str) -> Option<Format> {
    let name = file.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let extension = name.rsplit_once('.')?.1;
    Format::ALL.iter().copied().find(|format| format.entry().extensions.contains(&extension))
}

fn by_magic(start: &[u8]) -> Option<Unsupported> {
    const MAGIC: [(&[u8], Unsupported); 8] = [
        (b"BZh", Unsupported::Bzip2),
        (b"\xfd7zXZ\0", Unsupported::Xz),
        (b"\x04\x22\x4d\x18", Unsupported::Lz4),
        (b"PK\x03\x04", Unsupported::Zip),
        (b"\x1f\x8b", Unsupported::CompressedTwice),
        (b"\x28\xb5\x2f\xfd", Unsupported::CompressedTwice),
        (b"<", Unsupported::Markup),
        (b"\xef\xbb\xbf<", Unsupported::Markup),
    ];
    let arrow = ARROW_MAGIC.iter().map(|&magic| (magic, Unsupported::Arrow));
    arrow.chain(MAGIC).find(|(magic, _)| start.starts_with(magic)).map(|(_, format)| format)
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

fn by_first_line(beginning: &Beginning<'_>) -> Option<Unsupported> {
    let &Beginning { text, line, .. } = beginning;
    match line.first()? {
        b'[' if !jsonl::is_array_of_lines(text) => Some(Unsupported::JsonArray),
        b'{' if line == b"{" && line.len() < text.len() => Some(Unsupported::JsonDocument),
        b'<' => Some(Unsupported::Markup),
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
