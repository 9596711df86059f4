/*!
Which rules can tell whether another was made?

A URL has components that are looked at and changed by themselves. Rules that have no component in common can be made in any
order. From that follows, when rules are compiled, what need not be asked when a canonical URL is made:

- whether a rule has to be asked *again* of its own result, and which rules before it have: see [`Masks::again`];
- whether a rule that changes keys only could see what another did to a URL that can be fetched: see [`Masks::conflicts`].
*/

use std::collections::{BTreeMap, BTreeSet};

use crate::rule::{Change, Closed, Rule, Spot, Taken, Written};
use crate::url::UrlPart;

/// A part of a URL that is looked at and changed by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Component {
    Scheme,
    Labels,
    Port,
    Path,
    TrailingSlash,
    PathName(Box<str>),
    Separator,
    QueryName(Box<str>),
    /// The values of all query parameters.
    Params,
    /// How often query parameters stand in the URL.
    Repeats,
    Hashbang,
    /// Everything but the scheme: what a rule looks at that counts the parts of a URL.
    All,
}

impl Component {
    fn is_of_query(&self) -> bool {
        matches!(self, Self::QueryName(_) | Self::Params | Self::Repeats | Self::All)
    }

    fn of(spot: &Spot) -> Self {
        match spot {
            Spot::Key(UrlPart::PathSegment(_)) | Spot::FromRight(_) => Self::Path,
            Spot::Key(key) => match key {
                UrlPart::Scheme => Self::Scheme,
                UrlPart::Subdomain(_) => Self::Labels,
                UrlPart::Port => Self::Port,
                UrlPart::PathSegment(_) => Self::Path,
                UrlPart::TrailingSlash => Self::TrailingSlash,
                UrlPart::PathParam(name) => Self::PathName(name.name.clone()),
                UrlPart::QuerySeparator => Self::Separator,
                UrlPart::QueryParam(name) => Self::QueryName(name.name.clone()),
                UrlPart::Hashbang => Self::Hashbang,
            },
        }
    }
}

/// For each rule whether it may be made before all others instead of in its place, and need not be asked again: those before it do
/// not see what it does, and it does not see what any other does. Nobody at all may see what a rule does that changes keys only. A
/// rule that only leaves something out or forgets it may share it with those who change spellings everywhere.
pub(super) fn alone(rules: &[(usize, &Rule)]) -> Vec<bool> {
    if rules.iter().any(|(_, rule)| concerns_all(rule)) {
        return vec![false; rules.len()];
    }
    let effects: Vec<Effects> = rules.iter().map(|(_, rule)| Effects::of(rule)).collect();
    let (mut seen_before, mut seen_after, mut written_after) = <(Tally, Tally, Tally)>::default();
    for Effects { looks_at, writes } in &effects {
        seen_after.add(looks_at);
        written_after.add(writes);
    }
    let is_alone = |((_, rule), own): (&(usize, &Rule), &Effects)| {
        seen_after.remove(&own.looks_at);
        written_after.remove(&own.writes);
        let is_blind = rule.when.is_empty()
            && rule.change.iter().all(|change| match change.facts().takes {
                Taken::Part(_) | Taken::Value(_) => true,
                Taken::Nothing | Taken::Path | Taken::Values(..) => false,
            });
        let after = if rule.fetchable { &written_after } else { &seen_after };
        let others = |component: &Component| seen_before.count(component) + after.count(component);
        let is_alone = own.looks_at.iter().all(|component| match component {
            Component::All => false,
            Component::Scheme => others(component) == 0,
            _ if others(&Component::All) > 0 => false,
            Component::Params | Component::Repeats => seen_before.of_query + after.of_query == 0,
            Component::QueryName(_) => {
                others(component) == 0
                    && others(&Component::Repeats) == 0
                    && (is_blind || others(&Component::Params) == 0)
            }
            // A path that is left without segments is left without a slash at its end.
            Component::TrailingSlash => others(component) == 0 && (is_blind || others(&Component::Path) == 0),
            Component::Path => others(component) == 0 && others(&Component::TrailingSlash) == 0,
            _ => others(component) == 0,
        });
        seen_before.add(&own.looks_at);
        is_alone
    };
    rules.iter().zip(&effects).map(is_alone).collect()
}

