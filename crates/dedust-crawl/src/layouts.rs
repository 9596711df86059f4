/*!
How inputs were read: as what, which columns were used, and which were not.

Inputs that were read in the same way are named together.
*/

use dedust_io::{Column, Format, Layout, Preset, Reader};

/// Different layouts that are told of.
const MAX_LAYOUTS: usize = 20;

/// How the inputs so far were read.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    found: Vec<FoundLayout>,
}

/// How some inputs were read.
#[derive(Clone, Debug)]
pub struct FoundLayout {
    /// The first input.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// Which of its columns is which.
    pub layout: Layout,
    /// How many more inputs were read in the same way.
    pub more: u64,
}

impl Layouts {
    /// Remembers how an input was read.
    pub fn note(&mut self, reader: &Reader) {
        let mut layout = reader.layout().unwrap_or_default();
        layout.preset = reader.preset();
        self.add(reader.name(), reader.format(), layout);
    }

    /// Remembers how an input was read of which only URLs matter: no evidence is missed.
    pub fn note_urls(&mut self, name: &str, format: Format, layout: Layout) {
        let Layout { preset, mut renamed, .. } = layout;
        renamed.retain(|(column, _)| *column == Column::Url);
        let mut layout = Layout::default();
        (layout.preset, layout.renamed) = (preset, renamed);
        self.add(name, format, layout);
    }

    fn add(&mut self, name: &str, format: Format, layout: Layout) {
        let same = self.found.iter_mut().find(|found| found.format == format && found.layout == layout);
        if let Some(found) = same {
            found.more += 1;
        } else if self.found.len() < MAX_LAYOUTS {
            self.found.push(FoundLayout { name: name.to_owned(), format, layout, more: 0 });
        }
    }

    /// Whether an input of this tool was among them.
    pub fn has(&self, preset: Preset) -> bool {
        self.found.iter().any(|found| found.layout.preset == Some(preset))
    }

    /// All that are told of, in the order in which they were met.
    pub fn found(&self) -> &[FoundLayout] {
        &self.found
    }
}
