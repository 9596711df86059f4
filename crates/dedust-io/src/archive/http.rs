/*!
The HTTP response within a record: its status, its headers, and its body as the page's author wrote it.

Lenient, because records hold what servers sent and what crawlers made of it: a body that is said to be chunked or
compressed and is not was unpacked by the crawler, and is taken as it is. The body is bounded, whatever it unpacks to.
*/

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::stream::{LineRead, read_line};
use crate::bad_row::BadBodyReason;
use crate::document::MAX_BODY_BYTES;
use crate::head::Fields;

/// Longest head of a response, in bytes.
const MAX_HEAD_BYTES: usize = 1 << 20;

/// Longest line that tells the length of a chunk.
const MAX_CHUNK_LINE_BYTES: u64 = 256;

/// zstd on the web may use windows of up to 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Decompressed bytes given out at a time by decoders that have a buffer of their own.
const DECODER_BUFFER_BYTES: usize = 16 << 10;

/// Reads status line and headers. `None`: this is no HTTP response, and `line` is what is there instead.
pub(crate) fn read_head(block: &mut impl BufRead, line: &mut Vec<u8>, fields: &mut Fields) -> Option<u16> {
    let first = read_line(block, line);
    let status = status_of(line).filter(|_| first == LineRead::Line)?;
    let mut len = 0;
    while read_line(block, line) == LineRead::Line && !line.trim_ascii().is_empty() {
        len += line.len();
        if len <= MAX_HEAD_BYTES {
            fields.push_line(line);
        }
    }
    Some(status)
}

/// The status in a line such as `HTTP/1.1 200 OK`.
fn status_of(line: &[u8]) -> Option<u16> {
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.next().filter(|version| version.starts_with(b"HTTP") || *version == b"ICY")?;
    let status = words.next().filter(|status| status.len() == 3)?;
    std::str::from_utf8(status).ok()?.parse().ok()
}

/// Reads the body into `body`, unpacked as the headers say. An error tells why only its beginning is there.
pub(crate) fn read_body(
    block: &mut impl BufRead,
    fields: &Fields,
    body: &mut Vec<u8>,
) -> Result<(), BadBodyReason> {
    if is_chunked(fields) {
        // The line that gives the first length tells whether there are chunks at all.
        let mut first_line = Vec::new();
        // A block gives out what there is and never fails.
        let _ = block.by_ref().take(MAX_CHUNK_LINE_BYTES).read_until(b'\n', &mut first_line);
        match chunk_len(&first_line) {
            Some(left) => {
                let chunks = Chunks { source: block, left, is_first: true };
                unpack(BufReader::with_capacity(DECODER_BUFFER_BYTES, chunks), fields, body)
            }
            None => unpack(Cursor::new(first_line).chain(block), fields, body),
        }
    } else {
        unpack(block, fields, body)
    }
}

