/*!
Leaves to rules: the tests on the way as the pattern, all other keys as wildcards.

A rule names every key of a URL but its query parameters, and of those only the ones that the transformation or a test
speaks of; others are passed through. So a leaf gives one rule for every such set of keys among its URLs. Where the
transformation brings a new parameter, or a test says that one is absent, other parameters are refused.
*/

use std::collections::BTreeMap;

use dedust::rules::{self, AnyValue, Evidence, Spot, UrlPart, Value, ValueClass};
use dedust_learn::support::InternedRows as _;

use super::pairwise::Frequent;
use super::site::{Entry, Site, SpotNumber};
use super::transformation::{Rule, Source, SourcePart, Transformation};
use super::tree::{Path, Test};
use crate::closed_rule::{ClosedRule, Op, OtherParams, Pattern, Rewrite, ValuePattern};
use crate::fanout::proof::Merges;

/// A rule in numbers.
pub(super) struct LeafRule<'f> {
    transformation: &'f Transformation,
    other_params: OtherParams,
    /// What the named keys must be, in the order of keys.
    checks: Vec<(u32, Check)>,
    /// A URL it was learned from, whose order of parameters is taken over.
    model: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Check {
    Is(u32),
    Any { class: ValueClass, except: Vec<u32>, optional: bool },
}

/// Named keys, each with whether it may be absent; and whether other parameters are refused.
type Names = (Vec<(u32, bool)>, bool);

/// The rules of one leaf of the tree of a transformation, each seen on `min_urls` URLs.
pub(super) fn of_leaf<'f>(
    site: &Site<'_>,
    frequent: &'f Frequent,
    path: &Path,
    min_urls: usize,
) -> Vec<LeafRule<'f>> {
    let transformation = &frequent.transformation;
    let is_here = |row: &&u32| path.iter().all(|&(test, answer)| test.holds(site, **row) == answer);
    let mut rows_by_names: BTreeMap<Names, Vec<u32>> = BTreeMap::new();
    let mut view = Vec::new();
    for &row in frequent.sources.iter().filter(is_here) {
        site.view(row, true, &mut view);
        rows_by_names.entry(names(site, transformation, path, &view)).or_default().push(row);
    }
    let rule = |((keys, refuses), rows): (Names, Vec<u32>)| LeafRule {
        transformation,
        other_params: if refuses { OtherParams::Refuse } else { OtherParams::Keep },
        checks: keys
            .into_iter()
            .map(|(key, optional)| (key, check(site, transformation, path, &rows, key, optional)))
            .collect(),
        model: rows[0],
    };
    rows_by_names.into_iter().filter(|(_, rows)| rows.len() >= min_urls).map(rule).collect()
}

/// Which keys a rule for this URL names.
fn names(site: &Site<'_>, transformation: &Transformation, path: &Path, view: &[Entry]) -> Names {
    let has = |key: u32| view.iter().any(|entry| entry.key == key);
    let is_query = |spot: SpotNumber| matches!(spot, SpotNumber::Key(key) if site.is_query(key));
    let mut refuses =
        transformation.rules.iter().any(|(at, rule)| matches!(rule, Rule::Add(_)) && is_query(*at));
    let mut names: BTreeMap<u32, bool> =
        view.iter().filter(|entry| !site.is_query(entry.key)).map(|entry| (entry.key, false)).collect();
    for &(test, answer) in path {
        let (Test::Has(spot) | Test::Is(spot, _)) = test;
        let SpotNumber::Key(key) = spot else { continue };
        if !is_query(spot) {
            continue;
        }
        match (test, answer) {
            (Test::Has(_), false) => refuses = true,
            (Test::Has(_) | Test::Is(..), true) => {
                names.insert(key, false);
            }
            (Test::Is(..), false) => {
                names.entry(key).or_insert(true);
            }
        }
    }
    for spot in transformation.required() {
        if let SpotNumber::Key(key) = spot {
            names.insert(key, false);
        }
    }
    if refuses {
        names.retain(|&key, _| has(key));
        names.extend(view.iter().map(|entry| (entry.key, false)));
    }
    (names.into_iter().collect(), refuses)
}

