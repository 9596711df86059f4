/*!
`dedust evaluate --labels`: are the duplicate labels themselves right?

URLs are those as met, each once. One that the truth does not know is left out; one without a label is tied to nothing.
*/

use std::path::{Path, PathBuf};
use std::slice;

use dedust_eval::metrics::{LabelScore, score_labels};
use dedust_learn::EvidenceKind;
use dedust_learn::support::Clusterer;
use foldhash::HashMap;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::EvaluateArgs;
use crate::ExitStatus;
use crate::args::{ReadArgs, ReportFormat};
use crate::failure::refuse;
use crate::line_source::name_of;
use crate::number::{count, counted, figure};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::table::Table;

/// The one line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "labels")]
struct Record {
    #[serde(flatten)]
    score: LabelScore,
    /// URLs left out because the truth does not have them.
    not_in_truth: u64,
}

/// Scores the labels of LABELLED: with `--labels` the first file is none of rules.
pub(super) fn run(truth: &Path, args: &EvaluateArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let page_by_url = read_truth(truth, printer)?;
    let inputs: Vec<PathBuf> = [&args.rules].into_iter().chain(&args.inputs).cloned().collect();
    let mut clusterer = Clusterer::new(args.evidence);
    let mut number_by_url: HashMap<u128, u32> = HashMap::default();
    read_all(&inputs, &args.read, printer, |seen| {
        let number = clusterer.observe(seen.url(), &seen.clues())?;
        number_by_url.insert(xxh3_128(seen.url()), number);
        Ok(())
    })?;
    let clusters = clusterer.finish();
    let known = number_by_url.iter().filter_map(|(url, number)| Some((*page_by_url.get(url)?, *number)));
    let score = score_labels(known.map(|(page, number)| (page, clusters.cluster_of(number))));
    let not_in_truth = number_by_url.len() as u64 - score.urls;
    if score.urls == 0 {
        return refuse(
            format!(
                "{} tells nothing of the {} to be scored",
                name_of(truth),
                counted(not_in_truth, "URL", "URLs")
            ),
            "TRUTH and LABELLED must spell URLs in the same way",
        );
    }
    match args.format {
        ReportFormat::Text => printer.line(table(&score))?,
        ReportFormat::Json => printer.json(&Record { score, not_in_truth })?,
    }
    if not_in_truth > 0 {
        let urls = counted(not_in_truth, "URL", "URLs");
        printer.warning(format_args!("{urls} left out, of which {} does not tell the page", name_of(truth)));
    }
    printer.finish()?;
    Ok(verdict(&score, args, printer))
}

/// The page of each URL, numbered from 0.
fn read_truth(truth: &Path, printer: &mut Printer) -> anyhow::Result<HashMap<u128, u32>> {
    let truth = truth.to_owned();
    let mut pages: HashMap<Box<str>, u32> = HashMap::default();
    let mut page_by_url = HashMap::default();
    read_all(slice::from_ref(&truth), &ReadArgs::default(), printer, |seen| {
        if let Some(page) = seen.cluster() {
            let next = pages.len() as u32;
            let page = *pages.entry(page.into()).or_insert(next);
            page_by_url.insert(xxh3_128(seen.url()), page);
        }
        Ok(())
    })?;
    if page_by_url.is_empty() {
        return refuse(
            format!("{} tells the page of no URL", name_of(&truth)),
            format!("it needs a column `page` or `{}`", EvidenceKind::Cluster),
        );
    }
    Ok(page_by_url)
}

fn table(score: &LabelScore) -> Table {
    let mut table = Table::new(&["labels", ""]);
    let mut row = |name: &str, value: String| table.push([name.to_owned(), value]);
    row("URLs", count(score.urls));
    row("in a cluster", count(score.labelled));
    row("pages", count(score.pages));
    row("clusters", count(score.clusters));
    row("pair precision", figure(score.pair_precision));
    row("pair recall", figure(score.pair_recall));
    row("wrong", figure(score.wrong_share));
    table
}

fn verdict(score: &LabelScore, args: &EvaluateArgs, printer: &mut Printer) -> ExitStatus {
    let limits = [
        ("precision", score.pair_precision, args.min_precision),
        ("recall", score.pair_recall, args.min_recall),
    ];
    let mut status = ExitStatus::Success;
    for (name, found, limit) in limits {
        if let Some(limit) = limit.filter(|limit| found < *limit) {
            printer.note(format_args!("missed: pair {name} {found:.6} is below --min-{name} {limit}"));
            status = ExitStatus::No;
        }
    }
    status
}
