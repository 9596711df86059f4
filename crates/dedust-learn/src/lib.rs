/*!
Learns how websites spell their URLs: a crawl with duplicate evidence in, normalization rules out.

```
use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};

let mut crawl = Crawl::new(EvidenceKinds::AUTO);
for page in 0..80 {
    let digest = format!("{}", page / 2);
    let url = format!("http://a.example/view?id={digest}&sid={}", 7919 * page);
    crawl.observe(url.as_bytes(), &Clues { digest: Some(digest.as_bytes()), ..Clues::default() })?;
}
let training = Trainer::builder().build()?.train(&crawl.into_corpora(), &())?;
assert_eq!(training.sites[0].saved, 40);
# Ok::<(), Box<dyn std::error::Error>>(())
```

1. A [`Crawl`] takes URLs with [`Clues`] about their pages and becomes one [`Corpus`] per site: interned rows, each
   with a duplicate label. A [`CrawlStore`] does so for crawls larger than memory, and samples large sites.
2. A learner makes rules of a corpus. CanonFD is ours: it suggests small changes of URLs, and has the URLs that they would join
   vote on them.
3. A [`Trainer`] does all this for many sites at a time, by [`LearnOptions`], and reports what the rules save.

The same observations give the same rules, in any order and on any number of threads.

Other learners are in `dedust-baselines` and `dedust-seq2seq`; how good the result is, `dedust-eval` tells.

# Versions and features

Rust 1.90, and the [promise of `dedust`](dedust#versions-and-features), which excludes `support` here too. The same version learns the same rules of the same crawl; a new one may
learn others. There are no features.
*/

mod canonfd;
mod canonical_fate;
mod cluster;
mod confidence;
mod corpus;
mod crawl;
mod crawl_store;
mod evidence;
mod hash;
mod host_links;
mod known_names;
mod label;
mod learner;
mod likeness;
mod link_targets;
mod minhash;
mod observed;
mod options;
mod pair_counts;
mod pair_number;
mod preference;
mod progress;
mod proof;
mod recount;
mod rows;
mod rule_evidence;
mod rule_text;
mod score;
mod simhash;
mod site_report;
#[doc(hidden)]
pub mod support;
mod text_hash;
mod thresholds;
mod trainer;
mod union_find;

pub use corpus::Corpus;
pub use crawl::Crawl;
pub use crawl_store::{CrawlStore, NamedMirror, StoredCrawl};
pub use evidence::{EvidenceKind, EvidenceKinds};
pub use label::{Clues, MainClues};
pub use options::LearnOptions;
pub use preference::Preference;
pub use progress::Progress;
pub use proof::Mode;
pub use score::Score;
pub use site_report::SiteReport;
pub use trainer::{Trainer, Training};

/// Every error of this crate.
pub mod errors {
    pub use crate::crawl_store::{ParseMirrorError, SampleError};
    pub use crate::evidence::ParseEvidenceError;
    pub use crate::options::InvalidOption;
    pub use crate::preference::PreferenceError;
    pub use crate::trainer::{TrainError, TrainSampleError, TrainStoredError};
}

/// The code of the README, kept true.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
