/*!
Host to site: the registrable domain, within which rules are learned and applied.
*/

use super::ParsedUrl;
use super::outline::Outline;

/// The part of `host` that names its site: the registrable domain by the public suffix list, or the whole
/// host for an address, a public suffix itself or a name the list knows nothing of.
///
/// ```
/// assert_eq!(dedust::site_of(b"www.forum.example.co.uk"), b"example.co.uk");
/// assert_eq!(dedust::site_of(b"127.0.0.1"), b"127.0.0.1");
/// ```
pub fn site_of(host: &[u8]) -> &[u8] {
    if host.last().is_none_or(|byte| byte.is_ascii_digit() || *byte == b']') {
        return host;
    }
    psl::domain(host).map_or(host, |domain| domain.as_bytes())
}

/// Appends `url`, whose site has a name of `site_len` bytes, as a URL of the site `other`: its pages are there under the same paths.
///
/// ```
/// let url = dedust::ParsedUrl::parse("http://me@en.old.example/a?b=1")?;
/// let mut moved = Vec::new();
/// dedust::support::write_moved(&url, "old.example".len(), b"new.example", &mut moved);
/// assert_eq!(moved, b"http://me@en.new.example/a?b=1");
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
pub fn write_moved(url: &ParsedUrl, site_len: usize, other: &[u8], out: &mut Vec<u8>) {
    let (bytes, host_end) = (url.as_bytes(), url.parts().host_end as usize);
    out.extend_from_slice(&bytes[..host_end.saturating_sub(site_len)]);
    out.extend_from_slice(other);
    out.extend_from_slice(&bytes[host_end..]);
}

/// The first segment of the path of a URL, which tells the sections of many sites apart.
///
/// ```
/// let url = dedust::ParsedUrl::parse("http://example.org/wiki/A?b=1")?;
/// assert_eq!(dedust::support::first_segment(&url), b"wiki");
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
pub fn first_segment(url: &ParsedUrl) -> &[u8] {
    Outline::of(url).first_segment()
}

/// Whether sub-domains of `site` belong to it too.
pub fn has_subdomains(site: &[u8]) -> bool {
    !site.last().is_none_or(|byte| byte.is_ascii_digit() || *byte == b']') && psl::domain(site).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_suffix_is_a_site_without_subdomains() {
        assert_eq!(site_of(b"github.io"), b"github.io");
        assert!(!has_subdomains(b"github.io"));
        assert_eq!(site_of(b"me.github.io"), b"me.github.io");
        assert!(has_subdomains(b"me.github.io"));
    }

    #[test]
    fn unlisted_names_still_have_sites() {
        assert_eq!(site_of(b"www.docs.example.test"), b"example.test");
        assert_eq!(site_of(b"localhost"), b"localhost");
        assert_eq!(site_of(b"[::1]"), b"[::1]");
        assert_eq!(site_of(b"www3288.com"), b"www3288.com");
    }
}
