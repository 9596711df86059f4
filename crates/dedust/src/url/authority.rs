/*!
The authority of a URL: user information, host and port, or the drive letter that `file:` URLs have instead.

Takes a [`Copier`] at the first byte of the authority, records where its parts lie in the buffer and returns the
index of the path. The host itself is left to [`host`].
*/

use super::ParseUrlError;
use super::escape::Copier;
use super::host::{self, HostKind};
use super::parse::Parts;
use super::scan;

/// Turns the slashes at `at`, of either kind and any number, into two; returns the index after them.
#[inline]
pub(super) fn two_slashes(copier: &mut Copier<'_>, at: usize) -> usize {
    match copier.input[at..] {
        [b'/', b'/', next, ..] if !is_slash(next) => at + 2,
        _ => {
            let rest = &copier.input[at..];
            let authority = at + rest.iter().position(|&byte| !is_slash(byte)).unwrap_or(rest.len());
            copier.replace(at, authority, b"//");
            authority
        }
    }
}

pub(super) fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// Reads from the user information to the port; returns the index of the path.
#[inline]
pub(super) fn read_special(
    copier: &mut Copier<'_>,
    at: usize,
    default_port: u16,
    parts: &mut Parts,
) -> Result<usize, ParseUrlError> {
    let end = scan::skip_plain::<{ scan::HOST }>(copier.input, at);
    let is_whole = matches!(copier.input.get(end), None | Some(b'/' | b'?' | b'#'));
    if !is_whole || !host::is_normal_name(&copier.input[at..end]) {
        return read(copier, at, Some(default_port), parts);
    }
    parts.host_start = copier.position(at);
    parts.host_end = copier.position(end);
    parts.host_is_name = true;
    parts.path_start = parts.host_end;
    Ok(end)
}

/// The general case of an authority at `at`; special schemes are those with a default port.
pub(super) fn read(
    copier: &mut Copier<'_>,
    at: usize,
    default_port: Option<u16>,
    parts: &mut Parts,
) -> Result<usize, ParseUrlError> {
    let is_special = default_port.is_some();
    let rest = &copier.input[at..];
    let is_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#') || (is_special && *byte == b'\\');
    let authority = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
    let end = at + authority.len();
    copier.replace(at, end, b"");
    let out = &mut *copier.out;

    let (userinfo, address) = match memchr::memrchr(b'@', authority) {
        Some(sign) => (Some(&authority[..sign]), &authority[sign + 1..]),
        None => (None, authority),
    };
    if let Some(userinfo) = userinfo {
        write_userinfo(userinfo, out);
    }

    let host_length = match memchr::memchr(b']', address) {
        Some(bracket) if address[0] == b'[' => bracket + 1,
        _ => memchr::memchr(b':', address).unwrap_or(address.len()),
    };
    let (host, port) = address.split_at(host_length);
    let port = match port {
        [] => None,
        [b':', digits @ ..] => Some(digits),
        _ => return Err(ParseUrlError::InvalidHost),
    };
    if host.is_empty() && (is_special || userinfo.is_some() || port.is_some()) {
        return Err(ParseUrlError::EmptyHost);
    }
    parts.host_start = out.len() as u32;
    let kind = if is_special { host::write_special(host, out)? } else { host::write_opaque(host, out)? };
    parts.host_end = out.len() as u32;
    parts.host_is_name = kind == HostKind::Name && !host.is_empty();
    if let Some(digits) = port {
        write_port(digits, default_port, out)?;
    }
    parts.path_start = out.len() as u32;
    Ok(end)
}

fn write_userinfo(userinfo: &[u8], out: &mut Vec<u8>) {
    let (name, password) = match memchr::memchr(b':', userinfo) {
        Some(colon) => (&userinfo[..colon], &userinfo[colon + 1..]),
        None => (userinfo, &userinfo[..0]),
    };
    if name.is_empty() && password.is_empty() {
        return;
    }
    write_userinfo_part(name, out);
    if !password.is_empty() {
        out.push(b':');
        write_userinfo_part(password, out);
    }
    out.push(b'@');
}

fn write_userinfo_part(part: &[u8], out: &mut Vec<u8>) {
    let mut copier = Copier::new(part, out);
    let end = copier.component::<{ scan::USERINFO }>(0).end;
    copier.flush(end);
}

/// Appends `:` and the port without leading zeros, unless it says nothing.
fn write_port(digits: &[u8], default_port: Option<u16>, out: &mut Vec<u8>) -> Result<(), ParseUrlError> {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let mut port: u16 = 0;
    for &digit in &digits[zeros..] {
        if !digit.is_ascii_digit() {
            return Err(ParseUrlError::InvalidPort);
        }
        let shifted = port.checked_mul(10).and_then(|port| port.checked_add(u16::from(digit - b'0')));
        port = shifted.ok_or(ParseUrlError::InvalidPort)?;
    }
    if digits.is_empty() || Some(port) == default_port {
        return Ok(());
    }
    out.push(b':');
    // Zero is a port too.
    out.extend_from_slice(&digits[zeros.min(digits.len() - 1)..]);
    Ok(())
}

/// Reads what stands between `file:` and the path; returns the index of the path.
pub(super) fn read_file(
    copier: &mut Copier<'_>,
    at: usize,
    parts: &mut Parts,
) -> Result<usize, ParseUrlError> {
    let rest = &copier.input[at..];
    let (authority, path) = match rest {
        [first, second, rest @ ..] if is_slash(*first) && is_slash(*second) => {
            let length = rest.iter().position(|&byte| is_slash(byte) || matches!(byte, b'?' | b'#'));
            match &rest[..length.unwrap_or(rest.len())] {
                // `file://C:/` has a drive where others have a host.
                [letter, b':' | b'|'] if letter.is_ascii_alphabetic() => (&b""[..], at + 2),
                authority => (authority, at + 2 + authority.len()),
            }
        }
        _ => (&b""[..], at),
    };
    copier.replace(at, path, b"//");
    let out = &mut *copier.out;
    parts.host_start = out.len() as u32;
    if !authority.is_empty() {
        let kind = host::write_special(authority, out)?;
        if out[parts.host_start as usize..] == *b"localhost" {
            out.truncate(parts.host_start as usize);
        } else {
            parts.host_is_name = kind == HostKind::Name;
        }
    }
    parts.host_end = out.len() as u32;
    parts.path_start = parts.host_end;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_lose_zeros_and_defaults() {
        let port = |digits: &str| {
            let mut out = Vec::new();
            write_port(digits.as_bytes(), Some(80), &mut out).map(|()| String::from_utf8(out).unwrap())
        };
        for (digits, expected) in
            [("", ""), ("80", ""), ("0080", ""), ("443", ":443"), ("000", ":0"), ("0065535", ":65535")]
        {
            assert_eq!(port(digits).as_deref(), Ok(expected), "{digits}");
        }
        for wrong in ["65536", "100000", "8o", "-1", "+1", " 1"] {
            assert_eq!(port(wrong), Err(ParseUrlError::InvalidPort), "{wrong}");
        }
    }

    #[test]
    fn userinfo_is_kept_unless_empty() {
        let userinfo = |text: &str| {
            let mut out = Vec::new();
            write_userinfo(text.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        for (text, expected) in [
            ("", ""),
            (":", ""),
            ("user", "user@"),
            ("user:", "user@"),
            (":pass", ":pass@"),
            ("u:p:q@r", "u:p%3Aq%40r@"),
            ("%7e%3a", "~%3A@"),
        ] {
            assert_eq!(userinfo(text), expected, "{text}");
        }
    }
}