/// How many rules of some look at or change a component.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<Component, usize>,
    /// How many speak of the query.
    of_query: usize,
}

impl Tally {
    fn add(&mut self, components: &BTreeSet<Component>) {
        self.of_query += usize::from(components.iter().any(Component::is_of_query));
        for component in components {
            *self.counts.entry(component.clone()).or_default() += 1;
        }
    }

    /// Takes back what was added.
    fn remove(&mut self, components: &BTreeSet<Component>) {
        self.of_query -= usize::from(components.iter().any(Component::is_of_query));
        for component in components {
            *self.counts.entry(component.clone()).or_insert(1) -= 1;
        }
    }

    fn count(&self, component: &Component) -> usize {
        self.counts.get(component).copied().unwrap_or(0)
    }
}

/// Whether a rule decides whether others are made, or changes the query or the URL as a whole.
fn concerns_all(rule: &Rule) -> bool {
    rule.last || rule.change.iter().any(|change| change.facts().is_of_whole())
}

/// What a rule looks at, and which of that it may change.
struct Effects {
    looks_at: BTreeSet<Component>,
    writes: BTreeSet<Component>,
}

impl Effects {
    fn of(rule: &Rule) -> Self {
        let mut looks_at: BTreeSet<Component> = rule.when.keys().map(Component::of).collect();
        let mut writes = BTreeSet::new();
        for change in &rule.change {
            writes.insert(written_by(change));
            let read = change.facts().sources().filter_map(|source| source.of.as_ref());
            looks_at.extend(read.map(Component::of));
        }
        looks_at.extend(writes.iter().cloned());
        if rule.closed != Closed::No {
            looks_at.insert(Component::All);
        }
        Self { looks_at, writes }
    }
}

fn written_by(change: &Change) -> Component {
    match change.facts().writes {
        Written::Spot(spot) => Component::of(spot),
        Written::Key(key) => Component::of(&Spot::Key(key.clone())),
        Written::Path => Component::Path,
        Written::ParamValues => Component::Params,
        Written::ParamCount | Written::Separators | Written::Order(_) => Component::Repeats,
        Written::Url => Component::All,
    }
}

/// Of a rule, the numbers of some others.
pub(super) struct Masks {
    /// Those that must be asked once more if it changed a URL in which no name stands twice, so that it is known whether the
    /// result is canonical: it itself, unless it is sure to do nothing more, and those before it that look at what it wrote. All
    /// others would do what they did.
    pub(super) again: Vec<usize>,
    /// Those after it that must not have changed a URL which this one concerns, but is not made to: then the key is sure to stay.
    /// Those before it did the same to the URL when its key was made.
    pub(super) conflicts: Vec<usize>,
}

/// Of more rules nothing is found out: every two of them are compared.
const MAX_RULES: usize = 256;

/// The masks of each rule; `None` where nothing is found out, so that each has all rules in both.
pub(super) fn masks(rules: &[&Rule]) -> Option<Vec<Masks>> {
    if rules.len() > MAX_RULES || rules.iter().any(|rule| concerns_all(rule)) {
        return None;
    }
    let effects: Vec<Effects> = rules.iter().map(|rule| Effects::of(rule)).collect();
    let again = |at: usize| {
        let is_seen = |before: &usize| meet(&effects[at].writes, &effects[*before].looks_at);
        (0..at).filter(is_seen).chain((!is_done_once(rules[at])).then_some(at)).collect()
    };
    let conflicts = |at: usize| {
        // What it would write, and what those after it write that could see that.
        let (mut seen, mut written) = (effects[at].looks_at.clone(), effects[at].writes.clone());
        for later in &effects[at + 1..] {
            if meet(&written, &later.looks_at) {
                seen.extend(later.looks_at.iter().cloned());
                written.extend(later.writes.iter().cloned());
            }
        }
        (at + 1..rules.len()).filter(|&other| meet(&effects[other].writes, &seen)).collect()
    };
    Some((0..rules.len()).map(|at| Masks { again: again(at), conflicts: conflicts(at) }).collect())
}

