/*!
Where a rule holds: on which hosts, and at which places of them.

What a rule forgets was seen to be irrelevant somewhere: on some hosts, at some depths of the path, in some sections. Elsewhere it may
decide what is shown. So of each of these *kinds of places* the groups that the rule joins are counted by place:

- A place is *shown* if groups agree there, and at least as many as contradict; it is *refuted* if more contradict.
- If three places of a kind are shown and none is refuted, the rule holds at all of them, also at those that were never seen.
- Otherwise it is made at the places that were shown, and nowhere else.
- Sections that were seen, in which nothing is shown, are left out in any case.

Parameters for tracking and sessions mean the same whatever the software, so they are left out everywhere. What forgets nothing is asked
for its hosts alone.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::rules::{AnyValue, Change, Spot, Test, UrlPart, Value, ValueClass};

use super::accept::{Harm, Refusal};
use super::draft::Draft;
use super::families::Family;
use super::search::{Candidate, Judged, Search};
use super::table::RowSet;
use super::vote::{Sides, joined};
use crate::corpus::Corpus;
use crate::thresholds::{self, scope as limits};

/// The pair of what tells hosts apart: the label next to the site's name; none for the site itself, with and without `www`.
type HostLabel = Option<u32>;

/// What was seen at the places of one kind.
type Places<P> = BTreeMap<P, Seen>;

/// What was seen at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Groups that agree, and that do not.
    agreeing: u64,
    contradicting: u64,
    /// URLs that the rule would change.
    changed: u64,
}

impl Seen {
    fn is_shown(&self) -> bool {
        self.agreeing > 0 && self.agreeing >= self.contradicting
    }

    fn is_refuted(&self) -> bool {
        self.contradicting > self.agreeing
    }
}

/// What was seen of a rule at each place.
#[derive(Default)]
struct Reach {
    hosts: Places<HostLabel>,
    depths: Places<u16>,
    /// With a slash at the end of the path, and without.
    slashes: Places<bool>,
    /// The pairs of first segments of the path.
    sections: Places<u32>,
}

impl Search<'_> {
    /// A believed rule where it was shown to hold; `None` if that cannot be said.
    pub(super) fn where_shown(&self, judged: Judged) -> Option<Judged> {
        let Judged { candidate, refusal, .. } = &judged;
        let may_hold_on_a_host =
            self.hosts.len() > 1 && matches!(refusal, Some(Refusal::Fails | Refusal::TooFewVotes));
        if !(refusal.is_none() || may_hold_on_a_host) || !is_of_software(candidate) {
            return Some(judged);
        }
        let reach = self.reach(candidate);
        if refusal.is_some() && !is_refuted_somewhere(&reach.hosts) {
            return Some(judged);
        }
        let mut draft = self.on_shown_hosts(candidate.draft.clone(), &reach.hosts)?;
        let mut limited = candidate.limited.clone();
        // What is left out because it was seen to fail there was chosen.
        let mut limit = |part: UrlPart, is_refuted: bool| is_refuted || limited.insert(part.into());
        limit(UrlPart::Subdomain(0), is_refuted_somewhere(&reach.hosts));
        if self.depends_on_place(candidate) {
            limit(UrlPart::PathSegment(0), is_refuted_somewhere(&reach.sections));
            draft = self.in_shown_sections(draft, &reach.sections, candidate.family != Family::Relevant)?;
            draft = at_shown_depths(draft, &reach.depths)?;
            draft = with_shown_slash(draft, &reach.slashes)?;
        }
        if draft == candidate.draft {
            return Some(judged);
        }
        limited.retain(|spot| !candidate.draft.when.contains_key(spot));
        limited.extend(candidate.limited.iter().cloned());
        Some(self.vote(Candidate { draft, limited, ..judged.candidate }))
    }

    /// Whether a rule may hold at one place of a site and not at another: what it forgets is neither known everywhere nor written
    /// elsewhere.
    fn depends_on_place(&self, candidate: &Candidate) -> bool {
        let Candidate { draft, family, .. } = candidate;
        let is_spelling = |change: &Change| matches!(change, Change::Fold { .. });
        !family.is_known()
            && !draft.change.iter().all(is_spelling)
            && !draft.is_move()
            && self.harm(candidate) != Harm::None
    }

    /// Whether a rule that is believed holds on hosts that nobody has visited.
    pub(super) fn holds_on_all_hosts(&self, candidate: &Candidate) -> bool {
        !is_of_software(candidate)
            || (self.hosts.len() >= limits::MIN_PLACES && holds_elsewhere(&self.reach(candidate).hosts))
    }

    fn on_shown_hosts(&self, draft: Draft, hosts: &Places<HostLabel>) -> Option<Draft> {
        if self.hosts.len() < 2 || hosts.values().all(Seen::is_shown) || holds_elsewhere(hosts) {
            return Some(draft);
        }
        let spot = Spot::Key(UrlPart::Subdomain(0));
        let shown: Vec<HostLabel> =
            hosts.iter().filter(|(_, seen)| seen.is_shown()).map(|(host, _)| *host).collect();
        if shown.is_empty() {
            return None;
        }
        if shown.contains(&None) {
            // Hosts that nobody has visited are left out by the list of hosts of the site.
            let others = hosts.iter().filter(|(_, seen)| !seen.is_shown()).filter_map(|(host, _)| *host);
            draft.and(spot, Test::Not(self.values(others)))
        } else {
            draft.and(spot, one_of(self.values(shown.into_iter().flatten())))
        }
    }

    /// The rule in sections in which it was shown. Where it may hold in others, it is left out in those that were seen and show
    /// nothing.
    fn in_shown_sections(
        &self,
        draft: Draft,
        sections: &Places<u32>,
        may_hold_elsewhere: bool,
    ) -> Option<Draft> {
        let spot = Spot::Key(UrlPart::PathSegment(0));
        let is_asked = matches!(draft.when.get(&spot), Some(Test::Is(_) | Test::OneOf(_) | Test::Absent));
        if is_asked || sections.is_empty() {
            return Some(draft);
        }
        let named = |is_named: &dyn Fn(&Seen) -> bool| -> Vec<u32> {
            sections.iter().filter(|(_, seen)| is_named(seen)).map(|(section, _)| *section).collect()
        };
        let silent = named(&|seen| !seen.is_shown() && seen.changed >= limits::MIN_CHANGED);
        if may_hold_elsewhere && holds_elsewhere(sections) && silent.len() <= limits::MAX_NAMED {
            if silent.is_empty() {
                return Some(draft);
            }
            return draft.and(spot, Test::Not(self.values(silent)));
        }
        let shown = named(&Seen::is_shown);
        if shown.is_empty() || shown.len() > limits::MAX_NAMED {
            return None;
        }
        draft.and(spot, one_of(self.values(shown)))
    }

    /// The values of pairs, sorted.
    fn values(&self, pairs: impl IntoIterator<Item = u32>) -> Vec<Value> {
        let mut values: Vec<Value> =
            pairs.into_iter().map(|pair| self.table.value_of(pair).clone()).collect();
        values.sort();
        values
    }

    fn reach(&self, candidate: &Candidate) -> Reach {
        let (moves, work) = self.table.moves_and_work(&candidate.draft);
        self.table.add_work(work);
        let mut reach = Reach::default();
        for &(row, _) in &moves {
            reach.note(self, row, |seen| seen.changed += 1);
        }
        let moved = RowSet::of(moves.iter().map(|(row, _)| *row), self.table.corpus().len());
        for group in joined(&self.table, &moves) {
            let Sides { with, slight, against } = group.sides(self.table.corpus(), candidate.slight_votes());
            let is_agreeing = with.len() > 1 && slight.is_empty() && against.is_empty();
            if !is_agreeing && against.is_empty() {
                continue;
            }
            // A group counts once at each place.
            let mut places = Reach::default();
            let rows = with.iter().chain(&against).filter(|row| moved.contains(**row));
            rows.for_each(|&row| places.note(self, row, |seen| seen.changed = 1));
            let count = |seen: &mut Seen| {
                *(if is_agreeing { &mut seen.agreeing } else { &mut seen.contradicting }) += 1;
            };
            places.hosts.into_keys().for_each(|place| count(reach.hosts.entry(place).or_default()));
            places.depths.into_keys().for_each(|place| count(reach.depths.entry(place).or_default()));
            places.slashes.into_keys().for_each(|place| count(reach.slashes.entry(place).or_default()));
            places.sections.into_keys().for_each(|place| count(reach.sections.entry(place).or_default()));
        }
        reach
    }

    fn host_label(&self, row: u32) -> HostLabel {
        let is_label = |pair: &u32| *self.table.key_of(*pair) == UrlPart::Subdomain(0);
        let label = self.table.row(row).iter().copied().find(is_label)?;
        (self.table.value_of(label).as_text() != Some("www")).then_some(label)
    }
}

impl Reach {
    /// Counts a row at its places.
    fn note(&mut self, search: &Search<'_>, row: u32, count: impl Fn(&mut Seen)) {
        let table = &search.table;
        let (mut depth, mut has_slash) = (0, false);
        for &pair in table.row(row) {
            match table.key_of(pair) {
                UrlPart::PathSegment(index) => {
                    depth += 1;
                    if *index == 0 {
                        count(self.sections.entry(pair).or_default());
                    }
                }
                UrlPart::TrailingSlash => has_slash = true,
                _ => {}
            }
        }
        count(self.hosts.entry(search.host_label(row)).or_default());
        count(self.depths.entry(depth).or_default());
        if depth > 0 {
            count(self.slashes.entry(has_slash).or_default());
        }
    }
}

fn is_refuted_somewhere<P>(places: &Places<P>) -> bool {
    places.values().any(Seen::is_refuted)
}

/// Whether what was seen at some places of a kind says that a rule holds at all of them.
fn holds_elsewhere<P>(places: &Places<P>) -> bool {
    let shown = places.values().filter(|seen| seen.is_shown()).count();
    shown >= limits::MIN_PLACES && !is_refuted_somewhere(places)
}

/// The rule at depths of the path at which it was shown, and at those between them.
fn at_shown_depths(draft: Draft, depths: &Places<u16>) -> Option<Draft> {
    if holds_elsewhere(depths) {
        return Some(draft);
    }
    // Of the runs of depths without one that refutes it, the one where most groups agree.
    let runs: Vec<(&u16, &Seen)> = depths.iter().collect();
    let run = runs
        .split(|(_, seen)| seen.is_refuted())
        .max_by_key(|run| run.iter().map(|(_, seen)| seen.agreeing).sum::<u64>())?;
    let mut shown = run.iter().filter(|(_, seen)| seen.is_shown()).map(|(depth, _)| **depth);
    let least = shown.next()?;
    let most = shown.next_back().unwrap_or(least);
    let draft = present_or_absent(draft, UrlPart::PathSegment(most), false)?;
    match least.checked_sub(1) {
        Some(last) => present_or_absent(draft, UrlPart::PathSegment(last), true),
        None => Some(draft),
    }
}

/// The rule at paths that end as those do at which it was shown.
fn with_shown_slash(draft: Draft, slashes: &Places<bool>) -> Option<Draft> {
    let shown: Vec<bool> = slashes.iter().filter(|(_, seen)| seen.is_shown()).map(|(has, _)| *has).collect();
    match shown[..] {
        [has_slash] => present_or_absent(draft, UrlPart::TrailingSlash, has_slash),
        _ => Some(draft),
    }
}

fn one_of(mut values: Vec<Value>) -> Test {
    if values.len() == 1 { Test::Is(values.remove(0)) } else { Test::OneOf(values) }
}

/// The rule where a part is there, or is not.
fn present_or_absent(mut draft: Draft, part: UrlPart, is_present: bool) -> Option<Draft> {
    let any = AnyValue::from(ValueClass::Text);
    let spot = Spot::Key(part);
    let test = match (draft.when.remove(&spot), is_present) {
        (None, true) => Test::Any(any),
        (Some(Test::Not(values)), true) => Test::Any(AnyValue { except: values, ..any }),
        (Some(Test::Any(known)), true) => Test::Any(AnyValue { optional: false, ..known }),
        (Some(test @ (Test::Is(_) | Test::OneOf(_))), true) => test,
        (None | Some(Test::Not(_) | Test::Absent), false) => Test::Absent,
        (Some(Test::Any(known)), false) if known.optional => Test::Absent,
        _ => return None,
    };
    draft.when.insert(spot, test);
    Some(draft)
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
