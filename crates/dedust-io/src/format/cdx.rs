/*!
Indexes of web archives: CDX, whose header names the fields by letters, and CDXJ, whose lines end in JSON.

```text
 CDX N b a m s k r M S V g
org,iana)/ 20140126200624 http://www.iana.org/ text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB - - 2258 334 iana.warc.gz
org,iana)/ 20140126200624 {"url": "http://www.iana.org/", "mime": "text/html", "status": "200", "digest": "OSSA..."}
```

One observation per capture: URL, time, status, type, digest of the body and target of a redirect. What the index says of
the size is that of a compressed record, so it is left out. Captures by protocols other than HTTP are passed over, as are
requests and notes of the crawler. A header
may stand on any line, since indexes are merged; without one, 11, 10, 9 and 7 fields are read as the tools write them.
*/

use std::io;

use super::entry::{
    AddedValues, CopyRows, CurrentRow, FormatEntry, LineFormat, LineParser, Parsed, RowFormat, split_end,
};
use super::json_object::{self, Keys};
use super::jsonl;
use super::sniff::{Beginning, Sign};
use crate::archive::{is_web, set_digest};
use crate::bad_row::{BadRowReason, SourcePosition};
use crate::{Column, Observation, Preset, timestamp};

pub(super) static CDX: FormatEntry = FormatEntry {
    name: "a CDX index",
    expected: "a header such as \" CDX N b a m s k r M S V g\", and lines with as many fields",
    names_tool: false,
    sign: Sign::Form(|beginning| {
        has_header(beginning) || capture_of(beginning.line) == Some(Capture::Fields)
    }),
    extensions: &[],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |_| Ok(Box::new(Cdx::default())),
        copy: Some(&CopyCdx),
    }),
};

pub(super) static CDXJ: FormatEntry = FormatEntry {
    name: "a CDXJ index",
    expected: "lines such as example,a)/ 20080430204825 {\"url\": \"http://a.example/\", \"status\": \"200\"}",
    names_tool: false,
    sign: Sign::Form(|Beginning { line, .. }| {
        line.starts_with(b"!OpenWayback-CDXJ") || capture_of(line) == Some(Capture::Json)
    }),
    extensions: &[],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |_| Ok(Box::new(Cdxj::default())),
        copy: Some(&CopyCdxj),
    }),
};

/// Letters of the fields, by their number, where there is no header.
const USUAL_FIELDS: [&[u8]; 4] = [b"NbamskrMSVg", b"NbamskrMVg", b"NbamskrVg", b"NbamskS"];

/// What a field without a value holds.
const NOTHING: &[u8] = b"-";

/// Types of records that are no pages.
const OTHER_RECORDS: [&[u8]; 3] = [b"warc/request", b"warc/metadata", b"warc/info"];

/// In place of the type of a page that was found unchanged.
const REVISIT: &[u8] = b"warc/revisit";

/// The letters that `wget --warc-cdx` writes.
const WGET_FIELDS: &[u8] = b"abamskrMVgu";

/// What separates the fields of the lines to come, and their letters.
#[derive(Debug, Default)]
struct Cdx {
    separator: u8,
    letters: Vec<u8>,
}

impl LineParser for Cdx {
    fn parse(&mut self, row: CurrentRow<'_>) -> io::Result<Parsed> {
        Ok(self.parse_line(row.lines.row(), row.observation))
    }

    fn preset(&self) -> Option<Preset> {
        (self.letters == WGET_FIELDS).then_some(Preset::Wget)
    }
}

impl Cdx {
    /// Reads one line. `None`: it is a header, or no page.
    fn parse_line(&mut self, row: &[u8], observation: &mut Observation) -> Parsed {
        if let Some((separator, letters)) = header(row) {
            *self = Cdx { separator, letters };
            return None;
        }
        let separator = if self.letters.is_empty() { b' ' } else { self.separator };
        let found = row.split(|&byte| byte == separator).count();
        let letters = match &self.letters[..] {
            [] => USUAL_FIELDS.into_iter().find(|letters| letters.len() == found).unwrap_or(USUAL_FIELDS[0]),
            letters => letters,
        };
        if found != letters.len() {
            return Some(Err(BadRowReason::IndexFields { found, expected: letters.len() }));
        }
        let mut has_url = false;
        for (letter, value) in letters.iter().zip(row.split(|&byte| byte == separator)) {
            if value == NOTHING || value.is_empty() {
                continue;
            }
            // A value that does not fit its column is as good as none: indexes have many ways to say that.
            let _ = match letter {
                b'a' if !is_web(value) => return None,
                b'a' => {
                    has_url = true;
                    observation.set_bytes(Column::Url, value)
                }
                b'b' => observation.set_text(Column::Time, &timestamp::iso(value)),
                // What the crawler sent or noted, under the URL of the page.
                b'm' if OTHER_RECORDS.contains(&value) => return None,
                b'm' if value == REVISIT => Ok(()),
                b'm' => observation.set_bytes(Column::Mime, value),
                b's' => observation.set_bytes(Column::Status, value),
                b'r' => observation.set_bytes(Column::Redirect, value),
                b'k' => {
                    set_digest(observation, Some(value));
                    Ok(())
                }
                _ => Ok(()),
            };
        }
        Some(if has_url { Ok(()) } else { Err(BadRowReason::NoUrl) })
    }
}

