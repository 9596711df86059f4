/*!
Copies Arrow files and streams batch by batch, adding two columns. A file stays a file, a stream a stream; buffers are compressed as
they were.
*/

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

use super::{AddedColumns, AddedNames, MakeColumns, RewriteError, TextColumn, UrlBatch};
use crate::arrow::{BatchColumn, Checked, MessageError, OpenTable, read_error};
use crate::table::{Cell, guarded, known_columns};
use crate::{Column, Input, Layout};

pub(super) struct ArrowRewriter<'o> {
    names: AddedNames,
    /// Until the first input is known.
    output: Option<&'o mut (dyn Write + Send)>,
    writer: Option<Writer<'o>>,
    /// That of the first input, and with the added columns.
    schemas: Option<(SchemaRef, SchemaRef)>,
}

enum Writer<'o> {
    File(Box<FileWriter<&'o mut (dyn Write + Send)>>),
    Stream(Box<StreamWriter<&'o mut (dyn Write + Send)>>),
}

impl<'o> ArrowRewriter<'o> {
    pub(super) fn new(names: AddedNames, output: &'o mut (dyn Write + Send)) -> Self {
        Self { names, output: Some(output), writer: None, schemas: None }
    }

    pub(super) fn add(
        &mut self,
        input: Input,
        make: &mut MakeColumns<'_>,
    ) -> Result<Option<Layout>, RewriteError> {
        let name: Arc<str> = input.name().into();
        let named = input.columns().to_vec();
        let file = input.into_file()?;
        let (mut table, known) = guarded(&name, 0, || {
            let table = OpenTable::open(&name, file)?;
            let names: Vec<&str> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
            let known = known_columns(&name, &names, &named)?;
            Ok((table, known))
        })?;
        let url = known.columns.iter().find(|(_, column)| *column == Column::Url);
        let url = url.map(|(index, _)| *index).unwrap_or_default();
        check_type(&name, &table.schema.fields()[url])?;
        let mut rows = 0;
        let mut added = AddedColumns::default();
        let mut batch = UrlBatch::new(name.clone());
        let mut next = |rows: u64| {
            guarded(&name, rows, || next_batch(&mut table).map_err(|error| read_error(&name, rows, error)))
        };
        // The writer is made when the compression of the first batch is known.
        let mut read = next(rows)?;
        self.start(&name, &read)?;
        while let Some(found) = read.batch {
            let column = BatchColumn::new(found.column(url));
            batch.clear();
            batch.first_row = rows + 1;
            for row in 0..found.num_rows() {
                rows += 1;
                let url = match column.cell(row) {
                    Cell::Bytes(bytes) => Some(bytes),
                    _ => None,
                };
                batch.urls.push(url);
            }
            added.fill(&batch, make)?;
            self.write(&found, &added)?;
            read = next(rows)?;
        }
        Ok(Some(known.layout))
    }

    pub(super) fn finish(mut self) -> Result<(), RewriteError> {
        match self.writer.take() {
            Some(Writer::File(mut writer)) => writer.finish().map_err(written),
            Some(Writer::Stream(mut writer)) => writer.finish().map_err(written),
            None => Ok(()),
        }
    }

    /// Checks that a file can be added to those before.
    fn start(&mut self, name: &Arc<str>, first: &NextBatch) -> Result<(), RewriteError> {
        if let Some((schema, _)) = &self.schemas {
            if schema.fields() == first.schema.fields() {
                return Ok(());
            }
            return Err(RewriteError::OtherColumns { file: name.clone() });
        }
        self.names.check(name, first.schema.fields().iter().map(|field| field.name().as_str()))?;
        let Some(output) = self.output.take() else { return Ok(()) };
        let mut fields: Vec<FieldRef> = first.schema.fields().iter().cloned().collect();
        let added = [&self.names.key, &self.names.url];
        fields.extend(added.map(|name| FieldRef::new(Field::new(name, DataType::Utf8, true))));
        let extended = Arc::new(Schema::new_with_metadata(fields, first.schema.metadata().clone()));
        let options = IpcWriteOptions::default()
            .try_with_compression(first.compression)
            .map_err(written)?
            .with_dictionary_handling(DictionaryHandling::Delta);
        self.writer = Some(if first.is_file {
            let writer = FileWriter::try_new_with_options(output, &extended, options);
            Writer::File(Box::new(writer.map_err(written)?))
        } else {
            let writer = StreamWriter::try_new_with_options(output, &extended, options);
            Writer::Stream(Box::new(writer.map_err(written)?))
        });
        self.schemas = Some((first.schema.clone(), extended));
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch, added: &AddedColumns) -> Result<(), RewriteError> {
        let (Some(writer), Some((_, schema))) = (&mut self.writer, &self.schemas) else { return Ok(()) };
        let mut columns = batch.columns().to_vec();
        columns.push(array(&added.keys));
        columns.push(array(&added.urls));
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(written)?;
        match writer {
            Writer::File(writer) => writer.write(&batch),
            Writer::Stream(writer) => writer.write(&batch),
        }
        .map_err(written)
    }
}

/// A batch as it is read.
struct NextBatch {
    /// `None` at the end.
    batch: Option<RecordBatch>,
    schema: SchemaRef,
    is_file: bool,
    compression: Option<CompressionType>,
}

fn next_batch(table: &mut OpenTable) -> Result<NextBatch, MessageError> {
    let mut compression = None;
    let batch = table.next_batch(|message: &Checked| {
        let head = message.head().ok();
        let batch = head.and_then(|head| head.header_as_record_batch());
        compression = batch.and_then(|batch| batch.compression()).map(|compression| compression.codec());
    })?;
    Ok(NextBatch { batch, schema: table.schema.clone(), is_file: table.is_file, compression })
}

fn check_type(file: &Arc<str>, field: &Field) -> Result<(), RewriteError> {
    let is_text = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::Null
        )
    };
    let found = match field.data_type() {
        DataType::Dictionary(_, values) if is_text(values) => return Ok(()),
        other if is_text(other) => return Ok(()),
        other => other.to_string(),
    };
    Err(RewriteError::UrlsOfOtherType { file: file.clone(), name: field.name().as_str().into(), found })
}

fn array(column: &TextColumn) -> ArrayRef {
    let values = column.iter().map(|value| value.map(String::from_utf8_lossy));
    Arc::new(values.collect::<StringArray>())
}

fn written(error: ArrowError) -> RewriteError {
    match error {
        ArrowError::IoError(_, error) => RewriteError::Write(error),
        other => RewriteError::WriteTable(Box::new(other)),
    }
}
