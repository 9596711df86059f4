/*!
What each URL is mapped to so far, and what an edit would change.

A URL's place is a number: the sum of one well-mixed number per pair that still counts. Forgetting a pair is a
subtraction, taking a value for another an exchange, so trying an edit costs one pass over the rows and a sort of those
that would move. Groups that an edit would join vote on it, one vote each: whether the pages of the joined groups are
the same.
*/

use rustc_hash::{FxHashMap, FxHashSet};

use crate::corpus::Corpus;

/// The most that one group counts.
const MAX_WEIGHT: u64 = 50;

/// What groups that an edit would join say about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Votes {
    /// Groups joined; one of many different pages counts as many.
    pub(super) groups: u64,
    /// Those that hold different pages.
    pub(super) failed: u64,
    /// Distinct pages among the groups that agreed.
    pub(super) pages: u64,
    /// URLs that would no longer stand alone.
    pub(super) merged: u64,
}

/// One edit: what some pairs count for from now on, in some rows.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    /// Rows it concerns: those with this pair, or all.
    pub(super) context: Option<u32>,
    /// Pairs by number, with the pair that they count as; `None` for nothing.
    pub(super) pairs: Vec<(u32, Option<u32>)>,
    /// Keys that are forgotten whatever their value is, also one that was never seen.
    pub(super) forgotten: Vec<u32>,
    /// Set when rows of the context must not meet rows outside of it.
    pub(super) mark: u64,
    /// Rows with one of these pairs are left alone.
    pub(super) except: Vec<u32>,
}

/// Where every URL stands.
pub(super) struct State<'c> {
    corpus: &'c Corpus,
    /// By row.
    places: Vec<u64>,
    /// `(place, row)`, sorted.
    by_place: Vec<(u64, u32)>,
    /// What a pair counts as, where no context says otherwise.
    counts_as: Vec<Option<u32>>,
    /// Rows of pair `i`: `rows[row_ends[i - 1]..row_ends[i]]`.
    rows: Vec<u32>,
    row_ends: Vec<usize>,
}

impl<'c> State<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let mut row_ends = vec![0usize; corpus.pair_count()];
        let all_rows = 0..corpus.len() as u32;
        for row in all_rows.clone() {
            corpus.pairs(row).iter().for_each(|&pair| row_ends[pair as usize] += 1);
        }
        let mut sum = 0;
        for end in &mut row_ends {
            sum += *end;
            *end = sum;
        }
        let mut next = row_ends.clone();
        let mut rows = vec![0u32; sum];
        for row in all_rows.clone().rev() {
            for &pair in corpus.pairs(row) {
                next[pair as usize] -= 1;
                rows[next[pair as usize]] = row;
            }
        }
        let places: Vec<u64> = all_rows
            .map(|row| corpus.pairs(row).iter().fold(0u64, |sum, &pair| sum.wrapping_add(mix(pair))))
            .collect();
        let counts_as = (0..corpus.pair_count() as u32).map(Some).collect();
        let mut state = Self { corpus, places, by_place: Vec::new(), counts_as, rows, row_ends };
        state.index();
        state
    }

    pub(super) fn corpus(&self) -> &'c Corpus {
        self.corpus
    }

    /// Where a row stands.
    pub(super) fn place(&self, row: u32) -> u64 {
        self.places[row as usize]
    }

    /// The rows that have a pair.
    pub(super) fn rows_of(&self, pair: u32) -> &[u32] {
        let pair = pair as usize;
        &self.rows[if pair == 0 { 0 } else { self.row_ends[pair - 1] }..self.row_ends[pair]]
    }

    /// What a pair counts as in all rows.
    pub(super) fn counts_as(&self, pair: u32) -> Option<u32> {
        self.counts_as[pair as usize]
    }

    fn index(&mut self) {
        self.by_place = self.places.iter().copied().zip(0..).collect();
        self.by_place.sort_unstable();
    }

    /// Rows that `edit` would move, with where to.
    fn moves(&self, edit: &Edit) -> Vec<(u32, u64)> {
        let becomes: FxHashMap<u32, Option<u32>> = edit.pairs.iter().copied().collect();
        let mut rows: Vec<u32> = match edit.context {
            Some(context) => self.rows_of(context).to_vec(),
            None => edit.pairs.iter().flat_map(|&(pair, _)| self.rows_of(pair)).copied().collect(),
        };
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter()
            .filter(|&row| {
                edit.except.is_empty()
                    || !self.corpus.pairs(row).iter().any(|pair| edit.except.contains(pair))
            })
            .filter_map(|row| {
                let mut place = self.place(row).wrapping_add(edit.mark);
                for pair in self.corpus.pairs(row) {
                    if let Some(new) = becomes.get(pair) {
                        let old = self.counts_as(*pair).map_or(0, mix);
                        place = place.wrapping_sub(old).wrapping_add(new.map_or(0, mix));
                    }
                }
                (place != self.place(row)).then_some((row, place))
            })
            .collect()
    }

    /// Pairs in whose company `edit` fails often, though it may hold elsewhere: those for which `is_context` holds.
    pub(super) fn exceptions(&self, edit: &Edit, is_context: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut tally: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for group in self.joined(edit).chunk_by(|a, b| a.0 == b.0) {
            let Some(Group { leader, voices }) = Group::of(self.corpus, group) else { continue };
            let has = |row: u32, pair: &u32| self.corpus.pairs(row).contains(pair);
            for &(label, row) in voices.iter().filter(|voice| voices.len() == 2 || **voice != leader) {
                let differs = u64::from(label != leader.0 || voices.len() == 2 && voices[0].0 != voices[1].0);
                let company = self.corpus.pairs(row).iter().filter(|pair| is_context(**pair));
                // In a group of two no one knows who is wrong: what they share is in question, and what either has.
                for &pair in company.filter(|pair| voices.len() == 2 || !has(leader.1, pair)) {
                    let (groups, failed) = tally.entry(pair).or_default();
                    *groups += 1;
                    *failed += differs;
                }
            }
        }
        let mut pairs: Vec<u32> = tally
            .into_iter()
            .filter(|(_, (groups, failed))| *failed >= 2 && 2 * failed >= *groups)
            .map(|(pair, _)| pair)
            .collect();
        pairs.sort_unstable();
        pairs
    }

    /// What the groups that `edit` would join say about it.
    pub(super) fn votes(&self, edit: &Edit) -> Votes {
        count(self.corpus, &self.joined(edit))
    }

    /// The rows of the groups that `edit` would join, group by group.
    fn joined(&self, edit: &Edit) -> Vec<Joined> {
        let labels = self.corpus.labels();
        let moves = self.moves(edit);
        let moved: FxHashSet<u32> = moves.iter().map(|(row, _)| *row).collect();
        let mut reached: Vec<u64> = moves.iter().map(|(_, place)| *place).collect();
        reached.sort_unstable();
        reached.dedup();
        let mut rows: Vec<Joined> =
            moves.iter().map(|&(row, place)| (place, self.place(row), labels[row as usize], row)).collect();
        for place in reached {
            let start = self.by_place.partition_point(|&(other, _)| other < place);
            let there = self.by_place[start..].iter().take_while(|&&(other, _)| other == place);
            let staying = there.filter(|(_, row)| !moved.contains(row));
            rows.extend(staying.map(|&(_, row)| (place, place, labels[row as usize], row)));
        }
        rows.sort_unstable();
        rows
    }

    /// Makes `edit` part of the state.
    pub(super) fn apply(&mut self, edit: &Edit) {
        for (row, place) in self.moves(edit) {
            self.places[row as usize] = place;
        }
        if edit.context.is_none() {
            for &(pair, new) in &edit.pairs {
                self.counts_as[pair as usize] = new;
            }
        }
        self.index();
    }
}

