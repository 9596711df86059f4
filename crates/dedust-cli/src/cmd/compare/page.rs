/*!
The comparison as one page that needs nothing else: tables, and the figures of Lei et al., WWW 2010, redrawn.
*/

use std::fmt::Write as _;

use dedust_eval::compare::{Figures, Scope, SweepPoint};
use dedust_eval::metrics::Tally;

use super::chart::{Axes, Series, bars, escaped, lines};
use super::text::{cost_cells, figure_cells, optional};
use super::{Findings, summary};
use crate::number::{count, figure, percent};

const STYLE: &str = include_str!("page.css");
const FIGURES: [&str; 7] = ["compression", "dup-reduction", "fpr", "precision", "recall", "F1", "URL F1"];
const COSTS: [&str; 3] = ["learn s", "peak MB", "ns/URL"];
/// Places among [`FIGURES`] where more is better whatever else is given up.
const F1_CELLS: [usize; 2] = [5, 6];

type FigureOf = fn(&Figures) -> Option<f64>;

/// The whole page.
pub(super) fn page(findings: &Findings<'_>) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>dedust compare</title><style>\n{STYLE}</style></head><body>\n\
         <h1>Methods that learn to normalize URLs, compared</h1>\n<p>{}.</p>\n",
        escaped(&summary(findings.args, &findings.sites))
    );
    html += "<p class=\"soft\">All methods learned from the same URLs. <em>The unseen rest</em> holds no URL that was \
             learned from; <em>the whole</em> does. F1 is that of a crawl that fetches the first URL of each key: \
             precision is new pages per fetch, recall is pages found of all there are. Compression and dup-reduction do \
             not punish false merges, so look at recall and fpr too.</p>\n";
    for scope in Scope::ALL {
        html += &scope_tables(findings, scope);
    }
    html += &times(findings);
    html += &rules(findings);
    html += &sweeps(findings);
    html += &sites(findings);
    html + "</body></html>\n"
}

