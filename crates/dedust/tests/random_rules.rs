/*!
Any rules at all, compiled, beside an interpreter that makes them one by one and checks every canonical URL by reading it again; and with any
canonical URLs that were observed.
*/

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::collections::BTreeMap;

use dedust::rules::{
    AnyValue, Area, Atom, Change, Closed, Count, Mapped, PathPart, Prefer, Rule, SiteRules, SiteSummary,
    Source, Spelling, Spot, Test, UrlPart, Value, ValueClass,
};
use dedust::support::{RuleList, UrlParts};
use dedust::{Normalizer, ParsedUrl, RuleSet, Scratch};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const DOMAIN: &str = "example.org";

/// What rules are made of in property tests: few names and values, so that they meet.
const NAMES: [&str; 5] = ["a", "b", "sid", "a-rather-long-name", "a-rather-long-game"];
const VALUES: [&str; 11] =
    ["", "1", "20", "a", "index.php", "Wiki%3AA", "x-7-y.html", "*", "007", "a%20b", "/1,A.html"];
/// What may stand in place of a parameter; not all of these are texts to rules.
const TEXTS: [&str; 7] = ["1", "20", "007", "/1,A.html", "a/b", "index.php", "Wiki%3AA,%20"];

fn name() -> impl Strategy<Value = String> {
    (prop::sample::select(&NAMES[..]), prop::bool::weighted(0.1))
        .prop_map(|(name, is_second)| if is_second { format!("{name}#2") } else { name.to_owned() })
}

fn text() -> impl Strategy<Value = Box<str>> {
    prop::sample::select(&VALUES[..]).prop_map(Into::into)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Bare), 9 => text().prop_map(Value::Text)]
}

fn key() -> impl Strategy<Value = UrlPart> {
    let parsed = |text: String| text.parse().unwrap();
    prop_oneof![
        6 => name().prop_map(move |name| parsed(format!("q.{name}"))),
        1 => prop::sample::select(&["q.=", "q.=", "q.=#2"][..]).prop_map(move |name| parsed(name.to_owned())),
        1 => name().prop_map(move |name| parsed(format!("mp.{name}"))),
        4 => (0..4u16).prop_map(UrlPart::PathSegment),
        1 => (0..2u16).prop_map(UrlPart::Subdomain),
        2 => prop::sample::select(vec![
            UrlPart::Scheme, UrlPart::Port, UrlPart::TrailingSlash, UrlPart::QuerySeparator, UrlPart::Hashbang,
        ]),
    ]
}

fn spot() -> impl Strategy<Value = Spot> {
    prop_oneof![5 => key().prop_map(Spot::Key), 1 => (0..3u16).prop_map(Spot::FromRight)]
}

fn class() -> impl Strategy<Value = ValueClass> {
    prop::sample::select(vec![
        ValueClass::Text,
        ValueClass::Digits,
        ValueClass::Word,
        ValueClass::File("php".into()),
        ValueClass::Framed {
            prefix: "x-".into(),
            class: ValueClass::Digits.into(),
            suffix: "-y.html".into(),
        },
    ])
}

fn test() -> impl Strategy<Value = Test> {
    prop_oneof![
        4 => value().prop_map(Test::Is),
        1 => vec(value(), 0..4).prop_map(Test::OneOf),
        2 => vec(value(), 0..3).prop_map(Test::Not),
        2 => class().prop_map(|class| Test::Any(class.into())),
        1 => (class(), vec(value(), 0..2), any::<bool>())
            .prop_map(|(class, except, optional)| Test::Any(AnyValue { class, except, optional })),
        1 => Just(Test::Absent),
    ]
}

fn source() -> impl Strategy<Value = Source> {
    let atom = prop::sample::select(vec![
        Atom::Digits(0),
        Atom::Stem,
        Atom::Extension,
        Atom::Piece { separator: '-', index: 1 },
        Atom::PieceFromRight { separator: '%', index: 0 },
    ]);
    let count = (-2..20i64, -20..20i64).prop_map(|(times, plus)| Count { times, plus });
    let table = vec((text(), text()), 0..3).prop_map(|mut table| {
        table.sort();
        table.dedup_by(|a, b| a.0 == b.0);
        table
    });
    let affix = || prop_oneof![4 => Just("".into()), 1 => text()];
    (
        affix(),
        option::weighted(0.8, spot()),
        option::weighted(0.3, atom),
        option::weighted(0.1, count),
        table,
        affix(),
    )
        .prop_map(|(prefix, of, part, count, table, suffix): (Box<str>, _, _, _, Vec<_>, Box<str>)| {
            let table = if table.len() > 1 { table } else { Vec::new() };
            Source { prefix, of, part, count, table, suffix }
        })
}

