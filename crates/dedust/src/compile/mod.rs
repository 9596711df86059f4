/*!
[`SiteRules`] to compiled rules: every key gets a slot, every rule its masks, checks and templates.

Refuted rules, substitutions and edits are left out, and so are rules that can cover no URL. A site with more than compiled
rules have room for (16,000 keys; texts of 64 KiB) is left out as a whole: leaving URLs alone is always safe.
*/

mod layout;
mod proof;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use self::layout::Layout;
use crate::compiled::ImageBuilder;
use crate::compiled::encoding::{Encode as _, TooLarge, first_word};
use crate::pattern::{AnyValue, ValueClass, ValuePattern};
use crate::program::{
    ANY_TAG, BARE, CHECK_CLASS, CHECK_IS, HEADER_BYTES, KEEPS_ORDER, KEEPS_OTHERS, NO_SLOT,
    RULE_IS_PROVEN, RULE_KEEPS_OTHERS, RULE_WRITES, tag,
};
use crate::rule::{Edit, Op, OtherParams, Replacement, Rule, RuleSet, SiteRules, Substitution};
use crate::stored_edits;
use crate::url::{TokenKey, Value, has_subdomains};

/// With more rules than this they are listed by tag, so that only a few are looked at.
const MANY_RULES: usize = 16;

pub(crate) fn compile(rules: &RuleSet) -> ImageBuilder {
    let mut builder = ImageBuilder::default();
    builder.set_method(rules.method());
    for (domain, site) in rules.sites() {
        add_site(&mut builder, domain, site);
    }
    builder
}

pub(crate) fn add_site(builder: &mut ImageBuilder, domain: &str, site: &SiteRules) {
    let rules: Vec<(usize, &Rule)> = site
        .rules()
        .iter()
        .enumerate()
        .filter(|(_, rule)| !rule.evidence.is_refuted() && can_cover(rule))
        .collect();
    let substitutions: Vec<(usize, &Substitution)> =
        site.substitutions().iter().enumerate().filter(|(_, text)| !text.evidence.is_refuted()).collect();
    let edits: Vec<(usize, &Edit)> =
        site.edits().iter().enumerate().filter(|(_, edit)| !edit.evidence.is_refuted()).collect();
    let count = rules.len() + substitutions.len() + edits.len();
    if count == 0 {
        return;
    }
    let is_provable = substitutions.is_empty();
    if let Ok(program) = Compiler::new(rules, is_provable).and_then(|compiler| compiler.finish(&substitutions, &edits)) {
        let with_subdomains = has_subdomains(domain.as_bytes());
        builder.insert(domain.as_bytes(), with_subdomains, site.summary().urls, count as u64, &program);
    }
}

/// Positions beyond this are unknown to all rules.
const MAX_POSITIONS: u16 = 1000;

/// Whether there are URLs with the keys of the pattern: a segment or label needs those before it.
fn can_cover(rule: &Rule) -> bool {
    let has = |key: TokenKey| rule.pattern.get(&key).is_some();
    rule.pattern.keys().all(|(key, pattern)| match key {
        TokenKey::PathSegment(index) | TokenKey::Subdomain(index) if *index >= MAX_POSITIONS => {
            pattern.is_optional()
        }
        TokenKey::PathSegment(index @ 1..) => has(TokenKey::PathSegment(index - 1)) || pattern.is_optional(),
        TokenKey::Subdomain(index @ 1..) => has(TokenKey::Subdomain(index - 1)) || pattern.is_optional(),
        _ => true,
    })
}

struct Compiler<'a> {
    rules: Vec<(usize, &'a Rule)>,
    layout: Layout,
    /// The slot by whose value most rules are told apart.
    tag_slot: u16,
    is_provable: bool,
    out: Vec<u8>,
}

