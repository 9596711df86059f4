/*!
Which formats are there, how are they called, by what are they recognised, and who reads them?

One table, from which all else follows: what [`sniff`] tries, what messages and help list, who reads a row, and which inputs can be
copied as tables. A line-based format is one file of `format/`.
*/

mod access_log;
mod cdx;
mod crawl_log;
mod delimited;
pub(crate) mod entry;
mod json_object;
mod jsonl;
mod nutch_dump;
pub(crate) mod sniff;
mod url_list;

use std::fmt;

pub use self::delimited::DelimitedHeader;
use self::entry::{CopyRows, FormatEntry, LineFormat, RowFormat};
use self::sniff::Sign;
use crate::archive::ArchiveFormat;
#[cfg(feature = "arrow")]
use crate::arrow;
use crate::parquet;

/// Makes [`Format`] of a table. The order is that in which formats are listed, and in which signs of one kind are looked for.
macro_rules! formats {
    ($($(#[$attribute:meta])* $format:ident = $entry:path;)*) => {
        /// A format of observations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$attribute])* $format,)*
        }

        impl Format {
            /// All formats, in the order in which they are listed.
            pub const ALL: &[Format] = &[$(Format::$format),*];

            pub(crate) fn entry(self) -> &'static FormatEntry {
                match self {
                    $(Format::$format => &$entry,)*
                }
            }
        }
    };
}

formats! {
    /// Web archive.
    Warc = WARC;
    /// The older web archive.
    Arc = ARC;
    /// Index of a web archive, with a line of fields per capture.
    Cdx = cdx::CDX;
    /// Index of a web archive, with a JSON object per capture.
    Cdxj = cdx::CDXJ;
    /// Apache Parquet.
    Parquet = PARQUET;
    /// Apache Arrow: a file, also known as Feather, or a stream. Read with the feature `arrow`.
    Arrow = ARROW;
    /// One JSON object per line.
    JsonLines = jsonl::LINES;
    /// A JSON array with one object per line, as Scrapy writes it.
    JsonArray = jsonl::ARRAY;
    /// A header and rows separated by commas or semicolons, with quotes as in RFC 4180.
    Csv = delimited::CSV;
    /// A header and rows separated by tabs; a row never spans lines.
    Tsv = delimited::TSV;
    /// Log of a web server, in the common or combined format.
    AccessLog = access_log::FORMAT;
    /// `crawl.log` of Heritrix.
    CrawlLog = crawl_log::FORMAT;
    /// Dump of the CrawlDb of Apache Nutch, as text.
    NutchDump = nutch_dump::FORMAT;
    /// One URL per line.
    UrlList = url_list::FORMAT;
}

static WARC: FormatEntry = FormatEntry {
    name: "a WARC file",
    expected: "records that start with WARC/1.0 and have the length that they name",
    names_tool: false,
    sign: Sign::FirstBytes(&[b"WARC/"]),
    extensions: &[],
    rows: RowFormat::Archive(ArchiveFormat::Warc),
};

static ARC: FormatEntry = FormatEntry {
    name: "an ARC file",
    expected: "records that start with a line such as http://a.example/ 192.0.2.7 20080430204825 text/html 11385",
    names_tool: false,
    sign: Sign::FirstBytes(&[b"filedesc://"]),
    extensions: &[],
    rows: RowFormat::Archive(ArchiveFormat::Arc),
};

static PARQUET: FormatEntry = FormatEntry {
    name: "a Parquet file",
    expected: TABLE_EXPECTED,
    names_tool: false,
    sign: Sign::FirstBytes(&[b"PAR1"]),
    extensions: &[],
    rows: RowFormat::Table(|file, table, named| Ok(Box::new(parquet::Table::open(file, table, named)?))),
};

static ARROW: FormatEntry = FormatEntry {
    name: "an Arrow file",
    expected: TABLE_EXPECTED,
    names_tool: false,
    sign: if cfg!(feature = "arrow") { Sign::FirstBytes(sniff::ARROW_MAGIC) } else { Sign::NotBuilt },
    extensions: &[],
    #[cfg(feature = "arrow")]
    rows: RowFormat::Table(|file, table, named| Ok(Box::new(arrow::Table::open(file, table, named)?))),
    #[cfg(not(feature = "arrow"))]
    rows: RowFormat::Table(|file, _, _| {
        Err(crate::ReadError::UnsupportedFormat { file: file.clone(), format: crate::Unsupported::Arrow })
    }),
};

const TABLE_EXPECTED: &str = "a table with a URL in the column \"url\"";

impl Format {
    /// What a row must look like, in words for a message.
    pub fn expected(self) -> &'static str {
        self.entry().expected
    }

    /// Whether its name says which tool writes it.
    pub fn names_tool(self) -> bool {
        self.entry().names_tool
    }

    /// Whether [`crate::Rewriter`] can copy inputs of this format. All others are lists, logs and archives.
    pub fn is_table(self) -> bool {
        self.is_text_table() || matches!(self.entry().rows, RowFormat::Table(_))
    }

    /// Whether it is a table whose rows are lines of text.
    pub fn is_text_table(self) -> bool {
        self.copy_rows().is_some()
    }

    /// How rows are copied that are lines of a table.
    pub(crate) fn copy_rows(self) -> Option<&'static dyn CopyRows> {
        match self.entry().rows {
            RowFormat::Lines(LineFormat { copy, .. }) => copy,
            RowFormat::Archive(_) | RowFormat::Table(_) => None,
        }
    }

    /// All formats that this build reads, in words: what messages and help say that is expected.
    pub fn list() -> String {
        let is_read = |format: &&Format| !matches!(format.entry().sign, Sign::NotBuilt);
        let mut list =
            Self::ALL.iter().filter(is_read).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if let Some(last) = list.rfind(", ") {
            list.replace_range(last..last + 1, " or");
        }
        list
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}
