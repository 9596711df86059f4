/*!
The header of the rules of a site, as it is put together.
*/

use std::collections::BTreeMap;

use super::early::Early;
use super::names::NamesBuilder;
use super::{
    EARLY_AT, FLAGS_AT, FOLD_BYTES, HAS_FOLDS, HEAD_BYTES, LABEL_INDEX_AT, MASK_BYTES, PATH_CHARACTERS_AT,
    RuleMask, early_bits, spelling_bits,
};
use crate::encoding::TooLarge;
use crate::url::Value;

/// The header, and what is collected for the tables after it.
pub(super) struct Head {
    pub(super) bytes: [u8; HEAD_BYTES],
    pub(super) folds: [RuleMask; FOLD_BYTES / MASK_BYTES],
    /// Whose value it is, which, and the rules that wait for it, in the order in which rules speak of them.
    pub(super) values: Vec<(u16, Value, RuleMask)>,
    value_by_text: BTreeMap<(u16, Value), usize>,
}

impl Default for Head {
    fn default() -> Self {
        let (folds, values, value_by_text) = ([0; FOLD_BYTES / MASK_BYTES], Vec::new(), BTreeMap::new());
        Self { bytes: [0; HEAD_BYTES], folds, values, value_by_text }
    }
}

impl Head {
    /// Writes a number of 16 bits.
    pub(super) fn put(&mut self, at: usize, number: usize) -> Result<(), TooLarge> {
        let number = u16::try_from(number).map_err(|_| TooLarge)?;
        self.bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
        Ok(())
    }

    pub(super) fn put_u32(&mut self, at: usize, number: usize) -> Result<(), TooLarge> {
        let number = u32::try_from(number).map_err(|_| TooLarge)?;
        self.bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        Ok(())
    }

    /// Sets a bit of a mask.
    pub(super) fn add(&mut self, at: usize, bit: u32) {
        self.bytes[at + bit as usize / 8] |= 1 << (bit % 8);
    }

    pub(super) fn add_value(&mut self, of: u16, value: Value, bit: u32) {
        let next = self.values.len();
        let number = *self.value_by_text.entry((of, value.clone())).or_insert(next);
        if number == next {
            self.values.push((of, value, 0));
        }
        self.values[number].2 |= 1 << bit;
    }

    /// Notes a change that is made early, in keys, and in URLs if that can be fetched.
    pub(super) fn add_early(
        &mut self,
        change: Early<'_>,
        fetchable: bool,
        query_names: &mut NamesBuilder,
        path_names: &mut NamesBuilder,
    ) {
        let site = |[in_keys, in_urls]: [u8; 2]| if fetchable { in_keys | in_urls } else { in_keys };
        let drop = site([early_bits::DROP_IN_KEYS, early_bits::DROP_IN_URLS]);
        match change {
            Early::DropParam(name) => query_names.add_early(name, drop),
            Early::DropPathParam(name) => path_names.add_early(name, drop),
            Early::ForgetParam(name) => query_names.add_early(name, early_bits::FORGET_IN_KEYS),
            Early::NoSlash => self.bytes[EARLY_AT] |= site(early_bits::NO_SLASH),
            Early::Http => self.bytes[EARLY_AT] |= site(early_bits::HTTP),
            // A label without text is any.
            Early::ForgetLabel(index) | Early::NoLabel(index, _) => {
                self.bytes[EARLY_AT] |= site(early_bits::NO_LABEL);
                self.bytes[LABEL_INDEX_AT] = index;
            }
        }
    }

    pub(super) fn add_fold(&mut self, area: usize, characters: u8, bit: u32) {
        self.bytes[FLAGS_AT] |= HAS_FOLDS;
        self.bytes[PATH_CHARACTERS_AT + area] |= characters;
        for character in (0..spelling_bits::COUNT).filter(|at| characters & (1 << at) != 0) {
            self.folds[area * spelling_bits::COUNT + character] |= 1 << bit;
        }
    }
}
