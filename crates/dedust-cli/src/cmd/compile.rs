/*!
`dedust compile`: a rule file in, compiled rules out.
*/

use std::path::PathBuf;

use anyhow::Context as _;
use dedust::Normalizer;
use dedust::errors::OpenRulesError;
use dedust_io::OutputFile;

use crate::ExitStatus;
use crate::failure::refuse;
use crate::help;
use crate::line_source::name_of;
use crate::number::counted;
use crate::printer::Printer;
use crate::rule_file;

/// Options of `compile`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::COMPILE)]
pub(crate) struct CompileArgs {
    /// Rules from `dedust learn`, or compiled ones to be checked; `-` is standard input
    pub(crate) rules: PathBuf,
    /// Where the compiled rules go
    #[arg(short, long, value_name = "RULES.bin", required_unless_present = "check")]
    pub(crate) output: Option<PathBuf>,
    /// Memory, in MB, for the rules; a file that needs more is refused
    #[arg(long, value_name = "MB", default_value_t = 1000, conflicts_with = "check", hide_short_help = true)]
    pub(crate) memory: u32,
    /// Overwrite RULES.bin if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Write nothing: read all of a compiled file, exit with 1 if it is damaged
    #[arg(long, conflicts_with_all = ["output", "force"])]
    pub(crate) check: bool,
}

/// Compiles rules, or checks compiled ones.
pub(crate) fn run(args: &CompileArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let name = name_of(&args.rules);
    let Some(output) = &args.output else { return check(args, &name, printer) };
    if rule_file::holds_compiled(&args.rules) {
        return refuse(
            format!("{name} holds compiled rules already"),
            "name the rule file that they were compiled from, or use --check",
        );
    }
    let file = dedust_io::open_text(&args.rules)?;
    let mut written = OutputFile::create(output, args.force)?;
    let normalizer = Normalizer::compile_within(file, u64::from(args.memory) * 1_000_000)
        .with_context(|| format!("cannot use the rules in {name}"))?;
    normalizer.save(&mut written).with_context(|| format!("cannot write {}", name_of(output)))?;
    written.commit()?;
    printer.note(summary(&normalizer));
    rule_file::warn_of_left_out(&args.rules, &normalizer, printer);
    Ok(ExitStatus::Success)
}

fn check(args: &CompileArgs, name: &str, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    match Normalizer::open(&args.rules) {
        Ok(normalizer) => {
            printer.note(format_args!("{name} is as it was written: {}", summary(&normalizer)));
            Ok(ExitStatus::Success)
        }
        Err(OpenRulesError::Damaged(damage)) => {
            printer.note(format_args!("{name}: {damage}"));
            Ok(ExitStatus::No)
        }
        Err(error) => Err(error).with_context(|| format!("cannot use the rules in {name}")),
    }
}

fn summary(normalizer: &Normalizer) -> String {
    format!(
        "{} of {}",
        counted(normalizer.rule_count(), "rule", "rules"),
        counted(normalizer.site_count(), "site", "sites")
    )
}
