/*!
CSV and TSV: a header that names the columns, then one row per observation.

CSV is RFC 4180: a quoted field may hold separators, line ends and doubled quotes. A stray quote costs one row, not
all lines up to the next quote: reading resumes on the line after it. TSV rows are split at tabs and never span lines.
In both, a field in well-formed quotes loses them and any other quote is part of the text. Types of columns are
checked in [`Observation`].

Rows are split here and not by the `csv` crate, which takes text after a closing quote for part of the field: a stray
quote then swallows the following rows without a trace.
*/

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3, memmem};

use super::entry::{
    AddedValues, CopyRows, CurrentRow, FormatEntry, LineFormat, LineParser, OpenError, Opening, Parsed,
    RowFormat, split_end,
};
use super::sniff::Sign;
use crate::bad_row::{BadRowReason, SourcePosition, shorten_quoted};
use crate::line_buffer::LineBuffer;
use crate::names::{Layout, NamedColumn, Names};
use crate::preset::{OTHER_NAMES, simplified};
use crate::{Column, Observation, Preset, ReadError};

pub(super) static CSV: FormatEntry = FormatEntry {
    name: "CSV",
    expected: "rows with as many fields as the header, and a URL in the column \"url\"",
    names_tool: false,
    sign: Sign::Header(|beginning| {
        matches!(header_separator(beginning.line, beginning.named), Some(b',' | b';'))
    }),
    extensions: &["csv"],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |opening| Ok(Box::new(Delimited::from_header(opening, true)?)),
        copy: Some(&CopyDelimited),
    }),
};

pub(super) static TSV: FormatEntry = FormatEntry {
    name: "TSV",
    expected: "rows with as many tabs as the header, and a URL in the column \"url\"",
    names_tool: false,
    sign: Sign::Header(|beginning| header_separator(beginning.line, beginning.named) == Some(b'\t')),
    extensions: &["tsv", "tab"],
    rows: RowFormat::Lines(LineFormat {
        needs_host: false,
        parser: |opening| Ok(Box::new(Delimited::from_header(opening, false)?)),
        copy: Some(&CopyDelimited),
    }),
};

/// Bytes of a name in a header; a longer field is none.
const MAX_NAME_BYTES: usize = 128;

/// Fields of a row that are kept. A row of more has too many for any header, or is garbage; they are only counted.
const MAX_FIELDS: usize = 1 << 16;

/// Bytes that may be read again because of stray quotes, beyond as many as the input has given so far. Keeps the time
/// in proportion to the input even if it is made of nothing but such quotes.
const REREAD_BYTES: u64 = 32 << 20;

/// The first line of a delimited table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelimitedHeader {
    /// As written, with its line end.
    pub text: Vec<u8>,
    /// What stands between fields.
    pub separator: u8,
    /// How many fields there are.
    pub width: usize,
}

struct Delimited {
    header: DelimitedHeader,
    splitter: Splitter,
    /// By position; unknown columns are `None`.
    columns: Vec<Option<Column>>,
    names: Names,
    layout: Layout,
    reread_bytes: u64,
}

impl Delimited {
    /// Reads the header. The format was told from it, so it is there.
    fn from_header(opening: Opening<'_>, may_span_lines: bool) -> Result<Self, OpenError> {
        let Opening { file, lines, named, .. } = opening;
        lines.next_row()?;
        let no_url = ReadError::NoUrlColumn { file: file.clone(), header: shorten_quoted(lines.row()) };
        let Some(separator) = header_separator(lines.row(), named) else {
            return Err(no_url.into());
        };
        let mut splitter = Splitter { separator, may_span_lines, fields: Vec::new(), count: 0 };
        if !splitter.split(lines)? {
            return Err(no_url.into());
        }
        let headings: Vec<String> = splitter.fields(lines.row()).map(|field| heading(&field)).collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let names = Names::resolve(&headings, named, Some(file))?;
        let columns: Vec<_> = headings.iter().map(|name| names.column_of_heading(name)).collect();
        for column in Column::ALL {
            match columns.iter().filter(|&&found| found == Some(column)).count() {
                0 if column == Column::Url => return Err(no_url.into()),
                0 | 1 => {}
                _ => {
                    return Err(ReadError::DuplicateColumn { file: file.clone(), column }.into());
                }
            }
        }
        let layout = names.layout(headings.iter().copied());
        let header = DelimitedHeader { text: lines.text().to_vec(), separator, width: columns.len() };
        Ok(Delimited { header, splitter, columns, names, layout, reread_bytes: 0 })
    }
}

