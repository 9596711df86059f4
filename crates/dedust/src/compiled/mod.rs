/*!
Compiled rules of any number of sites as one run of bytes. What is looked up while normalizing is what lies in the file, so
that opening one decodes nothing.

```text
table     groups of eight tags and eight offsets, of every domain by a hash of it; offset 0 is none
sites     record: offset of the shape, length of the program, domain     most often seen sites first,
          program: what is of the site alone                            each shape before the first that has it
padding   zeros, so that texts may be copied in steps that do not depend on their length
```

Numbers are little endian; an offset counts four bytes. Sites whose rules are built alike share a shape (`program/mod.rs`),
and those with the same rules a program, which does not name the domain. The file adds a header and checksums (`file.rs`).
*/

mod build;
mod compile;
mod file;
mod hosts;
mod index;
mod left_out;

pub(crate) use build::{ImageBuilder, SiteFacts};
pub(crate) use compile::{add_site, compile};
pub use file::{DamagedRules, OpenRulesError, holds_compiled, is_compiled};
pub(crate) use hosts::{Hosts, KnownHosts};
pub(crate) use index::{Found, MAX_HOSTS};
pub use left_out::{LeftOut, LeftOutReason};

use std::fmt;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use self::hosts::ImageId;
use self::index::Index;
use crate::program::Program;

/// Compiled rules.
#[derive(Clone)]
pub(crate) struct Image {
    id: ImageId,
    body: Arc<Vec<u8>>,
    facts: Facts,
}

/// What the header of the file says about the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Of the table.
    groups: u32,
    pub(crate) sites: u64,
    pub(crate) rules: u64,
    /// Those of the sites that are mirrors.
    pub(crate) mirrors: u64,
    /// Sites of the rule file that are not among them.
    pub(crate) left_out: u64,
    /// The learner.
    pub(crate) method: Box<str>,
}

/// The hosts of so many sites are [known](Hosts) most of the time, and so many bytes of rules fit into a cache.
const MAX_CACHED_SITES: u64 = 1 << 12;
const MAX_CACHED_BYTES: usize = 1 << 23;

impl Image {
    fn new(body: Vec<u8>, facts: Facts) -> Self {
        Self { id: ImageId::new(), body: Arc::new(body), facts }
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether it is small enough to be at hand wherever it is read, so that there is nothing to gain by reading ahead.
    #[inline]
    pub(crate) fn is_cached(&self) -> bool {
        self.facts.sites <= MAX_CACHED_SITES && self.bytes().len() < MAX_CACHED_BYTES
    }

    pub(crate) fn fingerprint(&self) -> u128 {
        xxh3_128(self.bytes())
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// Where the sites of hosts are looked up, some of which were met before.
    #[inline]
    pub(crate) fn known_hosts<'a, 'h>(&'a self, hosts: &'h mut Hosts) -> KnownHosts<'a, 'h> {
        hosts.of(self.id, self.index())
    }

    /// Finds the site of one host.
    #[inline]
    pub(crate) fn find<'a>(
        &'a self,
        text: &[u8],
        start: usize,
        end: usize,
        hosts: &mut Hosts,
        site: &mut Option<Program<'a>>,
    ) {
        let index = self.index();
        if index.groups == 0 {
            *site = None;
            return;
        }
        match self.is_cached().then(|| hosts.of_one(self.id, index)).flatten() {
            Some(mut hosts) => hosts.find(text, start, end, site),
            None => *site = index.site(text, start, end),
        }
    }

    /// Where sites are looked up.
    #[inline]
    pub(crate) fn index(&self) -> Index<'_> {
        Index { bytes: self.bytes(), groups: self.facts.groups }
    }
}

impl Default for Image {
    fn default() -> Self {
        ImageBuilder::default().finish().0
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("facts", &self.facts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::CanonicalEntry;
    use crate::rules::SiteRules;
    use crate::{Normalizer, RuleSet, Scratch};

    const EVERY_OPERATION: &[u8] = include_bytes!("../../testdata/rules/every-operation.json");
    const EVERY_RULE: &[u8] = include_bytes!("../../testdata/rules/every-rule.json");
    /// With canonical URLs that were observed, of which the last two would not be entered.
    const OBSERVED: &[u8] = br#"{"version": 1, "sites": {"a.example": {
        "rules": [{"change": [{"drop": "q.sid"}], "fetchable": true}, {"change": [{"drop": "tslash"}]},
                  {"change": [{"drop": "sub_0"}]}],
        "canonical_urls": {
            "http://www.a.example/view?id=7": "http://a.example/view/?id=7",
            "http://www.a.example/x;s=1/": null,
            "http://www.a.example/": "http://b.example/",
            "http://www.a.example/a/b/c/?b&a=1&a=2": "http://www.a.example/a/b/c/?b&a=1&a=2&sid=9"}}}}"#;

    /// A file may have been made on purpose, with checksums that fit: nothing in it may lead to a panic.
    #[test]
    fn any_bytes_are_read_without_a_panic() {
        for rules in [EVERY_OPERATION, EVERY_RULE, OBSERVED] {
            any_bytes_are_read(&RuleSet::load(rules).unwrap());
        }
    }

    fn entries(site: &SiteRules) -> Vec<CanonicalEntry<'_>> {
        let mut entries = Vec::new();
        for (written, canonical) in site.canonical_urls() {
            entries.push(CanonicalEntry { written, canonical: canonical.as_deref(), needs: None });
        }
        entries
    }

    fn any_bytes_are_read(rules: &RuleSet) {
        let image = compile(rules, |_, site| entries(site)).finish().0;
        let urls: Vec<String> = rules
            .sites()
            .flat_map(|(site, _)| {
                [
                    "/",
                    "/view?id=7&sid=9",
                    "/thread_12.html",
                    "/a/b/c/?b&a=1&a=2",
                    "/index.php?title=X",
                    "/x;s=1/",
                    "/Wiki/A%3Ab/print?title=Talk:A&lang=fr&page=3&q=e%CC%81",
                ]
                .map(|path| format!("http://www.{site}{path}"))
            })
            .collect();
        let mut scratch = Scratch::default();
        for at in 0..image.bytes().len() {
            for change in [0x01, 0x80, 0xFF] {
                let mut bytes = image.bytes().to_vec();
                bytes[at] ^= change;
                let changed = Image::new(bytes, image.facts.clone());
                let normalizer = Normalizer::from_image(changed);
                let bytes = || urls.iter().map(|url| url.as_bytes());
                normalizer.each_key(bytes(), &mut scratch, |_, _| ());
                normalizer.each_canonical(bytes(), &mut scratch, |_, _| ());
                normalizer.each_both(bytes(), &mut scratch, |_, _| ());
            }
        }
    }
}
