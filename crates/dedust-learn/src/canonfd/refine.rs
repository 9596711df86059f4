/*!
Of a rule that fails, what holds: where one more thing is true of a URL, or with a few exceptions.
*/

use std::cmp::Reverse;

use dedust::rules::{Spot, Test, UrlPart, Value};
use foldhash::{HashMap, HashSet};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::accept::Refusal;
use super::differ::Differ;
use super::draft::Draft;
use super::families::{Family, is_volatile};
use super::search::{Candidate, Judged, Search};
use super::vote::{Group, Sides, Tally, joined};
use crate::thresholds::{refine as limits, work};

/// How many groups with a pair agree, and in how many it stands where they do not.
type PairTally = HashMap<u32, (u64, u64)>;

impl Search<'_> {
    /// The candidate if it is believed; if not, it and what is believed of it under a condition.
    pub(super) fn judged(&self, candidate: Candidate) -> Vec<Judged> {
        self.refined(candidate).into_iter().filter_map(|judged| self.where_shown(judged)).collect()
    }

    /// The candidate if it is believed, and if not what is believed of it under a condition, on any hosts.
    fn refined(&self, candidate: Candidate) -> Vec<Judged> {
        let judged = self.vote(candidate);
        let parts = self.believed_parts(&judged);
        if !parts.is_empty() {
            return parts;
        }
        let against = judged.votes.cast.tally(&self.noise).against;
        let is_settled = match judged.refusal {
            None => against < 1 && self.volatile.is_empty(),
            Some(Refusal::Fails | Refusal::TooFewVotes) => {
                against == 0
                    || judged.votes.agreeing < limits::MIN_AGREEING
                    || limits::AGAINST_PER_AGREEING * judged.votes.agreeing < against
            }
            Some(_) => true,
        };
        if is_settled {
            return vec![judged];
        }
        let groups = self.groups(&judged.candidate);
        let mut results: Vec<Judged> = self.with_exceptions(&judged, &groups).into_iter().collect();
        let is_refused = |results: &[Judged]| results.iter().all(|result| result.refusal.is_some());
        if judged.refusal.is_some() && is_refused(&results) {
            results.extend(self.in_contexts(&judged, &groups));
        }
        if is_refused(&results) {
            results.push(judged);
        }
        results
    }

    /// Of several changes that are believed together, those that are believed alone: they must not speak for the others.
    /// What is rare is proven together.
    fn believed_parts(&self, judged: &Judged) -> Vec<Judged> {
        let Judged { candidate, refusal, .. } = judged;
        if refusal.is_some() || candidate.draft.change.len() < 2 || candidate.family == Family::Tracking {
            return Vec::new();
        }
        let parts = self.parts_of(candidate).map(|part| self.vote(part));
        parts.filter(|part| part.refusal.is_none()).collect()
    }

    /// How often each pair that something may depend on is seen where a rule holds and where it fails. Where a rule is to
    /// be made is chosen without the groups that are held out, which then must agree; where it is not to be made may be chosen
    /// by all.
    fn tally(&self, candidate: &Candidate, groups: &[Group], with_held_out: bool) -> PairTally {
        let mut tally = PairTally::default();
        let mut pairs = 0;
        for group in groups {
            let sides = group.sides(self.table.corpus(), candidate.slight_votes());
            if !sides.are_several() || (!with_held_out && group.is_held_out()) {
                continue;
            }
            let Sides { with, slight, against } = sides;
            pairs += with.iter().chain(&against).map(|&row| self.table.row(row).len() as u64).sum::<u64>();
            let mut company = HashSet::default();
            if against.is_empty() && !slight.is_empty() {
                continue;
            }
            if against.is_empty() {
                company.extend(with.iter().flat_map(|&row| self.table.row(row)).copied());
                company.iter().for_each(|&pair| tally.entry(pair).or_default().0 += 1);
            } else if with.len() == 1 && against.len() == 1 {
                // Nobody knows who is wrong.
                company.extend(with.iter().chain(&against).flat_map(|&row| self.table.row(row)).copied());
                company.iter().for_each(|&pair| tally.entry(pair).or_default().1 += 1);
            } else {
                let others = self.table.row(with[0]);
                for &row in &against {
                    company.extend(self.table.row(row).iter().filter(|pair| !others.contains(pair)).copied());
                }
                company.iter().for_each(|&pair| tally.entry(pair).or_default().1 += 1);
            }
        }
        self.table.add_work(work::PER_COMPANION * pairs);
        let differ = Differ { table: &self.table };
        tally.retain(|&pair, _| differ.is_context(pair));
        tally
    }

    /// The rule, but not for values with which it fails, the one with most failures first; `None` when there are none, or
    /// when exceptions do not help. What forgets a path has no exceptions: among so many names, some always seem to be.
    fn with_exceptions(&self, judged: &Judged, groups: &[Group]) -> Option<Judged> {
        if judged.candidate.draft.forgets_path() || !self.may_have_exceptions(judged, groups) {
            return None;
        }
        let mut best: Option<(Judged, Vec<Group>)> = None;
        for _ in 0..limits::MAX_EXCEPTIONS {
            let (now, groups) = best.as_ref().map_or((judged, groups), |(best, groups)| (best, groups));
            let Some((excepted, groups)) = self.with_one_exception(now, groups) else { break };
            let is_done = excepted.votes.cast.tally(&self.noise).against == 0;
            best = Some((excepted, groups));
            if is_done {
                break;
            }
        }
        let (best, groups) = match &best {
            Some((best, groups)) => (best, &**groups),
            None if judged.refusal.is_none() => (judged, groups),
            None => return None,
        };
        let best = match best.refusal {
            None => self.without_unproven(best, groups)?,
            Some(_) => best.clone(),
        };
        (best.candidate.draft != judged.candidate.draft).then_some(best)
    }

    /// Whether a few values are seen in half of the groups in which a rule fails that is refused.
    fn may_have_exceptions(&self, judged: &Judged, groups: &[Group]) -> bool {
        let Judged { candidate, refusal, .. } = judged;
        if refusal.is_none() {
            return true;
        }
        let tally = self.tally(candidate, groups, true);
        let mut failing: Vec<u64> = tally.values().map(|(_, against)| *against).collect();
        failing.sort_unstable_by_key(|count| Reverse(*count));
        let explained: u64 = failing.iter().take(limits::MAX_EXCEPTIONS).sum();
        let sides = groups.iter().map(|group| group.sides(self.table.corpus(), candidate.slight_votes()));
        2 * explained >= sides.filter(|sides| !sides.against.is_empty()).count() as u64
    }

    /// The groups that a rule would join.
    fn groups(&self, candidate: &Candidate) -> Vec<Group> {
        joined(&self.table, &self.table.moves(&candidate.draft))
    }

    /// The rule with one more exception, if fewer votes are against it then.
    fn with_one_exception(&self, judged: &Judged, groups: &[Group]) -> Option<(Judged, Vec<Group>)> {
        let Judged { candidate, votes, refusal } = judged;
        let Tally { all, against: failing, .. } = votes.cast.tally(&self.noise);
        let share = failing as f64 / all as f64;
        // Where the rule fails more often than not; else where it fails more often than chance would have it, but not at
        // some name among many.
        let rank = |pair: u32, (with, against): (u64, u64)| {
            let is_near = !matches!(self.table.key_of(pair), UrlPart::PathSegment(2..));
            let value = self.table.value_of(pair).as_text().unwrap_or_default();
            let is_expected = against >= 1 && 2 * against >= with && is_volatile(value);
            let fails = against >= limits::MIN_FAILURES
                && against > with
                && (is_near || against >= limits::MIN_FAR_FAILURES);
            let only_fails = against >= 1 && with == 0 && is_near;
            let is_frequent =
                against >= limits::MIN_FAILURES && is_near && is_surprising(against, with + against, share);
            let is_likely = is_expected || fails || only_fails;
            // What explains most failures; of several, what is part of how the site is built.
            let explained = against as f64 - share * (with + against) as f64;
            (is_likely || is_frequent).then(|| ((1000.0 * explained) as i64, self.table.count(pair)))
        };
        // What was chosen is proven by the groups that are held out, so they have no part in this choice either.
        let tally = self.tally(candidate, groups, !candidate.is_chosen());
        let ranked = tally.iter().filter_map(|(&pair, &votes)| Some((rank(pair, votes)?, Reverse(pair))));
        let (_, Reverse(pair)) = ranked.max()?;
        let (spot, value) = self.test(pair);
        let draft = candidate.draft.clone().except(spot, value)?;
        let is_suspect = candidate.is_suspect || refusal.is_some();
        let (excepted, groups) = self.vote_with_groups(Candidate { draft, is_suspect, ..candidate.clone() });
        // An exception must be where the rule fails, not where wrong labels happen to be.
        let better = excepted.votes.cast.tally(&self.noise);
        let is_better = better.against < failing && better.against * all <= failing * better.all;
        is_better.then_some((excepted, groups))
    }

    /// The rule without pages that show something else from one visit to the next and were not seen to agree.
    fn without_unproven(&self, judged: &Judged, groups: &[Group]) -> Option<Judged> {
        let tally = self.tally(&judged.candidate, groups, true);
        let unproven = self.unproven(&judged.candidate.draft, &tally);
        if unproven.is_empty() {
            return Some(judged.clone());
        }
        let draft = unproven.into_iter().try_fold(judged.candidate.draft.clone(), |draft, pair| {
            let (spot, value) = self.test(pair);
            draft.except(spot, value)
        })?;
        Some(self.vote(Candidate { draft, ..judged.candidate.clone() }))
    }

    /// A rule that fails, where one more thing is true of a URL.
    fn in_contexts(&self, judged: &Judged, groups: &[Group]) -> Vec<Judged> {
        let Judged { candidate, votes, .. } = judged;
        let mut contexts: Vec<(u64, u32)> = self
            .tally(candidate, groups, false)
            .iter()
            .filter(|(_, (with, against))| {
                *with >= limits::MIN_CONTEXT_GROUPS && limits::AGREEING_PER_FAILING * against <= *with
            })
            .map(|(pair, (with, _))| (*with, *pair))
            .collect();
        contexts.sort_unstable_by_key(|&(with, pair)| (Reverse(with), pair));
        let is_suspect = votes.cast.contested_share() > limits::MAX_SUSPECT + self.noise.wrong;
        let in_context = |&(_, pair): &(u64, u32)| {
            let (spot, value) = self.test(pair);
            let draft = candidate.draft.and(spot, Test::Is(value))?;
            // Where it was found to hold, it must be proven to.
            let family = if draft.forgets_path() { Family::Relevant } else { candidate.family.chosen() };
            Some(self.vote(Candidate { draft, family, is_suspect, is_narrowed: true, ..candidate.clone() }))
        };
        contexts.iter().take(limits::MAX_CONTEXTS).filter_map(in_context).collect()
    }

    /// What must be true of a URL that has a pair.
    fn test(&self, pair: u32) -> (Spot, Value) {
        (Spot::Key(self.table.key_of(pair).clone()), self.table.value_of(pair).clone())
    }

    /// Pages that are known to show something else from one visit to the next on most sites, less those that were seen not to
    /// on this one: it is the page that changes, whatever rule brings its URLs together.
    pub(super) fn still_volatile(&self) -> Vec<u32> {
        let mut pairs = self.volatile.clone();
        let offered = if pairs.is_empty() { Vec::new() } else { self.offered() };
        let mut tally = PairTally::default();
        for candidate in offered.iter().filter(|candidate| candidate.family.is_known()) {
            for group in joined(&self.table, &self.table.moves(&candidate.draft)) {
                let sides = group.sides(self.table.corpus(), candidate.slight_votes());
                let Some(&first) = sides.with.first().filter(|_| sides.are_several()) else { continue };
                for pair in pairs.iter().filter(|pair| self.table.row(first).contains(pair)) {
                    let (agreeing, contradicting) = tally.entry(*pair).or_default();
                    *(if sides.against.is_empty() { agreeing } else { contradicting }) += 1;
                }
            }
        }
        pairs.retain(|pair| {
            let (agreeing, contradicting) = tally.get(pair).copied().unwrap_or_default();
            agreeing < limits::MIN_VOLATILE + limits::VOLATILE_PER_CONTRADICTION * contradicting
        });
        pairs
    }

    /// Pages that show something else from one visit to the next, of which too few were seen to agree.
    fn unproven(&self, draft: &Draft, tally: &PairTally) -> Vec<u32> {
        let is_seen = |pair: &u32| tally.get(pair).is_some_and(|&(with, _)| with >= limits::MIN_VOLATILE);
        let unseen = self.volatile.iter().copied().filter(|pair| !is_seen(pair));
        // Seen or not, a rule will meet such pages unless it asks for others.
        let asks_for_others = |pair: u32| {
            let (spot, value) = self.test(pair);
            matches!(draft.when.get(&spot), Some(Test::Is(other)) if *other != value)
        };
        unseen.filter(|&pair| !asks_for_others(pair)).collect()
    }
}

/// Whether so many failures would hardly be seen if they were no more frequent than elsewhere.
fn is_surprising(failures: u64, trials: u64, share: f64) -> bool {
    let expected = Binomial::new(share.clamp(limits::LEAST_EXPECTED, 1.0), trials);
    failures >= limits::MIN_SURPRISING_FAILURES
        && expected.is_ok_and(|expected| expected.sf(failures - 1) < limits::MAX_CHANCE)
}
