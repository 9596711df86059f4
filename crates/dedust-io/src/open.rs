/*!
Opens inputs: a path or standard input, plain, gzip or zstd. The only code that does.

A path goes in; an [`Input`] comes out, whose text is decompressed as it is read and whose format is known from its
first bytes. Compression is recognised by content, never by name. Does not parse rows (see [`crate::Reader`]).
*/

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use crate::sniff::{Format, SNIFFED_BYTES, UTF8_BOM, sniff};
use crate::{ReadError, Reader};

/// Compressed bytes read at a time.
const COMPRESSED_CHUNK_BYTES: usize = 64 << 10;

/// How an input is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, also of several members.
    Gzip,
    /// zstd, also of several frames.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// An opened source of rows, decompressed and of known format.
pub struct Input {
    file: Arc<str>,
    compression: Compression,
    format: Format,
    /// The first bytes of the text, without byte order mark.
    start: Vec<u8>,
    rest: Box<dyn Read + Send>,
}

/// When enough of the text is known to tell its format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// After [`SNIFFED_BYTES`].
    Window,
    /// After the first line that is not blank: a program at the other end of a pipe may wait for our answer to it.
    FirstLine,
}

/// Opens a file, or standard input for `-`.
///
/// The first bytes are read, so this fails for a directory, for binary data and for formats that are recognised but
/// not supported. An empty input is fine, see [`Input::is_empty`].
pub fn open(path: impl AsRef<Path>) -> Result<Input, ReadError> {
    let path = path.as_ref();
    if path.as_os_str() == "-" {
        return Input::start(
            "standard input".into(),
            Box::new(io::stdin()),
            Patience::FirstLine,
        );
    }
    let file: Arc<str> = path.display().to_string().into();
    let failed = |source| ReadError::Open {
        file: file.clone(),
        source,
    };
    let opened = File::open(path).map_err(failed)?;
    if opened.metadata().map_err(failed)?.is_dir() {
        return Err(ReadError::IsDirectory { file });
    }
    Input::start(file, Box::new(opened), Patience::Window)
}

impl Input {
    /// Reads from anything, under a name for messages. The name's extension is a hint to the format.
    pub fn from_read(name: &str, source: impl Read + Send + 'static) -> Result<Input, ReadError> {
        Self::start(name.into(), Box::new(source), Patience::Window)
    }

    /// The name for messages: the path, or `standard input`.
    pub fn name(&self) -> &str {
        &self.file
    }

    /// The format of the rows.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the input is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Whether there is no text at all, not even a blank line.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Starts reading rows. Fails where a header lacks the `url` column.
    pub fn observations(self) -> Result<Reader, ReadError> {
        Reader::new(self)
    }

    fn start(file: Arc<str>, mut raw: Box<dyn Read + Send>, patience: Patience) -> Result<Input, ReadError> {
        let mut magic = Vec::new();
        let ended_early = fill_until(&mut raw, &mut magic, 4, |_| false);
        let compression = compression_of(&magic);
        let raw = resume(magic, ended_early, raw);
        let buffered = BufReader::with_capacity(COMPRESSED_CHUNK_BYTES, raw);
        let mut text: Box<dyn Read + Send> = match compression {
            Compression::None => buffered.into_inner(),
            Compression::Gzip => Box::new(MultiGzDecoder::new(buffered)),
            Compression::Zstd => match zstd::Decoder::with_buffer(buffered) {
                Ok(decoder) => Box::new(decoder),
                Err(source) => return Err(stopped(&file, compression, (0, 0), source)),
            },
        };
        let mut start = Vec::new();
        let ended_early = fill_until(&mut text, &mut start, SNIFFED_BYTES, |start| {
            patience == Patience::FirstLine && has_whole_line(start)
        });
        let rest = match ended_early {
            Err(source) if start.is_empty() => return Err(stopped(&file, compression, (0, 0), source)),
            // The rows before the failure are still delivered.
            ended => resume(Vec::new(), ended, text),
        };
        let format = sniff(&file, &start)?;
        if start.starts_with(UTF8_BOM) {
            start.drain(..UTF8_BOM.len());
        }
        Ok(Input {
            file,
            compression,
            format,
            start,
            rest,
        })
    }

    pub(crate) fn into_parts(self) -> (Arc<str>, Compression, Format, Vec<u8>, Box<dyn Read + Send>) {
        (self.file, self.compression, self.format, self.start, self.rest)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("file", &self.file)
            .field("compression", &self.compression)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// Says what a failure means for the rows; `delivered` are the lines and bytes of text before it.
pub(crate) fn stopped(
    file: &Arc<str>,
    compression: Compression,
    (line, offset): (u64, u64),
    source: io::Error,
) -> ReadError {
    let file = file.clone();
    // A decompressor's own errors do not come from the system.
    let from_system = source.raw_os_error().is_some() || compression == Compression::None;
    match source.kind() {
        _ if from_system => ReadError::Read {
            file,
            line,
            offset,
            source,
        },
        io::ErrorKind::UnexpectedEof => ReadError::Truncated {
            file,
            compression,
            line,
            offset,
            source,
        },
        _ => ReadError::Damaged {
            file,
            compression,
            line,
            offset,
            source,
        },
    }
}

fn compression_of(magic: &[u8]) -> Compression {
    match magic {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        // A skippable frame, as parallel compressors put in front.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
        _ => Compression::None,
    }
}

/// Reads until there are `len` bytes, until `enough`, or until the end.
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
        match source.read(&mut bytes[filled..]) {
            Ok(0) => break Ok(()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    bytes.truncate(filled);
    result
}

fn has_whole_line(start: &[u8]) -> bool {
    memchr::memchr(b'\n', start.trim_ascii_start()).is_some()
}

/// `start` again, then the rest of `source`, or the failure that was met before.
fn resume(start: Vec<u8>, ended: io::Result<()>, source: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    match (start.is_empty(), ended) {
        (true, Ok(())) => source,
        (_, Ok(())) => Box::new(Cursor::new(start).chain(source)),
        (_, Err(error)) => Box::new(Cursor::new(start).chain(Failed(Some(error)))),
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
