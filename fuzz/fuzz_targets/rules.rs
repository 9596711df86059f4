/*!
Any rules that a rule file may hold, on any URLs: what is promised of keys and canonical URLs holds, a saved rule file does
the same once it is loaded, keys are those of rules that are applied one by one, and URLs of a site stay at the site.

Names and values come from short lists, so that rules and URLs meet, or are any text.
*/

#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use dedust::rules::{
    AnyValue, Area, Atom, Change, Closed, Count, Rule, Mapped, PathPart, SiteRules, SiteSummary,
    Source, Spelling, Spot, Test, UrlPart, Value, ValueClass,
};
use dedust::support::{RuleList, UrlParts};
use dedust::{Normalizer, ParsedUrl, RuleSet, Scratch};
use dedust_fuzz::check_promises;
use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// A change of each kind but those that replace text.
static EXAMPLES: LazyLock<Vec<Change>> = LazyLock::new(|| {
    let examples: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../crates/dedust/testdata/changes.json")).expect("it is a list");
    let change = |example: &serde_json::Value| -> Change {
        serde_json::from_value(example["change"].clone()).expect("each has a change")
    };
    examples.iter().map(change).filter(|change| !matches!(change, Change::Replace(_))).collect()
});

const DOMAIN: &str = "example.org";
const MAX_RULES: usize = 40;
const MAX_URLS: usize = 16;

const NAMES: [&str; 6] = ["a", "b", "sid", "a#2", "a-rather-long-name", "a-rather-long-game"];
const VALUES: [&str; 12] =
    ["", "1", "20", "a", "index.php", "Wiki%3AA", "x-7-y.html", "*", "007", "a%20b", "www", "e%CC%81"];
/// Pieces of URLs, for the characters that separate parts and those that are rewritten.
const PIECES: [&str; 24] = [
    "/", "//", ";", "?", "&", "=", "#!", "#", "..", ".", "%2F", "%", "+", "%27", "'", "%C3%B1", "%CC%83",
    ":", "A", "/a/b/a/b", "00.01", "?a=1&a=1", ";sid=2", "%7e",
];
const STARTS: [&str; 10] = [
    "http://example.org",
    "https://example.org",
    "http://www.example.org",
    "https://www.www.example.org:8080",
    "http://a.b.example.org:80",
    "http://me:pw@example.org",
    "ftp://example.org",
    "foo://www.example.org",
    "http://other.example",
    "mailto:me@example.org",
];

fuzz_target!(|input: Input| {
    let Input { rules, urls } = input;
    let mut set = RuleSet::new("fuzzed");
    set.insert(DOMAIN, site_of(rules.clone()).expect("each rule is valid")).expect("a site of valid rules");
    let normalizer = Normalizer::compile(&set);
    let mut file = Vec::new();
    set.save(&mut file).expect("a vector takes all bytes");
    let loaded = Normalizer::compile(&RuleSet::load(&*file).expect("what was saved can be loaded"));

    let mut scratch = Scratch::default();
    for url in urls {
        check_promises(&normalizer, &url, &mut scratch);
        assert_eq!(loaded.normalize(&url), normalizer.normalize(&url));
        let Ok(parsed) = ParsedUrl::parse(&url) else { continue };
        let (key, canonical) =
            (normalizer.key(&url).expect("a URL"), normalizer.normalize(&url).expect("a URL"));
        assert_eq!(is_of_site(key.as_bytes()), is_of_site(parsed.as_bytes()));
        assert_eq!(is_of_site(canonical.as_bytes()), is_of_site(parsed.as_bytes()));
        // A site that is too large to be compiled is left alone.
        if normalizer.left_out().is_empty()
            && let Some(expected) = key_one_by_one(&rules, &parsed)
        {
            assert_eq!(key.into_bytes(), expected);
        }
    }
});

/// Whether the host of a URL or a key is one of the site's.
fn is_of_site(url: &[u8]) -> bool {
    let text = String::from_utf8_lossy(url);
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    host.strip_suffix(DOMAIN).is_some_and(|labels| labels.is_empty() || labels.ends_with('.'))
}

/// The key of a URL of the site, by rules that are applied one after the other.
fn key_one_by_one(rules: &[Rule], url: &ParsedUrl) -> Option<Vec<u8>> {
    let host = url.host();
    if !url.is_hierarchical() || host != DOMAIN.as_bytes() && !host.ends_with(b".example.org") {
        return None;
    }
    let (rules, mut parts) = (RuleList::new(rules)?, UrlParts::default());
    if !parts.read(url, DOMAIN.len(), &rules) {
        return None;
    }
    for place in 0..rules.len() {
        let is_last = parts.ends_at(&rules, place);
        parts.apply(&rules, place);
        if is_last {
            break;
        }
    }
    let mut key = Vec::new();
    parts.write_key(&rules, &mut key);
    Some(key)
}

