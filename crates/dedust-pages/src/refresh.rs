/*!
The target of a `Refresh` header or of `<meta http-equiv=refresh>`: `0; url=/elsewhere`.

A page that moves on within [`MAX_DELAY_SECONDS`] is no page; one that reloads itself, or sends its readers elsewhere
when they have read it, is.
*/

/// The longest wait after which a refresh still counts as a redirect.
const MAX_DELAY_SECONDS: u32 = 5;

/// The target, as written; `None` if there is none, or if it takes too long.
pub(crate) fn target(value: &str) -> Option<&str> {
    let value = value.trim_ascii();
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (delay, rest) = value.split_at(digits);
    if delay.is_empty() && !rest.starts_with('.')
        || delay.parse().unwrap_or(u32::MAX) > MAX_DELAY_SECONDS && digits > 0
    {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_ascii_start();
    let rest = rest.trim_start_matches([';', ',']).trim_ascii_start();
    let target = match rest.get(..3) {
        Some(word) if word.eq_ignore_ascii_case("url") => {
            match rest[3..].trim_ascii_start().strip_prefix('=') {
                Some(target) => target.trim_ascii_start(),
                None => rest,
            }
        }
        _ => rest,
    };
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => target[1..].split(quote).next().unwrap_or_default(),
        _ => target,
    };
    Some(target.trim_ascii()).filter(|target| !target.is_empty())
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn targets_are_found_however_they_are_written() {
        for value in ["0; url=/a", "0;URL='/a'", " 3 , /a ", "0 url = \"/a\" ", ".5;/a", "1.9; url=/a"] {
            assert_eq!(target(value), Some("/a"), "{value}");
        }
        assert_eq!(target("0; url"), Some("url"));
    }

    #[test]
    fn reloading_and_late_departures_are_no_redirects() {
        for value in
            ["", "0", "5;", "60; url=/a", "99999999999; url=/a", "url=/a", "soon; url=/a", "0; url=''"]
        {
            assert_eq!(target(value), None, "{value}");
        }
    }
}
