/*!
Which changes are believed, and of which URLs.

A change is first proposed for all URLs of the site. If they do not agree, it is proposed for fewer of them: those with
the values that the translations spoke of, then those whose path begins alike, then those with the same path. It is
believed if, with 95 % confidence, no more than a small share of the URLs that meet others by it show another page; only
URLs that its translator did not learn from are heard. Changes are made one after the other, each to what those before
it left, and are proposed again as long as others make a difference.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::{Change, Edit, Evidence, Spot, Test, TokenKey, ValueClass};

use super::proposal::{Conditions, Origin, Proposal, path_of, test_of};
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
/// Share of the places that may fail in templates most of which fail.
const MAX_CONTRADICTIONS: f64 = 0.02;
/// Pages that must agree, unless all URLs lead to one.
const MIN_PAGES: usize = 3;
/// URLs of templates for which a change may be proposed on its own.
const MIN_URLS: usize = 8;
/// Times that changes are proposed.
const ROUNDS: usize = 3;

/// The edits that are believed, in the order in which they are to be made.
pub(super) fn accept(site: &Site<'_>, proposals: Vec<Proposal>, seed: u64) -> Vec<Edit> {
    let mut search =
        Search { site, trial: Trial::new(site), held_out: held_out(site, seed), edits: Vec::new() };
    let mut open = proposals;
    for _ in 0..ROUNDS {
        let before = search.edits.len();
        open.retain(|proposal| !search.propose(proposal));
        if search.edits.len() == before {
            break;
        }
    }
    search.edits
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
    edits: Vec<Edit>,
}

/// How much is asked of URLs, from nothing at all on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Site,
    Values,
    FirstSegment,
    Path,
}

impl Level {
    fn narrower(self) -> Option<Self> {
        match self {
            Self::Site => Some(Self::Values),
            Self::Values => Some(Self::FirstSegment),
            Self::FirstSegment => Some(Self::Path),
            Self::Path => None,
        }
    }
}

impl Search<'_, '_> {
    /// Whether a change is believed of all URLs that it was proposed for.
    fn propose(&mut self, proposal: &Proposal) -> bool {
        let origins: Vec<&Origin> = proposal.origins.iter().collect();
        if !proposal.is_move {
            return self.descend(proposal, origins, Level::Site, Conditions::new());
        }
        // What a path becomes depends on all of it.
        let mut is_believed = true;
        for (path, origins) in self.parted(&origins, Level::Values) {
            is_believed &= self.descend(proposal, origins, Level::Path, path);
        }
        is_believed
    }

    fn descend(
        &mut self,
        proposal: &Proposal,
        origins: Vec<&Origin>,
        level: Level,
        when: Conditions,
    ) -> bool {
        let templates = origins.iter().map(|origin| &self.site.templates[origin.template as usize]);
        if templates.map(|template| template.rows.len()).sum::<usize>() < MIN_URLS {
            return false;
        }
        let is_wide_enough = level != Level::Site || speak_of_all(&origins);
        if is_wide_enough && self.is_believed(proposal, &when) {
            return true;
        }
        let Some(level) = level.narrower() else { return false };
        let mut is_believed = true;
        for (tests, origins) in self.parted(&origins, level) {
            let mut narrower = when.clone();
            narrower.extend(tests);
            is_believed &= self.descend(proposal, origins, level, narrower);
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
                    let key = TokenKey::PathSegment(0);
                    let test = test_of(self.site, template, &key).unwrap_or(Test::Absent);
                    Conditions::from([(Spot::Key(key), test)])
                }
                Level::Path => path_of(self.site, template),
            };
            parts.entry(format!("{tests:?}")).or_insert_with(|| (tests, Vec::new())).1.push(origin);
        }
        parts.into_values().collect()
    }

    fn is_believed(&mut self, proposal: &Proposal, when: &Conditions) -> bool {
        let edit = Edit {
            when: when.clone(),
            change: proposal.change.clone(),
            fetchable: false,
            evidence: Evidence::default(),
        };
        // The translator that proposed a change learned from the pages that were not held out from it.
        let is_witness =
            |row: u32| proposal.by == 0b11 || self.held_out[row as usize] == (proposal.by == 0b01);
        let max_of_group = if proposal.is_move { u64::MAX } else { MAX_OF_GROUP };
        let (votes, evidence) = self.trial.vote(&edit, &is_witness, max_of_group);
        if !is_proven(&votes, proposal) {
            return false;
        }
        let fetchable = !proposal.is_key_only && votes.is_fetchable();
        let mut edit = Edit { fetchable, evidence, ..edit };
        // What was always there may be why: `curid` says nothing beside `title`, and everything without it.
        for key in votes.always.into_iter().filter(|key| !changes(&edit.change, key)) {
            edit.when.entry(Spot::Key(key)).or_insert(Test::Any(ValueClass::Text));
        }
        self.trial.apply(&edit);
        self.edits.push(edit);
        true
    }
}

/// Whether a key is dropped or mapped.
fn changes(changes: &[Change], key: &TokenKey) -> bool {
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
    let is_harmless = votes.failures == 0 || proposal.change.iter().all(takes_nothing_away);
    votes.joined as f64 >= MIN_JOINED * votes.changed as f64
        && votes.bound() <= if is_harmless { HARMLESS_LIMIT } else { LIMIT }
        && votes.contradictions as f64 <= MAX_CONTRADICTIONS * votes.joined as f64
        && (proposal.is_move || votes.pages >= MIN_PAGES)
}

fn takes_nothing_away(change: &Change) -> bool {
    match change {
        Change::Map { of, .. } => *of == TokenKey::Scheme,
        Change::Set { key: TokenKey::Subdomain(_), .. } => true,
        Change::Drop(Spot::Key(key)) => matches!(key, TokenKey::TrailingSlash | TokenKey::Subdomain(_)),
        _ => false,
    }
}
