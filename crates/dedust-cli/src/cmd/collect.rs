/*!
`dedust collect`: tables with the rules of one site in each row, and rule files, in; one rule file or compiled rules out.
*/

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::{Normalizer, RuleSet};
use dedust_io::{Observation, OutputFile};

use crate::ExitStatus;
use crate::args::ReadArgs;
use crate::failure::refuse;
use crate::help;
use crate::line_source::name_of;
use crate::number::counted;
use crate::observe;
use crate::printer::Printer;
use crate::rule_file;

/// How a rule file starts, but for blanks.
const RULE_FILE_START: &[u8] = b"{\"version\"";

/// Options of `collect`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::COLLECT)]
pub(crate) struct CollectArgs {
    /// Tables of `dedust.spark.learn`, and rule files; folders and patterns of them
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the rules go: as a rule file if the name ends in .json, else compiled
    #[arg(short, long, value_name = "RULES")]
    pub(crate) output: PathBuf,
    /// The column with the rules of a site
    #[arg(long, value_name = "NAME", default_value = "rules", hide_short_help = true)]
    pub(crate) column: String,
    /// Keep what was decided about these earlier rules, and verdicts
    #[arg(long, value_name = "RULES", long_help = help::KEEP)]
    pub(crate) keep: Option<PathBuf>,
    /// Overwrite RULES if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// Puts the rules of all sites into one file.
pub(crate) fn run(args: &CollectArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let inputs = dedust_io::expand(&args.inputs)?;
    let earlier = args.keep.as_ref().map(|path| rule_file::load(path, false)).transpose()?;
    let output = OutputFile::create(&args.output, args.force)?;
    let mut collected = Collected::default();
    for input in &inputs {
        collected.read(input, &args.column)?;
    }
    let Some(mut rules) = collected.rules else {
        let names: Vec<String> = inputs.iter().map(|input| name_of(input)).collect();
        let problem = format!("there are no rules in {}", names.join(", "));
        return refuse(problem, "name a table of `dedust.spark.learn`, or rule files");
    };
    if let Some(earlier) = &earlier {
        rules.keep(earlier);
    }
    let is_rule_file = args.output.extension().is_some_and(|extension| extension == "json");
    output.write_whole(|output| match is_rule_file {
        true => rules.save(output),
        false => Normalizer::compile(&rules).save(output),
    })?;
    if collected.without > 0 {
        printer.warning(format_args!(
            "{} without rules: learning failed there",
            counted(collected.without, "site", "sites")
        ));
    }
    printer.note(format_args!(
        "{} of {} written to {}",
        counted(rules.rule_count() as u64, "rule", "rules"),
        counted(rules.sites().len() as u64, "site", "sites"),
        name_of(&args.output)
    ));
    Ok(ExitStatus::Success)
}

/// The rules so far.
#[derive(Default)]
struct Collected {
    rules: Option<RuleSet>,
    /// Rows without rules.
    without: u64,
}

impl Collected {
    fn read(&mut self, path: &Path, column: &str) -> anyhow::Result<()> {
        if is_rule_file(path)? {
            return self.add(rule_file::load(path, false)?, path, None);
        }
        // Of all that a table may have, the rules alone are read: as bytes that nobody looks into.
        let read = ReadArgs { host: None, column: vec![format!("url={column}").parse()?] };
        let mut reader = observe::open(path, &read)?.observations()?;
        let mut row = Observation::new();
        let mut number = 0_u64;
        while let Some(outcome) = reader.read(&mut row)? {
            number += 1;
            if outcome.is_err() {
                self.without += 1;
                continue;
            }
            let rules = RuleSet::load(row.url())
                .with_context(|| format!("cannot use the rules in row {number} of {}", name_of(path)))?;
            self.add(rules, path, Some(number))?;
        }
        Ok(())
    }

    fn add(&mut self, more: RuleSet, path: &Path, row: Option<u64>) -> anyhow::Result<()> {
        let Some(rules) = &mut self.rules else {
            self.rules = Some(more);
            return Ok(());
        };
        if let Some((site, _)) = more.sites().find(|(site, _)| rules.site(site).is_some()) {
            let place = row.map_or(name_of(path), |row| format!("row {row} of {}", name_of(path)));
            return refuse(
                format!("there are rules of `{site}` in {place}, and before"),
                "name each table once; rule files with sites in common are united by `dedust rules merge`",
            );
        }
        rules.append(more);
        Ok(())
    }
}

/// Whether a file holds rules alone, and not rows.
fn is_rule_file(path: &Path) -> anyhow::Result<bool> {
    let mut start = Vec::new();
    dedust_io::open_text(path)?.take(64).read_to_end(&mut start)?;
    start.retain(|byte| !byte.is_ascii_whitespace());
    Ok(start.starts_with(RULE_FILE_START))
}
