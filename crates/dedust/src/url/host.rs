/*!
Hosts: names in lower-case punycode, IP addresses in their shortest usual form.

Takes the bytes between user information and port, appends the normalized host to a buffer. Follows the WHATWG URL
Standard, with one exception: a name under a special scheme (`http`, ...) loses one trailing dot. To DNS both are the same
name. A server could tell them apart by the `Host` header, but pages with the dot are copies that a crawler does not want.

Hosts of other schemes have no known meaning and keep their letter case and their dots: RFC 3986 has no case in any
host, but the host of `ipfs://QmYwAP...` names other content in lower case. Asks no network and knows no public suffixes.
*/

use std::borrow::Cow;
use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::ParseUrlError;
use super::escape::{self, Copier};
use super::scan;

/// How a host is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    Name,
    Address,
}

/// Whether `host`, made of `a-z 0-9 - . _` only, is its own normal form.
#[inline]
pub(super) fn is_normal_name(host: &[u8]) -> bool {
    match host.last() {
        None | Some(b'.') => false,
        // No number ends like this, whether decimal or hexadecimal.
        Some(b'g'..=b'w' | b'y' | b'z') => true,
        Some(_) => !last_label(host)[0].is_ascii_digit(),
    }
}

/// Appends the normal form of a host under a special scheme.
pub(super) fn write_special(host: &[u8], out: &mut Vec<u8>) -> Result<HostKind, ParseUrlError> {
    if let [b'[', inside @ .., b']'] = host {
        write_ipv6(inside, out)?;
        return Ok(HostKind::Address);
    }
    let decoded = decode_escapes(host);
    let start = out.len();
    if decoded.is_ascii() {
        if decoded.iter().any(|&byte| is_forbidden_in_domain(byte)) {
            return Err(ParseUrlError::InvalidHost);
        }
        out.extend_from_slice(&decoded);
        out[start..].make_ascii_lowercase();
    } else {
        let domain = idna::domain_to_ascii_cow(&decoded, idna::AsciiDenyList::URL)
            .map_err(|_| ParseUrlError::InvalidHost)?;
        out.extend_from_slice(domain.as_bytes());
    }
    // A second dot stays, so that a second pass has nothing left to remove.
    if let [.., before, b'.'] = out[start..]
        && before != b'.'
    {
        out.pop();
    }
    if out.len() == start {
        return Err(ParseUrlError::InvalidHost);
    }
    if !ends_in_number(&out[start..]) {
        return Ok(HostKind::Name);
    }
    let address = parse_ipv4(&out[start..]).ok_or(ParseUrlError::InvalidHost)?;
    out.truncate(start);
    write!(out, "{address}").expect("a vector takes any number of bytes");
    Ok(HostKind::Address)
}

/// Appends the normal form of a host under a scheme about whose hosts nothing is known.
pub(super) fn write_opaque(host: &[u8], out: &mut Vec<u8>) -> Result<HostKind, ParseUrlError> {
    if let [b'[', inside @ .., b']'] = host {
        write_ipv6(inside, out)?;
        return Ok(HostKind::Address);
    }
    if host.iter().any(|&byte| byte == 0 || is_forbidden_delimiter(byte)) {
        return Err(ParseUrlError::InvalidHost);
    }
    let start = out.len();
    let mut copier = Copier::new(host, out);
    let end = copier.component::<{ scan::OPAQUE }>(0).end;
    copier.flush(end);
    let is_address = str::from_utf8(&out[start..]).is_ok_and(|name| name.parse::<Ipv4Addr>().is_ok());
    Ok(if is_address { HostKind::Address } else { HostKind::Name })
}

fn decode_escapes(host: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'%', host).is_none() {
        return Cow::Borrowed(host);
    }
    let mut decoded = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some(&first) = rest.first() {
        let escape = escape::decode_escape(rest);
        decoded.push(escape.unwrap_or(first));
        rest = &rest[if escape.is_some() { 3 } else { 1 }..];
    }
    Cow::Owned(decoded)
}

fn is_forbidden_delimiter(byte: u8) -> bool {
    b" #/:<>?@[\\]^|".contains(&byte)
}

fn is_forbidden_in_domain(byte: u8) -> bool {
    byte.is_ascii_control() || byte == b'%' || is_forbidden_delimiter(byte)
}

/// Empty if `host` is empty or ends with a dot.
fn last_label(host: &[u8]) -> &[u8] {
    host.rsplit(|&byte| byte == b'.').next().unwrap_or_default()
}

/// Whether the last label makes this an IPv4 address or an error, but never a name.
fn ends_in_number(host: &[u8]) -> bool {
    match last_label(host) {
        [] => false,
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        digits => digits.iter().all(u8::is_ascii_digit),
    }
}

