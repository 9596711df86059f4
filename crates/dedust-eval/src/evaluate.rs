/*!
How good a normalizer is on labelled URLs: observations in, scores per site, pooled and averaged out.

The figures are those of [`crate::metrics`], over the distinct URLs as met (before any normalization) whose page is
known, in the order in which they came. What the crawl says of canonical URLs is looked up by their safe normal form, so that it does not
matter how URLs are spelled in the input.
*/

use std::collections::BTreeMap;

use dedust::rules::CanonicalCounts;
use dedust::{Normalizer, ParsedUrl, Scratch, site_of};
use dedust_learn::support::{CanonicalFate, LabelBuilder, Labels, LinkTargets, Seen};
use dedust_learn::{Clues, EvidenceKinds};
use foldhash::{HashMap, HashSet};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::metrics::{MacroAverage, Score, Tally};

/// Gathers labelled URLs and what a normalizer makes of them.
#[derive(Debug)]
pub struct Evaluator<'n> {
    normalizer: &'n Normalizer,
    no_rules: Normalizer,
    scratch: Scratch,
    url: ParsedUrl,
    links: LinkTargets,
    labels: LabelBuilder,
    row_by_url: HashMap<u128, u32>,
    rows: Vec<Row>,
    site_ids: BTreeMap<Box<[u8]>, u32>,
    sites: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    site: u32,
    /// Hashes of the URL as met, of its safe normal form, of its key, and of its canonical form.
    url: u128,
    safe: u128,
    key: u128,
    canonical: u128,
}

/// A row whose page is known.
#[derive(Clone, Copy, Debug)]
struct LabelledRow {
    row: Row,
    label: u32,
    /// Which of all rows it is.
    number: u32,
}

/// A URL that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluatedUrl {
    /// A hash of its key.
    pub key: u128,
    /// The number of the page that it shows, if that is known.
    pub page: Option<u32>,
    /// Whether it is known to show something else than the first URL of its key whose page is known.
    pub is_other: bool,
    /// What is known of its canonical URL, if it is the first URL that has it, and its page was seen at some URL.
    pub canonical: Option<CanonicalUrl>,
}

/// What a crawl knows of a canonical URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanonicalUrl {
    /// Whether it shows the page.
    pub fate: CanonicalFate,
    /// The number of the URL that it is, if it was met.
    pub number: Option<u32>,
}

/// How many canonical URLs are alive, unmet and wrong, and why these are wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CanonicalFates {
    /// How many there are.
    #[serde(flatten)]
    pub counts: CanonicalCounts,
    /// Those that lead to another URL.
    pub redirects: u64,
    /// Those that answer with an error.
    pub fails: u64,
    /// Those that show another page.
    pub other_page: u64,
}

/// Scores of one set of URLs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Grouping URLs by their keys.
    pub key: Score,
    /// Grouping URLs by their canonical URLs.
    pub url: Score,
    /// Doing nothing at all.
    pub keep_all: Score,
    /// What the crawl says of canonical URLs, each once.
    pub canonical: CanonicalFates,
    /// The share of them that are alive: those that can be fetched.
    pub live: f64,
    /// The share of URLs whose canonical form differs from them.
    pub changed: f64,
}

/// Scores of all sites.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Scores by site, in the order of their names.
    pub sites: Vec<(Box<str>, Scores)>,
    /// All URLs pooled.
    pub micro: Scores,
    /// The mean over sites, by keys.
    pub macro_average: MacroAverage,
    /// URLs whose page is not known, which are left out.
    pub unlabelled: usize,
}

impl<'n> Evaluator<'n> {
    /// An evaluator that takes labels from these kinds of evidence.
    pub fn new(normalizer: &'n Normalizer, kinds: EvidenceKinds) -> Self {
        Self {
            normalizer,
            no_rules: Normalizer::default(),
            scratch: Scratch::default(),
            url: ParsedUrl::default(),
            links: LinkTargets::default(),
            labels: LabelBuilder::new(kinds),
            row_by_url: HashMap::default(),
            rows: Vec::new(),
            site_ids: BTreeMap::new(),
            sites: Vec::new(),
        }
    }

    /// Adds one URL with what is known of it, and says which it is of the distinct URLs, from 0. Bytes that are no URL stand for
    /// themselves.
    pub fn observe(&mut self, url: &[u8], clues: &Clues<'_>) -> u32 {
        let next = self.rows.len() as u32;
        let hash = xxh3_128(url);
        let row = *self.row_by_url.entry(hash).or_insert(next);
        let is_url = self.url.parse_from(url).is_ok();
        if is_url {
            self.links.resolve(&self.url, clues);
            self.labels.observe(row, self.url.as_bytes(), &self.links.within(clues));
        } else {
            self.labels.observe(row, url, clues);
        }
        if row < next {
            return row;
        }
        let site = if is_url { site_of(self.url.host()) } else { b"" };
        let site = match self.site_ids.get(site) {
            Some(&id) => id,
            None => {
                let id = self.sites.len() as u32;
                self.site_ids.insert(site.into(), id);
                self.sites.push(String::from_utf8_lossy(site).into());
                id
            }
        };
        let both = self.normalizer.both_with(url, &mut self.scratch);
        let (key, canonical) =
            both.map_or((hash, hash), |both| (xxh3_128(both.key), xxh3_128(both.canonical)));
        let safe = self.no_rules.normalize_with(url, &mut self.scratch).map_or(hash, xxh3_128);
        self.rows.push(Row { site, url: hash, safe, key, canonical });
        row
    }

