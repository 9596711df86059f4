/*!
Rules in words: why they are trusted, or not made. What they do, a rule says itself.
*/

use dedust::rules::{
    CanonicalCounts, CanonicalVerdict, Evidence, Outcome, RefusedRule, SiteEntry, Trust, Verdict,
};

use crate::number::{count, counted, percent};

/// Canonical URLs that are worth a warning if nobody has fetched them: of few nothing follows.
const MANY: u64 = 10;

/// What training saw of a rule: `1,682 URLs covered, 2 of 442 votes against: at most 1.4 % wrong`; of one whose learner says no
/// trust, how many groups failed.
pub(crate) fn record(evidence: &Evidence) -> String {
    let covered = counted(evidence.urls, "URL", "URLs");
    let most = percent(evidence.failure_bound);
    match evidence.trust {
        Some(Trust::Proven | Trust::Likely) => format!(
            "{covered} covered, {} of {} against: at most {most} wrong",
            count(evidence.false_pairs),
            counted(evidence.support_pairs, "vote", "votes"),
        ),
        _ => format!(
            "{covered} covered, {} of {} failed: at most {most} wrong",
            count(evidence.failed_groups),
            counted(evidence.groups, "group", "groups"),
        ),
    }
}

/// What training saw of a rule: `1,682 URLs changed, 2 of 442 held-out groups failed; at most 1.4 % wrong with 95 %
/// confidence`; or what was fetched for it, if that proved it.
pub(crate) fn held_out(evidence: &Evidence) -> String {
    let (list, group, groups) = match evidence.trust {
        Some(Trust::Fetched) => ("a list of URLs", "group that was fetched", "groups that were fetched"),
        _ => ("training", "held-out group", "held-out groups"),
    };
    format!(
        "{} changed in {list}; {} of {} failed; at most {} wrong with 95 % confidence",
        counted(evidence.urls, "URL", "URLs"),
        count(evidence.failed_groups),
        counted(evidence.groups, group, groups),
        percent(evidence.failure_bound),
    )
}

/// Why a rule is trusted, one sentence per line.
pub(crate) fn trust(evidence: &Evidence) -> Vec<String> {
    if *evidence == Evidence::default() {
        return vec!["without evidence: whoever wrote it vouches for it".into()];
    }
    let seen = if evidence.trust.is_some() { held_out(evidence) } else { record(evidence) };
    let mut sentences = vec![seen];
    let kinds: Vec<String> = evidence.kinds.iter().map(ToString::to_string).collect();
    if !kinds.is_empty() {
        sentences.push(format!("duplicates known by {}", list(&kinds)));
    }
    sentences.extend(evidence.canonical.zip(evidence.canonical_bound).map(|(counts, bound)| {
        format!(
            "canonical URLs that it changes: {}: at most {} of those known wrong",
            canonical(counts),
            percent(bound)
        )
    }));
    sentences.extend(evidence.observed_until.as_ref().map(|time| format!("seen until {time}")));
    sentences.extend(evidence.verdict.as_ref().map(verdict));
    sentences
}

/// What a crawl knows of canonical URLs: `1,682 alive, 40 unmet, 3 wrong`.
pub(crate) fn canonical(counts: CanonicalCounts) -> String {
    let CanonicalCounts { alive, unmet, wrong } = counts;
    format!("{} alive, {} unmet, {} wrong", count(alive), count(unmet), count(wrong))
}

/// A warning where nobody has fetched most canonical URLs.
pub(crate) fn mostly_unmet(counts: CanonicalCounts) -> Option<String> {
    (counts.unmet >= MANY && counts.unmet > counts.all() / 2).then(|| {
        format!(
            "nobody has fetched {} of {}: whether they show the page is not known",
            count(counts.unmet),
            counted(counts.all(), "canonical URL", "canonical URLs"),
        )
    })
}

/// What people decided about a rule: `off by anna on 2026-11-16: breaks the search`.
pub(crate) fn decisions<'a>(entry: impl Into<SiteEntry<'a>>) -> Vec<String> {
    let entry = entry.into();
    let off = entry.off().map(|decision| format!("off{decision}"));
    let pinned = entry.pinned().map(|decision| format!("pinned{decision}"));
    off.into_iter().chain(pinned).collect()
}

/// What fetching pages said: `confirmed by fetching on 2024-05-01: 95 pairs showed the same page, 0 different ones`.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let date = verdict.date.as_ref().map_or(String::new(), |date| format!(" on {date}"));
    let pairs = format!(
        "{} by fetching{date}: {} showed the same page, {} different ones",
        verdict.outcome.name(),
        counted(verdict.same, "pair", "pairs"),
        count(verdict.different),
    );
    match &verdict.canonical {
        Some(canonical) if canonical.outcome == Outcome::Refuted => {
            format!("{pairs}; {}", dead_canonical(canonical))
        }
        _ => pairs,
    }
}

/// Why a rule is not fetchable: `it changes keys only, since of 20 canonical URLs 9 redirect, 0 are missing and 0 show another page`.
pub(crate) fn dead_canonical(canonical: &CanonicalVerdict) -> String {
    format!(
        "it changes keys only, since of {} {} redirect, {} are missing and {} show another page",
        counted(canonical.alive.saturating_add(canonical.dead()), "canonical URL", "canonical URLs"),
        count(canonical.redirected),
        count(canonical.missing),
        count(canonical.different),
    )
}

/// Why a rule is not applied, one sentence per line.
pub(crate) fn refused(refused: &RefusedRule) -> Vec<String> {
    let RefusedRule { reason, votes, against, fetched, .. } = refused;
    let is_refuted = fetched.as_ref().is_some_and(|fetched| fetched.verdict.outcome == Outcome::Refuted);
    let missing = match refused.missing {
        Some(missing) if !is_refuted => format!(", {} more would prove it", count(missing)),
        _ => String::new(),
    };
    let votes = format!("{} of {} against", count(*against), counted(*votes, "vote", "votes"));
    let mut sentences = vec![format!("{reason}: {votes}{missing}")];
    if let Some(fetched) = fetched {
        let missing = match fetched.missing {
            Some(missing) => format!("; {} would prove it", counted(missing, "more pair", "more pairs")),
            None => String::new(),
        };
        sentences.push(verdict(&fetched.verdict) + &missing);
    }
    sentences
}

/// What training saw of a mirror: `412 paths that both sites have, 3 with different pages: at most 1.9 % wrong with 95 %
/// confidence`.
pub(crate) fn shared_paths(evidence: &Evidence) -> String {
    format!(
        "{} that both sites have, {} with different pages: at most {} wrong with 95 % confidence",
        counted(evidence.groups, "path", "paths"),
        count(evidence.failed_groups),
        percent(evidence.failure_bound),
    )
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_a_sentence() {
        let items = ["a", "b", "c"].map(String::from);
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items[..2]), "a and b");
        assert_eq!(list(&items), "a, b and c");
    }
}
