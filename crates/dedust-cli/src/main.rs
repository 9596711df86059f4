/*!
The command `dedust`: learns how websites spell their URLs, and applies what was learned.

Parses arguments ([`args`]), runs one command ([`cmd`]) and turns its outcome into an exit code. Holds no logic of its
own: rules live in `dedust`, learning in `dedust-learn`, file formats in `dedust-io`.
*/

mod args;
mod cmd;
mod failure;
mod help;
mod layouts;
mod line_source;
mod method;
mod number;
mod observe;
mod printer;
mod progress;
mod read_ahead;
mod rule_file;
mod table;
mod words;

use std::io;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use crate::args::{Args, Command};
use crate::printer::Printer;

/// How a command ended, if it could run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    /// Done.
    Success = 0,
    /// Ran, and the answer is no: a limit was missed, a check found changes.
    No = 1,
    /// Could not run.
    Failure = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help asked for goes to standard output and is no error; a closed one has no one to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitStatus::Failure.into() } else { ExitStatus::Success.into() };
        }
    };
    let mut printer = Printer::new(&args.global);
    let outcome = run(args, &mut printer).and_then(|status| {
        printer.finish()?;
        Ok(status)
    });
    match outcome {
        Ok(status) => status.into(),
        Err(error) if is_broken_pipe(&error) => ExitStatus::Success.into(),
        Err(error) => {
            printer.failure(&if is_bare_io(&error) {
                error.context("cannot write to standard output")
            } else {
                error
            });
            ExitStatus::Failure.into()
        }
    }
}

fn run(args: Args, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    if let Some(threads) = args.global.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .with_context(|| format!("cannot start {threads} threads"))?;
    }
    match args.command {
        Command::Learn(args) => cmd::learn::run(&args, printer),
        Command::Cluster(args) => cmd::cluster::run(&args, printer),
        Command::Normalize(args) => cmd::normalize::run(&args, printer),
        Command::Compile(args) => cmd::compile::run(&args, printer),
        Command::Dedup(args) => cmd::dedup::run(&args, printer),
        Command::Seen(args) => cmd::seen::run(&args, printer),
        Command::Evaluate(args) => cmd::evaluate::run(&args, printer),
        Command::Compare(args) => cmd::compare::run(&args, printer),
        Command::Explain(args) => cmd::explain::run(&args, printer),
        Command::Validate(args) => cmd::validate::run(&args, printer),
        Command::Tree(args) => cmd::tree::run(&args, printer),
        Command::Simulate(args) => cmd::simulate::run(&args, printer),
    }
}

/// Whether the error comes from printing: all others say what they were about.
fn is_bare_io(error: &anyhow::Error) -> bool {
    error.chain().len() == 1 && error.is::<io::Error>()
}

/// Whether whoever read our output has seen enough, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
