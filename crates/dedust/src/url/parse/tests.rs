/*!
Whole URLs: parts, errors, hostile inputs, and properties that hold for any bytes.
*/

use proptest::prelude::*;

use super::*;

fn parsed(input: impl AsRef<[u8]>) -> ParsedUrl {
    ParsedUrl::parse(input).unwrap()
}

fn safe(input: &str) -> String {
    String::from_utf8(parsed(input).as_bytes().to_vec()).unwrap()
}

#[test]
fn every_part_is_found() {
    let url = parsed("HTTPS://User:Pw@Example.com:8443/a/./b;c?x=1&y#!/state");
    assert_eq!(url.as_bytes(), b"https://User:Pw@example.com:8443/a/b;c?x=1&y#!/state");
    assert_eq!(url.scheme(), b"https");
    assert_eq!(url.userinfo(), Some(&b"User:Pw"[..]));
    assert_eq!(url.host(), b"example.com");
    assert!(url.host_is_name());
    assert_eq!(url.port(), Some(&b"8443"[..]));
    assert_eq!(url.path(), b"/a/b;c");
    assert_eq!(url.query(), Some(&b"x=1&y"[..]));
    assert_eq!(url.hashbang(), Some(&b"/state"[..]));
    assert!(url.is_hierarchical());
}

#[test]
fn absent_parts_are_none() {
    let url = parsed("http://example.com");
    assert_eq!(url.as_bytes(), b"http://example.com/");
    assert_eq!((url.userinfo(), url.port(), url.query(), url.hashbang()), (None, None, None, None));
    assert_eq!(url.path(), b"/");
    let url = parsed("http://example.com/?#!");
    assert_eq!((url.query(), url.hashbang()), (Some(&b""[..]), Some(&b""[..])));
}

#[test]
fn addresses_are_no_names() {
    for (url, host) in
        [("http://127.1/", "127.0.0.1"), ("http://[::1]:8/", "[::1]"), ("git://10.0.0.1/", "10.0.0.1")]
    {
        let url = parsed(url);
        assert_eq!(url.host(), host.as_bytes());
        assert!(!url.host_is_name());
        assert!(url.is_hierarchical());
    }
}

#[test]
fn urls_without_a_host_are_not_hierarchical() {
    for url in ["mailto:A@b.example", "data:,x?y", "file:///etc/hosts", "urn:a:b", "x:/a/b", "x:"] {
        let parsed = parsed(url);
        assert_eq!(parsed.as_bytes(), url.as_bytes());
        assert_eq!(parsed.host(), b"");
        assert_eq!((parsed.userinfo(), parsed.port()), (None, None));
        assert!(!parsed.is_hierarchical() && !parsed.host_is_name());
    }
    assert_eq!(parsed("data:,x?y").path(), b",x");
    assert_eq!(parsed("data:,x?y").query(), Some(&b"y"[..]));
}

#[test]
fn errors_leave_an_empty_value() {
    let mut url = parsed("http://u@example.com:1/a?b#!c");
    for (input, error) in [
        ("example.com/a", ParseUrlError::MissingScheme),
        ("//example.com/a", ParseUrlError::MissingScheme),
        ("1http://a/", ParseUrlError::MissingScheme),
        (":", ParseUrlError::MissingScheme),
        ("", ParseUrlError::MissingScheme),
        ("http://", ParseUrlError::EmptyHost),
        ("http:///", ParseUrlError::EmptyHost),
        ("http://u@/", ParseUrlError::EmptyHost),
        ("http://:80/", ParseUrlError::EmptyHost),
        ("http://a b/", ParseUrlError::InvalidHost),
        ("http://[::1/", ParseUrlError::InvalidHost),
        ("http://1.2.3.256/", ParseUrlError::InvalidHost),
        ("http://a:b/", ParseUrlError::InvalidPort),
        ("http://a:70000/", ParseUrlError::InvalidPort),
    ] {
        assert_eq!(url.parse_from(input.as_bytes()), Err(error), "{input}");
        assert_eq!(url, ParsedUrl::default());
        assert_eq!((url.scheme(), url.host(), url.path()), (&b""[..], &b""[..], &b""[..]));
        assert_eq!((url.userinfo(), url.port(), url.query(), url.hashbang()), (None, None, None, None));
        assert!(!url.is_hierarchical());
    }
    url.parse_from(b"http://a/").unwrap();
    assert_eq!(url, parsed("http://a/"));
}

