/*!
Options of `dedust learn` and `dedust merge`.
*/

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use dedust_learn::{EvidenceKinds, Mode, NamedMirror, Preference};
use serde::Serialize;

use super::part::PartOf;
use crate::args::{ReadArgs, ReportFormat};
use crate::help;
use crate::method::{Method, Variant};

/// Options of `learn`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::LEARN)]
pub(crate) struct LearnArgs {
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the rules go; `-` is standard output
    #[arg(short, long, value_name = "RULES")]
    pub(crate) output: PathBuf,
    /// What is asked for.
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    /// Which model seq2seq trains
    #[arg(long, value_enum, long_help = help::VARIANT, hide_short_help = true)]
    pub(crate) variant: Option<Variant>,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Seed for methods that use chance: seq2seq
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Memory, in MB, for URLs being read; with more, they are put on disk beside RULES
    #[arg(long, value_name = "MB", default_value_t = 256, hide_short_help = true)]
    pub(crate) memory: u32,
    /// Read one of several parts of the inputs, such as 3/8, into the folder RULES; `merge` learns from all of them
    #[arg(long, value_name = "I/N", long_help = help::PART, hide_short_help = true, conflicts_with_all = ["resume", "keep"])]
    pub(crate) part: Option<PartOf>,
    /// Keep what was decided about these earlier rules, and verdicts
    #[arg(long, value_name = "RULES", long_help = help::KEEP)]
    pub(crate) keep: Option<PathBuf>,
    /// Go on with a run that was interrupted, if it left something behind
    #[arg(long)]
    pub(crate) resume: bool,
    /// Overwrite RULES if it exists, and what an interrupted run left behind
    #[arg(long)]
    pub(crate) force: bool,
    /// How the closing report is printed: text on standard error, or JSON Lines on standard output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// What [`LearnOptions`](dedust_learn::LearnOptions) has, under the same names: only those that are given, and no other. In `[default: ..]` the help repeats its
/// defaults.
#[derive(Debug, Default, clap::Args, Serialize)]
pub(crate) struct OptionArgs {
    /// The learner [default: canonfd]
    #[arg(long, value_parser = method_parser())]
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<Method>,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas [default: auto]
    #[arg(long, value_name = "KINDS", long_help = help::EVIDENCE)]
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceKinds>,
    /// How much proof canonfd asks for [default: balanced]
    #[arg(long, value_parser = mode_parser(), long_help = help::MODE, hide_short_help = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    /// Share of a site's pages, from 0 to 1, that one rule of canonfd may lose [default: 0.005]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, long_help = help::MAX_LOSS, hide_short_help = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_loss: Option<f64>,
    /// The form to write where a site has several: https, http, www or bare; SITE=FORM for one site
    #[arg(long, value_name = "FORM", value_delimiter = ',', long_help = help::PREFER, hide_short_help = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prefer: Vec<Preference>,
    /// Take one site for another that shows the same pages, such as old.example=new.example; may be given again
    #[arg(long, value_name = "SITE=SITE", long_help = help::MIRROR, hide_short_help = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mirror: Vec<NamedMirror>,
    /// Look for no sites that show the pages of another
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, hide_short_help = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    no_mirrors: Option<bool>,
    /// Take all hosts of a registrable domain to have one owner, so that what they show is enough to join them
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, long_help = help::TRUST_HOSTS, hide_short_help = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    trust_hosts: Option<bool>,
    /// Drop rules of whose URL pairs a larger share, from 0 to 1, are different pages; canonfd does so in mode paper [default: 0.05]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_fpr: Option<f64>,
    /// Share of a site's URLs, from 0 to 1, to learn from; sites of up to 50,000 are used whole [default: 0.2]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<f64>,
    /// URLs of a site to learn from, at most [default: 100000]
    #[arg(long, value_name = "N", hide_short_help = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_sample: Option<u64>,
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    let find = |name: String| Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or("no such mode");
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).try_map(find)
}

fn method_parser() -> impl clap::builder::TypedValueParser<Value = Method> {
    let find = |name: String| Method::of_name(&name).ok_or("no such method");
    PossibleValuesParser::new(Method::all().map(Method::name)).try_map(find)
}
