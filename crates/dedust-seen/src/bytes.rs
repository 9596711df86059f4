/*!
What is read from files: numbers, little-endian, one after the other. Only regular files are read.
*/

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::error::{SeenError, failed};
use crate::key::KEY_BYTES;

/// Refuses what is no file of bytes: reading a pipe or a device may never end.
pub(crate) fn check_is_file(path: &Path) -> Result<(), SeenError> {
    let kind = fs::metadata(path).map_err(failed("read", path))?;
    if kind.is_file() { Ok(()) } else { Err(SeenError::NotAFile { path: path.to_owned() }) }
}

/// The number at the start of `bytes`, which are long enough.
pub(crate) fn u64_of(bytes: &[u8]) -> u64 {
    let mut number = [0; size_of::<u64>()];
    number.copy_from_slice(&bytes[..size_of::<u64>()]);
    u64::from_le_bytes(number)
}

/// The keys in `bytes`, which hold whole keys.
pub(crate) fn keys_of(bytes: &[u8]) -> impl ExactSizeIterator<Item = u128> {
    let (keys, _) = bytes.as_chunks::<KEY_BYTES>();
    keys.iter().map(|&key| u128::from_le_bytes(key))
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
