/*!
Keys and canonical URLs of sites that have edits.
*/

use std::ops::Range;

use super::{Normalizer, OutputBuffers, Wanted};
use crate::identity_key::write_identity_key;
use crate::program::Program;
use crate::program::edits::{EditProgram, Edited, EditedUrl};
use crate::text_buffer::TextBuffer;
use crate::url::ParsedUrl;

impl Normalizer {
    /// The key that the edits of a site give a URL.
    #[inline]
    pub(super) fn edited_key<'s>(
        program: &Program<'_>,
        url: &'s ParsedUrl,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        let OutputBuffers { work, out, .. } = buffers;
        if let Some(edits) = EditProgram::new(program)
            && url.is_hierarchical()
            && work.edited.read(url, &edits)
        {
            return work.edited.key(url, &edits, out);
        }
        out.clear();
        write_identity_key(url, &mut work.params, out)
    }

    /// What edits make of a URL, if that has the same key and stays as it is.
    #[inline]
    pub(super) fn edited_url<'s>(
        &self,
        program: &Program<'_>,
        url: &'s ParsedUrl,
        buffers: &'s mut OutputBuffers,
    ) -> &'s [u8] {
        if url.userinfo().is_some() {
            return url.as_bytes();
        }
        let OutputBuffers { work, out, key, again_out, .. } = buffers;
        let Some(edits) = read(program, url, &mut work.edited) else { return url.as_bytes() };
        let has_same_rules = |out: &TextBuffer, host: Range<usize>| {
            let other = self.image.index().site(out.padded(), host.start, host.end);
            other.is_some_and(|other| program.is_same(&other))
        };
        let is_canonical = match work.edited.rewrite(url, &edits, out, has_same_rules) {
            Edited::Unchanged => false,
            Edited::Canonical => true,
            Edited::SameIfKeysAre => {
                let edited_key = work.edited.key(url, &edits, again_out);
                has_key(edited_key, url, &edits, &mut work.edited, key)
            }
            Edited::Unknown => self.is_stable(url, &edits, buffers),
        };
        if is_canonical { buffers.out.as_bytes() } else { url.as_bytes() }
    }

    /// Whether the URL in `out`, which edits made of `url`, has the same key and stays as it is: by reading it and making
    /// all edits again.
    fn is_stable(&self, url: &ParsedUrl, edits: &EditProgram<'_>, buffers: &mut OutputBuffers) -> bool {
        let OutputBuffers { work, out, again, again_out, key, .. } = buffers;
        let Ok(Some(program)) = self.parse(out.as_bytes(), Wanted::Url, again, work) else { return false };
        if again.as_bytes() != out.as_bytes() {
            return false;
        }
        let edited = &mut work.edited;
        let Some(again_edits) = read(&program, again, edited) else { return false };
        // A URL that is rewritten once more is not stable, whatever the rules of its host are.
        if edited.rewrite(again, &again_edits, again_out, |_, _| true) != Edited::Unchanged
            || !edited.read(again, &again_edits)
        {
            return false;
        }
        has_key(edited.key(again, &again_edits, again_out), url, edits, edited, key)
    }
}

/// Reads a URL for the edits of its site, unless these cannot speak of it.
#[inline]
pub(super) fn read<'p>(
    program: &Program<'p>,
    url: &ParsedUrl,
    edited: &mut EditedUrl,
) -> Option<EditProgram<'p>> {
    if !program.has_edits() || !url.is_hierarchical() {
        return None;
    }
    let edits = EditProgram::new(program)?;
    edited.read(url, &edits).then_some(edits)
}

/// Whether `url` has this key.
fn has_key(
    expected: &[u8],
    url: &ParsedUrl,
    edits: &EditProgram<'_>,
    edited: &mut EditedUrl,
    out: &mut TextBuffer,
) -> bool {
    edited.read(url, edits) && edited.key(url, edits, out) == expected
}

/// The indexes in the site's list of the edits that change a URL or its key, in order.
pub(super) fn firing(program: &Program<'_>, url: &ParsedUrl) -> Vec<usize> {
    let mut edited = EditedUrl::default();
    let Some(edits) = read(program, url, &mut edited).map(EditProgram::one_by_one) else { return Vec::new() };
    if !edited.read(url, &edits) || !edited.read_labels(url, &edits) {
        return Vec::new();
    }
    // A copy, since parameters are sorted for a key.
    let written = |edited: &EditedUrl| {
        let (mut copy, mut text, mut key) = (edited.clone(), TextBuffer::default(), TextBuffer::default());
        copy.write_url(url, &edits, &mut text);
        (text.as_bytes().to_vec(), copy.write_key(url, &edits, &mut key).to_vec())
    };
    let (mut before, mut is_done) = (written(&edited), false);
    let changes = |number: &usize| {
        if is_done {
            return false;
        }
        is_done = edited.run_only(url, &edits, *number).is_last;
        let after = written(&edited);
        after != std::mem::replace(&mut before, after.clone())
    };
    let mut numbers: Vec<usize> = (0..edits.len()).collect();
    numbers.sort_by_key(|&number| edits.list_index(number));
    numbers.retain(changes);
    numbers.into_iter().filter_map(|number| edits.list_index(number)).collect()
}
