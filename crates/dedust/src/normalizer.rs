/*!
Applies compiled rules: URL in, key or canonical URL out.

Two outputs that are never mixed:

- the **key** is for equality only. Same key, same page, as far as proven. Values that do not matter are written
  `*`, parameters are sorted, userinfo is left out.
- the **canonical URL** can be fetched: it is the URL after safe normalization, or the form that a rule writes
  when every value of that form is known.

Both hold for every URL: `key(canonical(u)) == key(u)`, and `canonical(canonical(u)) == canonical(u)`.
*/

use std::fmt;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::compile::compile_site;
use crate::form::Form;
use crate::identity_key::{ParamOrder, write_identity_key};
use crate::program::{CompiledRule, SiteProgram, Slots};
use crate::rule::{MAX_PASSES, Prepared, RuleSet, substitute};
use crate::url::{ParseUrlError, ParsedUrl};

/// Compiled rules of any number of sites. Immutable and cheap to share between threads.
///
/// ```
/// use dedust::{Normalizer, RuleSet};
///
/// let normalizer = Normalizer::compile(&RuleSet::new("standard"));
/// let url = normalizer.normalize("HTTP://User@Example.ORG:80/a/../%7Eb?z=1&a=2#top")?;
/// assert_eq!(url, "http://User@example.org/~b?z=1&a=2");
/// assert_eq!(normalizer.key(url)?, "http://example.org/~b?a=2&z=1");
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    programs: Vec<SiteProgram>,
    program_by_domain: HashMap<Box<[u8]>, u32, FxBuildHasher>,
}

/// Buffers that [`Normalizer`] works in. Keep one per thread: after some URLs it allocates nothing more.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    url: ParsedUrl,
    work: Work,
    out: Vec<u8>,
    again: ParsedUrl,
    again_out: Vec<u8>,
    key: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    slots: Slots,
    params: ParamOrder,
    text: Vec<u8>,
    substituted: ParsedUrl,
    form: Form,
}

/// A URL in canonical form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl(Box<[u8]>);

/// The key of a URL: equal keys mean equal pages. Not a URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(Box<[u8]>);

/// What was done to a URL, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The URL after safe normalization.
    pub safe: CanonicalUrl,
    /// The site whose rules were tried, if it has any.
    pub site: Option<Box<str>>,
    /// The places of the substitutions that changed the URL in the site's list, in the order in which they fired.
    pub substitutions: Vec<usize>,
    /// The place of the rule that covers the URL in the site's list.
    pub rule: Option<usize>,
    /// The places of the edits that changed the URL or its key in the site's list, in order.
    pub edits: Vec<usize>,
    /// The key.
    pub key: UrlKey,
    /// The canonical URL.
    pub canonical: CanonicalUrl,
}

impl Normalizer {
    /// Compiles a checked rule set. Rules that were refuted are left out.
    pub fn compile(rules: &RuleSet) -> Self {
        let programs: Vec<SiteProgram> = rules
            .sites()
            .map(|(domain, site)| compile_site(domain, site))
            .filter(|program| {
                !program.rules.is_empty() || !program.substitutions.is_empty() || !program.edits.is_empty()
            })
            .collect();
        let program_by_domain =
            programs.iter().zip(0..).map(|(program, index)| (program.domain.clone(), index)).collect();
        Self { programs, program_by_domain }
    }

    /// The canonical form of `url`.
    pub fn normalize(&self, url: impl AsRef<[u8]>) -> Result<CanonicalUrl, ParseUrlError> {
        let mut scratch = Scratch::default();
        Ok(CanonicalUrl(self.normalize_with(url.as_ref(), &mut scratch)?.into()))
    }

    /// The key of `url`.
    pub fn key(&self, url: impl AsRef<[u8]>) -> Result<UrlKey, ParseUrlError> {
        let mut scratch = Scratch::default();
        Ok(UrlKey(self.key_with(url.as_ref(), &mut scratch)?.into()))
    }

