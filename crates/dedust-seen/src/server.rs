/*!
A set that many processes share, on a server that speaks the protocol of Redis: Redis 6.2 or newer, Valkey, Kvrocks.

Only plain commands and transactions are used: no scripts, no modules. All keys of the server that belong to a set start with its
prefix (`names.rs`):

```text
PREFIX:set                  the format, the secret that keys are hashed with, and how long keys are remembered
PREFIX:rules                fingerprint of the rules that were used last
PREFIX:versions             fingerprints of all rules that have keys here
PREFIX:RULES:keys           the keys of these rules, 16 bytes each; with a time to live, one such set for each half of it
PREFIX:RULES:sessions       names of sessions that may be open
PREFIX:RULES:session:NAME   the keys of an open session
PREFIX:RULES:asker:TOKEN    the last batch of a process
```

# What is promised

Without failures, a key is new for exactly one of all processes that ask for it: a batch is one transaction, in which the server first says
which keys it has and then adds all of them. What a process has heard to be seen it does not ask again (`filter.rs`).

If a connection breaks, the process does not know whether its last batch was made. It connects again and asks for the number of its last
batch, which is written in the same transaction. If that batch was not made, it is made now, and answered as if nothing had
happened. If it was made and only the answer was lost, all keys of it count as new, since none of them may have been handed out: *at least once*. They
are counted in [`SeenStats::unconfirmed_keys`]. So do the keys of a batch that failed for good, as when the server does not come back: the failure is told
by the next call, so that the answers that were given reach whoever asked.

If somebody removes the set while it is used, as by `FLUSHALL`, or the server loses it, the next batch of a process writes its secret again, in the
same transaction, and this is counted in [`SeenStats::removals`]. If a process with another secret came first, the batch is answered as new, and the next
call says so ([`ServerError::MadeAnew`]): no two processes go on with two secrets, by which each page would be let through twice for ever.

A session is a set beside the others. Two open sessions do not see each other's keys, so that what one of them hides is never
missing from the other, whatever becomes of the first.

Not promised: a process that dies between the answer and its use takes the new keys of one batch with it, unless its session is cancelled. What the
server itself forgets, by its settings for disk and memory, is new once more.
*/

mod address;
mod admin;
mod filter;
mod link;
mod marker;
mod names;
mod session;
mod set;

pub use admin::{OpenSession, RulesVersion, SeenServer};
pub(crate) use set::ServerSet;

pub use crate::error::ServerError;

#[cfg(doc)]
use {crate::SeenStats, filter::Filter, names::Names};

/// Whether a text names a set on a server and not a folder. Also where it is no address that can be used, but is meant as one: it may have a
/// password in it, which must not become the name of a folder.
pub fn is_address(text: &str) -> bool {
    address::is_meant(text)
}

/// An address as messages show it: without user, password and options, whether or not it can be read.
pub fn shown_address(text: &str) -> String {
    address::shown(text)
}
