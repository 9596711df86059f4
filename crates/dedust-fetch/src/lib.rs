/*!
Fetches web pages politely and tells whether two of them are the same.

1. [`Fetcher`] takes a URL and gives the [`Fingerprint`] of the page there, or says why there is none.
2. [`Fingerprint::is_same_page`] compares two pages that are long gone.
3. [`Noise`] takes two [`Visit`]s of a page and tells what of it stays.

```no_run
use dedust_fetch::Fetcher;

let fetcher = Fetcher::builder().build();
let page = fetcher.fetch("http://a.example/view?id=1")?;
let other = fetcher.fetch("http://a.example/view?id=1&sid=9")?;
println!("{}", if page.is_same_page(&other) { "same" } else { "different" });
# Ok::<(), dedust_fetch::FetchError>(())
```

Polite: robots.txt is obeyed, a host sees one request at a time with a pause between two, and a host that does not
answer is left alone. Safe to point at a list of URLs that strangers wrote: addresses that are not public are refused
([`is_public`]) at the very place where the connection is made, for every hop of a redirect, unless their host was named
([`AllowedHost`]); size, time, the number of hops and the rules of a robots.txt are bounded, and so is what is remembered
of hosts; no cookies, credentials or proxies are used.

The client is `ureq`: requests to a host must wait for each other anyhow, so that threads do, and no asynchronous
runtime has to be built. Its resolver can be replaced, and the addresses it returns are those connected to, which
leaves no room for a name that resolves to another address the second time. What a reader
sees of a page is told by `dedust-pages`.

Knows nothing of rules and decides nothing about them.

# Versions and features

Rust 1.90, semantic versions, and no features.
*/

mod address;
mod allowed_host;
mod error;
mod fetcher;
mod fingerprint;
mod host;
mod passages;
mod recent;
mod resolver;
mod robots;
mod transport;
mod visit;

pub use address::is_public;
pub use allowed_host::{AllowedHost, ParseAllowedHostError};
pub use error::FetchError;
pub use fetcher::{Fetcher, FetcherBuilder};
pub use fingerprint::Fingerprint;
pub use visit::{Noise, Visit};
