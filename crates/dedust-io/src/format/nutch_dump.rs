/*!
Dumps of the CrawlDb of Apache Nutch, as `nutch readdb -dump` writes them: some lines per URL, and a blank one.

```text
http://a.example/1    Version: 7
Status: 5 (db_redir_perm)
Fetch time: Mon May 06 07:08:09 UTC 2024
Signature: 5d41402abc4b2a76b9719d911017c592
Metadata:
     _pst_=moved(12), lastModified=0: http://a.example/2
     Content-Type=text/html
     nutch.protocol.code=301
```

One observation per URL: status, time, signature as digest, and the target of a redirect. Nutch names states of its own; where
the HTTP status is not noted, it is taken from the state. Dumps in CSV and JSON are tables like others (see [`crate::preset`]).
*/

use std::io;

use memchr::memmem;

use super::entry::{CurrentRow, FormatEntry, LineFormat, LineParser, Parsed, RowFormat};
use super::sniff::Sign;
use crate::nutch::{NO_SIGNATURE, metadata_column, redirect_in, status_of_state};
use crate::{BadRowReason, Column, Observation};

pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "a dump of a Nutch CrawlDb",
    expected: "entries that start with a URL, a tab and \"Version: 7\"",
    names_tool: true,
    sign: Sign::Form(|beginning| is_first_line(beginning.line)),
    extensions: &[],
    rows: RowFormat::Lines(LineFormat { needs_host: false, parser: |_| Ok(Box::new(NutchDump)), copy: None }),
};

/// Lines of one URL that are read; metadata has no limit of its own.
const MAX_LINES: usize = 1000;

/// What stands between the URL and its version.
const VERSION: &[u8] = b"\tVersion: ";

struct NutchDump;

impl LineParser for NutchDump {
    /// Reads the lines of one URL.
    fn parse(&mut self, CurrentRow { lines, observation, .. }: CurrentRow<'_>) -> io::Result<Parsed> {
        let mut last_len = 0;
        for _ in 0..MAX_LINES {
            let row = lines.row();
            if row[last_len.min(row.len())..].trim_ascii().is_empty() && last_len > 0 {
                break;
            }
            last_len = row.len();
            if !lines.extend()? {
                break;
            }
        }
        Ok(Some(parse(lines.row(), observation)))
    }
}

/// Whether a text starts with the first line of a dump.
fn is_first_line(line: &[u8]) -> bool {
    memmem::find(line, VERSION)
        .is_some_and(|at| at > 0 && line[at + VERSION.len()..].iter().all(u8::is_ascii_digit))
}

const NOT_AN_ENTRY: BadRowReason =
    BadRowReason::OtherForm("no entry of a Nutch CrawlDb starts here, expected a URL, a tab and its version");

fn parse(block: &[u8], observation: &mut Observation) -> Result<(), BadRowReason> {
    let mut lines = block.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let first = lines.next().unwrap_or_default();
    let Some(end) = memmem::find(first, VERSION) else { return Err(NOT_AN_ENTRY) };
    observation.set_address(Column::Url, &first[..end]);
    let mut state = None;
    for line in lines {
        let field = |name: &[u8]| line.strip_prefix(name).map(<[u8]>::trim_ascii);
        // A value that does not fit is as good as none.
        let _ = if let Some(value) = field(b"Status:") {
            state = value
                .split(|byte| b"()".contains(byte))
                .nth(1)
                .and_then(|name| std::str::from_utf8(name).ok());
            Ok(())
        } else if let Some(value) = field(b"Fetch time:") {
            observation.set_bytes(Column::Time, value)
        } else if let Some(value) = field(b"Signature:").filter(|value| *value != NO_SIGNATURE.as_bytes()) {
            observation.set_bytes(Column::Digest, value)
        } else if let Some((column, value)) = field(b" \t").and_then(metadata) {
            match column {
                Column::Redirect => redirect_in(value).map_or(Ok(()), |to| observation.set_bytes(column, to)),
                _ => observation.set_bytes(column, value),
            }
        } else {
            Ok(())
        };
    }
    if let Some(status) = state.and_then(status_of_state).filter(|_| observation.status().is_none()) {
        let _ = observation.set_number(Column::Status, status);
    }
    if observation.url().is_empty() { Err(BadRowReason::EmptyUrl) } else { Ok(()) }
}

