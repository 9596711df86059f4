/*!
Reads the pages of a Parquet file, and refuses those that are too large before any memory is allocated for them.

The `parquet` crate allocates what the header of a page declares, and a page of zeros compresses by a factor of
thousands. So the header is looked at first: its leading fields are the kind of the page and its two sizes. What was
refused is kept in [`Refusals`], since the crate reports errors of its sources in words only.
*/

use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::{Arc, OnceLock};

use ::parquet::basic::Encoding;
use ::parquet::bloom_filter::Sbbf;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ::parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::record::reader::RowIter;
use ::parquet::schema::types::Type;
use bytes::Bytes;

use super::delta::{MaxLevels, declared_values};
use crate::error::{Excess, OversizedPage};
use crate::table_file::TableFile;

/// Bytes of a page, packed or unpacked. Writers aim at 1 MiB; the largest pages in use have 100 million bytes.
pub(super) const MAX_PAGE_BYTES: u64 = 128 << 20;

/// Bytes of a page whose values repeat the beginnings of others, so that each may be as long as the page.
pub(super) const MAX_PREFIX_PAGE_BYTES: u64 = 4 << 20;

/// Values of a dictionary and lengths of texts, each of which takes some bytes beside those of the page.
pub(super) const MAX_LISTED_VALUES: u64 = 4 << 20;

/// What was refused, if anything. Shared by all that read one file.
pub(super) type Refusals = Arc<OnceLock<OversizedPage>>;

/// A Parquet file whose pages are looked at before they are read.
pub(crate) struct LimitedFile {
    file: Arc<TableFile>,
    metadata: ParquetMetaData,
    refusals: Refusals,
}

impl LimitedFile {
    pub(super) fn open(file: TableFile) -> Result<Self> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
        Ok(Self { file: Arc::new(file), metadata, refusals: Refusals::default() })
    }

    pub(super) fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }
}

impl FileReader for LimitedFile {
    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    fn num_row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    fn get_row_group(&self, index: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        Ok(Box::new(LimitedRowGroup { file: self, index, metadata: self.metadata.row_group(index) }))
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_file(projection, self)
    }
}

struct LimitedRowGroup<'a> {
    file: &'a LimitedFile,
    index: usize,
    metadata: &'a RowGroupMetaData,
}

impl RowGroupReader for LimitedRowGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.metadata
    }

    fn num_columns(&self) -> usize {
        self.metadata.num_columns()
    }

    fn get_column_page_reader(&self, index: usize) -> Result<Box<dyn PageReader>> {
        let column = self.metadata.column(index);
        let position = PagePosition {
            row_group: self.index,
            column: column.column_path().string(),
            refusals: self.file.refusals(),
        };
        let source = PageSource { file: self.file.file.clone(), position: position.clone() };
        let rows = usize::try_from(self.metadata.num_rows())?;
        let pages = SerializedPageReader::new(Arc::new(source), column, rows, None)?;
        let descriptor = column.column_descr();
        let levels =
            MaxLevels { repetition: descriptor.max_rep_level(), definition: descriptor.max_def_level() };
        Ok(Box::new(LimitedPages { pages, position, levels }))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// Which pages are being read, and where to note that one is refused.
#[derive(Clone)]
struct PagePosition {
    row_group: usize,
    column: String,
    refusals: Refusals,
}

impl PagePosition {
    /// Notes an excess, and gives an error that ends reading.
    fn refuse(&self, excess: Excess) -> io::Error {
        let page = OversizedPage { row_group: self.row_group, column: self.column.clone(), excess };
        let error = io::Error::other(page.to_string());
        // The first one ended reading.
        let _ = self.refusals.set(page);
        error
    }

    fn check_bytes(&self, found: u64) -> io::Result<()> {
        if found > MAX_PAGE_BYTES { Err(self.refuse(Excess::PageBytes(found))) } else { Ok(()) }
    }
}

/// The bytes of one column of a row group.
struct PageSource {
    file: Arc<TableFile>,
    position: PagePosition,
}

impl Length for PageSource {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for PageSource {
    type T = HeaderReader;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(HeaderReader {
            source: self.file.get_read(start)?,
            position: self.position.clone(),
            is_checked: false,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.position.check_bytes(length as u64)?;
        if length as u64 > self.len().saturating_sub(start) {
            return Err(ParquetError::EOF(format!("a page of {length} bytes at byte {start} is cut off")));
        }
        self.file.get_bytes(start, length)
    }
}

/// Reads the header of a page, whose sizes are checked before the first byte is given out.
struct HeaderReader {
    source: BufReader<TableFile>,
    position: PagePosition,
    is_checked: bool,
}

impl Read for HeaderReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_checked {
            let sizes = page_sizes(self.source.fill_buf()?).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a page does not start with its kind and its sizes",
                )
            })?;
            sizes.into_iter().try_for_each(|size| self.position.check_bytes(size))?;
            self.is_checked = true;
        }
        self.source.read(buffer)
    }
}

