/*!
[`SiteRules`] to compiled rules: every key gets a slot, every rule its masks, checks and templates.

Edits on the text of a URL come first. If all others are closed [rules](Rule), of whose URLs everything is known, they become templates;
otherwise all of them are run as edits. Edits that are off or refuted are left out, and so are rules that can cover no URL. A site with more than
compiled rules have room for (16,000 keys; texts of 64 KiB) is left out as a whole, and named in the end: leaving URLs alone is
always safe.
*/

mod layout;
mod proof;
mod template;

use std::collections::{BTreeMap, BTreeSet};

use self::layout::Layout;
use self::template::put_template;
use crate::compiled::{ImageBuilder, LeftOutReason, SiteFacts};
use crate::edit_program;
use crate::encoding::{Encode as _, TooLarge, first_word};
use crate::program::{
    ANY_FINGERPRINT, BARE_FINGERPRINT, CompiledSite, END_WIDTH, HAS_REPLACEMENTS, HEADER_BYTES, KEEPS_ORDER,
    KEEPS_OTHERS, NO_SLOT, NO_TEXT, RULE_HAS_GUARDS, RULE_HAS_URL, RULE_IS_PROVEN, RULE_KEEPS_OTHERS,
    RULE_WRITES, Replacement, TextBuilder, fingerprint_of,
};
use crate::rule::{AnyValue, Op, OtherParams, Replace, Rule, RuleSet, SiteRules, ValueClass, ValuePattern};
use crate::url::{RawValue, TokenKey, Value, has_subdomains};

pub(crate) fn compile(rules: &RuleSet) -> ImageBuilder {
    let mut builder = ImageBuilder::default();
    builder.set_method(rules.method());
    for (domain, site) in rules.sites() {
        add_site(&mut builder, domain, site);
    }
    builder
}

