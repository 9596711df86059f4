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
| canonical | both name one URL, which is no redirect, no error and names no other; neither titles nor texts say otherwise |
| digest, text digest | the hashes are equal and no status other than 2xx was seen with them |
| main | the hashes of the main text are equal, and the titles, or for long texts the templates; status as above |
| simhash | fingerprints differ by what is measured to be equal on the site, and at most [`thresholds::labels::MAX_HAMMING_BITS`]; titles are equal, sketches resemble; status as above |
| shingles | sketches resemble by what is measured to be equal on the site; titles are equal; status as above |
| size | the smallest and the largest response are of equal size, titles do not differ; status as above |

Ties are transitive. What speaks against itself is not believed:

- A chain of redirects or of canonical links that runs into a loop leads nowhere and is no evidence.
- A URL with two different redirects has none; the same holds for canonical links and explicit clusters.
- Weaker evidence never joins two explicit clusters. A value found in two of them (the digest of a "no
  results" page, say) is refuted there and ties no row at all.
- A component whose pages have little in common hangs together by a thread, and is taken apart.
- Empty values, titles among them, digests of an empty body and the fingerprint 0 are no evidence.

Which rows get a label: where the site has explicit clusters, the rows in them and the rows tied to another
row; everywhere else, each row with any evidence, so that a row tied to nothing is a negative example.

The kinds are used in the order of the table, the values of one kind in the order of their hashes, so that
labels do not depend on the order of observation. Only hashes are kept, 12 to 20 bytes per value, and sketches.
Reads no documents, parses no URLs: targets arrive in safe normal form, as the URLs do.
*/

mod chain;
mod clues;
mod content;
mod labels;
mod link;
mod near;
mod thread;
mod tie;
mod title;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use self::clues::{Clues, MainClues};
pub(crate) use self::content::{Content, Relation};
pub use self::labels::Labels;

use self::link::SiteLinks;
use self::near::Sketches;
use self::tie::Ties;
use self::title::Titles;
use crate::evidence::{EvidenceKind, EvidenceKinds};
use crate::likeness::{LikenessBuilder, Measured, PageText, kind_of};
use crate::text_hash::TextHash;
use crate::thresholds;
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

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
/// # use dedust_learn::{Clues, EvidenceKinds};
/// # use dedust_learn::support::LabelBuilder;
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
    hash: TextHash,
    /// Hash of the URL of each row, and of what it has in common with others that are built alike.
    url_by_row: Vec<u64>,
    kind_by_row: Vec<u64>,
    row_count: usize,
    clusters: Vec<Sighting>,
    redirects: Vec<Sighting>,
    canonicals: Vec<Sighting>,
    digests: Vec<Sighting>,
    text_digests: Vec<Sighting>,
    /// Hashes of main text and title, and of main text and template.
    main_texts: Vec<Sighting>,
    fingerprints: Vec<FingerprintSighting>,
    sizes: Vec<(u32, u64)>,
    titles: Titles,
    sketches: Sketches,
    contents: Vec<Content>,
    likeness: LikenessBuilder,
}

impl LabelBuilder {
    /// A builder that uses evidence of these kinds and ignores all other.
    pub fn new(kinds: EvidenceKinds) -> LabelBuilder {
        Self::hashing(kinds, TextHash::default())
    }

    /// The same with hashes of its own.
    pub(crate) fn hashing(kinds: EvidenceKinds, hash: TextHash) -> LabelBuilder {
        LabelBuilder {
            kinds,
            hash,
            url_by_row: Vec::new(),
            kind_by_row: Vec::new(),
            row_count: 0,
            clusters: Vec::new(),
            redirects: Vec::new(),
            canonicals: Vec::new(),
            digests: Vec::new(),
            text_digests: Vec::new(),
            main_texts: Vec::new(),
            fingerprints: Vec::new(),
            sizes: Vec::new(),
            titles: Titles::default(),
            sketches: Sketches::default(),
            contents: Vec::new(),
            likeness: LikenessBuilder::hashing(hash),
        }
    }