fn part() -> impl Strategy<Value = PathPart> {
    prop_oneof![
        2 => text().prop_map(PathPart::Text),
        2 => (0..3u16, 0..2u16).prop_map(|(from, but_last)| PathPart::Segments { from, but_last }),
        1 => (0..3u16).prop_map(PathPart::First),
        1 => (0..3u16).prop_map(PathPart::Last),
        3 => (source(), option::weighted(0.3, prop::sample::select(vec![':', '-', 'é'])))
            .prop_map(|(from, split)| PathPart::Value { from, split }),
    ]
}

fn spelling() -> impl Strategy<Value = Spelling> {
    use Spelling::{Composed, Lowercase, PlusAsSpace, Underscored, Unescaped, Unpadded};
    prop::sample::select(vec![Lowercase, Unescaped, PlusAsSpace, Underscored, Unpadded, Composed])
}

fn change() -> impl Strategy<Value = Change> {
    let area = prop_oneof![Just(Area::Path), Just(Area::Params), key().prop_map(Area::Key)];
    let mapped = vec((value(), option::of(text())), 1..4).prop_map(|mut values| {
        values.sort();
        values.dedup_by(|a, b| a.0 == b.0);
        values.into_iter().map(|(is, becomes)| Mapped { is, becomes }).collect::<Vec<_>>()
    });
    let scheme =
        (prop::sample::select(vec!["http", "https", "ftp"]), prop::sample::select(vec!["http", "https"]));
    let scheme = scheme.prop_map(|(is, becomes)| Change::Map {
        of: UrlPart::Scheme,
        values: vec![Mapped { is: is.into(), becomes: Some(becomes.into()) }],
    });
    let www =
        (0..2u16, prop_oneof![3 => Just(None), 1 => Just(Some("m".into()))]).prop_map(|(index, becomes)| {
            Change::Map { of: UrlPart::Subdomain(index), values: vec![Mapped { is: "www".into(), becomes }] }
        });
    prop_oneof![
        1 => www,
        8 => spot().prop_map(Change::Drop),
        2 => spot().prop_map(Change::Forget),
        4 => (key(), mapped).prop_map(|(of, values)| Change::Map { of, values }),
        2 => scheme,
        3 => (area, spelling()).prop_map(|(of, to)| Change::Fold { of, to }),
        3 => (key(), vec(source(), 0..3)).prop_map(|(key, to)| Change::Set { key, to }),
        3 => vec(part(), 0..4).prop_map(Change::Path),
        5 => prop::sample::select(examples()),
        1 => vec(name(), 1..3).prop_map(|names| {
            Change::Order(names.iter().map(|name| format!("q.{name}").parse().unwrap()).collect())
        }),
    ]
}

/// A change of each kind, so that none is left out; not of those that replace text, which bring URLs of any form.
fn examples() -> Vec<Change> {
    #[derive(serde::Deserialize)]
    struct Example {
        change: Change,
    }
    let examples: Vec<Example> = serde_json::from_str(include_str!("../testdata/changes.json")).unwrap();
    let changes = examples.into_iter().map(|example| example.change);
    changes.filter(|change| !matches!(change, Change::Replace(_))).collect()
}

fn rule() -> impl Strategy<Value = Rule> {
    // Few other values are those of a scheme.
    let scheme = prop::sample::select(&["http", "https"][..])
        .prop_map(|scheme| BTreeMap::from([(Spot::Key(UrlPart::Scheme), Test::Is(scheme.into()))]));
    let when = prop_oneof![4 => Just(BTreeMap::new()), 4 => btree_map(spot(), test(), 0..3), 1 => scheme];
    let changes = prop_oneof![3 => vec(change(), 1), 1 => vec(change(), 2..4)];
    let closed = prop_oneof![8 => Just(Closed::No), 1 => Just(Closed::ExceptParams), 1 => Just(Closed::Yes)];
    let (last, fetchable) = (prop::bool::weighted(0.1), prop::bool::weighted(0.7));
    (when, closed, changes, last, fetchable).prop_map(|(when, closed, change, last, fetchable)| Rule {
        when,
        closed,
        change,
        last,
        fetchable,
        ..Rule::default()
    })
}

