/*!
A closed rule as rules of a rule file: tests for all parts of its pattern, then changes of those parts that become others.

A rule reads all values before it writes any, and changes are made one after the other. So they are put into an order in which none
reads what an earlier one wrote; what is left out goes last. Where there is no such order, no rules do the same.

Whether a part that may be absent is there must be known where its value is written elsewhere. Then there is a rule for each case.
*/

use std::collections::BTreeMap;

use dedust::rules::{
    AnyValue, Change, Closed, ParamName, PathPart, Rule, SiteRules, SiteSummary, Source, Spot, Test, UrlPart,
    Value, ValueClass,
};

use super::{ClosedRule, Op, OtherParams, ValuePattern};

/// The rules that do what a closed rule does.
pub(super) fn rules(rule: &ClosedRule) -> Option<Vec<Rule>> {
    check(rule)?;
    let rules: Vec<Rule> = cases(rule)?.iter().map(Case::rule).collect::<Option<_>>()?;
    stand(&rules).then_some(rules)
}

/// Whether rules can be made by themselves.
fn stand(rules: &[Rule]) -> bool {
    SiteRules::new(SiteSummary::default(), rules.to_vec()).is_ok()
}

/// Whether what the rule writes is a URL, whatever it covers.
fn check(rule: &ClosedRule) -> Option<()> {
    let ClosedRule { pattern, rewrite, .. } = rule;
    let has_scheme = match rewrite.get(&UrlPart::Scheme)? {
        Op::Keep(_) | Op::Ignore | Op::Join(_) => true,
        Op::Copy(from) => pattern.get(from).is_some_and(|from| !from.is_optional()),
    };
    let is_known = |key: &UrlPart| pattern.get(key).is_some();
    let reads_known = rewrite.ops().all(|(_, op)| match op {
        Op::Copy(from) => is_known(from),
        Op::Join(sources) => sources.iter().all(|source| match &source.of {
            Some(Spot::Key(key)) => is_known(key),
            Some(Spot::FromRight(_)) => false,
            None => true,
        }),
        Op::Keep(_) | Op::Ignore => true,
    });
    let has_gap = rewrite.ops().any(|(key, _)| match key {
        UrlPart::PathSegment(index @ 1..) => rewrite.get(&UrlPart::PathSegment(index - 1)).is_none(),
        UrlPart::Subdomain(index @ 1..) => rewrite.get(&UrlPart::Subdomain(index - 1)).is_none(),
        _ => false,
    });
    // Else an earlier parameter of the name would be passed through, and come after this one.
    let before = |key: &UrlPart| match key {
        UrlPart::QueryParam(ParamName { name, occurrence: occurrence @ 2.. }) => {
            let before = ParamName { name: name.clone(), occurrence: occurrence - 1 };
            Some(UrlPart::QueryParam(before))
        }
        _ => None,
    };
    let is_passed = rewrite.ops().any(|(key, _)| rule.is_other_param(key))
        || pattern.keys().filter_map(|(key, _)| before(key)).any(|key| rule.is_other_param(&key));
    let mut keys = pattern.keys().map(|(key, _)| key).chain(rewrite.ops().map(|(key, _)| key));
    let has_text = keys.any(UrlPart::is_query_text);
    if !has_scheme || !reads_known || has_gap || is_passed || has_text {
        return None;
    }
    // Every value that is always the same must be one that can be written, though it may stand there already.
    let written = rewrite.ops().filter_map(|(key, op)| match op {
        Op::Keep(value) => Some(Change::Set { key: key.clone(), to: source_of_value(value) }),
        _ => None,
    });
    let order = Change::Order(rewrite.query_order().to_vec());
    let is_written = |key: &UrlPart| rewrite.get(key).is_some();
    let probe = Rule { change: written.chain([order]).collect(), last: true, ..Rule::default() };
    (rewrite.query_order().iter().all(is_written) && stand(&[probe])).then_some(())
}

/// A rule where it is known which of the parts are there that this must be known of.
struct Case<'r> {
    rule: &'r ClosedRule,
    /// Parts that the URL has or may have.
    pattern: BTreeMap<UrlPart, ValuePattern>,
    /// Query parameters that it does not have, though others are passed through.
    absent: Vec<UrlPart>,
    /// Parts that are written, without those that are copied from what is not there.
    target: BTreeMap<UrlPart, Op>,
}

/// Optional parts that cases are made of.
const MAX_OPTIONAL: usize = 8;

