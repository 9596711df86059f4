/*!
Archives of many writers, read as a reference reader reads them: warcio, for Python.

The archives are not part of the project and are looked for in `../shared/data/formats`, or where the variable
`DEDUST_DATA` says; the reader is looked for in `python3`, or where `DEDUST_PYTHON` says. What is missing is said, and
passes.
*/

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]
#![expect(clippy::print_stderr, reason = "a test that is passed over says so")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use dedust_io::{Format, MAX_BODY_BYTES, Observation, RecordCounts, open};

/// Prints how many records there are of each kind; then URL, status, length and checksum of each page.
const REFERENCE: &str = r#"
import collections, sys, zlib
from warcio.archiveiterator import ArchiveIterator
path, limit = sys.argv[1], int(sys.argv[2])
kinds, pages = collections.Counter(), []
with open(path, "rb") as stream:
    for record in ArchiveIterator(stream):
        kinds[record.rec_type] += 1
        url = record.rec_headers.get_header("uri" if record.format == "arc" else "WARC-Target-URI") or ""
        if record.rec_type in ("response", "resource", "revisit") and url.lower().startswith("http"):
            status = record.http_headers.get_statuscode() if record.http_headers else ""
            body = record.content_stream().read(limit)
            pages.append(f"{status or '-'} {len(body)} {zlib.crc32(body):08x} {url}")
for kind, count in sorted(kinds.items()):
    print("kind", kind, count)
for page in pages:
    print("page", page)
"#;

/// What the reference reader says: records by kind, and pages.
struct Reference {
    kinds: BTreeMap<String, u64>,
    pages: Vec<String>,
}

fn data() -> Option<PathBuf> {
    let root = std::env::var_os("DEDUST_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let formats = root.join("formats");
    if formats.is_dir() {
        return Some(formats);
    }
    eprintln!("no archives in {}, nothing is compared", formats.display());
    None
}

fn files(ends: &[&str]) -> Vec<PathBuf> {
    let Some(folder) = data() else { return Vec::new() };
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end)));
    files.sort();
    files
}

fn reference(path: &PathBuf) -> Option<Reference> {
    let python = std::env::var("DEDUST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(python)
        .args(["-c", REFERENCE])
        .arg(path)
        .arg(MAX_BODY_BYTES.to_string())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let mut reference = Reference { kinds: BTreeMap::new(), pages: Vec::new() };
    for line in text.lines() {
        match line.split_once(' ').unwrap() {
            ("kind", rest) => {
                let (kind, count) = rest.rsplit_once(' ').unwrap();
                reference.kinds.insert(kind.to_owned(), count.parse().unwrap());
            }
            (_, page) => reference.pages.push(page.to_owned()),
        }
    }
    Some(reference)
}

fn kinds(counts: RecordCounts) -> BTreeMap<String, u64> {
    [
        ("warcinfo", counts.info),
        ("response", counts.response),
        ("resource", counts.resource),
        ("request", counts.request),
        ("metadata", counts.metadata),
        ("revisit", counts.revisit),
        ("conversion", counts.conversion),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(kind, count)| (kind.to_owned(), count))
    .collect()
}

#[test]
fn archives_are_read_as_the_reference_reads_them() {
    for path in files(&[".warc", ".warc.gz", ".arc.gz"]) {
        let Some(mut expected) = reference(&path) else {
            eprintln!("no warcio in python3 (choose another with DEDUST_PYTHON), nothing is compared");
            return;
        };
        if let Some(count) = expected.kinds.remove("arc_header") {
            expected.kinds.insert("warcinfo".to_owned(), count);
        }
        let mut reader = open(&path).unwrap().observations().unwrap();
        let mut observation = Observation::new();
        let mut pages = expected.pages.iter();
        let mut documents = 0;
        while let Some(row) = reader.read(&mut observation).unwrap() {
            row.unwrap();
            let page = pages.next().unwrap_or_else(|| panic!("{observation:?} is no page"));
            let mut words = page.splitn(4, ' ');
            let mut word = || words.next().unwrap();
            let (status, len, checksum, url) = (word(), word(), word(), word());
            assert_eq!(String::from_utf8_lossy(observation.url()), url);
            assert_eq!(observation.status().map_or("-".into(), |status| status.to_string()), status, "{url}");
            if let Some(document) = reader.document() {
                documents += 1;
                let mut crc = flate2::Crc::new();
                crc.update(document.body());
                assert_eq!(
                    format!("{} {:08x}", document.body().len(), crc.sum()),
                    format!("{len} {checksum}"),
                    "{url}"
                );
            }
        }
        assert_eq!(pages.next(), None, "{}", path.display());
        assert_eq!(kinds(reader.records().unwrap()), expected.kinds, "{}", path.display());
        assert!(documents > 0, "{}", path.display());
    }
}

#[test]
fn indexes_are_read_to_their_end() {
    for path in files(&[".cdx", ".cdxj"]) {
        let mut reader = open(&path).unwrap().observations().unwrap();
        let mut observation = Observation::new();
        while let Some(row) = reader.read(&mut observation).unwrap() {
            row.unwrap();
            assert!(observation.url().starts_with(b"http"));
            assert!(observation.time().is_some());
        }
        let format =
            if path.extension().is_some_and(|end| end == "cdx") { Format::Cdx } else { Format::Cdxj };
        assert_eq!(reader.format(), format);
        assert!(reader.counts().good > 100 && reader.counts().bad_columns == 0, "{}", path.display());
    }
}
