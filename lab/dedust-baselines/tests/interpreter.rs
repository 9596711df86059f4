//! The compiled normalizer against an interpreter of rules that is obviously right, on random rules and URLs; and what
//! must hold of keys and canonical URLs whatever the rules are.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::collections::BTreeMap;

use dedust::rules::{
    AnyValue, Atom, Change, Evidence, ParamName, Replace, Rule, SiteRules, SiteSummary, Source, Spot,
    UrlPart, Value, ValueClass, tokenize,
};
use dedust::{Normalizer, ParsedUrl, RuleSet};
use dedust_baselines::{ClosedRule, Op, OtherParams, Pattern, Rewrite, ValuePattern, fitting, learned};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// What the first rule that covers `url` makes of it, as a key.
fn interpret(rules: &[ClosedRule], url: &str) -> String {
    let parsed = ParsedUrl::parse(url).unwrap();
    let tokens = tokenize(&parsed, "example.org").unwrap();
    let tokens: BTreeMap<UrlPart, Value> = tokens.into_iter().collect();
    let rule = rules.iter().find(|rule| rule.covers(&tokens));
    let target = match rule {
        None => tokens.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect(),
        Some(rule) => {
            let mut target: BTreeMap<UrlPart, Option<Value>> = BTreeMap::new();
            for (key, value) in &tokens {
                if matches!(key, UrlPart::QueryParam(_)) && rule.pattern.get(key).is_none() {
                    target.insert(key.clone(), Some(value.clone()));
                }
            }
            for (key, op) in rule.rewrite.ops() {
                match op {
                    Op::Keep(value) => target.insert(key.clone(), Some(value.clone())),
                    Op::Ignore => target.insert(key.clone(), None),
                    Op::Join(parts) => match join(parts, &tokens) {
                        Some(value) => target.insert(key.clone(), Some(value)),
                        None => return interpret(&[], url),
                    },
                    Op::Copy(from) => match tokens.get(from) {
                        Some(value) => target.insert(key.clone(), Some(value.clone())),
                        None => continue,
                    },
                };
            }
            target
        }
    };
    let max_len = (2 * parsed.as_bytes().len()).max(8192);
    match write(&target) {
        Some(key) if rule.is_none() || key.len() <= max_len => key,
        // The rule would leave a hole, or make too long a URL, so it does not apply.
        _ => interpret(&[], url),
    }
}

fn join(sources: &[Source], tokens: &BTreeMap<UrlPart, Value>) -> Option<Value> {
    let read = |source: &Source| {
        let Some(Spot::Key(key)) = &source.of else { return Some(source.prefix.to_string()) };
        let text = tokens.get(key)?.as_text()?.as_bytes();
        let text = source.part.map_or(Some(text), |part| part.of(text))?;
        Some(format!("{}{}{}", source.prefix, std::str::from_utf8(text).unwrap(), source.suffix))
    };
    let parts: Option<Vec<String>> = sources.iter().map(read).collect();
    Some(Value::from(&*parts?.concat()))
}

/// Writes the pairs as a URL, `*` for `None`; nothing when a segment or label is missing before others. Segments that do not
/// matter need none before them.
fn write(target: &BTreeMap<UrlPart, Option<Value>>) -> Option<String> {
    let text = |value: &Option<Value>| {
        value.as_ref().map_or("*".into(), |value| value.as_text().unwrap_or("").to_string())
    };
    let param = |name: &ParamName, value: &Option<Value>| match value {
        Some(Value::Bare) => name.name.to_string(),
        value => format!("{}={}", name.name, text(value)),
    };
    let mut url = format!("{}://", text(&target[&UrlPart::Scheme]));
    let (mut labels, mut segments, mut path_params, mut params) = (vec![], vec![], vec![], vec![]);
    let mut next_segment = Some(0);
    for (key, value) in target {
        match key {
            UrlPart::Subdomain(at) if usize::from(*at) == labels.len() => labels.push(text(value)),
            UrlPart::PathSegment(at) if next_segment == Some(*at) || value.is_none() => {
                next_segment = next_segment.filter(|next| next == at).map(|next| next + 1);
                segments.push(text(value));
            }
            UrlPart::Subdomain(_) | UrlPart::PathSegment(_) => return None,
            UrlPart::PathParam(name) => path_params.push(format!("{}={}", name.name, text(value))),
            UrlPart::QueryParam(name) => params.push(param(name, value)),
            _ => {}
        }
    }
    labels.reverse();
    url += &labels.iter().map(|label| format!("{label}.")).collect::<String>();
    url += "example.org";
    if let Some(port) = target.get(&UrlPart::Port) {
        url += &format!(":{}", text(port));
    }
    url += &segments.iter().map(|segment| format!("/{segment}")).collect::<String>();
    if segments.is_empty() {
        if !path_params.is_empty() {
            return None;
        }
        url += "/";
    } else {
        url += &path_params.iter().map(|param| format!(";{param}")).collect::<String>();
        url += &target.get(&UrlPart::TrailingSlash).map_or(String::new(), text);
    }
    let separator = target.get(&UrlPart::QuerySeparator).map_or("&".into(), text);
    if !params.is_empty() {
        url += &format!("?{}", params.join(&separator));
    }
    if let Some(hashbang) = target.get(&UrlPart::Hashbang) {
        url += &format!("#!{}", text(hashbang));
    }
    Some(url)
}

