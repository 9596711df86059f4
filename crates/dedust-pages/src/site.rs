/*!
What repeats on the pages of a site, so that what remains is the matter of a page.

The naive way takes out every text that many pages have: menus, footers, side bars. That leaves in what changes from
page to page without being about it: the trail of where one is, the name of the file, the date of the last change,
whom one would reply to. These stand in a slot of the template that most pages have and that holds one short text. So
both are [`Furniture`]: a text that stands in one slot of many pages, and a slot that stands once on many pages and
holds short texts, whatever they say. The headline is of this kind too; the title of the page has it.

On many sites one page is there under so many URLs that its matter would look like furniture: the page to log in. So of
pages with one title and as many blocks only one is counted.

Takes a [`PageSample`] of pages, gives their [`Furniture`], which gives the [`MainText`] of any page of the site. Without
a sample that is large enough only the markup tells what is beside the matter: `<nav>`, `<aside>`, `<footer>` and the
like, and where there is a `<main>`, all that is not in it.

How much the figures matter was tried on one wiki and one blog only: a share from 0.1 to 0.4, texts of up to 80 to 1,000
bytes and samples of 300 pages or more lead to the same clusters there. With a share of 0.6, texts of up to 40 bytes or a
sample of 100 pages, most duplicates of one or the other are missed: slots that change are no longer seen.
*/

use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::block::{Block, PageRegion};
use crate::fingerprint::Fingerprint;
use crate::page::Page;

/// The share of the pages on which furniture stands.
const MIN_SHARE: f64 = 0.2;

/// The number of pages on which furniture stands.
const MIN_PAGES: u32 = 4;

/// Pages below which a sample tells nothing.
const MIN_SAMPLE_PAGES: u32 = 8;

/// Of the pages that have a slot of furniture, the share that have it once.
const MIN_ONCE_SHARE: f64 = 0.9;

/// The mean length of the texts of a slot of furniture, in bytes.
const MAX_SLOT_BYTES: u64 = 160;

/// Bytes of text from which `<main>` is believed to hold the matter.
const MIN_MAIN_BYTES: usize = 64;

/// Characters from which a main text can hardly be that of two pages of one template.
const MIN_TELLING_CHARS: usize = 256;

/// Counts of what stands where on some pages of a site.
#[derive(Clone, Debug, Default)]
pub struct PageSample {
    pages: u32,
    /// Hashes of title and number of blocks.
    counted: HashSet<u64>,
    pages_by_text: HashMap<u64, u32>,
    slots: HashMap<u64, SlotCounts>,
    texts: Vec<u64>,
    page_slots: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SlotCounts {
    pages: u32,
    pages_with_one: u32,
    blocks: u64,
    bytes: u64,
}

impl PageSample {
    /// Counts a page, unless one like it was counted.
    pub fn add(&mut self, page: &Page) {
        let like = xxh3_64_with_seed(page.title.as_bytes(), page.blocks.len() as u64);
        if page.blocks.is_empty() || !page.title.is_empty() && !self.counted.insert(like) {
            return;
        }
        self.pages += 1;
        self.texts.clear();
        self.texts.extend(page.blocks.iter().map(|block| text_hash(page, block)));
        self.texts.sort_unstable();
        self.texts.dedup();
        for &text in &self.texts {
            *self.pages_by_text.entry(text).or_default() += 1;
        }
        self.page_slots.clear();
        self.page_slots
            .extend(page.blocks.iter().map(|block| (block.slot, (block.end - block.start) as u64)));
        self.page_slots.sort_unstable();
        for blocks in self.page_slots.chunk_by(|left, right| left.0 == right.0) {
            let counts = self.slots.entry(blocks[0].0).or_default();
            counts.pages += 1;
            counts.pages_with_one += u32::from(blocks.len() == 1);
            counts.blocks += blocks.len() as u64;
            counts.bytes += blocks.iter().map(|(_, bytes)| bytes).sum::<u64>();
        }
    }

    /// The number of pages counted.
    pub fn page_count(&self) -> u32 {
        self.pages
    }

    /// What repeats on them.
    pub fn furniture(&self) -> Furniture {
        if self.pages < MIN_SAMPLE_PAGES {
            return Furniture::default();
        }
        let is_common =
            |pages: u32| pages >= MIN_PAGES && f64::from(pages) >= MIN_SHARE * f64::from(self.pages);
        let is_single = |counts: &SlotCounts| {
            f64::from(counts.pages_with_one) >= MIN_ONCE_SHARE * f64::from(counts.pages)
                && counts.bytes <= MAX_SLOT_BYTES * counts.blocks
        };
        let texts = self.pages_by_text.iter().filter(|(_, pages)| is_common(**pages));
        let slots = self.slots.iter().filter(|(_, counts)| is_common(counts.pages) && is_single(counts));
        Furniture {
            texts: texts.map(|(text, _)| *text).collect(),
            slots: slots.map(|(slot, _)| *slot).collect(),
        }
    }
}

/// What stands on most pages of a site. The default knows of nothing.
#[derive(Clone, Debug, Default)]
pub struct Furniture {
    texts: HashSet<u64>,
    slots: HashSet<u64>,
}

impl Furniture {
    /// The text of a page less the furniture and less what its markup calls beside the matter.
    pub fn main_text<'p>(&self, page: &'p Page) -> MainText<'p> {
        let main_bytes: usize = page
            .blocks
            .iter()
            .filter(|block| block.region == PageRegion::Main)
            .map(|block| block.end - block.start)
            .sum();
        let least = if main_bytes >= MIN_MAIN_BYTES { PageRegion::Main } else { PageRegion::Body };
        let is_matter = |block: &&Block| {
            block.region >= least
                && !self.slots.contains(&block.slot)
                && (self.texts.is_empty() || !self.texts.contains(&text_hash(page, block)))
        };
        MainText { page, blocks: page.blocks.iter().filter(is_matter).collect(), layout: self.layout(page) }
    }

    /// A hash of the slots of furniture that a page has; `None` if it has none.
    fn layout(&self, page: &Page) -> Option<u64> {
        let mut slots: Vec<u64> =
            page.blocks.iter().map(|block| block.slot).filter(|slot| self.slots.contains(slot)).collect();
        slots.sort_unstable();
        slots.dedup();
        let hash = |hash, slot: &u64| xxh3_64_with_seed(&slot.to_le_bytes(), hash);
        (!slots.is_empty()).then(|| slots.iter().fold(0, hash))
    }
}

