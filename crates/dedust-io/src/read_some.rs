/*!
One read of what there is, for those who keep what they read in buffers of their own.
*/

use std::io::{self, BufRead, Read};

/// Reads once. A signal that comes meanwhile is no failure: then it is read again.
pub(crate) fn read_some(source: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Takes what is buffered, as [`Read::read`] of a [`BufRead`].
pub(crate) fn read_buffered(source: &mut impl BufRead, buffer: &mut [u8]) -> io::Result<usize> {
    let available = source.fill_buf()?;
    let count = available.len().min(buffer.len());
    buffer[..count].copy_from_slice(&available[..count]);
    source.consume(count);
    Ok(count)
}
