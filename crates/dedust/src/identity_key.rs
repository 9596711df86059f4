/*!
The key of a URL that no rule covers: the safe form without userinfo, its parameters sorted.
*/

use crate::delimiters::has_semicolon;
use crate::encoding::first_word;
use crate::text_buffer::TextBuffer;
use crate::url::{Outline, ParsedUrl, Segments, Separators, Span, Spans};

/// Buffers for sorting parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamOrder {
    few: FewParams,
    /// Any number of them.
    order: Vec<Span>,
}

/// The identity key of `url`: the URL itself, or what is appended to `out`, which is empty.
pub(crate) fn write_identity_key<'a>(
    url: &'a ParsedUrl,
    order: &mut ParamOrder,
    out: &'a mut TextBuffer,
) -> &'a [u8] {
    if !url.is_hierarchical() {
        return url.as_bytes();
    }
    let ParamOrder { few, order } = order;
    if let Some(is_sorted) = few.read(url) {
        if is_sorted {
            return url.as_bytes();
        }
        if let Some(order) = few.order() {
            few.write(url, &order, out);
            return out.as_bytes();
        }
    }
    out.push_slice(url.scheme());
    out.push_slice(b"://");
    out.push_slice(url.host());
    if let Some(port) = url.port() {
        out.push(b':');
        out.push_slice(port);
    }
    let (text, outline) = (url.as_bytes(), Outline::of(url));
    write_path(url, order, out);
    if let Some(query) = outline.query(Separators::Safe) {
        out.push(b'?');
        write_sorted(text, query.params(), query.separator(), order, out);
    }
    if let Some(hashbang) = url.hashbang() {
        out.push_slice(b"#!");
        out.push_slice(hashbang);
    }
    out.as_bytes()
}

/// More parameters are sorted by the general way.
const MAX_PARAMS: usize = 8;

/// The parameters of a query as most are: few, and no two with different names that begin alike.
#[derive(Clone, Debug, Default)]
struct FewParams {
    /// Of each the first bytes of its name as a number, smaller numbers for smaller names, and where it starts and ends.
    words: [u64; MAX_PARAMS],
    starts: [u32; MAX_PARAMS],
    ends: [u32; MAX_PARAMS],
    /// Whether that is less than the name.
    are_long: [bool; MAX_PARAMS],
    count: usize,
}

impl FewParams {
    /// Reads the query of a URL that has no user and no `;`, `None` for others; whether it is in order.
    #[inline(always)]
    fn read(&mut self, url: &ParsedUrl) -> Option<bool> {
        let (padded, parts) = (url.padded(), url.parts());
        if parts.host_start != parts.scheme_end + 3
            || has_semicolon(padded, parts.path_start as usize, parts.path_end as usize)
        {
            return None;
        }
        let Some(query) = Outline::of(url).query(Separators::Safe) else { return Some(true) };
        if query.has_semicolon {
            return None;
        }
        let params = query.params();
        if params.is_short_and_single() {
            return Some(true);
        }
        self.count = 0;
        let mut is_sorted = true;
        for param in params {
            is_sorted &= self.add(padded, param)?;
        }
        Some(is_sorted)
    }

    /// Adds a parameter; whether it comes after the last one, `None` if there is no room.
    #[inline(always)]
    fn add(&mut self, padded: &[u8], Span { start, name_end, end }: Span) -> Option<bool> {
        let word = first_word(padded, start as usize, (name_end - start) as usize).swap_bytes();
        let count = self.count;
        *self.words.get_mut(count)? = word;
        *self.starts.get_mut(count)? = start;
        *self.ends.get_mut(count)? = end;
        *self.are_long.get_mut(count)? = name_end - start > u64::BITS / 8;
        self.count += 1;
        Some(count == 0 || self.words[(count - 1) % MAX_PARAMS] < word)
    }

    /// Which parameter has which rank, those of one name as they came; `None` if different names may begin alike.
    /// Every two are compared, since what comes of a comparison cannot be foreseen, and to be wrong about it costs more than
    /// many of them.
    #[inline(always)]
    fn order(&self) -> Option<[u8; MAX_PARAMS]> {
        let (mut ranks, mut is_known) = ([0u8; MAX_PARAMS], true);
        for later in 1..self.count.min(MAX_PARAMS) {
            let word = self.words[later];
            for earlier in 0..later {
                let is_after = u8::from(word >= self.words[earlier]);
                is_known &= word != self.words[earlier] || !(self.are_long[later] | self.are_long[earlier]);
                ranks[later] += is_after;
                ranks[earlier] += 1 - is_after;
            }
        }
        let mut order = [0; MAX_PARAMS];
        for (param, &rank) in ranks[..self.count.min(MAX_PARAMS)].iter().enumerate() {
            order[usize::from(rank) % MAX_PARAMS] = param as u8;
        }
        is_known.then_some(order)
    }

