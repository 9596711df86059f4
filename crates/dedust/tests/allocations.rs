/*!
After a few URLs, normalizing with one [`Scratch`] allocates nothing.

Counts the allocations of the test's own thread, since the harness has others. URLs with international host names or
with tabs and line breaks inside are left out: they are rare, and are brought to their plain form in buffers of
their own.
*/

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dedust::{Normalizer, RuleSet, Scratch};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(
    unsafe_code,
    reason = "an allocator cannot be written without; every call is handed to the system's unchanged"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, because all allocations here do.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: as for `alloc` and `dealloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

fn count() {
    // A thread that is ending has no counter any more, and no test either.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

const RULES: &str = r#"{"version": 1, "method": "by hand", "sites": {"example.org": {"rules": [
    {"change": [{"replace": [{"from": "&print=1", "to": ""}]}], "fetchable": true, "evidence": EVIDENCE},
    {"when": {"scheme": {"is": "http"}, "path_0": {"is": "ignored"}, "q.id": {"any": "digits"}, "q.s": {"any": "text"}},
     "closed": true, "change": [{"forget": "q.s"}], "last": true, "evidence": EVIDENCE},
    {"when": {"scheme": {"is": "http"}, "path_0": {"is": "dropped"}, "q.id": {"any": "digits"},
              "q.sid": {"any": {"class": "text", "optional": true}},
              "mp.jsessionid": {"any": {"class": "word", "optional": true}}},
     "closed": true, "change": [{"drop": "q.sid"}, {"drop": "mp.jsessionid"}], "last": true, "fetchable": true, "evidence": EVIDENCE},
    {"when": {"scheme": {"any": "word"}, "sub_0": {"is": "www"}, "path_0": {"is": "index.php"}, "q.title": {"any": "text"}},
     "closed": true,
     "change": [{"path": [{"text": "wiki"}, {"value": {"from": {"of": "q.title"}}}]}, {"drop": "q.title"}, {"drop": "sub_0"},
                {"set": {"key": "scheme", "to": [{"prefix": "http"}]}}],
     "last": true, "fetchable": true, "evidence": EVIDENCE},
    {"when": {"scheme": {"is": "http"}, "path_0": {"any": {"file": "html"}}}, "closed": true,
     "change": [{"path": [{"text": "thread"}, {"value": {"from": {"prefix": "t-", "of": "path_0", "part": {"digits": 0}}}}]},
                {"set": {"key": "q.new", "to": []}}],
     "last": true, "fetchable": true, "evidence": EVIDENCE}
]},
"edited.example": {"rules": [
    {"change": [{"drop": "q.sid"}], "fetchable": true, "evidence": EVIDENCE},
    {"change": [{"forget": "q.s"}], "evidence": EVIDENCE},
    {"change": [{"drop": "mp.jsessionid"}], "fetchable": true, "evidence": EVIDENCE},
    {"change": [{"drop": "tslash"}], "evidence": EVIDENCE},
    {"change": [{"map": {"of": "scheme", "values": [{"is": "https", "becomes": "http"}]}}], "fetchable": true,
     "evidence": EVIDENCE},
    {"change": [{"map": {"of": "sub_0", "values": [{"is": "www"}]}}], "fetchable": true, "evidence": EVIDENCE},
    {"when": {"q.page": {"any": "digits"}},
     "change": [{"set": {"key": "q.start", "to": [{"of": "q.page", "count": {"times": 20, "plus": -20}}]}},
                {"drop": "q.page"}], "fetchable": true, "evidence": EVIDENCE},
    {"when": {"path_0": {"is": "index.php"}, "q.title": {"any": "text"}},
     "change": [{"path": [{"text": "wiki"}, {"value": {"from": {"prefix": "p-", "of": "q.title"}, "split": ":"}}]},
                {"drop": "q.title"}], "fetchable": true, "evidence": EVIDENCE},
    {"when": {"last_0": {"is": "print"}}, "change": [{"path": [{"segments": {"from": 0, "but_last": 1}}]}],
     "evidence": EVIDENCE},
    {"when": {"q.lang": {"one_of": ["de", "fr"]}},
     "change": [{"set": {"key": "q.l", "to": [{"of": "q.lang", "table": [["de", "1"], ["fr", "2"]]}, {"prefix": "-"}]}}],
     "fetchable": true, "evidence": EVIDENCE},
    {"when": {"q.do": {"is": "login"}}, "change": ["forget_path"], "evidence": EVIDENCE},
    {"change": [{"fold": {"of": "path", "to": "lowercase"}}], "fetchable": true, "evidence": EVIDENCE},
    {"change": [{"fold": {"of": "params", "to": "composed"}}], "fetchable": true, "evidence": EVIDENCE},
    {"change": [{"fold": {"of": {"key": "q.q"}, "to": "unescaped"}}], "fetchable": true, "evidence": EVIDENCE},
    {"change": ["unrepeat"], "fetchable": true, "evidence": EVIDENCE}
]},
"observed.example": {"rules": [
    {"change": [{"drop": "q.sid"}], "fetchable": true, "evidence": EVIDENCE},
    {"change": [{"drop": "tslash"}], "evidence": EVIDENCE},
    {"change": [{"map": {"of": "sub_0", "values": [{"is": "www"}]}}], "evidence": EVIDENCE}
], "canonical_urls": {OBSERVED}}}}"#;

/// Canonical URLs of every other number: with a slash, on another host, or as it was.
fn observed(numbers: impl Iterator<Item = usize>) -> String {
    let entries = numbers.step_by(2).flat_map(|number| {
        let url = |path: &str| format!("\"http://observed.example/{path}-{}", 10_000 + number);
        let www = format!("\"http://www.observed.example/www-{}\"", 10_000 + number);
        [
            format!("{}\": {}/\"", url("slash"), url("slash")),
            format!("{}\": {www}", url("www")),
            format!("{}\": null", url("as-it-was")),
        ]
    });
    entries.collect::<Vec<_>>().join(",")
}

const EVIDENCE: &str = r#"{"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
    "failure_bound": 0.53, "kinds": ["digest"]}"#;

/// URLs of every kind, all with the same number of digits, so that the first of a kind is as long as the others.
fn urls(number: usize) -> Vec<String> {
    let number = 10_000 + number;
    vec![
        format!("https://www.example.com/news/{number}/a-title.html?page=2"),
        format!("HTTP://Example.COM:80/a/../%7Eb/caf\u{e9} {number}?q=\"x y\"#top"),
        format!("http://example.com/?z={number}&y=2&x=%c3%bc&a&z=1"),
        format!("http://user:secret@example.com:8080/private/{number}?b=1&a=2"),
        format!("http://example.com/x;v=2;jsessionid={number}/?b;a=1"),
        format!("http://example.com/?b={number};a=1;c=3#!state={number}"),
        format!("http://[2001:DB8::1]/{number}"),
        format!("http://0x7f.1/{number}"),
        format!("mailto:somebody@example.com?subject={number}"),
        format!("no URL at all {number}"),
        format!("http://example.org/ignored?s={number:x}&id={number}"),
        format!("http://example.org/dropped;jsessionid={number}?sid=9&id={number}"),
        format!("https://www.example.org/index.php?title=Page_{number}"),
        format!("https://www.example.org/index.php?title=a%2fb/{number}"),
        format!("http://user@www.example.org/index.php?title=Page_{number}"),
        format!("http://example.org/thread_{number}_a-title.html"),
        format!("http://www.example.org/not/covered/{number}?sid=1&print=1&id=2"),
        format!("http://edited.example/nothing/to/do/{number}?z=1&a=2"),
        format!("https://www.edited.example/a/a/{number}/;jsessionid={number}?sid=9&page=7&s={number:x}"),
        format!("http://edited.example/index.php?title=Talk:Page_{number}"),
        format!("http://edited.example/index.php?title=a?{number}"),
        format!("http://edited.example/News/{number}/print?do=login&lang=fr"),
        format!("http://edited.example/{number}?q=%27e%CC%81%27&r=e%CC%81&t=%FF"),
        format!("http://me@edited.example/{number}?sid=1&b=2;a=3"),
        format!("http://edited.example/{number}/?b=2;a=3;sid=1"),
        format!("http://observed.example/slash-{number}?sid=1"),
        format!("http://observed.example/www-{number}?sid=1"),
        format!("http://observed.example/as-it-was-{number}?sid=1"),
    ]
}

#[test]
fn one_scratch_is_enough_for_any_number_of_urls() {
    let rules = RULES.replace("EVIDENCE", EVIDENCE).replace("OBSERVED", &observed(0..501));
    let rules = RuleSet::load(rules.as_bytes()).unwrap();
    let normalizer = Normalizer::compile(&rules);
    let mut scratch = Scratch::default();
    assert_eq!(
        normalizer.normalize_with(b"https://www.example.org/index.php?title=Page_1", &mut scratch),
        Ok(&b"http://example.org/wiki/Page_1"[..]),
        "the rules are at work"
    );
    assert_eq!(
        normalizer.key_with(b"http://example.org/ignored?s=f&id=1", &mut scratch),
        Ok(&b"http://example.org/ignored?id=1&s=*"[..]),
    );
    assert_eq!(
        normalizer.normalize_with(b"http://example.org/thread_7_a.html", &mut scratch),
        Ok(&b"http://example.org/thread/t-7?new"[..]),
    );
    assert_eq!(
        normalizer.normalize_with(b"http://example.org/?a=2&print=1", &mut scratch),
        Ok(&b"http://example.org/?a=2"[..]),
    );
    assert_eq!(
        normalizer.normalize_with(b"https://www.edited.example/index.php?title=A:b&page=3", &mut scratch),
        Ok(&b"http://edited.example/wiki/p-a/b?start=40"[..]),
    );
    assert_eq!(
        normalizer.key_with(b"http://edited.example/A/?q=e%CC%81%3A&s=1", &mut scratch),
        Ok(&b"http://edited.example/a?q=%C3%A9:&s=*"[..]),
    );
    for (url, canonical) in [
        ("http://observed.example/slash-10002?sid=1", "http://observed.example/slash-10002/"),
        ("http://observed.example/www-10004", "http://www.observed.example/www-10004"),
        ("http://observed.example/as-it-was-10006?sid=1", "http://observed.example/as-it-was-10006?sid=1"),
        ("http://observed.example/slash-10007?sid=1", "http://observed.example/slash-10007"),
    ] {
        assert_eq!(normalizer.normalize_with(url.as_bytes(), &mut scratch), Ok(canonical.as_bytes()));
    }
    let mut pass = |urls: &[String]| {
        let mut read = 0;
        for url in urls {
            read += usize::from(normalizer.key_with(url.as_bytes(), &mut scratch).is_ok());
            read += usize::from(normalizer.normalize_with(url.as_bytes(), &mut scratch).is_ok());
        }
        let bytes = || urls.iter().map(|url| url.as_bytes());
        normalizer.each_key(bytes(), &mut scratch, |_, key| read += usize::from(key.is_ok()));
        normalizer.each_canonical(bytes(), &mut scratch, |_, url| read += usize::from(url.is_ok()));
        normalizer.each_both(bytes(), &mut scratch, |_, both| read += usize::from(both.is_ok()));
        read
    };
    // As often as it takes for each kind to come to every place in a batch.
    pass(&(0..64).flat_map(|_| urls(0)).collect::<Vec<_>>());
    let urls: Vec<String> = (1..=500).flat_map(urls).collect();
    assert!(allocations_of(|| drop(urls[0].clone())) > 0, "allocations are counted");
    let mut read = 0;
    assert_eq!(allocations_of(|| read = pass(&urls)), 0, "allocations for {} URLs", urls.len());
    assert_eq!(read, 5 * (urls.len() - 500), "all but one kind are URLs");
}