fn site_of(rules: Vec<Rule>) -> std::result::Result<SiteRules, dedust::errors::InvalidSite> {
    SiteRules::new(SiteSummary::default(), rules)
}

/// Valid rules, and URLs.
#[derive(Debug)]
struct Input {
    rules: Vec<Rule>,
    urls: Vec<Vec<u8>>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut rules: Vec<Rule> = Vec::new();
        for rule in list(input, MAX_RULES, rule)? {
            rules.push(rule);
            if site_of(rules.clone()).is_err() {
                rules.pop();
            }
        }
        Ok(Self { rules, urls: list(input, MAX_URLS, url)? })
    }
}

fn list<'a, T>(
    input: &mut Unstructured<'a>,
    most: usize,
    mut item: impl FnMut(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..input.int_in_range(0..=most)?).map(|_| item(input)).collect()
}

fn text(input: &mut Unstructured<'_>) -> Result<Box<str>> {
    Ok(match input.int_in_range(0..=9)? {
        0 => input.arbitrary::<&str>()?.into(),
        _ => (*input.choose(&VALUES)?).into(),
    })
}

fn affix(input: &mut Unstructured<'_>) -> Result<Box<str>> {
    if input.ratio(1, 5)? { text(input) } else { Ok("".into()) }
}

fn value(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(if input.ratio(1, 10)? { Value::Bare } else { Value::Text(text(input)?) })
}

fn name(input: &mut Unstructured<'_>) -> Result<Box<str>> {
    Ok(match input.int_in_range(0..=9)? {
        0 => input.arbitrary::<&str>()?.into(),
        _ => (*input.choose(&NAMES)?).into(),
    })
}

fn key(input: &mut Unstructured<'_>) -> Result<UrlPart> {
    let parsed = |text: String| text.parse().unwrap_or(UrlPart::Hashbang);
    Ok(match input.int_in_range(0..=9)? {
        0..=3 => parsed(format!("q.{}", name(input)?)),
        4 => parsed(format!("mp.{}", name(input)?)),
        5 | 6 => UrlPart::PathSegment(input.int_in_range(0..=4)?),
        7 => UrlPart::Subdomain(input.int_in_range(0..=2)?),
        _ => input
            .choose(&[
                UrlPart::Scheme,
                UrlPart::Port,
                UrlPart::TrailingSlash,
                UrlPart::QuerySeparator,
                UrlPart::Hashbang,
            ])?
            .clone(),
    })
}

fn spot(input: &mut Unstructured<'_>) -> Result<Spot> {
    Ok(if input.ratio(1, 6)? { Spot::FromRight(input.int_in_range(0..=3)?) } else { Spot::Key(key(input)?) })
}

fn class(input: &mut Unstructured<'_>, depth: usize) -> Result<ValueClass> {
    Ok(match input.int_in_range(0..=8)? {
        0 => ValueClass::Date,
        1 => ValueClass::Digits,
        2 => ValueClass::Hex,
        3 => ValueClass::Word,
        4 => ValueClass::File(text(input)?),
        5 if depth > 0 => ValueClass::Framed {
            prefix: text(input)?,
            class: class(input, depth - 1)?.into(),
            suffix: text(input)?,
        },
        6 => ValueClass::Slug,
        _ => ValueClass::Text,
    })
}

fn test(input: &mut Unstructured<'_>) -> Result<Test> {
    Ok(match input.int_in_range(0..=6)? {
        0 | 1 => Test::Is(value(input)?),
        2 => Test::OneOf(list(input, 4, value)?),
        3 => Test::Not(list(input, 3, value)?),
        4 => Test::Any(class(input, 2)?.into()),
        5 => Test::Any(AnyValue {
            class: class(input, 2)?,
            except: list(input, 2, value)?,
            optional: input.arbitrary()?,
        }),
        _ => Test::Absent,
    })
}

fn part_of_value(input: &mut Unstructured<'_>) -> Result<Atom> {
    let index = input.int_in_range(0..=3)?;
    let separator = *input.choose(&['-', '%', '.', '_', 'é'])?;
    Ok(match input.int_in_range(0..=5)? {
        0 => Atom::Digits(index),
        1 => Atom::DigitsFromRight(index),
        2 => Atom::Stem,
        3 => Atom::Extension,
        4 => Atom::Piece { separator, index },
        _ => Atom::PieceFromRight { separator, index },
    })
}

