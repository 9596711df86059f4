use super::*;
use crate::page::MAX_BLOCKS;

fn html(body: &str) -> Page {
    let source =
        PageSource { body: body.as_bytes(), content_type: Some(b"text/html"), ..PageSource::default() };
    Page::read(&source).unwrap()
}

fn text(body: &str) -> String {
    html(body).text
}

fn at(url: &str, body: &str) -> Page {
    Page::read(&PageSource { url: url.as_bytes(), body: body.as_bytes(), ..PageSource::default() }).unwrap()
}

#[test]
fn title_and_text_are_read() {
    let page = html(
        "<!doctype html><html><head><title> A &amp;\n B </title><style>p { x: y }</style>\
         <script>if (a < b) document.write('<p>no</p>')</script></head>\
         <body class=x><!-- no --><p>One&nbsp;&eacute;<b>2</b>3</p><p>four<br>five</body></html>",
    );
    assert_eq!((page.title(), page.text()), ("A & B", "One é23 four five"));
}

#[test]
fn what_no_reader_sees_is_left_out() {
    assert_eq!(text("a<noscript><p>no</p></noscript><template>no<p>no</template>b"), "a b");
    assert_eq!(text("a<template><template>no</template>no</template>b"), "a b");
    assert_eq!(text("a</template>b<iframe>no</iframe><textarea><i>yes</textarea>"), "a b <i>yes");
    assert_eq!(text("a<script>no"), "a");
    assert_eq!(text("a<script/>no</script>b"), "a b");
    assert_eq!(text("a<div hidden>no<p>no</p></div>b"), "a b");
}

#[test]
fn the_first_title_counts() {
    let page = html("<title>One</title><body>text<svg><title>Two</title></svg>");
    assert_eq!((page.title(), page.text()), ("One", "text"));
    assert_eq!(html("no title").title(), "");
}

#[test]
fn the_encoding_is_found() {
    let read = |body: &[u8], kind: &str| {
        let source = PageSource { body, content_type: Some(kind.as_bytes()), ..PageSource::default() };
        Page::read(&source).map(|page| page.text)
    };
    assert_eq!(read(b"<p>caf\xe9", "text/html; charset=ISO-8859-1").unwrap(), "café");
    assert_eq!(read(b"<p>caf\xe9", "text/html; charset=nonsense").unwrap(), "café");
    assert_eq!(read(b" a  <b>\n", "text/plain").unwrap(), "a <b>");
    assert_eq!(read(b"<p>a", "Application/XHTML+XML").unwrap(), "a");
    assert_eq!(read(b"a", "image/png"), None);
}

#[test]
fn without_a_type_markup_is_told_by_its_first_byte() {
    let read = |body| Page::read(&PageSource { body, ..PageSource::default() }).map(|page| page.text);
    assert_eq!(read(b"\n<p>a".as_slice()).unwrap(), "a");
    assert_eq!(read(b"a"), None);
}

#[test]
fn canonical_links_are_resolved() {
    let canonical = |body: &str| at("http://a.example/x/y?z", body).canonical;
    let link = "<link href=' p?id=1 ' rel='alternate Canonical'>";
    assert_eq!(canonical(&format!("<head>{link}")).unwrap(), "http://a.example/x/p?id=1");
    assert_eq!(canonical(&format!("<base href=/b/>{link}")).unwrap(), "http://a.example/b/p?id=1");
    assert_eq!(canonical("<link rel=canonical href=//b.example>").unwrap(), "http://b.example/");
    assert_eq!(canonical(&format!("{link}{link}")).unwrap(), "http://a.example/x/p?id=1");
}

#[test]
fn canonical_links_that_cannot_be_meant_are_none() {
    let canonical = |body: &str| at("http://a.example/x", body).canonical;
    assert_eq!(canonical("<link rel=canonical href=/a><link rel=canonical href=/b>"), None);
    assert_eq!(canonical("<body><link rel=canonical href=/comment>"), None);
    assert_eq!(canonical("<p><link rel=canonical href=/comment>"), None);
    assert_eq!(canonical("<link rel=canonical href=''><link rel=canonical href='javascript:0'>"), None);
}

#[test]
fn headers_say_where_a_page_lives_too() {
    let source = PageSource {
        url: b"http://a.example/x",
        links: &[b"</s>; rel=shortlink", b"\xff", b"</p>; rel=canonical"],
        refresh: Some(b"0; url=/next"),
        body: b"<p>",
        ..PageSource::default()
    };
    let page = Page::read(&source).unwrap();
    assert_eq!(page.canonical(), Some("http://a.example/p"));
    assert_eq!(page.refresh(), Some("http://a.example/next"));
    let body = b"<link rel=canonical href=/own>";
    assert_eq!(Page::read(&PageSource { body, ..source }).unwrap().canonical(), Some("http://a.example/own"));
}

#[test]
fn a_refresh_leads_elsewhere_or_nowhere() {
    let refresh = |content: &str| {
        at("http://a.example/x", &format!("<meta http-equiv=Refresh content=\"{content}\">")).refresh
    };
    assert_eq!(refresh("0; url='next'").unwrap(), "http://a.example/next");
    assert_eq!(refresh("0; url=http://a.example/x"), None);
    assert_eq!(refresh("300"), None);
}

#[test]
fn anything_can_be_read() {
    for body in
        ["", "<", "<p", "&", "&#xffffffff;", "<![CDATA[a]]>", "<title>", "\0<b>\0", "<!--", "</", "<a b='"]
    {
        html(body);
    }
}

#[test]
fn deep_nesting_and_endless_attributes_are_read_in_linear_time() {
    let deep = format!("{}text{}", "<div class=a>".repeat(200_000), "</div>".repeat(200_000));
    assert_eq!(text(&deep), "text");
    let unclosed = "<ul><li>x".repeat(100_000);
    assert_eq!(html(&unclosed).blocks.len(), MAX_BLOCKS);
    assert_eq!(text(&unclosed).len(), 2 * 100_000 - 1);
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=1")).collect();
    assert_eq!(text(&format!("<p{attributes}>text")), "text");
    assert_eq!(text(&"</x>".repeat(200_000)), "");
}

#[test]
fn a_long_title_is_cut_between_characters() {
    let page = html(&format!("<title>{}</title>", "é".repeat(10_000)));
    assert!(page.title().len() < 5_000 && page.title().starts_with("éé"));
}
