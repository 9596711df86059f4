/*!
The compiled rules of one site, read where they lie: in memory, as they were in a file.

Rules whose URLs are known as a whole become templates (`closed/`), all other edits are made step by step (`edits/`). What both have in
common is here: texts by number (`texts.rs`, `text_builder.rs`), classes and parts of values as bytes (`class_code.rs`, `atom_code.rs`),
and what is done to a URL before: text that is replaced (`replacement.rs`), and mirrors (`mirror.rs`).
*/

mod atom_code;
mod class_code;
pub(crate) mod closed;
pub(crate) mod edits;
mod mirror;
mod replacement;
mod text_builder;
mod texts;

pub(crate) use self::mirror::{Original, compile_mirror};
pub(crate) use self::replacement::{MAX_PASSES, Replacement, replace_all};
pub(crate) use self::text_builder::TextBuilder;
pub(crate) use self::texts::{Texts, fingerprint_of};

use crate::encoding::Cursor;
use crate::url::PADDING;

/// Flags of a shape, at [`FLAGS_AT`]. Query parameters are remembered in the order of the URL.
const KEEPS_ORDER: u8 = 1;
/// Some rule passes query parameters through that it does not name.
const KEEPS_OTHERS: u8 = 2;
/// The offset of the replaced texts comes first.
const HAS_REPLACEMENTS: u8 = 4;
/// The site has edits, and all but the flags lies as `edits/mod.rs` says.
const HAS_EDITS: u8 = 8;
/// How many bytes an end takes, as a power of two, is in the two bits from here on.
const END_WIDTH: u32 = 4;
/// The site has no rules: all that is of it alone lies as `mirror.rs` says.
const IS_MIRROR: u8 = 64;
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

    /// Whether something is to be done to a URL before rules are asked.
    #[inline(always)]
    pub(crate) fn has_preparation(&self) -> bool {
        self.flags() & (HAS_REPLACEMENTS | IS_MIRROR) != 0
    }

    /// The site whose pages this one shows.
    pub(crate) fn original(&self) -> Option<Original<'a>> {
        if self.flags() & IS_MIRROR == 0 {
            return None;
        }
        Original::read(self.bytes.split_last_chunk::<PADDING>()?.0)
    }

    #[inline(always)]
    fn flags(&self) -> u8 {
        self.shape.get(FLAGS_AT).copied().unwrap_or_default()
    }

    /// Where the texts lie that are replaced; 0 when there are none.
    #[inline(always)]
    pub(crate) fn replacements(&self) -> u32 {
        match self.flags() & HAS_REPLACEMENTS {
            0 => 0,
            _ => Cursor::new(self.bytes, 0).u32().unwrap_or_default(),
        }
    }

    /// Whether the site has edits, and no rules.
    #[inline(always)]
    pub(crate) fn has_edits(&self) -> bool {
        self.flags() & HAS_EDITS != 0
    }
}