    /// Notes one observation of the URL of `row`, which is in safe normal form.
    ///
    /// A row is one URL; it may be observed any number of times, and all that was seen counts.
    pub fn observe(&mut self, row: u32, url: &[u8], clues: &Clues<'_>) {
        self.row_count = self.row_count.max(row as usize + 1);
        let hash = self.hash;
        let url_hash = hash.of(url);
        if self.url_by_row.len() < self.row_count {
            self.url_by_row.resize(self.row_count, 0);
            self.kind_by_row.resize(self.row_count, 0);
            self.contents.resize(self.row_count, Content::default());
        }
        self.kind_by_row[row as usize] = kind_of(url, hash);
        self.contents[row as usize].observe(clues, hash);
        self.url_by_row[row as usize] = url_hash;
        let note = |sightings: &mut Vec<Sighting>, kind, value: Option<u64>| {
            if let (true, Some(value)) = (self.kinds.contains(kind), value) {
                sightings.push(Sighting { value, row });
            }
        };
        note(&mut self.clusters, EvidenceKind::Cluster, hash.of_text(clues.cluster));
        // A redirect to the same safe normal form is how servers add a slash: it leads nowhere else.
        let redirect = hash.of_text(clues.redirect).filter(|target| *target != url_hash);
        note(&mut self.redirects, EvidenceKind::Redirect, redirect);
        note(&mut self.canonicals, EvidenceKind::Canonical, hash.of_text(clues.canonical));
        if clues.status.is_some_and(|status| !(200..300).contains(&status)) {
            return;
        }
        let sketch = clues.main.as_ref().map(|main| &main.sketch);
        self.likeness.observe(url, PageText::of(clues, hash), clues.canonical, sketch);
        note(&mut self.digests, EvidenceKind::Digest, hash.of_digest(clues.digest));
        note(&mut self.text_digests, EvidenceKind::TextDigest, hash.of_digest(clues.text_digest));
        let title = hash.of_text(clues.title);
        if let Some(title) = title {
            self.titles.observe(row, title);
        }
        if let Some(main) = clues.main {
            // Hashes of different things: which of them is equal does not matter.
            let with = |value| xxh3_64_with_seed(main.digest, hash.of(&u64::to_le_bytes(value)));
            note(&mut self.main_texts, EvidenceKind::MainText, title.map(with));
            note(&mut self.main_texts, EvidenceKind::MainText, main.layout.map(with));
            self.sketches.observe(row, &main.sketch);
        }
        let fingerprint = clues.simhash.filter(|fingerprint| *fingerprint != 0);
        if let (true, Some(fingerprint), Some(title)) =
            (self.kinds.contains(EvidenceKind::Simhash), fingerprint, title)
        {
            self.fingerprints.push(FingerprintSighting { title, fingerprint, row });
        }
        if let (true, Some(size)) = (self.kinds.contains(EvidenceKind::Size), clues.size) {
            self.sizes.push((row, size));
        }
    }

    /// Decides the labels of the rows `0..row_count` (or of all rows observed, if these are more).
    pub fn finish(mut self, row_count: usize) -> Labels {
        let measured = std::mem::take(&mut self.likeness).finish();
        self.finish_with(row_count, measured)
    }

