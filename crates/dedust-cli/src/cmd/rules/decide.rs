/*!
`rules off`, `on`, `pin` and `unpin`: a rule file in, the same with other decisions out.
*/

use dedust::rules::{Decided, DecidedRules, DecisionVerb, SiteEntry};

use super::args::DecideArgs;
use super::select::refusal;
use crate::ExitStatus;
use crate::line_source::name_of;
use crate::number::counted;
use crate::printer::Printer;
use crate::{rule_file, words};

/// Changes the decisions about some rules of a site.
pub(super) fn run(
    verb: DecisionVerb,
    args: &DecideArgs,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    rule_file::check_rewritable(&args.rules)?;
    let mut rules = rule_file::load(&args.rules, false)?;
    rule_file::site(&rules, &args.site)?;
    let decision = args.decision.checked()?;
    let which = if args.all { DecidedRules::All } else { DecidedRules::Ids(&args.ids) };
    let decided = rules.decide(&args.site, which, verb, &decision);
    let decided = decided.map_err(|error| refusal(error, &rules))?;
    let site_rules = rule_file::site(&rules, &args.site)?;
    let (mut changed, mut told, mut refuted) = (0, Vec::new(), Vec::new());
    for Decided { index, is_changed } in decided {
        let Some(rule) = site_rules.entry(index) else { continue };
        changed += u64::from(is_changed);
        told.push(format!("{} {}: {rule}", rule.id(), outcome(verb, rule, is_changed)));
        if verb != DecisionVerb::Off && rule.off().is_none() && !rule.is_applied() {
            refuted.push(format!("{} is not applied: {}", rule.id(), refutation(rule)));
        }
    }
    if changed > 0 {
        rule_file::rewrite(&args.rules, &rules)?;
    }
    told.iter().for_each(|line| printer.note(line));
    if !refuted.is_empty() {
        refuted.iter().for_each(|line| printer.warning(line));
        printer.hint("pin it to apply it all the same");
    }
    let name = name_of(&args.rules);
    match changed {
        0 => printer.note(format_args!("nothing to change in {name}")),
        _ => printer.note(format_args!("{} changed in {name}", counted(changed, "rule", "rules"))),
    }
    Ok(ExitStatus::Success)
}

fn refutation(rule: SiteEntry<'_>) -> String {
    rule.evidence().verdict.as_ref().map_or_else(String::new, words::verdict)
}

fn outcome(verb: DecisionVerb, rule: SiteEntry<'_>, is_changed: bool) -> String {
    let name = match verb {
        DecisionVerb::Off => "off",
        DecisionVerb::On => "on",
        DecisionVerb::Pin => "pinned",
        DecisionVerb::Unpin => "not pinned",
    };
    let also = match verb {
        DecisionVerb::Pin | DecisionVerb::Unpin if rule.off().is_some() => ", but off",
        _ => "",
    };
    format!("is {name}{}{also}", if is_changed { "" } else { " already" })
}
