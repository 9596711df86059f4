/*!
Where some bytes stand in a text, found sixteen bytes at a time.
*/

use wide::{CmpEq as _, i8x16};

/// Bytes after a URL that may be read with it.
pub(crate) const PADDING: usize = 64;

/// The positions of three bytes, from left to right.
pub(crate) struct Delimiters<'a, const A: u8, const B: u8, const C: u8> {
    padded: &'a [u8],
    end: usize,
    /// Where the bytes start that `found` speaks of.
    at: usize,
    /// A bit for each of [`WINDOW`] bytes that are delimiters, the first one lowest.
    found: u32,
}

/// Bytes that are compared at once.
pub(crate) const LANES: usize = 16;
const WINDOW: usize = 2 * LANES;
const _: () = assert!(PADDING >= WINDOW, "what is looked at in one step may be read after the end of a text");

/// Sixteen bytes, to be compared at once.
///
/// Not by mapping each of them to a signed number: that is as fast only where the whole program is optimized at once.
#[inline(always)]
pub(crate) fn lanes_of(bytes: &[u8; LANES]) -> i8x16 {
    bytemuck::must_cast(*bytes)
}

/// A bit for each of the first `count` of sixteen bytes.
#[inline(always)]
pub(crate) fn low_lanes(count: usize) -> u32 {
    if count >= LANES { 0xFFFF } else { (1 << count) - 1 }
}

/// Bytes of a short text: those whose delimiters are found at once, one bit of a word for each.
pub(crate) const SHORT: usize = u64::BITS as usize;
const _: () = assert!(PADDING >= SHORT, "a short text may be read as if it had all these bytes");

/// As many bits, less than [`SHORT`].
#[inline(always)]
pub(crate) fn low_bits(count: u32) -> u64 {
    (1 << (count % u64::BITS)) - 1
}

/// Where some bytes stand among the `length` bytes from `start` on, less than [`SHORT`], and perhaps among those after
/// them: a word for each, the first byte lowest.
#[inline(always)]
pub(crate) fn short_delimiters<const N: usize>(
    padded: &[u8],
    start: usize,
    length: usize,
    delimiters: [u8; N],
) -> Option<[u64; N]> {
    let window = padded.get(start..)?.first_chunk::<SHORT>()?;
    let (first, second) = window.split_at(SHORT / 2);
    let mut found = [0; N];
    add_delimiters(first, 0, delimiters, &mut found);
    // Most are shorter than this.
    if length > SHORT / 2 {
        add_delimiters(second, SHORT / 2, delimiters, &mut found);
    }
    Some(found)
}

/// Whether there is a `;` in `padded[start..end]`, after which [`PADDING`] bytes follow.
#[inline(always)]
pub(crate) fn has_semicolon(padded: &[u8], start: usize, end: usize) -> bool {
    let length = end - start;
    match short_delimiters(padded, start, length, [b';']) {
        Some([semicolons]) if length < SHORT => semicolons & low_bits(length as u32) != 0,
        _ => Delimiters::<b';', b';', b';'>::new(padded, start, end).next().is_some(),
    }
}

#[inline(always)]
fn add_delimiters<const N: usize>(window: &[u8], at: usize, delimiters: [u8; N], found: &mut [u64; N]) {
    for (index, lanes) in window.as_chunks::<LANES>().0.iter().enumerate() {
        let lanes = lanes_of(lanes);
        for (found, delimiter) in found.iter_mut().zip(delimiters) {
            let is_it = lanes.cmp_eq(i8x16::splat(delimiter.cast_signed())).move_mask().cast_unsigned();
            *found |= u64::from(is_it) << (at + index * LANES);
        }
    }
}

/// The parameters of a short query, from left to right.
#[derive(Clone, Copy)]
pub(crate) struct ShortQuery {
    /// Where it starts; all else counts from there.
    query: u32,
    /// Of the next parameter.
    start: u32,
    ends: u64,
    equals: u64,
}

/// Where a parameter lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParamAt {
    pub(crate) start: u32,
    /// Where its name ends: at the first `=`, or with the parameter.
    pub(crate) name_end: u32,
    pub(crate) end: u32,
}

impl ParamAt {
    /// Of positions in a URL, which have 32 bits.
    #[inline(always)]
    pub(crate) fn new(start: usize, equals: Option<usize>, end: usize) -> Self {
        Self { start: start as u32, name_end: equals.unwrap_or(end) as u32, end: end as u32 }
    }
}