/// The cases of a rule.
fn cases(rule: &ClosedRule) -> Option<Vec<Case<'_>>> {
    let keys = rule.pattern.keys().map(|(key, pattern)| (key.clone(), pattern.clone()));
    let ops = rule.rewrite.ops().map(|(key, op)| (key.clone(), op.clone()));
    let all = Case { rule, pattern: keys.collect(), absent: Vec::new(), target: ops.collect() };
    let mut optional = all.optional_sources();
    // A path without segments is a slash, for rules. For rules it has none at its end.
    optional.insert(0, FIRST_SEGMENT);
    if optional.len() > MAX_OPTIONAL {
        return None;
    }
    let cases = optional
        .iter()
        .fold(vec![all], |cases, key| cases.into_iter().flat_map(|case| case.divide(key)).collect());
    Some(cases.into_iter().filter_map(Case::without_slash_alone).collect())
}

const FIRST_SEGMENT: UrlPart = UrlPart::PathSegment(0);

impl Case<'_> {
    /// Parts that may be absent and of which this must be known, since they are copied elsewhere.
    fn optional_sources(&self) -> Vec<UrlPart> {
        let is_optional = |key: &UrlPart| self.pattern.get(key).is_some_and(ValuePattern::is_optional);
        let moves_path = self.moves_path();
        let sources = self.target.iter().filter_map(|(key, op)| match op {
            Op::Copy(from) if from != key || moves_path && is_segment(key) => Some(from.clone()),
            _ => None,
        });
        let mut sources: Vec<UrlPart> = sources.filter(is_optional).collect();
        sources.sort();
        sources.dedup();
        sources
    }

    /// Two cases: a part is there, or not. One, if that is known.
    fn divide(self, key: &UrlPart) -> Vec<Self> {
        let Some(ValuePattern::Any(any)) = self.pattern.get(key).filter(|pattern| pattern.is_optional())
        else {
            return vec![self];
        };
        let there = ValuePattern::Any(AnyValue { optional: false, ..any.clone() });
        let Self { rule, mut pattern, mut absent, mut target } = self;
        let mut with = pattern.clone();
        with.insert(key.clone(), there);
        let with = Self { rule, pattern: with, absent: absent.clone(), target: target.clone() };
        // Without a segment there are none after it.
        let is_gone = |other: &UrlPart| other == key || is_segment(key) && is_segment(other) && other > key;
        if pattern.iter().any(|(other, pattern)| is_gone(other) && !pattern.is_optional()) {
            return vec![with];
        }
        if matches!(key, UrlPart::QueryParam(_)) {
            absent.push(key.clone());
        }
        pattern.retain(|other, _| !is_gone(other));
        target.retain(|_, op| !matches!(op, Op::Copy(from) if is_gone(from)));
        vec![with, Self { rule, pattern, absent, target }]
    }

    /// The same, but for paths without segments, which rules ask for no slash. `None` if there is no such URL.
    fn without_slash_alone(mut self) -> Option<Self> {
        if !self.pattern.contains_key(&FIRST_SEGMENT) {
            self.pattern.remove(&UrlPart::TrailingSlash)?;
            let slash = self.target.remove(&UrlPart::TrailingSlash);
            if let Some(slash) = slash.filter(|_| self.target.contains_key(&FIRST_SEGMENT)) {
                let slash = if slash == Op::Ignore { slash } else { Op::Keep("/".into()) };
                self.target.insert(UrlPart::TrailingSlash, slash);
            }
        }
        Some(self)
    }

    /// Whether an operation leaves the value of a key as it is.
    fn leaves(&self, key: &UrlPart, op: &Op) -> bool {
        match op {
            Op::Keep(value) => self.pattern.get(key) == Some(&ValuePattern::Is(value.clone())),
            Op::Copy(from) => from == key,
            Op::Ignore | Op::Join(_) => false,
        }
    }

    fn rule(&self) -> Option<Rule> {
        let ClosedRule { other_params, rewrite, fetchable, evidence, .. } = self.rule;
        let test = |pattern: &ValuePattern| match pattern {
            ValuePattern::Is(value) => Test::Is(value.clone()),
            ValuePattern::Any(any) => Test::Any(any.clone()),
        };
        let mut when: BTreeMap<Spot, Test> =
            self.pattern.iter().map(|(key, pattern)| (Spot::Key(key.clone()), test(pattern))).collect();
        let closed = match other_params {
            OtherParams::Refuse => Closed::Yes,
            OtherParams::Keep => {
                // What separates parameters is none of those that are passed through.
                for key in self.absent.iter().chain([&UrlPart::QuerySeparator]) {
                    when.entry(key.clone().into()).or_insert(Test::Absent);
                }
                Closed::ExceptParams
            }
        };
        let fetchable = *fetchable && rewrite.is_writable();
        let mut change = self.changes()?;
        if fetchable && !self.rule.is_in_place() {
            change.extend(self.order());
        }
        let (evidence, last) = (evidence.clone(), true);
        Some(Rule { when, closed, change, last, fetchable, evidence, ..Rule::default() })
    }

    /// The order in which the site writes parameters, where they do not simply stay as they are.
    fn order(&self) -> Option<Change> {
        let is_param = |key: &UrlPart| matches!(key, UrlPart::QueryParam(_));
        let params: Vec<(&UrlPart, &Op)> = self.target.iter().filter(|(key, _)| is_param(key)).collect();
        let passes_others = self.rule.other_params == OtherParams::Keep;
        let stay = params.iter().all(|(key, op)| self.leaves(key, op));
        if stay || params.len() < 2 && !passes_others {
            return None;
        }
        let order = self.rule.rewrite.query_order();
        let rank = |key: &UrlPart| order.iter().position(|other| other == key).unwrap_or(usize::MAX);
        let mut keys: Vec<UrlPart> = params.into_iter().map(|(key, _)| key.clone()).collect();
        keys.sort_by_key(|key| rank(key));
        Some(Change::Order(keys))
    }

    /// Changes of parts, in an order in which none reads what an earlier one wrote.
    fn changes(&self) -> Option<Vec<Change>> {
        let mut open: Vec<Write> = Vec::new();
        let moves_path = self.moves_path();
        if moves_path {
            open.push(self.write_path()?);
        }
        for (key, op) in &self.target {
            if self.leaves(key, op) || moves_path && is_segment(key) {
                continue;
            }
            open.push(self.write(key, op)?);
        }
        let mut changes = Vec::new();
        while !open.is_empty() {
            let is_free = |at: &usize| {
                let writes = &open[*at].writes;
                (0..open.len())
                    .all(|other| other == *at || !open[other].reads.iter().any(|key| writes.contains(key)))
            };
            let next = (0..open.len()).find(is_free)?;
            changes.extend(open.remove(next).changes);
        }
        // Those behind one that is left out move up, so the last comes first.
        let is_left_out = |key: &&UrlPart| {
            !self.target.contains_key(*key) && **key != UrlPart::Scheme && !(moves_path && is_segment(key))
        };
        let left_out = self.pattern.keys().rev().filter(is_left_out);
        changes.extend(left_out.map(|key| Change::Drop(key.clone().into())));
        Some(changes)
    }

    /// How many segments every URL has, and how many it may have.
    fn depths(&self) -> (u16, u16) {
        let mut depths = (0, 0);
        for (key, pattern) in &self.pattern {
            if let UrlPart::PathSegment(index) = key {
                depths.1 = depths.1.max(index + 1);
                if !pattern.is_optional() {
                    depths.0 = depths.0.max(index + 1);
                }
            }
        }
        depths
    }

    /// Whether segments are written where none are for sure, or come from elsewhere in the path. Otherwise they are changed where they stand.
    fn moves_path(&self) -> bool {
        let (least, _) = self.depths();
        self.target.iter().any(|(key, op)| match (key, op) {
            (UrlPart::PathSegment(index), op) if *index >= least => !self.leaves(key, op),
            (UrlPart::PathSegment(_), Op::Copy(from)) => from != key && is_segment(from),
            _ => false,
        })
    }

    /// A new path.
    fn write_path(&self) -> Option<Write> {
        let (least, most) = self.depths();
        let ops = self.target.iter().filter(|(key, _)| is_segment(key));
        let (mut parts, mut reads, mut set) = (Vec::new(), Vec::new(), Vec::new());
        // In a path, a value is written only if it is a segment. A rule writes it as it is.
        let mut later = |parts: &mut Vec<PathPart>, to: Vec<Source>, key: &UrlPart| {
            parts.push(PathPart::Text("*".into()));
            set.push(Change::Set { key: key.clone(), to });
        };
        for (key, op) in ops {
            let op = if self.leaves(key, op) { &Op::Copy(key.clone()) } else { op };
            match op {
                Op::Keep(value) => parts.push(PathPart::Text(value.as_text()?.into())),
                Op::Ignore => parts.push(PathPart::Text("*".into())),
                Op::Copy(UrlPart::PathSegment(from)) if least == most => {
                    extend_run(&mut parts, *from, most);
                }
                Op::Copy(UrlPart::PathSegment(from)) if usize::from(*from) == first_of(&parts) => {
                    parts = vec![PathPart::First(from + 1)];
                }
                Op::Copy(from) => {
                    let source = self.source(from, &mut reads)?;
                    if is_segment(from) || self.is_plain(from) {
                        parts.push(PathPart::Value { from: source, split: None });
                    } else {
                        later(&mut parts, vec![source], key);
                    }
                }
                Op::Join(sources) => {
                    reads.extend(sources.iter().filter_map(key_of));
                    match &**sources {
                        [source] if key_of(source).is_some_and(|key| is_segment(&key)) => {
                            parts.push(PathPart::Value { from: source.clone(), split: None });
                        }
                        _ => later(&mut parts, sources.clone(), key),
                    }
                }
            }
        }
        // What is set is read after the path was written.
        if set.iter().any(reads_segment) {
            return None;
        }
        reads.retain(|key| !is_segment(key));
        let writes = self.pattern.keys().filter(|key| is_segment(key)).cloned().collect();
        let changes = [Change::Path(parts)].into_iter().chain(set).collect();
        Some(Write { changes, reads, writes })
    }

    /// Whether the values of a part are segments wherever they stand.
    fn is_plain(&self, key: &UrlPart) -> bool {
        let Some(ValuePattern::Any(AnyValue { class, .. })) = self.pattern.get(key) else { return false };
        matches!(class, ValueClass::Digits | ValueClass::Hex | ValueClass::Word | ValueClass::Date)
    }

    /// What becomes of one part.
    fn write(&self, key: &UrlPart, op: &Op) -> Option<Write> {
        let is_there = self.pattern.get(key).is_some_and(|pattern| !pattern.is_optional());
        let set = |to: Vec<Source>| Change::Set { key: key.clone(), to };
        let mut reads = Vec::new();
        let changes = match op {
            Op::Keep(value) => vec![set(source_of_value(value))],
            Op::Ignore if is_there => vec![Change::Forget(key.clone().into())],
            Op::Ignore => match key {
                UrlPart::TrailingSlash => {
                    vec![set(vec![Source::text("/")]), Change::Forget(key.clone().into())]
                }
                // Keys have `&` in any case.
                UrlPart::QuerySeparator => vec![Change::Drop(key.clone().into())],
                _ => vec![set(vec![Source::text("*")])],
            },
            Op::Copy(from) => match self.pattern.get(from) {
                Some(ValuePattern::Is(Value::Bare)) => vec![set(Vec::new())],
                _ => vec![set(vec![self.source(from, &mut reads)?])],
            },
            Op::Join(sources) => {
                reads.extend(sources.iter().filter_map(key_of));
                vec![set(sources.clone())]
            }
        };
        Some(Write { changes, reads, writes: vec![key.clone()] })
    }

    /// The value of a part that is there, which is read unless it is always the same.
    fn source(&self, from: &UrlPart, reads: &mut Vec<UrlPart>) -> Option<Source> {
        Some(match self.pattern.get(from)? {
            ValuePattern::Is(value) => Source::text(value.as_text()?),
            ValuePattern::Any(_) => {
                reads.push(from.clone());
                Source::of(from.clone().into())
            }
        })
    }
}

