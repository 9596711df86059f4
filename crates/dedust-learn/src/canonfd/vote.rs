/*!
What the groups of URLs that a rule would join say about it.

Every group that a rule would join votes: the URLs of each form it joins speak with the label of their majority, and
those that agree with most are for the rule, the others against it. A large cluster counts little more than a small one,
so that one page with a thousand URLs cannot outvote a site.

URLs that answer with an error have a voice too, against a page. Labels lie. One that contradicts its company again and again is that of an error page or of an empty list, and one
whose page stands elsewhere has been put on the wrong URL: neither is heard. Labels that differ do not contradict when
the pages look alike. Two groups in five are held out when labels are
silenced: the failure rate that is stated is theirs alone.
*/

use foldhash::{HashMap, HashSet};

use super::accept::Noise;
use super::table::{RowSet, Table};
use crate::corpus::{Corpus, NO_LABEL};
use crate::label::Relation;
use crate::thresholds::vote as limits;

/// The label of all URLs that answer with an error which does not pass.
const ERROR: u32 = NO_LABEL - 1;

/// What groups that a rule would join say about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Votes {
    /// Of all groups.
    pub(super) cast: Ballot,
    /// Of the groups that are held out.
    pub(super) held_out_cast: Ballot,
    /// Groups in which all agree.
    pub(super) agreeing: u64,
    /// Distinct pages of those groups.
    pub(super) pages: u64,
    /// Forms that would be joined to others.
    pub(super) merged: u64,
    /// URLs that would be changed and joined to others, and URLs that would be changed for nothing.
    pub(super) joined: u64,
    pub(super) idle: u64,
    /// Groups that vote and are held out.
    pub(super) held_out: u64,
    /// Those of them that hold more than one page.
    pub(super) held_out_failures: u64,
}

/// Votes for and against a rule, by how much there is to say against them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ballot {
    /// Votes for it.
    pub(super) with: u64,
    /// Votes against it that nothing speaks against.
    pub(super) against: u64,
    /// Votes of pages that differ slightly.
    pub(super) slight: u64,
    /// Votes against it by labels that no other URL of their form has.
    pub(super) loose: u64,
    /// Votes against it by labels that contradict their company everywhere, or whose page stands elsewhere.
    pub(super) disbelieved: u64,
}

/// Votes as they are counted on a site with so many wrong labels. What is excused is in neither number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Votes in all.
    pub(super) all: u64,
    /// Those of them against the rule.
    pub(super) against: u64,
}

impl Ballot {
    /// All votes.
    pub(super) fn all(&self) -> u64 {
        self.with + self.slight + self.against + self.loose + self.disbelieved
    }

    /// The share of votes against it, believed or not, but for slight differences.
    pub(super) fn contested_share(&self) -> f64 {
        (self.against + self.loose + self.disbelieved) as f64 / self.all().max(1) as f64
    }

    /// The share of votes by labels that are likely to be wrong.
    pub(super) fn disbelieved_share(&self) -> f64 {
        self.disbelieved as f64 / self.all().max(1) as f64
    }

    /// Counts votes on a site with so many wrong labels. No more votes are excused than labels are wrong: a page that stands
    /// elsewhere too may be a duplicate that was not brought together yet, and pages that differ slightly may be two.
    pub(super) fn tally(&self, noise: &Noise) -> Tally {
        let quota = |share: f64| (share * self.all() as f64) as u64;
        let disbelieved =
            self.disbelieved.min(if noise.is_of_labels { u64::MAX } else { quota(noise.wrong) });
        let loose = ((disbelieved as f64 * limits::LIKELY_WRONG) as u64).min(self.loose);
        let slight = self.slight.min(quota(noise.slight));
        let against =
            self.slight + self.against + self.loose + self.disbelieved - disbelieved - loose - slight;
        Tally { all: self.all() - disbelieved - slight, against }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.with += other.with;
        self.slight += other.slight;
        self.against += other.against;
        self.loose += other.loose;
        self.disbelieved += other.disbelieved;
    }
}

