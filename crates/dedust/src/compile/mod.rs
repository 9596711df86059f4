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
use self::template::put_template;
use crate::compiled::ImageBuilder;
use crate::compiled::encoding::{Encode as _, TooLarge, first_word};
use crate::edit_program;
use crate::pattern::{AnyValue, ValueClass, ValuePattern};
use crate::program::{
    ANY_TAG, HAS_EDITS, HAS_LISTS, HAS_SUBSTITUTIONS, HEADER_BYTES, KEEPS_ORDER, KEEPS_OTHERS, NO_SLOT,
    RULE_HAS_GUARDS, RULE_HAS_URL, RULE_IS_PROVEN, RULE_KEEPS_OTHERS, RULE_WRITES, tag,
};
use crate::rule::{Edit, Op, OtherParams, Replacement, Rule, RuleSet, SiteRules, Substitution};
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
    if let Ok(program) =
        Compiler::new(rules, is_provable).and_then(|compiler| compiler.finish(&substitutions, &edits))
    {
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
        let tags: Vec<u32> = rules.iter().map(|(_, rule)| self.tag(rule)).collect();
        let lists = if rules.len() > MANY_RULES { rules_by_tag(&tags) } else { None };
        let passes = |(_, rule): &(usize, &Rule)| rule.other_params == OtherParams::Keep;
        let has_order = |rule: &(usize, &Rule)| passes(rule) || keeps_order(rule.1);
        let flags = flag(KEEPS_OTHERS, rules.iter().any(passes))
            | flag(KEEPS_ORDER, rules.iter().any(has_order))
            | flag(HAS_SUBSTITUTIONS, !substitutions.is_empty())
            | flag(HAS_EDITS, !edits.is_empty())
            | flag(HAS_LISTS, lists.is_some());

        self.out.put_u32(0);
        self.layout.put_counts(&mut self.out)?;
        self.out.put_small(rules.len())?;
        self.out.put_u16(self.tag_slot);
        self.out.put_u8(flags);
        self.layout.put_seeds(&mut self.out);
        self.out.resize(HEADER_BYTES, 0);
        let mut place = HEADER_BYTES;
        self.out.resize(
            HEADER_BYTES + 4 * (flags & (HAS_SUBSTITUTIONS | HAS_EDITS | HAS_LISTS)).count_ones() as usize,
            0,
        );
        self.layout.put_names(&mut self.out)?;
        tags.iter().for_each(|&tag| self.out.put_u32(tag));
        let heads = self.out.len();
        let head_bytes = 4 + 8 * self.layout.words();
        self.out.resize(heads + rules.len() * head_bytes, 0);
        self.layout.put_long_names(&mut self.out)?;
        let all: Vec<&Rule> = rules.iter().map(|(_, rule)| *rule).collect();
        for (index, (place, rule)) in rules.iter().enumerate() {
            let mut head = Vec::with_capacity(head_bytes);
            head.put_u32(u32::try_from(self.out.len()).map_err(|_| TooLarge)?);
            for (must, may) in self.layout.masks(rule) {
                head.put_u32(must);
                head.put_u32(may);
            }
            let at = heads + index * head_bytes;
            self.out[at..at + head_bytes].copy_from_slice(&head);
            let guards = if self.is_provable { proof::guards(&all, index) } else { None };
            self.put_rule(*place, rule, guards)?;
        }
        if !substitutions.is_empty() {
            self.out.set_u32(place, self.out.len())?;
            place += 4;
            self.out.put_u32(u32::try_from(substitutions.len()).map_err(|_| TooLarge)?);
            for (place, substitution) in substitutions {
                let place = u32::try_from(*place).map_err(|_| TooLarge)?;
                Replacement::encode(substitution, place, &mut self.out)?;
            }
        }
        if !edits.is_empty() {
            self.out.set_u32(place, self.out.len())?;
            place += 4;
            edit_program::encode(edits, &mut self.out)?;
        }
        if let Some(lists) = &lists {
            self.out.set_u32(place, self.out.len())?;
            self.put_lists(lists)?;
        }
        self.out.set_u32(0, self.out.len())?;
        Ok(self.out)
    }

    /// Tags, ends of lists, and the lists.
    fn put_lists(&mut self, (rules_by_tag, untagged): &RulesByTag) -> Result<(), TooLarge> {
        self.out.put_u32(u32::try_from(rules_by_tag.len()).map_err(|_| TooLarge)?);
        rules_by_tag.keys().for_each(|&tag| self.out.put_u32(tag));
        let mut end = self.out.len() + 4 * (rules_by_tag.len() + 2);
        let mut lists = Vec::new();
        for list in rules_by_tag.values().map(|list| &list[..]).chain([&[][..]]) {
            self.out.put_u32(u32::try_from(end).map_err(|_| TooLarge)?);
            let mut list = [list, untagged].concat();
            list.sort_unstable();
            end += 2 * list.len();
            lists.extend(list);
        }
        self.out.put_u32(u32::try_from(end).map_err(|_| TooLarge)?);
        lists.into_iter().for_each(|index| self.out.put_u16(index));
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
        let most =
            values_by_slot.iter().max_by_key(|(slot, values)| (values.len(), std::cmp::Reverse(**slot)));
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
        let guards = guards.filter(|_| writes);
        let has_guards = guards.as_ref().is_some_and(|guards| !guards.is_empty());
        let (mut key, mut url) = (Vec::new(), Vec::new());
        put_template(rule, &self.layout, false, &mut key)?;
        if writes {
            put_template(rule, &self.layout, true, &mut url)?;
        }
        let has_url = writes && url != key;
        self.out.put_u8(
            flag(RULE_KEEPS_OTHERS, rule.other_params == OtherParams::Keep)
                | flag(RULE_WRITES, writes)
                | flag(RULE_IS_PROVEN, guards.is_some())
                | flag(RULE_HAS_URL, has_url)
                | flag(RULE_HAS_GUARDS, has_guards),
        );
        let checks_at = self.out.len();
        self.out.extend_from_slice(&[0; 3]);
        self.out.put_small(place)?;
        let url_at = self.out.len();
        if has_url {
            self.out.put_u32(0);
        }
        if let Some(guards) = guards.filter(|_| has_guards) {
            self.out.put_u8(u8::try_from(guards.len()).map_err(|_| TooLarge)?);
            guards.iter().for_each(|key| self.out.put_u16(self.layout.slot(key)));
        }
        if rule.other_params == OtherParams::Keep {
            for (_, named) in self.layout.named(rule) {
                self.out.put_u32(named);
            }
        }
        for (at, count) in self.put_checks(rule)?.into_iter().enumerate() {
            self.out[checks_at + at] = u8::try_from(count).map_err(|_| TooLarge)?;
        }
        self.out.extend_from_slice(&key);
        if has_url {
            self.out.set_u32(url_at, self.out.len())?;
            self.out.extend_from_slice(&url);
        }
        Ok(())
    }

    /// Checks that a value is a certain one, that it is of a simple class, and all others; returns their numbers.
    fn put_checks(&mut self, rule: &Rule) -> Result<[usize; 3], TooLarge> {
        let (mut simple, mut others, mut counts) = (Vec::new(), Vec::new(), [0; 3]);
        for (key, pattern) in rule.pattern.keys() {
            let slot = self.layout.slot(key);
            match pattern {
                ValuePattern::Is(value) if is_told_by_masks(key, value) => {}
                ValuePattern::Is(value) => {
                    counts[0] += 1;
                    self.out.put_u16(slot);
                    self.out.put_text(value.as_raw())?;
                }
                ValuePattern::Any(AnyValue { class, except, .. }) => match class.simple_code() {
                    Some(code) if except.is_empty() => {
                        counts[1] += 1;
                        simple.put_u16(slot);
                        simple.put_u8(code);
                    }
                    _ if *class == ValueClass::Text && except.is_empty() => {}
                    _ => {
                        counts[2] += 1;
                        others.put_u16(slot);
                        class.encode(&mut others)?;
                        others.put_small(except.len())?;
                        for value in except {
                            others.put_text(value.as_raw())?;
                        }
                    }
                },
            }
        }
        self.out.extend_from_slice(&simple);
        self.out.extend_from_slice(&others);
        Ok(counts)
    }
}

fn flag(flag: u8, is_set: bool) -> u8 {
    if is_set { flag } else { 0 }
}

/// The rules that ask for a tag, by tag; and those that ask for none.
type RulesByTag = (BTreeMap<u32, Vec<u16>>, Vec<u16>);

/// Nothing if that would be of no use: a list of rules by tag holds those that ask for none too, so there should be few.
fn rules_by_tag(tags: &[u32]) -> Option<RulesByTag> {
    let mut rules_by_tag: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    for (&tag, index) in tags.iter().zip(0..) {
        rules_by_tag.entry(tag).or_default().push(index);
    }
    let untagged = rules_by_tag.remove(&ANY_TAG).unwrap_or_default();
    (rules_by_tag.len() > 1 && untagged.len() <= MANY_RULES).then_some((rules_by_tag, untagged))
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
