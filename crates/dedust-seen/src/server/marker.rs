/*!
The value of `PREFIX:set`, which makes a prefix a set: its format, its secret, and how long it remembers keys.

```text
dedust set of seen keys on a server, format 1
secret 000102030405060708090a0b0c0d0e0f
ttl 0
check 0123456789abcdef
```

The check is of the bytes before it, as in a folder. Whoever sees the value can make URLs that hide pages.
*/

use std::fmt::Write as _;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::ServerError;
use crate::key::{KeyHasher, SECRET_BYTES};
use crate::marker::read_secret;

const FORMAT_1: &str = "dedust set of seen keys on a server, format 1\n";
/// Bytes of a foreign value that a message has. Behind them a damaged marker has most of a secret, which belongs into no message.
const SHOWN: usize = FORMAT_1.len() - 1;

/// What a set needs to be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) secret: [u8; SECRET_BYTES],
    /// Seconds that keys are remembered at least; 0 for ever.
    pub(super) ttl: u64,
}

impl Marker {
    pub(super) fn hasher(&self) -> KeyHasher {
        KeyHasher::with_secret(self.secret)
    }

    pub(super) fn encode(&self) -> String {
        let mut text = format!("{FORMAT_1}secret ");
        for byte in self.secret {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = write!(text, "\nttl {}\n", self.ttl);
        let check = xxh3_64(text.as_bytes());
        text + &format!("check {check:016x}\n")
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, ServerError> {
        let marker = Self::read(bytes).filter(|marker| marker.encode().as_bytes() == bytes);
        marker.ok_or_else(|| {
            let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let start = line.get(..SHOWN).unwrap_or(line);
            ServerError::Foreign { found: String::from_utf8_lossy(start).into_owned() }
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.strip_prefix(FORMAT_1)?.lines();
        let secret = read_secret(lines.next()?.strip_prefix("secret ")?)?;
        let ttl = lines.next()?.strip_prefix("ttl ")?.parse().ok()?;
        Some(Self { secret, ttl })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_as_it_was_written_and_any_change_is_noticed() {
        let marker = Marker { secret: [0x5a; SECRET_BYTES], ttl: 86_400 };
        let whole = marker.encode().into_bytes();
        assert!(Marker::decode(&whole).unwrap() == marker);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            let error = Marker::decode(&bytes).err().unwrap().to_string();
            assert!(!error.contains("5a5a"), "{error}");
        }
        assert!(Marker::decode(b"").is_err() && Marker::decode(b"\xff").is_err());
    }
}
