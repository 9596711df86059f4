/*!
Any bytes as a page: reading never panics, what is kept is text, and a page with itself for company has the same main
text however often it is asked for. The first byte chooses what the server says of the type.
*/

#![no_main]

use dedust_pages::{Furniture, Page, PageSample, PageSource};
use libfuzzer_sys::fuzz_target;

const TYPES: [Option<&[u8]>; 6] = [
    None,
    Some(b"text/html"),
    Some(b"text/html; charset=utf-8"),
    Some(b"text/html; charset=shift_jis"),
    Some(b"application/xhtml+xml; charset=iso-2022-jp"),
    Some(b"text/plain"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    let content_type = TYPES[usize::from(first) % TYPES.len()];
    let header = &body[..body.len().min(64)];
    let url = b"http://a.example/x/y?z";
    let source = PageSource { url, content_type, links: &[header], refresh: Some(header), body };
    let Some(page) = Page::read(&source) else { return };
    assert_eq!(page.text(), page.text().split_whitespace().collect::<Vec<_>>().join(" "));
    let blocks =
        |furniture: &Furniture| furniture.main_text(&page).blocks().map(str::to_owned).collect::<Vec<_>>();
    let all = blocks(&Furniture::default());
    let mut sample = PageSample::default();
    (0..10).for_each(|_| sample.add(&page));
    let furniture = sample.furniture();
    assert!(blocks(&furniture).len() <= all.len());
    assert_eq!(furniture.main_text(&page).fingerprint(), furniture.main_text(&page).fingerprint());
});
