/*!
Which parameters matter where: for each parameter and section of a site, how many URLs have it, whether rules ignore it, and what
pages say of it.

A section is the first path segment. A pair of URLs that differ in one parameter alone, or of which one lacks it, is a vote: it
matters if they show different pages. Of URLs that are the same but for it, each is compared with the first.
*/

use dedust::rules::{UrlPart, Value, tokenize};
use dedust::support::{Outline, Separators, Span};
use dedust::{ParsedUrl, Scratch};
use foldhash::HashMap;
use std::cmp::Reverse;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::data::{ParamCell, ParamMap};
use crate::rows::{Row, SiteUrls};
use crate::site_facts::SiteFacts;

const SHOWN_PARAMS: usize = 40;
const SHOWN_SECTIONS: usize = 12;
/// Parameters of a URL that are looked at.
const PARAMS_OF_URL: usize = 24;
/// URLs of a cell for which rules are asked, and characters of names.
const ASKED: u64 = 400;
const NAME_CHARS: usize = 60;

#[derive(Clone, Copy, Default)]
struct Cell {
    urls: u64,
    asked: u64,
    ignored: u64,
    same: u64,
    different: u64,
}

/// What is known of the URLs that are the same but for one parameter.
struct Others {
    page: Option<u32>,
    value: u64,
}

/// The map of a site.
pub(crate) fn map(facts: &SiteFacts<'_>, urls: &SiteUrls<'_>) -> ParamMap {
    let mut cells: HashMap<(Box<str>, Box<str>), Cell> = HashMap::default();
    let mut seen: HashMap<(u64, u64), Others> = HashMap::default();
    let mut scratch = Scratch::default();
    let mut parsed = ParsedUrl::default();
    for row in &urls.rows {
        if parsed.parse_from(urls.url(row)).is_err() {
            continue;
        }
        let Some(tokens) = tokenize(&parsed, facts.site) else { continue };
        let section = section(&tokens);
        let params =
            tokens.iter().filter(|(key, _)| matches!(key, UrlPart::QueryParam(_) | UrlPart::PathParam(_)));
        let params: Vec<&(UrlPart, Value)> = params.take(PARAMS_OF_URL).collect();
        let whole = rest(&tokens, None);
        if let Some(page) = row.page {
            // A URL without a parameter is one of those that have it.
            seen.entry((whole, 0)).or_insert(Others { page: Some(page), value: 0 });
        }
        for (key, value) in params {
            let name: Box<str> = key.to_string().chars().take(NAME_CHARS).collect::<String>().into();
            let cell = cells.entry((name, section.clone())).or_default();
            cell.urls += 1;
            if cell.asked < ASKED {
                cell.asked += 1;
                cell.ignored += u64::from(is_ignored(facts, &parsed, (key, value), row, &mut scratch));
            }
            let Some(page) = row.page else { continue };
            let rest = rest(&tokens, Some(key));
            let value = xxh3_64(value.as_text().unwrap_or("\0").as_bytes()) | 1;
            let mut vote = |others: &Others| {
                if let Some(other) = others.page.filter(|_| others.value != value) {
                    *if other == page { &mut cell.same } else { &mut cell.different } += 1;
                }
            };
            if let Some(without) = seen.get(&(rest, 0)) {
                vote(without);
            }
            let named = (rest, xxh3_64(key.to_string().as_bytes()) | 1);
            match seen.get(&named) {
                Some(others) => vote(others),
                None => _ = seen.insert(named, Others { page: Some(page), value }),
            }
        }
    }
    arrange(&cells)
}

/// The first path segment.
fn section(tokens: &[(UrlPart, Value)]) -> Box<str> {
    let first = tokens.iter().find(|(key, _)| *key == UrlPart::PathSegment(0));
    let name = first.and_then(|(_, value)| value.as_text()).unwrap_or("");
    format!("/{}", name.chars().take(NAME_CHARS).collect::<String>()).into()
}

/// A hash of all parts but one.
fn rest(tokens: &[(UrlPart, Value)], but: Option<&UrlPart>) -> u64 {
    let parts = tokens.iter().filter(|(key, _)| Some(key) != but);
    // Summed, since the order of parameters does not count.
    parts.fold(0_u64, |sum, (key, value)| {
        let text = format!("{key}\0{}", value.as_text().unwrap_or("\0"));
        sum.wrapping_add(xxh3_64(text.as_bytes()))
    })
}

/// Whether the key of a URL is the same without a parameter, or with another value of it.
fn is_ignored(
    facts: &SiteFacts<'_>,
    url: &ParsedUrl,
    (key, value): (&UrlPart, &Value),
    row: &Row,
    scratch: &mut Scratch,
) -> bool {
    with_another(url, key, value).is_some_and(|other| {
        facts.normalizer.key_with(&other, scratch).is_ok_and(|key| xxh3_128(key) == row.key)
    })
}

