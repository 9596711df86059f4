/*!
Where the parts of a URL lie: a [`ParsedUrl`] in; host labels, path segments, parameters of the path and of the query out, as
positions in it.

This is the one place that knows which bytes separate parts. It allocates nothing, copies nothing, and neither names parts
(`token.rs` does) nor looks into them. Some texts are no whole URLs, but the end of one: of these it knows the query.

The path ends with parameters if all that stands behind the first `;` of its last segment reads `;name=value`. Query parameters
are separated by `&`. A query without `&` whose `;`-separated pieces all read `name=value` is separated by `;` instead.
*/

use memchr::{memchr, memchr2};

use super::ParsedUrl;
use crate::delimiters::{LANES, SHORT, has_semicolon, low_bits, low_lanes, positions_of, short_delimiters};

/// Labels or segments of a URL that rules speak of, at most.
pub(crate) const MAX_POSITIONS: usize = 1000;

/// What separates the parameters of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separators {
    /// `&`, or `;` where all pieces read `name=value`.
    Safe,
    /// Both, as on a site with a rule that [says so](crate::rules::Change::SplitParams).
    Both,
}

/// Where the parts of a URL lie.
#[derive(Clone, Copy)]
pub struct Outline<'a> {
    url: &'a ParsedUrl,
}

/// A piece of a text between separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// Where its name ends: at the first `=`, or with the piece. Of a path segment, where its parameters start: at the first `;`.
    pub name_end: u32,
    /// Where it ends.
    pub end: u32,
}

impl Span {
    /// All of it.
    #[must_use]
    pub fn text<'t>(&self, of: &'t [u8]) -> &'t [u8] {
        &of[self.start as usize..self.end as usize]
    }

    /// What stands before the `=`.
    #[must_use]
    pub fn name<'t>(&self, of: &'t [u8]) -> &'t [u8] {
        &of[self.start as usize..self.name_end as usize]
    }

    /// What stands behind the `=`, if there is one.
    #[must_use]
    pub fn value<'t>(&self, of: &'t [u8]) -> Option<&'t [u8]> {
        self.has_value().then(|| &of[self.name_end as usize + 1..self.end as usize])
    }

    /// Whether the byte before a parameter is a `;`.
    #[must_use]
    #[inline(always)]
    pub fn is_after_semicolon(&self, of: &[u8]) -> bool {
        of[self.start as usize - 1] == b';'
    }

    #[inline(always)]
    pub(crate) fn has_value(&self) -> bool {
        self.name_end < self.end
    }
}

impl<'a> Outline<'a> {
    /// That of a URL.
    #[must_use]
    #[inline(always)]
    pub fn of(url: &'a ParsedUrl) -> Self {
        Self { url }
    }

    /// The host labels left of the site's domain of `domain_len` bytes, from right to left.
    #[inline]
    pub(crate) fn labels(self, domain_len: usize) -> impl Iterator<Item = Span> {
        let (start, mut end) = self.before_domain(domain_len);
        std::iter::from_fn(move || {
            if end <= start {
                return None;
            }
            // The dot after the label.
            end -= 1;
            let dot = self.url.padded()[start..end].iter().rposition(|&byte| byte == b'.');
            let label = dot.map_or(start, |dot| start + dot + 1);
            let span = Span { start: label as u32, name_end: end as u32, end: end as u32 };
            end = label;
            Some(span)
        })
    }

    /// Whether there is a label at a position left of the domain, or perhaps is.
    #[inline(always)]
    pub(crate) fn may_have_label(self, domain_len: usize, position: u8) -> bool {
        let (start, end) = self.before_domain(domain_len);
        let length = end.saturating_sub(start);
        // A dot follows each label.
        let Some(dots) = positions_of(b'.', self.url.padded(), start).filter(|_| length <= LANES) else {
            return usize::from(position) < length;
        };
        let mut dots = dots & low_lanes(length);
        for _ in 0..position {
            if dots == 0 {
                break;
            }
            dots &= dots - 1;
        }
        dots != 0
    }

    /// Where the host starts, and where it ends without the domain.
    #[inline(always)]
    fn before_domain(self, domain_len: usize) -> (usize, usize) {
        let parts = self.url.parts();
        (parts.host_start as usize, (parts.host_end as usize).saturating_sub(domain_len))
    }

