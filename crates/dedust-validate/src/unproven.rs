/*!
Rules that the learner could not prove, put to the test.

The URLs that such a rule would join, given the rules that are applied, are fetched as those of rules are. Only rules are
tried for which votes are missing: of the others it is known that they fail, or that votes would not help. A rule that
is proven comes behind all others, where the learner judged it last, and counts as applied for those that are tried after it.

What is enough is decided in `dedust_learn` ([`FetchedGroups`]). Nothing is fetched here.
*/

use std::collections::{BTreeMap, BTreeSet, HashSet};

use dedust::rules::{
    Change, Evidence, Example, Fetched, Outcome, RefusedRule, Rule, SiteRules, Trust, Verdict,
};
use dedust::{Normalizer, ParsedUrl, RuleSet};
use dedust_fetch::Fingerprint;
use dedust_learn::support::{
    FetchedGroups, Lack, MAX_PAIRS_OF_GROUP, failure_bound, is_fetchable, on_agreeing_hosts,
};

use crate::finding::{Finding, Obstacle, Settled};
use crate::joined::{Drawn, Joined};
use crate::pair::Pair;
use crate::sample::Sampler;
use crate::trial::{Comparison, Limits, Trial};
use crate::verdicts::judged_rules;

/// Examples that are kept with a rule.
const EXAMPLES: usize = 3;

/// The unproven rules of all sites.
pub(crate) struct Unproven<'a> {
    pub(crate) rules: &'a RuleSet,
    pub(crate) sampler: &'a Sampler,
    pub(crate) limits: Limits,
    pub(crate) date: Option<&'a str>,
}

/// Those of one site, while they are tried.
pub(crate) struct UnprovenOfSite<'a> {
    all: &'a Unproven<'a>,
    name: String,
    site: &'a SiteRules,
    urls: Vec<&'a [u8]>,
    /// The rules that are applied so far.
    applied: Vec<Rule>,
}

/// An unproven rule, and the pairs that put it to the test.
pub(crate) struct Question<'a> {
    refused: &'a RefusedRule,
    /// What earlier runs have found, unless they refuted it: then all is counted anew.
    known: Fetched,
    drawn: Result<(Joined, Drawn), Obstacle>,
}

impl<'a> Unproven<'a> {
    /// The unproven rules of a site, after its rules were tried. `None` if it has none that votes could settle.
    pub(crate) fn of_site(&'a self, name: &str, findings: &[Finding]) -> Option<UnprovenOfSite<'a>> {
        let site = self.rules.site(name)?;
        if !site.refused().iter().any(is_unproven) {
            return None;
        }
        let finding = |target| findings.iter().find(|finding| finding.target == target);
        // Rules that were refuted stay in the list, where they are not compiled.
        let applied = judged_rules(site, finding, self.date);
        let urls = self.sampler.urls_of(name);
        Some(UnprovenOfSite { all: self, name: name.to_owned(), site, urls, applied })
    }
}

/// Whether votes could settle it.
fn is_unproven(refused: &RefusedRule) -> bool {
    refused.missing.is_some()
}

impl<'a> UnprovenOfSite<'a> {
    /// Where they stand among the refused rules of the site.
    pub(crate) fn indexes(&self) -> Vec<usize> {
        let refused = self.site.refused().iter().enumerate();
        refused.filter(|(_, refused)| is_unproven(refused)).map(|(index, _)| index).collect()
    }

    /// The pairs that put an unproven rule to the test, given those before it.
    pub(crate) fn question(&self, index: usize) -> Question<'a> {
        let refused = &self.site.refused()[index];
        let known = refused.fetched.clone().filter(|known| known.verdict.outcome != Outcome::Refuted);
        let known = known.unwrap_or_default();
        let counted: HashSet<u32> = known.groups.iter().copied().collect();
        let rule = refused.to_rule(Evidence::default());
        let drawn = self.check(vec![rule.clone()]).and_then(|()| {
            let joined = Joined::new(&self.name, self.site.hosts(), &self.applied, rule)?;
            let is_counted = |group| counted.contains(&group);
            let drawn = joined.draw(&self.urls, self.all.limits.max_pairs(), MAX_PAIRS_OF_GROUP, is_counted);
            Ok((joined, drawn))
        });
        Question { refused, known, drawn }
    }

