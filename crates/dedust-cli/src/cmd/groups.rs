/*!
`dedust groups`: rules and a crawl in, the groups of URLs that the rules take for one page out.

A group is all URLs of one key. Its canonical URL is that of most of its URLs; of several that as many have, the shortest, then
the first in the order of bytes. What a group saves are the URLs after the first that was met, which a crawler would fetch.
*/

mod args;
mod write;

pub(crate) use self::args::GroupsArgs;
use self::write::Writer;
use dedust_report::{JoiningEdits, NotKept, UrlStore};

use crate::ExitStatus;
use crate::failure::Refusal;
use crate::number::count;
use crate::observe::{RowError, read_rows};
use crate::printer::Printer;
use crate::rule_file::{self, Watch};

/// Finds groups and writes them.
pub(crate) fn run(args: &GroupsArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let from_stdin = args.inputs.iter().any(|input| input.as_os_str() == "-");
    let mut watch = Watch::new(&args.rules);
    let (rules, normalizer) = rule_file::open(&args.rules, from_stdin)?.compiled();
    let normalizer = rule_file::trusted(normalizer, &args.rules, &args.trust, printer);
    // Before the work, which may be long: a target that cannot be written is known now.
    printer.write_to(&args.output)?;
    let mut store = UrlStore::new(&normalizer, args.memory as usize * 1_000_000);
    let mut is_full = false;
    let read = read_rows(&args.inputs, &args.read, printer, |seen| {
        store.push(seen.url(), seen.size()).map(|_| ()).map_err(|error| match error {
            NotKept::BadUrl(error) => RowError::Url(error),
            _ => {
                is_full = true;
                RowError::Stop
            }
        })
    });
    if is_full {
        return Err(too_large(args.memory));
    }
    read?;
    watch.look(printer);
    let groups = store.groups(args.min_size);
    let joining = JoiningEdits::new(&normalizer, rules.as_ref());
    Writer::new(args, &store, &normalizer, joining, printer.data()).write(&groups)?;
    if args.format == args::GroupsFormat::Csv || args.output.output.is_some() {
        printer.note(write::summary(&groups.totals));
    }
    Ok(ExitStatus::Success)
}

fn too_large(memory: u32) -> anyhow::Error {
    Refusal::new(
        format!("the URLs of this crawl do not fit into {} MB", count(u64::from(memory))),
        "allow more with --memory MB, or name fewer files at a time: URLs of different sites are never in one group, \
         mirrors aside",
    )
    .into()
}
