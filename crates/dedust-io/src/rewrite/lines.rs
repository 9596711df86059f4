/*!
Copies tables whose rows are lines: JSON Lines, CSV, TSV, CDX and CDXJ.

Rows are held until what is added to them is made, and then written as their format has it
([`CopyRows`]). Line ends stay as they are.
*/

use std::io::Write;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use super::{AddedColumns, AddedNames, MakeColumns, RewriteError, UrlBatch};
use crate::format::entry::{AddedValues, CopyRows};
use crate::{DelimitedHeader, Format, Input, Layout, Observation, Reader, RowKind};

/// Bytes of rows that are held at a time.
const HELD_BYTES: usize = 8 << 20;

pub(super) struct LineRewriter<'o> {
    /// None of a format that is no table.
    copy: Option<&'static dyn CopyRows>,
    names: AddedNames,
    output: &'o mut (dyn Write + Send),
    /// That of the first delimited input.
    header: Option<DelimitedHeader>,
    /// Whether something was written.
    has_started: bool,
    batch: UrlBatch,
    rows: HeldRows,
    added: AddedColumns,
    out: Vec<u8>,
}

/// Rows that wait for what is added to them.
#[derive(Default)]
struct HeldRows {
    text: Vec<u8>,
    rows: Vec<(Range<usize>, Fate)>,
}

/// What becomes of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Two values are added.
    Extended,
    /// It stays as it is.
    Copied,
}

impl<'o> LineRewriter<'o> {
    pub(super) fn new(format: Format, names: AddedNames, output: &'o mut (dyn Write + Send)) -> Self {
        Self {
            copy: format.copy_rows(),
            names,
            output,
            header: None,
            has_started: false,
            batch: UrlBatch::default(),
            rows: HeldRows::default(),
            added: AddedColumns::default(),
            out: Vec::new(),
        }
    }

    pub(super) fn add(
        &mut self,
        input: Input,
        make: &mut MakeColumns<'_>,
    ) -> Result<Option<Layout>, RewriteError> {
        let file: Arc<str> = input.name().into();
        let Some(copy) = self.copy else {
            return Err(RewriteError::NotATable { file, format: input.format() });
        };
        let mut reader = input.observations()?;
        self.batch = UrlBatch::new(file.clone());
        self.start(copy, &file, &reader)?;
        let mut observation = Observation::new();
        loop {
            let Some(kind) = reader.read_each(&mut observation)? else { break };
            if self.batch.locations.is_empty() {
                self.check_names(&file, &reader)?;
            }
            let text = reader.text_of_row().unwrap_or_default();
            match kind {
                RowKind::Page => self.hold(text, Some(observation.url()), &observation),
                RowKind::Bad(bad) if bad.reason.is_about_url() => self.hold(text, None, &observation),
                RowKind::Bad(bad) => self.batch.bad_rows.push(bad),
                RowKind::Other if copy.copies_other_lines() => self.rows.push(text, Fate::Copied),
                // A row of another subset is one nevertheless; what remains is brackets of an array.
                RowKind::Other if observation.url().is_empty() => {}
                RowKind::Other => self.hold(text, Some(observation.url()), &observation),
            }
            if self.batch.is_full() || self.rows.text.len() >= HELD_BYTES {
                self.write(copy, make)?;
            }
        }
        self.write(copy, make)?;
        Ok(reader.layout())
    }

    pub(super) fn finish(self) -> Result<(), RewriteError> {
        Ok(self.output.flush()?)
    }

    fn hold(&mut self, text: &[u8], url: Option<&[u8]>, observation: &Observation) {
        self.rows.push(text, Fate::Extended);
        self.batch.push(url, observation.location());
    }

    /// Refuses an input of which a name that was met is that of an added column.
    fn check_names(&self, file: &Arc<str>, reader: &Reader) -> Result<(), RewriteError> {
        let layout = reader.layout().unwrap_or_default();
        self.names.check(file, layout.ignored.iter().map(|name| &**name))
    }

    /// Writes the header, if there is one to be written.
    fn start(&mut self, copy: &dyn CopyRows, file: &Arc<str>, reader: &Reader) -> Result<(), RewriteError> {
        match (reader.header(), &self.header) {
            (Some(header), Some(first)) if first.text.trim_ascii_end() == header.text.trim_ascii_end() => {}
            (Some(_), Some(_)) => return Err(RewriteError::OtherColumns { file: file.clone() }),
            (Some(header), None) => {
                self.check_names(file, reader)?;
                let names = self.names.both();
                let values = names.map(|name| Some(name.as_bytes()));
                let added = AddedValues { names, values, header: Some(header) };
                copy.extend(&header.text, &added, &mut self.out);
                self.header = Some(header.clone());
            }
            (None, _) if !self.has_started => copy.begin(reader.start(), &mut self.out),
            (None, _) => {}
        }
        Ok(())
    }

    /// Makes what is added, and writes all rows that are held.
    fn write(&mut self, copy: &dyn CopyRows, make: &mut MakeColumns<'_>) -> Result<(), RewriteError> {
        self.added.fill(&self.batch, make)?;
        let mut rows = mem::take(&mut self.rows);
        let mut added = self.added.keys.iter().zip(self.added.urls.iter());
        for (range, fate) in rows.rows.drain(..) {
            let text = &rows.text[range];
            if fate == Fate::Copied {
                copy.copy(text, &mut self.out);
                continue;
            }
            let values = added.next().map_or([None; 2], |(key, url)| [key, url]);
            let added = AddedValues { names: self.names.both(), values, header: self.header.as_ref() };
            copy.extend(text, &added, &mut self.out);
        }
        rows.text.clear();
        self.rows = rows;
        self.has_started |= !self.out.is_empty();
        self.output.write_all(&self.out)?;
        self.out.clear();
        self.batch.clear();
        Ok(())
    }
}

impl HeldRows {
    fn push(&mut self, text: &[u8], fate: Fate) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.rows.push((start..self.text.len(), fate));
    }
}
