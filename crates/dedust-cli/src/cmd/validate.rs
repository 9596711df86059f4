/*!
`dedust validate`: rules and URLs in; pages are fetched and compared, verdicts go into the rule file.
*/

mod args;
mod report;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;
use dedust::rules::Outcome;
use dedust::{Normalizer, ParsedUrl};
use dedust_fetch::{Fetcher, FetcherBuilder};
use dedust_io::{Compression, OutputFile, WriteError};
use dedust_validate::{KnownPairs, Limits, Options, Target, Validation, Validator};

pub(crate) use self::args::ValidateArgs;
use self::report::Report;
use crate::ExitStatus;
use crate::args::{ReportFormat, check_outputs};
use crate::failure::refuse;
use crate::line_source::{is_dash, name_of, name_of_output, reads_stdin};
use crate::number::counted;
use crate::observe::read_all;
use crate::printer::Printer;
use crate::progress::Validating;
use crate::rule_file;

/// Fetches pairs of URLs and writes what they say about the rules.
pub(crate) fn run(args: &ValidateArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let Some(limits) = Limits::new(args.samples, args.max_fail) else {
        let problem = format!("--max-fail is {}", args.max_fail);
        return refuse(problem, "expected a share from 0 to 1");
    };
    let rules = rule_file::load(&args.rules, reads_stdin(&args.urls))?;
    // For its warnings: rules are compiled one by one to be checked.
    rule_file::trusted(Normalizer::compile(&rules), &args.rules, &args.trust, printer);
    let output = Output::of(args)?;
    // Before the work, which may take hours: a target that cannot be written is known now.
    drop(output.create()?);

    let (mirrors, date) = (args.trust.trust_mirrors, args.date.clone());
    let options = Options { limits, seed: args.seed, unproven: args.unproven, mirrors, date };
    let mut validator = Validator::new(&rules, options)?;
    let mut url = ParsedUrl::default();
    read_all(&args.urls, &args.read, printer, |observation| {
        url.parse_from(observation.url())?;
        validator.observe(&url);
        Ok(())
    })?;
    let known = output.state_path(args).map_or_else(|| Ok(KnownPairs::default()), KnownPairs::open)?;
    if !known.is_empty() {
        printer.note(format_args!("{} known from before", counted(known.len() as u64, "pair", "pairs")));
    }
    let fetcher = Fetcher::builder()
        .delay(args.delay)
        .timeout(args.timeout)
        .max_bytes(args.max_bytes)
        .max_redirects(args.max_redirects)
        .user_agent(&args.user_agent);
    let fetcher = args.allow_host.iter().cloned().fold(fetcher, FetcherBuilder::allow_host).build();
    let bars = Validating::new(printer);
    let validation = validator.run(&fetcher, &known, &bars)?;
    drop(bars);
    if validation.findings.iter().all(|finding| finding.trial.is_empty()) {
        let names: Vec<String> = args.urls.iter().map(|urls| name_of(urls)).collect();
        printer.warning(format_args!("no rule changes any URL of {}", names.join(", ")));
    }

    output.create()?.write_whole(|file| validation.rules.save(file))?;
    known.remove().context("cannot remove the state file")?;

    let report = Report { rules: &rules, validation: &validation, requests: fetcher.requests() };
    warn_of_pinned(&validation, printer);
    match args.format {
        ReportFormat::Text => {
            report.text(printer);
            printer.note(format_args!("verdicts written to {}", name_of_output(&output.path)));
        }
        ReportFormat::Json => report.json(printer)?,
    }
    Ok(if report.refutes() { ExitStatus::No } else { ExitStatus::Success })
}

/// Names rules that this run refuted and that somebody vouches for: they are applied as before.
fn warn_of_pinned(validation: &Validation, printer: &mut Printer) {
    let refuted = validation.findings.iter().filter(|finding| finding.outcome == Outcome::Refuted);
    let pinned = refuted.filter_map(|finding| {
        let Target::Rule(index) = finding.target else { return None };
        let rule = validation.rules.site(&finding.site)?.entry(index)?;
        rule.is_applied().then_some((&finding.site, rule))
    });
    let pinned: Vec<_> = pinned.collect();
    for (site, rule) in &pinned {
        printer.warning(format_args!(
            "{site}: {} was refuted, but is pinned and stays applied: {rule}",
            rule.id()
        ));
    }
    if !pinned.is_empty() {
        printer.hint("turn it off if the pages convince you: dedust rules off RULES SITE ID");
    }
}

/// Where the rules go.
struct Output {
    path: PathBuf,
    force: bool,
}

impl Output {
    fn of(args: &ValidateArgs) -> anyhow::Result<Self> {
        let Some(path) = args.output.clone() else {
            if is_dash(&args.rules) {
                let problem =
                    "the rules come from standard input, so that verdicts cannot be written into them";
                return refuse(problem, "name the file to write with -o");
            }
            if dedust_io::open_text(&args.rules)?.origin().compression() != Compression::None {
                let problem = format!("{} is compressed, and rules are written plain", args.rules.display());
                return refuse(problem, "name the file to write with -o");
            }
            return Ok(Self { path: args.rules.clone(), force: true });
        };
        check_outputs("rules", &path, args.format)?;
        Ok(Self { path, force: args.force })
    }

    fn create(&self) -> Result<OutputFile, WriteError> {
        OutputFile::create(&self.path, self.force)
    }

    /// Beside the output, or else beside the rules; nowhere if both are streams.
    fn state_path(&self, args: &ValidateArgs) -> Option<PathBuf> {
        args.state.clone().or_else(|| {
            let beside = [&self.path, &args.rules].into_iter().find(|path| !is_dash(path))?;
            let mut name = OsString::from(beside);
            name.push(".validate-state.jsonl");
            Some(name.into())
        })
    }
}
