/*!
On which hosts of a site a rule holds.

Hosts of one site may run different software. So a rule is made where URLs were seen that speak for it; it is made on all
hosts, also on those that nobody has visited, if several hosts speak for it. Parameters for tracking and sessions mean the
same whatever the software.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::rules::{Change, Spot, Test, UrlPart, Value};

use super::families::Family;
use super::search::{Candidate, Judged, Search};
use super::vote::{Sides, joined};
use crate::corpus::Corpus;
use crate::thresholds;

/// What tells hosts apart: the label next to the site's name; none for the site itself, with and without `www`.
type HostLabel = Option<Value>;

/// Hosts that speak for a rule, and those whose URLs it changes.
struct Reach {
    agreeing: BTreeSet<HostLabel>,
    changed: BTreeSet<HostLabel>,
}

impl Search<'_> {
    /// The rule where hosts speak for it; `None` if that cannot be said.
    pub(super) fn on_proven_hosts(&self, judged: Judged) -> Option<Judged> {
        if judged.refusal.is_some() || self.hosts.len() < 2 || !is_of_software(&judged.candidate) {
            return Some(judged);
        }
        let Reach { agreeing, changed } = self.reach(&judged.candidate);
        let unproven: Vec<&HostLabel> = changed.difference(&agreeing).collect();
        if unproven.is_empty() || agreeing.len() >= thresholds::hosts::MIN {
            return Some(judged);
        }
        let test = if unproven.contains(&&None) {
            Test::OneOf(agreeing.into_iter().flatten().collect())
        } else {
            Test::Not(unproven.into_iter().flatten().cloned().collect())
        };
        let draft = judged.candidate.draft.and(Spot::Key(UrlPart::Subdomain(0)), test)?;
        Some(self.vote(Candidate { draft, ..judged.candidate }))
    }

    /// Whether a rule that is believed holds on hosts that nobody has visited.
    pub(super) fn holds_on_all_hosts(&self, candidate: &Candidate) -> bool {
        let are_enough = || {
            self.hosts.len() >= thresholds::hosts::MIN
                && self.reach(candidate).agreeing.len() >= thresholds::hosts::MIN
        };
        !is_of_software(candidate) || are_enough()
    }

    fn reach(&self, candidate: &Candidate) -> Reach {
        let moves = self.table.moves(&candidate.draft);
        let changed = moves.iter().map(|&(row, _)| self.host_label(row)).collect();
        let mut agreeing = BTreeSet::new();
        for group in joined(&self.table, &moves) {
            let Sides { with, slight, against } = group.sides(self.table.corpus(), candidate.slight_votes());
            if with.len() > 1 && slight.is_empty() && against.is_empty() {
                agreeing.extend(with.iter().map(|&row| self.host_label(row)));
            }
        }
        Reach { agreeing, changed }
    }

    fn host_label(&self, row: u32) -> HostLabel {
        let is_label = |pair: &&u32| *self.table.key_of(**pair) == UrlPart::Subdomain(0);
        let label = self.table.value_of(*self.table.row(row).iter().find(is_label)?);
        (label.as_text() != Some("www")).then(|| label.clone())
    }
}

/// Whether what a rule does depends on the software of a host.
fn is_of_software(candidate: &Candidate) -> bool {
    !matches!(candidate.family, Family::Tracking | Family::Session) && !changes_host(&candidate.draft.change)
}

/// Whether one of the changes is made to the host.
pub(super) fn changes_host(changes: &[Change]) -> bool {
    let mut parts = changes.iter().filter_map(|change| change.facts().valued_part());
    parts.any(|part| matches!(part, UrlPart::Subdomain(_)))
}

/// The hosts of a site that were seen, without `www`, sorted.
pub(super) fn hosts_seen(corpus: &Corpus) -> Vec<Box<str>> {
    let mut urls: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for row in 0..corpus.len() as u32 {
        let is_label =
            |pair: &u32| matches!(corpus.keys()[corpus.pair_key(*pair) as usize], UrlPart::Subdomain(_));
        let labels: Vec<u32> = corpus.pairs(row).iter().copied().filter(is_label).collect();
        *urls.entry(labels).or_default() += 1;
    }
    let mut hosts: Vec<(Vec<u32>, usize)> = urls.into_iter().collect();
    hosts.sort_by_key(|(_, urls)| std::cmp::Reverse(*urls));
    hosts.truncate(thresholds::hosts::MAX);
    let name = |(mut labels, _): (Vec<u32>, usize)| {
        // The label next to the site's name comes last.
        labels.sort_by_key(|&pair| match corpus.keys()[corpus.pair_key(pair) as usize] {
            UrlPart::Subdomain(position) => std::cmp::Reverse(position),
            _ => std::cmp::Reverse(0),
        });
        let texts = labels.iter().filter_map(|&pair| corpus.value(corpus.pair_value(pair)).as_text());
        let name = texts.chain([corpus.site()]).collect::<Vec<_>>().join(".");
        name.strip_prefix("www.").filter(|_| !labels.is_empty()).unwrap_or(&name).into()
    };
    let names: BTreeSet<Box<str>> = hosts.into_iter().map(name).collect();
    names.into_iter().collect()
}
