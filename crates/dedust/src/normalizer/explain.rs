/*!
What is done to one URL, for people to look at.
*/

use super::{CanonicalUrl, Normalizer, UrlKey, Wanted, Work, edited};
use crate::program::closed::template;
use crate::program::{MAX_PASSES, Program, Replacement};
use crate::text_buffer::TextBuffer;
use crate::url::{ParseUrlError, ParsedUrl, first_segment, site_of, write_moved};

/// What was done to a URL, and by which rule.
///
/// ```
/// use dedust::Normalizer;
///
/// let rules = r#"{"version": 2, "sites": {"example.org": {"edits": [
///     {"change": [{"drop": "q.sid"}], "fetchable": true}
/// ]}}}"#;
/// let normalizer = Normalizer::compile_from(rules.as_bytes())?;
/// let explanation = normalizer.explain("http://example.org/view?id=1&sid=9#top")?;
/// assert_eq!(explanation.safe, "http://example.org/view?id=1&sid=9");
/// assert_eq!(explanation.site.as_deref(), Some("example.org"));
/// assert_eq!(explanation.edits, [0]);
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
    /// The indexes in the site's list of the edits that changed the URL or its key, in the order in which they were made.
    pub edits: Vec<usize>,
    /// The key.
    pub key: UrlKey,
    /// The canonical URL.
    pub canonical: CanonicalUrl,
}

impl Normalizer {
    /// What is done to `url`, and by which rule.
    pub fn explain(&self, url: impl AsRef<[u8]>) -> Result<Explanation, ParseUrlError> {
        let safe = ParsedUrl::parse(url.as_ref())?;
        let (mut parsed, mut work) = (ParsedUrl::default(), Work::default());
        self.parse(url.as_ref(), Wanted::Key, &mut parsed, &mut work)?;
        let (moved, mirror) = self.moved(&safe);
        let site = self.program_of(&moved);
        let rule = self.program_of(&parsed).and_then(|program| {
            let rule = program.covering_rule(&parsed, &mut work.slots)?;
            let key = template::write(&rule, rule.key, &parsed, &mut work.slots, &mut TextBuffer::default());
            key.ok().map(|()| rule.list_index())
        });
        let mut edits = match &site {
            Some(program) if parsed != moved => replacing(program, moved.as_bytes()),
            _ => Vec::new(),
        };
        edits.extend(rule);
        if let Some(program) = self.program_of(&parsed) {
            edits.extend(edited::firing(&program, &parsed));
        }
        let domain = site.map(|site| &moved.host()[moved.host().len() - site.domain_len..]);
        let domain = domain.or(mirror.is_some().then(|| site_of(moved.host())));
        Ok(Explanation {
            site: domain.map(|domain| String::from_utf8_lossy(domain).into()),
            mirror,
            edits,
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

/// The indexes of the edits that replace text of `url`, in the order in which they do.
fn replacing(program: &Program<'_>, url: &[u8]) -> Vec<usize> {
    let mut url = url.to_vec();
    let mut fired = Vec::new();
    for _ in 0..MAX_PASSES {
        let before = fired.len();
        for replacement in Replacement::list(program.bytes, program.replacements()) {
            if replacement.apply(&mut url) {
                fired.push(replacement.list_index as usize);
            }
        }
        if fired.len() == before {
            break;
        }
    }
    fired
}
