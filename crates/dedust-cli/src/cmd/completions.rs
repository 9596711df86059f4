/*!
`dedust completions`: what a shell needs to complete commands, options and their values.
*/

use std::io::Write as _;

use crate::ExitStatus;
use crate::args::OutputArgs;
use crate::help;
use crate::printer::Printer;

/// Options of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
    /// Where it goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Prints the script with which a shell completes `command`.
pub(crate) fn run(
    args: &CompletionsArgs,
    mut command: clap::Command,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    printer.write_to(&args.output)?;
    // Not straight to the printer: `generate` panics where a write fails, as into a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "dedust", &mut script);
    printer.data().write_all(&script)?;
    Ok(ExitStatus::Success)
}
