/*!
How much memory a rule file may take, whatever is in it.

JSON of one site is held as a whole while it is read, so its length is limited. What the rules of a site take in memory is
estimated from the JSON before they are made: short lists and maps take many times the memory of their text.
*/

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use super::{Mirror, SiteRules};

/// Bytes of memory that rules may take, unless whoever loads them says otherwise.
pub const DEFAULT_RULES_MEMORY: u64 = 1_000_000_000;

/// Bytes of JSON that may stand in a rule file from the end of one site to the end of the next.
pub(super) const MAX_SITE_BYTES: u64 = 32 << 20;

/// Bytes of JSON that a rule file may have about what the learner was asked for: thousands of named mirrors.
pub const MAX_OPTIONS_BYTES: usize = 1 << 20;

/// Memory for a site without rules, with its share of the map that it is in.
const SITE_MEMORY: u64 = 1024;
/// Memory for an entry of a list or map, beside its text: its share of a node of a tree, or a pointer and an allocation.
const ENTRY_MEMORY: u64 = 96;

/// An estimate of the memory that the rules in the JSON of a site take. Mostly too high.
pub(super) fn memory_of(json: &str) -> u64 {
    let entries = json.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    SITE_MEMORY + json.len() as u64 + ENTRY_MEMORY * entries as u64
}

/// Exceptions of a mirror and of all mirrors that it is one of. Without a limit, a few long ones would be in very many programs.
pub(crate) const MAX_EXCEPTION_BYTES: usize = 4096;
/// Memory for a domain when it is compiled, beside two copies of its name: its share of a node of a tree, of the table and of a
/// record.
pub(crate) const DOMAIN_MEMORY: u64 = 200;
/// Memory for a mirror when it is compiled, in its own map and as a program, with as many exceptions as there can be.
pub(crate) const MIRROR_MEMORY: u64 = (4 * size_of::<Mirror>() + 4 * MAX_EXCEPTION_BYTES) as u64;

/// An estimate of the memory that a site takes when it is compiled, beside that for its program.
pub(super) fn memory_to_compile(domain: &str, site: &SiteRules) -> u64 {
    let names = site.hosts().iter().map(|host| &**host).chain([domain]);
    // Each end of a name may be in the table, and the name with `www`.
    let memory_of =
        |name: &str| (name.split('.').count() as u64 + 1) * (DOMAIN_MEMORY + 2 * name.len() as u64);
    names.map(memory_of).sum::<u64>() + site.mirror().map_or(0, |_| MIRROR_MEMORY)
}

/// Counts what is read of a rule file.
#[derive(Debug, Default)]
pub(super) struct Progress(Rc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    bytes: Cell<u64>,
    /// As many bytes had been read when the last site ended.
    site_start: Cell<u64>,
    is_exceeded: Cell<bool>,
}

impl Progress {
    /// A reader that fails when a site is too long.
    pub(super) fn limit<R: Read>(&self, reader: R) -> SiteLimit<R> {
        SiteLimit { reader, counts: self.0.clone() }
    }

    /// Bytes that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    /// Whether reading failed since a site is too long.
    pub(super) fn is_exceeded(&self) -> bool {
        self.0.is_exceeded.get()
    }

    /// Notes the end of a site.
    pub(super) fn start_site(&self) {
        self.0.site_start.set(self.bytes());
    }
}

/// Reads a rule file, no more than [`MAX_SITE_BYTES`] and the buffer of whoever reads for each site.
#[derive(Debug)]
pub(super) struct SiteLimit<R> {
    reader: R,
    counts: Rc<Counts>,
}

impl<R: Read> Read for SiteLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Counts { bytes, site_start, is_exceeded } = &*self.counts;
        if bytes.get() - site_start.get() > MAX_SITE_BYTES {
            is_exceeded.set(true);
            return Err(io::ErrorKind::InvalidData.into());
        }
        let read = self.reader.read(buffer)?;
        bytes.set(bytes.get() + read as u64);
        Ok(read)
    }
}
