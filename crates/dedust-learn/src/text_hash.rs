/*!
Texts to the numbers that stand for them in labels: URLs, titles and digests of one site in, hashes out.

Two texts with one hash count as equal. So the hashes of a site depend on a seed: with that of all that was observed of it
([`SiteSize`](crate::crawl_store::SiteSize)), nobody can make a text that is taken for another.
*/

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// MD5, SHA-1 (as hex, and in base 32 as in CDX files) and SHA-256 of an empty body.
const DIGESTS_OF_NOTHING: [&[u8]; 4] = [
    b"d41d8cd98f00b204e9800998ecf8427e",
    b"da39a3ee5e6b4b0d3255bfef95601890afd80709",
    b"3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
    b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];

/// How the texts of a site are hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextHash {
    seed: u64,
}

impl TextHash {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The hash of any bytes.
    pub(crate) fn of(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.seed)
    }

    /// The hash of a text that says something, without white space around it.
    pub(crate) fn of_text(self, text: Option<&[u8]>) -> Option<u64> {
        text.map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()).map(|text| self.of(text))
    }

    /// As [`TextHash::of_text`], but the digest of an empty body is no evidence.
    pub(crate) fn of_digest(self, digest: Option<&[u8]>) -> Option<u64> {
        self.of_text(digest.filter(|digest| !is_digest_of_nothing(digest)))
    }
}

/// Whether a digest, `sha1:` or the like before it or not, is that of no bytes at all, which says nothing of a page.
pub fn is_digest_of_nothing(digest: &[u8]) -> bool {
    let bare = digest.rsplit(|byte| *byte == b':').next().unwrap_or(digest).trim_ascii();
    DIGESTS_OF_NOTHING.iter().any(|nothing| bare.eq_ignore_ascii_case(nothing))
}
