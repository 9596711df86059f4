/*!
A page as an archive holds it: what the server sent, ready to be looked at.

Transfer and content encodings are undone, and the body is bounded by [`MAX_BODY_BYTES`]. Characters are not decoded
and nothing is parsed: that is the business of whoever knows HTML.
*/

use std::fmt;

use crate::head::Fields;

/// Longest body that is held, in bytes. Of a longer one only the beginning is.
pub const MAX_BODY_BYTES: usize = 8 << 20;

/// The HTTP headers and the body of one page. Filled by [`crate::Reader::read`] for archives.
#[derive(Clone, Default)]
pub struct Document {
    pub(crate) fields: Fields,
    /// What the archive itself says of the type, where there is no HTTP header that does.
    pub(crate) content_type: Vec<u8>,
    pub(crate) body: Vec<u8>,
    pub(crate) is_cut: bool,
}

impl Document {
    /// A page made by hand, with HTTP headers as `Name: value` lines.
    pub fn new(headers: &str, body: impl Into<Vec<u8>>) -> Document {
        Document { fields: Fields::parse(headers.as_bytes()), body: body.into(), ..Document::default() }
    }

    /// The first HTTP header of this name, in any case. Its value may be any bytes, without white space around it.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.fields.get(name)
    }

    /// All HTTP headers of this name, in order.
    pub fn headers<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.fields.get_all(name)
    }

    /// The type with its parameters, such as `text/html; charset=UTF-8`: the HTTP header, or else what the archive says.
    pub fn content_type(&self) -> Option<&[u8]> {
        self.header("content-type").or(Some(&self.content_type)).filter(|value| !value.is_empty())
    }

    /// The body without transfer and content encoding.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether the page has, or had, more than the body that is here: it is longer than [`MAX_BODY_BYTES`], was cut off
    /// by the crawler, or could not be decoded to its end.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Forgets the page, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.fields.clear();
        self.content_type.clear();
        self.body.clear();
        self.is_cut = false;
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("content_type", &self.content_type().map(String::from_utf8_lossy))
            .field("body_bytes", &self.body.len())
            .field("is_cut", &self.is_cut)
            .finish_non_exhaustive()
    }
}
