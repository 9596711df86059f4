/*!
A synthetic site: rows of a URL, its page and its label, in the order a crawler might meet them.
*/

use std::io::{self, Write};

use super::chance::{Order, mix, mix_two};
use super::forms::{Names, Section};
use super::layout::{Block, Layout};
use super::phenomenon::Phenomenon;
use super::spec::{InvalidSiteSpec, SiteSpec};
use super::text::push_number;

/// Clusters that are no page: "not found", "please log in", "try again later".
const GIANT_FAKES: u64 = 3;
/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 << 10;

/// A site whose pages are known.
///
/// It remembers how its URLs are made, not the URLs, so that its size costs no memory and any row can be had alone.
#[derive(Clone, Debug)]
pub struct Site {
    spec: SiteSpec,
    names: Names,
    layout: Layout,
    order: Order,
    noise_salt: u64,
    /// Hashes below are fragmented.
    fragmented_below: u64,
    /// Hashes below and not fragmented are fake.
    fake_below: u64,
}

/// One URL of a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'u> {
    /// The URL, in ASCII, without quotes or backslashes.
    pub url: &'u [u8],
    /// The page it really leads to.
    pub page: u64,
    /// The page it seems to lead to, as a hash of the content would say.
    pub label: u64,
    /// Why the page has many URLs; `None` for the background.
    pub phenomenon: Option<Phenomenon>,
}

impl Site {
    /// Plans a site.
    pub fn new(spec: SiteSpec) -> Result<Self, InvalidSiteSpec> {
        spec.check()?;
        let layout = Layout::new(&spec);
        let fragmented_below = threshold(spec.noise.fragmented);
        Ok(Self {
            names: Names::new(&spec.domain, spec.seed),
            order: Order::new(layout.urls, mix_two(spec.seed, 1)),
            noise_salt: mix_two(spec.seed, 2),
            fragmented_below,
            fake_below: fragmented_below.saturating_add(threshold(spec.noise.fake)),
            layout,
            spec,
        })
    }

    /// What was asked for.
    pub fn spec(&self) -> &SiteSpec {
        &self.spec
    }

    /// How many URLs there are, all of them distinct.
    pub fn urls(&self) -> u64 {
        self.layout.urls
    }

    /// How many pages they lead to.
    pub fn pages(&self) -> u64 {
        self.layout.pages
    }

    /// How many URLs the page with most of them has.
    pub fn largest_cluster(&self) -> u64 {
        self.layout.blocks.iter().map(|block| block.urls_per_page).max().unwrap_or(0)
    }

    /// How many URLs the page with fewest of them has.
    pub fn smallest_cluster(&self) -> u64 {
        self.layout.blocks.iter().map(|block| block.urls_per_page).min().unwrap_or(0)
    }

    /// The share of URLs that could be spared, 0 for an empty site.
    pub fn duplicate_rate(&self) -> f64 {
        if self.urls() == 0 { 0.0 } else { 1.0 - self.pages() as f64 / self.urls() as f64 }
    }

    /// Above all labels and pages of the site: where those of the next may start.
    pub fn label_end(&self) -> u64 {
        self.spec.first_label + self.pages() + GIANT_FAKES + self.urls()
    }

    /// Overwrites `url` with the URL at `position`, which is below [`Site::urls`], counted in the order of the crawl.
    ///
    /// # Panics
    ///
    /// If there are not so many URLs.
    pub fn row<'u>(&self, position: u64, url: &'u mut Vec<u8>) -> Row<'u> {
        assert!(position < self.urls(), "row {position} of a site of {} URLs", self.urls());
        let number = self.order.at(position);
        let after = self.layout.blocks.partition_point(|block| block.first_url <= number);
        let block = &self.layout.blocks[after - 1];
        let (index, copy) = page_and_copy(block, number);
        let page = block.first_page + index;
        url.clear();
        self.names.write(block.section, block.first_in_section + index, copy, url);
        let first = self.spec.first_label;
        let phenomenon = match block.section {
            Section::Of(phenomenon) | Section::Beside(phenomenon) => Some(phenomenon),
            Section::Articles | Section::Catalog => None,
        };
        Row { url, page: first + page, label: first + self.label(number, page), phenomenon }
    }

    /// Calls `visit` with every row, in the order of the crawl.
    pub fn visit_rows<E>(&self, mut visit: impl FnMut(Row<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut url = Vec::new();
        (0..self.urls()).try_for_each(|position| visit(self.row(position, &mut url)))
    }

    /// Writes all rows as JSON Lines: `{"url":..,"cluster":..}` with the label to `observations`, and
    /// `{"url":..,"page":..}` with the page to `truth`.
    pub fn write_json_lines(&self, mut observations: impl Write, mut truth: impl Write) -> io::Result<()> {
        let mut observed = Vec::with_capacity(BUFFER_BYTES + 1024);
        let mut true_pages = Vec::with_capacity(BUFFER_BYTES + 1024);
        self.visit_rows(|row| {
            row.append_observation(&mut observed);
            row.append_truth(&mut true_pages);
            if observed.len().max(true_pages.len()) >= BUFFER_BYTES {
                observations.write_all(&observed)?;
                truth.write_all(&true_pages)?;
                observed.clear();
                true_pages.clear();
            }
            io::Result::Ok(())
        })?;
        observations.write_all(&observed)?;
        truth.write_all(&true_pages)
    }

    /// What a hash of the content would say of the URL `number`.
    fn label(&self, number: u64, page: u64) -> u64 {
        if self.fake_below == 0 {
            return page;
        }
        let hash = mix_two(self.noise_salt, number);
        if hash >= self.fake_below {
            return page;
        }
        let pages = self.pages();
        if hash < self.fragmented_below {
            return pages + GIANT_FAKES + number;
        }
        let choice = mix(hash);
        if choice & 1 == 0 || pages < 2 {
            return pages + (choice >> 1) % GIANT_FAKES;
        }
        (page + 1 + (choice >> 1) % (pages - 1)) % pages
    }
}

impl Row<'_> {
    /// Appends a line of JSON with the URL and its label, `{"url":..,"cluster":..}`.
    #[inline]
    pub fn append_observation(&self, out: &mut Vec<u8>) {
        self.append(br#"","cluster":"#, self.label, out);
    }

    /// Appends a line of JSON with the URL and its page, `{"url":..,"page":..}`.
    #[inline]
    pub fn append_truth(&self, out: &mut Vec<u8>) {
        self.append(br#"","page":"#, self.page, out);
    }

    fn append(&self, name: &[u8], number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"url":""#);
        // ASCII without quotes or backslashes needs no escapes.
        out.extend_from_slice(self.url);
        out.extend_from_slice(name);
        push_number(out, number);
        out.extend_from_slice(b"}\n");
    }
}

/// Page in the block, and copy, of the URL `number`.
fn page_and_copy(block: &Block, number: u64) -> (u64, u64) {
    let within = number - block.first_url;
    // Most sites fit, and a narrow division is several times as fast.
    match (u32::try_from(within), u32::try_from(block.urls_per_page)) {
        (Ok(within), Ok(urls)) => (u64::from(within / urls), u64::from(within % urls)),
        _ => (within / block.urls_per_page, within % block.urls_per_page),
    }
}

/// Of all hashes, the share below the result is `share`.
fn threshold(share: f64) -> u64 {
    // Converting saturates, so that 1 is all of them.
    (share * 18_446_744_073_709_551_616.0) as u64
}
