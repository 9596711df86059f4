/*!
`dedust groups`: rules and a crawl in, the groups of URLs that the rules take for one page out.

A group is all URLs of one key. Its canonical URL is one that showed a page, else that of most of its URLs; of several that as many have, the
shortest, then the first in the order of bytes. What a group saves are the URLs after the first that was met, which a crawler would fetch.
*/

mod args;
mod write;

pub(crate) use self::args::GroupsArgs;
use self::write::Writer;
use dedust_report::{JoiningRules, UrlStore};

use crate::ExitStatus;
use crate::observe::read_rows;
use crate::printer::Printer;
use crate::trial::Tried;

/// Finds groups and writes them.
pub(crate) fn run(args: &GroupsArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let Tried { rules, normalizer, mut watch } = args.trial.open(&args.rules, &args.inputs, printer)?;
    // Before the work, which may be long: a target that cannot be written is known now.
    printer.write_to(&args.output)?;
    let mut store = UrlStore::new(&normalizer, args.trial.memory_bytes());
    let read = read_rows(&args.inputs, &args.trial.read, printer, |seen| {
        store.push(seen.url(), &seen.clues())?;
        Ok(())
    });
    if store.is_full() {
        return Err(args.trial.too_large().into());
    }
    read?;
    watch.look(printer);
    let groups = store.groups(args.min_size);
    let joining = JoiningRules::new(&normalizer, rules.as_ref());
    Writer::new(args, &store, &normalizer, joining, printer.data()).write(&groups)?;
    if args.format == args::GroupsFormat::Csv || args.output.output.is_some() {
        printer.note(write::summary(&groups.totals));
    }
    Ok(ExitStatus::Success)
}