fn name(name: &str, occurrence: u32) -> ParamName {
    ParamName { name: name.into(), occurrence }
}

fn free_keys() -> Vec<UrlPart> {
    vec![
        UrlPart::Subdomain(0),
        UrlPart::Subdomain(1),
        UrlPart::Port,
        UrlPart::PathSegment(0),
        UrlPart::PathSegment(1),
        UrlPart::PathSegment(2),
        UrlPart::TrailingSlash,
        UrlPart::PathParam(name("s", 1)),
        UrlPart::QuerySeparator,
        UrlPart::QueryParam(name("a", 1)),
        UrlPart::QueryParam(name("a", 2)),
        UrlPart::QueryParam(name("b", 1)),
        UrlPart::QueryParam(name("identifier", 1)),
        UrlPart::Hashbang,
    ]
}

/// Short and long URLs are read in two ways.
const LONG: &str = "a-text-of-so-many-letters-that-there-is-no-room-for-it-and-another-one";

fn values(key: &UrlPart) -> Vec<Value> {
    let texts: &[&str] = match key {
        UrlPart::Scheme => &["http", "https"],
        UrlPart::Port => &["8080", "81"],
        UrlPart::TrailingSlash => &["/"],
        UrlPart::QuerySeparator => &[";"],
        UrlPart::Subdomain(_) => &["www", "de", "7"],
        UrlPart::PathSegment(_) | UrlPart::Hashbang => &["x", "7", "a-b.html", LONG],
        UrlPart::PathParam(_) => &["x", "7"],
        UrlPart::QueryParam(_) => &["x", "7", "", LONG],
    };
    let mut values: Vec<Value> = texts.iter().map(|text| Value::from(*text)).collect();
    if matches!(key, UrlPart::QueryParam(_)) {
        values.push(Value::Bare);
    }
    values
}

fn value_pattern(key: UrlPart) -> BoxedStrategy<(UrlPart, ValuePattern)> {
    let classes =
        vec![ValueClass::Text, ValueClass::Digits, ValueClass::Word, ValueClass::File("html".into())];
    let is = select(values(&key)).prop_map(ValuePattern::Is);
    let any = (select(classes), subsequence(values(&key), 0..=1), any::<bool>())
        .prop_map(|(class, except, optional)| ValuePattern::Any(AnyValue { class, except, optional }));
    prop_oneof![is, any].prop_map(move |pattern| (key.clone(), pattern)).boxed()
}

/// Few enough keys that rules often cover what other rules write.
fn crowded_keys() -> Vec<UrlPart> {
    vec![
        UrlPart::Subdomain(0),
        UrlPart::PathSegment(0),
        UrlPart::PathSegment(1),
        UrlPart::QueryParam(name("a", 1)),
        UrlPart::QueryParam(name("b", 1)),
    ]
}

