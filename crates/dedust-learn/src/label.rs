/*!
Turns what is known of the URLs of one site into duplicate labels.

Takes observations: a row number, its URL, and [`Clues`]. Gives [`Labels`]: for each row a cluster number,
or nothing where nothing is known, and the kinds of evidence that tie the row to other rows. Rows with one
label are duplicates, rows with two different labels are not, and a row without a label says neither.

What counts as evidence:

| kind | two rows are duplicates when |
|---|---|
| cluster | the crawl says so: equal text |
| redirect | both end at one URL (which may be one of the two), following redirects of other rows |
| canonical | both end at one URL, following canonical links, and redirects on the way |
| digest, text digest | the hashes are equal and no status other than 2xx was seen with them |
| simhash | fingerprints differ in at most [`MAX_HAMMING_BITS`], titles are equal, status as above |

Ties are transitive. What speaks against itself is not believed:

- A chain of redirects or of canonical links that runs into a loop leads nowhere and is no evidence.
- A URL with two different redirects has none; the same holds for canonical links and explicit clusters.
- Weaker evidence never joins two explicit clusters. A value found in two of them (the digest of a "no
  results" page, say) is refuted there and ties no row at all.
- Empty values, titles among them, digests of an empty body and the fingerprint 0 are no evidence.

Which rows get a label: where the site has explicit clusters, the rows in them and the rows tied to another
row; everywhere else, each row with any evidence, so that a row tied to nothing is a negative example.

The kinds are used in the order of the table, the values of one kind in the order of their hashes, so that
labels do not depend on the order of observation. Only hashes are kept, 12 to 20 bytes per value.
Reads no documents, parses no URLs: targets arrive in safe normal form, as the URLs do.
*/

mod chain;
mod link;
mod tie;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use self::link::SiteLinks;
use self::tie::Ties;
use crate::evidence::{EvidenceKind, EvidenceKinds};
use crate::simhash::near_pairs;
use xxhash_rust::xxh3::xxh3_64;

/// The most bits in which the fingerprints of near duplicates differ.
pub const MAX_HAMMING_BITS: u32 = 3;

/// MD5, SHA-1 (as hex, and in base 32 as in CDX files) and SHA-256 of an empty body.
const DIGESTS_OF_NOTHING: [&[u8]; 4] = [
    b"d41d8cd98f00b204e9800998ecf8427e",
    b"da39a3ee5e6b4b0d3255bfef95601890afd80709",
    b"3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
    b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];

const NO_LABEL: u32 = u32::MAX;

/// What one observation tells about a URL, apart from the URL itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clues<'a> {
    /// Explicit duplicate label.
    pub cluster: Option<&'a [u8]>,
    /// Target of `rel=canonical`, in safe normal form.
    pub canonical: Option<&'a [u8]>,
    /// Target of the redirect, in safe normal form.
    pub redirect: Option<&'a [u8]>,
    /// Hash of the body.
    pub digest: Option<&'a [u8]>,
    /// Hash of the body's text.
    pub text_digest: Option<&'a [u8]>,
    /// Fingerprint of the body's text.
    pub simhash: Option<u64>,
    /// Title of the page.
    pub title: Option<&'a [u8]>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Size of the response in bytes. No evidence by itself: equal sizes are common.
    pub size: Option<u64>,
}

/// A value seen with a row. Sorts by value; packed, because there is one per observation and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
struct Sighting {
    value: u64,
    row: u32,
}

impl Sighting {
    fn has_same_value(&self, other: &Sighting) -> bool {
        self.value == other.value
    }
}

/// A fingerprint seen with a row. Sorts by title, then by fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed(4))]
struct FingerprintSighting {
    title: u64,
    fingerprint: u64,
    row: u32,
}

