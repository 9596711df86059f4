/*!
What patterns say of URLs: a parsed URL in, the tests that it passes out, each as a hash.

A test names a part of a URL and its value, such as `path_0` is `wiki`. Learning and lookup take the tests from here, so that both see a
URL alike. Decides nothing.
*/

use std::borrow::Cow;
use std::ops::ControlFlow;

use dedust::ParsedUrl;
use dedust::support::{RawKey, Separators, visit_tokens};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Directories and parameters of a URL that tests speak of. What follows is told apart by nothing but its number of segments.
const MAX_PARTS: usize = 8;

/// Longer values are not worth a test: they stand for one URL each.
const MAX_VALUE_BYTES: usize = 120;

/// A part of a URL and its value. Serialized as `{"part": "path_0", "is": "wiki"}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The part: see [`part_names`](crate::PART_NAMES).
    pub part: Box<str>,
    /// Its value.
    #[serde(rename = "is")]
    pub value: Box<str>,
    /// Whether the URLs of the pattern do not have it.
    #[serde(default, rename = "not", skip_serializing_if = "std::ops::Not::not")]
    pub is_negated: bool,
}

/// The parts of URLs that tests speak of, besides the host. `path_0` stands for all directories, `q.NAME` for all parameters.
pub const PART_NAMES: [&str; 11] = [
    "depth",
    "deeper_than",
    "repeats",
    "path_0",
    "file",
    "file_shape",
    "file_pattern",
    "extension",
    "names",
    "name",
    "q.NAME",
];

impl Test {
    /// The hash that [`each_test`] gives to it.
    pub(crate) fn hash(&self) -> u64 {
        test_hash(&self.part, self.value.as_bytes())
    }

    /// Whether its part is one that URLs have.
    pub(crate) fn is_known(&self) -> bool {
        let is_directory = |part: &str| part.strip_prefix("path_").is_some_and(|at| at.parse::<u8>().is_ok());
        PART_NAMES.contains(&&*self.part) || self.part.starts_with("q.") || is_directory(&self.part)
    }
}

fn test_hash(part: &str, value: &[u8]) -> u64 {
    xxh3_64_with_seed(value, xxh3_64(part.as_bytes()))
}

