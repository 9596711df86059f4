/*!
`dedust rules`: shows the rules of a rule file, and lets people decide about them.
*/

mod add;
mod args;
mod decide;
mod diff;
mod lint;
mod list;
mod merge;
mod select;
mod show;

use dedust::rules::DecisionVerb;

pub(crate) use self::args::RulesArgs;
use self::args::RulesCommand;
use crate::ExitStatus;
use crate::printer::Printer;

/// Runs one of the verbs.
pub(crate) fn run(args: &RulesArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    match &args.command {
        RulesCommand::List(args) => list::run(args, printer),
        RulesCommand::Show(args) => show::run(args, printer),
        RulesCommand::Off(args) => decide::run(DecisionVerb::Off, args, printer),
        RulesCommand::On(args) => decide::run(DecisionVerb::On, args, printer),
        RulesCommand::Pin(args) => decide::run(DecisionVerb::Pin, args, printer),
        RulesCommand::Unpin(args) => decide::run(DecisionVerb::Unpin, args, printer),
        RulesCommand::Add(args) => add::run(args, printer),
        RulesCommand::Diff(args) => diff::run(args, printer),
        RulesCommand::Merge(args) => merge::run(args, printer),
        RulesCommand::Lint(args) => lint::run(args, printer),
    }
}