pub(crate) fn add_site(builder: &mut ImageBuilder, domain: &str, site: &SiteRules) {
    if let Some(mirror) = site.mirror() {
        let facts = SiteFacts { with_subdomains: true, weight: site.summary().urls, rules: 1 };
        builder.insert_mirror(domain.as_bytes(), facts, &mirror);
        return;
    }
    let (replaced, edits): (Vec<_>, Vec<_>) = site.applied().partition(|(_, edit)| edit.replaced().is_some());
    let replaced: Vec<(usize, &Replace)> =
        replaced.into_iter().filter_map(|(place, edit)| Some((place, edit.replaced()?))).collect();
    let rules: Option<Vec<(usize, Rule)>> =
        edits.iter().map(|&(place, edit)| Some((place, Rule::of(edit)?))).collect();
    let edits = if rules.is_some() { Vec::new() } else { edits };
    let rules: Vec<(usize, Rule)> = rules.into_iter().flatten().filter(|(_, rule)| can_cover(rule)).collect();
    let count = rules.len() + replaced.len() + edits.len();
    if count == 0 {
        return;
    }
    let rules = rules.iter().map(|(place, rule)| (*place, rule)).collect();
    let compiled = match &edits[..] {
        [] => Compiler::new(rules, replaced.is_empty()).and_then(|compiler| compiler.finish(&replaced)),
        // They stand beside no others.
        edits => edit_program::encode(edits),
    };
    match compiled {
        Ok(program) => {
            let facts = SiteFacts {
                with_subdomains: has_subdomains(domain.as_bytes()),
                weight: site.summary().urls,
                rules: count as u64,
            };
            match site.hosts() {
                [] => builder.insert(domain.as_bytes(), facts, &program),
                hosts => builder.insert_hosts(domain.as_bytes(), hosts, facts, &program),
            }
        }
        Err(TooLarge) => builder.leave_out(domain.as_bytes(), LeftOutReason::TooLarge),
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
    texts: TextBuilder,
    /// The shape.
    out: Vec<u8>,
}

impl<'a> Compiler<'a> {
    fn new(rules: Vec<(usize, &'a Rule)>, is_provable: bool) -> Result<Self, TooLarge> {
        let keys: BTreeSet<&TokenKey> =
            rules.iter().flat_map(|(_, rule)| rule.pattern.keys().map(|(key, _)| key)).collect();
        let layout = Layout::new(&keys)?;
        let (texts, out) = (TextBuilder::default(), Vec::new());
        let mut compiler = Self { rules, layout, tag_slot: NO_SLOT, is_provable, texts, out };
        compiler.tag_slot = compiler.find_tag_slot();
        Ok(compiler)
    }

    /// The program of the site.
    fn finish(mut self, replaced: &[(usize, &Replace)]) -> Result<CompiledSite, TooLarge> {
        let rules = std::mem::take(&mut self.rules);
        // Names come first: their numbers are those of their fingerprints.
        let names: Vec<Box<str>> = self.layout.names().map(|name| name.text.clone()).collect();
        for name in &names {
            self.texts.push(name.as_bytes())?;
        }
        let lists = usize::from(!replaced.is_empty());
        self.put_shape(&rules, lists)?;
        let passes = |(_, rule): &(usize, &Rule)| rule.other_params == OtherParams::Keep;
        let has_order = |rule: &(usize, &Rule)| passes(rule) || writes_in_place(rule.1);
        self.out[4] = flag(KEEPS_OTHERS, rules.iter().any(passes))
            | flag(KEEPS_ORDER, rules.iter().any(has_order))
            | flag(HAS_REPLACEMENTS, !replaced.is_empty())
            | self.texts.end_width() << END_WIDTH;

        let mut site = vec![0; 4 * lists];
        site.extend(names.iter().map(|name| fingerprint(Some(name.as_bytes()))));
        site.extend(rules.iter().map(|(_, rule)| self.fingerprint(rule)));
        self.texts.put(&mut site);
        if !replaced.is_empty() {
            site.set_u32(0, site.len())?;
            site.put_u32(u32::try_from(replaced.len()).map_err(|_| TooLarge)?);
            for (place, replace) in replaced {
                let place = u32::try_from(*place).map_err(|_| TooLarge)?;
                Replacement::encode(replace, place, &mut site)?;
            }
        }
        Ok(CompiledSite { shape: self.out, site })
    }

    /// All but the flags, which come last.
    fn put_shape(&mut self, rules: &[(usize, &Rule)], lists: usize) -> Result<(), TooLarge> {
        self.out.put_u32(0);
        self.out.put_u16(0);
        self.layout.put_counts(&mut self.out)?;
        self.out.put_small(rules.len())?;
        self.out.put_u16(self.tag_slot);
        // Places of what is of the site alone, which its numbers of names, rules and texts tell.
        let places = self.out.len();
        self.out.resize(HEADER_BYTES, 0);
        self.layout.put_names(&mut self.out);
        let heads = self.out.len();
        let head_bytes = 4 + 8 * self.layout.words();
        self.out.resize(heads + rules.len() * head_bytes, 0);
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
        let fingerprints = 4 * lists;
        let ends = fingerprints + self.layout.names().count() + rules.len();
        self.out.set_u32(places, fingerprints)?;
        self.out.set_u32(places + 4, ends)?;
        self.out.set_u32(places + 8, ends + ((self.texts.len() + 1) << self.texts.end_width()))?;
        self.out.set_u32(places + 12, heads)?;
        self.out.set_u32(0, self.out.len())
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

    /// The fingerprint of the value of the tag slot that the rule asks for.
    fn fingerprint(&self, rule: &Rule) -> u8 {
        let mut keys = rule.pattern.keys();
        match keys.find(|(key, _)| self.layout.slot(key) == self.tag_slot) {
            Some((_, ValuePattern::Is(value))) => fingerprint(value.as_raw()),
            _ => ANY_FINGERPRINT,
        }
    }

    fn put_rule(&mut self, place: usize, rule: &Rule, guards: Option<Vec<TokenKey>>) -> Result<(), TooLarge> {
        let writes = rule.writes();
        let guards = guards.filter(|_| writes);
        let has_guards = guards.as_ref().is_some_and(|guards| !guards.is_empty());
        let (mut key, mut url) = (Vec::new(), Vec::new());
        put_template(rule, &self.layout, false, &mut self.texts, &mut key)?;
        if writes {
            put_template(rule, &self.layout, true, &mut self.texts, &mut url)?;
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
                    let text = value.as_raw().map(|text| self.texts.small_number(text)).transpose()?;
                    self.out.put_u16(text.unwrap_or(NO_TEXT));
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

/// The fingerprint of a value.
fn fingerprint(value: RawValue<'_>) -> u8 {
    value.map_or(BARE_FINGERPRINT, |text| fingerprint_of(first_word(text, 0, text.len()), text.len()))
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

/// Whether query parameters of a written URL stay where they are: every one is one of the source, and there are several.
fn writes_in_place(rule: &Rule) -> bool {
    let params = rule.rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).count();
    (params > 1 || rule.other_params == OtherParams::Keep)
        && rule.rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).all(|(key, op)| {
            match op {
                Op::Copy(from) | Op::Map { of: from, .. } => from == key,
                Op::Keep(value) => rule.pattern.get(key) == Some(&ValuePattern::Is(value.clone())),
                Op::Ignore | Op::Join(_) => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use crate::rules::{Change, Edit, Outcome, Replace, SiteRules, SiteSummary, Verdict};
    use crate::{Normalizer, RuleSet};

    fn rule(path: &str) -> Edit {
        serde_json::from_value(serde_json::json!({
            "when": {
                "scheme": {"is": "http"}, "path_0": {"is": path}, "q.sid": {"any": {"class": "text", "optional": true}}
            },
            "closed": true,
            "change": [{"write": {"scheme": {"keep": "http"}, "path_0": {"keep": path}}}],
            "last": true,
            "fetchable": true,
        }))
        .unwrap()
    }

    fn replace(from: &str) -> Edit {
        Edit::new(Change::Replace(Replace {
            from: from.into(),
            to: "".into(),
            at_start: false,
            at_end: true,
        }))
    }

    fn compiled(edits: &[Edit]) -> Normalizer {
        let mut set = RuleSet::new("by hand");
        set.insert("a.example", SiteRules::new(SiteSummary::default(), edits.to_vec()).unwrap()).unwrap();
        Normalizer::compile(&set)
    }

    #[test]
    fn refuted_edits_are_left_out_and_the_others_keep_their_places() {
        let refuted = Some(Verdict { outcome: Outcome::Refuted, ..Verdict::default() });
        let mut edits = vec![replace("index.html"), replace("default.asp"), rule("x"), rule("y")];
        let (x, y) = ("http://a.example/x?sid=1", "http://a.example/y?sid=1");
        let (index, default) = ("http://a.example/p/index.html", "http://a.example/p/default.asp");
        let all = compiled(&edits);
        assert_eq!(all.normalize(x).unwrap(), "http://a.example/x");
        assert_eq!(all.normalize(index).unwrap(), "http://a.example/p/");

        edits[0].evidence.verdict = refuted.clone();
        edits[2].evidence.verdict = refuted.clone();
        let some = compiled(&edits);
        assert_eq!(some.normalize(x).unwrap(), x);
        assert_eq!(some.normalize(index).unwrap(), index);
        assert_eq!(some.explain(y).unwrap().edits, [3]);
        assert_eq!(some.explain(y).unwrap().canonical, "http://a.example/y");
        assert_eq!(some.explain(default).unwrap().edits, [1]);

        edits[1].evidence.verdict = refuted.clone();
        edits[3].evidence.verdict = refuted;
        let none = compiled(&edits);
        assert_eq!(none.explain(y).unwrap().site, None);
        assert_eq!(none.key(y).unwrap(), y);
    }

    #[test]
    fn rules_of_any_other_verdict_are_applied() {
        for outcome in [Outcome::Confirmed, Outcome::Unknown] {
            let mut rule = rule("x");
            rule.evidence.verdict = Some(Verdict { outcome, ..Verdict::default() });
            let normalizer = compiled(&[rule]);
            assert_eq!(normalizer.normalize("http://a.example/x?sid=1").unwrap(), "http://a.example/x");
        }
    }
}