/// Visits the tests that a URL passes.
pub(crate) fn each_test(url: &ParsedUrl, mut visit: impl FnMut(&str, &str)) {
    let mut emit = |part: &str, value: &[u8]| {
        if value.len() <= MAX_VALUE_BYTES {
            visit(part, &String::from_utf8_lossy(value));
        }
    };
    let mut depth = 0usize;
    let mut last: Option<&[u8]> = None;
    let mut has_slash = false;
    let mut names: Vec<&[u8]> = Vec::new();
    let mut part = String::new();
    let _ = visit_tokens(url, url.host().len(), Separators::Safe, |key, value| -> ControlFlow<()> {
        let value = value.unwrap_or_default();
        match key {
            RawKey::PathSegment(_) => {
                if let Some(directory) = last.filter(|_| depth <= MAX_PARTS) {
                    directory_part(&mut part, depth - 1);
                    emit(&part, directory);
                }
                depth += 1;
                last = Some(value);
            }
            RawKey::TrailingSlash => has_slash = true,
            RawKey::QueryParam(name) => {
                if names.len() < MAX_PARTS {
                    part.clear();
                    part.push_str("q.");
                    part.push_str(&String::from_utf8_lossy(name));
                    emit(&part, value);
                }
                names.push(name);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    if has_slash && let Some(directory) = last.take().filter(|_| depth <= MAX_PARTS) {
        directory_part(&mut part, depth - 1);
        emit(&part, directory);
    }
    let file = last.unwrap_or_default();
    emit("depth", (depth + usize::from(has_slash)).to_string().as_bytes());
    for (limit, text) in [(4, "4"), (8, "8"), (16, "16"), (32, "32")] {
        if depth > limit {
            emit("deeper_than", text.as_bytes());
        }
    }
    if let Some(repeats) = repeats(url.path()) {
        emit("repeats", repeats);
    }
    emit("file", file);
    emit("extension", extension(file, has_slash));
    if file.len() <= MAX_VALUE_BYTES {
        emit("file_shape", &shape(file, false));
        emit("file_pattern", &shape(file, true));
    }
    names.sort_unstable();
    names.dedup();
    for name in names.iter().take(MAX_PARTS) {
        emit("name", name);
    }
    emit("names", &names.join(&b'&'));
}

fn directory_part(part: &mut String, index: usize) {
    part.clear();
    part.push_str("path_");
    part.push_str(&index.to_string());
}

/// How often the most frequent segment of a path occurs, if that is more than once; of many segments the first are looked at.
fn repeats(path: &[u8]) -> Option<&'static [u8]> {
    const MAX_SEGMENTS: usize = 64;
    let mut segments: Vec<&[u8]> =
        path.split(|&byte| byte == b'/').filter(|segment| !segment.is_empty()).take(MAX_SEGMENTS).collect();
    segments.sort_unstable();
    match segments.chunk_by(|left, right| left == right).map(<[_]>::len).max() {
        None | Some(0 | 1) => None,
        Some(2) => Some(b"2"),
        Some(_) => Some(b"3 or more"),
    }
}

/// What follows the last dot; `/` of a directory, `-` of a name without a dot.
fn extension(file: &[u8], is_directory: bool) -> &[u8] {
    match file.iter().rposition(|&byte| byte == b'.') {
        _ if is_directory || file.is_empty() => b"/",
        Some(dot) => &file[dot + 1..],
        None => b"-",
    }
}

/// A file name with each run of digits as `#`, and each run of letters as `a` if asked for.
fn shape(file: &[u8], folds_letters: bool) -> Cow<'_, [u8]> {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => b'#',
        _ if folds_letters && byte.is_ascii_alphabetic() => b'a',
        _ => 0,
    };
    if file.iter().all(|&byte| class(byte) == 0) {
        return Cow::Borrowed(file);
    }
    let mut out = Vec::with_capacity(file.len());
    let mut before = 0;
    for &byte in file {
        let class = class(byte);
        if class == 0 {
            out.push(byte);
        } else if class != before {
            out.push(class);
        }
        before = class;
    }
    Cow::Owned(out)
}

/// Puts the hashes of the tests that a URL passes into `hashes`, sorted.
pub(crate) fn test_hashes(url: &ParsedUrl, hashes: &mut Vec<u64>) {
    hashes.clear();
    each_test(url, |part, value| hashes.push(test_hash(part, value.as_bytes())));
    hashes.sort_unstable();
    hashes.dedup();
}

/// The test of a URL that has this hash.
pub(crate) fn test_of(url: &ParsedUrl, hash: u64) -> Option<Test> {
    let mut found = None;
    each_test(url, |part, value| {
        if found.is_none() && test_hash(part, value.as_bytes()) == hash {
            found = Some(Test { part: part.into(), value: value.into(), is_negated: false });
        }
    });
    found
}

/// The hash of a part, which tests of one part share: how many values a part has is what a test of it costs.
pub(crate) fn each_part(url: &ParsedUrl, mut visit: impl FnMut(u64, u64)) {
    each_test(url, |part, value| {
        // Presence of each name is one choice among all names.
        visit(xxh3_64(part.as_bytes()), test_hash(part, value.as_bytes()));
    });
}

/// Whether a part, by its hash, is a directory or the presence of a parameter.
pub(crate) fn is_place(part: u64) -> bool {
    let mut text = String::new();
    part == xxh3_64(b"name")
        || (0..MAX_PARTS).any(|index| {
            directory_part(&mut text, index);
            part == xxh3_64(text.as_bytes())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(url: &str) -> Vec<String> {
        let mut tests = Vec::new();
        each_test(&ParsedUrl::parse(url).unwrap(), |part, value| tests.push(format!("{part}={value}")));
        tests
    }

    #[test]
    fn a_url_passes_the_tests_of_its_parts() {
        assert_eq!(
            tests("http://a.example/wiki/p12.html?b=1&a=x"),
            [
                "path_0=wiki",
                "q.b=1",
                "q.a=x",
                "depth=2",
                "file=p12.html",
                "extension=html",
                "file_shape=p#.html",
                "file_pattern=a#.a",
                "name=a",
                "name=b",
                "names=a&b",
            ]
        );
        assert_eq!(
            tests("http://a.example/wiki/"),
            ["path_0=wiki", "depth=2", "file=", "extension=/", "file_shape=", "file_pattern=", "names="]
        );
    }

    #[test]
    fn a_test_is_found_by_its_hash() {
        let url = ParsedUrl::parse("http://a.example/wiki/p12.html?b=1").unwrap();
        let test = Test { part: "file_shape".into(), value: "p#.html".into(), is_negated: false };
        assert_eq!(test_of(&url, test.hash()), Some(test));
        assert_eq!(test_of(&url, 1), None);
    }
}
