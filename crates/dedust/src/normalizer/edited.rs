/*!
Keys and canonical URLs of sites that have edits.
*/

use super::{Desk, Normalizer, Wanted};
use crate::edit_program::{Draft, EditProgram, Edited};
use crate::identity_key::write_identity_key;
use crate::program::Program;
use crate::text_buffer::TextBuffer;
use crate::url::ParsedUrl;

impl Normalizer {
    /// The key that the edits of a site give a URL.
    #[inline]
    pub(super) fn edited_key<'s>(program: &Program<'_>, url: &'s ParsedUrl, desk: &'s mut Desk) -> &'s [u8] {
        let Desk { work, out, .. } = desk;
        match read(program, url, &mut work.draft) {
            Some(edits) => work.draft.key(url, &edits, out),
            None => {
                out.clear();
                write_identity_key(url, &mut work.params, out)
            }
        }
    }

    /// What edits make of a URL, if that has the same key and stays as it is.
    #[inline]
    pub(super) fn edited_url<'s>(
        &self,
        program: &Program<'_>,
        url: &'s ParsedUrl,
        desk: &'s mut Desk,
    ) -> &'s [u8] {
        if url.userinfo().is_some() {
            return url.as_bytes();
        }
        let Desk { work, out, key, again_out, .. } = desk;
        let Some(edits) = read(program, url, &mut work.draft) else { return url.as_bytes() };
        let is_canonical = match work.draft.rewrite(url, &edits, out) {
            Edited::Unchanged => false,
            Edited::Canonical => true,
            Edited::SameIfKeysAre => {
                let edited_key = work.draft.key(url, &edits, again_out);
                has_key(edited_key, url, &edits, &mut work.draft, key)
            }
            Edited::Unknown => self.is_edited_for_good(url, &edits, desk),
        };
        if is_canonical { desk.out.as_bytes() } else { url.as_bytes() }
    }

    /// Whether the URL in `out`, which edits made of `url`, has the same key and stays as it is: by reading it and making
    /// all edits again.
    fn is_edited_for_good(&self, url: &ParsedUrl, edits: &EditProgram<'_>, desk: &mut Desk) -> bool {
        let Desk { work, out, again, again_out, key, .. } = desk;
        let Ok(Some(program)) = self.parse(out.as_bytes(), Wanted::Url, again, work) else { return false };
        if again.as_bytes() != out.as_bytes() {
            return false;
        }
        let draft = &mut work.draft;
        let Some(again_edits) = read(&program, again, draft) else { return false };
        if draft.rewrite(again, &again_edits, again_out) != Edited::Unchanged
            || !draft.read(again, &again_edits)
        {
            return false;
        }
        has_key(draft.key(again, &again_edits, again_out), url, edits, draft, key)
    }
}

/// Reads a URL for the edits of its site, unless these cannot speak of it.
#[inline]
pub(super) fn read<'p>(program: &Program<'p>, url: &ParsedUrl, draft: &mut Draft) -> Option<EditProgram<'p>> {
    if !program.has_edits() || !url.is_hierarchical() {
        return None;
    }
    let edits = EditProgram::new(program)?;
    draft.read(url, &edits).then_some(edits)
}

/// Whether `url` has this key.
fn has_key(
    expected: &[u8],
    url: &ParsedUrl,
    edits: &EditProgram<'_>,
    draft: &mut Draft,
    out: &mut TextBuffer,
) -> bool {
    draft.read(url, edits) && draft.key(url, edits, out) == expected
}

/// The places of the edits that change a URL or its key in the site's list, in order.
pub(super) fn firing(program: &Program<'_>, url: &ParsedUrl) -> Vec<usize> {
    let mut draft = Draft::default();
    let Some(edits) = read(program, url, &mut draft) else { return Vec::new() };
    draft.read_labels(url, &edits);
    let mut before = draft.write_key(url, &edits, &mut TextBuffer::default()).to_vec();
    let mut is_done = false;
    let changes = |number: &usize| {
        if is_done {
            return false;
        }
        is_done = draft.run_only(url, &edits, *number).is_last;
        let mut out = TextBuffer::default();
        let after = draft.write_key(url, &edits, &mut out);
        let is_changed = before != after;
        before = after.to_vec();
        is_changed
    };
    let mut numbers: Vec<usize> = (0..edits.len()).collect();
    numbers.sort_by_key(|&number| edits.place(number));
    numbers.retain(changes);
    numbers.into_iter().filter_map(|number| edits.place(number)).collect()
}
