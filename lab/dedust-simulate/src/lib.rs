/*!
Makes synthetic sites whose pages are known, to measure learners on.

A [`SiteSpec`] says how large a site is, in which ways ([`Phenomenon`]) its pages have many URLs, and how wrong the
labels are ([`Noise`]). [`Site::new`] plans it, and then gives rows of a URL, the page it leads to, and the label that a
hash of the content would give it. A [`Profile`] specifies many sites, such as those of the WWW 2010 paper on pattern
trees. A [`LyingSite`] has no labels but what a crawler sees, titles, texts and links, which lie ([`Lie`]).

```
use dedust_simulate::{Phenomenon, Site, SiteSpec};

let site = Site::new(SiteSpec::single(Phenomenon::SessionInPath, 1_000, 7))?;
let mut url = Vec::new();
let row = site.row(0, &mut url);
assert!(row.url.starts_with(b"http://www.session-in-path.example/"));
assert_eq!(row.label, row.page);
# Ok::<(), dedust_simulate::InvalidSiteSpec>(())
```

Each phenomenon has a section of the site to itself, so that it can be judged alone, with pages that are no duplicates
and must not be merged. The same specification gives the same bytes on every platform: chance comes from integer
arithmetic, and of floating-point operations only those that IEEE 754 defines exactly are used. Fetches nothing and
makes no page contents; all domains of profiles are reserved for examples.

# Versions and features

Rust 1.90, the [promise of `dedust`](https://docs.rs/dedust/latest/dedust/#versions-and-features), and no features.
*/

mod chance;
mod forms;
mod layout;
mod lies;
mod phenomenon;
mod profile;
mod site;
mod space;
mod spec;
mod statistics;
mod text;

pub use lies::{ERROR_CONTENT, Lie, Lies, LyingRow, LyingSite, LyingSpec, UnknownLie};
pub use phenomenon::{Phenomena, Phenomenon, UnknownPhenomenon};
pub use profile::{Profile, UnknownProfile};
pub use site::{Row, Site};
pub use space::{Space, SpaceSite};
pub use spec::{InvalidSiteSpec, Noise, SiteSpec};
pub use statistics::{Spread, Statistics};