fn is_chunked(fields: &Fields) -> bool {
    fields.get("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().ends_with(b"chunked"))
}

fn unpack(mut source: impl BufRead, fields: &Fields, body: &mut Vec<u8>) -> Result<(), BadBodyReason> {
    let encoding = fields.get("content-encoding").unwrap_or_default().to_ascii_lowercase();
    // Two bytes tell whether the body is packed in the way it is said to be.
    let mut start = Vec::with_capacity(2);
    if !matches!(&encoding[..], b"" | b"identity") {
        source.by_ref().take(2).read_to_end(&mut start).map_err(|error| damaged(&encoding, &error))?;
    }
    let is_markup = start.first() == Some(&b'<');
    let is_zlib = start.len() == 2
        && start[0] & 0x0f == 8
        && (u16::from(start[0]) << 8 | u16::from(start[1])).is_multiple_of(31);
    let (is_gzip, is_zstd) = (start == b"\x1f\x8b", start == b"\x28\xb5");
    let whole = Cursor::new(start).chain(source);
    let read = match &encoding[..] {
        b"gzip" | b"x-gzip" if is_gzip => read_bounded(MultiGzDecoder::new(whole), body),
        b"deflate" if is_zlib => read_bounded(ZlibDecoder::new(whole), body),
        b"deflate" if !is_markup => read_bounded(DeflateDecoder::new(whole), body),
        b"br" if !is_markup => {
            read_bounded(brotli_decompressor::Decompressor::new(whole, DECODER_BUFFER_BYTES), body)
        }
        b"zstd" if is_zstd => zstd::Decoder::with_buffer(whole).and_then(|mut decoder| {
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            read_bounded(decoder, body)
        }),
        _ => read_bounded(whole, body),
    };
    match read {
        Ok(true) => Ok(()),
        Ok(false) => Err(BadBodyReason::TooLong),
        Err(error) => Err(damaged(&encoding, &error)),
    }
}

fn damaged(encoding: &[u8], error: &io::Error) -> BadBodyReason {
    let encoding = match encoding {
        b"" | b"identity" => "chunked".to_owned(),
        other => crate::shorten(other),
    };
    BadBodyReason::Damaged { encoding, problem: error.to_string() }
}

/// Reads up to the limit. `false`: there was more.
fn read_bounded(mut source: impl Read, body: &mut Vec<u8>) -> io::Result<bool> {
    source.by_ref().take(MAX_BODY_BYTES as u64).read_to_end(body)?;
    if body.len() < MAX_BODY_BYTES {
        return Ok(true);
    }
    Ok(source.read(&mut [0])? == 0)
}

/// Undoes the chunked transfer encoding.
struct Chunks<R> {
    source: R,
    /// Bytes left of the current chunk.
    left: u64,
    /// The length of the current chunk is the first one, which may be 0 and then ends the body.
    is_first: bool,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && (self.is_first || !self.start_chunk()?) {
            // Stays at the end, also if asked again.
            self.is_first = true;
            return Ok(0);
        }
        let available = self.source.fill_buf()?;
        if available.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let count = available.len().min(buffer.len()).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        buffer[..count].copy_from_slice(&available[..count]);
        self.source.consume(count);
        self.left -= count as u64;
        self.is_first = false;
        Ok(count)
    }
}