/// The sizes that the header of a page starts with, unpacked and packed.
///
/// A header is a structure in the compact protocol of Thrift: fields in the order of their numbers, of which kind, unpacked
/// and packed size are the first three. Each is a byte (one more than the field before, a 32-bit integer) and a number.
fn page_sizes(header: &[u8]) -> Option<[u64; 2]> {
    const NEXT_FIELD_I32: u8 = 0x15;
    let mut rest = header;
    let mut next = || {
        rest = rest.strip_prefix(&[NEXT_FIELD_I32])?;
        let (number, len) = zigzag(rest)?;
        rest = &rest[len..];
        Some(number)
    };
    let _kind = next()?;
    let (unpacked, packed) = (next()?, next()?);
    Some([u64::try_from(unpacked).ok()?, u64::try_from(packed).ok()?])
}

/// A number of the compact protocol and the bytes it takes.
fn zigzag(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut number: u64 = 0;
    // Numbers of 32 bits take five bytes at most.
    for (index, byte) in bytes.iter().take(5).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some(((number >> 1).cast_signed() ^ -(number & 1).cast_signed(), index + 1));
        }
    }
    None
}

/// Pages that are checked once more when they are unpacked, before their values are.
struct LimitedPages<P> {
    pages: P,
    position: PagePosition,
    levels: MaxLevels,
}

impl<P> LimitedPages<P> {
    fn check(&self, page: Page) -> Result<Page> {
        let bytes = page.buffer().len() as u64;
        let values = u64::from(page.num_values());
        if page.encoding() == Encoding::DELTA_BYTE_ARRAY && bytes > MAX_PREFIX_PAGE_BYTES {
            return Err(self.position.refuse(Excess::PrefixPageBytes(bytes)).into());
        }
        let Some(declared) = declared_values(&page, self.levels) else {
            return Err(ParquetError::General("a page in a delta encoding is damaged".to_owned()));
        };
        if declared > values.min(MAX_LISTED_VALUES) {
            return Err(self.position.refuse(Excess::ListedValues(declared)).into());
        }
        // A value of a dictionary takes four bytes or more.
        if page.is_dictionary_page() && values > (bytes / 4).min(MAX_LISTED_VALUES) {
            return Err(self.position.refuse(Excess::DictionaryValues(values)).into());
        }
        Ok(page)
    }
}

impl<P: PageReader> PageReader for LimitedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.map(|page| self.check(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl<P: PageReader> Iterator for LimitedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_start_with_their_sizes() {
        // Kind 0, 200 bytes unpacked, 70 bytes packed.
        assert_eq!(page_sizes(b"\x15\x00\x15\x90\x03\x15\x8c\x01\x2c"), Some([200, 70]));
        assert_eq!(
            page_sizes(b"\x15\x04\x15\xfe\xff\xff\xff\x0f\x15\x02"),
            Some([u64::from(u32::MAX >> 1), 1])
        );
        for damaged in [
            &b""[..],
            b"\x15\x00\x15\x90\x03",
            // Negative, in another order, and without end.
            b"\x15\x00\x15\x03\x15\x02",
            b"\x25\x90\x03\x15\x00\x15\x02",
            b"\x15\x00\x15\xff\xff\xff\xff\xff\xff\x01\x15\x02",
        ] {
            assert_eq!(page_sizes(damaged), None, "{damaged:?}");
        }
    }
}
