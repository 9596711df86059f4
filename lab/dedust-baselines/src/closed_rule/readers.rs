/*!
Which closed rules may cover what a rule writes? Few of many, found by one part that each of them asks for, so that
not every two rules have to be compared.
*/

use dedust::rules::{UrlPart, Value};
use foldhash::HashMap;

use super::{ClosedRule, Op, OtherParams, ValuePattern};

/// Rules by what each asks for: of all parts that must be there, the one that fewest others ask for.
pub(super) struct Readers<'r> {
    by_key: HashMap<&'r UrlPart, OfKey<'r>>,
    /// Those of them that are there for a query parameter.
    of_params: Vec<usize>,
    /// Those that ask for nothing.
    others: Vec<usize>,
}

#[derive(Default)]
struct OfKey<'r> {
    by_value: HashMap<&'r Value, Vec<usize>>,
    /// All of these.
    of_values: Vec<usize>,
    /// Those that ask for a class of values.
    of_classes: Vec<usize>,
}

impl<'r> Readers<'r> {
    pub(super) fn new(rules: impl Iterator<Item = &'r ClosedRule> + Clone) -> Self {
        let mut counts: HashMap<(&UrlPart, Option<&Value>), usize> = HashMap::default();
        for asked in rules.clone().flat_map(asked_for) {
            *counts.entry(asked).or_default() += 1;
        }
        let mut all = Self { by_key: HashMap::default(), of_params: Vec::new(), others: Vec::new() };
        for (number, rule) in rules.enumerate() {
            let Some((key, value)) = asked_for(rule).min_by_key(|asked| counts[asked]) else {
                all.others.push(number);
                continue;
            };
            if matches!(key, UrlPart::QueryParam(_)) {
                all.of_params.push(number);
            }
            let of_key = all.by_key.entry(key).or_default();
            match value {
                Some(value) => {
                    of_key.by_value.entry(value).or_default().push(number);
                    of_key.of_values.push(number);
                }
                None => of_key.of_classes.push(number),
            }
        }
        all
    }

    /// The numbers of the rules that may cover what a rule writes, in order.
    pub(super) fn of(&self, writer: &ClosedRule) -> Vec<usize> {
        let mut numbers: Vec<usize> = self.lists(writer).flatten().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    fn lists<'s>(&'s self, writer: &'s ClosedRule) -> impl Iterator<Item = &'s [usize]> {
        let passes_params = writer.other_params == OtherParams::Keep;
        let is_param = |key: &UrlPart| matches!(key, UrlPart::QueryParam(_));
        let ops = writer.rewrite.ops().filter(move |(key, _)| !(passes_params && is_param(key)));
        let written = ops.filter_map(|(key, op)| {
            let of_key = self.by_key.get(key)?;
            let of_values = match written_value(writer, op) {
                Some(value) => of_key.by_value.get(value).map_or(&[][..], Vec::as_slice),
                None => &of_key.of_values,
            };
            Some([of_values, &of_key.of_classes])
        });
        let of_params = if passes_params { &self.of_params[..] } else { &[] };
        written.flatten().chain([of_params, &self.others])
    }
}

/// What must be there for a rule to cover a URL: each key, with its value if only one will do.
fn asked_for(rule: &ClosedRule) -> impl Iterator<Item = (&UrlPart, Option<&Value>)> {
    rule.pattern.keys().filter(|(_, pattern)| !pattern.is_optional()).map(|(key, pattern)| match pattern {
        ValuePattern::Is(value) => (key, Some(value)),
        ValuePattern::Any(_) => (key, None),
    })
}

/// The value that a rule writes, if it is always the same.
fn written_value<'r>(writer: &'r ClosedRule, op: &'r Op) -> Option<&'r Value> {
    match op {
        Op::Keep(value) => Some(value),
        Op::Copy(from) => match writer.pattern.get(from) {
            Some(ValuePattern::Is(value)) => Some(value),
            _ => None,
        },
        _ => None,
    }
}
