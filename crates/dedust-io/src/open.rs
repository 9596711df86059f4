/*!
Opens inputs: a path, an object of a store or standard input, plain, gzip or zstd. The only code that does.

A path goes in; a [`Text`] comes out, which decompresses as it is read and says in terms of the user what a failure
means. Compression is recognised by content, never by name. Does not look at the text (see [`crate::Input`]).
*/

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use crate::ReadError;
use crate::compression::{Compression, MAGIC_BYTES, compression_of, may_be_magic};
use crate::gzip::{GzipMembers, Member};
use crate::read_some::read_some;
#[cfg(feature = "remote")]
use crate::remote;
use crate::utf16::Utf16Reader;

/// Compressed bytes read at a time.
const COMPRESSED_CHUNK_BYTES: usize = 64 << 10;

/// What a zstd file starts with whose frames need a dictionary, which then follows.
const ZSTD_DICTIONARY_MAGIC: &[u8] = b"\x5d\x2a\x4d\x18";

/// What any zstd frame starts with.
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// Longest dictionary that is held, compressed or not. Those in use have less than one megabyte.
const MAX_DICTIONARY_BYTES: u64 = 32 << 20;

/// Where a text comes from. Kept by whoever reads it, to explain failures.
#[derive(Debug, Clone)]
pub struct Origin {
    name: Arc<str>,
    compression: Compression,
    version: Option<Arc<str>>,
}

impl Origin {
    /// Of something that is no file.
    #[cfg(feature = "arrow")]
    pub(crate) fn in_memory(name: &str) -> Self {
        Self { name: name.into(), compression: Compression::None, version: None }
    }

    /// The name for messages: the path, or `standard input`.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How the input is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// What changes when an object of a store does. `None` for all else.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Explains why a [`Text`] could be read no further than `line` lines, which end at byte `offset` of it.
    pub fn failure(&self, line: u64, offset: u64, source: io::Error) -> ReadError {
        let (file, compression) = (self.name.clone(), self.compression);
        // A decompressor's own errors do not come from the system.
        let from_system = source.raw_os_error().is_some() || compression == Compression::None;
        match source.kind() {
            _ if from_system => ReadError::Read { file, line, offset, source },
            io::ErrorKind::UnexpectedEof => ReadError::Truncated { file, compression, line, offset, source },
            _ => ReadError::Damaged { file, compression, line, offset, source },
        }
    }
}

/// The bytes of an input, decompressed as they are read. Of any format.
pub struct Text {
    origin: Origin,
    source: Source,
    /// Met earlier, behind bytes that were given out.
    failure: Option<io::Error>,
}

enum Source {
    Gzip(Box<GzipMembers>),
    /// Plain, or decompressed by someone who tells nothing of frames.
    Other(Box<dyn Read + Send>),
}

/// Opens a file, an object of a store (`s3://bucket/key`) or standard input (`-`), whatever it holds.
///
/// Reads no more than it takes to know the compression: of plain text, what the first read gives.
pub fn open_text(path: impl AsRef<Path>) -> Result<Text, ReadError> {
    let path = path.as_ref();
    if path.as_os_str() == "-" {
        return Text::from_read("standard input", io::stdin());
    }
    if let Some(url) = url_of_object(path) {
        #[cfg(feature = "remote")]
        {
            let object = remote::open(url)?;
            let version = object.version();
            let mut text = Text::from_read(url, object)?;
            text.origin.version = Some(version.into());
            return Ok(text);
        }
        #[cfg(not(feature = "remote"))]
        return Err(ReadError::NotBuilt { file: url.into() });
    }
    let name = path.display().to_string();
    let failed = |source| ReadError::Open { file: name.as_str().into(), source };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(ReadError::IsDirectory { file: name.into() });
    }
    Text::from_read(&name, file)
}

/// What [`Origin::version`] says of a path, which is not read. `None` if it is none of an object.
pub fn version_of(path: impl AsRef<Path>) -> Result<Option<String>, ReadError> {
    match url_of_object(path.as_ref()) {
        #[cfg(feature = "remote")]
        Some(url) => Ok(Some(remote::open(url)?.version())),
        #[cfg(not(feature = "remote"))]
        Some(url) => Err(ReadError::NotBuilt { file: url.into() }),
        None => Ok(None),
    }
}

/// The URL of an object of a store, if a path is one.
pub(crate) fn url_of_object(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    ["s3://", "gs://", "https://", "http://"].iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}

impl Text {
    /// Reads from anything, under a name for messages.
    pub fn from_read(name: &str, source: impl Read + Send + 'static) -> Result<Text, ReadError> {
        let mut raw: Box<dyn Read + Send> = Box::new(source);
        let mut magic = Vec::new();
        let ended = fill_until(&mut raw, &mut magic, MAGIC_BYTES, |start| !may_be_magic(start));
        let origin = Origin { name: name.into(), compression: compression_of(&magic), version: None };
        let has_dictionary = magic == ZSTD_DICTIONARY_MAGIC;
        let whole = resume(magic, ended, raw);
        let source = match origin.compression {
            Compression::None => Source::Other(whole),
            Compression::Gzip => Source::Gzip(Box::new(GzipMembers::new(whole))),
            Compression::Zstd => match zstd_decoder(whole, has_dictionary) {
                Ok(decoder) => Source::Other(decoder),
                Err(error) => return Err(origin.failure(0, 0, error)),
            },
        };
        Ok(Text { origin, source, failure: None })
    }

