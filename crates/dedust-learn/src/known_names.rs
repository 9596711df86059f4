/*!
Names of parameters and pages that mean the same on many sites, as lists (`known_names.txt`).

A name on a list proves nothing by itself: it says what to expect before the site has said anything.
*/

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::thresholds;

const LISTS: &str = include_str!("known_names.txt");

/// The names of one list.
#[derive(Default)]
struct List {
    whole: Vec<&'static str>,
    /// Names that may end in any way.
    starts: Vec<&'static str>,
}

impl List {
    fn contains(&self, name: &[u8]) -> bool {
        let starts_with = |start: &str| {
            name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
        };
        self.whole.iter().any(|listed| listed.as_bytes().eq_ignore_ascii_case(name))
            || self.starts.iter().any(|start| starts_with(start))
    }
}

static BY_LIST: LazyLock<BTreeMap<&str, List>> = LazyLock::new(|| {
    let mut by_list: BTreeMap<&str, List> = BTreeMap::new();
    let lines = LISTS.lines().filter(|line| !line.starts_with('#'));
    for (list, names) in lines.filter_map(|line| line.split_once(' ')) {
        let list = by_list.entry(list).or_default();
        for name in names.split_whitespace() {
            match name.strip_suffix('*') {
                Some(start) => list.starts.push(start),
                None => list.whole.push(name),
            }
        }
    }
    by_list
});

/// Whether `name` is on a list, whatever its letter case.
pub(crate) fn is_listed(list: &str, name: &[u8]) -> bool {
    BY_LIST.get(list).is_some_and(|list| list.contains(name))
}

/// Whether a value looks like an identifier that a machine made: a number, or long with digits in it.
pub(crate) fn looks_random(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits > 0 && (value.len() >= thresholds::suggest::MIN_RANDOM_BYTES || digits == value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_by_their_start() {
        assert!(is_listed("session", b"PHPSESSID") && is_listed("tracking", b"utm_anything"));
        assert!(!is_listed("tracking", b"utm") && !is_listed("no such list", b"sid"));
        assert!(looks_random(b"9f3e21aa") && looks_random(b"17") && !looks_random(b"summary"));
    }
}
