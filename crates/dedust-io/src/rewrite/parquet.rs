/*!
Copies Parquet files, adding two columns.

Only the column of URLs is decoded. The bytes of all other columns are copied as they are, row group by row group, so that
their values, encodings and compression stay the same, damage too. Statistics are kept, page indexes and Bloom filters are not. The
added columns are encoded plainly and compressed with Snappy, which all readers know and which costs little, and have no statistics.

Memory is bounded by a batch of rows and by [`HELD_BYTES`] of each added column; what exceeds that waits in a temporary file
until its row group is complete.
*/

mod arrow_schema;

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{KeyValue, RowGroupMetaData};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion};
use ::parquet::file::reader::FileReader as _;
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::{ColumnDescPtr, ColumnPath, Type, TypePtr};
use bytes::Bytes;
use tempfile::{SpooledData, SpooledTempFile};

use super::{AddedColumns, AddedNames, MakeColumns, RewriteError, TextColumn, UrlBatch};
use crate::parquet::{ColumnValues, OpenFile};
use crate::table::{failure, guarded};
use crate::table_file::TableFile;
use crate::{Column, Input, Layout, NamedColumn, ReadError};

/// Bytes of an added column of a row group that are held in memory.
const HELD_BYTES: usize = 64 << 20;

/// Rows of a page of the added columns.
const PAGE_ROWS: usize = 20_000;

pub(super) struct ParquetRewriter<'o> {
    names: AddedNames,
    /// Until the first input is known.
    output: Option<&'o mut (dyn Write + Send)>,
    writer: Option<SerializedFileWriter<&'o mut (dyn Write + Send)>>,
    /// That of the first input.
    schema: Option<TypePtr>,
}

/// A file that is being copied.
struct Source {
    table: OpenFile,
    /// A second handle, to copy from.
    file: TableFile,
    /// The index of the column with URLs, among those that hold values.
    url_column: usize,
    /// Rows of the row groups before.
    rows: u64,
}

/// Encodes an added column of a row group.
struct AddedColumn<'s> {
    writer: ColumnWriterImpl<'s, ByteArrayType>,
    /// Kept from batch to batch for their memory.
    values: Vec<ByteArray>,
    levels: Vec<i16>,
}

impl<'o> ParquetRewriter<'o> {
    pub(super) fn new(names: AddedNames, output: &'o mut (dyn Write + Send)) -> Self {
        Self { names, output: Some(output), writer: None, schema: None }
    }

    pub(super) fn add(
        &mut self,
        input: Input,
        make: &mut MakeColumns<'_>,
    ) -> Result<Option<Layout>, RewriteError> {
        let name: Arc<str> = input.name().into();
        let named = input.columns().to_vec();
        let file = input.into_file()?;
        let mut source = Source::open(&name, file, &named)?;
        self.start(&source)?;
        for index in 0..source.table.reader.num_row_groups() {
            self.add_row_group(&mut source, index, make)?;
        }
        Ok(Some(source.table.known.layout))
    }

    pub(super) fn finish(mut self) -> Result<(), RewriteError> {
        if let Some(writer) = self.writer.take() {
            writer.close().map_err(written)?;
        }
        Ok(())
    }

    /// Checks that a file can be added to those before.
    fn start(&mut self, source: &Source) -> Result<(), RewriteError> {
        let metadata = source.table.reader.metadata().file_metadata();
        let schema = metadata.schema_descr().root_schema_ptr();
        if let Some(first) = &self.schema {
            if first.get_fields() == schema.get_fields() {
                return Ok(());
            }
            return Err(RewriteError::OtherColumns { file: source.table.name.clone() });
        }
        self.names.check(&source.table.name, schema.get_fields().iter().map(|field| field.name()))?;
        let Some(output) = self.output.take() else { return Ok(()) };
        let added = [&self.names.key, &self.names.url].map(|name| text_field(name));
        let mut fields = schema.get_fields().to_vec();
        for field in added {
            fields.push(Arc::new(field.map_err(written)?));
        }
        let extended =
            Type::group_type_builder(schema.name()).with_fields(fields).build().map_err(written)?;
        let sorting = source.table.reader.metadata().row_groups().first();
        let sorting = sorting.and_then(RowGroupMetaData::sorting_columns).cloned();
        let key_values = metadata.key_value_metadata().cloned().unwrap_or_default();
        let key_values: Vec<KeyValue> =
            key_values.into_iter().filter_map(|pair| arrow_schema::extended(pair, &self.names)).collect();
        let version = match metadata.version() {
            2.. => WriterVersion::PARQUET_2_0,
            _ => WriterVersion::PARQUET_1_0,
        };
        let properties = self.properties(version, sorting, key_values);
        let writer = SerializedFileWriter::new(output, Arc::new(extended), properties).map_err(written)?;
        self.writer = Some(writer);
        self.schema = Some(schema);
        Ok(())
    }

