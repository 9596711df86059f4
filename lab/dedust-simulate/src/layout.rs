/*!
How many pages of how many URLs each section of a site has.

Takes a [`SiteSpec`], returns [`Block`]s: runs of pages of one section with the same number of URLs. A block is all
that is remembered of its pages, so a site of any size is a few hundred blocks. URLs are counted from 0 over all blocks;
a division tells the page and the copy.

Cluster sizes have a long tail: most pages have as few URLs as the mean allows, a tenth of the URLs each belongs to
pages with 4, 16, 64, .. times as many, as far as the phenomenon goes.
*/

use super::forms::{Section, has_look_alikes};
use super::phenomenon::Phenomenon;
use super::spec::SiteSpec;

/// URLs per duplicated page where the specification says nothing.
const DEFAULT_MEAN: f64 = 3.8;
/// Share of the pages that phenomena get where a catalog makes up the rest.
const SHARE_OF_PHENOMENA: f64 = 0.8;
/// Tracked URLs shall be rare: half of this share.
const RARE_SHARE: f64 = 0.01;
/// Multiples of the mean in the tail of the cluster sizes.
const TAIL: [f64; 5] = [4.0, 16.0, 64.0, 256.0, 1024.0];
/// One part in so many of the excess URLs goes to each multiple.
const TAIL_PARTS: u64 = 10;

/// Pages of one section with the same number of URLs.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) section: Section,
    /// The number of its first URL in the site.
    pub(super) first_url: u64,
    /// The number of its first page in the site.
    pub(super) first_page: u64,
    /// The number of its first page in the section.
    pub(super) first_in_section: u64,
    pub(super) pages: u64,
    pub(super) urls_per_page: u64,
}

/// All blocks of a site, in the order of their URLs.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) blocks: Vec<Block>,
    pub(super) urls: u64,
    pub(super) pages: u64,
}

impl Layout {
    /// Divides the URLs of a site.
    pub(super) fn new(spec: &SiteSpec) -> Self {
        let mut layout = Self::default();
        let singletons = share_of(spec.urls, spec.singletons);
        layout.push_duplicates(spec, spec.urls - singletons);
        layout.push_singletons(spec, spec.urls - layout.urls);
        layout
    }

    fn push_duplicates(&mut self, spec: &SiteSpec, mut urls: u64) {
        let mut pages = spec.duplicated_pages.map(|pages| pages.min(urls / 2));
        if let Some(section) = largest_in(spec)
            && (2..=urls).contains(&spec.largest_cluster)
            && pages != Some(0)
        {
            self.push(section, 1, spec.largest_cluster);
            urls -= spec.largest_cluster;
            pages = pages.map(|pages| (pages - 1).min(urls / 2));
        }
        let mean = pages.map_or(DEFAULT_MEAN, |pages| (urls as f64 / pages.max(1) as f64).max(2.0));
        let of_phenomena = if pages.is_some() { SHARE_OF_PHENOMENA } else { 1.0 };
        let share = of_phenomena / spec.phenomena.len().max(1) as f64;
        let (mut urls_left, mut pages_left) = (urls, pages.unwrap_or(0));
        for phenomenon in spec.phenomena.iter() {
            let (mut budget, mut mean) = (share_of(urls, share), mean);
            if let Some(most) = phenomenon.max_urls_per_page() {
                mean = mean.min(1.0 + most as f64 / 2.0);
            }
            if phenomenon == Phenomenon::RareTracking {
                budget = budget.min(share_of(spec.urls, RARE_SHARE).max(20));
                mean = mean.min(2.5);
            }
            let mut count = (budget as f64 / mean) as u64;
            if let Some(pages) = pages {
                count = count.min(share_of(pages, share));
            }
            let used = budget.min((count as f64 * mean) as u64);
            self.push_tiers(Section::Of(phenomenon), used, count, phenomenon.max_urls_per_page());
            if count > 0 {
                urls_left -= used;
            }
            pages_left = pages_left.saturating_sub(count);
        }
        if pages.is_some() && urls_left >= 2 {
            self.push_tiers(Section::Catalog, urls_left, pages_left.clamp(1, urls_left / 2), None);
        }
    }