    /// The segments of the path, and its parameters behind them; none for `/`.
    #[inline(always)]
    pub fn segments(self) -> Option<Segments<'a>> {
        let (padded, parts) = (self.url.padded(), self.url.parts());
        let (start, path_end) = (parts.path_start as usize, parts.path_end as usize);
        let start = start + usize::from(padded.get(start) == Some(&b'/'));
        if start >= path_end {
            return None;
        }
        let has_slash = padded.get(path_end - 1) == Some(&b'/');
        let end = path_end - usize::from(has_slash);
        let spans = Spans::new(padded, start, end, [b'/'; 2], b';');
        Some(Segments { spans, end, params_at: end, has_slash })
    }

    /// The first segment of the path, with its parameters.
    pub(crate) fn first_segment(self) -> &'a [u8] {
        let path = self.url.path();
        let path = path.strip_prefix(b"/").unwrap_or(path);
        &path[..memchr(b'/', path).unwrap_or(path.len())]
    }

    /// The query, if there is a `?`.
    #[inline(always)]
    pub fn query(self, separators: Separators) -> Option<Query<'a>> {
        let parts = self.url.parts();
        let (start, end) = (parts.path_end as usize + 1, parts.query_end as usize);
        (start <= end).then(|| Query::new(self.url.padded(), (start, end), separators))
    }
}

/// The segments of a path, from left to right.
pub struct Segments<'a> {
    spans: Spans<'a>,
    end: usize,
    /// Where the parameters start, once that is known; before that, and if there are none, where the segments end.
    params_at: usize,
    /// Whether a slash follows the last segment.
    pub(crate) has_slash: bool,
}

impl<'a> Segments<'a> {
    /// The same, with all segments behind it.
    #[must_use]
    pub fn at_end(mut self) -> Self {
        self.by_ref().for_each(|_| ());
        self
    }

    /// Where the parameters start, with a `;`, or where the segments end. To be asked when all segments are known.
    pub(crate) fn params_at(&self) -> usize {
        self.params_at
    }

    /// The parameters `;a=1;b=2` behind the last segment, if there are any. To be asked when all segments are known.
    #[inline(always)]
    pub fn params(&self) -> Option<Spans<'a>> {
        (self.params_at < self.end)
            .then(|| Spans::new(self.spans.text, self.params_at + 1, self.end, [b';'; 2], b'='))
    }
}

impl Iterator for Segments<'_> {
    type Item = Span;

    #[inline(always)]
    fn next(&mut self) -> Option<Span> {
        let mut span = self.spans.next()?;
        if span.end as usize == self.end
            && span.name_end < span.end
            && are_named(self.spans.text, span.name_end as usize + 1, self.end)
        {
            self.params_at = span.name_end as usize;
            span.end = span.name_end;
        }
        Some(span)
    }
}

/// A query.
pub struct Query<'a> {
    params: Spans<'a>,
    /// Whether there is a `;`, where it is not always a separator.
    pub(crate) has_semicolon: bool,
}

impl<'a> Query<'a> {
    #[inline(always)]
    fn new(padded: &'a [u8], (start, end): (usize, usize), separators: Separators) -> Self {
        let found = short_delimiters(padded, start, end - start, [b'&', b';', b'=']);
        let [ands, semicolons, equals] = found.unwrap_or_default();
        let has_semicolon = separators == Separators::Safe
            && if end - start < SHORT {
                semicolons & low_bits((end - start) as u32) != 0
            } else {
                has_semicolon(padded, start, end)
            };
        let (separators, ends) = match separators {
            Separators::Both => ([b'&', b';'], ands | semicolons),
            Separators::Safe if has_semicolon && is_separated_by_semicolons(padded, start, end) => {
                ([b';'; 2], semicolons)
            }
            Separators::Safe => ([b'&'; 2], ands),
        };
        let params =
            Spans { text: padded, separators, mark: b'=', start, end, window: start, ends: 0, marks: 0 };
        Self { params: params.knowing(ends, equals), has_semicolon }
    }

    /// That of a text, which is a URL in safe normal form, or the end of one; both `&` and `;` separate its parameters.
    #[must_use]
    pub fn in_text(text: &'a [u8]) -> Option<Self> {
        let start = memchr2(b'?', b'#', text).filter(|&at| text[at] == b'?')? + 1;
        let end = memchr(b'#', &text[start..]).map_or(text.len(), |at| start + at);
        Some(Self { params: Spans::new(text, start, end, [b'&', b';'], b'='), has_semicolon: false })
    }

    /// Where it starts, behind the `?`, and where it ends.
    #[must_use]
    pub fn bounds(&self) -> (usize, usize) {
        (self.params.start, self.params.end)
    }

    /// What separates parameters: `&` if both do.
    #[inline(always)]
    pub(crate) fn separator(&self) -> u8 {
        self.params.separators[0]
    }

    /// Its parameters, from left to right. That of a bare `?` has an empty name and no value.
    #[inline(always)]
    pub fn params(&self) -> Spans<'a> {
        self.params
    }
}