    fn properties(
        &self,
        version: WriterVersion,
        sorting: Option<Vec<::parquet::file::metadata::SortingColumn>>,
        key_values: Vec<KeyValue>,
    ) -> WriterPropertiesPtr {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("dedust version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_writer_version(version)
            .set_sorting_columns(sorting)
            .set_key_value_metadata(Some(key_values).filter(|pairs| !pairs.is_empty()))
            .set_offset_index_disabled(true)
            .set_data_page_row_count_limit(PAGE_ROWS);
        let added = [&self.names.key, &self.names.url];
        let properties = added.into_iter().fold(properties, |properties, name| {
            let path = || ColumnPath::new(vec![name.clone()]);
            properties
                // Hardly any value repeats within a page.
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::PLAIN)
                .set_column_compression(path(), Compression::SNAPPY)
                .set_column_statistics_enabled(path(), EnabledStatistics::None)
        });
        Arc::new(properties.build())
    }

    fn add_row_group(
        &mut self,
        source: &mut Source,
        index: usize,
        make: &mut MakeColumns<'_>,
    ) -> Result<(), RewriteError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let descriptor = writer.schema_descr();
        let width = descriptor.num_columns() - 2;
        let columns = [descriptor.column(width), descriptor.column(width + 1)];
        let properties = writer.properties().clone();
        let mut sinks = [(); 2].map(|()| TrackedWrite::new(SpooledTempFile::new(HELD_BYTES)));
        let [keys, urls] = &mut sinks;
        let [key_column, url_column] = columns;
        let mut keys = AddedColumn::new(key_column, &properties, keys);
        let mut urls = AddedColumn::new(url_column, &properties, urls);
        let mut added = AddedColumns::default();
        let mut rows = source.urls_of(index)?;
        let mut batch = UrlBatch::new(source.table.name.clone());
        while source.next_batch(&mut rows, &mut batch)? {
            added.fill(&batch, make)?;
            keys.write(&mut added.keys).map_err(written)?;
            urls.write(&mut added.urls).map_err(written)?;
        }
        let closed = [keys.close().map_err(written)?, urls.close().map_err(written)?];
        source.check_rows(index, rows.count)?;
        source.rows += rows.count;
        let mut group = writer.next_row_group().map_err(written)?;
        source.copy_columns(index, &mut group)?;
        for (sink, closed) in sinks.into_iter().zip(closed) {
            append(&mut group, sink, closed).map_err(written)?;
        }
        group.close().map_err(written)?;
        Ok(())
    }
}

/// The URLs of a row group, being read.
struct UrlReader {
    values: ColumnValues,
    count: u64,
}

impl Source {
    fn open(name: &Arc<str>, file: TableFile, named: &[NamedColumn]) -> Result<Self, RewriteError> {
        let unreadable = |source: io::Error| ReadError::Open { file: name.clone(), source };
        let length = file.size().map_err(unreadable)?;
        let copied = file.try_clone().map_err(unreadable)?;
        let table = guarded(name, 0, || {
            let table = OpenFile::open(name, file, named)?;
            let groups = table.reader.metadata().row_groups();
            check_extents(groups, length).map_err(|source| failure(name, 0, source))?;
            Ok(table)
        })?;
        let known = table.known.columns.iter().zip(&table.leaves);
        let url = known.into_iter().find(|((_, column), _)| *column == Column::Url);
        let url_column = url.map(|(_, leaf)| *leaf).unwrap_or_default();
        let descriptor = table.reader.metadata().file_metadata().schema_descr().column(url_column);
        if descriptor.physical_type() != PhysicalType::BYTE_ARRAY {
            let (file, column) = (name.clone(), descriptor.name().into());
            let found = descriptor.physical_type().to_string();
            return Err(RewriteError::UrlsOfOtherType { file, name: column, found });
        }
        Ok(Self { table, file: copied, url_column, rows: 0 })
    }

    fn urls_of(&self, index: usize) -> Result<UrlReader, ReadError> {
        guarded(&self.table.name, self.rows, || {
            let values = self.table.column(index, self.url_column);
            let values = values.map_err(|error| self.table.failure(self.rows, error))?;
            Ok(UrlReader { values, count: 0 })
        })
    }

