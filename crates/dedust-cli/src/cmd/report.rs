/*!
`dedust report`: rules and a crawl in, one web page out that needs nothing else.
*/

use std::io::Write as _;
use std::path::PathBuf;

use dedust_eval::compare::{CurvePoint, CurveSample};
use dedust_learn::{CanonFd, EvidenceKinds, LearnSettings};
use dedust_report::{CrawlFigures, LearningPoint, ReportBuilder, ReportData, ReportSettings, page};

use crate::ExitStatus;
use crate::args::OutputArgs;
use crate::failure::Refusal;
use crate::help;
use crate::number::{bytes, count, counted};
use crate::observe::read_full_rows;
use crate::printer::Printer;
use crate::trial::{TrialArgs, Tried};

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
        return Err(Refusal::new(
            "compiled rules say nothing of themselves",
            "name a crawl that they are tried on, or the rule file that they were compiled from",
        )
        .into());
    }
    // Before the work, which may be long: a target that cannot be written is known now.
    printer.write_to(&args.output)?;
    let settings = ReportSettings {
        max_memory: args.trial.memory_bytes(),
        evidence: args.evidence,
        trusts_mirrors: args.trial.trust.trust_mirrors,
    };
    let mut builder = ReportBuilder::new(rules.as_ref(), &normalizer, settings);
    let mut shares = Some(CurveSample::new(args.evidence)).filter(|_| args.learning_curve > 0);
    if !args.inputs.is_empty() {
        let read = read_full_rows(&args.inputs, &args.trial.read, printer, |seen| {
            let clues = seen.clues();
            builder.observe(seen.url(), &clues)?;
            if let Some(sample) = &mut shares {
                sample.observe(seen.url(), &clues, seen.time().map(str::as_bytes))?;
            }
            shares.take_if(|sample| sample.len() > args.learning_curve);
            Ok(())
        });
        if builder.is_full() {
            return Err(args.trial.too_large().into());
        }
        read?;
        watch.look(printer);
    }
    let mut data = builder.finish();
    if let Some(sample) = shares.filter(|sample| !sample.is_empty()) {
        add_learning(&mut data, &sample)?;
    }
    let html = page::static_page(&data);
    printer.data().write_all(html.as_bytes())?;
    printer.finish()?;
    printer.note(summary(&data, html.len()));
    Ok(ExitStatus::Success)
}

/// Learns from growing shares of the crawl, as `learn` does with its defaults.
fn add_learning(data: &mut ReportData, sample: &CurveSample) -> anyhow::Result<()> {
    for curve in sample.learn(&CanonFd, &LearnSettings::default())? {
        if let Some(detail) = data.details.iter_mut().find(|detail| detail.site == curve.site) {
            detail.learning = curve.points.iter().map(learning_point).collect();
        }
    }
    Ok(())
}

fn learning_point(point: &CurvePoint) -> LearningPoint {
    let CurvePoint { share, urls, edits, whole, promise } = *point;
    let duplicates = whole.urls - whole.pages;
    LearningPoint {
        share,
        urls,
        edits,
        duplicates,
        removed: duplicates.saturating_sub(whole.canonical - whole.covered),
        pages: whole.pages,
        hidden: whole.pages - whole.covered,
        promise,
    }
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
