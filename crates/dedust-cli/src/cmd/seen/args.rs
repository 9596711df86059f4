/*!
Options of `dedust seen`.
*/

use std::path::PathBuf;

use clap::Subcommand;

use crate::args::{PatienceArgs, ReportFormat};
use crate::help;

/// Options of `seen`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::SEEN)]
pub(crate) struct SeenArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: SeenCommand,
}

/// The verbs of `seen`.
#[derive(Debug, Subcommand)]
pub(crate) enum SeenCommand {
    /// Read all files and say whether they are as they were written; changes nothing
    Check(SeenFolderArgs),
    /// Make a damaged folder usable again, and say what was lost
    Repair(SeenFolderArgs),
    /// Say whose keys a server has, and which sessions are open
    List(SeenServerArgs),
    /// End a session on a server: its pages count as seen for all from now on
    Commit(SeenSessionArgs),
    /// End a session on a server as if it had never been
    Cancel(SeenSessionArgs),
    /// Remove the keys of rules that are not used any more from a server
    Forget(SeenForgetArgs),
}

/// Options of `seen check` and `seen repair`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::SEEN)]
pub(crate) struct SeenFolderArgs {
    /// The folder of `dedup --seen`
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Where a set on a server is.
#[derive(clap::Args)]
#[command(after_long_help = help::SEEN)]
pub(crate) struct SeenServerArgs {
    /// The address of `dedup --seen`: redis://HOST:PORT/PREFIX
    pub(crate) address: String,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// How long the server is waited for.
    #[command(flatten)]
    pub(crate) patience: PatienceArgs,
}

impl std::fmt::Debug for SeenServerArgs {
    /// Leaves out the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&dedust_seen::server::shown_address(&self.address))
    }
}

/// Options of `seen commit` and `seen cancel`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::SEEN)]
pub(crate) struct SeenSessionArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) server: SeenServerArgs,
    /// The name that `dedup --session` was given
    pub(crate) session: String,
}

/// Options of `seen forget`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help::SEEN)]
pub(crate) struct SeenForgetArgs {
    /// Where.
    #[command(flatten)]
    pub(crate) server: SeenServerArgs,
    /// Fingerprint of the rules, as `seen list` prints it
    pub(crate) rules: String,
}