/// What the URLs of a rule have in common under a key, as far as tests and transformation speak of it.
fn check(
    site: &Site<'_>,
    transformation: &Transformation,
    path: &Path,
    rows: &[u32],
    key: u32,
    optional: bool,
) -> Check {
    let mut view = Vec::new();
    site.view(rows[0], true, &mut view);
    let from_end = view.iter().find(|entry| entry.key == key).map(|entry| entry.spot);
    let is_here = |spot: SpotNumber| spot == SpotNumber::Key(key) || Some(spot) == from_end;
    let mut except = Vec::new();
    for &(test, answer) in path {
        match test {
            Test::Is(spot, value) if is_here(spot) && answer => return Check::Is(value),
            Test::Is(spot, value) if is_here(spot) => except.push(value),
            _ => {}
        }
    }
    let atoms =
        transformation.rules.iter().filter_map(|(_, rule)| rule.source()).flat_map(|source| match source {
            Source::Join(parts) => parts.as_slice(),
            Source::Literal(_) | Source::Copy(_) => &[],
        });
    let mut atoms = atoms.filter_map(|part| match part {
        SourcePart::Atom(spot, atom) if is_here(*spot) => Some(*atom),
        _ => None,
    });
    let class = match (atoms.next(), atoms.next()) {
        (Some(atom), None) => {
            let text = |&row: &u32| {
                let pairs = site.corpus.pairs(row);
                let pair = pairs.iter().find(|&&pair| site.corpus.pair_key(pair) == key)?;
                let text = site.text(site.corpus.pair_value(*pair))?;
                let part = atom.of(text.as_bytes())?;
                let start = part.as_ptr() as usize - text.as_ptr() as usize;
                Some((&text[..start], &text[start..start + part.len()], &text[start + part.len()..]))
            };
            framed(&rows.iter().filter_map(text).collect::<Vec<_>>())
        }
        _ => ValueClass::Text,
    };
    except.sort_unstable();
    except.dedup();
    Check::Any { class, except, optional }
}

/// The class of values whose middle varies between fixed ends.
fn framed(values: &[(&str, &str, &str)]) -> ValueClass {
    match values {
        [(prefix, _, suffix), rest @ ..]
            if rest.iter().all(|(before, _, after)| before == prefix && after == suffix) =>
        {
            let middles: Vec<Value> = values.iter().map(|(_, middle, _)| Value::from(*middle)).collect();
            let class = Box::new(ValueClass::of(middles.iter()));
            ValueClass::Framed { prefix: (*prefix).into(), class, suffix: (*suffix).into() }
        }
        _ => ValueClass::Text,
    }
}

