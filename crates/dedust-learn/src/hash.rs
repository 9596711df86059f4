/*!
Seeds for XXH3, and the numbers of keys that are made with them: texts in, numbers out.

XXH3 adds its seed to short texts, so that seeds that lie close together make equal numbers of different texts: `CSS` with
one is `CSP` with the next. Whoever needs hash functions that have nothing to do with each other takes their seeds from
here.
*/

use dedust::support::RawKey;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of the hash function `index` of a kind, far from that of any other.
pub(crate) fn spread_seed(kind: u32, index: u32) -> u64 {
    (u64::from(kind) << 32 | u64::from(index)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The number of a key, of which a name may occur several times: not related to that of any other, so that it is a seed
/// for the values of the key.
pub(crate) fn key_number(key: RawKey<'_>, occurrence: u32) -> u64 {
    match key {
        RawKey::Scheme => spread_seed(1, 0),
        RawKey::Port => spread_seed(2, 0),
        RawKey::TrailingSlash => spread_seed(3, 0),
        RawKey::QuerySeparator => spread_seed(4, 0),
        RawKey::Hashbang => spread_seed(5, 0),
        RawKey::Subdomain(index) => spread_seed(6, index.into()),
        RawKey::PathSegment(index) => spread_seed(7, index.into()),
        RawKey::PathParam(name) => xxh3_64_with_seed(name, spread_seed(8, occurrence)),
        RawKey::QueryParam(name) => xxh3_64_with_seed(name, spread_seed(9, occurrence)),
    }
}

#[cfg(test)]
mod tests {
    use foldhash::HashMap;

    use super::*;

    #[test]
    fn keys_with_short_names_have_numbers_of_their_own() {
        let mut seen = HashMap::default();
        for letters in 0..26 * 26 * 26u32 {
            let name = [letters / 676, letters / 26 % 26, letters % 26].map(|letter| b'a' + letter as u8);
            for (occurrence, of) in [(1, "path"), (1, "query"), (2, "query")] {
                let key = if of == "path" { RawKey::PathParam(&name) } else { RawKey::QueryParam(&name) };
                assert_eq!(seen.insert(key_number(key, occurrence), (name, of, occurrence)), None);
            }
        }
    }
}