impl<R: BufRead> Chunks<R> {
    /// Reads the end of a chunk and the length of the next one. `false` after the last.
    fn start_chunk(&mut self) -> io::Result<bool> {
        let mut line = Vec::new();
        for _ in 0..2 {
            line.clear();
            self.source.by_ref().take(MAX_CHUNK_LINE_BYTES).read_until(b'\n', &mut line)?;
            if !line.trim_ascii().is_empty() {
                break;
            }
        }
        match chunk_len(&line) {
            Some(len) => self.left = len,
            // Many servers leave out the last chunk and just close.
            None if line.is_empty() => self.left = 0,
            None => {
                let problem = format!(
                    "expected the length of a chunk, found {}",
                    crate::bad_row::shorten_quoted(&line)
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        }
        Ok(self.left > 0)
    }
}

/// The length in a line such as `1f4;name=value`.
fn chunk_len(line: &[u8]) -> Option<u64> {
    let digits = line.strip_suffix(b"\n")?;
    let digits = digits.split(|&byte| byte == b';').next()?.trim_ascii();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn body(headers: &str, bytes: &[u8]) -> (Vec<u8>, Result<(), BadBodyReason>) {
        let mut body = Vec::new();
        let read = read_body(&mut &bytes[..], &Fields::parse(headers.as_bytes()), &mut body);
        (body, read)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn heads_are_read_leniently() {
        for (head, status) in [
            ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nbody", Some(200)),
            ("HTTP/1.1 404\nA: 1\n\nbody", Some(404)),
            ("HTTP/2 301  \r\nA: 1", Some(301)),
            ("ICY 200 OK\r\nA: 1\r\n\r\n", Some(200)),
            ("HTTP/1.1 OK\r\nA: 1\r\n\r\n", None),
            ("<html>", None),
            ("", None),
        ] {
            let mut fields = Fields::default();
            let mut rest = head.as_bytes();
            assert_eq!(read_head(&mut rest, &mut Vec::new(), &mut fields), status, "{head}");
            assert_eq!(fields.get("a").is_some(), status.is_some(), "{head}");
            assert_eq!(head.ends_with("body"), rest == b"body", "{head}");
        }
    }

    #[test]
    fn chunks_are_joined() {
        let chunked = "Transfer-Encoding: chunked";
        for (bytes, expected) in [
            ("5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", "hello world"),
            ("5\nhello\n0\n\n", "hello"),
            ("5\r\nhello\r\n", "hello"),
            ("0\r\n\r\n", ""),
            // Unpacked by the crawler.
            ("<html>\r\n", "<html>\r\n"),
            ("deadbeef", "deadbeef"),
            ("", ""),
        ] {
            assert_eq!(body(chunked, bytes.as_bytes()), (expected.into(), Ok(())), "{bytes:?}");
        }
        for damaged in ["5\r\nhel", "5\r\nhello\r\nxyz\r\n", "ffffffffffffff\r\nhello"] {
            let (read, result) = body(chunked, damaged.as_bytes());
            assert!("hello".as_bytes().starts_with(&read) && read.len() >= 3, "{damaged:?}");
            assert!(matches!(result, Err(BadBodyReason::Damaged { .. })), "{damaged:?}");
        }
    }

    #[test]
    fn content_encodings_are_undone() {
        let text = "some text, some text, some text".as_bytes();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(text).unwrap();
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        deflate.write_all(text).unwrap();
        let brotli =
            b"\x1b\x1e\x00\xf8\x8d\xd3e\xf6\xd3\tm\r\xd26\x87\xa7Y\xca\xde\xe8\xc4P\x11@\x96\xb2\x0f";
        for (encoding, bytes) in [
            ("gzip", gzip(text)),
            ("X-GZIP", gzip(text)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("br", brotli.to_vec()),
            ("zstd", zstd::encode_all(text, 3).unwrap()),
            ("identity", text.to_vec()),
            ("gzip", text.to_vec()),
            ("zstd", text.to_vec()),
            ("utf-8", text.to_vec()),
        ] {
            let headers = format!("Content-Encoding: {encoding}");
            assert_eq!(body(&headers, &bytes), (text.to_vec(), Ok(())), "{encoding}");
            let chunks = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n0\r\n\r\n"].concat();
            let headers = format!("{headers}\r\nTransfer-Encoding: chunked");
            assert_eq!(body(&headers, &chunks), (text.to_vec(), Ok(())), "{encoding} in chunks");
        }
        assert_eq!(body("Content-Encoding: br", b"<html>"), (b"<html>".to_vec(), Ok(())));
    }

    #[test]
    fn damaged_bodies_are_kept_up_to_the_damage() {
        let text: Vec<u8> = (0..50_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        let bytes = gzip(&text);
        let (read, result) = body("Content-Encoding: gzip", &bytes[..bytes.len() / 2]);
        assert!(matches!(result, Err(BadBodyReason::Damaged { .. })));
        assert!(read.len() > 10_000 && text.starts_with(&read));
    }

    #[test]
    fn bombs_are_cut() {
        let bomb = gzip(&vec![b' '; 3 * MAX_BODY_BYTES]);
        assert!(bomb.len() < MAX_BODY_BYTES / 100);
        let (read, result) = body("Content-Encoding: gzip", &bomb);
        assert_eq!((read.len(), result), (MAX_BODY_BYTES, Err(BadBodyReason::TooLong)));
        assert_eq!(body("", &vec![b' '; MAX_BODY_BYTES]).1, Ok(()));
    }
}
