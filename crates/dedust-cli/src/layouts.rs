/*!
What people are told about how inputs were read: as what, which columns were used, and which were not.

Inputs that were read in the same way are named together. Nothing is said of inputs with our own names only.
*/

use dedust_crawl::{FoundLayout, Layouts};

use crate::number::count;
use crate::printer::Printer;

/// Says how inputs were read, and what looks like evidence and was not used.
pub(crate) fn report(layouts: &Layouts, printer: &mut Printer) {
    for FoundLayout { name, format, layout, more } in layouts.found() {
        let others = if *more > 0 { format!(" and {} more", count(*more)) } else { String::new() };
        let text = format!("read {name}{others} as {format}{layout}");
        if layout.is_plain() && !format.names_tool() {
            printer.detail(text);
        } else {
            printer.note(text);
        }
        for (column, unused) in &layout.unused_evidence {
            printer.warning(format_args!(
                    "the column \"{unused}\" of {name} looks like `{column}` and was not used; if it is, add --column \
                     {column}={}",
                    quoted(unused)
                ));
        }
    }
}

/// A name as it is written in a shell.
fn quoted(name: &str) -> String {
    if name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) {
        name.to_owned()
    } else {
        format!("'{name}'")
    }
}