    /// Whether the rules of the site can be used with these rules behind the others.
    fn check(&self, more: Vec<Rule>) -> Result<(), Obstacle> {
        let rules = self.applied.iter().cloned().chain(more).collect();
        let mut alone = RuleSet::new(self.all.rules.method());
        alone.insert(&self.name, self.site.clone().with_rules(rules)?)?;
        match Normalizer::compile(&alone).left_out_count() {
            0 => Ok(()),
            _ => Err(Obstacle::TooLarge),
        }
    }

    /// What becomes of a rule after the first of its pairs were compared. If it is proven, it is applied from now on.
    pub(crate) fn settle(
        &mut self,
        question: Question<'_>,
        trial: &Trial,
        comparisons: &[Comparison],
    ) -> Settled {
        let Question { refused, known, drawn } = question;
        let mut settled = Settled { rules: Vec::new(), refused: refused.clone(), lost: 0, obstacle: None };
        let (joined, drawn) = match drawn {
            Ok(drawn) => drawn,
            Err(obstacle) => return Settled { obstacle: Some(obstacle), ..settled },
        };
        let witnesses = Witnesses::new(&joined, &drawn.pairs, comparisons);
        let fetched = witnesses.add_to(known, trial, self.all.date);
        let counts = counts(&fetched);
        let proof = if self.is_refuted(trial, &fetched.verdict) {
            Err(Obstacle::Refuted)
        } else {
            match counts.lack(refused) {
                Some(Lack::Pairs(missing)) => Err(Obstacle::Pairs(missing)),
                Some(Lack::Pages) => Err(Obstacle::Pages),
                // Whatever else it lacks, more pairs are not known to help.
                Some(_) => Err(Obstacle::Pairs(None)),
                None => Ok(()),
            }
        };
        let promoted = proof.and_then(|()| {
            let evidence = evidence(&fetched, &counts, &drawn, &witnesses);
            let rule =
                Rule { fetchable: witnesses.is_fetchable(&refused.change), ..refused.to_rule(evidence) };
            let hosts = self.site.hosts();
            let rules =
                on_agreeing_hosts(rule, &self.name, hosts, &witnesses.hosts).ok_or(Obstacle::Hosts)?;
            self.check(rules.clone()).map(|()| rules)
        });
        match promoted {
            Ok(rules) => {
                self.applied.extend(rules.iter().cloned());
                let merged = refused.merged.unwrap_or(self.site.summary().urls).max(drawn.merged);
                settled.lost = (counts.failure_bound() * merged as f64).ceil() as u64;
                settled.rules = rules;
            }
            Err(obstacle) => {
                settled.refused.fetched = Some(unproven(fetched, &obstacle));
                settled.obstacle = Some(obstacle);
            }
        }
        settled
    }

    /// By this run, or by all of them.
    fn is_refuted(&self, trial: &Trial, all: &Verdict) -> bool {
        let limits = self.all.limits;
        trial.outcome(limits) == Outcome::Refuted || limits.refute(all.same, all.different)
    }
}

impl Question<'_> {
    /// The pairs to be compared.
    pub(crate) fn pairs(&self) -> &[Pair] {
        self.drawn.as_ref().map_or(&[], |(_, drawn)| &drawn.pairs)
    }
}

/// What the groups of this run showed.
struct Witnesses<'p> {
    /// Whether each held one page.
    groups: BTreeMap<u32, bool>,
    /// The pages of those that did, without repetitions.
    pages: Vec<Fingerprint>,
    /// Pairs of the same page in groups that held one page.
    agreeing: Vec<&'p Pair>,
    /// The hosts of these pairs, without `www`.
    hosts: BTreeSet<String>,
    /// Groups that held one page and show it under the form that the rule writes.
    written: BTreeSet<u32>,
}

