/*!
`learn --keep`: what people and `validate` said about earlier rules stays, and so does what was asked of learning.
*/

use std::path::{Path, PathBuf};

use dedust::RuleSet;
use dedust::rules::{Displaced, Kept};
use dedust_learn::LearnOptions;
use dedust_learn::support::ChangedOption;

use super::LearnArgs;
use crate::failure::{Refusal, option_name};
use crate::line_source::{name_of, reads_stdin};
use crate::number::counted;
use crate::observe::SHOWN;
use crate::printer::Printer;
use crate::rule_file;

/// The earlier rules.
pub(super) fn load(path: &Path, inputs: &[PathBuf]) -> anyhow::Result<RuleSet> {
    rule_file::load(path, reads_stdin(inputs))
}

/// What is asked for: what is given, else what was asked for when the earlier rules were learned, else the defaults.
pub(super) fn options(
    args: &LearnArgs,
    earlier: Option<&RuleSet>,
    printer: &mut Printer,
) -> anyhow::Result<LearnOptions> {
    let name = args.keep.as_ref().map_or_else(String::new, |path| name_of(path));
    let asked = earlier.map_or(Ok(None), LearnOptions::of_rules).map_err(|error| {
        let problem = format!("cannot learn with the options of {name}: {error}");
        Refusal::new(problem, "correct `options` in the file, or remove it there to learn with the defaults")
    })?;
    let asked = asked.unwrap_or_default();
    let options = asked.with(&args.options);
    let options = options.map_err(|error| Refusal::of_option(&error, args.keep.as_deref()))?;
    let repeated = asked.repeated(&args.options);
    if !repeated.is_empty() {
        let shown = |change: &ChangedOption| format!("{} {}", option_name(&change.name), change.is);
        let shown: Vec<String> = repeated.iter().map(shown).collect();
        printer.note(format_args!(
            "with the options of {name}: {}; give an option to change it",
            shown.join(" ")
        ));
    }
    Ok(options)
}

/// Says what was kept, and what gave way.
pub(super) fn report(kept: &Kept, path: &Path, printer: &mut Printer) {
    printer.note(format_args!(
        "kept of {}: {} off, {} pinned, {}; the figures are of what was learned",
        name_of(path),
        counted(kept.off, "rule", "rules"),
        counted(kept.pinned, "rule", "rules"),
        counted(kept.verdicts, "verdict", "verdicts"),
    ));
    for Displaced { site, id, rule, is_pinned, cause, .. } in kept.displaced.iter().take(SHOWN) {
        let why = match cause {
            Some(cause) => format!("{:#}", anyhow::Error::new(cause.clone())),
            None => "they hold on different hosts".into(),
        };
        let what = match is_pinned {
            true => "the pinned rule is off, since it cannot stand beside other pinned rules",
            false => "the learned rule is left out, since it cannot stand beside a pinned rule",
        };
        printer.warning(format_args!("{site}: {what}: {id} ({rule}): {why}"));
    }
    if let Some(more) = kept.displaced.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        printer.warning(format_args!("and {} gave way", counted(more as u64, "more rule", "more rules")));
    }
    if !kept.displaced.is_empty() {
        printer.hint(
            "to have a learned rule instead, take back what is pinned: dedust rules unpin RULES SITE ID",
        );
    }
    for site in kept.narrowed.iter().take(SHOWN) {
        printer.warning(format_args!(
            "{site}: pinned rules hold on fewer hosts than before, those on which the new rules were proven"
        ));
    }
}
