/*!
Edits that can never be made, because an earlier one takes away what they ask for. Those that are not applied neither take anything
away nor are looked at.
*/

use super::{Area, Change, Closed, Edit, Spot, Test};
use crate::url::{ParamName, RawValue, TokenKey, Value};

/// Comparisons for one edit. After these it counts as one that may be made, so that a long file takes no longer than others.
const MAX_COMPARISONS: usize = 10_000;

/// The index of an edit that takes away what a later one, at `index`, asks for or would change, and what that is; `None` if the
/// later one may be made to some URL, for all that is certain.
pub fn never_made(edits: &[Edit], index: usize) -> Option<(usize, Spot)> {
    let edit = edits.get(index).filter(|edit| edit.is_applied())?;
    // What it needs: each test that an absent part does not pass, and what its only change is about.
    let asked = edit.when.iter().filter(|(_, test)| !test.holds(None));
    let mut needed: Vec<(&Spot, Option<&Test>)> =
        asked.map(|(spot, test)| (spot, Some(test))).chain(changed(edit).map(|spot| (spot, None))).collect();
    let mut comparisons = 0;
    for by in (0..index).rev() {
        let earlier = &edits[by];
        comparisons += earlier.when.len() + needed.len() * earlier.change.len();
        if needed.is_empty() || comparisons > MAX_COMPARISONS {
            return None;
        }
        if !earlier.is_applied() {
            continue;
        }
        if is_made_before(earlier, edit)
            && let Some((spot, _)) = needed.iter().find(|(spot, test)| takes_away(earlier, spot, *test))
        {
            return Some((by, (*spot).clone()));
        }
        needed.retain(|(spot, _)| !may_put(earlier, spot));
    }
    None
}

/// The only part that an edit changes.
fn changed(edit: &Edit) -> Option<&Spot> {
    match &*edit.change {
        [Change::Drop(spot) | Change::Forget(spot)] => Some(spot),
        _ => None,
    }
}

/// Whether `earlier` is made to every URL to which `later` would be.
fn is_made_before(earlier: &Edit, later: &Edit) -> bool {
    let implies =
        |(spot, asked): (&Spot, &Test)| later.when.get(spot).is_some_and(|known| is_implied(asked, known));
    let cannot_fail = |change: &Change| {
        matches!(
            change,
            Change::Drop(_)
                | Change::Forget(_)
                | Change::ForgetPath
                | Change::Map { .. }
                | Change::Fold { .. }
        )
    };
    earlier.closed == Closed::No && earlier.change.iter().all(cannot_fail) && earlier.when.iter().all(implies)
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

/// Whether an edit leaves no value at a spot that a test is true of; without a test, whether it leaves none at all.
fn takes_away(earlier: &Edit, spot: &Spot, test: Option<&Test>) -> bool {
    let is_first = |name: &ParamName| name.occurrence == 1;
    // The segments and labels behind one that is dropped move up, and so do parameters unless all of a name are dropped.
    let drops_all = match spot {
        Spot::Key(TokenKey::QueryParam(name) | TokenKey::PathParam(name)) => {
            is_first(name) && Change::drops_all(&earlier.when, &earlier.change, spot)
        }
        Spot::Key(TokenKey::PathSegment(_) | TokenKey::Subdomain(_)) | Spot::FromRight(_) => false,
        Spot::Key(_) => true,
    };
    earlier.change.iter().any(|change| match change {
        Change::Drop(dropped) => dropped == spot && drops_all && *spot != Spot::Key(TokenKey::Scheme),
        Change::Forget(forgotten) => {
            forgotten == spot && test.is_some_and(|test| !test.holds(Some(Some(b"*"))))
        }
        Change::Map { of, values } if Spot::Key(of.clone()) == *spot => test.is_some_and(|test| {
            let Some(values_asked) =
                listed(test).filter(|asked| asked.len() * values.len() <= MAX_COMPARISONS)
            else {
                return false;
            };
            let becomes = |value: RawValue<'_>| {
                values.iter().any(|mapped| {
                    mapped.becomes.as_deref().map(str::as_bytes).is_some_and(|text| Some(text) == value)
                })
            };
            let is_mapped = |value: &Value| values.iter().any(|mapped| mapped.is == *value);
            // One that is left out makes room for the next of its name.
            let is_param = matches!(
                of,
                TokenKey::QueryParam(_)
                    | TokenKey::PathParam(_)
                    | TokenKey::PathSegment(_)
                    | TokenKey::Subdomain(_)
            );
            let moves_up = is_param && values.iter().any(|mapped| mapped.becomes.is_none());
            !moves_up && values_asked.iter().all(|value| is_mapped(value) && !becomes(value.as_raw()))
        }),
        _ => false,
    })
}

fn listed(test: &Test) -> Option<&[Value]> {
    match test {
        Test::Is(value) => Some(std::slice::from_ref(value)),
        Test::OneOf(values) => Some(values),
        Test::Not(_) | Test::Any(_) | Test::Absent => None,
    }
}

/// Whether an edit may put a value where none was, or another one.
fn may_put(earlier: &Edit, spot: &Spot) -> bool {
    earlier.change.iter().any(|change| match change {
        Change::Set { key, .. } => Spot::Key(key.clone()) == *spot,
        Change::Map { of, .. } => Spot::Key(of.clone()) == *spot,
        Change::Fold { of: Area::Key(key), .. } => Spot::Key(key.clone()) == *spot,
        Change::Drop(_) | Change::Forget(_) => false,
        Change::Fold { .. } | Change::UnrepeatParams | Change::Order(_) => false,
        _ => true,
    })
}

/// The edits without those that are never made.
pub(super) fn without_never_made(mut edits: Vec<Edit>) -> Vec<Edit> {
    let mut index = 0;
    while index < edits.len() {
        match never_made(&edits, index) {
            Some(_) => drop(edits.remove(index)),
            None => index += 1,
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(json: &str) -> Vec<Edit> {
        serde_json::from_str(json).unwrap()
    }

    fn taken_by(json: &str) -> Option<usize> {
        let edits = edits(json);
        never_made(&edits, edits.len() - 1).map(|(by, _)| by)
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
    fn an_edit_that_is_made_elsewhere_takes_nothing_away() {
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
    fn edits_of_values_that_move_up_stay() {
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
        let all = edits(
            r#"[{"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.s"}]}, {"change": [{"drop": "q.t"}]}]"#,
        );
        assert_eq!(without_never_made(all.clone()), [all[0].clone(), all[2].clone()]);
    }
}