/// A line of metadata, if it is of use.
fn metadata(line: &[u8]) -> Option<(Column, &[u8])> {
    let (name, value) = line.split_at(memchr::memchr(b'=', line)?);
    Some((metadata_column(std::str::from_utf8(name).ok()?)?, &value[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

    fn rows(text: &'static str) -> Vec<String> {
        let mut reader = Input::from_read("dump", text.as_bytes()).unwrap().observations().unwrap();
        let mut observation = Observation::new();
        let mut rows = Vec::new();
        while let Some(row) = reader.read(&mut observation).unwrap() {
            rows.push(row.map_or_else(|bad| bad.to_string(), |()| format!("{observation:?}")));
        }
        rows
    }

    #[test]
    fn a_dump_is_read() {
        let text = "http://a.example/1\tVersion: 7\nStatus: 5 (db_redir_perm)\nFetch time: Mon May 06\n\
                    Signature: null\nMetadata: \n \t_pst_=moved(12), lastModified=0: http://a.example/2\n\
                    \x20\tnutch.protocol.code=301\n\nhttp://a.example/2\tVersion: 7\r\nStatus: 2 (db_fetched)\r\n\
                    Signature: 5d41\r\nMetadata: \r\n \tContent-Type=text/html\r\n\r\n\
                    http://a.example/3\tVersion: 7\nStatus: 1 (db_unfetched)\n";
        assert_eq!(
            rows(text),
            [
                "Observation { line: 1, url: \"http://a.example/1\", redirect: \"http://a.example/2\", status: 301, \
                 time: \"Mon May 06\" }",
                "Observation { line: 9, url: \"http://a.example/2\", digest: \"5d41\", status: 200, mime: \"text/html\" }",
                "Observation { line: 15, url: \"http://a.example/3\", status: 0 }",
            ]
        );
        let bad = rows("http://a.example/1\tVersion: 7\nStatus: 2 (db_fetched)\n\nsomething else\n\n");
        assert_eq!(
            bad[1],
            "dump:4: no entry of a Nutch CrawlDb starts here, expected a URL, a tab and its version, row skipped: \
             something else"
        );
    }

    /// Spaces are those that Nutch writes.
    #[test]
    fn a_dump_in_json_is_read() {
        let text = concat!(
            r#"{"url": "http://a.example/1", "statusCode": 5, "statusName": "db_redir_perm", "fetchTime": "Mon May 06", "#,
            r#""signature": "null", "metadata": {"_pst_": "moved(12), lastModified=0: http://a.example/2", "#,
            r#""nutch.protocol.code": "308", "_rs_": 17}}"#,
            "\n",
            r#"{"url": "http://a.example/2", "statusName": "db_fetched", "signature": "5d41", "#,
            r#""metadata": {"_pst_": "success(1), lastModified=0", "Content-Type": "text/html", "x": {"_pst_": []}}}"#,
            "\n",
            r#"{"url": "http://a.example/3", "statusName": "db_fetched", "signature": "null"}"#,
        );
        assert_eq!(
            rows(text),
            [
                "Observation { line: 1, url: \"http://a.example/1\", redirect: \"http://a.example/2\", status: 308, \
                 time: \"Mon May 06\" }",
                "Observation { line: 2, url: \"http://a.example/2\", digest: \"5d41\", status: 200, mime: \"text/html\" }",
                "Observation { line: 3, url: \"http://a.example/3\", status: 200 }",
            ]
        );
    }
}