/// A rule over some of `free_keys`; with `ignores`, it may forget values.
fn rule(free_keys: Vec<UrlPart>, ignores: bool) -> impl Strategy<Value = ClosedRule> {
    let pattern = subsequence(free_keys.clone(), 0..=free_keys.len().min(9)).prop_flat_map(|mut keys| {
        keys.push(UrlPart::Scheme);
        keys.into_iter().map(value_pattern).collect::<Vec<_>>()
    });
    pattern.prop_flat_map(move |pattern| {
        let sources: Vec<UrlPart> = pattern.iter().map(|(key, _)| key.clone()).collect();
        let in_place: Vec<UrlPart> = sources.clone();
        let op = move |key: &UrlPart| {
            let keep = select(values(key)).prop_map(Op::Keep);
            let copies: Vec<UrlPart> = sources.iter().filter(|from| same_place(from, key)).cloned().collect();
            let copy = match copies.is_empty() {
                true => keep.clone().boxed(),
                false => select(copies).prop_map(Op::Copy).boxed(),
            };
            let join = (copy.clone(), select(vec![Atom::Digits(0), Atom::Stem, Atom::DigitsFromRight(0)]));
            let join = join.prop_map(|(copy, which)| match copy {
                Op::Copy(of @ (UrlPart::PathSegment(_) | UrlPart::QueryParam(_))) => Op::Join(vec![
                    Source { prefix: "n".into(), part: Some(which), ..Source::of(Spot::Key(of.clone())) },
                    Source { suffix: "m".into(), ..Source::of(Spot::Key(of)) },
                ]),
                other => other,
            });
            prop_oneof![1 => keep, 4 => copy, 1 => join, u32::from(ignores) => Just(Op::Ignore)]
        };
        let targets = prop_oneof![Just(in_place), subsequence(free_keys.clone(), 0..=free_keys.len().min(9))];
        (Just(pattern), targets).prop_flat_map(move |(pattern, mut targets)| {
            targets.push(UrlPart::Scheme);
            let ops: Vec<_> = targets.iter().map(|key| (Just(key.clone()), op(key))).collect();
            let other_params = prop_oneof![Just(OtherParams::Refuse), Just(OtherParams::Keep)];
            (Just(pattern), ops, other_params).prop_map(|(pattern, ops, other_params)| ClosedRule {
                pattern: Pattern::new(pattern),
                other_params,
                rewrite: Rewrite::new(ops, Vec::new()),
                fetchable: true,
                evidence: Evidence::default(),
            })
        })
    })
}

/// Whether a value of `from` may stand at `to` without being read as something else.
fn same_place(from: &UrlPart, to: &UrlPart) -> bool {
    let is_segment = |key: &UrlPart| matches!(key, UrlPart::PathSegment(_));
    let is_label = |key: &UrlPart| matches!(key, UrlPart::Subdomain(_));
    from == to
        || (is_segment(from) && is_segment(to))
        || (is_label(from) && is_label(to))
        || (matches!(from, UrlPart::QueryParam(_)) && matches!(to, UrlPart::QueryParam(_)))
}

/// Some random closed rules that rules can say.
fn rules(rule: impl Strategy<Value = ClosedRule>) -> impl Strategy<Value = Vec<ClosedRule>> {
    vec(rule, 0..6).prop_map(fitting)
}

fn rule_set(rules: Vec<Rule>) -> RuleSet {
    let mut set = RuleSet::new("random");
    set.insert("example.org", SiteRules::new(SiteSummary::default(), rules).unwrap()).unwrap();
    set
}

fn url() -> impl Strategy<Value = String> {
    let pick = |key: UrlPart| option::of(select(values(&key)).prop_map(|value| value.to_string()));
    let long = Box::leak(format!("={LONG}").into_boxed_str());
    let values = vec!["", "=", "=x", "=7", "=7", long];
    let params = vec((select(vec!["a", "b", "c", "identifier"]), select(values)), 0..4);
    let path = vec(select(vec!["x", "7", "a-b.html", "x;s=7", "", LONG]), 0..4);
    (
        select(vec!["http", "https"]),
        vec(select(vec!["www", "de", "7"]), 0..3),
        pick(UrlPart::Port),
        path,
        params,
        select(vec!["&", "&", ";"]),
        pick(UrlPart::Hashbang),
    )
        .prop_map(|(scheme, labels, port, path, params, separator, hashbang)| {
            let labels: String = labels.iter().map(|label| format!("{label}.")).collect();
            let port = port.map_or(String::new(), |port| format!(":{port}"));
            let params: Vec<String> = params.iter().map(|(name, value)| format!("{name}{value}")).collect();
            let query =
                if params.is_empty() { String::new() } else { format!("?{}", params.join(separator)) };
            let hashbang = hashbang.map_or(String::new(), |hashbang| format!("#!{hashbang}"));
            format!("{scheme}://{labels}example.org{port}/{}{query}{hashbang}", path.join("/"))
        })
}

