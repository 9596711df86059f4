/*!
The key of a URL that no rule covers: the safe form without userinfo, its parameters sorted.
*/

use crate::delimiters::{Delimiters, ParamAt, ShortQuery, has_semicolon};
use crate::encoding::first_word;
use crate::text_buffer::TextBuffer;
use crate::url::{ParsedUrl, path_params, query_params, query_separator, split_path};

/// Buffers for sorting parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamOrder {
    few: FewParams,
    /// Of any number of them: where each starts and ends, and how long its name is.
    order: Vec<(u32, u32, u32)>,
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
    write_path(url.path(), order, out);
    if let Some(query) = url.query() {
        out.push(b'?');
        let separator = query_separator(query);
        write_sorted(query, query_params(query, separator), separator, order, out);
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
        let (path, path_end, query_end) =
            (parts.path_start as usize, parts.path_end as usize, parts.query_end as usize);
        if parts.host_start != parts.scheme_end + 3 || has_semicolon(padded, path, path_end) {
            return None;
        }
        if query_end <= path_end {
            return Some(true);
        }
        self.count = 0;
        let Some(short) = ShortQuery::new(padded, path_end + 1, query_end) else {
            return self.read_long(padded, path_end + 1, query_end);
        };
        if short.is_single() {
            return Some(true);
        }
        let mut is_sorted = true;
        for param in short {
            is_sorted &= self.add(padded, param)?;
        }
        Some(is_sorted)
    }

    #[inline(never)]
    fn read_long(&mut self, padded: &[u8], mut start: usize, end: usize) -> Option<bool> {
        let (mut name_end, mut is_sorted) = (None, true);
        for at in Delimiters::<b'&', b'=', b';'>::new(padded, start, end) {
            match padded[at] {
                b'&' => {
                    is_sorted &= self.add(padded, ParamAt::new(start, name_end, at))?;
                    (start, name_end) = (at + 1, None);
                }
                b'=' => name_end = name_end.or(Some(at)),
                _ => return None,
            }
        }
        Some(is_sorted & self.add(padded, ParamAt::new(start, name_end, end))?)
    }

    /// Adds a parameter; whether it comes after the last one, `None` if there is no room.
    #[inline(always)]
    fn add(&mut self, padded: &[u8], ParamAt { start, name_end, end }: ParamAt) -> Option<bool> {
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

fn write_path(path: &[u8], order: &mut Vec<(u32, u32, u32)>, out: &mut TextBuffer) {
    let (_, params, trailing_slash) = split_path(path);
    if params.is_empty() {
        out.push_slice(path);
        return;
    }
    let end = path.len() - params.len() - usize::from(trailing_slash);
    out.push_slice(&path[..end]);
    out.push(b';');
    write_sorted(&params[1..], path_params(params), b';', order, out);
    if trailing_slash {
        out.push(b'/');
    }
}

/// Writes the parameters in the order of their names; those of one name keep theirs.
fn write_sorted<'a>(
    text: &'a [u8],
    params: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
    separator: u8,
    order: &mut Vec<(u32, u32, u32)>,
    out: &mut TextBuffer,
) {
    order.clear();
    let mut start = 0;
    for (name, value) in params {
        let end = start + name.len() + value.map_or(0, |value| value.len() + 1);
        order.push((start as u32, end as u32, name.len() as u32));
        start = end + 1;
    }
    let name = |&(start, _, len): &(u32, u32, u32)| &text[start as usize..(start + len) as usize];
    if order.is_sorted_by(|a, b| name(a) <= name(b)) {
        out.push_slice(text);
        return;
    }
    order.sort_unstable_by(|a, b| name(a).cmp(name(b)).then(a.0.cmp(&b.0)));
    for (index, &(start, end, _)) in order.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        out.push_slice(&text[start as usize..end as usize]);
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
