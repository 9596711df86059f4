/*!
Web archives: WARC and ARC, record by record.

Bytes come in through a [`Stream`]; of each record that shows a page, an [`Observation`] goes out, and a [`Document`]
where the page may be read as text. One record is held at a time, of its body at most [`crate::MAX_BODY_BYTES`].

- Responses, resources and revisits of `http` and `https` URLs are pages. What the crawler sent, found out or noted is
  passed over, and so is what it fetched by other protocols.
- A record that is cut off, damaged or of the wrong length is a bad row, and reading goes on at the next: in the next
  gzip member where records are compressed one by one, else at the next line that starts as a record does. Such lines
  inside a block count only if no record starts where the block ends.

Digests are as the archive has them (`WARC-Payload-Digest`), without the name of SHA-1, as in CDX files; nothing is
hashed here.
*/

mod arc;
mod http;
mod inner_head;
mod page;
mod stream;
mod warc;

use std::io::{self, BufRead as _, Read as _};

use inner_head::{Held, MAX_HEAD_LINE_BYTES};
use page::{HttpHead, Page};
use stream::{Block, LineRead, Stream, read_line};

use crate::bad_row::{BadBodyReason, BadRowReason};
use crate::head::Fields;
use crate::timestamp;
use crate::{Column, Document, Observation, Text};

/// Records of an archive so far, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordCounts {
    /// About the file itself.
    pub info: u64,
    /// What servers answered.
    pub response: u64,
    /// Pages without the protocol they came by.
    pub resource: u64,
    /// What was asked.
    pub request: u64,
    /// What the crawler noted.
    pub metadata: u64,
    /// Answers that were like an earlier one.
    pub revisit: u64,
    /// Pages in another form.
    pub conversion: u64,
    /// All others.
    pub other: u64,
}

impl RecordCounts {
    /// Records of all kinds.
    pub fn total(&self) -> u64 {
        let Self { info, response, resource, request, metadata, revisit, conversion, other } = self;
        info + response + resource + request + metadata + revisit + conversion + other
    }