/// The separator and the letters of a header.
fn header(row: &[u8]) -> Option<(u8, Vec<u8>)> {
    let (&separator, rest) = row.split_first()?;
    let mut words = rest.split(|&byte| byte == separator);
    if words.next() != Some(b"CDX") || separator.is_ascii_alphanumeric() {
        return None;
    }
    let words: Vec<&[u8]> = words.map(<[u8]>::trim_ascii).filter(|word| !word.is_empty()).collect();
    words.iter().all(|word| word.len() == 1).then(|| (separator, words.concat()))
}

/// The form of a line without a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Capture {
    Fields,
    Json,
}

/// The form of a line such as `org,example)/path 20240102030405 ...`, if it is one of an index.
fn capture_of(line: &[u8]) -> Option<Capture> {
    let mut words = line.split(|&byte| byte == b' ');
    let (key, time, next) = (words.next()?, words.next()?, words.next()?);
    let is_capture =
        memchr::memchr(b')', key).is_some() && time.len() == 14 && time.iter().all(u8::is_ascii_digit);
    is_capture.then_some(if next.starts_with(b"{") { Capture::Json } else { Capture::Fields })
}

/// Whether an index begins with a header. The separator that begins it may be white space.
fn has_header(Beginning { start, .. }: &Beginning<'_>) -> bool {
    start.first().is_some_and(|byte| !byte.is_ascii_alphanumeric())
        && start.get(1..5).is_some_and(|mark| mark.starts_with(b"CDX") && mark[3] == start[0])
}

/// Reads an index whose lines end in JSON.
#[derive(Debug, Default)]
struct Cdxj {
    keys: Keys,
}

impl LineParser for Cdxj {
    fn parse(&mut self, row: CurrentRow<'_>) -> io::Result<Parsed> {
        Ok(parse_json(row.lines.row(), row.position, &mut self.keys, row.observation))
    }
}

/// Reads one line of CDXJ. `None`: it is about the file, or no page.
fn parse_json(
    row: &[u8],
    position: SourcePosition<'_>,
    keys: &mut Keys,
    observation: &mut Observation,
) -> Parsed {
    if matches!(row.first(), Some(b'!' | b'@')) {
        return None;
    }
    let mut parts = row.splitn(3, |&byte| byte == b' ');
    let (Some(_), Some(time), Some(object)) = (parts.next(), parts.next(), parts.next()) else {
        return Some(Err(NOT_A_LINE));
    };
    if time.is_empty() || !time.iter().all(|byte| byte.is_ascii_digit() || b"-:TZ.".contains(byte)) {
        return Some(Err(NOT_A_LINE));
    }
    if let Err(reason) = json_object::parse(object.trim_ascii(), position, keys, observation) {
        return Some(Err(reason));
    }
    if !is_web(observation.url()) {
        return None;
    }
    let digest = observation.digest().map(|digest| digest.as_bytes().to_vec());
    observation.forget(Column::Digest);
    set_digest(observation, digest.as_deref());
    // The line above shows that it is text.
    let _ = observation.set_text(Column::Time, &timestamp::iso(time));
    Some(Ok(()))
}

const NOT_A_LINE: BadRowReason = BadRowReason::OtherForm(
    "not a line of a CDXJ index, expected a key, a time of 14 digits and a JSON object",
);

/// Adds two fields under the letters `U` and `A` ("uniqueness" and "canonized URL") to each line, and names them in headers.
struct CopyCdx;

/// The letters of the fields that are added, as a header has them.
const ADDED_LETTERS: [Option<&[u8]>; 2] = [Some(b"U"), Some(b"A")];

/// The fields of an index without a header.
const USUAL_HEADER: &[u8] = b" CDX N b a m s k r M S V g";

fn is_header(text: &[u8]) -> bool {
    text.get(1..4) == Some(b"CDX")
}

impl CopyRows for CopyCdx {
    fn begin(&self, start: &[u8], out: &mut Vec<u8>) {
        if !is_header(start) {
            extend(USUAL_HEADER, b' ', ADDED_LETTERS, out);
        }
    }

    fn extend(&self, text: &[u8], added: &AddedValues<'_>, out: &mut Vec<u8>) {
        extend(text, separator_of(text), added.values, out);
    }

    fn copies_other_lines(&self) -> bool {
        true
    }

    fn copy(&self, text: &[u8], out: &mut Vec<u8>) {
        match is_header(text) {
            true => extend(text, text[0], ADDED_LETTERS, out),
            false => extend(text, separator_of(text), [None; 2], out),
        }
    }
}

fn separator_of(text: &[u8]) -> u8 {
    text.iter().copied().find(|byte| matches!(byte, b' ' | b'\t' | b'|')).unwrap_or(b' ')
}

