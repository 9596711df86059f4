/*!
Texts one after the other, some of them absent.
*/

use std::borrow::Cow;

/// Values of a column of text. Bytes that are not UTF-8 are percent-encoded when they are added as text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TextColumn {
    bytes: Vec<u8>,
    /// Where each value ends.
    ends: Vec<usize>,
    is_present: Vec<bool>,
}

impl TextColumn {
    /// Adds a value as it is.
    pub fn push(&mut self, value: Option<&[u8]>) {
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.ends.push(self.bytes.len());
        self.is_present.push(value.is_some());
    }

    /// Adds a value that is to be text: bytes that are none are percent-encoded, which does not change what a URL means.
    pub fn push_text(&mut self, value: Option<&[u8]>) {
        self.push(value.map(as_text).as_deref());
    }

    /// Adds the values of another column.
    pub fn append(&mut self, other: &TextColumn) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.is_present.extend_from_slice(&other.is_present);
    }

    /// A value; `None` if it is absent.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.is_present[index].then(|| {
            let start = if index == 0 { 0 } else { self.ends[index - 1] };
            &self.bytes[start..self.ends[index]]
        })
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Adds absent values until there are so many.
    pub fn pad_to(&mut self, len: usize) {
        while self.len() < len {
            self.push(None);
        }
    }

    /// Whether a value is absent.
    pub fn has_absent(&self) -> bool {
        self.is_present.contains(&false)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all values.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Removes all values, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.is_present.clear();
    }

    /// Takes the bytes out: the values are then parts of them, which end where [`TextColumn::ends`] says.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Gives memory back to be used again.
    pub(crate) fn put_back(&mut self, mut memory: Vec<u8>) {
        memory.clear();
        self.bytes = memory;
    }

    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    pub(crate) fn is_present(&self) -> &[bool] {
        &self.is_present
    }
}

/// A URL as text.
fn as_text(url: &[u8]) -> Cow<'_, [u8]> {
    if url.is_ascii() || std::str::from_utf8(url).is_ok() {
        return Cow::Borrowed(url);
    }
    let escaped = url.iter().map(|&byte| match byte {
        0x80.. => format!("%{byte:02X}"),
        _ => char::from(byte).to_string(),
    });
    Cow::Owned(escaped.collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_in_order() {
        let mut column = TextColumn::default();
        column.push(Some(b"a"));
        column.push(None);
        let mut other = TextColumn::default();
        other.push(Some(b""));
        other.push_text(Some(b"caf\xe9"));
        column.append(&other);
        let values: Vec<Option<&[u8]>> = column.iter().collect();
        assert_eq!(values, [Some(&b"a"[..]), None, Some(b""), Some(b"caf%E9")]);
    }
}
