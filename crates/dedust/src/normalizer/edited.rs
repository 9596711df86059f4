/*!
Keys and canonical URLs of sites that have rules.
*/

use std::ops::Range;

use super::{Both, Normalizer, OutputBuffers, Wanted, Work};
use crate::identity_key::write_identity_key;
use crate::program::rules::{Edited, EditedUrl, RuleProgram};
use crate::program::{Observed, Program};
use crate::text_buffer::TextBuffer;
use crate::url::ParsedUrl;

/// What came of rewriting a URL.
#[derive(Default)]
struct Rewritten<'p> {
    /// Whether its canonical URL is another.
    is_rewritten: bool,
    key: KeySource<'p>,
}

/// What is known of the key of a URL when its canonical URL was made.
#[derive(Default)]
enum KeySource<'p> {
    #[default]
    Nothing,
    /// These rules make it of the parts that are left: those of the URL, or of its canonical URL, which has the same key.
    Parts(RuleProgram<'p>),
    /// It is the URL itself.
    Url,
    /// It is in the buffer for keys.
    Buffer,
}

/// Where the canonical URL of a URL is.
#[derive(Clone, Copy)]
enum Written {
    /// It is the URL itself.
    AsItWas,
    /// In `out`.
    ByRules,
    /// In `observed`.
    Observed,
}

impl Written {
    #[inline(always)]
    fn text<'s>(self, url: &'s ParsedUrl, out: &'s TextBuffer, observed: &'s TextBuffer) -> &'s [u8] {
        match self {
            Self::AsItWas => url.as_bytes(),
            Self::ByRules => out.as_bytes(),
            Self::Observed => observed.as_bytes(),
        }
    }
}

impl Normalizer {
    /// The key that the rules of a site give a URL, written to `out` if it is not the URL itself.
    #[inline]
    pub(super) fn edited_key<'s>(
        program: &Program<'_>,
        url: &'s ParsedUrl,
        work: &mut Work,
        out: &'s mut TextBuffer,
    ) -> &'s [u8] {
        if let Some(rules) = RuleProgram::new(program)
            && url.is_hierarchical()
            && work.edited.read(url, &rules)
        {
            return work.edited.key(url, &rules, out);
        }
        out.clear();
        write_identity_key(url, &mut work.params, out)
    }

    /// What rules make of a URL, if that has the same key and stays as it is, or what was observed to stand for it.
    #[inline]
    pub(super) fn edited_url<'s>(
        &self,
        program: &Program<'_>,
        url: &'s ParsedUrl,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        let is_rewritten = self.rewrite(program, url, buffers).is_rewritten;
        let written = self.take_observed(program, url, is_rewritten, buffers);
        written.text(url, &buffers.out, &buffers.observed)
    }

    /// Both, from one reading of the URL wherever that is possible.
    #[inline]
    pub(super) fn edited_both<'s>(
        &self,
        program: &Program<'_>,
        url: &'s ParsedUrl,
        buffers: &'s mut OutputBuffers,
    ) -> Both<'s> {
        let Rewritten { is_rewritten, key: known } = self.rewrite(program, url, buffers);
        let written = self.take_observed(program, url, is_rewritten, buffers);
        let OutputBuffers { work, out, observed, key, .. } = buffers;
        let canonical = if is_rewritten { out.as_bytes() } else { url.as_bytes() };
        let key = match known {
            KeySource::Parts(rules) => work.edited.key_of_canonical(url, &rules, canonical, key),
            KeySource::Url => url.as_bytes(),
            KeySource::Buffer => key.as_bytes(),
            KeySource::Nothing => Self::edited_key(program, url, work, key),
        };
        Both { key, canonical: written.text(url, out, observed) }
    }

    /// Looks for what was observed of what the rules have written, and says where the canonical URL is then.
    #[inline]
    fn take_observed(
        &self,
        program: &Program<'_>,
        url: &ParsedUrl,
        is_rewritten: bool,
        buffers: &mut OutputBuffers,
    ) -> Written {
        let by_rules = if is_rewritten { Written::ByRules } else { Written::AsItWas };
        if !program.has_observed() {
            return by_rules;
        }
        let out = std::mem::take(&mut buffers.out);
        let observed = self.observed(program, by_rules.text(url, &out, &out), buffers);
        buffers.out = out;
        match observed {
            None => by_rules,
            Some(Observed::AsItWas) => Written::AsItWas,
            Some(Observed::Url(canonical)) => {
                buffers.observed.clear();
                buffers.observed.push_part(canonical, 0, canonical.len());
                Written::Observed
            }
        }
    }

    /// Makes those rules to a URL whose results can be fetched. The canonical URL is then in `out`, unless it is the URL itself.
    #[inline]
    fn rewrite<'p>(
        &self,
        program: &Program<'p>,
        url: &ParsedUrl,
        buffers: &mut OutputBuffers,
    ) -> Rewritten<'p> {
        if url.userinfo().is_some() {
            return Rewritten::default();
        }
        let OutputBuffers { work, out, key, again_out, .. } = buffers;
        let rewritten = |is_rewritten, key| Rewritten { is_rewritten, key };
        let Some(rules) = read(program, url, &mut work.edited) else { return Rewritten::default() };
        let has_same_rules = |out: &TextBuffer, host: Range<usize>| {
            let other = self.image.index().site(out.padded(), host.start, host.end);
            other.is_some_and(|other| program.is_same(&other))
        };
        match work.edited.rewrite(url, &rules, out, again_out, has_same_rules) {
            Edited::Unchanged => rewritten(false, KeySource::Parts(rules)),
            Edited::Refused => Rewritten::default(),
            Edited::Canonical => rewritten(true, KeySource::Parts(rules)),
            Edited::Restored => rewritten(true, KeySource::Nothing),
            Edited::SameIfKeysAre => {
                let edited_key = work.edited.key(url, &rules, again_out);
                let (is_rewritten, key) = compare_key(edited_key, url, &rules, &mut work.edited, key);
                rewritten(is_rewritten, key)
            }
            Edited::Unknown => {
                let (is_rewritten, key) = self.is_stable(url, &rules, buffers);
                rewritten(is_rewritten, key)
            }
        }
    }

    /// Whether the URL in `out`, which rules made of `url`, has the same key and stays as it is: by reading it and making
    /// all rules again. What is found out of the key of `url` meanwhile.
    fn is_stable<'p>(
        &self,
        url: &ParsedUrl,
        rules: &RuleProgram<'_>,
        buffers: &mut OutputBuffers,
    ) -> (bool, KeySource<'p>) {
        const NO: (bool, KeySource<'_>) = (false, KeySource::Nothing);
        let OutputBuffers { work, out, again, again_out, key, .. } = buffers;
        let Ok(Some(program)) = self.parse(out.as_bytes(), Wanted::Url, again, work) else { return NO };
        if again.as_bytes() != out.as_bytes() {
            return NO;
        }
        let edited = &mut work.edited;
        let Some(again_rules) = read(&program, again, edited) else { return NO };
        // A URL that is rewritten once more is not stable, whatever the rules of its host are.
        if !edited.rewrite(again, &again_rules, again_out, key, |_, _| true).is_same_url()
            || !edited.read(again, &again_rules)
        {
            return NO;
        }
        compare_key(edited.key(again, &again_rules, again_out), url, rules, edited, key)
    }
}

