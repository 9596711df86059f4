/*!
Of an edit that fails, what holds: where one more thing is true of a URL, or with a few exceptions.
*/

use std::cmp::Reverse;

use dedust::{Spot, Test, TokenKey};
use rustc_hash::{FxHashMap, FxHashSet};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::accept::Refusal;
use super::differ::Differ;
use super::draft::Draft;
use super::families::{Family, is_volatile};
use super::search::{Candidate, Judged, Search};
use super::vote::{Votes, joined};

/// Conditions under which a failing edit is tried again.
const MAX_CONTEXTS: usize = 8;
/// An edit that fails more often is not easily believed anywhere.
const MAX_SUSPECT: f64 = 0.25;
/// Groups that must agree of pages that show something else from one visit to the next.
const MIN_VOLATILE: u64 = 3;
/// Exceptions that an edit may have.
const MAX_EXCEPTIONS: usize = 3;

impl Search<'_> {
    /// The candidate if it is believed; if not, it and what is believed of it under a condition.
    pub(super) fn judged(&self, candidate: Candidate) -> Vec<Judged> {
        let judged = self.vote(candidate);
        // A part that holds by itself must not speak for the others. What is rare is proven together.
        if judged.refusal.is_none()
            && judged.candidate.draft.change.len() > 1
            && judged.candidate.family != Family::Tracking
        {
            let parts = self.parts_of(&judged.candidate).map(|part| self.vote(part));
            let believed: Vec<Judged> = parts.filter(|part| part.refusal.is_none()).collect();
            if !believed.is_empty() {
                return believed;
            }
        }
        let is_settled = match judged.refusal {
            None => judged.votes.against < 1 && self.volatile.is_empty(),
            Some(Refusal::Fails) => {
                judged.votes.agreeing < 3 || 10 * judged.votes.agreeing < judged.votes.against
            }
            Some(_) => true,
        };
        if is_settled {
            return vec![judged];
        }
        let candidate = &judged.candidate;
        let differ = Differ { table: &self.table };
        // How often each pair is seen among those for and against.
        let mut tally: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for group in joined(&self.table, &self.table.moves(&candidate.draft)) {
            let (with, against) = group.sides(self.table.corpus());
            // What is chosen here must hold where nobody looked.
            if with.len() + against.len() < 2 || group.is_held_out() {
                continue;
            }
            let mut company = FxHashSet::default();
            if against.is_empty() {
                company.extend(with.iter().flat_map(|&row| self.table.row(row)).copied());
                company.iter().for_each(|&pair| tally.entry(pair).or_default().0 += 1);
            } else if with.len() == 1 && against.len() == 1 {
                // Nobody knows who is wrong.
                company.extend(with.iter().chain(&against).flat_map(|&row| self.table.row(row)).copied());
                company.iter().for_each(|&pair| tally.entry(pair).or_default().1 += 1);
            } else {
                for &row in &against {
                    let others = self.table.row(with[0]);
                    company.extend(self.table.row(row).iter().filter(|pair| !others.contains(pair)).copied());
                }
                company.iter().for_each(|&pair| tally.entry(pair).or_default().1 += 1);
            }
        }
        tally.retain(|&pair, _| differ.is_context(pair));
        let test =
            |pair: u32| (Spot::Key(self.table.key_of(pair).clone()), self.table.value_of(pair).clone());
        let mut results = Vec::new();
        let share = judged.votes.against as f64 / judged.votes.all as f64;
        let mut exceptions: Vec<u32> = tally
            .iter()
            .filter(|&(&pair, &(with, against))| {
                let is_near = !matches!(self.table.key_of(pair), TokenKey::PathSegment(2..));
                let value = self.table.value_of(pair).as_text().unwrap_or_default();
                let is_frequent =
                    against >= 2 && (against >= with || is_surprising(against, with + against, share));
                let is_expected = against >= 1 && 2 * against >= with && is_volatile(value);
                is_near && (is_frequent || is_expected)
            })
            .map(|(pair, _)| *pair)
            .collect();
        if judged.refusal.is_none() {
            exceptions.extend(self.unproven(&candidate.draft, &tally));
        }
        exceptions.sort_unstable();
        exceptions.dedup();
        if !exceptions.is_empty() && exceptions.len() <= MAX_EXCEPTIONS && !candidate.draft.forgets_path() {
            let mut draft = Some(candidate.draft.clone());
            for &pair in &exceptions {
                let (spot, value) = test(pair);
                draft = draft.and_then(|draft| draft.except(spot, value));
            }
            if let Some(draft) = draft.filter(|draft| !draft.change.is_empty()) {
                let family = if draft.forgets_path() { Family::Relevant } else { candidate.family };
                let is_suspect = candidate.is_suspect || judged.refusal.is_some();
                let excepted = self.vote(Candidate { draft, family, is_suspect, ..candidate.clone() });
                // Exceptions to what is believed must be where it fails, not where wrong labels happen to be.
                let Votes { all, against, .. } = judged.votes;
                if judged.refusal.is_some()
                    || 2 * excepted.votes.against * all <= against * excepted.votes.all
                {
                    results.push(excepted);
                }
            }
        }
        if judged.refusal.is_some() && results.iter().all(|result| result.refusal.is_some()) {
            let mut contexts: Vec<(u64, u32)> = tally
                .iter()
                .filter(|(_, (with, against))| *with >= 3 && 10 * against <= *with)
                .map(|(pair, (with, _))| (*with, *pair))
                .collect();
            let is_suspect = judged.votes.contested_share() > MAX_SUSPECT + self.noise.wrong;
            contexts.sort_unstable_by_key(|&(with, pair)| (Reverse(with), pair));
            for &(_, pair) in contexts.iter().take(MAX_CONTEXTS) {
                let (spot, value) = test(pair);
                if let Some(draft) = candidate.draft.and(spot, Test::Is(value)) {
                    // Where it was found to hold, it must be proven to.
                    let chosen = candidate.family.chosen();
                    let family = if draft.forgets_path() { Family::Relevant } else { chosen };
                    results.push(self.vote(Candidate { draft, family, is_suspect, ..candidate.clone() }));
                }
            }
        }
        if results.iter().all(|result| result.refusal.is_some()) {
            results.push(judged);
        }
        results
    }
}

