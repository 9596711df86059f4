/*!
Makes synthetic sites whose evidence lies about their pages, as that of real sites does.

A [`LyingSpec`] says how large a site is and in which ways ([`Lie`]) its titles, texts, canonical links and redirects
suggest what is not so. [`LyingSite::new`] lays it out, and then gives rows ([`LyingRow`]) of a URL, what a crawler saw
there, and the truth.

```
use dedust_simulate::{Lie, Lies, LyingSite, LyingSpec};

let lists = Lies::from_iter([Lie::CanonicalToFirstPage]);
let site = LyingSite::new(LyingSpec::new("a.example", 1_000).lies(lists))?;
let mut pages_of_blog = 0;
site.each_row(|row| {
    if row.canonical.as_deref() == Some("https://www.a.example/blog/list") && row.url.contains("?page=") {
        pages_of_blog += 1;
    }
});
assert!(pages_of_blog > 10);
# Ok::<(), dedust_simulate::InvalidSiteSpec>(())
```

Every site also has items and articles with honest duplicates, so that there is something right to learn: with and
without TLS and `www`, with tracking parameters and session ids, and with canonical links that are right. The same
specification gives the same bytes. No text is ever written: it is a sequence of features, of which the simhash and the
digest are real. Where [`Site`](super::Site) has wrong labels by chance, a lying site is wrong by system.
*/

mod lie;
mod row;
mod section;
mod site;
mod spec;
mod spelling;
#[cfg(test)]
mod tests;
mod text;

pub use lie::{Lie, Lies, UnknownLie};
pub use row::{ERROR_CONTENT, LyingRow};
pub use site::LyingSite;
pub use spec::LyingSpec;
