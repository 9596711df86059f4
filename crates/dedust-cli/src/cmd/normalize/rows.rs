/*!
Rewrites the URLs of inputs that are no lists: archives, logs, indexes and tables, one line per row.

The URLs of some rows are put into lines, which are then rewritten like those of a list.
*/

use dedust_io::{Input, Location, Observation};

use super::{Job, Sink, Workers};
use crate::interrupt;
use crate::observe::{self, SHOWN};

/// Bytes of URLs that are rewritten at once.
const BATCH_BYTES: usize = 1 << 20;

/// Rewrites all rows of an input.
pub(super) fn rewrite(
    job: &mut Job<'_>,
    input: Input,
    workers: &mut Workers<'_>,
    sink: &mut Sink<'_>,
) -> anyhow::Result<()> {
    let name = input.name().to_owned();
    let mut reader = input.observations()?;
    let mut observation = Observation::new();
    let mut lines = Vec::with_capacity(2 * BATCH_BYTES);
    let mut locations = Vec::new();
    let mut bad_rows = 0;
    let read = loop {
        match reader.read(&mut observation) {
            Ok(Some(Ok(()))) => {
                push_line(observation.url(), &mut lines);
                locations.push(observation.location());
            }
            Ok(Some(Err(bad))) => {
                bad_rows += 1;
                if bad_rows <= SHOWN {
                    sink.printer.warning(bad);
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        interrupt::check()?;
        if lines.len() >= BATCH_BYTES {
            write(&lines, &locations, &name, workers, sink)?;
            lines.clear();
            locations.clear();
            job.watch.look(sink.printer);
        }
    };
    // What is refused is not written; what was read before a failure is.
    let is_usable = reader.check();
    let written = match (&read, &is_usable) {
        (Ok(()), Err(_)) => Ok(()),
        _ => write(&lines, &locations, &name, workers, sink),
    };
    observe::report_urls(&reader, &mut job.layouts, sink.printer);
    written?;
    read?;
    Ok(is_usable?)
}

/// Rewrites some rows, put into lines.
fn write(
    lines: &[u8],
    locations: &[Location],
    name: &str,
    workers: &mut Workers<'_>,
    sink: &mut Sink<'_>,
) -> anyhow::Result<()> {
    let before = workers.tally.lines;
    workers.rewrite(lines);
    let written = workers.write(false, name, sink);
    workers.tally.locate(before, locations);
    written
}

/// Adds a URL as a line. Line ends within a URL mean nothing, and would make two of it.
fn push_line(url: &[u8], lines: &mut Vec<u8>) {
    if memchr::memchr2(b'\n', b'\r', url).is_some() {
        lines.extend(url.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
    } else {
        lines.extend_from_slice(url);
    }
    lines.push(b'\n');
}
