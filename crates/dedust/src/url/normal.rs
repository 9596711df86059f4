/*!
Is this URL its own normal form? Most are, and then there is nothing to do but to find out where its parts lie.

Takes the bytes as they came and gives an answer only where that is plain: a web scheme, a name of a host without user and
port, a path, and a query or none. Whatever else may be normal too is left to the general way in `parse.rs`.
*/

use super::escape::is_normal_escape;
use super::host::is_normal_name;
use super::parse::Parts;
use super::scan::{self, ByteSet, HOST, SPECIAL_PATH, SPECIAL_QUERY};

/// The parts of `input`, if it is normal for sure.
#[inline(always)]
pub(super) fn parts_of(input: &[u8]) -> Option<Parts> {
    let start = after_scheme(input)?;
    let host_end = scan::skip_plain::<HOST>(input, start);
    if input.get(host_end) != Some(&b'/') || !is_normal_name(input.get(start..host_end)?) {
        return None;
    }
    let path_end = end_of::<SPECIAL_PATH>(input, host_end)?;
    let query_end =
        if path_end < input.len() { end_of::<SPECIAL_QUERY>(input, path_end + 1)? } else { path_end };
    Some(Parts {
        scheme_end: start as u32 - 3,
        host_start: start as u32,
        host_end: host_end as u32,
        path_start: host_end as u32,
        path_end: path_end as u32,
        query_end: query_end as u32,
        host_is_name: true,
    })
}

/// Where the host starts.
#[inline(always)]
fn after_scheme(input: &[u8]) -> Option<usize> {
    let word = u64::from_le_bytes(*input.first_chunk()?);
    if word == u64::from_le_bytes(*b"https://") {
        Some(8)
    } else if word << 8 == u64::from_le_bytes(*b"\0http://") {
        Some(7)
    } else {
        None
    }
}

/// Where a component ends that starts at `from`, if all of it can stay: with the input, or a path with a `?`.
#[inline(always)]
fn end_of<const SET: ByteSet>(input: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at = scan::skip_plain::<SET>(input, at);
        match input.get(at) {
            None => return Some(at),
            Some(b'?') if SET == SPECIAL_PATH => return Some(at),
            Some(b'%') if is_normal_escape(&input[at..]) => at += 3,
            Some(&byte) if scan::needs_attention::<SET>(byte) => return None,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ParsedUrl;
    use super::*;

    #[test]
    fn what_is_found_normal_is() {
        for url in [
            "http://a.example/",
            "https://www.a.example/~b/c.html?d=e&f",
            "https://a.example/%C3%A4/b%20c/100%25?q=%26+%2F",
            "http://a.example/a.b/c..d?x=/y",
            "http://a-b.example/a|b!c",
        ] {
            let parts = parts_of(url.as_bytes()).unwrap_or_else(|| panic!("{url}"));
            let parsed = ParsedUrl::parse(url).unwrap();
            assert_eq!((parsed.as_bytes(), parsed.parts()), (url.as_bytes(), &parts), "{url}");
        }
    }

    #[test]
    fn what_is_not_is_left_to_others() {
        for url in [
            "http://a.example",
            "http://A.example/",
            "http://a.example:80/",
            "http://u@a.example/",
            "http:///a.example/",
            "http://a.example./",
            "http://127.1/",
            "http://a.example/./",
            "http://a.example/../b",
            "http://a.example/%7e",
            "http://a.example/%c3",
            "http://a.example/%4",
            "http://a.example/a b",
            "http://a.example/#",
            "http://a.example/?'",
            "http://a.example/ ",
            "ftp://a.example/",
            "HTTP://a.example/",
            "http:/a.example/",
            "http://a.example/\u{e4}",
            "http:",
        ] {
            assert_eq!(parts_of(url.as_bytes()), None, "{url}");
        }
    }
}
