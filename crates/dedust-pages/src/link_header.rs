/*!
The `rel=canonical` target of HTTP `Link` headers: `<http://a.example/p>; rel="canonical"`.

After RFC 8288. Parameters other than `rel` are passed over, except `anchor`, which makes the link one of another page.
*/

/// The target of the first canonical link of one header, as written.
pub(crate) fn canonical(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let (target, after) = rest[start + 1..].split_once('>')?;
        let (is_canonical, next) = parameters(after);
        if is_canonical && !target.trim().is_empty() {
            return Some(target.trim());
        }
        rest = next;
    }
    None
}

/// Whether the parameters make a canonical link, and what follows the comma after them.
fn parameters(mut rest: &str) -> (bool, &str) {
    let (mut is_canonical, mut has_rel, mut has_anchor) = (false, false, false);
    loop {
        rest = rest.trim_ascii_start();
        if let Some(next) = rest.strip_prefix(',') {
            return (is_canonical && !has_anchor, next);
        }
        rest = rest.trim_start_matches([';', ' ', '\t']);
        let name_end = rest.find(['=', ';', ',']).unwrap_or(rest.len());
        let name = rest[..name_end].trim_ascii();
        rest = &rest[name_end..];
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_ascii_start();
            (value, rest) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => after.split_at(after.find([';', ',']).unwrap_or(after.len())),
            };
        }
        if name.eq_ignore_ascii_case("anchor") {
            has_anchor = true;
        } else if name.eq_ignore_ascii_case("rel") && !has_rel {
            has_rel = true;
            is_canonical = value.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"));
        }
        if rest.is_empty() {
            return (is_canonical && !has_anchor, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn the_canonical_link_is_found_among_others() {
        let header = r#"</s.css>; rel=preload; as="style, x", <http://a.example/?p=1>; rel=shortlink, </p> ; title="a;b" ; REL="x Canonical""#;
        assert_eq!(canonical(header), Some("/p"));
        assert_eq!(canonical("<p>;rel=canonical"), Some("p"));
    }

    #[test]
    fn other_links_are_none() {
        for header in [
            "",
            "<",
            "</p>",
            "</p>; rel=next",
            "<>; rel=canonical",
            "</p>; rel=x; rel=canonical",
            "</p>; rel=canonical; anchor=/q",
            "</p>; rel=\"canonical",
            "</p>;;;,",
        ] {
            let expected = if header.ends_with("\"canonical") { Some("/p") } else { None };
            assert_eq!(canonical(header), expected, "{header}");
        }
    }
}
