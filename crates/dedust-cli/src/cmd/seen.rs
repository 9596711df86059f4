/*!
`dedust seen`: looks after the sets of `dedup --seen`.
*/

mod args;
mod folder;
mod server;

pub(crate) use self::args::SeenArgs;
use self::args::SeenCommand;
pub(crate) use self::server::patiently;
use crate::ExitStatus;
use crate::printer::Printer;

/// Does what the verb says.
pub(crate) fn run(args: &SeenArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    match &args.command {
        SeenCommand::Check(args) => folder::check(args, printer),
        SeenCommand::Repair(args) => folder::repair(args, printer),
        SeenCommand::List(args) => server::list(args, printer),
        SeenCommand::Commit(args) => server::commit(args, printer),
        SeenCommand::Cancel(args) => server::cancel(args, printer),
        SeenCommand::Forget(args) => server::forget(args, printer),
    }
}
