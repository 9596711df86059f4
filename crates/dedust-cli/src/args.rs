/*!
Options that several commands share, with their help. Options of a single command are in its module of `cmd`.
*/

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use dedust_io::NamedColumn;

use crate::failure::refuse;
use crate::help;
use crate::line_source::is_dash;

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Threads to use, up to 1024 [default: one per core]
    #[arg(
        long,
        value_name = "N",
        global = true,
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Global options"
    )]
    pub(crate) threads: Option<u16>,
    /// Print data and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Print more about what is done
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) verbose: bool,
    /// Show no progress bars, also where standard error is a terminal
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) no_progress: bool,
    /// When messages and help are coloured
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto, global = true, hide_short_help = true, help_heading = "Global options")]
    pub(crate) color: ColorChoice,
}

/// How long the server of a seen-set is waited for.
#[derive(Debug, clap::Args)]
pub(crate) struct PatienceArgs {
    /// How long a server of seen pages that does not answer is waited for, such as 0s or 10m [default: 60s; serve: 20s]
    #[arg(long, value_name = "TIME", value_parser = time, hide_short_help = true, long_help = help::PATIENCE)]
    pub(crate) patience: Option<Duration>,
}

/// A time with its unit.
fn time(text: &str) -> Result<Duration, String> {
    let expected = || format!("`{text}` is no time, expected a number with s, m, h or d, such as 30d");
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(expected)?;
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(expected()),
    };
    let number: u32 = number.parse().map_err(|_| expected())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// A time with its unit, at least a second.
pub(crate) fn positive_time(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err(format!("`{text}` is no time, expected at least 1s")),
        time => Ok(time),
    }
}

/// When messages and help are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// What the arguments of a command line ask for. Errors in them are coloured too, so this is asked before they are read.
    pub(crate) fn of_arguments(arguments: impl Iterator<Item = OsString>) -> Self {
        let arguments: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
        let joined = arguments.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--color="));
        let apart =
            arguments.windows(2).filter(|pair| pair[0] == "--color").filter_map(|pair| pair[1].to_str());
        joined.chain(apart).find_map(|name| Self::from_str(name, false).ok()).unwrap_or(Self::Auto)
    }

    /// Makes it hold for all messages.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

impl From<ColorChoice> for clap::ColorChoice {
    fn from(choice: ColorChoice) -> Self {
        match choice {
            ColorChoice::Auto => Self::Auto,
            ColorChoice::Always => Self::Always,
            ColorChoice::Never => Self::Never,
        }
    }
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// JSON Lines, for programs
    Json,
}

/// Where data goes, for commands that print it.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct OutputArgs {
    /// Where the result goes when all is done [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "output", hide_short_help = true)]
    pub(crate) force: bool,
}

/// Refuses to write a result and the closing report for programs both to standard output.
pub(crate) fn check_outputs(result: &str, output: &Path, format: ReportFormat) -> anyhow::Result<()> {
    if is_dash(output) && format == ReportFormat::Json {
        let problem = "`-o -` and `--format json` both write to standard output";
        return refuse(problem, format!("write the {result} to a file"));
    }
    Ok(())
}

/// How inputs are read.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ReadArgs {
    /// The host of access logs, such as http://docs.example.com
    #[arg(long, value_name = "URL")]
    pub(crate) host: Option<String>,
    /// A column under another name, such as digest=content_digest; may be given again
    #[arg(long, value_name = "COLUMN=NAME", long_help = help::COLUMN, hide_short_help = true)]
    pub(crate) column: Vec<NamedColumn>,
}

/// How far the rules of a file are trusted.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Apply mirrors too, which take URLs of one domain for those of another
    #[arg(long, long_help = help::TRUST_MIRRORS)]
    pub(crate) trust_mirrors: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(positive_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(positive_time("30d"), Ok(Duration::from_secs(30 * 86_400)));
        for text in ["", "30", "0d", "d", "1w", "-1d", "99999999999d", "1.5h"] {
            assert!(positive_time(text).is_err(), "{text}");
        }
        assert_eq!(time("0s"), Ok(Duration::ZERO));
    }
}
