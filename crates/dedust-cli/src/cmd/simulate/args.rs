/*!
Options of `dedust simulate`.
*/

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use dedust_simulate::{Lies, Phenomena, Profile};

/// Options of `simulate`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = super::long_help())]
pub(crate) struct SimulateArgs {
    /// The folder that gets a file per site, and the truth in its folder `_truth`; `-` is standard output, for the observations alone
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// What the sites are like
    #[arg(long, default_value = Profile::default().name(), value_parser = profile_parser())]
    pub(crate) profile: Profile,
    /// How many sites [default: 200, small: 25, with --lies: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) sites: Option<u32>,
    /// URLs per site, on average [default: 350000, small and with --lies: 4000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) urls: Option<u64>,
    /// Share of the URLs, from 0 to 1, that are the only one of their page [default: 0, small: 0.3]
    #[arg(long, value_name = "SHARE")]
    pub(crate) singletons: Option<f64>,
    /// In which ways pages have many URLs: `all`, or names joined by commas, which `--help` lists
    #[arg(long, value_name = "NAMES", default_value_t = Phenomena::ALL)]
    pub(crate) phenomena: Phenomena,
    /// Share of the URLs, from 0 to 1, with the label of another page or of no page at all
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) fake: f64,
    /// Share of the URLs, from 0 to 1, with a label of their own
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) fragmented: f64,
    /// In place of labels, titles, texts and links that lie: `all`, or ways joined by commas, which `--help` lists
    #[arg(
        long,
        value_name = "NAMES",
        conflicts_with_all = ["profile", "singletons", "phenomena", "fake", "fragmented"]
    )]
    pub(crate) lies: Option<Lies>,
    /// What chance depends on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// What a file is
    #[arg(long, value_enum, default_value_t = ObservationFormat::Jsonl)]
    pub(crate) format: ObservationFormat,
    /// Write into DIR even if it is not empty, over files of the same names
    #[arg(long)]
    pub(crate) force: bool,
}

/// What a file of `simulate` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObservationFormat {
    /// JSON Lines
    Jsonl,
}

fn profile_parser() -> impl clap::builder::TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.map(Profile::name)).try_map(|name| name.parse::<Profile>())
}
