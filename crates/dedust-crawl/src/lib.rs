/*!
From crawls of any format to rules: inputs in, rows with all that is known of their pages out, and what is learned from them.

`dedust-io` reads rows, `dedust-pages` reads pages, and `dedust-learn` learns from clues; none knows the others. This crate is
what all programs need between them:

1. [`learn`] is all in one call: paths and options in, rules and a report out. A [`Pipeline`] is the same step by step.
2. [`read_all`] reads inputs one after the other, keeps count of what cannot be used, and hands out [`CrawlRow`] rows.
3. [`Pages`] adds what the pages of archives say, which takes a sample of their site to know.
4. [`ReadReport`] says what was read as what, and what was left out.

```no_run
let learned = dedust_crawl::learn(["crawl.warc.gz"], dedust_learn::LearnOptions::default())?;
learned.rules.save(std::fs::File::create("rules.json")?)?;
# Ok::<(), Box<dyn std::error::Error>>(())
```

Prints nothing: whoever reads is told by [`Watch`] how far it has come, and can end it.

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features.
*/

mod facts;
mod layouts;
mod pages;
mod pipeline;
mod read;
mod row;

pub use facts::printable;
pub use layouts::{FoundLayout, Layouts};
pub use pages::Pages;
pub use pipeline::{LearnError, Learned, Pipeline, Unread, learn};
pub use read::{
    ReadCrawlError, ReadPosition, ReadReport, SHOWN, Watch, open, prepare, read_all, read_on, read_rows,
};
pub use row::{CrawlRow, RowError};
