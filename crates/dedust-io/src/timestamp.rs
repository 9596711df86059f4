/*!
Times as web archives write them: fourteen digits.
*/

/// `20080430204825` as `2008-04-30T20:48:25Z`; as it is where it has another form. Digits beyond the fourteenth are
/// fractions of a second and left out.
pub(crate) fn iso(time: &[u8]) -> String {
    let text = String::from_utf8_lossy(time);
    if time.len() < 14 || !time.iter().all(u8::is_ascii_digit) {
        return text.into_owned();
    }
    let (year, month, day) = (&text[..4], &text[4..6], &text[6..8]);
    let (hour, minute, second) = (&text[8..10], &text[10..12], &text[12..14]);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourteen_digits_become_a_time() {
        assert_eq!(iso(b"20080430204825"), "2008-04-30T20:48:25Z");
        assert_eq!(iso(b"20080430204825123"), "2008-04-30T20:48:25Z");
        assert_eq!(iso(b"200804"), "200804");
        assert_eq!(iso(b"2008043020482x"), "2008043020482x");
    }
}
