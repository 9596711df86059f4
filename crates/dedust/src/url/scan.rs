/*!
Which bytes of a URL component cannot simply be copied, and where the next one is.

One table answers for every component. For the components that make up nearly all bytes of web URLs (host, path,
query) sixteen bytes are compared at a time; there the scan may stop at a harmless byte, so whoever asks where
to stop looks the byte up afterwards.
*/

use wide::{CmpEq as _, CmpGt as _, CmpLt as _, i8x16};

use crate::delimiters::{LANES, lanes_of};

/// A bit of [`ATTENTION`]: the component that is being copied.
pub(super) type ByteSet = u8;

/// Path of a scheme that reads `\` as `/`.
pub(super) const SPECIAL_PATH: ByteSet = 1;
/// Path of any other scheme.
pub(super) const PATH: ByteSet = 1 << 1;
/// Query of a special scheme, where `'` is escaped too.
pub(super) const SPECIAL_QUERY: ByteSet = 1 << 2;
/// Query of any other scheme.
pub(super) const QUERY: ByteSet = 1 << 3;
/// What stands after `#`.
pub(super) const FRAGMENT: ByteSet = 1 << 4;
/// User name or password.
pub(super) const USERINFO: ByteSet = 1 << 5;
/// The part after the colon of a URL such as `mailto:`; also an opaque host. Its escapes are left alone.
pub(super) const OPAQUE: ByteSet = 1 << 6;
/// Host bytes other than `a-z 0-9 - . _`, which need more than copying.
pub(super) const HOST: ByteSet = 1 << 7;

/// For every byte the components in which it needs attention.
static ATTENTION: [ByteSet; 256] = attention();

const fn attention() -> [ByteSet; 256] {
    const ALL: ByteSet = u8::MAX;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = match b {
            0..=0x1F | 0x7F..=0xFF => ALL,
            b' ' => ALL & !OPAQUE,
            b'#' => ALL & !FRAGMENT,
            b'?' => SPECIAL_PATH | PATH | USERINFO | OPAQUE | HOST,
            b'%' => ALL & !OPAQUE,
            b'"' | b'<' | b'>' => ALL & !OPAQUE,
            b'\'' => SPECIAL_QUERY | HOST,
            b'`' => SPECIAL_PATH | PATH | FRAGMENT | USERINFO | HOST,
            b'{' | b'}' | b'^' => SPECIAL_PATH | PATH | USERINFO | HOST,
            b'\\' => SPECIAL_PATH | USERINFO | HOST,
            b'.' => SPECIAL_PATH | PATH,
            b'/' | b':' | b';' | b'=' | b'@' | b'[' | b']' | b'|' => USERINFO | HOST,
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => 0,
            _ => HOST,
        };
        byte += 1;
    }
    table
}

/// Whether `byte` cannot simply be copied in `SET`.
#[inline(always)]
pub(super) fn needs_attention<const SET: ByteSet>(byte: u8) -> bool {
    ATTENTION[usize::from(byte)] & SET != 0
}

/// Index of the first byte at or after `from` that may need attention in `SET`, or the length.
///
/// A dot in the path of a special scheme is reported only after a slash.
#[inline(always)]
pub(super) fn skip_plain<const SET: ByteSet>(input: &[u8], from: usize) -> usize {
    // One more byte than lanes, since lanes are compared with the bytes before them.
    if !matches!(SET, SPECIAL_PATH | SPECIAL_QUERY | HOST) || from == 0 || input.len() <= LANES {
        let rest = &input[from..];
        let stop = rest.iter().position(|&byte| needs_attention::<SET>(byte));
        return stop.map_or(input.len(), |n| from + n);
    }
    let mut at = from;
    while at + LANES <= input.len() {
        let suspects = suspects::<SET>(input, at);
        if suspects != 0 {
            return at + suspects.trailing_zeros() as usize;
        }
        at += LANES;
    }
    // The last lanes overlap with bytes that were seen before.
    let last = input.len() - LANES;
    let suspects = suspects::<SET>(input, last) >> (at - last);
    if suspects == 0 { input.len() } else { at + suspects.trailing_zeros() as usize }
}

/// A bit for each of the bytes from `at`, the first one lowest, set where attention may be needed. `at` is not 0.
#[inline(always)]
fn suspects<const SET: ByteSet>(input: &[u8], at: usize) -> u32 {
    let load = |at: usize| {
        let mut lanes = [0; LANES];
        lanes.copy_from_slice(&input[at..at + LANES]);
        lanes_of(&lanes)
    };
    let all = |byte: u8| i8x16::splat(byte.cast_signed());
    let bytes = load(at);
    let is = |byte| bytes.cmp_eq(all(byte));
    // For two bytes that differ in one bit.
    let is_either = |low: u8, high: u8| (bytes | all(low ^ high)).cmp_eq(all(high));
    // Bytes outside ASCII are negative, so they are below everything.
    let is_outside = |low, high| bytes.cmp_lt(all(low)) | bytes.cmp_gt(all(high));
    let suspects = match SET {
        SPECIAL_PATH => {
            let dot_after_slash = is(b'.') & load(at - 1).cmp_eq(all(b'/'));
            let needs_escape = is_either(b'<', b'>') | is_either(b'\\', b'^') | is(b'`');
            is_outside(b'$', b'z') | is(b'%') | is(b'?') | needs_escape | dot_after_slash
        }
        SPECIAL_QUERY => is_outside(b'$', b'z') | is_either(b'%', b'\'') | is_either(b'<', b'>'),
        _ => is_outside(b'-', b'z') | is(b'/') | (bytes.cmp_gt(all(b'9')) & bytes.cmp_lt(all(b'a'))),
    };
    suspects.move_mask().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan_misses_nothing<const SET: ByteSet>() {
        for byte in 0..=u8::MAX {
            for length in 2..40 {
                for at in 1..length {
                    let mut input = vec![b'a'; length];
                    input[at - 1] = b'/';
                    input[at] = byte;
                    let stop = skip_plain::<SET>(&input, at);
                    assert!(stop == at || stop == length, "{byte:#x} at {at} of {length}: {stop}");
                    assert!(stop == at || !needs_attention::<SET>(byte), "{byte:#x} at {at} of {length}");
                    assert_eq!(skip_plain::<SET>(&input, length), length);
                }
            }
        }
    }

    #[test]
    fn no_byte_is_missed() {
        scan_misses_nothing::<SPECIAL_PATH>();
        scan_misses_nothing::<SPECIAL_QUERY>();
        scan_misses_nothing::<HOST>();
        scan_misses_nothing::<FRAGMENT>();
    }

    #[test]
    fn letters_digits_and_hyphens_are_plain_everywhere() {
        for byte in (b'a'..=b'z').chain(b'0'..=b'9').chain([b'-']) {
            assert_eq!(ATTENTION[usize::from(byte)], 0);
        }
    }
}
