/*!
Text in UTF-16, as spreadsheets and Windows write it, to UTF-8.

Recognised by its byte order mark, or, without one, by the zero bytes that every second byte of an address is then. What is
no UTF-16 becomes U+FFFD.
*/

use std::io::{self, Read};

use encoding_rs::{Decoder, Encoding, UTF_16BE, UTF_16LE};

/// Bytes decoded at a time.
const CHUNK_BYTES: usize = 32 << 10;

/// Bytes that are looked at to know UTF-16 without a mark.
const SNIFFED_BYTES: usize = 32;

/// The encoding of a text that begins with `start`, if it is UTF-16.
pub(crate) fn utf16_of(start: &[u8]) -> Option<&'static Encoding> {
    match start {
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => return Some(UTF_16LE),
        [0xfe, 0xff, ..] => return Some(UTF_16BE),
        _ => {}
    }
    let pairs = start[..start.len().min(SNIFFED_BYTES)].chunks_exact(2);
    let is_ascii = |byte: u8| byte.is_ascii() && (byte >= 0x20 || byte.is_ascii_whitespace());
    if pairs.len() < 4 {
        return None;
    }
    if pairs.clone().all(|pair| is_ascii(pair[0]) && pair[1] == 0) {
        return Some(UTF_16LE);
    }
    pairs.clone().all(|pair| pair[0] == 0 && is_ascii(pair[1])).then_some(UTF_16BE)
}

/// Decodes as it is read.
pub(crate) struct Utf16Reader<R> {
    source: R,
    decoder: Decoder,
    raw: Vec<u8>,
    raw_taken: usize,
    raw_filled: usize,
    text: Vec<u8>,
    text_taken: usize,
    ended: bool,
}

impl<R: Read> Utf16Reader<R> {
    pub(crate) fn new(source: R, encoding: &'static Encoding) -> Self {
        Self {
            source,
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: vec![0; CHUNK_BYTES],
            raw_taken: 0,
            raw_filled: 0,
            text: Vec::new(),
            text_taken: 0,
            ended: false,
        }
    }

    /// Decodes some more. Only at the end does it give no text.
    fn fill(&mut self) -> io::Result<()> {
        self.text_taken = 0;
        self.text.clear();
        while self.text.is_empty() && !self.ended {
            if self.raw_taken == self.raw_filled {
                self.raw_taken = 0;
                self.raw_filled = self.source.read(&mut self.raw)?;
                self.ended = self.raw_filled == 0;
            }
            // Three bytes of UTF-8 for two of UTF-16, and what a broken pair before may give.
            self.text.resize(2 * CHUNK_BYTES, 0);
            let raw = &self.raw[self.raw_taken..self.raw_filled];
            let (_, read, written, _) = self.decoder.decode_to_utf8(raw, &mut self.text, self.ended);
            self.raw_taken += read;
            self.text.truncate(written);
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.text_taken == self.text.len() {
            self.fill()?;
        }
        let rest = &self.text[self.text_taken..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.text_taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn text_is_decoded_whatever_its_order_and_length() {
        for text in ["http://a.example/ä€😀\r\n", &"http://a.example/ä€😀\r\n".repeat(20_000)] {
            for unit in [u16::to_le_bytes, u16::to_be_bytes] {
                for mark in ["", "\u{feff}"] {
                    let bytes = encoded(&format!("{mark}{text}"), unit);
                    let encoding = utf16_of(&bytes).unwrap();
                    let mut decoded = String::new();
                    Utf16Reader::new(&bytes[..], encoding).read_to_string(&mut decoded).unwrap();
                    assert!(decoded == text);
                }
            }
        }
    }

    #[test]
    fn other_texts_are_left_alone() {
        for start in
            [&b"http://a.example/"[..], b"", b"\xff", b"\xff\xff\xff\xff\x10\0\0\0", b"PAR1\0\0\0\0", b"a\0"]
        {
            assert_eq!(utf16_of(start), None, "{start:?}");
        }
    }
}