/// A table that can be scrolled sideways. Cells are text; the rows named in `best` are bold in that column.
fn table(headings: &[&str], rows: &[Vec<String>], best: &dyn Fn(usize, usize) -> bool) -> String {
    let mut html = String::from("<div class=\"wide\"><table><thead><tr>");
    for heading in headings {
        let _ = write!(html, "<th>{}</th>", escaped(heading));
    }
    html += "</tr></thead><tbody>\n";
    for (at, row) in rows.iter().enumerate() {
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let class = if best(at, column) { " class=\"best\"" } else { "" };
            let _ = write!(html, "<td{class}>{}</td>", escaped(cell));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// Whether a cell is the largest number of its column, as printed.
fn is_largest(rows: &[Vec<String>], at: usize, column: usize) -> bool {
    let largest = rows.iter().map(|row| row[column].as_str()).max();
    largest == Some(rows[at][column].as_str())
}

fn scope_tables(findings: &Findings<'_>, scope: Scope) -> String {
    let tally: Tally = findings.sites.iter().map(|site| site.keep_all(scope)).sum();
    if tally.urls == 0 {
        return String::new();
    }
    let name = if scope == Scope::Unseen { "The unseen rest" } else { "The whole" };
    let mut html = format!(
        "<h2>{name}</h2>\n<p>{} URLs of {} pages: a perfect normalization would save {}, and doing nothing has an F1 of \
         {}.</p>\n",
        count(tally.urls),
        count(tally.pages),
        percent(tally.score().achievable),
        figure(tally.score().f1)
    );
    let with_costs = scope == Scope::Unseen || findings.unseen_is_empty();
    let mut headings = [&["micro average"], &FIGURES[..]].concat();
    if with_costs {
        headings.extend(COSTS);
    }
    let rows = |of: &dyn Fn(&'static str) -> Vec<String>| -> Vec<Vec<String>> {
        findings.methods.iter().map(|&method| of(method)).collect()
    };
    let named = |method: &str, figures: Figures| {
        let mut cells = vec![method.to_owned()];
        cells.extend(figure_cells(&figures));
        cells
    };
    let micro = rows(&|method| {
        let mut cells = named(method, findings.comparison.micro(method, scope));
        if with_costs {
            let costs = findings.comparison.costs(method);
            let peak = findings.peak(method);
            let costs = cost_cells(costs.rules, costs.learn_seconds, peak, costs.nanoseconds_per_url);
            cells.extend_from_slice(&costs[3..]);
        }
        cells
    });
    let is_best = |rows: &[Vec<String>], at: usize, column: usize| {
        column > 0 && F1_CELLS.contains(&(column - 1)) && is_largest(rows, at, column)
    };
    html += &table(&headings, &micro, &|at, column| is_best(&micro, at, column));
    if findings.sites.len() > 1 {
        let average = rows(&|method| named(method, findings.comparison.macro_average(method, scope)));
        headings.truncate(1 + FIGURES.len());
        headings[0] = "macro average";
        html += &table(&headings, &average, &|at, column| is_best(&average, at, column));
    }
    html
}

fn series(findings: &Findings<'_>, of: &dyn Fn(&'static str) -> Vec<(f64, f64)>) -> Vec<Series> {
    let lines = findings.methods.iter().enumerate().map(|(colour, &method)| Series {
        name: method.to_owned(),
        colour,
        points: of(method),
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

fn times(findings: &Findings<'_>) -> String {
    let sites = findings.sites.len().max(1) as f64;
    let means =
        series(findings, &|method| vec![(0.0, findings.comparison.costs(method).learn_seconds / sites)]);
    let means: Vec<(Series, String)> = means
        .into_iter()
        .map(|bar| {
            let words = format!("{:.3} s", bar.points[0].1);
            (bar, words)
        })
        .collect();
    format!(
        "<h2>Time to learn a site</h2>\n<p class=\"soft\">CPU seconds from the training share to the rules, the mean over \
         sites (figure 9 of the paper).</p>\n<figure>{}</figure>\n",
        bars("CPU seconds to learn a site, by method", &means)
    )
}

fn rules(findings: &Findings<'_>) -> String {
    let rows: Vec<Vec<String>> = findings
        .methods
        .iter()
        .map(|&method| {
            let rules = findings.comparison.costs(method).rules;
            let rate = rules.qualified_rate().map_or_else(|| "-".to_owned(), percent);
            let compression = percent(findings.comparison.micro(method, Scope::Whole).compression);
            let name = method.to_owned();
            vec![name, count(rules.raw), count(rules.qualified), rate, count(rules.deployed), compression]
        })
        .collect();
    let headings = ["method", "raw", "qualified", "rate", "deployed", "compression of the whole"];
    format!(
        "<h2>Number of rules</h2>\n<p class=\"soft\">Of all sites, with fpr<sub>max</sub> = {} (tables 3 and 4 of the \
         paper).</p>\n{}",
        findings.args.max_fpr,
        table(&headings, &rows, &|_, _| false)
    )
}

fn sweeps(findings: &Findings<'_>) -> String {
    if findings.sweep.is_empty() {
        let why = findings.no_sweep.as_deref().unwrap_or_default();
        return format!("<h2>Over fpr<sub>max</sub></h2>\n<p>{}.</p>\n", escaped(why));
    }
    let curve = |of: &dyn Fn(&SweepPoint) -> Option<f64>| {
        series(findings, &|method| {
            let points = findings.sweep.iter().filter(|point| point.method == method);
            points.filter_map(|point| Some((point.max_false_pair_rate, of(point)?))).collect()
        })
    };
    let chart = |title: &str, y: &str, lines_of: &[Series]| {
        format!(
            "<figure><figcaption>{}</figcaption>{}</figure>\n",
            escaped(title),
            lines(Axes { title, x: "fpr_max, the largest share of false pairs of a rule", y }, lines_of)
        )
    };
    let mut html = String::from(
        "<h2>Qualified rate over fpr<sub>max</sub></h2>\n<p class=\"soft\">Candidates that merge few enough different \
         pages, of all candidates (figure 10 of the paper). Methods without candidates have no line.</p>\n",
    );
    html += &chart(
        "Qualified rate, all sites pooled",
        "qualified rate",
        &curve(&|point| point.rules.qualified_rate()),
    );
    let figures: [(&str, &str, FigureOf); 2] = [
        ("compression", "figure 11 of the paper", |figures| Some(figures.compression)),
        ("dup-reduction", "figure 12 of the paper", |figures| figures.dup_reduction),
    ];
    for (name, source, of) in figures {
        let _ = write!(
            html,
            "<h2>{}{} over fpr<sub>max</sub></h2>\n<p class=\"soft\">On the whole, as in {source}. A method that does \
             not know this limit is a flat line.</p>\n<div class=\"pair\">\n",
            name[..1].to_uppercase(),
            &name[1..]
        );
        html += &chart("Micro average", name, &curve(&|point| of(&point.micro(Scope::Whole))));
        html += &chart("Macro average", name, &curve(&|point| of(&point.macro_average(Scope::Whole))));
        html += "</div>\n";
    }
    html
}

fn sites(findings: &Findings<'_>) -> String {
    let scope = if findings.unseen_is_empty() { Scope::Whole } else { Scope::Unseen };
    let rows: Vec<Vec<String>> = findings
        .sites
        .iter()
        .map(|site| {
            let tally = site.keep_all(scope);
            let mut cells = vec![site.site().to_owned(), count(tally.urls), count(tally.pages)];
            cells.push(percent(tally.score().achievable));
            let rows = findings.comparison.rows.iter().filter(|row| &*row.site == site.site());
            cells.extend(rows.map(|row| figure(row.measured(scope).key.score().f1)));
            cells
        })
        .collect();
    let mut headings = vec!["site", "URLs", "pages", "achievable"];
    headings.extend(&findings.methods);
    let is_best =
        |at: usize, column: usize| column > 3 && rows[at][4..].iter().max() == Some(&rows[at][column]);
    let mut html = format!(
        "<h2>Sites</h2>\n<p class=\"soft\">F1 by method on {}; the best of each site is bold.</p>\n{}",
        if scope == Scope::Unseen { "the unseen rest" } else { "the whole" },
        table(&headings, &rows, &is_best)
    );
    let details: Vec<Vec<String>> = findings
        .comparison
        .rows
        .iter()
        .zip(&findings.peaks)
        .map(|(row, &peak)| {
            let measured = row.measured(scope);
            let figures = Figures::new(&measured.key.score(), &measured.url.score());
            let mut cells = vec![row.site.to_string(), row.method.to_owned()];
            cells.extend(figure_cells(&figures));
            cells.push(optional(row.rules.qualified_rate()));
            cells.extend(cost_cells(row.rules, row.learn_seconds, peak, row.nanoseconds_per_url));
            cells
        })
        .collect();
    let headings =
        [&["site", "method"], &FIGURES[..], &["qualified rate", "raw", "qualified", "rules"], &COSTS[..]]
            .concat();
    let _ = write!(
        html,
        "<details><summary>Every figure of every site and method</summary>\n{}</details>\n",
        table(&headings, &details, &|_, _| false)
    );
    html
}
