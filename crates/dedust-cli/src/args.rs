/*!
The command line: types and their help, nothing else.
*/

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Parser, Subcommand, ValueEnum};
use dedust_io::NamedColumn;
use dedust_learn::{CanonFd, EvidenceKinds, Learner as _, Mode, Preference};

use crate::cmd::collect::CollectArgs;
use crate::cmd::compare::CompareArgs;
use crate::cmd::dedup::DedupArgs;
use crate::cmd::groups::GroupsArgs;
use crate::cmd::learn::PartOf;
use crate::cmd::normalize::NormalizeArgs;
use crate::cmd::report::ReportArgs;
use crate::cmd::rules::RulesArgs;
use crate::cmd::seen::SeenArgs;
#[cfg(feature = "serve")]
use crate::cmd::serve::ServeArgs;
use crate::cmd::simulate::SimulateArgs;
use crate::cmd::validate::ValidateArgs;
use crate::help;
use crate::method::Method;

/// Learn how websites spell their URLs, and rewrite every URL of a page to one form
#[derive(Debug, Parser)]
#[command(name = "dedust", version, max_term_width = 100, after_long_help = help::ABOUT)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Threads to use, up to 1024 [default: one per core]
    #[arg(
        long,
        value_name = "N",
        global = true,
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Global options"
    )]
    pub(crate) threads: Option<u16>,
    /// Print data and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Print more about what is done
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) verbose: bool,
    /// Show no progress bars, also where standard error is a terminal
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) no_progress: bool,
    /// When messages and help are coloured
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto, global = true, hide_short_help = true, help_heading = "Global options")]
    pub(crate) color: ColorChoice,
}

/// When messages and help are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// What the arguments of a command line ask for. Errors in them are coloured too, so this is asked before they are read.
    pub(crate) fn of_arguments(arguments: impl Iterator<Item = OsString>) -> Self {
        let arguments: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
        let joined = arguments.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--color="));
        let apart =
            arguments.windows(2).filter(|pair| pair[0] == "--color").filter_map(|pair| pair[1].to_str());
        joined.chain(apart).find_map(|name| Self::from_str(name, false).ok()).unwrap_or(Self::Auto)
    }

    /// Makes it hold for all messages.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

impl From<ColorChoice> for clap::ColorChoice {
    fn from(choice: ColorChoice) -> Self {
        match choice {
            ColorChoice::Auto => Self::Auto,
            ColorChoice::Always => Self::Always,
            ColorChoice::Never => Self::Never,
        }
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn rules for every site of a crawl
    Learn(LearnArgs),
    /// Learn rules from the parts that `learn --part` has written
    #[command(after_long_help = help::MERGE)]
    Merge(LearnArgs),
    /// Put the rules of many sites, one in each row of a table, into one file
    Collect(CollectArgs),
    /// Find which URLs of a crawl show the same page
    Cluster(ClusterArgs),
    /// Rewrite URLs to their canonical form; tables get two columns more
    Normalize(NormalizeArgs),
    /// Print only URLs of pages that were not met before
    Dedup(DedupArgs),
    /// Look after the set of `dedup --seen`: check, repair, end sessions
    Seen(SeenArgs),
    /// Answer crawlers in any language, and people, over HTTP
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Not in this build
    #[cfg(not(feature = "serve"))]
    #[command(hide = true, disable_help_flag = true)]
    Serve {
        /// Whatever `serve` would take.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// List, show and decide about the edits of a rule file
    Rules(RulesArgs),
    /// Bring rules into a form that opens at once, for any number of sites
    Compile(CompileArgs),
    /// Show which URLs of a crawl rules bring together, and what that saves
    Groups(GroupsArgs),
    /// Make a web page of what rules save, risk and leave of a crawl
    Report(ReportArgs),
    /// Tell how good rules are on URLs whose pages are known
    Evaluate(EvaluateArgs),
    /// Put methods side by side: what they save, lose and cost
    Compare(CompareArgs),
    /// Say which edits change a URL, what they do and why they are trusted
    Explain(ExplainArgs),
    /// Fetch pages to confirm or refute rules
    Validate(ValidateArgs),
    /// Print the pattern tree of a site
    Tree(TreeArgs),
    /// Make synthetic sites whose pages are known
    Simulate(SimulateArgs),
    /// Print the manual page, or write those of all commands into a folder
    Man(ManArgs),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArgs),
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// JSON Lines, for programs
    Json,
}

/// Where data goes, for commands that print it.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct OutputArgs {
    /// Where the result goes when all is done [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "output", hide_short_help = true)]
    pub(crate) force: bool,
}

/// How inputs are read.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ReadArgs {
    /// The host of access logs, such as http://docs.example.com
    #[arg(long, value_name = "URL")]
    pub(crate) host: Option<String>,
    /// A column under another name, such as digest=content_digest; may be given again
    #[arg(long, value_name = "COLUMN=NAME", long_help = help::COLUMN, hide_short_help = true)]
    pub(crate) column: Vec<NamedColumn>,
}

/// How far the rules of a file are trusted.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Apply mirrors too, which take URLs of one domain for those of another
    #[arg(long, long_help = help::TRUST_MIRRORS)]
    pub(crate) trust_mirrors: bool,
}

