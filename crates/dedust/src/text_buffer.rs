/*!
A buffer for short texts that are put together from many pieces: most pieces cost one copy of fixed length.
*/

use crate::url::PADDING;

/// Bytes that are copied at once.
const STEP: usize = 32;
const _: () = assert!(PADDING >= STEP, "a step may be read after the end of a URL");

/// Text that grows at its end. What lies after the end is of no meaning, and is overwritten.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextBuffer {
    bytes: Vec<u8>,
    length: usize,
}

impl TextBuffer {
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The text, and what may be read after it.
    #[inline]
    pub(crate) fn padded(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends `source[start..start + length]`. Fast when the source goes on for some bytes after that.
    #[inline(always)]
    pub(crate) fn push_part(&mut self, source: &[u8], start: usize, length: usize) {
        if length <= STEP
            && let Some(from) = source.get(start..start.wrapping_add(STEP))
            && let Some(to) = self.bytes.get_mut(self.length..self.length.wrapping_add(STEP))
            && let (Some(from), Some(to)) = (from.first_chunk::<STEP>(), to.first_chunk_mut())
        {
            *to = *from;
            self.length += length;
            return;
        }
        self.push_long(source.get(start..).unwrap_or_default(), length);
    }

    /// Appends a part after the first `at` bytes; returns where it ends.
    #[inline(never)]
    fn push_at(&mut self, at: usize, source: &[u8], start: usize, length: usize) -> usize {
        self.length = at;
        self.push_long(source.get(start..).unwrap_or_default(), length);
        self.length
    }

    /// Appends more bytes than one copy takes, or few that nothing follows.
    fn push_long(&mut self, source: &[u8], length: usize) {
        if source.len() >= length.next_multiple_of(STEP)
            && let Some(to) = self.bytes.get_mut(self.length..)
            && to.len() >= length.next_multiple_of(STEP)
        {
            let steps = source.as_chunks::<STEP>().0.iter().zip(to.as_chunks_mut::<STEP>().0);
            for (from, to) in steps.take(length.div_ceil(STEP)) {
                *to = *from;
            }
            self.length += length;
        } else {
            self.push_slowly(source.get(..length).unwrap_or_default());
        }
    }

    /// Room for so many short parts that follow each other, to be filled faster than one by one.
    #[inline(always)]
    pub(crate) fn room(&mut self, parts: usize) -> Room<'_> {
        if self.bytes.len() < self.length + (parts + 1) * STEP {
            self.make_room(parts);
        }
        let at = self.length;
        Room { buffer: self, at }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, parts: usize) {
        self.bytes.resize(2 * self.length + (parts + 1) * STEP, 0);
    }

    #[inline]
    pub(crate) fn push_slice(&mut self, text: &[u8]) {
        self.push_part(text, 0, text.len());
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        match self.bytes.get_mut(self.length) {
            Some(target) => {
                *target = byte;
                self.length += 1;
            }
            None => self.push_slowly(&[byte]),
        }
    }

    /// Overwrites a byte.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, byte: u8) {
        if let Some(target) = self.bytes.get_mut(at) {
            *target = byte;
        }
    }

    #[inline(never)]
    fn push_slowly(&mut self, text: &[u8]) {
        let end = self.length + text.len();
        if self.bytes.len() < end + STEP {
            self.bytes.resize((2 * end).max(256) + STEP, 0);
        }
        self.bytes[self.length..end].copy_from_slice(text);
        self.length = end;
    }
}

/// The end of a buffer, which is at hand while parts are appended.
pub(crate) struct Room<'a> {
    buffer: &'a mut TextBuffer,
    at: usize,
}

impl Room<'_> {
    /// Where the text ends by now.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// Appends `source[start..start + length]`. Fast when that is short and the source goes on for some bytes after it.
    #[inline(always)]
    pub(crate) fn push_part(&mut self, source: &[u8], start: usize, length: usize) {
        if length <= STEP
            && let Some(from) = source.get(start..start.wrapping_add(STEP))
            && let Some(to) = self.buffer.bytes.get_mut(self.at..self.at.wrapping_add(STEP))
            && let (Some(from), Some(to)) = (from.first_chunk::<STEP>(), to.first_chunk_mut())
        {
            *to = *from;
            self.at += length;
        } else {
            self.at = self.buffer.push_at(self.at, source, start, length);
        }
    }
}

impl Drop for Room<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.buffer.length = self.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_follow_each_other() {
        let source: Vec<u8> = (0..=255).cycle().take(2000).collect();
        let (mut buffer, mut expected) = (TextBuffer::default(), Vec::new());
        for length in (0..100).chain([500, 1]) {
            for start in [0, 7, 1900 - length] {
                buffer.push_part(&source, start, length);
                expected.extend_from_slice(&source[start..start + length]);
                buffer.push(b'/');
                buffer.push_slice(&source[..length]);
                expected.push(b'/');
                expected.extend_from_slice(&source[..length]);
            }
        }
        assert_eq!(buffer.as_bytes(), expected);
        buffer.clear();
        assert_eq!(buffer.as_bytes(), b"");
    }
}