/// One to four numbers, decimal, octal or hexadecimal; the last one fills all bytes that are left.
fn parse_ipv4(host: &[u8]) -> Option<Ipv4Addr> {
    let mut address: u32 = 0;
    let mut labels = host.split(|&byte| byte == b'.').peekable();
    for shift in [24, 16, 8, 0] {
        let number = parse_ipv4_number(labels.next()?)?;
        if labels.peek().is_none() {
            let limit = 1_u64 << (shift + 8);
            return (number < limit).then(|| Ipv4Addr::from_bits(address | number as u32));
        }
        address |= u32::from(u8::try_from(number).ok()?) << shift;
    }
    None
}

fn parse_ipv4_number(label: &[u8]) -> Option<u64> {
    let (digits, radix) = match label {
        [] => return None,
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] => (digits, 8),
        digits => (digits, 10),
    };
    digits.iter().try_fold(0_u64, |number, &digit| {
        let value = char::from(digit).to_digit(radix)?;
        // Too large is too large, however many digits follow.
        Some(number.saturating_mul(u64::from(radix)).saturating_add(u64::from(value)))
    })
}

fn write_ipv6(inside: &[u8], out: &mut Vec<u8>) -> Result<(), ParseUrlError> {
    let text = str::from_utf8(inside).map_err(|_| ParseUrlError::InvalidHost)?;
    let address: Ipv6Addr = text.parse().map_err(|_| ParseUrlError::InvalidHost)?;
    // URLs show the embedded IPv4 address in hexadecimal, unlike `Display`.
    if address.to_ipv4_mapped().is_some() {
        let [.., high, low] = address.segments();
        write!(out, "[::ffff:{high:x}:{low:x}]")
    } else {
        write!(out, "[{address}]")
    }
    .expect("a vector takes any number of bytes");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn special(host: impl AsRef<[u8]>) -> Option<String> {
        let mut out = Vec::new();
        write_special(host.as_ref(), &mut out).ok()?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn names() {
        assert_eq!(special("Example.COM.").as_deref(), Some("example.com"));
        assert_eq!(special("example.com..").as_deref(), Some("example.com.."));
        assert_eq!(special("..").as_deref(), Some(".."));
        assert_eq!(special("b%C3%BCcher.DE").as_deref(), Some("xn--bcher-kva.de"));
        assert_eq!(special("bücher。de。").as_deref(), Some("xn--bcher-kva.de"));
        assert_eq!(special("XN--BCHER-KVA.de").as_deref(), Some("xn--bcher-kva.de"));
        assert_eq!(special("under_score.a-b").as_deref(), Some("under_score.a-b"));
        for wrong in ["a b", "a%b", "a%00b", "a<b", "\u{AD}", "a\u{FFFD}", "a]", "[::1]x"] {
            assert_eq!(special(wrong), None, "{wrong}");
        }
        assert_eq!(special(b"a\xFFb"), None);
    }

    #[test]
    fn ipv4_addresses() {
        for (host, address) in [
            ("127.1", "127.0.0.1"),
            ("0x7f.1", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("1.2.3.4.", "1.2.3.4"),
            ("0x.0x.0", "0.0.0.0"),
            ("１２７.0.0.1", "127.0.0.1"),
        ] {
            assert_eq!(special(host).as_deref(), Some(address), "{host}");
        }
        for wrong in
            ["256.0.0.1", "1.2.3.4.5", "foo.1", "1..2", "0x100000000", "1.2.3.08", "99999999999999999999"]
        {
            assert_eq!(special(wrong), None, "{wrong}");
        }
        assert_eq!(special("1.2.3.4a").as_deref(), Some("1.2.3.4a"));
    }

    #[test]
    fn ipv6_addresses() {
        assert_eq!(special("[2001:DB8:0:0::1]").as_deref(), Some("[2001:db8::1]"));
        assert_eq!(special("[::FFFF:127.0.0.1]").as_deref(), Some("[::ffff:7f00:1]"));
        assert_eq!(special("[1:0:1:0:1:0:1:0]").as_deref(), Some("[1:0:1:0:1:0:1:0]"));
        for wrong in ["[]", "[::1", "[fe80::1%25eth0]", "[1:2]", "[::127.0.0.01]"] {
            assert_eq!(special(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn opaque_hosts_stay_as_they_are() {
        let opaque = |host: &str| {
            let mut out = Vec::new();
            write_opaque(host.as_bytes(), &mut out).ok().map(|kind| (String::from_utf8(out).unwrap(), kind))
        };
        assert_eq!(opaque("Repo.Example."), Some(("Repo.Example.".into(), HostKind::Name)));
        assert_eq!(opaque("H%4fst"), Some(("H%4fst".into(), HostKind::Name)));
        assert_eq!(opaque("Ü"), Some(("%C3%9C".into(), HostKind::Name)));
        assert_eq!(opaque("10.0.0.1"), Some(("10.0.0.1".into(), HostKind::Address)));
        assert_eq!(opaque("a|b"), None);
    }
}