    /// Like [`Normalizer::key`], in the buffers of `scratch`.
    pub fn key_with<'s>(&self, url: &[u8], scratch: &'s mut Scratch) -> Result<&'s [u8], ParseUrlError> {
        let Scratch { url: parsed, work, out, .. } = scratch;
        let program = self.parse(url, parsed, work)?;
        write_key_of(program, parsed, work, out);
        Ok(out)
    }

    /// Like [`Normalizer::normalize`], in the buffers of `scratch`.
    pub fn normalize_with<'s>(
        &self,
        url: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], ParseUrlError> {
        let Scratch { url: parsed, work, out, again, again_out, key } = scratch;
        let program = self.parse(url, parsed, work)?;
        if let Some(program) = program.filter(|program| !program.edits.is_empty()) {
            let stays = write_edited_url(program, parsed, work, out) && {
                write_key_of(Some(program), parsed, work, key);
                match self.parse(out, again, work) {
                    Ok(Some(program)) if again.as_bytes() == *out => {
                        let stays = !write_edited_url(program, again, work, again_out);
                        write_key_of(Some(program), again, work, again_out);
                        stays && again_out == key
                    }
                    _ => false,
                }
            };
            return Ok(if stays { out } else { parsed.as_bytes() });
        }
        let rule = program.and_then(|program| program.covering_rule(parsed, &mut work.slots));
        let Some((_, rule)) = rule.filter(|(_, rule)| rule.url.is_some() && parsed.userinfo().is_none())
        else {
            return Ok(parsed.as_bytes());
        };
        // A URL is only handed out if it stands for the same page by the rules themselves and stays as it is.
        let stays = write_url(rule, parsed, work, out) && {
            write_key(Some(rule), parsed, work, key);
            match self.parse(out, again, work) {
                Ok(program) if again.as_bytes() == *out => {
                    let rule = program.and_then(|program| program.covering_rule(again, &mut work.slots));
                    let rule = rule.map(|(_, rule)| rule);
                    write_key(rule, again, work, again_out);
                    again_out == key
                        && rule.is_none_or(|rule| {
                            !write_url(rule, again, work, again_out) || again_out == again.as_bytes()
                        })
                }
                _ => false,
            }
        };
        Ok(if stays { out } else { parsed.as_bytes() })
    }

    /// What is done to `url`, and by which rule.
    pub fn explain(&self, url: impl AsRef<[u8]>) -> Result<Explanation, ParseUrlError> {
        let safe = ParsedUrl::parse(url.as_ref())?;
        let (mut parsed, mut work) = (ParsedUrl::default(), Work::default());
        self.parse(url.as_ref(), &mut parsed, &mut work)?;
        let program = self.program_of(safe.host());
        let rule = self.program_of(parsed.host()).and_then(|program| {
            let (index, rule) = program.covering_rule(&parsed, &mut work.slots)?;
            rule.key
                .write(&parsed, &mut work.slots, &mut Vec::new())
                .ok()
                .map(|()| program.rule_places[index])
        });
        let substitutions = match program {
            Some(program) if parsed != safe => firing(&program.substitutions, safe.as_bytes())
                .into_iter()
                .map(|index| program.substitution_places[index])
                .collect(),
            _ => Vec::new(),
        };
        let mut edits = Vec::new();
        if let Some(program) = program.filter(|_| safe.is_hierarchical())
            && work.form.read(&safe, program.domain.len())
        {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            work.form.write_key(&mut before);
            for (edit, &place) in program.edits.iter().zip(&program.edit_places) {
                work.form.apply(edit);
                after.clear();
                work.form.write_key(&mut after);
                if before != after {
                    edits.push(place);
                    std::mem::swap(&mut before, &mut after);
                }
            }
        }
        Ok(Explanation {
            edits,
            site: program.map(|program| String::from_utf8_lossy(&program.domain).into()),
            substitutions,
            rule,
            key: self.key(&url)?,
            canonical: self.normalize(&url)?,
            safe: CanonicalUrl(safe.as_bytes().into()),
        })
    }

    /// Reads `url` and applies the substitutions of its site, whose program is returned. What they make of it counts
    /// only if it is a URL in safe form, and comes to an end.
    fn parse(
        &self,
        url: &[u8],
        parsed: &mut ParsedUrl,
        work: &mut Work,
    ) -> Result<Option<&SiteProgram>, ParseUrlError> {
        parsed.parse_from(url)?;
        let Some(program) = self.program_of(parsed.host()) else { return Ok(None) };
        if program.substitutions.is_empty() || parsed.userinfo().is_some() {
            return Ok(Some(program));
        }
        let Work { text, substituted, .. } = work;
        text.clear();
        text.extend_from_slice(parsed.as_bytes());
        if substitute(&program.substitutions, text)
            && *text != parsed.as_bytes()
            && substituted.parse_from(text).is_ok()
            && substituted.as_bytes() == *text
            && self.program_of(substituted.host()).is_some_and(|other| other.domain == program.domain)
        {
            std::mem::swap(parsed, substituted);
        }
        Ok(Some(program))
    }

    /// The program of the longest domain that `host` is or ends with.
    fn program_of(&self, host: &[u8]) -> Option<&SiteProgram> {
        let mut suffix = host;
        if self.program_by_domain.is_empty() {
            return None;
        }
        loop {
            if let Some(&index) = self.program_by_domain.get(suffix) {
                let program = &self.programs[index as usize];
                if program.with_subdomains || suffix.len() == host.len() {
                    return Some(program);
                }
            }
            suffix = &suffix[memchr::memchr(b'.', suffix)? + 1..];
        }
    }
}

