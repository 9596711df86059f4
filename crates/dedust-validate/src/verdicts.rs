/*!
The same rules with other verdicts, and with rules that were settled.
*/

use std::collections::HashMap;

use dedust::RuleSet;
use dedust::errors::InvalidSite;
use dedust::rules::{
    CanonicalVerdict, Outcome, Promise, RefusedRule, Rule, SiteRules, SiteSummary, Standing, Verdict,
};

use crate::finding::{Finding, Settled};
use crate::pair::Target;
use crate::trial::CanonicalTrial;

/// The verdict on a rule after a run. One that says nothing does not replace one that did.
fn verdict_after(before: Option<&Verdict>, finding: Option<&Finding>, date: Option<&str>) -> Option<Verdict> {
    let Some(Finding { trial, outcome, canonical, .. }) = finding else { return before.cloned() };
    let canonical = canonical_after(before.and_then(|before| before.canonical), canonical.as_ref());
    match before {
        Some(before) if *outcome == Outcome::Unknown && before.outcome != *outcome => {
            Some(Verdict { canonical, ..before.clone() })
        }
        _ => Some(Verdict {
            outcome: *outcome,
            same: trial.same,
            different: trial.different,
            failed: trial.failed,
            date: date.map(Into::into),
            canonical,
        }),
    }
}

/// The verdict on the canonical URLs of a rule after a run, likewise.
fn canonical_after(
    before: Option<CanonicalVerdict>,
    trial: Option<&CanonicalTrial>,
) -> Option<CanonicalVerdict> {
    let now = trial.map(|trial| trial.verdict);
    let is_better = |now: &CanonicalVerdict| {
        now.outcome != Outcome::Unknown || before.is_none_or(|before| before.outcome == Outcome::Unknown)
    };
    now.filter(is_better).or(before)
}

/// The rules of a site with the verdicts of a run.
pub(crate) fn judged_rules<'f>(
    site: &SiteRules,
    finding: impl Fn(Target) -> Option<&'f Finding>,
    date: Option<&str>,
) -> Vec<Rule> {
    let mut rules = site.rules().to_vec();
    for (index, rule) in rules.iter_mut().enumerate() {
        let finding = finding(Target::Rule(index));
        rule.evidence.verdict = verdict_after(rule.evidence.verdict.as_ref(), finding, date);
        let canonical = finding.and_then(|finding| finding.canonical.as_ref());
        rule.fetchable &= rule.pinned.is_some() || !canonical.is_some_and(CanonicalTrial::is_refuted);
    }
    rules
}

/// The rules after a run: with new verdicts, and with unproven rules as they were settled.
pub(crate) fn judge(
    rules: &RuleSet,
    findings: &[Finding],
    date: Option<&str>,
) -> Result<RuleSet, InvalidSite> {
    let found: HashMap<(&str, Target), &Finding> =
        findings.iter().map(|finding| ((&*finding.site, finding.target), finding)).collect();
    let mut judged = rules.without_sites();
    for (name, site) in rules.sites() {
        let finding = |target| found.get(&(name, target)).copied();
        let settled = |index| finding(Target::Unproven(index))?.settled.as_ref();
        let site = match site {
            SiteRules::Rules(_) => with_settled(site, judged_rules(site, finding, date), settled)?,
            SiteRules::Mirror(_) => site.clone().with_standings(|index, Standing { evidence, .. }| {
                let finding = finding(Target::Rule(index));
                evidence.verdict = verdict_after(evidence.verdict.as_ref(), finding, date);
            })?,
        };
        judged.insert(name, site)?;
    }
    Ok(judged)
}

/// A site with these rules and those that were promoted behind them, and what is known of those that were not.
fn with_settled<'a>(
    site: &SiteRules,
    mut rules: Vec<Rule>,
    settled: impl Fn(usize) -> Option<&'a Settled>,
) -> Result<SiteRules, InvalidSite> {
    let mut refused: Vec<RefusedRule> = Vec::new();
    let mut summary = site.summary().clone();
    for (index, before) in site.refused().iter().enumerate() {
        match settled(index) {
            Some(Settled { rules: promoted, lost, .. }) if !promoted.is_empty() => {
                rules.extend(promoted.iter().cloned());
                summary = with_loss(summary, *lost);
            }
            Some(Settled { refused: after, .. }) => refused.push(after.clone()),
            None => refused.push(before.clone()),
        }
    }
    Ok(site.clone().with_rules(rules)?.with_summary(summary).with_refused(refused))
}

/// The summary of a site that may lose more pages than it promised.
fn with_loss(summary: SiteSummary, lost: u64) -> SiteSummary {
    let more =
        |Promise { lost: before, pages }| Promise { lost: before.saturating_add(lost).min(pages), pages };
    SiteSummary { promise: summary.promise.map(more), ..summary }
}
