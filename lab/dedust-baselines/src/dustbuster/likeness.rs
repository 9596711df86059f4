/*!
Whether two URLs look like one page, as far as is known without fetching them.

Duplicate labels stand for the paper's document sketches: equal or not. A corpus without any label, as from the log
of a web server, has sizes: two URLs look alike when the intervals of their response sizes overlap.
*/

use dedust_learn::Corpus;

/// What tells pages apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likeness<'c> {
    corpus: &'c Corpus,
    by_size: bool,
}

impl<'c> Likeness<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        Self { corpus, by_size: corpus.labelled_count() == 0 }
    }

    /// Whether anything is known of a row.
    pub(super) fn knows(&self, row: u32) -> bool {
        if self.by_size { self.corpus.size_range(row).is_some() } else { self.corpus.label(row).is_some() }
    }

    /// Whether two rows look like one page; nothing where one of them is not known.
    pub(super) fn alike(&self, left: u32, right: u32) -> Option<bool> {
        if self.by_size {
            let (left, right) = (self.corpus.size_range(left)?, self.corpus.size_range(right)?);
            Some(left.0 <= right.1 && right.0 <= left.1)
        } else {
            Some(self.corpus.label(left)? == self.corpus.label(right)?)
        }
    }
}
