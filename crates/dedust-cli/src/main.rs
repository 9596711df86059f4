/*!
The command `dedust`: learns how websites spell their URLs, and applies what was learned.

Parses arguments ([`commands`]), runs one command ([`cmd`]) and turns its outcome into an exit code. Holds no logic of its
own: rules live in `dedust`, learning in `dedust-learn`, file formats in `dedust-io`.
*/

mod args;
mod bad_lines;
mod clock;
mod cmd;
mod commands;
mod failure;
mod help;
mod interrupt;
mod layouts;
mod line_source;
mod method;
mod named_rule;
mod number;
mod observe;
mod printer;
mod progress;
mod read_ahead;
mod rule_file;
mod table;
mod trial;
mod words;

use std::io;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::args::ColorChoice;
use crate::commands::{Args, Command};
use crate::interrupt::Interrupted;
use crate::printer::Printer;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a command ended, if it could run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    /// Done.
    Success = 0,
    /// Ran, and the answer is no: a limit was missed, a check found changes.
    No = 1,
    /// Could not run.
    Failure = 2,
    /// Was asked to end, as by Ctrl-C.
    Interrupted = 130,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

fn main() -> ExitCode {
    let color = ColorChoice::of_arguments(std::env::args_os());
    color.apply();
    let parsed = Args::command()
        .color(color.into())
        .try_get_matches()
        .and_then(|found| Args::from_arg_matches(&found));
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            // Help asked for goes to standard output and is no error; a closed one has no one to tell.
            let is_lost = error.print().is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe);
            let status =
                if error.use_stderr() || is_lost { ExitStatus::Failure } else { ExitStatus::Success };
            return status.into();
        }
    };
    let mut printer = Printer::new(&args.global);
    let outcome = run(args, &mut printer).and_then(|status| {
        printer.commit()?;
        Ok(status)
    });
    match outcome {
        Ok(status) => status.into(),
        Err(error) if is_broken_pipe(&error) => ExitStatus::Success.into(),
        Err(error) => {
            let status =
                if error.is::<Interrupted>() { ExitStatus::Interrupted } else { ExitStatus::Failure };
            printer.failure(&error);
            status.into()
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
        Command::Merge(args) => cmd::learn::run_merge(&args, printer),
        Command::Collect(args) => cmd::collect::run(&args, printer),
        Command::Budget(args) => cmd::budget::run(&args, printer),
        Command::Cluster(args) => cmd::cluster::run(&args, printer),
        Command::Normalize(args) => cmd::normalize::run(&args, printer),
        Command::Compile(args) => cmd::compile::run(&args, printer),
        Command::Dedup(args) => cmd::dedup::run(&args, printer),
        Command::Rules(args) => cmd::rules::run(&args, printer),
        Command::Seen(args) => cmd::seen::run(&args, printer),
        #[cfg(feature = "serve")]
        Command::Serve(serve) => cmd::serve::run(&serve, args.global.threads, printer),
        #[cfg(not(feature = "serve"))]
        Command::Serve { .. } => failure::refuse(
            "this build of dedust has no service: it was made without the feature `serve`",
            "build it without --no-default-features, as in: cargo install --path crates/dedust-cli",
        ),
        Command::Groups(args) => cmd::groups::run(&args, printer),
        Command::Waste(args) => cmd::waste::run(&args, printer),
        Command::Evaluate(args) => cmd::evaluate::run(&args, printer),
        #[cfg(feature = "lab")]
        Command::Compare(args) => cmd::compare::run(&args, printer),
        Command::Explain(args) => cmd::explain::run(&args, printer),
        Command::Validate(args) => cmd::validate::run(&args, printer),
        Command::Report(args) => cmd::report::run(&args, printer),
        #[cfg(feature = "lab")]
        Command::Tree(args) => cmd::tree::run(&args, printer),
        #[cfg(feature = "lab")]
        Command::Simulate(args) => cmd::simulate::run(&args, printer),
        #[cfg(not(feature = "lab"))]
        Command::Lab { .. } => failure::refuse(
            "this build of dedust cannot compare methods, draw trees or simulate: it was made without the feature `lab`",
            "build it without --no-default-features, as in: cargo install --path crates/dedust-cli",
        ),
        Command::Man(args) => cmd::man::run(&args, Args::command(), printer),
        Command::Completions(args) => cmd::completions::run(&args, Args::command(), printer),
    }
}

/// Whether whoever read our output has seen enough, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
