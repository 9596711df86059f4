/*!
All canonical URLs that some of a site's rules would write for one URL, as a tree: each branch is a rule that would change the URL, each
leaf says what is known of the URL that comes out.

A tree does not name the URL, so that URLs of one kind have the same tree, and are looked at once.
*/

use dedust::ParsedUrl;
use dedust::rules::{Change, Rule};
use dedust::support::{RuleList, UrlParts};

use super::pages::{Fate, Gain, Pages};
use crate::thresholds::canonical as limits;

/// The number of a writer: twice that of its slot, and one more if it is turned round.
pub(super) type WriterId = u16;

/// A branch is the number of a writer and the length of the tree if it writes, which comes next; then comes the tree if it does not.
/// A leaf is one number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tree(Vec<u16>);

const LEAF: u16 = 1 << 15;

/// Makes trees.
pub(super) struct Grower<'p, 'c> {
    pages: &'p Pages<'c>,
    list: RuleList,
    writers: Vec<WriterId>,
    /// Those that write no URL by themselves.
    always: Vec<bool>,
}

impl Tree {
    /// What comes of a URL if these writers are on.
    pub(super) fn fate(&self, is_on: impl Fn(WriterId) -> bool) -> (Fate, Gain) {
        self.walk(is_on, |_| ())
    }

    /// The same, with each writer that changes the URL.
    pub(super) fn walk(
        &self,
        is_on: impl Fn(WriterId) -> bool,
        mut changes: impl FnMut(WriterId),
    ) -> (Fate, Gain) {
        let mut at = 0;
        loop {
            let number = self.0[at];
            if number & LEAF != 0 {
                return leaf_of(number);
            }
            if is_on(number) {
                changes(number);
                at += 2;
            } else {
                at += 2 + usize::from(self.0[at + 1]);
            }
        }
    }

    /// Each writer that could change the URL; some come more than once.
    pub(super) fn writers(&self) -> impl Iterator<Item = WriterId> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(&number) = self.0.get(at) {
                if number & LEAF == 0 {
                    at += 2;
                    return Some(number);
                }
                at += 1;
            }
            None
        })
    }
}

fn leaf(fate: Fate, gain: Gain) -> u16 {
    let fate = match fate {
        Fate::Kept => 0,
        Fate::Alive => 1,
        Fate::Unmet => 2,
        Fate::Wrong => 3,
        Fate::Left => 4,
    };
    LEAF | fate << 8 | u16::from(gain.to_le_bytes()[0])
}

fn leaf_of(number: u16) -> (Fate, Gain) {
    let fate = [Fate::Kept, Fate::Alive, Fate::Unmet, Fate::Wrong, Fate::Left][usize::from(number >> 8 & 7)];
    (fate, Gain::from_le_bytes([number as u8]))
}

impl<'p, 'c> Grower<'p, 'c> {
    /// Trees of these rules; `None` if there are more than there is room for.
    pub(super) fn new(pages: &'p Pages<'c>, writers: &[(WriterId, &Rule)]) -> Option<Self> {
        let list = RuleList::new(writers.iter().map(|(_, rule)| *rule))?;
        let always = writers.iter().map(|(_, rule)| rule.change == [Change::SplitParams]).collect();
        Some(Self { pages, list, writers: writers.iter().map(|(id, _)| *id).collect(), always })
    }

    /// The tree of a row.
    pub(super) fn grow(&self, row: u32) -> Tree {
        let mut tree = Vec::new();
        let mut url = ParsedUrl::default();
        let mut parts = UrlParts::default();
        let corpus = self.pages.corpus;
        let is_read =
            url.parse_from(corpus.url(row)).is_ok() && parts.read(&url, corpus.site().len(), &self.list);
        if is_read {
            self.branch(&mut tree, row, parts, 0, limits::MAX_LEAVES);
        } else {
            tree.push(leaf(Fate::Kept, 0));
        }
        Tree(tree)
    }

    /// Adds the tree of a URL that is made of `parts` by the writers from `next` on.
    fn branch(&self, tree: &mut Vec<u16>, row: u32, mut parts: UrlParts, next: usize, leaves: usize) {
        let before = (leaves > 1).then(|| parts.clone());
        for number in next..self.writers.len() {
            if !parts.change(&self.list, number) {
                continue;
            }
            let id = self.writers[number];
            if self.always[number] {
                return self.branch(tree, row, parts, number + 1, leaves);
            }
            let after = number + 1;
            let Some(before) = before else { return self.branch(tree, row, parts, after, 1) };
            let start = tree.len();
            tree.extend([id, 0]);
            self.branch(tree, row, parts, after, leaves - leaves / 2);
            tree[start + 1] = (tree.len() - start - 2) as u16;
            return self.branch(tree, row, before, number + 1, leaves / 2);
        }
        let mut url = Vec::new();
        parts.write_url(&self.list, &mut url);
        let (fate, gain) = self.pages.fate(row, &url);
        tree.push(leaf(fate, gain));
    }
}