/// Whether some component is in both, or in what the other stands for. The first are written.
fn meet(written: &BTreeSet<Component>, seen: &BTreeSet<Component>) -> bool {
    let is_query = Component::is_of_query;
    let is_whole_query = |component: &Component| matches!(component, Component::Params | Component::Repeats);
    written.iter().any(|one| {
        seen.iter().any(|other| {
            one == other
                || *other == Component::All && *one != Component::Scheme
                || is_query(one) && is_query(other) && (is_whole_query(one) || is_whole_query(other))
                // A path that is left without segments is left without a slash at its end.
                || *one == Component::Path && *other == Component::TrailingSlash
        })
    })
}

/// Whether a rule changes nothing in what it made of a URL in which no name stands twice.
fn is_done_once(rule: &Rule) -> bool {
    let is_dropped = |change: &Change| matches!(change.facts().takes, Taken::Part(_));
    let are_apart = |(at, change): (usize, &Change)| {
        let written = BTreeSet::from([written_by(change)]);
        rule.change[..at].iter().all(|before| {
            !meet(&written, &BTreeSet::from([written_by(before)])) || is_dropped(change) && is_dropped(before)
        })
    };
    rule.change.iter().all(|change| change.facts().is_done_once())
        && rule.change.iter().enumerate().all(are_apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Evidence;

    fn rules(json: &str) -> Vec<Rule> {
        let mut rules: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
        for rule in &mut rules {
            rule["evidence"] = serde_json::to_value(Evidence::default()).unwrap();
        }
        serde_json::from_value(rules.into()).unwrap()
    }

    #[test]
    fn a_rule_is_made_early_where_none_before_it_could_see_it() {
        let alone = |json: &str| {
            let rules = rules(json);
            alone(&rules.iter().enumerate().collect::<Vec<_>>())
        };
        let drop =
            |fetchable: bool| format!(r#"{{"change": [{{"drop": "q.a"}}], "fetchable": {fetchable}}}"#);
        // Counts the parts of a URL, and so sees whether there is a parameter.
        let table = r#"{"when": {"path_0": {"is": "x"}}, "closed": true,
                        "change": [{"path": [{"text": "y"}]}], "fetchable": true}"#;
        assert_eq!(alone(&format!("[{}, {table}]", drop(true))), [true, false]);
        assert_eq!(alone(&format!("[{table}, {}]", drop(true))), [false, false]);
        // Of canonical URLs the table sees the parameter that keys leave out.
        assert_eq!(alone(&format!("[{}, {table}]", drop(false))), [false, false]);
        // What a later rule writes would have to be left out again.
        let set = r#"{"change": [{"set": {"key": "q.a", "to": [{"of": "q.b"}]}}], "fetchable": true}"#;
        assert_eq!(alone(&format!("[{}, {set}]", drop(true))), [false, false]);
    }

    #[test]
    fn rules_are_asked_again_where_something_else_may_come_of_it() {
        let rules = rules(
            r#"[{"when": {"q.a": {"is": "1"}}, "change": [{"drop": "q.b"}]}, {"change": [{"drop": "q.a"}]},
                {"when": {"last_0": {"is": "x"}}, "change": [{"drop": "last_0"}]}, {"change": [{"drop": "tslash"}]},
                {"change": [{"map": {"of": "q.c", "values": [{"is": "1", "becomes": "2"}, {"is": "2", "becomes": "3"}]}}]}]"#,
        );
        let masks = masks(&rules.iter().collect::<Vec<_>>()).unwrap();
        let again: Vec<&[usize]> = masks.iter().map(|masks| &masks.again[..]).collect();
        assert_eq!(again, [&[][..], &[0], &[2], &[], &[4]]);
    }

    #[test]
    fn rules_conflict_with_what_they_or_those_after_them_could_see() {
        let rules = rules(
            r#"[{"change": [{"forget": "q.a"}]}, {"when": {"q.a": {"is": "*"}}, "change": [{"drop": "q.b"}]},
                {"change": [{"drop": "q.b"}]}, {"change": [{"drop": "q.c"}]}]"#,
        );
        let masks = masks(&rules.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(masks[0].conflicts, [1, 2]);
        assert_eq!(masks[1].conflicts, [2]);
        assert_eq!(masks[3].conflicts, [0; 0]);
    }
}
