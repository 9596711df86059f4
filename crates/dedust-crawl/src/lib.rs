/*!
Reads crawls of any format: inputs in, rows with all that is known of their pages out.

`dedust-io` reads rows, `dedust-pages` reads pages, and `dedust-learn` learns from clues; none knows the others. This crate is
what all programs need between them:

1. [`read_all`] reads inputs one after the other, keeps count of what cannot be used, and hands out [`CrawlRow`] rows.
2. [`Pages`] adds what the pages of archives say, which takes a sample of their site to know.
3. [`ReadReport`] says what was read as what, and what was left out.

```
use dedust_crawl::read_all;
use dedust_io::Input;
use dedust_learn::support::SampleSize;
use dedust_learn::{CrawlStore, EvidenceKinds, Trainer};

let rows: String = (0..80)
    .map(|row| format!("{{\"url\":\"http://a.example/p?id={}&sid={row}\",\"digest\":\"{}\"}}\n", row / 2, row / 2))
    .collect();
let mut store = CrawlStore::new(EvidenceKinds::AUTO, SampleSize::new(0.2, 100_000).ok_or("no share")?);
let input = Input::from_read("crawl.jsonl", std::io::Cursor::new(rows)).and_then(Input::observations);
let (report, read) = read_all([input], &mut (), |row| row.observe_in(&mut store));
read?;
assert_eq!(report.rows.good, 80);
let training = Trainer::builder().build()?.train_stored(&store.finish()?, &())?;
assert_eq!(training.rules.rule_count(), 1);
# Ok::<(), Box<dyn std::error::Error>>(())
```

Prints nothing: whoever reads is told by [`Watch`] how far it has come, and can end it.

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features.
*/

mod facts;
mod layouts;
mod pages;
mod read;
mod row;

pub use facts::printable;
pub use layouts::{FoundLayout, Layouts};
pub use pages::Pages;
pub use read::{
    ReadCrawlError, ReadPosition, ReadReport, SHOWN, Watch, open, prepare, read_all, read_on, read_rows,
};
pub use row::{CrawlRow, RowError};
