/*!
Figures as a table and as CSV.
*/

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::Outcome;

/// Columns of the CSV file.
const FIGURES: &[&str] = &[
    "new_per_s",
    "new_cpu_ns",
    "mixed_per_s",
    "mixed_cpu_ns",
    "peak_mb",
    "anonymous_mb",
    "disk_bytes_per_key",
    "close_s",
    "reopen_s",
    "sync_per_s",
    "lost_after_crash",
    "reopen_after_crash_s",
];

/// What one contestant did in one round.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) store: String,
    pub(crate) round: u64,
    /// By name. What a store cannot do is not there.
    pub(crate) values: BTreeMap<String, f64>,
}

/// Prints medians of all rounds.
pub(crate) fn print(figures: &[Figures], stores: &[String], millions: u64) {
    println!(
        "\n{millions} million new keys, then {millions} million of which half are new; medians of all rounds\n"
    );
    println!(
        "| store | new keys/s | CPU ns/key | mixed keys/s | CPU ns/key | peak MB | heap MB | bytes/key on disk \
         | close s | reopen s | keys/s, fsync per batch | lost in crash | reopen s after it |"
    );
    println!("|---|{}", "---|".repeat(FIGURES.len()));
    for store in stores {
        let cells = FIGURES.iter().map(|figure| {
            let of_store = figures.iter().filter(|figures| figures.store == *store);
            median(of_store.filter_map(|figures| figures.values.get(*figure).copied()).collect())
                .map_or("-".to_owned(), |value| written(figure, value))
        });
        println!("| {store} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

fn written(figure: &str, value: f64) -> String {
    match figure {
        _ if figure.ends_with("per_s") => format!("{:.2} M", value / 1e6),
        _ if figure.ends_with("_s") => format!("{value:.3}"),
        _ if figure.ends_with("per_key") => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Writes one line for each contestant and round.
pub(crate) fn write_csv(figures: &[Figures], millions: u64, path: &Path) -> Outcome<()> {
    let mut text = format!("store,million_keys,round,{}\n", FIGURES.join(","));
    for Figures { store, round, values } in figures {
        write!(text, "{store},{millions},{round}")?;
        for figure in FIGURES {
            match values.get(*figure) {
                Some(value) => write!(text, ",{value:.3}")?,
                None => text.push(','),
            }
        }
        text.push('\n');
    }
    Ok(std::fs::write(path, text)?)
}
