/*!
How URLs of one page are spelled on a lying site: by scheme and host, and with tracking and session parameters.
*/

use super::section::Section;
use crate::chance::mix_two;
use crate::text::word;

/// Spellings of a page beside the plain one.
const SPELLINGS: u64 = 9;

/// The spelling of URL number `copy` of a state, for up to nine: distinct for distinct copies. For the first it is
/// mostly 0, the plain one.
pub(super) fn spelling(section: Section, seed: u64, state: u64, copy: u64) -> u64 {
    let hash = mix_two(mix_two(seed, 0x7370_0000 | section as u64), state);
    let is_plain = match section {
        Section::Items | Section::Articles => !hash.is_multiple_of(5),
        _ => true,
    };
    if copy == 0 && is_plain { 0 } else { 1 + ((hash >> 8) % SPELLINGS + copy) % SPELLINGS }
}

/// The URL of a path and query in the plain spelling.
pub(super) fn plain_url(domain: &str, target: &str) -> String {
    format!("https://www.{domain}{target}")
}

/// The URL of a path and query in a spelling; `chance` decides on random values.
pub(super) fn url(domain: &str, target: &str, spelling: u64, chance: u64) -> String {
    let origin = match spelling {
        1 => "http://www.",
        2 => "https://",
        3 | 8 => "http://",
        _ => "https://www.",
    };
    let separator = if target.contains('?') { '&' } else { '?' };
    let parameters = match spelling {
        4 | 8 => format!("{separator}utm_source={}", word(chance)),
        5 => format!("{separator}gclid={chance:016x}"),
        6 | 9 => format!("{separator}sid={chance:016x}"),
        7 => format!("{separator}sid={chance:016x}&utm_source={}", word(chance)),
        _ => String::new(),
    };
    format!("{origin}{domain}{target}{parameters}")
}
