/*!
Options of `dedust evaluate`.
*/

use std::path::PathBuf;

use dedust_learn::EvidenceKinds;

use crate::args::{OutputArgs, ReadArgs, ReportFormat, TrustArgs};
use crate::help;

/// Options of `evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::EVALUATE, override_usage = help::EVALUATE_USAGE)]
pub(crate) struct EvaluateArgs {
    /// Rules from `dedust learn`; not given with --labels
    pub(crate) rules: PathBuf,
    /// URLs whose pages are known, in the order a crawler met them; `-` is standard input
    #[arg(required_unless_present = "labels", value_name = "LABELLED", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Score the labels of LABELLED themselves, by a file that says for sure which page a URL shows
    #[arg(long, value_name = "TRUTH", conflicts_with = "max_fpr")]
    pub(crate) labels: Option<PathBuf>,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE, hide_short_help = true)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Show what was learned of this site, and what was refused and why
    #[arg(long, value_name = "SITE", conflicts_with = "labels")]
    pub(crate) show: Option<String>,
    /// Show pages that are merged wrongly or lost, by the rules that do it
    #[arg(long, conflicts_with = "labels", long_help = help::ERRORS)]
    pub(crate) errors: bool,
    /// Pairs of URLs to show of each rule with --errors
    #[arg(long, value_name = "N", default_value_t = 5, requires = "errors", hide_short_help = true)]
    pub(crate) limit: usize,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Where it goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Exit with 1 if the micro precision, or with --labels the pair precision, is below this share
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_precision: Option<f64>,
    /// Exit with 1 if the micro recall, or with --labels the pair recall, is below this share
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_recall: Option<f64>,
    /// Exit with 1 if the micro fpr is above this share
    #[arg(long, value_name = "SHARE")]
    pub(crate) max_fpr: Option<f64>,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}