    /// The scores of everything observed.
    pub fn finish(self) -> Evaluation {
        self.finish_with_urls().0
    }

    /// The scores of everything observed, and the distinct URLs in the order in which they came.
    pub fn finish_with_urls(self) -> (Evaluation, Vec<EvaluatedUrl>) {
        let Self { labels, rows, site_ids, sites, .. } = self;
        let labels = labels.finish(rows.len());
        let labelled: Vec<LabelledRow> = (0..)
            .zip(rows.iter().zip(labels.iter()))
            .filter_map(|(number, (&row, label))| Some(LabelledRow { row, label: label?, number }))
            .collect();
        let met = Met::new(&rows, &labels);
        let mut by_site: Vec<Vec<LabelledRow>> = vec![Vec::new(); sites.len()];
        for &labelled in &labelled {
            by_site[labelled.row.site as usize].push(labelled);
        }
        let sites: Vec<(Box<str>, Scores)> = site_ids
            .values()
            .filter(|&&id| !by_site[id as usize].is_empty())
            .map(|&id| (sites[id as usize].clone(), scores(&by_site[id as usize], &labels, &met)))
            .collect();
        let keys: Vec<Score> = sites.iter().map(|(_, scores)| scores.key).collect();
        let mut first_by_key: HashMap<u128, (u32, u32)> = HashMap::default();
        let mut canonical: Vec<Option<CanonicalUrl>> = vec![None; rows.len()];
        for (number, url) in met.canonical_urls(&labelled) {
            canonical[number as usize] = Some(url);
        }
        let urls = (0..).zip(rows.iter().zip(labels.iter())).map(|(number, (row, page))| {
            let first = page.map(|page| *first_by_key.entry(row.key).or_insert((number, page)));
            let is_other = first.is_some_and(|(first, first_page)| {
                page != Some(first_page) && labels.are_different(first, number)
            });
            EvaluatedUrl { key: row.key, page, is_other, canonical: canonical[number as usize] }
        });
        let urls = urls.collect();
        let evaluation = Evaluation {
            micro: scores(&labelled, &labels, &met),
            macro_average: MacroAverage::of(&keys),
            unlabelled: rows.len() - labelled.len(),
            sites,
        };
        (evaluation, urls)
    }
}

/// What was met.
struct Met<'l> {
    labels: &'l Labels,
    /// By the hash of the safe normal form the URL that shows most, the first of several.
    by_safe: HashMap<u128, u32>,
    /// For each page whether some URL showed it.
    is_shown: Vec<bool>,
}

impl<'l> Met<'l> {
    fn new(rows: &[Row], labels: &'l Labels) -> Self {
        let mut by_safe: HashMap<u128, u32> = HashMap::default();
        let mut is_shown = vec![false; labels.cluster_count()];
        for (number, row) in (0..).zip(rows) {
            let seen = labels.seen(number);
            let known = by_safe.entry(row.safe).or_insert(number);
            if seen > labels.seen(*known) {
                *known = number;
            }
            if let Some(page) = labels.label_of(number).filter(|_| seen == Seen::Page) {
                is_shown[page as usize] = true;
            }
        }
        Self { labels, by_safe, is_shown }
    }

    /// The canonical URLs of these rows, each with the number of the first row that has it, unless that itself redirects or fails as its canonical
    /// URL does. Of pages that no URL showed nothing is known.
    fn canonical_urls(&self, rows: &[LabelledRow]) -> impl Iterator<Item = (u32, CanonicalUrl)> {
        let mut met: HashSet<u128> = HashSet::default();
        let shown = rows.iter().filter(|row| self.is_shown[row.label as usize]);
        let known = shown.filter_map(|row| Some((row, self.canonical_url(row)?)));
        known.filter(move |(row, _)| met.insert(row.row.canonical)).map(|(row, url)| (row.number, url))
    }

    /// `None` where both a URL and its canonical URL redirect or fail.
    fn canonical_url(&self, labelled: &LabelledRow) -> Option<CanonicalUrl> {
        let &LabelledRow { row, label, number: of } = labelled;
        let number = self.by_safe.get(&row.canonical).copied();
        let fate = number.map_or(Some(CanonicalFate::Unmet), |number| {
            let has_other_label = self.labels.label_of(number) != Some(label);
            let is_other = has_other_label && self.labels.are_different(of, number);
            CanonicalFate::of(self.labels.seen(of), self.labels.seen(number), is_other)
        });
        fate.map(|fate| CanonicalUrl { fate, number })
    }
}

