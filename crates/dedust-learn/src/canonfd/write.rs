/*!
Believed rules as they are written into a rule file: with their evidence. Which of them write canonical URLs is said in `canonical.rs`.
*/

use std::cmp::Ordering;

use dedust::rules::{Evidence, RefusedRule, Rule, Trust};

use super::accept::{Noise, Refusal};
use super::search::{Judged, Search};
use super::table::Table;
use super::vote::by_form;
use crate::corpus::Corpus;
use crate::evidence::EvidenceKinds;
use crate::pair_counts::PairCounts;
use crate::rule_evidence::rule_evidence;
use crate::thresholds;

/// The rules that were not believed and had most votes. Fetching can settle those that have too few.
pub(super) fn write_refused(search: &Search<'_>) -> Vec<RefusedRule> {
    let (lacking, failing): (Vec<_>, Vec<_>) = search
        .refused
        .values()
        .filter_map(|judged| Some((judged, judged.refusal?)))
        .filter(|(judged, _)| judged.votes.agreeing > 0)
        .partition(|(_, refusal)| *refusal == Refusal::TooFewVotes);
    let mut refused: Vec<(&Judged, Refusal)> = [lacking, failing].into_iter().flat_map(most_voted).collect();
    refused.sort_unstable_by(by_votes);
    let standard = search.standard();
    let missing = |judged: &Judged, refusal: Refusal| match refusal {
        Refusal::TooFewVotes => {
            let Judged { candidate, votes, .. } = judged;
            standard.case(candidate, votes, search.harm(candidate)).missing()
        }
        _ => None,
    };
    let written = |(judged, refusal): (&Judged, Refusal)| RefusedRule {
        missing: missing(judged, refusal),
        when: judged.candidate.draft.when.clone(),
        change: judged.candidate.draft.change.clone(),
        reason: refusal.reason().into(),
        votes: judged.votes.cast.tally(&search.noise).all,
        against: judged.votes.cast.tally(&search.noise).against,
        merged: Some(judged.votes.merged),
        fetched: None,
    };
    refused.into_iter().map(written).collect()
}

/// Those of one kind that are written.
fn most_voted(mut refused: Vec<(&Judged, Refusal)>) -> impl Iterator<Item = (&Judged, Refusal)> {
    refused.sort_unstable_by(by_votes);
    refused.into_iter().take(thresholds::search::MAX_REFUSED)
}

/// Those with most votes first; of those with as many, the lesser.
fn by_votes((one, _): &(&Judged, Refusal), (other, _): &(&Judged, Refusal)) -> Ordering {
    let votes = other.votes.agreeing.cmp(&one.votes.agreeing);
    votes.then_with(|| one.candidate.draft.cmp(&other.candidate.draft))
}

/// A rule that is believed and not made yet, and moves these rows.
pub(super) fn write_rule(
    table: &Table<'_>,
    judged: &Judged,
    moves: &[(u32, u64)],
    noise: &Noise,
    (trust, failure_bound): (Trust, f64),
) -> Rule {
    let corpus = table.corpus();
    let tally = judged.votes.cast.tally(noise);
    let Judged { candidate, votes, .. } = judged;
    let mut kinds = EvidenceKinds::NONE;
    let mut examples: Vec<(u32, u32)> = Vec::new();
    for group in by_form(moves).chunk_by(|a, b| a.0 == b.0) {
        let row = group[0].1;
        let is_duplicate =
            |other: &u32| corpus.label(*other).is_some() && corpus.label(*other) == corpus.label(row);
        let stands = table.at(group[0].0).find(is_duplicate);
        let duplicate = stands.or_else(|| group[1..].iter().map(|&(_, other)| other).find(is_duplicate));
        let Some(duplicate) = duplicate else { continue };
        kinds = kinds | corpus.kinds(row) | corpus.kinds(duplicate);
        if examples.len() < thresholds::search::MAX_EXAMPLES {
            // What rules before this one have brought together shows nothing of it.
            let was_apart = |other: &u32| table.form_id(*other) != table.form_id(row);
            let others = table.at(group[0].0).chain(group[1..].iter().map(|&(_, other)| other));
            let others = others.filter(|other| is_duplicate(other) && was_apart(other));
            let others = others.take(thresholds::search::MAX_DUPLICATES_OF_EXAMPLE);
            let nearest = others.min_by_key(|&other| difference(corpus, row, other));
            examples.extend(nearest.map(|other| (row, other)));
        }
    }
    // Those that differ by the rule alone, if there are any.
    let least = examples.iter().map(|&(row, other)| difference(corpus, row, other)).min();
    examples.retain(|&(row, other)| Some(difference(corpus, row, other)) == least);
    let counts = PairCounts {
        support: tally.all.into(),
        same: (tally.all - tally.against).into(),
        groups: votes.held_out,
        mixed_groups: votes.held_out_failures,
    };
    Rule {
        evidence: Evidence {
            trust: Some(trust),
            failure_bound,
            ..rule_evidence(corpus, moves.len(), &counts, kinds, examples)
        },
        ..candidate.draft.to_rule()
    }
}

/// How many parts one of two URLs has and the other has not. Of very many, nobody counts.
fn difference(corpus: &Corpus, a: u32, b: u32) -> usize {
    let (ours, theirs) = (corpus.pairs(a), corpus.pairs(b));
    if ours.len().max(theirs.len()) > thresholds::search::MAX_COMPARED_PAIRS {
        return usize::MAX;
    }
    let missing = |pairs: &[u32], others: &[u32]| pairs.iter().filter(|pair| !others.contains(pair)).count();
    missing(ours, theirs) + missing(theirs, ours)
}
