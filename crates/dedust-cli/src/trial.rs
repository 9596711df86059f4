/*!
Rules that are tried on a crawl whose URLs are all held in memory: what `groups` and `report` have in common.
*/

use std::path::{Path, PathBuf};

use dedust::{Normalizer, RuleSet};

use crate::args::{ReadArgs, TrustArgs};
use crate::failure::Refusal;
use crate::line_source::reads_stdin;
use crate::number::count;
use crate::printer::Printer;
use crate::rule_file::{self, Watch};

/// How rules are tried on a crawl.
#[derive(Debug, clap::Args)]
pub(crate) struct TrialArgs {
    /// Memory, in MB, for the URLs; a crawl that needs more is refused
    #[arg(long, value_name = "MB", default_value_t = 2000, hide_short_help = true)]
    memory: u32,
    /// How inputs are read.
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// How far the rules are trusted.
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// Rules that are tried.
pub(crate) struct Tried {
    /// With evidence; `None` if they are compiled.
    pub(crate) rules: Option<RuleSet>,
    pub(crate) normalizer: Normalizer,
    /// Looks after the reading whether the file has changed.
    pub(crate) watch: Watch,
}

impl TrialArgs {
    /// Opens the rules that are to be tried on some inputs.
    pub(crate) fn open(
        &self,
        rules: &Path,
        inputs: &[PathBuf],
        printer: &mut Printer,
    ) -> anyhow::Result<Tried> {
        let from_stdin = reads_stdin(inputs);
        let watch = Watch::new(rules);
        let (known, normalizer) = rule_file::open(rules, from_stdin)?.compiled();
        let normalizer = rule_file::trusted(normalizer, rules, &self.trust, printer);
        Ok(Tried { rules: known, normalizer, watch })
    }

    /// Bytes for the URLs.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory as usize * 1_000_000
    }

    /// Why a crawl is refused whose URLs need more.
    pub(crate) fn too_large(&self) -> Refusal {
        Refusal::new(
            format!("the URLs of this crawl do not fit into {} MB", count(u64::from(self.memory))),
            "allow more with --memory MB, or name fewer files at a time: URLs of different sites are never taken for one page, \
             mirrors aside",
        )
    }
}
