/*!
`dedust report`: rules and a crawl in, one web page out that needs nothing else.
*/

#[cfg(feature = "lab")]
mod tree;

use std::io::Write as _;
use std::path::PathBuf;

use dedust_learn::EvidenceKinds;
use dedust_report::{CrawlFigures, ReportBuilder, ReportData, ReportSettings, TreeOf, page};

use crate::ExitStatus;
use crate::args::OutputArgs;
use crate::failure::refuse;
use crate::help;
use crate::number::{bytes, count, counted};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::trial::{TrialArgs, Tried};

/// What makes the trees of sites for the page.
pub(crate) const TREE: Option<TreeOf> = {
    #[cfg(feature = "lab")]
    {
        Some(tree::nodes)
    }
    #[cfg(not(feature = "lab"))]
    {
        None
    }
};

/// Options of `report`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::REPORT)]
pub(crate) struct ReportArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(value_name = "CRAWL", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the page goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// Learn from growing shares of a crawl of at most so many rows, for a learning curve; 0 is none
    #[arg(long, value_name = "ROWS", default_value_t = 100_000, hide_short_help = true)]
    pub(crate) learning_curve: usize,
    /// How the rules are tried.
    #[command(flatten)]
    pub(crate) trial: TrialArgs,
}

/// Makes the page.
pub(crate) fn run(args: &ReportArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let Tried { rules, normalizer, mut watch } = args.trial.open(&args.rules, &args.inputs, printer)?;
    if args.inputs.is_empty() && rules.is_none() {
        return refuse(
            "compiled rules say nothing of themselves",
            "name a crawl that they are tried on, or the rule file that they were compiled from",
        );
    }
    // Before the work, which may be long: a target that cannot be written is known now.
    printer.write_to(&args.output)?;
    let settings = ReportSettings {
        max_memory: args.trial.memory_bytes(),
        evidence: args.evidence,
        trusts_mirrors: args.trial.trust.trust_mirrors,
        learning_rows: args.learning_curve,
        tree: TREE,
    };
    let mut builder = ReportBuilder::new(rules.as_ref(), &normalizer, settings);
    if !args.inputs.is_empty() {
        let read = read_all(&args.inputs, &args.trial.read, printer, |row| {
            Ok(builder.observe(row.url(), &row.clues())?)
        });
        if builder.is_full() {
            return Err(args.trial.too_large().into());
        }
        read?;
        watch.look(printer);
    }
    let data = builder.finish();
    let html = page::static_page(&data);
    printer.data().write_all(html.as_bytes())?;
    printer.finish()?;
    printer.note(summary(&data, html.len()));
    Ok(ExitStatus::Success)
}

/// `1 site, 21 rules applied; 2,431 of 4,514 URLs need not be fetched; a page of 1.2 MB`.
fn summary(data: &ReportData, page_bytes: usize) -> String {
    let sites = data.sites.len() as u64 + data.more_sites;
    let saved = data.total.crawl.as_ref().map_or_else(String::new, |crawl: &CrawlFigures| {
        format!("; {} of {} need not be fetched", count(crawl.saved()), counted(crawl.urls, "URL", "URLs"))
    });
    format!(
        "{}, {} applied{saved}; a page of {}",
        counted(sites, "site", "sites"),
        counted(data.total.rules.applied, "rule", "rules"),
        bytes(page_bytes as u64),
    )
}
