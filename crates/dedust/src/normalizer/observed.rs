/*!
Canonical URLs that were observed: where one stands for what the rules of its site write, it is handed out instead.

Rules say of a kind of URL which form is written; of single URLs a crawl knows better. What is entered is checked once, when rules are
compiled, so that for each URL the canonical URL still has the same key and is its own canonical URL.
*/

use std::collections::BTreeMap;

use super::{Both, Normalizer, OutputBuffers, Scratch};
use crate::compiled::{ImageBuilder, add_site};
use crate::program::{CanonicalEntry, Observed, Program};
use crate::rule::SiteRules;
use crate::url::ParsedUrl;

/// What a URL becomes by the rules alone.
struct ByRules {
    key: Vec<u8>,
    canonical: Vec<u8>,
}

/// Those of the canonical URLs that were observed of a site with which both properties hold: those whose two URLs are in safe normal
/// form, have rules and the same key, of which the first is what rules write, and the second stays as it is. Those that others need for
/// that come first.
pub(super) fn holding<'s>(domain: &str, site: &'s SiteRules) -> Vec<CanonicalEntry<'s>> {
    if site.canonical_urls().is_empty() {
        return Vec::new();
    }
    let mut builder = ImageBuilder::default();
    add_site(&mut builder, domain, site, &[]);
    let rules = Normalizer::build(builder);
    let mut scratch = Scratch::default();
    // For each second URL, what the rules make of it.
    let mut written_of: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let mut pairs: Vec<(&str, Option<&str>)> = Vec::new();
    for (written, canonical) in site.canonical_urls() {
        let first = rules.by_rules(written, &mut scratch);
        let Some(first) = first.filter(|first| first.canonical == written.as_bytes()) else { continue };
        if let Some(canonical) = canonical {
            let second = rules.by_rules(canonical, &mut scratch);
            let Some(second) = second.filter(|second| first.key == second.key) else { continue };
            written_of.insert(canonical, second.canonical);
        }
        pairs.push((written, canonical.as_deref()));
    }
    let canonical_of: BTreeMap<&[u8], Option<&str>> =
        pairs.iter().map(|&(written, canonical)| (written.as_bytes(), canonical)).collect();
    pairs.retain(|(_, canonical)| {
        let Some(canonical) = canonical else { return true };
        let written = &*written_of[canonical];
        match canonical_of.get(written) {
            Some(other) => other.is_none_or(|other| other == *canonical),
            None => canonical.as_bytes() == written,
        }
    });
    // What another entry says of the second URL, where the rules would write that otherwise.
    let needed = |&(written, canonical): &(&str, Option<&str>)| {
        let canonical = canonical?;
        let by_rules = &*written_of[canonical];
        (by_rules != canonical.as_bytes() && by_rules != written.as_bytes()).then_some(by_rules)
    };
    pairs.sort_by_key(|pair| needed(pair).is_some());
    let index_by_written: BTreeMap<&[u8], usize> =
        (0..).zip(&pairs).map(|(index, (written, _))| (written.as_bytes(), index)).collect();
    let needs = |pair| needed(pair).and_then(|written| index_by_written.get(written).copied());
    pairs
        .iter()
        .map(|pair| CanonicalEntry { written: pair.0, canonical: pair.1, needs: needs(pair) })
        .collect()
}

impl Normalizer {
    /// What the rules of its site make of a URL in safe normal form; `None` if it is none, or has none.
    fn by_rules(&self, url: &str, scratch: &mut Scratch) -> Option<ByRules> {
        let parsed = ParsedUrl::parse(url).ok()?;
        let is_normal = parsed.as_bytes() == url.as_bytes() && parsed.userinfo().is_none();
        self.program_of(&parsed).filter(|_| is_normal)?;
        let Both { key, canonical } = self.both_with(url.as_bytes(), scratch).ok()?;
        Some(ByRules { key: key.to_vec(), canonical: canonical.to_vec() })
    }

    /// What was observed of a URL that the rules of a site have written, unless other rules hold where that leads.
    #[inline]
    pub(super) fn observed<'p>(
        &self,
        program: &Program<'p>,
        written: &[u8],
        buffers: &mut OutputBuffers,
    ) -> Option<Observed<'p>> {
        program.observed(written).filter(|observed| match observed {
            Observed::AsItWas => true,
            Observed::Url(url) => {
                host_and_scheme(written) == host_and_scheme(url) || self.has_program(url, program, buffers)
            }
        })
    }

    /// Whether these are the rules of a URL as it is: one of a mirror would be moved.
    fn has_program(&self, url: &[u8], program: &Program<'_>, buffers: &mut OutputBuffers) -> bool {
        let again = &mut buffers.again;
        again.parse_from(url).is_ok() && self.program_of(again).is_some_and(|other| other.is_same(program))
    }
}

/// What stands before the path.
fn host_and_scheme(url: &[u8]) -> &[u8] {
    let mut slashes = memchr::memchr_iter(b'/', url);
    slashes.nth(2).map_or(url, |end| &url[..end])
}
