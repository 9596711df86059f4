/*!
How is an input compressed? Its first bytes tell, never its name.

Decompresses nothing (see [`crate::open_text`]).
*/

use std::fmt;

/// Length of the longest mark by which compression is known.
pub(crate) const MAGIC_BYTES: usize = 4;

/// How an input is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, also of several members.
    Gzip,
    /// zstd, also of several frames.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// How an input is compressed that starts with these bytes.
pub(crate) fn compression_of(magic: &[u8]) -> Compression {
    match magic {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
        // A skippable frame, as parallel compressors put in front.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
        _ => Compression::None,
    }
}

/// Whether it takes more bytes to know. Nearly always the first byte of a text tells, so that a program at the other
/// end of a pipe need not send a second one.
pub(crate) fn may_be_magic(start: &[u8]) -> bool {
    matches!(start, [] | [0x1f])
        || matches!(start, [0x28] | [0x28, 0xb5] | [0x28, 0xb5, 0x2f])
        || matches!(start, [0x50..=0x5f] | [0x50..=0x5f, 0x2a] | [0x50..=0x5f, 0x2a, 0x4d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_known_by_content() {
        for (magic, compression) in [
            (&b"\x1f\x8b"[..], Compression::Gzip),
            (b"\x28\xb5\x2f\xfd", Compression::Zstd),
            (b"\x5f\x2a\x4d\x18", Compression::Zstd),
        ] {
            assert_eq!(compression_of(magic), compression);
            for len in 0..magic.len() {
                assert!(may_be_magic(&magic[..len]));
                assert_eq!(compression_of(&magic[..len]), Compression::None);
            }
            assert!(!may_be_magic(magic));
        }
        assert!(!may_be_magic(b"h") && !may_be_magic(b"P\n"));
    }
}
