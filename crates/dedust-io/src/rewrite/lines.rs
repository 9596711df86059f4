/*!
Copies tables whose rows are lines: JSON Lines, CSV, TSV, CDX and CDXJ.

A JSON object gets two more keys, a delimited row two more fields. A line of a CDX index gets two fields under the letters `U` and
`A` ("uniqueness" and "canonized URL"), which its header names; lines of an index that are no pages stay as they are. Line ends
stay as they are. A JSON array comes out as JSON Lines.
*/

use std::io::Write;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr3;

use super::{AddedColumns, AddedNames, MakeColumns, RewriteError, UrlBatch};
use crate::{DelimitedHeader, Format, Input, Layout, Observation, Reader, RowKind};

/// Bytes of rows that are held at a time.
const HELD_BYTES: usize = 8 << 20;

/// The letters of the fields that are added to a CDX index, as its header has them.
const CDX_LETTERS: [&[u8]; 2] = [b"U", b"A"];

/// The fields of a CDX index without a header.
const CDX_HEADER: &[u8] = b" CDX N b a m s k r M S V g";

pub(super) struct LineRewriter<'o> {
    names: AddedNames,
    output: &'o mut (dyn Write + Send),
    /// That of the first delimited input.
    header: Option<DelimitedHeader>,
    /// Whether something was written.
    has_started: bool,
    batch: UrlBatch,
    rows: HeldRows,
    added: AddedColumns,
    out: Vec<u8>,
}

/// Rows that wait for what is added to them.
#[derive(Default)]
struct HeldRows {
    text: Vec<u8>,
    rows: Vec<(Range<usize>, Fate)>,
}

/// What becomes of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Two values are added.
    Extended,
    /// It stays as it is.
    Copied,
}

impl<'o> LineRewriter<'o> {
    pub(super) fn new(names: AddedNames, output: &'o mut (dyn Write + Send)) -> Self {
        Self {
            names,
            output,
            header: None,
            has_started: false,
            batch: UrlBatch::default(),
            rows: HeldRows::default(),
            added: AddedColumns::default(),
            out: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        input: Input,
        make: &mut MakeColumns<'_>,
    ) -> Result<Option<Layout>, RewriteError> {
        let file: Arc<str> = input.name().into();
        let mut reader = input.observations()?;
        let format = reader.format();
        self.batch = UrlBatch::new(file.clone());
        self.start(&file, &reader)?;
        let mut observation = Observation::new();
        loop {
            let Some(kind) = reader.read_each(&mut observation)? else { break };
            if self.batch.locations.is_empty() && matches!(format, Format::JsonLines | Format::JsonArray) {
                let layout = reader.layout().unwrap_or_default();
                self.names.check(&file, layout.ignored.iter().map(|name| &**name))?;
            }
            let text = reader.text_of_row().unwrap_or_default();
            match kind {
                RowKind::Page => self.hold(text, Some(observation.url()), &observation),
                RowKind::Bad(bad) if bad.reason.is_about_url() => self.hold(text, None, &observation),
                RowKind::Bad(bad) => self.batch.bad_rows.push(bad),
                RowKind::Other if matches!(format, Format::Cdx | Format::Cdxj) => {
                    self.rows.push(text, Fate::Copied)
                }
                // A row of another subset is one nevertheless; what remains is brackets of an array.
                RowKind::Other if observation.url().is_empty() => {}
                RowKind::Other => self.hold(text, Some(observation.url()), &observation),
            }
            if self.batch.is_full() || self.rows.text.len() >= HELD_BYTES {
                self.write(format, make)?;
            }
        }
        self.write(format, make)?;
        Ok(reader.layout())
    }

    pub(super) fn finish(self) -> Result<(), RewriteError> {
        Ok(self.output.flush()?)
    }

    fn hold(&mut self, text: &[u8], url: Option<&[u8]>, observation: &Observation) {
        self.rows.push(text, Fate::Extended);
        self.batch.push(url, observation.location());
    }

    /// Writes the header, if there is one to be written.
    fn start(&mut self, file: &Arc<str>, reader: &Reader) -> Result<(), RewriteError> {
        let format = reader.format();
        if let Some(header) = reader.header() {
            match &self.header {
                Some(first) if first.text.trim_ascii_end() == header.text.trim_ascii_end() => {}
                Some(_) => return Err(RewriteError::OtherColumns { file: file.clone() }),
                None => {
                    let layout = reader.layout().unwrap_or_default();
                    self.names.check(file, layout.ignored.iter().map(|name| &**name))?;
                    self.header = Some(header.clone());
                    let names = [self.names.key.as_bytes(), self.names.url.as_bytes()].map(Some);
                    extend_delimited(&header.text, separator_of(header), header.width, names, &mut self.out);
                }
            }
        } else if format == Format::Cdx && !self.has_started && !reader.starts_with_header() {
            extend_cdx(CDX_HEADER, b' ', CDX_LETTERS.map(Some), &mut self.out);
        }
        Ok(())
    }

    /// Makes what is added, and writes all rows that are held.
    fn write(&mut self, format: Format, make: &mut MakeColumns<'_>) -> Result<(), RewriteError> {
        self.added.fill(&self.batch, make)?;
        let mut rows = mem::take(&mut self.rows);
        let mut added = self.added.keys.iter().zip(self.added.urls.iter());
        for (range, fate) in rows.rows.drain(..) {
            let text = &rows.text[range];
            let values = match fate {
                Fate::Extended => added.next().map_or([None; 2], |(key, url)| [key, url]),
                Fate::Copied => {
                    copy(text, format, &mut self.out);
                    continue;
                }
            };
            match format {
                Format::JsonLines | Format::JsonArray | Format::Cdxj => {
                    extend_json(text, &self.names, values, &mut self.out);
                }
                Format::Cdx => extend_cdx(text, cdx_separator(text), values, &mut self.out),
                _ => {
                    let (separator, width) =
                        self.header.as_ref().map_or((b',', 0), |header| (separator_of(header), header.width));
                    extend_delimited(text, separator, width, values, &mut self.out);
                }
            }
        }
        rows.text.clear();
        self.rows = rows;
        self.has_started |= !self.out.is_empty();
        self.output.write_all(&self.out)?;
        self.out.clear();
        self.batch.clear();
        Ok(())
    }
}

impl HeldRows {
    fn push(&mut self, text: &[u8], fate: Fate) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.rows.push((start..self.text.len(), fate));
    }
}