/// Rules that a rule file may hold, few or more than there are bits for.
fn site() -> impl Strategy<Value = Vec<Rule>> {
    let is_valid = |rule: &Rule| SiteRules::new(SiteSummary::default(), vec![rule.clone()]).is_ok();
    let rule = || rule().prop_filter("a rule file refuses the rule", is_valid);
    // Where a rule concerns all others, none is made early.
    let concerns_one = |rule: &Rule| {
        let is_of_query = |change: &Change| matches!(change, Change::SplitParams | Change::Order(_));
        !rule.last && !rule.change.iter().any(is_of_query)
    };
    let apart = || rule().prop_filter("others depend on it", concerns_one);
    let rules = prop_oneof![2 => vec(rule(), 1..6), 3 => vec(apart(), 1..6), 1 => vec(rule(), 65..72), 1 => vec(apart(), 20..72)];
    // Those that earlier ones make impossible are left out.
    rules.prop_map(|rules| {
        let mut accepted: Vec<Rule> = Vec::new();
        for rule in rules {
            accepted.push(rule);
            if SiteRules::new(SiteSummary::default(), accepted.clone()).is_err() {
                accepted.pop();
            }
        }
        accepted
    })
}

fn url() -> impl Strategy<Value = String> {
    let pick = |texts: &'static [&'static str]| prop::sample::select(texts);
    let value = || prop_oneof![6 => pick(&VALUES[..]), 1 => pick(&["A%CC%8A", "a;b=1", "a'b", "%27", "x+y", "a:b/c", "..", "%A", "a%", "00.01", "x-01%2F%3a"])];
    let segment =
        || prop_oneof![8 => value(), 1 => pick(&["Abc", "x;a=1", "tl;dr", "%7e", ".", "b%", "%C3%B1%CC%83"])];
    let named = || {
        (pick(&NAMES[..]), option::weighted(0.9, value()))
            .prop_map(|(name, value)| value.map_or(name.to_owned(), |value| format!("{name}={value}")))
    };
    let param = || prop_oneof![6 => named(), 1 => pick(&TEXTS[..]).prop_map(str::to_owned)];
    let separator = || prop_oneof![9 => Just("&"), 1 => Just(";")];
    let query = (vec((param(), separator()), 1..5), separator(), any::<bool>()).prop_map(
        |(params, one, is_mixed)| {
            let separated = params.iter().enumerate().map(|(at, (param, own))| match (at, is_mixed) {
                (0, _) => param.clone(),
                (_, true) => format!("{own}{param}"),
                (_, false) => format!("{one}{param}"),
            });
            format!("?{}", separated.collect::<String>())
        },
    );
    (
        prop_oneof![6 => Just("http"), 3 => Just("https"), 1 => pick(&["ftp", "foo", "wss"])],
        prop_oneof![6 => Just(""), 2 => Just("www."), 1 => pick(&["a.b.", "me@", "1.", "www.a.", "www.www."])],
        prop_oneof![9 => Just(""), 1 => pick(&[":80", ":8080", ":443"])],
        vec(segment(), 0..5).prop_map(|segments| segments.join("/")),
        prop_oneof![3 => Just(""), 1 => Just("/"), 1 => pick(&[";a=1", ";sid=2;b=1/"])],
        option::weighted(0.7, query),
        prop_oneof![9 => Just(""), 1 => Just("#!a")],
    )
        .prop_map(|(scheme, labels, port, path, end, query, hashbang)| {
            let query = query.unwrap_or_default();
            format!("{scheme}://{labels}{DOMAIN}{port}/{path}{end}{query}{hashbang}")
        })
}

/// Makes rules one by one.
struct Interpreter<'a> {
    rules: &'a [Rule],
}

