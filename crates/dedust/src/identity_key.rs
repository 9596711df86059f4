/*!
The key of a URL that no rule covers: the safe form without userinfo, its parameters sorted.
*/

use crate::compiled::encoding::first_word;
use crate::marks::{Marks, ParamAt, SHORT, ShortQuery, low_bits, short_marks};
use crate::text_buffer::TextBuffer;
use crate::url::{ParsedUrl, path_params, query_params, query_separator, split_path};

/// Buffers for sorting parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParamOrder {
    /// Where each starts and ends, and how long its name is.
    order: Vec<(u32, u32, u32)>,
    params: Vec<Param>,
}

/// A query parameter.
#[derive(Clone, Copy, Debug)]
struct Param {
    /// The first bytes of its name as a number: smaller numbers, smaller names.
    word: u64,
    start: u32,
    name_end: u32,
    end: u32,
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
    match read_plain(url, &mut order.params) {
        Some(true) => return url.as_bytes(),
        Some(false) => {
            write_plain(url, &mut order.params, out);
            return out.as_bytes();
        }
        None => {}
    }
    let order = &mut order.order;
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

/// Reads the query of a URL that has no user and no `;`, as most are; whether it is in order.
#[inline]
fn read_plain(url: &ParsedUrl, params: &mut Vec<Param>) -> Option<bool> {
    let (padded, parts) = (url.padded(), url.parts());
    let (path, path_end, query_end) =
        (parts.path_start as usize, parts.path_end as usize, parts.query_end as usize);
    if parts.host_start != parts.scheme_end + 3 || has_semicolon(padded, path, path_end) {
        return None;
    }
    if query_end <= path_end {
        return Some(true);
    }
    params.clear();
    let mut is_sorted = true;
    let mut add = |ParamAt { start, name_end, end }: ParamAt| {
        let word = first_word(padded, start as usize, (name_end - start) as usize).swap_bytes();
        let param = Param { word, start, name_end, end };
        is_sorted &= params.last().is_none_or(|last| precedes(padded, last, &param));
        params.push(param);
    };
    if let Some(short) = ShortQuery::new(padded, path_end + 1, query_end) {
        if !short.is_single() {
            short.for_each(&mut add);
        }
        return Some(is_sorted);
    }
    let (mut start, mut name_end) = (path_end + 1, None);
    for mark in Marks::<b'&', b'=', b';'>::new(padded, start, query_end) {
        match padded[mark] {
            b'&' => {
                add(ParamAt::new(start, name_end, mark));
                (start, name_end) = (mark + 1, None);
            }
            b'=' => name_end = name_end.or(Some(mark)),
            _ => return None,
        }
    }
    add(ParamAt::new(start, name_end, query_end));
    Some(is_sorted)
}

#[inline(always)]
fn has_semicolon(padded: &[u8], start: usize, end: usize) -> bool {
    match short_marks(padded, start, [b';']) {
        Some([semicolons]) if end - start < SHORT => semicolons & low_bits((end - start) as u32) != 0,
        _ => Marks::<b';', b';', b';'>::new(padded, start, end).next().is_some(),
    }
}

/// Whether the name of `one` is not greater than that of `other`.
#[inline(always)]
fn precedes(padded: &[u8], one: &Param, other: &Param) -> bool {
    // Equal words are those of equal names, or of names that differ later.
    one.word < other.word || (one.word == other.word && name(padded, one) <= name(padded, other))
}

fn name<'a>(padded: &'a [u8], param: &Param) -> &'a [u8] {
    &padded[param.start as usize..param.name_end as usize]
}

/// Writes the URL with its parameters in order; those of one name keep theirs.
fn write_plain(url: &ParsedUrl, params: &mut [Param], out: &mut TextBuffer) {
    let padded = url.padded();
    params.sort_unstable_by(|a, b| {
        a.word.cmp(&b.word).then_with(|| name(padded, a).cmp(name(padded, b))).then(a.start.cmp(&b.start))
    });
    out.push_part(padded, 0, url.parts().path_end as usize);
    let mut lead = b'?';
    for param in params {
        out.push(std::mem::replace(&mut lead, b'&'));
        out.push_part(padded, param.start as usize, (param.end - param.start) as usize);
    }
    let query_end = url.parts().query_end as usize;
    out.push_part(padded, query_end, url.as_bytes().len() - query_end);
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