/// What separates fields in the output. A single column is read as if separated by tabs, since URLs hold commas: it comes out as
/// CSV.
fn separator_of(header: &DelimitedHeader) -> u8 {
    if header.width == 1 { b',' } else { header.separator }
}

/// A row and its line end.
fn split_end(text: &[u8]) -> (&[u8], &[u8]) {
    let row = text.strip_suffix(b"\n").unwrap_or(text);
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    let end = &text[row.len()..];
    (row, if end.is_empty() { b"\n" } else { end })
}

/// Copies a line of an index; its header gets two letters more.
fn copy(text: &[u8], format: Format, out: &mut Vec<u8>) {
    let (row, end) = split_end(text);
    let is_header = format == Format::Cdx && row.get(1..4) == Some(b"CDX");
    if is_header {
        return extend_cdx(text, row[0], CDX_LETTERS.map(Some), out);
    }
    if format == Format::Cdx {
        return extend_cdx(text, cdx_separator(text), [None; 2], out);
    }
    out.extend_from_slice(row);
    out.extend_from_slice(end);
}

/// What separates the fields of a line of an index.
fn cdx_separator(text: &[u8]) -> u8 {
    text.iter().copied().find(|byte| matches!(byte, b' ' | b'\t' | b'|')).unwrap_or(b' ')
}

fn extend_cdx(text: &[u8], separator: u8, values: [Option<&[u8]>; 2], out: &mut Vec<u8>) {
    let (row, end) = split_end(text);
    out.extend_from_slice(row);
    for value in values {
        out.push(separator);
        out.extend_from_slice(value.filter(|value| !value.is_empty()).unwrap_or(b"-"));
    }
    out.extend_from_slice(end);
}

fn extend_json(text: &[u8], names: &AddedNames, values: [Option<&[u8]>; 2], out: &mut Vec<u8>) {
    let (row, end) = split_end(text);
    let row = row.trim_ascii_end();
    // Every row that is held is an object.
    let open = row.strip_suffix(b"}").unwrap_or(row).trim_ascii_end();
    out.extend_from_slice(open);
    if !open.ends_with(b"{") {
        out.push(b',');
    }
    for (index, (name, value)) in [&names.key, &names.url].into_iter().zip(values).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_json(name, out);
        out.push(b':');
        match value {
            Some(value) => push_json(&String::from_utf8_lossy(value), out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
    out.extend_from_slice(end);
}

fn push_json(text: &str, out: &mut Vec<u8>) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Memory takes all that is written.
        let _ = serde_json::to_writer(out, text);
    }
}

fn extend_delimited(text: &[u8], separator: u8, width: usize, values: [Option<&[u8]>; 2], out: &mut Vec<u8>) {
    let (row, end) = split_end(text);
    if width == 1 {
        push_field(row, separator, out);
    } else {
        out.extend_from_slice(row);
    }
    for value in values {
        out.push(separator);
        push_field(value.unwrap_or_default(), separator, out);
    }
    out.extend_from_slice(end);
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
