/*!
What clustering came to: how many pages there are, which of them have most URLs, and which may be errors in disguise.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use dedust_learn::support::Clusters;
use dedust_learn::{EvidenceKind, EvidenceKinds};
use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::{ClusterArgs, Row, Rows};
use crate::args::ReportFormat;
use crate::line_source::{is_dash, name_of};
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::table::Table;

/// Clusters shown.
const SHOWN: usize = 10;

/// Paths under which a page must be found to be suspected.
const MIN_SUSPECT_PATHS: usize = 10;

/// Longest title shown, in characters.
const TITLE_CHARS: usize = 48;

/// One line of the report: `{"type":"cluster",..}` for each of the largest clusters and of those suspected, then
/// `{"type":"total",..}`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// A cluster of two URLs or more.
    Cluster(&'a Found),
    /// Everything.
    Total(&'a Total),
}

/// A cluster, as shown.
#[derive(Debug, Serialize)]
struct Found {
    /// Its number, as in the output.
    cluster: u32,
    urls: u32,
    /// Distinct paths of its URLs.
    paths: usize,
    /// The title that most of its rows have.
    title: Option<String>,
    /// All kinds that tie its URLs.
    evidence: String,
    /// A URL of it.
    example: String,
    /// Whether it is suspected to be an error page, or a page to log in, that answers in place of others.
    suspect: bool,
}

/// All rows.
#[derive(Debug, Serialize)]
struct Total {
    /// Distinct URLs after safe normalization.
    urls: u64,
    /// Those in a cluster, alone or not.
    labelled: u64,
    clusters: u64,
    /// Labelled URLs less clusters.
    duplicates: u64,
    /// The number of URLs that each kind ties to others.
    evidence: BTreeMap<&'static str, u64>,
    suspects: u64,
    suspect_urls: u64,
}

/// Reports on standard error, or with `--format json` on standard output.
pub(super) fn print(
    rows: &Rows,
    clusters: &Clusters,
    args: &ClusterArgs,
    printer: &mut Printer,
) -> io::Result<()> {
    let (found, total) = survey(rows, clusters);
    match args.format {
        ReportFormat::Json => {
            for cluster in &found {
                printer.json(&Record::Cluster(cluster))?;
            }
            printer.json(&Record::Total(&total))
        }
        ReportFormat::Text => {
            text(&found, &total, args, printer);
            Ok(())
        }
    }
}

fn text(found: &[Found], total: &Total, args: &ClusterArgs, printer: &mut Printer) {
    let urls = counted(total.urls, "URL", "URLs");
    let pages = counted(total.clusters, "page", "pages");
    printer.note(format_args!("{urls}, {pages}, {}", counted(total.duplicates, "duplicate", "duplicates")));
    let unknown = total.urls - total.labelled;
    if unknown > 0 {
        printer.note(format_args!("nothing is known of the pages of {}", counted(unknown, "URL", "URLs")));
    }
    let kinds: Vec<String> =
        total.evidence.iter().map(|(kind, urls)| format!("{kind} {}", count(*urls))).collect();
    if !kinds.is_empty() {
        printer.note(format_args!("URLs tied by kind of evidence: {}", kinds.join(", ")));
    }
    let mut section = |heading: &str, chosen: &mut dyn Iterator<Item = &Found>| {
        let mut table = Table::new(&["title", "URLs", "paths", "evidence"]);
        let mut examples = Vec::new();
        for cluster in chosen.take(SHOWN) {
            let title = cluster.title.as_deref().unwrap_or("(no title)");
            table.push([
                shortened(title),
                count(cluster.urls.into()),
                count(cluster.paths as u64),
                cluster.evidence.clone(),
            ]);
            examples.push(&cluster.example);
        }
        if !examples.is_empty() {
            printer.note(format_args!("\n{heading}"));
            let table = table.to_string();
            let mut lines = table.lines();
            printer.note(lines.next().unwrap_or_default());
            for (line, example) in lines.zip(examples) {
                printer.note(format_args!("{line}\n  {example}"));
            }
        }
    };
    section("largest clusters", &mut found.iter().filter(|cluster| !cluster.suspect));
    section(
        "suspected soft errors: one page under many paths",
        &mut found.iter().filter(|cluster| cluster.suspect),
    );
    if !is_dash(&args.output) {
        printer.note(format_args!("\nobservations written to {}", name_of(&args.output)));
    }
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}...", &title[..end]),
        None => title.to_owned(),
    }
}

fn survey(rows: &Rows, clusters: &Clusters) -> (Vec<Found>, Total) {
    let mut members: HashMap<u32, Vec<&Row>> = HashMap::default();
    let mut url_seen = vec![false; clusters.url_count()];
    let mut evidence: BTreeMap<&'static str, u64> = BTreeMap::new();
    for row in &rows.rows {
        let Some(cluster) = clusters.cluster_of(row.url) else { continue };
        if clusters.sizes()[cluster as usize] > 1 {
            members.entry(cluster).or_default().push(row);
        }
        if !std::mem::replace(&mut url_seen[row.url as usize], true) {
            for kind in clusters.kinds_of(row.url).iter() {
                *evidence.entry(kind.name()).or_default() += 1;
            }
        }
    }
    let mut order: Vec<(Reverse<u32>, u32, bool, usize)> = members
        .iter()
        .map(|(&cluster, rows)| {
            let (suspect, paths) = suspicion(rows, clusters);
            (Reverse(clusters.sizes()[cluster as usize]), cluster, suspect, paths)
        })
        .collect();
    order.sort_unstable();
    let suspects = order.iter().filter(|cluster| cluster.2);
    let total = Total {
        urls: clusters.url_count() as u64,
        labelled: clusters.sizes().iter().map(|size| u64::from(*size)).sum(),
        clusters: clusters.sizes().len() as u64,
        duplicates: clusters.sizes().iter().map(|size| u64::from(size - 1)).sum(),
        evidence,
        suspects: suspects.clone().count() as u64,
        suspect_urls: suspects.map(|cluster| u64::from(cluster.0.0)).sum(),
    };
    let largest = order.iter().filter(|cluster| !cluster.2).take(SHOWN);
    let shown = largest.chain(order.iter().filter(|cluster| cluster.2).take(SHOWN));
    let found = shown
        .map(|&(Reverse(urls), cluster, suspect, paths)| {
            let of_cluster = &members[&cluster];
            let kinds = of_cluster.iter().map(|row| clusters.kinds_of(row.url));
            Found {
                cluster,
                urls,
                paths,
                title: title(rows, of_cluster),
                evidence: kinds.fold(EvidenceKinds::NONE, EvidenceKinds::union).to_string(),
                example: of_cluster.first().map(|row| decoded(rows.url(row))).unwrap_or_default(),
                suspect,
            }
        })
        .collect();
    (found, total)
}

/// Whether pages under many paths are one by what they show, not by what the site declares; and how many paths.
fn suspicion(rows: &[&Row], clusters: &Clusters) -> (bool, usize) {
    let paths: HashSet<u64> = rows.iter().filter(|row| row.is_page).map(|row| row.path).collect();
    let is_declared = |row: &&&Row| {
        let kinds = clusters.kinds_of(row.url);
        kinds.contains(EvidenceKind::Canonical) || kinds.contains(EvidenceKind::Cluster)
    };
    let declared = rows.iter().filter(is_declared).count();
    (paths.len() >= MIN_SUSPECT_PATHS && 2 * declared < rows.len(), paths.len())
}

#[derive(Deserialize)]
struct Titled {
    title: Option<String>,
}

/// The title that most rows have; of several, the first in order.
fn title(rows: &Rows, of_cluster: &[&Row]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in of_cluster {
        if let Ok(Titled { title: Some(title) }) = serde_json::from_slice(rows.facts(row)) {
            *counts.entry(title).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(title, count)| (*count, Reverse(title.clone()))).map(|(title, _)| title)
}

fn decoded(json: &[u8]) -> String {
    serde_json::from_slice(json).unwrap_or_default()
}
