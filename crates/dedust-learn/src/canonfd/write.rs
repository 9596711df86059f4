/*!
Believed edits as rules: one for each context, and one for the rest of the site.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::{
    AnyValue, Mapped, Op, OtherParams, Pattern, Rewrite, Rule, TokenKey, Value, ValueClass, ValuePattern,
};

use super::search::Search;
use super::state::Edit;
use crate::corpus::Corpus;
use crate::evidence::EvidenceKinds;
use crate::fitting::fitting;
use crate::metrics::PairCounter;
use crate::rule_evidence::rule_evidence;

/// Path segments that rules speak of at most.
const MAX_DEPTH: u16 = 12;

pub(super) fn write(corpus: &Corpus, search: &Search<'_>) -> Vec<Rule> {
    if search.accepted.is_empty() {
        return Vec::new();
    }
    let writer = Writer { corpus, search };
    let edits = search.accepted.iter();
    let contexts: BTreeSet<u32> =
        edits.flat_map(|edit| edit.context.iter().chain(&edit.except)).copied().collect();
    let mut rules: Vec<Rule> = contexts.into_iter().map(|context| writer.rule(Some(context))).collect();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.evidence.urls));
    rules.push(writer.rule(None));
    fitting(rules)
}

struct Writer<'a, 'c> {
    corpus: &'c Corpus,
    search: &'a Search<'c>,
}

impl Writer<'_, '_> {
    /// The rule for URLs with the pair `context`, or for all.
    fn rule(&self, context: Option<u32>) -> Rule {
        let (corpus, state) = (self.corpus, &self.search.state);
        let key_of = |pair: u32| &corpus.keys()[corpus.pair_key(pair) as usize];
        let any =
            |optional| ValuePattern::Any(AnyValue { class: ValueClass::Text, except: Vec::new(), optional });
        let mut pattern: BTreeMap<TokenKey, ValuePattern> = BTreeMap::new();
        let mut ops: BTreeMap<TokenKey, Op> = BTreeMap::new();
        let fixed = [
            TokenKey::Scheme,
            TokenKey::Port,
            TokenKey::TrailingSlash,
            TokenKey::QuerySeparator,
            TokenKey::Hashbang,
        ];
        let segments = (0..MAX_DEPTH).map(TokenKey::PathSegment);
        let labels =
            corpus.keys().iter().filter(|key| matches!(key, TokenKey::Subdomain(_) | TokenKey::PathParam(_)));
        for key in fixed.into_iter().chain(segments).chain(labels.cloned()) {
            pattern.insert(key.clone(), any(key != TokenKey::Scheme));
            ops.insert(key.clone(), Op::Copy(key));
        }
        let holds = |edit: &&Edit| {
            edit.context.is_none() && context.is_none_or(|context| !edit.except.contains(&context))
        };
        let edits: Vec<&Edit> = self.search.accepted.iter().filter(holds).collect();
        for pair in edits.iter().flat_map(|edit| &edit.pairs).map(|(pair, _)| *pair) {
            let key = key_of(pair);
            pattern.entry(key.clone()).or_insert_with(|| any(true));
            if let Some(op) = self.op(key, &edits) {
                ops.insert(key.clone(), op);
            } else {
                ops.remove(key);
            }
        }
        if let Some(context) = context {
            let inside = self.search.accepted.iter().filter(|edit| edit.context == Some(context));
            let keys: BTreeSet<&TokenKey> =
                inside.flat_map(|edit| &edit.pairs).map(|(pair, _)| key_of(*pair)).collect();
            for key in keys {
                pattern.entry(key.clone()).or_insert_with(|| any(true));
                match key {
                    TokenKey::QueryParam(_) => ops.remove(key),
                    _ => ops.insert(key.clone(), Op::Ignore),
                };
            }
            let value = corpus.value(corpus.pair_value(context)).clone();
            pattern.insert(key_of(context).clone(), ValuePattern::Is(value.clone()));
            ops.insert(key_of(context).clone(), Op::Keep(value));
        }
        let rows: Vec<u32> = match context {
            Some(context) => state.rows_of(context).to_vec(),
            None => (0..corpus.len() as u32).collect(),
        };
        let labelled = rows.iter().filter_map(|&row| Some((state.place(row), corpus.label(row)?)));
        let pairs = PairCounter::default().count(labelled);
        let kinds = rows.iter().fold(EvidenceKinds::NONE, |kinds, &row| kinds | corpus.kinds(row));
        Rule {
            pattern: Pattern::new(pattern),
            other_params: OtherParams::Keep,
            rewrite: Rewrite::new(ops, Vec::new()),
            evidence: rule_evidence(corpus, rows.len(), &pairs, kinds, self.examples(rows)),
        }
    }

    /// For every place that several of `rows` share, one of them and the shortest duplicate of it.
    fn examples(&self, mut rows: Vec<u32>) -> Vec<(u32, u32)> {
        let (corpus, state) = (self.corpus, &self.search.state);
        rows.sort_by_key(|&row| (state.place(row), corpus.url(row).len(), row));
        rows.chunk_by(|&a, &b| state.place(a) == state.place(b))
            .filter_map(|group| {
                let label = corpus.label(group[0])?;
                let other = group[1..].iter().find(|&&row| corpus.label(row) == Some(label))?;
                Some((*other, group[0]))
            })
            .collect()
    }

    /// What becomes of a key after `edits`; `None` when it is left out.
    fn op(&self, key: &TokenKey, edits: &[&Edit]) -> Option<Op> {
        let corpus = self.corpus;
        let number = corpus.keys().binary_search(key).ok()? as u32;
        let mut becomes: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for &(pair, new) in edits.iter().flat_map(|edit| &edit.pairs) {
            if corpus.pair_key(pair) == number {
                becomes.insert(pair, new);
            }
        }
        if edits.iter().any(|edit| edit.forgotten.contains(&number)) {
            // A label can only be left out if none stands to its left.
            let is_leftmost = |label: u16| {
                !corpus.keys().iter().any(|key| matches!(key, TokenKey::Subdomain(other) if *other > label))
            };
            return match key {
                TokenKey::Subdomain(label) if !is_leftmost(*label) => Some(Op::Ignore),
                _ => None,
            };
        }
        let value = |pair: u32| corpus.value(corpus.pair_value(pair)).clone();
        let mut values: Vec<Mapped> = becomes
            .into_iter()
            .map(|(pair, new)| Mapped {
                is: value(pair),
                becomes: new.and_then(|other| match value(other) {
                    Value::Text(text) => Some(text),
                    Value::Bare => None,
                }),
            })
            .collect();
        values.sort_by(|a, b| a.is.cmp(&b.is));
        Some(Op::Map { of: key.clone(), values })
    }
}
