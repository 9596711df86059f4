/*!
[`SiteRules`] to [`SiteProgram`]: every key gets a slot, every rule its masks, checks and templates.

Refuted rules and substitutions are left out.
*/

use std::collections::{BTreeMap, BTreeSet};

use crate::pattern::{AnyValue, ValueClass, ValuePattern};
use crate::program::{
    Check, CompiledRule, FIXED_SLOTS, HASHBANG_SLOT, Layout, NO_SLOT, NameSlots, PORT_SLOT, SCHEME_SLOT,
    SEPARATOR_SLOT, SiteProgram, TRAILING_SLASH_SLOT,
};
use crate::rule::{Op, OtherParams, Part, Rule, SiteRules};
use crate::template::{Source, SourcePart, Template};
use crate::url::{ParamName, TokenKey, Value, has_subdomains};

pub(crate) fn compile_site(domain: &str, site: &SiteRules) -> SiteProgram {
    let rules: Vec<(usize, &Rule)> =
        site.rules().iter().enumerate().filter(|(_, rule)| !rule.evidence.is_refuted()).collect();
    let substitutions =
        site.substitutions().iter().enumerate().filter(|(_, text)| !text.evidence.is_refuted());
    let mut keys = BTreeSet::new();
    for (_, rule) in &rules {
        keys.extend(rule.pattern.keys().map(|(key, _)| key));
    }
    let slots = assign_slots(&keys);
    let layout = Layout {
        slot_count: FIXED_SLOTS + slots.len(),
        subdomains: by_position(&slots, |key| match key {
            TokenKey::Subdomain(index) => Some(*index),
            _ => None,
        }),
        segments: by_position(&slots, |key| match key {
            TokenKey::PathSegment(index) => Some(*index),
            _ => None,
        }),
        path_params: by_name(&slots, |key| match key {
            TokenKey::PathParam(name) => Some(name),
            _ => None,
        }),
        query_params: by_name(&slots, |key| match key {
            TokenKey::QueryParam(name) => Some(name),
            _ => None,
        }),
        query_mask: mask(&slots, |key| matches!(key, TokenKey::QueryParam(_))),
        keeps_others: rules.iter().any(|(_, rule)| rule.other_params == OtherParams::Keep),
        keeps_order: rules
            .iter()
            .any(|(_, rule)| rule.other_params == OtherParams::Keep || keeps_order(rule)),
    };
    let compiler = Compiler { domain: domain.as_bytes(), slots, words: layout.slot_count.div_ceil(64) };
    let compiled: Box<[CompiledRule]> = rules.iter().map(|(_, rule)| compiler.compile(rule)).collect();
    let passing =
        |rule: &CompiledRule| rule.may[0] | if rule.keeps_others { layout.query_mask[0] } else { 0 };
    SiteProgram {
        domain: domain.as_bytes().into(),
        with_subdomains: has_subdomains(domain.as_bytes()),
        substitution_places: substitutions.clone().map(|(place, _)| place).collect(),
        substitutions: substitutions.map(|(_, text)| (text.clone(), text.finder())).collect(),
        rule_places: rules.iter().map(|(place, _)| *place).collect(),
        masks: compiled.iter().map(|rule| (rule.must[0], passing(rule))).collect(),
        rules: compiled,
        layout,
    }
}

/// Slots of the keys that are not fixed.
fn assign_slots(keys: &BTreeSet<&TokenKey>) -> BTreeMap<TokenKey, u32> {
    keys.iter()
        .filter(|key| fixed_slot(key).is_none())
        .zip(FIXED_SLOTS as u32..)
        .map(|(key, slot)| ((*key).clone(), slot))
        .collect()
}

fn fixed_slot(key: &TokenKey) -> Option<u32> {
    match key {
        TokenKey::Scheme => Some(SCHEME_SLOT),
        TokenKey::Port => Some(PORT_SLOT),
        TokenKey::TrailingSlash => Some(TRAILING_SLASH_SLOT),
        TokenKey::QuerySeparator => Some(SEPARATOR_SLOT),
        TokenKey::Hashbang => Some(HASHBANG_SLOT),
        _ => None,
    }
}

/// The bits of the slots whose keys are `wanted`.
fn mask(slots: &BTreeMap<TokenKey, u32>, wanted: impl Fn(&TokenKey) -> bool) -> Box<[u64]> {
    let mut mask = vec![0u64; (FIXED_SLOTS + slots.len()).div_ceil(64)];
    for (_, &slot) in slots.iter().filter(|(key, _)| wanted(key)) {
        mask[slot as usize / 64] |= 1 << (slot % 64);
    }
    mask.into()
}

