/*!
Joins rows into components, and keeps explicit clusters apart.

Explicit clusters come first; then ties of other kinds, each a set of rows that some value says are one
page. A set that touches two explicit clusters is refused as a whole, whatever the order of its rows.
*/

use crate::evidence::{EvidenceKind, EvidenceKinds};
use crate::union_find::UnionFind;

const NO_CLUSTER: u32 = u32::MAX;

/// Two rows that a value said are one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tie {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) kind: EvidenceKind,
}

/// Rows, the components they form so far, and why.
#[derive(Debug)]
pub(super) struct Ties {
    components: UnionFind,
    /// The explicit cluster that a component holds, by the component's root; empty if there are none at all.
    cluster_by_root: Vec<u32>,
    cluster_count: u32,
    kinds_by_row: Vec<EvidenceKinds>,
    has_evidence: Vec<bool>,
    /// Every tie that was believed, if they are to be looked at again.
    log: Option<Vec<Tie>>,
}

impl Ties {
    pub(super) fn new(row_count: usize) -> Ties {
        Ties {
            components: UnionFind::new(row_count),
            cluster_by_root: Vec::new(),
            cluster_count: 0,
            kinds_by_row: vec![EvidenceKinds::NONE; row_count],
            has_evidence: vec![false; row_count],
            log: None,
        }
    }

    /// From now on remembers ties one by one.
    pub(super) fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// The ties since [`Ties::keep_log`]; no more are remembered.
    pub(super) fn take_log(&mut self) -> Vec<Tie> {
        self.log.take().unwrap_or_default()
    }

    /// Takes all rows of a component apart and forgets why they were together.
    pub(super) fn dissolve(&mut self, rows: impl Iterator<Item = u32> + Clone) {
        self.components.dissolve(rows.clone());
        rows.for_each(|row| self.kinds_by_row[row as usize] = EvidenceKinds::NONE);
    }

    /// Adds an explicit cluster, of one row or more. Each row is in one cluster at most.
    pub(super) fn add_cluster(&mut self, rows: &[u32]) {
        self.cluster_by_root.resize(self.row_count(), NO_CLUSTER);
        self.tie(EvidenceKind::Cluster, rows);
        if let Some(&row) = rows.first() {
            let root = self.components.find(row);
            self.cluster_by_root[root as usize] = self.cluster_count;
            self.cluster_count += 1;
        }
    }

    /// Unites rows that a value of this kind says are one page, and returns whether that was believed.
    pub(super) fn tie(&mut self, kind: EvidenceKind, rows: &[u32]) -> bool {
        let Some((&first, others)) = rows.split_first() else {
            return true;
        };
        let mut cluster = self.cluster_of(first);
        for &row in others {
            match (cluster, self.cluster_of(row)) {
                (Some(left), Some(right)) if left != right => return false,
                (None, right) => cluster = right,
                _ => {}
            }
        }
        for &row in others {
            self.components.union(first, row);
            self.add_kind(kind, row);
            if let Some(log) = &mut self.log {
                log.push(Tie { left: first, right: row, kind });
            }
        }
        if !others.is_empty() {
            self.add_kind(kind, first);
        }
        if let Some(cluster) = cluster {
            let root = self.components.find(first);
            self.cluster_by_root[root as usize] = cluster;
        }
        true
    }

    /// Notes a further kind that a tie of this row rests on.
    pub(super) fn add_kind(&mut self, kind: EvidenceKind, row: u32) {
        self.kinds_by_row[row as usize] |= kind.into();
    }

    /// Whether there are explicit clusters.
    pub(super) fn has_clusters(&self) -> bool {
        self.cluster_count > 0
    }

    /// Notes that something is known of a row, tied to others or not.
    pub(super) fn note_evidence(&mut self, row: u32) {
        self.has_evidence[row as usize] = true;
    }

    pub(super) fn has_evidence(&self, row: u32) -> bool {
        self.has_evidence[row as usize]
    }

    /// Whether the row is in one component with another row.
    pub(super) fn is_tied(&self, row: u32) -> bool {
        !self.kinds_by_row[row as usize].is_empty()
    }

    /// The explicit cluster that the row is in or tied to.
    pub(super) fn cluster_of(&mut self, row: u32) -> Option<u32> {
        if self.cluster_by_root.is_empty() {
            return None;
        }
        let root = self.components.find(row);
        Some(self.cluster_by_root[root as usize]).filter(|cluster| *cluster != NO_CLUSTER)
    }

    pub(super) fn root_of(&mut self, row: u32) -> u32 {
        self.components.find(row)
    }

    pub(super) fn row_count(&self) -> usize {
        self.kinds_by_row.len()
    }

    pub(super) fn into_kinds(self) -> Vec<EvidenceKinds> {
        self.kinds_by_row
    }
}
