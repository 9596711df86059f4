/*!
All that the rules of a run depend on: its options and its inputs. A run can only go on with the same.
*/

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use clap::ValueEnum as _;
use dedust_learn::LearnOptions;
use serde::{Deserialize, Serialize};

use super::LearnArgs;
use crate::args::ReadArgs;
use crate::failure::option_name;

/// What the rules depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Settings {
    options: LearnOptions,
    /// Names and values of all else, as people read them; empty if they are not given.
    others: Vec<(String, String)>,
    inputs: Vec<InputFile>,
}

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct InputFile {
    path: PathBuf,
    bytes: u64,
    modified_seconds: u64,
}

impl Settings {
    pub(super) fn of(args: &LearnArgs, options: &LearnOptions) -> Self {
        // Every other option is named, so that the compiler asks about a new one.
        let LearnArgs {
            inputs,
            output: _,
            options: _,
            variant,
            read: ReadArgs { host, column },
            seed,
            memory: _,
            part: _,
            keep,
            resume: _,
            force: _,
            format: _,
        } = args;
        let variant = variant.as_ref().and_then(|variant| variant.to_possible_value());
        let columns: Vec<String> = column.iter().map(ToString::to_string).collect();
        let others = [
            ("--variant", variant.map_or(String::new(), |variant| variant.get_name().into())),
            ("--host", host.clone().unwrap_or_default()),
            ("--column", columns.join(", ")),
            ("--seed", seed.to_string()),
            ("--keep", keep.as_ref().map_or(String::new(), |path| path.display().to_string())),
        ];
        // What cannot be expanded is reported when it is read.
        let files = dedust_io::expand(inputs).unwrap_or_else(|_| inputs.clone());
        Self {
            options: options.clone(),
            others: others.map(|(name, value)| (name.into(), value)).into(),
            inputs: files.iter().chain(keep).map(|path| InputFile::of(path)).collect(),
        }
    }

    /// What another run would do differently.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let has_same_inputs = self.inputs == other.inputs;
        self.option_difference(other)
            .or_else(|| (!has_same_inputs).then(|| "its inputs were others, or have changed".into()))
    }

    /// What another run would do differently with the same inputs.
    pub(super) fn option_difference(&self, other: &Self) -> Option<String> {
        let changes = other.options.changes(&self.options).into_iter();
        let changes = changes.map(|change| (option_name(&change.name), change.was, change.is));
        let others = self.others.iter().zip(&other.others).filter(|(was, is)| was != is);
        let others = others.map(|((name, was), (_, is))| (name.clone(), was.clone(), is.clone()));
        let (name, was, is) = changes.chain(others).next()?;
        let shown = |value: String| if value.is_empty() { "not given".to_owned() } else { value };
        Some(format!("its {name} was {}, and now is {}", shown(was), shown(is)))
    }
}

impl InputFile {
    fn of(path: &Path) -> Self {
        // What is no file, such as standard input, is taken to be the same.
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        let modified = found.as_ref().and_then(|found| found.modified().ok());
        let since = modified.and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        Self {
            path: path.to_owned(),
            bytes: found.map_or(0, |found| found.len()),
            modified_seconds: since.map_or(0, |since| since.as_secs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{Args, Command};
    use clap::Parser as _;

    fn settings(options: &[&str]) -> Settings {
        let given = ["dedust", "learn", "crawl.jsonl", "-o", "rules.json"];
        match Args::parse_from(given.iter().chain(options)).command {
            Command::Learn(args) => {
                Settings::of(&args, &LearnOptions::default().with(&args.options).unwrap())
            }
            _ => unreachable!("`learn` was given"),
        }
    }

    #[test]
    fn every_option_that_rules_depend_on_is_compared() {
        let plain = settings(&[]);
        let difference = |options: &[&str]| plain.difference(&settings(options));
        for (options, expected) in [
            (&["--method", "standard"][..], "its --method was canonfd, and now is standard"),
            (&["--variant", "paper"], "its --variant was not given, and now is paper"),
            (&["--host", "http://a.example"], "its --host was not given, and now is http://a.example"),
            (&["--mode", "strict"], "its --mode was balanced, and now is strict"),
            (&["--max-loss", "0.1"], "its --max-loss was 0.005, and now is 0.1"),
            (&["--prefer", "http,bare"], "its --prefer was not given, and now is http,bare"),
            (
                &["--mirror", "a.example=b.example"],
                "its --mirror was not given, and now is a.example=b.example",
            ),
            (&["--no-mirrors"], "its --no-mirrors was not given, and now is given"),
            (&["--trust-hosts"], "its --trust-hosts was not given, and now is given"),
            (&["--max-fpr", "0.1"], "its --max-fpr was 0.05, and now is 0.1"),
            (&["--seed", "7"], "its --seed was 0, and now is 7"),
            (&["--sample", "0.5"], "its --sample was 0.2, and now is 0.5"),
            (&["--keep", "old.json"], "its --keep was not given, and now is old.json"),
            (&["--max-sample", "9"], "its --max-sample was 100000, and now is 9"),
            (&["--evidence", "digest"], "its --evidence was auto, and now is digest"),
        ] {
            assert_eq!(difference(options).as_deref(), Some(expected));
        }
        let harmless = ["--memory", "1", "--resume", "--force", "--format", "json"];
        assert_eq!(difference(&harmless), None);
    }
}