impl LineParser for Delimited {
    fn parse(&mut self, CurrentRow { lines, position, observation }: CurrentRow<'_>) -> io::Result<Parsed> {
        let result = match self.splitter.split(lines)? {
            true => self.fill(lines.row(), position, observation),
            false => Err(BadRowReason::StrayQuote),
        };
        if let Err(BadRowReason::StrayQuote | BadRowReason::FieldCount { .. }) = result
            && lines.spans_lines()
        {
            self.give_back_lines(lines);
        }
        Ok(Some(result))
    }

    fn preset(&self) -> Option<Preset> {
        self.names.preset()
    }

    fn layout(&self) -> Option<Layout> {
        Some(self.layout.clone())
    }

    fn header(&self) -> Option<&DelimitedHeader> {
        Some(&self.header)
    }
}

impl Delimited {
    fn fill(
        &self,
        row: &[u8],
        position: SourcePosition<'_>,
        observation: &mut Observation,
    ) -> Result<(), BadRowReason> {
        let (found, expected) = (self.splitter.count, self.columns.len());
        if found != expected {
            let separator = match self.splitter.separator {
                b'\t' => "tab",
                b';' => "semicolon",
                _ => "comma",
            };
            return Err(BadRowReason::FieldCount { found, expected, separator });
        }
        for (column, field) in self.columns.iter().zip(self.splitter.fields(row)) {
            if let &Some(column) = column
                && observation.set_bytes(column, &field).is_err()
            {
                observation.push_bad_column(position.bad_column(column, shorten_quoted(&field)));
            }
        }
        if observation.url().is_empty() { Err(BadRowReason::EmptyUrl) } else { Ok(()) }
    }

    /// Has all lines of a bad row but the first read again: a stray quote took them in.
    fn give_back_lines(&mut self, lines: &mut LineBuffer) {
        let reread_bytes = self.reread_bytes + lines.row().len() as u64;
        let (_, bytes_before) = lines.before_row();
        if reread_bytes <= bytes_before + REREAD_BYTES {
            self.reread_bytes = reread_bytes;
            lines.cut_to_first_line();
        }
    }
}

/// Finds the fields of a row.
struct Splitter {
    separator: u8,
    may_span_lines: bool,
    /// Of the row split last, quotes included.
    fields: Vec<Range<usize>>,
    count: usize,
}

impl Splitter {
    /// Splits the current row of `lines`, adding to it as many lines as its quotes span. `false`: a quote is never
    /// closed, or closed on another line within a field.
    fn split(&mut self, lines: &mut LineBuffer) -> io::Result<bool> {
        self.fields.clear();
        self.count = 0;
        let mut start = 0;
        loop {
            let mut end = start;
            if self.may_span_lines && lines.row().get(start) == Some(&b'"') {
                match quoted_end(lines, start)? {
                    Some(quoted_end) => end = quoted_end,
                    None => return Ok(false),
                }
            }
            let row = lines.row();
            let at_separator = match row.get(end) {
                Some(&byte) if byte == self.separator => true,
                // Text after the closing quote. On one line it does no harm: the field is not in quotes then.
                Some(_) if end > start && lines.spans_lines() => return Ok(false),
                _ => match memchr(self.separator, &row[end..]) {
                    Some(len) => {
                        end += len;
                        true
                    }
                    None => {
                        end = row.len();
                        false
                    }
                },
            };
            self.count += 1;
            if self.count <= MAX_FIELDS {
                self.fields.push(start..end);
            }
            if !at_separator {
                return Ok(true);
            }
            start = end + 1;
        }
    }

