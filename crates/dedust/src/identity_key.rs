/*!
The key of a URL that no rule covers: the safe form without userinfo, its parameters sorted.
*/

use crate::marks::Marks;
use crate::text_buffer::TextBuffer;
use crate::url::{ParsedUrl, path_params, query_params, query_separator, split_path};

/// A buffer for sorting parameters: where each starts and ends, and how long its name is.
pub(crate) type ParamOrder = Vec<(u32, u32, u32)>;

/// The identity key of `url`: the URL itself, or what is appended to `out`, which is empty.
pub(crate) fn write_identity_key<'a>(
    url: &'a ParsedUrl,
    order: &mut ParamOrder,
    out: &'a mut TextBuffer,
) -> &'a [u8] {
    if !url.is_hierarchical() || is_sorted(url) {
        return url.as_bytes();
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

/// Whether the URL is its own key, as can be told at one look.
fn is_sorted(url: &ParsedUrl) -> bool {
    let (padded, parts) = (url.padded(), url.parts());
    if parts.host_start != parts.scheme_end + 3 {
        return false;
    }
    let (path, path_end, query_end) =
        (parts.path_start as usize, parts.path_end as usize, parts.query_end as usize);
    if Marks::<b';', b';', b';'>::new(padded, path, query_end).next().is_some() {
        return false;
    }
    // One parameter is in order.
    query_end <= path_end || Marks::<b'&', b'&', b'&'>::new(padded, path_end + 1, query_end).next().is_none()
}

fn write_path(path: &[u8], order: &mut ParamOrder, out: &mut TextBuffer) {
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
    order: &mut ParamOrder,
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
