/*!
Options of `dedust dedup`.
*/

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use dedust_seen::SeenLocation;

use crate::args::{PatienceArgs, ReadArgs, TrustArgs, positive_time};
use crate::help;

/// What `--budgets` means.
const BUDGETS: &str = "Leave out what is not worth fetching, by budgets from `dedust budget`; counted by pattern at the end

A URL that is left out is not remembered as seen, so that it is printed when the share of its pattern rises. Which URLs of a pattern
are fetched depends on their keys alone: every process and every run chooses the same.";

/// Options of `dedup`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::DEDUP)]
pub(crate) struct DedupArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// Files or folders with URLs, of any format that `learn` reads [default: `-`, standard input]
    #[arg(value_name = "INPUT", long_help = help::urls())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Remember what was seen, for the next time too: in a folder, or for many processes at redis://HOST:PORT/PREFIX
    #[arg(long, value_name = "DIR|URL", long_help = help::SEEN_PLACE)]
    pub(crate) seen: Option<SeenLocation>,
    /// The crawl that this is a part of, on a server; ends with `dedust seen commit` or `cancel`
    #[arg(long, value_name = "NAME", requires = "seen", hide_short_help = true, long_help = help::SESSION)]
    pub(crate) session: Option<String>,
    /// How long a new set on a server remembers a page, such as 12h or 30d [default: for good]
    #[arg(long, value_name = "TIME", requires = "seen", value_parser = positive_time, hide_short_help = true, long_help = help::TTL)]
    pub(crate) ttl: Option<Duration>,
    /// Rules have changed: make the set anew, from the URLs that were printed before; may be given again
    #[arg(long, value_name = "FILE", requires = "seen", long_help = help::REKEY)]
    pub(crate) rekey: Vec<PathBuf>,
    /// Wait for the disk, so that a loss of power forgets nothing either; slower
    #[arg(long, requires = "seen")]
    pub(crate) sync: bool,
    /// Tell at the end how many URLs were new, and what the set takes
    #[arg(long)]
    pub(crate) stats: bool,
    /// Rules on trial: tell at the end what they would have left out too; what is printed stays the same
    #[arg(long, value_name = "RULES", long_help = help::SHADOW)]
    pub(crate) shadow: Option<PathBuf>,
    /// Leave out what is not worth fetching, by budgets from `dedust budget`; counted by pattern at the end
    #[arg(long, value_name = "BUDGETS", long_help = BUDGETS)]
    pub(crate) budgets: Option<PathBuf>,
    /// URLs with other schemes are left out: names joined by commas, or `any`
    #[arg(long, value_name = "SCHEMES", default_value = "http,https", hide_short_help = true)]
    pub(crate) schemes: Schemes,
    /// What is written
    #[arg(long, value_enum, default_value_t = DedupFormat::Same)]
    pub(crate) format: DedupFormat,
    /// Where the new URLs go, as soon as they are known [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "output", hide_short_help = true)]
    pub(crate) force: bool,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// How long the server of the set is waited for.
    #[command(flatten)]
    pub(crate) patience: PatienceArgs,
}

/// What `dedup` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DedupFormat {
    /// Rows of JSON Lines, CSV, TSV, CDX and CDXJ as they came; of all else: text
    Same,
    /// URLs, one per line
    Text,
    /// A JSON object per URL
    Json,
}

/// Schemes of URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schemes {
    /// With their colons; `None` for any.
    names: Option<Vec<Vec<u8>>>,
}

impl FromStr for Schemes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self { names: None });
        }
        let is_scheme = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        };
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        match names.iter().find(|name| !is_scheme(name)) {
            Some(name) => Err(format!("`{name}` is no scheme, expected names such as http,https, or any")),
            None => Ok(Self {
                names: Some(
                    names.iter().map(|name| format!("{}:", name.to_ascii_lowercase()).into()).collect(),
                ),
            }),
        }
    }
}

impl Schemes {
    /// Whether a key has one of these schemes.
    pub(super) fn contain(&self, key: &[u8]) -> bool {
        match &self.names {
            Some(names) => names.iter().any(|name| key.starts_with(name)),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_those_of_keys() {
        let schemes: Schemes = "http, HTTPS".parse().unwrap();
        assert!(schemes.contain(b"http://a.example/") && schemes.contain(b"https://a.example/"));
        assert!(!schemes.contain(b"mailto:a@a.example") && !schemes.contain(b"httpx://a.example/"));
        assert!("any".parse::<Schemes>().unwrap().contain(b"mailto:a@a.example"));
        assert!("http,".parse::<Schemes>().is_err() && "http://".parse::<Schemes>().is_err());
    }
}