    /// Divides `urls` among `pages`: two for each page at least, `most` at most.
    fn push_tiers(&mut self, section: Section, urls: u64, pages: u64, most: Option<u64>) {
        if pages == 0 {
            return;
        }
        let total = urls - 2 * pages;
        let most = most.map_or(u64::MAX, |most| most - 2);
        let mean = total as f64 / pages as f64;
        let (mut excess, mut left) = (total, pages);
        for multiple in TAIL {
            let extra = ((mean * multiple) as u64).clamp(1, most.max(1));
            let count = total / TAIL_PARTS / extra;
            if count == 0 || extra > most {
                break;
            }
            self.push(section, count, 2 + extra);
            left -= count;
            excess -= count * extra;
            if extra == most {
                break;
            }
        }
        let (extra, one_more) = (excess / left, excess % left);
        self.push(section, left - one_more, 2 + extra);
        self.push(section, one_more, 3 + extra);
    }

    /// Half of the pages of one URL are background; the other half could be taken for duplicates.
    fn push_singletons(&mut self, spec: &SiteSpec, urls: u64) {
        let share = urls / 2 / spec.phenomena.len().max(1) as u64;
        for phenomenon in spec.phenomena.iter() {
            let beside = if has_look_alikes(phenomenon) { share / 2 } else { 0 };
            self.push(Section::Of(phenomenon), share - beside, 1);
            self.push(Section::Beside(phenomenon), beside, 1);
        }
        let background = urls - share * spec.phenomena.len() as u64;
        self.push(Section::Articles, background / 2, 1);
        self.push(Section::Catalog, background - background / 2, 1);
    }

    fn push(&mut self, section: Section, pages: u64, urls_per_page: u64) {
        if pages == 0 {
            return;
        }
        let earlier = self.blocks.iter().rev().find(|block| block.section == section);
        self.blocks.push(Block {
            section,
            first_url: self.urls,
            first_page: self.pages,
            first_in_section: earlier.map_or(0, |block| block.first_in_section + block.pages),
            pages,
            urls_per_page,
        });
        self.urls += pages * urls_per_page;
        self.pages += pages;
    }
}

/// Where a page can have any number of URLs: error pages first, as they have most on real sites.
fn largest_in(spec: &SiteSpec) -> Option<Section> {
    let preferred = [Phenomenon::SoftErrors, Phenomenon::TwoRandomKeys, Phenomenon::SessionInPath];
    let found = preferred.into_iter().find(|&phenomenon| spec.phenomena.contains(phenomenon));
    found.map(Section::Of).or(spec.duplicated_pages.map(|_| Section::Catalog))
}

fn share_of(whole: u64, share: f64) -> u64 {
    ((whole as f64 * share) as u64).min(whole)
}

#[cfg(test)]
mod tests {
    use super::super::phenomenon::Phenomena;
    use super::*;

    fn spec(urls: u64) -> SiteSpec {
        SiteSpec::new("a.example", urls)
    }

    #[test]
    fn urls_and_pages_are_as_specified() {
        for (urls, pages, largest) in
            [(24_147, 158, 0), (352_106, 92_365, 3_000), (100_000, 49_000, 0), (100, 7, 30)]
        {
            let spec = spec(urls).duplicated_pages(pages).largest_cluster(largest);
            let layout = Layout::new(&spec);
            assert_eq!((layout.urls, layout.pages), (urls, pages));
            assert!(layout.blocks.iter().all(|block| block.urls_per_page >= 2));
        }
    }

    #[test]
    fn no_page_has_more_urls_than_its_phenomenon_gives() {
        for urls in [0, 1, 2, 10, 99, 1_000, 50_000] {
            for singletons in [0.0, 0.3, 1.0] {
                let layout = Layout::new(&spec(urls).singletons(singletons).largest_cluster(urls / 7));
                assert_eq!(layout.urls, urls);
                for block in &layout.blocks {
                    if let Section::Of(phenomenon) = block.section {
                        assert!(
                            block.urls_per_page <= phenomenon.max_urls_per_page().unwrap_or(u64::MAX),
                            "{block:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn tracked_urls_are_rare() {
        let only = Phenomena::from_iter([Phenomenon::RareTracking]);
        let layout = Layout::new(&spec(100_000).phenomena(only).singletons(0.3));
        let tracked = |block: &Block| block.pages * (block.urls_per_page - 1);
        let tracked: u64 = layout.blocks.iter().map(tracked).sum();
        assert!((400..700).contains(&tracked), "{tracked}");
    }
}
