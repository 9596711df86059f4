/*!
The seen-set of dedust beside general storage engines: fjall, redb, LMDB and RocksDB.

Arguments come in, a table and a CSV file go out. Each turn of a contestant is a process of its own, this program with the
argument `turn`, so that memory can be attributed to it and a crash can be simulated. Contestants take turns in each round.
README.md says what is measured.
*/

mod measure;
mod report;
mod store;
mod turn;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use report::Figures;

/// What may fail here fails the benchmark.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// How the benchmark is run.
struct Settings {
    /// New keys of one turn, in millions.
    millions: u64,
    rounds: u64,
    /// Where the stores are put, and removed again.
    folder: PathBuf,
    csv: Option<PathBuf>,
    stores: Vec<String>,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(("turn", turn)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return turn::run(turn);
    }
    let settings = settings(&arguments)?;
    let mut figures = Vec::new();
    for round in 0..settings.rounds {
        for at in 0..settings.stores.len() {
            // Whoever comes first in one round comes later in the next.
            let name = &settings.stores[(at + round as usize) % settings.stores.len()];
            eprintln!("round {} of {}: {name}", round + 1, settings.rounds);
            figures.push(all_turns(name, round, &settings)?);
        }
    }
    report::print(&figures, &settings.stores, settings.millions);
    if let Some(path) = &settings.csv {
        report::write_csv(&figures, settings.millions, path)?;
    }
    Ok(())
}

/// Runs the turns of one contestant in one round.
fn all_turns(name: &str, round: u64, settings: &Settings) -> Outcome<Figures> {
    let folder = tempfile::tempdir_in(&settings.folder)?;
    let mut figures = Figures { store: name.to_owned(), round, ..Figures::default() };
    let keys = settings.millions * 1_000_000;
    for (turn, keys) in [("speed", keys), ("sync", turn::SYNC_KEYS), ("crash", turn::CRASH_KEYS)] {
        if turn != "speed" && !store::is_on_disk(name) {
            continue;
        }
        let folder = folder.path().join(turn);
        run_turn(turn, name, &folder, keys, &mut figures)?;
        if turn == "crash" {
            run_turn("after-crash", name, &folder, keys, &mut figures)?;
        }
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(figures)
}

/// Runs one turn in a process of its own, and adds the figures that it prints.
fn run_turn(turn: &str, name: &str, folder: &Path, keys: u64, figures: &mut Figures) -> Outcome<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["turn", turn, name]).arg(folder).arg(keys.to_string());
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    // The turn `crash` ends by a signal.
    if output.status.success() == (turn == "crash") {
        return Err(format!("{turn} of {name} ended with {}", output.status).into());
    }
    for line in String::from_utf8(output.stdout)?.lines() {
        let (figure, value) = line.split_once('=').ok_or("a figure has the form name=value")?;
        figures.values.insert(figure.to_owned(), value.parse()?);
    }
    Ok(())
}

fn settings(arguments: &[String]) -> Outcome<Settings> {
    let mut settings = Settings {
        millions: 5,
        rounds: 1,
        folder: std::env::temp_dir(),
        csv: None,
        stores: store::NAMES.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--rounds" => settings.rounds = value()?.parse()?,
            "--folder" => settings.folder = value()?.into(),
            "--csv" => settings.csv = Some(value()?.into()),
            "--stores" => settings.stores = value()?.split(',').map(str::to_owned).collect(),
            millions => {
                settings.millions = millions.parse().map_err(|_| format!("unknown argument {millions}"))?
            }
        }
    }
    if settings.millions == 0 || settings.rounds == 0 {
        return Err("the number of keys and of rounds must be at least 1".into());
    }
    if let Some(unknown) = settings.stores.iter().find(|name| !store::NAMES.contains(&name.as_str())) {
        return Err(format!("unknown store {unknown}, there are {}", store::NAMES.join(", ")).into());
    }
    Ok(settings)
}
