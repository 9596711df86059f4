/*!
Options of `dedust compare`.
*/

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use dedust_learn::{EvidenceKinds, LearnOptions};

use crate::args::{ReadArgs, ReportFormat};
use crate::help;
use crate::method::{Method, Variant};

/// After the help of `compare`.
const HELP: &str = r#"Examples:
  dedust compare crawl.jsonl.gz
  dedust compare pages.jsonl.gz --truth truth.jsonl.gz --html compare.html
  dedust compare crawl.jsonl.gz --methods tree-graph,standard --split order -v

Every method learns from the same share of each site's URLs and is scored twice: on the unseen rest, and on the whole, which contains what was learned from. Pages are known from --truth (columns `url` and `page` or `cluster`), whose URLs are then the ones scored, or else from the evidence of the input itself, of which methods saw the training share.

A training share is read as `dedust learn` reads a crawl: of one with more than 50,000 URLs a sample is learned from, drawn by groups of URLs that may show the same page, and canonfd learns nothing from a site that shows the pages of another and says so. Mirrors are not applied, as without --trust-mirrors.

  raw, qualified   candidates; those that merged few enough different pages
  rules            those that are used
  learn s          CPU seconds to learn, all sites together
  peak MB          the most memory a process took that learned one site
  ns/URL           CPU nanoseconds for the key of one URL
The other figures are those of `dedust evaluate`. With -v, tables per site on standard error.

With --format json, one line for the split, one per site, per method and site, per method pooled and averaged, and with --sweep per method and limit:
  {"type":"split","split":"random","train":0.2,"seed":0,"labels":"truth",..}
  {"type":"site","site":"a.example","urls":..,"train_urls":..,"unseen":{..},..}
  {"type":"method","site":"a.example","method":"tree-graph","raw_rules":..,
   "qualified_rules":..,"rules":..,"learn_seconds":..,"peak_bytes":..,
   "nanoseconds_per_url":..,"unseen":{"urls":..,"f1":..,"url_f1":..},"whole":{..}}
  {"type":"micro","method":"tree-graph",..}
  {"type":"macro","method":"tree-graph",..}
  {"type":"sweep","method":"tree-graph","max_fpr":0.01,"qualified_rate":..,
   "micro":{"unseen":{..},"whole":{..}},"macro":{..}}"#;

/// Options of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct CompareArgs {
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Files that say for sure which page a URL shows, to score by [default: the evidence of INPUT]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) truth: Vec<PathBuf>,
    /// The learners of `dedust learn`, joined by commas, or `all`
    #[arg(long, value_delimiter = ',', default_value = "all", value_parser = methods_parser(), hide_possible_values = true)]
    pub(crate) methods: Vec<String>,
    /// Which model seq2seq trains
    #[arg(long, value_enum, long_help = help::VARIANT, hide_short_help = true)]
    pub(crate) variant: Option<Variant>,
    /// Share of each site's URLs to learn from, up to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub(crate) train: f64,
    /// URLs of a site to learn from, at most
    #[arg(long, value_name = "N", default_value_t = 100_000, hide_short_help = true)]
    pub(crate) max_train: usize,
    /// Which URLs are learned from
    #[arg(long, value_enum, default_value_t = Drawing::Random)]
    pub(crate) split: Drawing,
    /// Seed of the random split
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE, hide_short_help = true)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Look for no sites that show the pages of another
    #[arg(long, hide_short_help = true)]
    pub(crate) no_mirrors: bool,
    /// Drop rules of whose URL pairs a larger share, from 0 to 1, are different pages
    #[arg(long, value_name = "SHARE", default_value_t = LearnOptions::default().max_fpr)]
    pub(crate) max_fpr: f64,
    /// Learn again with --max-fpr from 0 to 0.1
    #[arg(long)]
    pub(crate) sweep: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Where it goes when all is done [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page with tables and charts
    ///
    /// It shows the sweep too, unless there are too many URLs.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Overwrite the page and FILE if they exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Learn from all of INPUT and print the memory that took
    #[arg(long, hide = true)]
    pub(crate) weigh: bool,
}

impl CompareArgs {
    /// What is asked of all methods.
    pub(super) fn learn_options(&self) -> LearnOptions {
        let &Self { evidence, max_fpr, no_mirrors, .. } = self;
        LearnOptions { evidence, max_fpr, no_mirrors, ..LearnOptions::default() }
    }
}

/// Which URLs are learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawing {
    /// By a hash of the URL
    Random,
    /// Those met first
    Order,
}

fn methods_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(std::iter::once("all").chain(Method::all().map(Method::name)))
}
