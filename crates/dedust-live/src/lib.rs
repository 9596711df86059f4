/*!
Tells a crawler which URLs to fetch, and learns from what it fetched, while it crawls.

A [`LiveCrawl`] is asked about each URL before it is fetched ([`admit`](LiveCrawl::admit)) and told what the fetch showed
([`observe`](LiveCrawl::observe)). Everything else happens behind these two: rules are learned again as evidence grows, and when they change,
the keys of all URLs do, so that no page is fetched twice because of that; some of the URLs that would be skipped are fetched to find out whether
rules hold; those of rules that fall come back ([`returned`](LiveCrawl::returned)).

Starts no threads. A program that has some takes a [`Lesson`], learns it elsewhere, and [finishes](LiveCrawl::finish) it; one that has none calls
[`learn`](LiveCrawl::learn). The same calls with the same state give the same answers.

# Versions and features

Rust 1.90, semantic versions, and no features.
*/

mod audit;
mod error;
mod folder;
mod knowledge;
mod lesson;
mod live;
mod log;
mod options;
mod record;
mod replay;
mod site;
mod status;
mod steady;
mod verdict;
mod withdraw;

pub use audit::Interval;
pub use lesson::{Learned, Lesson};
pub use live::{Admission, LiveCrawl};
pub use options::LiveOptions;
pub use replay::{Replayed, replay};
pub use status::Status;
pub use verdict::Verdict;

/// Every error of this crate.
pub mod errors {
    pub use crate::error::{AdmitError, LiveError};
}
