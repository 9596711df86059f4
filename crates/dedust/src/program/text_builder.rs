/*!
The texts of a site, by number: rules name them, so that sites whose rules differ in texts only have the same shape.
*/

use foldhash::HashMap;

use crate::encoding::TooLarge;

/// Texts that were given numbers.
#[derive(Default)]
pub(crate) struct TextBuilder {
    text: Vec<u8>,
    ends: Vec<u32>,
    number_by_text: HashMap<Box<[u8]>, u32>,
}

impl TextBuilder {
    /// Gives a text the next number, whether it has one or not.
    pub(crate) fn push(&mut self, text: &[u8]) -> Result<u32, TooLarge> {
        let number = u32::try_from(self.ends.len()).map_err(|_| TooLarge)?;
        self.text.extend_from_slice(text);
        self.ends.push(u32::try_from(self.text.len()).map_err(|_| TooLarge)?);
        self.number_by_text.insert(text.into(), number);
        Ok(number)
    }

    /// The number of a text.
    pub(crate) fn number(&mut self, text: &[u8]) -> Result<u32, TooLarge> {
        match self.number_by_text.get(text) {
            Some(&number) => Ok(number),
            None => self.push(text),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes each end takes, as a power of two.
    pub(crate) fn end_width(&self) -> u8 {
        match self.text.len() {
            ..=0xFF => 0,
            0x100..=0xFFFF => 1,
            _ => 2,
        }
    }

    /// Appends all ends and texts.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let bytes = 1 << self.end_width();
        for end in std::iter::once(&0).chain(&self.ends) {
            out.extend_from_slice(&end.to_le_bytes()[..bytes]);
        }
        out.extend_from_slice(&self.text);
    }
}