/// URLs of [`crowded_keys`] only.
fn crowded_url() -> impl Strategy<Value = String> {
    let host = select(vec!["example.org", "www.example.org", "de.example.org"]);
    let path = select(vec!["/", "/x", "/7", "/x/7", "/7/x", "/a-b.html"]);
    let query = select(vec!["", "?a=x", "?a=7", "?b=x", "?a=7&b=x", "?b=7&a=x"]);
    (host, path, query).prop_map(|(host, path, query)| format!("http://{host}{path}{query}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_compiled_key_is_the_interpreted_key(rules in rules(rule(free_keys(), true)), urls in vec(prop_oneof![url(), crowded_url()], 8)) {
        let normalizer = Normalizer::compile(&rule_set(learned(&rules).rules));
        for url in urls {
            prop_assert_eq!(&normalizer.key(&url).unwrap().to_string(), &interpret(&rules, &url), "{}", url);
        }
    }

    #[test]
    fn canonical_urls_are_stable_and_keep_their_key(rules in rules(rule(crowded_keys(), false)), urls in vec(crowded_url(), 8)) {
        let normalizer = Normalizer::compile(&rule_set(learned(&rules).rules));
        for url in urls {
            let canonical = normalizer.normalize(&url).unwrap();
            prop_assert_eq!(normalizer.key(&canonical).unwrap(), normalizer.key(&url).unwrap());
            prop_assert_eq!(&normalizer.normalize(&canonical).unwrap(), &canonical);
            prop_assert_eq!(normalizer.both(&url).unwrap(), (normalizer.key(&url).unwrap(), canonical));
        }
    }

    #[test]
    fn replaced_text_keeps_what_is_promised(
        list in vec((select(vec!["/x", "www.", "?a=x", "/7/x", "https", "7"]), select(vec!["", "/", "http", "/7"])), 0..4),
        rules in rules(rule(crowded_keys(), false)),
        urls in vec(crowded_url(), 8),
    ) {
        let replace = |(from, to): &(&str, &str)| {
            Replace { from: (*from).into(), to: (*to).into(), at_start: false, at_end: false }
        };
        let list = list.iter().filter(|(from, to)| (to.len(), to) < (from.len(), from)).map(replace).collect();
        let replaced = Rule { fetchable: true, ..Rule::new(Change::Replace(list)) };
        let rules = [replaced].into_iter().chain(learned(&rules).rules).collect();
        let normalizer = Normalizer::compile(&rule_set(rules));
        for url in urls {
            let canonical = normalizer.normalize(&url).unwrap();
            prop_assert_eq!(normalizer.key(&canonical).unwrap(), normalizer.key(&url).unwrap(), "{}", url);
            prop_assert_eq!(&normalizer.normalize(&canonical).unwrap(), &canonical, "{}", url);
            prop_assert_eq!(normalizer.both(&url).unwrap(), (normalizer.key(&url).unwrap(), canonical));
        }
    }

    #[test]
    fn other_sites_are_untouched(rules in rules(rule(crowded_keys(), true)), url in url()) {
        let url = url.replace("example.org", "example.net");
        let with = Normalizer::compile(&rule_set(learned(&rules).rules));
        let without = Normalizer::default();
        prop_assert_eq!(with.key(&url).unwrap(), without.key(&url).unwrap());
    }

    #[test]
    fn a_saved_rule_set_is_loaded_as_it_was(rules in rules(rule(free_keys(), true))) {
        let rules = rule_set(learned(&rules).rules);
        let mut saved = Vec::new();
        rules.save(&mut saved).unwrap();
        let loaded = RuleSet::load(&saved[..]).unwrap();
        prop_assert_eq!(&loaded, &rules);
        let mut again = Vec::new();
        loaded.save(&mut again).unwrap();
        prop_assert_eq!(again, saved);
    }

    #[test]
    fn equal_pairs_mean_equal_keys(pairs in btree_map(select(vec!["a", "b", "c", "d"]), "[x-z]{0,2}", 0..4)) {
        let write = |params: Vec<String>| format!("http://example.org/?{}", params.join("&"));
        let params: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut reversed = params.clone();
        reversed.reverse();
        let normalizer = Normalizer::default();
        prop_assert_eq!(normalizer.key(write(params)).unwrap(), normalizer.key(write(reversed)).unwrap());
    }
}

#[test]
fn a_normalizer_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Normalizer::default());
}
