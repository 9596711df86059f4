/*!
Applies compiled rules: URL in, key or canonical URL out.

Two outputs that are never mixed:

- the **key** is for equality only. Same key, same page, as far as proven. Values that do not matter are written
  `*`, parameters are sorted, userinfo is left out.
- the **canonical URL** can be fetched: it is the URL after safe normalization, or the form that a rule writes
  when every value of that form is known, or one that was observed to stand for that.

Both hold for every URL: `key(canonical(u)) == key(u)`, and `canonical(canonical(u)) == canonical(u)`.
*/

mod both;
mod edited;
mod explain;
mod many;
mod observed;
mod text;

use self::both::Apart;
pub use self::both::Both;
pub use self::explain::Explanation;
pub use self::text::{CanonicalUrl, UrlKey};

use std::io;
use std::path::Path;
use std::sync::Arc;

use self::many::Batch;
use crate::compiled::{Hosts, Image, ImageBuilder, LeftOut, OpenRulesError, add_site, compile};
use crate::identity_key::{ParamOrder, write_identity_key};
use crate::program::Program;
use crate::program::rules::EditedUrl;
use crate::rule::{DEFAULT_RULES_MEMORY, LoadRulesError, RuleSet, each_site};
use crate::text_buffer::TextBuffer;
use crate::url::{ParseUrlError, ParsedUrl, first_segment, write_moved};

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
    image: Image,
    left_out: Arc<[LeftOut]>,
    ignores_mirrors: bool,
}

/// Buffers that [`Normalizer`] works in. Keep one per thread: after some URLs it allocates nothing more. Half a megabyte of it
/// remembers hosts, as soon as there are many URLs.
///
/// ```
/// use dedust::{Normalizer, Scratch};
///
/// let normalizer = Normalizer::default();
/// let mut scratch = Scratch::default();
/// for url in ["http://example.org/?b=1&a=2", "HTTP://EXAMPLE.ORG?b=1&a=2"] {
///     let key: &[u8] = normalizer.key_with(url.as_bytes(), &mut scratch)?;
///     assert_eq!(key, b"http://example.org/?a=2&b=1");
/// }
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    url: ParsedUrl,
    last: ParsedUrl,
    hosts: Hosts,
    buffers: OutputBuffers,
    batch: Batch,
}

/// Where results are put together.
#[derive(Clone, Debug, Default)]
struct OutputBuffers {
    work: Work,
    out: TextBuffer,
    again: ParsedUrl,
    again_out: TextBuffer,
    observed: TextBuffer,
    key: TextBuffer,
    apart: Apart,
}

#[derive(Clone, Debug, Default)]
struct Work {
    params: ParamOrder,
    text: Vec<u8>,
    moved: ParsedUrl,
    edited: EditedUrl,
}

/// Which of the two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Key,
    Url,
}

impl Normalizer {
    /// Compiles a checked rule set. Rules that are off or were refuted are left out. A mirror moves URLs to another
    /// domain, whatever that is: for rules of somebody else, see [`Normalizer::without_mirrors`].
    pub fn compile(rules: &RuleSet) -> Self {
        Self::build(compile(rules, observed::holding))
    }

    #[cfg(test)]
    pub(crate) fn from_image(image: Image) -> Self {
        Self { image, ..Self::default() }
    }

    /// Loads a rule file and compiles it site by site, so that a file of any size needs little more memory than the result.
    /// Rules that need more than [`DEFAULT_RULES_MEMORY`](crate::rules::DEFAULT_RULES_MEMORY) are refused.
    pub fn compile_from(reader: impl io::Read) -> Result<Self, LoadRulesError> {
        Self::compile_within(reader, DEFAULT_RULES_MEMORY)
    }

    /// Like [`Normalizer::compile_from`], with a limit on memory, in bytes.
    pub fn compile_within(reader: impl io::Read, max_memory: u64) -> Result<Self, LoadRulesError> {
        let mut builder = ImageBuilder::default();
        let rules = each_site(reader, max_memory, |domain, site, _| {
            add_site(&mut builder, &domain, &site, &observed::holding(&domain, &site));
            builder.memory()
        })?;
        builder.set_method(rules.method());
        Ok(Self::build(builder))
    }

    fn build(builder: ImageBuilder) -> Self {
        let (image, left_out) = builder.finish();
        Self { image, left_out: left_out.into(), ignores_mirrors: false }
    }