    fn fields<'a>(&self, row: &'a [u8]) -> impl Iterator<Item = Cow<'a, [u8]>> {
        self.fields.iter().map(|field| unquote(&row[field.clone()]))
    }
}

/// End of the quoted field that starts at `start`, adding lines to the row until it is there.
fn quoted_end(lines: &mut LineBuffer, start: usize) -> io::Result<Option<usize>> {
    let mut at = start + 1;
    loop {
        let row = lines.row();
        match memchr(b'"', &row[at..]) {
            Some(len) if row.get(at + len + 1) == Some(&b'"') => at += len + 2,
            Some(len) => return Ok(Some(at + len + 1)),
            None => {
                at = row.len();
                if !lines.extend()? {
                    return Ok(None);
                }
            }
        }
    }
}

/// A field without its quotes, if it is in quotes and all quotes within are doubled.
fn unquote(field: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")) else {
        return Cow::Borrowed(field);
    };
    let mut text = Vec::new();
    let mut copied = 0;
    let mut quotes = memchr_iter(b'"', inner);
    while let Some(at) = quotes.next() {
        if quotes.next() != Some(at + 1) {
            return Cow::Borrowed(field);
        }
        text.extend_from_slice(&inner[copied..=at]);
        copied = at + 2;
    }
    if copied == 0 {
        return Cow::Borrowed(inner);
    }
    text.extend_from_slice(&inner[copied..]);
    Cow::Owned(text)
}

