/*!
Plain lists: one URL per line.

White space at the end of a line is trimmed. Blank lines and lines that start with `#` are skipped: no URL met by a
crawler starts with `#`, and hand-kept lists carry remarks. URLs may be any bytes but control characters; a line
with one of those is a bad row, since it shows that the input is no list of URLs.
*/

use super::entry::{FormatEntry, LineFormat, Parsed, RowFormat};
use super::sniff::Sign;
use crate::{BadRowReason, Column, Observation};

pub(super) static FORMAT: FormatEntry = FormatEntry {
    name: "a list of URLs",
    expected: "one URL per line",
    names_tool: false,
    sign: Sign::Rest,
    extensions: &[],
    rows: RowFormat::Lines(LineFormat { needs_host: false, parser: |_| Ok(Box::new(parse)), copy: None }),
};

/// Reads one line. `None`: nothing to read on it.
fn parse(row: &[u8], observation: &mut Observation) -> Parsed {
    let url = row.trim_ascii_end();
    if url.is_empty() || url[0] == b'#' {
        return None;
    }
    // Without an early exit, so that it runs over many bytes at a time.
    let has_control = url.iter().fold(false, |any, &byte| any | is_control(byte));
    if has_control {
        let byte = url.iter().copied().find(|&byte| is_control(byte)).unwrap_or_default();
        return Some(Err(BadRowReason::ControlCharacter { byte }));
    }
    observation.set_address(Column::Url, url);
    Some(Ok(()))
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && byte != b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(row: &[u8]) -> Option<Result<Vec<u8>, BadRowReason>> {
        let mut observation = Observation::new();
        Some(parse(row, &mut observation)?.map(|()| observation.url().to_vec()))
    }

    #[test]
    fn blank_lines_and_remarks_are_skipped() {
        for row in [&b""[..], b"  \t", b"# a remark", b"#"] {
            assert_eq!(url(row), None);
        }
    }

    #[test]
    fn only_the_end_is_trimmed() {
        assert_eq!(url(b"http://a.example/p q#f \t"), Some(Ok(b"http://a.example/p q#f".to_vec())));
        assert_eq!(url(b" http://a.example/"), Some(Ok(b" http://a.example/".to_vec())));
    }

    #[test]
    fn bytes_outside_utf8_are_kept() {
        assert_eq!(url(b"http://a.example/caf\xe9"), Some(Ok(b"http://a.example/caf\xe9".to_vec())));
    }

    #[test]
    fn control_characters_make_a_bad_row() {
        assert_eq!(url(b"http://a\x01\0"), Some(Err(BadRowReason::ControlCharacter { byte: 1 })));
        assert_eq!(url(b"http://a/\tb"), Some(Ok(b"http://a/\tb".to_vec())));
    }
}
