/*!
The outcome: a cluster number per row, and why.
*/

use foldhash::HashMap;

use super::Sighting;
use super::content::{Content, Relation};
use super::tie::Ties;
use crate::canonical_fate::Seen;
use crate::evidence::EvidenceKinds;
use crate::likeness::Likeness;

const NO_LABEL: u32 = u32::MAX;

/// The duplicate labels of the rows of one site.
///
/// Labels are `0..cluster_count`, numbered by the first row that has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    label_by_row: Vec<u32>,
    kinds_by_row: Vec<EvidenceKinds>,
    size_by_label: Vec<u32>,
    has_clusters: bool,
    contents: Vec<Content>,
    likeness: Likeness,
}

impl Labels {
    pub(super) fn number(
        mut ties: Ties,
        has_clusters: bool,
        contents: Vec<Content>,
        likeness: Likeness,
    ) -> Labels {
        let row_count = ties.row_count();
        let mut label_by_root = vec![NO_LABEL; row_count];
        let mut label_by_row = vec![NO_LABEL; row_count];
        let mut size_by_label: Vec<u32> = Vec::new();
        for (row, row_label) in (0..).zip(&mut label_by_row) {
            let is_labelled = if has_clusters {
                ties.is_tied(row) || ties.cluster_of(row).is_some()
            } else {
                ties.is_tied(row) || ties.has_evidence(row)
            };
            if !is_labelled {
                continue;
            }
            let label = &mut label_by_root[ties.root_of(row) as usize];
            if *label == NO_LABEL {
                *label = size_by_label.len() as u32;
                size_by_label.push(0);
            }
            size_by_label[*label as usize] += 1;
            *row_label = *label;
        }
        Labels {
            label_by_row,
            kinds_by_row: ties.into_kinds(),
            size_by_label,
            has_clusters,
            contents,
            likeness,
        }
    }

    /// Notes which rows canonical links name, and which those of their page. A row with two canonical links has none.
    pub(super) fn note_names(&mut self, mut links: Vec<Sighting>, url_by_row: &[u64]) {
        links.sort_unstable_by_key(|link| (link.row, link.value));
        links.dedup();
        let rows: HashMap<u64, u32> = url_by_row.iter().copied().zip(0..).collect();
        for &Sighting { value, .. } in &links {
            if let Some(&named) = rows.get(&value) {
                self.contents[named as usize].set_named();
            }
        }
        for links in links.chunk_by(|left, right| left.row == right.row) {
            let [Sighting { row, value }] = *links else { continue };
            let Some(&named) = rows.get(&value) else { continue };
            if self.contents[row as usize].leads_on() || self.label_of(named) != self.label_of(row) {
                continue;
            }
            self.contents[named as usize].set_named_by_page();
            if named != row {
                self.contents[row as usize].set_names_another();
            }
        }
    }

    /// The cluster of a row; `None` if unknown or if there is no such row.
    pub fn label_of(&self, row: u32) -> Option<u32> {
        self.label_by_row.get(row as usize).copied().filter(|label| *label != NO_LABEL)
    }

    /// The kinds that tie the row to another row: none for a row alone in its cluster, or unlabelled.
    pub fn kinds_of(&self, row: u32) -> EvidenceKinds {
        self.kinds_by_row.get(row as usize).copied().unwrap_or_default()
    }

    /// Every row's label, in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<u32>> + Clone {
        self.label_by_row.iter().map(|label| (*label != NO_LABEL).then_some(*label))
    }

    /// Whether two rows with different labels are known to show different pages: text that changes from fetch to fetch makes labels differ too, and of
    /// a redirect it may not be known what is shown where it leads.
    pub fn are_different(&self, row: u32, other: u32) -> bool {
        let content = |row: u32| self.contents.get(row as usize);
        let relation = |one: &Content| Some(one.relation(content(other)?, &self.likeness));
        content(row).and_then(relation) == Some(Relation::Different)
    }

    /// What was seen at a row.
    pub fn seen(&self, row: u32) -> Seen {
        let content = self.contents.get(row as usize);
        content.map_or(Seen::Unknown, |content| content.seen(self.label_of(row).is_some()))
    }

    /// What was seen at each row; once.
    pub(crate) fn take_contents(&mut self) -> Vec<Content> {
        std::mem::take(&mut self.contents)
    }

    /// Whether some labels came with the crawl.
    pub(crate) fn has_clusters(&self) -> bool {
        self.has_clusters
    }

    /// How much fetches of one page differ on the site.
    pub(crate) fn likeness(&self) -> Likeness {
        self.likeness
    }

    /// Number of rows, labelled or not.
    pub fn row_count(&self) -> usize {
        self.label_by_row.len()
    }

    /// Number of rows with a label.
    pub fn labelled_count(&self) -> usize {
        self.size_by_label.iter().map(|size| *size as usize).sum()
    }

    /// Number of clusters, those of one row included.
    pub fn cluster_count(&self) -> usize {
        self.size_by_label.len()
    }

    /// Number of rows of each cluster, in the order of the labels.
    pub fn cluster_sizes(&self) -> &[u32] {
        &self.size_by_label
    }

    /// Number of rows of the largest cluster; 0 if there is none.
    pub fn largest_cluster_size(&self) -> u32 {
        self.size_by_label.iter().copied().max().unwrap_or(0)
    }
}
