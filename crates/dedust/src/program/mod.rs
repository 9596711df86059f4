/*!
The compiled rules of one site, read where they lie: in memory, as they were in a file.

Rules are made step by step (`rules/`); a mirror takes URLs for those of another site (`mirror.rs`). Beside that are texts by number
(`texts.rs`, `text_builder.rs`), classes and parts of values as bytes (`class_code.rs`, `atom_code.rs`), and canonical URLs that were observed
(`canonical_table.rs`).
*/

mod atom_code;
mod canonical_table;
mod class_code;
mod mirror;
pub(crate) mod rules;
mod text_builder;
mod texts;

pub(crate) use self::mirror::{Original, compile_mirror};
pub(crate) use self::text_builder::TextBuilder;
pub(crate) use self::texts::{Texts, fingerprint_of};

pub(crate) use self::canonical_table::{CanonicalEntry, Observed};
use self::canonical_table::{CanonicalTable, put_table};
use crate::encoding::TooLarge;
use crate::url::PADDING;

/// Flags of a shape, at [`FLAGS_AT`]. How many bytes an end takes, as a power of two, is in the two bits from here on.
const END_WIDTH: u32 = 4;
/// The site has no rules: all that is of it alone lies as `mirror.rs` says.
const IS_MIRROR: u8 = 64;
/// Canonical URLs that were observed lie at the end of what is of the site alone.
const HAS_CANONICAL_TABLE: u8 = 128;
const FLAGS_AT: usize = 4;

/// Of a URL of any length, rules may make so many bytes.
pub(crate) const MIN_RESULT: usize = 1 << 13;

/// The longest that rules may make of a URL of so many bytes: else a few of them would make any length of a long one.
#[inline(always)]
pub(crate) fn max_result(url_len: usize) -> usize {
    (2 * url_len).max(MIN_RESULT)
}

/// The rules of one site, ready to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    /// What is of the site alone, and what may be read after it.
    pub(crate) bytes: &'a [u8],
    /// What it has in common with others, and what may be read after it.
    pub(crate) shape: &'a [u8],
    /// Length of the domain, with which the host ends.
    pub(crate) domain_len: usize,
    /// Whether some longer domain has rules of its own, so that another host may have other rules.
    pub(crate) has_longer: bool,
}

/// The rules of a site, compiled.
#[derive(Debug)]
pub(crate) struct CompiledSite {
    /// What it may have in common with others.
    pub(crate) shape: Vec<u8>,
    /// The rest.
    pub(crate) site: Vec<u8>,
}

impl<'a> Program<'a> {
    /// Whether both are the same rules, at the same address.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.bytes, other.bytes)
            && std::ptr::eq(self.shape, other.shape)
            && self.domain_len == other.domain_len
    }

    /// Whether URLs are taken for those of another site.
    #[inline(always)]
    pub(crate) fn is_mirror(&self) -> bool {
        self.flags() & IS_MIRROR != 0
    }

    /// Whether there are URLs that were observed to stand for others.
    #[inline(always)]
    pub(crate) fn has_observed(&self) -> bool {
        self.flags() & HAS_CANONICAL_TABLE != 0
    }

    /// What was observed of a URL that the rules have written.
    #[inline]
    pub(crate) fn observed(&self, written: &[u8]) -> Option<Observed<'a>> {
        if !self.has_observed() {
            return None;
        }
        CanonicalTable::read(self.bytes.split_last_chunk::<PADDING>()?.0)?.get(written)
    }

    /// The site whose pages this one shows.
    pub(crate) fn original(&self) -> Option<Original<'a>> {
        if !self.is_mirror() {
            return None;
        }
        Original::read(self.bytes.split_last_chunk::<PADDING>()?.0)
    }

    #[inline(always)]
    fn flags(&self) -> u8 {
        self.shape.get(FLAGS_AT).copied().unwrap_or_default()
    }
}

impl CompiledSite {
    /// The same with URLs that were observed to stand for others that the rules write.
    pub(crate) fn with_observed(mut self, entries: &[CanonicalEntry<'_>]) -> Result<Self, TooLarge> {
        if !entries.is_empty() {
            put_table(&mut self.site, entries)?;
            self.shape[FLAGS_AT] |= HAS_CANONICAL_TABLE;
        }
        Ok(self)
    }
}
