/*!
Remembers which URL keys a crawl has seen: on disk, across runs, for billions of keys; or on a server, for many processes.

[`SeenKey`]s come in, one at a time or in batches; whether each is new comes out. A key that was said to be new is in
the operating system's hands before the answer is given, so that killing the process at any moment loses nothing. Keys
are hashed with a secret of the set ([`KeyHasher`]), so that nobody outside can make a URL that is taken for another.

```
use dedust_seen::SeenSet;

# let folder = tempfile::tempdir()?;
# let folder = folder.path().join("seen");
let url = b"http://a.example/p?id=1";
let mut seen = SeenSet::open(&folder)?;
let key = seen.hasher().hash(url);
assert!(seen.insert(key)?);
assert!(!seen.insert(key)?);
drop(seen);

let mut seen = SeenSet::open(&folder)?;
assert!(!seen.insert(seen.hasher().hash(url))?);
assert_eq!(seen.stats().keys, 1);
# Ok::<(), Box<dyn std::error::Error>>(())
```

With the feature `redis`, `SeenSet::connect` opens a set that many processes share, on a server that speaks the protocol of Redis: see
the module `server`. It answers the same question by the same methods.

# How a folder works

The naive set is a list of keys in a file and a hash table of all of them in memory. This one keeps the list and
bounds the table:

```text
insert -> recent keys (hash table) + log (appended before the answer)
             | full: frozen, sorted and written by one thread
             v
          runs: sorted keys in files, never changed; six bytes of each key in memory
             | four of a size: merged into one by another thread
             v
          fewer, larger runs
```

A key that is in no hash table is looked for in the memory of each run, which says for all practical purposes
whether it is there: no answer waits for the disk. Runs are written beside and renamed, and the name of a file says
which logs it replaces: there is no list of files that could be wrong. After a loss of power a log may have lost its end,
unless it was synced ([`Durability::Power`]): it is cut off at the first record that is not whole, and keys that are lost
are new once more. [`check()`] says whether any other file is damaged, and [`repair()`] keeps what can be read.

Memory is 6.4 bytes for a key and some 150 MB; while the largest runs are merged, up to twice as much.

Keys are hashes, all equally likely; nothing is ever removed. That is why a general storage engine, which sorts and
finds keys of any kind, is several times slower here: `bench/seen-stores` of the repository measures some.

# Versions and features

Rust 1.90, and semantic versions: of 0.1, each release opens the folders and sets of those before it.

| feature | adds |
|---|---|
| `redis` | sets on a server that speaks the protocol of Redis, with or without TLS |
*/

mod background;
mod bytes;
mod check;
mod error;
mod file_names;
mod folder;
mod key;
mod local;
#[cfg(feature = "redis")]
mod location;
mod log;
mod marker;
mod merge;
mod options;
mod rules;
mod run;
#[cfg(feature = "redis")]
pub mod server;
mod set;
mod stats;
mod view;

/// For other crates of this workspace, and not stable: how a folder keeps the secret that its keys are hashed with.
#[doc(hidden)]
pub mod support {
    pub use crate::key::{SECRET_BYTES, random_secret};
    pub use crate::marker::{decode_secret, encode_secret};
}

pub use check::{Fault, FileReport, SeenReport, check, repair};
pub use error::{Damage, SeenError};
pub use key::{KeyHasher, SeenKey};
#[cfg(feature = "redis")]
pub use location::SeenLocation;
pub use options::{Durability, SeenOptions};
pub use set::SeenSet;
pub use stats::SeenStats;
