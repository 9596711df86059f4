/*!
`crawl.log` of Heritrix: a line per URL that was tried.

```text
2024-05-06T07:08:09.123Z   200      11385 http://a.example/2 LR http://a.example/1 text/html #012 20240506070809001+117 sha1:OSSA... - -
```

Time, status, size, URL, how it was found, where, type, thread, start and duration, digest, source, remarks. A URL that was found
by a redirect (its path ends in `R`) shows where the URL before it leads, which makes an observation of its own. Names that
were looked up and files that were fetched before others (`P`) are no pages and are passed over.
*/

use std::io;

use super::entry::{CurrentRow, FormatEntry, LineFormat, LineParser, Parsed, RowFormat};
use super::sniff::Sign;
use crate::archive::{is_web, set_digest};
use crate::{BadRowReason, Column, Observation};

pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "a Heritrix crawl.log",
    expected: "lines such as 2024-05-06T07:08:09.123Z 200 11385 http://a.example/ L http://b.example/ text/html ...",
    names_tool: true,
    sign: Sign::Form(|beginning| beginning.has_log_line(is_log_line)),
    extensions: &[],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |_| Ok(Box::new(Redirect::default())),
        copy: None,
    }),
};

/// Fields that are looked at.
const FIELDS: usize = 10;

/// What a field without a value holds.
const NOTHING: &[u8] = b"-";

/// Remarks that say that a body was cut off.
const TRUNCATED: [&[u8]; 3] = [b"lenTrunc", b"timeTrunc", b"headerTrunc"];

/// A redirect that a line tells of, to be delivered after it.
#[derive(Debug, Default)]
struct Redirect {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl LineParser for Redirect {
    fn parse(&mut self, row: CurrentRow<'_>) -> io::Result<Parsed> {
        Ok(parse(row.lines.row(), self, row.observation))
    }

    fn parse_more(&mut self, observation: &mut Observation) -> bool {
        if self.from.is_empty() {
            return false;
        }
        observation.set_address(Column::Url, &self.from);
        observation.set_address(Column::Redirect, &self.to);
        self.from.clear();
        true
    }
}

/// The fields of a line.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ').filter(|field| !field.is_empty())
}

/// Whether a line has the form of one: a time, a number, a size and a URL.
fn is_log_line(line: &[u8]) -> bool {
    let mut fields = fields(line.trim_ascii());
    let (Some(time), Some(status), Some(size), Some(url)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    let is_time = time.len() >= 20 && time[4] == b'-' && time[10] == b'T' && time.ends_with(b"Z");
    let is_number = |text: &[u8]| {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    is_time
        && is_number(status)
        && (size == NOTHING || is_number(size))
        && url.contains(&b':')
        && fields.count() + 4 >= FIELDS
}

/// Reads one line. `None`: it shows no page.
fn parse(row: &[u8], redirect: &mut Redirect, observation: &mut Observation) -> Parsed {
    if !is_log_line(row) {
        return Some(Err(BadRowReason::OtherForm("not a line of a Heritrix crawl.log")));
    }
    let mut fields = fields(row.trim_ascii());
    let mut next = || fields.next().unwrap_or_default();
    let (time, status, size, url, path, via, mime) = (next(), next(), next(), next(), next(), next(), next());
    let (_thread, _start, digest, _source) = (next(), next(), next(), next());
    let is_truncated =
        fields.flat_map(|field| field.split(|byte| *byte == b',')).any(|mark| TRUNCATED.contains(&mark));
    if !is_web(url) || path.ends_with(b"P") {
        return None;
    }
    observation.set_address(Column::Url, url);
    for (column, value) in
        [(Column::Time, time), (Column::Status, status), (Column::Size, size), (Column::Mime, mime)]
    {
        // A negative status is a failure of the crawler: nothing is known then.
        if value != NOTHING && !value.starts_with(b"-") {
            let _ = observation.set_bytes(column, value);
        }
    }
    if !status.starts_with(b"-") && digest != NOTHING {
        set_digest(observation, Some(digest));
    }
    observation.set_flag(Column::Truncated, is_truncated);
    if path.ends_with(b"R") && is_web(via) {
        *redirect = Redirect { from: via.to_vec(), to: url.to_vec() };
    }
    Some(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

    #[test]
    fn a_log_is_read() {
        let text = "2024-05-06T07:08:08.000Z     1         56 dns:a.example P http://a.example/1 text/dns #001 20240506+2 sha1:X - -\n\
            2024-05-06T07:08:09.123Z   301          0 http://a.example/1 L http://a.example/ text/html #012 20240506070809001+117 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - -\n\
            2024-05-06T07:08:10.123Z   200      11385 http://a.example/2 LR http://a.example/1 text/html #012 20240506070809001+117 sha1:OSSA - -\n\
            2024-05-06T07:08:11.123Z    -2          - http://a.example/3 L http://a.example/1 unknown #012 - - - -\n\
            2024-05-06T07:08:12.123Z   200      11385 http://a.example/4 L http://a.example/1 text/html #012 20240506070809001+117 sha1:OSSB - 3t,lenTrunc\n\
            what is this\n";
        let mut reader = Input::from_read("crawl.log", text.as_bytes()).unwrap().observations().unwrap();
        let mut observation = Observation::new();
        let mut rows = Vec::new();
        while let Some(row) = reader.read(&mut observation).unwrap() {
            rows.push(row.map_or_else(|bad| bad.to_string(), |()| format!("{observation:?}")));
        }
        assert_eq!(
            rows,
            [
                "Observation { line: 2, url: \"http://a.example/1\", digest: \"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\", size: 0, \
                 status: 301, mime: \"text/html\", time: \"2024-05-06T07:08:09.123Z\" }",
                "Observation { line: 3, url: \"http://a.example/2\", digest: \"OSSA\", size: 11385, status: 200, \
                 mime: \"text/html\", time: \"2024-05-06T07:08:10.123Z\" }",
                "Observation { line: 3, url: \"http://a.example/1\", redirect: \"http://a.example/2\" }",
                "Observation { line: 4, url: \"http://a.example/3\", mime: \"unknown\", time: \"2024-05-06T07:08:11.123Z\" }",
                "Observation { line: 5, url: \"http://a.example/4\", size: 11385, status: 200, mime: \"text/html\", \
                 time: \"2024-05-06T07:08:12.123Z\", truncated: true }",
                "crawl.log:6: not a line of a Heritrix crawl.log, row skipped: what is this",
            ]
        );
    }
}