impl Interpreter<'_> {
    fn key(&self, url: &ParsedUrl) -> Vec<u8> {
        let (mut parts, mut key) = (UrlParts::default(), Vec::new());
        let rules = RuleList::new(self.rules).unwrap();
        if !url.is_hierarchical() || !parts.read(url, DOMAIN.len(), &rules) {
            return Normalizer::default().key(url.as_bytes()).unwrap().into_bytes();
        }
        for place in 0..rules.len() {
            let is_last = parts.ends_at(&rules, place);
            parts.apply(&rules, place);
            if is_last {
                break;
            }
        }
        parts.write_key(&rules, &mut key);
        key
    }

    /// What the rules with fetchable results make of a URL, canonical or not.
    fn rewritten(&self, url: &ParsedUrl) -> Vec<u8> {
        let (mut parts, mut rewritten) = (UrlParts::default(), Vec::new());
        let rules = RuleList::new(self.rules).unwrap();
        if !url.is_hierarchical() || url.userinfo().is_some() || !parts.read(url, DOMAIN.len(), &rules) {
            return url.as_bytes().to_vec();
        }
        for (place, rule) in self.rules.iter().enumerate() {
            let is_last = parts.ends_at(&rules, place);
            if rule.fetchable {
                parts.apply(&rules, place);
            }
            if is_last {
                break;
            }
        }
        if !parts.is_writable() {
            return url.as_bytes().to_vec();
        }
        parts.write_url(&rules, &mut rewritten);
        rewritten
    }

    fn canonical(&self, url: &ParsedUrl) -> Vec<u8> {
        let rewritten = self.rewritten(url);
        let is_canonical = ParsedUrl::parse(&rewritten).is_ok_and(|again| {
            let is_of_site = again.host() == DOMAIN.as_bytes() || again.host().ends_with(b".example.org");
            again.as_bytes() == rewritten
                && is_of_site
                && self.rewritten(&again) == rewritten
                && self.key(&again) == self.key(url)
        });
        if is_canonical { rewritten } else { url.as_bytes().to_vec() }
    }
}

fn compiled(rules: &[Rule]) -> Normalizer {
    Normalizer::compile(&with_observed(rules, Observed::new()))
}

type Observed = BTreeMap<Box<str>, Option<Box<str>>>;

fn with_observed(rules: &[Rule], canonical_urls: Observed) -> RuleSet {
    let mut alone = RuleSet::new("by hand");
    let site = SiteRules::new(SiteSummary::default(), rules.to_vec()).unwrap();
    alone.insert(DOMAIN, site.with_canonical_urls(canonical_urls)).unwrap();
    alone
}

/// URLs, and other forms of them that rules may join.
fn forms(urls: &[String]) -> Vec<String> {
    let forms = urls.iter().flat_map(|url| {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        [
            url.clone(),
            format!("{path}/?{query}"),
            format!("{path}?{query}&sid=20"),
            url.replacen("://", "://www.", 1),
            url.replacen("http:", "https:", 1),
        ]
    });
    forms.filter(|url| ParsedUrl::parse(url).is_ok()).collect()
}

/// What to enter of two URLs: the second, as it is or as the rules write it, or nothing, for what the rules write for the first, or for that as
/// it is. Few make sense, unless the two are one page.
fn observed(normalizer: &Normalizer, urls: &[String], chosen: &[(usize, usize, u8)]) -> Observed {
    let mut canonical_urls = Observed::new();
    for &(first, second, how) in chosen {
        let (first, second) = (&urls[first % urls.len()], &urls[second % urls.len()]);
        let key = normalizer.key(first).unwrap();
        let same = urls.iter().find(|url| *url != first && normalizer.key(url).unwrap() == key);
        let second = same.filter(|_| how & 4 > 0).unwrap_or(second);
        let safe = |url: &str| normalizer.explain(url).unwrap().safe.to_string();
        let written = |url: &str| normalizer.normalize(url).unwrap().to_string();
        let (from, to) = match how & 3 {
            0 => (written(first), Some(written(second))),
            1 => (written(first), None),
            2 => (safe(first), Some(safe(second))),
            _ => (written(first), Some(safe(second))),
        };
        canonical_urls.insert(from.into(), to.map(Into::into));
        if how & 8 > 0 {
            canonical_urls.insert(written(second).into(), Some(safe(second).into()));
        }
    }
    canonical_urls
}

