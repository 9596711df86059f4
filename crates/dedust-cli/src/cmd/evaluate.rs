/*!
`dedust evaluate`: rules and URLs whose pages are known in, figures out.
*/

mod args;
mod charges;
mod errors;
mod labels;
mod promises;
mod show;
mod wrong_canonical;

use std::io;

use dedust::ParsedUrl;
use dedust::rules::Promise;
use dedust_eval::metrics::{MacroAverage, Score};
use dedust_eval::{CanonicalFates, Evaluation, Evaluator, Scores};
use dedust_report::JoiningRules;
use serde::Serialize;

pub(crate) use self::args::EvaluateArgs;
use self::errors::KnownUrls;
use self::promises::{Opened, Promises};

use crate::ExitStatus;
use crate::args::ReportFormat;
use crate::failure::refuse;
use crate::line_source::reads_stdin;
use crate::number::{count, counted, figure};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::rule_file::{self, Watch};
use crate::table::Table;

/// One line of `--format json`: `{"type":"site",..}` for every site, in the order of their names, then
/// `{"type":"micro",..}` and `{"type":"macro",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// One site.
    Site {
        /// Its registrable domain.
        site: &'a str,
        #[serde(flatten)]
        scores: ScoresRecord,
        /// What its rules are expected to lose at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        promise: Option<Promise>,
    },
    /// All URLs pooled.
    Micro {
        /// URLs left out because their page is not known.
        unlabelled: usize,
        #[serde(flatten)]
        scores: ScoresRecord,
    },
    /// The mean over sites, by keys.
    Macro(MacroAverage),
}

/// Figures of one set of URLs: by key, and under `url` by canonical URL. A dup-reduction that is not defined is 1.
#[derive(Debug, Serialize)]
struct ScoresRecord {
    #[serde(flatten)]
    key: Score,
    live: f64,
    canonical_urls: CanonicalFates,
    changed: f64,
    keep_all_f1: f64,
    url: Score,
}

/// Scores rules.
pub(crate) fn run(args: &EvaluateArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    printer.write_to(&args.output)?;
    let limits = [
        ("--min-precision", args.min_precision),
        ("--min-recall", args.min_recall),
        ("--max-fpr", args.max_fpr),
    ];
    for (name, limit) in limits {
        if let Some(limit) = limit.filter(|limit| !(0.0..=1.0).contains(limit)) {
            return refuse(format!("{name} is {limit}"), "expected a share from 0 to 1");
        }
    }
    if let Some(truth) = &args.labels {
        return labels::run(truth, args, printer);
    }
    let from_stdin = reads_stdin(&args.inputs);
    let mut watch = Watch::new(&args.rules);
    let Opened { normalizer, promises, rules } = promises::open(&args.rules, from_stdin)?;
    let normalizer = rule_file::trusted(normalizer, &args.rules, &args.trust, printer);
    let mut evaluator = Evaluator::new(&normalizer, args.evidence);
    let mut url = ParsedUrl::default();
    let mut known = KnownUrls::default();
    read_all(&args.inputs, &args.read, printer, |observation| {
        url.parse_from(observation.url())?;
        let number = evaluator.observe(observation.url(), &observation.clues());
        if args.errors {
            known.push(number, observation);
        }
        Ok(())
    })?;
    let (evaluation, urls) = evaluator.finish_with_urls();
    watch.look(printer);
    if evaluation.sites.is_empty() {
        return refuse(
            format!(
                "the pages of all {} are unknown, so there is nothing to compare with",
                counted(evaluation.unlabelled as u64, "URL", "URLs")
            ),
            "the input needs a `cluster` or `page` column, or other evidence: canonical, redirect, digest, \
             text_digest, or simhash with title",
        );
    }
    match args.format {
        ReportFormat::Text => {
            print_text(&evaluation, printer)?;
            promises.print(&evaluation, printer)?;
            wrong_canonical::print_counts(evaluation.micro.canonical, printer)?;
        }
        ReportFormat::Json => print_json(&evaluation, &promises, printer)?,
    }
    if args.errors {
        let mut joining = JoiningRules::new(&normalizer, rules.as_ref());
        errors::print(&urls, &known, &normalizer, &mut joining, args, printer)?;
        wrong_canonical::print(&urls, &known, &normalizer, &joining, args, printer)?;
    }
    if let Some(site) = &args.show {
        show::site(&args.rules, site, args.format, printer)?;
    }
    if evaluation.unlabelled > 0 {
        printer.warning(format_args!(
            "{} left out, whose page is not known",
            counted(evaluation.unlabelled as u64, "URL", "URLs")
        ));
    }
    wrong_canonical::warn(evaluation.micro.canonical, args.errors, printer);
    printer.finish()?;
    Ok(verdict(args, &evaluation.micro.key, printer))
}

