/*!
Which formats are there, how are they called, and what is expected of their rows?

Names and words only: [`crate::sniff`] tells formats apart, and each has a reader of its own.
*/

use std::fmt;

/// A format of observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// A JSON array with one object per line, as Scrapy writes it.
    JsonArray,
    /// A header and rows separated by commas or semicolons, with quotes as in RFC 4180.
    Csv,
    /// A header and rows separated by tabs; a row never spans lines.
    Tsv,
    /// One URL per line.
    UrlList,
    /// Log of a web server, in the common or combined format.
    AccessLog,
    /// `crawl.log` of Heritrix.
    CrawlLog,
    /// Dump of the CrawlDb of Apache Nutch, as text.
    NutchDump,
    /// Web archive.
    Warc,
    /// The older web archive.
    Arc,
    /// Index of a web archive, with a line of fields per capture.
    Cdx,
    /// Index of a web archive, with a JSON object per capture.
    Cdxj,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow: a file, also known as Feather, or a stream. Read with the feature `arrow`.
    Arrow,
}

impl Format {
    /// What a row must look like, in words for a message.
    pub fn expected(self) -> &'static str {
        match self {
            Format::JsonLines | Format::JsonArray => {
                "one object per line with at least a url, such as {\"url\":\"http://a.example/\"}"
            }
            Format::Csv => "rows with as many fields as the header, and a URL in the column \"url\"",
            Format::Tsv => "rows with as many tabs as the header, and a URL in the column \"url\"",
            Format::UrlList => "one URL per line",
            Format::AccessLog => {
                "lines such as 192.0.2.7 - - [06/May/2024:00:00:01 +0000] \"GET / HTTP/1.1\" 200 7115"
            }
            Format::CrawlLog => {
                "lines such as 2024-05-06T07:08:09.123Z 200 11385 http://a.example/ L http://b.example/ text/html ..."
            }
            Format::NutchDump => "entries that start with a URL, a tab and \"Version: 7\"",
            Format::Warc => "records that start with WARC/1.0 and have the length that they name",
            Format::Arc => {
                "records that start with a line such as http://a.example/ 192.0.2.7 20080430204825 text/html 11385"
            }
            Format::Parquet | Format::Arrow => "a table with a URL in the column \"url\"",
            Format::Cdx => "a header such as \" CDX N b a m s k r M S V g\", and lines with as many fields",
            Format::Cdxj => {
                "lines such as example,a)/ 20080430204825 {\"url\": \"http://a.example/\", \"status\": \"200\"}"
            }
        }
    }

    /// Whether [`crate::Rewriter`] can copy inputs of this format. All others are lists, logs and archives.
    pub fn is_table(self) -> bool {
        self.is_text_table() || matches!(self, Format::Parquet | Format::Arrow)
    }

    /// Whether it is a table whose rows are lines of text.
    pub fn is_text_table(self) -> bool {
        matches!(
            self,
            Format::JsonLines | Format::JsonArray | Format::Csv | Format::Tsv | Format::Cdx | Format::Cdxj
        )
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::JsonLines => "JSON Lines",
            Format::JsonArray => "a JSON array",
            Format::Csv => "CSV",
            Format::Tsv => "TSV",
            Format::UrlList => "a list of URLs",
            Format::AccessLog => "an access log",
            Format::CrawlLog => "a Heritrix crawl.log",
            Format::NutchDump => "a dump of a Nutch CrawlDb",
            Format::Warc => "a WARC file",
            Format::Arc => "an ARC file",
            Format::Cdx => "a CDX index",
            Format::Cdxj => "a CDXJ index",
            Format::Parquet => "a Parquet file",
            Format::Arrow => "an Arrow file",
        })
    }
}