/// What is promised of keys and canonical URLs holds, whatever was observed, and each way to ask gives the same answer.
fn keeps_promises(
    observed: &Normalizer,
    by_rules: &Normalizer,
    urls: &[String],
) -> Result<u32, TestCaseError> {
    let mut compiled = Vec::new();
    observed.save(&mut compiled).unwrap();
    let opened = Normalizer::from_bytes(&compiled).unwrap();
    let mut scratch = Scratch::default();
    let (mut answers, mut applied) = (Vec::new(), 0);
    for url in urls {
        let key = observed.key(url).unwrap();
        prop_assert_eq!(&key, &by_rules.key(url).unwrap(), "what was observed changes no key: {}", url);
        let canonical = observed.normalize(url).unwrap();
        prop_assert_eq!(&observed.key(&canonical).unwrap(), &key, "key of {}, from {}", canonical, url);
        prop_assert_eq!(&observed.normalize(&canonical).unwrap(), &canonical, "from {}", url);
        prop_assert_eq!(&observed.explain(url).unwrap().canonical, &canonical);
        applied += u32::from(canonical != by_rules.normalize(url).unwrap());
        answers.push((key.into_bytes(), canonical.to_string().into_bytes()));
    }
    for same in [observed, &opened] {
        let mut expected = answers.iter();
        for (url, (key, canonical)) in urls.iter().zip(&answers) {
            prop_assert_eq!(same.key_with(url.as_bytes(), &mut scratch).unwrap(), key);
            prop_assert_eq!(same.normalize_with(url.as_bytes(), &mut scratch).unwrap(), canonical);
            let both = same.both_with(url.as_bytes(), &mut scratch).unwrap();
            prop_assert_eq!((both.key, both.canonical), (&key[..], &canonical[..]));
        }
        let mut many: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let bytes = || urls.iter().map(|url| url.as_bytes());
        same.each_both(bytes(), &mut scratch, |_, both| {
            let both = both.unwrap();
            many.push((both.key.to_vec(), both.canonical.to_vec()));
        });
        prop_assert_eq!(&many, &answers);
        let mut is_same = true;
        same.each_canonical(bytes(), &mut scratch, |_, url| {
            is_same &= url.unwrap() == expected.next().unwrap().1
        });
        prop_assert!(is_same && expected.next().is_none());
    }
    Ok(applied)
}

#[test]
fn promises_hold_with_any_canonical_urls_that_were_observed() {
    let applied = std::cell::Cell::new(0);
    let cases = (site(), vec(url(), 1..5), vec((0..64usize, 0..64usize, 0..16u8), 1..12));
    let config = ProptestConfig { source_file: Some(file!()), ..ProptestConfig::with_cases(1000) };
    let check = |(rules, urls, chosen): (Vec<Rule>, Vec<String>, Vec<_>)| {
        let (urls, by_rules) = (forms(&urls), compiled(&rules));
        prop_assume!(!urls.is_empty());
        let rules = with_observed(&rules, observed(&by_rules, &urls, &chosen));
        let normalizer = Normalizer::compile(&rules);
        applied.set(applied.get() + keeps_promises(&normalizer, &by_rules, &urls)?);
        let mut saved = Vec::new();
        rules.save(&mut saved).unwrap();
        prop_assert_eq!(RuleSet::load(&saved[..]).unwrap(), rules);
        let streamed = Normalizer::compile_from(&saved[..]).unwrap();
        prop_assert_eq!(streamed.fingerprint(), normalizer.fingerprint());
        Ok(())
    };
    TestRunner::new(config).run(&cases, check).unwrap();
    assert!(applied.get() > 1_000, "{} URLs have a canonical URL that was observed", applied.get());
}

