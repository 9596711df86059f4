/*!
What one observation tells about a URL.
*/

use crate::minhash::Sketch;

/// What one observation tells about a URL, apart from the URL itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clues<'a> {
    /// Explicit duplicate label.
    pub cluster: Option<&'a [u8]>,
    /// Target of `rel=canonical`, in safe normal form.
    pub canonical: Option<&'a [u8]>,
    /// Target of the redirect, in safe normal form.
    pub redirect: Option<&'a [u8]>,
    /// Hash of the body.
    pub digest: Option<&'a [u8]>,
    /// Hash of the body's text.
    pub text_digest: Option<&'a [u8]>,
    /// What is known of the text less what repeats on the pages of the site.
    pub main: Option<MainClues<'a>>,
    /// Fingerprint of the body's text.
    pub simhash: Option<u64>,
    /// Title of the page.
    pub title: Option<&'a [u8]>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Size of the response in bytes. Weak evidence: equal sizes are common.
    pub size: Option<u64>,
}

/// What is known of the main text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MainClues<'a> {
    /// Its hash.
    pub digest: &'a [u8],
    /// A hash of the template that the page is made from, where the text is so long that in this template it can hardly
    /// be that of two pages.
    pub layout: Option<u64>,
    /// Its shingles.
    pub sketch: Sketch,
}
