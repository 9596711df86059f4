/*!
The same rules with other verdicts.
*/

use dedust::errors::InvalidSite;
use dedust::{Evidence, RuleSet, SiteRules, Verdict};

use super::sample::Target;

/// A copy of `rules` in which each has the verdict that `verdict_of` gives for it, by its site and place.
pub(super) fn with_verdicts<'a>(
    rules: &'a RuleSet,
    mut verdict_of: impl FnMut(&'a str, Target, &Evidence) -> Option<Verdict>,
) -> Result<RuleSet, InvalidSite> {
    let mut copy = RuleSet::new(rules.method());
    for (name, site) in rules.sites() {
        if let Some(mirror) = site.mirror() {
            let mut mirror = mirror.clone();
            mirror.evidence.verdict = verdict_of(name, Target::Mirror, &mirror.evidence);
            copy.insert(name, SiteRules::mirror_of(site.summary().clone(), mirror)?)?;
            continue;
        }
        let mut rules = site.rules().to_vec();
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.evidence.verdict = verdict_of(name, Target::Rule(index), &rule.evidence);
        }
        let mut substitutions = site.substitutions().to_vec();
        for (index, substitution) in substitutions.iter_mut().enumerate() {
            let evidence = &mut substitution.evidence;
            evidence.verdict = verdict_of(name, Target::Substitution(index), evidence);
        }
        let mut edits = site.edits().to_vec();
        for (index, edit) in edits.iter_mut().enumerate() {
            edit.evidence.verdict = verdict_of(name, Target::Edit(index), &edit.evidence);
        }
        let site = SiteRules::new(site.summary().clone(), rules)?
            .with_substitutions(substitutions)?
            .with_edits(edits)?
            .with_refused(site.refused().to_vec())
            .with_hosts(site.hosts().to_vec());
        copy.insert(name, site)?;
    }
    Ok(copy)
}
