/*!
Hosts that may be connected to although their addresses are not public.

A name or an address comes in, with or without a port, as a user writes it. [`AllowedHosts`] is asked once for each
address of each hop, with the host of the URL that is about to be fetched.
*/

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use url::Host;

use crate::address::{is_link_local_or_metadata, is_public, without_translation};

/// A host that a user named: a name or an address, on one port or on all.
///
/// A name stands for every address that it has, except for link-local ones and those of the metadata services of
/// clouds. These have to be named by address.
///
/// ```
/// use dedust_fetch::AllowedHost;
///
/// let host: AllowedHost = "wiki.intranet.example:8080".parse()?;
/// assert!("[::1]:80".parse::<AllowedHost>().is_ok());
/// assert!("http://wiki.intranet.example/".parse::<AllowedHost>().is_err());
/// # Ok::<(), dedust_fetch::ParseAllowedHostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    host: NameOrAddress,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NameOrAddress {
    /// In lower case, without a dot at the end.
    Name(String),
    Address(IpAddr),
}

/// A text is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{found}\" is not a host, expected a name or an address such as a.example, 10.0.0.7:8080 or [fd00::7]:80"
)]
pub struct ParseAllowedHostError {
    found: String,
}

impl FromStr for AllowedHost {
    type Err = ParseAllowedHostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseAllowedHostError { found: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<AllowedHost> {
    // Without brackets, the last group of an IPv6 address would be taken for a port.
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(AllowedHost { host: NameOrAddress::Address(without_translation(address)), port: None });
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let host = match Host::parse(host).ok()? {
        Host::Domain(name) => NameOrAddress::Name(without_last_dot(&name).to_owned()),
        Host::Ipv4(address) => NameOrAddress::Address(address.into()),
        Host::Ipv6(address) => NameOrAddress::Address(without_translation(address.into())),
    };
    Some(AllowedHost { host, port })
}

fn without_last_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

impl AllowedHost {
    /// Whether it stands for `address` of the host `name`.
    fn covers(&self, name: &str, address: SocketAddr) -> bool {
        if self.port.is_some_and(|port| port != address.port()) {
            return false;
        }
        match &self.host {
            NameOrAddress::Address(allowed) => *allowed == without_translation(address.ip()),
            NameOrAddress::Name(allowed) => {
                allowed.eq_ignore_ascii_case(without_last_dot(name))
                    && !is_link_local_or_metadata(address.ip())
            }
        }
    }
}

/// All hosts that a user named. By default none.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedHosts(Vec<AllowedHost>);

impl AllowedHosts {
    pub(crate) fn push(&mut self, host: AllowedHost) {
        self.0.push(host);
    }

    /// Whether `address`, which the host `name` resolved to, may be connected to.
    pub(crate) fn allows(&self, name: &str, address: SocketAddr) -> bool {
        is_public(address.ip()) || self.0.iter().any(|host| host.covers(name, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `name` at `address` is allowed if `hosts` are.
    fn allows(hosts: &[&str], name: &str, address: &str) -> bool {
        let mut allowed = AllowedHosts::default();
        for host in hosts {
            allowed.push(host.parse().unwrap());
        }
        allowed.allows(name, address.parse().unwrap())
    }

    #[test]
    fn public_addresses_need_not_be_named() {
        assert!(allows(&[], "a.example", "93.184.215.14:80"));
        assert!(!allows(&[], "a.example", "10.0.0.7:80"));
    }

    #[test]
    fn a_host_is_named_by_name_or_address() {
        assert!(allows(&["Wiki.Intranet.example."], "wiki.intranet.example", "10.0.0.7:80"));
        assert!(allows(&["wiki.intranet.example"], "wiki.intranet.example.", "[fd00::7]:443"));
        assert!(allows(&["10.0.0.7"], "anything.example", "10.0.0.7:8080"));
        assert!(allows(&["10.0.0.7"], "anything.example", "[::ffff:10.0.0.7]:80"));
        assert!(allows(&["::1"], "[::1]", "[::1]:80"));
        assert!(allows(&["b.example", "[::1]"], "[::1]", "[::1]:80"));
        for (name, address) in [
            ("intranet.example", "10.0.0.7:80"),
            ("old.wiki.intranet.example", "10.0.0.7:80"),
            ("10.0.0.7", "10.0.0.7:80"),
        ] {
            assert!(!allows(&["wiki.intranet.example"], name, address), "{name}");
        }
        assert!(!allows(&["10.0.0.7"], "10.0.0.8", "10.0.0.8:80"));
    }

    #[test]
    fn a_port_narrows_it_down() {
        assert!(allows(&["127.0.0.1:8080"], "127.0.0.1", "127.0.0.1:8080"));
        assert!(!allows(&["127.0.0.1:8080"], "127.0.0.1", "127.0.0.1:22"));
        assert!(allows(&["[::1]:8080"], "[::1]", "[::1]:8080"));
        assert!(!allows(&["[::1]:8080"], "[::1]", "[::1]:80"));
        assert!(!allows(&["wiki.example:80"], "wiki.example", "10.0.0.7:443"));
    }

    #[test]
    fn link_local_and_metadata_addresses_are_named_by_address_or_not_at_all() {
        for address in [
            "169.254.169.254:80",
            "169.254.0.1:80",
            "[::ffff:169.254.169.254]:80",
            "[64:ff9b::a9fe:a9fe]:80",
            "[fe80::1]:80",
            "[fd00:ec2::254]:80",
            "100.100.100.200:80",
            "192.0.0.192:80",
            "168.63.129.16:80",
        ] {
            assert!(!allows(&[], "a.example", address), "{address}");
            assert!(!allows(&["a.example", "10.0.0.7"], "a.example", address), "{address}");
            let ip = address.parse::<SocketAddr>().unwrap().ip().to_string();
            assert!(allows(&[&ip], "a.example", address), "{address}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in
            ["", ":80", "a b", "http://a.example/", "a.example:", "a.example:port", "a.example:99999", "[::1"]
        {
            let error = text.parse::<AllowedHost>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("\"{text}\" is not a host, expected")), "{error}");
        }
    }
}
