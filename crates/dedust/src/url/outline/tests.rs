use super::*;
use crate::delimiters::PADDING;

/// Of each piece its name and its value.
fn pieces<'t>(spans: Spans<'_>, text: &'t [u8]) -> Vec<(&'t str, Option<&'t str>)> {
    let text_of = |bytes: &'t [u8]| std::str::from_utf8(bytes).unwrap();
    spans.map(|span| (text_of(span.name(text)), span.value(text).map(text_of))).collect()
}

#[test]
fn pieces_of_texts_of_any_length() {
    let heads = ["", "a=1&b&c==&", "a;b", "a=1;b=2", "a=1;b", "a=1&b=2;c=3", ";", "=1;b=2", "a=;b==1"];
    let lengths = [0, 1, 50, SHORT - 9, SHORT - 1, SHORT, SHORT + 1, 3 * SHORT];
    let texts = heads.iter().flat_map(|head| {
        lengths.map(|length| "x".repeat(length)).into_iter().flat_map(move |rest| {
            [format!("{head}{rest}"), format!("{head}&z={rest}"), format!("{rest}={head};y")]
        })
    });
    for text in texts {
        let (start, end) = (1, 1 + text.len());
        let alone = format!("?{text}").into_bytes();
        let mut padded = alone.clone();
        padded.resize(end + PADDING, b'&');
        for separators in [*b"&&", *b";;", *b"&;"] {
            let expected = text.split(separators.map(char::from)).map(|piece| match piece.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (piece, None),
            });
            let expected: Vec<_> = expected.collect();
            // With something behind the text, and with nothing.
            for all in [&padded, &alone] {
                let spans = Spans::new(all, start, end, separators, b'=');
                assert_eq!(pieces(spans, all), expected, "{text} by {separators:?}");
                let is_single = expected.len() == 1 && text.len() < SHORT;
                assert_eq!(spans.is_short_and_single(), is_single, "{text} by {separators:?}");
            }
        }
    }
}

/// The segments of a path, its parameters, and whether a slash follows.
fn path(path: &str) -> (Vec<String>, Vec<String>, bool) {
    let url = ParsedUrl::parse(format!("http://a.example{path}")).unwrap();
    let text = |span: Span| String::from_utf8(span.text(url.as_bytes()).to_vec()).unwrap();
    let Some(mut segments) = Outline::of(&url).segments() else { return (vec![], vec![], false) };
    let texts = segments.by_ref().map(text).collect();
    (texts, segments.params().into_iter().flatten().map(text).collect(), segments.has_slash)
}

#[test]
fn a_path_ends_with_parameters_that_all_have_names() {
    let of = |segments: &[&str], params: &[&str], has_slash: bool| {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        (owned(segments), owned(params), has_slash)
    };
    assert_eq!(path("/"), of(&[], &[], false));
    assert_eq!(path("//"), of(&[""], &[], true));
    assert_eq!(path("/a//b/"), of(&["a", "", "b"], &[], true));
    assert_eq!(path("/a;x=1/b;y=2;z=3"), of(&["a;x=1", "b"], &["y=2", "z=3"], false));
    assert_eq!(path("/b;y=2/"), of(&["b"], &["y=2"], true));
    assert_eq!(path("/;y=2"), of(&[""], &["y=2"], false));
    assert_eq!(path("/b;y=2;z"), of(&["b;y=2;z"], &[], false));
    assert_eq!(path("/b;=2"), of(&["b;=2"], &[], false));
    assert_eq!(path("/b;"), of(&["b;"], &[], false));
    let long = "x".repeat(SHORT);
    assert_eq!(path(&format!("/{long}/b;y={long}")), of(&[&long, "b"], &[&format!("y={long}")], false));
}

#[test]
fn queries_are_separated_by_semicolons_if_all_pieces_have_names() {
    let separator = |query: &str| {
        let url = ParsedUrl::parse(format!("http://a.example/?{query}")).unwrap();
        let query = Outline::of(&url).query(Separators::Safe).unwrap();
        (char::from(query.separator()), query.has_semicolon)
    };
    assert_eq!(separator("a=1&b"), ('&', false));
    assert_eq!(separator("a=1;b=2"), (';', true));
    assert_eq!(separator("a=1;b"), ('&', true));
    assert_eq!(separator("=1;b=2"), ('&', true));
    assert_eq!(separator("a=1;b=2&c=3"), ('&', true));
}

#[test]
fn labels_are_found_whatever_the_length_of_the_host() {
    for subdomain in
        ["", "b.", "a.b.", "..", "a-long-label.b.", "longer-than-sixteen-bytes.b.", "a.b.c.d.e.f.g.h.i."]
    {
        let text = format!("http://{subdomain}example.org/");
        let Ok(url) = ParsedUrl::parse(&text) else { continue };
        let labels: Vec<&[u8]> =
            Outline::of(&url).labels("example.org".len()).map(|label| label.text(url.as_bytes())).collect();
        let mut expected: Vec<&[u8]> =
            subdomain.as_bytes().split(|&byte| byte == b'.').rev().skip(1).collect();
        expected.truncate(labels.len().max(expected.len()));
        assert_eq!(labels, expected, "{text}");
        for position in 0..12 {
            let may_have = Outline::of(&url).may_have_label("example.org".len(), position);
            assert!(may_have || labels.len() <= usize::from(position), "{text}");
            let is_exact = subdomain.len() <= LANES;
            assert!(!is_exact || may_have == (labels.len() > usize::from(position)), "{text}");
        }
    }
}

#[test]
fn the_query_of_a_text_ends_before_a_fragment() {
    let query = |text: &'static str| {
        let query = Query::in_text(text.as_bytes())?;
        Some((query.bounds(), pieces(query.params(), text.as_bytes())))
    };
    assert_eq!(query("a.example/b"), None);
    assert_eq!(query("a.example/b#!c?d"), None);
    assert_eq!(query("/b?"), Some(((3, 3), vec![("", None)])));
    assert_eq!(
        query("/b?c=1;d&e=2#!f?g"),
        Some(((3, 12), vec![("c", Some("1")), ("d", None), ("e", Some("2"))]))
    );
    assert_eq!(
        Query::in_text(b"/b?a&b;c")
            .unwrap()
            .params()
            .filter(|param| param.is_after_semicolon(b"/b?a&b;c"))
            .count(),
        1
    );
}