    /// Writes the URL with its parameters in this order.
    #[inline(always)]
    fn write(&self, url: &ParsedUrl, order: &[u8; MAX_PARAMS], out: &mut TextBuffer) {
        let (padded, query_end) = (url.padded(), url.parts().query_end as usize);
        let query = url.parts().path_end as usize;
        out.push_part(padded, 0, query);
        let mut first = query;
        let mut room = out.room(self.count);
        for &param in &order[..self.count.min(MAX_PARAMS)] {
            let param = usize::from(param) % MAX_PARAMS;
            first = if param == 0 { room.end() } else { first };
            // With what stands before it.
            let (start, end) = (self.starts[param] as usize - 1, self.ends[param] as usize);
            room.push_part(padded, start, end - start);
        }
        drop(room);
        out.set(first, b'&');
        out.set(query, b'?');
        out.push_part(padded, query_end, url.as_bytes().len() - query_end);
    }
}

fn write_path(url: &ParsedUrl, order: &mut Vec<Span>, out: &mut TextBuffer) {
    let segments = Outline::of(url).segments().map(Segments::at_end);
    let Some((params, segments)) = segments.and_then(|segments| Some((segments.params()?, segments))) else {
        out.push_slice(url.path());
        return;
    };
    out.push_slice(&url.as_bytes()[url.parts().path_start as usize..segments.params_at()]);
    out.push(b';');
    write_sorted(url.as_bytes(), params, b';', order, out);
    if segments.has_slash {
        out.push(b'/');
    }
}

/// Writes the parameters in the order of their names; those of one name keep theirs.
fn write_sorted(text: &[u8], params: Spans<'_>, separator: u8, order: &mut Vec<Span>, out: &mut TextBuffer) {
    order.clear();
    order.extend(params);
    if !order.is_sorted_by(|a, b| a.name(text) <= b.name(text)) {
        order.sort_unstable_by(|a, b| a.name(text).cmp(b.name(text)).then(a.start.cmp(&b.start)));
    }
    for (index, param) in order.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        out.push_slice(param.text(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> String {
        let (url, mut out) = (ParsedUrl::parse(url).unwrap(), TextBuffer::default());
        String::from_utf8(write_identity_key(&url, &mut ParamOrder::default(), &mut out).to_vec()).unwrap()
    }

    /// All orders of up to five parameters, against a stable sort by name.
    #[test]
    fn parameters_come_by_name_those_of_one_name_as_they_came() {
        let params = [
            "b=1",
            "a=2",
            "b",
            "same_begin_2=x",
            "same_begin_1=y",
            "a=",
            "same_beg",
            "long=0123456789abcdefghij",
        ];
        for first in 0..8usize.pow(5) {
            let chosen: Vec<&str> = (0..5).map(|at| params[first >> (3 * at) & 7]).collect();
            let mut sorted = chosen.clone();
            sorted.sort_by_key(|param| param.split('=').next());
            let (query, expected) = (chosen.join("&"), sorted.join("&"));
            assert_eq!(key(&format!("http://a.example/p?{query}")), format!("http://a.example/p?{expected}"));
        }
    }

    #[test]
    fn more_parameters_than_few_and_what_follows_them() {
        assert_eq!(
            key("http://a.example/?j&i&h&g&f&e&d&c&b&a#!tail"),
            "http://a.example/?a&b&c&d&e&f&g&h&i&j#!tail"
        );
        assert_eq!(key("http://a.example/?b&a#!tail"), "http://a.example/?a&b#!tail");
        assert_eq!(key("http://u@a.example:8080/?b&a"), "http://a.example:8080/?a&b");
        assert_eq!(key("http://a.example/?b=1;a=2"), "http://a.example/?a=2;b=1");
    }

    #[test]
    fn what_is_in_order_stays() {
        for url in [
            "http://a.example/",
            "http://a.example/?",
            "http://a.example/?b",
            "http://a.example/?a=2&b=1&b=0",
        ] {
            assert_eq!(key(url), url);
        }
    }
}