fn by_position(slots: &BTreeMap<TokenKey, u32>, index_of: impl Fn(&TokenKey) -> Option<u16>) -> Box<[u32]> {
    let mut positions = Vec::new();
    for (key, &slot) in slots {
        if let Some(index) = index_of(key) {
            positions.resize(positions.len().max(usize::from(index) + 1), NO_SLOT);
            positions[usize::from(index)] = slot;
        }
    }
    positions.into()
}

fn by_name(slots: &BTreeMap<TokenKey, u32>, name_of: impl Fn(&TokenKey) -> Option<&ParamName>) -> NameSlots {
    let mut names: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (key, &slot) in slots {
        if let Some(ParamName { name, occurrence }) = name_of(key) {
            let occurrences = names.entry(name).or_default();
            // An occurrence that follows one the rules do not know can never be reached.
            if occurrences.len() + 1 == *occurrence as usize {
                occurrences.push(slot);
            }
        }
    }
    names.into_iter().map(|(name, slots)| (name.as_bytes().into(), slots.into())).collect()
}

struct Compiler<'a> {
    domain: &'a [u8],
    slots: BTreeMap<TokenKey, u32>,
    words: usize,
}

impl Compiler<'_> {
    fn slot(&self, key: &TokenKey) -> u32 {
        fixed_slot(key).or_else(|| self.slots.get(key).copied()).unwrap_or(NO_SLOT)
    }

    fn compile(&self, rule: &Rule) -> CompiledRule {
        let mut must = vec![0u64; self.words];
        let mut may = vec![0u64; self.words];
        let mut checks = Vec::new();
        for (key, pattern) in rule.pattern.keys() {
            let slot = self.slot(key);
            let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
            may[word] |= bit;
            if !pattern.is_optional() {
                must[word] |= bit;
            }
            match pattern {
                ValuePattern::Is(value) => checks.push(Check::Is { slot, value: owned(value) }),
                ValuePattern::Any(AnyValue { class, except, .. }) => {
                    if *class != ValueClass::Text || !except.is_empty() {
                        let except = except.iter().map(owned).collect();
                        checks.push(Check::Class { slot, class: class.clone(), except });
                    }
                }
            }
        }
        let writes = rule.rewrite.is_writable() && !rule.is_in_place();
        CompiledRule {
            must: must.into(),
            may: may.into(),
            checks: checks.into(),
            keeps_others: rule.other_params == OtherParams::Keep,
            key: self.template(rule, false),
            url: writes.then(|| self.template(rule, true)),
        }
    }

    fn source(&self, op: &Op) -> Source {
        match op {
            Op::Keep(value) => Source::Literal(owned(value)),
            Op::Copy(from) => Source::Slot(self.slot(from)),
            Op::Ignore => Source::Star,
            Op::Map { of, values } => Source::Map(
                self.slot(of),
                values
                    .iter()
                    .map(|mapped| {
                        (owned(&mapped.is), mapped.becomes.as_ref().map(|text| text.as_bytes().into()))
                    })
                    .collect(),
            ),
            Op::Join(parts) => Source::Join(parts.iter().map(|part| self.part(part)).collect()),
        }
    }

    /// Which of the parameters each slot goes to.
    fn places(&self, query: &[(&TokenKey, &Op)]) -> Box<[(u32, usize)]> {
        let mut places: Vec<(u32, usize)> =
            query.iter().enumerate().map(|(at, (key, _))| (self.slot(key), at)).collect();
        places.sort_unstable();
        places.into()
    }

    fn part(&self, part: &Part) -> SourcePart {
        match part {
            Part::Text(text) => SourcePart::Literal(text.as_bytes().into()),
            Part::Copy(from) => SourcePart::Slot(self.slot(from)),
            Part::Atom { of, which } => SourcePart::Atom(self.slot(of), *which),
        }
    }

    /// The template of the key, or of the URL, in which query parameters keep the order of the site.
    fn template(&self, rule: &Rule, in_site_order: bool) -> Template {
        let rewrite = &rule.rewrite;
        let one = |key: TokenKey| rewrite.get(&key).map(|op| self.source(op));
        let all = |wanted: fn(&TokenKey) -> bool| {
            rewrite.ops().filter(move |(key, _)| wanted(key)).map(|(_, op)| self.source(op))
        };
        let named = |key: &TokenKey, op: &Op| -> Option<(Box<[u8]>, Source)> {
            match key {
                TokenKey::PathParam(name) | TokenKey::QueryParam(name) => {
                    Some((name.name.as_bytes().into(), self.source(op)))
                }
                _ => None,
            }
        };
        let mut subdomains: Vec<Source> = all(|key| matches!(key, TokenKey::Subdomain(_))).collect();
        subdomains.reverse();
        let mut query: Vec<(&TokenKey, &Op)> =
            rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).collect();
        if in_site_order {
            let place = |key: &TokenKey| rewrite.query_order().iter().position(|other| other == key);
            query.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
        }
        Template {
            scheme: one(TokenKey::Scheme).unwrap_or(Source::Star),
            subdomains: subdomains.into(),
            domain: self.domain.into(),
            port: one(TokenKey::Port),
            segments: all(|key| matches!(key, TokenKey::PathSegment(_))).collect(),
            path_params: rewrite
                .ops()
                .filter(|(key, _)| matches!(key, TokenKey::PathParam(_)))
                .filter_map(|(key, op)| named(key, op))
                .collect(),
            trailing_slash: one(TokenKey::TrailingSlash),
            separator: one(TokenKey::QuerySeparator),
            in_place: (in_site_order && keeps_order(rule)).then(|| self.places(&query)),
            is_sorted: !in_site_order,
            query_params: query.into_iter().filter_map(|(key, op)| named(key, op)).collect(),
            hashbang: one(TokenKey::Hashbang),
        }
    }
}