/// What pages that differ slightly do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SlightVotes {
    /// They vote against a rule, beyond what fetches of one page differ by.
    Count,
    /// They say nothing: most rules of this kind are right on most sites, and pages repeat their own URL in their text.
    Abstain,
}

/// The rows of a group, one for each part that says something.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    /// Those that show the page of most.
    pub(super) with: Vec<u32>,
    /// Those that show nearly the same.
    pub(super) slight: Vec<u32>,
    /// Those that show something else.
    pub(super) against: Vec<u32>,
}

impl Sides {
    /// Whether there is anything to compare.
    pub(super) fn are_several(&self) -> bool {
        self.with.len() + self.slight.len() + self.against.len() > 1
    }
}

/// A form that a rule would join to others: the label of its majority, and a row that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Voice {
    label: u32,
    row: u32,
    /// How many rows have the label there.
    rows: u32,
}

/// A group that a rule would join.
pub(super) struct Group {
    /// Where it would stand.
    form_id: u64,
    /// Its parts.
    parts: usize,
    /// URLs that would come there.
    coming: usize,
    /// Those that say something, sorted.
    voices: Vec<Voice>,
    /// Those that say something and are not believed.
    disbelieved: usize,
}

impl Group {
    /// The label that most parts have, with a row that has it; errors have no page in common.
    fn leader(&self) -> Option<Voice> {
        let runs = self.voices.chunk_by(|a, b| a.label == b.label).filter(|run| run[0].label != ERROR);
        runs.max_by_key(|run| (run.len(), run.iter().map(|voice| voice.rows).sum::<u32>())).map(|run| run[0])
    }

    /// What its parts say, one row for each.
    pub(super) fn sides(&self, corpus: &Corpus, slight: SlightVotes) -> Sides {
        let Some(leader) = self.leader() else { return Sides::default() };
        let mut sides = Sides::default();
        for voice in &self.voices {
            if voice.label == leader.label {
                sides.with.push(voice.row);
                continue;
            }
            match (corpus.relation(leader.row, voice.row), slight) {
                (Relation::Same, _) => sides.with.push(voice.row),
                (Relation::Slight, SlightVotes::Count) => sides.slight.push(voice.row),
                (Relation::Different, _) => sides.against.push(voice.row),
                (Relation::Slight, SlightVotes::Abstain) | (Relation::Unknown, _) => {}
            }
        }
        sides
    }

    /// Whether it holds so many pages that wrong labels are no excuse.
    fn is_incoherent(&self) -> bool {
        let labels = self.voices.chunk_by(|a, b| a.label == b.label).count();
        labels >= limits::MIN_INCOHERENT_LABELS && 2 * labels > self.voices.len()
    }

    fn believe_only(&mut self, is_believed: impl Fn(&Voice) -> bool) {
        if self.is_incoherent() {
            return;
        }
        let before = self.voices.len();
        self.voices.retain(is_believed);
        self.disbelieved += before - self.voices.len();
    }

    /// Whether it has no part in choosing.
    pub(super) fn is_held_out(&self) -> bool {
        self.form_id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
            < u64::from(u32::MAX) / limits::HELD_OUT_OF * limits::HELD_OUT
    }
}

