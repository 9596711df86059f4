/*!
Options of `dedust groups`.
*/

use std::path::PathBuf;

use clap::ValueEnum;

use crate::args::OutputArgs;
use crate::help;
use crate::trial::TrialArgs;

/// Options of `groups`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::GROUPS)]
pub(crate) struct GroupsArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// Files or folders with URLs, of any format that `learn` reads; `-` is standard input
    #[arg(required = true, value_name = "CRAWL", long_help = help::urls())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the groups go.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// What is written
    #[arg(long, value_enum, default_value_t = GroupsFormat::Text)]
    pub(crate) format: GroupsFormat,
    /// Leave out groups of fewer URLs
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_size: u64,
    /// Show all groups and all their URLs as text too, not the first 20 and 5
    #[arg(long)]
    pub(crate) all: bool,
    /// How the rules are tried.
    #[command(flatten)]
    pub(crate) trial: TrialArgs,
}

/// What `groups` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupsFormat {
    /// For people
    Text,
    /// JSON Lines, one object per group
    Jsonl,
    /// One row per URL
    Csv,
}
