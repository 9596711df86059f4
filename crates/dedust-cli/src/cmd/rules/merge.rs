/*!
`rules merge`: two rule files in, one with the sites and rules of both out.
*/

use dedust::rules::{DecidedTwice, MergeConflict, Prefer};
use dedust_io::OutputFile;

use super::args::{MergeArgs, PreferredFile};
use crate::ExitStatus;
use crate::failure::{Refusal, refuse};
use crate::line_source::{is_dash, name_of_output};
use crate::number::counted;
use crate::printer::Printer;
use crate::rule_file::{self, refused_with};
use dedust_report::rule_state::state;

/// Merges two files. Sites that cannot be united are an answer of no, and nothing is written.
pub(super) fn run(args: &MergeArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    if args.first == args.second && is_dash(&args.first) {
        let problem = "both rule files are to come from standard input";
        return refuse(problem, "name the file of at least one");
    }
    let (first, second) = (rule_file::load(&args.first, false)?, rule_file::load(&args.second, false)?);
    // Before anything is printed: a target that cannot be written is known now.
    let output = OutputFile::create(&args.output, args.force)?;
    let prefer = args.prefer.map(|prefer| match prefer {
        PreferredFile::First => Prefer::First,
        PreferredFile::Second => Prefer::Second,
    });
    let merged = first.merge(&second, prefer);
    for conflict in &merged.conflicts {
        printer.failure(&refusal(conflict).into());
    }
    if !merged.conflicts.is_empty() {
        let sites = counted(merged.conflicts.len() as u64, "site", "sites");
        printer.note(format_args!("nothing was written: {sites} cannot be united"));
        printer.hint(
            "turn off one rule of each pair, or choose a file for such sites: --prefer first or second",
        );
        return Ok(ExitStatus::No);
    }
    let rules = &merged.rules;
    output.write_whole(|output| rules.save(output))?;
    for DecidedTwice { site, index, .. } in &merged.decided {
        let Some(rule) = rules.site(site).and_then(|site| site.entry(*index)) else { continue };
        let now = state(rule);
        printer.note(format_args!(
            "{site} {}: off in one file and not in the other, now {now}: {rule}",
            rule.id()
        ));
    }
    let target = name_of_output(&args.output);
    printer.note(format_args!(
        "{} of {} written to {target}",
        counted(rules.rule_count() as u64, "rule", "rules"),
        counted(rules.sites().len() as u64, "site", "sites"),
    ));
    Ok(ExitStatus::Success)
}

fn refusal(conflict: &MergeConflict) -> Refusal {
    match &conflict.cause {
        Some(cause) => refused_with(&conflict.site, &conflict.rules, cause.clone()),
        None => Refusal::new(
            format!("the rules of `{}` hold on different hosts in the two files", conflict.site),
            "make `hosts` of the site equal in both, or choose one of them",
        ),
    }
}