fn source(input: &mut Unstructured<'_>) -> Result<Source> {
    let mut table = Vec::new();
    if input.ratio(1, 5)? {
        table = list(input, 3, |input| Ok((text(input)?, text(input)?)))?;
        table.sort();
        table.dedup_by(|a, b| a.0 == b.0);
    }
    Ok(Source {
        prefix: affix(input)?,
        of: if input.ratio(4, 5)? { Some(spot(input)?) } else { None },
        part: if input.ratio(1, 3)? { Some(part_of_value(input)?) } else { None },
        count: if input.ratio(1, 8)? {
            Some(Count { times: input.arbitrary()?, plus: input.arbitrary()? })
        } else {
            None
        },
        table,
        suffix: affix(input)?,
    })
}

fn path_part(input: &mut Unstructured<'_>) -> Result<PathPart> {
    Ok(match input.int_in_range(0..=7)? {
        0 | 1 => PathPart::Text(text(input)?),
        2 | 3 => {
            PathPart::Segments { from: input.int_in_range(0..=3)?, but_last: input.int_in_range(0..=2)? }
        }
        4 => PathPart::First(input.int_in_range(0..=3)?),
        5 => PathPart::Last(input.int_in_range(0..=3)?),
        _ => PathPart::Value {
            from: source(input)?,
            split: *input.choose(&[None, None, Some(':'), Some('-'), Some('é')])?,
        },
    })
}

fn mapped(input: &mut Unstructured<'_>) -> Result<Vec<Mapped>> {
    let mut values = list(input, 3, |input| {
        Ok((value(input)?, if input.ratio(1, 2)? { Some(text(input)?) } else { None }))
    })?;
    values.sort();
    values.dedup_by(|a, b| a.0 == b.0);
    Ok(values.into_iter().map(|(is, becomes)| Mapped { is, becomes }).collect())
}

fn change(input: &mut Unstructured<'_>) -> Result<Change> {
    use Spelling::{Composed, Lowercase, PlusAsSpace, Underscored, Unescaped, Unpadded};
    Ok(match input.int_in_range(0..=16)? {
        0..=3 => Change::Drop(spot(input)?),
        4 => Change::Forget(spot(input)?),
        5..=7 => Change::Map { of: key(input)?, values: mapped(input)? },
        8 => Change::Map {
            of: UrlPart::Scheme,
            values: vec![Mapped { is: "https".into(), becomes: Some("http".into()) }],
        },
        9 | 10 => Change::Fold {
            of: match input.int_in_range(0..=2)? {
                0 => Area::Path,
                1 => Area::Params,
                _ => Area::Key(key(input)?),
            },
            to: *input.choose(&[Lowercase, Unescaped, PlusAsSpace, Underscored, Unpadded, Composed])?,
        },
        11 | 12 => Change::Set { key: key(input)?, to: list(input, 3, source)? },
        13 => Change::Path(list(input, 4, path_part)?),
        14 => Change::Order(vec![
            UrlPart::query(input.choose(&NAMES)?),
            UrlPart::query(input.choose(&NAMES)?),
        ]),
        _ => input.choose(&EXAMPLES)?.clone(),
    })
}

fn rule(input: &mut Unstructured<'_>) -> Result<Rule> {
    let when: BTreeMap<Spot, Test> =
        list(input, 2, |input| Ok((spot(input)?, test(input)?)))?.into_iter().collect();
    Ok(Rule {
        when,
        closed: *input.choose(&[Closed::No, Closed::No, Closed::No, Closed::ExceptParams, Closed::Yes])?,
        change: list(input, 3, change)?,
        last: input.ratio(1, 8)?,
        fetchable: input.ratio(2, 3)?,
        ..Rule::default()
    })
}

fn url(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut url = input.choose(&STARTS)?.as_bytes().to_vec();
    url.push(b'/');
    for _ in 0..input.int_in_range(0..=20)? {
        match input.int_in_range(0..=7)? {
            0 | 1 => url.extend_from_slice(input.choose(&PIECES)?.as_bytes()),
            2 => url.extend([*input.choose(b"/&?;")?]),
            3 => url.extend_from_slice(input.choose(&NAMES)?.as_bytes()),
            4 => url.extend_from_slice(format!("&{}=", input.choose(&NAMES)?).as_bytes()),
            5 => url.push(input.arbitrary()?),
            _ => url.extend_from_slice(input.choose(&VALUES)?.as_bytes()),
        }
    }
    Ok(url)
}