/// Checks the limits and says which were missed.
fn verdict(args: &EvaluateArgs, micro: &Score, printer: &mut Printer) -> ExitStatus {
    let mut status = ExitStatus::Success;
    let at_least =
        [("precision", micro.precision, args.min_precision), ("recall", micro.recall, args.min_recall)];
    for (name, found, limit) in at_least {
        if let Some(limit) = limit.filter(|limit| found < *limit) {
            printer.note(format_args!("missed: {name} {found:.6} is below --min-{name} {limit}"));
            status = ExitStatus::No;
        }
    }
    if let Some(limit) = args.max_fpr.filter(|limit| micro.fpr > *limit) {
        printer.note(format_args!("missed: fpr {:.6} is above --max-fpr {limit}", micro.fpr));
        status = ExitStatus::No;
    }
    status
}

fn print_text(evaluation: &Evaluation, printer: &mut Printer) -> io::Result<()> {
    let mut table = Table::new(&[
        "site",
        "URLs",
        "pages",
        "achievable",
        "compression",
        "dup-reduction",
        "fpr",
        "precision",
        "recall",
        "F1",
        "keep-all F1",
        "URL F1",
        "live",
    ]);
    for (site, scores) in &evaluation.sites {
        table.push(cells(site, scores));
    }
    table.push(cells("micro", &evaluation.micro));
    table.push(macro_cells(evaluation));
    printer.line(table)
}

fn cells(name: &str, scores: &Scores) -> [String; 13] {
    let key = &scores.key;
    [
        name.to_owned(),
        count(key.urls),
        count(key.pages),
        figure(key.achievable),
        figure(key.compression),
        figure(key.dup_reduction_or_one()),
        figure(key.fpr),
        figure(key.precision),
        figure(key.recall),
        figure(key.f1),
        figure(scores.keep_all.f1),
        figure(scores.url.f1),
        figure(scores.live),
    ]
}

fn macro_cells(evaluation: &Evaluation) -> [String; 13] {
    let key = &evaluation.macro_average;
    let mean = |of: fn(&Scores) -> f64| {
        let sum: f64 = evaluation.sites.iter().map(|(_, scores)| of(scores)).sum();
        figure(sum / evaluation.sites.len() as f64)
    };
    [
        "macro".to_owned(),
        String::new(),
        String::new(),
        figure(key.achievable),
        figure(key.compression),
        key.dup_reduction.map_or_else(|| "-".to_owned(), figure),
        figure(key.fpr),
        figure(key.precision),
        figure(key.recall),
        figure(key.f1),
        mean(|scores| scores.keep_all.f1),
        mean(|scores| scores.url.f1),
        mean(|scores| scores.live),
    ]
}

fn print_json(evaluation: &Evaluation, promises: &Promises, printer: &mut Printer) -> io::Result<()> {
    for (site, scores) in &evaluation.sites {
        printer.json(&Record::Site { site, scores: scores.into(), promise: promises.of(site) })?;
    }
    printer.json(&Record::Micro { unlabelled: evaluation.unlabelled, scores: (&evaluation.micro).into() })?;
    printer.json(&Record::Macro(evaluation.macro_average))
}

impl From<&Scores> for ScoresRecord {
    fn from(scores: &Scores) -> Self {
        let complete = |score: Score| Score { dup_reduction: Some(score.dup_reduction_or_one()), ..score };
        Self {
            key: complete(scores.key),
            live: scores.live,
            canonical_urls: scores.canonical,
            changed: scores.changed,
            keep_all_f1: scores.keep_all.f1,
            url: complete(scores.url),
        }
    }
}