impl ShortQuery {
    /// Nothing for longer queries, and for those with `;`.
    #[inline(always)]
    pub(crate) fn new(padded: &[u8], start: usize, end: usize) -> Option<Self> {
        let length = end.checked_sub(start).filter(|&length| length < SHORT)? as u32;
        let [ands, equals, semicolons] =
            short_delimiters(padded, start, length as usize, [b'&', b'=', b';'])?;
        let all = low_bits(length);
        let (query, ends) = (start as u32, ands & all | 1 << length);
        (semicolons & all == 0).then_some(Self { query, start: 0, ends, equals: equals & all })
    }

    /// Whether there is one parameter only.
    #[inline(always)]
    pub(crate) fn is_single(&self) -> bool {
        self.ends.is_power_of_two()
    }
}

impl Iterator for ShortQuery {
    type Item = ParamAt;

    #[inline(always)]
    fn next(&mut self) -> Option<ParamAt> {
        if self.ends == 0 {
            return None;
        }
        let (start, end) = (self.start, self.ends.trailing_zeros());
        let equals = (self.equals & !low_bits(start)).trailing_zeros();
        self.start = end + 1;
        self.ends &= self.ends - 1;
        let at = |offset: u32| self.query + offset;
        Some(ParamAt { start: at(start), name_end: at(equals.min(end)), end: at(end) })
    }
}

/// The parameters of a query of any length, from left to right.
#[derive(Clone, Copy)]
pub(crate) struct QueryParams<'a> {
    padded: &'a [u8],
    /// Bytes that separate parameters.
    separators: [u8; 2],
    /// Of the next parameter.
    start: usize,
    end: usize,
    /// Where the [`SHORT`] bytes start of which is known where parameters end and where a `=` stands.
    window: usize,
    ends: u64,
    equals: u64,
}

impl<'a> QueryParams<'a> {
    /// Those of `padded[start..end]`, after which [`PADDING`] bytes follow.
    #[inline(always)]
    pub(crate) fn new(padded: &'a [u8], start: usize, end: usize, separators: [u8; 2]) -> Self {
        let mut params = Self { padded, separators, start, end, window: start, ends: 0, equals: 0 };
        params.look();
        params
    }

    /// Finds what is known of the bytes of the window. Where the query ends, so does a parameter.
    #[inline(always)]
    fn look(&mut self) {
        let left = self.end.saturating_sub(self.window);
        let [first, second] = self.separators;
        let found = short_delimiters(self.padded, self.window, left, [first, second, b'=']);
        let [ends, more_ends, equals] = found.unwrap_or([0; 3]);
        (self.ends, self.equals) = (ends | more_ends, equals);
        if left < SHORT {
            let last = 1 << left;
            self.ends = self.ends & (last - 1) | last;
            self.equals &= last - 1;
        }
    }

    /// The next parameter, which is not in this window as a whole.
    #[inline(never)]
    fn next_window(&mut self) -> Option<ParamAt> {
        let mut equals = None;
        while self.ends == 0 {
            if self.equals != 0 {
                equals = equals.or(Some(self.window + self.equals.trailing_zeros() as usize));
            }
            self.window += SHORT;
            self.look();
        }
        let param = self.next()?;
        Some(ParamAt { name_end: equals.map_or(param.name_end, |equals| equals as u32), ..param })
    }
}

impl Iterator for QueryParams<'_> {
    type Item = ParamAt;

    #[inline(always)]
    fn next(&mut self) -> Option<ParamAt> {
        if self.start > self.end {
            return None;
        }
        if self.ends == 0 {
            return self.next_window();
        }
        let (start, end) = (self.start, self.ends.trailing_zeros());
        // Those before the parameter are gone.
        let equals = self.equals.trailing_zeros().min(end);
        self.equals &= (u64::MAX << end) << 1;
        self.ends &= self.ends - 1;
        let at = |offset: u32| self.window + offset as usize;
        self.start = at(end) + 1;
        Some(ParamAt { start: start as u32, name_end: at(equals) as u32, end: at(end) as u32 })
    }
}

impl<'a, const A: u8, const B: u8, const C: u8> Delimiters<'a, A, B, C> {
    /// Looks at `padded[start..end]`, after which [`PADDING`] bytes follow.
    #[inline(always)]
    pub(crate) fn new(padded: &'a [u8], start: usize, end: usize) -> Self {
        let mut delimiters = Self { padded, end, at: start, found: 0 };
        if start < end {
            delimiters.look();
        }
        delimiters
    }