/// A URL with another value of a parameter, or with another text in place of one.
fn with_another(url: &ParsedUrl, key: &UrlPart, value: &Value) -> Option<Vec<u8>> {
    let (UrlPart::QueryParam(param) | UrlPart::PathParam(param)) = key else { return None };
    let (text, outline) = (url.as_bytes(), Outline::of(url));
    let is_of_query = matches!(key, UrlPart::QueryParam(_));
    let mut params = if is_of_query {
        outline.query(Separators::Safe)?.params()
    } else {
        outline.segments()?.at_end().params()?
    };
    let (at, becomes) = if key.is_query_text() {
        let old = value.as_text()?;
        let is_it = |at: &Span| at.value(text).is_none() && at.text(text) == old.as_bytes();
        (params.find(is_it)?, "0dedust".to_owned())
    } else {
        let mut named = params.filter(|at| at.name(text) == param.name.as_bytes());
        (named.nth(param.occurrence.saturating_sub(1) as usize)?, format!("{}=dedust", param.name))
    };
    Some([&text[..at.start as usize], becomes.as_bytes(), &text[at.end as usize..]].concat())
}

/// The largest sections and parameters; all other sections are one.
fn arrange(cells: &HashMap<(Box<str>, Box<str>), Cell>) -> ParamMap {
    let order = |urls: HashMap<Box<str>, u64>, most: usize| {
        let mut names: Vec<(Box<str>, u64)> = urls.into_iter().collect();
        names.sort_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
        let more = names.len().saturating_sub(most);
        (names.into_iter().take(most).map(|(name, _)| name.to_string()).collect::<Vec<_>>(), more)
    };
    let (mut by_param, mut by_section): (HashMap<Box<str>, u64>, HashMap<Box<str>, u64>) = Default::default();
    for ((param, section), cell) in cells {
        *by_param.entry(param.clone()).or_default() += cell.urls;
        *by_section.entry(section.clone()).or_default() += cell.urls;
    }
    let (params, more_params) = order(by_param, SHOWN_PARAMS);
    let (mut sections, more_sections) = order(by_section, SHOWN_SECTIONS);
    let mut summed: std::collections::BTreeMap<(u32, u32), Cell> = Default::default();
    for ((param, section), cell) in cells {
        let Some(param) = params.iter().position(|name| **name == **param) else { continue };
        let section = sections.iter().position(|name| **name == **section).unwrap_or(sections.len());
        let sum = summed.entry((param as u32, section as u32)).or_default();
        sum.urls += cell.urls;
        sum.same += cell.same;
        sum.different += cell.different;
        // Of large cells not every URL was tried.
        sum.ignored += cell.ignored * cell.urls / cell.asked.max(1);
    }
    if more_sections > 0 {
        sections.push(format!("{more_sections} others"));
    }
    let cells = summed.into_iter().map(|((param, section), cell)| {
        let Cell { urls, ignored, same, different, .. } = cell;
        ParamCell { param, section, urls, ignored, same, different }
    });
    ParamMap {
        cells: cells.collect(),
        sections,
        has_others: more_sections > 0,
        params,
        more_params: more_params as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_texts_are_exchanged_where_they_stand() {
        let exchanged = |url: &str, key: &str| {
            let url = ParsedUrl::parse(url).unwrap();
            let (key, tokens) = (key.parse().unwrap(), tokenize(&url, "a.example").unwrap());
            let (key, value) = tokens.iter().find(|(other, _)| *other == key)?;
            Some(String::from_utf8(with_another(&url, key, value).unwrap()).unwrap())
        };
        let of_value = exchanged("http://a.example/sid?id=1&sid=2", "q.sid");
        assert_eq!(of_value.unwrap(), "http://a.example/sid?id=1&sid=dedust");
        let of_second = exchanged("http://a.example/?sid=1&sid&id=tl;dr", "q.sid#2");
        assert_eq!(of_second.unwrap(), "http://a.example/?sid=1&sid=dedust&id=tl;dr");
        let of_path = exchanged("http://a.example/b;sid=1/?sid=2", "mp.sid");
        assert_eq!(of_path.unwrap(), "http://a.example/b;sid=dedust/?sid=2");
        let of_whole = exchanged("http://a.example/?id=tl;dr&b", "q.id");
        assert_eq!(of_whole.unwrap(), "http://a.example/?id=dedust&b");
        assert_eq!(exchanged("http://a.example/sid?id=1", "q.sid"), None);
        let of_text = exchanged("http://a.example/7?v=7&7", "q.=");
        assert_eq!(of_text.unwrap(), "http://a.example/7?v=7&0dedust");
        assert_eq!(exchanged("http://a.example/7?v=7", "q.="), None);
    }
}
