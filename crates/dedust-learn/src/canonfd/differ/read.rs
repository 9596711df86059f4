/*!
Where in one URL a value of another may come from.
*/

use dedust::rules::{Atom, Source, Spot};

use crate::thresholds::suggest::{MAX_AROUND_NUMBER, MAX_DIGITS};

/// A number as URLs write it: in digits, without leading zeros.
pub(super) fn number(text: &str) -> Option<i64> {
    let is_number =
        !text.is_empty() && text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number && (text == "0" || !text.starts_with('0')))
}

/// A value that is another as it is.
pub(super) fn from_value(sources: &[(Spot, &str)], text: &str) -> Option<Source> {
    let (spot, _) = sources.iter().find(|(_, value)| *value == text)?;
    Some(Source::of(spot.clone()))
}

/// A value that is a number in another, perhaps between fixed texts.
pub(super) fn from_digits(sources: &[(Spot, &str)], text: &str) -> Option<Source> {
    let runs: Vec<&[u8]> = text
        .as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .filter(|run| run[0].is_ascii_digit())
        .collect();
    let [digits] = runs.as_slice() else { return None };
    let at = digits.as_ptr() as usize - text.as_ptr() as usize;
    let (prefix, suffix) = (&text[..at], &text[at + digits.len()..]);
    if prefix.len() + suffix.len() > MAX_AROUND_NUMBER {
        return None;
    }
    for (spot, value) in sources {
        for part in [Atom::DigitsFromRight(0), Atom::Digits(0)] {
            if part.of(value.as_bytes()) == Some(*digits) {
                let is_whole = value.len() == digits.len();
                return Some(Source {
                    prefix: prefix.into(),
                    part: (!is_whole).then_some(part),
                    suffix: suffix.into(),
                    ..Source::of(spot.clone())
                });
            }
        }
    }
    None
}

/// A number that may be another one, or one at the end of another value, counted in another way.
pub(super) fn uncounted(sources: &[(Spot, &str)], text: &str) -> Option<(i64, Source, i64)> {
    let y = number(text)?;
    let mut numbers = sources.iter().filter_map(|(spot, value)| {
        if let Some(x) = number(value) {
            return Some((Source::of(spot.clone()), x));
        }
        let part = Atom::DigitsFromRight(0);
        let x = number(std::str::from_utf8(part.of(value.as_bytes())?).ok()?)?;
        Some((Source { part: Some(part), ..Source::of(spot.clone()) }, x))
    });
    let (source, x) = numbers.next()?;
    numbers.next().is_none().then_some((y, source, x))
}

/// A number that is several one after the other, such as a date.
pub(super) fn joined(sources: &[(Spot, &str)], text: &str) -> Option<Vec<Source>> {
    let mut parts = Vec::new();
    let mut rest = text;
    for (spot, value) in sources {
        if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        rest = rest.strip_prefix(value)?;
        parts.push(Source::of(spot.clone()));
    }
    (rest.is_empty() && parts.len() > 1).then_some(parts)
}
