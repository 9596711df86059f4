/*!
Sites of a rule file that are not in compiled rules. Their URLs are left alone, which is always safe.
*/

/// A site whose rules are not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The site.
    pub site: Box<str>,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why the rules of a site are not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// It has more than compiled rules have room for.
    TooLarge,
    /// It is a mirror of mirrors that go in a circle, or of more mirrors than are followed, eight.
    NoOriginal,
    /// Very many sites have names with hashes close to that of its name, of one of its hosts, or of an end of these.
    Crowded,
}

impl LeftOut {
    pub(super) fn new(domain: &[u8], reason: LeftOutReason) -> Self {
        Self { site: String::from_utf8_lossy(domain).into(), reason }
    }
}