impl<'a> Compiler<'a> {
    fn new(rules: Vec<(usize, &'a Rule)>, is_provable: bool) -> Result<Self, TooLarge> {
        let keys: BTreeSet<&TokenKey> =
            rules.iter().flat_map(|(_, rule)| rule.pattern.keys().map(|(key, _)| key)).collect();
        let layout = Layout::new(&keys)?;
        let mut compiler = Self { rules, layout, tag_slot: NO_SLOT, is_provable, out: Vec::new() };
        compiler.tag_slot = compiler.find_tag_slot();
        Ok(compiler)
    }

    /// The program of the site.
    fn finish(
        mut self,
        substitutions: &[(usize, &Substitution)],
        edits: &[(usize, &Edit)],
    ) -> Result<Vec<u8>, TooLarge> {
        let rules = std::mem::take(&mut self.rules);
        let passes = |(_, rule): &(usize, &Rule)| rule.other_params == OtherParams::Keep;
        let keeps_others = if rules.iter().any(passes) { KEEPS_OTHERS } else { 0 };
        let has_order = |rule: &(usize, &Rule)| passes(rule) || keeps_order(rule.1);
        let keeps_order = if rules.iter().any(has_order) { KEEPS_ORDER } else { 0 };
        let words = self.layout.words();

        self.out.put_u32(0);
        self.layout.put_counts(&mut self.out)?;
        let heads_at = self.out.len();
        self.out.put_u32(0);
        self.out.put_u32(u32::try_from(rules.len()).map_err(|_| TooLarge)?);
        self.out.put_u16(self.tag_slot);
        self.out.put_u16(keeps_others | keeps_order);
        let substitutions_at = self.out.len();
        self.out.put_u32(0);
        let by_tag_at = self.out.len();
        self.out.put_u32(0);
        self.layout.put_seeds(&mut self.out);
        self.out.put_u16(0);
        let edits_at = self.out.len();
        self.out.put_u32(0);
        debug_assert_eq!(self.out.len(), HEADER_BYTES);
        self.layout.put_names(&mut self.out)?;

        let heads = self.out.len();
        self.out.set_u32(heads_at, heads)?;
        self.out.resize(heads + rules.len() * (8 * words + 8), 0);
        self.layout.put_long_names(&mut self.out)?;
        let mut tags = Vec::with_capacity(rules.len());
        let all: Vec<&Rule> = rules.iter().map(|(_, rule)| *rule).collect();
        for (index, (place, rule)) in rules.iter().enumerate() {
            let (at, tag) = (self.out.len(), self.tag(rule));
            let guards = if self.is_provable { proof::guards(&all, index) } else { None };
            self.put_rule(*place, rule, guards)?;
            let mut head = Vec::new();
            head.put_u32(tag);
            head.put_u32(u32::try_from(at).map_err(|_| TooLarge)?);
            for (must, may) in self.layout.masks(rule) {
                head.put_u32(must);
                head.put_u32(may);
            }
            let head_at = heads + index * (8 * words + 8);
            self.out[head_at..head_at + head.len()].copy_from_slice(&head);
            tags.push(tag);
        }
        if !substitutions.is_empty() {
            self.out.set_u32(substitutions_at, self.out.len())?;
            self.out.put_u32(u32::try_from(substitutions.len()).map_err(|_| TooLarge)?);
            for (place, substitution) in substitutions {
                let place = u32::try_from(*place).map_err(|_| TooLarge)?;
                Replacement::encode(substitution, place, &mut self.out)?;
            }
        }
        if !edits.is_empty() {
            self.out.set_u32(edits_at, self.out.len())?;
            stored_edits::encode(edits, &mut self.out)?;
        }
        if rules.len() > MANY_RULES {
            self.put_lists(by_tag_at, &tags)?;
        }
        self.out.set_u32(0, self.out.len())?;
        Ok(self.out)
    }

    /// For every tag the rules that ask for it or for none, in their order; last, those that ask for none.
    fn put_lists(&mut self, by_tag_at: usize, tags: &[u32]) -> Result<(), TooLarge> {
        let mut rules_by_tag: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&tag, index) in tags.iter().zip(0..) {
            if tag != ANY_TAG {
                rules_by_tag.entry(tag).or_default().push(index);
            }
        }
        let untagged: Vec<u32> =
            tags.iter().zip(0..).filter(|(tag, _)| **tag == ANY_TAG).map(|(_, index)| index).collect();
        // Every list holds those too; too many of them are better looked at one after the other.
        if rules_by_tag.len() < 2 || untagged.len() > MANY_RULES {
            return Ok(());
        }
        self.out.set_u32(by_tag_at, self.out.len())?;
        self.out.put_u32(u32::try_from(rules_by_tag.len()).map_err(|_| TooLarge)?);
        for &tag in rules_by_tag.keys() {
            self.out.put_u32(tag);
        }
        let mut end = self.out.len() + 4 * (rules_by_tag.len() + 2);
        let mut lists = Vec::new();
        for list in rules_by_tag.into_values().chain([Vec::new()]) {
            self.out.put_u32(u32::try_from(end).map_err(|_| TooLarge)?);
            let mut list = [&list[..], &untagged].concat();
            list.sort_unstable();
            end += 4 * list.len();
            lists.extend(list);
        }
        self.out.put_u32(u32::try_from(end).map_err(|_| TooLarge)?);
        lists.into_iter().for_each(|index| self.out.put_u32(index));
        Ok(())
    }

