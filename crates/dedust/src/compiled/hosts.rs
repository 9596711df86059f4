/*!
Hosts that were met lately, and where the rules of each lie: links lead to the same hosts again and again, and to know one by
its whole name costs a quarter of looking up which end of it has rules.

Every host has two entries, next to each other, where it may be. One that comes where there is no room drives out the one
that came there first.
*/

use std::sync::atomic::{AtomicU64, Ordering};

use wide::{CmpEq as _, i8x16};

use super::index::{Index, SiteLocation};
use crate::delimiters::LANES;
use crate::encoding::array_at;
use crate::program::Program;

/// Pairs of hosts that are remembered.
const PAIRS: usize = 1 << PAIRS_BITS;
const PAIRS_BITS: u32 = 12;
/// Longer hosts are not.
const MAX_HOST_BYTES: usize = 2 * LANES;

/// Hosts that come one by one are remembered when so many came: whoever has few URLs needs no memory for more.
const MIN_HOSTS: u32 = 32;

/// Tells rules from all others of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageId(u64);

impl ImageId {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Hosts that were met lately. Takes up memory with the first of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    /// The rules that the locations belong to.
    image: Option<ImageId>,
    pairs: Option<Box<[Pair; PAIRS]>>,
    /// How many came one by one, up to [`MIN_HOSTS`].
    met: u32,
}

/// The host that came last, and the one before.
type Pair = [Entry; 2];

/// What is known of a host, in one line of a cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Entry {
    /// The host, and whatever followed it.
    host: [u8; MAX_HOST_BYTES],
    /// 0 where there is none.
    length: u8,
    has_rules: bool,
    site: SiteLocation,
}
const _: () = assert!(size_of::<Entry>() == 64);

/// [`Hosts`] with the rules that they belong to.
pub(crate) struct KnownHosts<'a, 'h> {
    index: Index<'a>,
    pairs: &'h mut [Pair; PAIRS],
}

impl Hosts {
    /// Forgets what it knows of other rules.
    #[inline]
    pub(super) fn of<'a, 'h>(&'h mut self, image: ImageId, index: Index<'a>) -> KnownHosts<'a, 'h> {
        if self.image != Some(image) {
            self.pairs = None;
            self.image = Some(image);
        }
        let pairs = self.pairs.get_or_insert_with(|| {
            let pairs = vec![Pair::default(); PAIRS].into_boxed_slice();
            // Never fails: there are as many.
            pairs.try_into().unwrap_or_else(|_| Box::new([Pair::default(); PAIRS]))
        });
        KnownHosts { index, pairs }
    }

    /// Like [`Hosts::of`], for one host of perhaps many: `None` if few came before.
    #[inline(always)]
    pub(super) fn of_one<'a, 'h>(
        &'h mut self,
        image: ImageId,
        index: Index<'a>,
    ) -> Option<KnownHosts<'a, 'h>> {
        if self.met < MIN_HOSTS {
            self.met += 1;
            return None;
        }
        Some(self.of(image, index))
    }
}

impl<'a> KnownHosts<'a, '_> {
    /// Finds the site of the longest domain that `text[start..end]`, a host, is or ends with. It is written to where it is
    /// needed: what is written in small parts and then moved as a whole has to be waited for.
    #[inline(always)]
    pub(crate) fn find(&mut self, text: &[u8], start: usize, end: usize, site: &mut Option<Program<'a>>) {
        if let Some(host) = Host::new(text, start, end) {
            let [last, before] = &self.pairs[host.pair % PAIRS];
            if host.is_in(last) {
                return self.open(last, site);
            }
            if host.is_in(before) {
                return self.open(before, site);
            }
        }
        self.meet(text, start, end, site);
    }

    #[inline(always)]
    fn open(&self, entry: &Entry, site: &mut Option<Program<'a>>) {
        *site = None;
        if entry.has_rules {
            *site = self.index.program(&entry.site);
        }
    }

    /// Looks up a host, and remembers it.
    #[inline(never)]
    fn meet(&mut self, text: &[u8], start: usize, end: usize, site: &mut Option<Program<'a>>) {
        let location = self.index.site_location(text, start, end);
        *site = location.and_then(|location| self.index.program(&location));
        if let Some(host) = Host::new(text, start, end) {
            let [last, before] = &mut self.pairs[host.pair % PAIRS];
            *before = *last;
            *last = Entry {
                host: *host.window,
                length: host.length as u8,
                has_rules: location.is_some(),
                site: location.unwrap_or_default(),
            };
        }
    }
}

/// A host that can be remembered.
struct Host<'a> {
    /// The host and what follows it.
    window: &'a [u8; MAX_HOST_BYTES],
    length: usize,
    /// Which pair it belongs to.
    pair: usize,
}

impl<'a> Host<'a> {
    #[inline(always)]
    fn new(text: &'a [u8], start: usize, end: usize) -> Option<Self> {
        let length = end.checked_sub(start).filter(|length| (1..=MAX_HOST_BYTES).contains(length))?;
        let window = array_at::<MAX_HOST_BYTES>(text, start)?;
        let first = u64::from_le_bytes(*window.first_chunk()?);
        // Before a short host stand the scheme and slashes, which do no harm.
        let last = u64::from_le_bytes(*array_at(text, end.checked_sub(8)?)?);
        let first = if length < 8 { 0 } else { first.wrapping_mul(0x9E37_79B9_7F4A_7C15) };
        let hash = (first ^ last).wrapping_mul(0xD1B5_4A32_D192_ED03);
        Some(Self { window, length, pair: (hash >> (u64::BITS - PAIRS_BITS)) as usize })
    }

    #[inline(always)]
    fn is_in(&self, entry: &Entry) -> bool {
        let (one, other) = (halves(self.window), halves(&entry.host));
        let are_same = |half: usize| one[half].cmp_eq(other[half]).move_mask().cast_unsigned();
        let unlike = !(are_same(0) | are_same(1) << LANES);
        usize::from(entry.length) == self.length && unlike << (MAX_HOST_BYTES - self.length) == 0
    }
}

#[inline(always)]
fn halves(bytes: &[u8; MAX_HOST_BYTES]) -> [i8x16; 2] {
    bytemuck::must_cast(*bytes)
}
