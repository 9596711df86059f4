/*!
The head of a WARC record, versions 0.17 to 1.1 (ISO 28500).
*/

use super::RecordKind;
use super::inner_head::HeadLine;
use super::stream::{LineRead, Stream, read_line};
use crate::bad_row::BadRowReason;
use crate::head::Fields;

/// What each record starts with.
pub(super) const MARK: &[u8] = b"WARC/";

/// The same as a whole line: `WARC/1.0`.
pub(super) const HEAD_LINE: HeadLine = HeadLine { start: b"\nWARC/", is_head: is_first_line };

/// Longest head, in bytes.
const MAX_HEAD_BYTES: usize = 4 << 20;

fn is_first_line(line: &[u8]) -> bool {
    let version = line.strip_prefix(MARK).map(<[u8]>::trim_ascii_end).unwrap_or_default();
    matches!(version, [major, b'.', minor @ ..] if major.is_ascii_digit()
        && !minor.is_empty() && minor.iter().all(u8::is_ascii_digit))
}

/// Reads the fields after the first line of a record. Gives the length of its block.
pub(super) fn read_fields(
    stream: &mut Stream,
    line: &mut Vec<u8>,
    fields: &mut Fields,
) -> Result<u64, BadRowReason> {
    let mut len = 0;
    loop {
        match read_line(stream, line) {
            LineRead::End => return Err(BadRowReason::HeadCutOff),
            LineRead::TooLong => return Err(BadRowReason::HeadTooLong),
            LineRead::Line if line.trim_ascii().is_empty() => break,
            LineRead::Line => fields.push_line(line),
        }
        len += line.len();
        if len > MAX_HEAD_BYTES {
            return Err(BadRowReason::HeadTooLong);
        }
    }
    let length = fields.get("content-length").unwrap_or_default();
    let digits = std::str::from_utf8(length).ok().filter(|digits| !digits.starts_with('+'));
    digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| BadRowReason::BadLength { found: crate::bad_row::shorten_quoted(length) })
}

/// What the record is.
pub(super) fn kind(fields: &Fields) -> RecordKind {
    match &fields.get("warc-type").unwrap_or_default().to_ascii_lowercase()[..] {
        b"warcinfo" => RecordKind::Info,
        b"response" => RecordKind::Response,
        b"resource" => RecordKind::Resource,
        b"request" => RecordKind::Request,
        b"metadata" => RecordKind::Metadata,
        b"revisit" => RecordKind::Revisit,
        b"conversion" => RecordKind::Conversion,
        _ => RecordKind::Other,
    }
}

/// The URL. Early writers put it in angle brackets, as the grammar of the standard has it.
pub(super) fn target(fields: &Fields) -> &[u8] {
    let target = fields.get("warc-target-uri").unwrap_or_default();
    target.strip_prefix(b"<").and_then(|target| target.strip_suffix(b">")).unwrap_or(target)
}
