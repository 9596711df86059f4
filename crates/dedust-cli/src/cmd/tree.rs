/*!
`dedust tree`: the pattern tree of one site, to look at.
*/

mod draw;

use std::path::PathBuf;

use clap::ValueEnum;
use dedust_baselines::{BuildOptions, NodeFacts, PatternTree};
use dedust_learn::{Corpus, Crawl, EvidenceKinds};

use self::draw::{draw_dot, draw_json, draw_text};
use crate::ExitStatus;
use crate::args::{OutputArgs, ReadArgs};
use crate::failure::Refusal;
use crate::help;
use crate::number::{count, counted, percent_of};
use crate::observe::read_all;
use crate::printer::Printer;

const SHOWN_SITES: usize = 10;
/// Exceptions of a wildcard spelled out in the label of a node.
const SHOWN_EXCEPTIONS: usize = 3;

/// Options of `tree`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::TREE)]
pub(crate) struct TreeArgs {
    /// Files or folders with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// The site, by its registrable domain [default: the one with most URLs]
    #[arg(long)]
    pub(crate) site: Option<String>,
    /// How the tree is printed
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub(crate) format: TreeFormat,
    /// Levels below the root to print [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Where it goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// How a tree is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// Indented, one node per line
    Text,
    /// A Graphviz digraph
    Dot,
    /// JSON Lines, one node per line
    Json,
}

/// Builds and prints a tree.
pub(crate) fn run(args: &TreeArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    printer.write_to(&args.output)?;
    let mut crawl = Crawl::new(args.evidence);
    read_all(&args.inputs, &args.read, printer, |observation| {
        Ok(crawl.observe(observation.url(), &observation.clues())?)
    })?;
    let corpora = crawl.into_corpora();
    let corpus = choose(&corpora, args.site.as_deref(), printer)?;
    let tree = PatternTree::build(corpus, &BuildOptions::default());
    printer.detail(format_args!(
        "{} in {} levels",
        counted(tree.nodes().len() as u64, "node", "nodes"),
        tree.height() + 1
    ));
    let depth = args.depth.unwrap_or(usize::MAX);
    match args.format {
        TreeFormat::Text => draw_text(&tree, depth, printer)?,
        TreeFormat::Dot => draw_dot(&tree, depth, printer)?,
        TreeFormat::Json => draw_json(&tree, depth, printer)?,
    }
    Ok(ExitStatus::Success)
}

fn choose<'c>(
    corpora: &'c [Corpus],
    site: Option<&str>,
    printer: &mut Printer,
) -> Result<&'c Corpus, Refusal> {
    let mut largest: Vec<&Corpus> = corpora.iter().filter(|corpus| !corpus.is_empty()).collect();
    largest.sort_by_key(|corpus| std::cmp::Reverse(corpus.len()));
    let Some(wanted) = site else {
        let Some(chosen) = largest.first() else {
            return Err(Refusal::new(
                "no URL of the input has a pattern",
                "expected URLs with a host, such as http://a.example/",
            ));
        };
        if corpora.len() > 1 {
            printer.note(format_args!(
                "the tree of {}, the largest of {} sites; choose another with --site",
                chosen.site(),
                count(corpora.len() as u64)
            ));
        }
        return Ok(chosen);
    };
    let chosen = largest.iter().find(|corpus| corpus.site() == wanted);
    chosen.copied().ok_or_else(|| {
        let names: Vec<&str> = largest.iter().take(SHOWN_SITES).map(|corpus| corpus.site()).collect();
        let more = match largest.len().saturating_sub(SHOWN_SITES) {
            0 => String::new(),
            more => format!(" and {} more", count(more as u64)),
        };
        Refusal::new(
            format!("the input has no URLs of the site `{wanted}`"),
            format!("it has those of {}{more}", names.join(", ")),
        )
    })
}

/// `key=value`, or the site for the root.
fn name(facts: &NodeFacts, tree: &PatternTree<'_>) -> String {
    match &facts.step {
        Some((key, Some(value))) => format!("{key}={value}"),
        Some((key, None)) => format!("{key} absent"),
        None => tree.corpus().site().to_owned(),
    }
}

/// `1,204 URLs, 42.1 % duplicates`.
fn size(facts: &NodeFacts) -> String {
    let urls = counted(facts.urls as u64, "URL", "URLs");
    if facts.labelled == 0 {
        return format!("{urls}, pages unknown");
    }
    let duplicates = (facts.labelled - facts.pages) as u64;
    format!("{urls}, {} duplicates", percent_of(duplicates, facts.labelled as u64))
}