/// The groups that a rule would join which moves these rows.
pub(super) fn joined(table: &Table<'_>, moves: &[(u32, u64)]) -> Vec<Group> {
    let corpus = table.corpus();
    let label = |row: u32| match corpus.labels()[row as usize] {
        NO_LABEL if corpus.content(row).is_error() => ERROR,
        label => label,
    };
    let moved = RowSet::of(moves.iter().map(|(row, _)| *row), table.corpus().len());
    let mut groups = Vec::new();
    // The rows that would have one form.
    let mut rows: Vec<MovedRow> = Vec::new();
    for coming in by_form(moves).chunk_by(|a, b| a.0 == b.0) {
        let form_id = coming[0].0;
        let mut staying = table.at(form_id).filter(|&row| !moved.contains(row)).peekable();
        if coming.len() == 1 && staying.peek().is_none() {
            continue;
        }
        rows.clear();
        rows.extend(coming.iter().map(|&(_, row)| (table.form_id(row), label(row), row)));
        rows.extend(staying.map(|row| (form_id, label(row), row)));
        if rows.iter().all(|row| row.0 == rows[0].0) {
            continue;
        }
        rows.sort_unstable();
        let parts = rows.chunk_by(|a, b| a.0 == b.0);
        let count = parts.clone().count();
        let mut voices: Vec<Voice> = parts.filter_map(majority).collect();
        voices.sort_unstable();
        let coming = coming.len();
        groups.push(Group { form_id, parts: count, coming, voices, disbelieved: 0 });
    }
    silence(&mut groups);
    silence_displaced(table, moves, &mut groups);
    groups
}

/// The rows that move, in the order of their forms and then of the rows: moves come in the order of the rows.
pub(super) fn by_form(moves: &[(u32, u64)]) -> Vec<(u64, u32)> {
    // Form ids are well-spread numbers, so their first bits divide them into lists of a few.
    let bits = moves.len().checked_ilog2().unwrap_or_default().max(1);
    let list = |form_id: u64| (form_id >> (64 - bits)) as usize;
    let mut ends = vec![0u32; 1 << bits];
    moves.iter().for_each(|(_, form_id)| ends[list(*form_id)] += 1);
    let mut end = 0;
    for start in &mut ends {
        end += std::mem::replace(start, end);
    }
    let mut rows = vec![(0, 0); moves.len()];
    for &(row, form_id) in moves {
        let end = &mut ends[list(form_id)];
        rows[*end as usize] = (form_id, row);
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        rows[start..end as usize].sort_unstable();
        start = end as usize;
    }
    rows
}

/// The form id of a row, its label and its number.
type MovedRow = (u64, u32, u32);

/// The label that more than half of the labelled rows have; rows come sorted by label, the unlabelled last.
fn majority(rows: &[MovedRow]) -> Option<Voice> {
    let labelled = rows.partition_point(|row| row.1 != NO_LABEL);
    let &(_, label, row) = rows[..labelled].get(labelled / 2)?;
    let count = rows[..labelled].iter().filter(|row| row.1 == label).count();
    (2 * count > labelled).then_some(Voice { label, row, rows: count as u32 })
}

/// Takes the voice from labels that contradict their company wherever they stand: those of error pages and of empty
/// lists. Judged by the groups that are not held out.
fn silence(groups: &mut [Group]) {
    let mut tally: HashMap<u32, (u32, u32)> = HashMap::default();
    for group in groups.iter().filter(|group| !group.is_held_out() && group.voices.len() > 1) {
        if group.is_incoherent() {
            continue;
        }
        let pages = group.voices.chunk_by(|a, b| a.label == b.label).filter(|run| run[0].label != ERROR);
        for run in pages {
            let (agreeing, contradicting) = tally.entry(run[0].label).or_default();
            if 2 * run.len() > group.voices.len() {
                *agreeing += 1;
            } else {
                *contradicting += 1;
            }
        }
    }
    tally.retain(|_, (agreeing, contradicting)| {
        *contradicting >= limits::MIN_CONTRADICTIONS && contradicting > agreeing
    });
    if !tally.is_empty() {
        for group in groups {
            group.believe_only(|voice| !tally.contains_key(&voice.label));
        }
    }
}

