/*!
Numbers as they lie in files: little-endian, one after the other.
*/

use std::fs::File;
use std::io;

use crate::key::KEY_BYTES;

/// The number at the start of `bytes`, which are long enough.
macro_rules! number_at_start {
    ($name:ident, $number:ty) => {
        pub(crate) fn $name(bytes: &[u8]) -> $number {
            let mut number = [0; size_of::<$number>()];
            number.copy_from_slice(&bytes[..size_of::<$number>()]);
            <$number>::from_le_bytes(number)
        }
    };
}
number_at_start!(u16_of, u16);
number_at_start!(u32_of, u32);
number_at_start!(u64_of, u64);
number_at_start!(u128_of, u128);

/// The keys in `bytes`, which hold whole keys.
pub(crate) fn keys_of(bytes: &[u8]) -> impl ExactSizeIterator<Item = u128> {
    bytes.chunks_exact(KEY_BYTES).map(u128_of)
}

/// Fills `buffer` from a place in a file. Any number of threads may do so at once.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Fills `buffer` from a place in a file. Any number of threads may do so at once.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut buffer[done..], offset + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => done += count,
        }
    }
    Ok(())
}