    /// Like [`LabelBuilder::finish`], on a site where pages are so much like themselves.
    fn finish_with(mut self, row_count: usize, Measured { likeness, uniform }: Measured) -> Labels {
        let row_count = row_count.max(self.row_count);
        self.url_by_row.resize(row_count, 0);
        self.contents.resize(row_count, Content::default());
        for (content, kind) in self.contents.iter_mut().zip(&self.kind_by_row) {
            if uniform.contains(kind) {
                content.set_uniform();
            }
        }
        follow_redirects(&mut self.contents, &self.url_by_row);
        let titles = self.titles.by_row(row_count);
        let mut ties = Ties::new(row_count);
        if !self.sketches.is_empty() {
            ties.keep_log();
        }
        let has_clusters = !self.clusters.is_empty();
        self.tie_clusters(&mut ties);
        if self.follows_links() {
            let links = SiteLinks {
                url_by_row: &self.url_by_row,
                redirects: &self.redirects,
                canonicals: &self.canonicals,
                titles: &titles,
                contents: &self.contents,
                likeness: &likeness,
            };
            links.tie(&mut ties);
        }
        tie_equal(&mut ties, EvidenceKind::Digest, std::mem::take(&mut self.digests));
        tie_equal(&mut ties, EvidenceKind::TextDigest, std::mem::take(&mut self.text_digests));
        tie_equal(&mut ties, EvidenceKind::MainText, std::mem::take(&mut self.main_texts));
        let mut fingerprints = std::mem::take(&mut self.fingerprints);
        if likeness.simhash.equal == 0 {
            // Texts that are known are compared; a fingerprint takes their place where it is all there is.
            for sighting in &fingerprints {
                ties.note_evidence(sighting.row);
            }
            fingerprints.retain(|sighting| self.contents[sighting.row as usize].is_known_by_fingerprint());
        } else {
            fingerprints.retain(|sighting| !self.contents[sighting.row as usize].is_uniform());
        }
        near::tie_similar(&mut ties, fingerprints, &self.sketches, &self.url_by_row, &likeness);
        if self.kinds.contains(EvidenceKind::Shingles) {
            let is_compared = |row: u32| !self.contents[row as usize].is_uniform();
            near::tie_resembling(
                &mut ties,
                &self.sketches,
                &titles,
                &self.url_by_row,
                &likeness,
                is_compared,
            );
        }
        self.tie_sizes(&mut ties, &titles);
        if !self.sketches.is_empty() {
            thread::split(&mut ties, &self.sketches, &self.url_by_row);
        }
        let mut labels = Labels::number(ties, has_clusters, self.contents, likeness);
        labels.note_names(self.canonicals, &self.url_by_row);
        labels
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

    /// Ties rows whose smallest and largest responses are of equal size.
    fn tie_sizes(&mut self, ties: &mut Ties, titles: &[u64]) {
        self.sizes.sort_unstable();
        let mut intervals: Vec<(u64, u64, u32)> = self
            .sizes
            .chunk_by(|left, right| left.0 == right.0)
            .map(|of_row| (of_row[0].1, of_row[of_row.len() - 1].1, of_row[0].0))
            .collect();
        intervals.sort_unstable();
        for equal in intervals.chunk_by(|left, right| (left.0, left.1) == (right.0, right.1)) {
            let mut rows: Vec<u32> = equal.iter().map(|interval| interval.2).collect();
            rows.iter().for_each(|&row| ties.note_evidence(row));
            title::groups(&mut rows, titles, |group| {
                ties.tie(EvidenceKind::Size, group);
            });
        }
    }
}

/// Gives rows that redirect to another row what is shown there.
fn follow_redirects(contents: &mut [Content], url_by_row: &[u64]) {
    if contents.iter().all(|content| content.redirect().is_none()) {
        return;
    }
    let rows: HashMap<u64, u32> = url_by_row.iter().copied().zip(0..).collect();
    let targets: Vec<(usize, Content)> = (0..contents.len())
        .filter_map(|row| {
            let mut at = contents[row].redirect()?;
            for _ in 0..thresholds::labels::MAX_REDIRECTS {
                let target = &contents[*rows.get(&at)? as usize];
                match target.redirect() {
                    Some(next) => at = next,
                    None => return Some((row, *target)),
                }
            }
            None
        })
        .collect();
    targets.into_iter().for_each(|(row, target)| contents[row].follow(&target));
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
