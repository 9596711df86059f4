/*!
Options of `dedust normalize`.
*/

use std::path::PathBuf;

use clap::ValueEnum;
use dedust_io::Format;

use crate::args::{ReadArgs, TrustArgs};
use crate::help;

/// Options of `normalize`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::NORMALIZE)]
pub(crate) struct NormalizeArgs {
    /// Rules from `dedust learn`
    pub(crate) rules: PathBuf,
    /// Files or folders with URLs, of any format that `learn` reads; `-` is standard input
    #[arg(default_value = "-", value_name = "INPUT", long_help = help::urls())]
    pub(crate) inputs: Vec<PathBuf>,
    /// Where the result goes; `DIR/` for a file of its own for each input [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite OUT if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Write keys, which are for comparing only, instead of URLs; tables get both
    #[arg(long)]
    pub(crate) key: bool,
    /// What is written
    #[arg(long, value_enum, default_value_t = UrlFormat::Same)]
    pub(crate) format: UrlFormat,
    /// The name of the column that tables get for keys
    #[arg(long, value_name = "NAME", default_value = "dedust_key")]
    pub(crate) key_column: String,
    /// The name of the column that tables get for canonical URLs
    #[arg(long, value_name = "NAME", default_value = "dedust_url")]
    pub(crate) url_column: String,
    /// Print no URLs, exit with 1 if any would change
    #[arg(long, conflicts_with_all = ["key", "format", "output"])]
    pub(crate) check: bool,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// What `normalize` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UrlFormat {
    /// A table of the same format with two columns more; of lists, logs and archives: text
    Same,
    /// The canonical URL or key, one per line
    Text,
    /// The input, a tab, the canonical URL or key
    Tsv,
    /// A JSON object per line
    Json,
}

impl UrlFormat {
    /// Whether an input of this format comes out as a table.
    pub(super) fn makes_table(self, input: Format) -> bool {
        self == UrlFormat::Same && input.is_table()
    }
}
