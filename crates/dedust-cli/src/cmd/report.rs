/*!
`dedust report`: rules and a crawl in, one web page out that needs nothing else.
*/

use std::io::Write as _;
use std::path::PathBuf;

use dedust_learn::EvidenceKinds;
use dedust_report::{CrawlFigures, NotKept, ReportBuilder, ReportData, ReportSettings, page};

use crate::ExitStatus;
use crate::args::{OutputArgs, ReadArgs, TrustArgs};
use crate::failure::Refusal;
use crate::help;
use crate::number::{bytes, count, counted};
use crate::observe::{RowError, read_full_rows};
use crate::printer::Printer;
use crate::rule_file::{self, Watch};

/// Options of `report`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::REPORT)]
pub(crate) struct ReportArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(value_name = "CRAWL", long_help = help::INPUT)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the page goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// Memory, in MB, for the URLs; a crawl that needs more is refused
    #[arg(long, value_name = "MB", default_value_t = 2000, hide_short_help = true)]
    pub(crate) memory: u32,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// Makes the page.
pub(crate) fn run(args: &ReportArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let from_stdin = args.inputs.iter().any(|input| input.as_os_str() == "-");
    let mut watch = Watch::new(&args.rules);
    let (rules, normalizer) = rule_file::open(&args.rules, from_stdin)?.compiled();
    let normalizer = rule_file::trusted(normalizer, &args.rules, &args.trust, printer);
    if args.inputs.is_empty() && rules.is_none() {
        return Err(Refusal::new(
            "compiled rules say nothing of themselves",
            "name a crawl that they are tried on, or the rule file that they were compiled from",
        )
        .into());
    }
    // Before the work, which may be long: a target that cannot be written is known now.
    printer.write_to(&args.output)?;
    let settings = ReportSettings {
        max_memory: args.memory as usize * 1_000_000,
        evidence: args.evidence,
        trusts_mirrors: args.trust.trust_mirrors,
    };
    let mut builder = ReportBuilder::new(rules.as_ref(), &normalizer, settings);
    if !args.inputs.is_empty() {
        let mut is_full = false;
        let read = read_full_rows(&args.inputs, &args.read, printer, |seen| {
            builder.observe(seen.url(), &seen.clues()).map_err(|error| match error {
                NotKept::BadUrl(error) => RowError::Url(error),
                _ => {
                    is_full = true;
                    RowError::Stop
                }
            })
        });
        if is_full {
            return Err(too_large(args.memory));
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

fn too_large(memory: u32) -> anyhow::Error {
    Refusal::new(
        format!("the URLs of this crawl do not fit into {} MB", count(u64::from(memory))),
        "allow more with --memory MB, or name fewer files at a time",
    )
    .into()
}

/// `1 site, 21 edits applied; 2,431 of 4,514 URLs need not be fetched; a page of 1.2 MB`.
fn summary(data: &ReportData, page_bytes: usize) -> String {
    let sites = data.sites.len() as u64 + data.more_sites;
    let saved = data.total.crawl.as_ref().map_or_else(String::new, |crawl: &CrawlFigures| {
        format!("; {} of {} need not be fetched", count(crawl.saved()), counted(crawl.urls, "URL", "URLs"))
    });
    format!(
        "{}, {} applied{saved}; a page of {}",
        counted(sites, "site", "sites"),
        counted(data.total.edits.applied, "edit", "edits"),
        bytes(page_bytes as u64),
    )
}