/// Options of `learn`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::LEARN)]
pub(crate) struct LearnArgs {
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::INPUT)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the rules go; `-` is standard output
    #[arg(short, long, value_name = "RULES")]
    pub(crate) output: PathBuf,
    /// The learner
    #[arg(long, default_value = CanonFd.name(), value_parser = method_parser())]
    pub(crate) method: Method,
    /// Which model seq2seq trains
    #[arg(long, value_enum, long_help = help::VARIANT, hide_short_help = true)]
    pub(crate) variant: Option<Variant>,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How much proof canonfd asks for
    #[arg(long, default_value = Mode::default().name(), value_parser = mode_parser(), long_help = help::MODE, hide_short_help = true)]
    pub(crate) mode: Mode,
    /// Share of a site's pages, from 0 to 1, that one edit of canonfd may lose
    #[arg(long, value_name = "SHARE", default_value_t = 0.005, long_help = help::MAX_LOSS, hide_short_help = true)]
    pub(crate) max_loss: f64,
    /// The form to write where a site has several: https, http, www or bare; SITE=FORM for one site
    #[arg(long, value_name = "FORM", value_delimiter = ',', long_help = help::PREFER, hide_short_help = true)]
    pub(crate) prefer: Vec<Preference>,
    /// Take one site for another that shows the same pages, such as old.example=new.example; may be given again
    #[arg(long, value_name = "SITE=SITE", value_parser = named_mirror, long_help = help::MIRROR, hide_short_help = true)]
    pub(crate) mirror: Vec<(String, String)>,
    /// Look for no sites that show the pages of another
    #[arg(long, hide_short_help = true)]
    pub(crate) no_mirrors: bool,
    /// Take all hosts of a registrable domain to have one owner, so that what they show is enough to join them
    #[arg(long, long_help = help::TRUST_HOSTS, hide_short_help = true)]
    pub(crate) trust_hosts: bool,
    /// Drop rules of whose URL pairs a larger share, from 0 to 1, are different pages; canonfd does so in mode paper
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) max_fpr: f64,
    /// Seed for methods that use chance: seq2seq
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Share of a site's URLs, from 0 to 1, to learn from; sites of up to 50,000 are used whole
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub(crate) sample: f64,
    /// URLs of a site to learn from, at most
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true)]
    pub(crate) max_sample: u64,
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

/// Which model `seq2seq` trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variant {
    /// Small, and copies; what it says is checked
    Copy,
    /// That of the SIGIR 2017 paper
    Paper,
}

/// Options of `cluster`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::CLUSTER)]
pub(crate) struct ClusterArgs {
    /// Files or folders with pages, or with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::INPUT)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the observations with their labels go, as JSON Lines; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// How the closing report is printed: text on standard error, or JSON Lines on standard output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

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

/// Options of `evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::EVALUATE, override_usage = help::EVALUATE_USAGE)]
pub(crate) struct EvaluateArgs {
    /// Rules from `dedust learn`; not given with --labels
    pub(crate) rules: PathBuf,
    /// URLs whose pages are known, in the order a crawler met them; `-` is standard input
    #[arg(required_unless_present = "labels", value_name = "LABELLED", long_help = help::INPUT)]
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
    /// Show pages that are merged wrongly or lost, by the edits that do it
    #[arg(long, conflicts_with = "labels", long_help = help::ERRORS)]
    pub(crate) errors: bool,
    /// Pairs of URLs to show of each edit with --errors
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

/// Options of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::EXPLAIN)]
pub(crate) struct ExplainArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// URLs to explain, or files and folders with URLs, of any format; `-` is standard input
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// Where it goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// Options of `tree`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::TREE)]
pub(crate) struct TreeArgs {
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::INPUT)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The site, by its registrable domain [default: the one with most URLs]
    #[arg(long)]
    pub(crate) site: Option<String>,
    /// How the tree is printed
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub(crate) format: TreeFormat,
    /// Levels below the root to print [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Where it goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// How a tree is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// Indented, one node per line
    Text,
    /// A Graphviz digraph
    Dot,
    /// JSON Lines, one node per line
    Json,
}

/// Options of `man`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::MAN)]
pub(crate) struct ManArgs {
    /// The folder that gets a page for each command; made if it is not there [default: the first page, on standard output]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

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

/// Two registrable domains, the first of which shows the pages of the second.
fn named_mirror(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| name.contains('.') && dedust::site_of(name.as_bytes()) == name.as_bytes();
    match text.split_once('=') {
        Some((mirror, original)) if is_name(mirror) && is_name(original) && mirror != original => {
            Ok((mirror.to_lowercase(), original.to_lowercase()))
        }
        _ => Err("expected two registrable domains, such as old.example=new.example".to_owned()),
    }
}

fn mode_parser() -> impl clap::builder::TypedValueParser<Value = Mode> {
    let find = |name: String| Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or("no such mode");
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).try_map(find)
}

fn method_parser() -> impl clap::builder::TypedValueParser<Value = Method> {
    let find = |name: String| Method::of_name(&name).ok_or("no such method");
    PossibleValuesParser::new(Method::all().map(Method::name)).try_map(find)
}