/// Whether every query parameter of the target is one of the source, so that a written URL can keep their order.
fn keeps_order(rule: &Rule) -> bool {
    rule.rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).all(|(key, op)| match op {
        Op::Copy(from) | Op::Map { of: from, .. } => from == key,
        Op::Keep(value) => rule.pattern.get(key) == Some(&ValuePattern::Is(value.clone())),
        Op::Ignore | Op::Join(_) => false,
    })
}

fn owned(value: &Value) -> Option<Box<[u8]>> {
    value.as_raw().map(Into::into)
}

#[cfg(test)]
mod tests {
    use crate::{
        Evidence, Normalizer, Outcome, Rule, RuleSet, SiteRules, SiteSummary, Substitution, Verdict,
    };

    fn rule(path: &str) -> Rule {
        serde_json::from_value(serde_json::json!({
            "pattern": {
                "scheme": {"is": "http"}, "path_0": {"is": path}, "q.sid": {"any": {"class": "text", "optional": true}}
            },
            "rewrite": {"target": {"scheme": {"keep": "http"}, "path_0": {"keep": path}}},
            "evidence": Evidence::default()
        }))
        .unwrap()
    }

    fn substitution(from: &str) -> Substitution {
        let (at_start, at_end) = (false, true);
        Substitution { from: from.into(), to: "".into(), at_start, at_end, evidence: Evidence::default() }
    }

    fn compiled(rules: Vec<Rule>, substitutions: Vec<Substitution>) -> Normalizer {
        let site = SiteRules::new(SiteSummary::default(), rules).unwrap();
        let mut set = RuleSet::new("by hand");
        set.insert("a.example", site.with_substitutions(substitutions).unwrap()).unwrap();
        Normalizer::compile(&set)
    }

    #[test]
    fn refuted_rules_are_left_out_and_the_others_keep_their_places() {
        let refuted = Some(Verdict { outcome: Outcome::Refuted, ..Verdict::default() });
        let mut rules = vec![rule("x"), rule("y")];
        let mut substitutions = vec![substitution("index.html"), substitution("default.asp")];
        let (x, y) = ("http://a.example/x?sid=1", "http://a.example/y?sid=1");
        let (index, default) = ("http://a.example/p/index.html", "http://a.example/p/default.asp");
        let all = compiled(rules.clone(), substitutions.clone());
        assert_eq!(all.normalize(x).unwrap(), "http://a.example/x");
        assert_eq!(all.normalize(index).unwrap(), "http://a.example/p/");

        rules[0].evidence.verdict = refuted.clone();
        substitutions[0].evidence.verdict = refuted.clone();
        let some = compiled(rules.clone(), substitutions.clone());
        assert_eq!(some.normalize(x).unwrap(), x);
        assert_eq!(some.normalize(index).unwrap(), index);
        assert_eq!(some.explain(y).unwrap().rule, Some(1));
        assert_eq!(some.explain(y).unwrap().canonical, "http://a.example/y");
        assert_eq!(some.explain(default).unwrap().substitutions, [1]);

        rules[1].evidence.verdict = refuted.clone();
        substitutions[1].evidence.verdict = refuted;
        let none = compiled(rules, substitutions);
        assert_eq!(none.explain(y).unwrap().site, None);
        assert_eq!(none.key(y).unwrap(), y);
    }

    #[test]
    fn rules_of_any_other_verdict_are_applied() {
        for outcome in [Outcome::Confirmed, Outcome::Unknown] {
            let mut rule = rule("x");
            rule.evidence.verdict = Some(Verdict { outcome, ..Verdict::default() });
            let normalizer = compiled(vec![rule], Vec::new());
            assert_eq!(normalizer.normalize("http://a.example/x?sid=1").unwrap(), "http://a.example/x");
        }
    }
}
