/*!
Keys and canonical URLs of many URLs.
*/

use super::{Both, Normalizer, OutputBuffers, Scratch};
use crate::compiled::{Found, MAX_HOSTS};
use crate::encoding::is_same;
use crate::program::Program;
use crate::url::{ParseUrlError, ParsedUrl};

/// URLs that are on their way at the same time. More would not fit into the nearest memory, with fewer there is more to
/// wait for.
const BATCH: usize = MAX_HOSTS;

#[derive(Clone, Debug)]
pub(super) struct Batch {
    urls: [ParsedUrl; BATCH],
    parsed: [Option<ParseUrlError>; BATCH],
    found: [Found; BATCH],
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            urls: std::array::from_fn(|_| ParsedUrl::default()),
            parsed: [None; BATCH],
            found: [Found::default(); BATCH],
        }
    }
}

impl Normalizer {
    /// Like [`Normalizer::key_with`] for many URLs, and faster: hands each URL with its key to `each`, in their order.
    ///
    /// ```
    /// use dedust::{Normalizer, Scratch};
    ///
    /// let urls = ["http://a.example/?b=1&a=2", "no URL", "http://a.example/?a=2&b=1"];
    /// let mut keys = Vec::new();
    /// let normalizer = Normalizer::default();
    /// normalizer.each_key(urls.iter().map(|url| url.as_bytes()), &mut Scratch::default(), |_, key| {
    ///     keys.push(key.ok().map(<[u8]>::to_vec));
    /// });
    /// assert_eq!(keys[0], keys[2]);
    /// assert_eq!(keys[1], None);
    /// ```
    pub fn each_key<'u>(
        &self,
        urls: impl IntoIterator<Item = &'u [u8]>,
        scratch: &mut Scratch,
        mut each: impl FnMut(&'u [u8], Result<&[u8], ParseUrlError>),
    ) {
        self.each(urls, scratch, |input, url, program, buffers| {
            each(input, url.map(|url| self.key_of(url, program, buffers)))
        });
    }

    /// Like [`Normalizer::normalize_with`] for many URLs, and faster: hands each URL with its canonical form to `each`, in
    /// their order.
    pub fn each_canonical<'u>(
        &self,
        urls: impl IntoIterator<Item = &'u [u8]>,
        scratch: &mut Scratch,
        mut each: impl FnMut(&'u [u8], Result<&[u8], ParseUrlError>),
    ) {
        self.each(urls, scratch, |input, url, program, buffers| {
            each(input, url.map(|url| self.canonical_of(url, program, buffers)));
        });
    }

    /// Like [`Normalizer::both_with`] for many URLs, and faster: hands each URL with its key and canonical form to `each`, in their
    /// order.
    pub fn each_both<'u>(
        &self,
        urls: impl IntoIterator<Item = &'u [u8]>,
        scratch: &mut Scratch,
        mut each: impl FnMut(&'u [u8], Result<Both<'_>, ParseUrlError>),
    ) {
        self.each(urls, scratch, |input, url, program, buffers| {
            each(input, url.map(|url| self.both_of(url, program, buffers)));
        });
    }

    /// Hands each URL, read and with the program of its site, to `finish`.
    #[inline(always)]
    fn each<'u>(
        &self,
        urls: impl IntoIterator<Item = &'u [u8]>,
        scratch: &mut Scratch,
        finish: impl FnMut(
            &'u [u8],
            Result<&mut ParsedUrl, ParseUrlError>,
            Option<&Program<'_>>,
            &mut OutputBuffers,
        ),
    ) {
        if self.image.is_cached() {
            self.each_cached(urls, scratch, finish);
        } else {
            self.each_prefetched(urls, scratch, finish);
        }
    }

    /// One after the other, where there is nothing to wait for.
    #[inline(always)]
    fn each_cached<'u>(
        &self,
        urls: impl IntoIterator<Item = &'u [u8]>,
        scratch: &mut Scratch,
        mut finish: impl FnMut(
            &'u [u8],
            Result<&mut ParsedUrl, ParseUrlError>,
            Option<&Program<'_>>,
            &mut OutputBuffers,
        ),
    ) {
        let Scratch { url, last, buffers, hosts, .. } = scratch;
        let (mut url, mut last) = (url, last);
        let (mut hosts, mut program, mut is_last_known) = (self.image.known_hosts(hosts), None, false);
        for input in urls {
            let parsed = url.parse_from(input);
            let mut applied = None;
            if parsed.is_ok() {
                // Links of one page mostly lead to one host.
                if !is_last_known || !have_same_host(url, last) {
                    let (start, end) = (url.parts().host_start as usize, url.parts().host_end as usize);
                    hosts.find(url.padded(), start, end, &mut program);
                }
                applied = program.as_ref();
            }
            // A URL of a mirror becomes one of another host.
            is_last_known = parsed.is_ok() && !applied.is_some_and(|program| program.is_mirror());
            finish(input, parsed.map(|()| &mut *url), applied, buffers);
            std::mem::swap(&mut url, &mut last);
        }
    }

    /// Many at a time, since the machine waits for the rules of all of them as long as for those of one.
    #[inline(always)]
    fn each_prefetched<'u>(
        &self,
        urls: impl IntoIterator<Item = &'u [u8]>,
        scratch: &mut Scratch,
        mut finish: impl FnMut(
            &'u [u8],
            Result<&mut ParsedUrl, ParseUrlError>,
            Option<&Program<'_>>,
            &mut OutputBuffers,
        ),
    ) {
        let Scratch { buffers, batch, .. } = scratch;
        let Batch { urls: parsed, parsed: errors, found } = batch;
        let mut inputs = urls.into_iter();
        let mut batch: [&[u8]; BATCH] = [b""; BATCH];
        let index = self.image.index();
        loop {
            let mut count = 0;
            for (slot, input) in batch.iter_mut().zip(&mut inputs) {
                *slot = input;
                errors[count] = parsed[count].parse_from(input).err();
                count += 1;
            }
            if count == 0 {
                return;
            }
            let mut repeated = 0u64;
            for at in 1..count {
                // Links of one page mostly lead to one host.
                repeated |= u64::from(have_same_host(&parsed[at], &parsed[at - 1])) << at;
            }
            index.find_all(&parsed[..count], repeated, found);
            index.read_ahead(&found[..count]);
            let mut program = None;
            for (at, input) in batch[..count].iter().enumerate() {
                let url = &mut parsed[at];
                if repeated & 1 << at == 0 {
                    program = index.open_site(found[at]);
                }
                if let Some(error) = errors[at] {
                    finish(input, Err(error), None, buffers);
                    continue;
                }
                finish(input, Ok(url), program.as_ref(), buffers);
            }
        }
    }
}

#[inline(always)]
fn have_same_host(one: &ParsedUrl, other: &ParsedUrl) -> bool {
    let extent = |url: &ParsedUrl| {
        let parts = url.parts();
        (parts.host_start as usize, (parts.host_end - parts.host_start) as usize)
    };
    let ((start, length), (other_start, other_length)) = (extent(one), extent(other));
    length == other_length && is_same(one.padded(), start, other.padded(), other_start, length)
}
