/*!
`dedust cluster`: pages or evidence in, observations with duplicate labels out, and a report of what was found.
*/

mod report;

use std::io::{self, Write};
use std::path::PathBuf;

use dedust::ParsedUrl;
use dedust_crawl::CrawlRow;
use dedust_io::OutputFile;
use dedust_learn::EvidenceKinds;
use dedust_learn::support::{Clusterer, Clusters};
use xxhash_rust::xxh3::xxh3_64;

use crate::ExitStatus;
use crate::args::{ReadArgs, ReportFormat, check_outputs};
use crate::help;
use crate::interrupt;
use crate::observe::read_all;
use crate::printer::Printer;

/// Options of `cluster`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::CLUSTER)]
pub(crate) struct ClusterArgs {
    /// Files or folders with pages, or with URLs and what is known of their pages; `-` is standard input
    #[arg(required = true, value_name = "INPUT", long_help = help::input())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the observations with their labels go, as JSON Lines; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What makes two URLs duplicates: `auto`, or kinds joined by commas
    #[arg(long, value_name = "KINDS", default_value = "auto", long_help = help::EVIDENCE)]
    pub(crate) evidence: EvidenceKinds,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// How the closing report is printed: text on standard error, or JSON Lines on standard output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// The rows, in the order in which they came, as they will be written.
#[derive(Default)]
struct Rows {
    /// For each row its URL, then its facts, both as JSON.
    text: Vec<u8>,
    rows: Vec<Row>,
}

/// One row.
struct Row {
    /// The number of the row in the input.
    number: u64,
    /// The number of its URL.
    url: u32,
    start: usize,
    facts: usize,
    end: usize,
    /// A hash of the path of its URL.
    path: u64,
    is_page: bool,
}

impl Rows {
    fn push(&mut self, row: &CrawlRow, url: u32, path: u64) -> io::Result<()> {
        let start = self.text.len();
        row.write_url(&mut self.text)?;
        let facts = self.text.len();
        row.write_facts(&mut self.text)?;
        let is_page = row.status().is_none_or(|status| (200..300).contains(&status));
        self.rows.push(Row {
            number: row.row_number(),
            url,
            start,
            facts,
            end: self.text.len(),
            path,
            is_page,
        });
        Ok(())
    }

    /// The URL of a row, as JSON.
    fn url(&self, row: &Row) -> &[u8] {
        &self.text[row.start..row.facts]
    }

    /// What is known of a row, as a JSON object.
    fn facts(&self, row: &Row) -> &[u8] {
        &self.text[row.facts..row.end]
    }

    fn write(&self, clusters: &Clusters, out: &mut impl Write) -> io::Result<()> {
        for row in &self.rows {
            out.write_all(b"{\"url\":")?;
            out.write_all(self.url(row))?;
            match clusters.cluster_of(row.url) {
                Some(cluster) => write!(out, ",\"cluster\":{cluster}")?,
                None => out.write_all(b",\"cluster\":null")?,
            }
            let kinds = clusters.kinds_of(row.url);
            if !kinds.is_empty() {
                write!(out, ",\"evidence\":\"{kinds}\"")?;
            }
            match self.facts(row) {
                b"{}" => out.write_all(b"}\n")?,
                facts => {
                    out.write_all(b",")?;
                    out.write_all(&facts[1..])?;
                    out.write_all(b"\n")?;
                }
            }
        }
        Ok(())
    }
}

/// Clusters observations and writes them.
pub(crate) fn run(args: &ClusterArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    check_outputs("observations", &args.output, args.format)?;
    interrupt::listen();
    let output = OutputFile::create(&args.output, args.force)?;
    let (rows, clusters) = gather(args, args.evidence, printer)?;
    output.write_whole(|output| rows.write(&clusters, output))?;
    report::print(&rows, &clusters, args, printer)?;
    Ok(ExitStatus::Success)
}

fn gather(
    args: &ClusterArgs,
    kinds: EvidenceKinds,
    printer: &mut Printer,
) -> anyhow::Result<(Rows, Clusters)> {
    let mut clusterer = Clusterer::new(kinds);
    let mut rows = Rows::default();
    let mut parsed = ParsedUrl::default();
    let mut failed = None;
    read_all(&args.inputs, &args.read, printer, |row| {
        let url = clusterer.observe(row.url(), &row.clues())?;
        parsed.parse_from(row.url())?;
        if let Err(error) = rows.push(row, url, xxh3_64(parsed.path())) {
            failed = Some(error);
        }
        Ok(())
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    rows.rows.sort_by_key(|row| row.number);
    let clusters = clusterer.finish().renumbered(rows.rows.iter().map(|row| row.url));
    Ok((rows, clusters))
}