impl LeafRule<'_> {
    /// What the rule does to the URLs it covers.
    pub(super) fn merges(&self, site: &Site<'_>) -> Merges {
        let frame = site.frame(self.checks.iter().map(|(key, _)| *key));
        let mut view = Vec::new();
        let mut sources = Vec::new();
        for &row in site.rows_by_frame.get(&frame).map_or(&[][..], |rows| rows) {
            if self.covers(site, row) {
                site.view(row, self.transformation.from_end, &mut view);
                if let Some(result) = self.transformation.apply(site, &view) {
                    sources.push((result, row));
                }
            }
        }
        Merges::new(sources, &site.forms)
    }

    /// Whether a URL of the right frame is covered.
    fn covers(&self, site: &Site<'_>, row: u32) -> bool {
        let corpus = site.corpus;
        let pairs = corpus.pairs(row);
        let value = |key: u32| {
            let pair = pairs.iter().find(|&&pair| corpus.pair_key(pair) == key)?;
            Some(corpus.pair_value(*pair))
        };
        let named = |key: u32| self.checks.binary_search_by_key(&key, |(key, _)| *key).is_ok();
        (self.other_params == OtherParams::Keep || pairs.iter().all(|&pair| named(corpus.pair_key(pair))))
            && self.checks.iter().all(|(key, check)| match (check, value(*key)) {
                (Check::Is(wanted), value) => value == Some(*wanted),
                (Check::Any { optional, .. }, None) => *optional,
                (Check::Any { class, except, .. }, Some(value)) => {
                    !except.contains(&value)
                        && (*class == ValueClass::Text || class.contains(corpus.value(value)))
                }
            })
    }

    /// The rule in the language of rule files.
    pub(super) fn write(&self, site: &Site<'_>, evidence: Evidence) -> ClosedRule {
        let corpus = site.corpus;
        let value = |value: u32| corpus.value(value).clone();
        let pattern = |check: &Check| match check {
            Check::Is(wanted) => ValuePattern::Is(value(*wanted)),
            Check::Any { class, except, optional } => ValuePattern::Any(AnyValue {
                class: class.clone(),
                except: except.iter().map(|&except| value(except)).collect(),
                optional: *optional,
            }),
        };
        let key = |key: u32| corpus.keys()[key as usize].clone();
        let rewrite = self.rewrite(site);
        ClosedRule {
            pattern: Pattern::new(self.checks.iter().map(|(of, check)| (key(*of), pattern(check)))),
            other_params: self.other_params,
            rewrite,
            fetchable: true,
            evidence,
        }
    }

    fn rewrite(&self, site: &Site<'_>) -> Rewrite {
        let corpus = site.corpus;
        let depth = self.checks.iter().filter(|(key, _)| site.segment(*key).is_some()).count();
        let key_at = |spot: SpotNumber, depth: usize| match spot {
            SpotNumber::Key(key) => corpus.keys()[key as usize].clone(),
            SpotNumber::FromEnd(index) => {
                UrlPart::PathSegment(depth.saturating_sub(1 + usize::from(index)) as u16)
            }
        };
        let mut ops: BTreeMap<SpotNumber, Op> = BTreeMap::new();
        for (key, check) in &self.checks {
            let spot = match site.segment(*key) {
                Some(index) if self.transformation.from_end => {
                    SpotNumber::FromEnd((depth - 1 - usize::from(index)) as u16)
                }
                _ => SpotNumber::Key(*key),
            };
            let op = match check {
                Check::Is(value) => Op::Keep(corpus.value(*value).clone()),
                Check::Any { .. } => Op::Copy(corpus.keys()[*key as usize].clone()),
            };
            ops.insert(spot, op);
        }
        for (spot, rule) in &self.transformation.rules {
            match rule.source() {
                None => ops.remove(spot),
                Some(Source::Literal(value)) => ops.insert(*spot, Op::Keep(corpus.value(*value).clone())),
                Some(Source::Copy(from)) => ops.insert(*spot, Op::Copy(key_at(*from, depth))),
                Some(Source::Join(parts)) => {
                    let part = |part: &SourcePart| match part {
                        SourcePart::Text(text) => rules::Source::text(text),
                        SourcePart::Copy(from) => rules::Source::of(Spot::Key(key_at(*from, depth))),
                        SourcePart::Atom(from, which) => rules::Source {
                            part: Some(*which),
                            ..rules::Source::of(Spot::Key(key_at(*from, depth)))
                        },
                    };
                    ops.insert(*spot, Op::Join(parts.iter().map(part).collect()))
                }
            };
        }
        let new_depth = ops.keys().filter(|spot| site.segment_at(**spot).is_some()).count();
        let ops: BTreeMap<UrlPart, Op> =
            ops.into_iter().map(|(spot, op)| (key_at(spot, new_depth), op)).collect();
        let model = corpus.pairs(self.model).iter();
        let order = model
            .map(|&pair| corpus.keys()[corpus.pair_key(pair) as usize].clone())
            .filter(|key| matches!(key, UrlPart::QueryParam(_)) && ops.contains_key(key))
            .collect();
        Rewrite::new(ops, order)
    }
}
