/*!
Which addresses belong to the public internet?

Follows the special-purpose registries of IANA. Addresses that carry another address inside (mapped, translated,
6to4, Teredo) are judged by that address or refused.
*/

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where clouds tell their machines credentials: Amazon, Google, Microsoft and others (link-local), Amazon over IPv6,
/// Alibaba, Oracle, and the second service of Microsoft, whose address looks like a public one.
const METADATA_ADDRESSES: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
];

/// Whether `address` is that of a host on the public internet: not private, loopback, link-local, shared by a
/// carrier, multicast, reserved or the metadata service of a cloud.
///
/// ```
/// assert!(dedust_fetch::is_public("93.184.215.14".parse().unwrap()));
/// assert!(!dedust_fetch::is_public("169.254.169.254".parse().unwrap()));
/// ```
pub fn is_public(address: IpAddr) -> bool {
    match without_translation(address) {
        address if METADATA_ADDRESSES.contains(&address) => false,
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether `address` is reachable on the local link only, or belongs to the metadata service of a cloud.
pub(crate) fn is_link_local_or_metadata(address: IpAddr) -> bool {
    let address = without_translation(address);
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    is_link_local || METADATA_ADDRESSES.contains(&address)
}

/// The IPv4 address that an IPv6 address carries inside (mapped, translated or 6to4), or else the address itself.
pub(crate) fn without_translation(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let (high, low) = match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => (high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        [0x2002, high, low, ..] => (high, low),
        _ => return address,
    };
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127, _, _)         // this network, private, loopback
        | (100, 64..=127, _)         // shared by carriers
        | (169, 254, _)              // link-local
        | (172, 16..=31, _)          // private
        | (192, 0, 0 | 2)            // protocol assignments, documentation
        | (192, 31, 196)             // AS112
        | (192, 52, 193)             // AMT
        | (192, 88, 99)              // 6to4 relays
        | (192, 168, _)              // private
        | (192, 175, 48)             // AS112
        | (198, 18..=19, _)          // benchmarks
        | (198, 51, 100)             // documentation
        | (203, 0, 113)              // documentation
        | (224..=255, _, _) // multicast, reserved, broadcast
    )
}

/// Of an address that carries no other.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Teredo, benchmarks, ORCHID and other assignments of the protocol.
        [0x2001, 0..=0x1ff, ..] => false,
        [0x2001, 0xdb8, ..] => false,
        [0x3fff, 0..=0xfff, ..] => false,
        // Only 2000::/3 is handed out: no loopback, unique local, link-local, site-local or multicast addresses.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_public_internet() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "100.63.255.255",
            "100.128.0.0",
            "128.0.0.1",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450:4001:830::200e",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_other_networks() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.0.1",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456:789a::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
