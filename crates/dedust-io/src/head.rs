/*!
Named fields, one per line, as WARC and HTTP headers have them.

Takes the lines between the first line of a head and the blank one that ends it. Lenient, as what crawlers met is: line
ends may be LF alone, a line that starts with white space continues the one before, names are compared in any case, and
lines without a colon are passed over. Values are bytes.

By hand, since `httparse` refuses a head for one line without a colon, or one that continues another, and wants a whole head in
one piece. It would save 0.2 microseconds of 0.4 for a head (2,880 heads of WARC files of six tools), where reading a
page takes a hundred times as long.
*/

use memchr::memchr;

/// Fields in order, in one buffer.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    bytes: Vec<u8>,
    spans: Vec<FieldSpan>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct FieldSpan {
    start: u32,
    name_end: u32,
    end: u32,
}

impl Fields {
    pub(crate) fn parse(lines: &[u8]) -> Fields {
        let mut fields = Fields::default();
        for line in lines.split(|&byte| byte == b'\n') {
            fields.push_line(line);
        }
        fields
    }

    /// Adds a line, with or without its end.
    pub(crate) fn push_line(&mut self, line: &[u8]) {
        let text = line.trim_ascii();
        if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            if let Some(last) = self.spans.last_mut().filter(|_| !text.is_empty()) {
                self.bytes.push(b' ');
                self.bytes.extend_from_slice(text);
                last.end = self.bytes.len() as u32;
            }
            return;
        }
        let Some(colon) = memchr(b':', text) else { return };
        let (name, value) = (text[..colon].trim_ascii_end(), text[colon + 1..].trim_ascii_start());
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        let name_end = self.bytes.len() as u32;
        self.bytes.extend_from_slice(value);
        self.spans.push(FieldSpan { start, name_end, end: self.bytes.len() as u32 });
    }

    /// The first value under a name.
    pub(crate) fn get<'a>(&'a self, name: &str) -> Option<&'a [u8]> {
        self.get_all(name).next()
    }

    /// All values under a name, in order.
    pub(crate) fn get_all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.spans
            .iter()
            .filter(move |span| {
                self.bytes[span.start as usize..span.name_end as usize].eq_ignore_ascii_case(name.as_bytes())
            })
            .map(|span| &self.bytes[span.name_end as usize..span.end as usize])
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_values_are_trimmed() {
        let fields = Fields::parse(b"Link: <a>\r\nlink : <b>\n\nno colon\nLOCATION:caf\xe9 \r\nEmpty:\r\n");
        assert_eq!(fields.get_all("link").collect::<Vec<_>>(), [b"<a>", b"<b>"]);
        assert_eq!(fields.get("Location"), Some(&b"caf\xe9"[..]));
        assert_eq!(fields.get("empty"), Some(&b""[..]));
        assert_eq!(fields.get("no colon"), None);
    }

    #[test]
    fn a_line_that_starts_with_white_space_goes_on() {
        let fields = Fields::parse(b" lost\r\nA: 1\r\n  2\r\n\t3\r\nB: 4\r\n");
        assert_eq!((fields.get("a"), fields.get("b")), (Some(&b"1 2 3"[..]), Some(&b"4"[..])));
    }
}
