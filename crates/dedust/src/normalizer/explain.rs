/*!
What is done to one URL, for people to look at.
*/

use super::{CanonicalUrl, Normalizer, UrlKey, edited};
use crate::url::{ParseUrlError, ParsedUrl, first_segment, site_of, write_moved};

/// What was done to a URL, and by which rule.
///
/// ```
/// use dedust::Normalizer;
///
/// let rules = r#"{"version": 1, "sites": {"example.org": {"rules": [
///     {"change": [{"drop": "q.sid"}], "fetchable": true}
/// ]}}}"#;
/// let normalizer = Normalizer::compile_from(rules.as_bytes())?;
/// let explanation = normalizer.explain("http://example.org/view?id=1&sid=9#top")?;
/// assert_eq!(explanation.safe, "http://example.org/view?id=1&sid=9");
/// assert_eq!(explanation.site.as_deref(), Some("example.org"));
/// assert_eq!(explanation.rules, [0]);
/// assert_eq!(explanation.canonical, "http://example.org/view?id=1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The URL after safe normalization.
    pub safe: CanonicalUrl,
    /// The site whose rules were tried, if it has any.
    pub site: Option<Box<str>>,
    /// The site of the URL, if that shows the pages of `site`.
    pub mirror: Option<Box<str>>,
    /// The indexes in the site's list of the rules that changed the URL or its key, in the order in which they were made.
    pub rules: Vec<usize>,
    /// The key.
    pub key: UrlKey,
    /// The canonical URL.
    pub canonical: CanonicalUrl,
}

impl Normalizer {
    /// What is done to `url`, and by which rule.
    pub fn explain(&self, url: impl AsRef<[u8]>) -> Result<Explanation, ParseUrlError> {
        let safe = ParsedUrl::parse(url.as_ref())?;
        let (moved, mirror) = self.moved(&safe);
        let site = self.program_of(&moved);
        let rules = site.map_or_else(Vec::new, |site| edited::firing(&site, &moved));
        let domain = site.map(|site| &moved.host()[moved.host().len() - site.domain_len..]);
        let domain = domain.or(mirror.is_some().then(|| site_of(moved.host())));
        Ok(Explanation {
            site: domain.map(|domain| String::from_utf8_lossy(domain).into()),
            mirror,
            rules,
            key: self.key(&url)?,
            canonical: self.normalize(&url)?,
            safe: CanonicalUrl(safe.as_bytes().into()),
        })
    }

    /// A URL as one of the original, if its site is a mirror that is applied, and then the name of that site.
    fn moved(&self, url: &ParsedUrl) -> (ParsedUrl, Option<Box<str>>) {
        let moved = self.program_of(url).filter(|_| !self.ignores_mirrors).and_then(|mirror| {
            let mut text = Vec::new();
            let original = mirror.original().filter(|original| !original.excepts(first_segment(url)))?;
            write_moved(url, mirror.domain_len, original.site, &mut text);
            let name = &url.host()[url.host().len() - mirror.domain_len..];
            Some((ParsedUrl::parse(&text).ok()?, Some(String::from_utf8_lossy(name).into())))
        });
        moved.unwrap_or_else(|| (url.clone(), None))
    }
}
