/*!
Options of `dedust rules`.
*/

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use dedust::rules::Decision;
use serde_json::json;

use crate::args::{ReadArgs, ReportFormat, TrustArgs};
use crate::failure::Refusal;
use crate::{clock, help};

/// What `rules` does.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct RulesArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

/// The verbs of `rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List rules by what they save and risk
    List(ListArgs),
    /// Show all that is known of the rules of a site
    Show(ShowArgs),
    /// Turn rules off: they stay in the file and are not applied
    Off(DecideArgs),
    /// Turn rules on again
    On(DecideArgs),
    /// Vouch for rules: they stay when the rules are learned again with `learn --keep`
    Pin(DecideArgs),
    /// Vouch for rules no longer
    Unpin(DecideArgs),
    /// Add a rule by hand, which is pinned
    Add(AddArgs),
    /// Say in which rules two files differ, and which URLs have other keys
    Diff(DiffArgs),
    /// Make one file of two
    Merge(MergeArgs),
    /// Say all that is wrong with a file that was written by hand
    Lint(LintArgs),
}

/// Options of `rules list`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct ListArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// Only rules of this site
    #[arg(long)]
    pub(crate) site: Option<String>,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Sort::Saved)]
    pub(crate) sort: Sort,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Rules that change most URLs
    Saved,
    /// Rules without evidence, then those that may fail most often
    Risk,
    /// As in the file
    Site,
}

/// Options of `rules show`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct ShowArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// The site, as the file names it
    pub(crate) site: String,
    /// The rule, by its id or the beginning of that [default: all of the site]
    pub(crate) id: Option<String>,
    /// How the result is printed; json has rules as they are in the file
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Options of `rules off`, `on`, `pin` and `unpin`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct DecideArgs {
    /// The rule file, which is changed
    pub(crate) rules: PathBuf,
    /// The site, as the file names it
    pub(crate) site: String,
    /// The rules, by their ids or the beginnings of these; `dedust rules list` has them
    #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// All rules of the site
    #[arg(long)]
    pub(crate) all: bool,
    /// Who decides, when and why.
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
}

/// Who decides, when and why.
#[derive(Debug, clap::Args)]
pub(crate) struct DecisionArgs {
    /// The reason, for whoever reads the file
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    /// Who decides [default: $USER]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// When, such as 2026-11-16T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) at: Option<String>,
}

/// Options of `rules add`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct AddArgs {
    /// The rule file, which is changed
    pub(crate) rules: PathBuf,
    /// The site, by its registrable domain
    pub(crate) site: String,
    /// A part of URLs that does not matter, such as q.sid; may be given again
    #[arg(long, value_name = "PART", required_unless_present = "json", conflicts_with = "json")]
    pub(crate) drop: Vec<String>,
    /// URLs without the part show the page too, so that canonical URLs lose it and not keys alone
    #[arg(long, requires = "drop")]
    pub(crate) fetchable: bool,
    /// A file with a rule, or a list of rules, as rule files have them; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Who decides, when and why.
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
}

/// Options of `rules diff`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct DiffArgs {
    /// The rules before
    pub(crate) first: PathBuf,
    /// The rules after
    pub(crate) second: PathBuf,
    /// Files or folders with URLs whose keys are compared, of any format; `-` is standard input
    #[arg(value_name = "URLS", long_help = help::urls())]
    pub(crate) urls: Vec<PathBuf>,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// Options of `rules merge`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct MergeArgs {
    /// The first rule file
    pub(crate) first: PathBuf,
    /// The second rule file
    pub(crate) second: PathBuf,
    /// Where the rules of both go; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Which file counts for a site whose rules cannot stand together
    #[arg(long, value_enum)]
    pub(crate) prefer: Option<PreferredFile>,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// Which of two files counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PreferredFile {
    /// The first
    First,
    /// The second
    Second,
}

/// Options of `rules lint`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::RULES)]
pub(crate) struct LintArgs {
    /// The rule file; `-` is standard input
    pub(crate) rules: PathBuf,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

impl DecisionArgs {
    /// What goes into the file.
    pub(super) fn checked(&self) -> Result<Decision, Refusal> {
        let user = || std::env::var("USER").ok();
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (by, why) = (text(self.by.clone().or_else(user)), text(self.why.clone()));
        let at = self.at.clone().unwrap_or_else(clock::now);
        // The check is that of the file.
        serde_json::from_value(json!({ "by": by, "at": at, "why": why }))
            .map_err(|error| Refusal::new(format!("--at: {error}"), "leave it out for the time of day"))
    }
}