/// Collects observations of one site.
///
/// ```
/// # use dedust_learn::{Clues, EvidenceKinds, LabelBuilder};
/// let mut builder = LabelBuilder::new(EvidenceKinds::AUTO);
/// let same_body = Clues { digest: Some(b"f674d8b9"), ..Clues::default() };
/// builder.observe(0, b"http://a.example/p?id=1", &same_body);
/// builder.observe(1, b"http://a.example/p?id=1&sid=9", &same_body);
/// builder.observe(2, b"http://a.example/p?id=2", &Clues { digest: Some(b"a4e7ec03"), ..Clues::default() });
/// let labels = builder.finish(4);
/// assert_eq!([0, 1, 2, 3].map(|row| labels.label_of(row)), [Some(0), Some(0), Some(1), None]);
/// assert_eq!(labels.kinds_of(1).to_string(), "digest");
/// ```
#[derive(Debug, Clone)]
pub struct LabelBuilder {
    kinds: EvidenceKinds,
    /// Hash of the URL of each row; kept only if targets are to be looked up.
    url_by_row: Vec<u64>,
    row_count: usize,
    clusters: Vec<Sighting>,
    redirects: Vec<Sighting>,
    canonicals: Vec<Sighting>,
    digests: Vec<Sighting>,
    text_digests: Vec<Sighting>,
    fingerprints: Vec<FingerprintSighting>,
}

impl LabelBuilder {
    /// A builder that uses evidence of these kinds and ignores all other.
    pub fn new(kinds: EvidenceKinds) -> LabelBuilder {
        LabelBuilder {
            kinds,
            url_by_row: Vec::new(),
            row_count: 0,
            clusters: Vec::new(),
            redirects: Vec::new(),
            canonicals: Vec::new(),
            digests: Vec::new(),
            text_digests: Vec::new(),
            fingerprints: Vec::new(),
        }
    }

    /// Notes one observation of the URL of `row`, which is in safe normal form.
    ///
    /// A row is one URL; it may be observed any number of times, and all that was seen counts.
    pub fn observe(&mut self, row: u32, url: &[u8], clues: &Clues<'_>) {
        self.row_count = self.row_count.max(row as usize + 1);
        let url_hash = xxh3_64(url);
        if self.follows_links() {
            if self.url_by_row.len() < self.row_count {
                self.url_by_row.resize(self.row_count, 0);
            }
            self.url_by_row[row as usize] = url_hash;
        }
        let note = |sightings: &mut Vec<Sighting>, kind, value: Option<u64>| {
            if let (true, Some(value)) = (self.kinds.contains(kind), value) {
                sightings.push(Sighting { value, row });
            }
        };
        note(&mut self.clusters, EvidenceKind::Cluster, hash_text(clues.cluster));
        // A redirect to the same safe normal form is how servers add a slash: it leads nowhere else.
        let redirect = hash_text(clues.redirect).filter(|target| *target != url_hash);
        note(&mut self.redirects, EvidenceKind::Redirect, redirect);
        note(&mut self.canonicals, EvidenceKind::Canonical, hash_text(clues.canonical));
        if clues.status.is_some_and(|status| !(200..300).contains(&status)) {
            return;
        }
        note(&mut self.digests, EvidenceKind::Digest, hash_digest(clues.digest));
        note(&mut self.text_digests, EvidenceKind::TextDigest, hash_digest(clues.text_digest));
        let fingerprint = clues.simhash.filter(|fingerprint| *fingerprint != 0);
        if let (true, Some(fingerprint), Some(title)) =
            (self.kinds.contains(EvidenceKind::Simhash), fingerprint, hash_text(clues.title))
        {
            self.fingerprints.push(FingerprintSighting { title, fingerprint, row });
        }
    }

    /// Decides the labels of the rows `0..row_count` (or of all rows observed, if these are more).
    pub fn finish(mut self, row_count: usize) -> Labels {
        let mut ties = Ties::new(row_count.max(self.row_count));
        let has_clusters = !self.clusters.is_empty();
        self.tie_clusters(&mut ties);
        if self.follows_links() {
            let links = SiteLinks {
                url_by_row: &self.url_by_row,
                redirects: &self.redirects,
                canonicals: &self.canonicals,
            };
            links.tie(&mut ties);
        }
        tie_equal(&mut ties, EvidenceKind::Digest, std::mem::take(&mut self.digests));
        tie_equal(&mut ties, EvidenceKind::TextDigest, std::mem::take(&mut self.text_digests));
        tie_similar(&mut ties, self.fingerprints);
        Labels::number(ties, has_clusters)
    }

