/*!
Any bytes as a file of compiled rules: opening and applying them never panics.

The first byte chooses a file. 0 is one of the input's bytes alone. The others are compiled from rule files that hold every
operation, every rule, and a mirror with canonical URLs that were observed; each three bytes of the input say where such a file is changed and to what. Lengths
and checksums are then made to fit, as the author of a hostile file would.
*/

#![no_main]

use std::fs;
use std::sync::LazyLock;

use dedust::{Normalizer, RuleSet, Scratch};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

const MIRROR: &[u8] = br#"{"version": 1, "method": "by hand", "sites": {
    "new.example": {
        "rules": [{"change": [{"drop": "q.sid"}], "fetchable": true}, {"change": [{"drop": "tslash"}]}],
        "canonical_urls": {
            "http://new.example/view?id=7": "http://new.example/view/?id=7",
            "http://new.example/thread_12.html": "http://new.example/thread_12.html/",
            "http://www.new.example/x;s=1/": null}},
    "old.example": {"mirror": {"of": "new.example", "except": ["shop"], "fetchable": true, "evidence": {
        "urls": 0, "support_pairs": 0, "false_pairs": 0, "groups": 0, "failed_groups": 0, "failure_bound": 1.0,
        "kinds": []}}}}}"#;

const HEADER_BYTES: usize = 4096;
const BLOCK_BYTES: usize = 4096;

struct Written {
    header: Vec<u8>,
    body: Vec<u8>,
    urls: Vec<String>,
}

static WRITTEN: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let files = [
        include_bytes!("../../crates/dedust/testdata/rules/every-operation.json").as_slice(),
        include_bytes!("../../crates/dedust/testdata/rules/every-rule.json"),
        MIRROR,
    ];
    files.map(write).into()
});

const PATHS: [&str; 8] = [
    "/",
    "/view?id=7&sid=9",
    "/thread_12.html",
    "/a/b/c/?b&a=1&a=2",
    "/index.php?title=X",
    "/x;s=1/",
    "/Wiki/A%3Ab/print?title=Talk:A&lang=fr&page=3&q=e%CC%81",
    "/shop/a/a/B%7e+c//?A=1;b=%27#!d",
];

fn write(rules: &[u8]) -> Written {
    let rules = RuleSet::load(rules).expect("a valid rule file");
    let mut file = Vec::new();
    Normalizer::compile(&rules).save(&mut file).expect("a vector takes all bytes");
    let body_len = u64::from_le_bytes(file[24..32].try_into().expect("8 bytes")) as usize;
    let (header, body) =
        (file[..HEADER_BYTES].to_vec(), file[HEADER_BYTES..HEADER_BYTES + body_len].to_vec());
    assert!(made_to_fit(header.clone(), &body) == file, "the format is the one that this target knows");
    let sites: Vec<&str> = rules.sites().map(|(site, _)| site).collect();
    let hosts = sites.iter().flat_map(|site| [(*site).to_owned(), format!("www.{site}")]);
    let urls = hosts.flat_map(|host| PATHS.map(|path| format!("http://{host}{path}"))).collect();
    Written { header, body, urls }
}

/// A file of this body, with lengths and checksums that are right.
fn made_to_fit(mut header: Vec<u8>, body: &[u8]) -> Vec<u8> {
    let sums: Vec<u8> =
        body.chunks(BLOCK_BYTES).flat_map(|block| (xxh3_64(block) as u32).to_le_bytes()).collect();
    let length = HEADER_BYTES + body.len() + sums.len();
    header[16..24].copy_from_slice(&(length as u64).to_le_bytes());
    header[24..32].copy_from_slice(&(body.len() as u64).to_le_bytes());
    header[56..64].copy_from_slice(&xxh3_64(&sums).to_le_bytes());
    let sum = xxh3_64(&header[..HEADER_BYTES - 8]);
    header[HEADER_BYTES - 8..].copy_from_slice(&sum.to_le_bytes());
    [header, body.to_vec(), sums].concat()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, rest)) = bytes.split_first() else { return };
    let choice = usize::from(choice) % (WRITTEN.len() + 1);
    let written = &WRITTEN[choice.saturating_sub(1)];
    let file = if choice == 0 { rest.to_vec() } else { changed(written, rest) };

    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("rules.bin");
    fs::write(&path, file).expect("a file can be written");
    let normalizer = match Normalizer::open(&path) {
        Ok(normalizer) => normalizer,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut scratch = Scratch::default();
    let urls = || written.urls.iter().map(|url| url.as_bytes());
    normalizer.each_key(urls(), &mut scratch, |_, _| ());
    normalizer.each_canonical(urls(), &mut scratch, |_, _| ());
    for url in urls() {
        let _ = normalizer.key_with(url, &mut scratch);
        let _ = normalizer.normalize_with(url, &mut scratch);
        let _ = normalizer.explain(url);
    }
});

/// The file with some bytes replaced: of the number of groups in the header, or of the body.
fn changed(written: &Written, changes: &[u8]) -> Vec<u8> {
    let (mut header, mut body) = (written.header.clone(), written.body.clone());
    let (changes, cut) = changes.as_chunks::<3>();
    for &[low, high, byte] in changes {
        let at = usize::from(u16::from_le_bytes([low, high])) % (body.len() + 4);
        match at.checked_sub(4) {
            Some(at) => body[at] = byte,
            None => header[12 + at] = byte,
        }
    }
    if let &[low, high] = cut {
        body.truncate(usize::from(u16::from_le_bytes([low, high])));
    }
    made_to_fit(header, &body)
}
