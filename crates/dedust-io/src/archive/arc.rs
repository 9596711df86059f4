/*!
The head of an ARC record, versions 1 and 2: one line of words.

```text
http://a.example/ 192.0.2.7 20080430204825 text/html 11385
http://a.example/ 192.0.2.7 20080430204825 text/html 200 - - 4711 file.arc 11385
```
*/

use super::inner_head::HeadLine;
use super::is_web;

/// What the first record starts with, which is about the file.
pub(super) const FILE_MARK: &[u8] = b"filedesc:";

/// What the others start with.
pub(super) const EXAMPLE: &str = "http://a.example/ 192.0.2.7 20080430204825 text/html 11385";

/// A whole line of a page.
pub(super) const HEAD_LINE: HeadLine = HeadLine { start: b"\nhttp", is_head: is_first_line };

/// The words that matter, and the length of the block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ArcLine<'a> {
    pub(super) url: &'a [u8],
    pub(super) time: &'a [u8],
    pub(super) mime: &'a [u8],
    pub(super) length: u64,
}

/// Whether this is the first line of the record of a page.
pub(super) fn is_first_line(line: &[u8]) -> bool {
    split(line).is_some_and(|line| is_web(line.url))
}

/// Reads the line. URLs may hold spaces, so words are counted from the end.
pub(super) fn split(line: &[u8]) -> Option<ArcLine<'_>> {
    let line = line.trim_ascii();
    parts(line, 10).or_else(|| parts(line, 5))
}

fn parts(line: &[u8], count: usize) -> Option<ArcLine<'_>> {
    let mut words: Vec<&[u8]> = line.rsplitn(count, |&byte| byte == b' ').collect();
    words.reverse();
    let [url, _, time, mime, .., length] = words[..] else { return None };
    let is_time = time.len() >= 8 && time.iter().all(u8::is_ascii_digit);
    let length = std::str::from_utf8(length).ok().filter(|digits| !digits.starts_with('+'))?.parse().ok()?;
    (words.len() == count && is_time && !url.is_empty()).then_some(ArcLine { url, time, mime, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        let expected = ArcLine {
            url: b"http://a.example/two words",
            time: b"20080430204825",
            mime: b"text/html",
            length: 11385,
        };
        let first = b"http://a.example/two words 192.0.2.7 20080430204825 text/html 11385\n";
        let second =
            b"http://a.example/two words 192.0.2.7 20080430204825 text/html 200 - - 4711 a.arc 11385";
        assert_eq!(split(first), Some(expected));
        assert_eq!(split(second).map(|line| (line.url.len(), line.length)), Some((26, 11385)));
    }

    #[test]
    fn other_lines_are_none() {
        for line in
            ["", "http://a.example/", "a b c d e", "u i 20080430204825 m -1", "u i 20080430204825 m +1"]
        {
            assert_eq!(split(line.as_bytes()), None, "{line}");
        }
    }
}