/// Changes that belong together, with what they read and write.
struct Write {
    changes: Vec<Change>,
    reads: Vec<UrlPart>,
    writes: Vec<UrlPart>,
}

/// Adds a segment to a path, of so many, as part of a run of them if it comes after the last.
fn extend_run(parts: &mut Vec<PathPart>, segment: u16, depth: u16) {
    match parts.last_mut() {
        Some(PathPart::Segments { but_last, .. }) if depth - *but_last == segment => *but_last -= 1,
        _ => parts.push(PathPart::Segments { from: segment, but_last: depth - 1 - segment }),
    }
}

/// How many segments from the start a path has that has nothing else so far; too many if it has.
fn first_of(parts: &[PathPart]) -> usize {
    match parts {
        [] => 0,
        [PathPart::First(count)] => usize::from(*count),
        _ => usize::MAX,
    }
}

fn source_of_value(value: &Value) -> Vec<Source> {
    // A parameter of which nothing is written has no value.
    value.as_text().map(Source::text).into_iter().collect()
}

fn key_of(source: &Source) -> Option<UrlPart> {
    match &source.of {
        Some(Spot::Key(key)) => Some(key.clone()),
        Some(Spot::FromRight(_)) | None => None,
    }
}

/// Whether what is set is read in the path.
fn reads_segment(change: &Change) -> bool {
    matches!(change, Change::Set { to, .. } if to.iter().filter_map(key_of).any(|key| is_segment(&key)))
}

fn is_segment(key: &UrlPart) -> bool {
    matches!(key, UrlPart::PathSegment(_))
}

#[cfg(test)]
mod tests;
