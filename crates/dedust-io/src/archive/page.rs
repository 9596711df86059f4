/*!
What the block of a record tells of its page: status, type, target of a redirect, and the page itself where it is text.
*/

use super::http;
use super::stream::Block;
use super::{set, whole};
use crate::bad_row::{BadBodyReason, BadRowReason};
use crate::{Column, Document, Observation};

/// Whether a block starts with the status line and headers of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpHead {
    Present,
    /// It does, unless the server spoke the oldest version of the protocol.
    Usual,
    /// Nothing follows that would be of use.
    Alone,
    Absent,
}

/// A page about to be read.
pub(super) struct Page<'a> {
    document: &'a mut Document,
    line: &'a mut Vec<u8>,
    pub(super) http_head: HttpHead,
}

impl<'a> Page<'a> {
    /// Reads into `document`; `line` is a buffer.
    pub(super) fn new(document: &'a mut Document, line: &'a mut Vec<u8>) -> Self {
        document.clear();
        Page { document, line, http_head: HttpHead::Present }
    }

    /// What the archive says of the type.
    pub(super) fn set_content_type(&mut self, content_type: &[u8]) {
        self.document.content_type.extend_from_slice(content_type);
    }

    /// Whether the crawler stopped before the page ended.
    pub(super) fn set_cut(&mut self, is_cut: bool) {
        self.document.is_cut = is_cut;
    }

    /// Reads the block of `len` bytes. Gives whether there is a document, and what is wrong with its body.
    pub(super) fn read(
        self,
        mut block: Block<'_>,
        len: u64,
        observation: &mut Observation,
    ) -> Result<(bool, Option<BadBodyReason>), BadRowReason> {
        let Page { document, line, http_head } = self;
        let mut status = None;
        if http_head != HttpHead::Absent && block.left() > 0 {
            status = http::read_head(&mut block, line, &mut document.fields);
            if status.is_none() && http_head == HttpHead::Usual {
                document.body.extend_from_slice(line);
            } else if status.is_none() {
                whole(len, block.skip())?;
                return Err(BadRowReason::NotHttp { found: crate::bad_row::shorten_quoted(line) });
            }
        }
        if let Some(status) = status {
            // Three digits fit the column.
            let _ = observation.set_number(Column::Status, status.into());
            if (300..400).contains(&status) {
                observation
                    .set_address(Column::Redirect, document.fields.get("location").unwrap_or_default());
            }
        }
        let mime = media_type(document.content_type().unwrap_or_default());
        set(observation, Column::Mime, Some(mime));
        let has_document = http_head != HttpHead::Alone && is_text(mime);
        let mut bad_body = None;
        let mut size = None;
        if has_document {
            bad_body = http::read_body(&mut block, &document.fields, &mut document.body).err();
            document.is_cut |= bad_body.is_some() || status == Some(206);
            size = Some(document.body.len() as u64).filter(|_| !document.is_cut);
        } else if http_head != HttpHead::Alone
            && document.fields.get("content-encoding").or(document.fields.get("transfer-encoding")).is_none()
        {
            size = Some(block.left()).filter(|_| !document.is_cut);
        }
        if let Some(size) = size {
            let _ = observation.set_number(Column::Size, size);
        }
        whole(len, block.skip())?;
        Ok((has_document, bad_body))
    }
}

/// `text/html` of `text/html; charset=utf-8`.
fn media_type(content_type: &[u8]) -> &[u8] {
    let end =
        content_type.iter().position(|byte| matches!(byte, b';' | b',' | b' ')).unwrap_or(content_type.len());
    &content_type[..end]
}

/// Whether a page of this type may be read as text. One without a type may be.
fn is_text(mime: &[u8]) -> bool {
    const TYPES: [&[u8]; 6] =
        [b"", b"text/html", b"application/xhtml+xml", b"text/plain", b"no-type", b"unk"];
    TYPES.iter().any(|known| mime.eq_ignore_ascii_case(known))
}