    /// Opens a file that [`Normalizer::save`] wrote: reads all of it into memory and checks it. Whatever happens to the file
    /// afterwards, these rules stay as they are. Put a new file in place by renaming it: one that is overwritten is refused
    /// until it is whole again.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenRulesError> {
        Image::open(path.as_ref()).map(|image| Self { image, ..Self::default() })
    }

    /// Reads and checks the bytes that [`Normalizer::save`] wrote, to hand rules from one process to another.
    pub fn from_bytes(compiled: &[u8]) -> Result<Self, OpenRulesError> {
        let image = Image::read(io::Cursor::new(compiled), compiled.len() as u64)?;
        Ok(Self { image, ..Self::default() })
    }

    /// The same rules without mirrors: URLs of a mirror are left alone, as no rules of its own are known. All other rules
    /// stay within their site. [Saved](Normalizer::save) rules have their mirrors again.
    #[must_use]
    pub fn without_mirrors(self) -> Self {
        Self { ignores_mirrors: true, ..self }
    }

    /// Writes the compiled rules, for [`Normalizer::open`].
    pub fn save(&self, writer: impl io::Write) -> io::Result<()> {
        self.image.save(writer)
    }

    /// A hash of the compiled rules, and of whether mirrors are applied if there are any. Where it is the same, all keys are; rules
    /// without mirrors have the same [with](Normalizer::compile) and [without](Normalizer::without_mirrors) them, so that processes
    /// that differ in this alone share their keys.
    pub fn fingerprint(&self) -> u128 {
        let leaves_out = self.ignores_mirrors && self.mirror_count() > 0;
        self.image.fingerprint() ^ u128::from(leaves_out)
    }

    /// The number of sites that have rules.
    pub fn site_count(&self) -> u64 {
        self.image.facts().sites
    }

    /// The number of rules of all sites, without those that are off or were refuted.
    pub fn rule_count(&self) -> u64 {
        self.image.facts().rules
    }

    /// The number of mirrors that are applied.
    pub fn mirror_count(&self) -> u64 {
        self.image.facts().mirrors
    }

    /// The number of sites whose rules could not be compiled: their URLs are left alone.
    pub fn left_out_count(&self) -> u64 {
        self.image.facts().left_out
    }

    /// These sites, in the order of the rule file, mirrors last. A file that was [saved](Normalizer::save) knows only how
    /// many they are.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The learner that made the rules.
    pub fn method(&self) -> &str {
        &self.image.facts().method
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
        let Scratch { url: parsed, buffers, hosts, .. } = scratch;
        let mut program = None;
        self.parse_with(url, parsed, hosts, &mut program)?;
        Ok(self.key_of(parsed, program.as_ref(), buffers))
    }

    /// Like [`Normalizer::normalize`], in the buffers of `scratch`.
    pub fn normalize_with<'s>(
        &self,
        url: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], ParseUrlError> {
        let Scratch { url: parsed, buffers, hosts, .. } = scratch;
        let mut program = None;
        self.parse_with(url, parsed, hosts, &mut program)?;
        Ok(self.canonical_of(parsed, program.as_ref(), buffers))
    }

    /// The key of a URL of a site with a program, if it has any.
    #[inline]
    fn key_of<'s>(
        &self,
        url: &'s mut ParsedUrl,
        program: Option<&Program<'_>>,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        match program {
            Some(site) if site.is_mirror() => {
                let program = self.move_url(site, Wanted::Key, url, &mut buffers.work);
                Self::key_on_site(url, program.as_ref(), buffers)
            }
            _ => Self::key_on_site(url, program, buffers),
        }
    }

    #[inline(always)]
    fn key_on_site<'s>(
        url: &'s ParsedUrl,
        program: Option<&Program<'_>>,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        let OutputBuffers { work, out, .. } = buffers;
        if let Some(program) = program {
            return Self::edited_key(program, url, work, out);
        }
        out.clear();
        write_identity_key(url, &mut work.params, out)
    }

    /// The canonical URL of a URL of a site with a program, if it has any.
    #[inline]
    fn canonical_of<'s>(
        &self,
        url: &'s mut ParsedUrl,
        program: Option<&Program<'_>>,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        match program {
            Some(site) if site.is_mirror() => {
                let program = self.move_url(site, Wanted::Url, url, &mut buffers.work);
                self.canonical_on_site(url, program.as_ref(), buffers)
            }
            _ => self.canonical_on_site(url, program, buffers),
        }
    }

    #[inline(always)]
    fn canonical_on_site<'s>(
        &self,
        url: &'s ParsedUrl,
        program: Option<&Program<'_>>,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        match program {
            Some(program) => self.edited_url(program, url, buffers),
            None => url.as_bytes(),
        }
    }

    /// Reads `url`, as one of another site if its own is a mirror of that, and finds the rules of its site.
    #[inline]
    fn parse(
        &self,
        url: &[u8],
        wanted: Wanted,
        parsed: &mut ParsedUrl,
        work: &mut Work,
    ) -> Result<Option<Program<'_>>, ParseUrlError> {
        parsed.parse_from(url)?;
        let program = self.program_of(parsed);
        Ok(match &program {
            Some(site) if site.is_mirror() => self.move_url(site, wanted, parsed, work),
            _ => program,
        })
    }

    /// Reads `url` and finds the rules of its site, whose host may have been met before. Nothing is done to the URL yet.
    #[inline(always)]
    fn parse_with<'p>(
        &'p self,
        url: &[u8],
        parsed: &mut ParsedUrl,
        hosts: &mut Hosts,
        program: &mut Option<Program<'p>>,
    ) -> Result<(), ParseUrlError> {
        parsed.parse_from(url)?;
        let (start, end) = (parsed.parts().host_start as usize, parsed.parts().host_end as usize);
        self.image.find(parsed.padded(), start, end, hosts, program);
        Ok(())
    }

    /// Takes a URL of a mirror for one of the original. The rules to go on with.
    #[inline(never)]
    fn move_url<'p>(
        &'p self,
        mirror: &Program<'p>,
        wanted: Wanted,
        url: &mut ParsedUrl,
        work: &mut Work,
    ) -> Option<Program<'p>> {
        let original = mirror.original()?;
        let has_url = original.is_fetchable && url.userinfo().is_none();
        if self.ignores_mirrors || original.excepts(first_segment(url)) || wanted == Wanted::Url && !has_url {
            return None;
        }
        let Work { text, moved, .. } = work;
        text.clear();
        write_moved(url, mirror.domain_len, original.site, text);
        moved.parse_from(text).ok()?;
        std::mem::swap(url, moved);
        self.program_of(url)
    }

    /// The rules of the longest domain that the host of `url` is or ends with.
    #[inline]
    fn program_of(&self, url: &ParsedUrl) -> Option<Program<'_>> {
        self.image.index().site(url.padded(), url.parts().host_start as usize, url.parts().host_end as usize)
    }
}
