/*!
Opens the rule file that a command was given, with errors that name it.
*/

use std::path::Path;

use anyhow::Context as _;
use dedust::RuleSet;

use crate::failure::Refusal;
use crate::line_source;

/// Loads and checks the rules at `path`, or on standard input for `-` unless the URLs are there; gzip and zstd are
/// fine.
pub(crate) fn load(path: &Path, urls_on_stdin: bool) -> anyhow::Result<RuleSet> {
    if urls_on_stdin && path.as_os_str() == "-" {
        return Err(Refusal::new(
            "both the rules and the URLs are to come from standard input",
            "name the file of at least one",
        )
        .into());
    }
    let file = dedust_io::open_text(path)?;
    let name = line_source::name_of(path);
    RuleSet::load(file).with_context(|| format!("cannot use the rules in {name}"))
}
