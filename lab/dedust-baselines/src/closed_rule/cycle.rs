/*!
Whether rules rewrite into each other without end.
*/

use std::cmp::Ordering;

use dedust::rules::{AnyValue, ValueClass};

use super::readers::Readers;
use super::{ClosedRule, Op, ValuePattern};

/// Rules whose written URLs may be covered by each other in a circle, if there are any: their indexes in `rules`.
///
/// A rule that only forgets values writes no URL and cannot take part.
pub fn find_cycle(rules: &[ClosedRule]) -> Option<Vec<usize>> {
    let writers: Vec<usize> = (0..rules.len()).filter(|&at| rules[at].writes()).collect();
    let copies_in_place = |rule: &ClosedRule| {
        rule.rewrite.ops().all(|(key, op)| match op {
            Op::Copy(from) => from == key,
            Op::Keep(_) | Op::Ignore => true,
            Op::Join(_) => false,
        })
    };
    let readers = Readers::new(rules.iter());
    let next = |at: usize| {
        readers.of(&rules[at]).into_iter().filter(move |&other| {
            rules[other].writes()
                && feeds(&rules[at], &rules[other])
                && match other.cmp(&at) {
                    // The URL was covered by the earlier rule before, unless something that it looks at was changed.
                    Ordering::Less => !leaves_alone(&rules[at], &rules[other]),
                    Ordering::Equal => !copies_in_place(&rules[at]),
                    // The URL is still covered by the rule that wrote it.
                    Ordering::Greater => !leaves_alone(&rules[at], &rules[at]),
                }
        })
    };
    let mut state = vec![State::New; rules.len()];
    for &start in &writers {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        let mut path = vec![(start, next(start).collect::<Vec<_>>())];
        while let Some((at, rest)) = path.last_mut() {
            match rest.pop() {
                None => {
                    state[*at] = State::Done;
                    path.pop();
                }
                Some(other) if state[other] == State::Open => {
                    let mut cycle: Vec<usize> = path.iter().map(|(at, _)| *at).collect();
                    let from = cycle.iter().position(|&at| at == other).unwrap_or(0);
                    cycle.drain(..from);
                    cycle.sort_unstable();
                    return Some(cycle);
                }
                Some(other) if state[other] == State::New => {
                    state[other] = State::Open;
                    path.push((other, next(other).collect()));
                }
                Some(_) => {}
            }
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// Whether `writer` changes nothing that decides whether `reader` covers a URL.
fn leaves_alone(writer: &ClosedRule, reader: &ClosedRule) -> bool {
    reader.pattern.keys().all(|(key, pattern)| {
        let is_free = matches!(pattern, ValuePattern::Any(AnyValue { class: ValueClass::Text, except, optional: true })
            if except.is_empty());
        is_free
            || match writer.rewrite.get(key) {
                Some(Op::Copy(from)) => from == key,
                Some(Op::Keep(value)) => *pattern == ValuePattern::Is(value.clone()) && writer.pattern.get(key) == Some(pattern),
                Some(_) => false,
                None => writer.is_other_param(key) || (writer.pattern.get(key).is_none()),
            }
    })
}

/// Whether a URL written by `from` may be covered by `to`.
pub(super) fn feeds(from: &ClosedRule, to: &ClosedRule) -> bool {
    let written = from.rewrite.ops().all(|(key, op)| match (op, to.pattern.get(key)) {
        (Op::Ignore, _) => false,
        (Op::Keep(value), Some(pattern)) => pattern.matches(Some(value)),
        (Op::Copy(source), Some(pattern)) => {
            from.pattern.get(source).is_some_and(|source| source.overlaps(pattern))
        }
        (Op::Join(_), Some(_)) => true,
        (_, None) if to.is_other_param(key) => true,
        (Op::Keep(_) | Op::Join(_), None) => false,
        (Op::Copy(source), None) => from.pattern.get(source).is_some_and(|source| source.is_optional()),
    });
    written
        && to.pattern.keys().all(|(key, pattern)| {
            from.rewrite.get(key).is_some() || pattern.is_optional() || from.is_other_param(key)
        })
}