    /// The same text, of which `start` was taken, decoded from UTF-16.
    pub(crate) fn decoded(self, start: Vec<u8>, encoding: &'static encoding_rs::Encoding) -> Text {
        let origin = self.origin.clone();
        let source = Box::new(Utf16Reader::new(Cursor::new(start).chain(self), encoding));
        Text { origin, source: Source::Other(source), failure: None }
    }

    /// The gzip member that the last bytes read came from, if there are members.
    pub(crate) fn member(&self) -> Option<Member> {
        match &self.source {
            Source::Gzip(members) => Some(members.member()),
            Source::Other(_) => None,
        }
    }

    /// After a failure to decompress: moves on to the next part that may be whole. `false`: there is none.
    pub(crate) fn skip_damage(&mut self) -> io::Result<bool> {
        match &mut self.source {
            Source::Gzip(members) => members.skip_damage(),
            Source::Other(_) => Ok(false),
        }
    }

    /// Where the text comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Reads until there are `len` bytes, until there are `enough`, or until the end. What is given out is gone from
    /// the text; a failure after the first bytes is met again on the next read.
    pub(crate) fn take_start(
        &mut self,
        len: usize,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>, ReadError> {
        let mut start = Vec::new();
        match fill_until(self, &mut start, len, enough) {
            Err(error) if start.is_empty() => return Err(self.origin.failure(0, 0, error)),
            Err(error) => self.failure = Some(error),
            Ok(()) => {}
        }
        Ok(start)
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match &mut self.source {
            Source::Gzip(members) => members.read(buffer),
            Source::Other(bytes) => bytes.read(buffer),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Decompresses zstd. Archives may put a dictionary in front, itself compressed or not, as the first skippable frame.
fn zstd_decoder(source: Box<dyn Read + Send>, has_dictionary: bool) -> io::Result<Box<dyn Read + Send>> {
    let mut source = BufReader::with_capacity(COMPRESSED_CHUNK_BYTES, source);
    if !has_dictionary {
        return Ok(Box::new(zstd::Decoder::with_buffer(source)?));
    }
    let mut head = [0; 8];
    source.read_exact(&mut head)?;
    let [.., a, b, c, d] = head;
    let len = u64::from(u32::from_le_bytes([a, b, c, d]));
    let mut dictionary = Vec::new();
    source.by_ref().take(len.min(MAX_DICTIONARY_BYTES)).read_to_end(&mut dictionary)?;
    if len > MAX_DICTIONARY_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its dictionary is longer than 32 MiB"));
    }
    if dictionary.starts_with(ZSTD_MAGIC) {
        let mut unpacked = Vec::new();
        zstd::Decoder::new(&dictionary[..])?.take(MAX_DICTIONARY_BYTES).read_to_end(&mut unpacked)?;
        dictionary = unpacked;
    }
    Ok(Box::new(zstd::Decoder::with_dictionary(source, &dictionary)?))
}

fn fill_until(
    source: &mut dyn Read,
    bytes: &mut Vec<u8>,
    len: usize,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    let mut filled = 0;
    bytes.resize(len, 0);
    let result = loop {
        if filled == len || enough(&bytes[..filled]) {
            break Ok(());
        }
        match read_some(source, &mut bytes[filled..]) {
            Ok(0) => break Ok(()),
            Ok(count) => filled += count,
            Err(error) => break Err(error),
        }
    };
    bytes.truncate(filled);
    result
}

/// `start` again, then the rest of `source`, or the failure that was met before.
fn resume(start: Vec<u8>, ended: io::Result<()>, source: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    match ended {
        Ok(()) => Box::new(Cursor::new(start).chain(source)),
        Err(error) => Box::new(Cursor::new(start).chain(Failed(Some(error)))),
    }
}

/// A source that fails with an error met earlier.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0.take() {
            Some(error) => Err(error),
            None => Ok(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_given_out_whole_whatever_its_start() {
        for text in [&b""[..], b"a", b"P*M", b"(", b"\x1f", b"http://a.example/\n"] {
            let mut read = Vec::new();
            let mut opened = Text::from_read("x", text).unwrap();
            assert_eq!(opened.origin().compression(), Compression::None);
            opened.read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn a_failure_is_met_after_the_bytes_before_it() {
        let source = Cursor::new(b"abc").chain(Failed(Some(io::ErrorKind::TimedOut.into())));
        let mut text = Text::from_read("x", source).unwrap();
        assert_eq!(text.take_start(10, |_| false).unwrap(), b"abc");
        assert_eq!(text.read(&mut [0; 10]).unwrap_err().kind(), io::ErrorKind::TimedOut);
        let mut text = Text::from_read("x", Failed(Some(io::ErrorKind::TimedOut.into()))).unwrap();
        assert!(matches!(text.take_start(10, |_| false), Err(ReadError::Read { line: 0, .. })));
    }
}
