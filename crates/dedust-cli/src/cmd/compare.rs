/*!
`dedust compare`: observations in, all methods side by side out: figures, rules, time and memory.
*/

mod args;
mod chart;
mod json;
mod memory;
mod page;
mod text;

pub(crate) use self::args::{CompareArgs, Drawing};

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use dedust_eval::compare::{
    Comparison, DividedSite, Draw, SWEPT_RATES, Sample, Scope, Split, SweepPoint, compare, sweep,
};
use dedust_io::OutputFile;
use dedust_learn::support::Learner;

use crate::ExitStatus;
use crate::args::{ReadArgs, ReportFormat};
use crate::failure::Refusal;
use crate::line_source::name_of;
use crate::method::{self, Method};
use crate::number::{count, counted, percent};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::progress;

/// The template of the progress bar.
const BAR: &str = "comparing [{wide_bar}] {human_pos}/{human_len} {msg}, {elapsed}";
/// URLs, learned from and scored, above which `--html` does without the sweep.
const SWEPT_URLS: usize = 2_000_000;

/// What was compared, and what came of it.
struct Findings<'a> {
    args: &'a CompareArgs,
    /// Their names.
    methods: Vec<&'static str>,
    /// Those with labelled URLs.
    sites: Vec<DividedSite>,
    comparison: Comparison,
    /// Peak memory in bytes, by row of the comparison.
    peaks: Vec<Option<u64>>,
    sweep: Vec<SweepPoint>,
    /// Why there is no sweep, where one could be expected.
    no_sweep: Option<String>,
}

/// Compares methods.
pub(crate) fn run(args: &CompareArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &args.output {
        printer.write_to_file(OutputFile::create(path, args.force)?);
    }
    let options = args.learn_options();
    options.check().map_err(|error| Refusal::of_option(&error, None))?;
    if args.weigh {
        return memory::weigh(args, printer);
    }
    let draw = match args.split {
        Drawing::Random => Draw::Random { seed: args.seed },
        Drawing::Order => Draw::Order,
    };
    let split =
        Split::new(draw, args.train, args.max_train).context("--train or --max-train is out of range")?;
    let methods = methods(&args.methods)?;
    method::check_variant(args.variant, &methods)?;
    let learners = learners(args, &methods)?;
    let html = args.html.as_ref().map(|path| OutputFile::create(path, args.force)).transpose()?;

    let sites = gather(args, split, printer)?;
    printer.note(summary(args, &sites));
    note_reading(&sites, &learners, printer);
    let tasks = (sites.len() * methods.len()) as u64;
    let bar = progress::bar(printer, BAR, Some(2 * tasks)).with_message("methods on sites");
    let comparison = compare(&sites, &learners, &options.settings(), &|| bar.inc(1))?;
    let peaks = memory::peaks(args, &sites, &learners, &|| bar.inc(1));
    let urls: usize = sites.iter().map(|site| site.training().len() + site.scored().len()).sum();
    let (mut points, mut no_sweep) = (Vec::new(), None);
    if args.sweep || (html.is_some() && urls <= SWEPT_URLS) {
        bar.set_length(3 * tasks);
        bar.set_message("methods on sites, with all limits");
        // Translations know no limit on false pairs.
        let swept: Vec<Method> =
            methods.iter().copied().filter(|method| *method != Method::Seq2Seq).collect();
        points = sweep(&sites, &self::learners(args, &swept)?, &SWEPT_RATES, &|| bar.inc(1))?;
    } else if html.is_some() {
        let many = counted(urls as u64, "URL", "URLs");
        no_sweep = Some(format!("not swept over fpr_max: {many} would take long; ask for it with --sweep"));
    }
    bar.finish_and_clear();

    let methods = methods.into_iter().map(Method::name).collect();
    let findings = Findings { args, methods, sites, comparison, peaks, sweep: points, no_sweep };
    match args.format {
        ReportFormat::Text => text::print(&findings, printer)?,
        ReportFormat::Json => json::print(&findings, printer)?,
    }
    printer.finish()?;
    if let Some(file) = html {
        let path = file.path().to_owned();
        file.write_whole(|file| file.write_all(page::page(&findings).as_bytes()))?;
        if let Some(why) = &findings.no_sweep {
            printer.note(why);
        }
        printer.note(format_args!("page written to {}", path.display()));
    }
    Ok(ExitStatus::Success)
}

/// The methods asked for; `all` are those that were built in.
fn methods(names: &[String]) -> Result<Vec<Method>, Refusal> {
    let is_named = |method: &Method| names.iter().any(|name| name == method.name());
    Method::all().filter(is_named).try_for_each(Method::check)?;
    let is_asked_for = |method: &Method| {
        is_named(method) || (method.is_built_in() && names.iter().any(|name| name == "all"))
    };
    Ok(Method::all().filter(is_asked_for).collect())
}

fn learners(args: &CompareArgs, methods: &[Method]) -> Result<Vec<Arc<dyn Learner>>, Refusal> {
    methods.iter().map(|method| method.learner(args.variant, args.seed)).collect()
}