    fn follows_links(&self) -> bool {
        self.kinds.contains(EvidenceKind::Redirect) || self.kinds.contains(EvidenceKind::Canonical)
    }

    fn tie_clusters(&mut self, ties: &mut Ties) {
        let mut clusters = std::mem::take(&mut self.clusters);
        clusters.sort_unstable_by_key(|sighting| (sighting.row, sighting.value));
        clusters.dedup();
        let mut undisputed: Vec<Sighting> = clusters
            .chunk_by(|left, right| left.row == right.row)
            .filter(|seen| seen.len() == 1)
            .flatten()
            .copied()
            .collect();
        undisputed.sort_unstable();
        let mut rows = Vec::new();
        for members in undisputed.chunk_by(Sighting::has_same_value) {
            rows.clear();
            rows.extend(members.iter().map(|sighting| sighting.row));
            ties.add_cluster(&rows);
        }
    }
}

/// Ties rows seen with an equal value.
fn tie_equal(ties: &mut Ties, kind: EvidenceKind, mut sightings: Vec<Sighting>) {
    sightings.sort_unstable();
    sightings.dedup();
    let mut members = Vec::new();
    for equal in sightings.chunk_by(Sighting::has_same_value) {
        members.clear();
        members.extend(equal.iter().map(|sighting| sighting.row));
        members.iter().for_each(|&row| ties.note_evidence(row));
        ties.tie(kind, &members);
    }
}

/// Ties rows with an equal title and similar fingerprints.
///
/// Equal fingerprints are tied first, so that the search for near pairs meets each fingerprint once.
fn tie_similar(ties: &mut Ties, mut sightings: Vec<FingerprintSighting>) {
    sightings.sort_unstable();
    sightings.dedup();
    let mut members = Vec::new();
    for same_title in sightings.chunk_by(|left, right| left.title == right.title) {
        let mut fingerprints = Vec::new();
        let mut rows = Vec::new();
        for equal in same_title.chunk_by(|left, right| left.fingerprint == right.fingerprint) {
            members.clear();
            members.extend(equal.iter().map(|sighting| sighting.row));
            members.iter().for_each(|&row| ties.note_evidence(row));
            if ties.tie(EvidenceKind::Simhash, &members) {
                fingerprints.push(equal[0].fingerprint);
                rows.push(equal[0].row);
            }
        }
        near_pairs(&fingerprints, MAX_HAMMING_BITS, |left, right| {
            ties.tie(EvidenceKind::Simhash, &[rows[left], rows[right]]);
        });
    }
}

fn hash_text(text: Option<&[u8]>) -> Option<u64> {
    text.map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()).map(xxh3_64)
}

/// As [`hash_text`], but the digest of an empty body, `sha1:` or the like before it or not, is no evidence.
fn hash_digest(digest: Option<&[u8]>) -> Option<u64> {
    let says_something = |digest: &&[u8]| {
        let bare = digest.rsplit(|byte| *byte == b':').next().unwrap_or(digest).trim_ascii();
        !DIGESTS_OF_NOTHING.iter().any(|nothing| bare.eq_ignore_ascii_case(nothing))
    };
    hash_text(digest.filter(says_something))
}

/// The duplicate labels of the rows of one site.
///
/// Labels are `0..cluster_count`, numbered by the first row that has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    label_by_row: Vec<u32>,
    kinds_by_row: Vec<EvidenceKinds>,
    size_by_label: Vec<u32>,
}

impl Labels {
    fn number(mut ties: Ties, has_clusters: bool) -> Labels {
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
        Labels { label_by_row, kinds_by_row: ties.into_kinds(), size_by_label }
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