impl CanonicalFates {
    /// Counts one more.
    pub fn add(&mut self, fate: CanonicalFate) {
        fate.count(&mut self.counts);
        match fate {
            CanonicalFate::Alive | CanonicalFate::Unmet => {}
            CanonicalFate::Redirects => self.redirects += 1,
            CanonicalFate::Fails => self.fails += 1,
            CanonicalFate::OtherPage => self.other_page += 1,
        }
    }
}

fn scores(rows: &[LabelledRow], labels: &Labels, met: &Met<'_>) -> Scores {
    let are_different = |one: usize, other: usize| labels.are_different(rows[one].number, rows[other].number);
    let score = |group: fn(&Row) -> u128| {
        Tally::count_with(rows.iter().map(|row| (group(&row.row), row.label)), are_different).score()
    };
    let mut canonical = CanonicalFates::default();
    met.canonical_urls(rows).for_each(|(_, url)| canonical.add(url.fate));
    let changed = rows.iter().filter(|LabelledRow { row, .. }| row.canonical != row.url).count();
    let share = |part: u64, whole: u64, empty: f64| {
        if whole == 0 { empty } else { part as f64 / whole as f64 }
    };
    Scores {
        key: score(|row| row.key),
        url: score(|row| row.canonical),
        keep_all: score(|row| row.url),
        canonical,
        live: share(canonical.counts.alive, canonical.counts.all(), 1.0),
        changed: share(changed as u64, rows.len() as u64, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use dedust::RuleSet;

    use super::*;

    /// Scores of `sid` left out on `xn--bcher-kva.example`.
    fn evaluate(rows: &[(&str, Clues<'_>)]) -> (Scores, Vec<EvaluatedUrl>) {
        let rules = br#"{"version": 1, "sites": {"xn--bcher-kva.example": {"rules": [
            {"change": [{"drop": "q.sid"}], "fetchable": true}
        ]}}}"#;
        let normalizer = Normalizer::compile(&RuleSet::load(&rules[..]).unwrap());
        let mut evaluator = Evaluator::new(&normalizer, EvidenceKinds::AUTO);
        for (url, clues) in rows {
            evaluator.observe(url.as_bytes(), clues);
        }
        let (evaluation, urls) = evaluator.finish_with_urls();
        (evaluation.micro, urls)
    }

    fn shows(digest: &'static str) -> Clues<'static> {
        Clues { digest: Some(digest.as_bytes()), status: Some(200), ..Clues::default() }
    }

    #[test]
    fn canonical_urls_are_told_apart_by_what_was_seen_of_them() {
        let to_login = Clues {
            redirect: Some(b"http://b\xc3\xbccher.example/login"),
            status: Some(301),
            ..Clues::default()
        };
        let gone = Clues { status: Some(404), ..Clues::default() };
        let rows = [
            // Alive, by itself and without its session.
            ("http://b\u{fc}cher.example/a", shows("a1a1a1a1")),
            ("http://b\u{fc}cher.example/a?sid=1", shows("a1a1a1a1")),
            // Unmet: two URLs have it.
            ("http://b\u{fc}cher.example/b?sid=1", shows("b1b1b1b1")),
            ("http://b\u{fc}cher.example/b?sid=2", shows("b1b1b1b1")),
            // Wrong, in three ways. Each has the first URL in mind.
            ("http://b\u{fc}cher.example/c?sid=1", shows("c1c1c1c1")),
            ("http://b\u{fc}cher.example/c", to_login),
            ("http://b\u{fc}cher.example/d?sid=1", shows("d1d1d1d1")),
            ("http://b\u{fc}cher.example/d", gone),
            ("http://b\u{fc}cher.example/e?sid=1", shows("e1e1e1e1")),
            ("http://b\u{fc}cher.example/e", shows("e2e2e2e2")),
            // It redirects, and stays as it is: no rule is to blame.
            (
                "http://b\u{fc}cher.example/old",
                Clues { redirect: Some(b"http://b\xc3\xbccher.example/a"), ..to_login },
            ),
            // A host may be spelled in two ways.
            ("http://xn--bcher-kva.example/f", shows("f1f1f1f1")),
        ];
        let (scores, urls) = evaluate(&rows);
        let counts = CanonicalCounts { alive: 2, unmet: 1, wrong: 3 };
        assert_eq!(scores.canonical, CanonicalFates { counts, redirects: 1, fails: 1, other_page: 1 });
        assert!((scores.live - 2.0 / 6.0).abs() < 1e-9);
        let known = |number: usize| urls[number].canonical.map(|url| (url.fate, url.number));
        assert_eq!(known(0), Some((CanonicalFate::Alive, Some(0))));
        assert_eq!((known(1), known(3), known(9)), (None, None, None), "each counts once");
        assert_eq!(known(2), Some((CanonicalFate::Unmet, None)));
        assert_eq!(known(4), Some((CanonicalFate::Redirects, Some(5))));
        assert_eq!(known(6), Some((CanonicalFate::Fails, Some(7))));
        assert_eq!(known(8), Some((CanonicalFate::OtherPage, Some(9))));
    }
}
