/*!
Canonical URLs that were observed: for some URLs that the rules of a site write, the URL that shows their page, or that none is written.

Naively, a map of texts. Here the texts lie one after the other at the end of what is of the site alone, and are found by a hash:

```text
texts   each two, what the rules write and what stands for it, if anything, after their lengths, of 2 bytes each
slots   8 bytes each: half of the hash of the first text, and the offset of the two behind the start of the texts; or nothing
sizes   of the texts and of the slots, 4 bytes each
```
A text is looked for in a few slots in a row; if these are taken when it is entered, it is left out, and its URL stays what the rules
make of it. So a hostile site cannot make anyone look long. Says nothing of whether an entry is right: see `normalizer/observed.rs`.
*/

use xxhash_rust::xxh3::xxh3_64;

use crate::encoding::{Cursor, Encode as _, TooLarge, array_at};

/// Bytes of a slot.
const SLOT: usize = 8;
/// Slots for each text.
const SLOTS_PER_TEXT: usize = 2;
/// Slots in which a text may be.
const PROBES: usize = 8;
/// The offset of no text.
const NONE: u32 = u32::MAX;
/// Bytes of the two sizes at the end.
const SIZES: usize = 8;

/// What was observed of a URL that rules write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Observed<'a> {
    /// Another URL shows the page.
    Url(&'a [u8]),
    /// It does not show the page, and nothing better is known: the URL is to stay as it was.
    AsItWas,
}

/// A table, read where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalTable<'a> {
    texts: &'a [u8],
    slots: &'a [u8],
}

/// Appends a table of these pairs to what is of a site alone.
pub(crate) fn put_table<'t>(
    site: &mut Vec<u8>,
    pairs: impl ExactSizeIterator<Item = (&'t str, Option<&'t str>)>,
) -> Result<(), TooLarge> {
    let count = (SLOTS_PER_TEXT * pairs.len()).next_power_of_two();
    let start = site.len();
    let mut slots = vec![(0, NONE); count];
    for (written, canonical) in pairs {
        let (first, tag) = first_slot(written.as_bytes(), count);
        let free = (first..first + PROBES).map(|slot| slot % count).find(|&slot| slots[slot].1 == NONE);
        let Some(slot) = free else { continue };
        slots[slot] = (tag, u32::try_from(site.len() - start).map_err(|_| TooLarge)?);
        site.put_text(Some(written.as_bytes()))?;
        site.put_text(canonical.map(str::as_bytes))?;
    }
    let text_bytes = u32::try_from(site.len() - start).map_err(|_| TooLarge)?;
    for (tag, offset) in slots {
        site.put_u32(tag);
        site.put_u32(offset);
    }
    site.put_u32(text_bytes);
    site.put_u32(u32::try_from(count).map_err(|_| TooLarge)?);
    Ok(())
}

impl<'a> CanonicalTable<'a> {
    /// The table at the end of these bytes.
    #[inline]
    pub(crate) fn read(site: &'a [u8]) -> Option<Self> {
        let (site, sizes) = site.split_last_chunk::<SIZES>()?;
        let size = |at| Some(u32::from_le_bytes(*array_at(sizes, at)?) as usize);
        let (site, slots) = site.split_at_checked(site.len().checked_sub(size(4)?.checked_mul(SLOT)?)?)?;
        let (_, texts) = site.split_at_checked(site.len().checked_sub(size(0)?)?)?;
        Some(Self { texts, slots })
    }

    /// What stands for a URL that rules have written.
    #[inline]
    pub(crate) fn get(&self, written: &[u8]) -> Option<Observed<'a>> {
        let count = self.slots.len() / SLOT;
        if count == 0 {
            return None;
        }
        let (first, tag) = first_slot(written, count);
        for slot in first..first + PROBES {
            let slot = array_at::<SLOT>(self.slots, SLOT * (slot % count))?;
            let (slot_tag, offset) =
                (u32::from_le_bytes(*array_at(slot, 0)?), u32::from_le_bytes(*array_at(slot, 4)?));
            if offset == NONE {
                return None;
            }
            if slot_tag == tag {
                let mut cursor = Cursor::at(self.texts, offset);
                if cursor.text()?? == written {
                    return cursor.text().map(|canonical| canonical.map_or(Observed::AsItWas, Observed::Url));
                }
            }
        }
        None
    }
}

/// The first slot of a text, and what a slot remembers of its hash.
#[inline]
fn first_slot(text: &[u8], count: usize) -> (usize, u32) {
    let hash = xxh3_64(text);
    // Below the count, which is a power of two unless somebody has changed the bytes.
    (hash as usize & (count - 1), (hash >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_its_own_and_others_have_none() {
        for count in [0usize, 1, 2, 3, 1000] {
            let pairs: Vec<(String, String)> = (0..count)
                .map(|page| (format!("http://a.example/{page}"), format!("http://a.example/p-{page}/")))
                .collect();
            let mut site = b"what was there before".to_vec();
            put_table(&mut site, pairs.iter().map(|(written, canonical)| (&**written, Some(&**canonical))))
                .unwrap();
            let table = CanonicalTable::read(&site).unwrap();
            let found = pairs.iter().filter(|(written, _)| table.get(written.as_bytes()).is_some()).count();
            assert!(found + 1 >= count, "{found} of {count}");
            for (written, canonical) in &pairs {
                let expected = Observed::Url(canonical.as_bytes());
                assert!(table.get(written.as_bytes()).is_none_or(|found| found == expected));
                assert_eq!(table.get(canonical.as_bytes()), None);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_table_or_none() {
        let is_inside = |found: Option<Observed<'_>>, bytes: &[u8]| match found {
            Some(Observed::Url(url)) => url.len() <= bytes.len(),
            Some(Observed::AsItWas) | None => true,
        };
        let mut site = Vec::new();
        put_table(&mut site, [("a", Some("b")), ("c", None)].into_iter()).unwrap();
        for cut in 0..site.len() {
            for change in [0, 1, 0x7f, 0xff] {
                let mut bytes = site.clone();
                bytes[cut] = change;
                let whole = CanonicalTable::read(&bytes).and_then(|table| table.get(b"a"));
                assert!(is_inside(whole, &bytes));
                let part = CanonicalTable::read(&bytes[..cut]).and_then(|table| table.get(b"c"));
                assert!(is_inside(part, &bytes));
            }
        }
    }
}