/// Takes the voice from labels whose page stands elsewhere: more URLs with that label would have another form than
/// at this one, so this one has got the label of another page.
fn silence_displaced(table: &Table<'_>, moves: &[(u32, u64)], groups: &mut [Group]) {
    let contested = |group: &Group| {
        group.voices.first().map(|voice| voice.label) != group.voices.last().map(|voice| voice.label)
    };
    if !groups.iter().any(contested) {
        return;
    }
    let form_id = |row: u32| match moves.binary_search_by_key(&row, |(moved, _)| *moved) {
        Ok(at) => moves[at].1,
        Err(_) => table.form_id(row),
    };
    for group in groups {
        if !contested(group) {
            continue;
        }
        let here = group.form_id;
        group.believe_only(|voice| {
            if voice.label == ERROR {
                return true;
            }
            let mut form_ids: Vec<u64> = table
                .rows_with_label(voice.label)
                .iter()
                .take(limits::MAX_ROWS_OF_LABEL)
                .map(|&row| form_id(row))
                .collect();
            form_ids.sort_unstable();
            let run = |run: &[u64]| (run[0], run.len());
            let mut counts = form_ids.chunk_by(|a, b| a == b).map(run);
            let there = counts.clone().filter(|(form_id, _)| *form_id != here).map(|(_, count)| count).max();
            let count = counts.find(|(form_id, _)| *form_id == here).map_or(0, |(_, count)| count);
            there.is_none_or(|there| there <= count)
        });
    }
}

/// Counts votes.
pub(super) fn count(table: &Table<'_>, groups: &[Group], slight: SlightVotes) -> Votes {
    let corpus = table.corpus();
    let label = |row: u32| corpus.labels()[row as usize];
    // No more than one URL of this form has the label, whatever others do: the label may be wrong.
    let is_alone = |row: u32| {
        if label(row) == NO_LABEL {
            return false;
        }
        let rows = table.rows_with_label(label(row)).iter().take(limits::MAX_ROWS_OF_LABEL);
        rows.filter(|&&other| table.form_id(other) == table.form_id(row)).count() == 1
    };
    let mut votes = Votes::default();
    let mut pages: HashSet<u32> = HashSet::default();
    for group in groups {
        votes.merged += group.parts as u64 - 1;
        votes.joined += group.coming as u64;
        let mut cast = Ballot { disbelieved: group.disbelieved as u64, ..Ballot::default() };
        let sides = group.sides(corpus, slight);
        if sides.are_several() {
            let Sides { with, slight, against } = sides;
            let mut labels: Vec<u32> = against.iter().map(|&row| label(row)).collect();
            labels.sort_unstable();
            labels.dedup();
            let count = labels.len() as u64;
            cast.with = (with.len() as u64 - 1).min(limits::MAX_OF_GROUP);
            cast.slight = (slight.len() as u64).min(limits::MAX_OF_GROUP);
            if count > 0
                && count <= limits::MAX_LOOSE_LABELS
                && (against.iter().all(|&row| is_alone(row)) || (with.len() == 1 && is_alone(with[0])))
            {
                cast.loose = count;
            } else {
                cast.against = count;
            }
            if count == 0 && slight.is_empty() {
                votes.agreeing += 1;
                pages.extend(with.first().map(|&row| label(row)));
            }
            if group.is_held_out() {
                votes.held_out += 1;
                votes.held_out_failures += u64::from(count > 0 || !slight.is_empty());
            }
        }
        votes.cast.add(&cast);
        if group.is_held_out() {
            votes.held_out_cast.add(&cast);
        }
    }
    votes.pages = pages.len() as u64;
    votes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_sorted_by_form_and_row() {
        for count in [0, 1, 2, 3, 1000] {
            let form_id = |row: u32| (u64::from(row) % 700).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let moves: Vec<(u32, u64)> = (0..count).map(|row| (row, form_id(row))).collect();
            let mut sorted: Vec<(u64, u32)> = moves.iter().map(|&(row, form_id)| (form_id, row)).collect();
            sorted.sort();
            assert_eq!(by_form(&moves), sorted);
        }
    }
}
