/*!
Access logs of web servers: the common and the combined format, as Apache and nginx write them.

```text
192.0.2.7 - - [06/May/2024:00:00:01 +0000] "GET /log/?h=master HTTP/1.1" 200 7115 "referrer" "agent"
```

One observation per request: URL, status, size and time. The format does not say which host it is of, so a request
for a path is put behind a base such as `http://docs.example.com`; a request for a whole URL is taken as it is.

- Requests by methods other than `GET` and `HEAD` do not show a page and are passed over, and so are lines without a
  request, which servers write for connections that sent none or no HTTP.
- A size is kept where it is that of a whole body: not for `HEAD`, partial content and "not modified".
- Times are rewritten as in ISO 8601, which sorts.

Referrer, agent and whatever else follows the size are not looked at.
*/

use memchr::{memchr, memchr2, memmem, memrchr};

use super::entry::{FormatEntry, LineFormat, Parsed, RowFormat};
use super::sniff::Sign;
use crate::archive::is_web;
use crate::{BadRowReason, Column, Observation};

pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "an access log",
    expected: "lines such as 192.0.2.7 - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1\" 200 7115",
    names_tool: false,
    sign: Sign::Form(|beginning| beginning.has_log_line(is_log_line)),
    extensions: &[],
    rows: RowFormat::Lines(LineFormat {
        needs_host: true,
        parser: |opening| {
            let base: Box<str> = opening.host.into();
            Ok(Box::new(move |row: &[u8], observation: &mut Observation| {
                parse(row, base.as_bytes(), observation)
            }))
        },
        copy: None,
    }),
};

const NOT_A_LOG_LINE: BadRowReason =
    BadRowReason::OtherForm("not a line of an access log in the common or combined format");
const NO_PATH: BadRowReason = BadRowReason::OtherForm("the request is neither for a path nor for a URL");

const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// The parts of a line, as written.
struct LogLine<'a> {
    time: &'a [u8],
    request: &'a [u8],
    status: &'a [u8],
    size: &'a [u8],
}

/// Reads one line; paths are put behind `base`. `None`: it shows no page.
fn parse(row: &[u8], base: &[u8], observation: &mut Observation) -> Parsed {
    let Some(line) = LogLine::split(row) else { return Some(Err(NOT_A_LOG_LINE)) };
    let (method, target) = split_request(line.request)?;
    let url = match unescape(target) {
        path if path.starts_with(b"/") => [base, &path].concat(),
        url if is_web(&url) => url,
        _ => return Some(Err(NO_PATH)),
    };
    observation.set_address(Column::Url, &url);
    let status = number(line.status).unwrap_or_default();
    let size = number(line.size).filter(|_| method == b"GET" && !matches!(status, 206 | 304));
    // Three digits and a time of a fixed form fit their columns.
    let set = observation
        .set_number(Column::Status, status)
        .and_then(|()| size.map_or(Ok(()), |size| observation.set_number(Column::Size, size)))
        .and_then(|()| observation.set_text(Column::Time, &iso_time(line.time)));
    Some(set.map_err(|_| NOT_A_LOG_LINE))
}

/// Whether a line has the form of a log's.
fn is_log_line(line: &[u8]) -> bool {
    LogLine::split(line).is_some()
}

impl<'a> LogLine<'a> {
    fn split(row: &'a [u8]) -> Option<Self> {
        // A user name may hold anything, also brackets; what follows the time may not stand in a URL list or table.
        let time_end = memmem::find_iter(row, b"] \"").find(|&end| is_time_before(row, end))?;
        let time = &row[time_end - TIME_FORM.len()..time_end];
        let quoted = &row[time_end + 3..];
        let request = &quoted[..end_of_quoted(quoted)?];
        let mut words = quoted[request.len() + 1..].trim_ascii().split(|&byte| byte == b' ');
        let (status, size) = (words.next()?, words.next()?);
        let is_status = status.len() == 3 && status.iter().all(u8::is_ascii_digit);
        (is_status && (size == b"-" || number(size).is_some())).then_some(Self {
            time,
            request,
            status,
            size,
        })
    }
}

/// `0` stands for a digit, `A` for a letter, `+` for a sign.
const TIME_FORM: &[u8] = b"00/AAA/0000:00:00:00 +0000";

fn is_time_before(row: &[u8], end: usize) -> bool {
    let Some(start) = end.checked_sub(TIME_FORM.len()).filter(|&start| start > 0) else { return false };
    row[start - 1] == b'['
        && row[start..end].iter().zip(TIME_FORM).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_alphabetic(),
            b'+' => matches!(byte, b'+' | b'-'),
            _ => byte == form,
        })
}

/// Where the quote is that ends a field: one without a backslash.
fn end_of_quoted(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', &text[at..])?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
        if at > text.len() {
            return None;
        }
    }
}

/// Method and target of a request for a page. Targets with spaces are not allowed, and sent all the same.
fn split_request(request: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = memchr(b' ', request)?;
    let (method, rest) = (&request[..space], request[space + 1..].trim_ascii());
    let target = match memrchr(b' ', rest) {
        Some(end) if rest[end + 1..].starts_with(b"HTTP/") => rest[..end].trim_ascii_end(),
        // The oldest version of the protocol has no name.
        _ => rest,
    };
    matches!(method, b"GET" | b"HEAD").then_some((method, target))
}

