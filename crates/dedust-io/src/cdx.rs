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

use crate::archive::{is_web, set_digest};
use crate::bad_row::{BadRowReason, SourcePosition};
use crate::jsonl::{self, Keys};
use crate::{Column, Observation, timestamp};

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
pub(crate) struct Cdx {
    separator: u8,
    letters: Vec<u8>,
}

impl Cdx {
    /// Whether the header is the one that wget writes.
    pub(crate) fn is_of_wget(&self) -> bool {
        self.letters == WGET_FIELDS
    }

    /// Reads one line. `None`: it is a header, or no page.
    pub(crate) fn parse(
        &mut self,
        row: &[u8],
        observation: &mut Observation,
    ) -> Option<Result<(), BadRowReason>> {
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

/// Reads one line of CDXJ. `None`: it is about the file, or no page.
pub(crate) fn parse_json(
    row: &[u8],
    position: SourcePosition<'_>,
    keys: &mut Keys,
    observation: &mut Observation,
) -> Option<Result<(), BadRowReason>> {
    if matches!(row.first(), Some(b'!' | b'@')) {
        return None;
    }
    let mut parts = row.splitn(3, |&byte| byte == b' ');
    let (Some(_), Some(time), Some(object)) = (parts.next(), parts.next(), parts.next()) else {
        return Some(Err(BadRowReason::NotACdxjLine));
    };
    if time.is_empty() || !time.iter().all(|byte| byte.is_ascii_digit() || b"-:TZ.".contains(byte)) {
        return Some(Err(BadRowReason::NotACdxjLine));
    }
    if let Err(reason) = jsonl::parse(object.trim_ascii(), position, keys, observation) {
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
                let row = cdx.parse(line.as_bytes(), &mut observation)?;
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
