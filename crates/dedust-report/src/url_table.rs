/*!
The URLs of a crawl as few bytes, for the normalizer in the page: URLs in, deflated columns in base 64 out.

Four columns one behind the other, each after its length as a number of four bytes, little end first:

1. URLs, each ended by a line feed, in the order in which they were met;
2. for each its page: 1 if it is not known, 0 for a page that is new, else 2 and by how many pages that were new since it was
   new, itself included: `2 + (pages so far - 1 - page)`;
3. for each its size and one, 0 if it is not known; missing where there is no room for sizes;
4. for each site its number of URLs, in the order of the sites.

Numbers are of seven bits a byte, low ones first, with the eighth bit set in all but the last.
*/

use std::io::Write as _;

use base64::Engine as _;
use dedust::ParsedUrl;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use foldhash::HashMap;

use crate::data::UrlTable;
use crate::rows::{Row, SiteUrls};

/// Bytes of a table in base 64.
const MAX_BYTES: usize = 1_750_000;
/// URLs of a table, since the page makes keys of all of them when a rule is switched.
const MAX_URLS: usize = 400_000;

/// The table of all URLs of some sites, as much of it as a page has room for; `None` if it has room for none.
pub(crate) fn write(sites: &[&SiteUrls<'_>]) -> Option<UrlTable> {
    let has_sizes = sites.iter().any(|site| site.rows.iter().any(|row| row.size.is_some()));
    let touched = |site: &SiteUrls<'_>| {
        let mut urls: HashMap<u128, u32> = HashMap::default();
        site.rows.iter().for_each(|row| *urls.entry(row.key).or_default() += 1);
        site.rows.iter().map(|row| row.rules.1 > 0 || urls[&row.key] > 1).collect::<Vec<bool>>()
    };
    let all: Vec<Vec<bool>> = sites.iter().map(|site| vec![true; site.rows.len()]).collect();
    let some: Vec<Vec<bool>> = sites.iter().map(|site| touched(site)).collect();
    let attempts = [(&all, true), (&all, false), (&some, true), (&some, false)];
    attempts
        .into_iter()
        .filter(|(_, sizes)| has_sizes || !sizes)
        .find_map(|(kept, sizes)| table(sites, kept, sizes))
}

fn table(sites: &[&SiteUrls<'_>], kept: &[Vec<bool>], has_sizes: bool) -> Option<UrlTable> {
    let count = kept.iter().flatten().filter(|is_kept| **is_kept).count();
    if count > MAX_URLS {
        return None;
    }
    let (mut urls, mut pages, mut sizes, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut number_by_page: HashMap<u32, u64> = HashMap::default();
    for (site, kept) in sites.iter().zip(kept) {
        let rows = site.rows.iter().zip(kept).filter(|(_, is_kept)| **is_kept).map(|(row, _)| row);
        let mut of_site = 0;
        for row in rows {
            of_site += 1;
            write_url(&mut urls, site, row);
            write_number(&mut pages, page_code(row.page, &mut number_by_page));
            if has_sizes {
                write_number(&mut sizes, row.size.map_or(0, |size| size.saturating_add(1)));
            }
        }
        write_number(&mut counts, of_site);
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    for column in [urls, pages, sizes, counts] {
        let length = u32::try_from(column.len()).ok()?;
        encoder.write_all(&length.to_le_bytes()).ok()?;
        encoder.write_all(&column).ok()?;
    }
    let bytes = encoder.finish().ok()?;
    (bytes.len().div_ceil(3) * 4 <= MAX_BYTES).then(|| UrlTable {
        count: count as u64,
        left_out: kept.iter().map(Vec::len).sum::<usize>() as u64 - count as u64,
        has_sizes,
        bytes: base64::engine::general_purpose::STANDARD.encode(bytes),
    })
}

/// A URL as it was met, or, where that is no line of text, its safe form, which has the same key.
fn write_url(out: &mut Vec<u8>, site: &SiteUrls<'_>, row: &Row) {
    let url = site.url(row);
    let is_line = std::str::from_utf8(url).is_ok() && !url.iter().any(u8::is_ascii_control);
    match ParsedUrl::parse(url) {
        Ok(safe) if !is_line => out.extend_from_slice(safe.as_bytes()),
        _ => out.extend_from_slice(url),
    }
    out.push(b'\n');
}

fn page_code(page: Option<u32>, number_by_page: &mut HashMap<u32, u64>) -> u64 {
    let Some(page) = page else { return 1 };
    let pages = number_by_page.len() as u64;
    match number_by_page.get(&page) {
        Some(number) => 2 + (pages - 1 - number),
        None => {
            number_by_page.insert(page, pages);
            0
        }
    }
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_seven_bits_a_byte() {
        let mut out = Vec::new();
        [0, 127, 128, 300].into_iter().for_each(|number| write_number(&mut out, number));
        assert_eq!(out, [0, 127, 0x80, 1, 0xac, 2]);
    }

    #[test]
    fn a_page_is_named_by_how_long_ago_it_was_new() {
        let mut numbers = HashMap::default();
        let codes: Vec<u64> =
            [Some(7), Some(9), None, Some(7), Some(9)].map(|page| page_code(page, &mut numbers)).into();
        assert_eq!(codes, [0, 0, 1, 3, 2]);
    }
}
