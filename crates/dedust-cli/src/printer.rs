/*!
The only place that prints: data to standard output or the file of `-o`, everything else to standard error.

Colour marks how a message begins (`error:`), as in the help, and nothing else: on a terminal, unless `NO_COLOR` is set, or as
`--color` says. A failure to write data is reported to the caller; a failure to write a message is not, as there is no one
left to tell.

Texts of crawls and rule files may hold sequences that control a terminal. Lines and messages are for people, so control
characters in them are escaped. Data for programs is written as it is.
*/

#[cfg(feature = "serve")]
mod message_queue;

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};
#[cfg(feature = "serve")]
use std::{sync::Arc, time::Duration};

use anstyle::{AnsiColor, Style};
use dedust_io::{OutputFile, WriteError};
use serde::Serialize;

use crate::args::{GlobalArgs, OutputArgs};
use crate::failure;
#[cfg(feature = "serve")]
use message_queue::MessageQueue;

/// How long a reader of standard error has to take what waits when the command ends.
#[cfg(feature = "serve")]
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

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
    data: OutputFile,
}

/// Writes messages alone, from any thread.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    verbosity: Verbosity,
    target: MessageTarget,
}

/// Where messages go.
#[derive(Clone, Debug)]
enum MessageTarget {
    /// Standard error, which is waited for.
    Stderr,
    /// Standard error, by way of a thread that waits for it.
    #[cfg(feature = "serve")]
    Queue { queue: Arc<MessageQueue>, is_notice: bool },
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
            messages: Messages { verbosity, target: MessageTarget::Stderr },
            shows_bars: verbosity > Verbosity::Quiet && !args.no_progress,
            data: OutputFile::standard_output(),
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
        self.data = file;
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
        Ok(std::mem::replace(&mut self.data, OutputFile::standard_output()).commit()?)
    }

    /// What writes messages, for other threads. From now on nobody waits for standard error: messages that it does not take are
    /// dropped, and `tell_dropped` writes a message with their number.
    #[cfg(feature = "serve")]
    pub(crate) fn queued_messages(
        &mut self,
        tell_dropped: impl Fn(&Messages, u64) + Send + 'static,
    ) -> io::Result<Messages> {
        let queue = Arc::new(MessageQueue::default());
        let with = |is_notice| MessageTarget::Queue { queue: Arc::clone(&queue), is_notice };
        let notices = Messages { target: with(true), ..self.messages };
        self.messages.target = with(false);
        queue.start(move |dropped| tell_dropped(&notices, dropped))?;
        Ok(self.messages.clone())
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
        self.messages.error(error);
        let mut texts: Vec<String> = error.chain().map(ToString::to_string).collect();
        // Some libraries pass on the text of a cause as their own.
        texts.dedup();
        for cause in texts.iter().skip(1) {
            self.messages.write(format_args!("  cause: {}", Escaped(cause)));
        }
        if let Some(hint) = failure::remedy(error) {
            self.messages.write_marked(HINT, "hint", hint);
        }
    }
}

#[cfg(feature = "serve")]
impl Drop for Printer {
    /// Waits for messages that are being written, but not for a reader that never comes.
    fn drop(&mut self) {
        if let MessageTarget::Queue { queue, .. } = &self.messages.target {
            queue.drain(DRAIN_PATIENCE);
        }
    }
}

impl Messages {
    /// Something worth knowing; nothing with `-q`.
    pub(crate) fn note(&self, text: impl Display) {
        if self.shows_notes() {
            self.write(Escaped(text));
        }
    }

    /// Something worth knowing for those who ask with `-v`.
    pub(crate) fn detail(&self, text: impl Display) {
        if self.shows_details() {
            self.write(Escaped(text));
        }
    }

    /// Whether somebody asks with `-v`.
    pub(crate) fn shows_details(&self) -> bool {
        self.verbosity > Verbosity::Normal
    }

    /// Whether nobody asks with `-q` for errors only.
    pub(crate) fn shows_notes(&self) -> bool {
        self.verbosity > Verbosity::Quiet
    }

    /// Something that may be wrong; nothing with `-q`.
    pub(crate) fn warning(&self, text: impl Display) {
        if self.shows_notes() {
            self.write_marked(WARNING, "warning", text);
        }
    }

    /// What to do about it; nothing with `-q`.
    pub(crate) fn hint(&self, text: impl Display) {
        if self.shows_notes() {
            self.write_marked(HINT, "hint", text);
        }
    }

    /// Why nothing came of it. Also with `-q`.
    pub(crate) fn error(&self, text: impl Display) {
        self.write_marked(ERROR, "error", text);
    }

    fn write_marked(&self, style: Style, mark: &str, text: impl Display) {
        self.write(format_args!("{style}{mark}:{style:#} {}", Escaped(text)));
    }

    /// Writes a line, which holds no text of others unless it is escaped.
    pub(crate) fn write(&self, line: impl Display) {
        match &self.target {
            MessageTarget::Stderr => {
                let _ = writeln!(anstream::stderr().lock(), "{line}");
            }
            #[cfg(feature = "serve")]
            MessageTarget::Queue { queue, is_notice } => queue.push(&format!("{line}\n"), *is_notice),
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