    /// Reads URLs until the batch is full. `false` at the end of the row group.
    fn next_batch(&self, urls: &mut UrlReader, batch: &mut UrlBatch) -> Result<bool, ReadError> {
        batch.clear();
        batch.first_row = self.rows + urls.count + 1;
        guarded(&self.table.name, self.rows + urls.count, || {
            while !batch.is_full() {
                let rows = urls.values.advance();
                let rows = rows.map_err(|error| self.table.failure(self.rows + urls.count, error))?;
                if rows == 0 {
                    break;
                }
                urls.values.texts(rows).for_each(|url| batch.urls.push(url));
                urls.count += rows as u64;
            }
            Ok(())
        })?;
        Ok(!batch.urls.is_empty())
    }

    /// An error unless there are as many URLs as rows.
    fn check_rows(&self, index: usize, found: u64) -> Result<(), ReadError> {
        let declared = self.table.reader.metadata().row_group(index).num_rows();
        if u64::try_from(declared).ok() == Some(found) {
            return Ok(());
        }
        let problem = format!("row group {index} has {found} URLs where it declares {declared} rows");
        Err(failure(&self.table.name, self.rows, ParquetError::General(problem)))
    }

    /// Copies all columns of a row group.
    fn copy_columns<W: Write + Send>(
        &self,
        index: usize,
        group: &mut ::parquet::file::writer::SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), RewriteError> {
        let metadata = self.table.reader.metadata().row_group(index);
        let rows_written = u64::try_from(metadata.num_rows()).unwrap_or_default();
        for column in metadata.columns() {
            let closed = ColumnCloseResult {
                bytes_written: u64::try_from(column.compressed_size()).unwrap_or_default(),
                rows_written,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(&self.file, closed).map_err(|error| match error {
                // The crate does not tell apart what reading and what writing failed at.
                error @ ParquetError::External(_) => written(error),
                error => failure(&self.table.name, self.rows, error).into(),
            })?;
        }
        Ok(())
    }
}

/// An error unless all columns lie within the file, and take no more bytes than it has. Else a small file could be copied to a
/// very large one.
fn check_extents(groups: &[RowGroupMetaData], length: u64) -> Result<(), ParquetError> {
    let mut all: u64 = 0;
    for column in groups.iter().flat_map(RowGroupMetaData::columns) {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let extent = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
        let is_within = extent.is_some_and(|(start, bytes)| start.saturating_add(bytes) <= length);
        all = all.saturating_add(extent.map_or(0, |(_, bytes)| bytes));
        if !is_within || all > length {
            let name = column.column_path().string();
            return Err(ParquetError::General(format!(
                "column \"{name}\" lies outside of the file, which is cut off or damaged"
            )));
        }
    }
    Ok(())
}

fn text_field(name: &str) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::String))
        .build()
}

impl<'s> AddedColumn<'s> {
    fn new(
        column: ColumnDescPtr,
        properties: &WriterPropertiesPtr,
        sink: &'s mut TrackedWrite<SpooledTempFile>,
    ) -> Self {
        let pages = Box::new(SerializedPageWriter::new(sink));
        let writer = ColumnWriterImpl::new(column, properties.clone(), pages);
        Self { writer, values: Vec::new(), levels: Vec::new() }
    }

    /// Encodes what is left.
    fn close(self) -> Result<ColumnCloseResult, ParquetError> {
        self.writer.close()
    }

    /// Encodes some values, which are then gone.
    fn write(&mut self, column: &mut TextColumn) -> Result<(), ParquetError> {
        let bytes = Bytes::from(column.take_bytes());
        let mut start = 0;
        for (&end, &is_present) in column.ends().iter().zip(column.is_present()) {
            if is_present {
                self.values.push(ByteArray::from(bytes.slice(start..end)));
            }
            start = end;
        }
        self.levels.extend(column.is_present().iter().map(|is_present| i16::from(*is_present)));
        self.writer.write_batch(&self.values, Some(&self.levels), None)?;
        self.values.clear();
        self.levels.clear();
        column.clear();
        // The memory is used again if no page holds a part of it.
        column.put_back(Vec::from(bytes));
        Ok(())
    }
}

/// Puts an added column into its row group.
fn append<W: Write + Send>(
    group: &mut ::parquet::file::writer::SerializedRowGroupWriter<'_, W>,
    sink: TrackedWrite<SpooledTempFile>,
    closed: ColumnCloseResult,
) -> Result<(), ParquetError> {
    match sink.into_inner()?.into_inner() {
        SpooledData::InMemory(mut bytes) => {
            group.append_column(&Bytes::from(mem::take(bytes.get_mut())), closed)
        }
        SpooledData::OnDisk(file) => group.append_column(&file, closed),
    }
}

fn written(error: ParquetError) -> RewriteError {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => RewriteError::Write(*error),
            Err(source) => RewriteError::WriteTable(source),
        },
        other => RewriteError::WriteTable(Box::new(other)),
    }
}
