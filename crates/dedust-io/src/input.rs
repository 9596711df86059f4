/*!
An opened text whose format is known: what a [`Reader`] starts from.

Takes a [`Text`], reads its beginning, strips a byte order mark and asks [`crate::format::sniff`]. Does not parse rows.
*/

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::format::entry::RowFormat;
use crate::format::sniff::{SNIFFED_BYTES, UTF8_BOM, by_first_bytes, sniff};
use crate::open::{Text, open_text, url_of_object};
use crate::read_some::read_some;
#[cfg(feature = "remote")]
use crate::remote;
use crate::table_file::TableFile;
use crate::utf16::utf16_of;
use crate::{Compression, Format, NamedColumn, ReadError, Reader};

/// An opened source of rows, decompressed and of known format.
pub struct Input {
    format: Format,
    /// The first bytes of the text, without byte order mark.
    start: Vec<u8>,
    rest: Text,
    /// Where the text can be read again from its start, if anywhere.
    path: Option<PathBuf>,
    host: Option<Box<str>>,
    columns: Vec<NamedColumn>,
}

/// When enough of the text is known to tell its format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// After [`SNIFFED_BYTES`].
    Window,
    /// After the first line that is not blank: a program at the other end of a pipe may wait for our answer to it.
    FirstLine,
}

/// Opens observations: a file, or standard input for `-`.
///
/// The first bytes are read, so this fails for a directory, for binary data and for formats that are recognised but
/// not supported. An empty input is fine, see [`Input::is_empty`].
pub fn open(path: impl AsRef<Path>) -> Result<Input, ReadError> {
    let path = path.as_ref();
    if path.as_os_str() == "-" {
        return Input::start(open_text(path)?, Patience::FirstLine);
    }
    let input = Input::start(open_text(path)?, Patience::Window)?;
    // A named pipe can be read once only.
    let is_file =
        (path.is_file() || url_of_object(path).is_some()) && input.compression() == Compression::None;
    Ok(Input { path: is_file.then(|| path.to_owned()), ..input })
}

impl Input {
    /// Reads from anything, under a name for messages. The name's extension is a hint to the format.
    pub fn from_read(name: &str, source: impl Read + Send + 'static) -> Result<Input, ReadError> {
        Self::start(Text::from_read(name, source)?, Patience::Window)
    }

    /// Reads from a writer that may wait for our answer to the first line before it writes more.
    pub fn from_dialogue(name: &str, source: impl Read + Send + 'static) -> Result<Input, ReadError> {
        Self::start(Text::from_read(name, source)?, Patience::FirstLine)
    }

    /// The name for messages: the path, or `standard input`.
    pub fn name(&self) -> &str {
        self.rest.origin().name()
    }

    /// The format of the rows.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the input is compressed.
    pub fn compression(&self) -> Compression {
        self.rest.origin().compression()
    }

    /// What changes when an object of a store does. `None` for all else.
    pub fn version(&self) -> Option<&str> {
        self.rest.origin().version()
    }

    /// Whether there is no text at all, not even a blank line.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Names the host whose log this is, as `http://docs.example.com` or just `docs.example.com`. Only access logs
    /// need it. Default: none.
    #[must_use]
    pub fn with_host(self, host: &str) -> Input {
        let host = host.trim().trim_end_matches('/');
        let scheme = if host.contains("://") { "" } else { "http://" };
        Input { host: Some(format!("{scheme}{host}").into()), ..self }
    }

    /// Says which of its columns is which, where names do not tell. Default: none.
    pub fn with_columns(self, columns: &[NamedColumn]) -> Result<Input, ReadError> {
        // Which line is a header depends on the names in it.
        let format = sniff(self.rest.origin().name(), &self.start, columns)?;
        Ok(Input { format, columns: columns.to_vec(), ..self })
    }

    /// The columns that were named.
    pub(crate) fn columns(&self) -> &[NamedColumn] {
        &self.columns
    }