/// The separator under which a line is a header: one of its fields is a known column, and none an address.
/// A header of the single column `url` is separated by tabs, so that its URLs may hold commas.
fn header_separator(line: &[u8], named: &[NamedColumn]) -> Option<u8> {
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
        memchr(separator, line).is_some() && fields.any(is_known)
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
fn heading(field: &[u8]) -> String {
    let name = String::from_utf8_lossy(field);
    name.trim_matches(|c: char| c.is_ascii_whitespace() || c == '"').to_owned()
}

/// Adds two fields to each row, and to the header.
struct CopyDelimited;

impl CopyRows for CopyDelimited {
    fn extend(&self, text: &[u8], added: &AddedValues<'_>, out: &mut Vec<u8>) {
        let (row, end) = split_end(text);
        let Some(&DelimitedHeader { separator, width, .. }) = added.header else { return };
        // A single column is read as if separated by tabs, since URLs hold commas: it comes out as CSV.
        let separator = if width == 1 { b',' } else { separator };
        if width == 1 {
            push_field(row, separator, out);
        } else {
            out.extend_from_slice(row);
        }
        for value in added.values {
            out.push(separator);
            push_field(value.unwrap_or_default(), separator, out);
        }
        out.extend_from_slice(end);
    }
}

/// Writes a field, in quotes if it must be. One that is in quotes stays so.
fn push_field(value: &[u8], separator: u8, out: &mut Vec<u8>) {
    let is_quoted = value.len() > 1 && value.starts_with(b"\"") && value.ends_with(b"\"");
    let needs_quotes = memchr3(separator, b'"', b'\n', value).is_some();
    if is_quoted || !needs_quotes || separator == b'\t' {
        out.extend_from_slice(value);
        return;
    }
    out.push(b'"');
    for &byte in value {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

    /// Title of each row, or the reason why there is none.
    fn titles(name: &str, text: &str) -> Vec<Result<Option<String>, BadRowReason>> {
        let input = Input::from_read(name, io::Cursor::new(text.to_owned())).unwrap();
        let mut reader = input.observations().unwrap();
        let mut observation = Observation::new();
        let mut titles = Vec::new();
        while let Some(row) = reader.read(&mut observation).unwrap() {
            titles.push(row.map(|()| observation.title().map(str::to_owned)).map_err(|bad| bad.reason));
        }
        titles
    }

    fn title(text: &str) -> Result<Option<String>, BadRowReason> {
        Ok(Some(text.to_owned()))
    }

    #[test]
    fn quoted_fields_hold_separators_quotes_and_line_ends() {
        let text = "url,title\r\nu,\"a, \"\"b\"\"\"\r\nu,\"c\r\n\r\nd\"\r\nu,e";
        assert_eq!(titles("x.csv", text), [title("a, \"b\""), title("c\r\n\r\nd"), title("e")]);
    }

    #[test]
    fn header_may_be_quoted_in_any_case_and_hold_unknown_columns() {
        assert_eq!(titles("x.csv", "\"no, really\",\"Title\", URL \n1,t,u\n"), [title("t")]);
        assert_eq!(titles("x", "url;title\nu;a,b\n"), [title("a,b")]);
    }

    #[test]
    fn a_stray_quote_costs_one_row() {
        let stray = || Err(BadRowReason::StrayQuote);
        let fields = |found| Err(BadRowReason::FieldCount { found, expected: 2, separator: "comma" });
        let text = "url,title\nu,\"a\nu,b\nu,c\nu,\"d\"\nu,e\n";
        // The quote before a meets the one before d: no rows are lost in between.
        assert_eq!(titles("x.csv", text), [stray(), title("b"), title("c"), title("d"), title("e")]);
        assert_eq!(titles("x.csv", "url,title\nu,\"a\nu,b\n"), [stray(), title("b")]);
        assert_eq!(titles("x.csv", "url,title\nu,a,\"b\nu\",c\nu,d\n"), [fields(4), title("c"), title("d")]);
    }

    #[test]
    fn stray_quotes_within_a_line_are_text() {
        for field in ["\"a\" and \"b\"", "\"a\"b", "5\" disk", "\"a\" "] {
            assert_eq!(titles("x.csv", &format!("url,title\nu,{field}\n")), [title(field)]);
        }
    }

    #[test]
    fn tab_separated_fields_lose_only_well_formed_quotes() {
        for (field, text) in [
            ("\"a, \"\"b\"\" c\"", "a, \"b\" c"),
            ("\"plain\"", "plain"),
            ("\"\"\"\"", "\""),
            ("\"a\" and \"b\"", "\"a\" and \"b\""),
            ("\"open", "\"open"),
            ("\"", "\""),
            ("5\" disk", "5\" disk"),
        ] {
            assert_eq!(unquote(field.as_bytes()), text.as_bytes(), "{field}");
        }
        assert_eq!(titles("x.tsv", "url\ttitle\nu\t\"a\nu\t\n"), [title("\"a"), Ok(None)]);
    }

    #[test]
    fn a_single_column_may_hold_commas() {
        let input =
            Input::from_read("x.csv", &b"url\nhttp://a.example/1,2\n\"http://a.example/3,4\"\n"[..]).unwrap();
        let mut reader = input.observations().unwrap();
        let mut observation = Observation::new();
        for url in ["http://a.example/1,2", "http://a.example/3,4"] {
            assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
            assert_eq!(observation.url(), url.as_bytes());
        }
    }

    #[test]
    fn fields_beyond_any_header_are_counted_and_not_kept() {
        let text = format!("url,title\nu{}\nu,a\n", ",".repeat(1 << 20));
        let too_many = BadRowReason::FieldCount { found: (1 << 20) + 1, expected: 2, separator: "comma" };
        assert_eq!(titles("x.csv", &text), [Err(too_many), title("a")]);
    }

    #[test]
    fn stray_quotes_everywhere_take_bounded_time() {
        // In or out of quotes at its start, each line ends within quotes, so no row ever ends.
        let text = format!("url,title\n{}", format!("x\",\"\"\",{}\n", "z".repeat(1000)).repeat(20_000));
        let rows = titles("x.csv", &text);
        assert!(rows.iter().all(|row| *row == Err(BadRowReason::StrayQuote)));
        assert!(rows.len() < 20, "{} rows", rows.len());
    }
}
