/*!
The same rules with other verdicts, and with edits that were settled.
*/

use std::collections::HashMap;

use dedust::RuleSet;
use dedust::errors::InvalidSite;
use dedust::rules::{Evidence, Outcome, Promise, RefusedEdit, SiteRules, SiteSummary, Verdict};

use super::sample::Target;
use super::survey::Finding;
use super::unproven::Settled;

/// The verdict on a rule after a run. One that says nothing does not replace one that did.
pub(super) fn verdict_after(
    before: Option<&Verdict>,
    finding: Option<&Finding>,
    date: Option<&str>,
) -> Option<Verdict> {
    let Some(Finding { trial, outcome, .. }) = finding else { return before.cloned() };
    match before {
        Some(before) if *outcome == Outcome::Unknown && before.outcome != *outcome => Some(before.clone()),
        _ => Some(Verdict {
            outcome: *outcome,
            same: trial.same,
            different: trial.different,
            failed: trial.failed,
            date: date.map(Into::into),
        }),
    }
}

/// The rules after a run: with new verdicts, and with unproven edits as they were settled.
pub(super) fn judge(
    rules: &RuleSet,
    findings: &[Finding],
    date: Option<&str>,
) -> Result<RuleSet, InvalidSite> {
    let found: HashMap<(&str, Target), &Finding> =
        findings.iter().map(|finding| ((&*finding.site, finding.target), finding)).collect();
    let mut judged = with_verdicts(rules, |site, target, evidence| {
        verdict_after(evidence.verdict.as_ref(), found.get(&(site, target)).copied(), date)
    })?;
    for (name, site) in rules.sites() {
        let settled = |index: usize| found.get(&(name, Target::Unproven(index)))?.settled.as_ref();
        if let Some(site) = judged.site(name).filter(|_| !site.refused().is_empty()) {
            let site = with_settled(site, settled)?;
            judged.insert(name, site)?;
        }
    }
    Ok(judged)
}

/// A site with the edits that were promoted behind all others, and what is known of those that were not.
fn with_settled<'a>(
    site: &SiteRules,
    settled: impl Fn(usize) -> Option<&'a Settled>,
) -> Result<SiteRules, InvalidSite> {
    let mut edits = site.edits().to_vec();
    let mut refused: Vec<RefusedEdit> = Vec::new();
    let mut summary = site.summary().clone();
    for (index, before) in site.refused().iter().enumerate() {
        match settled(index) {
            Some(Settled { edits: promoted, lost, .. }) if !promoted.is_empty() => {
                edits.extend(promoted.iter().cloned());
                summary = with_loss(summary, *lost);
            }
            Some(Settled { refused: after, .. }) => refused.push(after.clone()),
            None => refused.push(before.clone()),
        }
    }
    Ok(site.clone().with_edits(edits)?.with_summary(summary).with_refused(refused))
}

/// The summary of a site that may lose more pages than it promised.
fn with_loss(summary: SiteSummary, lost: u64) -> SiteSummary {
    let more =
        |Promise { lost: before, pages }| Promise { lost: before.saturating_add(lost).min(pages), pages };
    SiteSummary { promise: summary.promise.map(more), ..summary }
}

/// A copy of `rules` that nothing was said about before. Of a site whose edits can stand together only because some of them were refuted,
/// these keep their verdicts.
pub(super) fn without_verdicts(rules: &RuleSet) -> Result<RuleSet, InvalidSite> {
    let mut copy = RuleSet::new(rules.method());
    for (name, site) in rules.sites() {
        let mut edits = site.edits().to_vec();
        edits.iter_mut().for_each(|edit| edit.evidence.verdict = None);
        let without = site.clone().with_edits(edits).unwrap_or_else(|_| site.clone());
        copy.insert(name, without)?;
    }
    Ok(copy)
}

/// A copy of `rules` in which each has the verdict that `verdict_of` gives for it, by its site and place.
pub(super) fn with_verdicts<'a>(
    rules: &'a RuleSet,
    mut verdict_of: impl FnMut(&'a str, Target, &Evidence) -> Option<Verdict>,
) -> Result<RuleSet, InvalidSite> {
    let mut copy = RuleSet::new(rules.method());
    for (name, site) in rules.sites() {
        let mut edits = site.edits().to_vec();
        for (index, edit) in edits.iter_mut().enumerate() {
            edit.evidence.verdict = verdict_of(name, Target::Edit(index), &edit.evidence);
        }
        let site = site.clone().with_edits(edits)?;
        copy.insert(name, site)?;
    }
    Ok(copy)
}