    /// The whole text, without byte order mark, for those who need no columns.
    pub fn into_text(self) -> impl Read + Send + 'static {
        Cursor::new(self.start).chain(self.rest)
    }

    /// The first lines of the text, of which the last may be cut off.
    pub fn start_of_text(&self) -> &[u8] {
        &self.start
    }

    /// Starts reading rows. Fails where a header lacks the `url` column, and for an access log without a host.
    pub fn observations(self) -> Result<Reader, ReadError> {
        let format = self.format;
        match &format.entry().rows {
            RowFormat::Lines(lines) => {
                Reader::of_lines(format, lines, self.host.as_deref(), &self.columns, self.start, self.rest)
            }
            RowFormat::Archive(archive) => Ok(Reader::of_archive(format, *archive, self.start, self.rest)),
            RowFormat::Table(open) => {
                let (origin, columns) = (self.rest.origin().clone(), self.columns.clone());
                Reader::of_table(origin, format, *open, self.into_file()?, &columns)
            }
        }
    }

    /// A file with all of the text, for formats that are not read from start to end.
    pub(crate) fn into_file(mut self) -> Result<TableFile, ReadError> {
        let file = self.rest.origin().name().clone();
        if let Some(path) = &self.path {
            #[cfg(feature = "remote")]
            if let Some(url) = url_of_object(path) {
                return Ok(TableFile::Remote(remote::open(url)?.into_table()));
            }
            return match File::open(path) {
                Ok(file) => Ok(TableFile::Local(file)),
                Err(source) => Err(ReadError::Open { file, source }),
            };
        }
        let failed = |source| ReadError::Spool { file: file.clone(), source };
        let mut spool = tempfile::tempfile().map_err(failed)?;
        spool.write_all(&self.start).map_err(failed)?;
        // A failure of the source is reported as such, not blamed on the temporary file.
        let mut buffer = vec![0; SNIFFED_BYTES];
        let mut len = self.start.len() as u64;
        loop {
            match read_some(&mut self.rest, &mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    spool.write_all(&buffer[..count]).map_err(failed)?;
                    len += count as u64;
                }
                Err(error) => return Err(self.rest.origin().failure(0, len, error)),
            }
        }
        spool.rewind().map_err(failed)?;
        Ok(TableFile::Local(spool))
    }

    fn start(mut text: Text, patience: Patience) -> Result<Input, ReadError> {
        // Where the first bytes tell, no more than what is read at once: of an archive that is of its first gzip member.
        let mut start = text.take_start(SNIFFED_BYTES, |start| {
            by_first_bytes(start).is_some() || (patience == Patience::FirstLine && has_whole_line(start))
        })?;
        if let Some(encoding) = utf16_of(&start) {
            text = text.decoded(start, encoding);
            start = text.take_start(SNIFFED_BYTES, |start| {
                patience == Patience::FirstLine && has_whole_line(start)
            })?;
        }
        let format = sniff(text.origin().name(), &start, &[])?;
        if start.starts_with(UTF8_BOM) {
            start.drain(..UTF8_BOM.len());
        }
        Ok(Input { format, start, rest: text, path: None, host: None, columns: Vec::new() })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("format", &self.format)
            .field("origin", self.rest.origin())
            .finish_non_exhaustive()
    }
}

fn has_whole_line(start: &[u8]) -> bool {
    memchr::memchr(b'\n', start.trim_ascii_start()).is_some()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::Observation;

    /// Gives out one line at a time, like a program that waits for the answer to each.
    struct Dialogue(Vec<&'static [u8]>);

    impl Read for Dialogue {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = self.0.pop().expect("no line is asked for before the one before it is answered");
            let (now, later) = line.split_at(line.len().min(buffer.len()));
            buffer[..now.len()].copy_from_slice(now);
            self.0.extend((!later.is_empty()).then_some(later));
            Ok(now.len())
        }
    }

    #[test]
    fn a_pipe_is_read_no_further_than_the_next_row_needs() {
        for first in [&b"u\n"[..], b"P\n", b"http://a.example/1\n"] {
            let lines = vec![&b"http://a.example/2\n"[..], first];
            let text = Text::from_read("standard input", Dialogue(lines)).unwrap();
            let mut reader = Input::start(text, Patience::FirstLine).unwrap().observations().unwrap();
            let mut observation = Observation::new();
            for line in [1, 2] {
                assert_eq!(reader.read(&mut observation).unwrap(), Some(Ok(())));
                assert_eq!(observation.location().number(), line);
            }
        }
    }
}