/// Compiled rules make of a URL what the interpreter does, and what is promised of canonical URLs holds, whatever the rules are.
fn is_as_interpreted(
    normalizer: &Normalizer,
    interpreter: &Interpreter<'_>,
    url: &str,
) -> Result<(), TestCaseError> {
    let Ok(parsed) = ParsedUrl::parse(url) else { return Ok(()) };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let key = normalizer.key(url).unwrap();
    prop_assert_eq!(key.to_string(), text(&interpreter.key(&parsed)), "key of {}", url);
    let canonical = normalizer.normalize(url).unwrap();
    prop_assert_eq!(canonical.to_string(), text(&interpreter.canonical(&parsed)), "canonical of {}", url);
    prop_assert_eq!(normalizer.key(&canonical).unwrap(), key.clone(), "key of {}", canonical);
    prop_assert_eq!(normalizer.normalize(&canonical).unwrap(), canonical.clone());
    prop_assert_eq!(normalizer.both(url).unwrap(), (key, canonical), "both of {}", url);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn compiled_rules_do_what_interpreted_rules_do(rules in site(), urls in vec(url(), 8)) {
        let (normalizer, interpreter) = (compiled(&rules), Interpreter { rules: &rules });
        for url in urls {
            is_as_interpreted(&normalizer, &interpreter, &url)?;
        }
    }

    /// Long texts, and rules that write them twice: some run out of room.
    #[test]
    fn compiled_rules_run_out_of_room_where_interpreted_rules_do(
        rules in site(), growing in vec((0..9usize, 0..3usize, any::<bool>()), 1..6), urls in vec(url(), 4), length in 500..5000usize,
    ) {
        const GROWING: [&str; 3] = [
            r#"{"path": [{"segments": {"from": 0, "but_last": 0}}, {"segments": {"from": 0, "but_last": 0}}]}"#,
            r#"{"set": {"key": "q.b", "to": [{"of": "q.a"}, {"of": "q.b"}]}}"#,
            r#"{"set": {"key": "q.a", "to": [{"of": "q.a"}, {"of": "q.b"}, {"of": "path_0"}]}}"#,
        ];
        let mut all = rules;
        for (at, which, fetchable) in growing {
            let change: Change = serde_json::from_str(GROWING[which]).unwrap();
            all.insert(at.min(all.len()), Rule { fetchable, ..Rule::new(change) });
        }
        let all = dedust::support::without_never_made(all);
        prop_assume!(SiteRules::new(SiteSummary::default(), all.clone()).is_ok());
        let (normalizer, interpreter) = (compiled(&all), Interpreter { rules: &all });
        for url in urls {
            let url = url.replacen("index.php", &"x".repeat(length), 2).replacen("a=1", &format!("a={}", "y".repeat(length)), 1);
            is_as_interpreted(&normalizer, &interpreter, &url)?;
        }
    }

    #[test]
    fn rules_that_are_off_are_as_good_as_gone(rules in site(), is_off in vec(any::<bool>(), 72), urls in vec(url(), 4)) {
        let mut off = rules.clone();
        off.iter_mut().zip(&is_off).filter(|(_, is_off)| **is_off).for_each(|(rule, _)| rule.off = Some(Box::default()));
        let left: Vec<Rule> = off.iter().filter(|rule| rule.is_applied()).cloned().collect();
        let valid = |rules: &[Rule]| SiteRules::new(SiteSummary::default(), rules.to_vec()).is_ok();
        prop_assert_eq!(valid(&off), valid(&left));
        if valid(&off) {
            let (off, left) = (compiled(&off), compiled(&left));
            for url in &urls {
                prop_assert_eq!(off.key(url).ok(), left.key(url).ok());
                prop_assert_eq!(off.normalize(url).ok(), left.normalize(url).ok());
            }
        }
    }

    #[test]
    fn what_is_kept_or_merged_can_be_loaded(
        earlier in site(), learned in site(), states in vec(0..4u8, 72), is_shared in any::<bool>(),
    ) {
        let rules = |rules: &[Rule]| {
            let mut alone = RuleSet::new("by hand");
            let site = SiteRules::new(SiteSummary::default(), rules.to_vec()).ok()?;
            alone.insert(DOMAIN, site).unwrap();
            Some(alone)
        };
        let mut earlier = earlier;
        if is_shared {
            earlier.splice(..0, learned.first().cloned());
        }
        for (rule, state) in earlier.iter_mut().zip(&states) {
            rule.off = (state & 1 > 0).then(Box::default);
            rule.pinned = (state & 2 > 0).then(Box::default);
        }
        let (Some(earlier), Some(learned)) = (rules(&earlier), rules(&learned)) else { return Ok(()) };
        let can_be_loaded = |rules: &RuleSet| {
            let mut saved = Vec::new();
            rules.save(&mut saved).unwrap();
            RuleSet::load(&saved[..]).is_ok_and(|loaded| loaded == *rules)
        };
        let mut kept = learned.clone();
        let told = kept.keep(&earlier);
        prop_assert!(can_be_loaded(&kept));
        let site = kept.site(DOMAIN).unwrap();
        let find = |rule: &Rule| site.rules().iter().find(|other| other.says_same(rule));
        for rule in earlier.site(DOMAIN).unwrap().rules() {
            // A rule may be there twice, and one of the two be off.
            let is_off = earlier.site(DOMAIN).unwrap().rules().iter().any(|other| other.off.is_some() && other.says_same(rule));
            let is_displaced = told.displaced.iter().any(|displaced| displaced.id == rule.id());
            if rule.off.is_some() {
                let stays_off = |other: &Rule| other.off.is_some() && other.says_same(rule);
                prop_assert!(site.rules().iter().any(stays_off), "off stays off: {}", rule);
            } else if rule.pinned.is_some() && !is_displaced && !is_off {
                prop_assert!(find(rule).unwrap().is_applied(), "pinned stays applied: {}", rule);
            }
        }
        for prefer in [None, Some(Prefer::First), Some(Prefer::Second)] {
            let merged = learned.merge(&earlier, prefer);
            prop_assert!(can_be_loaded(&merged.rules));
            prop_assert!(prefer.is_none() || merged.conflicts.is_empty());
        }
    }
}
