/*!
URLs, one per line, under rules of every kind: what is promised of keys and canonical URLs holds for all of them.

With a NUL byte in the input, what stands before it is a rule file of its own. Otherwise the rule files of
`seeds/rule_file` are used, each on all lines.
*/

#![no_main]

use std::sync::LazyLock;

use dedust::{Normalizer, RuleSet, Scratch};
use dedust_fuzz::check_promises;
use libfuzzer_sys::fuzz_target;

static KNOWN: LazyLock<Vec<Normalizer>> = LazyLock::new(|| {
    let files = [
        include_bytes!("../seeds/rule_file/sessions.json").as_slice(),
        include_bytes!("../seeds/rule_file/wiki.json"),
        include_bytes!("../seeds/rule_file/odd_copies.json"),
        include_bytes!("../seeds/rule_file/parts_and_texts.json"),
    ];
    let load = |file: &[u8]| RuleSet::load(file).expect("seeds are valid rule files");
    files.into_iter().map(|file| Normalizer::compile(&load(file))).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|&byte| byte == 0) else {
        KNOWN.iter().for_each(|normalizer| check(normalizer, bytes));
        return;
    };
    if let Ok(rules) = RuleSet::load(&bytes[..end]) {
        check(&Normalizer::compile(&rules), &bytes[end + 1..]);
    }
});

fn check(normalizer: &Normalizer, lines: &[u8]) {
    let mut scratch = Scratch::default();
    for url in lines.split(|&byte| byte == b'\n') {
        check_promises(normalizer, url, &mut scratch);
    }
}
