/*!
What a reader sees of a document: the title, the text, and where the page says it really lives.
*/

use crate::block::{Block, PageRegion};
use crate::text;

/// Blocks that are told apart; what follows is all one.
pub(crate) const MAX_BLOCKS: usize = 1 << 16;

/// What a reader sees of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub(crate) title: String,
    /// The blocks, a space between two.
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    pub(crate) refresh: Option<String>,
}

impl Page {
    /// The content of `<title>`; empty if there is none.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The visible text, white space as single spaces.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines of its text: paragraphs, headings, entries of lists, cells.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|block| self.text_of(block))
    }

    /// Where `rel=canonical` leads, of the document or of its `Link` header. `None` if two say different things.
    pub fn canonical(&self) -> Option<&str> {
        self.canonical.as_deref()
    }

    /// Where the page sends its readers after a moment.
    pub fn refresh(&self) -> Option<&str> {
        self.refresh.as_deref()
    }

    /// About how much memory it takes, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Page>()
            + self.title.len()
            + self.text.capacity()
            + self.blocks.capacity() * size_of::<Block>()
    }

    /// The text of a block.
    pub(crate) fn text_of(&self, block: &Block) -> &str {
        // Blocks begin and end where words do; a span that would not is no reason to panic.
        self.text.get(block.start..block.end).unwrap_or_default()
    }

    /// Adds the words of `bytes` as a block, if there are any.
    pub(crate) fn push_block(&mut self, bytes: &[u8], slot: u64, region: PageRegion) {
        let Some(start) = text::push_words(&mut self.text, bytes) else { return };
        let (end, count) = (self.text.len(), self.blocks.len());
        match self.blocks.last_mut() {
            Some(last) if count == MAX_BLOCKS => last.end = end,
            _ => self.blocks.push(Block { start, end, slot, region }),
        }
    }
}
