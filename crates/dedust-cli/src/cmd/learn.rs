/*!
`dedust learn`: observations in, a rule file out, and a report of what it saves. `dedust merge`: the same from parts that several
processes have read.
*/

mod args;
mod keep;
mod part;
mod report;
mod settings;
mod unfinished;

use std::time::Instant;

use dedust_crawl::{Pipeline, Unread};
use dedust_io::OutputFile;
use dedust_learn::{StoredCrawl, Trainer, Training};

pub(crate) use self::args::LearnArgs;
use self::unfinished::Unfinished;
use crate::ExitStatus;
use crate::args::{ReportFormat, check_outputs};
use crate::interrupt;
#[cfg(feature = "seq2seq")]
use crate::method::Variant;
use crate::method::{self, Method};
use crate::number::{count, counted};
use crate::observe;
use crate::printer::Printer;
use crate::progress::Learning;

/// What inputs are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    /// Crawls of any format.
    Crawls,
    /// What [`part::write`] has written.
    Parts,
}

/// Learns rules and writes them, or reads one of several parts of the inputs.
pub(crate) fn run(args: &LearnArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    run_on(Inputs::Crawls, args, printer)
}

/// Learns rules from parts, and writes them.
pub(crate) fn run_merge(args: &LearnArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    run_on(Inputs::Parts, args, printer)
}

fn run_on(inputs: Inputs, args: &LearnArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    check_outputs("rules", &args.output, args.format)?;
    #[cfg(feature = "seq2seq")]
    let to_stdout = crate::line_source::is_dash(&args.output);
    // Before the work, which may be long: rules that cannot be read, or a target that cannot be written, are known now.
    let earlier = args.keep.as_ref().map(|path| keep::load(path, &args.inputs)).transpose()?;
    let options = keep::options(args, earlier.as_ref(), printer)?;
    let method = Method::known(&options.method)?;
    let learner = method.learner(args.variant, args.seed)?;
    method::check_variant(args.variant, &[method])?;
    #[cfg(feature = "seq2seq")]
    let translator = method::translator(args.variant, args.seed, !to_stdout);
    #[cfg(feature = "seq2seq")]
    let learner = if method == Method::Seq2Seq { translator.clone() } else { learner };
    let trainer = Trainer::builder().learner(learner).options(options).build()?;
    let options = trainer.options();
    if let Some(part) = args.part.filter(|_| inputs == Inputs::Crawls) {
        interrupt::listen();
        return part::write(args, part, options, printer);
    }
    #[cfg(feature = "seq2seq")]
    let weights = Some(method)
        .filter(|method| *method == Method::Seq2Seq && !to_stdout)
        .filter(|_| args.variant != Some(Variant::Paper))
        .map(|_| OutputFile::create(weights_path(&args.output), args.force))
        .transpose()?;
    let output = OutputFile::create(&args.output, args.force)?;

    let unfinished = Unfinished::prepare(args, options)?;
    interrupt::listen();
    let learned = match inputs {
        Inputs::Crawls => learn(args, &trainer, &unfinished, printer),
        Inputs::Parts => {
            part::merge(args, &trainer).and_then(|crawl| learn_from(crawl, &trainer, &unfinished, printer))
        }
    };
    let (crawl, mut training) = learned.inspect_err(|_| unfinished.give_up(printer))?;

    let kept = earlier.map(|earlier| training.rules.keep(&earlier));
    #[cfg(feature = "seq2seq")]
    if let Some(weights) = weights {
        weights.write_whole(|weights| translator.take_weights().save(weights))?;
    }
    output.write_whole(|output| training.rules.save(output))?;
    unfinished.remove()?;
    if crawl.sampled_rows() < crawl.rows_of_originals() {
        let all = counted(crawl.rows_of_originals(), "URL", "URLs");
        printer.note(format_args!(
            "large sites were sampled: {} of {all} were learned from",
            count(crawl.sampled_rows())
        ));
    }
    match args.format {
        ReportFormat::Text => report::text(&training, args, options, printer),
        ReportFormat::Json => report::json(&training, printer)?,
    }
    if let (Some(kept), Some(path)) = (kept, &args.keep) {
        keep::report(&kept, path, printer);
    }
    report::unmet_preferences(&training, &options.prefer, printer);
    report::missing_evidence(&training, options.evidence, printer);
    Ok(ExitStatus::Success)
}

