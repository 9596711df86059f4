/*!
Canonical URLs that were observed: for some URLs that the rules of a site write, the URL that shows their page, or that none is written.

Naively, a map of texts. Here the texts lie one after the other at the end of what is of the site alone, and are found by a hash:

```text
texts   each two, what the rules write and what stands for it, if anything, after their lengths, of 2 bytes each
slots   8 bytes each: half of the hash of the first text, and the offset of the two behind the start of the texts; or nothing
sizes   of the texts and of the slots, 4 bytes each
```
A text is looked for in a few slots in a row; if these are taken when it is entered, it is left out with those that need it, and its URL
stays what the rules make of it. So a hostile site cannot make anyone look long. A text that is too long is left out too. Says nothing of
whether an entry is right: see `normalizer/observed.rs`.
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

/// What is entered of a URL that rules write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalEntry<'t> {
    pub(crate) written: &'t str,
    /// What stands for it; `None` if the URL is to stay as it was.
    pub(crate) canonical: Option<&'t str>,
    /// The index of an earlier entry, without which the canonical URL would become another.
    pub(crate) needs: Option<usize>,
}

/// A table, read where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CanonicalTable<'a> {
    texts: &'a [u8],
    slots: &'a [u8],
}

/// Appends a table of these entries to what is of a site alone.
pub(crate) fn put_table(site: &mut Vec<u8>, entries: &[CanonicalEntry<'_>]) -> Result<(), TooLarge> {
    let count = (SLOTS_PER_TEXT * entries.len()).next_power_of_two();
    let start = site.len();
    let mut slots = vec![(0, NONE); count];
    let mut is_placed = Vec::with_capacity(entries.len());
    for entry in entries {
        let (first, tag) = first_slot(entry.written.as_bytes(), count);
        let free = (first..first + PROBES).map(|slot| slot % count).find(|&slot| slots[slot].1 == NONE);
        let slot = free.filter(|_| entry.needs.is_none_or(|other| is_placed[other]));
        let end = site.len();
        let is_put = slot.is_some() && put_texts(site, entry).is_ok();
        is_placed.push(is_put);
        match slot.filter(|_| is_put) {
            Some(slot) => slots[slot] = (tag, u32::try_from(end - start).map_err(|_| TooLarge)?),
            None => site.truncate(end),
        }
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

fn put_texts(site: &mut Vec<u8>, entry: &CanonicalEntry<'_>) -> Result<(), TooLarge> {
    site.put_text(Some(entry.written.as_bytes()))?;
    site.put_text(entry.canonical.map(str::as_bytes))
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

    fn entry<'t>(written: &'t str, canonical: Option<&'t str>) -> CanonicalEntry<'t> {
        CanonicalEntry { written, canonical, needs: None }
    }

    fn table_of(entries: &[CanonicalEntry<'_>]) -> Vec<u8> {
        let mut site = b"what was there before".to_vec();
        put_table(&mut site, entries).unwrap();
        site
    }

    /// So many texts of which each may lie in the same slots of a table with so many texts.
    fn colliding(count: usize, entries: usize) -> Vec<String> {
        let slots = (SLOTS_PER_TEXT * entries).next_power_of_two();
        let texts = (0..).map(|number| format!("http://a.example/{number}"));
        texts.filter(|text| first_slot(text.as_bytes(), slots).0 < 2).take(count).collect()
    }

    #[test]
    fn each_text_has_its_own_and_others_have_none() {
        for count in [0usize, 1, 2, 3, 1000] {
            let pairs: Vec<(String, String)> = (0..count)
                .map(|page| (format!("http://a.example/{page}"), format!("http://a.example/p-{page}/")))
                .collect();
            let entries: Vec<_> =
                pairs.iter().map(|(written, canonical)| entry(written, Some(canonical))).collect();
            let site = table_of(&entries);
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

    /// What is looked at does not depend on how many texts a hostile site has made for the same slots: those that do not fit
    /// are not there.
    #[test]
    fn texts_that_collide_are_left_out_but_for_a_few() {
        const COUNT: usize = 10_000;
        let hostile = colliding(200, COUNT);
        let others: Vec<String> =
            (hostile.len()..COUNT).map(|number| format!("http://b.example/{number}")).collect();
        let entries: Vec<_> = hostile.iter().chain(&others).map(|text| entry(text, None)).collect();
        let site = table_of(&entries);
        let table = CanonicalTable::read(&site).unwrap();
        let found =
            |texts: &[String]| texts.iter().filter(|text| table.get(text.as_bytes()).is_some()).count();
        // They begin in two slots, and lie at most so far behind these.
        assert_eq!(found(&hostile), PROBES + 1);
        assert!(found(&others) > others.len() * 99 / 100, "{} of {}", found(&others), others.len());
    }

    #[test]
    fn an_entry_is_left_out_with_those_that_need_it() {
        let texts = colliding(PROBES + 4, 64);
        let free: Vec<String> =
            (0..64 - texts.len()).map(|number| format!("http://c.example/{number}")).collect();
        let mut entries: Vec<_> = texts.iter().map(|text| entry(text, None)).collect();
        entries.extend(free.iter().enumerate().map(|(number, text)| CanonicalEntry {
            needs: Some(number % texts.len()),
            ..entry(text, Some("http://a.example/"))
        }));
        let site = table_of(&entries);
        let table = CanonicalTable::read(&site).unwrap();
        let is_there = |index: usize| table.get(entries[index].written.as_bytes()).is_some();
        let (mut kept, mut left_out) = (0, 0);
        for (index, other) in
            entries.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.needs?)))
        {
            assert!(is_there(other) || !is_there(index), "{index} needs {other}");
            *(if is_there(index) { &mut kept } else { &mut left_out }) += 1;
        }
        assert!(kept > 0 && left_out > 0, "{kept} and {left_out}");
    }

    #[test]
    fn a_text_that_is_too_long_is_left_out() {
        let long = format!("http://a.example/{}", "x".repeat(1 << 16));
        let entries = [entry("a", Some("b")), entry(&long, None), entry("c", Some(&long)), entry("d", None)];
        let site = table_of(&entries);
        let table = CanonicalTable::read(&site).unwrap();
        assert_eq!(table.get(b"a"), Some(Observed::Url(b"b")));
        assert_eq!([long.as_bytes(), b"c"].map(|text| table.get(text)), [None, None]);
        assert_eq!(table.get(b"d"), Some(Observed::AsItWas));
    }

    #[test]
    fn any_bytes_are_a_table_or_none() {
        let is_inside = |found: Option<Observed<'_>>, bytes: &[u8]| match found {
            Some(Observed::Url(url)) => url.len() <= bytes.len(),
            Some(Observed::AsItWas) | None => true,
        };
        let mut site = Vec::new();
        put_table(&mut site, &[entry("a", Some("b")), entry("c", None)]).unwrap();
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
