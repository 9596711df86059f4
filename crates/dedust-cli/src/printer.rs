/*!
The only place that prints: data to standard output, everything else to standard error.

Uses no colour, so that `NO_COLOR` holds by itself. A failure to write data is reported to the caller; a failure to
write a message is not, as there is no one left to tell.

Texts of crawls and rule files may hold sequences that control a terminal. Lines and messages are for people, so control
characters in them are escaped. Data for programs is written as it is.
*/

use std::fmt::{self, Display, Write as _};
use std::io::{self, BufWriter, Stdout, Write};

use serde::Serialize;

use crate::args::GlobalArgs;
use crate::failure;

const BUFFER_BYTES: usize = 256 << 10;

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Writes data and messages.
pub(crate) struct Printer {
    verbosity: Verbosity,
    shows_bars: bool,
    data: BufWriter<Stdout>,
}

impl Printer {
    /// A printer as talkative as asked for.
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let verbosity = match (args.quiet, args.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        Self {
            verbosity,
            shows_bars: verbosity > Verbosity::Quiet && !args.no_progress,
            data: BufWriter::with_capacity(BUFFER_BYTES, io::stdout()),
        }
    }

    /// Whether progress may be shown, should standard error be a terminal.
    pub(crate) fn shows_bars(&self) -> bool {
        self.shows_bars
    }

    /// Standard output, buffered.
    pub(crate) fn data(&mut self) -> &mut impl Write {
        &mut self.data
    }

    /// One or more lines for people to read.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.data, "{}", Escaped(text))
    }

    /// One line of JSON.
    pub(crate) fn json(&mut self, record: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.data, record)?;
        self.data.write_all(b"\n")
    }

    /// All data is out.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.data.flush()
    }

    /// Something worth knowing; nothing with `-q`.
    pub(crate) fn note(&mut self, text: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            message(format_args!("{text}"));
        }
    }

    /// Something worth knowing for those who ask with `-v`.
    pub(crate) fn detail(&mut self, text: impl Display) {
        if self.verbosity > Verbosity::Normal {
            message(format_args!("{text}"));
        }
    }

    /// Something that may be wrong; nothing with `-q`.
    pub(crate) fn warning(&mut self, text: impl Display) {
        self.note(format_args!("warning: {text}"));
    }

    /// What to do about it; nothing with `-q`.
    pub(crate) fn hint(&mut self, text: impl Display) {
        self.note(format_args!("hint: {text}"));
    }

    /// Why nothing came of it: the error, its causes, and a remedy where there is one. Also with `-q`.
    pub(crate) fn failure(&mut self, error: &anyhow::Error) {
        // What was written before is still of use to whoever reads it.
        let _ = self.finish();
        message(format_args!("error: {error}"));
        for cause in error.chain().skip(1) {
            message(format_args!("  cause: {cause}"));
        }
        if let Some(hint) = failure::remedy(error) {
            message(format_args!("hint: {hint}"));
        }
    }
}

fn message(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", Escaped(text));
}

/// A URL as text: bytes that are no text are percent-encoded, which does not change what it means.
pub(crate) fn printable(url: &[u8]) -> String {
    match std::str::from_utf8(url) {
        Ok(text) => text.to_owned(),
        Err(_) => url
            .iter()
            .map(|&byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect(),
    }
}

/// A text whose control characters are escaped, except for line breaks and tabs.
pub(crate) struct Escaped<T>(pub(crate) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(EscapeControls(f), "{}", self.0)
    }
}

struct EscapeControls<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for EscapeControls<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| match character {
            '\n' | '\t' => self.0.write_char(character),
            _ if character.is_control() => write!(self.0, "{}", character.escape_default()),
            _ => self.0.write_char(character),
        })
    }
}
