/*!
The command line as a whole: all commands, with one line of help each. The options of a command are in its module of `cmd`.
*/

use clap::{Parser, Subcommand};

use crate::args::GlobalArgs;
use crate::cmd::budget::BudgetArgs;
use crate::cmd::cluster::ClusterArgs;
use crate::cmd::collect::CollectArgs;
#[cfg(feature = "lab")]
use crate::cmd::compare::CompareArgs;
use crate::cmd::compile::CompileArgs;
use crate::cmd::completions::CompletionsArgs;
use crate::cmd::dedup::DedupArgs;
use crate::cmd::evaluate::EvaluateArgs;
use crate::cmd::explain::ExplainArgs;
use crate::cmd::groups::GroupsArgs;
use crate::cmd::learn::LearnArgs;
use crate::cmd::man::ManArgs;
use crate::cmd::normalize::NormalizeArgs;
use crate::cmd::report::ReportArgs;
use crate::cmd::rules::RulesArgs;
use crate::cmd::seen::SeenArgs;
#[cfg(feature = "serve")]
use crate::cmd::serve::ServeArgs;
#[cfg(feature = "lab")]
use crate::cmd::simulate::SimulateArgs;
#[cfg(feature = "lab")]
use crate::cmd::tree::TreeArgs;
use crate::cmd::validate::ValidateArgs;
use crate::cmd::waste::WasteArgs;
use crate::help;

/// Learn how websites spell their URLs, and rewrite every URL of a page to one form
#[derive(Debug, Parser)]
#[command(name = "dedust", version, max_term_width = 100, after_long_help = help::about())]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
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
    /// Learn which patterns of URLs bring nothing new, and how much of each to fetch
    Budget(BudgetArgs),
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
        arguments: Vec<std::ffi::OsString>,
    },
    /// List, show and decide about the rules of a rule file
    Rules(RulesArgs),
    /// Bring rules into a form that opens at once, for any number of sites
    Compile(CompileArgs),
    /// Show which URLs of a crawl rules bring together, and what that saves
    Groups(GroupsArgs),
    /// Make a web page of what rules save, risk and leave of a crawl
    Report(ReportArgs),
    /// Say in one sentence what of a crawl was not needed, and what is behind it
    Waste(WasteArgs),
    /// Tell how good rules are on URLs whose pages are known
    Evaluate(EvaluateArgs),
    /// Put methods side by side: what they save, lose and cost
    #[cfg(feature = "lab")]
    Compare(CompareArgs),
    /// Say which rules change a URL, what they do and why they are trusted
    Explain(ExplainArgs),
    /// Fetch pages to confirm or refute rules
    Validate(ValidateArgs),
    /// Print the pattern tree of a site
    #[cfg(feature = "lab")]
    Tree(TreeArgs),
    /// Make synthetic sites whose pages are known
    #[cfg(feature = "lab")]
    Simulate(SimulateArgs),
    /// Not in this build
    #[cfg(not(feature = "lab"))]
    #[command(name = "compare", aliases = ["simulate", "tree"], hide = true, disable_help_flag = true)]
    Lab {
        /// Whatever the command would take.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Print the manual page, or write those of all commands into a folder
    Man(ManArgs),
    /// Print what a shell needs to complete commands and options
    Completions(CompletionsArgs),
}