fn extend(text: &[u8], separator: u8, values: [Option<&[u8]>; 2], out: &mut Vec<u8>) {
    let (row, end) = split_end(text);
    out.extend_from_slice(row);
    for value in values {
        out.push(separator);
        out.extend_from_slice(value.filter(|value| !value.is_empty()).unwrap_or(NOTHING));
    }
    out.extend_from_slice(end);
}

/// Adds two keys to the object of each line.
struct CopyCdxj;

impl CopyRows for CopyCdxj {
    fn extend(&self, text: &[u8], added: &AddedValues<'_>, out: &mut Vec<u8>) {
        jsonl::extend(text, added, out);
    }

    fn copies_other_lines(&self) -> bool {
        true
    }

    fn copy(&self, text: &[u8], out: &mut Vec<u8>) {
        let (row, end) = split_end(text);
        out.extend_from_slice(row);
        out.extend_from_slice(end);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Location;

    fn rows(text: &str) -> Vec<String> {
        let mut cdx = Cdx::default();
        text.lines()
            .filter_map(|line| {
                let mut observation = Observation::new();
                let row = cdx.parse_line(line.as_bytes(), &mut observation)?;
                Some(row.map_or_else(|bad| bad.to_string(), |()| format!("{observation:?}")))
            })
            .collect()
    }

    fn json(line: &str) -> Option<String> {
        let (mut observation, file): (_, Arc<str>) = (Observation::new(), "a.cdxj".into());
        let row = parse_json(
            line.as_bytes(),
            SourcePosition { file: &file, location: Location::Line(1) },
            &mut Keys::default(),
            &mut observation,
        )?;
        Some(row.map_or_else(|bad| bad.to_string(), |()| format!("{observation:?}")))
    }

    const EXPECTED: &str = "Observation { line: 0, url: \"http://a.example/1\", redirect: \"http://a.example/2\", \
                            digest: \"OSSA\", status: 301, mime: \"text/html\", time: \"2014-01-26T20:06:24Z\" }";

    #[test]
    fn headers_name_the_fields() {
        let row = "example,a)/1 20140126200624 http://a.example/1 text/html 301 OSSA http://a.example/2";
        for (header, end) in [
            (" CDX N b a m s k r M S V g\n", " - 5 6 f.warc"),
            ("", " - 5 6 f.warc"),
            (" CDX N b a m s k r V g\n", " 6 f.warc"),
            ("", " 6 f.warc"),
            ("", " - 6 f.warc"),
        ] {
            assert_eq!(rows(&format!("{header}{row}{end}")), [EXPECTED], "{header}{end}");
        }
        let other =
            "\tCDX\ta\tb\ts\nhttp://a.example/1\t20140126\t200\n CDX b a\n20140126200624 http://a.example/2";
        assert_eq!(
            rows(other),
            [
                "Observation { line: 0, url: \"http://a.example/1\", status: 200, time: \"20140126\" }",
                "Observation { line: 0, url: \"http://a.example/2\", time: \"2014-01-26T20:06:24Z\" }",
            ]
        );
    }

    #[test]
    fn missing_values_are_absent() {
        let row = "a)/ 20140126200624 http://a.example/1 - - - - - 5 6 f.warc";
        let expected = "Observation { line: 0, url: \"http://a.example/1\", time: \"2014-01-26T20:06:24Z\" }";
        assert_eq!(rows(row), [expected]);
    }

    #[test]
    fn other_protocols_are_passed_over_and_other_lines_are_bad() {
        assert_eq!(rows("a) 20140126200624 dns:a.example text/dns - X - - 5 6 f.warc"), [""; 0]);
        assert_eq!(rows("a) 20140126200624 http://a.example/ warc/request - X - - 5 6 f.warc"), [""; 0]);
        assert_eq!(rows("a b c"), ["3 fields where 11 are expected"]);
        assert_eq!(rows(" CDX N b\na 2014"), ["no \"url\" column"]);
        assert_eq!(rows(" CDX N b a\na 2014 http://a.example/two words"), ["4 fields where 3 are expected"]);
    }

    #[test]
    fn json_lines_are_read() {
        let line = r#"example,a)/1 20140126200624 {"url": "http://a.example/1", "mime": "text/html", "status": "301",
             "digest": "sha1:OSSA", "redirect": "http://a.example/2", "length": "2258", "filename": "f.warc"}"#;
        assert_eq!(json(line).as_deref(), Some(EXPECTED));
        assert_eq!(json("!OpenWayback-CDXJ 1.0"), None);
        assert_eq!(json(r#"a) 20140126200624 {"url": "dns:a.example"}"#), None);
        let expected = "not a line of a CDXJ index, expected a key, a time of 14 digits and a JSON object";
        for other in ["", "a", "a b {}", "a 20140126200624"] {
            assert_eq!(json(other).as_deref(), Some(expected), "{other}");
        }
        assert_eq!(json("a 20140126200624 {}").as_deref(), Some("no \"url\" column"));
    }
}
