/*!
How is a [`EditedUrl`] written, as a key or as a URL? What was not touched is copied as a whole.
*/

use memchr::memchr2;

use super::edited_url::{EditedUrl, Param, Piece};
use super::run::Scope;
use super::{LABEL_AT, NO_TEXT, RuleMask, RuleProgram};
use crate::encoding::{first_word, u32_at};
use crate::text_buffer::TextBuffer;
use crate::url::{PADDING, ParsedUrl};

/// So many parameters are sorted by insertion.
const FEW_PARAMS: usize = 8;

impl EditedUrl {
    /// Makes all rules to a URL that was read; its key is the URL itself, or what is written to `out`.
    #[inline]
    pub(crate) fn key<'s>(
        &mut self,
        url: &'s ParsedUrl,
        program: &RuleProgram<'_>,
        out: &'s mut TextBuffer,
    ) -> &'s [u8] {
        self.make_early(url, program, Scope::All);
        self.run(url, program, Scope::All, RuleMask::MAX);
        self.write_key(url, program, out)
    }

    /// Makes all rules to a URL to which those were made whose results can be fetched, and which they leave alone as it is now: it is
    /// `canonical`. Its key is that, or what is written to `out`.
    #[inline]
    pub(crate) fn key_of_canonical<'s>(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        canonical: &'s [u8],
        out: &'s mut TextBuffer,
    ) -> &'s [u8] {
        let before = std::mem::take(&mut self.parts.touched);
        self.make_early(url, program, Scope::All);
        // Rules may wait for what was made early, and where `;` separates parameters some changes are none of the URL.
        let asks_all = self.parts.touched.any() || self.has_semicolon;
        let asked = if asks_all { RuleMask::MAX } else { program.of_keys_only() };
        self.run(url, program, Scope::All, asked);
        let since = self.parts.touched;
        self.parts.touched = before.or(since);
        let (is_query_in_order, is_path_in_order) = self.sort_all(url);
        let is_same_path = !since.is_before_path() && !since.path && is_path_in_order && !self.has_user;
        if is_same_path && !since.query && !since.hashbang && is_query_in_order {
            return canonical;
        }
        self.with_padding(|edited| {
            if is_same_path {
                let end = memchr2(b'?', b'#', canonical).unwrap_or(canonical.len());
                out.clear();
                out.push_part(canonical, 0, end);
                edited.write_query(url, out, false);
                edited.write_hashbang(url, out);
            } else {
                edited.write_parts(url, program, (is_query_in_order, is_path_in_order), out, false);
            }
        });
        out.as_bytes()
    }

    /// The key of the URL as it is now: parameters sorted by name, `*` for what does not matter.
    #[inline]
    pub(crate) fn write_key<'s>(
        &mut self,
        url: &'s ParsedUrl,
        program: &RuleProgram<'_>,
        out: &'s mut TextBuffer,
    ) -> &'s [u8] {
        let (is_query_in_order, is_path_in_order) = self.sort_all(url);
        if is_path_in_order && is_query_in_order && !self.parts.touched.any() && !self.has_user {
            return url.as_bytes();
        }
        self.write(url, program, (is_query_in_order, is_path_in_order), out, false);
        out.as_bytes()
    }

    /// Puts parameters in the order of keys: whether they had been in it, in the query and in the path.
    #[inline(always)]
    fn sort_all(&mut self, url: &ParsedUrl) -> (bool, bool) {
        let is_path_in_order = self.parts.path_params.len() < 2 || self.sort(url, true);
        // Keys have no `;` between parameters.
        let is_in_order = self.is_in_order && !(self.has_text && self.parts.touched.query_text);
        ((is_in_order || self.sort(url, false)) && !self.parts.is_split, is_path_in_order)
    }

    /// Writes the URL as it is now, in the order in which it came.
    pub(crate) fn write_url(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>, out: &mut TextBuffer) {
        self.write(url, program, (true, true), out, true);
    }

    /// Sorts parameters of the query or of the path by name; those of one name keep their order. Says whether they had
    /// been in order.
    fn sort(&mut self, url: &ParsedUrl, in_path: bool) -> bool {
        let params = if in_path { &mut self.parts.path_params } else { &mut self.parts.params };
        let mut params = std::mem::take(params);
        if self.has_text {
            // What was written there has another place in the order.
            for param in params.iter_mut().filter(|param| param.is_text) {
                let (text, start, end) = self.locate(url, param.value);
                param.word = first_word(text, start, end - start).swap_bytes();
            }
        }
        let name = |param: &Param| self.text(url, param.sorted_by());
        let by_name = |a: &Param, b: &Param| a.word.cmp(&b.word).then_with(|| name(a).cmp(name(b)));
        // New parameters come last, and so do their names.
        let in_order = |a: &Param, b: &Param| by_name(a, b).then(a.name.start.cmp(&b.name.start));
        let is_in_order = params.is_sorted_by(|a, b| by_name(a, b).is_le());
        if !is_in_order {
            if params.len() <= FEW_PARAMS {
                for at in 1..params.len() {
                    let (param, mut to) = (params[at], at);
                    while to > 0 && in_order(&param, &params[to - 1]).is_lt() {
                        params[to] = params[to - 1];
                        to -= 1;
                    }
                    params[to] = param;
                }
            } else {
                params.sort_unstable_by(in_order);
            }
            // They stay sorted.
            let touched = &mut self.parts.touched;
            *(if in_path { &mut touched.path } else { &mut touched.query }) = true;
        }
        *(if in_path { &mut self.parts.path_params } else { &mut self.parts.params }) = params;
        is_in_order
    }

    /// Writes all parts; the flags say whether parameters are in the order of the URL.
    fn write(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        is_in_order: (bool, bool),
        out: &mut TextBuffer,
        is_url: bool,
    ) {
        self.with_padding(|edited| edited.write_parts(url, program, is_in_order, out, is_url));
    }

    /// Texts that something follows are copied faster.
    #[inline(always)]
    fn with_padding(&mut self, write: impl FnOnce(&Self)) {
        let length = self.written.len();
        if length > 1 {
            self.written.extend_from_slice(&[0; PADDING]);
        }
        write(self);
        self.written.truncate(length);
    }

    fn write_parts(
        &self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        (query_is_in_order, path_is_in_order): (bool, bool),
        out: &mut TextBuffer,
        is_url: bool,
    ) {
        let (padded, at, parts) = (url.padded(), url.parts(), &self.parts);
        let (path_start, path_end) = (at.path_start as usize, at.path_end as usize);
        out.clear();
        let is_path_whole = path_is_in_order && !parts.touched.path;
        if parts.touched.is_before_path() || self.has_user {
            self.write_before_path(url, program, out);
            if is_path_whole {
                out.push_part(padded, path_start, path_end - path_start);
            }
        } else {
            out.push_part(padded, 0, if is_path_whole { path_end } else { path_start });
        }
        if !is_path_whole {
            self.write_path(url, out);
        }
        if query_is_in_order && !parts.touched.query {
            out.push_part(padded, path_end, at.query_end as usize - path_end);
        } else {
            self.write_query(url, out, is_url);
        }
        self.write_hashbang(url, out);
    }

    fn write_query(&self, url: &ParsedUrl, out: &mut TextBuffer, is_url: bool) {
        let parts = &self.parts;
        if !parts.params.is_empty() {
            let separators = [b'?', parts.separator, if is_url { b';' } else { parts.separator }];
            self.write_params(url, &parts.params, separators, out);
        }
    }

    fn write_hashbang(&self, url: &ParsedUrl, out: &mut TextBuffer) {
        if let Some(hashbang) = self.parts.hashbang {
            out.push(b'#');
            out.push(b'!');
            self.push(url, hashbang, out);
        }
    }

    fn write_before_path(&self, url: &ParsedUrl, program: &RuleProgram<'_>, out: &mut TextBuffer) {
        let (padded, at) = (url.padded(), url.parts());
        let (host_start, host_end) = (at.host_start as usize, at.host_end as usize);
        self.push(url, self.parts.scheme, out);
        out.push_part(padded, at.scheme_end as usize, b"://".len());
        if let Some(label) = self.parts.early_label.filter(|_| !self.parts.has_labels) {
            let after = label.end as usize + 1;
            out.push_part(padded, host_start, label.start as usize - host_start);
            if u32_at(program.head, LABEL_AT) == NO_TEXT {
                out.push(b'*');
                out.push(b'.');
            }
            out.push_part(padded, after, host_end - after);
        } else if self.parts.touched.host {
            for &label in self.parts.labels.iter().rev() {
                self.push(url, label, out);
                out.push(b'.');
            }
            out.push_part(padded, host_end - program.domain_len, program.domain_len);
        } else {
            out.push_part(padded, host_start, host_end - host_start);
        }
        if let Some(port) = self.parts.port {
            out.push(b':');
            self.push(url, port, out);
        }
    }

    fn write_path(&self, url: &ParsedUrl, out: &mut TextBuffer) {
        let parts = &self.parts;
        if parts.path_is_forgotten {
            out.push(b'/');
            out.push(b'*');
            return;
        }
        if parts.segments.is_empty() {
            out.push(b'/');
            return;
        }
        for &segment in &parts.segments {
            out.push(b'/');
            self.push(url, segment, out);
        }
        if !parts.path_params.is_empty() {
            self.write_params(url, &parts.path_params, [b';'; 3], out);
        }
        if parts.has_slash {
            out.push(if parts.touched.slash_is_forgotten { b'*' } else { b'/' });
        }
    }

    /// Writes parameters with what stands before the first, before each other, and before one that a `;` separated.
    fn write_params(
        &self,
        url: &ParsedUrl,
        params: &[Param],
        [first, other, semicolon]: [u8; 3],
        out: &mut TextBuffer,
    ) {
        for (at, &Param { name, value, is_after_semicolon, is_text, .. }) in params.iter().enumerate() {
            out.push(match is_after_semicolon {
                _ if at == 0 => first,
                true => semicolon,
                false => other,
            });
            // Most stand as they stood in the URL.
            if value.start == name.end + 1 && !name.is_written() {
                self.push(url, Piece { start: name.start, end: value.end }, out);
                continue;
            }
            self.push(url, name, out);
            if !value.is_bare() {
                if !is_text {
                    out.push(b'=');
                }
                self.push(url, value, out);
            }
        }
    }

    #[inline(always)]
    fn push(&self, url: &ParsedUrl, piece: Piece, out: &mut TextBuffer) {
        let (text, start, end) = self.locate(url, piece);
        out.push_part(text, start, end - start);
    }
}