    /// The slot with the most different values that rules ask for.
    fn find_tag_slot(&self) -> u16 {
        let mut values_by_slot: BTreeMap<u16, BTreeSet<&Value>> = BTreeMap::new();
        for (_, rule) in &self.rules {
            for (key, pattern) in rule.pattern.keys() {
                let slot = self.layout.slot(key);
                if let ValuePattern::Is(value) = pattern
                    && !is_told_by_masks(key, value)
                {
                    values_by_slot.entry(slot).or_default().insert(value);
                }
            }
        }
        let most = values_by_slot.iter().max_by_key(|(slot, values)| (values.len(), std::cmp::Reverse(**slot)));
        most.map_or(NO_SLOT, |(slot, _)| *slot)
    }

    fn tag(&self, rule: &Rule) -> u32 {
        let mut keys = rule.pattern.keys();
        match keys.find(|(key, _)| self.layout.slot(key) == self.tag_slot) {
            Some((_, ValuePattern::Is(value))) => match value.as_raw() {
                Some(text) => tag(first_word(text, 0, text.len()), text.len()),
                None => tag(0, usize::MAX),
            },
            _ => ANY_TAG,
        }
    }

    fn put_rule(&mut self, place: usize, rule: &Rule, guards: Option<Vec<TokenKey>>) -> Result<(), TooLarge> {
        let writes = rule.rewrite.is_writable() && !rule.is_in_place();
        let mut flags = 0;
        if rule.other_params == OtherParams::Keep {
            flags |= RULE_KEEPS_OTHERS;
        }
        if writes {
            flags |= RULE_WRITES;
        }
        if guards.is_some() {
            flags |= RULE_IS_PROVEN;
        }
        self.out.put_u16(flags);
        let checks_at = self.out.len();
        self.out.put_u16(0);
        self.out.put_u32(u32::try_from(place).map_err(|_| TooLarge)?);
        let templates_at = self.out.len();
        self.out.put_u32(0);
        self.out.put_u32(0);
        if rule.other_params == OtherParams::Keep {
            for (_, named) in self.layout.named(rule) {
                self.out.put_u32(named);
            }
        }
        let checks = u16::try_from(self.put_checks(rule)?).map_err(|_| TooLarge)?;
        self.out[checks_at..checks_at + 2].copy_from_slice(&checks.to_le_bytes());
        self.out.set_u32(templates_at, self.out.len())?;
        self.put_template(rule, false)?;
        if writes {
            self.out.set_u32(templates_at + 4, self.out.len())?;
            let guards = guards.unwrap_or_default();
            self.out.put_small(guards.len())?;
            guards.iter().for_each(|key| self.out.put_u16(self.layout.slot(key)));
            self.put_template(rule, true)?;
        }
        Ok(())
    }

    /// Returns their number.
    fn put_checks(&mut self, rule: &Rule) -> Result<usize, TooLarge> {
        let mut checks = 0;
        for (key, pattern) in rule.pattern.keys() {
            let slot = self.layout.slot(key);
            match pattern {
                ValuePattern::Is(value) if is_told_by_masks(key, value) => continue,
                ValuePattern::Is(value) => {
                    let text = value.as_raw().unwrap_or_default();
                    let length = u16::try_from(text.len()).ok().filter(|&length| length != BARE).ok_or(TooLarge)?;
                    self.out.put_u8(CHECK_IS);
                    self.out.put_u16(slot);
                    self.out.put_u16(if *value == Value::Bare { BARE } else { length });
                    self.out.put_u64(first_word(text, 0, text.len()));
                    self.out.extend_from_slice(text.get(8..).unwrap_or_default());
                }
                ValuePattern::Any(AnyValue { class, except, .. }) => {
                    if *class == ValueClass::Text && except.is_empty() {
                        continue;
                    }
                    self.out.put_u8(CHECK_CLASS);
                    self.out.put_u16(slot);
                    class.encode(&mut self.out)?;
                    self.out.put_small(except.len())?;
                    for value in except {
                        self.out.put_text(value.as_raw())?;
                    }
                }
            }
            checks += 1;
        }
        Ok(checks)
    }
}

/// Whether a URL with this key has this value, or the masks tell which.
fn is_told_by_masks(key: &TokenKey, value: &Value) -> bool {
    match key {
        TokenKey::TrailingSlash => *value == Value::from("/"),
        TokenKey::QuerySeparator => *value == Value::from(";"),
        TokenKey::Scheme => [Value::from("http"), Value::from("https")].contains(value),
        _ => false,
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
