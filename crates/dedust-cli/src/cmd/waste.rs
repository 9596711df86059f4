/*!
`dedust waste`: a crawl in, one sentence out that says what of it was not needed, with a bar and the patterns behind it. Learns rules and
budgets by itself, and writes no file.
*/

use std::path::PathBuf;

use dedust::{Normalizer, Scratch};
use dedust_budget::{Budgets, Crawl, Pattern, Waste};
use dedust_crawl::Pipeline;
use dedust_learn::Trainer;

use super::budget;
use crate::ExitStatus;
use crate::args::ReadArgs;
use crate::failure::Refusal;
use crate::help;
use crate::number::{count, percent};
use crate::observe;
use crate::printer::Printer;
use crate::progress::Learning;
use crate::table::{Align, Table};

/// Patterns that are shown.
const SHOWN_PATTERNS: usize = 10;

/// After the help of `waste`.
const HELP: &str = r#"From a crawl alone, in one command:
  dedust waste crawl.warc.gz

Learns rules and budgets of the crawl and writes neither; `dedust learn` and `dedust budget` write them. The bar has a letter for each kind of waste, such as D for duplicates and L for low yield, and a dot for what was needed. Lines for owners say exactly what the pattern says, or are not printed."#;

/// Options of `waste`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct WasteArgs {
    /// Files or folders with URLs and what their pages show
    #[arg(required = true, value_name = "CRAWL", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// Says what was wasted.
pub(crate) fn run(args: &WasteArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    if args.inputs.iter().any(|input| input.as_os_str() == "-") {
        let problem = "the crawl is read twice, which standard input cannot be";
        return Err(Refusal::new(problem, "name a file or folder").into());
    }
    let normalizer = learn(args, printer)?;
    let mut scratch = Scratch::default();
    let mut crawl = Crawl::new();
    observe::read_all(&args.inputs, &args.read, printer, |row| {
        row.observe_text_in(&mut crawl, &normalizer, &mut scratch)
    })?;
    budget::check(&crawl, printer)?;
    let fetches = crawl.row_count();
    let duplicates = crawl.duplicate_count();
    let budgets = dedust_budget::learn(crawl, budget::KEEP_TEXT);
    print(&budgets, &Waste::of(&budgets, fetches, duplicates), printer)?;
    Ok(ExitStatus::Success)
}

/// Learns rules, and makes them ready.
fn learn(args: &WasteArgs, printer: &mut Printer) -> anyhow::Result<Normalizer> {
    let pipeline = Pipeline::new(Trainer::builder().build()?);
    let files = dedust_io::expand(&args.inputs)?;
    let learning = Learning::new(printer);
    let (_, training) = observe::read_files(&files, &args.read, printer, |opened, reading| {
        pipeline.learn(opened, reading, &learning)
    });
    Ok(Normalizer::compile(&observe::finish(training)?.rules).without_mirrors())
}

fn print(budgets: &Budgets, waste: &Waste, printer: &mut Printer) -> anyhow::Result<()> {
    printer.line(waste)?;
    printer.line(waste.bar(BAR_CELLS))?;
    let limited: Vec<&Pattern> = budgets.patterns.iter().filter(|pattern| pattern.is_limited()).collect();
    if !limited.is_empty() {
        let columns = [
            ("not needed", Align::Right),
            ("verdict", Align::Left),
            ("new text", Align::Right),
            ("pattern", Align::Left),
        ];
        let mut table = Table::with_columns(&columns);
        for pattern in limited.iter().take(SHOWN_PATTERNS) {
            let seen = &pattern.seen;
            table.push([
                count(pattern.left_out()),
                pattern.verdict.words().to_owned(),
                percent(seen.new_text),
                pattern.to_string(),
            ]);
        }
        printer.line("")?;
        printer.line(table)?;
    }
    let advice: Vec<String> = limited
        .iter()
        .take(SHOWN_PATTERNS)
        .flat_map(|pattern| {
            let cost = percent(pattern.seen.share_of_text);
            pattern.advice().into_iter().map(move |advice| {
                format!("{}: {}   costs {cost} of the new text", pattern.host, advice.text())
            })
        })
        .collect();
    if !advice.is_empty() {
        printer.line("\nWho owns the site can end it:")?;
        for line in advice {
            printer.line(line)?;
        }
    }
    Ok(())
}

/// Cells of the bar.
const BAR_CELLS: usize = 60;
