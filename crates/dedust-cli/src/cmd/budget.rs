/*!
`dedust budget`: a crawl in, a file of budgets out, and a table that says what to switch off.
*/

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::{Normalizer, RuleSet, Scratch};
use dedust_budget::{Budgets, Crawl, Pattern};
use dedust_io::{OutputFile, WriteError};

use crate::ExitStatus;
use crate::args::{ReadArgs, TrustArgs};
use crate::failure::Refusal;
use crate::help;
use crate::line_source::name_of;
use crate::number::{count, counted, percent, percent_of};
use crate::observe::read_all;
use crate::printer::Printer;
use crate::rule_file;
use crate::table::{Align, Table};

/// The share of new text that is kept unless another is asked for.
pub(crate) const KEEP_TEXT: f64 = 0.99;

/// Patterns that the table shows.
const SHOWN_PATTERNS: usize = 25;

/// After the help of `budget`.
const HELP: &str = r#"A budget is the share of a pattern's URLs that is worth fetching. It merges nothing:
  dedust learn crawl.warc.gz -o rules.json
  dedust budget crawl.warc.gz --rules rules.json -o budgets.json
  dedust dedup rules.json urls.txt --budgets budgets.json   # what is to be fetched

A pattern is a part of a site: a host, directories, names and values of parameters, shapes of file names. Each has one verdict: sink (one answer for many URLs), endless (URLs keep coming, new text does not), facet (lists that others show), low yield (next to nothing new), worth fetching, or unknown. New text is counted in lines that no other page shows; `at most` is its bound with 95 % confidence. Without lines, from digests alone, only URLs that answer the same can be told.

Patterns are left out, most URLs for each lost line first, as long as --keep-text of the new text is still fetched when that is tried on a part of the crawl that had no part in choosing them.

BUDGETS is JSON, one pattern a line. Change `fetch` and add "decided": true, and it stays so with --keep; the first pattern that a URL is of counts."#;

/// Options of `budget`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(crate) struct BudgetArgs {
    /// Files or folders with URLs and what their pages show; `-` is standard input
    #[arg(required = true, value_name = "CRAWL", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the budgets go
    #[arg(short, long, value_name = "BUDGETS")]
    pub(crate) output: PathBuf,
    /// Rules from `dedust learn`, which are applied to the URLs first
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<PathBuf>,
    /// Share of the new text of a crawl that is still to be fetched, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = KEEP_TEXT, value_parser = share)]
    pub(crate) keep_text: f64,
    /// Keep what was decided in these earlier budgets
    #[arg(long, value_name = "BUDGETS")]
    pub(crate) keep: Option<PathBuf>,
    /// Overwrite BUDGETS if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is no share, expected a number from 0 to 1"))
}

/// Learns budgets and writes them.
pub(crate) fn run(args: &BudgetArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    // Before the work, which may be long: what cannot be read or written is known now.
    let earlier = args.keep.as_deref().map(load).transpose()?;
    let mut output = OutputFile::create(&args.output, args.force)?;
    let normalizer = match &args.rules {
        Some(path) => rule_file::normalizer(path, &args.trust, false, printer)?,
        None => Normalizer::compile(&RuleSet::default()),
    };
    let crawl = read(&args.inputs, &args.read, &normalizer, printer)?;
    let mut budgets = dedust_budget::learn(crawl, args.keep_text);
    let kept = earlier.map(|earlier| budgets.keep(&earlier));
    budgets.save(&mut output).map_err(|source| WriteError::Write { path: args.output.clone(), source })?;
    output.commit()?;
    report(&budgets, printer);
    if let (Some(kept), Some(path)) = (kept, &args.keep) {
        printer.note(format_args!(
            "{} of {} kept",
            counted(kept as u64, "decision", "decisions"),
            name_of(path)
        ));
    }
    Ok(ExitStatus::Success)
}

/// Reads what budgets are learned from.
fn read(
    inputs: &[PathBuf],
    args: &ReadArgs,
    normalizer: &Normalizer,
    printer: &mut Printer,
) -> anyhow::Result<Crawl> {
    let mut crawl = Crawl::new();
    let mut scratch = Scratch::default();
    read_all(inputs, args, printer, |row| row.observe_text_in(&mut crawl, normalizer, &mut scratch))?;
    check(&crawl, printer)?;
    Ok(crawl)
}

/// Says what is missing in a crawl, or that nothing can be learned from it.
pub(crate) fn check(crawl: &Crawl, printer: &mut Printer) -> anyhow::Result<()> {
    let (rows, without) = (crawl.row_count(), crawl.without_text());
    if without == rows {
        return Err(Refusal::new(
            "nothing is known of the pages of this crawl",
            "give it archives with pages, or rows with `lines`, `text_digest`, `simhash` or `digest`",
        )
        .into());
    }
    if !crawl.has_lines() {
        printer.warning(
            "no lines of text in this crawl: only URLs that answer the same can be told, not pages that differ and bring next to \
             nothing new",
        );
        printer.hint("give it archives (WARC) with pages, or rows with `lines`: hashes of the lines of text of each page");
    }
    if without > 0 {
        printer.note(format_args!("nothing is known of the pages of {}", counted(without, "URL", "URLs")));
    }
    Ok(())
}

/// Reads a file of budgets.
pub(crate) fn load(path: &Path) -> anyhow::Result<Budgets> {
    let file = dedust_io::open_text(path)?;
    Budgets::load(file).with_context(|| format!("cannot use the budgets in {}", name_of(path)))
}

/// The patterns that are not fetched in full, and what that saves and costs.
fn report(budgets: &Budgets, printer: &mut Printer) {
    let limited: Vec<&Pattern> = budgets.patterns.iter().filter(|pattern| pattern.is_limited()).collect();
    if limited.is_empty() {
        printer.note("no pattern was found that brings next to nothing new: all of it is worth fetching");
        return;
    }
    let columns = [
        ("pattern", Align::Left),
        ("verdict", Align::Left),
        ("URLs", Align::Right),
        ("pages", Align::Right),
        ("new text", Align::Right),
        ("at most", Align::Right),
        ("fetch", Align::Right),
    ];
    let mut table = Table::with_columns(&columns);
    for pattern in limited.iter().take(SHOWN_PATTERNS) {
        let seen = &pattern.seen;
        table.push([
            pattern.to_string(),
            pattern.verdict.words().to_owned(),
            count(seen.urls),
            count(seen.pages),
            percent(seen.new_text),
            percent(seen.new_text_at_most),
            percent(pattern.fetch),
        ]);
    }
    printer.note(table);
    if limited.len() > SHOWN_PATTERNS {
        let more = (limited.len() - SHOWN_PATTERNS) as u64;
        printer.note(format_args!("{} more in the file", counted(more, "pattern", "patterns")));
    }
    let left_out: u64 = limited.iter().map(|pattern| pattern.left_out()).sum();
    printer.note(format_args!(
        "{} of {} would not be fetched; of the new text {} was lost where this was tried",
        percent_of(left_out, budgets.urls),
        counted(budgets.urls, "URL", "URLs"),
        percent(budgets.lost_text),
    ));
}