/// A row of a joined group: its new place, its old place, its label and its number.
type Joined = (u64, u64, u32, u32);

/// A group that an edit would join.
struct Group {
    /// The label of most parts, with a row that has it.
    leader: (u32, u32),
    /// One label and row for each part that says something, sorted.
    voices: Vec<(u32, u32)>,
}

impl Group {
    /// Reads the sorted rows of one group; `None` when nothing is joined, or nothing is known.
    fn of(corpus: &Corpus, rows: &[Joined]) -> Option<Self> {
        let mut parts = 0;
        let mut voices: Vec<(u32, u32)> = Vec::new();
        for part in rows.chunk_by(|a, b| a.1 == b.1) {
            parts += 1;
            voices.extend(majority(part));
        }
        voices.sort_unstable();
        let leader = voices.chunk_by(|a, b| a.0 == b.0).max_by_key(|run| run.len()).map(|run| run[0])?;
        // A part whose page may be the same after all says nothing.
        voices.retain(|voice| {
            voice.0 == leader.0 || corpus.content(leader.1).contradicts(corpus.content(voice.1))
        });
        (parts > 1).then_some(Self { leader, voices })
    }
}

/// Counts the votes of rows, sorted.
fn count(corpus: &Corpus, rows: &[Joined]) -> Votes {
    let mut votes = Votes::default();
    let mut pages: FxHashSet<u32> = FxHashSet::default();
    for rows in rows.chunk_by(|a, b| a.0 == b.0) {
        votes.merged += rows.chunk_by(|a, b| a.1 == b.1).count() as u64 - 1;
        let Some(Group { leader, voices }) = Group::of(corpus, rows) else { continue };
        if voices.len() < 2 {
            continue;
        }
        // A group of many different pages is as bad as that many groups of two.
        let different = (voices.chunk_by(|a, b| a.0 == b.0).count() as u64 - 1).min(MAX_WEIGHT);
        let agrees = voices.iter().filter(|voice| voice.0 == leader.0).count() > 1;
        if agrees && different == 0 {
            pages.insert(leader.0);
        }
        votes.groups += different + u64::from(agrees);
        votes.failed += different;
    }
    votes.pages = pages.len() as u64;
    votes
}

/// The label that more than half of the labelled rows have, with one of them; rows come sorted by label, the unlabelled
/// last.
fn majority(rows: &[Joined]) -> Option<(u32, u32)> {
    let labelled = rows.partition_point(|row| row.2 != crate::corpus::NO_LABEL);
    let middle = rows[..labelled].get(labelled / 2)?;
    let count = rows[..labelled].iter().filter(|row| row.2 == middle.2).count();
    (2 * count > labelled).then_some((middle.2, middle.3))
}

/// A well-spread number for a pair.
pub(super) fn mix(pair: u32) -> u64 {
    let mut x = u64::from(pair).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