    #[inline(always)]
    fn look(&mut self) {
        let is_delimiter = |lanes: [u8; LANES]| {
            let bytes = lanes_of(&lanes);
            let is = |byte: u8| bytes.cmp_eq(i8x16::splat(byte.cast_signed()));
            let found = if C == A { is(A) | is(B) } else { is(A) | is(B) | is(C) };
            found.move_mask().cast_unsigned()
        };
        let Some(bytes) = self.padded.get(self.at..).and_then(|rest| rest.first_chunk::<WINDOW>()) else {
            return;
        };
        let (low, high) = bytes.split_at(LANES);
        let lanes = |half: &[u8]| half.first_chunk().copied().unwrap_or_default();
        let found = is_delimiter(lanes(low)) | is_delimiter(lanes(high)) << LANES;
        let left = self.end - self.at;
        self.found = if left >= WINDOW { found } else { found & !(u32::MAX << left) };
    }
}

impl<const A: u8, const B: u8, const C: u8> Iterator for Delimiters<'_, A, B, C> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.at += WINDOW;
            if self.at >= self.end {
                return None;
            }
            self.look();
        }
        let delimiter = self.at + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(delimiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_short_queries() {
        let params = |query: &str| {
            let mut padded = format!("?{query}").into_bytes();
            padded.resize(1 + query.len() + PADDING, b'&');
            let params = ShortQuery::new(&padded, 1, 1 + query.len())?;
            let text =
                |from: u32, to: u32| String::from_utf8(padded[from as usize..to as usize].to_vec()).unwrap();
            let both = |at: ParamAt| (text(at.start, at.name_end), text(at.name_end, at.end));
            Some(params.map(both).map(|(name, value)| name + "|" + &value).collect::<Vec<_>>())
        };
        assert_eq!(params("").unwrap(), ["|"]);
        assert_eq!(params("a=1&b&c==&").unwrap(), ["a|=1", "b|", "c|==", "|"]);
        assert_eq!(params("a;b"), None);
        let (short, long) = ("x".repeat(SHORT - 1), "x".repeat(SHORT));
        assert_eq!(params(&short).unwrap(), [short + "|"]);
        assert_eq!(params(&long), None);
    }

    #[test]
    fn parameters_of_queries_of_any_length() {
        let heads = ["", "a=1&b&c==&", "a;b", "a=1;b=2", "a=1;b", "a=1&b=2;c=3", ";", "=1;b=2", "a=;b==1"];
        let lengths = [0, 1, 50, SHORT - 9, SHORT - 1, SHORT, SHORT + 1, 3 * SHORT];
        let queries = heads.iter().flat_map(|head| {
            lengths.map(|length| "x".repeat(length)).into_iter().flat_map(move |rest| {
                [format!("{head}{rest}"), format!("{head}&z={rest}"), format!("{rest}={head};y")]
            })
        });
        for query in queries {
            let mut padded = format!("?{query}").into_bytes();
            padded.resize(1 + query.len() + PADDING, b'&');
            for separators in [*b"&&", *b";;", *b"&;"] {
                let text = |from: u32, to: u32| &padded[from as usize..to as usize];
                let found = QueryParams::new(&padded, 1, 1 + query.len(), separators).map(|at| {
                    (
                        text(at.start, at.name_end),
                        (at.name_end < at.end).then(|| text(at.name_end + 1, at.end)),
                    )
                });
                let expected =
                    query.split(separators.map(char::from)).map(|piece| match piece.split_once('=') {
                        Some((name, value)) => (name.as_bytes(), Some(value.as_bytes())),
                        None => (piece.as_bytes(), None),
                    });
                assert!(found.eq(expected), "{query} by {separators:?}");
            }
        }
    }

    #[test]
    fn delimiters_are_found_wherever_they_stand() {
        let mut text = vec![b'a'; 150];
        for at in [0, 1, 15, 16, 31, 32, 33, 64, 99, 100, 149] {
            text[at] = [b'&', b'=', b';'][at % 3];
        }
        let mut padded = text.clone();
        padded.resize(150 + PADDING, b'&');
        for start in 0..150 {
            for end in start..=150 {
                let expected: Vec<usize> = (start..end).filter(|&at| text[at] != b'a').collect();
                let found: Vec<usize> = Delimiters::<b'&', b'=', b';'>::new(&padded, start, end).collect();
                assert_eq!(found, expected, "{start} to {end}");
            }
        }
    }
}
