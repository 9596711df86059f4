/*!
`learn --keep`: what people and `validate` said about earlier rules stays.
*/

use std::path::{Path, PathBuf};

use dedust::RuleSet;
use dedust::rules::{Displaced, Kept};

use crate::line_source::name_of;
use crate::number::counted;
use crate::observe::SHOWN;
use crate::printer::Printer;
use crate::rule_file;

/// The earlier rules.
pub(super) fn load(path: &Path, inputs: &[PathBuf]) -> anyhow::Result<RuleSet> {
    rule_file::load(path, inputs.iter().any(|input| input.as_os_str() == "-"))
}

/// Says what was kept, and what gave way.
pub(super) fn report(kept: &Kept, path: &Path, printer: &mut Printer) {
    printer.note(format_args!(
        "kept of {}: {} off, {} pinned, {}; the figures are of what was learned",
        name_of(path),
        counted(kept.off, "edit", "edits"),
        counted(kept.pinned, "edit", "edits"),
        counted(kept.verdicts, "verdict", "verdicts"),
    ));
    for Displaced { site, edit, cause, .. } in kept.displaced.iter().take(SHOWN) {
        let why = match cause {
            Some(cause) => format!("{:#}", anyhow::Error::new(cause.clone())),
            None => "they hold on different hosts".into(),
        };
        let what = match edit.pinned.is_some() {
            true => "the pinned edit is off, since it cannot stand beside other pinned edits",
            false => "the learned edit is left out, since it cannot stand beside a pinned edit",
        };
        printer.warning(format_args!("{site}: {what}: {} ({edit}): {why}", edit.id()));
    }
    if let Some(more) = kept.displaced.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        printer.warning(format_args!("and {} gave way", counted(more as u64, "more edit", "more edits")));
    }
    if !kept.displaced.is_empty() {
        printer.hint(
            "to have a learned edit instead, take back what is pinned: dedust rules unpin RULES SITE ID",
        );
    }
    for site in kept.narrowed.iter().take(SHOWN) {
        printer.warning(format_args!(
            "{site}: pinned edits hold on fewer hosts than before, those on which the new edits were proven"
        ));
    }
}
