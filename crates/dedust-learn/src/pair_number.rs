/*!
Well-spread numbers for pairs, whose sum is the form id of a URL.
*/

use dedust::rules::UrlPart;
use dedust::support::{RawKey, RawValue, UrlParts};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::hash::key_number;

/// The number of a pair: equal for equal pairs, and not related to that of any other.
pub fn pair_number(key: &UrlPart, value: Option<&str>) -> u64 {
    let (key, occurrence) = raw_key(key);
    raw_pair_number(key, occurrence, value.map(str::as_bytes))
}

/// A key as a form shows it, with the occurrence of its name.
pub(crate) fn raw_key(key: &UrlPart) -> (RawKey<'_>, u32) {
    match key {
        UrlPart::Scheme => (RawKey::Scheme, 1),
        UrlPart::Subdomain(index) => (RawKey::Subdomain(*index), 1),
        UrlPart::Port => (RawKey::Port, 1),
        UrlPart::PathSegment(index) => (RawKey::PathSegment(*index), 1),
        UrlPart::TrailingSlash => (RawKey::TrailingSlash, 1),
        UrlPart::PathParam(name) => (RawKey::PathParam(name.name.as_bytes()), name.occurrence),
        UrlPart::QuerySeparator => (RawKey::QuerySeparator, 1),
        UrlPart::QueryParam(name) => (RawKey::QueryParam(name.name.as_bytes()), name.occurrence),
        UrlPart::Hashbang => (RawKey::Hashbang, 1),
    }
}

/// The number of a pair as a form shows it.
pub(crate) fn raw_pair_number(key: RawKey<'_>, occurrence: u32, value: RawValue<'_>) -> u64 {
    let seed = key_number(key, occurrence);
    match value {
        Some(text) => xxh3_64_with_seed(text, seed),
        None => xxh3_64_with_seed(b"\0bare", !seed),
    }
}

/// Where a URL of these parts stands.
pub(crate) fn form_id_of(parts: &UrlParts) -> u64 {
    let mut form_id = 0u64;
    parts.pairs(|key, occurrence, value| {
        form_id = form_id.wrapping_add(raw_pair_number(key, occurrence, value))
    });
    form_id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_look_alike_have_numbers_of_their_own() {
        let mut seen = std::collections::BTreeMap::new();
        for index in 0..40 {
            for letters in 0..26 * 26 * 26u32 {
                let letter = |power: u32| char::from(b'A' + (letters / power % 26) as u8);
                let text: String = [letter(676), letter(26), letter(1)].iter().collect();
                let number = pair_number(&UrlPart::PathSegment(index), Some(&text));
                assert_eq!(seen.insert(number, (index, text)), None);
            }
        }
    }
}
