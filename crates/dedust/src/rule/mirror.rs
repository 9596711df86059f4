/*!
Sites that show the pages of another site under the same paths.
*/

use super::{AnyValue, Change, Evidence, Rule, Spot, Test, ValueClass};
use crate::url::{UrlPart, Value};

/// Says that a site shows the pages of another: its URLs are taken for URLs of the other, whose rules are then made. The only rule
/// of its site, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// The registrable domain of the other site.
    pub of: Box<str>,
    /// The first segments of paths under which it has pages of its own, sorted; an empty one is its home page.
    pub except: Vec<Box<str>>,
    /// Whether pages are known to be there too, so that canonical URLs can be of the other site. Otherwise keys only are.
    pub fetchable: bool,
    /// Why it is believed. Groups are paths that both sites have.
    pub evidence: Evidence,
}

impl Mirror {
    /// The rule that says the same.
    pub fn to_rule(&self) -> Rule {
        let (home, segments): (Vec<_>, Vec<_>) = self.except.iter().partition(|segment| segment.is_empty());
        let except: Vec<Value> = segments.into_iter().map(|segment| Value::Text(segment.clone())).collect();
        let test = match (home.is_empty(), except.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Test::Not(except)),
            (false, _) => Some(Test::Any(AnyValue { class: ValueClass::Text, except, optional: false })),
        };
        Rule {
            when: test.map(|test| (first_segment(), test)).into_iter().collect(),
            fetchable: self.fetchable,
            evidence: self.evidence.clone(),
            ..Rule::new(Change::Move(self.of.clone()))
        }
    }

    /// What a rule says that moves URLs to another site; `None` for other rules, and for one that asks for more than exceptions.
    pub fn of(rule: &Rule) -> Option<Self> {
        let [Change::Move(of)] = &*rule.change else { return None };
        let (has_home, values) = match (rule.when.len(), rule.when.get(&first_segment())) {
            (0, _) => (true, &[][..]),
            (1, Some(Test::Not(values))) => (true, &**values),
            (1, Some(Test::Any(AnyValue { class: ValueClass::Text, except, optional: false }))) => {
                (false, &**except)
            }
            _ => return None,
        };
        let home = (!has_home).then(Box::default);
        let segments =
            values.iter().map(|value| value.as_text().filter(|text| !text.is_empty()).map(Box::from));
        let mut except: Vec<Box<str>> = home.into_iter().map(Some).chain(segments).collect::<Option<_>>()?;
        except.sort_unstable();
        Some(Self { of: of.clone(), except, fetchable: rule.fetchable, evidence: rule.evidence.clone() })
    }
}

fn first_segment() -> Spot {
    Spot::Key(UrlPart::PathSegment(0))
}