/// Whether a query with a `;` is separated by it.
#[inline(never)]
fn is_separated_by_semicolons(text: &[u8], start: usize, end: usize) -> bool {
    memchr(b'&', &text[start..end]).is_none() && are_named(text, start, end)
}

/// Whether all pieces between `;` read `name=value`.
#[inline(never)]
fn are_named(text: &[u8], start: usize, end: usize) -> bool {
    Spans::new(text, start, end, [b';'; 2], b'=')
        .all(|piece| piece.has_value() && piece.name_end > piece.start)
}

/// The pieces of a text between separators, from left to right.
#[derive(Clone, Copy)]
pub struct Spans<'a> {
    text: &'a [u8],
    separators: [u8; 2],
    /// The byte that ends a name.
    mark: u8,
    /// Of the next piece.
    start: usize,
    end: usize,
    /// Where the [`SHORT`] bytes start of which is known where pieces end, if the pieces were not handed out, and where marks stand.
    window: usize,
    ends: u64,
    marks: u64,
}

impl<'a> Spans<'a> {
    /// Those between two positions of a text.
    #[inline(always)]
    pub(crate) fn new(text: &'a [u8], start: usize, end: usize, separators: [u8; 2], mark: u8) -> Self {
        Self { text, separators, mark, start, end, window: start, ends: 0, marks: 0 }.looking()
    }

    /// Whether there is one piece only, which is short.
    #[inline(always)]
    pub(crate) fn is_short_and_single(&self) -> bool {
        self.end - self.window < SHORT && self.ends.is_power_of_two()
    }

    /// The same with what is known of the bytes of the window.
    #[inline(always)]
    fn looking(self) -> Self {
        let [first, second] = self.separators;
        let left = self.end - self.window;
        let found = short_delimiters(self.text, self.window, left, [first, second, self.mark]);
        let [ends, more_ends, marks] = found.unwrap_or_else(|| self.look_at_end());
        self.knowing(ends | more_ends, marks)
    }

    /// The same with where separators and marks stand in the window and perhaps behind the text. Where the text ends, so does a
    /// piece.
    #[inline(always)]
    fn knowing(self, mut ends: u64, mut marks: u64) -> Self {
        let left = self.end - self.window;
        if left < SHORT {
            let last = 1 << left;
            ends = ends & (last - 1) | last;
            marks &= last - 1;
        }
        Self { ends, marks, ..self }
    }

    /// Like [`short_delimiters`], where too little follows the text.
    #[cold]
    fn look_at_end(&self) -> [u64; 3] {
        let window = self.text.get(self.window..self.end).unwrap_or_default();
        [self.separators[0], self.separators[1], self.mark].map(|delimiter| {
            let found = window.iter().take(SHORT).enumerate().filter(|(_, byte)| **byte == delimiter);
            found.fold(0, |found, (at, _)| found | 1 << at)
        })
    }

    /// The window in which the next piece ends, which is not this one. It takes and gives values, so that all that is known of the
    /// pieces can stay in registers.
    #[inline(never)]
    fn next_window(self) -> (Window, Span) {
        let (mut spans, mut name_end) = (self, u32::MAX);
        // The next piece may start right behind the window.
        spans.marks &= u64::MAX.checked_shl((self.start - self.window) as u32).unwrap_or(0);
        while spans.ends == 0 {
            if spans.marks != 0 {
                name_end = name_end.min(spans.window as u32 + spans.marks.trailing_zeros());
            }
            spans.window += SHORT;
            spans = spans.looking();
        }
        let Self { window, ends, marks, .. } = spans;
        let end = ends.trailing_zeros();
        let name_end = name_end.min(window as u32 + marks.trailing_zeros().min(end));
        let span = Span { start: self.start as u32, name_end, end: window as u32 + end };
        (Window { window, ends: ends & (ends - 1), marks }, span)
    }
}

/// What changes from window to window.
struct Window {
    window: usize,
    ends: u64,
    marks: u64,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    #[inline(always)]
    fn next(&mut self) -> Option<Span> {
        if self.ends == 0 {
            if self.start > self.end {
                return None;
            }
            let (next, span) = self.next_window();
            (self.window, self.ends, self.marks) = (next.window, next.ends, next.marks);
            self.start = span.end as usize + 1;
            return Some(span);
        }
        let (start, end) = ((self.start - self.window) as u32, self.ends.trailing_zeros());
        let name_end = (self.marks & !low_bits(start)).trailing_zeros().min(end);
        self.ends &= self.ends - 1;
        let at = |offset: u32| self.window as u32 + offset;
        self.start = at(end) as usize + 1;
        Some(Span { start: at(start), name_end: at(name_end), end: at(end) })
    }
}

#[cfg(test)]
mod tests;
