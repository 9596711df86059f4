/*!
The comparison for people: a table per scope and average, methods as rows.
*/

use std::io;

use dedust_eval::compare::{Figures, RuleCounts, Scope};
use dedust_eval::metrics::Tally;

use super::Findings;
use crate::number::{count, counted, figure, percent};
use crate::printer::Printer;
use crate::table::Table;

const FIGURES: [&str; 7] = ["compression", "dup-reduction", "fpr", "precision", "recall", "F1", "URL F1"];
const COSTS: [&str; 6] = ["raw", "qualified", "rules", "learn s", "peak MB", "ns/URL"];

/// Prints all tables: the unseen rest first, as it is what rules are for.
pub(super) fn print(findings: &Findings<'_>, printer: &mut Printer) -> io::Result<()> {
    for scope in Scope::ALL {
        let tally: Tally = findings.sites.iter().map(|site| site.keep_all(scope)).sum();
        if tally.urls == 0 {
            continue;
        }
        let with_costs = scope == Scope::Unseen || findings.unseen_is_empty();
        printer.line(format_args!("{}, micro average", title(scope, &tally)))?;
        printer.line(micro(findings, scope, with_costs))?;
        // Of one site, the mean is the site.
        if findings.sites.len() > 1 {
            printer.line("")?;
            printer.line(format_args!("{}, macro average", title(scope, &tally)))?;
            printer.line(macro_average(findings, scope))?;
        }
        if scope == Scope::Unseen || !findings.sweep.is_empty() {
            printer.line("")?;
        }
    }
    if !findings.sweep.is_empty() {
        printer.line("over fpr_max, the unseen rest, micro average")?;
        printer.line(sweep(findings))?;
    }
    for site in &findings.sites {
        printer.detail(format_args!(
            "\n{}, the unseen rest\n{}",
            site.site(),
            by_site(findings, site.site())
        ));
    }
    Ok(())
}

fn title(scope: Scope, tally: &Tally) -> String {
    let name = match scope {
        Scope::Unseen => "the unseen rest",
        Scope::Whole => "the whole",
    };
    let (urls, pages) = (counted(tally.urls, "URL", "URLs"), counted(tally.pages, "page", "pages"));
    format!("{name}: {urls}, {pages}, {} achievable", percent(tally.score().achievable))
}

fn micro(findings: &Findings<'_>, scope: Scope, with_costs: bool) -> Table {
    let mut headings = vec!["method"];
    headings.extend(FIGURES);
    headings.extend(COSTS.iter().filter(|_| with_costs));
    let mut table = Table::new(&headings);
    for &method in &findings.methods {
        let mut cells = vec![method.to_owned()];
        cells.extend(figure_cells(&findings.comparison.micro(method, scope)));
        if with_costs {
            let costs = findings.comparison.costs(method);
            cells.extend(cost_cells(
                costs.rules,
                costs.learn_seconds,
                findings.peak(method),
                costs.nanoseconds_per_url,
            ));
        }
        table.push(cells);
    }
    table
}

fn macro_average(findings: &Findings<'_>, scope: Scope) -> Table {
    let mut table = Table::new(&[&["method"], &FIGURES[..]].concat());
    for &method in &findings.methods {
        let figures = findings.comparison.macro_average(method, scope);
        table.push(std::iter::once(method.to_owned()).chain(figure_cells(&figures)));
    }
    table
}

fn by_site(findings: &Findings<'_>, site: &str) -> Table {
    let mut table = Table::new(&[&["method"], &FIGURES[..], &COSTS[..]].concat());
    for (row, &peak) in findings.comparison.rows.iter().zip(&findings.peaks).filter(|at| &*at.0.site == site)
    {
        let figures = Figures::new(&row.unseen.key.score(), &row.unseen.url.score());
        let costs = cost_cells(row.rules, row.learn_seconds, peak, row.nanoseconds_per_url);
        let name = row.method.to_owned();
        table.push(std::iter::once(name).chain(figure_cells(&figures)).chain(costs));
    }
    table
}

/// One row per method and figure, one column per limit.
fn sweep(findings: &Findings<'_>) -> Table {
    let points = |method: &'static str| findings.sweep.iter().filter(move |point| point.method == method);
    let limits: Vec<String> = findings
        .methods
        .first()
        .map(|&method| points(method).map(|point| format!("{:.2}", point.max_false_pair_rate)).collect())
        .unwrap_or_default();
    let mut headings = vec!["method", "figure"];
    headings.extend(limits.iter().map(String::as_str));
    let mut table = Table::new(&headings);
    for &method in &findings.methods {
        let mut push = |name: &str, cells: Vec<String>| {
            table.push([method.to_owned(), name.to_owned()].into_iter().chain(cells));
        };
        push("qualified", points(method).map(|point| optional(point.rules.qualified_rate())).collect());
        let micro = |of: fn(&Figures) -> Option<f64>| {
            points(method).map(|point| optional(of(&point.micro(Scope::Unseen)))).collect()
        };
        push("compression", micro(|figures| Some(figures.compression)));
        push("dup-reduction", micro(|figures| figures.dup_reduction));
    }
    table
}

pub(super) fn optional(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), figure)
}

pub(super) fn figure_cells(figures: &Figures) -> [String; 7] {
    [
        figure(figures.compression),
        optional(figures.dup_reduction),
        figure(figures.fpr),
        figure(figures.precision),
        figure(figures.recall),
        figure(figures.f1),
        figure(figures.url_f1),
    ]
}

pub(super) fn cost_cells(
    rules: RuleCounts,
    learn_seconds: f64,
    peak_bytes: Option<u64>,
    nanoseconds_per_url: f64,
) -> [String; 6] {
    [
        count(rules.raw),
        count(rules.qualified),
        count(rules.deployed),
        format!("{learn_seconds:.3}"),
        peak_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6)),
        format!("{nanoseconds_per_url:.0}"),
    ]
}
