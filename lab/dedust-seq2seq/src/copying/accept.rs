/*!
Which changes are believed, and of which URLs.

A change is first proposed for all URLs of the site. If they do not agree, it is proposed for fewer of them: those with
the values that the translations spoke of, then those whose path begins alike, those with the same path, and those with the
same parameters beside it. A new path is proposed for the path it was made of; if nothing of that is left in it, first for
the parameters alone. A change is believed if, with 95 % confidence, no more than a small share of the URLs that meet others
by it show another page; only URLs that its translator did not learn from are heard. What one kind of page contradicts is not
believed at large; of scheme, host and trailing slash, that kind is left out. Changes are made one after the other, each to
what those before it left, and are proposed again as long as others make a difference.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::rules::{Change, Evidence, Rule, Spot, Test, UrlPart, Value, ValueClass};

use super::proposal::{Conditions, Origin, Proposal, path_of, query_of, test_of};
use super::site::Site;
use super::trial::{Trial, Votes};
use crate::pair::HeldOut;

/// The share of URLs that may fail.
const LIMIT: f64 = 0.05;
/// The same for a change that nobody contradicts, and for one that takes nothing away but the scheme, a host label or the
/// trailing slash: what fails there are mostly labels.
const HARMLESS_LIMIT: f64 = 0.1;
/// Places with the same form that are heard about a change. One page that is shown for many values proves little: it may
/// be all there is to show.
const MAX_OF_GROUP: u64 = 3;
/// Share of the places with a change that must meet another.
const MIN_JOINED: f64 = 0.02;
/// Values that a change must be proposed for to be proposed for all values.
const MIN_VALUES: usize = 3;
/// Share of the places that may fail in templates most of which fail, for changes that take nothing away.
const MAX_CONTRADICTIONS: f64 = 0.02;
/// Pages that must agree, unless all URLs lead to one.
const MIN_PAGES: usize = 3;
/// Templates that must agree that all URLs lead to one page, to be believed like others that nobody contradicts: of one
/// template, those that lead elsewhere may not have been crawled yet.
const MIN_TEMPLATES: usize = 3;
/// Words of which URLs are left out of a change that takes nothing away: a page for editors or a feed may say which
/// address it was asked for at.
const MAX_EXCEPTIONS: usize = 3;
/// URLs of templates for which a change may be proposed on its own.
const MIN_URLS: usize = 8;
/// Times that changes are proposed.
const ROUNDS: usize = 3;

/// The rules that are believed, in the order in which they are to be made.
pub(super) fn accept(site: &Site<'_>, proposals: Vec<Proposal>, seed: u64) -> Vec<Rule> {
    let mut search =
        Search { site, trial: Trial::new(site), held_out: held_out(site, seed), rules: Vec::new() };
    let mut open = proposals;
    for _ in 0..ROUNDS {
        let before = search.rules.len();
        open.retain(|proposal| !search.propose(proposal));
        if search.rules.len() == before {
            break;
        }
    }
    search.rules
}

/// By row, whether its page was held out when the first translator learned; it was not when the second did.
fn held_out(site: &Site<'_>, seed: u64) -> Vec<bool> {
    let held_out = HeldOut { seed, one_in: super::pairs::HELD_OUT };
    let mut is_held_out = vec![false; site.corpus.len()];
    for (page, rows) in (0..).zip(site.rows_by_page()) {
        for &row in &rows {
            is_held_out[row as usize] = held_out.is_held_out(page, rows.len(), site.corpus.url(row));
        }
    }
    is_held_out
}

struct Search<'s, 'c> {
    site: &'s Site<'c>,
    trial: Trial<'s, 'c>,
    held_out: Vec<bool>,
    rules: Vec<Rule>,
}

/// What may be asked of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Nothing.
    Site,
    /// What was true of the values that change.
    Values,
    /// How their path begins.
    FirstSegment,
    /// Their path.
    Path,
    /// The parameters that stood beside.
    Query,
}

impl Search<'_, '_> {
    /// Whether a change is believed of all URLs that it was proposed for.
    fn propose(&mut self, proposal: &Proposal) -> bool {
        use Level::{FirstSegment, Path, Query, Site, Values};
        let origins: Vec<&Origin> = proposal.origins.iter().collect();
        if !proposal.is_move {
            return self.descend(
                proposal,
                &origins,
                &[Site, Values, FirstSegment, Path, Query],
                &Conditions::new(),
            );
        }
        // What a path becomes depends on all of it, unless nothing of it remains: then parameters may say all.
        proposal.is_constant() && self.descend(proposal, &origins, &[Query], &Conditions::new())
            || self.descend(proposal, &origins, &[Values, Query], &Conditions::new())
    }

    /// The same, where one thing after the other is asked as long as URLs do not agree.
    fn descend(
        &mut self,
        proposal: &Proposal,
        origins: &[&Origin],
        levels: &[Level],
        when: &Conditions,
    ) -> bool {
        let Some((&level, narrower)) = levels.split_first() else { return false };
        let mut is_believed = true;
        for (tests, origins) in self.parted(origins, level) {
            let templates = origins.iter().map(|origin| &self.site.templates[origin.template as usize]);
            if templates.map(|template| template.rows.len()).sum::<usize>() < MIN_URLS {
                is_believed = false;
                continue;
            }
            let is_new = if level == Level::Site { speak_of_all(&origins) } else { !tests.is_empty() };
            let mut when = when.clone();
            for (spot, test) in tests {
                when.entry(spot).or_insert(test);
            }
            is_believed &= is_new && self.is_believed(proposal, &when)
                || self.descend(proposal, &origins, narrower, &when);
        }
        is_believed
    }

    /// Templates that are alike as far as a level asks, with what is true of them.
    fn parted<'o>(&self, origins: &[&'o Origin], level: Level) -> Vec<(Conditions, Vec<&'o Origin>)> {
        let mut parts: BTreeMap<String, (Conditions, Vec<&'o Origin>)> = BTreeMap::new();
        for &origin in origins {
            let template = &self.site.templates[origin.template as usize];
            let tests = match level {
                Level::Site => Conditions::new(),
                Level::Values => origin.own.clone(),
                Level::FirstSegment => {
                    let key = UrlPart::PathSegment(0);
                    let test = test_of(self.site, template, &key).unwrap_or(Test::Absent);
                    Conditions::from([(Spot::Key(key), test)])
                }
                Level::Path => path_of(self.site, template),
                Level::Query => query_of(self.site, template),
            };
            parts.entry(format!("{tests:?}")).or_insert_with(|| (tests, Vec::new())).1.push(origin);
        }
        parts.into_values().collect()
    }

    /// Tries a change, and makes it if it is believed.
    fn is_believed(&mut self, proposal: &Proposal, when: &Conditions) -> bool {
        let mut rule = Rule {
            when: when.clone(),
            change: proposal.change.clone(),
            fetchable: false,
            evidence: Evidence::default(),
            ..Rule::default()
        };
        for _ in 0..=MAX_EXCEPTIONS {
            let (votes, evidence) = self.vote(proposal, &rule);
            if is_proven(&votes, proposal) {
                self.make(Rule { evidence, ..rule }, proposal, votes);
                return true;
            }
            let exception =
                proposal.takes_nothing_away().then(|| self.exception(&votes, &rule.when)).flatten();
            let Some((spot, test)) = exception else { return false };
            rule.when.insert(spot, test);
        }
        false
    }

    fn vote(&mut self, proposal: &Proposal, rule: &Rule) -> (Votes, Evidence) {
        // The translator that proposed a change learned from the pages that were not held out from it.
        let is_witness =
            |row: u32| proposal.by == 0b11 || self.held_out[row as usize] == (proposal.by == 0b01);
        let max_of_group = if proposal.is_move { u64::MAX } else { MAX_OF_GROUP };
        self.trial.vote(rule, &is_witness, max_of_group)
    }

    /// The word most of whose URLs fail, more of them than of any other, as something that is not to be there.
    fn exception(&self, votes: &Votes, when: &Conditions) -> Option<(Spot, Test)> {
        let mut tallies: BTreeMap<(UrlPart, Value), (u64, u64)> = BTreeMap::new();
        for (&template, &(trials, failures)) in &votes.by_template {
            let template = &self.site.templates[template as usize];
            for key in template.keys.iter().collect::<BTreeSet<_>>() {
                let may_tell = matches!(key, UrlPart::PathSegment(0) | UrlPart::QueryParam(_));
                if let (true, Some(Test::Is(value))) = (may_tell, test_of(self.site, template, key)) {
                    let tally = tallies.entry((key.clone(), value)).or_default();
                    *tally = (tally.0 + trials, tally.1 + failures);
                }
            }
        }
        let failing = tallies.into_iter().filter(|(_, (trials, failures))| 2 * failures > *trials);
        let ((key, value), _) = failing.rev().max_by_key(|(_, (_, failures))| *failures)?;
        let mut values = match when.get(&Spot::Key(key.clone())) {
            None => Vec::new(),
            Some(Test::Not(values)) => values.clone(),
            Some(_) => return None,
        };
        values.push(value);
        values.sort();
        Some((Spot::Key(key), Test::Not(values)))
    }

    fn make(&mut self, mut rule: Rule, proposal: &Proposal, votes: Votes) {
        rule.fetchable = !proposal.is_key_only && votes.is_fetchable();
        // What was always there may be why: `curid` says nothing beside `title`, and everything without it.
        for key in votes.always.into_iter().filter(|key| !changes(&rule.change, key)) {
            rule.when.entry(Spot::Key(key)).or_insert(Test::Any(ValueClass::Text.into()));
        }
        self.trial.apply(&rule);
        self.rules.push(rule);
    }
}

/// Whether a key is dropped or mapped.
fn changes(changes: &[Change], key: &UrlPart) -> bool {
    changes.iter().any(|change| match change {
        Change::Drop(Spot::Key(other)) | Change::Map { of: other, .. } => other == key,
        _ => false,
    })
}

/// Whether templates say enough about values that they do not have: of one word, nothing follows for others.
fn speak_of_all(origins: &[&Origin]) -> bool {
    let is_fixed = |origin: &&&Origin| origin.own.values().any(|test| matches!(test, Test::Is(_)));
    let fixed: BTreeSet<String> =
        origins.iter().filter(is_fixed).map(|origin| format!("{:?}", origin.own)).collect();
    fixed.len() >= MIN_VALUES || !origins.iter().all(|origin| is_fixed(&origin))
}

fn is_proven(votes: &Votes, proposal: &Proposal) -> bool {
    let takes_nothing_away = proposal.takes_nothing_away();
    let is_varied = !proposal.is_constant() || votes.by_template.len() >= MIN_TEMPLATES;
    let is_harmless = takes_nothing_away || votes.failures == 0 && is_varied;
    // What one kind of page needs is not superfluous, whatever all others say.
    let max_contradictions = if takes_nothing_away { MAX_CONTRADICTIONS } else { 0.0 };
    votes.joined as f64 >= MIN_JOINED * votes.changed as f64
        && votes.bound() <= if is_harmless { HARMLESS_LIMIT } else { LIMIT }
        && votes.contradictions as f64 <= max_contradictions * votes.joined as f64
        && (proposal.is_move || votes.pages >= MIN_PAGES)
}
