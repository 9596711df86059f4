/*!
`dedust man`: the manual, made from what `--help` says.
*/

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap_mangen::Man;
use dedust_io::OutputFile;

use crate::ExitStatus;
use crate::help;
use crate::number::counted;
use crate::printer::Printer;

/// Options of `man`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::MAN)]
pub(crate) struct ManArgs {
    /// The folder that gets a page for each command; made if it is not there [default: the first page, on standard output]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Prints the page of a command, or writes those of all its commands too.
pub(crate) fn run(
    args: &ManArgs,
    mut command: clap::Command,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    command.build();
    let Some(folder) = &args.output else {
        printer.data().write_all(&page(&command)?)?;
        return Ok(ExitStatus::Success);
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let pages = write_pages(&command, folder)?;
    printer.note(format_args!("{} written to {}", counted(pages, "page", "pages"), folder.display()));
    Ok(ExitStatus::Success)
}

/// Writes the pages of a command and of its own commands; how many there are.
fn write_pages(command: &clap::Command, folder: &Path) -> anyhow::Result<u64> {
    // Built commands have names such as `dedust-seen-check` for their pages.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    let page = page(command)?;
    OutputFile::create(&path, true)?.write_whole(|file| file.write_all(&page))?;
    let mut pages = 1;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        pages += write_pages(inner, folder)?;
    }
    Ok(pages)
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}