fn text_hash(page: &Page, block: &Block) -> u64 {
    xxh3_64_with_seed(page.text_of(block).as_bytes(), block.slot)
}

/// The matter of a page.
#[derive(Clone, Debug)]
pub struct MainText<'p> {
    page: &'p Page,
    blocks: Vec<&'p Block>,
    layout: Option<u64>,
}

impl<'p> MainText<'p> {
    /// Its paragraphs, headings, entries.
    pub fn blocks(&self) -> impl Iterator<Item = &'p str> + Clone {
        let page = self.page;
        self.blocks.clone().into_iter().map(move |block| page.text_of(block))
    }

    /// A hash of the furniture around it, the same for pages made from one template; `None` if the text is so short that
    /// two pages of one template may have it: a list with nothing in it, say.
    pub fn layout(&self) -> Option<u64> {
        let mut chars = self.blocks().flat_map(str::chars);
        self.layout.filter(|_| chars.nth(MIN_TELLING_CHARS - 1).is_some())
    }

    /// What is kept of it to compare it with others; `None` if it is too short to say anything.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        Fingerprint::of(self.blocks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageSource;

    fn page(html: &str) -> Page {
        let source =
            PageSource { body: html.as_bytes(), content_type: Some(b"text/html"), ..Default::default() };
        Page::read(&source).unwrap()
    }

    fn main_text(furniture: &Furniture, html: &str) -> String {
        furniture.main_text(&page(html)).blocks().collect::<Vec<_>>().join("|")
    }

    fn article(number: u32, matter: &str) -> String {
        format!(
            "<div class=crumbs>You are here: page {number}</div><ul class=menu><li>One<li>Two</ul>\
             <div class=text><p>{matter}<p>{matter} again</div><div id=changed>changed at {number}:00</div>"
        )
    }

    fn furniture(pages: u32) -> Furniture {
        let mut sample = PageSample::default();
        (0..pages).for_each(|number| sample.add(&page(&article(number, &format!("matter {number}")))));
        sample.furniture()
    }

    #[test]
    fn texts_that_repeat_and_slots_that_change_are_furniture() {
        assert_eq!(main_text(&furniture(20), &article(99, "news")), "news|news again");
    }

    #[test]
    fn a_page_under_many_urls_is_not_furniture() {
        let login = |number| format!("<title>Log in</title>{}", article(number, "Type in your name"));
        let mut sample = PageSample::default();
        (0..20).for_each(|number| {
            sample.add(&page(&format!(
                "<title>{number}</title>{}",
                article(number, &format!("matter {number}"))
            )));
            sample.add(&page(&login(number)));
        });
        assert_eq!(sample.page_count(), 21);
        assert_eq!(main_text(&sample.furniture(), &login(1)), "Type in your name|Type in your name again");
    }

    #[test]
    fn pages_of_one_template_have_one_layout() {
        let layout = |html: &str| furniture(20).main_text(&page(html)).layout();
        let (long, other) = ("long ".repeat(60), "other ".repeat(60));
        assert!(layout(&article(1, &long)).is_some());
        assert_eq!(layout(&article(1, &long)), layout(&article(2, &other)));
        assert_ne!(layout(&article(1, &long)), layout(&format!("<div id=changed>x</div>{long}")));
        assert_eq!(layout(&article(1, "short")), None);
        assert_eq!(layout(&long), None);
    }

    #[test]
    fn a_few_pages_tell_nothing() {
        let expected = "You are here: page 99|One|Two|news|news again|changed at 99:00";
        assert_eq!(main_text(&furniture(MIN_SAMPLE_PAGES - 1), &article(99, "news")), expected);
    }

    #[test]
    fn the_same_text_in_another_place_is_matter() {
        let html = "<div class=text><p>One<p>Two</div>";
        assert_eq!(main_text(&furniture(20), html), "One|Two");
    }

    #[test]
    fn a_slot_with_long_texts_is_matter() {
        let mut sample = PageSample::default();
        let html = |number: u32| format!("<div class=text>{}</div>", format!("word{number} ").repeat(50));
        (0..20).for_each(|number| sample.add(&page(&html(number))));
        assert_eq!(main_text(&sample.furniture(), &html(99)), "word99 ".repeat(50).trim_end());
    }

    #[test]
    fn without_a_sample_the_markup_tells() {
        let none = Furniture::default();
        let long = "matter ".repeat(20);
        let html =
            format!("<header>top</header><nav>menu</nav>beside<main>{long}<footer>by me</footer></main>");
        assert_eq!(main_text(&none, &html), long.trim_end());
        assert_eq!(main_text(&none, "<nav>menu</nav>beside<main>short</main>"), "beside|short");
        assert_eq!(main_text(&none, "<article><header>headline</header>x</article>"), "headline|x");
    }
}