    fn add(&mut self, kind: RecordKind) {
        *match kind {
            RecordKind::Info => &mut self.info,
            RecordKind::Response => &mut self.response,
            RecordKind::Resource => &mut self.resource,
            RecordKind::Request => &mut self.request,
            RecordKind::Metadata => &mut self.metadata,
            RecordKind::Revisit => &mut self.revisit,
            RecordKind::Conversion => &mut self.conversion,
            RecordKind::Other => &mut self.other,
        } += 1;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    Info,
    Response,
    Resource,
    Request,
    Metadata,
    Revisit,
    Conversion,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveFormat {
    Warc,
    Arc,
}

/// What follows in an archive.
pub(crate) enum NextRecord {
    /// A page, in the observation.
    Page,
    Bad(BadRowReason),
    End,
}

/// Reads an archive.
pub(crate) struct Archive {
    format: ArchiveFormat,
    stream: Stream,
    /// The first line of a record, or what stands in its place.
    line: Vec<u8>,
    /// The first line of the next record and its place, where it was read already.
    next_line: Option<(u64, Vec<u8>)>,
    fields: Fields,
    http_line: Vec<u8>,
    counts: RecordCounts,
    /// The current record, counted from 1.
    number: u64,
    offset: u64,
    /// Bytes that its block is said to have.
    length: u64,
    document: Document,
    has_document: bool,
    bad_body: Option<BadBodyReason>,
    /// After a failure behind which nothing can be read.
    ended: bool,
}

impl Archive {
    /// Continues `text`, of which `start` has been read before.
    pub(crate) fn new(format: ArchiveFormat, start: Vec<u8>, text: Text) -> Self {
        let head_line = match format {
            ArchiveFormat::Warc => warc::HEAD_LINE,
            ArchiveFormat::Arc => arc::HEAD_LINE,
        };
        Archive {
            format,
            stream: Stream::new(start, text, head_line),
            line: Vec::new(),
            next_line: None,
            fields: Fields::default(),
            http_line: Vec::new(),
            counts: RecordCounts::default(),
            number: 0,
            offset: 0,
            length: 0,
            document: Document::default(),
            has_document: false,
            bad_body: None,
            ended: false,
        }
    }

    pub(crate) fn counts(&self) -> RecordCounts {
        self.counts
    }

    /// Number of the current record, and where it starts.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.number, self.offset)
    }

    /// What the current record is of: its URL, or else its first line or what stands in its place.
    pub(crate) fn shown(&self) -> &[u8] {
        match warc::target(&self.fields) {
            b"" => self.line.trim_ascii(),
            url => url,
        }
    }

    pub(crate) fn document(&self) -> Option<&Document> {
        self.has_document.then_some(&self.document)
    }

    pub(crate) fn take_document(&mut self) -> Option<Document> {
        std::mem::take(&mut self.has_document).then(|| std::mem::take(&mut self.document))
    }

    /// What is wrong with the body of the current page.
    pub(crate) fn take_bad_body(&mut self) -> Option<BadBodyReason> {
        self.bad_body.take()
    }

    /// Moves on to the next page. An error is one of the system, and final.
    pub(crate) fn next(&mut self, observation: &mut Observation) -> io::Result<NextRecord> {
        self.has_document = false;
        self.bad_body = None;
        if self.ended {
            return Ok(NextRecord::End);
        }
        loop {
            self.fields.clear();
            if !self.find_record() {
                return match self.stream.take_failure() {
                    None => Ok(NextRecord::End),
                    Some(failure) => {
                        self.number += 1;
                        self.line.clear();
                        self.pass_over(failure)
                    }
                };
            }
            self.number += 1;
            let read = self.read_record(observation);
            // Not a failure behind the record, which is met when the next one is looked for.
            let has_failed = self.stream.has_failed();
            let read = self.check_length(read);
            if let Some(failure) = has_failed.then(|| self.stream.take_failure()).flatten() {
                return self.pass_over(failure);
            }
            match read {
                Ok(true) => return Ok(NextRecord::Page),
                Ok(false) => {}
                Err(reason) => {
                    if reason.loses_place() {
                        self.find_next_mark();
                    }
                    return Ok(NextRecord::Bad(reason));
                }
            }
        }
    }

    /// Reads up to the first line of a record, passing over the blank ones before it.
    fn find_record(&mut self) -> bool {
        if let Some((offset, line)) = self.next_line.take() {
            (self.offset, self.line) = (offset, line);
            return true;
        }
        loop {
            self.offset = self.stream.here();
            if read_line(&mut self.stream, &mut self.line) == LineRead::End {
                return false;
            }
            if !self.line.trim_ascii().is_empty() {
                return true;
            }
        }
    }

    /// What could not be decompressed is a bad row; what could not be read at all ends reading.
    fn pass_over(&mut self, failure: io::Error) -> io::Result<NextRecord> {
        self.has_document = false;
        if failure.raw_os_error().is_some() {
            return Err(failure);
        }
        self.ended = !self.stream.skip_damage()?;
        Ok(NextRecord::Bad(match failure.kind() {
            io::ErrorKind::UnexpectedEof if self.ended => BadRowReason::CutOff,
            _ => BadRowReason::Undecodable { problem: failure.to_string() },
        }))
    }

    /// After a record that went wrong: reads up to what looks like the start of another.
    fn find_next_mark(&mut self) {
        let mut line = Vec::new();
        loop {
            let offset = self.stream.here();
            if read_line(&mut self.stream, &mut line) == LineRead::End {
                return;
            }
            if self.is_mark(&line) {
                // Not into `self.line`, which is shown in the message.
                self.next_line = Some((offset, line));
                return;
            }
        }
    }

    /// After a record with the head of another inside: goes back to that head unless a record starts where this one ends.
    fn check_length(&mut self, read: Result<bool, BadRowReason>) -> Result<bool, BadRowReason> {
        let Some(held) = self.stream.take_held() else { return read };
        let found = held.position;
        let is_whole = held.position + held.len() == self.length;
        let mut behind = Vec::new();
        if is_whole && self.is_end_of_record(&mut behind) {
            return read;
        }
        // Where records are compressed by themselves, the next one is known by its member.
        if !is_whole && self.stream.at_member_start() {
            return read;
        }
        let is_head = held.unfinished_line.as_ref().is_none_or(|line| {
            let rest = behind.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
            self.is_mark(&[line, rest].concat())
        });
        self.go_back(if is_head { Some(held) } else { None }, &behind);
        if !is_head {
            return read;
        }
        self.has_document = false;
        Err(BadRowReason::LengthTooLong { length: self.length, found })
    }

    /// Has the bytes held, if any, and those behind them read again.
    fn go_back(&mut self, held: Option<Held>, behind: &[u8]) {
        let held = match held {
            Some(mut held) => held.push(behind).map(|()| held),
            None => Held::new(behind, 0),
        };
        match held {
            Ok(held) => self.stream.rewind(held),
            Err(error) => self.stream.fail(error),
        }
    }

    /// Whether a record, or nothing, follows where the block of one ended. What was read to find out is in `behind` if
    /// not, else it is remembered.
    fn is_end_of_record(&mut self, behind: &mut Vec<u8>) -> bool {
        loop {
            let (offset, line_start) = (self.stream.here(), behind.len());
            let limit = (MAX_HEAD_LINE_BYTES - line_start.min(MAX_HEAD_LINE_BYTES)) as u64;
            // A failure to read is kept by the stream.
            let _ = self.stream.by_ref().take(limit).read_until(b'\n', behind);
            let line = &behind[line_start..];
            if line.is_empty() && limit > 0 {
                return true;
            }
            if self.is_mark(line) {
                self.next_line = Some((offset, line.to_vec()));
                return true;
            }
            if limit == 0 || !line.trim_ascii().is_empty() {
                return false;
            }
        }
    }

    fn is_mark(&self, line: &[u8]) -> bool {
        match self.format {
            ArchiveFormat::Warc => line.starts_with(warc::MARK),
            ArchiveFormat::Arc => arc::is_first_line(line),
        }
    }

    /// Reads the record whose first line is known. `true`: it is a page.
    fn read_record(&mut self, observation: &mut Observation) -> Result<bool, BadRowReason> {
        match self.format {
            ArchiveFormat::Warc => self.read_warc(observation),
            ArchiveFormat::Arc => self.read_arc(observation),
        }
    }

    fn read_warc(&mut self, observation: &mut Observation) -> Result<bool, BadRowReason> {
        if !self.line.starts_with(warc::MARK) {
            return Err(BadRowReason::NotARecord { expected: "WARC/1.0" });
        }
        let len = warc::read_fields(&mut self.stream, &mut self.http_line, &mut self.fields)?;
        let kind = warc::kind(&self.fields);
        self.counts.add(kind);
        let url = warc::target(&self.fields);
        let is_page = matches!(kind, RecordKind::Response | RecordKind::Resource | RecordKind::Revisit);
        self.length = len;
        let block = Block::new(&mut self.stream, len, warc::MARK);
        if !is_page || !is_web(url) {
            whole(len, block.skip())?;
            return match (is_page, url) {
                (true, b"") => Err(BadRowReason::NoTarget),
                _ => Ok(false),
            };
        }
        observation.set_address(Column::Url, url);
        set(observation, Column::Time, self.fields.get("warc-date"));
        set_digest(observation, self.fields.get("warc-payload-digest"));
        let mut page = Page::new(&mut self.document, &mut self.http_line);
        match kind {
            RecordKind::Resource => {
                page.http_head = HttpHead::Absent;
                page.set_content_type(self.fields.get("content-type").unwrap_or_default());
            }
            RecordKind::Revisit => page.http_head = HttpHead::Alone,
            _ => page.http_head = HttpHead::Present,
        }
        page.set_cut(self.fields.get("warc-truncated").is_some());
        (self.has_document, self.bad_body) = page.read(block, len, observation)?;
        Ok(true)
    }

    fn read_arc(&mut self, observation: &mut Observation) -> Result<bool, BadRowReason> {
        let Some(head) = arc::split(&self.line) else {
            return Err(BadRowReason::NotARecord { expected: arc::EXAMPLE });
        };
        let is_about_file = self.line.starts_with(arc::FILE_MARK);
        self.counts.add(if is_about_file { RecordKind::Info } else { RecordKind::Response });
        self.length = head.length;
        let block = Block::new(&mut self.stream, head.length, b"");
        if !is_web(head.url) {
            return whole(head.length, block.skip()).map(|()| false);
        }
        observation.set_address(Column::Url, head.url);
        set(observation, Column::Time, Some(timestamp::iso(head.time).as_bytes()));
        let mut page = Page::new(&mut self.document, &mut self.http_line);
        page.http_head = HttpHead::Usual;
        page.set_content_type(head.mime);
        (self.has_document, self.bad_body) = page.read(block, head.length, observation)?;
        Ok(true)
    }
}

/// An error if bytes of a block are missing.
fn whole(len: u64, missing: u64) -> Result<(), BadRowReason> {
    match missing {
        0 => Ok(()),
        _ => Err(BadRowReason::CutShort { found: len - missing, expected: len }),
    }
}

/// Whether a URL is one of HTTP.
pub(crate) fn is_web(url: &[u8]) -> bool {
    let starts_with =
        |scheme: &[u8]| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts_with(b"http://") || starts_with(b"https://")
}

/// Sets a column that may hold any text. Bytes that are none are not worth a message: crawlers write these columns.
fn set(observation: &mut Observation, column: Column, value: Option<&[u8]>) {
    let _ = observation.set_bytes(column, value.unwrap_or_default());
}

/// Sets the digest of a body, without the name of SHA-1.
pub(crate) fn set_digest(observation: &mut Observation, digest: Option<&[u8]>) {
    let digest = digest.unwrap_or_default();
    set(observation, Column::Digest, digest.strip_prefix(b"sha1:").or(Some(digest)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and bad rows of an archive, and the bytes that were read more than once.
    fn cost(bytes: &[u8]) -> (usize, usize, u64) {
        let text = Text::from_read("a.warc", io::Cursor::new(bytes.to_vec())).unwrap();
        let mut archive = Archive::new(ArchiveFormat::Warc, Vec::new(), text);
        let mut observation = Observation::new();
        let (mut good, mut bad) = (0, 0);
        loop {
            match archive.next(&mut observation).unwrap() {
                NextRecord::Page => good += 1,
                NextRecord::Bad(_) => bad += 1,
                NextRecord::End => return (good, bad, archive.stream.reread_bytes),
            }
        }
    }

    #[test]
    fn lengths_that_are_all_too_long_cost_linear_time() {
        let lying = |len: u64| {
            format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: {len}\r\n\r\nx\r\n\r\n"
            )
        };
        for len in [300, 100_000, 1 << 40] {
            let archive = lying(len).repeat(5_000);
            let (good, bad, reread_bytes) = cost(archive.as_bytes());
            assert_eq!((good, bad), (0, 5_000), "{len}");
            // A few times the whole, then a small piece for each record.
            let limit = 10 * archive.len() as u64 + 5_000 * (4 << 10);
            assert!(reread_bytes < limit, "{len}: {reread_bytes} bytes of {}", archive.len());
        }
    }
}