#[test]
fn hostile_inputs_are_survived() {
    let long_query = format!("http://a.example/?q={}", "x".repeat(1 << 20));
    assert_eq!(safe(&long_query), long_query);
    let parameters: Vec<_> = (0..10_000).map(|n| format!("p{n}={n}")).collect();
    let many_parameters = format!("http://a.example/?{}", parameters.join("&"));
    assert_eq!(safe(&many_parameters), many_parameters);
    assert_eq!(safe("http:///x"), "http://x/");
    assert_eq!(safe("http://a.example/\0?\0#!\0x"), "http://a.example/%00?%00#!%00x");
    assert_eq!(safe("http://a.example/%/%z/%1?%%%"), "http://a.example/%/%z/%1?%%%");
    assert_eq!(safe(&format!("http://a.example{}", "/..".repeat(50_000))), "http://a.example/");
    assert_eq!(
        safe(&format!("http://a.example{}{}", "/b".repeat(50_000), "/..".repeat(50_000))),
        "http://a.example/"
    );
    let too_long = vec![b'a'; MAX_INPUT_BYTES + 1];
    let error = ParsedUrl::parse(&too_long).unwrap_err();
    assert_eq!(error, ParseUrlError::TooLong { length: MAX_INPUT_BYTES + 1 });
    assert_eq!(error.to_string(), "url of 67108865 bytes, expected at most 67108864");
}

#[test]
fn tabs_and_line_breaks_vanish_wherever_they_are() {
    assert_eq!(safe(" h\tt\ntp:/\r/a\t.example:8\n0/%4\t1?\r%4\n1#\t!x\n"), "http://a.example/A?A#!x");
    assert_eq!(safe("http://a.example/x#\ty"), "http://a.example/x");
    assert_eq!(safe("http://a.example/\t"), "http://a.example/");
}

/// Pieces from which URLs are put together that touch every decision.
fn url_like() -> impl Strategy<Value = Vec<u8>> {
    let scheme = prop::sample::select(vec![
        "http://",
        "https://",
        "HTTP:",
        "http:/",
        "http:\\\\",
        "ftp://",
        "ws:",
        "file:",
        "file://",
        "file:///",
        "x:",
        "x:/",
        "x://",
        "mailto:",
        "data:",
        "",
    ]);
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "a", "B", "example", ".com", "/", "/", "//", "\\", ".", "..", "/.", "/../", "%2e", "%2E%2e/", "?", "&", "=", "#",
            "#!", "@", ":", ":80", ":0443", ":21", "%", "%2", "%4", "%25", "%34", "%35", "%41", "%c3%a9", "%2f", "%00", " ",
            "\t", "\n", "'", "\"", "<", ">", "`", "{", "}", "^", "|", "[", "]", "[::1]", "127.1", "0x7f", "1", "08", ";", "+",
            "ü", "ß", "。", "\u{AD}", "日本", "xn--", "xn--bcher-kva", "C:", "C|", "localhost", "\u{7F}", "\u{1}", "~", "!", "*",
        ]).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::sample::select(vec![&b"\xFF"[..], b"\xC3", b"\xA9", b"\xE2\x82", b"\xF0\x9F"]).prop_map(<[u8]>::to_vec),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    (scheme, prop::collection::vec(piece, 0..16)).prop_map(|(scheme, pieces)| {
        let mut url = scheme.as_bytes().to_vec();
        url.extend(pieces.concat());
        url
    })
}

