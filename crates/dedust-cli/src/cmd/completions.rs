/*!
`dedust completions`: what a shell needs to complete commands, options and their values.
*/

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::ExitStatus;
use crate::args::{Args, CompletionsArgs};
use crate::printer::Printer;

/// Prints the script of a shell.
pub(crate) fn run(args: &CompletionsArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    printer.write_to(&args.output)?;
    // Not straight to the printer: `generate` panics where a write fails, as into a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "dedust", &mut script);
    printer.data().write_all(&script)?;
    Ok(ExitStatus::Success)
}