/// Reads the inputs and the truth; keeps the sites that can be scored.
fn gather(args: &CompareArgs, split: Split, printer: &mut Printer) -> anyhow::Result<Vec<DividedSite>> {
    let has_truth = !args.truth.is_empty();
    let new = if has_truth { Sample::with_truth } else { Sample::new };
    let mut sample = new(split, args.evidence);
    if args.no_mirrors {
        sample = sample.without_mirrors();
    }
    read_all(&args.inputs, &args.read, printer, |observation| {
        let time = observation.time().map(str::as_bytes);
        Ok(sample.observe(observation.url(), &observation.clues(), time)?)
    })?;
    let mut elsewhere = 0;
    if has_truth {
        read_all(&args.truth, &ReadArgs::default(), printer, |observation| {
            let page = observation.cluster().map(str::as_bytes);
            elsewhere += u64::from(!sample.observe_truth(observation.url(), page)?);
            Ok(())
        })?;
    }
    let mut sites = sample.into_sites();
    let unlabelled: usize = sites.iter().map(|site| site.scored().unlabelled()).sum();
    let all_sites = sites.len();
    sites.retain(|site| !site.scored().is_empty());
    if sites.is_empty() {
        return Err(if has_truth {
            Refusal::new(
                "no URL of --truth has a known page and a site that is in the input",
                "the truth needs the columns `url` and `page` or `cluster`, with URLs of the same sites",
            )
        } else {
            Refusal::new(
                "the pages of all URLs are unknown, so there is nothing to compare with",
                "name a file with the columns `url` and `page` with --truth, or add evidence to the input",
            )
        }
        .into());
    }
    if elsewhere > 0 {
        let urls = counted(elsewhere, "URL", "URLs");
        printer.warning(format_args!("{urls} of --truth left out, whose site is not in the input"));
    }
    if unlabelled > 0 {
        let urls = counted(unlabelled as u64, "URL", "URLs");
        printer.warning(format_args!("{urls} not scored, whose page is not known"));
    }
    if sites.len() < all_sites {
        let left_out = counted((all_sites - sites.len()) as u64, "site", "sites");
        printer.warning(format_args!("{left_out} left out, of which no page is known"));
    }
    Ok(sites)
}

/// What of the training shares is not learned from.
fn note_reading(sites: &[DividedSite], learners: &[Arc<dyn Learner>], printer: &mut Printer) {
    let sampled = sites.iter().filter(|site| site.is_sampled()).count() as u64;
    if sampled > 0 {
        let sites = counted(sampled, "large site", "large sites");
        printer.note(format_args!("of {sites}, a sample of the training share was learned from"));
    }
    let mirrors: Vec<(&str, &str)> =
        sites.iter().filter_map(|site| Some((site.site(), site.mirror_of()?))).collect();
    let leaving_out: Vec<&str> = learners
        .iter()
        .filter(|learner| learner.leaves_out_mirrors())
        .map(|learner| learner.name())
        .collect();
    if let Some((mirror, original)) = mirrors.first().filter(|_| !leaving_out.is_empty()) {
        printer.note(format_args!(
            "nothing is learned by {} from {} of another, such as {mirror} those of {original}",
            leaving_out.join(", "),
            counted(mirrors.len() as u64, "site that shows the pages", "sites that show the pages")
        ));
    }
}

/// What is compared on what, in one sentence.
fn summary(args: &CompareArgs, sites: &[DividedSite]) -> String {
    let sum = |of: fn(&DividedSite) -> usize| sites.iter().map(of).sum::<usize>() as u64;
    let learned_from = sum(|site| site.corpus().map_or(0, |corpus| corpus.len()));
    format!(
        "{}, {}; learned from {} ({}); scored on {}, {} of them unseen; pages known from {}",
        counted(sites.len() as u64, "site", "sites"),
        counted(sum(DividedSite::urls), "URL", "URLs"),
        count(learned_from),
        share_in_words(args),
        count(sum(|site| site.scored().len())),
        count(sum(|site| site.scored().urls(Scope::Unseen).count())),
        labels_in_words(args),
    )
}

/// `20 % at random, seed 0`.
fn share_in_words(args: &CompareArgs) -> String {
    match args.split {
        Drawing::Random => format!("{} at random, seed {}", percent(args.train), args.seed),
        Drawing::Order => format!("the first {}", percent(args.train)),
    }
}

fn labels_in_words(args: &CompareArgs) -> String {
    if args.truth.is_empty() {
        return "the evidence of the input itself".into();
    }
    let names: BTreeSet<String> = args.truth.iter().map(|path| name_of(path)).collect();
    match names.into_iter().collect::<Vec<_>>().as_slice() {
        [name] => format!("--truth {name}"),
        names => format!("--truth, {} files", names.len()),
    }
}

impl Findings<'_> {
    /// The most memory that a method took for any site.
    fn peak(&self, method: &str) -> Option<u64> {
        let rows = self.comparison.rows.iter().zip(&self.peaks);
        rows.filter(|(row, _)| row.method == method).filter_map(|(_, peak)| *peak).max()
    }

    fn unseen_is_empty(&self) -> bool {
        self.sites.iter().all(|site| site.scored().urls(Scope::Unseen).next().is_none())
    }
}