/// Writes the key that the rules or edits of `program` give a URL.
fn write_key_of(program: Option<&SiteProgram>, url: &ParsedUrl, work: &mut Work, out: &mut Vec<u8>) {
    match program {
        Some(program) if !program.edits.is_empty() && url.is_hierarchical() => {
            out.clear();
            if work.form.read(url, program.domain.len()) {
                for edit in &program.edits {
                    work.form.apply(edit);
                }
                work.form.write_key(out);
            } else {
                write_identity_key(url, &mut work.params, out);
            }
        }
        _ => {
            let rule = program.and_then(|program| program.covering_rule(url, &mut work.slots));
            write_key(rule.map(|(_, rule)| rule), url, work, out);
        }
    }
}

/// Writes what the edits of `program` that give fetchable URLs make of `url`; false when that is `url` itself.
fn write_edited_url(program: &SiteProgram, url: &ParsedUrl, work: &mut Work, out: &mut Vec<u8>) -> bool {
    out.clear();
    if !url.is_hierarchical() || url.userinfo().is_some() || !work.form.read(url, program.domain.len()) {
        return false;
    }
    for edit in program.edits.iter().filter(|edit| edit.fetchable) {
        work.form.apply(edit);
    }
    if !work.form.is_writable() {
        return false;
    }
    work.form.write_url(out);
    out != url.as_bytes()
}

/// Writes the key of a URL that `rule` covers, if any does. Its slots are those in `work`.
fn write_key(rule: Option<&CompiledRule>, url: &ParsedUrl, work: &mut Work, out: &mut Vec<u8>) {
    out.clear();
    if rule.is_some_and(|rule| rule.key.write(url, &mut work.slots, out).is_ok()) {
        return;
    }
    out.clear();
    write_identity_key(url, &mut work.params, out);
}

/// Writes what `rule` makes of `url`; false when it writes nothing.
fn write_url(rule: &CompiledRule, url: &ParsedUrl, work: &mut Work, out: &mut Vec<u8>) -> bool {
    out.clear();
    rule.url.as_ref().is_some_and(|template| template.write(url, &mut work.slots, out).is_ok())
}

/// The places of the substitutions that change `url`, in the order in which they fire.
fn firing(substitutions: &[Prepared], url: &[u8]) -> Vec<usize> {
    let mut url = url.to_vec();
    let mut fired = Vec::new();
    for _ in 0..MAX_PASSES {
        let before = fired.len();
        for (index, (substitution, finder)) in substitutions.iter().enumerate() {
            if substitution.apply(finder, &mut url) {
                fired.push(index);
            }
        }
        if fired.len() == before {
            break;
        }
    }
    fired
}

macro_rules! url_text {
    ($name:ident) => {
        impl $name {
            /// The bytes; ASCII unless the URL held bytes that are not UTF-8.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            /// The bytes, owned.
            pub fn into_bytes(self) -> Vec<u8> {
                self.0.into()
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == *other.as_bytes()
            }
        }

        /// Bytes that are not UTF-8 are shown as U+FFFD.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&String::from_utf8_lossy(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", String::from_utf8_lossy(&self.0))
            }
        }
    };
}
url_text!(CanonicalUrl);
url_text!(UrlKey);
