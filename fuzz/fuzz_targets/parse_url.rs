/*!
Any bytes as a URL: reading never panics, and reading what was written changes nothing.
*/

#![no_main]

use dedust::{ParsedUrl, site_of};
use dedust::rules::tokenize;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let parsed = ParsedUrl::parse(bytes);
    let mut reused = ParsedUrl::parse("http://user@other.example:81/a?b#!c").expect("this is a URL");
    assert_eq!(reused.parse_from(bytes), parsed.as_ref().map(|_| ()).map_err(|error| *error));
    let Ok(url) = parsed else {
        assert_eq!(reused.as_bytes(), b"", "nothing is left of the URL before");
        return;
    };
    assert_eq!(reused, url, "what a buffer held before does not show");
    assert_eq!(ParsedUrl::parse(url.as_bytes()), Ok(url.clone()), "parts included");

    let site = String::from_utf8_lossy(site_of(url.host()));
    let tokens = tokenize(&url, &site);
    assert!(tokens.is_none_or(|tokens| !tokens.is_empty()), "at least the scheme");
    // A domain that is not the URL's is a mistake of the caller, but no reason to panic.
    let _ = tokenize(&url, "a-domain-that-is-longer-than-most-hosts.example");
});