fn normalizing_twice_changes_nothing(input: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(once) = ParsedUrl::parse(input) {
        let twice = ParsedUrl::parse(once.as_bytes());
        prop_assert_eq!(twice.as_ref(), Ok(&once), "{}", input.escape_ascii());
    }
    Ok(())
}

/// The accessors put together again.
fn joined(url: &ParsedUrl) -> Vec<u8> {
    let mut joined = [url.scheme(), b":"].concat();
    let has_authority = url.as_bytes()[joined.len()..].starts_with(b"//");
    joined.extend_from_slice(if has_authority { b"//" } else { b"" });
    for (before, part, after) in [
        ("", url.userinfo(), "@"),
        ("", Some(url.host()), ""),
        (":", url.port(), ""),
        ("", Some(url.path()), ""),
        ("?", url.query(), ""),
        ("#!", url.hashbang(), ""),
    ] {
        if let Some(part) = part {
            joined.extend([before.as_bytes(), part, after.as_bytes()].concat());
        }
    }
    joined
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_bytes_are_stable(input in prop::collection::vec(any::<u8>(), 0..64)) {
        normalizing_twice_changes_nothing(&input)?;
    }

    #[test]
    fn any_bytes_after_a_scheme_are_stable(
        scheme in prop::sample::select(vec!["http://a/", "http://a/?", "http://a/#!", "http://", "x:", "x://", "file:"]),
        tail in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        normalizing_twice_changes_nothing(&[scheme.as_bytes(), &tail].concat())?;
    }

    #[test]
    fn url_like_bytes_are_stable(input in url_like()) {
        normalizing_twice_changes_nothing(&input)?;
    }

    #[test]
    fn escapes_are_stable(tail in "[%0-9A-Fa-f]{0,12}", before in "http://a/[?]?") {
        normalizing_twice_changes_nothing(format!("{before}{tail}").as_bytes())?;
    }

    #[test]
    fn parts_make_up_the_whole(input in url_like()) {
        if let Ok(url) = ParsedUrl::parse(&input) {
            prop_assert_eq!(joined(&url).escape_ascii().to_string(), url.as_bytes().escape_ascii().to_string());
            prop_assert!(!url.is_hierarchical() || url.path().starts_with(b"/"));
        }
    }

    #[test]
    fn a_reused_value_is_as_good_as_new(first in url_like(), second in url_like()) {
        let mut url = ParsedUrl::default();
        let _ = url.parse_from(&first);
        let result = url.parse_from(&second).map(|()| url.clone());
        prop_assert_eq!(result, ParsedUrl::parse(&second));
    }

    /// The `url` crate reads web URLs by the same standard, except for what we do on top.
    #[test]
    fn web_urls_are_read_like_the_url_crate(input in url_like()) {
        let Ok(text) = str::from_utf8(&input) else { return Ok(()) };
        let lower = text.trim_start_matches(|c: char| c <= ' ').to_ascii_lowercase();
        // That crate refuses labels in broken punycode, which the standard has come to accept in ASCII hosts.
        if !lower.starts_with("http") || lower.contains("xn--") {
            return Ok(());
        }
        match (ParsedUrl::parse(text), ::url::Url::parse(text)) {
            (Ok(ours), Ok(theirs)) => {
                let host = theirs.host_str().unwrap_or_default();
                let undotted = host.strip_suffix('.').filter(|host| !host.is_empty() && !host.ends_with('.'));
                prop_assert_eq!(str::from_utf8(ours.host()), Ok(undotted.unwrap_or(host)));
                let port = theirs.port().map(|port| port.to_string().into_bytes());
                prop_assert_eq!(ours.port(), port.as_deref());
                // What is left to do on theirs makes it ours. That crate sees drive letters in web URLs too.
                if !theirs.path().contains([':', '|']) {
                    prop_assert_eq!(ParsedUrl::parse(theirs.as_str()), Ok(ours));
                }
            }
            (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(false, "{text:?}: {ours:?} but {theirs:?}"),
        }
    }
}
