/*!
What people are told about how inputs were read: as what, which columns were used, and which were not.

Inputs that were read in the same way are named together. Nothing is said of inputs with our own names only.
*/

use dedust_io::{Format, Layout, Preset, Reader};

use crate::number::count;
use crate::printer::Printer;

/// Different layouts that are told of.
const MAX_LAYOUTS: usize = 20;

/// How the inputs so far were read.
#[derive(Default)]
pub(crate) struct Layouts {
    found: Vec<Found>,
}

struct Found {
    /// The first input.
    name: String,
    format: Format,
    layout: Layout,
    /// How many more there are.
    more: u64,
}

impl Layouts {
    /// Remembers how an input was read.
    pub(crate) fn note(&mut self, reader: &Reader) {
        let mut layout = reader.layout().unwrap_or_default();
        layout.preset = reader.preset();
        self.add(reader.name(), reader.format(), layout);
    }

    /// Remembers how an input was read of which only URLs matter: no evidence is missed.
    pub(crate) fn note_urls(&mut self, name: &str, format: Format, layout: Layout) {
        let Layout { preset, mut renamed, .. } = layout;
        renamed.retain(|(column, _)| *column == dedust_io::Column::Url);
        let mut layout = Layout::default();
        (layout.preset, layout.renamed) = (preset, renamed);
        self.add(name, format, layout);
    }

    fn add(&mut self, name: &str, format: Format, layout: Layout) {
        let same = self.found.iter_mut().find(|found| found.format == format && found.layout == layout);
        if let Some(found) = same {
            found.more += 1;
        } else if self.found.len() < MAX_LAYOUTS {
            self.found.push(Found { name: name.to_owned(), format, layout, more: 0 });
        }
    }

    /// Whether an input of this tool was among them.
    pub(crate) fn has(&self, preset: Preset) -> bool {
        self.found.iter().any(|found| found.layout.preset == Some(preset))
    }

    /// Says how inputs were read, and what looks like evidence and was not used.
    pub(crate) fn report(&self, printer: &mut Printer) {
        for Found { name, format, layout, more } in &self.found {
            let others = if *more > 0 { format!(" and {} more", count(*more)) } else { String::new() };
            let mut shown = layout.clone();
            if matches!(format, Format::CrawlLog | Format::NutchDump) {
                // The name of the format says it.
                shown.preset = None;
            }
            let text = format!("read {name}{others} as {format}{shown}");
            if layout.is_plain() {
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
}

/// A name as it is written in a shell.
fn quoted(name: &str) -> String {
    if name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) {
        name.to_owned()
    } else {
        format!("'{name}'")
    }
}