impl<'p> Witnesses<'p> {
    fn new(joined: &Joined, pairs: &'p [Pair], comparisons: &[Comparison]) -> Self {
        let mut groups = BTreeMap::new();
        let mut agreeing = Vec::new();
        for (pair, comparison) in pairs.iter().zip(comparisons) {
            let Some(group) = joined.group_of(&pair.url) else { continue };
            match comparison {
                Comparison::Same(page) => {
                    groups.entry(group).or_insert(true);
                    agreeing.push((group, pair, page));
                }
                Comparison::Different => drop(groups.insert(group, false)),
                Comparison::Failed(_) => {}
            }
        }
        agreeing.retain(|(group, ..)| groups.get(group) == Some(&true));
        let mut pages: Vec<Fingerprint> = Vec::new();
        for page in agreeing.iter().filter_map(|(_, _, page)| page.as_ref()) {
            if !pages.iter().any(|known| known.is_same_page(page)) {
                pages.push(page.clone());
            }
        }
        let hosts = agreeing.iter().flat_map(|(_, pair, _)| [&pair.url, &pair.other]);
        let written = agreeing.iter().filter(|(_, pair, _)| joined.keeps(&pair.other));
        Self {
            hosts: hosts.filter_map(|url| host_of(url)).collect(),
            written: written.map(|(group, ..)| *group).collect(),
            agreeing: agreeing.into_iter().map(|(_, pair, _)| pair).collect(),
            groups,
            pages,
        }
    }

    /// All that is known now.
    fn add_to(&self, known: Fetched, trial: &Trial, date: Option<&str>) -> Fetched {
        let Fetched { verdict, groups, failed_groups, pages, .. } = known;
        let failed = self.groups.values().filter(|holds| !**holds).count() as u64;
        let groups: BTreeSet<u32> = groups.into_iter().chain(self.groups.keys().copied()).collect();
        Fetched {
            verdict: Verdict {
                outcome: Outcome::Unknown,
                same: verdict.same.saturating_add(trial.same),
                different: verdict.different.saturating_add(trial.different),
                failed: verdict.failed.saturating_add(trial.failed),
                date: date.filter(|_| !trial.is_empty()).map(Into::into).or(verdict.date),
                canonical: None,
            },
            missing: None,
            groups: groups.into_iter().collect(),
            failed_groups: failed_groups.saturating_add(failed),
            // Pages of an earlier run may be the same.
            pages: pages.max(self.pages.len() as u64),
        }
    }

    /// Whether the form that the changes write is known to show the page, as often as the learner asks for.
    fn is_fetchable(&self, changes: &[Change]) -> bool {
        let forgets = |change: &Change| matches!(change, Change::Forget(_) | Change::ForgetPath);
        !changes.iter().any(forgets) && is_fetchable(self.written.len() as u64, self.groups.len() as u64)
    }
}

fn counts(fetched: &Fetched) -> FetchedGroups {
    FetchedGroups {
        same: fetched.verdict.same,
        different: fetched.verdict.different,
        groups: fetched.groups.len() as u64,
        failed_groups: fetched.failed_groups,
        pages: fetched.pages,
    }
}

/// Why a rule that was proven by fetching is trusted.
fn evidence(fetched: &Fetched, counts: &FetchedGroups, drawn: &Drawn, witnesses: &Witnesses<'_>) -> Evidence {
    let example = |pair: &&Pair| Example { url: (*pair.url).into(), duplicate: (*pair.other).into() };
    Evidence {
        urls: drawn.changed,
        support_pairs: counts.same.saturating_add(counts.different),
        false_pairs: counts.different,
        groups: counts.groups,
        failed_groups: counts.failed_groups,
        failure_bound: failure_bound(counts.failed_groups, counts.groups),
        kinds: Vec::new(),
        observed_until: None,
        examples: witnesses.agreeing.iter().take(EXAMPLES).map(example).collect(),
        trust: Some(Trust::Fetched),
        canonical: None,
        canonical_bound: None,
        verdict: Some(Verdict { outcome: Outcome::Confirmed, ..fetched.verdict.clone() }),
    }
}

/// What is kept of a rule that stays unproven.
fn unproven(fetched: Fetched, obstacle: &Obstacle) -> Fetched {
    match obstacle {
        // All is counted anew the next time.
        Obstacle::Refuted => {
            let verdict = Verdict { outcome: Outcome::Refuted, ..fetched.verdict };
            Fetched { verdict, ..Fetched::default() }
        }
        Obstacle::Pairs(missing) => Fetched { missing: *missing, ..fetched },
        _ => fetched,
    }
}

/// The host of a URL, without `www`.
fn host_of(url: &str) -> Option<String> {
    let url = ParsedUrl::parse(url).ok()?;
    let host = std::str::from_utf8(url.host()).ok()?;
    Some(host.strip_prefix("www.").unwrap_or(host).to_owned())
}