/// Undoes what servers do to quotes, backslashes and bytes that cannot be printed.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'\\', rest) {
        plain.extend_from_slice(&rest[..at]);
        let escape = &rest[at..];
        let (byte, len) = match escape.get(1) {
            Some(&quoted @ (b'"' | b'\\')) => (quoted, 2),
            Some(b'n') => (b'\n', 2),
            Some(b'r') => (b'\r', 2),
            Some(b't') => (b'\t', 2),
            Some(b'x') => hex_byte(&escape[2..]).map_or((b'\\', 1), |byte| (byte, 4)),
            _ => (b'\\', 1),
        };
        plain.push(byte);
        rest = &escape[len..];
    }
    plain.extend_from_slice(rest);
    plain
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let value = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = *digits.first_chunk()?;
    u8::try_from(value(high)? * 16 + value(low)?).ok()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?.parse().ok()
}

/// `06/May/2024:00:00:01 +0000` as `2024-05-06T00:00:01+00:00`; as it is where the month has no English name.
fn iso_time(time: &[u8]) -> String {
    let text = String::from_utf8_lossy(time);
    match MONTHS.iter().position(|month| time[3..6].eq_ignore_ascii_case(month)) {
        Some(month) => {
            let (day, year, clock) = (&text[..2], &text[7..11], &text[12..20]);
            let (hours, minutes) = (&text[21..24], &text[24..26]);
            format!("{year}-{:02}-{day}T{clock}{hours}:{minutes}", month + 1)
        }
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &[u8] = b"http://a.example";

    /// URL, status, size and time of a line.
    fn read(line: &str) -> Option<Result<String, BadRowReason>> {
        let mut observation = Observation::new();
        let row = parse(line.as_bytes(), BASE, &mut observation)?;
        Some(row.map(|()| {
            let url = String::from_utf8_lossy(observation.url());
            let (status, size) = (observation.status().unwrap(), observation.size());
            format!(
                "{url} {status} {} {}",
                size.map_or("-".into(), |size| size.to_string()),
                observation.time().unwrap()
            )
        }))
    }

    fn request(request: &str) -> Option<Result<String, BadRowReason>> {
        let line = format!("::1 - - [06/May/2024:00:00:01 -0730] \"{request}\" 200 5 \"-\" \"curl\"");
        let row = read(&line)?;
        Some(row.map(|row| row.strip_suffix(" 200 5 2024-05-06T00:00:01-07:30").unwrap().to_owned()))
    }

    fn url(url: &str) -> Option<Result<String, BadRowReason>> {
        Some(Ok(url.to_owned()))
    }

    #[test]
    fn common_and_combined_lines_are_read() {
        let common = "192.0.2.7 - bob [31/Dec/2024:23:59:59 +0000] \"GET /p?a=1 HTTP/1.1\" 404 12";
        let expected = url("http://a.example/p?a=1 404 12 2024-12-31T23:59:59+00:00");
        assert_eq!(read(common), expected);
        assert_eq!(
            read(&format!("{common} \"http://b.example/\\\"x\" \"Mozilla/5.0 [en] \\\"quoted\\\"\"")),
            expected
        );
        assert_eq!(read(&format!("a.example:80 {common} 0.013")), expected);
        assert_eq!(read(&common.replace("bob", "b [o] b")), expected);
    }

    #[test]
    fn sizes_are_those_of_whole_bodies() {
        let line = |method, status, size| {
            let line = format!("h - - [01/Feb/2024:00:00:00 +0000] \"{method} / HTTP/2.0\" {status} {size}");
            read(&line).unwrap().unwrap()
        };
        for (method, status, size, kept) in [
            ("GET", 200, "7", "7"),
            ("GET", 404, "7", "7"),
            ("GET", 301, "-", "-"),
            ("GET", 206, "7", "-"),
            ("GET", 304, "0", "-"),
            ("HEAD", 200, "0", "-"),
        ] {
            let expected = format!("http://a.example/ {status} {kept} 2024-02-01T00:00:00+00:00");
            assert_eq!(line(method, status, size), expected);
        }
    }

    #[test]
    fn targets_are_unescaped() {
        assert_eq!(request(r#"GET /a\"b\x22c\x5Cd\\e HTTP/1.1"#), url(r#"http://a.example/a"b"c\d\e"#));
        assert_eq!(request(r"GET /\xe2\x82\xac HTTP/1.1"), url("http://a.example/€"));
        assert_eq!(request(r"GET /\q\x2\xzz HTTP/1.1"), url(r"http://a.example/\q\x2\xzz"));
        assert_eq!(request("GET /two words HTTP/1.1"), url("http://a.example/two words"));
    }

    #[test]
    fn whole_urls_need_no_base() {
        assert_eq!(request("GET HTTPS://b.example/x HTTP/1.1"), url("HTTPS://b.example/x"));
        assert_eq!(request("GET //b.example/x HTTP/1.1"), url("http://a.example//b.example/x"));
        assert_eq!(request("GET /old"), url("http://a.example/old"));
        assert_eq!(request("GET index.html HTTP/1.1"), Some(Err(NO_PATH)));
    }

    #[test]
    fn lines_that_show_no_page_are_passed_over() {
        for other in
            ["POST /p HTTP/1.1", "OPTIONS * HTTP/1.0", "get / HTTP/1.1", "-", "", r"\x16\x03\x01 \x02"]
        {
            assert_eq!(request(other), None, "{other}");
        }
    }

    #[test]
    fn other_lines_are_bad_rows() {
        for line in [
            "",
            "http://a.example/",
            "h - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1\"",
            "h - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1 200 5",
            "h - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1\\",
            "h - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1\" 20 5",
            "h - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1\" 200 five",
            "h - - [yesterday] \"GET / HTTP/1.1\" 200 5",
            "] \"GET / HTTP/1.1\" 200 5",
        ] {
            assert_eq!(read(line), Some(Err(NOT_A_LOG_LINE)), "{line}");
        }
    }
}