/// Reads a URL for the rules of its site, unless these cannot speak of it.
#[inline]
pub(super) fn read<'p>(
    program: &Program<'p>,
    url: &ParsedUrl,
    edited: &mut EditedUrl,
) -> Option<RuleProgram<'p>> {
    if !url.is_hierarchical() {
        return None;
    }
    let rules = RuleProgram::new(program)?;
    edited.read(url, &rules).then_some(rules)
}

/// Whether `url` has this key, and where its own key is then.
fn compare_key<'p>(
    expected: &[u8],
    url: &ParsedUrl,
    rules: &RuleProgram<'_>,
    edited: &mut EditedUrl,
    out: &mut TextBuffer,
) -> (bool, KeySource<'p>) {
    if !edited.read(url, rules) {
        return (false, KeySource::Nothing);
    }
    let key = edited.key(url, rules, out);
    let source = if std::ptr::eq(key, url.as_bytes()) { KeySource::Url } else { KeySource::Buffer };
    (key == expected, source)
}

/// The indexes in the site's list of the rules that change a URL or its key, in order.
pub(super) fn firing(program: &Program<'_>, url: &ParsedUrl) -> Vec<usize> {
    let mut edited = EditedUrl::default();
    let Some(rules) = read(program, url, &mut edited).map(RuleProgram::one_by_one) else { return Vec::new() };
    if !edited.read(url, &rules) || !edited.read_labels(url, &rules) {
        return Vec::new();
    }
    // A copy, since parameters are sorted for a key.
    let written = |edited: &EditedUrl| {
        let (mut copy, mut text, mut key) = (edited.clone(), TextBuffer::default(), TextBuffer::default());
        copy.write_url(url, &rules, &mut text);
        (text.as_bytes().to_vec(), copy.write_key(url, &rules, &mut key).to_vec())
    };
    let (mut before, mut is_done) = (written(&edited), false);
    let changes = |number: &usize| {
        if is_done {
            return false;
        }
        is_done = edited.run_only(url, &rules, *number).is_last;
        let after = written(&edited);
        after != std::mem::replace(&mut before, after.clone())
    };
    let mut numbers: Vec<usize> = (0..rules.len()).collect();
    numbers.sort_by_key(|&number| rules.list_index(number));
    numbers.retain(changes);
    numbers.into_iter().filter_map(|number| rules.list_index(number)).collect()
}
