/*!
Reads crawl observations: one URL seen once, with whatever is known about its page.

Web archives (WARC, ARC), their indexes (CDX, CDXJ), Parquet, JSON Lines, CSV, TSV, access and crawl logs and plain URL lists come in,
plain or compressed with gzip or zstd, from a path or from standard input (`-`). [`Observation`]s go out, one at a time, in the order of the file. Nothing is kept between
rows, so memory is bounded by the longest row ([`MAX_ROW_BYTES`], [`MAX_BODY_BYTES`]) whatever the size of the input.

```text
path or "-" -open_text-> Text (decompressed)
            -open-> Input (format known) -observations-> Reader -read-> Observation, and for archives a Document
                                         -Rewriter-> the same table with two columns more
```

A row that cannot be used is data, not failure: [`Reader::read`] hands it over as a [`BadRow`], counts it and
goes on. A [`ReadError`] is final; the rows delivered before it remain usable.

```
use dedust_io::{Input, Observation};

let text = "{\"url\":\"http://a.example/p?id=1\",\"cluster\":7}\n{\"uri\":\"http://a.example/\"}\n";
let mut reader = Input::from_read("crawl.jsonl", text.as_bytes())?.observations()?;
let mut observation = Observation::new();
let mut warnings = Vec::new();
while let Some(row) = reader.read(&mut observation)? {
    match row {
        Ok(()) => assert_eq!((observation.url(), observation.cluster()), (&b"http://a.example/p?id=1"[..], Some("7"))),
        Err(bad) => warnings.push(bad.to_string()),
    }
}
reader.check()?;
assert_eq!(warnings, [r#"crawl.jsonl:2: no "url" column, row skipped: {"uri":"http://a.example/"}"#]);
# Ok::<(), dedust_io::ReadError>(())
```

URLs are bytes and are not looked into: splitting and checking them is the business of the caller.

# Versions and features

Rust 1.90, and semantic versions. Both features are off by default, because what they need takes longer to build than all else:

| feature | adds |
|---|---|
| `arrow` | Arrow files and streams, and tables in memory |
| `remote` | objects of stores: `s3://`, `gs://` and `https://` |
*/

mod archive;
#[cfg(feature = "arrow")]
mod arrow;
mod bad_row;
mod column;
mod compression;
mod document;
mod error;
mod format;
mod gzip;
mod head;
mod input;
mod inputs;
mod line_buffer;
mod line_rows;
mod names;
mod nutch;
mod observation;
mod open;
mod output;
mod parquet;
mod preset;
mod read_some;
mod reader;
#[cfg(feature = "remote")]
mod remote;
mod rewrite;
mod stamp;
mod table;
mod table_file;
mod timestamp;
mod utf16;

pub use archive::RecordCounts;
pub use bad_row::{BadBody, BadBodyReason, BadColumn, BadRow, BadRowReason, Location, shorten};
pub use column::Column;
pub use compression::Compression;
pub use document::{Document, MAX_BODY_BYTES};
pub use error::{Excess, OversizedBatch, OversizedPage, ReadError, Unsupported, WriteError};
pub use format::{DelimitedHeader, Format};
pub use input::{Input, open};
pub use inputs::{expand, expand_below};
pub use line_buffer::MAX_ROW_BYTES;
pub use names::{Layout, NamedColumn, NamedColumnError};
pub use observation::{Observation, WrongValue};
pub use open::{Origin, Text, open_text, version_of};
pub use output::OutputFile;
pub use preset::Preset;
pub use reader::{Reader, RowCounts, RowKind};
pub use rewrite::{AddedColumns, AddedNames, MakeColumns, RewriteError, Rewriter, TextColumn, UrlBatch};
pub use stamp::FileStamp;
