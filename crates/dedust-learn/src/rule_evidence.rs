/*!
What training saw of a rule, as it is written into a rule file.
*/

use dedust::rules::{Evidence, Example};

use crate::confidence::failure_bound;
use crate::corpus::Corpus;
use crate::evidence::EvidenceKinds;
use crate::pair_counts::PairCounts;
use crate::thresholds;

/// Whether the form that a rule writes was seen often enough to be fetched: `seen` of so many groups have a URL of that form.
pub fn is_fetchable(seen: u64, groups: u64) -> bool {
    seen >= thresholds::proof::MIN_FETCHABLE && thresholds::proof::FETCHABLE_ONE_IN * seen >= groups
}

/// The evidence of a rule that covers `urls` rows, merges as `counts` says, and brings together the rows of `examples`,
/// of which the shortest are kept.
pub fn rule_evidence(
    corpus: &Corpus,
    urls: usize,
    counts: &PairCounts,
    kinds: EvidenceKinds,
    mut examples: Vec<(u32, u32)>,
) -> Evidence {
    let rank =
        |&(row, duplicate): &(u32, u32)| (corpus.url(row).len(), corpus.url(row), corpus.url(duplicate));
    let most = thresholds::proof::EXAMPLES;
    if examples.len() > most {
        examples.select_nth_unstable_by(most, |a, b| rank(a).cmp(&rank(b)));
        examples.truncate(most);
    }
    examples.sort_unstable_by(|a, b| rank(a).cmp(&rank(b)));
    let text = |row| String::from_utf8_lossy(corpus.url(row)).into();
    let pairs = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
    Evidence {
        urls: urls as u64,
        support_pairs: pairs(counts.support),
        false_pairs: pairs(counts.false_pairs()),
        groups: counts.groups,
        failed_groups: counts.mixed_groups,
        failure_bound: failure_bound(counts.mixed_groups, counts.groups),
        kinds: kinds.iter().map(|kind| kind.name().into()).collect(),
        observed_until: corpus.latest().map(Into::into),
        examples: examples
            .into_iter()
            .map(|(row, duplicate)| Example { url: text(row), duplicate: text(duplicate) })
            .collect(),
        trust: None,
        canonical: None,
        canonical_bound: None,
        verdict: None,
    }
}