impl Search<'_> {
    /// Pages that are said to show something else from one visit to the next, less those that were seen not to: it is
    /// the page that changes, whatever edit brings its URLs together.
    pub(super) fn still_volatile(&self) -> Vec<u32> {
        let mut pairs = self.volatile.clone();
        let offered = if pairs.is_empty() { Vec::new() } else { self.offered() };
        let mut tally: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        let is_known = |family: Family| !matches!(family, Family::Other | Family::Relevant);
        for candidate in offered.iter().filter(|candidate| is_known(candidate.family)) {
            for group in joined(&self.table, &self.table.moves(&candidate.draft)) {
                let (with, against) = group.sides(self.table.corpus());
                let Some(&first) = with.first().filter(|_| with.len() + against.len() > 1) else { continue };
                for pair in pairs.iter().filter(|pair| self.table.row(first).contains(pair)) {
                    let (agreeing, contradicting) = tally.entry(*pair).or_default();
                    *(if against.is_empty() { agreeing } else { contradicting }) += 1;
                }
            }
        }
        pairs.retain(|pair| {
            let (agreeing, contradicting) = tally.get(pair).copied().unwrap_or_default();
            contradicting > 0 && agreeing < MIN_VOLATILE + 10 * contradicting
        });
        pairs
    }

    /// Pages that show something else from one visit to the next, of which too few were seen to agree.
    fn unproven(&self, draft: &Draft, tally: &FxHashMap<u32, (u64, u64)>) -> Vec<u32> {
        let is_seen = |pair: &u32| tally.get(pair).is_some_and(|&(with, _)| with >= MIN_VOLATILE);
        let unseen = self.volatile.iter().copied().filter(|pair| !is_seen(pair));
        unseen.filter(|&pair| self.table.moves_any_with(draft, pair)).collect()
    }
}

/// Whether so many failures would hardly be seen if they were no more frequent than elsewhere.
fn is_surprising(failures: u64, trials: u64, share: f64) -> bool {
    let expected = Binomial::new(share.clamp(0.02, 1.0), trials);
    failures >= 3 && expected.is_ok_and(|expected| expected.sf(failures - 1) < 0.001)
}
