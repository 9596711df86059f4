/*!
The only place that prints: data to standard output or the file of `-o`, everything else to standard error.

Colour marks how a message begins (`error:`), as in the help, and nothing else: on a terminal, unless `NO_COLOR` is set, or as
`--color` says. A failure to write data is reported to the caller; a failure to write a message is not, as there is no one
left to tell.

Texts of crawls and rule files may hold sequences that control a terminal. Lines and messages are for people, so control
characters in them are escaped. Data for programs is written as it is.
*/

use std::fmt::{self, Display, Write as _};
use std::io::{self, BufWriter, Stdout, Write};

use anstyle::{AnsiColor, Style};
use dedust_io::{OutputFile, WriteError};
use serde::Serialize;

use crate::args::{GlobalArgs, OutputArgs};
use crate::failure;

const BUFFER_BYTES: usize = 256 << 10;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Writes data and messages.
pub(crate) struct Printer {
    messages: Messages,
    shows_bars: bool,
    data: BufWriter<Sink>,
}

/// Writes messages alone, from any thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Messages {
    verbosity: Verbosity,
}

/// Where data goes.
enum Sink {
    Stdout(Stdout),
    File(OutputFile),
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
            messages: Messages { verbosity },
            shows_bars: verbosity > Verbosity::Quiet && !args.no_progress,
            data: standard_output(),
        }
    }

    /// Sends data to the file of `-o`, if one is named. It has its name when the command has ended well.
    pub(crate) fn write_to(&mut self, args: &OutputArgs) -> Result<(), WriteError> {
        if let Some(path) = &args.output {
            self.write_to_file(OutputFile::create(path, args.force)?);
        }
        Ok(())
    }

    /// Sends data to a file.
    pub(crate) fn write_to_file(&mut self, file: OutputFile) {
        self.data = BufWriter::with_capacity(BUFFER_BYTES, Sink::File(file));
    }

    /// Whether progress may be shown, should standard error be a terminal.
    pub(crate) fn shows_bars(&self) -> bool {
        self.shows_bars
    }

    /// Standard output or the file of `-o`, buffered.
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

    /// All data is out, and the command has ended well: the file of `-o` gets its name.
    pub(crate) fn commit(&mut self) -> anyhow::Result<()> {
        self.finish()?;
        match std::mem::replace(&mut self.data, standard_output()).into_parts().0 {
            Sink::Stdout(_) => Ok(()),
            Sink::File(file) => Ok(file.commit()?),
        }
    }

    /// What writes messages, for other threads.
    #[cfg(feature = "serve")]
    pub(crate) fn messages(&self) -> Messages {
        self.messages
    }

    /// Something worth knowing; nothing with `-q`.
    pub(crate) fn note(&mut self, text: impl Display) {
        self.messages.note(text);
    }

    /// Something worth knowing for those who ask with `-v`.
    pub(crate) fn detail(&mut self, text: impl Display) {
        self.messages.detail(text);
    }

    /// Something that may be wrong; nothing with `-q`.
    pub(crate) fn warning(&mut self, text: impl Display) {
        self.messages.warning(text);
    }

    /// What to do about it; nothing with `-q`.
    pub(crate) fn hint(&mut self, text: impl Display) {
        self.messages.hint(text);
    }

    /// Why nothing came of it: the error, its causes, and a remedy where there is one. Also with `-q`.
    pub(crate) fn failure(&mut self, error: &anyhow::Error) {
        // What was written before is still of use to whoever reads it.
        let _ = self.finish();
        marked_message(ERROR, "error", error);
        let mut texts: Vec<String> = error.chain().map(ToString::to_string).collect();
        // Some libraries pass on the text of a cause as their own.
        texts.dedup();
        for cause in texts.iter().skip(1) {
            message(format_args!("  cause: {cause}"));
        }
        if let Some(hint) = failure::remedy(error) {
            marked_message(HINT, "hint", hint);
        }
    }
}

impl Messages {
    /// Something worth knowing; nothing with `-q`.
    pub(crate) fn note(self, text: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            message(text);
        }
    }

    /// Something worth knowing for those who ask with `-v`.
    pub(crate) fn detail(self, text: impl Display) {
        if self.shows_details() {
            message(text);
        }
    }

    /// Whether somebody asks with `-v`.
    pub(crate) fn shows_details(self) -> bool {
        self.verbosity > Verbosity::Normal
    }

    /// Something that may be wrong; nothing with `-q`.
    pub(crate) fn warning(self, text: impl Display) {
        self.marked(WARNING, "warning", text);
    }

    /// What to do about it; nothing with `-q`.
    pub(crate) fn hint(self, text: impl Display) {
        self.marked(HINT, "hint", text);
    }

    fn marked(self, style: Style, mark: &str, text: impl Display) {
        if self.verbosity > Verbosity::Quiet {
            marked_message(style, mark, text);
        }
    }
}

fn message(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{}", Escaped(text));
}

fn standard_output() -> BufWriter<Sink> {
    BufWriter::with_capacity(BUFFER_BYTES, Sink::Stdout(io::stdout()))
}

fn marked_message(style: Style, mark: &str, text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{style}{mark}:{style:#} {}", Escaped(text));
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(file) => file.flush(),
        }
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