/// Reads the crawl and learns from it, or goes on where an interrupted run ended.
fn learn(
    args: &LearnArgs,
    trainer: &Trainer,
    unfinished: &Unfinished,
    printer: &mut Printer,
) -> anyhow::Result<(StoredCrawl, Training)> {
    let started = Instant::now();
    let crawl = match unfinished.resume(trainer.options())? {
        Some(crawl) => {
            printer.note("going on with what was read before");
            crawl
        }
        None => {
            if args.resume && !unfinished.has_position() {
                printer.note("nothing to resume: reading from the start");
            }
            read(args, trainer, unfinished, printer)?
        }
    };
    printer.detail(format_args!(
        "{} in {:.1} s",
        counted(crawl.sites().len() as u64, "site", "sites"),
        started.elapsed().as_secs_f64()
    ));
    learn_from(crawl, trainer, unfinished, printer)
}

/// Learns from what was read.
fn learn_from(
    crawl: StoredCrawl,
    trainer: &Trainer,
    unfinished: &Unfinished,
    printer: &mut Printer,
) -> anyhow::Result<(StoredCrawl, Training)> {
    if crawl.too_long() > 0 {
        printer.warning(format_args!(
            "{} left out, of more than 8,192 bytes or 256 path segments and parameters: such URLs are normalized, but not \
             learned from",
            counted(crawl.too_long(), "URL", "URLs")
        ));
    }
    let started = Instant::now();
    let learning = Learning::new(printer);
    let training = unfinished.train(trainer, &crawl, &learning);
    drop(learning);
    interrupt::check()?;
    printer.detail(format_args!(
        "learned with {} in {:.1} s",
        trainer.options().method,
        started.elapsed().as_secs_f64()
    ));
    Ok((crawl, training?))
}

/// Reads all inputs.
fn read(
    args: &LearnArgs,
    trainer: &Trainer,
    unfinished: &Unfinished,
    printer: &mut Printer,
) -> anyhow::Result<StoredCrawl> {
    let pipeline = Pipeline::new(trainer.clone()).held_bytes(args.memory as usize * 1_000_000);
    let files = dedust_io::expand(&args.inputs)?;
    let from = unfinished.resume_reading(&files)?;
    if from.is_some() {
        printer.note("going on with reading where it ended");
    }
    let is_read = from.as_ref().map_or(0, |(position, _)| position.inputs);
    let unread = files.get(is_read..).unwrap_or_default();
    let (report, read) = observe::read_files(unread, &args.read, printer, |opened, reading| {
        pipeline.read(unfinished.folder(), from, opened, reading)
    });
    let (read, store) = match read {
        Ok(crawl) => (Ok(crawl), None),
        Err(Unread { error, store }) => (Err(error), store),
    };
    if let Some((position, store)) = report.position.zip(store)
        && Unfinished::is_worth_keeping(&position, &store, &files)
    {
        let noted = unfinished.note_position(position, report.versions, store);
        noted.unwrap_or_else(|error| printer.warning(format_args!("{error:#}")));
    }
    let crawl = observe::finish(read)?;
    if crawl.is_on_disk() {
        unfinished.note_read(&crawl)?;
    }
    Ok(crawl)
}

/// Where the models go: beside the rules.
#[cfg(feature = "seq2seq")]
fn weights_path(rules: &std::path::Path) -> std::path::PathBuf {
    let mut name = rules.as_os_str().to_owned();
    name.push(".safetensors");
    name.into()
}
