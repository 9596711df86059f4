/*!
The key of a URL and its canonical URL, together.

A URL is read once, its site is looked up once, and most rules are made once: what is left of a URL when its canonical URL is written
has the same key, so that the key is made from that. This costs little more than one of the two.
*/

use super::{CanonicalUrl, Normalizer, OutputBuffers, Scratch, UrlKey};
use crate::program::Program;
use crate::url::{ParseUrlError, ParsedUrl};

/// What a URL becomes, in the buffers of a [`Scratch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Both<'s> {
    /// The key.
    pub key: &'s [u8],
    /// The canonical URL.
    pub canonical: &'s [u8],
}

/// Both outputs of a URL for which they are made one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Apart {
    as_read: ParsedUrl,
    canonical: Vec<u8>,
    key: Vec<u8>,
}

impl Normalizer {
    /// The key of `url` and its canonical form.
    ///
    /// ```
    /// use dedust::Normalizer;
    ///
    /// let (key, canonical) = Normalizer::default().both("http://Example.org/?b=1&a=2#top")?;
    /// assert_eq!(key, "http://example.org/?a=2&b=1");
    /// assert_eq!(canonical, "http://example.org/?b=1&a=2");
    /// # Ok::<(), dedust::errors::ParseUrlError>(())
    /// ```
    pub fn both(&self, url: impl AsRef<[u8]>) -> Result<(UrlKey, CanonicalUrl), ParseUrlError> {
        let mut scratch = Scratch::default();
        let Both { key, canonical } = self.both_with(url.as_ref(), &mut scratch)?;
        Ok((UrlKey(key.into()), CanonicalUrl(canonical.into())))
    }

    /// Like [`Normalizer::both`], in the buffers of `scratch`.
    pub fn both_with<'s>(&self, url: &[u8], scratch: &'s mut Scratch) -> Result<Both<'s>, ParseUrlError> {
        let Scratch { url: parsed, buffers, hosts, .. } = scratch;
        let mut program = None;
        self.parse_with(url, parsed, hosts, &mut program)?;
        Ok(self.both_of(parsed, program.as_ref(), buffers))
    }

    #[inline]
    pub(super) fn both_of<'s>(
        &self,
        url: &'s mut ParsedUrl,
        program: Option<&Program<'_>>,
        buffers: &'s mut OutputBuffers,
    ) -> Both<'s> {
        match program {
            None => {
                let canonical = url.as_bytes();
                Both { key: Self::key_on_site(url, None, buffers), canonical }
            }
            Some(program) if program.is_mirror() => self.both_apart(program, url, buffers),
            Some(program) => self.edited_both(program, url, buffers),
        }
    }

    /// Both of a URL of a mirror, which may be moved for its key alone.
    #[inline(never)]
    fn both_apart<'s>(
        &self,
        program: &Program<'_>,
        url: &mut ParsedUrl,
        buffers: &'s mut OutputBuffers,
    ) -> Both<'s> {
        let mut apart = std::mem::take(&mut buffers.apart);
        let Apart { as_read, canonical, key } = &mut apart;
        canonical.clear();
        key.clear();
        // What was read once is read again as it is.
        if as_read.parse_from(url.as_bytes()).is_ok() {
            canonical.extend_from_slice(self.canonical_of(as_read, Some(program), buffers));
        }
        key.extend_from_slice(self.key_of(url, Some(program), buffers));
        buffers.apart = apart;
        let Apart { canonical, key, .. } = &buffers.apart;
        Both { key, canonical }
    }
}
