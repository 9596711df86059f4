/*!
A run of text without a line break in it, and where on its page it stands.
*/

/// A paragraph, a heading, an entry of a list, a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where its text starts in [`Page::text`](crate::Page::text).
    pub(crate) start: usize,
    /// Where its text ends.
    pub(crate) end: usize,
    /// A hash of the element around it and of the nearest one with an id or class: blocks of two pages that are made by
    /// one line of a template have the same.
    pub(crate) slot: u64,
    pub(crate) region: PageRegion,
}

/// What the markup says of a part of a page. Sorts by how much of the matter is to be found there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PageRegion {
    /// Navigation, header, footer, something beside the matter.
    Aside,
    /// Nothing.
    #[default]
    Body,
    /// Within `<main>`.
    Main,
}
