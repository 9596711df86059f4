/*!
`rules off`, `on`, `pin` and `unpin`: a rule file in, the same with other decisions out.
*/

use dedust::RuleSet;
use dedust::rules::{Decision, Edit};

use super::args::DecideArgs;
use super::select::edits_of;
use crate::ExitStatus;
use crate::number::counted;
use crate::printer::Printer;
use crate::rule_file::{self, refused_with};
use crate::{line_source, words};

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Off,
    On,
    Pin,
    Unpin,
}

/// Changes the decisions about some edits of a site.
pub(super) fn run(verb: Verb, args: &DecideArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    rule_file::check_rewritable(&args.rules)?;
    let mut rules = rule_file::load(&args.rules, false)?;
    let site = rule_file::site(&rules, &args.site)?;
    let mut indexes: Vec<usize> = if args.all { (0..site.len()).collect() } else { Vec::new() };
    for id in &args.ids {
        indexes.extend(edits_of(&args.site, site, id)?);
    }
    indexes.sort_unstable();
    indexes.dedup();
    let decision = args.decision.checked()?;
    let mut edits = site.edits().to_vec();
    let (mut changed, mut told, mut refuted) = (0, Vec::new(), Vec::new());
    for index in indexes {
        let edit = &mut edits[index];
        let is_changed = verb.apply(edit, &decision);
        changed += u64::from(is_changed);
        told.push(format!("{} {}: {edit}", edit.id(), verb.outcome(edit, is_changed)));
        if verb != Verb::Off && edit.off.is_none() && !edit.is_applied() {
            refuted.push(format!("{} is not applied: {}", edit.id(), refutation(edit)));
        }
    }
    if changed > 0 {
        replace_edits(&mut rules, &args.site, edits)?;
        rule_file::rewrite(&args.rules, &rules)?;
    }
    told.iter().for_each(|line| printer.note(line));
    if !refuted.is_empty() {
        refuted.iter().for_each(|line| printer.warning(line));
        printer.hint("pin it to apply it all the same");
    }
    let name = line_source::name_of(&args.rules);
    match changed {
        0 => printer.note(format_args!("nothing to change in {name}")),
        _ => printer.note(format_args!("{} changed in {name}", counted(changed, "edit", "edits"))),
    }
    Ok(ExitStatus::Success)
}

/// Gives a site other edits, if these can stand together.
pub(super) fn replace_edits(rules: &mut RuleSet, name: &str, edits: Vec<Edit>) -> anyhow::Result<()> {
    let site = rules.site(name).cloned().unwrap_or_default();
    let described = edits.clone();
    let refuse = |error| refused_with(name, &described, error);
    let site = site.with_edits(edits).map_err(refuse)?;
    rules.insert(name, site).map_err(refuse)?;
    Ok(())
}

fn refutation(edit: &Edit) -> String {
    edit.evidence.verdict.as_ref().map_or_else(String::new, words::verdict)
}

impl Verb {
    /// Changes an edit. `false`: it was so before.
    fn apply(self, edit: &mut Edit, decision: &Decision) -> bool {
        let made = || Some(Box::new(decision.clone()));
        let (decided, is_decided) = match self {
            Self::Off => (&mut edit.off, true),
            Self::On => (&mut edit.off, false),
            Self::Pin => (&mut edit.pinned, true),
            Self::Unpin => (&mut edit.pinned, false),
        };
        let is_changed = decided.is_some() != is_decided;
        if is_changed {
            *decided = if is_decided { made() } else { None };
        }
        is_changed
    }

    fn outcome(self, edit: &Edit, is_changed: bool) -> String {
        let name = match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Pin => "pinned",
            Self::Unpin => "not pinned",
        };
        let also = match self {
            Self::Pin | Self::Unpin if edit.off.is_some() => ", but off",
            _ => "",
        };
        format!("is {name}{}{also}", if is_changed { "" } else { " already" })
    }
}
