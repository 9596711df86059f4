/*!
Rules that can never be made, because an earlier one takes away what they ask for. Those that are not applied neither take anything
away nor are looked at.

Earlier rules are found by the part that they may take away, and by a value that they ask for, so that a long list takes no longer
than its length.
*/

use foldhash::HashMap;

use super::{Change, Closed, NewValues, Rule, Spot, Taken, Test};
use crate::url::{ParamName, RawValue, UrlPart, Value};

/// Work for one rule. After that it counts as one that may be made, so that no list takes longer than others of its length.
const MAX_WORK: usize = 10_000;
/// Looking up what a rule asks of a part takes as long as comparing so many values.
const WORK_PER_TEST: usize = 20;

/// The rules of a site that come before another.
#[derive(Default)]
pub struct EarlierRules<'e> {
    /// By what they may take away.
    takers: HashMap<Spot, Takers<'e>>,
    /// The last that may put a value into a part, or into any.
    last_put: HashMap<Spot, usize>,
    last_put_anywhere: Option<usize>,
}

/// Rules that may take away a part, each with its index, in order.
#[derive(Default)]
struct Takers<'e> {
    /// Those that ask for a value, by the first that they ask for.
    by_value: HashMap<(&'e Spot, &'e Value), Vec<(usize, &'e Rule)>>,
    others: Vec<(usize, &'e Rule)>,
}

impl<'e> EarlierRules<'e> {
    /// Adds the next rule; indexes grow.
    pub fn push(&mut self, index: usize, rule: &'e Rule) {
        if !rule.is_applied() {
            return;
        }
        if is_sure(rule) {
            for spot in rule.change.iter().filter_map(taken) {
                let takers = self.takers.entry(spot).or_default();
                let asked = rule.when.iter().find_map(|(spot, test)| match test {
                    Test::Is(value) => Some((spot, value)),
                    _ => None,
                });
                match asked {
                    Some(asked) => takers.by_value.entry(asked).or_default().push((index, rule)),
                    None => takers.others.push((index, rule)),
                }
            }
        }
        for change in &rule.change {
            match change.facts().new_values {
                NewValues::Nowhere => {}
                NewValues::At(key) => _ = self.last_put.insert(Spot::Key(key.clone()), index),
                NewValues::Anywhere => self.last_put_anywhere = Some(index),
            }
        }
    }

    /// The index of a rule that takes away what this one, which comes next, asks for or would change, and what that is; `None` if
    /// it may be made to some URL, for all that is certain.
    pub fn taker(&self, rule: &Rule) -> Option<(usize, Spot)> {
        if !rule.is_applied() {
            return None;
        }
        // What it needs: each test that an absent part does not pass, and what its only change is about.
        let asked = rule.when.iter().filter(|(_, test)| !test.holds(None));
        let needed =
            asked.map(|(spot, test)| (spot, Some(test))).chain(changed(rule).map(|spot| (spot, None)));
        let mut work = Work(MAX_WORK);
        let mut found: Option<(usize, &Spot)> = None;
        for (spot, test) in needed {
            let Some(takers) = self.takers.get(spot) else { continue };
            // Not those before the last that puts something there, which itself may have taken away what was there first.
            let first = self.last_put.get(spot).copied().max(self.last_put_anywhere).unwrap_or(0);
            let by_value = rule.when.iter().filter_map(|(spot, test)| match test {
                Test::Is(value) => takers.by_value.get(&(spot, value)),
                _ => None,
            });
            for takers in by_value.chain([&takers.others]) {
                for &(index, earlier) in takers.iter().rev() {
                    if index < first || found.is_some_and(|(later, _)| index <= later) {
                        break;
                    }
                    if !work.spend(work_of(earlier, rule)) {
                        return found.map(|(index, spot)| (index, spot.clone()));
                    }
                    if is_made_before(earlier, rule) && takes_away(earlier, spot, test) {
                        found = Some((index, spot));
                        break;
                    }
                }
            }
            if !work.spend(rule.when.len()) {
                break;
            }
        }
        found.map(|(index, spot)| (index, spot.clone()))
    }
}

/// Work that is left.
struct Work(usize);

impl Work {
    /// Whether there was so much left.
    fn spend(&mut self, work: usize) -> bool {
        let left = self.0.checked_sub(work);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The work of finding out whether `earlier` takes away what `later` asks for: how many values are compared at most.
fn work_of(earlier: &Rule, later: &Rule) -> usize {
    let values = |test: &Test| match test {
        Test::OneOf(values) | Test::Not(values) => values.len(),
        Test::Any(any) => 1 + any.except.len(),
        Test::Is(_) | Test::Absent => 1,
    };
    let product = |one: usize, other: usize| one.saturating_mul(other);
    let known = |spot: &Spot| later.when.get(spot).map_or(1, values);
    let tests = earlier.when.iter().map(|(spot, asked)| WORK_PER_TEST + product(values(asked), known(spot)));
    let changes = earlier.change.iter().map(|change| match change.facts().takes {
        Taken::Values(of, values) => 1 + product(values.len(), known(&Spot::Key(of.clone()))),
        Taken::Nothing | Taken::Part(_) | Taken::Value(_) | Taken::Path => 1,
    });
    tests.chain(changes).fold(WORK_PER_TEST, usize::saturating_add)
}

/// The part that a change may take away, or a value of it.
fn taken(change: &Change) -> Option<Spot> {
    match change.facts().takes {
        Taken::Part(spot) | Taken::Value(spot) => Some(spot.clone()),
        Taken::Values(of, _) => Some(Spot::Key(of.clone())),
        Taken::Nothing | Taken::Path => None,
    }
}

/// The only part that a rule changes.
fn changed(rule: &Rule) -> Option<&Spot> {
    let [change] = &*rule.change else { return None };
    match change.facts().takes {
        Taken::Part(spot) | Taken::Value(spot) => Some(spot),
        Taken::Nothing | Taken::Path | Taken::Values(..) => None,
    }
}

/// Whether a rule is surely made to every URL for which its tests hold.
fn is_sure(rule: &Rule) -> bool {
    rule.closed == Closed::No && rule.change.iter().all(|change| change.facts().is_sure)
}

/// Whether `earlier`, which is [sure](is_sure), is made to every URL to which `later` would be.
fn is_made_before(earlier: &Rule, later: &Rule) -> bool {
    let implies =
        |(spot, asked): (&Spot, &Test)| later.when.get(spot).is_some_and(|known| is_implied(asked, known));
    earlier.when.iter().all(implies)
}

/// Whether `asked` is true of every value of which `known` is.
fn is_implied(asked: &Test, known: &Test) -> bool {
    let all = |values: &[Value]| values.iter().all(|value| asked.holds(Some(value.as_raw())));
    match known {
        Test::Is(value) => all(std::slice::from_ref(value)),
        Test::OneOf(values) => all(values),
        Test::Absent => asked.holds(None),
        Test::Not(_) | Test::Any(_) => asked == known,
    }
}

/// Whether a rule leaves no value at a spot that a test is true of; without a test, whether it leaves none at all.
fn takes_away(earlier: &Rule, spot: &Spot, test: Option<&Test>) -> bool {
    let is_first = |name: &ParamName| name.occurrence == 1;
    // The segments and labels behind one that is dropped move up, and so do parameters unless all of a name are dropped.
    let drops_all = match spot {
        Spot::Key(UrlPart::QueryParam(name) | UrlPart::PathParam(name)) => {
            is_first(name) && Change::drops_all(&earlier.when, &earlier.change, spot)
        }
        Spot::Key(UrlPart::PathSegment(_) | UrlPart::Subdomain(_)) | Spot::FromRight(_) => false,
        Spot::Key(_) => true,
    };
    earlier.change.iter().any(|change| match change.facts().takes {
        Taken::Part(dropped) => dropped == spot && drops_all && *spot != Spot::Key(UrlPart::Scheme),
        Taken::Value(forgotten) => {
            forgotten == spot && test.is_some_and(|test| !test.holds(Some(Some(b"*"))))
        }
        Taken::Values(of, values) if Spot::Key(of.clone()) == *spot => test.is_some_and(|test| {
            let Some(values_asked) = listed(test) else { return false };
            let becomes = |value: RawValue<'_>| {
                values.iter().any(|mapped| {
                    mapped.becomes.as_deref().map(str::as_bytes).is_some_and(|text| Some(text) == value)
                })
            };
            let is_mapped = |value: &Value| values.iter().any(|mapped| mapped.is == *value);
            // One that is left out makes room for the next of its name.
            let is_param = matches!(
                of,
                UrlPart::QueryParam(_)
                    | UrlPart::PathParam(_)
                    | UrlPart::PathSegment(_)
                    | UrlPart::Subdomain(_)
            );
            let moves_up = is_param && values.iter().any(|mapped| mapped.becomes.is_none());
            !moves_up && values_asked.iter().all(|value| is_mapped(value) && !becomes(value.as_raw()))
        }),
        Taken::Nothing | Taken::Path | Taken::Values(..) => false,
    })
}

fn listed(test: &Test) -> Option<&[Value]> {
    match test {
        Test::Is(value) => Some(std::slice::from_ref(value)),
        Test::OneOf(values) => Some(values),
        Test::Not(_) | Test::Any(_) | Test::Absent => None,
    }
}

/// The rules without those that are never made.
pub fn without_never_made(rules: Vec<Rule>) -> Vec<Rule> {
    let mut earlier = EarlierRules::default();
    let mut is_made = |(index, rule)| {
        let is_made = earlier.taker(rule).is_none();
        if is_made {
            earlier.push(index, rule);
        }
        is_made
    };
    let is_made: Vec<bool> = rules.iter().enumerate().map(&mut is_made).collect();
    rules.into_iter().zip(is_made).filter_map(|(rule, is_made)| is_made.then_some(rule)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(json: &str) -> Vec<Rule> {
        serde_json::from_str(json).unwrap()
    }

    fn taken_by(json: &str) -> Option<usize> {
        let rules = rules(json);
        let (last, others) = rules.split_last().unwrap();
        let mut earlier = EarlierRules::default();
        others.iter().enumerate().for_each(|(at, rule)| earlier.push(at, rule));
        earlier.taker(last).map(|(by, _)| by)
    }

    #[test]
    fn what_was_dropped_cannot_be_asked_for() {
        assert_eq!(
            taken_by(
                r#"[{"change": [{"drop": "q.s"}]}, {"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}]}]"#
            ),
            Some(0)
        );
        assert_eq!(taken_by(r#"[{"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.s"}]}]"#), Some(0));
        assert_eq!(
            taken_by(
                r#"[{"change": [{"forget": "q.s"}]}, {"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}]}]"#
            ),
            Some(0)
        );
    }

    #[test]
    fn a_rule_that_is_made_elsewhere_takes_nothing_away() {
        let in_b = r#"[{"when": {"path_0": {"is": "a"}}, "change": [{"drop": "q.s"}]}, {"when": {"path_0": {"is": "b"}}, "change": [{"drop": "q.s"}]}]"#;
        assert_eq!(taken_by(in_b), None);
        assert_eq!(taken_by(&in_b.replace('b', "a")), Some(0));
        assert_eq!(
            taken_by(
                r#"[{"change": [{"drop": "q.s"}]}, {"when": {"q.s": "absent"}, "change": [{"drop": "q.t"}]}]"#
            ),
            None
        );
    }

    #[test]
    fn a_value_that_stands_for_another_is_gone() {
        let map = r#"[{"change": [{"map": {"of": "q.a", "values": [{"is": "1", "becomes": "2"}]}}]}, {"when": {"q.a": {"is": "1"}}, "change": [{"drop": "q.t"}]}]"#;
        assert_eq!(taken_by(map), Some(0));
        assert_eq!(taken_by(&map.replace(r#"{"is": "1"}}, "#, r#"{"is": "2"}}, "#)), None);
    }

    #[test]
    fn what_is_set_again_may_be_asked_for() {
        assert_eq!(
            taken_by(
                r#"[{"change": [{"drop": "q.s"}]}, {"change": [{"set": {"key": "q.s", "to": [{"of": "q.t"}]}}]}, {"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}]}]"#
            ),
            None
        );
    }

    #[test]
    fn rules_of_values_that_move_up_stay() {
        assert_eq!(
            taken_by(
                r#"[{"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.s"}]}, {"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.s"}]}]"#
            ),
            None
        );
        assert_eq!(taken_by(r#"[{"change": [{"drop": "path_1"}]}, {"change": [{"drop": "path_1"}]}]"#), None);
    }

    #[test]
    fn lists_keep_what_may_be_made() {
        let all = rules(
            r#"[{"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.t"}]}]"#,
        );
        assert_eq!(without_never_made(all.clone()), [all[0].clone(), all[2].clone()]);
    }
}
